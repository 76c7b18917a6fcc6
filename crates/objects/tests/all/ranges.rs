//! Reads of ranges: the bytes, and what the store is asked for.

use std::ops::Range;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use tagmac_objects::verified::{MemoryLimits, VerifiedStore};

use crate::hostile::{Hostile, Lie};
use crate::place::{LEAF, PREFIX, Place, Random, block_on};

/// Returns the number of bytes of the leaves that cover ranges, each one once, and of their runs.
fn cover(leaf: u64, size: u64, ranges: &[Range<u64>]) -> (u64, u64) {
    let mut leaves: Vec<u64> =
        ranges.iter().flat_map(|range| range.start / leaf..range.end.div_ceil(leaf)).collect();
    leaves.sort_unstable();
    leaves.dedup();
    let bytes = leaves.iter().map(|number| leaf.min(size - number * leaf)).sum();
    let runs = leaves.chunk_by(|a, b| a + 1 == *b).count();
    (runs as u64, bytes)
}

fn random_ranges(random: &mut Random, size: u64, most: u64) -> Vec<Range<u64>> {
    let count = if size == 0 { 0 } else { random.below(most) };
    let range = |random: &mut Random| {
        let start = random.below(size);
        let length = [1, 100, LEAF, 3 * LEAF, size][random.below(5) as usize];
        start..(start + 1 + random.below(length)).min(size)
    };
    (0..count).map(|_| range(random)).collect()
}

fn slice<'a>(bytes: &'a [u8], range: &Range<u64>) -> &'a [u8] {
    &bytes[range.start as usize..range.end as usize]
}

/// All ranges of all files have the sealed bytes, and only the leaves that cover them are requested.
#[test]
fn any_ranges_are_those_of_the_file() {
    for lie in [Lie::None, Lie::Slow] {
        for (algorithm, leaves) in [
            ("PMAC-AES128", Some(LEAF)),
            ("LIGHTMAC-AES128", Some(3 * LEAF)),
            ("ELIMAC-AES128", Some(LEAF)),
            ("CMAC-AES128", None),
            ("POLY1305-AES", None),
        ] {
            let place = Place::of_lengths(algorithm, leaves);
            let hostile = Hostile::new(&place.objects, lie.clone());
            let counts = hostile.counts.clone();
            let limits = MemoryLimits { cache: 0, ..MemoryLimits::default() };
            let contents = place.contents.clone();
            let store = VerifiedStore::with_limits(hostile, PREFIX.into(), contents, limits);
            let mut random = Random(2);
            block_on(async {
                for (path, bytes) in &place.files {
                    let size = bytes.len() as u64;
                    let leaf = leaves.filter(|&leaf| size > leaf).unwrap_or(size.max(1));
                    let all = store.get(path).await.unwrap();
                    assert_eq!((all.range.clone(), all.meta.size), (0..size, size));
                    assert!(all.bytes().await.unwrap() == bytes[..], "{path}");
                    assert_eq!(counts.take(), (1, size));
                    for range in random_ranges(&mut random, size, 10) {
                        let found = store.get_range(path, range.clone()).await.unwrap();
                        assert!(found == slice(bytes, &range), "{path} {range:?}");
                        assert_eq!(counts.take(), cover(leaf, size, &[range]));
                    }
                    let ranges = random_ranges(&mut random, size, 10);
                    let found = store.get_ranges(path, &ranges).await.unwrap();
                    for (found, range) in found.iter().zip(&ranges) {
                        assert!(found == slice(bytes, range), "{path} {range:?}");
                    }
                    assert_eq!(found.len(), ranges.len());
                    assert_eq!(counts.take(), cover(leaf, size, &ranges));
                }
            });
        }
    }
}

/// Ranges are cut at the end as by other stores, and those without bytes are errors.
#[test]
fn huge_and_empty_ranges_are_those_of_other_stores() {
    let place = Place::of_lengths("PMAC-AES128", Some(LEAF));
    let verified = place.verified(place.objects.clone());
    let plain = object_store::prefix::PrefixStore::new(place.objects.clone(), PREFIX);
    let edges = [0, 1, LEAF - 1, LEAF, LEAF + 1, 5 * LEAF + 7, u64::MAX - 1, u64::MAX];
    let mut ranges = vec![];
    for start in edges {
        ranges.extend([GetRange::Offset(start), GetRange::Suffix(start)]);
        ranges.extend(edges.map(|end| GetRange::Bounded(start..end)));
    }
    block_on(async {
        for (path, _) in &place.files {
            for range in &ranges {
                let options = || GetOptions::new().with_range(Some(range.clone()));
                let expected = plain.get_opts(path, options()).await;
                let found = verified.get_opts(path, options()).await;
                assert_eq!(found.is_ok(), expected.is_ok(), "{path} {range:?}");
                let (Ok(found), Ok(expected)) = (found, expected) else { continue };
                assert_eq!(found.range, expected.range);
                assert!(found.bytes().await.unwrap() == expected.bytes().await.unwrap());
                let GetRange::Bounded(range) = range else { continue };
                let found = verified.get_ranges(path, std::slice::from_ref(range)).await.unwrap();
                let expected = plain.get_ranges(path, std::slice::from_ref(range)).await.unwrap();
                assert!(found == expected);
            }
        }
        let path = Path::from("d/4080");
        #[expect(clippy::reversed_empty_ranges)]
        let backwards = verified.get_ranges(&path, &[5..3]).await;
        assert!(matches!(backwards, Err(Error::Generic { .. })));
        assert!(verified.get_ranges(&path, &[]).await.unwrap().is_empty());
    });
}

/// A leaf is kept if a reader got only a part of it.
#[test]
fn the_rest_of_a_leaf_comes_from_the_cache() {
    let place = Place::of_lengths("PMAC-AES128", Some(LEAF));
    let hostile = Hostile::new(&place.objects, Lie::Flips);
    let counts = hostile.counts.clone();
    let contents = place.contents.clone();
    let limits = MemoryLimits { cache: 9000, ..MemoryLimits::default() };
    let store = VerifiedStore::with_limits(hostile, PREFIX.into(), contents, limits);
    let (path, bytes) = &place.files[6];
    let read = async |range: Range<u64>| {
        let found = store.get_range(path, range.clone()).await.unwrap();
        assert!(found == slice(bytes, &range));
        // Only every second answer is right.
        let (requests, bytes) = counts.take();
        counts.requests.store(0, std::sync::atomic::Ordering::SeqCst);
        (requests, bytes)
    };
    block_on(async {
        assert_eq!(read(LEAF..2 * LEAF).await, (1, LEAF));
        assert_eq!(read(LEAF..2 * LEAF).await, (1, LEAF));
        assert_eq!(read(LEAF + 1..2 * LEAF).await, (1, LEAF));
        assert_eq!(read(LEAF..LEAF + 1).await, (0, 0));
        assert_eq!(read(LEAF..2 * LEAF).await, (0, 0));
        // Both sides of a leaf in the cache; the second answer would be wrong.
        assert!(store.get_range(path, 1..3 * LEAF).await.is_err());
        counts.take();
        // The first leaf was good. The cache has room for two.
        assert_eq!(read(1..2).await, (0, 0));
        assert_eq!(read(2 * LEAF..2 * LEAF + 1).await, (1, LEAF));
        assert_eq!(read(1..2).await, (0, 0));
        assert_eq!(read(2 * LEAF + 5..2 * LEAF + 6).await, (0, 0));
        assert_eq!(read(LEAF..LEAF + 1).await, (1, LEAF));
        assert_eq!(read(1..2).await, (1, LEAF));
    });
}

/// A stream returns the bytes before a wrong leaf, then the error, then nothing.
#[test]
fn a_stream_ends_with_its_first_error() {
    let place = Place::of_lengths("PMAC-AES128", Some(LEAF));
    let (path, bytes) = place.files.last().unwrap();
    let at = (1 << 19) + 3;
    let mut damaged = bytes.clone();
    damaged[at] ^= 4;
    crate::place::put(&place.objects, path.as_ref(), damaged);
    let store = place.verified(place.objects.clone());
    block_on(async {
        let mut pieces = store.get(path).await.unwrap().into_stream();
        let mut found = Vec::new();
        let error = loop {
            match pieces.try_next().await {
                Ok(piece) => found.extend_from_slice(&piece.expect("an error comes first")),
                Err(error) => break error,
            }
        };
        assert!(found.len() <= at && bytes.starts_with(&found) && found.len() >= 1 << 18);
        let start = at as u64 / LEAF * LEAF;
        let text = format!("{path}: bytes {start} to {} differ from those sealed", start + LEAF);
        let found = tagmac_objects::verified::NotSealed::find(&error).unwrap();
        assert_eq!(found.to_string(), text);
        assert!(pieces.try_next().await.unwrap().is_none());
        // Other leaves are read.
        let range = start - 10..start;
        assert!(store.get_range(path, range.clone()).await.unwrap() == slice(bytes, &range));
        assert!(store.get_ranges(path, &[range, start..start + 1]).await.is_err());
    });
}
