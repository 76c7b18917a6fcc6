//! Reads files and tags them.
//!
//! A regular file is divided into pieces. Each worker takes the next free piece and hashes it to a
//! part, in steps that stay in its core's second-level cache between the read and the MAC. The
//! parts are joined in order. The rest, at least one byte, is finalized on the calling thread.
//! Every worker keeps one buffer, so memory does not depend on the file. Pipes and devices cannot
//! be read at offsets and are streamed.

mod pieces;
mod settle;
mod sizes;
mod streamed;

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZero;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::thread;

use tagmac::Tag;
use tagmac::hazmat::PartError;
use tagmac_any::{AnyMac, AnyPart, AnyStream, Parts};

use crate::checkpoint::Checkpointer;
use crate::faults;
use crate::identity;
use crate::leaves::Leaves;
use crate::progress::Progress;
use crate::read_error::ReadError;
use crate::stack;
#[cfg(unix)]
use crate::sys::MetadataExt;
use crate::sys::{self, Metadata};
pub(crate) use pieces::LeafSums;
pub use pieces::Span;
use pieces::{Joined, Work};
pub use settle::settled;
use sizes::Sizes;
use streamed::LeafStream;

/// Approximate length of a step in bytes. At double the length, one thread is 25% slower.
const STEP: usize = 128 << 10;
/// Bytes of a cache line. A buffer starts with a line: the kernel needs a quarter more time to copy
/// to one that starts 16 bytes later, as large allocations do.
const LINE: usize = 64;
/// Steps per piece. Long pieces give the disk long reads, and workers rarely contend.
const STEPS: usize = 4;
/// Bytes per thread, so that a small file starts no threads.
const PER_THREAD: u64 = 1 << 20;
/// Maximum number of threads. More could not be supplied with data, and each has a buffer.
pub const MAX_THREADS: usize = 64;

/// Reads files for one MAC.
pub struct FileReader<'a> {
    mac: &'a AnyMac,
    progress: &'a dyn Progress,
    /// One buffer per thread, filled on first use.
    buffers: Vec<Vec<u8>>,
    step: usize,
    sizes: Sizes,
    /// Makes leaf tags of regular files that are longer than a leaf.
    pub(crate) leaves: Option<&'a Leaves>,
}

/// A tag and the length of its message.
pub struct Tagged {
    /// The tag.
    pub tag: Tag,
    /// The length in bytes.
    pub bytes: u64,
    /// The tags of its leaves, if it has some and they are wanted.
    pub leaf_tags: Vec<u8>,
}

impl Tagged {
    /// A tag without leaf tags.
    pub fn new(tag: Tag, bytes: u64) -> Tagged {
        Tagged { tag, bytes, leaf_tags: Vec::new() }
    }
}

/// Returns the number of threads to use for `asked`; 0 means one per core.
pub fn threads(asked: usize) -> usize {
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    if asked == 0 { cores() } else { asked }.min(MAX_THREADS)
}

impl<'a> FileReader<'a> {
    /// Creates a reader with `threads` threads; 0 means one per core. `progress` counts every byte.
    pub fn new(mac: &'a AnyMac, threads: usize, progress: &'a dyn Progress) -> FileReader<'a> {
        let threads = self::threads(threads);
        let block = mac.parts().map_or(1, Parts::block);
        let buffers = (0..threads).map(|_| Vec::new()).collect();
        let (step, sizes) = (STEP / block * block, Sizes::default());
        FileReader { mac, progress, buffers, step, sizes, leaves: None }
    }

    /// Returns the tag of the open regular file `path`. Resumes from the checkpoint and keeps it up
    /// to date. The MAC must have parts.
    pub fn tag_kept(
        &mut self,
        path: &Path,
        file: &File,
        nonce: &[u8],
        checkpointer: &mut Checkpointer<'_>,
    ) -> Result<Tagged, ReadError> {
        let before = settled(file)?;
        let from = checkpointer.begin(path, file, &before)?;
        self.progress.skip(from.end());
        let tagged = self.tag_from(file, &before, nonce, Some((checkpointer, from)))?;
        checkpointer.unchanged(&sys::metadata_of(file)?)?;
        in_place(path, file)?;
        Ok(tagged)
    }

    /// Returns the tag of an open file. `before` is its metadata when it was opened. Fails if
    /// `path` no longer names the file afterwards.
    pub fn tag_named(
        &mut self,
        path: &Path,
        file: &File,
        before: &Metadata,
        nonce: &[u8],
    ) -> Result<Tagged, ReadError> {
        let tagged = self.tag_open(file, before, nonce)?;
        if before.is_file() {
            in_place(path, file)?;
        }
        Ok(tagged)
    }

    /// Returns the tag of an open file. `before` is its metadata when it was opened.
    pub fn tag_open(
        &mut self,
        file: &File,
        before: &Metadata,
        nonce: &[u8],
    ) -> Result<Tagged, ReadError> {
        self.tag_from(file, before, nonce, None)
    }

    /// Like [`tag_open`](FileReader::tag_open), from the end of a checkpoint.
    fn tag_from(
        &mut self,
        mut file: &File,
        before: &Metadata,
        nonce: &[u8],
        kept: Option<(&Checkpointer<'_>, AnyPart)>,
    ) -> Result<Tagged, ReadError> {
        let size = self.size(file, before);
        if let Some(size) = size {
            within_limit(self.mac, size, Some(size))?;
        }
        let tagged = match (size, self.mac.parts()) {
            (Some(size), Some(parts)) if size > 0 => {
                let span = Span { start: 0, at: 0, bytes: size };
                let leaves = self.leaves.and_then(|all| Some((all, all.size_for(size)?)));
                let sums = leaves.map(|(_, leaf)| LeafSums::new(leaf));
                let (part, rest) = self.in_parts(parts, file, span, kept, sums.as_ref())?;
                let mut tagged = Tagged::new(parts.finish(part, nonce, rest)?, size);
                if let (Some((leaves, _)), Some(sums)) = (leaves, sums) {
                    let (leaf, sums) = (sums.leaf(), sums.into_sums());
                    tagged.leaf_tags = leaves.tags(&tagged.tag, size, leaf, &sums, rest);
                }
                tagged
            }
            // One byte more than expected is enough to detect that the file grows.
            (Some(size), _) => {
                self.stream(&mut file.by_ref().take(size.saturating_add(1)), nonce)?
            }
            _ if before.is_file() => self.stream(&mut sizes::Ending::new(file), nonce)?,
            _ => self.stream(&mut file, nonce)?,
        };
        if size.is_some() {
            unchanged(before, &sys::metadata_of(file)?, tagged.bytes)?;
        }
        Ok(tagged)
    }

    /// Returns the tag of the first `size` bytes of an open regular file. The MAC must have parts.
    /// The caller must ensure that the file does not change.
    pub fn tag_bytes(&mut self, file: &File, size: u64, nonce: &[u8]) -> Result<Tag, ReadError> {
        let parts = self.mac.parts().ok_or(PartError::ForeignPart)?;
        if size == 0 {
            return Ok(parts.finish(parts.new_part(0, &[])?, nonce, &[])?);
        }
        let span = Span { start: 0, at: 0, bytes: size };
        let (part, rest) = self.in_parts(parts, file, span, None, None)?;
        Ok(parts.finish(part, nonce, rest)?)
    }

    /// Returns the size of an open file, if it is known before the file is read.
    pub fn size(&mut self, file: &File, facts: &Metadata) -> Option<u64> {
        (facts.is_file() && self.sizes.are_true(file, facts)).then_some(facts.len())
    }

    /// Returns two tags of an open regular file from one read: under this reader's MAC, and under
    /// another one. Each MAC comes with its nonce, and the other one with the leaf tags to make.
    /// `before` is the file's metadata when it was opened.
    pub fn tag_twice(
        &mut self,
        mut file: &File,
        before: &Metadata,
        nonce: &[u8],
        (other, other_nonce, leaves): (&AnyMac, &[u8], Option<&Leaves>),
    ) -> Result<[Tagged; 2], ReadError> {
        let macs = [self.mac, other];
        let size = self.size(file, before);
        if let Some(size) = size {
            macs.iter().try_for_each(|mac| within_limit(mac, size, Some(size)))?;
        }
        let leaf = size.and_then(|size| leaves?.size_for(size));
        let (mut one, sums) = (self.mac.stream(nonce)?, leaf.map(LeafSums::new));
        let mut two = match &sums {
            Some(sums) => Second::Leaves(Box::new(LeafStream::new(other, sums)?)),
            None => Second::Plain(other.stream(other_nonce)?),
        };
        let mut put = |bytes: &[u8]| {
            one.update(bytes);
            two.update(bytes);
        };
        let bytes = match size {
            Some(size) => {
                self.pour(&mut file.by_ref().take(size.saturating_add(1)), &macs, &mut put)?
            }
            None => self.pour(&mut sizes::Ending::new(file), &macs, &mut put)?,
        };
        if size.is_some() {
            unchanged(before, &sys::metadata_of(file)?, bytes)?;
        }
        let one = Tagged::new(one.tag()?, bytes);
        let (tag, rest) = match two {
            Second::Leaves(stream) => stream.finish()?,
            Second::Plain(stream) => (stream.tag()?, Vec::new()),
        };
        let mut two = Tagged::new(tag, bytes);
        if let (Some(leaves), Some(sums)) = (leaves, sums) {
            let (leaf, sums) = (sums.leaf(), sums.into_sums());
            two.leaf_tags = leaves.tags(&two.tag, bytes, leaf, &sums, &rest);
        }
        Ok([one, two])
    }

    /// Returns the tag of `input`, read to its end.
    pub fn stream(&mut self, input: &mut dyn Read, nonce: &[u8]) -> Result<Tagged, ReadError> {
        let mac = self.mac;
        let mut stream = mac.stream(nonce)?;
        let bytes = self.pour(input, &[mac], &mut |bytes| stream.update(bytes))?;
        Ok(Tagged::new(stream.tag()?, bytes))
    }

    /// Reads `input` to its end, within the limits of all `macs`. Returns its length.
    fn pour(
        &mut self,
        input: &mut dyn Read,
        macs: &[&AnyMac],
        put: &mut dyn FnMut(&[u8]),
    ) -> Result<u64, ReadError> {
        let buffer = sized(&mut self.buffers[0], self.step)?;
        let mut bytes = 0;
        loop {
            faults::before("read")?;
            let read = match input.read(buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            put(&buffer[..read]);
            bytes += read as u64;
            self.progress.add(read);
            if self.progress.is_stopped() {
                return Err(ReadError::Stopped);
            }
            macs.iter().try_for_each(|mac| within_limit(mac, bytes, None))?;
        }
        Ok(bytes)
    }

    /// Hashes a range of a regular file to a part. `before` is its metadata when it was opened.
    /// Returns the part and the bytes after it: at most a block, and only if the range is the
    /// object's last.
    pub fn part(
        &mut self,
        file: &File,
        before: &Metadata,
        span: Span,
        last: bool,
    ) -> Result<(AnyPart, &[u8]), ReadError> {
        let parts = self.mac.parts().ok_or(PartError::ForeignPart)?;
        self.size(file, before).ok_or(ReadError::Sizeless)?;
        let (expected, found) = (span.at.saturating_add(span.bytes), before.len());
        if expected > found {
            return Err(ReadError::Short { expected, found });
        }
        let end = span.start.saturating_add(span.bytes);
        within_limit(self.mac, end, Some(end))?;
        if span.bytes == 0 {
            return Ok((parts.new_part(span.start, &[])?, &[]));
        }
        let (mut part, rest) = self.in_parts(parts, file, span, None, None)?;
        let block = parts.block();
        let cut = (rest.len() - last as usize) / block * block;
        parts.extend(&mut part, &rest[..cut])?;
        unchanged(before, &sys::metadata_of(file)?, before.len())?;
        Ok((part, &rest[cut..]))
    }

    /// Reads a range that is not empty. Returns the part of all but its end, and the end: at least
    /// one byte and at most a step. With a checkpointer, starts after the bytes it has. With `sums`,
    /// keeps those of all leaves, and the end has at most a block.
    fn in_parts(
        &mut self,
        parts: Parts<'_>,
        file: &File,
        span: Span,
        kept: Option<(&Checkpointer<'_>, AnyPart)>,
        sums: Option<&LeafSums>,
    ) -> Result<(AnyPart, &[u8]), ReadError> {
        let step = self.step;
        let piece = (STEPS * step) as u64;
        // Pieces consist of whole leaves.
        let piece = sums.map_or(piece, |sums| (piece / sums.leaf()).max(1) * sums.leaf());
        let (checkpointer, whole) = kept.unzip();
        let first = whole.as_ref().map_or(span.start, AnyPart::end);
        // The end of the span may be byte 2^64, which a `u64` cannot represent.
        let size = span.bytes - (first - span.start);
        // At least one byte is left: some MACs treat the last block differently.
        let pieces = (size - 1) / piece;
        let work = Work {
            parts,
            file,
            span,
            first,
            piece,
            pieces,
            next: AtomicU64::new(0),
            joined: Mutex::new(Joined::new(first, whole)),
            checkpointer,
            sums,
            progress: self.progress,
        };
        let helpers = (size / PER_THREAD).saturating_sub(1) as usize;
        let (own, others) = self.buffers.split_first_mut().expect("at least one thread");
        let own = sized(own, step)?;
        thread::scope(|scope| {
            for buffer in others.iter_mut().take(helpers) {
                let help = || {
                    if let Ok(buffer) = sized(buffer, step) {
                        work.take_pieces(buffer);
                    }
                };
                // If no thread or no buffer can be allocated, this thread does all the work.
                if thread::Builder::new().spawn_scoped(scope, || stack::wiped(help)).is_err() {
                    break;
                }
            }
            work.take_pieces(own);
        });
        let last = pieces * piece;
        let tail = last + (size - last - 1) / step as u64 * step as u64;
        let mut growing = work.growing(first + last)?;
        work.grow(&mut growing, first + tail, own)?;
        let rest = &mut own[..(size - tail) as usize];
        work.read(rest, first + tail)?;
        let rest = growing.close_last(rest)?;
        let part = growing.finish()?;
        let joined = work.joined.into_inner().expect("no worker panics");
        Ok((joined.with(parts, part)?, rest))
    }
}

/// A message under the second of two MACs.
enum Second<'a> {
    /// Its tag alone is made.
    Plain(AnyStream),
    /// Its leaf tags are made too.
    Leaves(Box<LeafStream<'a>>),
}

impl Second<'_> {
    fn update(&mut self, bytes: &[u8]) {
        match self {
            Second::Plain(stream) => stream.update(bytes),
            Second::Leaves(stream) => stream.update(bytes),
        }
    }
}

/// Returns `bytes` bytes of a buffer from the first cache line on. The buffer is allocated once and
/// then kept.
fn sized(buffer: &mut Vec<u8>, bytes: usize) -> io::Result<&mut [u8]> {
    let needed = bytes + LINE - 1;
    if buffer.len() < needed {
        let more = needed - buffer.len();
        buffer.try_reserve_exact(more).map_err(|_| io::ErrorKind::OutOfMemory)?;
        buffer.resize(needed, 0);
    }
    let start = buffer.as_ptr().align_offset(LINE).min(LINE - 1);
    Ok(&mut buffer[start..start + bytes])
}

/// Fails if a regular file has grown, shrunk or been written to.
pub fn unchanged(before: &Metadata, after: &Metadata, read: u64) -> Result<(), ReadError> {
    let written = |file: &Metadata| (file.mtime(), file.mtime_nsec());
    let (stayed, before, after) = (written(before) == written(after), before.len(), after.len());
    if before != after || read != before {
        return Err(ReadError::Changed {
            before,
            after: if before == after { read } else { after },
        });
    }
    if stayed { Ok(()) } else { Err(ReadError::Written) }
}

/// Fails if `path`, with links followed, no longer names the file.
pub fn in_place(path: &Path, file: &File) -> Result<(), ReadError> {
    if identity::leads_to(path, file)? { Ok(()) } else { Err(ReadError::Replaced) }
}

fn within_limit(mac: &AnyMac, bytes: u64, found: Option<u64>) -> Result<(), ReadError> {
    match mac.max_message_bytes() {
        Some(most) if bytes > most => Err(ReadError::TooLong { most, found }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_start_with_a_cache_line_and_are_kept() {
        let mut buffer = Vec::new();
        for bytes in [1, LINE, STEP] {
            let start = sized(&mut buffer, bytes).unwrap().as_ptr();
            assert_eq!(start.align_offset(LINE), 0, "{bytes}");
            let again = sized(&mut buffer, bytes).unwrap();
            assert_eq!((again.as_ptr(), again.len()), (start, bytes));
        }
    }
}
