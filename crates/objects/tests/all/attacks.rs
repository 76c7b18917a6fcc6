//! Hostile stores. No byte that differs is ever returned.

use std::collections::BTreeMap;

use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use tagmac_objects::verified::{NotSealed, VerifiedStore};

use crate::hostile::{Hostile, Lie};
use crate::place::{LEAF, PREFIX, Place, Random, block_on, put};

/// Reads ranges of all files in all ways. Returns the errors and the number of good reads.
fn read(
    place: &Place,
    store: &VerifiedStore<Hostile>,
    random: &mut Random,
    least: u64,
) -> (Vec<Error>, u64) {
    let (mut errors, mut good) = (Vec::new(), 0);
    block_on(async {
        for (path, bytes) in place.files.iter().filter(|(_, bytes)| bytes.len() as u64 > least) {
            for _ in 0..20 {
                let start = random.below(bytes.len() as u64);
                let end = start + 1 + random.below(bytes.len() as u64 - start);
                let range = start..end;
                let sealed = &bytes[start as usize..end as usize];
                let found = match random.below(3) {
                    0 => store.get_range(path, range).await,
                    1 => store.get_ranges(path, &[range]).await.map(|found| found[0].clone()),
                    _ => match store.get(path).await {
                        Ok(all) => all.bytes().await.map(|all| {
                            assert!(all == bytes[..], "{path}");
                            all.slice(start as usize..end as usize)
                        }),
                        Err(error) => Err(error),
                    },
                };
                match found {
                    Ok(found) => {
                        assert!(found == sealed, "{path} {start} {end}");
                        good += 1;
                    }
                    Err(error) => errors.push(error),
                }
            }
        }
    });
    (errors, good)
}

/// A read returns the sealed bytes, or fails with an error that names the wrong range.
#[test]
fn only_sealed_bytes_are_returned() {
    let place = || Place::of_lengths("PMAC-AES128", Some(LEAF));
    only_sealed_bytes_of(&place());
    only_sealed_bytes_of(&place().of_bucket("PMAC-AES128", Some(LEAF)));
}

fn only_sealed_bytes_of(place: &Place) {
    let objects: Vec<Path> =
        place.files.iter().map(|(path, _)| format!("{PREFIX}/{path}").into()).collect();
    // Those of other lengths differ in size, so the store lies about that too.
    let sizes = place.files.iter().map(|(_, bytes)| bytes.len() as u64);
    assert_eq!(sizes.collect::<Vec<_>>(), crate::place::LENGTHS);
    let next = objects.iter().cloned().zip(objects.iter().cycle().skip(1).cloned()).collect();
    let mut random = Random(3);
    for (lie, some_are_good) in [
        (Lie::Flips, true),
        (Lie::Swapped(next), false),
        (Lie::Shifted(1), false),
        (Lie::Short, false),
        (Lie::Long, false),
        (Lie::Size(1), false),
        (Lie::Size(-1), false),
        (Lie::Size(i64::MAX), false),
    ] {
        let store = place.verified(Hostile::new(&place.objects, lie.clone()));
        let (errors, good) = read(place, &store, &mut random, LEAF);
        assert_eq!(good > 0, some_are_good, "{lie:?}: {good}");
        assert!(!errors.is_empty(), "{lie:?}");
        for error in errors {
            assert!(matches!(error, Error::Generic { .. }), "{lie:?}: {error:?}");
            // The memory store refuses a range after the end of its object.
            let is_named = NotSealed::find(&error).is_some();
            assert!(
                is_named || matches!(lie, Lie::Shifted(_) | Lie::Swapped(_)),
                "{lie:?}: {error:?}"
            );
        }
    }
    for lie in [Lie::Fails, Lie::Unmodified] {
        let store = place.verified(Hostile::new(&place.objects, lie.clone()));
        let (errors, good) = read(place, &store, &mut random, 0);
        assert_eq!(good, 0, "{lie:?}");
        for error in errors {
            // No claim about conditions comes from the store.
            assert!(matches!(error, Error::Generic { .. }), "{lie:?}: {error:?}");
        }
    }
}

/// Another object, an older version, or a leaf from elsewhere, all of the same size.
#[test]
fn sealed_bytes_of_another_place_are_not_returned() {
    let mut random = Random(4);
    for (algorithm, leaves, length, is_bucket) in [
        ("PMAC-AES128", Some(LEAF), 8 * LEAF, false),
        ("PMAC-AES128", Some(LEAF), 8 * LEAF, true),
        ("LIGHTMAC-AES128", Some(LEAF), 8 * LEAF, true),
        ("ELIMAC-AES128", Some(LEAF), 8 * LEAF + 9, false),
        ("ELIMAC-AES128", Some(LEAF), 8 * LEAF + 9, true),
        ("CMAC-AES128", None, 100, false),
        ("CMAC-AES128", None, 100, true),
        ("PMAC-AES128", Some(LEAF), 100, true),
    ] {
        let [a, b] = [random.bytes(length), random.bytes(length)];
        let mut place = Place::new(algorithm, leaves, vec![("a", a.clone()), ("b", b.clone())]);
        if is_bucket {
            place = place.of_bucket(algorithm, leaves);
        }
        let pair = [("a", "b"), ("b", "a")];
        let pair = pair.map(|(one, other)| (Path::from(one), Path::from(other)));
        let swapped = pair.map(|(one, other)| {
            (format!("{PREFIX}/{one}").into(), format!("{PREFIX}/{other}").into())
        });
        let lie = Lie::Swapped(BTreeMap::from(swapped));
        let store = place.verified(Hostile::new(&place.objects, lie));
        let (errors, good) = read(&place, &store, &mut random, 0);
        assert_eq!(good, 0);
        assert!(errors.iter().all(|error| NotSealed::find(error).is_some()), "{errors:?}");
        if length < LEAF {
            continue;
        }
        // Leaves 2 and 3 change places, and leaf 5 is that of the other file.
        let mut mixed = a.clone();
        let leaf = LEAF as usize;
        let (left, right) = mixed.split_at_mut(3 * leaf);
        left[2 * leaf..].swap_with_slice(&mut right[..leaf]);
        mixed[5 * leaf..6 * leaf].copy_from_slice(&b[5 * leaf..6 * leaf]);
        put(&place.objects, "a", mixed);
        let store = place.verified(place.objects.clone());
        block_on(async {
            for number in 0..8 {
                let range = number * LEAF + 1..number * LEAF + 2;
                let found = store.get_range(&"a".into(), range.clone()).await;
                assert_eq!(found.is_ok(), ![2, 3, 5].contains(&number), "{number}");
            }
        });
    }
}

/// The new version of the tree is sealed, and the store has the old objects.
#[test]
fn an_older_version_is_not_returned() {
    let mut random = Random(5);
    let old = random.bytes(4 * LEAF);
    let mut new = old.clone();
    new[9] ^= 1;
    let place = Place::new("PMAC-AES128", Some(LEAF), vec![("a", new)]);
    put(&place.objects, "a", old);
    let store = place.verified(place.objects.clone());
    block_on(async {
        for number in 0..4 {
            let range = number * LEAF..number * LEAF + 1;
            let found = store.get_range(&"a".into(), range.clone()).await;
            // The other leaves are the same in both versions.
            assert_eq!(found.is_ok(), number > 0);
        }
        let error = store.get(&"a".into()).await.unwrap().bytes().await.unwrap_err();
        let expected = NotSealed::Bytes { path: "a".into(), range: 0..LEAF };
        assert_eq!(NotSealed::find(&error), Some(&expected));
    });
}

/// Objects that the manifest does not have, and files that the store lacks, are not found.
#[test]
fn added_and_removed_objects_are_not_found() {
    let place = Place::of_lengths("PMAC-AES128", Some(LEAF));
    put(&place.objects, "added", vec![1]);
    put(&place.objects, "d/added", vec![1]);
    let store = place.verified(place.objects.clone());
    let is_missing = |found: Option<Error>, path: &Path| match found {
        Some(Error::NotFound { path: named, .. }) => assert_eq!(named, path.as_ref()),
        other => panic!("{path}: {other:?}"),
    };
    block_on(async {
        for path in ["added", "d/added", "d", "", "d/0/x", "top/photos/d/1", "D/1", "d/%31"] {
            let path = Path::parse(path).unwrap();
            is_missing(store.head(&path).await.err(), &path);
            is_missing(store.get(&path).await.err(), &path);
            is_missing(store.get_range(&path, 0..1).await.err(), &path);
            is_missing(store.get_ranges(&path, &[0..1, 3..4]).await.err(), &path);
        }
        for (path, bytes) in &place.files {
            place.objects.delete(&format!("{PREFIX}/{path}").into()).await.unwrap();
            // The manifest has the file, so only a read notices.
            assert_eq!(store.head(path).await.unwrap().size, bytes.len() as u64);
            is_missing(store.get(path).await.err(), path);
            if !bytes.is_empty() {
                is_missing(store.get_range(path, 0..1).await.err(), path);
                is_missing(store.get_ranges(path, &[0..1]).await.err(), path);
            }
        }
    });
}

/// An object with bytes instead of an empty file is noticed.
#[test]
fn an_empty_file_is_verified() {
    let place = Place::new("PMAC-AES128", Some(LEAF), vec![("a", vec![])]);
    for (lie, bytes) in [(Lie::None, vec![1]), (Lie::Size(-1), vec![1]), (Lie::Long, vec![])] {
        put(&place.objects, "a", bytes);
        let store = place.verified(Hostile::new(&place.objects, lie.clone()));
        block_on(async {
            let found = store.get(&"a".into()).await;
            let error = match found {
                Ok(found) => found.bytes().await.unwrap_err(),
                Err(error) => error,
            };
            assert!(NotSealed::find(&error).is_some(), "{lie:?}");
        });
    }
}

/// Changed leaf tags, and a manifest that changes under the reader, are noticed.
#[test]
fn changed_leaf_tags_and_manifests_are_noticed() {
    use std::fs;
    type Damage = fn(&[u8]) -> Vec<u8>;
    let damages: [(Damage, bool); 4] = [
        (|tags| tags.iter().map(|byte| byte ^ 1).collect(), true),
        (|tags| [&tags[16..], &tags[..16]].concat(), true),
        (|tags| tags[..tags.len() / 2].to_vec(), false),
        (|tags| vec![0; tags.len()], true),
    ];
    for (damage, is_wrong) in damages {
        // A new reader, because readers keep leaf tags.
        let place = Place::of_lengths("PMAC-AES128", Some(LEAF));
        let (path, bytes) = place.files.last().unwrap();
        let tags = place.folder.path().join("manifest.1.leaves");
        let (good, end) = (fs::read(&tags).unwrap(), bytes.len() as u64);
        let (magic, of_leaves) = good.split_at(16);
        fs::write(&tags, [magic, &damage(of_leaves)].concat()).unwrap();
        let store = place.verified(place.objects.clone());
        block_on(async {
            let error = store.get(path).await.unwrap().bytes().await.unwrap_err();
            assert_eq!(NotSealed::find(&error).is_some(), is_wrong, "{error}");
            let error = store.get_ranges(path, &[0..1, end - 1..end]).await.unwrap_err();
            assert!(matches!(error, Error::Generic { .. }), "{error}");
            fs::write(&tags, &good).unwrap();
            let found = store.get(path).await.unwrap().bytes().await;
            assert!(found.unwrap() == bytes[..], "the leaf tags were repaired");
        });
    }
    let place = Place::of_lengths("PMAC-AES128", Some(LEAF));
    let manifest = place.folder.path().join("manifest");
    let text = fs::read_to_string(&manifest).unwrap();
    let other = text.replace("d/4080\n", "d/4088\n");
    assert_eq!(other.len(), text.len());
    fs::write(&manifest, other).unwrap();
    let store = place.verified(place.objects.clone());
    block_on(async {
        let error = store.head(&"d/4088".into()).await.unwrap_err();
        assert!(error.to_string().contains("changed"), "{error}");
    });
}
