//! A process that stops wherever its code could give something away, see [`operand`](crate::operand): there
//! a breakpoint stands in the place of the instruction. Its handler takes down what the instruction is about to
//! give away, and does it: it jumps by itself, and everything else runs from a copy.
//!
//! Between two such places the way through the code is fixed, so this is what single steps would show, at a
//! tenth of their time. Functions of the system's C library run as they are: what is compared of them is what
//! they are called with, where that is an address.
//!
//! Nothing here may stop: functions of this module and of `operand` have no breakpoints.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::{io, mem, ptr, slice};

use crate::operand::{self, Registers, Use};

/// Stops of a trace that are kept one by one if asked for.
pub const KEPT: usize = 1 << 22;
/// Bytes of code, at most.
pub const CODE_BYTES: usize = 1 << 24;
/// Calls of a subject, at most.
pub const CALLS: usize = 1 << 13;
/// `int3`.
const BREAKPOINT: u8 = 0xcc;
/// Bytes of a copy: an instruction and the jump back.
const COPY_BYTES: usize = 32;

/// A call's trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Trace {
    pub digest: u64,
    pub stops: u64,
    /// Loads and stores by a vector of addresses.
    pub gathers: u64,
}

/// A stop of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Stop {
    pub place: u64,
    pub value: u64,
}

/// What processes with breakpoints write, and the one that started them reads.
#[repr(C)]
pub struct Shared {
    pub calls: usize,
    pub traces: [Trace; CALLS],
    /// The call whose stops are kept.
    pub keep: usize,
    pub kept: usize,
    pub stops: [Stop; KEPT],
    /// At which addresses in the program's file a trace stopped.
    pub ran: [u8; CODE_BYTES],
}

/// An instruction that has a breakpoint in its place.
#[derive(Clone, Copy)]
struct Site {
    gives: Use,
    bytes: u8,
    /// Where it goes on: the copy, but for jumps.
    copy: u64,
}

/// What the handler works on.
struct State {
    is_traced: bool,
    trace: Trace,
    shared: *mut Shared,
    /// Where the program's file begins in memory.
    start: u64,
    /// For each address in it, the site's number plus one.
    numbers: *const u32,
    sites: *const Site,
}

struct Handler(UnsafeCell<State>);

// SAFETY: processes with breakpoints have one thread, and the handler runs between its instructions.
unsafe impl Sync for Handler {}

static HANDLER: Handler = Handler(UnsafeCell::new(State {
    is_traced: false,
    trace: Trace { digest: 0, stops: 0, gathers: 0 },
    shared: ptr::null_mut(),
    start: 0,
    numbers: ptr::null(),
    sites: ptr::null(),
}));

/// Memory of its own, all zero. With `shared`, a process has it together with those that it forks.
fn map(bytes: usize, protection: i32, sharing: i32) -> *mut c_void {
    let flags = sharing | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping, which nothing ever unmaps.
    let at = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
    assert!(at != libc::MAP_FAILED, "mmap: {}", io::Error::last_os_error());
    at
}

/// Memory that this process shares with those that it forks.
pub fn share() -> &'static UnsafeCell<Shared> {
    let at = map(mem::size_of::<Shared>(), libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: zeros are a `Shared`, and the mapping stays.
    unsafe { &*at.cast() }
}

/// Sets breakpoints at all of these instructions, by their addresses in the program's file and their
/// lengths, that give something away.
///
/// # Safety
///
/// They must be instructions, none of them of this module or of `operand`. No thread may run beside this
/// one from now on.
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
        // jmp [rip], and where to.
        copy[bytes..bytes + 6].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
        copy[bytes + 6..bytes + 14].copy_from_slice(&(start + at + bytes as u64).to_le_bytes());
        // SAFETY: there is room for one of each instruction.
        let place = unsafe { copies.cast::<[u8; COPY_BYTES]>().add(sites.len()) };
        // SAFETY: as above.
        unsafe { place.write(copy) };
        sites.push(Site { gives, bytes: bytes as u8, copy: place.expose_provenance() as u64 });
        numbers[at as usize] = sites.len() as u32;
    }
    let end = instructions.iter().map(|(at, bytes)| *at as usize + bytes).max().unwrap_or(0);
    let first = instructions.iter().map(|(at, _)| *at as usize).min().unwrap_or(0);
    // SAFETY: the program's code, from its first instruction to its last one.
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
    // SAFETY: what the handler uses is never freed, it has the signature that `SA_SIGINFO` asks for, and
    // breakpoints come last.
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
    // Code is not writable but here.
    let memory = OpenOptions::new().write(true).open("/proc/self/mem").expect("/proc/self/mem");
    // At once: this function is left out, those that it calls are not.
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

/// Takes a stop down and goes on.
extern "C" fn on_breakpoint(_signal: i32, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives a context; `set_breakpoints` set the state, and nobody else uses it
    // meanwhile; a breakpoint has a site.
    unsafe {
        let state = &mut *HANDLER.0.get();
        let found = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        // After the breakpoint, which is one byte.
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

/// A trace begins.
#[inline(never)]
pub fn begin() {
    // SAFETY: the handler runs only at breakpoints, of which there are none here.
    let state = unsafe { &mut *HANDLER.0.get() };
    state.trace = Trace::default();
    state.is_traced = true;
}

/// It ends, and is written down.
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
