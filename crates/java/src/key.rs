//! Keys, for `org.tagmac.TagmacKey`.

use std::sync::Arc;

use jni_sys::{JNIEnv, jboolean, jbyteArray, jclass, jint, jlong, jobject, jstring};
use tagmac::isa::Level;
use tagmac::{Bits, Tag};
use tagmac_any::{Algorithm, AnyMac, KeyFile};
use zeroize::Zeroizing;

use crate::env::{CRITICAL, Env, Short, Span, call};
use crate::info::named;
use crate::scratch::{MAX_NONCE, MAX_TAG, Scratch};
use crate::source::{from_env, from_file, parsed};
use crate::table::Table;
use crate::thrown::{Thrown, passed};

/// The longest key in bytes. Only HMAC has keys of any length.
pub const MAX_KEY: usize = 1 << 16;

/// The open keys.
pub static KEYS: Table<Keyed> = Table::new("key", 0);

/// A MAC under a key.
#[derive(Clone)]
pub struct Keyed {
    pub mac: AnyMac,
    pub tag_bytes: usize,
    /// The key's bytes, to derive other keys from. `None` if nothing needs them.
    #[cfg_attr(not(unix), expect(dead_code, reason = "manifests need Unix"))]
    pub bytes: Option<Arc<Zeroizing<Vec<u8>>>>,
}

impl Keyed {
    /// Makes a MAC. With 0 bits, tags have the longest length.
    pub fn new(algorithm: Algorithm, key: &[u8], tag_bits: jint) -> Result<Keyed, Thrown> {
        let bits = match usize::try_from(tag_bits) {
            Ok(0) => algorithm.default_tag_bits(),
            Ok(bits) => bits,
            Err(_) => return Err(Thrown::argument(format!("a tag of {tag_bits} bits"))),
        };
        let mac = AnyMac::with_options(algorithm, key, bits, Level::best())
            .map_err(|error| Thrown::from(error).about(algorithm))?;
        Ok(Keyed { mac, tag_bytes: bits.div_ceil(8), bytes: None })
    }

    /// Stores a key and returns its handle.
    fn open(algorithm: Algorithm, key: &[u8], tag_bits: jint) -> Result<jlong, Thrown> {
        let keyed = Keyed::new(algorithm, key, tag_bits)?;
        KEYS.insert(Keyed { bytes: Some(Arc::new(Zeroizing::new(key.to_vec()))), ..keyed })
    }

    fn from_key_file(file: &KeyFile, tag_bits: jint) -> Result<jlong, Thrown> {
        Keyed::open(file.algorithm(), file.key(), tag_bits)
    }

    /// Tags a message in an array. The garbage collector may run between the pieces of a long one.
    #[inline]
    pub fn tag_array(
        &self,
        env: Env<'_>,
        nonce: &[u8],
        message: jbyteArray,
        span: Span,
    ) -> Result<Tag, Thrown> {
        if span.size <= CRITICAL as jint {
            let mut tag = Tag::default();
            env.pieces("the message", message, span, |bytes| {
                tag = self.mac.tag(nonce, bytes)?;
                Ok(())
            })?;
            return Ok(tag);
        }
        let mut stream = self.mac.stream(nonce)?;
        env.pieces("the message", message, span, |bytes| {
            stream.update(bytes);
            Ok(())
        })?;
        Ok(stream.tag()?)
    }

    /// Reads a tag to check. `None` if it matches no message.
    pub fn given(&self, env: Env<'_>, tag: jbyteArray, size: jint) -> Result<Option<Tag>, Thrown> {
        if tag.is_null() {
            return Err(Thrown::null("the tag"));
        }
        if usize::try_from(size) != Ok(self.tag_bytes) {
            return Ok(None);
        }
        Ok(self.expected(&env.sized::<MAX_TAG>(tag, self.tag_bytes)))
    }

    /// Parses a tag to check. `None` if it matches no message.
    pub fn expected(&self, tag: &[u8]) -> Option<Tag> {
        (tag.len() == self.tag_bytes).then(|| Tag::new(tag, self.mac.tag_bits()).ok()).flatten()
    }
}

/// Copies a nonce.
#[inline]
pub fn nonce(env: Env<'_>, array: jbyteArray) -> Result<Short<MAX_NONCE>, Thrown> {
    env.short("the nonce", array)
}

/// Makes a key.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyNew(
    env: *mut JNIEnv,
    _: jclass,
    algorithm: jstring,
    key: jbyteArray,
    tag_bits: jint,
) -> jlong {
    let body = |env: Env<'_>| {
        let algorithm = named(&env.string("the algorithm", algorithm)?)?;
        let key = env.secret("the key", key, MAX_KEY)?;
        Keyed::open(algorithm, &key, tag_bits)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Reads a key file.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyFromFile(
    env: *mut JNIEnv,
    _: jclass,
    path: jstring,
    tag_bits: jint,
) -> jlong {
    let body =
        |env: Env<'_>| Keyed::from_key_file(&from_file(&env.string("the path", path)?)?, tag_bits);
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Reads a key from an environment variable.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyFromEnv(
    env: *mut JNIEnv,
    _: jclass,
    name: jstring,
    tag_bits: jint,
) -> jlong {
    let body = |env: Env<'_>| {
        Keyed::from_key_file(&from_env(&env.string("the variable's name", name)?)?, tag_bits)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Parses the text of a key file.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyFromText(
    env: *mut JNIEnv,
    _: jclass,
    text: jbyteArray,
    tag_bits: jint,
) -> jlong {
    let body = |env: Env<'_>| {
        let text = env.secret("the key file", text, KeyFile::MAX_BYTES)?;
        Keyed::from_key_file(&parsed(&text)?, tag_bits)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Returns the algorithm, the id and the length of tags in bits.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyInfo(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
) -> jobject {
    let body = |env: Env<'_>| {
        let key = KEYS.read(key)?;
        let (name, id) = (key.mac.algorithm(), key.mac.key_id());
        env.array(format!("{name} {id} {}", key.mac.tag_bits()).as_bytes())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Writes the tag of a message in a scratch.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyTagScratch(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    scratch: jint,
    nonce_size: jint,
    size: jint,
) {
    let body = |_: Env<'_>| {
        let (key, mut scratch) = (KEYS.read(key)?, Scratch::at(scratch)?);
        scratch.put(&key.mac.tag(scratch.nonce(nonce_size)?, scratch.message(size)?)?);
        Ok(())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Checks the tag of a message in a scratch.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyMatchesScratch(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    scratch: jint,
    nonce_size: jint,
    size: jint,
    tag_size: jint,
) -> jboolean {
    let body = |_: Env<'_>| {
        let (key, scratch) = (KEYS.read(key)?, Scratch::at(scratch)?);
        let (nonce, message) = (scratch.nonce(nonce_size)?, scratch.message(size)?);
        key.mac.algorithm().check_nonce(nonce.len())?;
        let tag = key.expected(scratch.tag(tag_size)?);
        Ok(tag.is_some_and(|tag| passed(key.mac.verify(nonce, message, &tag))))
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Writes the tag of a message in an array.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyTag(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    nonce: jbyteArray,
    message: jbyteArray,
    at: jint,
    size: jint,
    tag: jbyteArray,
) {
    let body = |env: Env<'_>| {
        let key = KEYS.read(key)?;
        let nonce = self::nonce(env, nonce)?;
        let made = key.tag_array(env, &nonce, message, Span { at, size })?;
        env.write("the tag", tag, made.as_bytes())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Writes the tag of a message in a direct buffer.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyTagBuffer(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    nonce: jbyteArray,
    message: jobject,
    at: jint,
    size: jint,
    tag: jbyteArray,
) {
    let body = |env: Env<'_>| {
        let key = KEYS.read(key)?;
        let nonce = self::nonce(env, nonce)?;
        let message = env.buffer("the message", message, Span { at, size })?;
        env.write("the tag", tag, key.mac.tag(&nonce, message)?.as_bytes())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Checks the tag of a message in an array.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyMatches(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    nonce: jbyteArray,
    message: jbyteArray,
    at: jint,
    size: jint,
    tag: jbyteArray,
    tag_size: jint,
) -> jboolean {
    let body = |env: Env<'_>| {
        let key = KEYS.read(key)?;
        let (nonce, span) = (self::nonce(env, nonce)?, Span { at, size });
        key.mac.algorithm().check_nonce(nonce.len())?;
        let Some(tag) = key.given(env, tag, tag_size)? else { return Ok(false) };
        if span.size > CRITICAL as jint {
            let mut stream = key.mac.stream(&nonce)?;
            env.pieces("the message", message, span, |bytes| {
                stream.update(bytes);
                Ok(())
            })?;
            return Ok(passed(stream.verify(&tag)));
        }
        let mut right = false;
        env.pieces("the message", message, span, |bytes| {
            right = passed(key.mac.verify(&nonce, bytes, &tag));
            Ok(())
        })?;
        Ok(right)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Checks the tag of a message in a direct buffer.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyMatchesBuffer(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    nonce: jbyteArray,
    message: jobject,
    at: jint,
    size: jint,
    tag: jbyteArray,
    tag_size: jint,
) -> jboolean {
    let body = |env: Env<'_>| {
        let key = KEYS.read(key)?;
        let nonce = self::nonce(env, nonce)?;
        key.mac.algorithm().check_nonce(nonce.len())?;
        let message = Bits::from(env.buffer("the message", message, Span { at, size })?);
        let tag = key.given(env, tag, tag_size)?;
        Ok(tag.is_some_and(|tag| passed(key.mac.verify(&nonce, message, &tag))))
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Frees a key.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_keyFree(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
) {
    let body = |_: Env<'_>| {
        KEYS.remove(key);
        Ok(())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}
