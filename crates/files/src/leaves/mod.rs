//! Leaf tags: each verifies a range of a file without the rest of the file.
//! `docs/formats/leaf-tags.md` specifies them.

mod bucket;
pub mod content;
pub(crate) mod file;
mod index;
pub mod repair;
pub(crate) mod sealing;
pub mod stream;
pub mod tree;
pub mod verified;
mod wrong;

use tagmac::Tag;
use tagmac::hazmat::PartError;
use tagmac::save::{Purpose, Writer};
use tagmac_any::{AnyMac, AnyStream, Parts};

use crate::error::Error;
use crate::leaf_size;
use crate::manifest::derived_hmac;
use crate::open_key::OpenKey;
use crate::raw_key::RawKey;

/// The length of a leaf tag in bytes.
pub const TAG_BYTES: usize = 16;
/// The first bytes of a leaf tag's text: one block of SHA-256, the same for all leaves of a file.
const HEAD: usize = 64;

/// The key of leaf tags, and the length of leaves.
#[derive(Clone)]
pub struct Leaves {
    mac: AnyMac,
    size: u64,
}

impl Leaves {
    /// Leaves of `size` bytes, under a key that is derived from `key`.
    pub fn new(key: &RawKey, size: u64) -> Leaves {
        Leaves { mac: derived_hmac(Purpose::Leaf, 8 * TAG_BYTES, key), size }
    }

    /// Returns the length of leaves in bytes. A long file has longer ones.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the length of a leaf of a file of `bytes` bytes. `None` if the file has no leaves.
    pub fn size_for(&self, bytes: u64) -> Option<u64> {
        leaf_size::of(self.size, bytes)
    }

    /// Returns the number of leaf tags of a file of `bytes` bytes.
    pub fn count_for(&self, bytes: u64) -> u64 {
        leaf_size::count(self.size, bytes)
    }

    /// Makes the tags of all leaves of a content with this tag and size. `sums` are those of its leaves
    /// of `leaf` bytes, and `rest` is its end.
    pub fn tags(&self, tag: &Tag, size: u64, leaf: u64, sums: &[Writer], rest: &[u8]) -> Vec<u8> {
        let content = LeafMac::new(self, tag, size, leaf);
        let count = size.div_ceil(leaf);
        // All sums have the same length.
        let bytes = sums.iter().map(|sums| sums.as_bytes().len()).sum::<usize>() / count as usize;
        let sums = sums.iter().flat_map(|sums| sums.as_bytes().chunks_exact(bytes));
        let mut tags = Vec::with_capacity(count as usize * TAG_BYTES);
        let mut text = Writer::with_capacity(HEAD);
        for (number, sum) in (0..count).zip(sums) {
            let rest = if number == count - 1 { rest } else { &[] };
            text.clear().number(number).bytes(sum).length_prefixed(rest);
            tags.extend_from_slice(content.tag(&text).as_bytes());
        }
        tags
    }
}

/// Returns why a key cannot make leaf tags.
pub fn check_key(key: &OpenKey) -> Result<(), Error> {
    let algorithm = key.mac.algorithm();
    key.parts()?;
    if algorithm.takes_nonce() {
        return Err(Error::usage(format_args!(
            "{algorithm} cannot make leaf tags, as it uses nonces; use PMAC, LightMAC or EliMAC"
        )));
    }
    if key.mac.tag_bits() != algorithm.default_tag_bits() {
        return Err(Error::usage("leaf tags need tags of full length"));
    }
    Ok(())
}

/// The MAC of the leaves of one content.
pub struct LeafMac {
    /// The text before the number of the leaf.
    stream: AnyStream,
}

impl LeafMac {
    /// The MAC of the leaves of `leaf` bytes of a content with this tag and size.
    pub fn new(leaves: &Leaves, tag: &Tag, size: u64, leaf: u64) -> LeafMac {
        let mut head = Writer::with_capacity(HEAD);
        head.length_prefixed(tag.as_bytes()).number(size).number(leaf);
        let mut text = [0; HEAD];
        text[..head.as_bytes().len()].copy_from_slice(head.as_bytes());
        let mut stream = leaves.mac.stream(&[]).expect("HMAC takes no nonce");
        stream.update(&text);
        LeafMac { stream }
    }

    /// Returns the tag of a leaf, whose text ends with `text`.
    fn tag(&self, text: &Writer) -> Tag {
        self.stream.tag_with_end(text.as_bytes()).expect("HMAC has no limit")
    }

    /// Returns whether `tag` is the tag of a leaf with these bytes, in constant time. The leaf begins
    /// at byte `start` of the content; `is_last` says whether the content ends with it.
    pub fn is_tag_of(
        &self,
        parts: Parts<'_>,
        number: u64,
        start: u64,
        (bytes, is_last): (&[u8], bool),
        tag: &Tag,
    ) -> Result<bool, PartError> {
        let block = parts.block();
        let cut = if is_last { (bytes.len() - 1) / block * block } else { bytes.len() };
        let mut text = Writer::with_capacity(HEAD);
        parts.save_new(start, &bytes[..cut], text.number(number))?;
        text.length_prefixed(&bytes[cut..]);
        Ok(self.tag(&text) == *tag)
    }
}
