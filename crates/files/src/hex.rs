//! Hex digits in lines and options.

/// Decodes hex of either case. Returns `None` if it is invalid or empty.
pub fn decode(digits: &[u8]) -> Option<Vec<u8>> {
    base16ct::mixed::decode_vec(digits).ok().filter(|bytes| !bytes.is_empty())
}
