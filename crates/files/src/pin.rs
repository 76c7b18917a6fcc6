//! The pin: the newest manifest, and the newest ledger, that a verifier has seen.
//! `docs/formats/ledger.md` specifies the format.
//!
//! A manifest's seal shows that a holder of the key made it, but not that it is the newest one. A
//! verifier that keeps a pin accepts only manifests that follow the pinned one in its chain, or that
//! one itself.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use tagmac::Tag;

use crate::chain::Link;
use crate::diagnostic::diagnostic;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::ledger::text::{number, seal};
use crate::objects::ManifestKey;
use crate::objects::line::Lines;
use crate::sealed_file;

const FIRST_LINE: &str = "tagmac-pin-1";
/// Maximum length of a pin in bytes. It has about 330.
const MAX_BYTES: u64 = 512;

/// The facts about a manifest with a verified seal that a pin compares.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The chain's name: the seal of its first manifest.
    pub chain: Tag,
    /// The manifest's number in the chain, from 1.
    pub sequence: u64,
    /// The manifest's seal.
    pub seal: Tag,
    /// The manifests before it, newest first. The oldest ones may have been dropped.
    pub links: &'a [Link],
}

/// The newest manifest of a chain that a verifier has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The chain's name.
    pub chain: Tag,
    /// The manifest's number in the chain.
    pub sequence: u64,
    /// The manifest's seal.
    pub manifest: Tag,
    /// The sequence number of the newest ledger; 0 for none.
    pub ledger: u64,
}

/// The reason why a manifest or a ledger does not follow a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// The manifest belongs to another chain.
    OtherChain {
        /// The chain of the pin.
        expected: Tag,
        /// The chain of the manifest.
        found: Tag,
    },
    /// The manifest is older than the pinned one.
    Older {
        /// The pinned number.
        pinned: u64,
        /// The manifest's number.
        found: u64,
    },
    /// The manifest does not follow the pinned one, but another of the same number.
    Forked {
        /// The pinned number.
        pinned: u64,
    },
    /// The manifest's links begin after the pinned one.
    Dropped {
        /// The pinned number.
        pinned: u64,
        /// The number of the oldest link.
        oldest: u64,
    },
    /// The ledger is older than the pinned one, or missing.
    OlderLedger {
        /// The pinned number.
        pinned: u64,
        /// The ledger's number; 0 if it is missing.
        found: u64,
    },
}

impl Refused {
    /// Returns the error for the manifest or ledger `shown`, which does not follow the pin `pin`.
    pub fn error(self, shown: impl Display, pin: &Path) -> Error {
        let pin = Escaped::name(pin);
        Error::mismatch(match self {
            Refused::OtherChain { expected, found } => format!(
                "{shown}: another chain of manifests than the one in {pin}: expected {expected}, \
                 found {found}"
            ),
            Refused::Older { pinned, found } => format!(
                "{shown}: the manifest was rolled back: {pin} has seen number {pinned} of the chain, \
                 and this is number {found}"
            ),
            Refused::Forked { pinned } => format!(
                "{shown}: the chain forked: {pin} has seen another manifest as number {pinned}"
            ),
            Refused::Dropped { pinned, oldest } => format!(
                "{shown}: cannot check that the manifest follows number {pinned}, which {pin} has \
                 seen: its links begin at number {oldest}; check an older manifest first"
            ),
            Refused::OlderLedger { pinned, found: 0 } => {
                format!("{shown}: the ledger is missing: {pin} has seen save number {pinned}")
            }
            Refused::OlderLedger { pinned, found } => format!(
                "{shown}: the ledger was rolled back: {pin} has seen save number {pinned}, and this \
                 is number {found}"
            ),
        })
    }
}

impl Pin {
    /// Returns the pin of a manifest and of a ledger's sequence number, or 0 for none.
    pub fn new(seen: &Seen<'_>, ledger: u64) -> Pin {
        Pin { chain: seen.chain, sequence: seen.sequence, manifest: seen.seal, ledger }
    }

    /// Checks that a manifest is the pinned one, or follows it in its chain.
    pub fn check(&self, seen: &Seen<'_>) -> Result<(), Refused> {
        let pinned = self.sequence;
        if seen.chain != self.chain {
            return Err(Refused::OtherChain { expected: self.chain, found: seen.chain });
        }
        if seen.sequence < pinned {
            return Err(Refused::Older { pinned, found: seen.sequence });
        }
        if seen.sequence == pinned {
            return if seen.seal == self.manifest {
                Ok(())
            } else {
                Err(Refused::Forked { pinned })
            };
        }
        match seen.links.iter().find(|link| link.sequence == pinned) {
            Some(link) if link.seal == self.manifest => Ok(()),
            Some(_) => Err(Refused::Forked { pinned }),
            None => {
                let oldest = seen.links.last().map_or(seen.sequence, |link| link.sequence);
                Err(Refused::Dropped { pinned, oldest })
            }
        }
    }

    /// Checks the sequence number of a ledger; 0 if it is missing.
    pub fn check_ledger(&self, found: u64) -> Result<(), Refused> {
        let pinned = self.ledger;
        if found < pinned { Err(Refused::OlderLedger { pinned, found }) } else { Ok(()) }
    }

    fn body(&self, key: &ManifestKey) -> Vec<u8> {
        let (Pin { chain, sequence, manifest, ledger }, key_id) = (self, key.key_id);
        format!(
            "{FIRST_LINE}\nkey id: {key_id}\nchain: {chain}\nsequence: {sequence}\n\
             manifest: {manifest}\nledger: {ledger}\n"
        )
        .into()
    }

    fn parse(lines: &mut Lines<'_>) -> Result<Pin, String> {
        let chain = seal(lines.labelled("chain: ")?).ok_or("expected 64 hex digits")?;
        let sequence = number(lines.labelled("sequence: ")?).filter(|number| *number > 0);
        let sequence = sequence.ok_or("expected a number from 1")?;
        let manifest = seal(lines.labelled("manifest: ")?).ok_or("expected 64 hex digits")?;
        let ledger = number(lines.labelled("ledger: ")?).ok_or("expected a number")?;
        lines.end()?;
        Ok(Pin { chain, sequence, manifest, ledger })
    }
}

/// A pin and its file.
pub struct PinFile {
    path: PathBuf,
    key: ManifestKey,
    pin: Option<Pin>,
}

impl PinFile {
    /// Opens a pin. The file need not exist: the first [`save`](PinFile::save) creates it.
    pub fn open(path: &Path, key: &ManifestKey) -> Result<PinFile, Error> {
        let text = sealed_file::read(path, MAX_BYTES)?;
        let pin = text.map(|text| parse(&text, path, key)).transpose()?;
        Ok(PinFile { path: path.into(), key: key.clone(), pin })
    }

    /// Returns the pin; `None` before the first use.
    pub fn pin(&self) -> Option<&Pin> {
        self.pin.as_ref()
    }

    /// Checks that a manifest is the pinned one or follows it. `shown` is its name in messages.
    pub fn check(&self, shown: impl Display, seen: &Seen<'_>) -> Result<(), Error> {
        let checked = self.pin.map_or(Ok(()), |pin| pin.check(seen));
        checked.map_err(|refused| refused.error(shown, &self.path))
    }

    /// Checks that a ledger is not older than the pinned one. `sequence` is 0 if it is missing.
    pub fn check_ledger(&self, shown: impl Display, sequence: u64) -> Result<(), Error> {
        let checked = self.pin.map_or(Ok(()), |pin| pin.check_ledger(sequence));
        checked.map_err(|refused| refused.error(shown, &self.path))
    }

    /// Pins a manifest and the ledger with this sequence number, or 0 for none. Checks the manifest
    /// again: if another run has pinned a newer one of the chain meanwhile, that one stays.
    pub fn save(&mut self, shown: impl Display, seen: &Seen<'_>, ledger: u64) -> Result<(), Error> {
        let PinFile { path, key, pin } = self;
        let mut created = false;
        sealed_file::update(path, MAX_BYTES, |old| {
            created = old.is_none();
            let old = old.map(|old| parse(old, path, key)).transpose()?;
            let next = match old {
                None => Pin::new(seen, ledger),
                Some(old) => {
                    let ledger = ledger.max(old.ledger);
                    match old.check(seen) {
                        Ok(()) => Pin::new(seen, ledger),
                        Err(Refused::Older { .. }) => Pin { ledger, ..old },
                        Err(refused) => return Err(refused.error(&shown, path)),
                    }
                }
            };
            *pin = Some(next);
            let mut text = next.body(key);
            key.close(&mut text);
            Ok(text)
        })?;
        if created {
            let (name, sequence) = (Escaped::name(&*path), seen.sequence);
            diagnostic(format_args!(
                "{name}: created: from now on, manifests before number {sequence} of this chain are \
                 rejected"
            ));
        }
        Ok(())
    }
}

fn parse(text: &[u8], path: &Path, key: &ManifestKey) -> Result<Pin, Error> {
    let shown = Escaped::name(path).to_string();
    let mut lines = sealed_file::body(text, "pin", FIRST_LINE, &shown, key)?;
    Pin::parse(&mut lines)
        .map_err(|why| Error::mismatch(format_args!("{shown}: line {}: {why}", lines.number())))
}
