//! The header of a sidecar: a state of the file.

use crate::error::{Error, ErrorKind};
use tagmac::save::{Reader, Writer};
use tagmac_any::Parts;

use super::store::{Extent, FIRST_PAGE, Store};
use super::tree::Root;

/// Maximum length of a leaf in bytes, because leaves are held in memory.
pub const MAX_LEAF: u64 = 64 << 20;

/// A state of the file.
pub struct Header {
    /// The number of the state.
    pub number: u64,
    /// The file's base name.
    pub name: Vec<u8>,
    /// The length of a leaf in bytes.
    pub leaf: u64,
    /// The nonce of the tag.
    pub nonce: Vec<u8>,
    /// The sums of the file.
    pub sums: Sums,
    /// An edit that may be partly in the file.
    pub pending: Option<Pending>,
}

/// The sums of a file.
pub struct Sums {
    /// The file's length in bytes.
    pub length: u64,
    /// The bytes of the file after the last leaf.
    pub rest: Vec<u8>,
    /// The tree of the leaves; `None` if there are no leaves.
    pub root: Option<Root>,
}

/// An edit that is not complete. The state before it is kept to check the file against it, and the
/// state after it takes over when the edit is done.
pub struct Pending {
    /// The state after the edit.
    pub next: Sums,
    /// The patch; `None` for a truncation.
    pub patch: Option<Patch>,
}

/// A patch. Its old and new bytes are in node pages.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    /// The first byte.
    pub offset: u64,
    /// The length in bytes.
    pub length: u64,
    /// The side that is being written.
    pub side: Side,
    /// The node page that lists the pages with the bytes.
    pub pieces: Extent,
}

/// The new bytes of a patch, or the old ones if it is being undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The bytes before the patch.
    Old,
    /// The bytes of the patch.
    New,
}

impl Sums {
    /// Returns the number of the file's bytes that are in leaves.
    pub fn blocks(&self) -> u64 {
        self.root.as_ref().map_or(0, |root| root.part().end())
    }

    /// Returns a copy.
    pub fn again(&self, parts: Parts<'_>) -> Result<Sums, Error> {
        let root = self.root.as_ref().map(|root| root.again(parts)).transpose()?;
        Ok(Sums { length: self.length, rest: self.rest.clone(), root })
    }

    fn save(&self, parts: Parts<'_>, out: &mut Writer) -> Result<(), Error> {
        out.number(self.length).length_prefixed(&self.rest).number(self.root.is_some().into());
        self.root.as_ref().map_or(Ok(()), |root| root.save(parts, out))
    }

    fn load(parts: Parts<'_>, input: &mut Reader<'_>) -> Option<Sums> {
        let (length, rest) = (input.number()?, input.length_prefixed()?.to_vec());
        let root = match input.number()? {
            0 => None,
            _ => Some(Root::load(parts, input)?),
        };
        let sums = Sums { length, rest, root };
        // Anyone with the key can seal any text, and later code relies on this.
        (sums.blocks().checked_add(sums.rest.len() as u64) == Some(length)).then_some(sums)
    }
}

impl Pending {
    fn save(&self, parts: Parts<'_>, out: &mut Writer) -> Result<(), Error> {
        self.next.save(parts, out)?;
        let Some(Patch { offset, length, side, pieces }) = self.patch else {
            out.number(0);
            return Ok(());
        };
        out.number(if side == Side::New { 1 } else { 2 }).number(offset).number(length);
        pieces.save(out);
        Ok(())
    }

    /// Loads an edit of a file of `before` bytes.
    fn load(parts: Parts<'_>, input: &mut Reader<'_>, before: u64) -> Option<Pending> {
        let next = Sums::load(parts, input)?;
        let patch = match input.number()? {
            0 => None,
            side => Some(Patch {
                offset: input.number()?,
                length: input.number()?,
                side: if side == 1 { Side::New } else { Side::Old },
                pieces: Extent::load(input)?,
            }),
        };
        let is_one = match patch {
            None => next.length < before,
            Some(Patch { offset, length, .. }) => {
                let end = offset.checked_add(length)?;
                length > 0 && end <= before && next.length == before
            }
        };
        is_one.then_some(Pending { next, patch })
    }
}

impl Header {
    /// Returns the newest state of a sidecar, and whether both copies of it are safely on disk. If
    /// not, neither another state nor the file may be written: if the only copy were lost, the
    /// previous state would become current again, and a pending edit would be forgotten.
    pub fn open(store: &mut Store, parts: Parts<'_>) -> Result<(Header, Result<(), Error>), Error> {
        let mut unread = None;
        let slots = [0, 1].map(|slot| {
            store.header(slot).unwrap_or_else(|error| {
                unread =
                    Some(error).filter(|error| error.kind() == ErrorKind::Io).or(unread.take());
                None
            })
        });
        let numbers = slots.each_ref().map(|text| Reader::new(text.as_deref()?).number());
        let newest = usize::from(numbers[1] > numbers[0]);
        let Some(text) = slots[newest].as_ref() else {
            // If a copy cannot be read, that is the error to report.
            return Err(unread.unwrap_or_else(|| store.altered()));
        };
        let (header, end) =
            Header::load(parts, &mut Reader::new(text)).ok_or_else(|| store.altered())?;
        store.set_end(end);
        let stands = match unread {
            // The unreadable copy may be newer.
            Some(error) => Err(Error::io(format_args!(
                "{error}; the header's other copy is intact: it shows the tag, but allows no edit"
            ))),
            None => header.stand(store, parts, newest as u64, slots[0] == slots[1]),
        };
        Ok((header, stands))
    }

    /// Ensures that both copies of this state are on disk. It was found in copy `place`.
    fn stand(
        &self,
        store: &mut Store,
        parts: Parts<'_>,
        place: u64,
        in_both: bool,
    ) -> Result<(), Error> {
        if !in_both {
            // While one copy is written, the other must be safely on disk.
            store.sync()?;
            store.put_header(1 - place, &self.text(parts, store.end())?)?;
        }
        if !in_both || self.pending.is_some() {
            store.sync()?;
        }
        // The file may be written next, and the sidecar has the only copy of the old bytes.
        if self.pending.is_some() {
            store.sync_name()?;
        }
        Ok(())
    }

    /// Writes this as the sidecar's next state.
    pub fn commit(&mut self, store: &mut Store, parts: Parts<'_>) -> Result<(), Error> {
        self.number += 1;
        store.set_header(self.number % 2, &self.text(parts, store.end())?)
    }

    pub(crate) fn text(&self, parts: Parts<'_>, end: u64) -> Result<Writer, Error> {
        let mut text = Writer::default();
        text.number(self.number).length_prefixed(&self.name).number(self.leaf);
        text.length_prefixed(&self.nonce).number(end);
        self.sums.save(parts, &mut text)?;
        text.number(self.pending.is_some().into());
        if let Some(pending) = &self.pending {
            pending.save(parts, &mut text)?;
        }
        Ok(text)
    }

    /// Loads a state, and the end of its node pages.
    pub(crate) fn load(parts: Parts<'_>, input: &mut Reader<'_>) -> Option<(Header, u64)> {
        let number = input.number()?;
        let name = input.length_prefixed()?.to_vec();
        let leaf = input.number()?;
        let nonce = input.length_prefixed()?.to_vec();
        let end = input.number().filter(|end| *end >= FIRST_PAGE)?;
        let sums = Sums::load(parts, input)?;
        let pending = match input.number()? {
            0 => None,
            _ => Some(Pending::load(parts, input, sums.length)?),
        };
        let whole = (1..=MAX_LEAF).contains(&leaf) && leaf.is_multiple_of(parts.block() as u64);
        whole.then_some((Header { number, name, leaf, nonce, sums, pending }, end))
    }
}

#[cfg(test)]
mod tests {
    use tagmac_any::{Algorithm, AnyMac};

    use super::super::store::HEADER_ROOM;
    use super::*;

    /// For every algorithm, with the largest contents: a pending edit, rests of a whole block, and
    /// a name of 255 characters of three bytes, which is the longest on any system.
    #[test]
    fn every_header_has_room() {
        for algorithm in Algorithm::all().filter(|algorithm| algorithm.capabilities().edits) {
            let mac = AnyMac::new(algorithm, &vec![7; algorithm.new_key_bytes()]).expect("a key");
            let parts = mac.parts().expect("parts");
            let block = parts.block();
            let sums = || {
                let (mut root, part) = (Writer::default(), parts.new_part(0, &vec![5; block]));
                root.number(3).number(u64::MAX).number(500).bytes(&[3; 16]).number(500);
                parts.save(&part.expect("a block"), &mut root).expect("of this MAC");
                let root = Root::load(parts, &mut Reader::new(root.as_bytes()));
                Sums { length: 2 * block as u64, rest: vec![3; block], root }
            };
            let pieces = Extent { at: u64::MAX, size: 6, tag: [7; 16] };
            let patch = Some(Patch { offset: 0, length: 1, side: Side::New, pieces });
            let (name, nonce) = (vec![b'f'; 3 * 255], algorithm.random_nonce().expect("random"));
            let pending = Some(Pending { next: sums(), patch });
            let (number, leaf, sums) = (1, block as u64, sums());
            assert!(sums.root.is_some());
            let header = Header { number, name, leaf, nonce, sums, pending };
            let bytes = header.text(parts, u64::MAX).expect("of this MAC").as_bytes().len();
            assert!(bytes <= HEADER_ROOM, "{algorithm}: {bytes}");
        }
    }

    /// Anyone who has the key can seal any text, so loading must check it.
    #[test]
    fn what_is_sealed_is_a_state() {
        let mac = AnyMac::new(Algorithm::default(), &[7; 16]).expect("16 bytes");
        let parts = mac.parts().expect("parts");
        let sums = |length| Sums { length, rest: vec![3; 8], root: None };
        let accepts = |leaf, sums: Sums, pending: Option<Pending>, end: u64| {
            let name = b"f".to_vec();
            let header = Header { number: 1, name, leaf, nonce: Vec::new(), sums, pending };
            let text = header.text(parts, end).expect("of this MAC");
            let read = Header::load(parts, &mut Reader::new(text.as_bytes()));
            read.is_some_and(|(same, end)| {
                same.text(parts, end).expect("of this MAC").as_bytes() == text.as_bytes()
            })
        };
        for (leaf, expected) in [
            (0, false),
            (1, false),
            (16, true),
            (24, false),
            (MAX_LEAF, true),
            (MAX_LEAF + 16, false),
            (1 << 63, false),
        ] {
            assert_eq!(accepts(leaf, sums(8), None, FIRST_PAGE), expected, "leaves of {leaf}");
        }
        assert!(accepts(16, sums(8), None, u64::MAX));
        assert!(!accepts(16, sums(8), None, FIRST_PAGE - 1), "the node pages end in a header");
        assert!(!accepts(16, sums(7), None, FIRST_PAGE), "the sums have more bytes than the file");
        assert!(!accepts(16, sums(9), None, FIRST_PAGE), "the sums have fewer bytes than the file");
        let pieces = Extent { at: 5, size: 6, tag: [7; 16] };
        let pending = |rest: usize, patch: Option<(u64, u64, Side)>| {
            let next = Sums { length: rest as u64, rest: vec![4; rest], root: None };
            let patch = patch.map(|(offset, length, side)| Patch { offset, length, side, pieces });
            accepts(16, sums(8), Some(Pending { next, patch }), FIRST_PAGE)
        };
        assert!(pending(7, None) && pending(0, None));
        assert!(!pending(8, None) && !pending(9, None), "a truncation makes the file shorter");
        for side in [Side::Old, Side::New] {
            assert!(pending(8, Some((0, 8, side))) && pending(8, Some((7, 1, side))));
            assert!(!pending(8, Some((0, 0, side))), "the patch is empty");
            assert!(
                !pending(8, Some((1, 8, side))) && !pending(8, Some((9, 1, side))),
                "the patch ends after the file"
            );
            assert!(!pending(8, Some((u64::MAX, 1, side))), "the end of the patch overflows");
            assert!(!pending(7, Some((0, 1, side))), "the patch makes the file shorter");
        }
    }
}
