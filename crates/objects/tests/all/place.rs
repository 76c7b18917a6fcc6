//! A sealed tree, and its files as objects.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path as FilePath;
use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::leaves::Leaves;
use tagmac_files::leaves::content::Contents;
use tagmac_files::leaves::stream::{HashedLeaves, LeafStream};
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::objects::{Folder, ManifestKey, Object, Start, Writer};
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;
use tagmac_files::seal::{SealOptions, Sealing};
use tagmac_objects::verified::VerifiedStore;

/// The length of a leaf: whole blocks of all MACs.
pub const LEAF: u64 = 4080;
/// The prefix of the objects.
pub const PREFIX: &str = "top/photos";
/// Lengths around leaves.
pub const LENGTHS: [u64; 9] =
    [0, 1, LEAF - 1, LEAF, LEAF + 1, 2 * LEAF, 5 * LEAF + 7, (1 << 18) + 3 * LEAF, (1 << 20) + 11];

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 ^ self.0 >> 29).rotate_left((self.0 >> 59) as u32)
    }

    /// Less than `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub fn bytes(&mut self, count: u64) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// A sealed tree. Its files are the objects below `PREFIX`.
pub struct Place {
    pub folder: tempfile::TempDir,
    pub files: Vec<(Path, Vec<u8>)>,
    pub contents: Arc<Contents>,
    pub objects: InMemory,
}

impl Place {
    pub fn new(algorithm: &str, leaves: Option<u64>, files: Vec<(&str, Vec<u8>)>) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let (root, manifest) = (folder.path().join("tree"), folder.path().join("manifest"));
        fs::create_dir(&root).unwrap();
        let objects = InMemory::new();
        let put = |(name, bytes): (&str, Vec<u8>)| {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, &bytes).unwrap();
            put(&objects, name, bytes.clone());
            (Path::parse(name).unwrap(), bytes)
        };
        let files = files.into_iter().map(put).collect();
        let contents = seal(algorithm, leaves, &root, &manifest);
        Place { folder, files, contents, objects }
    }

    /// A tree with files of all lengths.
    pub fn of_lengths(algorithm: &str, leaves: Option<u64>) -> Place {
        let mut random = Random(1);
        let files = LENGTHS.map(|length| (format!("d/{length}"), random.bytes(length)));
        let files = files.iter().map(|(name, bytes)| (&name[..], bytes.clone())).collect();
        Place::new(algorithm, leaves, files)
    }

    /// The same files, with the manifest of a bucket. It also has an object that marks a folder.
    pub fn of_bucket(self, algorithm: &str, leaves: Option<u64>) -> Place {
        let (key, raw) = keys(algorithm);
        let manifest = self.folder.path().join("bucket");
        let files = self.files.iter().map(|(path, bytes)| (path.as_ref(), &bytes[..]));
        let objects: BTreeMap<&str, &[u8]> = files.chain([("many/", &[][..])]).collect();
        let (manifest_key, place) = (ManifestKey::new(&key.mac, &raw), Folder::new(&manifest));
        let mut writer =
            Writer::new(&manifest_key, &place, Start { leaves, ..Start::default() }).unwrap();
        for (name, bytes) in objects {
            let (object, tags) = object((&key, &raw), leaves, name, bytes);
            writer.push_with_leaves(&object, &tags).unwrap();
        }
        writer.finish().unwrap();
        let contents = Arc::new(Contents::open(&key, &raw, &manifest).unwrap());
        Place { contents, ..self }
    }

    /// The files, verified, from a store that has them below `PREFIX`.
    pub fn verified<S: ObjectStore>(&self, store: S) -> VerifiedStore<S> {
        VerifiedStore::new(store, PREFIX.into(), self.contents.clone())
    }
}

/// An object and its leaf tags.
fn object(
    (key, raw): (&OpenKey, &RawKey),
    leaves: Option<u64>,
    name: &str,
    bytes: &[u8],
) -> (Object, Vec<u8>) {
    let (nonce, size) = (Vec::new(), bytes.len() as u64);
    let tag = key.mac.tag(&nonce, bytes).unwrap();
    let leaves = leaves.map(|size| Leaves::new(raw, size));
    let leaf = leaves.as_ref().and_then(|leaves| Some((leaves, leaves.size_for(size)?)));
    let tags = leaf.map(|(leaves, leaf)| {
        let mut stream = LeafStream::new(key, leaf, size, 0).unwrap();
        stream.update(bytes).unwrap();
        let HashedLeaves { rest, sums, .. } = stream.close().unwrap();
        leaves.tags(&tag, size, leaf, &[sums], &rest)
    });
    let (name, tag) = (name.as_bytes().to_vec(), Some(tag));
    let object = Object { name, size, nonce, tag, read: None, stamp: None };
    (object, tags.unwrap_or_default())
}

fn keys(algorithm: &str) -> (OpenKey, RawKey) {
    let algorithm = Algorithm::from_name(algorithm).unwrap();
    let raw = RawKey::new(algorithm, vec![7; *algorithm.key_bytes().start()].into()).unwrap();
    (OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best()).unwrap(), raw)
}

/// Puts an object below `PREFIX`.
pub fn put(objects: &InMemory, name: &str, bytes: Vec<u8>) {
    let path = Path::parse(format!("{PREFIX}/{name}")).unwrap();
    let payload = PutPayload::from(bytes);
    block_on(async { objects.put(&path, payload).await.unwrap() });
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Seals a tree.
pub fn seal(
    algorithm: &str,
    leaves: Option<u64>,
    root: &FilePath,
    manifest: &FilePath,
) -> Arc<Contents> {
    let (key, raw) = keys(algorithm);
    let sealed = ManifestOptions { leaves, ..ManifestOptions::default() };
    let options = SealOptions { sealed, threads: 1, ..SealOptions::new(root, manifest) };
    Sealing::new(&key, &raw, options).unwrap().run(&()).unwrap();
    Arc::new(Contents::open(&key, &raw, manifest).unwrap())
}
