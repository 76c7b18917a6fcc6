//! A state of the sidecar: what the header says.

use tagmac::any::Parts;
use tagmac::save::{Reader, Writer};

use super::MOST_LEAF;
use super::store::{BOXES, Place, Store, TAG};
use super::tree::Root;
use crate::error::Error;

/// A state.
pub struct Header {
    /// States are numbered.
    pub number: u64,
    /// The base name of the file.
    pub name: Vec<u8>,
    /// The file's length in bytes.
    pub length: u64,
    /// Bytes of a leaf.
    pub leaf: u64,
    /// The nonce of the tag.
    pub nonce: Vec<u8>,
    /// The bytes of the file that are in no leaf.
    pub rest: Vec<u8>,
    /// The leaves, unless there are none.
    pub root: Option<Root>,
    /// A patch that is on its way into the file.
    pub patch: Option<Patch>,
    /// The length that the file may still have, because it is being cut off. Nothing is cut to be
    /// as long as before, so 0 stands for none.
    pub cut_from: u64,
}

/// A patch, whose old and new bytes are in a box.
#[derive(Clone, Copy)]
pub struct Patch {
    /// Where it starts.
    pub offset: u64,
    /// The box.
    pub place: Place,
}

impl Header {
    /// The newest state of a sidecar.
    pub fn open(store: &mut Store, parts: Parts<'_>) -> Result<Header, Error> {
        let slots = [store.header(0)?, store.header(1)?];
        let numbers = slots.each_ref().map(|text| Reader::new(text.as_deref()?).number());
        let newest = if numbers[1] > numbers[0] { &slots[1] } else { &slots[0] };
        let text = newest.as_ref().ok_or_else(|| store.altered())?;
        let (header, end) =
            Header::load(parts, &mut Reader::new(text)).ok_or_else(|| store.altered())?;
        store.set_end(end);
        // The next state goes to the other place first, so this one has to stand in its own.
        if numbers[(header.number % 2) as usize] != Some(header.number) {
            header.write(store, parts)?;
        }
        Ok(header)
    }

    /// Makes this the sidecar's state, by the next number.
    pub fn commit(&mut self, store: &mut Store, parts: Parts<'_>) -> Result<(), Error> {
        self.number += 1;
        self.write(store, parts)
    }

    fn write(&self, store: &mut Store, parts: Parts<'_>) -> Result<(), Error> {
        let mut text = Writer::default();
        text.number(self.number).counted(&self.name).number(self.length).number(self.leaf);
        text.counted(&self.nonce).counted(&self.rest).number(store.end());
        text.number(self.root.is_some().into());
        if let Some(root) = &self.root {
            root.save(parts, &mut text)?;
        }
        text.number(self.patch.is_some().into());
        if let Some(Patch { offset, place: Place { at, size, tag } }) = self.patch {
            text.number(offset).number(at).number(size).bytes(&tag);
        }
        text.number(self.cut_from);
        store.set_header(self.number % 2, &text)
    }

    /// The state, and where its boxes end.
    fn load(parts: Parts<'_>, input: &mut Reader<'_>) -> Option<(Header, u64)> {
        let number = input.number()?;
        let name = input.counted()?.to_vec();
        let (length, leaf) = (input.number()?, input.number()?);
        let (nonce, rest) = (input.counted()?.to_vec(), input.counted()?.to_vec());
        let end = input.number().filter(|end| *end >= BOXES)?;
        let root = match input.number()? {
            0 => None,
            _ => Some(Root::load(parts, input)?),
        };
        let patch = match input.number()? {
            0 => None,
            _ => {
                let offset = input.number()?;
                let (at, size, tag) = (input.number()?, input.number()?, input.array::<TAG>()?);
                Some(Patch { offset, place: Place { at, size, tag } })
            }
        };
        let cut_from = input.number()?;
        let header = Header { number, name, length, leaf, nonce, rest, root, patch, cut_from };
        // Whoever has the key wrote it; what follows counts on it.
        let covered = header.blocks() + header.rest.len() as u64;
        let whole = (1..=MOST_LEAF).contains(&leaf) && leaf.is_multiple_of(parts.block() as u64);
        (whole && covered == length).then_some((header, end))
    }

    /// Bytes of the file that are in leaves.
    pub fn blocks(&self) -> u64 {
        self.root.as_ref().map_or(0, |root| root.part().end())
    }

    /// How many leaves hold the bytes before this one.
    pub fn leaves_to(&self, end: u64) -> u64 {
        end.div_ceil(self.leaf)
    }
}
