//! Stops a process wherever its code could leak (see [`operand`](crate::operand)), by a breakpoint
//! in place of the instruction. The handler records what the instruction is about to leak and then
//! executes it: it performs jumps itself, and runs all other instructions from a copy.
//!
//! The path between two stops is fixed, so this sees what single steps would show, in a tenth of
//! their time. Functions of the system's C library have no breakpoints: of these, only the
//! addresses in calls are compared.
//!
//! Functions of this module and of `operand` must not stop, so they have no breakpoints.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::{io, mem, ptr, slice};

use crate::operand::{self, Registers, Use};

/// Maximum number of stops of a trace that are kept on request.
pub const KEPT: usize = 1 << 22;
/// Maximum size of the code in bytes.
pub const CODE_BYTES: usize = 1 << 24;
/// Maximum number of calls of a subject.
pub const CALLS: usize = 1 << 13;
/// `int3`.
const BREAKPOINT: u8 = 0xcc;
/// Size of a copy in bytes: an instruction and the jump back.
const COPY_BYTES: usize = 32;

/// A call's trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Trace {
    pub digest: u64,
    pub stops: u64,
    /// Number of loads and stores by a vector of addresses.
    pub gathers: u64,
}

/// A stop of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Stop {
    pub place: u64,
    pub value: u64,
}

/// Memory that processes with breakpoints write and their parent reads.
#[repr(C)]
pub struct Shared {
    pub calls: usize,
    pub traces: [Trace; CALLS],
    /// The call whose stops are kept.
    pub keep: usize,
    pub kept: usize,
    pub stops: [Stop; KEPT],
    /// Marks addresses in the program's file where a trace stopped.
    pub ran: [u8; CODE_BYTES],
}

/// An instruction that is replaced by a breakpoint.
#[derive(Clone, Copy)]
struct Site {
    gives: Use,
    bytes: u8,
    /// Where execution continues: the copy, except for jumps.
    copy: u64,
}

/// The handler's state.
struct State {
    is_traced: bool,
    trace: Trace,
    shared: *mut Shared,
    /// Where the program's file begins in memory.
    start: u64,
    /// For each address in it, the index of its site plus one.
    numbers: *const u32,
    sites: *const Site,
}

struct Handler(UnsafeCell<State>);

// SAFETY: processes with breakpoints have one thread, and the handler runs between its
// instructions.
unsafe impl Sync for Handler {}

static HANDLER: Handler = Handler(UnsafeCell::new(State {
    is_traced: false,
    trace: Trace { digest: 0, stops: 0, gathers: 0 },
    shared: ptr::null_mut(),
    start: 0,
    numbers: ptr::null(),
    sites: ptr::null(),
}));

/// Maps zeroed memory. With `shared`, a process shares it with its children.
fn map(bytes: usize, protection: i32, sharing: i32) -> *mut c_void {
    let flags = sharing | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping that is never unmapped.
    let at = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
    assert!(at != libc::MAP_FAILED, "mmap: {}", io::Error::last_os_error());
    at
}

/// Maps memory that this process shares with its children.
pub fn share() -> &'static UnsafeCell<Shared> {
    let at = map(mem::size_of::<Shared>(), libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: zeros are a valid `Shared`, and the mapping stays.
    unsafe { &*at.cast() }
}

/// Sets breakpoints at those of the given instructions that leak. Each is an address in the
/// program's file and a length.
///
/// # Safety
///
/// All must be instructions outside this module and `operand`. No other thread may run from now on.
#[inline(never)]
pub unsafe fn set_breakpoints(
    shared: &'static UnsafeCell<Shared>,
    start: u64,
    instructions: &[(u64, usize)],
) {
    let mut numbers = vec![0u32; CODE_BYTES];
    let mut sites = Vec::with_capacity(instructions.len());
    let copies =
        map(instructions.len() * COPY_BYTES, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
    for &(at, bytes) in instructions {
        // SAFETY: an instruction of this program.
        let code = unsafe {
            slice::from_raw_parts(ptr::with_exposed_provenance((start + at) as usize), bytes)
        };
        let Some(gives) = operand::decode(code) else { continue };
        let mut copy = [0; COPY_BYTES];
        copy[..bytes].copy_from_slice(code);
        // jmp [rip], followed by its target.
        copy[bytes..bytes + 6].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
        copy[bytes + 6..bytes + 14].copy_from_slice(&(start + at + bytes as u64).to_le_bytes());
        // SAFETY: the mapping has space for a copy of each instruction.
        let place = unsafe { copies.cast::<[u8; COPY_BYTES]>().add(sites.len()) };
        // SAFETY: as above.
        unsafe { place.write(copy) };
        sites.push(Site { gives, bytes: bytes as u8, copy: place.expose_provenance() as u64 });
        numbers[at as usize] = sites.len() as u32;
    }
    let end = instructions.iter().map(|(at, bytes)| *at as usize + bytes).max().unwrap_or(0);
    let first = instructions.iter().map(|(at, _)| *at as usize).min().unwrap_or(0);
    // SAFETY: the program's code, from its first to its last instruction.
    let mut code = unsafe {
        slice::from_raw_parts(ptr::with_exposed_provenance(start as usize + first), end - first)
            .to_vec()
    };
    for (byte, number) in code.iter_mut().zip(&numbers[first..end]) {
        if *number > 0 {
            *byte = BREAKPOINT;
        }
    }
    let stack = Vec::leak(vec![0u8; 1 << 16]);
    // SAFETY: the handler's data is never freed, its signature is the one that `SA_SIGINFO`
    // requires, and breakpoints are set last.
    unsafe {
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        assert_eq!(
            libc::mprotect(copies, instructions.len() * COPY_BYTES, protection),
            0,
            "mprotect"
        );
        *HANDLER.0.get() = State {
            is_traced: false,
            trace: Trace::default(),
            shared: shared.get(),
            start,
            numbers: Vec::leak(numbers).as_ptr(),
            sites: Vec::leak(sites).as_ptr(),
        };
        let stack =
            libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
        assert_eq!(libc::sigaltstack(&stack, ptr::null_mut()), 0, "sigaltstack");
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_breakpoint as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        assert_eq!(libc::sigaction(libc::SIGTRAP, &action, ptr::null_mut()), 0, "sigaction");
    }
    // Code is writable only through this file.
    let memory = OpenOptions::new().write(true).open("/proc/self/mem").expect("/proc/self/mem");
    // In one write: this function has no breakpoints, but its callees do.
    memory.write_all_at(&code, start + first as u64).expect("a process may write to its code");
}

/// The order of [`Registers`] in a signal's context.
const ORDER: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// Records a stop and continues.
extern "C" fn on_breakpoint(_signal: i32, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a context; `set_breakpoints` set the state, which only this handler
    // uses; a breakpoint has a site.
    unsafe {
        let state = &mut *HANDLER.0.get();
        let found = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        // The instruction pointer is after the breakpoint, which is one byte.
        let place = found[libc::REG_RIP as usize] as u64 - 1;
        let at = place.wrapping_sub(state.start) as usize;
        if at >= CODE_BYTES {
            libc::abort();
        }
        let number = state.numbers.add(at).read();
        if number == 0 {
            libc::abort();
        }
        let site = state.sites.add(number as usize - 1).read();
        let mut registers: Registers = [0; 16];
        for (register, at) in registers.iter_mut().zip(ORDER) {
            *register = found[at as usize] as u64;
        }
        let value = site.gives.value(&registers, found[libc::REG_EFL as usize] as u64);
        found[libc::REG_RIP as usize] = match site.gives {
            Use::Jump { relative, .. } => {
                let by = if value == 1 { i64::from(relative) } else { 0 };
                place.wrapping_add(site.bytes.into()).wrapping_add_signed(by) as i64
            }
            _ => site.copy as i64,
        };
        if state.is_traced {
            let trace = &mut state.trace;
            trace.digest = mixed(mixed(trace.digest, place), value);
            trace.stops += 1;
            trace.gathers += u64::from(matches!(site.gives, Use::Gather));
            (&raw mut (*state.shared).ran).cast::<u8>().add(at).write(1);
            let (keep, calls) = ((*state.shared).keep, (*state.shared).calls);
            let kept = (*state.shared).kept;
            if keep == calls && kept < KEPT {
                (&raw mut (*state.shared).stops)
                    .cast::<Stop>()
                    .add(kept)
                    .write(Stop { place, value });
                (*state.shared).kept = kept + 1;
            }
        }
    }
}

#[inline(always)]
fn mixed(digest: u64, number: u64) -> u64 {
    let mixed = (digest ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

/// Begins a trace.
#[inline(never)]
pub fn begin() {
    // SAFETY: the handler runs only at breakpoints, which this function does not contain.
    let state = unsafe { &mut *HANDLER.0.get() };
    state.trace = Trace::default();
    state.is_traced = true;
}

/// Ends a trace and stores it.
#[inline(never)]
pub fn end() {
    // SAFETY: as above; `set_breakpoints` set the shared memory.
    unsafe {
        let state = &mut *HANDLER.0.get();
        state.is_traced = false;
        let calls = (*state.shared).calls;
        if calls >= CALLS {
            libc::abort();
        }
        (&raw mut (*state.shared).traces).cast::<Trace>().add(calls).write(state.trace);
        (*state.shared).calls = calls + 1;
    }
}
