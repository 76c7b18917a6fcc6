//! The table of algorithms, for `org.tagmac.Algorithm`.

use jni_sys::{JNIEnv, jclass, jobject};
use tagmac_any::Algorithm;
use tagmac_border::Quoted;

use crate::env::call;
use crate::thrown::Thrown;

/// Looks up an algorithm by its name.
pub fn named(name: &str) -> Result<Algorithm, Thrown> {
    let name = Quoted(name);
    let found = (!name.is_too_long()).then(|| Algorithm::from_name(name.0).ok()).flatten();
    found.ok_or_else(|| Thrown::argument(format!("algorithm {name} is unknown")))
}

/// A line of the table, with fields separated by spaces.
fn line(algorithm: Algorithm) -> String {
    let (key, nonce) = (algorithm.key_bytes(), algorithm.nonce_bytes());
    let tag = algorithm.tag_bits();
    let counter = algorithm.stem() != algorithm.name();
    let usual = counter && Algorithm::from_name(algorithm.stem()).is_ok_and(|it| it == algorithm);
    let numbers = [
        *key.start(),
        *key.end(),
        algorithm.new_key_bytes(),
        *nonce.start(),
        *nonce.end(),
        *tag.start(),
        *tag.end(),
        algorithm.tag_step(),
    ];
    let numbers = numbers.map(|number| number.to_string()).join(" ");
    let most = algorithm.max_message_bytes().map_or(-1, |most| most.min(i64::MAX as u64) as i64);
    let alias = if usual { algorithm.stem() } else { "-" };
    format!("{} {alias} {numbers} {most}\n", algorithm.name())
}

/// Returns the table of algorithms, one per line.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_algorithms(
    env: *mut JNIEnv,
    _: jclass,
) -> jobject {
    // SAFETY: from the JVM.
    unsafe { call(env, |env| env.array(Algorithm::all().map(line).collect::<String>().as_bytes())) }
}

/// Returns the version of the library, which must be that of the classes.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_version(
    env: *mut JNIEnv,
    _: jclass,
) -> jobject {
    // SAFETY: from the JVM.
    unsafe { call(env, |env| env.array(env!("CARGO_PKG_VERSION").as_bytes())) }
}
