//! The first pass over a file: the part of each leaf, by several threads, handed on in order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use tagmac::any::{AnyPart, Parts};

use super::store;
use crate::error::{Error, Shown};
use crate::progress::Bar;

/// Bytes that a thread takes at once, nearly.
const PIECE: u64 = 1 << 20;
/// More threads would not be fed.
const MOST_THREADS: usize = 64;

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
    pub bar: &'a Bar,
}

impl Source<'_> {
    /// Reads bytes that the file has to have.
    pub fn read(self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        self.file.read_exact_at(bytes, at).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::io(format_args!(
                "{}: expected {} bytes, found fewer: the file changed while it was read",
                Shown::name(self.path),
                at + bytes.len() as u64,
            )),
            _ => store::io(self.path)(error),
        })?;
        self.bar.add(bytes.len());
        Ok(())
    }

    /// Hands on the parts of the leaves from byte `from`, where one begins, to byte `to`.
    pub fn leaves(
        self,
        from: u64,
        to: u64,
        threads: usize,
        mut take: impl FnMut(AnyPart) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let piece = PIECE.div_ceil(self.leaf) * self.leaf;
        let pieces = (to - from).div_ceil(piece);
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        let threads = if threads == 0 { cores() } else { threads }.min(MOST_THREADS);
        let threads = (threads as u64).min(pieces) as usize;
        let next = AtomicU64::new(0);
        // The parts of the next piece that nobody has.
        let make = |buffer: &mut Vec<u8>| -> Option<(u64, Result<Vec<AnyPart>, Error>)> {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let start = from + index.checked_mul(piece).filter(|_| index < pieces)?;
            Some((index, self.piece(start, to.min(start + piece), buffer)))
        };
        thread::scope(|scope| {
            let (send, receive) = sync_channel(2 * threads);
            let mut helpers = 0;
            for _ in 0..threads {
                let send = send.clone();
                let help = move || {
                    let mut buffer = Vec::new();
                    while let Some(made) = make(&mut buffer) {
                        // Nobody takes it if something has failed.
                        if send.send(made).is_err() {
                            return;
                        }
                    }
                };
                match thread::Builder::new().spawn_scoped(scope, help) {
                    Ok(_) => helpers += 1,
                    Err(_) => break,
                }
            }
            drop(send);
            let (mut waiting, mut index, mut buffer) = (BTreeMap::new(), 0, Vec::new());
            while index < pieces {
                // Where no thread can be had, this one does all the work.
                let made = if helpers > 0 { receive.recv().ok() } else { make(&mut buffer) };
                let (at, made) = made.expect("one of all pieces");
                waiting.insert(at, made?);
                while let Some(parts) = waiting.remove(&index) {
                    parts.into_iter().try_for_each(&mut take)?;
                    index += 1;
                }
            }
            Ok(())
        })
    }

    fn piece(self, start: u64, end: u64, buffer: &mut Vec<u8>) -> Result<Vec<AnyPart>, Error> {
        let mut made = Vec::with_capacity((end - start).div_ceil(self.leaf) as usize);
        let mut at = start;
        while at < end {
            buffer.resize((end - at).min(self.leaf) as usize, 0);
            self.read(buffer, at)?;
            let part = self.parts.of(at, buffer);
            made.push(
                part.map_err(|error| {
                    Error::io(format_args!("{}: {error}", Shown::name(self.path)))
                })?,
            );
            at += buffer.len() as u64;
        }
        Ok(made)
    }
}
