//! The first pass over a file: the part of each leaf, by several threads, handed on in order.

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

/// A job has nearly so many bytes, or so many leaves, because their parts wait until their turn.
const PIECE: u64 = 128 << 10;
const LEAVES: u64 = 256;

/// A file whose leaves are read.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The MAC's calls on parts.
    pub parts: Parts<'a>,
    /// The file's name.
    pub path: &'a Path,
    /// The file.
    pub file: &'a File,
    /// Bytes of a leaf.
    pub leaf: u64,
    /// What shows how far it is.
    pub bar: &'a dyn Progress,
}

impl Source<'_> {
    /// Reads bytes that the file has to have.
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

    /// Hands on the parts of the leaves from byte `from`, where one begins, to byte `to`.
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
