//! HMAC (RFC 2104) with MD5, SHA-1 and SHA-256, from RustCrypto's crates.

use hmac::digest::block_api::EagerHash;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::Sha256;
use tagmac::Tag;

/// Returns HMAC-MD5 under a key of any length, as a function from message to tag.
pub fn hmac_md5(key: &[u8]) -> impl Fn(&[u8]) -> Tag + Send + Sync + use<> {
    hmac::<Md5>(key)
}

/// Returns HMAC-SHA1 under a key of any length, as a function from message to tag.
pub fn hmac_sha1(key: &[u8]) -> impl Fn(&[u8]) -> Tag + Send + Sync + use<> {
    hmac::<Sha1>(key)
}

/// Returns HMAC-SHA256 under a key of any length, as a function from message to tag.
pub fn hmac_sha256(key: &[u8]) -> impl Fn(&[u8]) -> Tag + Send + Sync + use<> {
    hmac::<Sha256>(key)
}

fn hmac<D: EagerHash>(key: &[u8]) -> impl Fn(&[u8]) -> Tag + Send + Sync + use<D>
where
    Hmac<D>: KeyInit + Mac + Clone + Send + Sync,
{
    let mac = Hmac::<D>::new_from_slice(key).expect("a key of any length");
    move |message| {
        let tag = mac.clone().chain_update(message).finalize().into_bytes();
        Tag::try_from(tag.as_ref()).expect("at most 32 bytes")
    }
}
