//! Calls of JNI: arrays, direct buffers and exceptions. Other files have no `unsafe` except at their
//! entry points, and for memory that Java shares without JNI: `scratch` and `foreign`.
//!
//! Other threads of Java may change an array or a buffer while a MAC reads it; the result is then
//! not the tag of any message. Numbers that become lengths are copied first.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice;

use jni_sys::{JNIEnv, JNINativeInterface__1_4 as Functions, jbyteArray, jint, jobject, jstring};
use zeroize::Zeroizing;

use crate::thrown::{Thrown, guarded};

/// Arrays up to this length are copied to the stack. Above, a critical section is cheaper.
const COPIED: usize = 1024;

/// The length of a critical section, in which the garbage collector has to wait. It lasts for some
/// ten microseconds.
pub const CRITICAL: usize = 256 << 10;

/// The longest string from Java, in code units: more than any path or name has.
const MAX_STRING: usize = 1 << 16;

/// The interface to the JVM, for one call of a native method.
#[derive(Clone, Copy)]
pub struct Env<'a> {
    env: *mut JNIEnv,
    call: PhantomData<&'a Cell<()>>,
}

/// A value that a native method returns if it throws.
pub trait Nothing {
    const NOTHING: Self;
}

impl Nothing for () {
    const NOTHING: () = ();
}

impl Nothing for bool {
    const NOTHING: bool = false;
}

impl Nothing for i32 {
    const NOTHING: i32 = 0;
}

impl Nothing for i64 {
    const NOTHING: i64 = 0;
}

impl Nothing for jobject {
    const NOTHING: jobject = std::ptr::null_mut();
}

/// Runs the body of a native method and throws its exception.
///
/// # Safety
///
/// `env` is the pointer that the JVM passed to this call.
#[inline]
pub unsafe fn call<'a, T: Nothing>(
    env: *mut JNIEnv,
    body: impl FnOnce(Env<'a>) -> Result<T, Thrown>,
) -> T {
    let env = Env { env, call: PhantomData };
    guarded(|| body(env)).unwrap_or_else(|thrown| {
        env.throw(thrown);
        T::NOTHING
    })
}

/// A range of an array or a direct buffer, not checked yet.
#[derive(Clone, Copy)]
pub struct Span {
    pub at: jint,
    pub size: jint,
}

impl Span {
    /// Returns start and length if they are within `size` bytes.
    #[inline]
    fn within(self, what: &str, size: usize) -> Result<(usize, usize), Thrown> {
        let (at, length) = (usize::try_from(self.at), usize::try_from(self.size));
        match (at, length) {
            (Ok(at), Ok(length)) if at <= size && length <= size - at => Ok((at, length)),
            _ => Err(self.outside(what, size)),
        }
    }

    #[cold]
    fn outside(self, what: &str, size: usize) -> Thrown {
        let Span { at, size: length } = self;
        Thrown::range(format!("{what}: offset {at}, length {length} of {size} bytes"))
    }
}

impl<'a> Env<'a> {
    fn functions(&self) -> &'a Functions {
        // SAFETY: by `call`, the pointer is the JVM's for this call. Java 17 has JNI 10, whose table
        // begins with that of 1.4.
        unsafe { &(**self.env).v1_4 }
    }

    /// Returns true if an exception is pending.
    fn is_pending(self) -> bool {
        // SAFETY: allowed at any time.
        unsafe { (self.functions().ExceptionCheck)(self.env) }
    }

    #[cold]
    fn throw(self, thrown: Thrown) {
        let Some((class, line)) = thrown.into_class() else { return };
        // SAFETY: nothing is thrown while an exception is pending, such as that of a wrong range. Both
        // strings end in NUL, and the class is null only if that was thrown instead.
        unsafe {
            if self.is_pending() {
                return;
            }
            let class = (self.functions().FindClass)(self.env, class.as_ptr());
            if !class.is_null() {
                (self.functions().ThrowNew)(self.env, class, line.as_ptr());
            }
        }
    }

    /// The length of an array.
    #[inline]
    pub fn length(self, what: &str, array: jbyteArray) -> Result<usize, Thrown> {
        if array.is_null() {
            return Err(Thrown::null(what));
        }
        // SAFETY: an array, by the signature in Java, that lives as long as this call.
        Ok(unsafe { (self.functions().GetArrayLength)(self.env, array) } as usize)
    }

    /// Copies from an array. For a wrong range, the JVM throws and copies nothing.
    #[inline]
    fn read(self, array: jbyteArray, at: jint, into: &mut [MaybeUninit<u8>]) {
        // SAFETY: an array, and `into` is the destination's length.
        unsafe {
            let size = into.len() as jint;
            (self.functions().GetByteArrayRegion)(
                self.env,
                array,
                at,
                size,
                into.as_mut_ptr().cast(),
            );
        }
    }

    /// Copies a short array, such as a nonce. Null is the empty one, and costs nothing.
    #[inline]
    pub fn short<const MAX: usize>(
        self,
        what: &str,
        array: jbyteArray,
    ) -> Result<Short<MAX>, Thrown> {
        let size = if array.is_null() { 0 } else { self.length(what, array)? };
        if size > MAX {
            let line = format!("{what}: expected at most {MAX} bytes, found {size}");
            return Err(Thrown::argument(line));
        }
        Ok(self.sized(array, size))
    }

    /// Copies the first `size` bytes of a short array, which has them: otherwise the JVM throws.
    #[inline]
    pub fn sized<const MAX: usize>(self, array: jbyteArray, size: usize) -> Short<MAX> {
        let mut short = Short { bytes: [0; MAX], size };
        if size > 0 {
            let into: &mut [u8] = &mut short.bytes[..size];
            // SAFETY: initialised bytes may be overwritten by initialised bytes, which `read` does.
            let into = unsafe { &mut *(std::ptr::from_mut(into) as *mut [MaybeUninit<u8>]) };
            self.read(array, 0, into);
        }
        short
    }

    /// Copies an array of at most `most` bytes with a key.
    pub fn secret(
        self,
        what: &str,
        array: jbyteArray,
        most: usize,
    ) -> Result<Zeroizing<Vec<u8>>, Thrown> {
        let size = self.length(what, array)?;
        if size > most {
            let line = format!("{what}: expected at most {most} bytes, found {size}");
            return Err(Thrown::argument(line));
        }
        // The vector never grows, so that it leaves no copies.
        let mut bytes = Zeroizing::new(Vec::with_capacity(size));
        self.read(array, 0, &mut bytes.spare_capacity_mut()[..size]);
        // SAFETY: `read` initialised them.
        unsafe { bytes.set_len(size) };
        Ok(bytes)
    }

    /// Returns the length of a range of an array, if it is inside of it.
    pub fn span(self, what: &str, array: jbyteArray, span: Span) -> Result<usize, Thrown> {
        Ok(span.within(what, self.length(what, array)?)?.1)
    }

    /// Copies a range of an array.
    pub fn copied(self, what: &str, array: jbyteArray, span: Span) -> Result<Vec<u8>, Thrown> {
        let (at, size) = span.within(what, self.length(what, array)?)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|error| Thrown::io(error).about(what))?;
        self.read(array, at as jint, &mut bytes.spare_capacity_mut()[..size]);
        // SAFETY: `read` initialised them.
        unsafe { bytes.set_len(size) };
        Ok(bytes)
    }

    /// Calls `body` with the bytes of an array, once or with one piece after the other. The caller
    /// in Java checks the range: here, the length of a short message would cost a fifth of the call.
    /// A wrong range makes the JVM throw, and `body` gets zeros.
    #[inline]
    pub fn pieces(
        self,
        what: &str,
        array: jbyteArray,
        span: Span,
        mut body: impl FnMut(&[u8]) -> Result<(), Thrown>,
    ) -> Result<(), Thrown> {
        if (0..=COPIED as jint).contains(&span.size) {
            if array.is_null() {
                return Err(Thrown::null(what));
            }
            let mut copy = [const { MaybeUninit::uninit() }; COPIED];
            let copy = &mut copy[..span.size as usize];
            copy.fill(MaybeUninit::new(0));
            self.read(array, span.at, copy);
            // SAFETY: they were filled.
            return body(unsafe { slice::from_raw_parts(copy.as_ptr().cast(), copy.len()) });
        }
        let (at, size) = span.within(what, self.length(what, array)?)?;
        let mut done = 0;
        while done < size {
            let now = CRITICAL.min(size - done);
            let critical = self.critical(array)?;
            // SAFETY: the range is inside of the array, which stays in place until `critical` drops.
            body(unsafe { slice::from_raw_parts(critical.at.add(at + done), now) })?;
            done += now;
        }
        Ok(())
    }

    /// Calls `body` with the bytes of an array, at once. The garbage collector waits for it.
    pub fn whole(
        self,
        what: &str,
        array: jbyteArray,
        span: Span,
        mut body: impl FnMut(&[u8]) -> Result<(), Thrown>,
    ) -> Result<(), Thrown> {
        let (at, size) = span.within(what, self.length(what, array)?)?;
        if size <= COPIED {
            return self.pieces(what, array, span, body);
        }
        let critical = self.critical(array)?;
        // SAFETY: the range is inside of the array, which stays in place until `critical` drops.
        body(unsafe { slice::from_raw_parts(critical.at.add(at), size) })
    }

    /// Begins a critical section, in which no other call of JNI is allowed.
    fn critical(self, array: jbyteArray) -> Result<Critical<'a>, Thrown> {
        // SAFETY: an array, which is released when the result drops.
        let at = unsafe {
            (self.functions().GetPrimitiveArrayCritical)(self.env, array, std::ptr::null_mut())
        };
        match at.is_null() {
            true => Err(Thrown::PENDING),
            false => Ok(Critical { env: self, array, at: at.cast() }),
        }
    }

    /// Writes bytes to the start of an array. If it is too short, the JVM throws.
    #[inline]
    pub fn write(self, what: &str, array: jbyteArray, bytes: &[u8]) -> Result<(), Thrown> {
        if array.is_null() {
            return Err(Thrown::null(what));
        }
        // SAFETY: an array.
        unsafe {
            let (size, from) = (bytes.len() as jint, bytes.as_ptr().cast());
            (self.functions().SetByteArrayRegion)(self.env, array, 0, size, from);
        }
        Ok(())
    }

    /// Makes an array.
    pub fn array(self, bytes: &[u8]) -> Result<jbyteArray, Thrown> {
        let size = jint::try_from(bytes.len()).map_err(Thrown::internal)?;
        // SAFETY: no exception is pending.
        let array = unsafe { (self.functions().NewByteArray)(self.env, size) };
        if array.is_null() {
            return Err(Thrown::PENDING);
        }
        self.write("the result", array, bytes)?;
        Ok(array)
    }

    /// Copies a string, as UTF-8.
    pub fn string(self, what: &str, string: jstring) -> Result<String, Thrown> {
        if string.is_null() {
            return Err(Thrown::null(what));
        }
        // SAFETY: a string, by the signature in Java.
        let size = unsafe { (self.functions().GetStringLength)(self.env, string) } as usize;
        if size > MAX_STRING {
            let line = format!("{what}: expected at most {MAX_STRING} characters, found {size}");
            return Err(Thrown::argument(line));
        }
        let mut units = vec![0u16; size];
        // SAFETY: the buffer has the length of the string.
        unsafe {
            let (size, into) = (size as jint, units.as_mut_ptr());
            (self.functions().GetStringRegion)(self.env, string, 0, size, into);
        }
        String::from_utf16(&units)
            .map_err(|_| Thrown::argument(format!("{what}: not valid Unicode")))
    }

    /// The bytes of a direct buffer from its address on.
    #[inline]
    fn address(self, what: &str, buffer: jobject) -> Result<(*mut u8, usize), Thrown> {
        if buffer.is_null() {
            return Err(Thrown::null(what));
        }
        // SAFETY: an object, which lives as long as this call.
        let (at, size) = unsafe {
            let functions = self.functions();
            let at = (functions.GetDirectBufferAddress)(self.env, buffer);
            (at, (functions.GetDirectBufferCapacity)(self.env, buffer))
        };
        match usize::try_from(size) {
            Ok(0) => Ok((std::ptr::NonNull::dangling().as_ptr(), 0)),
            Ok(size) if !at.is_null() => Ok((at.cast(), size)),
            _ => Err(Thrown::argument(format!("{what}: expected a direct buffer"))),
        }
    }

    /// Makes a direct buffer.
    ///
    /// # Safety
    ///
    /// The bytes are static, and Java may write them.
    pub unsafe fn memory(self, at: *mut u8, size: usize) -> Result<jobject, Thrown> {
        let size = i64::try_from(size).map_err(Thrown::internal)?;
        // SAFETY: by the caller.
        let buffer = unsafe { (self.functions().NewDirectByteBuffer)(self.env, at.cast(), size) };
        match buffer.is_null() {
            false => Ok(buffer),
            // A JVM without direct access from JNI throws nothing.
            true if self.is_pending() => Err(Thrown::PENDING),
            true => Err(Thrown::internal("this JVM makes no direct buffers")),
        }
    }

    /// The bytes of a range of a direct buffer.
    #[inline]
    pub fn buffer(self, what: &str, buffer: jobject, span: Span) -> Result<&'a [u8], Thrown> {
        let (start, size) = self.address(what, buffer)?;
        let (at, size) = span.within(what, size)?;
        // SAFETY: inside of the buffer. Its reference in this call keeps its memory.
        Ok(unsafe { slice::from_raw_parts(start.add(at), size) })
    }

    /// A range of a direct buffer to write to. The caller in Java refuses read-only ones.
    pub fn room(self, what: &str, buffer: jobject, span: Span) -> Result<Room<'a>, Thrown> {
        let (start, size) = self.address(what, buffer)?;
        let (at, size) = span.within(what, size)?;
        // SAFETY: as above.
        let start = unsafe { start.add(at) };
        Ok(Room { start, size, call: PhantomData })
    }
}

/// Bytes of a direct buffer to write to. It may overlap the inputs, so it has no slice.
pub struct Room<'a> {
    start: *mut u8,
    size: usize,
    call: PhantomData<&'a Cell<()>>,
}

impl Room<'_> {
    /// Returns whether the room and `bytes` have memory in common.
    pub fn overlaps(&self, bytes: &[u8]) -> bool {
        let (room, other) = (self.start.addr(), bytes.as_ptr().addr());
        self.size > 0 && !bytes.is_empty() && room < other + bytes.len() && other < room + self.size
    }

    /// Writes bytes.
    ///
    /// # Panics
    ///
    /// If they end outside of the room.
    #[inline]
    pub fn put(&self, at: usize, bytes: &[u8]) {
        assert!(at <= self.size && bytes.len() <= self.size - at, "inside of the room");
        // SAFETY: inside of the room, and `bytes` is memory of Rust.
        let copy = |count| unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(at), count);
        };
        // Most tags have 16 bytes. Other lengths need a call of `memcpy`.
        if bytes.len() == 16 { copy(16) } else { copy(bytes.len()) }
    }
}

/// A few bytes.
pub struct Short<const MAX: usize> {
    bytes: [u8; MAX],
    size: usize,
}

impl<const MAX: usize> std::ops::Deref for Short<MAX> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}

struct Critical<'a> {
    env: Env<'a>,
    array: jbyteArray,
    at: *const u8,
}

impl Drop for Critical<'_> {
    fn drop(&mut self) {
        // SAFETY: from `critical`. JNI_ABORT: nothing was written.
        unsafe {
            let release = self.env.functions().ReleasePrimitiveArrayCritical;
            release(self.env.env, self.array, self.at.cast_mut().cast(), jni_sys::JNI_ABORT);
        }
    }
}
