//! Sealed files, altered, mixed from each other, rolled back, and from other chains and keys.

use std::error::Error;
use std::fs;
use std::path::Path;

use assure::{Job, Random, on_all_cores};
use tagmac_any::Algorithm;
use tagmac_files::objects::ROOT;
use tagmac_files::raw_key::RawKey;

use crate::alterations;
use crate::series::{Plan, Round, Series};
use crate::verifier::{Files, Kind, Verifier};

/// Pieces of work, each with its own random numbers.
const PIECES: usize = 16;
/// The chains of a tree and those of a bucket. The attacked ones come first.
const CHAINS: usize = 3;
const TREE: usize = 0;
const BUCKET: usize = CHAINS;

/// A sealed file.
struct SealedFile<'a> {
    kind: Kind,
    text: &'a [u8],
    verifier: &'a Verifier<'a>,
    /// The number of its chain: that of a tree, then that of a bucket, then others.
    chain: usize,
}

/// Tries ledgers, pins and manifests of trees and objects.
pub fn check(job: &Job) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut random = Random::new(14);
    let algorithm = Algorithm::from_name("PMAC-AES128").expect("it is in the registry");
    let keys = [(); 2]
        .map(|()| RawKey { algorithm, bytes: random.bytes(algorithm.new_key_bytes()).into() });
    let mut chains = Vec::new();
    for is_bucket in [false, true] {
        // The attacked chain, another one under its key, and one under another key.
        for raw in [&keys[0], &keys[0], &keys[1]] {
            let place = folder.path().join(chains.len().to_string());
            chains.push(Plan { job, raw, is_bucket }.make(&place, &mut random)?);
        }
    }
    let attack = Attack { job, folder: folder.path(), files: files(&chains) };
    attack.alter_each()?;
    attack.mix();
    attack.other_chains(&chains);
    attack.older_ones(&chains)?;
    attack.whole(&chains[BUCKET..])?;
    Ok(())
}

/// Returns all files, those of the attacked chains first.
fn files<'a>(chains: &'a [Series<'_>]) -> Vec<SealedFile<'a>> {
    let mut files = Vec::new();
    for (number, series) in chains.iter().enumerate() {
        for Round { verifier, texts, .. } in &series.rounds {
            let all = texts.iter().map(|(kind, text)| (*kind, &**text));
            files.extend(all.map(|(kind, text)| SealedFile {
                kind,
                text,
                verifier,
                chain: number,
            }));
        }
    }
    files.sort_by_key(|file| ![TREE, BUCKET].contains(&file.chain));
    files
}

/// The sealed files, and a folder for altered ones.
struct Attack<'a> {
    job: &'a Job,
    folder: &'a Path,
    files: Vec<SealedFile<'a>>,
}

impl Attack<'_> {
    /// Returns the files that are attacked. The others are only material.
    fn own(&self) -> &[SealedFile<'_>] {
        let end = self.files.partition_point(|file| [TREE, BUCKET].contains(&file.chain));
        &self.files[..end]
    }

    fn refused(&self, accepted: bool, kind: Kind, what: &str) {
        self.job.check(!accepted, || {
            format!("a {}, {what}: a forgery was accepted, but must be refused", kind.name())
        });
    }

    /// Presents an altered text as this file. `worker` names the file on disk.
    fn present(&self, worker: usize, number: usize, altered: &[u8], what: &str) {
        let one = &self.files[number];
        // A mixture can be a file of the same kind and chain. Older ones have their own test.
        let is_same = |other: &SealedFile<'_>| {
            other.kind == one.kind && other.chain == one.chain && other.text == altered
        };
        if self.files.iter().any(is_same) {
            return;
        }
        let path = self.folder.join(format!("altered{worker}"));
        // Roots and shards are read from memory.
        let is_on_disk = ![Kind::Root, Kind::Shard].contains(&one.kind);
        let accepted = (!is_on_disk || fs::write(&path, altered).is_ok())
            && one.verifier.accepts(one.kind, &path, altered);
        self.refused(accepted, one.kind, what);
    }

    /// Alters each file, and presents each file as each other one.
    fn alter_each(&self) -> Result<(), Box<dyn Error>> {
        let path = self.folder.join("original");
        for one in self.own() {
            fs::write(&path, one.text)?;
            self.job.check(one.verifier.accepts(one.kind, &path, one.text), || {
                format!("a {} was refused, but must be accepted", one.kind.name())
            });
        }
        let numbers: Vec<usize> = (0..self.own().len()).collect();
        on_all_cores(&numbers, |&number| {
            let step = self.job.either(11, 1);
            alterations(self.files[number].text, step, |altered, what| {
                self.present(number, number, altered, what);
            });
            for other in &self.files {
                let what = format!("the {} of chain {}", other.kind.name(), other.chain);
                self.present(number, number, other.text, &what);
            }
        });
        Ok(())
    }

    /// Replaces lines of one file by lines of any, moves, doubles and removes them.
    fn mix(&self) {
        let lines: Vec<Vec<&[u8]>> = self
            .files
            .iter()
            .map(|one| one.text.split_inclusive(|&byte| byte == b'\n').collect())
            .collect();
        let any = |random: &mut Random, below: usize| random.up_to(below - 1);
        let pieces: Vec<usize> = (0..PIECES).collect();
        on_all_cores(&pieces, |&piece| {
            let mut random = Random::new(15 + piece as u64);
            for _ in 0..self.job.either(30_000, 1_200_000) / PIECES {
                let number = any(&mut random, self.own().len());
                let mut altered = lines[number].clone();
                for _ in 0..=any(&mut random, 3) {
                    let at = any(&mut random, altered.len());
                    let other = &lines[any(&mut random, lines.len())];
                    match any(&mut random, 4) {
                        0 => altered[at] = other[any(&mut random, other.len())],
                        1 => altered.insert(at, other[any(&mut random, other.len())]),
                        2 if altered.len() > 1 => drop(altered.remove(at)),
                        _ => {
                            let to = any(&mut random, altered.len());
                            altered.swap(at, to);
                        }
                    }
                }
                self.present(piece, number, &altered.concat(), "mixed");
            }
        });
    }

    /// Presents ledgers and pins of all chains together, also of a bucket's chain for a tree.
    fn other_chains(&self, chains: &[Series<'_>]) {
        for (number, own) in [TREE, BUCKET].map(|number| (number, &chains[number])) {
            let foreign = chains.iter().enumerate().filter(|(other, _)| *other != number);
            let foreign = foreign.flat_map(|(_, series)| &series.rounds);
            for Verifier { ledger, pin, .. } in foreign.map(|round| &round.verifier) {
                for Round { verifier, .. } in &own.rounds {
                    let kind = if verifier.record.is_some() { Kind::Root } else { Kind::Manifest };
                    for (ledger, pin, what) in [
                        (ledger, &verifier.pin, "with the ledger of another chain"),
                        (&verifier.ledger, pin, "with the pin of another chain"),
                        (ledger, pin, "with ledger and pin of another chain"),
                    ] {
                        self.refused(verifier.night(ledger, pin), kind, what);
                    }
                }
            }
        }
    }

    /// Presents the first manifest and ledger to a verifier that has seen the second ones, and a
    /// manifest that forks the chain.
    fn older_ones(&self, chains: &[Series<'_>]) -> Result<(), Box<dyn Error>> {
        let path = self.folder.join("older");
        for Series { rounds: [first, second], fork } in [&chains[TREE], &chains[BUCKET]] {
            let (old, new) = (&first.verifier, &second.verifier);
            for (kind, text) in first.texts.iter().filter(|(kind, _)| *kind != Kind::Pin) {
                fs::write(&path, text)?;
                self.refused(new.accepts(*kind, &path, text), *kind, "rolled back");
            }
            let kind = fork.0;
            fs::write(&path, &fork.1)?;
            self.refused(new.accepts(kind, &path, &fork.1), kind, "of a fork");
            // A fork of what was seen last is a continuation.
            self.job.check(old.accepts(kind, &path, &fork.1), || {
                format!("a {} that follows the pin was refused", kind.name())
            });
            self.refused(old.night(&old.ledger, &new.pin), kind, "with a newer pin");
            self.refused(new.night(&old.ledger, &new.pin), Kind::Ledger, "rolled back");
            let gone = self.folder.join("none");
            self.refused(new.night(&gone, &new.pin), Kind::Ledger, "removed");
        }
        Ok(())
    }

    /// Replaces files of a whole object manifest.
    fn whole(&self, buckets: &[Series<'_>]) -> Result<(), Box<dyn Error>> {
        let rounds: Vec<&Round<'_>> = buckets.iter().flat_map(|series| &series.rounds).collect();
        let [_, new] = &buckets[0].rounds;
        let accepts = |files: &Files| new.verifier.accepts_objects(files);
        self.job.check(accepts(&new.files), || "a manifest of objects was refused".into());
        let names: Vec<&String> = new.files.keys().collect();
        for &name in &names {
            let mut altered = new.files.clone();
            altered.remove(name);
            self.refused(accepts(&altered), Kind::Root, &format!("without {name}"));
            let others = rounds.iter().flat_map(|round| round.files.values());
            for other in others.filter(|other| **other != new.files[name]) {
                altered.insert(name.clone(), other.clone());
                self.refused(accepts(&altered), Kind::Root, &format!("with another {name}"));
            }
            // The other manifests' shards under their own names, added to these.
            for round in rounds.iter().filter(|round| round.files != new.files) {
                let mut both = round.files.clone();
                both.extend(altered.iter().map(|(name, text)| (name.clone(), text.clone())));
                both.insert(ROOT.into(), round.files[ROOT].clone());
                self.refused(accepts(&both), Kind::Root, "of another manifest");
            }
        }
        // Bytes of shards, at random places.
        let tries: Vec<u64> = (0..self.job.either(30, 1000)).collect();
        on_all_cores(&tries, |&seed| {
            let mut random = Random::new(100 + seed);
            let mut altered = new.files.clone();
            let name = names[random.up_to(names.len() - 1)];
            let text = altered.get_mut(name).expect("it has this file");
            let at = random.up_to(text.len() - 1);
            let what = match random.up_to(2) {
                0 => {
                    text[at] ^= 1 << random.up_to(7);
                    "altered"
                }
                1 => {
                    text.truncate(at);
                    "cut"
                }
                _ => {
                    text.remove(at);
                    "without a byte"
                }
            };
            self.refused(accepts(&altered), Kind::Root, &format!("with {name} {what} at {at}"));
        });
        Ok(())
    }
}
