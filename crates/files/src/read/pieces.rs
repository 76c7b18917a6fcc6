//! The pieces of a file, shared among workers, and their parts, joined in order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tagmac::hazmat::PartError;
use tagmac::save::Writer;
use tagmac_any::{AnyPart, Parts};

use crate::checkpoint::Checkpointer;
use crate::faults;
use crate::progress::Progress;
use crate::read_error::ReadError;
use crate::sys::FileExt;

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
        Ok(Growing::new(self.parts, start, self.sums)?)
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

/// A part that grows.
pub struct Growing<'a> {
    parts: Parts<'a>,
    /// All blocks; if leaves are kept, those of complete ones.
    part: AnyPart,
    leaves: Option<OpenLeaf<'a>>,
}

/// The leaf that a part grows by, and the sums of the part's complete leaves.
struct OpenLeaf<'a> {
    sums: &'a LeafSums,
    blocks: AnyPart,
    saved: Writer,
}

impl<'a> Growing<'a> {
    /// Starts a part at `start`, the start of a leaf if the sums of leaves are kept.
    pub fn new(
        parts: Parts<'a>,
        start: u64,
        sums: Option<&'a LeafSums>,
    ) -> Result<Growing<'a>, PartError> {
        let part = parts.new_part(start, &[])?;
        let leaf = |sums| {
            let (blocks, saved) = (parts.new_part(start, &[])?, Writer::default());
            Ok::<_, PartError>(OpenLeaf { sums, blocks, saved })
        };
        let leaves = sums.map(leaf).transpose()?;
        Ok(Growing { parts, part, leaves })
    }
}

impl Growing<'_> {
    /// Returns the end of all blocks.
    fn end(&self) -> u64 {
        self.leaves.as_ref().map_or(&self.part, |leaf| &leaf.blocks).end()
    }

    /// Appends whole blocks.
    pub fn extend(&mut self, blocks: &[u8]) -> Result<(), PartError> {
        match &mut self.leaves {
            Some(leaf) => leaf.extend(self.parts, &mut self.part, blocks),
            None => self.parts.extend(&mut self.part, blocks),
        }
    }

    /// Closes the last leaf of the file. `end` has the file's last bytes, at least one. Returns
    /// those after the last leaf's blocks: at least one byte and at most a block.
    pub fn close_last<'e>(&mut self, end: &'e [u8]) -> Result<&'e [u8], PartError> {
        let Some(leaf) = &mut self.leaves else { return Ok(end) };
        let block = self.parts.block();
        let (blocks, rest) = end.split_at((end.len() - 1) / block * block);
        leaf.extend(self.parts, &mut self.part, blocks)?;
        leaf.close(self.parts, &mut self.part)?;
        Ok(rest)
    }

    /// Returns the part of all blocks.
    pub fn finish(self) -> Result<AnyPart, ReadError> {
        let part = self.part;
        if let Some(OpenLeaf { sums, blocks, saved }) = self.leaves {
            debug_assert_eq!(blocks.start(), blocks.end(), "parts end with a leaf");
            let number = part.start() / sums.leaf;
            sums.done.lock().expect("no worker panics").insert(number, saved);
        }
        Ok(part)
    }
}

impl OpenLeaf<'_> {
    /// Appends whole blocks to the leaf, and complete leaves to `part`.
    fn extend(
        &mut self,
        parts: Parts<'_>,
        part: &mut AnyPart,
        mut blocks: &[u8],
    ) -> Result<(), PartError> {
        while !blocks.is_empty() {
            let left = self.sums.leaf - (self.blocks.end() - self.blocks.start());
            let (now, later) = blocks.split_at(left.min(blocks.len() as u64) as usize);
            parts.extend(&mut self.blocks, now)?;
            if now.len() as u64 == left {
                self.close(parts, part)?;
            }
            blocks = later;
        }
        Ok(())
    }

    /// Keeps the sum of the leaf, appends the leaf to `part`, and starts the next one.
    fn close(&mut self, parts: Parts<'_>, part: &mut AnyPart) -> Result<(), PartError> {
        parts.save(&self.blocks, &mut self.saved).map_err(|_| PartError::ForeignPart)?;
        parts.append(part, &mut self.blocks)
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
