// Messages that come in pieces.

use std::ffi::c_int;

use tagmac::Error;
use tagmac_any::AnyStream;
use tagmac_border::{Failure, Room, bytes, ensure};

use crate::key::{Key, Keyed, compare, keyed, tag_length};
use crate::slot::{Held, free, slot};
use crate::status::{refused, status};

/// A message that comes in pieces, and the messages after it under the same key. Begin with zeros:
/// `tagmac_stream stream = {0};`. One thread at a time; a second one gets TAGMAC_MISUSE. Do not move
/// or copy it: the calls refuse a copy, because of two messages under one nonce only one may be
/// tagged.
#[repr(C)]
pub struct Stream {
    opaque: [usize; 4],
}

/// What a stream holds.
struct Streaming {
    key: Keyed,
    /// The message under way; `None` once it has its tag.
    message: Option<AnyStream>,
    nonce: Vec<u8>,
    /// Somebody has a tag under the nonce.
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
    "expected a message under way, found one that has ended: tagmac_stream_next() begins another"
        .into()
}

/// The slot of a stream, and what to do with what it holds.
fn with(
    stream: *mut Stream,
    body: impl FnOnce(&mut Streaming) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // SAFETY: the caller of the C function vouches for the stream.
    let mut stream = unsafe { slot::<Streaming, Stream>(stream) }?.alone()?;
    body(stream.get()?)
}

/// Begins a message. The nonce is NULL and 0 for algorithms that take none; under one key no nonce
/// may ever serve two messages. The stream keeps what it needs of the key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_init(
    stream: *mut Stream,
    key: *const Key,
    nonce: *const u8,
    nonce_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header asks for a stream, a key, and memory of that size.
        let (mut stream, key, nonce) = unsafe {
            let stream = slot::<Streaming, Stream>(stream)?.alone()?;
            (stream, keyed(key)?, bytes("the nonce", nonce, nonce_size)?)
        };
        let message = Some(key.mac.stream(nonce).map_err(refused)?);
        let key = Keyed { mac: key.mac.clone() };
        stream.put(Streaming { key, message, nonce: nonce.into(), tagged: false })
    })
}

/// Adds to the message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_update(
    stream: *mut Stream,
    data: *const u8,
    data_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header asks for memory of that size.
        let data = unsafe { bytes("the message", data, data_size) }?;
        with(stream, |stream| {
            stream.message()?.update(data);
            Ok(())
        })
    })
}

/// Writes the tag and ends the message. `tag_size` has to be tagmac_key_tag_size() of the key;
/// with another one nothing happens. Then there is nothing to update or to end before
/// tagmac_stream_next().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_final(
    stream: *mut Stream,
    tag: *mut u8,
    tag_size: usize,
) -> c_int {
    status(|| {
        with(stream, |stream| {
            // SAFETY: the header asks for room of that size.
            let room = unsafe { Room::new("a tag", tag, tag_size, stream.key.tag_bytes()) }?;
            let message = stream.message.take().ok_or_else(ended)?;
            stream.tagged = true;
            room.fill(message.tag().map_err(refused)?.as_bytes());
            Ok(())
        })
    })
}

/// Checks the tag in constant time, and ends the message: 0 if it is right, TAGMAC_MISMATCH if it is
/// wrong. Use the message only after 0. A message that is longer than the algorithm allows has no right
/// tag.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_stream_verify(
    stream: *mut Stream,
    tag: *const u8,
    tag_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header asks for memory of that size.
        let tag = unsafe { bytes("the tag", tag, tag_size) }?;
        with(stream, |stream| {
            tag_length(&stream.key, tag.len())?;
            let message = stream.message.take().ok_or_else(ended)?;
            compare(&stream.key.mac, tag, |tag| message.verify(tag))
        })
    })
}

/// Sets the nonce of the next message and begins it, under the same key. A message that is under
/// way is dropped. The nonce is NULL and 0 for algorithms that take none. TAGMAC_MISUSE if the
/// message before was tagged under the same nonce or one of another length, and then nothing changes;
/// older nonces are yours to remember.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_next(
    stream: *mut Stream,
    nonce: *const u8,
    nonce_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header asks for memory of that size.
        let nonce = unsafe { bytes("the nonce", nonce, nonce_size) }?;
        with(stream, |stream| {
            let message = stream.key.mac.stream(nonce).map_err(refused)?;
            if stream.tagged && !nonce.is_empty() {
                let (before, found) = (stream.nonce.len(), nonce.len());
                ensure(
                    before == found,
                    format_args!(
                        "expected a nonce of {before} bytes as before, found one of {found}: nonces \
                         of two lengths may be one"
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

/// Wipes a stream, frees what it holds, and leaves zeros. Without effect on an empty stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_stream_free(stream: *mut Stream) -> c_int {
    // SAFETY: the header asks for a stream.
    status(|| unsafe { free::<Streaming, Stream>(stream) })
}

/// Bytes of a tagmac_stream, for languages that cannot ask the compiler.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_stream_size() -> usize {
    size_of::<Stream>()
}

/// The alignment of a tagmac_stream in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_stream_align() -> usize {
    align_of::<Stream>()
}
