//! Finds entries of a manifest without reading it from the start.
//!
//! The index keeps the first path and the SHA-256 of each block of lines. So a lookup reads one
//! block, and detects whether the file has changed since the seal was verified.

use std::mem;

use sha2::{Digest, Sha256};

use crate::dir;
use crate::error::Error;
use crate::leaves::Leaves;
use crate::manifest::Manifest;
use crate::manifest::entry::Entry;
use crate::open_key::OpenKey;

/// The length of a block's lines in bytes, except the end of the last one.
const BLOCK: usize = 64 << 10;

/// The blocks of a manifest's lines.
pub(crate) struct Index {
    blocks: Vec<Block>,
}

struct Block {
    /// The offset of the first line in the manifest.
    at: u64,
    bytes: usize,
    /// The number of leaf tags of all entries above.
    tags: u64,
    first: Vec<u8>,
    hash: [u8; 32],
}

/// An entry, and the number of its first leaf tag.
pub(crate) struct Place {
    pub entry: Entry,
    pub first: u64,
}

impl Index {
    /// Reads all entries. The seal is verified again after the last one.
    pub fn new(manifest: &Manifest, key: &OpenKey, leaves: &Leaves) -> Result<Index, Error> {
        let mut blocks = Vec::new();
        let mut at = manifest.header.text().len() as u64;
        let (mut text, mut first, mut tags, mut before) = (Vec::new(), Vec::new(), 0, 0);
        let mut close = |text: &mut Vec<u8>, first: &mut Vec<u8>, tags| {
            let (bytes, hash) = (text.len(), Sha256::digest(&*text).into());
            blocks.push(Block { at, bytes, tags, first: mem::take(first), hash });
            at += bytes as u64;
            text.clear();
        };
        for entry in manifest.entries(key)? {
            let entry = entry?;
            if text.is_empty() {
                first.clone_from(&entry.path);
                before = tags;
            }
            // A line has only one form.
            entry.write(&manifest.header, &mut text);
            tags += leaves.count_for(entry.size());
            if text.len() >= BLOCK {
                close(&mut text, &mut first, before);
            }
        }
        if !text.is_empty() {
            close(&mut text, &mut first, before);
        }
        Ok(Index { blocks })
    }

    /// Returns the entries from the first one whose path is not before `path`, in order.
    pub fn from<'a>(
        &'a self,
        manifest: &'a Manifest,
        leaves: &'a Leaves,
        path: &[u8],
    ) -> impl Iterator<Item = Result<Place, Error>> + use<'a> {
        let next = self.blocks.partition_point(|block| dir::order(&block.first, path).is_le());
        let blocks = &self.blocks[next.saturating_sub(1)..];
        let path = path.to_vec();
        let places = blocks.iter().flat_map(move |block| {
            let (places, error) = match block.places(manifest, leaves) {
                Ok(places) => (places, None),
                Err(error) => (Vec::new(), Some(Err(error))),
            };
            places.into_iter().map(Ok).chain(error)
        });
        places.skip_while(move |place| match place {
            Ok(place) => dir::order(&place.entry.path, &path).is_lt(),
            Err(_) => false,
        })
    }
}

impl Block {
    fn places(&self, manifest: &Manifest, leaves: &Leaves) -> Result<Vec<Place>, Error> {
        let mut text = vec![0; self.bytes];
        manifest.text_at(&mut text, self.at)?;
        if <[u8; 32]>::from(Sha256::digest(&text)) != self.hash {
            return Err(manifest.changed());
        }
        let mut first = self.tags;
        let lines = text.split_inclusive(|&byte| byte == b'\n');
        lines
            .map(|line| {
                let line = &line[..line.len() - 1];
                let entry = Entry::parse(line, &manifest.header).map_err(|_| manifest.changed())?;
                let place = Place { first, entry };
                first += leaves.count_for(place.entry.size());
                Ok(place)
            })
            .collect()
    }
}
