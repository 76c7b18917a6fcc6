//! HMAC (RFC 2104) with MD5, SHA-1 and SHA-256, by RustCrypto's crates.

use hmac::digest::block_api::EagerHash;
use hmac::{Hmac, KeyInit, Mac};
use tagmac::Tag;

use super::comparator::TagFn;

/// HMAC under a key of any length.
pub fn hmac<D: EagerHash + Send + Sync + 'static>(key: &[u8]) -> TagFn
where
    Hmac<D>: KeyInit + Mac + Clone + Send + Sync,
{
    let mac = Hmac::<D>::new_from_slice(key).expect("a key of any length");
    Box::new(move |_, message| {
        let tag = mac.clone().chain_update(message).finalize().into_bytes();
        Ok(Tag::try_from(tag.as_ref()).expect("at most 32 bytes"))
    })
}
