//! The boundary to C: checks pointers and turns them into slices, strings and output buffers; turns
//! errors and panics into a [`Failure`]. [`lock`] is for objects that C holds.
//!
//! The C ABI, the library with Nettle's names and the OpenSSL provider share these rules:
//!
//! * a null pointer with size 0 is the empty slice; any other null pointer is refused;
//! * a size over `isize::MAX` is refused: no object in memory is that large;
//! * no panic crosses the boundary: [`guard`] catches it.

pub mod lock;

use std::ffi::{CStr, CString, c_char};
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The kind of a failure, which tells the caller how to react.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The tag does not match the message.
    Mismatch,
    /// An argument or the order of calls is wrong: correct the call.
    Misuse,
    /// A limit was reached: reserve more, or use a new key.
    Limit,
    /// Stored data is missing, damaged, or belongs to another key.
    Input,
    /// A bug in the library: report it.
    Internal,
    /// The program asked to stop.
    Stopped,
}

/// One line that explains why a call failed. Its kind is [`FailureKind::Misuse`] unless
/// [`of`](Failure::of) sets another.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure(Box<Reason>);

// In a box, so that results of calls fit into registers.
#[derive(Debug, PartialEq, Eq)]
struct Reason {
    kind: FailureKind,
    line: String,
}

impl<E: Display> From<E> for Failure {
    #[cold]
    fn from(error: E) -> Failure {
        Failure(Box::new(Reason { kind: FailureKind::Misuse, line: error.to_string() }))
    }
}

impl Failure {
    /// Sets the kind.
    pub fn of(mut self, kind: FailureKind) -> Failure {
        self.0.kind = kind;
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }

    /// Puts the name of the object and a colon before the line.
    pub fn about(mut self, what: impl Display) -> Failure {
        self.0.line = format!("{what}: {}", self.0.line);
        self
    }

    /// Returns the line, up to the first NUL.
    pub fn into_line(self) -> String {
        let mut line = self.0.line;
        line.truncate(line.find('\0').unwrap_or(line.len()));
        line
    }

    /// Returns the line as a C string.
    pub fn into_c(self) -> CString {
        CString::new(self.into_line()).expect("no NUL is left")
    }
}

/// A name from outside, quoted for a message. Control characters are escaped, and names longer than
/// all known names are truncated.
pub struct Quoted<'a>(pub &'a str);

impl Quoted<'_> {
    /// The longest name that the libraries know has at most this many bytes.
    pub const MAX_BYTES: usize = 80;

    /// Returns whether the name is longer than all known names.
    pub fn is_too_long(&self) -> bool {
        self.0.len() > Quoted::MAX_BYTES
    }
}

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.0.len().min(Quoted::MAX_BYTES);
        let end = (0..=most).rev().find(|&end| self.0.is_char_boundary(end)).unwrap_or(0);
        let shown = &self.0[..end];
        let dots = if self.is_too_long() { "..." } else { "" };
        write!(f, "'{}{dots}'", shown.escape_debug())
    }
}

/// Returns `Ok` if `right`.
///
/// # Errors
///
/// The result of `otherwise`, if not `right`.
#[inline(always)]
pub fn ensure<E: Into<Failure>>(right: bool, otherwise: impl FnOnce() -> E) -> Result<(), Failure> {
    if right { Ok(()) } else { Err(otherwise().into()) }
}

/// Runs the body of a call from C and turns a panic into a failure.
///
/// # Errors
///
/// Those of `body`, and a panic with its message.
pub fn guard<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // After a panic nothing is left half-changed: guards drop, and so do the values of the call.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref().copied());
        let line = format!("internal error: {}", message.unwrap_or("a panic"));
        Err(Failure::from(line).of(FailureKind::Internal))
    })
}

#[inline]
fn check(what: &str, null: bool, size: usize) -> Result<(), Failure> {
    if size <= isize::MAX as usize && (!null || size == 0) { Ok(()) } else { refuse(what, size) }
}

// A separate function, so that its arguments are in memory only if a call fails.
#[cold]
fn refuse(what: &str, size: usize) -> Result<(), Failure> {
    let most = isize::MAX as usize;
    Err(if size > most {
        format_args!("expected at most {most} bytes of {what}, found a size of {size}").into()
    } else {
        format_args!("{what} is a null pointer with a size of {size}").into()
    })
}

/// Returns the bytes that C points to.
///
/// # Errors
///
/// For a null pointer with a size, and for a size over `isize::MAX`.
///
/// # Safety
///
/// Unless `at` is null or `size` is too large, `size` bytes are readable during `'a`.
#[inline]
pub unsafe fn bytes<'a>(what: &str, at: *const u8, size: usize) -> Result<&'a [u8], Failure> {
    check(what, at.is_null(), size)?;
    if size == 0 {
        return Ok(&[]);
    }
    // SAFETY: not null, not too large; the caller guarantees the rest.
    Ok(unsafe { std::slice::from_raw_parts(at, size) })
}

/// Returns the C string at a pointer.
///
/// # Errors
///
/// If the pointer is null.
///
/// # Safety
///
/// `at` is null or points to a NUL-terminated string that does not change during `'a`.
pub unsafe fn string<'a>(what: &str, at: *const c_char) -> Result<&'a CStr, Failure> {
    ensure(!at.is_null(), || format!("{what} is a null pointer"))?;
    // SAFETY: not null; the caller guarantees the NUL.
    Ok(unsafe { CStr::from_ptr(at) })
}

/// Returns the C string at a pointer as a `str`.
///
/// # Errors
///
/// If the pointer is null or the string is not UTF-8.
///
/// # Safety
///
/// As for [`string`].
pub unsafe fn text<'a>(what: &str, at: *const c_char) -> Result<&'a str, Failure> {
    // SAFETY: guaranteed by the caller.
    let text = unsafe { string(what, at) }?.to_str();
    text.map_err(|_| format!("{what} is not valid UTF-8").into())
}

/// An output buffer of C. It may overlap the inputs, because it is written last and in one go.
pub struct Room {
    at: *mut u8,
    size: usize,
}

impl Room {
    /// Checks the buffer for exactly `expected` bytes.
    ///
    /// # Errors
    ///
    /// If it has another size or is a null pointer.
    ///
    /// # Safety
    ///
    /// Unless `at` is null or `size` is not `expected`, `size` bytes are writable until this is
    /// dropped.
    #[inline]
    pub unsafe fn new(
        what: &str,
        at: *mut u8,
        size: usize,
        expected: usize,
    ) -> Result<Room, Failure> {
        ensure(size == expected, || {
            format!("expected a buffer of {expected} bytes for {what}, found {size}")
        })?;
        check(what, at.is_null(), size)?;
        Ok(Room { at, size })
    }

    /// Fills the buffer.
    ///
    /// # Panics
    ///
    /// If `bytes` has another length than the buffer.
    #[inline]
    pub fn fill(self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.size, "a result that fits");
        // SAFETY: the caller of `new` guaranteed the buffer, and `bytes` is memory of Rust.
        unsafe {
            match bytes.first_chunk::<16>() {
                // The usual length of a tag needs no call.
                Some(tag) if self.size == 16 => self.at.cast::<[u8; 16]>().write_unaligned(*tag),
                _ => std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at, self.size),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_end_here() {
        let says = |failure: Result<(), Failure>| failure.unwrap_err().into_c();
        assert_eq!(says(guard(|| panic!("at {}", 7))).as_c_str(), c"internal error: at 7");
        assert_eq!(says(guard(|| panic!("plain"))).as_c_str(), c"internal error: plain");
        assert_eq!(guard(|| Ok(3)), Ok(3));
        let kind = |failure: Result<(), Failure>| failure.unwrap_err().kind();
        assert_eq!(kind(guard(|| panic!("plain"))), FailureKind::Internal);
        assert_eq!(kind(guard(|| Err("wrong".into()))), FailureKind::Misuse);
    }

    #[test]
    fn pointers() {
        let null = std::ptr::null();
        // SAFETY: null, valid memory, or a size that is refused before anything is read.
        unsafe {
            assert_eq!(bytes("data", null, 0), Ok(&[][..]));
            assert!(bytes("data", null, 1).is_err());
            assert!(bytes("data", b"abc".as_ptr(), usize::MAX).is_err());
            assert!(bytes("data", b"abc".as_ptr(), isize::MAX as usize + 1).is_err());
            assert_eq!(bytes("data", b"abc".as_ptr(), 3), Ok(&b"abc"[..]));
            assert!(text("the name", std::ptr::null()).is_err());
            assert!(text("the name", c"\xff".as_ptr()).is_err());
            assert_eq!(text("the name", c"PMAC".as_ptr()), Ok("PMAC"));
            let mut four = [1; 4];
            assert!(Room::new("the tag", four.as_mut_ptr(), 4, 3).is_err());
            assert!(Room::new("the tag", std::ptr::null_mut(), 3, 3).is_err());
            Room::new("the tag", four.as_mut_ptr(), 3, 3).expect("a buffer").fill(b"abc");
            assert_eq!(four, *b"abc\x01");
        }
    }

    #[test]
    fn names_in_lines_are_quoted_and_cut() {
        let shown = |name: &str| Quoted(name).to_string();
        assert_eq!(shown("PMAC"), "'PMAC'");
        assert_eq!(shown("ä'\\"), r"'ä\'\\'");
        assert_eq!(shown("a\n\u{1b}[2J\u{202e}"), r"'a\n\u{1b}[2J\u{202e}'");
        let (known, longer) = ("x".repeat(Quoted::MAX_BYTES), "ä".repeat(1 << 20));
        assert_eq!(shown(&known), format!("'{known}'"));
        assert_eq!(shown(&longer), format!("'{}...'", "ä".repeat(Quoted::MAX_BYTES / 2)));
        assert!(!Quoted(&known).is_too_long() && Quoted(&longer).is_too_long());
    }

    #[test]
    fn lines_end_at_a_nul() {
        assert_eq!(Failure::from("a\0b").into_c().as_c_str(), c"a");
        assert_eq!(Failure::from("is wrong").about("it").into_c().as_c_str(), c"it: is wrong");
    }
}
