//! The universal hashes as rows. Words are little-endian, and so is the value.

use tagmac::Tag;

use super::comparator::TagFn;

/// Wraps a hash of bytes in multiples of `unit`. With `by_word`, the key is as long as the message.
pub fn hash_of_bytes<const N: usize>(
    key: &[u8],
    unit: usize,
    by_word: bool,
    hash: impl Fn(&[u8], &[u8]) -> [u8; N] + Send + Sync + 'static,
) -> TagFn {
    let key = key.to_vec();
    Box::new(move |_, message| {
        check(unit, message, by_word.then_some(&key))?;
        Ok(Tag::try_from(&hash(&key, message)[..]).expect("at most 32 bytes"))
    })
}

/// Checks the length of a message, and of a key that must be as long.
fn check(unit: usize, message: &[u8], key: Option<&Vec<u8>>) -> Result<(), String> {
    let found = message.len();
    if !found.is_multiple_of(unit) {
        return Err(format!("message: expected a multiple of {unit} bytes, found {found}"));
    }
    match key.map(Vec::len).filter(|key| *key != found) {
        Some(key) => Err(format!("key 1: expected {found} bytes, as the message has, found {key}")),
        None => Ok(()),
    }
}

/// Wraps a hash of 32-bit words in multiples of `words`; its value has `bytes` bytes.
pub fn hash(
    key: &[u8],
    words: usize,
    bytes: usize,
    hash: impl Fn(&[[u8; 4]], &[[u8; 4]]) -> u64 + Send + Sync + 'static,
) -> TagFn {
    let key = key.to_vec();
    Box::new(move |_, message| {
        check(4 * words, message, Some(&key))?;
        let value = hash(key.as_chunks().0, message.as_chunks().0);
        Ok(Tag::try_from(&value.to_le_bytes()[..bytes]).expect("at most 32 bytes"))
    })
}
