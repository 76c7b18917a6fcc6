// Many messages in one call.

use std::collections::HashSet;
use std::ffi::c_int;

use tagmac::{Mismatch, Tag};
use tagmac_border::{Failure, FailureKind, Room, bytes, ensure};
use zeroize::Zeroizing;

use crate::key::{Key, Keyed, keyed};
use crate::status::{refused, status};

/// The messages that are hashed together.
const TOGETHER: usize = 256;

/// Bytes of yours, in an array of them: a message, or sealed data. If the size is 0, `data` may be
/// NULL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    /// The first byte.
    pub data: *const u8,
    /// The number of bytes.
    pub size: usize,
}

/// Returns an array of C.
///
/// # Safety
///
/// Unless `at` is null or `count` is 0, it points to `count` items that do not change during `'a`.
pub unsafe fn items<'a>(
    what: &str,
    at: *const Bytes,
    count: usize,
) -> Result<&'a [Bytes], Failure> {
    let most = isize::MAX as usize / size_of::<Bytes>();
    ensure(count <= most, || format!("expected at most {most} {what}, found {count}"))?;
    if count == 0 {
        return Ok(&[]);
    }
    ensure(!at.is_null() && at.is_aligned(), || {
        format!("{what}: the pointer is null or not aligned")
    })?;
    // SAFETY: not null, aligned and not too large; the caller guarantees the rest.
    Ok(unsafe { std::slice::from_raw_parts(at, count) })
}

impl Bytes {
    /// Returns the bytes of item number `i`.
    ///
    /// # Safety
    ///
    /// Unless the pointer is null, the bytes are readable during `'a`.
    pub unsafe fn get<'a>(&self, what: &str, i: usize) -> Result<&'a [u8], Failure> {
        // SAFETY: guaranteed by the caller.
        let found = unsafe { bytes("the item", self.data, self.size) };
        found.map_err(|failure| failure.about(format_args!("{what} {i}")))
    }
}

/// The messages of a call, and their nonces.
struct Batch<'a> {
    messages: &'a [Bytes],
    nonces: &'a [u8],
    nonce_size: usize,
}

impl<'a> Batch<'a> {
    /// Checks the arguments of a call.
    ///
    /// # Safety
    ///
    /// The header's requirements for them, during `'a`.
    unsafe fn new(
        key: &Keyed,
        nonces: *const u8,
        nonce_size: usize,
        messages: *const Bytes,
        count: usize,
    ) -> Result<Batch<'a>, Failure> {
        key.mac.algorithm().check_nonce(nonce_size)?;
        // SAFETY: guaranteed by the caller.
        let messages = unsafe { items("messages", messages, count) }?;
        // If it overflows, `bytes` refuses the size.
        let size = nonce_size.saturating_mul(count);
        // SAFETY: guaranteed by the caller.
        let nonces = unsafe { bytes("the nonces", nonces, size) }?;
        Ok(Batch { messages, nonces, nonce_size })
    }

    /// Checks that no two nonces are equal.
    fn each_nonce_once(&self) -> Result<(), Failure> {
        if self.nonce_size == 0 {
            return Ok(());
        }
        let nonces = || self.nonces.chunks_exact(self.nonce_size);
        // Those of a counter are distinct.
        if nonces().zip(nonces().skip(1)).all(|(one, next)| one < next) {
            return Ok(());
        }
        let mut seen = HashSet::with_capacity(self.messages.len());
        for (i, nonce) in nonces().enumerate() {
            ensure(seen.insert(nonce), || {
                format!("message {i}: its nonce is that of an earlier message")
            })?;
        }
        Ok(())
    }

    /// Calls `body` with some messages at a time: the number of the first one, their nonces, and
    /// themselves.
    ///
    /// # Safety
    ///
    /// As [`new`](Batch::new).
    unsafe fn each(
        &self,
        mut body: impl FnMut(usize, &[&[u8]], &[&[u8]]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (mut messages, mut nonces) = ([&[][..]; TOGETHER], [&[][..]; TOGETHER]);
        for (chunk, some) in self.messages.chunks(TOGETHER).enumerate() {
            let first = chunk * TOGETHER;
            for (j, message) in some.iter().enumerate() {
                // SAFETY: guaranteed by the caller.
                messages[j] = unsafe { message.get("message", first + j) }?;
                nonces[j] = &self.nonces[(first + j) * self.nonce_size..][..self.nonce_size];
            }
            body(first, &nonces[..some.len()], &messages[..some.len()])?;
        }
        Ok(())
    }
}

/// Writes the tags of `count` messages, which takes much less time than a call for each if they are
/// short. The tags are one after another in `tags`, and `tags_size` is `count` times
/// tagmac_key_tag_size().
///
/// Message number i has the nonce at `nonces` + i * `nonce_size`. TAGMAC_MISUSE if two of them are
/// equal. For algorithms without a nonce, pass NULL and 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_tag_many(
    key: *const Key,
    tags: *mut u8,
    tags_size: usize,
    nonces: *const u8,
    nonce_size: usize,
    messages: *const Bytes,
    count: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, and memory of those sizes.
        let (key, batch) = unsafe {
            let key = keyed(key)?;
            let batch = Batch::new(key, nonces, nonce_size, messages, count)?;
            (key, batch)
        };
        let size = key.tag_bytes();
        // SAFETY: as above.
        let room = unsafe { Room::new("the tags", tags, tags_size, size.saturating_mul(count)) }?;
        batch.each_nonce_once()?;
        // Written at the end, because they may overlap the messages. If the call fails, nobody may
        // have them.
        let mut written = Zeroizing::new(Vec::with_capacity(tags_size));
        let mut made = [Tag::default(); TOGETHER];
        // SAFETY: as above.
        unsafe {
            batch.each(|first, nonces, messages| {
                let made = &mut made[..messages.len()];
                key.mac.tag_many(nonces, messages, made).map_err(|error| {
                    refused(error.error).about(format_args!("message {}", first + error.index))
                })?;
                made.iter().for_each(|tag| written.extend_from_slice(tag.as_bytes()));
                Ok(())
            })?;
        }
        room.fill(&written);
        Ok(())
    })
}

/// Checks the tags of `count` messages, each in constant time: 0 if all are right, TAGMAC_MISMATCH
/// if any is wrong. The arguments are those of tagmac_tag_many(); nonces may be equal.
///
/// `verdicts` has `count` bytes, or is NULL. With 0 and with TAGMAC_MISMATCH, the call writes a 1
/// for each message whose tag is right, and a 0 for each other one. Clear the verdicts before, as
/// any other failure leaves them unchanged.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_verify_many(
    key: *const Key,
    tags: *const u8,
    tags_size: usize,
    nonces: *const u8,
    nonce_size: usize,
    messages: *const Bytes,
    count: usize,
    verdicts: *mut u8,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, and memory of those sizes.
        let (key, batch, tags) = unsafe {
            let key = keyed(key)?;
            let batch = Batch::new(key, nonces, nonce_size, messages, count)?;
            (key, batch, bytes("the tags", tags, tags_size)?)
        };
        let (size, found) = (key.tag_bytes(), tags.len());
        let expected = size.saturating_mul(count);
        ensure(found == expected, || {
            format!("expected {expected} bytes for {count} tags, found {found}")
        })?;
        let mut right = Vec::with_capacity(count);
        // SAFETY: as above.
        unsafe {
            batch.each(|first, nonces, messages| {
                let tags = tags[first * size..].chunks_exact(size);
                right.extend(&verdicts_of(key, nonces, messages, tags)[..messages.len()]);
                Ok(())
            })?;
        }
        if !verdicts.is_null() {
            // SAFETY: the header requires a buffer of that size. Written at the end, because it may
            // overlap the messages.
            unsafe { Room::new("the verdicts", verdicts, count, count) }?.fill(&right);
        }
        let wrong = || right.iter().enumerate().filter(|(_, right)| **right == 0);
        let Some((first, _)) = wrong().next() else { return Ok(()) };
        let line = match wrong().count() - 1 {
            0 => format!("message {first}: the tag does not match"),
            more => format!("message {first} and {more} more: the tags do not match"),
        };
        Err(Failure::from(line).of(FailureKind::Mismatch))
    })
}

/// Returns 1 at the place of each message whose tag is right, and 0 for each other one.
fn verdicts_of<'t>(
    key: &Keyed,
    nonces: &[&[u8]],
    messages: &[&[u8]],
    tags: impl Iterator<Item = &'t [u8]>,
) -> [u8; TOGETHER] {
    let (mut given, mut verdicts) = ([Tag::default(); TOGETHER], [Ok(()); TOGETHER]);
    let mut is_tag = [false; TOGETHER];
    let count = messages.len();
    for ((tag, given), is_tag) in tags.zip(&mut given).zip(&mut is_tag).take(count) {
        // A tag with unused bits set matches no message.
        if let Ok(tag) = Tag::new(tag, key.mac.tag_bits()) {
            (*given, *is_tag) = (tag, true);
        }
    }
    let (given, verdicts) = (&given[..count], &mut verdicts[..count]);
    // The verdicts say all that the result does.
    let _: Result<(), Mismatch> = key.mac.verify_many(nonces, messages, given, verdicts);
    let mut right = [0; TOGETHER];
    for ((right, verdict), is_tag) in right.iter_mut().zip(verdicts).zip(is_tag) {
        *right = u8::from(verdict.is_ok() && is_tag);
    }
    right
}
