//! The lengths of leaves.

use std::ops::RangeInclusive;

/// The least length that a user may choose.
pub const MIN: u64 = 4 << 10;
/// The greatest length.
pub const MAX: u64 = 64 << 20;
/// All lengths that a manifest may have: the least one, rounded down to blocks, and more.
pub const ALL: RangeInclusive<u64> = 4000..=MAX;
/// A longer file has larger leaves, so that it has at most this many.
const MAX_LEAVES: u64 = 1 << 19;

/// Returns the length of a leaf of a file of `bytes` bytes in a manifest with leaves of `size` bytes;
/// `None` if the file has no leaves, since it is not longer than one.
pub fn of(size: u64, bytes: u64) -> Option<u64> {
    let mut leaf = size;
    while bytes.div_ceil(leaf) > MAX_LEAVES {
        leaf *= 2;
    }
    (bytes > size).then_some(leaf)
}

/// Returns the number of leaf tags of a file of `bytes` bytes.
pub fn count(size: u64, bytes: u64) -> u64 {
    of(size, bytes).map_or(0, |leaf| bytes.div_ceil(leaf))
}

/// Returns the length of leaves under another MAC, whose blocks have `block` bytes: `size`, rounded
/// to whole blocks. Down, unless a manifest cannot have that.
pub fn in_blocks(size: u64, block: usize) -> u64 {
    let block = block as u64;
    let down = size / block * block;
    if ALL.contains(&down) { down } else { down + block }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: u64 = 64 << 10;

    #[test]
    fn each_length_can_be_in_other_blocks() {
        for block in 1..=64 {
            for size in (4000..4200).chain([DEFAULT, MAX - 1, MAX]) {
                let found = in_blocks(size, block);
                assert!(
                    found.is_multiple_of(block as u64) && ALL.contains(&found),
                    "{size} {block}"
                );
                assert!(found.abs_diff(size) < block as u64);
            }
        }
    }

    #[test]
    fn a_file_has_at_most_2_19_leaves() {
        for (bytes, leaf, tags) in [
            (0, None, 0),
            (DEFAULT, None, 0),
            (DEFAULT + 1, Some(DEFAULT), 2),
            (2 * DEFAULT, Some(DEFAULT), 2),
            (DEFAULT << 19, Some(DEFAULT), 1 << 19),
            ((DEFAULT << 19) + 1, Some(2 * DEFAULT), (1 << 18) + 1),
            (u64::MAX, Some(DEFAULT << 29), 1 << 19),
        ] {
            assert_eq!((of(DEFAULT, bytes), count(DEFAULT, bytes)), (leaf, tags), "{bytes}");
        }
        for size in [4000, 65_532, MAX] {
            assert!(count(size, u64::MAX) <= MAX_LEAVES);
        }
    }
}
