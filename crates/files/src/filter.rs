//! Filters of a manifest: which entries of a tree, or objects of a bucket, it leaves out.
//!
//! A pattern has the syntax of gitignore, and the last pattern that matches decides. Without a
//! slash it matches a name at any depth; with one it matches the whole path. A trailing slash
//! restricts it to directories. `!` in front takes back what an earlier pattern left out. Nothing
//! below a directory that is left out is looked at.

use std::fmt;

use crate::escaped::Escaped;
use crate::manifest::name::{escape, unescape};

/// Maximum number of patterns.
pub const MAX_PATTERNS: usize = 1024;
/// Maximum length of a pattern in bytes.
pub const MAX_PATTERN: usize = 4096;

/// Patterns, as they were written.
pub type Patterns = Vec<Vec<u8>>;

/// The reason why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The pattern.
    pub pattern: Vec<u8>,
    /// The fault in it.
    pub what: &'static str,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = &self.pattern[..self.pattern.len().min(100)];
        write!(f, "pattern '{}': {}", Escaped::text(pattern), self.what)
    }
}

impl std::error::Error for PatternError {}

/// A compiled pattern.
#[derive(Clone, Debug)]
struct Pattern {
    /// The pattern in the syntax of `fast_glob`.
    glob: Vec<u8>,
    /// True if it takes entries back in.
    includes: bool,
    /// True if it matches directories only.
    directories: bool,
    /// True if it matches the whole path, not the last name.
    whole: bool,
    /// The number of entries on which it decided.
    hits: u64,
}

/// A list of patterns that decides on each entry.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    patterns: Vec<Pattern>,
}

impl Filter {
    /// Compiles patterns.
    pub fn new(patterns: &[Vec<u8>]) -> Result<Filter, PatternError> {
        if let Some(pattern) = patterns.get(MAX_PATTERNS) {
            let pattern = pattern.clone();
            return Err(PatternError {
                pattern,
                what: "this is one too many; the maximum is 1024",
            });
        }
        let compiled = patterns.iter().map(|pattern| {
            Pattern::new(pattern).map_err(|what| PatternError { pattern: pattern.clone(), what })
        });
        Ok(Filter { patterns: compiled.collect::<Result<_, _>>()? })
    }

    /// Returns whether the entry at `path` is left out.
    pub fn leaves_out(&mut self, path: &[u8], is_directory: bool) -> bool {
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let last = self.patterns.iter_mut().rev().find(|pattern| {
            let text = if pattern.whole { path } else { name };
            (is_directory || !pattern.directories) && fast_glob::glob_match(&pattern.glob, text)
        });
        last.is_some_and(|pattern| {
            pattern.hits += 1;
            !pattern.includes
        })
    }

    /// Returns whether a name in a flat list is left out, either itself or by one of the
    /// directories in it. Objects have such names.
    pub fn leaves_out_below(&mut self, name: &[u8]) -> bool {
        let folders = name.iter().enumerate().filter(|&(at, &byte)| byte == b'/' && at > 0);
        let folders: Vec<usize> = folders.map(|(at, _)| at).collect();
        !self.patterns.is_empty()
            && (folders.into_iter().any(|end| self.leaves_out(&name[..end], true))
                || self.leaves_out(name, false))
    }

    /// Returns the numbers of the patterns that decided on no entry so far.
    pub fn unused(&self) -> impl Iterator<Item = usize> {
        self.patterns.iter().enumerate().filter(|(_, one)| one.hits == 0).map(|(number, _)| number)
    }
}

impl Pattern {
    fn new(text: &[u8]) -> Result<Pattern, &'static str> {
        if text.len() > MAX_PATTERN {
            return Err("it is longer than 4096 bytes");
        }
        if text.contains(&0) {
            return Err("it contains a zero byte");
        }
        let (includes, text) = match text.strip_prefix(b"!") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (directories, text) = match text.strip_suffix(b"/") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let whole = text.contains(&b'/');
        let text = text.strip_prefix(b"/").unwrap_or(text);
        if text.is_empty() {
            return Err("it matches nothing; expected a name or a path");
        }
        if text.windows(2).any(|pair| pair == b"[:") {
            return Err("classes such as [:alpha:] are not supported; write a range such as [a-z]");
        }
        if text.split(|&byte| byte == b'/').any(|name| [&b""[..], b".", b".."].contains(&name)) {
            return Err("it contains an empty name, '.' or '..', which no path does");
        }
        if text.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1 {
            return Err("it ends in a single backslash");
        }
        let mut glob = Vec::with_capacity(text.len() + 8);
        let (mut at, mut escaped) = (0, false);
        while let Some(&byte) = text.get(at) {
            let stars = text[at..].iter().take_while(|&&byte| byte == b'*').count();
            if !escaped && stars > 1 {
                // Only between slashes do they match slashes.
                let alone = at == 0 || text[at - 1] == b'/';
                let alone = alone && text.get(at + stars).is_none_or(|&next| next == b'/');
                glob.extend_from_slice(if alone { b"**" } else { b"*" });
                at += stars;
                continue;
            }
            // Characters that are special to fast_glob and not to gitignore.
            if !escaped && (matches!(byte, b'{' | b'}') || at == 0 && byte == b'!') {
                glob.push(b'\\');
            }
            glob.push(byte);
            escaped = byte == b'\\' && !escaped;
            at += 1;
        }
        Ok(Pattern { glob, includes, directories, whole, hits: 0 })
    }
}

/// Returns the patterns in the text of an exclude file: its lines without empty ones and comments,
/// which begin with `#`. Trailing spaces do not count unless a backslash precedes them.
pub fn patterns_in(text: &[u8]) -> Patterns {
    let lines = text.split(|&byte| byte == b'\n').map(|line| {
        let mut line = line.strip_suffix(b"\r").unwrap_or(line);
        while let Some(rest) = line.strip_suffix(b" ") {
            if rest.ends_with(b"\\") {
                break;
            }
            line = rest;
        }
        line
    });
    lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).map(<[u8]>::to_vec).collect()
}

/// Appends the lines of filters.
pub(crate) fn write_filters(filters: &Patterns, mut out: Vec<u8>) -> Vec<u8> {
    out.extend_from_slice(format!("filters: {}\n", filters.len()).as_bytes());
    for filter in filters {
        escape(filter, &mut out);
        out.push(b'\n');
    }
    out
}

/// Reads the lines of filters. `line` returns the next line without the label.
pub(crate) fn read_filters<E>(
    mut line: impl FnMut(&'static str) -> Result<Vec<u8>, E>,
    wrong: impl Fn(&'static str) -> E,
) -> Result<Patterns, E> {
    let found = String::from_utf8(line("filters: ")?).unwrap_or_default();
    let number = found.parse().ok().filter(|number: &usize| number.to_string() == found);
    let number = number.filter(|number| *number <= MAX_PATTERNS);
    let number = number.ok_or_else(|| wrong("expected a number of filters, at most 1024"))?;
    let mut filters = Vec::new();
    for _ in 0..number {
        let pattern = unescape(&line("")?).filter(|pattern| pattern.len() <= MAX_PATTERN);
        filters.push(pattern.ok_or_else(|| wrong("expected a pattern of at most 4096 bytes"))?);
    }
    Ok(filters)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn filter(patterns: &[&str]) -> Result<Filter, PatternError> {
        let patterns: Patterns = patterns.iter().map(|text| text.as_bytes().to_vec()).collect();
        Filter::new(&patterns)
    }

    #[test]
    fn the_last_pattern_that_matches_decides() {
        let mut one =
            filter(&["*.tmp", "!keep.tmp", "/a/b", "d/", "x/**/y", "\\!z", "{q}"]).unwrap();
        for (path, is_directory, expected) in [
            ("n.tmp", false, true),
            ("a/n.tmp", false, true),
            ("a/keep.tmp", false, false),
            ("a/b", false, true),
            ("c/a/b", false, false),
            ("d", true, true),
            ("e/d", true, true),
            ("d", false, false),
            ("x/y", false, true),
            ("x/1/2/y", false, true),
            ("x/1/2/z", false, false),
            ("!z", false, true),
            ("{q}", false, true),
            ("q", false, false),
        ] {
            assert_eq!(one.leaves_out(path.as_bytes(), is_directory), expected, "{path}");
        }
        assert_eq!(one.unused().count(), 0);
        let mut one = filter(&["a", "b"]).unwrap();
        assert!(one.leaves_out(b"b", false));
        assert!(one.unused().eq([0]));
        assert!(one.leaves_out_below(b"x/a/y") && !one.leaves_out_below(b"x/ab/y"));
    }

    #[test]
    fn patterns_that_cannot_match_are_refused() {
        for (pattern, what) in [
            ("", "it matches nothing"),
            ("!", "it matches nothing"),
            ("/", "it matches nothing"),
            ("a//b", "an empty name, '.' or '..'"),
            ("../a", "an empty name, '.' or '..'"),
            ("a\\", "a single backslash"),
            ("[[:alpha:]]", "classes such as [:alpha:]"),
            ("a\0", "a zero byte"),
        ] {
            let error = filter(&[pattern]).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        let long = "a".repeat(MAX_PATTERN + 1);
        assert!(filter(&[&long]).unwrap_err().to_string().ends_with("longer than 4096 bytes"));
        let many = vec!["a"; MAX_PATTERNS + 1];
        assert!(filter(&many).unwrap_err().to_string().contains("one too many"));
        assert!(filter(&many[1..]).is_ok());
    }

    #[test]
    fn an_exclude_file_has_comments_and_trailing_spaces() {
        let text = b"# comment\n\n*.o  \r\nname\\ \n\\#x\n!y";
        let expected: [&[u8]; 4] = [b"*.o", b"name\\ ", b"\\#x", b"!y"];
        assert_eq!(patterns_in(text), expected);
    }

    /// Returns the patterns of git's own matcher that decide on paths, or an empty text.
    fn by_git(folder: &std::path::Path, patterns: &[String], paths: &[String]) -> Vec<bool> {
        fs::write(folder.join(".gitignore"), patterns.join("\n")).unwrap();
        let mut command = Command::new("git");
        command.current_dir(folder).args(["check-ignore", "--no-index", "-v", "-n"]).args(paths);
        let out = command.output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        let is_out = |line: &str| {
            let pattern = line.split('\t').next().unwrap().splitn(3, ':').nth(2).unwrap();
            !pattern.is_empty() && !pattern.starts_with('!')
        };
        let lines: Vec<bool> = text.lines().map(is_out).collect();
        assert_eq!(lines.len(), paths.len(), "{text}{}", String::from_utf8_lossy(&out.stderr));
        lines
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn git_leaves_out_the_same(
            patterns in prop::collection::vec("!?/?([ab*?]|\\[ab\\]|\\[!a\\]){1,3}(/([ab*?]{1,2}|\\*\\*)){0,2}/?", 1..5),
            paths in prop::collection::btree_set("[abc]{1,2}(/[abc]{1,2}){0,2}", 1..20),
        ) {
            let place = tempfile::tempdir().unwrap();
            let git = Command::new("git").arg("init").arg("-q").current_dir(place.path()).status();
            prop_assume!(git.is_ok_and(|status| status.success()));
            let paths: Vec<String> = paths.into_iter().collect();
            let mut kept = Vec::new();
            // A path is a file unless it is a directory of another one.
            for path in &paths {
                let whole = place.path().join(path);
                if fs::create_dir_all(whole.parent().unwrap()).is_ok() && !whole.is_dir()
                    && fs::write(&whole, "").is_ok()
                {
                    kept.push(path.clone());
                }
            }
            let texts: Vec<&str> = patterns.iter().map(String::as_str).collect();
            let mut own = filter(&texts).unwrap();
            let expected = by_git(place.path(), &patterns, &kept);
            for (path, expected) in kept.iter().zip(expected) {
                let found = own.leaves_out_below(path.as_bytes());
                prop_assert_eq!(found, expected, "{:?} {}", patterns, path);
            }
        }
    }
}
