//! Lines and columns of shards and roots, as all of them are read.

use crate::manifest::name::unescape;

/// The lines of a text whose last one has its end too, with their numbers from 1.
pub struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
}

impl<'a> Lines<'a> {
    /// The lines of `text`.
    pub fn new(text: &'a [u8]) -> Lines<'a> {
        Lines { rest: text, number: 0 }
    }

    /// The number of the line that came last.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What is behind the line that came last.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next line that begins with `label`, without it.
    pub fn labelled(&mut self, label: &str) -> Result<&'a [u8], String> {
        let line = self.next();
        line.and_then(|line| line.strip_prefix(label.as_bytes()))
            .ok_or_else(|| format!("expected '{label}', found another line"))
    }

    /// The next line if it does not begin with `label`.
    pub fn until(&mut self, label: &str) -> Option<&'a [u8]> {
        if self.rest.starts_with(label.as_bytes()) { None } else { self.next() }
    }

    /// Expects `label` and this number, which is what the lines above come to.
    pub fn total(&mut self, label: &str, expected: u64) -> Result<(), String> {
        if self.labelled(label)? == expected.to_string().as_bytes() {
            return Ok(());
        }
        Err(format!("expected '{label}{expected}', found another number"))
    }

    /// Expects no more lines.
    pub fn end(&mut self) -> Result<(), String> {
        self.number += 1;
        if self.rest.is_empty() { Ok(()) } else { Err("expected no more lines, found one".into()) }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        // Also where there is none: it is the line that is missing.
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
    /// The columns of `line`.
    pub fn new(line: &'a [u8]) -> Columns<'a> {
        Columns(Some(line))
    }

    /// The next one.
    pub fn bytes(&mut self) -> Result<&'a [u8], &'static str> {
        let rest = self.0.ok_or("expected more columns")?;
        let tab = rest.iter().position(|&byte| byte == b'\t');
        self.0 = tab.map(|tab| &rest[tab + 1..]);
        Ok(&rest[..tab.unwrap_or(rest.len())])
    }

    /// The next one, a number.
    pub fn number(&mut self) -> Result<u64, &'static str> {
        let number = str::from_utf8(self.bytes()?).ok().and_then(|text| text.parse().ok());
        number.ok_or("expected a number, found something else")
    }

    /// The next one, a name.
    pub fn name(&mut self) -> Result<Vec<u8>, &'static str> {
        let name = unescape(self.bytes()?);
        let name = name.ok_or("expected '\\\\', '\\t', '\\n' or '\\r' after \\")?;
        check_name(&name).map(|()| name)
    }

    /// Expects no more columns.
    pub fn end(&self) -> Result<(), &'static str> {
        if self.0.is_none() { Ok(()) } else { Err("expected fewer columns") }
    }
}

/// The bytes that a name may have: S3 has up to 1024, files up to 4096.
pub const MAX_NAME: usize = 4096;

/// Refuses what is no name.
pub fn check_name(name: &[u8]) -> Result<(), &'static str> {
    match name.len() {
        1..=MAX_NAME => Ok(()),
        0 => Err("expected a name, found none"),
        _ => Err("expected a name of at most 4096 bytes, found a longer one"),
    }
}
