//! A stream of bytes with a tag after each message and no other overhead.
//!
//! ```text
//! on the wire:   x_0 .. x_16383 || tag   x_16384 .. x_32767 || tag   ...   x_i .. || tag   end
//! tag of x_i .. x_(j-1):   Poly1305_r(x_i .. x_(j-1), AES_k(i || j)), i and j as 8 bytes each
//! ```
//!
//! From the slides on Poly1305-AES ("Do nonces require additional message expansion overhead?
//! No!"): both sides count the bytes of the connection, so both know the nonce (i, j) and it is not
//! sent. This j is one more than in the slides, so that an empty message has a nonce, too.
//!
//! Lengths are not sent either. Every message has 16 KiB except the last one of a stream, which is
//! shorter or empty. So a stream truncated anywhere is an error, never a shorter stream.
//!
//! Positions repeat in the next connection and in the other direction: **use a key for only one
//! direction of one connection.** Two programs would derive it from their key exchange.

use std::io::{self, Read, Write};

use tagmac::{Mac, Poly1305Aes, Tag};

/// The size of every message except the last, in bytes; the same as that of TLS records.
pub const MESSAGE_BYTES: usize = 16 << 10;
/// The number of bytes that a tag adds to a message.
pub const TAG_BYTES: usize = 16;

/// k and r of Poly1305-AES, for one direction of one connection.
pub type Key = [u8; 32];

/// Returns a random key.
pub fn new_key() -> io::Result<Key> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    Ok(key)
}

/// Returns the nonce of the bytes of the stream from `i` to `j`, without `j`.
fn nonce(i: u64, j: u64) -> [u8; 16] {
    (u128::from(i) << 64 | u128::from(j)).to_be_bytes()
}

/// Writes a stream. Only [`finish`](Sender::finish) ends it: a sender dropped earlier causes an
/// error at the receiver.
pub struct Sender<W> {
    socket: W,
    mac: Poly1305Aes,
    /// The message so far; it is not full yet.
    message: Vec<u8>,
    /// Its position in the stream; `None` after an error.
    start: Option<u64>,
}

impl<W: Write> Sender<W> {
    pub fn new(socket: W, key: &Key) -> Sender<W> {
        let message = Vec::with_capacity(MESSAGE_BYTES + TAG_BYTES);
        Sender { socket, mac: Poly1305Aes::new(key), message, start: Some(0) }
    }

    /// Sends the last message and ends the stream.
    pub fn finish(mut self) -> io::Result<()> {
        self.send()?;
        self.socket.flush()
    }

    /// Sends the message with its tag. After an error nothing more is sent: part of the message may
    /// have been sent, so its nonce is used up.
    fn send(&mut self) -> io::Result<()> {
        let start = self.start.take().ok_or_else(broken)?;
        let end = start + self.message.len() as u64;
        let tag = self.mac.tag_with(&nonce(start, end), &self.message).map_err(io::Error::other)?;
        self.message.extend_from_slice(tag.as_bytes());
        let sent = self.socket.write_all(&self.message);
        self.message.clear();
        sent?;
        self.start = Some(end);
        Ok(())
    }
}

impl<W: Write> Write for Sender<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(MESSAGE_BYTES - self.message.len());
        self.message.extend_from_slice(&bytes[..taken]);
        if self.message.len() == MESSAGE_BYTES {
            self.send()?;
        }
        Ok(taken)
    }

    /// Sends no message, because a short one would be the last.
    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Reads a stream, and returns only bytes with a verified tag.
pub struct Receiver<R> {
    socket: R,
    mac: Poly1305Aes,
    /// A message and its tag. A sender cannot make the receiver use more memory.
    buffer: Vec<u8>,
    position: Position,
}

enum Position {
    /// The next message begins at this byte.
    At(u64),
    /// The last message was read.
    Ended,
    Broken,
}

impl<R: Read> Receiver<R> {
    pub fn new(socket: R, key: &Key) -> Receiver<R> {
        let buffer = vec![0; MESSAGE_BYTES + TAG_BYTES];
        Receiver { socket, mac: Poly1305Aes::new(key), buffer, position: Position::At(0) }
    }

    /// Returns the next message; `None` after the last one. After an error, every call returns an
    /// error.
    pub fn receive(&mut self) -> io::Result<Option<&[u8]>> {
        let start = match self.position {
            Position::At(start) => start,
            Position::Ended => return Ok(None),
            Position::Broken => return Err(broken()),
        };
        self.position = Position::Broken;
        let length = fill(&mut self.socket, &mut self.buffer)?;
        let Some((message, tag)) = self.buffer[..length].split_last_chunk::<TAG_BYTES>() else {
            let cut = format!("the stream is cut off after byte {start}");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, cut));
        };
        let end = start + message.len() as u64;
        let tag = Tag::try_from(&tag[..]).map_err(io::Error::other)?;
        self.mac.verify_with(&nonce(start, end), message, &tag).map_err(|mismatch| {
            let wrong = format!("bytes {start} to {end} of the stream: {mismatch}");
            io::Error::new(io::ErrorKind::InvalidData, wrong)
        })?;
        let is_last = message.len() < MESSAGE_BYTES;
        self.position = if is_last { Position::Ended } else { Position::At(end) };
        Ok(Some(message))
    }
}

fn broken() -> io::Error {
    io::Error::other("the stream is broken: an earlier call returned an error")
}

/// Reads until the buffer is full or the connection ends.
fn fill(socket: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match socket.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
