//! The pieces of a file, shared among workers, and their parts, joined in order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tagmac_any::{AnyPart, Parts};

use crate::checkpoint::Checkpointer;
use crate::faults;
use crate::progress::Progress;
use crate::read_error::ReadError;

/// A range of an object, and its position in a file.
#[derive(Clone, Copy)]
pub struct Span {
    /// The offset in the object, a multiple of the block.
    pub start: u64,
    /// The offset in the file.
    pub at: u64,
    /// The length in bytes.
    pub bytes: u64,
}

/// The pieces of a file, and the state that the workers share.
pub struct Work<'a> {
    /// The MAC.
    pub parts: Parts<'a>,
    /// The file.
    pub file: &'a File,
    /// The range.
    pub span: Span,
    /// The offset of the first piece in the object.
    pub first: u64,
    /// The length of a piece in bytes.
    pub piece: u64,
    /// The number of pieces.
    pub pieces: u64,
    /// The next free piece.
    pub next: AtomicU64,
    /// The parts that are done.
    pub joined: Mutex<Joined>,
    /// Maintains the checkpoint, if there is one.
    pub checkpointer: Option<&'a Checkpointer<'a>>,
    /// Counts every byte.
    pub progress: &'a dyn Progress,
}

impl Work<'_> {
    /// Hashes free pieces until there are no more, or until one fails.
    pub fn take_pieces(&self, buffer: &mut [u8]) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.pieces {
                return;
            }
            let start = self.first + index * self.piece;
            let part = self.part(start, start + self.piece, buffer);
            let mut joined = self.joined.lock().expect("no worker panics");
            if let Err(error) =
                part.and_then(|part| joined.put(self.parts, part, self.checkpointer))
            {
                joined.error.get_or_insert(error);
                self.next.store(self.pieces, Ordering::Relaxed);
            }
            let (Some(checkpointer), Some(whole)) = (self.checkpointer, &joined.whole) else {
                continue;
            };
            if let Some(due) = checkpointer.due(whole) {
                // Release the lock, so that other workers continue during the write.
                drop(joined);
                checkpointer.write(due);
            }
        }
    }

    /// Hashes whole steps from `start` to `end` to a part.
    pub fn part(&self, start: u64, end: u64, buffer: &mut [u8]) -> Result<AnyPart, ReadError> {
        let mut part = self.parts.new_part(start, &[])?;
        while part.end() < end {
            self.read(buffer, part.end())?;
            self.parts.extend(&mut part, buffer)?;
        }
        Ok(part)
    }

    /// Reads at an offset in the object. Fails if the file is shorter than when it was opened.
    pub fn read(&self, buffer: &mut [u8], at: u64) -> Result<(), ReadError> {
        faults::before("read")?;
        let (at, before) = (at - self.span.start + self.span.at, self.span.at + self.span.bytes);
        let mut done = 0;
        while done < buffer.len() {
            let from = at + done as u64;
            match self.file.read_at(&mut buffer[done..], from) {
                Ok(0) => return Err(ReadError::Changed { before, after: from }),
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.progress.add(buffer.len());
        if self.progress.is_stopped() { Err(ReadError::Stopped) } else { Ok(()) }
    }
}

/// The parts so far: those from the start without a gap are joined, the others wait until the gap
/// closes.
#[derive(Default)]
pub struct Joined {
    /// The offset of the first part.
    first: u64,
    whole: Option<AnyPart>,
    waiting: BTreeMap<u64, AnyPart>,
    error: Option<ReadError>,
}

impl Joined {
    /// Starts with the part before `first`, if any.
    pub fn new(first: u64, whole: Option<AnyPart>) -> Joined {
        Joined { first, whole, ..Joined::default() }
    }

    fn put(
        &mut self,
        parts: Parts<'_>,
        part: AnyPart,
        checkpointer: Option<&Checkpointer<'_>>,
    ) -> Result<(), ReadError> {
        self.waiting.insert(part.start(), part);
        let end = |whole: &Option<AnyPart>| whole.as_ref().map_or(self.first, AnyPart::end);
        while let Some(next) = self.waiting.remove(&end(&self.whole)) {
            let Some(left) = self.whole.take() else {
                self.whole = Some(next);
                continue;
            };
            self.whole = Some(parts.join(left, &next)?);
            if let Some(checkpointer) = checkpointer {
                checkpointer.passed(next);
            }
        }
        Ok(())
    }

    /// Returns all parts and the last one, joined.
    pub fn with(mut self, parts: Parts<'_>, last: AnyPart) -> Result<AnyPart, ReadError> {
        match (self.error.take(), self.whole.take()) {
            (Some(error), _) => Err(error),
            (None, Some(whole)) => Ok(parts.join(whole, &last)?),
            (None, None) => Ok(last),
        }
    }
}
