//! Chains of manifests with their ledgers and pins, as seals and audits of two days write them.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use assure::{Job, Random};
use tagmac::Tag;
use tagmac::isa::Level;
use tagmac_files::chain::Chain;
use tagmac_files::day::Day;
use tagmac_files::ledger::{self, Ledger};
use tagmac_files::manifest::{Manifest, seal_mac};
use tagmac_files::objects::{
    Folder, ManifestKey, Object, ROOT, Root, SHARD_ENTRIES, ShardRecord, Start, Writer,
};
use tagmac_files::open_key::OpenKey;
use tagmac_files::pin::{PinFile, Seen};
use tagmac_files::position::Arcs;
use tagmac_files::raw_key::RawKey;
use tagmac_files::seal::{SealOptions, Sealing};

use crate::verifier::{Files, Kind, Verifier};

type Failed = Box<dyn Error>;

/// One manifest of a chain with its records.
pub struct Round<'a> {
    pub verifier: Verifier<'a>,
    pub texts: Vec<(Kind, Vec<u8>)>,
    /// The files of an object manifest; empty for a tree.
    pub files: Files,
}

/// The first two manifests of a chain, and another second one.
pub struct Series<'a> {
    pub rounds: [Round<'a>; 2],
    /// The manifest or root that forks the chain.
    pub fork: (Kind, Vec<u8>),
}

/// A sealed manifest.
struct Made {
    chain: Chain,
    seal: Tag,
    texts: Vec<(Kind, Vec<u8>)>,
    files: Files,
    record: Option<ShardRecord>,
}

/// The description of a chain to make.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    pub job: &'a Job,
    pub raw: &'a RawKey,
    pub is_bucket: bool,
}

impl<'a> Plan<'a> {
    /// Makes the chain with files in a new folder.
    pub fn make(self, folder: &Path, random: &mut Random) -> Result<Series<'a>, Failed> {
        fs::create_dir_all(folder.join("tree"))?;
        let open = OpenKey::new(self.raw, 128, Level::best())?;
        let key = ManifestKey::new(&open.mac, self.raw);
        let seal = |name: &str, random: &mut Random| match self.is_bucket {
            true => seal_bucket(&key, &folder.join(name), random),
            false => seal_tree(&open, self.raw, folder, name, random),
        };
        let (ledger, pin) = (folder.join("ledger"), folder.join("pin"));
        let audit = |made: Made, number: usize| -> Result<Round<'a>, Failed> {
            let Made { chain, seal, mut texts, files, record } = made;
            let (name, today) = (chain.name(seal), Day::today());
            let mut read = Ledger::new(name);
            read.record(&Arcs::all(), today, [number as u64]).expect("one exception");
            let saved = ledger::save(&ledger, &key, &read, today)?;
            let seen = Seen { chain: name, sequence: chain.sequence, seal, links: &chain.links };
            PinFile::open(&pin, &key)?.save("manifest", &seen, saved.sequence)?;
            let mut kept = |kind: Kind, path: &Path| -> Result<PathBuf, Failed> {
                let copy = path.with_extension(number.to_string());
                fs::copy(path, &copy)?;
                texts.push((kind, fs::read(&copy)?));
                Ok(copy)
            };
            let (ledger, pin) = (kept(Kind::Ledger, &ledger)?, kept(Kind::Pin, &pin)?);
            let (raw, open, key) = (self.raw, open.clone(), key.clone());
            let job = self.job;
            let verifier = Verifier { job, raw, open, key, chain, seal, record, ledger, pin };
            Ok(Round { verifier, texts, files })
        };
        let first = audit(seal("manifest", random)?, 1)?;
        copy(&folder.join("manifest"), &folder.join("fork"))?;
        let second = audit(seal("manifest", random)?, 2)?;
        let fork = seal("fork", random)?.texts.swap_remove(0);
        Ok(Series { rounds: [first, second], fork })
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), Failed> {
    if from.is_file() {
        fs::copy(from, to)?;
        return Ok(());
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Seals a tree of two files.
fn seal_tree(
    open: &OpenKey,
    raw: &RawKey,
    folder: &Path,
    name: &str,
    random: &mut Random,
) -> Result<Made, Failed> {
    let (tree, manifest) = (folder.join("tree"), folder.join(name));
    fs::write(tree.join("a"), "text")?;
    fs::write(tree.join("b"), random.bytes(9))?;
    Sealing::new(open, raw, SealOptions::new(&tree, &manifest))?.run(&())?;
    let found = Manifest::open(&manifest, open, seal_mac(raw))?;
    let texts = vec![(Kind::Manifest, fs::read(manifest)?)];
    let (chain, seal) = (found.header.chain, found.seal);
    Ok(Made { chain, seal, texts, files: Files::new(), record: None })
}

/// Seals objects, three more than fit in one shard. Their tags are random. All manifests have the
/// same names and sizes, so shards differ only in tags and seals.
fn seal_bucket(key: &ManifestKey, folder: &Path, random: &mut Random) -> Result<Made, Failed> {
    let place = Folder::new(folder);
    let start = Start { replace: true, ..Start::default() };
    let mut writer = Writer::new(key, &place, start)?;
    for number in 0..SHARD_ENTRIES + 3 {
        writer.push(&Object {
            name: format!("{number:06}").into(),
            size: 7,
            nonce: Vec::new(),
            tag: Some(Tag::new(&random.bytes(16), 128)?),
            read: Some(Day::today()),
            stamp: Some(b"\"e\"".to_vec()),
        })?;
    }
    writer.finish()?;
    let text = fs::read(folder.join(ROOT))?;
    let root = Root::open(key, text.clone(), ROOT)?;
    let mut files = Files::from([(ROOT.to_owned(), text.clone())]);
    for record in root.records() {
        let name = record.file_name();
        let bytes = fs::read(folder.join(&name))?;
        files.insert(name, bytes);
    }
    let record = root.records().last().ok_or("a root without shards")?;
    let last = files[&record.file_name()].clone();
    let texts = vec![(Kind::Root, text), (Kind::Shard, last)];
    let (chain, seal) = (root.header.chain, root.seal);
    Ok(Made { chain, seal, texts, files, record: Some(record) })
}
