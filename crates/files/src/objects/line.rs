//! Lines and columns, as in shards and roots.

use crate::manifest::name::unescape;

/// Iterates over the lines of a text, numbered from 1. Every line must end in a line feed.
pub struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
}

impl<'a> Lines<'a> {
    /// Returns the lines of `text`.
    pub fn new(text: &'a [u8]) -> Lines<'a> {
        Lines { rest: text, number: 0 }
    }

    /// Returns the number of the last line.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the text after the last line.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the next line without its prefix `label`; fails if it has another.
    pub fn labelled(&mut self, label: &str) -> Result<&'a [u8], String> {
        let line = self.next();
        line.and_then(|line| line.strip_prefix(label.as_bytes()))
            .ok_or_else(|| format!("expected a line that begins with '{label}'"))
    }

    /// Returns the next line, or `None` before a line that begins with `label`.
    pub fn until(&mut self, label: &str) -> Option<&'a [u8]> {
        if self.rest.starts_with(label.as_bytes()) { None } else { self.next() }
    }

    /// Checks that the next line is `label` and this number, which is the total of the lines above.
    pub fn total(&mut self, label: &str, expected: u64) -> Result<(), String> {
        if self.labelled(label)? == expected.to_string().as_bytes() {
            return Ok(());
        }
        Err(format!("expected '{label}{expected}'"))
    }

    /// Checks that no lines are left.
    pub fn end(&mut self) -> Result<(), String> {
        self.number += 1;
        if self.rest.is_empty() { Ok(()) } else { Err("expected no more lines".into()) }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        // Counted even at the end: this is the line that is missing.
        self.number += 1;
        let end = self.rest.iter().position(|&byte| byte == b'\n')?;
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Some(line)
    }
}

/// The columns of a line.
pub struct Columns<'a>(Option<&'a [u8]>);

impl<'a> Columns<'a> {
    /// Returns the columns of `line`.
    pub fn new(line: &'a [u8]) -> Columns<'a> {
        Columns(Some(line))
    }

    /// Returns the next column.
    pub fn bytes(&mut self) -> Result<&'a [u8], &'static str> {
        let rest = self.0.ok_or("expected more columns")?;
        let tab = rest.iter().position(|&byte| byte == b'\t');
        self.0 = tab.map(|tab| &rest[tab + 1..]);
        Ok(&rest[..tab.unwrap_or(rest.len())])
    }

    /// Returns the next column, a number.
    pub fn number(&mut self) -> Result<u64, &'static str> {
        let number = str::from_utf8(self.bytes()?).ok().and_then(|text| text.parse().ok());
        number.ok_or("expected a number")
    }

    /// Returns the next column, a name.
    pub fn name(&mut self) -> Result<Vec<u8>, &'static str> {
        let name = unescape(self.bytes()?);
        let name = name.ok_or("expected '\\\\', '\\t', '\\n' or '\\r' after \\")?;
        check_name(&name).map(|()| name)
    }

    /// Checks that no columns are left.
    pub fn end(&self) -> Result<(), &'static str> {
        if self.0.is_none() { Ok(()) } else { Err("expected fewer columns") }
    }
}

/// Maximum length of a name in bytes: S3 allows 1024, files 4096.
pub const MAX_NAME: usize = 4096;

/// Rejects names that are empty or too long.
pub fn check_name(name: &[u8]) -> Result<(), &'static str> {
    match name.len() {
        1..=MAX_NAME => Ok(()),
        0 => Err("the name is empty"),
        _ => Err("the name is longer than 4096 bytes"),
    }
}
