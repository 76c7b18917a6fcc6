//! Rooms: memory that Java and Rust share for the length of one short call.
//!
//! A call with arrays asks the JVM to copy each, which takes longer than the tag of 64 bytes. So
//! Java copies a nonce and a short message into a room, calls with the room's number, and copies the
//! tag from it. A room is static, so that no number from Java is an address.

use std::cell::UnsafeCell;

use jni_sys::{JNIEnv, jclass, jint, jobject};
use tagmac::Tag;

use crate::env::{Env, call};
use crate::thrown::Thrown;

/// The number of rooms.
const ROOMS: usize = 64;
/// The longest nonce in bytes.
pub const MAX_NONCE: usize = 16;
/// The longest tag in bytes.
pub const MAX_TAG: usize = 64;
/// The longest message in bytes.
const MESSAGE: usize = 1024;

/// The parts of a room. `org.tagmac.Room` has the same offsets.
#[repr(C, align(64))]
pub struct Content {
    tag: [u8; MAX_TAG],
    nonce: [u8; MAX_NONCE],
    /// Aligns the message.
    unused: [u8; 48],
    message: [u8; MESSAGE],
}

struct Place(UnsafeCell<Content>);

// SAFETY: a call has a room for itself, because `org.tagmac.Room` lends it to one thread. If
// reflection breaks this, a tag is wrong, as if the thread had changed a buffer meanwhile.
unsafe impl Sync for Place {}

static PLACES: [Place; ROOMS] = [const {
    let (tag, nonce) = ([0; MAX_TAG], [0; MAX_NONCE]);
    Place(UnsafeCell::new(Content { tag, nonce, unused: [0; 48], message: [0; MESSAGE] }))
}; ROOMS];

/// A room for one call.
#[derive(Clone, Copy)]
pub struct Room(&'static Place);

impl Room {
    /// The room with a number from Java.
    #[inline]
    pub fn numbered(number: jint) -> Result<Room, Thrown> {
        let place = usize::try_from(number).ok().and_then(|number| PLACES.get(number));
        place.map(Room).ok_or_else(|| Thrown::range(format!("room {number} of {ROOMS}")))
    }

    /// The first bytes of a part.
    #[inline]
    fn part<const MOST: usize>(
        self,
        what: &str,
        part: fn(&Content) -> &[u8; MOST],
        size: jint,
    ) -> Result<&'static [u8], Thrown> {
        // SAFETY: static, initialised, and by `Place` nobody writes during the call.
        let part = part(unsafe { &*self.0.0.get() });
        usize::try_from(size)
            .ok()
            .and_then(|size| part.get(..size))
            .ok_or_else(|| Thrown::range(format!("{what}: {size} bytes do not fit in {MOST}")))
    }

    /// The nonce that Java wrote.
    #[inline]
    pub fn nonce(self, size: jint) -> Result<&'static [u8], Thrown> {
        self.part("the nonce", |content| &content.nonce, size)
    }

    /// The message that Java wrote.
    #[inline]
    pub fn message(self, size: jint) -> Result<&'static [u8], Thrown> {
        self.part("the message", |content| &content.message, size)
    }

    /// The tag that Java wrote.
    #[inline]
    pub fn tag(self, size: jint) -> Result<&'static [u8], Thrown> {
        self.part("the tag", |content| &content.tag, size)
    }

    /// Writes a tag, for Java to read.
    #[inline]
    pub fn put(self, tag: &Tag) {
        let tag = tag.as_bytes();
        // SAFETY: by `Place` nobody else uses the room, and the borrows of its parts have ended.
        let room = unsafe { &mut (*self.0.0.get()).tag };
        room[..tag.len()].copy_from_slice(tag);
    }

    /// Writes a nonce, for Java to read.
    #[inline]
    pub fn put_nonce(self, nonce: &[u8]) {
        // SAFETY: as above.
        let room = unsafe { &mut (*self.0.0.get()).nonce };
        room[..nonce.len()].copy_from_slice(nonce);
    }
}

/// Returns the memory of a room as a direct buffer.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_room(
    env: *mut JNIEnv,
    _: jclass,
    number: jint,
) -> jobject {
    let body = |env: Env<'_>| {
        let Room(place) = Room::numbered(number)?;
        // SAFETY: static memory of this size.
        unsafe { env.memory(place.0.get().cast(), size_of::<Content>()) }
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}
