//! Scratch memory: Java and Rust share it for the length of one short call.
//!
//! A call with arrays asks the JVM to copy each, which takes longer than the tag of 64 bytes. So
//! Java copies a nonce and a short message into a scratch, calls with its index, and copies the tag
//! from it. The memory is static, so that no number from Java is an address.

use std::cell::UnsafeCell;
use std::mem::offset_of;

use jni_sys::{JNIEnv, jclass, jint, jobject};
use tagmac::Tag;

use crate::env::{Env, call};
use crate::thrown::Thrown;

/// The longest nonce in bytes.
pub const MAX_NONCE: usize = 16;
/// The longest tag in bytes.
pub const MAX_TAG: usize = 64;
/// The longest message in bytes.
const MAX_MESSAGE: usize = 1024;
/// The number of calls that can use scratch memory at the same time.
const SCRATCHES: usize = 64;

/// The parts of a scratch.
#[repr(C, align(64))]
struct Parts {
    tag: [u8; MAX_TAG],
    nonce: [u8; MAX_NONCE],
    /// Aligns the message.
    unused: [u8; 48],
    message: [u8; MAX_MESSAGE],
}

// As in `org.tagmac.Scratch`, which also checks the size.
const _: () = assert!(offset_of!(Parts, tag) == 0 && offset_of!(Parts, nonce) == 64);
const _: () = assert!(offset_of!(Parts, message) == 128 && size_of::<Parts>() == 1152);

struct Memory(UnsafeCell<Parts>);

// SAFETY: a call has a scratch for itself, because `org.tagmac.Scratch` lends it to one thread. If
// reflection breaks this, a tag is wrong, as if the thread had changed a buffer meanwhile.
unsafe impl Sync for Memory {}

static MEMORY: [Memory; SCRATCHES] = [const {
    let (tag, nonce) = ([0; MAX_TAG], [0; MAX_NONCE]);
    Memory(UnsafeCell::new(Parts { tag, nonce, unused: [0; 48], message: [0; MAX_MESSAGE] }))
}; SCRATCHES];

/// The scratch of one call.
pub struct Scratch(&'static Memory);

impl Scratch {
    /// The scratch at an index from Java.
    #[inline]
    pub fn at(index: jint) -> Result<Scratch, Thrown> {
        let memory = usize::try_from(index).ok().and_then(|index| MEMORY.get(index));
        memory.map(Scratch).ok_or_else(|| Thrown::range(format!("scratch {index} of {SCRATCHES}")))
    }

    /// The first bytes of a part.
    #[inline]
    fn part<const MAX: usize>(
        &self,
        what: &str,
        part: fn(&Parts) -> &[u8; MAX],
        size: jint,
    ) -> Result<&[u8], Thrown> {
        // SAFETY: static, initialised, and nobody writes during the call, see `Memory`.
        let part = part(unsafe { &*self.0.0.get() });
        usize::try_from(size)
            .ok()
            .and_then(|size| part.get(..size))
            .ok_or_else(|| Thrown::range(format!("{what}: {size} bytes do not fit in {MAX}")))
    }

    /// The nonce that Java wrote.
    #[inline]
    pub fn nonce(&self, size: jint) -> Result<&[u8], Thrown> {
        self.part("the nonce", |parts| &parts.nonce, size)
    }

    /// The message that Java wrote.
    #[inline]
    pub fn message(&self, size: jint) -> Result<&[u8], Thrown> {
        self.part("the message", |parts| &parts.message, size)
    }

    /// The tag that Java wrote.
    #[inline]
    pub fn tag(&self, size: jint) -> Result<&[u8], Thrown> {
        self.part("the tag", |parts| &parts.tag, size)
    }

    /// Writes a tag, for Java to read.
    #[inline]
    pub fn put(&mut self, tag: &Tag) {
        let tag = tag.as_bytes();
        // SAFETY: nobody else uses the memory, see `Memory`, and the exclusive borrow ends the
        // borrows of parts.
        let to = unsafe { &mut (*self.0.0.get()).tag };
        to[..tag.len()].copy_from_slice(tag);
    }

    /// Writes a nonce, for Java to read.
    #[inline]
    pub fn put_nonce(&mut self, nonce: &[u8]) {
        // SAFETY: as above.
        let to = unsafe { &mut (*self.0.0.get()).nonce };
        to[..nonce.len()].copy_from_slice(nonce);
    }
}

/// Returns the memory of a scratch as a direct buffer.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_scratch(
    env: *mut JNIEnv,
    _: jclass,
    index: jint,
) -> jobject {
    let body = |env: Env<'_>| {
        let Scratch(memory) = Scratch::at(index)?;
        // SAFETY: static memory of this size.
        unsafe { env.memory(memory.0.get().cast(), size_of::<Parts>()) }
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}
