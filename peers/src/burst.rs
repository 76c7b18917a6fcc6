//! Calls that tag many messages, each under its own raw key.

use crate::info::Info;

/// Tags messages: `(keys, nonce, messages, tags)`. Writes the tags one after the other.
pub type TagBurst = dyn Fn(&[&[u8]], &[u8], &[&[u8]], &mut [u8]);

/// A call on many messages, each under its own raw key. All have the same nonce, if the function
/// needs one.
pub struct Burst {
    /// The function, its library and its lengths.
    pub info: Info,
    /// Bytes of the shortest message that the library accepts.
    pub shortest: usize,
    /// The call.
    pub tag: Box<TagBurst>,
}
