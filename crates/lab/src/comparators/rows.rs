//! Builds the rows of the comparators: defaults, and functions that return their tags.

use tagmac::{Mac, Nonce, Tag};

use super::comparator::{Comparator, ComparatorKind, Keys, Status, TagFn};
use crate::parallel::whole;

pub type Key = [u8; 16];

/// Returns the keys of a row that needs N keys of 16 bytes.
pub fn keys<const N: usize>(keys: &[&[u8]]) -> [Key; N] {
    std::array::from_fn(|i| keys[i].try_into().expect("the row's sizes"))
}

/// Wraps a MAC of the library's traits.
pub fn of_trait<M: Mac + 'static>(mac: M) -> TagFn {
    Box::new(move |nonce, message| {
        let nonce = M::Nonce::from_slice(nonce).map_err(|error| error.to_string())?;
        mac.tag_with(&nonce, message).map_err(|error| error.to_string())
    })
}

/// Wraps a MAC without a nonce that accepts every message.
pub fn of_blocks(tag: impl Fn(&[u8]) -> Key + Send + Sync + 'static) -> TagFn {
    Box::new(move |_, message| Ok(whole(&tag(message))))
}

/// Like [`of_blocks`], with a nonce of 16 bytes.
pub fn of_nonces(tag: impl Fn(&Key, &[u8]) -> Key + Send + Sync + 'static) -> TagFn {
    Box::new(move |nonce, message| {
        Ok(whole(&tag(nonce.try_into().expect("the row's size"), message)))
    })
}

/// Like [`of_blocks`], for a function that returns a tag.
pub fn of_tags(tag: impl Fn(&[u8]) -> Tag + Send + Sync + 'static) -> TagFn {
    Box::new(move |_, message| Ok(tag(message)))
}

/// The default row: one key of 16 bytes, a tag of the same length, and no nonce.
pub const ROW: Comparator = Comparator {
    name: "",
    kind: ComparatorKind::Mac,
    keys: Keys::Sizes(&[16]),
    nonce: 0,
    tag: 16,
    about: "",
    status: Status::Pinned,
    source: "",
    make: None,
};

pub const TWO: Keys = Keys::Sizes(&[16; 2]);
pub const THREE: Keys = Keys::Sizes(&[16; 3]);
pub const FOUR: Keys = Keys::Sizes(&[16; 4]);

/// The source of LeMac and PetitMac.
pub const LEMAC: &str = "Bariant and others 2024 (ToSC 2024, issue 2) with its corrigendum; the designers' \
                         program has the definition, the vectors and the count of active S-boxes";

/// The default row of a hash.
pub const HASH: Comparator =
    Comparator { kind: ComparatorKind::Hash, keys: Keys::AsMessage, tag: 8, ..ROW };

/// Returns the row of a name without a definition.
pub const fn not_found(name: &'static str, about: &'static str) -> Comparator {
    Comparator {
        name,
        keys: Keys::Sizes(&[]),
        tag: 0,
        about,
        status: Status::NotFound,
        source: "the five papers; stored web pages, documentation, repositories and issues, by the name, \
                 the authors and the paper's title",
        ..ROW
    }
}
