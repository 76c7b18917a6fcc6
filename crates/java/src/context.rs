//! Messages in pieces, for `org.tagmac.TagmacMac`.

use jni_sys::{JNIEnv, jboolean, jbyteArray, jclass, jint, jlong, jobject};
use subtle::ConstantTimeEq;
use tagmac_any::{Algorithm, AnyStream};
use zeroize::Zeroizing;

use crate::env::{Env, Span, call};
use crate::key::{Keyed, MAX_KEY, nonce};
use crate::scratch::Scratch;
use crate::table::Table;
use crate::thrown::Thrown;

/// The open contexts.
pub static CONTEXTS: Table<Context> = Table::new("Mac", 1);

/// A MAC under a key, and the message so far.
#[derive(Default)]
pub struct Context {
    keyed: Option<Keyed>,
    /// The key, to recognise it: `javax.crypto.Mac` is initialised with the key for each nonce, and
    /// preparing it takes longer than a short message.
    key: Zeroizing<Vec<u8>>,
    stream: Option<AnyStream>,
}

impl Context {
    pub fn keyed(&self) -> Result<&Keyed, Thrown> {
        self.keyed.as_ref().ok_or_else(|| Thrown::state("the Mac is not initialised"))
    }

    /// The stream, which begins with the first piece.
    fn stream(&mut self, env: Env<'_>, nonce: jbyteArray) -> Result<&mut AnyStream, Thrown> {
        if self.stream.is_none() {
            let nonce = self::nonce(env, nonce)?;
            self.stream = Some(self.keyed()?.mac.stream(&nonce)?);
        }
        Ok(self.stream.as_mut().expect("begun"))
    }
}

/// Makes a context without a key.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contextNew(
    env: *mut JNIEnv,
    _: jclass,
) -> jlong {
    // SAFETY: from the JVM.
    unsafe { call(env, |_: Env<'_>| CONTEXTS.insert(Context::default())) }
}

/// Sets algorithm, key and tag length, and drops the message so far. Returns whether they are the
/// same as before.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contextInit(
    env: *mut JNIEnv,
    _: jclass,
    context: jlong,
    algorithm: jint,
    key: jbyteArray,
    tag_bits: jint,
) -> jboolean {
    let body = |env: Env<'_>| {
        let place = usize::try_from(algorithm).ok();
        let algorithm = place.and_then(|place| Algorithm::all().nth(place));
        let algorithm = algorithm.ok_or_else(|| Thrown::argument("the algorithm is unknown"))?;
        let key = env.secret("the key", key, MAX_KEY)?;
        let mut context = CONTEXTS.write(context)?;
        context.stream = None;
        if let Some(keyed) = &context.keyed {
            let same = keyed.mac.algorithm() == algorithm
                && usize::try_from(tag_bits) == Ok(keyed.mac.tag_bits());
            if same && bool::from(context.key.ct_eq(&key)) {
                return Ok(true);
            }
        }
        context.keyed = None;
        context.keyed = Some(Keyed::new(algorithm, &key, tag_bits)?);
        context.key = key;
        Ok(false)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Writes the tag of a whole message in a scratch.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contextTagScratch(
    env: *mut JNIEnv,
    _: jclass,
    context: jlong,
    scratch: jint,
    nonce_size: jint,
    size: jint,
) {
    let body = |_: Env<'_>| {
        let (context, mut scratch) = (CONTEXTS.read(context)?, Scratch::at(scratch)?);
        let mac = &context.keyed()?.mac;
        scratch.put(&mac.tag(scratch.nonce(nonce_size)?, scratch.message(size)?)?);
        Ok(())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Writes the tag of a whole message.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contextTag(
    env: *mut JNIEnv,
    _: jclass,
    context: jlong,
    nonce: jbyteArray,
    message: jbyteArray,
    at: jint,
    size: jint,
    tag: jbyteArray,
) {
    let body = |env: Env<'_>| {
        let context = CONTEXTS.read(context)?;
        let nonce = self::nonce(env, nonce)?;
        let made = context.keyed()?.tag_array(env, &nonce, message, Span { at, size })?;
        env.write("the tag", tag, made.as_bytes())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Appends an array to the message.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contextUpdate(
    env: *mut JNIEnv,
    _: jclass,
    context: jlong,
    nonce: jbyteArray,
    data: jbyteArray,
    at: jint,
    size: jint,
) {
    let body = |env: Env<'_>| {
        let mut context = CONTEXTS.write(context)?;
        let stream = context.stream(env, nonce)?;
        env.pieces("the data", data, Span { at, size }, |bytes| {
            stream.update(bytes);
            Ok(())
        })
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Appends a direct buffer to the message.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contextUpdateBuffer(
    env: *mut JNIEnv,
    _: jclass,
    context: jlong,
    nonce: jbyteArray,
    data: jobject,
    at: jint,
    size: jint,
) {
    let body = |env: Env<'_>| {
        let mut context = CONTEXTS.write(context)?;
        let data = env.buffer("the data", data, Span { at, size })?;
        context.stream(env, nonce)?.update(data);
        Ok(())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Ends the message and writes its tag.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contextFinish(
    env: *mut JNIEnv,
    _: jclass,
    context: jlong,
    tag: jbyteArray,
) {
    let body = |env: Env<'_>| {
        let stream = CONTEXTS.write(context)?.stream.take();
        let stream = stream.ok_or_else(|| Thrown::state("no message has begun"))?;
        env.write("the tag", tag, stream.tag()?.as_bytes())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Drops the message so far.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contextReset(
    env: *mut JNIEnv,
    _: jclass,
    context: jlong,
) {
    let body = |_: Env<'_>| {
        CONTEXTS.write(context)?.stream = None;
        Ok(())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Makes a second context with the same key and the same message so far.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contextFork(
    env: *mut JNIEnv,
    _: jclass,
    context: jlong,
) -> jlong {
    let body = |_: Env<'_>| {
        let fork = {
            let Context { keyed, key, stream } = &*CONTEXTS.read(context)?;
            let stream = stream.as_ref().map(AnyStream::fork);
            Context { keyed: keyed.clone(), key: key.clone(), stream }
        };
        CONTEXTS.insert(fork)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Frees a context.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contextFree(
    env: *mut JNIEnv,
    _: jclass,
    context: jlong,
) {
    let body = |_: Env<'_>| {
        CONTEXTS.remove(context);
        Ok(())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}
