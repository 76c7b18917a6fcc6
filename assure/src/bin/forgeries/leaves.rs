//! Leaves and leaf tags, altered, swapped and mixed from each other: between places of a file, files,
//! versions, lengths of leaves and keys. A reader must accept only the sealed bytes.

use std::cell::RefCell;
use std::error::Error;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use assure::{Job, Random, on_all_cores};
use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::leaves::content::{Contents, SealedContent};
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;
use tagmac_files::seal::{SealOptions, Sealing};

const NAMES: [&[u8]; 4] = [b"a", b"b", b"c", b"d"];
const LEAF: u64 = 4080;
const ALGORITHMS: [&str; 4] =
    ["PMAC-AES128", "LIGHTMAC-AES128-S32", "ELIMAC-AES128", "LIGHTMAC-PRESENT80-S32"];
const TAG: usize = 16;

/// A sealed tree. Its first one is attacked; the others are material.
struct Tree {
    leaves: Vec<Leaf>,
    /// The leaf tags, written to in place.
    file: File,
    contents: RefCell<Contents>,
    open: Box<dyn Fn() -> Contents>,
}

/// A leaf and its place.
#[derive(Clone)]
struct Leaf {
    path: &'static [u8],
    start: u64,
    bytes: Vec<u8>,
    /// The number of its tag in the file.
    tag: u64,
}

/// Tries leaves and leaf tags under each MAC that makes them.
pub fn check(job: &Job) -> Result<(), Box<dyn Error>> {
    let results: Vec<usize> = (0..ALGORITHMS.len()).collect();
    on_all_cores(&results, |&number| {
        let algorithm = Algorithm::from_name(ALGORITHMS[number]).expect("it is in the registry");
        if let Err(error) = under(job, algorithm, &mut Random::new(40 + number as u64)) {
            job.check(false, || error.to_string());
        }
    });
    Ok(())
}

fn under(job: &Job, algorithm: Algorithm, random: &mut Random) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let keys = [(); 2]
        .map(|()| RawKey { algorithm, bytes: random.bytes(algorithm.new_key_bytes()).into() });
    let first = random.bytes(3 * LEAF as usize + 100);
    let leaf = LEAF as usize;
    // The same leaves in another order, another version, and the same start of another length.
    let swapped = [&first[leaf..2 * leaf], &first[..leaf], &first[2 * leaf..]].concat();
    let mut version = first.clone();
    version[0] ^= 1;
    let files = [first.clone(), swapped, version, first[..3 * leaf].to_vec()];
    let mut later = files.clone();
    later.rotate_left(1);
    let mut trees = Vec::new();
    for (number, (key, leaf, files)) in [
        (&keys[0], LEAF, &files),
        (&keys[0], LEAF, &later),
        (&keys[0], 2 * LEAF, &files),
        (&keys[1], LEAF, &files),
    ]
    .into_iter()
    .enumerate()
    {
        trees.push(Tree::new(key, leaf, files, &folder.path().join(number.to_string()))?);
    }
    let tags = trees.iter().map(Tree::tags).collect::<Result<Vec<_>, _>>()?.concat();
    let tags: Vec<&[u8]> = tags.chunks_exact(TAG).collect();
    let all: Vec<&Leaf> = trees.iter().flat_map(|tree| &tree.leaves).collect();
    let attack = Attack { job, own: &trees[0], all: &all, tags: &tags };
    attack.every_pair()?;
    attack.at_random(random)
}

impl Tree {
    fn new(
        raw: &RawKey,
        leaf: u64,
        files: &[Vec<u8>; 4],
        place: &Path,
    ) -> Result<Tree, Box<dyn Error>> {
        let (directory, manifest) = (place.join("t"), place.join("m"));
        fs::create_dir_all(&directory)?;
        for (name, bytes) in NAMES.iter().zip(files) {
            fs::write(directory.join(str::from_utf8(name)?), bytes)?;
        }
        let key = OpenKey::new(raw, raw.algorithm.default_tag_bits(), Level::best())?;
        let sealed = ManifestOptions { leaves: Some(leaf), ..ManifestOptions::default() };
        let options = SealOptions { sealed, ..SealOptions::new(&directory, &manifest) };
        Sealing::new(&key, raw, options)?.run(&())?;
        let raw = RawKey { algorithm: raw.algorithm, bytes: raw.bytes.clone() };
        let open = move || Contents::open(&key, &raw, &manifest).expect("the sealed manifest");
        let contents = open();
        let (mut leaves, mut tag) = (Vec::new(), 0);
        for (&path, bytes) in NAMES.iter().zip(files) {
            let content = contents.content(path, Path::new("file"))?;
            for start in content.starts() {
                let range = content.range(start);
                let bytes = bytes[range.start as usize..range.end as usize].to_vec();
                leaves.push(Leaf { path, start, bytes, tag });
                tag += 1;
            }
        }
        let file = File::options().read(true).write(true).open(place.join("m.1.leaves"))?;
        Ok(Tree { leaves, file, contents: contents.into(), open: Box::new(open) })
    }

    fn content(&self, path: &[u8]) -> Result<SealedContent, Box<dyn Error>> {
        Ok(self.contents.borrow().content(path, Path::new("file"))?)
    }

    fn tags(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let mut tags = vec![0; TAG * self.leaves.len()];
        self.file.read_exact_at(&mut tags, TAG as u64)?;
        Ok(tags)
    }

    /// Writes a leaf tag. A reader keeps those that it has read, so a new one reads it.
    fn put(&self, leaf: &Leaf, tag: &[u8]) -> Result<(), Box<dyn Error>> {
        self.file.write_all_at(tag, TAG as u64 * (leaf.tag + 1))?;
        self.contents.replace((self.open)());
        Ok(())
    }
}

/// The attacked tree, and the leaves and leaf tags of all.
struct Attack<'a> {
    job: &'a Job,
    own: &'a Tree,
    all: &'a [&'a Leaf],
    tags: &'a [&'a [u8]],
}

impl Attack<'_> {
    /// Returns whether the reader accepts these bytes as this leaf.
    fn accepts(&self, leaf: &Leaf, bytes: &[u8]) -> Result<bool, Box<dyn Error>> {
        let content = self.own.content(leaf.path)?;
        if content.is_sealed(leaf.start, bytes)? {
            return Ok(true);
        }
        let here = |other: &&Leaf| other.path == leaf.path && other.start != leaf.start;
        let elsewhere = |other: &&Leaf| other.path != leaf.path && other.start == leaf.start;
        let is_one = |path: &[u8], start| {
            Ok::<_, Box<dyn Error>>(self.own.content(path)?.is_sealed(start, bytes)?)
        };
        for other in &self.own.leaves {
            if (self.job.planted("any-leaf") && here(&other)
                || self.job.planted("any-content") && elsewhere(&other))
                && is_one(other.path, other.start)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn present(&self, leaf: &Leaf, bytes: &[u8], what: &str) -> Result<(), Box<dyn Error>> {
        let accepted = self.accepts(leaf, bytes)?;
        self.job.check(!accepted || bytes == leaf.bytes, || {
            let path = String::from_utf8_lossy(leaf.path);
            format!("a leaf of {path} at {}, {what}: accepted, but must be refused", leaf.start)
        });
        Ok(())
    }

    /// Presents each leaf at each place, with each leaf tag.
    fn every_pair(&self) -> Result<(), Box<dyn Error>> {
        for leaf in &self.own.leaves {
            let accepted = self.accepts(leaf, &leaf.bytes)?;
            self.job.check(accepted, || "a leaf was refused, but must be accepted".into());
            for other in self.all {
                self.present(leaf, &other.bytes, "another leaf")?;
            }
            let own = self.tags[leaf.tag as usize];
            for tag in self.tags.iter().filter(|tag| **tag != own) {
                self.own.put(leaf, tag)?;
                for other in self.all {
                    self.present(leaf, &other.bytes, "with another leaf tag")?;
                }
                // Not even the sealed bytes.
                let accepted = self.own.content(leaf.path)?.is_sealed(leaf.start, &leaf.bytes)?;
                self.job.check(!accepted, || "a foreign leaf tag was accepted".into());
            }
            self.own.put(leaf, own)?;
        }
        Ok(())
    }

    /// Alters bytes and leaf tags at random places.
    fn at_random(&self, random: &mut Random) -> Result<(), Box<dyn Error>> {
        let leaves = &self.own.leaves;
        for _ in 0..self.job.either(3_000, 60_000) {
            let leaf = &leaves[random.up_to(leaves.len() - 1)];
            let mut bytes = self.all[random.up_to(self.all.len() - 1)].bytes.clone();
            let at = random.up_to(bytes.len() - 1);
            match random.up_to(3) {
                0 => bytes[at] ^= 1 << random.up_to(7),
                1 => bytes.truncate(at),
                2 => bytes.insert(at, 0),
                _ => {
                    let (from, to) = (bytes.len().min(at + 16), at);
                    bytes[to..from].reverse();
                }
            }
            self.present(leaf, &bytes, "altered")?;
            let own = self.tags[leaf.tag as usize];
            let mut tag = own.to_vec();
            tag[random.up_to(TAG - 1)] ^= 1 << random.up_to(7);
            self.own.put(leaf, &tag)?;
            self.present(leaf, &bytes, "with an altered leaf tag")?;
            self.own.put(leaf, own)?;
        }
        Ok(())
    }
}
