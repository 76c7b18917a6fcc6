//! Hex digits, as lines and options have them.

/// The bytes that hex stands for, at least one, in any case of letters.
pub fn decode(digits: &[u8]) -> Option<Vec<u8>> {
    base16ct::mixed::decode_vec(digits).ok().filter(|bytes| !bytes.is_empty())
}
