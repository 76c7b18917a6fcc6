//! MACs under one key each, made only once and used by all runs.

use std::sync::{LazyLock, OnceLock};
use std::time::UNIX_EPOCH;

use tagmac::isa::Level;
use tagmac::save::Sealer;
use tagmac_any::{Algorithm, AnyMac, KeyFile};
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;

use crate::input::pattern;

/// A MAC under one key.
pub struct Subject {
    pub algorithm: Algorithm,
    pub key: Vec<u8>,
    pub nonce: Vec<u8>,
    /// One for each level.
    pub macs: Vec<AnyMac>,
    pub sealer: Sealer,
}

static ALL: LazyLock<Vec<(Algorithm, OnceLock<Subject>)>> =
    LazyLock::new(|| Algorithm::all().map(|algorithm| (algorithm, OnceLock::new())).collect());
static WITH_PARTS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let has_parts = |number: &u8| ALL[usize::from(*number)].0.block().is_some();
    (0..ALL.len() as u8).filter(has_parts).collect()
});

/// Returns a MAC.
pub fn any(choice: u8) -> &'static Subject {
    let (algorithm, subject) = &ALL[usize::from(choice) % ALL.len()];
    subject.get_or_init(|| Subject::new(*algorithm))
}

/// Returns a MAC that has parts.
pub fn with_parts(choice: u8) -> &'static Subject {
    any(WITH_PARTS[usize::from(choice) % WITH_PARTS.len()])
}

/// Number of algorithms.
pub fn count() -> u8 {
    ALL.len() as u8
}

impl Subject {
    fn new(algorithm: Algorithm) -> Subject {
        let key = pattern(7, algorithm.new_key_bytes());
        let bits = algorithm.default_tag_bits();
        let make = |level| AnyMac::with_options(algorithm, &key, bits, level).expect("its own key");
        let mut macs: Vec<AnyMac> = Level::all().map(make).collect();
        if macs[0].level().is_none() {
            macs.truncate(1);
        }
        let sealer = KeyFile::new(algorithm, &key, UNIX_EPOCH).expect("its own key").sealer();
        let nonce = pattern(9, *algorithm.nonce_bytes().end());
        Subject { algorithm, key, nonce, macs, sealer }
    }

    /// Returns the MAC on the best level.
    pub fn best(&self) -> &AnyMac {
        self.macs.last().expect("at least one level")
    }

    /// Returns the MAC on one of the levels.
    pub fn on(&self, choice: u8) -> &AnyMac {
        &self.macs[usize::from(choice) % self.macs.len()]
    }

    pub fn raw_key(&self) -> RawKey {
        RawKey::new(self.algorithm, self.key.clone().into()).expect("its own key")
    }

    /// Returns the key with everything needed to store files.
    pub fn open_key(&self) -> OpenKey {
        OpenKey { mac: self.best().clone(), sealer: self.sealer.clone() }
    }
}
