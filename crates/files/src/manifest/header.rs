//! The header of a manifest: the lines above the entries.

use std::fmt;
use std::io::BufRead;

use crate::error::Error;
use crate::escaped::Escaped;
use crate::line_reader::Lines;
use crate::open_key::OpenKey;
use tagmac_any::{Algorithm, KeyId};

use crate::manifest::error::ManifestError;
use crate::manifest::unreadable::unreadable;

/// The start of the first line, in every version.
pub const MAGIC: &str = "tagmac-manifest-";
const VERSION: &str = "2";

/// Properties that are sealed in addition to names and contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManifestOptions {
    /// Permissions of all entries except links.
    pub mode: bool,
    /// Modification times of all entries except directories.
    pub mtime: bool,
    /// Pipes, sockets and devices.
    pub special: bool,
    /// Other file systems are not entered.
    pub one_file_system: bool,
}

impl ManifestOptions {
    fn words(&self) -> [(bool, &'static str); 4] {
        [
            (self.mode, "mode"),
            (self.mtime, "mtime"),
            (self.special, "special"),
            (self.one_file_system, "one-file-system"),
        ]
    }

    fn parse(text: &str) -> Option<ManifestOptions> {
        let has = |word| text.split(' ').any(|found| found == word);
        let options = ManifestOptions {
            mode: has("mode"),
            mtime: has("mtime"),
            special: has("special"),
            one_file_system: has("one-file-system"),
        };
        // Only the canonical form is accepted.
        (options.to_string() == text).then_some(options)
    }
}

impl fmt::Display for ManifestOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> =
            self.words().into_iter().filter_map(|(is, word)| is.then_some(word)).collect();
        f.write_str(if words.is_empty() { "none" } else { "" })?;
        f.write_str(&words.join(" "))
    }
}

/// The header of a manifest.
#[derive(Clone, Debug)]
pub struct Header {
    /// The algorithm of the files' tags.
    pub algorithm: Algorithm,
    /// The length of the tags in bits.
    pub bits: usize,
    /// The key's public ID.
    pub key_id: KeyId,
    /// The sealed properties.
    pub options: ManifestOptions,
}

impl Header {
    /// The header of a manifest made under `key`.
    pub fn new(key: &OpenKey, options: ManifestOptions) -> Header {
        let (algorithm, bits) = (key.mac.algorithm(), key.mac.tag_bits());
        Header { algorithm, bits, key_id: key.key_id(), options }
    }

    /// Returns the header's lines.
    pub fn text(&self) -> String {
        let Header { algorithm, bits, key_id, options } = self;
        format!(
            "{MAGIC}{VERSION}\nalgorithm: {algorithm}\nbits: {bits}\nkey id: {key_id}\n\
             options: {options}\n"
        )
    }

    /// Reads a header and compares its key with `key`. The text is not trusted yet: it can only
    /// lead to an error, or to the check of the seal.
    pub fn read(
        lines: &mut Lines<impl BufRead>,
        name: &str,
        key: &OpenKey,
    ) -> Result<Header, Error> {
        let none = |cut_off| ManifestError::NotAManifest { manifest: name.into(), cut_off };
        let cut = || none(true);
        let mut line = |before: &str| {
            let line =
                lines.next_line().map_err(|error| unreadable(name, &error))?.ok_or_else(cut)?;
            let text = line.bytes.and_then(|bytes| str::from_utf8(bytes).ok());
            text.and_then(|text| text.strip_prefix(before)).map(String::from).ok_or_else(|| {
                let number = line.number;
                match before {
                    MAGIC => none(false).into(),
                    _ => Error::mismatch(format_args!(
                        "{name}: line {number}: expected a line that begins with '{before}'"
                    )),
                }
            })
        };
        let own = key.mac.algorithm();
        let shown = |text: &str| Escaped::text(text.as_bytes()).to_string();
        let version = line(MAGIC)?;
        if version != VERSION {
            let found = shown(&version);
            let what = format_args!("{name}: expected {MAGIC}{VERSION}, found {MAGIC}{found}");
            return Err(Error::mismatch(what));
        }
        let found = line("algorithm: ")?;
        if found != own.name() {
            let found = shown(&found);
            let what = format_args!("{name}: the manifest is for {found}; expected {own}");
            return Err(Error::key(what));
        }
        let found = line("bits: ")?;
        let bits = found.parse().ok().filter(|bits: &usize| bits.to_string() == found);
        let bits = bits.ok_or_else(|| {
            let found = shown(&found);
            Error::mismatch(format_args!("{name}: expected a number of bits, found '{found}'"))
        })?;
        let (found, own_id) = (line("key id: ")?, key.key_id());
        if found != own_id.to_string() {
            let found = shown(&found);
            return Err(Error::key(format_args!(
                "{name}: the manifest is sealed under another key: expected key id {own_id}, found \
                 {found}"
            )));
        }
        let found = line("options: ")?;
        let options = ManifestOptions::parse(&found).ok_or_else(|| {
            Error::mismatch(format_args!("{name}: expected options, found '{}'", shown(&found)))
        })?;
        Ok(Header { bits, ..Header::new(key, options) })
    }
}
