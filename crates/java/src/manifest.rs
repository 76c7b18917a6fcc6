//! Manifests and the contents of their files, for `org.tagmac.Manifest` and `org.tagmac.Content`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jni_sys::{JNIEnv, jbyteArray, jclass, jint, jlong, jobject, jstring};
use tagmac::isa::Level;
use tagmac_files::leaves::content::{Contents, SealedContent};
use tagmac_files::manifest::entry::{Entry, word};
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;

use crate::env::{CRITICAL, Env, Span, call};
use crate::key::KEYS;
use crate::table::Table;
use crate::thrown::Thrown;

/// The longest path in a manifest, in bytes: more than any directory or bucket has.
const MAX_PATH: usize = 1 << 16;

/// The open manifests.
pub static MANIFESTS: Table<Contents> = Table::new("manifest", 5);
/// The open contents, which stay valid without their manifest.
pub static CONTENTS: Table<SealedContent> = Table::new("content", 6);

/// Copies a path in a manifest.
fn path(env: Env<'_>, array: jbyteArray) -> Result<Vec<u8>, Thrown> {
    let size = env.length("the path", array)?;
    if size > MAX_PATH {
        let line = format!("the path: expected at most {MAX_PATH} bytes, found {size}");
        return Err(Thrown::argument(line));
    }
    env.copied("the path", array, Span { at: 0, size: size as jint })
}

/// Writes an entry as the class `Manifest` reads it: numbers are big-endian, and each text follows
/// its length.
fn write(entry: &Entry, out: &mut Vec<u8>) {
    for text in
        [&entry.path[..], word(entry.kind).as_bytes(), entry.target.as_deref().unwrap_or(b"")]
    {
        out.extend_from_slice(&(text.len() as u32).to_be_bytes());
        out.extend_from_slice(text);
    }
    let size = entry.content.as_ref().and_then(|content| i64::try_from(content.size).ok());
    out.extend_from_slice(&size.unwrap_or(-1).to_be_bytes());
    out.extend_from_slice(&entry.mode.map_or(-1, u32::cast_signed).to_be_bytes());
    let (seconds, nanoseconds) = entry.mtime.unwrap_or((0, u32::MAX));
    out.extend_from_slice(&seconds.to_be_bytes());
    out.extend_from_slice(&nanoseconds.to_be_bytes());
}

/// Opens a manifest and verifies its seal.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_manifestOpen(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    path: jstring,
) -> jlong {
    let body = |env: Env<'_>| {
        let path = env.string("the path", path)?;
        // The key is not held while the manifest is read.
        let (raw, bits) = {
            let key = KEYS.read(key)?;
            let bytes = key.bytes.as_ref().ok_or_else(|| Thrown::internal("no key bytes"))?;
            (RawKey::new(key.mac.algorithm(), bytes.to_vec().into())?, key.mac.tag_bits())
        };
        let key = OpenKey::new(&raw, bits, Level::best())?;
        MANIFESTS.insert(Contents::open(&key, &raw, Path::new(&path))?)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Returns the number in the chain, and the day of the seal or `-`.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_manifestInfo(
    env: *mut JNIEnv,
    _: jclass,
    manifest: jlong,
) -> jobject {
    let body = |env: Env<'_>| {
        let manifest = MANIFESTS.read(manifest)?;
        let chain = manifest.chain();
        let day = chain.day.map_or("-".into(), |day| day.to_string());
        env.array(format!("{} {day}", chain.sequence).as_bytes())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Returns the entry of a path.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_manifestEntry(
    env: *mut JNIEnv,
    _: jclass,
    manifest: jlong,
    path: jbyteArray,
) -> jobject {
    let body = |env: Env<'_>| {
        let path = self::path(env, path)?;
        let entry = MANIFESTS.read(manifest)?.entry(&path)?;
        let mut out = Vec::new();
        write(&entry, &mut out);
        env.array(&out)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Returns the entries in a directory, one after the other; of the root for an empty path.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_manifestList(
    env: *mut JNIEnv,
    _: jclass,
    manifest: jlong,
    path: jbyteArray,
) -> jobject {
    let body = |env: Env<'_>| {
        let path = self::path(env, path)?;
        let manifest = MANIFESTS.read(manifest)?;
        if !path.is_empty() {
            manifest.entry(&path)?;
        }
        let mut out = Vec::new();
        manifest.children(&path)?.iter().for_each(|entry| write(entry, &mut out));
        env.array(&out)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Frees a manifest.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_manifestFree(
    env: *mut JNIEnv,
    _: jclass,
    manifest: jlong,
) {
    let body = |_: Env<'_>| {
        MANIFESTS.remove(manifest);
        Ok(())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Opens the content of a file.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contentOpen(
    env: *mut JNIEnv,
    _: jclass,
    manifest: jlong,
    path: jbyteArray,
) -> jlong {
    let body = |env: Env<'_>| {
        let path = self::path(env, path)?;
        let name = Path::new(OsStr::from_bytes(&path));
        let content = MANIFESTS.read(manifest)?.content(&path, name)?;
        CONTENTS.insert(content)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Returns the size of a content.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contentSize(
    env: *mut JNIEnv,
    _: jclass,
    content: jlong,
) -> jlong {
    let body = |_: Env<'_>| number(CONTENTS.read(content)?.size());
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Returns the length of a content's leaves.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contentLeafSize(
    env: *mut JNIEnv,
    _: jclass,
    content: jlong,
) -> jlong {
    let body = |_: Env<'_>| number(CONTENTS.read(content)?.leaf());
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

fn number(number: u64) -> Result<jlong, Thrown> {
    jlong::try_from(number).map_err(|_| Thrown::argument("a file of more than 2^63 bytes"))
}

/// Returns the start of a leaf.
fn start(content: &SealedContent, start: jlong) -> Result<u64, Thrown> {
    let leaf = content.leaf();
    match u64::try_from(start) {
        Ok(at) if at.is_multiple_of(leaf) && at < content.size().max(1) => Ok(at),
        _ => Err(Thrown::argument(format!(
            "start: expected a multiple of {leaf} below the size, found {start}"
        ))),
    }
}

/// Verifies `size` bytes from the leaf that begins at `start` on. `is_sealed(start, at, bytes)`
/// verifies one leaf, whose bytes begin at `at`.
fn leaves(
    content: &SealedContent,
    mut start: u64,
    size: usize,
    mut is_sealed: impl FnMut(u64, usize, usize) -> Result<bool, Thrown>,
) -> Result<(), Thrown> {
    let mut at = 0;
    loop {
        let range = content.range(start);
        let bytes = (range.end - range.start).min((size - at) as u64) as usize;
        let is_over = range.end == content.size() && at + bytes < size;
        if is_over || !is_sealed(start, at, bytes)? {
            return Err(content.differs(range).into());
        }
        at += bytes;
        if at == size {
            return Ok(());
        }
        start = range.end;
    }
}

/// Verifies leaves in an array.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contentVerify(
    env: *mut JNIEnv,
    _: jclass,
    content: jlong,
    start: jlong,
    data: jbyteArray,
    at: jint,
    size: jint,
) {
    let body = |env: Env<'_>| {
        let content = CONTENTS.read(content)?;
        let start = self::start(&content, start)?;
        let whole = env.span("the data", data, Span { at, size })?;
        leaves(&content, start, whole, |start, skipped, bytes| {
            // Inside of the array, so that no sum overflows.
            let span = Span { at: at + skipped as jint, size: bytes as jint };
            if bytes > CRITICAL {
                return Ok(content.is_sealed(start, &env.copied("the data", data, span)?)?);
            }
            let mut is_sealed = false;
            env.whole("the data", data, span, |bytes| {
                is_sealed = content.is_sealed(start, bytes)?;
                Ok(())
            })?;
            Ok(is_sealed)
        })
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Verifies leaves in a direct buffer.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contentVerifyBuffer(
    env: *mut JNIEnv,
    _: jclass,
    content: jlong,
    start: jlong,
    data: jobject,
    at: jint,
    size: jint,
) {
    let body = |env: Env<'_>| {
        let content = CONTENTS.read(content)?;
        let start = self::start(&content, start)?;
        let data = env.buffer("the data", data, Span { at, size })?;
        leaves(&content, start, data.len(), |start, at, bytes| {
            Ok(content.is_sealed(start, &data[at..at + bytes])?)
        })
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Frees a content.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_contentFree(
    env: *mut JNIEnv,
    _: jclass,
    content: jlong,
) {
    let body = |_: Env<'_>| {
        CONTENTS.remove(content);
        Ok(())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}
