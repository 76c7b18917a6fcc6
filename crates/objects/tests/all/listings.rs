//! Names, sizes, times and conditions come from the manifest.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};

use crate::hostile::{Hostile, Lie};
use crate::place::{LEAF, PREFIX, Place, Random, block_on, put, seal};

async fn all(store: &impl ObjectStore, prefix: Option<&Path>) -> BTreeSet<(Path, u64)> {
    let metas: Vec<ObjectMeta> = store.list(prefix).try_collect().await.unwrap();
    let pairs: BTreeSet<_> = metas.iter().map(|meta| (meta.location.clone(), meta.size)).collect();
    assert_eq!(pairs.len(), metas.len());
    pairs
}

/// The listings are those of a store that has exactly the sealed files.
#[test]
fn listings_are_those_of_the_sealed_tree() {
    let mut random = Random(7);
    let mut names = BTreeSet::new();
    for _ in 0..300 {
        let depth = 1 + random.below(4);
        let part =
            |random: &mut Random| ["a", "a b", "b#", "a-", "é", "%25"][random.below(6) as usize];
        let folders: String = (1..depth).map(|_| format!("{}/", part(&mut random))).collect();
        names.insert(format!("{folders}{}.txt", part(&mut random)));
    }
    // More than a page in one folder, with folders before and after.
    names.extend((0..2500).map(|number| format!("many/{}/{number}", number % 2)));
    names.extend(["many/0.x", "many.x", "many/1/z/z"].map(String::from));
    let files = names.iter().map(|name| (&name[..], random.bytes(name.len() as u64))).collect();
    let place = Place::new("PMAC-AES128", Some(LEAF), files);
    listings_of(&place);
    listings_of(&place.of_bucket("PMAC-AES128", Some(LEAF)));
}

fn listings_of(place: &Place) {
    let plain = PrefixStore::new(place.objects.fork(), PREFIX);
    let store = place.verified(Hostile::new(&place.objects, Lie::None));
    // The listings of the store are not used: they would panic.
    let folders = ["", "a", "a b", "a-", "b#", "é/a", "%25", "many", "many/0", "many/1/z", "none"];
    block_on(async {
        assert_eq!(all(&store, None).await.len(), place.files.len());
        for folder in folders {
            let folder = Path::parse(folder).unwrap();
            assert_eq!(all(&store, Some(&folder)).await, all(&plain, Some(&folder)).await);
            let found = store.list_with_delimiter(Some(&folder)).await.unwrap();
            let expected = plain.list_with_delimiter(Some(&folder)).await.unwrap();
            let set = |metas: &[ObjectMeta]| -> BTreeSet<(Path, u64)> {
                metas.iter().map(|meta| (meta.location.clone(), meta.size)).collect()
            };
            assert_eq!(set(&found.objects), set(&expected.objects), "{folder}");
            let set = |paths: &[Path]| paths.iter().cloned().collect::<BTreeSet<_>>();
            assert_eq!(set(&found.common_prefixes), set(&expected.common_prefixes), "{folder}");
            assert_eq!(found.common_prefixes.len(), expected.common_prefixes.len());
            let offset = Path::from("many/1/1001");
            let after: Vec<_> =
                store.list_with_offset(Some(&folder), &offset).try_collect().await.unwrap();
            let expected = all(&plain, Some(&folder)).await;
            let expected = expected.iter().filter(|(path, _)| *path > offset).cloned();
            assert_eq!(
                set(&after.into_iter().map(|meta| meta.location).collect::<Vec<_>>()),
                expected.map(|(path, _)| path).collect()
            );
        }
        for (path, bytes) in &place.files {
            let meta = store.head(path).await.unwrap();
            assert_eq!((&meta.location, meta.size), (path, bytes.len() as u64));
            if !path.as_ref().starts_with("many") {
                assert!(store.get(path).await.unwrap().bytes().await.unwrap() == bytes[..]);
            }
        }
    });
}

/// Added objects, links and folders are not listed. A strange name is an error.
#[test]
fn only_files_are_objects() {
    let place = Place::new("PMAC-AES128", None, vec![("d/a", vec![1]), ("e/b", vec![2])]);
    let root = place.folder.path().join("tree");
    symlink("a", root.join("d/link")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    put(&place.objects, "d/link", vec![1]);
    put(&place.objects, "empty/added", vec![1]);
    let contents = seal("PMAC-AES128", None, &root, &place.folder.path().join("second"));
    let place = Place { contents, ..place };
    let store = place.verified(place.objects.clone());
    block_on(async {
        let expected = BTreeSet::from([("d/a".into(), 1), ("e/b".into(), 1)]);
        assert_eq!(all(&store, None).await, expected);
        let found = store.list_with_delimiter(None).await.unwrap();
        assert_eq!(found.common_prefixes, ["d".into(), "e".into()]);
        for path in ["d/link", "empty", "empty/added"] {
            let found = store.get(&path.into()).await;
            assert!(matches!(found, Err(Error::NotFound { .. })), "{path}");
        }
    });
    for name in ["f\ng", "f\x7f"] {
        fs::write(root.join("e").join(name), "strange").unwrap();
        let manifest = place.folder.path().join("third");
        let contents = seal("PMAC-AES128", None, &root, &manifest);
        let place = Place {
            contents,
            folder: tempfile::tempdir().unwrap(),
            files: vec![],
            objects: place.objects.clone(),
        };
        let store = place.verified(place.objects.clone());
        block_on(async {
            // A listing without it would not be complete.
            assert!(store.list(None).try_collect::<Vec<_>>().await.is_err());
            assert!(store.list_with_delimiter(Some(&"e".into())).await.is_err());
            assert!(store.list_with_delimiter(Some(&"d".into())).await.is_ok());
        });
        fs::remove_file(root.join("e").join(name)).unwrap();
    }
}

/// Conditions are decided without the store.
#[test]
fn conditions_come_from_the_manifest() {
    let place = Place::of_lengths("PMAC-AES128", Some(LEAF));
    let store = place.verified(Hostile::new(&place.objects, Lie::None));
    block_on(async {
        let path = &place.files[6].0;
        let meta = store.head(path).await.unwrap();
        let tag = meta.e_tag.clone().unwrap();
        assert_eq!(store.get(path).await.unwrap().meta, meta);
        let others: BTreeSet<_> = all(&store, None).await.into_iter().collect();
        assert_eq!(others.len(), place.files.len());
        let with = async |options: GetOptions| store.get_opts(path, options).await;
        let new = GetOptions::new;
        assert!(with(new().with_if_match(Some(&tag))).await.is_ok());
        let found = with(new().with_if_match(Some("\"0\""))).await;
        assert!(matches!(found, Err(Error::Precondition { .. })));
        let found = with(new().with_if_none_match(Some(&tag))).await;
        assert!(matches!(found, Err(Error::NotModified { .. })));
        assert!(with(new().with_if_none_match(Some("\"0\""))).await.is_ok());
        let found = with(new().with_if_modified_since(Some(meta.last_modified))).await;
        assert!(matches!(found, Err(Error::NotModified { .. })));
        let found = with(new().with_head(true).with_if_none_match(Some(tag))).await;
        assert!(matches!(found, Err(Error::NotModified { .. })));
        let found = with(new().with_version(Some("1"))).await;
        assert!(matches!(found, Err(Error::NotSupported { .. })));
    });
}

/// Nothing is written: the store would panic.
#[test]
fn writes_are_not_supported() {
    let place = Place::new("PMAC-AES128", None, vec![("a", vec![1])]);
    let store = place.verified(Hostile::new(&place.objects, Lie::None));
    let (a, b) = (Path::from("a"), Path::from("b"));
    block_on(async {
        let results = [
            store.put(&b, "x".into()).await.err(),
            store.put_multipart(&b).await.err(),
            store.delete(&a).await.err(),
            store.copy(&a, &b).await.err(),
            store.copy_if_not_exists(&a, &b).await.err(),
            store.rename(&a, &b).await.err(),
            store.rename_if_not_exists(&a, &b).await.err(),
        ];
        for result in results {
            assert!(matches!(result, Some(Error::NotSupported { .. })), "{result:?}");
        }
    });
}
