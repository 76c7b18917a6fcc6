//! The chain of a manifest: its number, its day, and the seals of the earlier ones.
//!
//! A manifest that replaces another names the seal of that one. So a verifier
//! that remembers the last seal recognizes a manifest that continues the chain, is older, or comes
//! from a fork.

use std::fmt::Write;

use tagmac::Tag;

use crate::day::Day;

/// Maximum number of links in a manifest; older ones are dropped.
pub const MAX_LINKS: usize = 4096;

/// An earlier manifest of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its number in the chain; 0 for one from a version without chains.
    pub sequence: u64,
    /// The day on which it was sealed; `None` for one from a version without chains.
    pub day: Option<Day>,
    /// Its seal.
    pub seal: Tag,
}

/// The place of a manifest in its chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Its number, from 1; 0 for a manifest from a version without chains.
    pub sequence: u64,
    /// The day on which it was sealed; `None` for one from a version without chains.
    pub day: Option<Day>,
    /// The seal of the chain's first manifest; `None` in that one.
    pub first: Option<Tag>,
    /// The earlier manifests, the newest first.
    pub links: Vec<Link>,
}

/// The relation of a manifest to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Both are the same manifest.
    Same,
    /// The other one continues its chain, this many manifests later.
    Before(u64),
    /// It continues the chain of the other one, this many manifests later.
    After(u64),
    /// Both are in one chain, but neither names the other one.
    Fork,
    /// Both are in different chains.
    Foreign,
}

impl Chain {
    /// The start of a new chain.
    pub fn start(day: Day) -> Chain {
        Chain { sequence: 1, day: Some(day), first: None, links: Vec::new() }
    }

    /// The place after a manifest of this chain that has this seal.
    pub fn next(&self, seal: Tag, day: Day) -> Chain {
        let last = Link { sequence: self.sequence, day: self.day, seal };
        let links = [last].into_iter().chain(self.links.iter().copied()).take(MAX_LINKS).collect();
        let first = Some(self.name(seal));
        Chain { sequence: self.sequence.saturating_add(1), day: Some(day), first, links }
    }

    /// Returns the name of the chain, which all its manifests share: the seal of the first one.
    /// `seal` is that of this manifest.
    pub fn name(&self, seal: Tag) -> Tag {
        self.first.unwrap_or(seal)
    }

    /// Returns the relation of a manifest with this chain and seal to another one.
    pub fn relation(&self, seal: Tag, other: &Chain, other_seal: Tag) -> Relation {
        let has = |chain: &Chain, number: u64, seal: Tag| {
            chain.links.iter().any(|link| link.sequence == number && link.seal == seal)
        };
        if seal == other_seal {
            Relation::Same
        } else if has(other, self.sequence, seal) {
            Relation::Before(other.sequence - self.sequence)
        } else if has(self, other.sequence, other_seal) {
            Relation::After(self.sequence - other.sequence)
        } else if self.name(seal) != other.name(other_seal) {
            Relation::Foreign
        } else {
            Relation::Fork
        }
    }

    /// Appends the lines of the chain.
    pub fn write(&self, out: &mut String) {
        let Chain { sequence, first, links, .. } = self;
        let day = |day: &Option<Day>| day.map_or("-".into(), |day| day.to_string());
        let first = first.map_or("-".into(), |first| first.to_string());
        let lines = [
            format!("sequence: {sequence} {}\n", day(&self.day)),
            format!("first: {first}\n"),
            format!("links: {}\n", links.len()),
        ];
        out.extend(lines);
        for link in links {
            writeln!(out, "{} {} {}", link.sequence, day(&link.day), link.seal)
                .expect("memory takes it");
        }
    }

    /// Parses the lines of a chain. `line` returns the next line without the label.
    pub fn parse<E>(
        mut line: impl FnMut(&'static str) -> Result<Vec<u8>, E>,
        wrong: impl Fn(&'static str) -> E,
    ) -> Result<Chain, E> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap_or_default();
        let found = text(line("sequence: ")?);
        let parsed = || {
            let (sequence, day) = found.split_once(' ')?;
            let number: u64 = sequence.parse().ok().filter(|&number| number > 0)?;
            let is_plain = number.to_string() == sequence;
            is_plain.then_some((number, Some(Day::parse(day.as_bytes())?)))
        };
        let (sequence, day) =
            parsed().ok_or_else(|| wrong("expected a number from 1 and a day as YYYY-MM-DD"))?;
        let found = line("first: ")?;
        let first = match &*found {
            b"-" => None,
            hex => Some(seal(hex).ok_or_else(|| wrong("expected '-' or a seal"))?),
        };
        let found = text(line("links: ")?);
        let number = found.parse().ok().filter(|number| *number <= MAX_LINKS);
        let number = number.ok_or_else(|| wrong("expected a number of links, at most 4096"))?;
        let mut chain = Chain { sequence, day, first, links: Vec::new() };
        for _ in 0..number {
            let found = text(line("")?);
            let link = Link::parse(&found);
            chain.links.push(link.ok_or_else(|| wrong("expected a number, a day and a seal"))?);
        }
        let numbers = [sequence].into_iter().chain(chain.links.iter().map(|link| link.sequence));
        let descends = numbers.clone().zip(numbers.skip(1)).all(|(one, next)| one == next + 1);
        let oldest = chain.links.last();
        // The chain is complete down to its first manifest, unless there are too many links.
        let complete = match (first, oldest) {
            (None, None) => sequence == 1,
            (Some(first), Some(oldest)) => {
                number == MAX_LINKS || oldest.seal == first && oldest.sequence <= 1
            }
            _ => false,
        };
        if !descends || !complete {
            return Err(wrong("the links do not lead to the first manifest of the chain"));
        }
        Ok(chain)
    }
}

impl Link {
    fn parse(text: &str) -> Option<Link> {
        let mut words = text.split(' ');
        let (sequence, day, hex) = (words.next()?, words.next()?, words.next()?);
        let number: u64 = sequence.parse().ok()?;
        let day = if day == "-" { None } else { Some(Day::parse(day.as_bytes())?) };
        let is_plain = number.to_string() == sequence && day.is_none() == (number == 0);
        (is_plain && words.next().is_none()).then_some(Link {
            sequence: number,
            day,
            seal: seal(hex.as_bytes())?,
        })
    }
}

/// Parses a seal.
pub(crate) fn seal(hex: &[u8]) -> Option<Tag> {
    let bytes = base16ct::lower::decode_vec(hex).ok()?;
    if bytes.len() == 32 { Tag::try_from(&*bytes).ok() } else { None }
}
