//! `tagmac tag`: a line for each file.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::args::Tag;
use crate::error::{Error, Exit, Shown, say};
use crate::line::{self, End, Form};
use crate::mac::{self, Mac};
use crate::output;
use crate::progress::Progress;
use crate::read::{self, Reader, Tagged, Trouble};
use crate::record::Record;
use crate::walk;

/// Tags the files. `Some(exit)` if not all could be.
pub fn run(args: &Tag) -> Result<Option<Exit>, Error> {
    let files = &args.files;
    if args.raw && files.len() != 1 {
        let found = files.len();
        return Err(Error::usage(format_args!("--raw: expected one file, found {found}")));
    }
    read::stdin_once(&args.key, files)?;
    let mac = mac::make(&args.key, false)?;
    let reader =
        Reader::new(&mac.mac, args.reading.num_threads, Progress::new(args.reading.progress));
    let mut tagger = Tagger { args, mac: &mac, reader, failed: false };
    for file in files {
        tagger.name(file)?;
    }
    Ok(tagger.failed.then_some(Exit::Io))
}

struct Tagger<'a> {
    args: &'a Tag,
    mac: &'a Mac,
    reader: Reader<'a>,
    failed: bool,
}

impl Tagger<'_> {
    /// A name of the command line.
    fn name(&mut self, name: &Path) -> Result<(), Error> {
        if !self.args.recursive || !walk::is_dir(name) {
            let made = self.reader.tag(name);
            return self.made(name, made);
        }
        walk::walk(name, |path, error| match error {
            None => match self.reader.tag(path) {
                Err(trouble @ Trouble::Output) => {
                    say(format_args!("{}: skipped: {trouble}", Shown::name(path)));
                    Ok(())
                }
                made => self.made(path, made),
            },
            Some(error) => self.trouble(path, &error.into()),
        })
    }

    fn made(&mut self, file: &Path, made: Result<Tagged, Trouble>) -> Result<(), Error> {
        match made {
            Ok(tagged) => self.tagged(file, &tagged),
            Err(trouble) => self.trouble(file, &trouble),
        }
    }

    fn tagged(&self, file: &Path, tagged: &Tagged) -> Result<(), Error> {
        let (name, args) = (file.as_os_str().as_bytes(), self.args);
        if args.raw {
            return output::write(tagged.tag.as_bytes());
        }
        let tag = tagged.tag.to_string();
        if args.json {
            let (tag, bytes) = (Some(tag), Some(tagged.bytes));
            return output::json(&Record { tag, bytes, ..Record::new(name, self.mac, "tagged") });
        }
        let form = if args.untagged { Form::Untagged } else { Form::Tagged };
        let end = if args.zero { End::Zero } else { End::Newline };
        let algorithm = self.mac.mac.algorithm().name();
        output::write(&line::write(form, end, algorithm, name, &tag))
    }

    fn trouble(&mut self, file: &Path, trouble: &Trouble) -> Result<(), Error> {
        self.failed = true;
        let hint = match trouble {
            Trouble::Directory => "; -r tags the files in it",
            _ => "",
        };
        say(format_args!("{}: {trouble}{hint}", Shown::name(file)));
        if !self.args.json {
            return Ok(());
        }
        let (name, reason) = (file.as_os_str().as_bytes(), Some(trouble.to_string()));
        output::json(&Record { reason, ..Record::new(name, self.mac, "unreadable") })
    }
}
