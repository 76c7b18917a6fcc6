//! Building blocks of scripts: random numbers, edits and events.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;

pub struct Random(TestRng);

impl Random {
    pub fn new(seed: u64, script: u64) -> Random {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&script.to_le_bytes());
        Random(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn bytes(&mut self, bytes: u64) -> Vec<u8> {
        let mut all = vec![0; bytes as usize];
        self.0.fill_bytes(&mut all);
        all
    }
}

/// Returns a key for each algorithm that supports edits.
pub fn keys() -> Vec<OpenKey> {
    let all = Algorithm::all().filter(|algorithm| algorithm.capabilities().edits);
    let made = all.map(|algorithm| {
        let bytes: Vec<u8> = (0..algorithm.new_key_bytes() as u8).collect();
        let raw = RawKey::new(algorithm, bytes.into()).unwrap();
        OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best()).unwrap()
    });
    made.collect()
}

/// An edit and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    Patch(u64, Vec<u8>),
    Append,
    Range(u64, u64),
    Truncate(u64),
    Finish,
    Undo,
    None,
}

/// An event at a call of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The process is killed after this number of bytes of a write.
    Kill(usize),
    /// The call fails.
    Fail,
    /// The disk is full from now on: writes stop after this number of bytes.
    Full(usize),
    /// A write succeeds but does nothing. For the test of this test.
    Lose,
    /// Another program does this.
    Other(Other),
}

/// An action of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// Replaces the file by a copy, as editors do.
    ReplaceFile,
    RemoveFile,
    /// Shortens the file by at most this number of bytes.
    Shorten(u64),
    ReplaceSidecar,
    RemoveSidecar,
    /// Changes a byte.
    Change(u64),
    /// Appends this number of bytes, all different from the given one.
    Append(u64, u8),
}

impl Other {
    pub fn random(random: &mut Random, length: u64) -> Other {
        match random.below(7) {
            0 => Other::ReplaceFile,
            1 => Other::RemoveFile,
            2 => Other::Shorten(1 + random.below(length + 1)),
            3 => Other::ReplaceSidecar,
            4 => Other::RemoveSidecar,
            5 => Other::Change(random.below(length + 1)),
            _ => Other::Append(1 + random.below(100), random.below(256) as u8),
        }
    }

    /// Returns whether the update must notice it.
    pub fn has_to_be_seen(self) -> bool {
        !matches!(self, Other::Change(_) | Other::Append(..))
    }

    pub fn act(self, file: &Path, sidecar: &Path) -> io::Result<()> {
        let replace = |path: &Path| {
            let copy = path.with_file_name("copy");
            fs::copy(path, &copy)?;
            fs::rename(copy, path)
        };
        match self {
            Other::ReplaceFile => replace(file),
            Other::RemoveFile => fs::remove_file(file),
            Other::ReplaceSidecar => replace(sidecar),
            Other::RemoveSidecar => fs::remove_file(sidecar),
            Other::Shorten(by) => {
                let file = fs::OpenOptions::new().write(true).open(file)?;
                file.set_len(file.metadata()?.len().saturating_sub(by))
            }
            Other::Change(at) => {
                let file = fs::OpenOptions::new().read(true).write(true).open(file)?;
                let mut byte = [0];
                match file.read_exact_at(&mut byte, at) {
                    Ok(()) => file.write_all_at(&[byte[0] ^ 0xff], at),
                    Err(_) => Ok(()),
                }
            }
            Other::Append(bytes, but) => {
                use std::io::Write;
                let bytes = vec![but ^ 0x55; bytes as usize];
                fs::OpenOptions::new().append(true).open(file)?.write_all(&bytes)
            }
        }
    }
}
