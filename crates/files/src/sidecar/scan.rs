//! The first pass over a file: hashes its leaves on several threads and returns their parts in
//! order.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::Error;
use crate::faults;
use crate::pool;
use crate::progress::{Progress, stopped};
use tagmac_any::{AnyPart, Parts};

use super::error::UpdateError;
use super::store;
use crate::read;

/// Approximate bytes per job, and maximum number of leaves, whose parts wait for their turn.
const PIECE: u64 = 128 << 10;
const LEAVES: u64 = 256;

/// A file whose leaves are read.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The MAC's operations on parts.
    pub parts: Parts<'a>,
    /// The file's name.
    pub path: &'a Path,
    /// The file.
    pub file: &'a File,
    /// The length of a leaf in bytes.
    pub leaf: u64,
    /// Shows the progress.
    pub bar: &'a dyn Progress,
}

impl Source<'_> {
    /// Fills `bytes` from offset `at`. Fails if the file ends earlier.
    pub fn read(self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        faults::read_exact_at(self.file, bytes, at).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let (file, expected) = (self.path.into(), at + bytes.len() as u64);
                UpdateError::Shrunk { file, expected }.into()
            }
            _ => store::io(self.path)(error),
        })?;
        self.bar.add(bytes.len());
        stopped(self.bar)
    }

    /// Calls `take` with the parts of the leaves from `from`, the start of a leaf, to `to`, in
    /// order.
    pub fn leaves(
        self,
        from: u64,
        to: u64,
        threads: usize,
        mut take: impl FnMut(AnyPart) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let piece = (PIECE / self.leaf).clamp(1, LEAVES) * self.leaf;
        let pieces = (to - from).div_ceil(piece);
        let mut buffers = vec![Vec::new(); pieces.clamp(1, read::threads(threads) as u64) as usize];
        let starts = (0..pieces).map(|index| from + index * piece);
        let make = |buffer: &mut Vec<u8>, start| self.piece(start, to.min(start + piece), buffer);
        let done = |parts: Result<Vec<AnyPart>, Error>| {
            stopped(self.bar)?;
            parts?.into_iter().try_for_each(&mut take)
        };
        pool::in_order(&mut buffers, starts, make, done)
    }

    fn piece(self, start: u64, end: u64, buffer: &mut Vec<u8>) -> Result<Vec<AnyPart>, Error> {
        let mut made = Vec::with_capacity((end - start).div_ceil(self.leaf) as usize);
        let mut at = start;
        while at < end {
            buffer.resize((end - at).min(self.leaf) as usize, 0);
            self.read(buffer, at)?;
            let part = self.parts.new_part(at, buffer);
            made.push(part.map_err(|error| UpdateError::Mac(self.path.into(), error))?);
            at += buffer.len() as u64;
        }
        Ok(made)
    }
}
