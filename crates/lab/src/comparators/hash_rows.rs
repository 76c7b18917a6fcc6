//! The universal hashes as rows: words are little-endian, and so is the value.

use tagmac::Tag;

use super::comparator::TagFn;

/// A hash under a key, on words of 32 bits in multiples of `words`; its value has `bytes` bytes.
pub fn hash(
    key: &[u8],
    words: usize,
    bytes: usize,
    hash: impl Fn(&[[u8; 4]], &[[u8; 4]]) -> u64 + Send + Sync + 'static,
) -> TagFn {
    let key = key.to_vec();
    Box::new(move |_, message| {
        let (unit, found) = (4 * words, message.len());
        if !found.is_multiple_of(unit) {
            return Err(format!("message: expected a multiple of {unit} bytes, found {found}"));
        }
        if key.len() != found {
            let key = key.len();
            return Err(format!("key 1: expected {found} bytes, as the message has, found {key}"));
        }
        let value = hash(key.as_chunks().0, message.as_chunks().0);
        Ok(Tag::try_from(&value.to_le_bytes()[..bytes]).expect("at most 32 bytes"))
    })
}
