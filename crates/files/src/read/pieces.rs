//! The pieces of a file, shared among workers, and their parts, joined in order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tagmac::hazmat::PartError;
use tagmac::save::Writer;
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
    /// Keeps the sums of leaves, if they are wanted.
    pub sums: Option<&'a LeafSums>,
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

    /// Hashes blocks from `start` to `end` to a part.
    pub fn part(&self, start: u64, end: u64, buffer: &mut [u8]) -> Result<AnyPart, ReadError> {
        let mut growing = self.growing(start)?;
        self.grow(&mut growing, end, buffer)?;
        growing.finish()
    }

    /// Starts a part at `start`, the start of a leaf if the sums of leaves are kept.
    pub fn growing(&self, start: u64) -> Result<Growing<'_>, ReadError> {
        let part = self.parts.new_part(start, &[])?;
        let open = self.parts.new_part(start, &[])?;
        let sums = self.sums.map(|sums| (sums, Writer::default()));
        Ok(Growing { parts: self.parts, part: Some(part), open, sums })
    }

    /// Hashes blocks from the end of a part to `end`.
    pub fn grow(
        &self,
        growing: &mut Growing<'_>,
        end: u64,
        buffer: &mut [u8],
    ) -> Result<(), ReadError> {
        while growing.end() < end {
            let bytes = (end - growing.end()).min(buffer.len() as u64) as usize;
            self.read(&mut buffer[..bytes], growing.end())?;
            growing.extend(&buffer[..bytes])?;
        }
        Ok(())
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

/// The sums of a file's leaves.
pub struct LeafSums {
    /// The length of a leaf in bytes.
    leaf: u64,
    /// Sums of adjacent leaves as [`Parts::save`] writes them, by the number of the first leaf.
    done: Mutex<BTreeMap<u64, Writer>>,
}

impl LeafSums {
    /// Keeps the sums of leaves of this length.
    pub fn new(leaf: u64) -> LeafSums {
        LeafSums { leaf, done: Mutex::default() }
    }

    /// Returns the length of a leaf in bytes.
    pub fn leaf(&self) -> u64 {
        self.leaf
    }

    /// Returns all sums, in order.
    pub fn into_sums(self) -> Vec<Writer> {
        self.done.into_inner().expect("no worker panics").into_values().collect()
    }
}

/// A part that grows, and the sums of the leaves in it if they are kept.
pub struct Growing<'a> {
    parts: Parts<'a>,
    /// All blocks, or all complete leaves. `None` only after an error.
    part: Option<AnyPart>,
    /// The blocks of the current leaf.
    open: AnyPart,
    sums: Option<(&'a LeafSums, Writer)>,
}

impl Growing<'_> {
    /// Returns the end of all blocks.
    fn end(&self) -> u64 {
        self.part.as_ref().map_or(0, AnyPart::end).max(self.open.end())
    }

    /// Appends whole blocks.
    fn extend(&mut self, mut blocks: &[u8]) -> Result<(), PartError> {
        let Some(leaf) = self.sums.as_ref().map(|(sums, _)| sums.leaf) else {
            let part = self.part.as_mut().ok_or(PartError::ForeignPart)?;
            return self.parts.extend(part, blocks);
        };
        while !blocks.is_empty() {
            let left = leaf - (self.open.end() - self.open.start());
            let (now, later) = blocks.split_at(left.min(blocks.len() as u64) as usize);
            self.parts.extend(&mut self.open, now)?;
            if now.len() as u64 == left {
                self.close()?;
            }
            blocks = later;
        }
        Ok(())
    }

    /// Keeps the sum of the current leaf and starts the next one.
    fn close(&mut self) -> Result<(), PartError> {
        let (_, saved) = self.sums.as_mut().expect("only called with leaves");
        self.parts.save(&self.open, saved).map_err(|_| PartError::ForeignPart)?;
        let part = self.part.take().ok_or(PartError::ForeignPart)?;
        self.part = Some(self.parts.join(part, &self.open)?);
        self.open = self.parts.new_part(self.open.end(), &[])?;
        Ok(())
    }

    /// Closes the last leaf of the file. `end` has the file's last bytes, at least one. Returns
    /// those after the last leaf's blocks: at least one byte and at most a block.
    pub fn close_last<'e>(&mut self, end: &'e [u8]) -> Result<&'e [u8], PartError> {
        if self.sums.is_none() {
            return Ok(end);
        }
        let blocks = (end.len() - 1) / self.parts.block() * self.parts.block();
        self.extend(&end[..blocks])?;
        self.close()?;
        Ok(&end[blocks..])
    }

    /// Returns the part of all blocks.
    pub fn finish(self) -> Result<AnyPart, ReadError> {
        let part = self.part.ok_or(PartError::ForeignPart)?;
        let Some((sums, saved)) = self.sums else { return Ok(part) };
        let number = part.start() / sums.leaf;
        sums.done.lock().expect("no worker panics").insert(number, saved);
        debug_assert_eq!(self.open.start(), self.open.end(), "parts end with a leaf");
        Ok(part)
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
