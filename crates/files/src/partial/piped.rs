//! Hashes a range from a pipe to a partial.

use std::io::{self, Read};

use crate::error::Error;
use crate::open_key::OpenKey;
use crate::partial::error::{Edge, RangeError};
use crate::partial::part::{PartRange, aligned};
use crate::partial::stream::PartStream;
use crate::progress::Progress;
use crate::read_error::ReadError;

/// Bytes read at a time.
const STEP: usize = 128 << 10;

/// Returns the sealed partial of a range that is read from the current position of `input`. Reads
/// exactly the bytes of the range, so that the next range can be read from the same pipe; with
/// `last`, reads to the end. `range.file` is the input's name in messages.
pub fn piped(
    key: &OpenKey,
    range: PartRange<'_>,
    input: &mut dyn Read,
    progress: &dyn Progress,
) -> Result<Vec<u8>, Error> {
    if range.at.is_some() {
        return Err(RangeError::StreamPlace.into());
    }
    let block = key.parts()?.block() as u64;
    aligned(key, Edge::Start, block, range.start)?;
    let inner = range.inner_length(key, block)?;
    let mut part = PartStream::new(key, range.object.to_vec(), range.start, range.last)?;
    // With an offset set, so that messages do not suggest to give one.
    let failed = |error: ReadError| PartRange { at: Some(0), ..range }.failed(error);
    let mut buffer = vec![0; STEP];
    let expected = inner.or(range.length);
    let mut left = expected.unwrap_or(u64::MAX);
    while left > 0 {
        let step = left.min(STEP as u64) as usize;
        let read = read(input, &mut buffer[..step]).map_err(|error| failed(error.into()))?;
        if read == 0 {
            break;
        }
        part.update(&buffer[..read]).map_err(|error| failed(error.into()))?;
        progress.add(read);
        left -= read as u64;
    }
    let found = part.end() - part.start();
    if let Some(expected) = expected {
        if found < expected {
            return Err(failed(ReadError::Short { expected, found }).into());
        }
        // The object ends with the range, so nothing may follow.
        if range.last && read(input, &mut buffer[..1]).map_err(|error| failed(error.into()))? > 0 {
            return Err(RangeError::StreamGoesOn { expected }.into());
        }
    }
    progress.file();
    part.seal()
}

/// Reads; retries if interrupted by a signal.
fn read(input: &mut dyn Read, out: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(out) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
