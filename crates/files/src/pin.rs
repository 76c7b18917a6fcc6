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
    /// The earlier manifests, newest first. The oldest ones may have been dropped.
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
        format!("{FIRST_LINE}\nkey id: {}\n{}", key.key_id, self.lines()).into()
    }

    /// Returns the lines between the key ID and the seal.
    pub(crate) fn lines(&self) -> String {
        let Pin { chain, sequence, manifest, ledger } = self;
        format!("chain: {chain}\nsequence: {sequence}\nmanifest: {manifest}\nledger: {ledger}\n")
    }

    /// Parses the lines between the key ID and the seal.
    pub(crate) fn parse(lines: &mut Lines<'_>) -> Result<Pin, String> {
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

    /// Pins a manifest under a new key, if it is the pinned one or follows it. `key` is the new key.
    /// Ledgers are sealed under the new key too, so the first one begins again.
    pub fn rekey(
        self,
        key: &ManifestKey,
        shown: impl Display,
        seen: &Seen<'_>,
    ) -> Result<(), Error> {
        let PinFile { path, key: old_key, .. } = self;
        sealed_file::update(&path, MAX_BYTES, |old| {
            if let Some(old) = old {
                let checked = parse(old, &path, &old_key)?.check(seen);
                checked.map_err(|refused| refused.error(&shown, &path))?;
            }
            let mut text = Pin::new(seen, 0).body(key);
            key.close(&mut text);
            Ok(text)
        })
    }
}

fn parse(text: &[u8], path: &Path, key: &ManifestKey) -> Result<Pin, Error> {
    let shown = Escaped::name(path).to_string();
    let mut lines = sealed_file::body(text, "pin", FIRST_LINE, &shown, key)?;
    Pin::parse(&mut lines)
        .map_err(|why| Error::mismatch(format_args!("{shown}: line {}: {why}", lines.number())))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;
    use crate::ledger::tests::key;

    fn tag(number: u64) -> Tag {
        let bytes = [0, 0, 0, number].map(u64::to_be_bytes).concat();
        Tag::try_from(&bytes[..]).unwrap()
    }

    /// The manifests of a chain, each with its links.
    struct Chain(Vec<Tag>, Vec<Vec<Link>>);

    impl Chain {
        /// A chain of manifests with these seals, each with at most `most` links.
        fn new(seals: &[u64], most: usize) -> Chain {
            let seals: Vec<Tag> = seals.iter().map(|seal| tag(*seal)).collect();
            let link = |(sequence, seal): (u64, &Tag)| Link { sequence, day: None, seal: *seal };
            let links = (0..seals.len()).map(|before| {
                let all: Vec<Link> = (1..).zip(&seals[..before]).map(link).collect();
                all.into_iter().rev().take(most).collect()
            });
            let links = links.collect();
            Chain(seals, links)
        }

        fn seen(&self, sequence: u64) -> Seen<'_> {
            let at = sequence as usize - 1;
            Seen { chain: self.0[0], sequence, seal: self.0[at], links: &self.1[at] }
        }
    }

    proptest! {
        #[test]
        fn a_chain_is_accepted_in_order(order in proptest::collection::vec(1..=20u64, 1..20)) {
            let chain = Chain::new(&(1..=20).collect::<Vec<_>>(), 20);
            let mut pin: Option<Pin> = None;
            for sequence in order {
                let seen = chain.seen(sequence);
                let newest = pin.map_or(0, |pin| pin.sequence);
                let expected = if sequence < newest {
                    Err(Refused::Older { pinned: newest, found: sequence })
                } else {
                    Ok(())
                };
                let checked = pin.map_or(Ok(()), |pin| pin.check(&seen));
                prop_assert_eq!(checked, expected);
                if checked.is_ok() {
                    pin = Some(Pin::new(&seen, 0));
                }
            }
        }

        #[test]
        fn a_fork_is_refused_after_the_manifest_that_it_leaves_out(
            common in 1..20u64,
            pinned in 1..=20u64,
            found in 1..=20u64,
        ) {
            let one: Vec<u64> = (1..=20).collect();
            let other: Vec<u64> =
                (1..=20).map(|at| if at > common { at + 100 } else { at }).collect();
            let [one, other] = [one, other].map(|seals| Chain::new(&seals, 20));
            let checked = Pin::new(&one.seen(pinned), 0).check(&other.seen(found));
            let expected = if found < pinned {
                Err(Refused::Older { pinned, found })
            } else if pinned > common {
                Err(Refused::Forked { pinned })
            } else {
                Ok(())
            };
            prop_assert_eq!(checked, expected);
        }

        #[test]
        fn a_manifest_whose_links_are_too_few_is_refused(
            most in 0..20usize,
            pinned in 1..=20u64,
            found in 1..=20u64,
        ) {
            let chain = Chain::new(&(1..=20).collect::<Vec<_>>(), most);
            let seen = chain.seen(found);
            let checked = Pin::new(&chain.seen(pinned), 0).check(&seen);
            if pinned <= found {
                let dropped = found - pinned > most as u64;
                let oldest = found.saturating_sub(most as u64);
                let expected =
                    if dropped { Err(Refused::Dropped { pinned, oldest }) } else { Ok(()) };
                prop_assert_eq!(checked, expected);
            }
        }

        #[test]
        fn what_is_written_is_read(sequence in 1..=u64::MAX, ledger: u64) {
            let pin = Pin { chain: tag(1), sequence, manifest: tag(2), ledger };
            prop_assert_eq!(parse(&text(&pin), Path::new("p"), &key(7)).unwrap(), pin);
        }
    }

    fn text(pin: &Pin) -> Vec<u8> {
        let (key, mut text) = (key(7), pin.body(&key(7)));
        key.close(&mut text);
        assert!(text.len() as u64 <= MAX_BYTES);
        text
    }

    #[test]
    fn the_format_is_that_of_the_page() {
        let pin = Pin { chain: tag(1), sequence: 3, manifest: tag(2), ledger: 12 };
        let (id, [chain, manifest]) = (key(7).key_id, [1, 2].map(|at| format!("{at:064}")));
        assert_eq!(
            String::from_utf8(pin.body(&key(7))).unwrap(),
            format!(
                "tagmac-pin-1\nkey id: {id}\nchain: {chain}\nsequence: 3\nmanifest: {manifest}\n\
                 ledger: 12\n"
            )
        );
    }

    #[test]
    fn no_byte_of_a_pin_can_be_another() {
        let sealed = text(&Pin { chain: tag(1), sequence: 3, manifest: tag(2), ledger: 12 });
        let read = |text: &[u8]| parse(text, Path::new("p"), &key(7));
        for at in 0..sealed.len() {
            for bit in 0..8 {
                let mut other = sealed.clone();
                other[at] ^= 1 << bit;
                assert!(read(&other).is_err(), "byte {at}");
            }
            assert!(read(&sealed[..at]).is_err(), "{at} bytes");
        }
        let found = parse(&sealed, Path::new("p"), &key(8)).unwrap_err();
        assert_eq!(found.kind(), ErrorKind::Key);
        assert!(found.to_string().starts_with("p: the pin is sealed under another key: "));
        // The seal is right and the rest is not.
        let good = String::from_utf8(sealed).unwrap();
        let good = &good[..good.find("seal: ").unwrap()];
        for (old, new, why) in [
            ("sequence: 3", "sequence: 0", "p: line 4: expected a number from 1"),
            ("sequence: 3", "sequence: 03", "p: line 4: expected a number from 1"),
            ("ledger: 12", "ledger: -", "p: line 6: expected a number"),
            ("manifest: 0", "manifest: ", "p: line 5: expected 64 hex digits"),
            ("chain: ", "c: ", "p: line 3: expected a line that begins with 'chain: '"),
            ("ledger: 12\n", "ledger: 12\n\n", "p: line 7: expected no more lines"),
        ] {
            let mut bad = good.replace(old, new).into_bytes();
            key(7).close(&mut bad);
            assert_eq!(read(&bad).unwrap_err().to_string(), why);
        }
    }

    #[test]
    fn each_refusal_is_one_line_about_the_manifest_or_the_ledger() {
        let pin = Pin { chain: tag(1), sequence: 3, manifest: tag(2), ledger: 12 };
        let seen = Seen { chain: tag(1), sequence: 3, seal: tag(2), links: &[] };
        let refused = [
            pin.check(&Seen { chain: tag(9), ..seen }),
            pin.check(&Seen { sequence: 2, ..seen }),
            pin.check(&Seen { seal: tag(3), ..seen }),
            pin.check(&Seen { sequence: 9, ..seen }),
            pin.check_ledger(11),
            pin.check_ledger(0),
        ];
        let expected = [
            format!(
                "m: another chain of manifests than the one in p: expected {}, found {}",
                tag(1),
                tag(9)
            ),
            "m: the manifest was rolled back: p has seen number 3 of the chain, and this is number 2"
                .into(),
            "m: the chain forked: p has seen another manifest as number 3".into(),
            "m: cannot check that the manifest follows number 3, which p has seen: its links begin \
             at number 9; check an older manifest first"
                .into(),
            "m: the ledger was rolled back: p has seen save number 12, and this is number 11".into(),
            "m: the ledger is missing: p has seen save number 12".into(),
        ];
        for (refused, expected) in refused.into_iter().zip(expected) {
            let error = refused.unwrap_err().error("m", Path::new("p"));
            assert_eq!((error.kind(), error.to_string()), (ErrorKind::Mismatch, expected));
        }
        assert_eq!(pin.check_ledger(12), Ok(()));
        assert_eq!(pin.check(&seen), Ok(()));
    }

    #[test]
    fn a_pin_moves_forward_only() {
        crate::diagnostic::tests::listen();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p");
        let chain = Chain::new(&[1, 2, 3, 4], 9);
        let open = || PinFile::open(&path, &key(7)).unwrap();
        let mut first = open();
        assert_eq!(first.pin(), None);
        first.check("m", &chain.seen(2)).unwrap();
        first.check_ledger("l", 0).unwrap();
        first.save("m", &chain.seen(2), 5).unwrap();
        let said = format!(
            "{}: created: from now on, manifests before number 2 of this chain are rejected",
            path.display()
        );
        assert!(crate::diagnostic::tests::heard(&said));
        let [mut slow, mut fast] = [open(), open()];
        assert_eq!(slow.pin(), Some(&Pin::new(&chain.seen(2), 5)));
        assert_eq!(slow.check("m", &chain.seen(1)).unwrap_err().kind(), ErrorKind::Mismatch);
        assert_eq!(slow.check_ledger("l", 4).unwrap_err().kind(), ErrorKind::Mismatch);
        // Two runs at the same time: the one that saw the older manifest ends later.
        fast.save("m", &chain.seen(4), 6).unwrap();
        slow.save("m", &chain.seen(3), 7).unwrap();
        assert_eq!(slow.pin(), Some(&Pin::new(&chain.seen(4), 7)));
        assert_eq!(open().pin(), slow.pin());
        // A fork that appeared meanwhile is not pinned.
        let fork = Chain::new(&[1, 2, 3, 104, 105], 9);
        let before = fs::read(&path).unwrap();
        let error = slow.save("m", &fork.seen(5), 7).unwrap_err().to_string();
        assert!(error.starts_with("m: the chain forked: "), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}
