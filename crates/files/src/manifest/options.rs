//! The options of a manifest: properties other than names and contents, and rules for entries.

use std::fmt;

use crate::leaf_size;

/// The options with a number, without it.
const MAX_DEPTH: &str = "max-depth=";
const LEAVES: &str = "leaves=";

/// Properties that are sealed in addition to names and contents, and rules for the entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManifestOptions {
    /// Permissions of all entries except links.
    pub mode: bool,
    /// Modification times of all entries except directories.
    pub mtime: bool,
    /// Numeric owners and groups of all entries.
    pub owner: bool,
    /// Extended attributes of files and directories.
    pub xattrs: bool,
    /// Pipes, sockets and devices.
    pub special: bool,
    /// Other file systems are not entered.
    pub one_file_system: bool,
    /// Directories with a `CACHEDIR.TAG` are not entered.
    pub exclude_caches: bool,
    /// The entries are those of a list, so no other entry is new.
    pub listed: bool,
    /// Directories at this depth are not entered; those in the root have depth 1.
    pub max_depth: Option<u32>,
    /// The manifest has a file of leaf tags, with leaves of this many bytes.
    pub leaves: Option<u64>,
}

impl ManifestOptions {
    fn words(&self) -> [(bool, &'static str); 8] {
        [
            (self.mode, "mode"),
            (self.mtime, "mtime"),
            (self.owner, "owner"),
            (self.xattrs, "xattrs"),
            (self.special, "special"),
            (self.one_file_system, "one-file-system"),
            (self.exclude_caches, "exclude-caches"),
            (self.listed, "listed"),
        ]
    }

    /// Parses the form that `Display` writes, and no other.
    pub fn parse(text: &str) -> Option<ManifestOptions> {
        let has = |word| text.split(' ').any(|found| found == word);
        let number = |before| text.split(' ').find_map(|word| word.strip_prefix(before));
        let options = ManifestOptions {
            mode: has("mode"),
            mtime: has("mtime"),
            owner: has("owner"),
            xattrs: has("xattrs"),
            special: has("special"),
            one_file_system: has("one-file-system"),
            exclude_caches: has("exclude-caches"),
            listed: has("listed"),
            max_depth: number(MAX_DEPTH).map(str::parse).transpose().ok()?,
            leaves: number(LEAVES).map(str::parse).transpose().ok()?,
        };
        let leaves = options.leaves.is_none_or(|leaf| leaf_size::ALL.contains(&leaf));
        (leaves && options.to_string() == text).then_some(options)
    }

    /// Returns whether a manifest of version 2 can have these options.
    pub(crate) fn is_old(&self) -> bool {
        let ManifestOptions { owner, xattrs, exclude_caches, listed, max_depth, leaves, .. } =
            *self;
        let has_numbers = max_depth.is_some() || leaves.is_some();
        !(owner || xattrs || exclude_caches || listed || has_numbers)
    }
}

impl fmt::Display for ManifestOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words =
            self.words().into_iter().filter(|(is, _)| *is).map(|(_, word)| word.to_string());
        let depth = self.max_depth.map(|depth| format!("{MAX_DEPTH}{depth}"));
        let leaves = self.leaves.map(|leaf| format!("{LEAVES}{leaf}"));
        let words: Vec<String> = words.chain(depth).chain(leaves).collect();
        f.write_str(if words.is_empty() { "none" } else { "" })?;
        f.write_str(&words.join(" "))
    }
}
