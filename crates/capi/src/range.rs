// Sealed partials: the hashes of ranges of an object, made on any machine.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use tagmac_border::{Failure, FailureKind, Room, bytes, string};
use tagmac_files::Error;
use tagmac_files::open_key::OpenKey;
use tagmac_files::partial::{self, Expected, PartStream, Stored};
use zeroize::Zeroizing;

use crate::file::{failed, open_key};
use crate::key::{Key, keyed};
use crate::many::{Bytes, items};
use crate::slot::{Held, free, slot};
use crate::status::{Output, refused_part, status};

/// A range of an object, which is being hashed to a partial. Begin with zeros:
/// `tagmac_range range = {0};`. Use a range in one thread at a time; a call from a second thread
/// returns TAGMAC_MISUSE. Do not move or copy a range: the calls refuse a copy.
#[repr(C)]
pub struct Range {
    opaque: [usize; 4],
}

/// The contents of a `tagmac_range`.
struct Ranging {
    stream: PartStream<Arc<OpenKey>>,
    /// The partial, once it is made.
    sealed: Option<Vec<u8>>,
}

impl Held for Ranging {
    const NAME: &'static str = "tagmac_range";
    const MAGIC: usize = 0x7261_6e67;
}

/// The range that a partial covers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Covered {
    /// The first byte.
    pub start: u64,
    /// The byte after the last one.
    pub end: u64,
    /// 1 if the object ends with the range, else 0.
    pub is_last: c_int,
    /// Reserved for later versions; zero now.
    pub reserved: [u64; 4],
}

/// Returns the name of an object with its version.
///
/// # Safety
///
/// Both are null or NUL-terminated strings.
unsafe fn named(object: *const c_char, version: *const c_char) -> Result<Vec<u8>, Failure> {
    // SAFETY: guaranteed by the caller.
    let (object, version) =
        unsafe { (string("the object's name", object)?, string("the version", version)?) };
    partial::versioned(object.to_bytes(), version.to_bytes()).map_err(failed)
}

/// Begins a range at byte `start` of an object, a multiple of `block` of tagmac_algorithm_sizes().
/// `is_last` is 1 for the range at the end of the object, else 0. The range stays valid after the
/// key is freed.
///
/// `object` is the object's name. `version` identifies its content: a version ID, an ETag or an
/// upload's ID, which no other content of that name may have. It must not contain '@'.
///
/// TAGMAC_MISUSE if the algorithm does not support parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_range_init(
    range: *mut Range,
    key: *const Key,
    object: *const c_char,
    version: *const c_char,
    start: u64,
    is_last: c_int,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a range, a key and strings.
        let (mut range, key, name) = unsafe {
            let range = slot::<Ranging, Range>(range)?.alone()?;
            (range, keyed(key)?, named(object, version)?)
        };
        range.vacant()?;
        let stream = PartStream::new(Arc::new(open_key(key)), name, start, is_last != 0);
        range.put(Ranging { stream: stream.map_err(failed)?, sealed: None })
    })
}

/// Adds data to the range. TAGMAC_LIMIT if the range would end beyond the algorithm's limit; then
/// it does not change. TAGMAC_MISUSE after tagmac_range_seal().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_range_update(
    range: *mut Range,
    data: *const u8,
    data_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a range, and memory of that size.
        let (mut range, data) = unsafe {
            let range = slot::<Ranging, Range>(range)?.alone()?;
            (range, bytes("the data", data, data_size)?)
        };
        let Ranging { stream, sealed } = range.get()?;
        if sealed.is_some() {
            return Err("the range was sealed: use a new one for another range".into());
        }
        stream.update(data).map_err(refused_part)
    })
}

/// Ends the range and writes its partial, encrypted and authenticated under the key. It may be
/// stored and sent anywhere: without the key it shows only the names, the range and the algorithm.
/// The command and other languages read it too.
///
/// Writes the size of the partial to `partial_size`. If `room`, the size of the buffer, is smaller,
/// returns TAGMAC_MISUSE and writes only the size: pass 0 to learn it. A second call writes the same
/// bytes.
///
/// TAGMAC_MISUSE if the range is empty but the object is not, or if it ends within a block and is
/// not the last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_range_seal(
    range: *mut Range,
    partial: *mut u8,
    room: usize,
    partial_size: *mut usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a range, a buffer of that size, and a place for a size.
        let (mut range, out) = unsafe {
            let range = slot::<Ranging, Range>(range)?.alone()?;
            (range, Output::new("the partial", partial, room, partial_size)?)
        };
        let Ranging { stream, sealed } = range.get()?;
        let sealed = match sealed {
            Some(sealed) => sealed,
            None => sealed.insert(stream.seal().map_err(failed)?),
        };
        out.fits(sealed.len())?.fill(sealed);
        Ok(())
    })
}

/// Wipes a range, frees its memory, and leaves zeros. Does nothing to an empty range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_range_free(range: *mut Range) -> c_int {
    // SAFETY: the header requires a range.
    status(|| unsafe { free::<Ranging, Range>(range) })
}

/// A partial in memory of C.
struct Blob<'a> {
    name: String,
    bytes: &'a [u8],
}

impl Stored for Blob<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn read(&self, most: u64) -> Result<Zeroizing<Vec<u8>>, Error> {
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(self.bytes.len());
        Ok(Zeroizing::new(self.bytes[..most].to_vec()))
    }
}

/// Checks that a partial is intact and was made under the key, and writes its range to `covered`.
///
/// TAGMAC_MISMATCH if it was changed or is not a partial, TAGMAC_INPUT if it belongs to another key.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_partial_check(
    covered: *mut Covered,
    key: *const Key,
    partial: *const u8,
    partial_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, and memory of that size.
        let (key, bytes) = unsafe { (keyed(key)?, bytes("the partial", partial, partial_size)?) };
        tagmac_border::ensure(
            !covered.is_null() && covered.is_aligned(),
            || "covered: the pointer is null or not aligned",
        )?;
        let blob = Blob { name: "partial".into(), bytes };
        let opened = partial::open(&open_key(key), &blob).map_err(unusable)?;
        let (start, end, is_last) = (opened.start, opened.end, opened.last.into());
        // SAFETY: not null and aligned; the header requires the memory.
        unsafe { covered.write(Covered { start, end, is_last, reserved: [0; 4] }) };
        Ok(())
    })
}

/// The failure for partials that cannot be used.
fn unusable(error: Error) -> Failure {
    let failure = failed(error);
    match failure.kind() {
        FailureKind::Misuse => failure.of(FailureKind::Input),
        _ => failure,
    }
}

/// Writes the tag of an object, made from the partials of all its ranges in any order. It is the tag
/// of the object's bytes as one message. The partials must be of this object and version.
///
/// TAGMAC_MISMATCH if a partial was changed. TAGMAC_INPUT if one is of another object, version or
/// key, or if a range is missing or present twice. The partials authenticate nothing about each
/// other: compare the tag, or store it as the object's.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_combine(
    key: *const Key,
    tag: *mut u8,
    tag_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    object: *const c_char,
    version: *const c_char,
    partials: *const Bytes,
    count: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, strings, and memory of those sizes.
        let (key, nonce, name, partials) = unsafe {
            let nonce = bytes("the nonce", nonce, nonce_size)?;
            (keyed(key)?, nonce, named(object, version)?, items("partials", partials, count)?)
        };
        // SAFETY: as above.
        let room = unsafe { Room::new("the tag", tag, tag_size, key.tag_bytes()) }?;
        key.mac.algorithm().check_nonce(nonce.len())?;
        let open_key = open_key(key);
        open_key.parts()?;
        let blob = |(i, partial): (usize, &Bytes)| {
            // SAFETY: as above.
            let bytes = unsafe { partial.get("partial", i) }?;
            Ok(Blob { name: format!("partial {i}"), bytes })
        };
        let blobs: Vec<_> =
            partials.iter().enumerate().map(blob).collect::<Result<_, Failure>>()?;
        let combined = partial::combine(&open_key, Expected::Name(&name), &blobs, nonce);
        room.fill(combined.map_err(unusable)?.tagged.tag.as_bytes());
        Ok(())
    })
}
