//! The names of the MACs for OpenSSL: those of the registry, their aliases, and those of families,
//! in which the parameter `cipher` chooses the MAC.

use std::sync::LazyLock;

use tagmac_any::Algorithm;
use tagmac_border::{Failure, Quoted, ensure};

/// Families that OpenSSL itself provides. This provider does not offer them by their family name.
const ITS_OWN: [&str; 1] = ["CMAC"];

/// LightMAC's counter in names that leave it out, as in the registry.
const COUNTER: &str = "-S32";

/// A MAC or a family of MACs as OpenSSL sees it.
pub struct Entry {
    /// All names; the first is the main one.
    pub names: Vec<String>,
    /// The choices: a cipher and the MAC with it. A single MAC has one choice, which may lack a
    /// cipher.
    pub choices: Vec<(Option<&'static str>, Algorithm)>,
}

/// The entries in a row of the tables of functions.
pub const ROW: usize = 16;

/// All entries: those of the registry, then the families.
pub static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(entries);

/// Rejects a size that is too long for every MAC. Used while the MAC may not be chosen yet.
pub fn ensure_any(
    what: &str,
    found: usize,
    longest: impl Fn(Algorithm) -> usize,
) -> Result<(), Failure> {
    let most = Algorithm::all().map(longest).max().unwrap_or(0);
    ensure(found <= most, || {
        format!("expected {what} of at most {most} bytes, the limit of all MACs, found {found}")
    })
}

/// Splits a name into family, cipher and counter: `LIGHTMAC`, `AES128`, `-S32`.
fn split(algorithm: Algorithm) -> Option<(&'static str, &'static str, &'static str)> {
    let counter = algorithm.name().strip_prefix(algorithm.stem()).unwrap_or_default();
    algorithm.cipher().map(|cipher| (algorithm.family(), cipher, counter))
}

/// Adds the names without LightMAC's usual counter.
fn without_counter(names: Vec<String>) -> Vec<String> {
    let short = |name: &String| name.strip_suffix(COUNTER).map(str::to_string);
    let short: Vec<String> = names.iter().filter_map(short).collect();
    [names, short].concat()
}

fn names(algorithm: Algorithm) -> Vec<String> {
    [vec![algorithm.name().into()], algorithm.aliases()].concat()
}

fn entries() -> Vec<Entry> {
    let mut families: Vec<Entry> = Vec::new();
    for algorithm in Algorithm::all() {
        let Some((family, cipher, counter)) = split(algorithm) else { continue };
        if ITS_OWN.contains(&family) {
            continue;
        }
        let name = format!("{family}{counter}");
        let choice = (Some(cipher), algorithm);
        match families.iter_mut().find(|entry| entry.names[0] == name) {
            Some(entry) => entry.choices.push(choice),
            None => {
                families.push(Entry { names: without_counter(vec![name]), choices: vec![choice] });
            }
        }
    }
    families.retain(|entry| entry.choices.len() > 1);
    let alone = Algorithm::all().map(|algorithm| Entry {
        names: names(algorithm),
        choices: vec![(algorithm.cipher(), algorithm)],
    });
    alone.chain(families).collect()
}

impl Entry {
    /// Finds the MAC with a cipher: `AES-128-CBC`, `AES-128`, `aes128`. Ignores the mode.
    fn with_cipher(&self, cipher: &str) -> Option<Algorithm> {
        if Quoted(cipher).is_too_long() {
            return None;
        }
        let upper = cipher.to_ascii_uppercase();
        let bare = upper.strip_suffix("-CBC").or(upper.strip_suffix("-ECB")).unwrap_or(&upper);
        let bare = bare.replace('-', "");
        let found = self.choices.iter().find(|(cipher, _)| *cipher == Some(&*bare));
        found.map(|(_, algorithm)| *algorithm)
    }

    /// Returns the MAC with a cipher.
    ///
    /// # Errors
    ///
    /// If the MAC or the family does not support the cipher.
    pub fn chosen(&self, cipher: &str) -> Result<Algorithm, Failure> {
        self.with_cipher(cipher).ok_or_else(|| {
            let (name, cipher) = (&self.names[0], Quoted(cipher));
            format!("{name}: cipher {cipher} is not supported").into()
        })
    }

    /// The failure when no cipher is chosen.
    pub fn wants_cipher(&self) -> Failure {
        let ciphers = self.choices.iter().filter_map(|(cipher, _)| *cipher);
        let (name, ciphers) = (&self.names[0], ciphers.collect::<Vec<_>>().join(", "));
        format!("{name}: the parameter cipher is not set; use one of {ciphers}").into()
    }

    /// Returns the cipher that selects `algorithm` in a family.
    pub fn cipher_of(&self, algorithm: Algorithm) -> Option<&'static str> {
        let several = self.choices.len() > 1;
        let found = self.choices.iter().find(|(_, found)| several && *found == algorithm);
        found.and_then(|(cipher, _)| *cipher)
    }

    /// Returns the MAC if the entry has only one.
    pub fn only(&self) -> Option<Algorithm> {
        match self.choices[..] {
            [(_, algorithm)] => Some(algorithm),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_algorithm_has_an_entry_and_no_name_is_there_twice() {
        let mut names = HashSet::new();
        for entry in ENTRIES.iter() {
            for name in &entry.names {
                assert!(names.insert(name.clone()), "{name} twice");
                assert!(!name.contains(':') && !ITS_OWN.contains(&&**name), "{name}");
            }
        }
        for algorithm in Algorithm::all() {
            assert!(names.contains(algorithm.name()), "{algorithm}");
        }
        let more = ["PMAC-AES-128", "PMAC", "LIGHTMAC", "LIGHTMAC-S8", "LIGHTMAC-AES256"];
        for name in more.into_iter().chain(["UMAC64", "UMAC-64", "CMAC-AES-128", "PMAC-RC6"]) {
            assert!(names.contains(name), "{name}");
        }
    }

    #[test]
    fn ciphers_choose() {
        let find = |name: &str| ENTRIES.iter().find(|e| e.names.iter().any(|n| n == name)).unwrap();
        let chosen = |name, cipher| find(name).with_cipher(cipher).map(|found| found.name());
        assert_eq!(chosen("PMAC", "AES-128-CBC"), Some("PMAC-AES128"));
        assert_eq!(chosen("PMAC", "aes-256-ecb"), Some("PMAC-AES256"));
        assert_eq!(chosen("PMAC", "PRESENT-80"), Some("PMAC-PRESENT80"));
        assert_eq!(chosen("LIGHTMAC", "AES192"), Some("LIGHTMAC-AES192-S32"));
        assert_eq!(chosen("LIGHTMAC-S8", "AES192"), Some("LIGHTMAC-AES192-S8"));
        assert_eq!(chosen("PMAC-AES128", "AES-128-CBC"), Some("PMAC-AES128"));
        assert_eq!(chosen("PMAC-AES128", "AES-256-CBC"), None);
        assert_eq!(chosen("UMAC-64", "AES-128-CBC"), None);
        assert_eq!(chosen("PMAC", "DES-CBC"), None);
        let line = |cipher: &str| find("PMAC").chosen(cipher).unwrap_err().into_line();
        let line_of = |shown: &str| format!("PMAC: cipher '{shown}' is not supported");
        assert_eq!(line("\u{1b}[2J"), line_of(r"\u{1b}[2J"));
        assert_eq!(line(&"x".repeat(1 << 20)), line_of(&format!("{}...", "x".repeat(80))));
        assert!(find("PMAC").only().is_none() && find("UMAC-64").only().is_some());
    }
}
