//! A verifier of sealed files: it has a key, and one manifest of a chain with its ledger and its pin.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assure::Job;
use tagmac::Tag;
use tagmac_files::chain::Chain;
use tagmac_files::day::Day;
use tagmac_files::error::Error;
use tagmac_files::ledger;
use tagmac_files::manifest::{Manifest, seal_mac};
use tagmac_files::night::{Night, NightOptions, Opened};
use tagmac_files::objects::{
    FormatVersion, ManifestKey, ObjectManifest, Place, Root, Shard, ShardRecord,
};
use tagmac_files::open_key::OpenKey;
use tagmac_files::pin::PinFile;
use tagmac_files::raw_key::RawKey;

/// A kind of sealed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The manifest of a tree.
    Manifest,
    /// The root of an object manifest.
    Root,
    /// The last shard of an object manifest.
    Shard,
    /// A ledger.
    Ledger,
    /// A pin.
    Pin,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Manifest => "manifest",
            Kind::Root => "root",
            Kind::Shard => "shard",
            Kind::Ledger => "ledger",
            Kind::Pin => "pin",
        }
    }
}

/// The files of an object manifest by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Files in memory.
pub struct Memory<'a>(pub &'a Files);

impl Place for Memory<'_> {
    fn shown(&self) -> String {
        "memory".into()
    }

    fn read(&self, file: &str, max: u64) -> Result<Option<Vec<u8>>, Error> {
        match self.0.get(file) {
            Some(bytes) if bytes.len() as u64 > max => Err(Error::mismatch("longer")),
            found => Ok(found.cloned()),
        }
    }

    fn read_range(
        &self,
        file: &str,
        size: u64,
        range: std::ops::Range<u64>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let cut = |bytes: Vec<u8>| bytes[range.start as usize..range.end as usize].to_vec();
        Ok(self.read(file, size)?.map(cut))
    }

    fn has(&self, file: &str) -> Result<bool, Error> {
        Ok(self.0.contains_key(file))
    }

    fn write_file(&self, _: &str, _: &[u8]) -> Result<(), Error> {
        unreachable!("a verifier writes nothing")
    }

    fn write_root(&self, _: &[u8], _: Option<&[u8]>) -> Result<(), Error> {
        unreachable!("a verifier writes nothing")
    }

    fn remove_file(&self, _: &str) -> Result<(), Error> {
        unreachable!("a verifier writes nothing")
    }
}

/// A verifier with one manifest of a chain.
pub struct Verifier<'a> {
    pub job: &'a Job,
    pub raw: &'a RawKey,
    pub open: OpenKey,
    pub key: ManifestKey,
    /// The place of its manifest in the chain, and the seal.
    pub chain: Chain,
    pub seal: Tag,
    /// The root's record of the last shard, if it is a manifest of objects.
    pub record: Option<ShardRecord>,
    pub ledger: PathBuf,
    pub pin: PathBuf,
}

impl Verifier<'_> {
    /// Returns whether it accepts a file, with its own files of the other kinds.
    pub fn accepts(&self, kind: Kind, path: &Path, text: &[u8]) -> bool {
        // Planted: a reader that looks at the first line alone.
        if self.job.planted("first-line-is-enough") && text.starts_with(b"tagmac-pin-1\n") {
            return true;
        }
        match kind {
            Kind::Manifest => Manifest::open(path, &self.open, seal_mac(self.raw))
                .is_ok_and(|found| self.follows(&found.header.chain, found.seal)),
            Kind::Root => Root::open(&self.key, text.to_vec(), "root")
                .is_ok_and(|found| self.follows(&found.header.chain, found.seal)),
            Kind::Shard => self.record.as_ref().is_some_and(|record| {
                // Planted: a reader that does not compare the shard with the root.
                if self.job.planted("any-shard") {
                    return self.key.open(text).is_ok();
                }
                Shard::open(&self.key, FormatVersion::V2, record, text.to_vec(), "shard").is_ok()
            }),
            Kind::Ledger => self.night(path, &self.pin),
            Kind::Pin => self.night(&self.ledger, path),
        }
    }

    /// Returns whether it accepts its manifest with a ledger and a pin.
    pub fn night(&self, ledger: &Path, pin: &Path) -> bool {
        self.is_night(&self.chain, self.seal, ledger, pin)
    }

    /// Returns whether it accepts a manifest after its own one.
    fn follows(&self, chain: &Chain, seal: Tag) -> bool {
        self.is_night(chain, seal, &self.ledger, &self.pin)
    }

    /// Returns whether an audit begins with these files.
    fn is_night(&self, chain: &Chain, seal: Tag, ledger: &Path, pin: &Path) -> bool {
        if self.job.planted("any-chain") || self.job.planted("any-number") {
            return self.is_planted_night(chain, seal, ledger, pin);
        }
        let options =
            NightOptions { ledger: Some(ledger), pin: Some(pin), ..NightOptions::default() };
        let is_bucket = self.record.is_some();
        let opened = Opened { shown: "manifest", chain, seal, is_bucket };
        let contents = || unreachable!("no leaves are sampled");
        Night::new(options, self.raw, self.key.clone(), opened, |_, _| Ok(()), contents).is_ok()
    }

    /// Planted: checks the seals and either the numbers or the chains, but not both.
    fn is_planted_night(&self, chain: &Chain, seal: Tag, ledger: &Path, pin: &Path) -> bool {
        let Ok(pin) = PinFile::open(pin, &self.key) else { return false };
        let Some(pin) = pin.pin() else { return false };
        let (name, today) = (chain.name(seal), Day::today());
        if self.job.planted("any-number") {
            let ledger = ledger::open(ledger, &self.key, &name, today);
            return pin.chain == name && ledger.is_ok();
        }
        let text = std::fs::read(ledger).unwrap_or_default();
        text.starts_with(b"tagmac-ledger-1\n") && self.key.open(&text).is_ok()
    }

    /// Returns whether it accepts a whole manifest of objects.
    pub fn accepts_objects(&self, files: &Files) -> bool {
        let place = Memory(files);
        let Ok(found) = ObjectManifest::open(&self.key, &place) else { return false };
        if !self.follows(&found.root.header.chain, found.root.seal) {
            return false;
        }
        // Planted: a reader that stops after the first shard.
        if self.job.planted("first-shard-is-enough") {
            return found.root.records().next().is_none_or(|first| found.shard(&first).is_ok());
        }
        found.objects().all(|object| object.is_ok())
    }
}
