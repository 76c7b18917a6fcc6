//! The border to C: pointers become slices, names and room for results; panics and errors become a
//! [`Failure`]. What the C ABI, the names of Nettle and the provider for OpenSSL share, so that
//! each rule stands once:
//!
//! * a null pointer is the empty slice if its size is 0, and refused otherwise;
//! * a size over `isize::MAX` is refused: nothing in memory is that large;
//! * no panic crosses: [`guard`] stops it.

use std::ffi::{CStr, CString, c_char};
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a caller may do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Nothing: the tag is not that of the message.
    Mismatch,
    /// Call rightly: an argument or the order of calls is wrong.
    Misuse,
    /// Reserve more, or take a new key: a limit is reached.
    Limit,
    /// Look at what was stored: it is missing, damaged or of another key.
    Input,
    /// Report it: the library is wrong.
    Internal,
}

/// One line that says why a call failed: what was expected, what was found. A [`FailureKind::Misuse`] unless
/// [`of`](Failure::of) says otherwise.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    kind: FailureKind,
    line: String,
}

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure { kind: FailureKind::Misuse, line: error.to_string() }
    }
}

impl Failure {
    /// Of another kind.
    pub fn of(self, kind: FailureKind) -> Failure {
        Failure { kind, ..self }
    }

    /// What the caller may do.
    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// With what it is about in front.
    pub fn about(self, what: impl Display) -> Failure {
        Failure { line: format!("{what}: {}", self.line), ..self }
    }

    /// The line, which ends before the first NUL.
    pub fn into_line(self) -> String {
        let mut line = self.line;
        line.truncate(line.find('\0').unwrap_or(line.len()));
        line
    }

    /// The line for C.
    pub fn into_c(self) -> CString {
        CString::new(self.into_line()).expect("no NUL is left")
    }
}

/// A name from outside in a line: in quotes, without characters that do something to a terminal, and cut
/// where it is longer than any name that is known.
pub struct Quoted<'a>(pub &'a str);

impl Quoted<'_> {
    /// No name that the libraries know has more bytes.
    pub const MAX_BYTES: usize = 80;

    /// Whether the name is longer than any that is known.
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

/// A failure if `right` does not hold.
///
/// # Errors
///
/// What `otherwise` says.
#[inline]
pub fn ensure<E: Display>(right: bool, otherwise: E) -> Result<(), Failure> {
    if right { Ok(()) } else { Err(otherwise.into()) }
}

/// Runs the body of a call from C. A panic ends here, as a failure.
///
/// # Errors
///
/// Those of `body`, and a panic with its message.
pub fn guard<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // What a panic leaves half done is held in locks that drop, or is dropped.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref().copied());
        let line = format!("internal error: {}", message.unwrap_or("a panic"));
        Err(Failure::from(line).of(FailureKind::Internal))
    })
}

#[inline]
fn check(what: &str, null: bool, size: usize) -> Result<(), Failure> {
    ensure(
        size <= isize::MAX as usize,
        format_args!("expected at most {} bytes of {what}, found a size of {size}", isize::MAX),
    )?;
    ensure(
        !null || size == 0,
        format_args!("expected {size} bytes of {what}, found a null pointer"),
    )
}

/// The bytes that C points to.
///
/// # Errors
///
/// As at the top.
///
/// # Safety
///
/// Unless `at` is null or `size` is over the limit, `size` bytes are there to be read during `'a`.
#[inline]
pub unsafe fn bytes<'a>(what: &str, at: *const u8, size: usize) -> Result<&'a [u8], Failure> {
    check(what, at.is_null(), size)?;
    if size == 0 {
        return Ok(&[]);
    }
    // SAFETY: not null, not too large; the caller vouches for the rest.
    Ok(unsafe { std::slice::from_raw_parts(at, size) })
}

/// A C string.
///
/// # Errors
///
/// For a null pointer.
///
/// # Safety
///
/// `at` is null or points to bytes that end in NUL and stay as they are during `'a`.
pub unsafe fn string<'a>(what: &str, at: *const c_char) -> Result<&'a CStr, Failure> {
    ensure(!at.is_null(), format_args!("expected {what}, found a null pointer"))?;
    // SAFETY: not null; the caller vouches for the NUL.
    Ok(unsafe { CStr::from_ptr(at) })
}

/// The text of a C string.
///
/// # Errors
///
/// As [`string`], and for what is no UTF-8.
///
/// # Safety
///
/// As [`string`].
pub unsafe fn text<'a>(what: &str, at: *const c_char) -> Result<&'a str, Failure> {
    // SAFETY: the caller's word.
    let text = unsafe { string(what, at) }?.to_str();
    text.map_err(|_| format!("expected {what}, found bytes that are no text").into())
}

/// Room that C gives for a result. It may overlap what is read: it is written last, and at once.
pub struct Room {
    at: *mut u8,
    size: usize,
}

impl Room {
    /// The room for exactly `expected` bytes.
    ///
    /// # Errors
    ///
    /// If it has another size, or is a null pointer.
    ///
    /// # Safety
    ///
    /// Unless `at` is null or `size` is not `expected`, `size` bytes can be written until the room
    /// is dropped.
    #[inline]
    pub unsafe fn new(
        what: &str,
        at: *mut u8,
        size: usize,
        expected: usize,
    ) -> Result<Room, Failure> {
        ensure(
            size == expected,
            format_args!("expected room for {what} of {expected} bytes, found {size}"),
        )?;
        check(what, at.is_null(), size)?;
        Ok(Room { at, size })
    }

    /// Fills the room.
    ///
    /// # Panics
    ///
    /// If there are not as many bytes as the room has.
    #[inline]
    pub fn fill(self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.size, "a result that fits");
        // SAFETY: `new` had the caller's word for the room, and `bytes` is memory of our own.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at, self.size) }
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
        // SAFETY: null, or memory that is there, or a size that is refused before anything is read.
        unsafe {
            assert_eq!(bytes("data", null, 0), Ok(&[][..]));
            assert!(bytes("data", null, 1).is_err());
            assert!(bytes("data", b"abc".as_ptr(), usize::MAX).is_err());
            assert!(bytes("data", b"abc".as_ptr(), isize::MAX as usize + 1).is_err());
            assert_eq!(bytes("data", b"abc".as_ptr(), 3), Ok(&b"abc"[..]));
            assert!(text("a name", std::ptr::null()).is_err());
            assert!(text("a name", c"\xff".as_ptr()).is_err());
            assert_eq!(text("a name", c"PMAC".as_ptr()), Ok("PMAC"));
            let mut four = [1; 4];
            assert!(Room::new("a tag", four.as_mut_ptr(), 4, 3).is_err());
            assert!(Room::new("a tag", std::ptr::null_mut(), 3, 3).is_err());
            Room::new("a tag", four.as_mut_ptr(), 3, 3).expect("room").fill(b"abc");
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
