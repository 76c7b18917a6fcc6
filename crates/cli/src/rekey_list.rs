//! `tagmac rekey` for a list of tags: each file is read once, verified under the old key and tagged
//! under the new one.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

use tagmac_files::atomic::AtomicFile;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;
use tagmac_files::identity::Identity;
use tagmac_files::line::{self, End, Line};
use tagmac_files::line_reader::{self, Lines};
use tagmac_files::manifest::header::MAGIC;
use tagmac_files::open_key::OpenKey;
use tagmac_files::overwrite::Overwrite;
use tagmac_files::progress::{Progress as _, Total};
use tagmac_files::read::{self, FileReader};
#[cfg(unix)]
use tagmac_files::sys::MetadataExt;
use tagmac_files::sys::{self, Metadata, OsStrExt};
use tagmac_files::{Error, ReadError, open};

use crate::args::RekeyArgs;
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::listed;
use crate::objects::is_url;
use crate::output;
use crate::progress::Progress;
use crate::say;

/// Gives the tags of a list a new key. Returns `Some(exit)` unless every file has its tag; then
/// nothing is written.
pub fn run(args: &RekeyArgs, old: &OpenKey, new: &OpenKey) -> Result<Option<Exit>, Error> {
    let list = &args.manifest;
    let (input, before) = open_list(args).map_err(|error| Error::file(list, error))?;
    let (path, over) = match &args.output {
        Some(path) => (path, Overwrite::Nothing),
        None => (list, Overwrite::Held(Identity::new(&before))),
    };
    let shown = Escaped::name(path).to_string();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::usage(format_args!(
            "{shown}: the file exists; the new list replaces only the old one"
        )),
        _ => Error::io(format_args!("{shown}: {}", io_reason(&error))),
    };
    let mut made = AtomicFile::new(path, before.mode() & 0o777, over).map_err(failed)?;
    if args.output.is_none() {
        made.file().set_permissions(before.permissions()).map_err(failed)?;
    }
    let progress = Progress::new(args.reading.progress, args.reading.bwlimit);
    let bar = progress.start("tagging", Total::UNKNOWN);
    let reader = FileReader::new(&old.mac, 1, &bar);
    let mut tagger = Tagger { old, new, reader, exit: None, made: 0 };
    let end = End::new(args.zero);
    let done = tagger.lines(list, &input, end, &mut |line| {
        bar.file();
        made.write_all(line).map_err(failed)
    });
    let Tagger { mut exit, made: tags, .. } = tagger;
    drop(bar);
    match done {
        // A mismatch outranks this error.
        Err(error) if exit == Some(Exit::Mismatch) => diagnostic(say::line(&error)),
        done => done?,
    }
    if tags == 0 && exit.is_none() {
        diagnostic(format_args!("{}: {}", Escaped::name(list), listed::NO_LINES));
        exit = Some(Exit::Mismatch);
    }
    if exit.is_some() {
        diagnostic(format_args!("{shown}: not written, as not every file has its tag"));
        return Ok(exit);
    }
    // A line that another program has added meanwhile would be lost.
    let after = sys::metadata_of(&input).map_err(ReadError::from);
    let same = after.and_then(|after| read::unchanged(&before, &after, before.len()));
    same.map_err(|error| Error::file(list, error))?;
    made.finish().map_err(failed)?;
    if !args.quiet {
        let (files, key) = (if tags == 1 { "file" } else { "files" }, new.key_id());
        diagnostic(format_args!("{shown}: {tags} {files} tagged under the key {key}"));
    }
    Ok(None)
}

/// The error for a list that cannot be read to its end.
fn unreadable(list: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::InvalidData => {
            Error::mismatch(format_args!("{}: {error}", Escaped::name(list)))
        }
        _ => Error::file(list, error),
    }
}

/// Opens the list, and locks it if it will be replaced.
fn open_list(args: &RekeyArgs) -> Result<(File, Metadata), ReadError> {
    if args.output.is_some() {
        return open::regular(&args.manifest);
    }
    let file = open::alone(&args.manifest)?;
    let facts = sys::metadata_of(&file)?;
    Ok((file, facts))
}

struct Tagger<'a> {
    old: &'a OpenKey,
    new: &'a OpenKey,
    reader: FileReader<'a>,
    exit: Option<Exit>,
    /// The number of lines made.
    made: u64,
}

impl Tagger<'_> {
    /// Passes the new lines of a list to `put`. Failures are printed, and set `exit`.
    fn lines(
        &mut self,
        list: &Path,
        input: &File,
        end: End,
        put: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let shown = Escaped::name(list).to_string();
        let mut lines = Lines::with_tags(BufReader::new(input), end.byte());
        while let Some(line) = lines.next_line().map_err(|error| unreadable(list, error))? {
            let (number, bytes) = (line.number, line.bytes);
            if number == 1 && bytes.is_some_and(|bytes| bytes.starts_with(MAGIC.as_bytes())) {
                let what = "this is a manifest; name its directory too";
                return Err(Error::usage(format_args!("{shown}: {what}")));
            }
            let bytes = bytes.map(|bytes| listed::without_return(bytes, end));
            if let Some(comment) = bytes.filter(|bytes| listed::is_comment(bytes)) {
                put(&[comment, &[end.byte()]].concat())?;
                continue;
            }
            let parsed = listed::parse(bytes, end);
            let parsed = parsed.and_then(|line| self.of_old_key(&line).map(|()| line));
            match parsed {
                Ok(line) => {
                    put(&self.line(&line, end)?)?;
                    lines.mark_used();
                }
                Err(why) => {
                    let why = listed::malformed(&why, bytes);
                    diagnostic(format_args!("{shown}: line {number}: {why}"));
                    self.exit = Some(Exit::Mismatch);
                }
            }
        }
        Ok(())
    }

    /// Rejects a line with a nonce that the old key cannot have. A line of another algorithm has its
    /// own message.
    fn of_old_key(&self, line: &Line<'_>) -> Result<(), String> {
        let mac = &self.old.mac;
        match listed::check_algorithm(mac, line) {
            Ok(()) => listed::check_nonce(mac, line),
            Err(_) => Ok(()),
        }
    }

    /// Verifies a file, and returns its new line; an empty one after a failure, which is printed.
    fn line(&mut self, old: &Line<'_>, end: End) -> Result<Vec<u8>, Error> {
        let (verdict, exit, why) = match self.tagged(old) {
            Ok(Some(line)) => {
                let line = line::write(&line, end, false);
                if line.len() - 1 <= line_reader::MAX_BYTES {
                    self.made += 1;
                    return Ok(line);
                }
                ("FAILED", Exit::Mismatch, Some("name too long for the new line".into()))
            }
            Ok(None) => ("FAILED", Exit::Mismatch, None),
            Err(Refused::Unlike(why)) => ("FAILED", Exit::Mismatch, Some(why)),
            Err(Refused::Unreadable(error)) => {
                let is_missing = matches!(error, ReadError::Missing(_));
                let exit = if is_missing { Exit::Mismatch } else { Exit::Io };
                ("FAILED open or read", exit, Some(say::read(&error)))
            }
        };
        if let Some(why) = why {
            diagnostic(format_args!("{}: {why}", Escaped::bytes(&old.name)));
        }
        if self.exit != Some(Exit::Mismatch) {
            self.exit = Some(exit);
        }
        output::verdict(&old.name, verdict)?;
        Ok(Vec::new())
    }

    /// Returns the line under the new key; `None` if the old tag is wrong.
    fn tagged<'l>(&mut self, old: &Line<'l>) -> Result<Option<Line<'l>>, Refused> {
        let mac = &self.old.mac;
        listed::check_algorithm(mac, old).map_err(Refused::Unlike)?;
        let expected = listed::tag(mac, old).map_err(Refused::Unlike)?;
        let path = Path::new(OsStr::from_bytes(&old.name));
        if path.as_os_str() == "-" || is_url(path) {
            let what = io::Error::other("only files can be tagged again");
            return Err(ReadError::Io(what).into());
        }
        let (file, before) = open::regular(path)?;
        let algorithm = self.new.mac.algorithm();
        let nonce = algorithm.random_nonce().map_err(ReadError::from)?;
        let own = old.nonce.as_deref().unwrap_or_default();
        let [found, made] =
            self.reader.tag_twice(&file, &before, own, (&self.new.mac, &nonce, None))?;
        read::in_place(path, &file)?;
        if found.tag != expected {
            return Ok(None);
        }
        let has_nonce = !nonce.is_empty();
        Ok(Some(Line {
            // A line without an algorithm cannot have a nonce.
            algorithm: (old.algorithm.is_some() || has_nonce).then(|| algorithm.name()),
            nonce: has_nonce.then_some(nonce),
            name: old.name.clone(),
            tag: made.tag.as_bytes().to_vec(),
        }))
    }
}

/// The reason why a file has no new tag.
enum Refused {
    /// The line cannot be from the old key.
    Unlike(String),
    /// The file cannot be read.
    Unreadable(ReadError),
}

impl From<ReadError> for Refused {
    fn from(error: ReadError) -> Refused {
        Refused::Unreadable(error)
    }
}
