// Parts: hashes of ranges of a message.

use std::ffi::c_int;

use tagmac::hazmat::PartError;
use tagmac_any::{AnyPart, Parts};
use tagmac_border::{Failure, Room, bytes, ensure};

use crate::key::{Key, Keyed, keyed};
use crate::slot::{Held, free, slot};
use crate::status::{number, refused_part, status, value};

/// The keyed hash of a range of a message. Keep it as secret as the key. Begin with zeros:
/// `tagmac_part part = {0};`. Calls that take a const part may run in several threads at the same
/// time. A call that changes the part must be the only one; otherwise it returns TAGMAC_MISUSE. Do
/// not move or copy a part: the calls refuse a copy.
#[repr(C)]
pub struct Part {
    opaque: [usize; 4],
}

/// The contents of a `tagmac_part`.
struct Parted {
    part: AnyPart,
}

impl Held for Parted {
    const NAME: &'static str = "tagmac_part";
    const MAGIC: usize = 0x7061_7274;
}

fn parts(key: &Keyed) -> Result<Parts<'_>, Failure> {
    let algorithm = key.mac.algorithm();
    key.mac.parts().ok_or_else(|| format!("{algorithm} does not support parts").into())
}

/// Returns the size of a block in bytes. Parts start and end at multiples of it. 0 if the algorithm
/// does not support parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_part_block(key: *const Key) -> usize {
    // SAFETY: the header requires a key.
    value(0, || Ok(parts(unsafe { keyed(key) }?)?.block()))
}

/// Returns 1 if the algorithm treats the last block differently, else 0. If it is 1, leave at least
/// one byte of a message that is not empty for tagmac_part_finish(). TAGMAC_MISUSE if the algorithm
/// does not support parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_part_last_block_distinct(key: *const Key) -> c_int {
    // SAFETY: the header requires a key.
    number(|| Ok(parts(unsafe { keyed(key) }?)?.last_block_distinct().into()))
}

/// Hashes a range of whole blocks that starts at byte `start` of the message. TAGMAC_MISUSE if the
/// start or the size is not a multiple of the block size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_part_init(
    part: *mut Part,
    key: *const Key,
    start: u64,
    blocks: *const u8,
    blocks_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a part, a key, and memory of that size.
        let (mut part, key, blocks) = unsafe {
            let part = slot::<Parted, Part>(part)?.alone()?;
            (part, keyed(key)?, bytes("the data", blocks, blocks_size)?)
        };
        part.vacant()?;
        part.put(Parted { part: parts(key)?.new_part(start, blocks).map_err(refused_part)? })
    })
}

/// Joins two adjacent parts: `left` becomes the part of both ranges, and `right` does not change.
/// TAGMAC_MISUSE if the parts are not adjacent, or if one belongs to another key or algorithm. Then
/// neither changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_part_join(
    left: *mut Part,
    right: *const Part,
    key: *const Key,
) -> c_int {
    status(|| {
        // SAFETY: the header requires parts and a key.
        let (mut left, right, key) = unsafe {
            let (left, right) = (slot::<Parted, Part>(left)?, slot::<Parted, Part>(right)?);
            (left.alone()?, right.read()?, keyed(key)?)
        };
        let parts = parts(key)?;
        let Parted { part } = left.get()?;
        let ids = [part.key_id(), right.part.key_id()];
        ensure(ids == [key.mac.key_id(); 2], || PartError::ForeignPart)?;
        let (expected, found) = (part.end(), right.part.start());
        ensure(expected == found, || PartError::Gap { expected, found })?;
        // An empty part takes its place, because joining consumes the part.
        let joined = std::mem::replace(part, parts.new_part(expected, &[])?);
        *part = parts.join(joined, &right.part).map_err(refused_part)?;
        Ok(())
    })
}

/// Writes the tag of a message that begins with `part` and ends with `rest`, which may have any
/// size. Frees the part.
///
/// TAGMAC_MISUSE if the part does not start at byte 0 or belongs to another key. Also if
/// tagmac_part_last_block_distinct() is 1, the part is not empty, and `rest` is. Then the part does
/// not change.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_part_finish(
    part: *mut Part,
    key: *const Key,
    tag: *mut u8,
    tag_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    rest: *const u8,
    rest_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a part, a key, and memory of those sizes.
        let (mut part, key, nonce, rest) = unsafe {
            let nonce = bytes("the nonce", nonce, nonce_size)?;
            let rest = bytes("the rest", rest, rest_size)?;
            (slot::<Parted, Part>(part)?.alone()?, keyed(key)?, nonce, rest)
        };
        // SAFETY: as above.
        let room = unsafe { Room::new("the tag", tag, tag_size, key.tag_bytes()) }?;
        let parts = parts(key)?;
        let Parted { part: begun } = part.get()?;
        ensure(begun.key_id() == key.mac.key_id(), || PartError::ForeignPart)?;
        ensure(begun.start() == 0, || PartError::Gap { expected: 0, found: begun.start() })?;
        let last_block_distinct = parts.last_block_distinct() && begun.end() > 0;
        ensure(!(last_block_distinct && rest.is_empty()), || PartError::NoLastBlock)?;
        key.mac.algorithm().check_nonce(nonce.len())?;
        let Some(part) = part.take()? else { unreachable!("it was there") };
        room.fill(parts.finish(part.part, nonce, rest).map_err(refused_part)?.as_bytes());
        Ok(())
    })
}

/// Writes the range of a part: its first byte, and the byte after its last one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_part_range(
    part: *const Part,
    start: *mut u64,
    end: *mut u64,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a part.
        let part = unsafe { slot::<Parted, Part>(part) }?.read()?;
        let null = start.is_null() || end.is_null();
        ensure(!null, || "start or end is a null pointer")?;
        for (to, value) in [(start, part.part.start()), (end, part.part.end())] {
            // SAFETY: not null; the header requires the memory.
            unsafe { to.write_unaligned(value) };
        }
        Ok(())
    })
}

/// Wipes a part, frees its memory, and leaves zeros. Does nothing to an empty part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_part_free(part: *mut Part) -> c_int {
    // SAFETY: the header requires a part.
    status(|| unsafe { free::<Parted, Part>(part) })
}

/// Returns the size of a tagmac_part in bytes, for languages that cannot use sizeof.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_part_size() -> usize {
    size_of::<Part>()
}

/// Returns the alignment of a tagmac_part in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_part_align() -> usize {
    align_of::<Part>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{tagmac_key_free, tagmac_key_init};

    #[test]
    fn a_part_joins_several_at_once() {
        let mut key = Key::EMPTY;
        let mut parts = [const { Part { opaque: [0; 4] } }; 3];
        let [one, two, right] = parts.each_mut().map(std::ptr::from_mut);
        // SAFETY: the objects are local and do not move, and all sizes are right.
        unsafe {
            assert_eq!(
                tagmac_key_init(&mut key, c"PMAC-AES128".as_ptr(), [7; 16].as_ptr(), 16, 0),
                0
            );
            for (part, start) in [(one, 0), (two, 0), (right, 16)] {
                assert_eq!(tagmac_part_init(part, &key, start, [7; 16].as_ptr(), 16), 0);
            }
            {
                // Another thread in the middle of a call.
                let _reading = slot::<Parted, Part>(right).expect("a part").read().expect("free");
                assert_eq!(tagmac_part_join(one, right, &key), 0);
                assert_eq!(tagmac_part_join(two, right, &key), 0);
                let (mut start, mut end) = (0, 0);
                assert_eq!(tagmac_part_range(right, &mut start, &mut end), 0);
                assert_eq!((start, end), (16, 32));
                assert_ne!(tagmac_part_free(right), 0, "it is being read");
            }
            for part in [one, two, right] {
                assert_eq!(tagmac_part_free(part), 0);
            }
            assert_eq!(tagmac_key_free(&mut key), 0);
        }
    }
}
