//! A patch, written through the check.
//!
//! Before the file is touched, old and new bytes are in the sidecar, and a state that says so. If
//! that state is found later, the patch was cut short: with the old bytes laid over what it may have
//! written, the leaves are checked as they were before it, and it is written again.

use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

use tagmac::save::{Reader, Writer};

use super::header::Patch;
use super::leaves::Next;
use super::{State, store};
use crate::error::{Error, Shown, say};
use crate::stdio;

/// Patches are held in memory.
const MOST: u64 = 256 << 20;

impl State<'_> {
    /// Writes the bytes of `patch` into the file, once the leaves have been checked.
    pub(super) fn patch(&mut self, offset: u64, patch: &Path) -> Result<(), Error> {
        self.has_its_length()?;
        let new = read(patch)?;
        let (end, length) = (offset.saturating_add(new.len() as u64), self.header.length);
        if end > length {
            return Err(self.open.usage(format_args!(
                "--patch: expected bytes within the file's {length}, found some up to {end}; \
                 --append vouches for what was added at its end"
            )));
        }
        if new.is_empty() {
            return Ok(());
        }
        let (start, mut bytes) = self.around(offset, new.len())?;
        self.check(start, &bytes)?;
        let place = (offset - start) as usize;
        let mut text = Writer::default();
        text.counted(&bytes[place..][..new.len()]).counted(&new);
        let patch = Patch { offset, place: self.tree.store.put(b"patch", &text)? };
        bytes[place..][..new.len()].copy_from_slice(&new);
        // Before the state that has the patch, so that one sync is enough for all boxes.
        let next = self.next(start, &bytes)?;
        self.header.patch = Some(patch);
        self.header.commit(&mut self.tree.store, self.tree.parts)?;
        self.write(offset, &new, next)
    }

    /// Finishes a patch that was cut short.
    pub(super) fn finish_patch(&mut self) -> Result<(), Error> {
        let Some(Patch { offset, place }) = self.header.patch else { return Ok(()) };
        self.has_its_length()?;
        let text = self.tree.store.get(b"patch", &place)?;
        let input = &mut Reader::new(&text);
        let both = input.counted().zip(input.counted());
        let (old, new) = both
            .filter(|(old, new)| old.len() == new.len() && !new.is_empty())
            .ok_or_else(|| self.tree.store.altered())?;
        let (start, mut bytes) = self.around(offset, new.len())?;
        let place = (offset - start) as usize;
        bytes[place..][..old.len()].copy_from_slice(old);
        self.check(start, &bytes)?;
        bytes[place..][..new.len()].copy_from_slice(new);
        let next = self.next(start, &bytes)?;
        self.write(offset, new, next)?;
        say(format_args!(
            "{}: finished a patch of {} bytes at byte {offset} that was cut short",
            Shown::name(self.open.path),
            new.len()
        ));
        Ok(())
    }

    /// The bytes of the leaves that a patch touches, and of the rest if it does.
    fn around(&self, offset: u64, length: usize) -> Result<(u64, Vec<u8>), Error> {
        let (start, end) = self.widened(offset, offset + length as u64);
        let mut bytes = vec![0; (end - start) as usize];
        self.read(&mut bytes, start)?;
        Ok((start, bytes))
    }

    /// Writes new bytes into the file, and then the state in which they are there.
    fn write(&mut self, offset: u64, new: &[u8], next: Next) -> Result<(), Error> {
        let file = &self.open.file;
        let written = file.write_all_at(new, offset).and_then(|()| file.sync_data());
        written.map_err(|error| {
            let what = crate::error::why(&error);
            self.open.io(format_args!("{what}; the next update finishes the patch"))
        })?;
        self.vouch(next);
        self.header.patch = None;
        self.commit()
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = |input: &mut dyn Read, bytes: &mut Vec<u8>| input.take(MOST + 1).read_to_end(bytes);
    let done = if path.as_os_str() == "-" {
        read(&mut stdio::Stdin, &mut bytes)
    } else {
        read(&mut store::open(path, false)?, &mut bytes)
    };
    done.map_err(store::io(path))?;
    if bytes.len() as u64 > MOST {
        let name = Shown::name(path);
        return Err(Error::usage(format_args!(
            "{name}: expected a patch of at most 256 MiB, found more"
        )));
    }
    Ok(bytes)
}
