// Messages in pieces.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tagmac::Error;
use tagmac_any::AnyStream;
use tagmac_border::{Failure, Room, bytes, ensure};

use crate::key::{Key, Keyed, compare, keyed, tag_length};
use crate::slot::{Held, free, slot};
use crate::status::{Output, refused, refused_save, status};

/// A message in pieces, and the messages after it under the same key. Begin with zeros:
/// `tagmac_stream stream = {0};`. Use a stream in one thread at a time; a call from a second thread
/// returns TAGMAC_MISUSE. Do not move or copy a stream: the calls refuse a copy, which could tag
/// two messages under one nonce.
#[repr(C)]
pub struct Stream {
    opaque: [usize; 4],
}

/// The contents of a `tagmac_stream`.
struct Streaming {
    key: Keyed,
    /// The current message; `None` after its end.
    message: Option<AnyStream>,
    /// Shared with all copies.
    nonce: Arc<Nonce>,
}

/// The nonce of a message.
struct Nonce {
    /// Empty for algorithms without a nonce; `None` if it is unknown, after a restore.
    bytes: Option<Vec<u8>>,
    /// A tag was returned under the nonce, or a saved message may lead to one.
    used: AtomicBool,
}

impl Nonce {
    fn new(bytes: &[u8]) -> Arc<Nonce> {
        Arc::new(Nonce { bytes: Some(bytes.into()), used: AtomicBool::new(false) })
    }

    /// Takes the right to tag a message under the nonce, which there is only once.
    fn take(&self) -> Result<(), Failure> {
        if self.bytes.as_ref().is_some_and(Vec::is_empty) {
            return Ok(());
        }
        // Relaxed: the flag guards no other memory.
        ensure(!self.used.swap(true, Ordering::Relaxed), || Error::NonceReused)
    }

    /// Checks that the nonce of a next message differs. A nonce that was only verified may return.
    fn check_next(&self, next: &[u8]) -> Result<(), Failure> {
        let Some(bytes) = &self.bytes else {
            return Err("the nonce of a restored message is unknown: begin the next one with \
                        tagmac_stream_init()"
                .into());
        };
        if !self.used.load(Ordering::Relaxed) || next.is_empty() {
            return Ok(());
        }
        let (before, found) = (bytes.len(), next.len());
        ensure(before == found, || {
            format!(
                "expected a nonce of {before} bytes like the previous one, found {found}: \
                 nonces of different lengths can produce the same tags"
            )
        })?;
        ensure(next != bytes, || Error::NonceReused)
    }
}

impl Held for Streaming {
    const NAME: &'static str = "tagmac_stream";
    const MAGIC: usize = 0x7374_7265;
}

impl Streaming {
    fn message(&mut self) -> Result<&mut AnyStream, Failure> {
        self.message.as_mut().ok_or_else(ended)
    }
}

fn ended() -> Failure {
    "the message has ended: begin the next one with tagmac_stream_next()".into()
}

/// Runs `body` with the contents of a stream, which it locks.
fn with(
    stream: *mut Stream,
    body: impl FnOnce(&mut Streaming) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // SAFETY: the caller of the C function guarantees the stream.
    let mut stream = unsafe { slot::<Streaming, Stream>(stream) }?.alone()?;
    body(stream.get()?)
}

/// Begins a message. Never use a nonce for two messages under the same key. For algorithms without
/// a nonce, pass NULL and 0. The stream stays valid after the key is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_init(
    stream: *mut Stream,
    key: *const Key,
    nonce: *const u8,
    nonce_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a stream, a key, and memory of that size.
        let (mut stream, key, nonce) = unsafe {
            let stream = slot::<Streaming, Stream>(stream)?.alone()?;
            (stream, keyed(key)?, bytes("the nonce", nonce, nonce_size)?)
        };
        let message = Some(key.mac.stream(nonce).map_err(refused)?);
        stream.put(Streaming { key: key.clone(), message, nonce: Nonce::new(nonce) })
    })
}

/// Adds data to the message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_update(
    stream: *mut Stream,
    data: *const u8,
    data_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires memory of that size.
        let data = unsafe { bytes("the message", data, data_size) }?;
        with(stream, |stream| {
            stream.message()?.update(data);
            Ok(())
        })
    })
}

/// Writes the tag and ends the message. `tag_size` must equal tagmac_key_tag_size() of the key;
/// with another size the stream does not change. After the end, call tagmac_stream_next() before
/// the next tagmac_stream_update().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_final(
    stream: *mut Stream,
    tag: *mut u8,
    tag_size: usize,
) -> c_int {
    status(|| {
        with(stream, |stream| {
            // SAFETY: the header requires a buffer of that size.
            let room = unsafe { Room::new("the tag", tag, tag_size, stream.key.tag_bytes()) }?;
            stream.message()?;
            stream.nonce.take()?;
            let message = stream.message.take().ok_or_else(ended)?;
            room.fill(message.tag().map_err(refused)?.as_bytes());
            Ok(())
        })
    })
}

/// Checks the tag in constant time and ends the message: 0 if the tag is right, TAGMAC_MISMATCH if
/// it is wrong. Use the message only after 0. Messages over the algorithm's length limit always
/// return TAGMAC_MISMATCH.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_stream_verify(
    stream: *mut Stream,
    tag: *const u8,
    tag_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires memory of that size.
        let tag = unsafe { bytes("the tag", tag, tag_size) }?;
        with(stream, |stream| {
            tag_length(&stream.key, tag.len())?;
            let message = stream.message.take().ok_or_else(ended)?;
            compare(&stream.key.mac, tag, |tag| message.verify(tag))
        })
    })
}

/// Begins the next message under the same key, with the nonce given. Drops the current message if
/// it has not ended. For algorithms without a nonce, pass NULL and 0.
///
/// TAGMAC_MISUSE if the previous message was tagged under the same nonce, or under a nonce of
/// another length. Then the stream does not change. Nonces before the previous one are not checked:
/// never reuse them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_next(
    stream: *mut Stream,
    nonce: *const u8,
    nonce_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires memory of that size.
        let nonce = unsafe { bytes("the nonce", nonce, nonce_size) }?;
        with(stream, |stream| {
            let message = stream.key.mac.stream(nonce).map_err(refused)?;
            stream.nonce.check_next(nonce)?;
            stream.message = Some(message);
            // Copies may still tag a message under the same nonce.
            if stream.nonce.bytes.as_deref() != Some(nonce) {
                stream.nonce = Nonce::new(nonce);
            }
            Ok(())
        })
    })
}

/// Copies a stream, so that two messages with the same beginning share its hash. `copy` is an empty
/// stream; it stays valid after `stream` and the key are freed. `stream` does not change, and may be
/// copied by several threads at the same time.
///
/// If the algorithm needs a nonce, all copies have the same one. So only one of them writes a tag
/// under it: the others return TAGMAC_MISUSE from tagmac_stream_final(), and may verify.
/// TAGMAC_MISUSE if the message has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_copy(copy: *mut Stream, stream: *const Stream) -> c_int {
    status(|| {
        // SAFETY: the header requires two streams.
        let (mut copy, stream) = unsafe {
            let (copy, stream) =
                (slot::<Streaming, Stream>(copy)?, slot::<Streaming, Stream>(stream)?);
            (copy.alone()?, stream.read()?)
        };
        copy.vacant()?;
        let message = stream.message.as_ref().ok_or_else(ended)?.fork();
        let (key, nonce) = (stream.key.clone(), stream.nonce.clone());
        copy.put(Streaming { key, message: Some(message), nonce })
    })
}

/// Writes the state of the message so far, encrypted and authenticated under the key. Any process
/// with the key can continue the message with tagmac_stream_restore(), and so can the other
/// languages of this library. The state may be stored anywhere: without the key it shows only its
/// length.
///
/// Writes the size of the state to `saved_size`. If `room`, the size of the buffer, is smaller,
/// returns TAGMAC_MISUSE and writes only the size: pass 0 to learn it.
///
/// If the algorithm needs a nonce, the stream ends here, so that only one message uses the nonce:
/// restore each state only once, which the library cannot check. TAGMAC_MISUSE for CMAC, HMAC and
/// the UMAC of 1999, and if the message has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_save(
    stream: *mut Stream,
    saved: *mut u8,
    room: usize,
    saved_size: *mut usize,
) -> c_int {
    status(|| {
        with(stream, |stream| {
            // SAFETY: the header requires a buffer of that size, and a place for a size.
            let out = unsafe { Output::new("the saved stream", saved, room, saved_size) }?;
            let message = stream.message.as_ref().ok_or_else(ended)?;
            let state = message.save(stream.key.sealer()).map_err(refused_save)?;
            let out = out.fits(state.len())?;
            stream.nonce.take()?;
            if stream.key.mac.algorithm().takes_nonce() {
                stream.message = None;
            }
            out.fill(&state);
            Ok(())
        })
    })
}

/// Continues the message that tagmac_stream_save() wrote, under the same key and tag length.
///
/// TAGMAC_INPUT if the state was changed, or belongs to another key or algorithm. The nonce of a
/// restored message is not known, so tagmac_stream_next() returns TAGMAC_MISUSE after it if the
/// algorithm needs one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_restore(
    stream: *mut Stream,
    key: *const Key,
    saved: *const u8,
    saved_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a stream, a key, and memory of that size.
        let (mut stream, key, saved) = unsafe {
            let stream = slot::<Streaming, Stream>(stream)?.alone()?;
            (stream, keyed(key)?, bytes("the saved stream", saved, saved_size)?)
        };
        stream.vacant()?;
        let message = Some(key.mac.restore(key.sealer(), saved).map_err(refused_save)?);
        let bytes = (!key.mac.algorithm().takes_nonce()).then(Vec::new);
        let nonce = Arc::new(Nonce { bytes, used: AtomicBool::new(false) });
        stream.put(Streaming { key: key.clone(), message, nonce })
    })
}

/// Wipes a stream, frees its memory, and leaves zeros. Does nothing to an empty stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_free(stream: *mut Stream) -> c_int {
    // SAFETY: the header requires a stream.
    status(|| unsafe { free::<Streaming, Stream>(stream) })
}

/// Returns the size of a tagmac_stream in bytes, for languages that cannot use sizeof.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_stream_size() -> usize {
    size_of::<Stream>()
}

/// Returns the alignment of a tagmac_stream in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_stream_align() -> usize {
    align_of::<Stream>()
}
