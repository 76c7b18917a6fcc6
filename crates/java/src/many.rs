//! Many messages in one call, in the layout of Arrow: message `i` is `data[offsets[i]..offsets[i+1]]`.

use jni_sys::{JNIEnv, jclass, jint, jlong, jobject};
use tagmac::Tag;

use crate::env::{Env, Room, Span, call};
use crate::key::{KEYS, Keyed};
use crate::scratch::MAX_NONCE;
use crate::thrown::Thrown;

/// The number of messages in one call of the MAC.
const TOGETHER: usize = 256;

/// The messages and their nonces, in direct buffers.
struct Batch<'a> {
    count: usize,
    data: &'a [u8],
    offsets: &'a [u8],
    /// The size of an offset: 4 or 8 bytes, little-endian.
    width: usize,
    nonces: &'a [u8],
    nonce_bytes: usize,
}

/// The arguments of both calls, as Java passes them.
struct Given {
    count: jint,
    width: jint,
    data: jobject,
    data_span: Span,
    offsets: jobject,
    offsets_at: jint,
    nonces: jobject,
    nonces_span: Span,
}

/// The length of `count` items of `size` bytes.
fn span(at: jint, count: usize, size: usize) -> Result<Span, Thrown> {
    let bytes = count.checked_mul(size).and_then(|bytes| jint::try_from(bytes).ok());
    let size = bytes.ok_or_else(|| Thrown::argument("too many messages for one buffer"))?;
    Ok(Span { at, size })
}

impl<'a> Batch<'a> {
    fn new(env: Env<'a>, key: &Keyed, given: &Given) -> Result<Batch<'a>, Thrown> {
        let count = usize::try_from(given.count)
            .map_err(|_| Thrown::argument(format!("{} messages", given.count)))?;
        let width = match given.width {
            4 => 4,
            8 => 8,
            other => {
                return Err(Thrown::argument(format!(
                    "expected offsets of 4 or 8 bytes, found {other}"
                )));
            }
        };
        let data = env.buffer("the data", given.data, given.data_span)?;
        let offsets = span(given.offsets_at, count + 1, width)?;
        let offsets = env.buffer("the offsets", given.offsets, offsets)?;
        let nonces = match given.nonces.is_null() {
            true => &[][..],
            false => env.buffer("the nonces", given.nonces, given.nonces_span)?,
        };
        let nonce_bytes = nonces.len().checked_div(count).unwrap_or(0);
        if count > 0 {
            if nonce_bytes * count != nonces.len() {
                let size = nonces.len();
                let line = format!("expected {count} nonces of one length, found {size} bytes");
                return Err(Thrown::argument(line));
            }
            key.mac.algorithm().check_nonce(nonce_bytes)?;
        }
        Ok(Batch { count, data, offsets, width, nonces, nonce_bytes })
    }

    fn offset(&self, i: usize) -> u64 {
        match self.width {
            4 => u32::from_le_bytes(self.offsets.as_chunks().0[i]).into(),
            _ => u64::from_le_bytes(self.offsets.as_chunks().0[i]),
        }
    }

    fn nonce(&self, i: usize) -> &'a [u8] {
        &self.nonces[self.nonce_bytes * i..][..self.nonce_bytes]
    }

    /// Fills in the messages and nonces from index `first` on. Each offset is read once, because
    /// other threads can change it between a check and its use.
    fn fill(
        &self,
        first: usize,
        messages: &mut [&'a [u8]],
        nonces: &mut [&'a [u8]],
    ) -> Result<(), Thrown> {
        let mut start = self.offset(first);
        for (i, (message, nonce)) in messages.iter_mut().zip(nonces).enumerate() {
            let end = self.offset(first + i + 1);
            let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let bytes = range.and_then(|(start, end)| self.data.get(start..end));
            *message = bytes.ok_or_else(|| {
                let (i, size) = (first + i, self.data.len());
                let line = format!("message {i}: offsets {start} to {end} of {size} bytes");
                Thrown::range(line)
            })?;
            *nonce = self.nonce(first + i);
            start = end;
        }
        Ok(())
    }

    /// Refuses a nonce that two messages have.
    fn check_nonces(&self) -> Result<(), Thrown> {
        if self.nonce_bytes == 0 || (1..self.count).all(|i| self.nonce(i - 1) < self.nonce(i)) {
            return Ok(());
        }
        let mut sorted: Vec<[u8; MAX_NONCE]> = Vec::new();
        sorted.try_reserve_exact(self.count).map_err(Thrown::state)?;
        sorted.extend((0..self.count).map(|i| {
            let mut nonce = [0; MAX_NONCE];
            nonce[..self.nonce_bytes].copy_from_slice(self.nonce(i));
            nonce
        }));
        sorted.sort_unstable();
        match sorted.windows(2).all(|pair| pair[0] != pair[1]) {
            true => Ok(()),
            false => Err(Thrown::argument("two messages have one nonce; use each nonce once")),
        }
    }

    fn apart(&self, room: &Room<'_>) -> Result<(), Thrown> {
        match [self.data, self.offsets, self.nonces].iter().any(|input| room.overlaps(input)) {
            true => Err(Thrown::argument("the results overlap the inputs")),
            false => Ok(()),
        }
    }
}

/// Writes the tags of many messages.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_tagMany(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    count: jint,
    width: jint,
    data: jobject,
    data_at: jint,
    data_size: jint,
    offsets: jobject,
    offsets_at: jint,
    nonces: jobject,
    nonces_at: jint,
    nonces_size: jint,
    tags: jobject,
    tags_at: jint,
) {
    let given = Given {
        count,
        width,
        data,
        data_span: Span { at: data_at, size: data_size },
        offsets,
        offsets_at,
        nonces,
        nonces_span: Span { at: nonces_at, size: nonces_size },
    };
    let body = |env: Env<'_>| {
        let key = KEYS.read(key)?;
        let batch = Batch::new(env, &key, &given)?;
        let room = env.room("the tags", tags, span(tags_at, batch.count, key.tag_bytes)?)?;
        batch.apart(&room)?;
        batch.check_nonces()?;
        let (mut messages, mut nonces) = ([&[][..]; TOGETHER], [&[][..]; TOGETHER]);
        let mut made = [Tag::default(); TOGETHER];
        for first in (0..batch.count).step_by(TOGETHER) {
            let now = TOGETHER.min(batch.count - first);
            let (messages, nonces) = (&mut messages[..now], &mut nonces[..now]);
            batch.fill(first, messages, nonces)?;
            key.mac.tag_many(nonces, messages, &mut made[..now]).map_err(|error| {
                Thrown::from(error.error).about(format_args!("message {}", first + error.index))
            })?;
            for (i, tag) in (first..).zip(&made[..now]) {
                room.put(key.tag_bytes * i, tag.as_bytes());
            }
        }
        Ok(())
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}

/// Checks the tags of many messages, writes a byte for each, 1 if it is right, and returns the
/// number of wrong ones.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_org_tagmac_Native_verifyMany(
    env: *mut JNIEnv,
    _: jclass,
    key: jlong,
    count: jint,
    width: jint,
    data: jobject,
    data_at: jint,
    data_size: jint,
    offsets: jobject,
    offsets_at: jint,
    nonces: jobject,
    nonces_at: jint,
    nonces_size: jint,
    tags: jobject,
    tags_at: jint,
    verdicts: jobject,
    verdicts_at: jint,
) -> jint {
    let given = Given {
        count,
        width,
        data,
        data_span: Span { at: data_at, size: data_size },
        offsets,
        offsets_at,
        nonces,
        nonces_span: Span { at: nonces_at, size: nonces_size },
    };
    let body = |env: Env<'_>| {
        let key = KEYS.read(key)?;
        let batch = Batch::new(env, &key, &given)?;
        let tags = env.buffer("the tags", tags, span(tags_at, batch.count, key.tag_bytes)?)?;
        let room = env.room("the verdicts", verdicts, span(verdicts_at, batch.count, 1)?)?;
        batch.apart(&room)?;
        if room.overlaps(tags) {
            return Err(Thrown::argument("the results overlap the inputs"));
        }
        let mut wrong = 0;
        let (mut messages, mut nonces) = ([&[][..]; TOGETHER], [&[][..]; TOGETHER]);
        let (mut given, mut found) = ([Tag::default(); TOGETHER], [Ok(()); TOGETHER]);
        for first in (0..batch.count).step_by(TOGETHER) {
            let now = TOGETHER.min(batch.count - first);
            let (messages, nonces) = (&mut messages[..now], &mut nonces[..now]);
            batch.fill(first, messages, nonces)?;
            for (i, tag) in (first..).zip(&mut given[..now]) {
                // A tag with unused bits set becomes the empty one, which matches no message.
                let bytes = &tags[key.tag_bytes * i..][..key.tag_bytes];
                *tag = key.expected(bytes).unwrap_or_default();
            }
            // The verdicts contain the overall result too.
            let _ = key.mac.verify_many(nonces, messages, &given[..now], &mut found[..now]);
            for (i, verdict) in (first..).zip(&found[..now]) {
                wrong += jint::from(verdict.is_err());
                room.put(i, &[u8::from(verdict.is_ok())]);
            }
        }
        Ok(wrong)
    };
    // SAFETY: from the JVM.
    unsafe { call(env, body) }
}
