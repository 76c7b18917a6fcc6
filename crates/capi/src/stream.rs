// Messages in pieces.

use std::ffi::c_int;

use tagmac::Error;
use tagmac_any::AnyStream;
use tagmac_border::{Failure, Room, bytes, ensure};

use crate::key::{Key, Keyed, compare, keyed, tag_length};
use crate::slot::{Held, free, slot};
use crate::status::{refused, status};

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
    nonce: Vec<u8>,
    /// A tag was returned under the nonce.
    tagged: bool,
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
        let key = Keyed { mac: key.mac.clone() };
        stream.put(Streaming { key, message, nonce: nonce.into(), tagged: false })
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
            let message = stream.message.take().ok_or_else(ended)?;
            stream.tagged = true;
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
            if stream.tagged && !nonce.is_empty() {
                let (before, found) = (stream.nonce.len(), nonce.len());
                ensure(
                    before == found,
                    format_args!(
                        "expected a nonce of {before} bytes like the previous one, found {found}: \
                         nonces of different lengths can produce the same tags"
                    ),
                )?;
                ensure(nonce != stream.nonce, Error::NonceReused)?;
            }
            stream.message = Some(message);
            stream.nonce = nonce.into();
            stream.tagged = false;
            Ok(())
        })
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
