//! `tagmac check`: a verdict for each line of a list.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use tagmac::Tag;
use tagmac_any::bounds::Workload;
use tagmac_files::escaped::Escaped;
use tagmac_files::line::{self, End, Line};
use tagmac_files::line_reader::Lines;
use tagmac_files::open_key::OpenKey;
use tagmac_files::progress::{Progress as _, Total};
use tagmac_files::sys::OsStrExt;
use tagmac_files::url::ForeignUrl;
use tagmac_files::{Error, Irregular, ReadError, open};

use crate::allowance::{PROBABILITY, show_bound};
use crate::args::{CheckArgs, MAX_OBJECTS};
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::given::given;
use crate::listed;
use crate::mac;
use crate::named_reader::{self, Named, NamedReader, Stdin};
use crate::names;
use crate::number::show_probability;
use crate::objects::Stores;
use crate::output;
use crate::progress::{Bar, Progress};
use crate::record::{FileRecord, MalformedRecord};
use crate::{say, stdio};

/// Checks the lists. Returns `Some(exit)` unless everything is good.
pub fn run(args: &CheckArgs) -> Result<Option<Exit>, Error> {
    let lists = &args.lists;
    let (raw, nonce) = (args.raw_tag.is_some(), args.nonce_hex.is_some());
    for (given, what) in
        [(raw, "--raw-tag: expected one file"), (nonce, "--nonce-hex: expected one list")]
    {
        let found = lists.len();
        if given && found != 1 {
            return Err(Error::usage(format_args!("{what}, found {found}")));
        }
    }
    for list in lists {
        if raw { names::object(list)? } else { names::file(list)? }
    }
    args.raw_tag.iter().try_for_each(|tag| names::file(tag))?;
    let stdin =
        named_reader::stdin_once(&args.key.only.options(), lists.iter().chain(&args.raw_tag))?;
    let names = lists.iter().filter(|_| raw).map(|name| &**name);
    let allowed = args.allow_url.iter().map(Path::new);
    let stores = Stores::open(names, allowed, (args.reading.num_threads, MAX_OBJECTS))?;
    let key = mac::open(&args.key.options(), args.status)?;
    let nonce = mac::given_nonce(&key, args.nonce_hex.as_deref(), raw.then_some("--raw-tag"))?;
    let progress = Progress::new(args.reading.progress, args.reading.bwlimit);
    let total = if progress.is_shown() { total(args) } else { Total::UNKNOWN };
    let bar = progress.start("checking", total);
    let mut reader = NamedReader::new(&key, args.reading.num_threads, &bar, stores);
    match stdin {
        Some(Stdin::Key) => reader.take_stdin("the key"),
        Some(Stdin::Name) if args.raw_tag.is_none() => reader.take_stdin("the list"),
        _ => {}
    }
    let seen = Seen::default();
    let mut checker = Checker { args, key: &key, nonce, reader, bar: &bar, seen, lost: false };
    let done = match &args.raw_tag {
        Some(tag) => checker.raw(tag, &lists[0]),
        None => {
            lists.iter().for_each(|list| checker.list(list));
            Ok(())
        }
    };
    if let Err(error) = done {
        // Earlier verdicts keep their effect: a mismatch (1) outranks this error (4).
        diagnostic(say::line(&error));
        checker.seen.io = true;
    }
    checker.warn_of_guesses();
    Ok(checker.seen.exit())
}

/// Returns the total size of the listed files, if the lists can be read twice.
fn total(args: &CheckArgs) -> Total {
    if args.raw_tag.is_some() {
        return named_reader::total(&args.lists[0]);
    }
    let end = End::new(args.zero);
    let list = |path: &PathBuf| {
        // Opening a pipe here would consume what the check has to read.
        let Ok((file, _)) = open::regular(path) else { return Total::UNKNOWN };
        let mut lines = Lines::with_tags(BufReader::new(file), end.byte());
        let mut total = Total::NONE;
        loop {
            let line = match lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => return total,
                Err(_) => return Total::UNKNOWN,
            };
            if let Some(Ok(line)) = line.bytes.map(|bytes| line::parse(bytes, end)) {
                total = total.and(named_reader::total(Path::new(OsStr::from_bytes(&line.name))));
                lines.mark_used();
            }
        }
    };
    args.lists.iter().map(list).fold(Total::NONE, Total::and)
}

/// Results over all lists.
#[derive(Default)]
struct Seen {
    mismatch: bool,
    io: bool,
    /// Number of wrong tags.
    guesses: u64,
    /// Length of the longest file in bytes.
    longest: u64,
}

impl Seen {
    fn exit(&self) -> Option<Exit> {
        match self {
            Seen { mismatch: true, .. } => Some(Exit::Mismatch),
            Seen { io: true, .. } => Some(Exit::Io),
            _ => None,
        }
    }
}

/// Results of one list.
#[derive(Default)]
struct Counts {
    /// Well-formed lines.
    proper: u64,
    malformed: u64,
    verified: u64,
    mismatched: u64,
    /// Mismatches whose tag was computed.
    wrong: u64,
    unread: u64,
}

enum Verdict {
    Good {
        bytes: u64,
    },
    Mismatch {
        bytes: u64,
    },
    /// The line cannot be from this MAC, for the given reason.
    Unlike(String),
    Unreadable(ReadError),
}

struct Checker<'a> {
    args: &'a CheckArgs,
    key: &'a OpenKey,
    /// The value of `--nonce-hex`, for the only line.
    nonce: Option<&'a [u8]>,
    reader: NamedReader<'a>,
    bar: &'a Bar,
    seen: Seen,
    /// Output failed. The verdicts still determine the exit status.
    lost: bool,
}

impl Checker<'_> {
    /// Checks one file against a tag from `tag --raw`.
    fn raw(&mut self, tag: &Path, file: &Path) -> Result<(), Error> {
        let found = read_raw(tag).map_err(|error| Error::file(tag, error))?;
        let mut counts = Counts::default();
        let name = file.as_os_str().as_bytes().into();
        let nonce = self.nonce.map(<[u8]>::to_vec);
        let line = Line { algorithm: None, nonce, name, tag: found };
        self.line(&line, &mut counts);
        Ok(())
    }

    fn list(&mut self, path: &Path) {
        if path.as_os_str() == "-" {
            let list = "standard input";
            return self.lines(list.as_ref(), &mut BufReader::new(stdio::Stdin));
        }
        match given(path) {
            Ok((file, _)) => self.lines(path, &mut BufReader::new(file)),
            Err(error) => self.unreadable_list(path, &error),
        }
    }

    fn unreadable_list(&mut self, list: &Path, error: &ReadError) {
        self.seen.io = true;
        diagnostic(format_args!("{}: {}", Escaped::name(list), say::read(error)));
    }

    fn lines(&mut self, list: &Path, input: &mut dyn BufRead) {
        let end = End::new(self.args.zero);
        let mut lines = Lines::with_tags(input, end.byte());
        let mut counts = Counts::default();
        loop {
            let line = match lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                // The list is incomplete, so print no summary.
                Err(error) => {
                    self.seen.mismatch |= error.kind() == io::ErrorKind::InvalidData;
                    return self.unreadable_list(list, &error.into());
                }
            };
            let number = line.number;
            let bytes = line.bytes.map(|bytes| listed::without_return(bytes, end));
            if bytes.is_some_and(listed::is_comment) {
                continue;
            }
            let line = listed::parse(bytes, end);
            match line.and_then(|line| self.with_nonce(line, &counts)) {
                Ok(line) => {
                    counts.proper += 1;
                    self.line(&line, &mut counts);
                    lines.mark_used();
                }
                Err(why) => {
                    counts.malformed += 1;
                    let tell = self.args.warn || counts.malformed == 1;
                    self.malformed(list, number, listed::malformed(&why, bytes), tell);
                }
            }
        }
        self.sum_up(list, &counts);
    }

    /// Returns the line with its own nonce or that of `--nonce-hex`, or an error that names the
    /// expected form.
    fn with_nonce<'l>(&self, mut line: Line<'l>, counts: &Counts) -> Result<Line<'l>, String> {
        if self.nonce.is_some() && counts.proper > 0 {
            return Err("expected no second line with --nonce-hex".into());
        }
        let mac = &self.key.mac;
        if listed::check_algorithm(mac, &line).is_err() {
            return Ok(line);
        }
        line.nonce = line.nonce.or_else(|| self.nonce.map(<[u8]>::to_vec));
        listed::check_nonce(mac, &line).map(|()| line)
    }

    fn malformed(&mut self, list: &Path, line: u64, reason: String, tell: bool) {
        self.seen.mismatch = true;
        if self.args.status {
            return;
        }
        if tell {
            diagnostic(format_args!("{}: line {line}: {reason}", Escaped::name(list)));
        }
        if self.args.json && !self.lost {
            let list = list.to_string_lossy();
            self.taken(output::json(&MalformedRecord { list, line, status: "malformed", reason }));
        }
    }

    /// Records whether the output was written.
    fn taken(&mut self, told: Result<(), Error>) {
        if let Err(error) = told {
            diagnostic(say::line(&error));
            (self.lost, self.seen.io) = (true, true);
        }
    }

    fn line(&mut self, line: &Line<'_>, counts: &mut Counts) {
        let verdict = self.verdict(line);
        self.bar.file();
        if let Verdict::Good { bytes } | Verdict::Mismatch { bytes } = verdict {
            self.seen.longest = self.seen.longest.max(bytes);
            self.seen.guesses += matches!(verdict, Verdict::Mismatch { .. }) as u64;
        }
        match &verdict {
            Verdict::Good { .. } => counts.verified += 1,
            Verdict::Mismatch { .. } | Verdict::Unlike(_) => {
                counts.verified += 1;
                counts.mismatched += 1;
                counts.wrong += matches!(verdict, Verdict::Mismatch { .. }) as u64;
                self.seen.mismatch = true;
                if let Verdict::Unlike(why) = &verdict {
                    // Name the file of the raw tag, because the error is in it.
                    let raw = self.args.raw_tag.as_ref().map(|tag| tag.as_os_str().as_bytes());
                    self.explain(raw.unwrap_or(&line.name), why);
                }
            }
            Verdict::Unreadable(ReadError::Missing(_)) if self.args.ignore_missing => return,
            Verdict::Unreadable(error) => {
                counts.unread += 1;
                match error {
                    ReadError::Missing(_) => self.seen.mismatch = true,
                    _ => self.seen.io = true,
                }
                let hint = match error {
                    ReadError::Irregular(Irregular::Device) => "; --special reads devices".into(),
                    ReadError::Missing(_) => ForeignUrl::from_name(&line.name)
                        .map_or(String::new(), |url| format!("; {}", say::foreign_url(url))),
                    _ => String::new(),
                };
                self.explain(&line.name, &format!("{}{hint}", say::read(error)));
            }
        }
        if !self.lost {
            let told = self.report(line, &verdict);
            self.taken(told);
        }
    }

    /// Compares one file with its line.
    ///
    /// The algorithm and the tag length come from the key and the options. A line with others could
    /// be an attempt to have the file checked by a weaker MAC.
    fn verdict(&mut self, line: &Line<'_>) -> Verdict {
        let mac = &self.key.mac;
        if let Err(why) = listed::check_algorithm(mac, line) {
            return Verdict::Unlike(why);
        }
        let nonce = line.nonce.as_deref().unwrap_or_default();
        if let Some(given) = self.nonce.filter(|given| *given != nonce) {
            let [given, found] = [given, nonce].map(base16ct::lower::encode_string);
            return Verdict::Unlike(format!(
                "expected the nonce {given} (--nonce-hex), found {found}"
            ));
        }
        let (bits, found) = (mac.tag_bits(), line.tag.len());
        if self.args.raw_tag.is_some() && found != bits.div_ceil(8) {
            let expected = format!("{} bytes ({bits} bits)", bits.div_ceil(8));
            // `read_raw` stops one byte after the longest tag.
            let (more, found) = match found > Tag::MAX_BYTES {
                true => ("more than ", found - 1),
                false => ("", found),
            };
            return Verdict::Unlike(format!(
                "expected a raw tag of {expected}, found {more}{found} bytes"
            ));
        }
        let tag = match listed::tag(mac, line) {
            Ok(tag) => tag,
            Err(why) => return Verdict::Unlike(why),
        };
        let by = match self.args.special || self.args.raw_tag.is_some() {
            true => Named::User,
            false => Named::List,
        };
        match self.reader.tag(Path::new(OsStr::from_bytes(&line.name)), nonce, by) {
            Ok(made) if made.tag == tag => Verdict::Good { bytes: made.bytes },
            Ok(made) => Verdict::Mismatch { bytes: made.bytes },
            Err(error) => Verdict::Unreadable(error),
        }
    }

    /// Warns if the number of wrong tags, taken as guesses, would succeed with more than the
    /// default probability.
    fn warn_of_guesses(&self) {
        let (mac, Seen { guesses, longest, .. }) = (&self.key.mac, &self.seen);
        let theorem = mac.algorithm().theorem();
        let theorem = theorem.and_then(|theorem| theorem.with_tag_bits(mac.tag_bits() as u32).ok());
        let Some(theorem) = theorem.filter(|_| *guesses > 0 && !self.args.status) else { return };
        let after = |messages| {
            theorem.guessing(&Workload { messages, length: *longest, attempts: (*guesses).into() })
        };
        // The number of messages that the key has tagged is unknown, so assume the maximum.
        let bound = theorem.messages(*longest, PROBABILITY).and_then(after);
        let Ok(bound) = bound else { return };
        if !bound.at_most(PROBABILITY) {
            let tags = if *guesses == 1 { "wrong tag" } else { "wrong tags" };
            let bits = mac.tag_bits();
            diagnostic(format_args!(
                "WARNING: {guesses} {tags} of {bits} bits: if they are guesses, one passes with a \
                 probability of up to {}, more than {}; see 'tagmac bounds'",
                show_bound(&bound),
                show_probability(PROBABILITY),
            ));
        }
    }

    fn explain(&self, name: &[u8], why: &str) {
        if !self.args.status {
            diagnostic(format_args!("{}: {why}", Escaped::bytes(name)));
        }
    }

    fn report(&self, line: &Line<'_>, verdict: &Verdict) -> Result<(), Error> {
        let good = matches!(verdict, Verdict::Good { .. });
        if self.args.status || good && self.args.quiet {
            return Ok(());
        }
        let (text, status, bytes, reason) = match verdict {
            Verdict::Good { bytes } => ("OK", "ok", Some(*bytes), None),
            Verdict::Mismatch { bytes } => ("FAILED", "failed", Some(*bytes), None),
            Verdict::Unlike(why) => ("FAILED", "failed", None, Some(why.clone())),
            Verdict::Unreadable(error) => {
                let status = match error {
                    ReadError::Missing(_) => "missing",
                    _ => "unreadable",
                };
                ("FAILED open or read", status, None, Some(say::read(error)))
            }
        };
        if !self.args.json {
            return output::verdict(&line.name, text);
        }
        output::json(&FileRecord { bytes, reason, ..FileRecord::of_line(line, self.key, status) })
    }

    /// Prints the summary of a list, in the words of the GNU tools.
    fn sum_up(&mut self, list: &Path, counts: &Counts) {
        let list = Escaped::name(list);
        let silent = self.args.status;
        let nothing = counts.proper == 0;
        let unverified = counts.verified == 0 && counts.unread == 0;
        self.seen.mismatch |= nothing || unverified;
        if nothing {
            diagnostic(format_args!("{list}: {}", listed::NO_LINES));
            return;
        }
        let warn = |count: u64, one: &str, many: &str| {
            if count > 0 && !silent {
                diagnostic(format_args!(
                    "WARNING: {count} {}",
                    if count == 1 { one } else { many }
                ));
            }
        };
        warn(counts.malformed, "line is improperly formatted", "lines are improperly formatted");
        warn(counts.unread, "listed file could not be read", "listed files could not be read");
        warn(
            counts.mismatched,
            "computed checksum did NOT match",
            "computed checksums did NOT match",
        );
        if counts.wrong >= 2 && counts.wrong == counts.verified && !silent {
            let key = self.key.key_id();
            diagnostic(format_args!("{list}: no tag matches: check that key {key} made this list"));
        }
        if unverified && !silent {
            diagnostic(format_args!("{list}: no file was verified"));
        }
    }
}

/// Reads a raw tag. Stops one byte after the longest tag, which is enough to reject the file.
fn read_raw(path: &Path) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let most = Tag::MAX_BYTES as u64 + 1;
    if path.as_os_str() == "-" {
        stdio::Stdin.take(most).read_to_end(&mut bytes)?;
    } else {
        given(path)?.0.take(most).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
