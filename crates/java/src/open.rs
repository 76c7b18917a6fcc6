//! The number of open values, for tests.

use jni_sys::{JNIEnv, jclass, jint};

use crate::context::CONTEXTS;
use crate::env::call;
use crate::key::KEYS;
use crate::session::SESSIONS;

#[cfg(unix)]
fn sealed() -> usize {
    crate::manifest::MANIFESTS.open() + crate::manifest::CONTENTS.open()
}

#[cfg(not(unix))]
fn sealed() -> usize {
    0
}

/// Returns the number of keys, contexts, sessions, manifests and contents that are open.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_open(env: *mut JNIEnv, _: jclass) -> jint {
    // SAFETY: from the JVM.
    unsafe {
        call(env, |_| Ok((KEYS.open() + CONTEXTS.open() + SESSIONS.open() + sealed()) as jint))
    }
}
