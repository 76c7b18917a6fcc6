//! Memcheck's client requests, from `valgrind.h` and `memcheck.h`: a sequence of instructions that
//! does nothing on a CPU and that valgrind interprets as a call.

use std::arch::asm;
use std::mem;

/// `VG_USERREQ__COUNT_ERRORS`.
const COUNT_ERRORS: usize = 0x1201;
/// `VG_USERREQ__RUNNING_ON_VALGRIND`.
const RUNNING_ON_VALGRIND: usize = 0x1001;
/// `VG_USERREQ_TOOL_BASE('M', 'C')`, the first of memcheck's requests.
const MEMCHECK: usize = (b'M' as usize) << 24 | (b'C' as usize) << 16;
const MAKE_MEM_UNDEFINED: usize = MEMCHECK + 1;
const MAKE_MEM_DEFINED: usize = MEMCHECK + 2;
const GET_VBITS: usize = MEMCHECK + 8;

/// Makes a request. Returns its result, or 0 without valgrind.
fn request(number: usize, a: usize, b: usize, c: usize) -> usize {
    let arguments = [number, a, b, c, 0, 0];
    let mut answer = 0;
    // SAFETY: four rotations that add up to two full turns, and an exchange of a register with
    // itself.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") &raw const arguments,
            inout("rdx") answer,
        );
    }
    answer
}

/// Returns whether memcheck, or another tool of valgrind, runs this.
pub fn is_under_valgrind() -> bool {
    request(RUNNING_ON_VALGRIND, 0, 0, 0) > 0
}

/// Returns the number of memcheck's complaints so far.
pub fn errors() -> usize {
    request(COUNT_ERRORS, 0, 0, 0)
}

/// Marks these bytes as secret: only data may depend on them.
pub fn make_undefined(bytes: &mut [u8]) {
    request(MAKE_MEM_UNDEFINED, bytes.as_mut_ptr().addr(), bytes.len(), 0);
}

/// Marks these bytes as public.
pub fn make_defined<T: ?Sized>(value: &mut T) {
    request(MAKE_MEM_DEFINED, (&raw mut *value).addr(), mem::size_of_val(value), 0);
}

/// Returns whether one of these bits depends on secret bytes.
pub fn has_undefined(bytes: &[u8]) -> bool {
    let mut undefined = [0; 64];
    let undefined = &mut undefined[..bytes.len()];
    request(GET_VBITS, bytes.as_ptr().addr(), undefined.as_mut_ptr().addr(), bytes.len());
    undefined.iter().any(|bits| *bits != 0)
}
