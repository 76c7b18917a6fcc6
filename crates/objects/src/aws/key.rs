//! Keys for S3, and the time when they expire.

use std::sync::Arc;
use std::time::SystemTime;

use chrono::DateTime;
use object_store::aws::AwsCredential;
use zeroize::Zeroize;

use crate::failure::Failure;

/// A key, which is wiped on drop.
pub struct Key(AwsCredential);

impl Key {
    /// Makes a key from its parts.
    pub fn new(key_id: String, secret_key: String, token: Option<String>) -> Key {
        Key(AwsCredential { key_id, secret_key, token })
    }

    /// Returns the key for a signature.
    pub fn credential(&self) -> &AwsCredential {
        &self.0
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let AwsCredential { key_id, secret_key, token } = &mut self.0;
        key_id.zeroize();
        secret_key.zeroize();
        token.zeroize();
    }
}

/// A key and the time when it expires.
pub struct Issued {
    /// The key.
    pub key: Arc<Key>,
    /// The time when it expires, if ever.
    pub expires: Option<SystemTime>,
}

/// Returns whether a header can carry a text of a key.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Rejects keys that no header can carry, because `object_store` panics on them. Keys from a
/// service may contain any text.
pub fn check_key(key: &AwsCredential) -> Result<(), Failure> {
    let AwsCredential { key_id, secret_key, token } = key;
    if [key_id, secret_key].into_iter().chain(token).all(|text| is_plain(text)) {
        return Ok(());
    }
    Err(Failure::Final("the keys contain characters that a header cannot carry".into()))
}

/// Reads a time in RFC 3339. Old versions of the AWS CLI wrote `UTC` for `Z`.
pub fn time(text: &str) -> Option<SystemTime> {
    let utc = text.strip_suffix("UTC").map(|time| format!("{time}Z"));
    DateTime::parse_from_rfc3339(utc.as_deref().unwrap_or(text)).ok().map(SystemTime::from)
}
