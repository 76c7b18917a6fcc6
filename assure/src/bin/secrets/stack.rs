//! A separate stack to run a scenario on: after it returns, nothing overwrites it.

use std::arch::asm;
use std::ffi::c_void;

/// Size of the stack in bytes.
const BYTES: usize = 1 << 20;

/// Memory for a scenario's stack.
pub struct Stack {
    start: *mut u8,
}

impl Stack {
    pub fn new() -> Stack {
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, which nothing else uses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), BYTES, access, kind, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED, "cannot map a stack");
        Stack { start: start.cast() }
    }

    /// Runs `scenario` on the stack, which is cleared before.
    pub fn run(&mut self, mut scenario: &mut dyn FnMut()) {
        extern "sysv64" fn enter(scenario: *mut c_void) {
            // SAFETY: the address of the reference below, which outlives the call.
            let scenario = unsafe { &mut *scenario.cast::<&mut dyn FnMut()>() };
            scenario();
        }
        // SAFETY: the mapping has `BYTES` bytes, and nothing runs on it now.
        unsafe { self.start.write_bytes(0, BYTES) };
        let top = self.start.wrapping_add(BYTES);
        let scenario: *mut &mut dyn FnMut() = &mut scenario;
        // SAFETY: the new stack is aligned and large enough. The old one is kept in r12, which
        // callees save. A panic ends the process, because it finds no frame above `enter`.
        unsafe {
            asm!(
                "xchg rsp, r12",
                "call {enter}",
                "mov rsp, r12",
                enter = sym enter,
                inout("r12") top => _,
                inout("rdi") scenario => _,
                clobber_abi("sysv64"),
            );
        }
    }

    /// Returns the contents of the stack.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping has `BYTES` bytes, and nothing runs on it now.
        unsafe { std::slice::from_raw_parts(self.start, BYTES) }
    }

    /// Returns the depth that the scenario used, in bytes.
    pub fn depth(&self) -> usize {
        BYTES - self.bytes().iter().position(|&byte| byte != 0).unwrap_or(BYTES)
    }
}
