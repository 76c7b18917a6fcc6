//! Sessions, for `org.tagmac.Session`.

use jni_sys::{JNIEnv, jboolean, jbyteArray, jclass, jdouble, jint, jlong, jobject};
use tagmac::Tag;
use tagmac_any::meter::Budget;
use tagmac_any::{AnyMac, Session};

use crate::env::{Env, Span, call};
use crate::key::{KEYS, Keyed, nonce};
use crate::scratch::Scratch;
use crate::table::Table;
use crate::thrown::{Thrown, verdict};

/// The open sessions.
pub static SESSIONS: Table<Sending> = Table::new("session", 2);

/// A session and its key.
pub struct Sending {
    session: Session,
    keyed: Keyed,
}

impl Sending {
    /// Checks a tag. One of another length is counted as a failure: the empty one matches nothing.
    fn verdict(&self, nonce: &[u8], message: &[u8], tag: Option<Tag>) -> Result<bool, Thrown> {
        self.keyed.mac.algorithm().check_nonce(nonce.len())?;
        verdict(self.session.verify(nonce, message, &tag.unwrap_or_default()))
    }
}

/// Makes a session from a key. 0 is the default length, and no limit of the probability.
fn made(
    key: jlong,
    max_message: jlong,
    probability: jdouble,
    make: impl FnOnce(AnyMac, Budget) -> Result<Session, Thrown>,
) -> Result<jlong, Thrown> {
    let keyed = Keyed { bytes: None, ..KEYS.read(key)?.clone() };
    let max_message = u64::try_from(max_message)
        .map_err(|_| Thrown::argument(format!("messages of {max_message} bytes")))?;
    let max_message = (max_message != 0).then_some(max_message);
    let probability = (probability != 0.0).then_some(probability);
    let budget = keyed.mac.budget(max_message, probability)?;
    let session = make(keyed.mac.clone(), budget)?;
    SESSIONS.insert(Sending { session, keyed })
}

/// Begins a session, whose first nonce is given.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_sessionNew(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    nonce: jbyteArray,
    max_message: jlong,
    probability: jdouble,
) -> jlong {
    let body = |env: Env<'_>| {
        made(key, max_message, probability, |mac, budget| {
            let nonce = self::nonce(env, nonce)?;
            Ok(Session::new(mac, &nonce, budget)?)
        })
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Restores a session.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_sessionRestore(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    saved: jbyteArray,
    max_message: jlong,
    probability: jdouble,
) -> jlong {
    let body = |env: Env<'_>| {
        made(key, max_message, probability, |mac, budget| {
            let saved = env.secret("the saved session", saved, 1 << 10)?;
            Ok(Session::restore(mac, &saved, budget)?)
        })
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Writes the next nonce, and the tag of a message in a scratch under it. Returns the nonce's length.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_sessionTagScratch(
    env: *mut JNIEnv,
    _: jclass,
    session: jlong,
    scratch: jint,
    size: jint,
) -> jint {
    let body = |_: Env<'_>| {
        let mut scratch = Scratch::at(scratch)?;
        let (nonce, tag) = SESSIONS.write(session)?.session.tag(scratch.message(size)?)?;
        scratch.put(&tag);
        scratch.put_nonce(nonce.as_bytes());
        Ok(nonce.as_bytes().len() as jint)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Checks the tag of another sender's message in a scratch.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_sessionMatchesScratch(
    env: *mut JNIEnv,
    _: jclass,
    session: jlong,
    scratch: jint,
    nonce_size: jint,
    size: jint,
    tag_size: jint,
) -> jboolean {
    let body = |_: Env<'_>| {
        let (sending, scratch) = (SESSIONS.read(session)?, Scratch::at(scratch)?);
        let (nonce, message) = (scratch.nonce(nonce_size)?, scratch.message(size)?);
        let tag = sending.keyed.expected(scratch.tag(tag_size)?);
        sending.verdict(nonce, message, tag)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Returns the next nonce and the tag of a message under it, one after the other.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_sessionTag(
    env: *mut JNIEnv,
    _: jclass,
    session: jlong,
    message: jbyteArray,
    at: jint,
    size: jint,
) -> jobject {
    let body = |env: Env<'_>| {
        let mut sending = SESSIONS.write(session)?;
        let (mut both, mut used) = ([0; 128], 0);
        env.whole("the message", message, Span { at, size }, |bytes| {
            let (nonce, tag) = sending.session.tag(bytes)?;
            for part in [nonce.as_bytes(), tag.as_bytes()] {
                both[used..][..part.len()].copy_from_slice(part);
                used += part.len();
            }
            Ok(())
        })?;
        env.array(&both[..used])
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Checks the tag of another sender's message.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_sessionMatches(
    env: *mut JNIEnv,
    _: jclass,
    session: jlong,
    nonce: jbyteArray,
    message: jbyteArray,
    at: jint,
    size: jint,
    tag: jbyteArray,
    tag_size: jint,
) -> jboolean {
    let body = |env: Env<'_>| {
        let sending = SESSIONS.read(session)?;
        let nonce = self::nonce(env, nonce)?;
        let tag = sending.keyed.given(env, tag, tag_size)?;
        let mut right = false;
        env.whole("the message", message, Span { at, size }, |bytes| {
            right = sending.verdict(&nonce, bytes, tag)?;
            Ok(())
        })?;
        Ok(right)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Reserves messages.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_sessionReserve(
    env: *mut JNIEnv,
    _: jclass,
    session: jlong,
    messages: jlong,
) {
    let body = |_: Env<'_>| {
        let messages = u64::try_from(messages)
            .map_err(|_| Thrown::argument(format!("{messages} messages")))?;
        Ok(SESSIONS.write(session)?.session.reserve(messages)?)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Returns the state after the reserved messages.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_sessionSave(
    env: *mut JNIEnv,
    _: jclass,
    session: jlong,
) -> jobject {
    let body = |env: Env<'_>| {
        let saved = SESSIONS.write(session)?.session.save()?;
        env.array(&saved)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Returns the number of messages that are used (`which` is 0), left (1) or reserved (2). Java's
/// largest `long` is returned for larger numbers.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_sessionCount(
    env: *mut JNIEnv,
    _: jclass,
    session: jlong,
    which: jint,
) -> jlong {
    let body = |_: Env<'_>| {
        let sending = SESSIONS.read(session)?;
        let session = &sending.session;
        let count = match which {
            0 => session.used(),
            1 => session.left(),
            _ => session.reserved(),
        };
        Ok(count.min(i64::MAX as u64) as i64)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Frees a session.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_sessionFree(
    env: *mut JNIEnv,
    _: jclass,
    session: jlong,
) {
    let body = |_: Env<'_>| {
        SESSIONS.remove(session);
        Ok(())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}
