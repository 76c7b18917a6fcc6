//! `tagmac tag`: prints a line for each file.

use std::io;
use std::iter;
use std::path::Path;

use tagmac_files::checkpoint::Checkpointer;
use tagmac_files::dir::{DirTree, EntryKind};
use tagmac_files::escaped::Escaped;
use tagmac_files::open_key::OpenKey;
use tagmac_files::progress::{Progress as _, Total};
use tagmac_files::read::Tagged;
use tagmac_files::sys::OsStrExt;
use tagmac_files::walk::{self, Walk};
use tagmac_files::{Error, ReadError};

use crate::args::TagArgs;
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::files_from;
use crate::mac;
use crate::named_reader::{self, Named, NamedReader, is_dir};
use crate::names;
use crate::objects::{Stores, is_url};
use crate::output;
use crate::progress::{Bar, Progress};
use crate::record::FileRecord;
use crate::say;
use crate::tag_line::{self, Form};

/// Tags the files. Returns `Some(exit)` if one could not be tagged.
pub fn run(args: &TagArgs) -> Result<Option<Exit>, Error> {
    let list = files_from::names(&args.names)?;
    let files: &Vec<&Path> = &match &list {
        Some(names) => files_from::paths(names).collect(),
        None => args.files.iter().map(|file| &**file).collect(),
    };
    let (nonce, keeps) = (args.nonce_hex.is_some(), args.checkpoint.is_some());
    for (given, option) in [(args.raw, "--raw"), (nonce, "--nonce-hex"), (keeps, "--checkpoint")] {
        let found = files.len();
        if given && found != 1 {
            return Err(Error::usage(format_args!("{option}: expected one file, found {found}")));
        }
    }
    if keeps && files[0].as_os_str() == "-" {
        return Err(Error::usage("--checkpoint: expected a file, found standard input"));
    }
    if keeps && is_url(files[0]) {
        return Err(Error::usage("--checkpoint: expected a file, found the URL of an object"));
    }
    if let Some(checkpoint) = &args.checkpoint {
        names::output("--checkpoint", checkpoint)?;
        names::file(checkpoint)?;
    }
    files.iter().try_for_each(|file| names::object(file))?;
    let names = files.iter().copied();
    let limits = (args.reading.num_threads, args.listing.max_objects);
    let stores = Stores::open(names, iter::empty(), limits)?;
    named_reader::stdin_once(&args.key.only.options(), files)?;
    let key = mac::open(&args.key.options(), false)?;
    let alone = [(args.raw, "--raw"), (args.untagged, "--untagged")];
    let alone = alone.into_iter().find_map(|(given, option)| given.then_some(option));
    let nonce = mac::given_nonce(&key, args.nonce_hex.as_deref(), alone)?;
    if keeps {
        key.parts()?;
    }
    let checkpointer =
        args.checkpoint.as_ref().map(|path| Checkpointer::new(&key, path, args.checkpoint_every));
    let progress = Progress::new(args.reading.progress, args.reading.bwlimit);
    let total = if progress.is_shown() { total(args, files) } else { Total::UNKNOWN };
    let bar = progress.start("tagging", total);
    let reader = NamedReader::new(&key, args.reading.num_threads, &bar, stores.clone());
    let exit = None;
    let mut tagger =
        Tagger { args, key: &key, nonce, reader, stores, checkpointer, bar: &bar, exit };
    for file in files {
        tagger.name(file)?;
    }
    Ok(tagger.exit)
}

/// Returns the total size of the files.
fn total(args: &TagArgs, files: &[&Path]) -> Total {
    let one = |name: &&Path| {
        if args.recursive && is_url(name) {
            return Total::UNKNOWN;
        }
        if !args.recursive || !is_dir(name) {
            return named_reader::total(name);
        }
        let trees = DirTree::open(name).and_then(|tree| Ok((tree.again()?, tree)));
        let is_file = |kind| kind == EntryKind::File;
        trees.map_or(Total::NONE, |(again, tree)| {
            walk::total(again, Walk::new(tree, Vec::new()), is_file)
        })
    };
    files.iter().map(one).fold(Total::NONE, Total::and)
}

struct Tagger<'a> {
    args: &'a TagArgs,
    key: &'a OpenKey,
    /// The value of `--nonce-hex`, for the only file.
    nonce: Option<&'a [u8]>,
    reader: NamedReader<'a>,
    /// The stores that the command line names.
    stores: Option<Stores>,
    /// The checkpoint of the only file, with `--checkpoint`.
    checkpointer: Option<Checkpointer<'a>>,
    bar: &'a Bar,
    exit: Option<Exit>,
}

impl<'a> Tagger<'a> {
    /// Tags what a name of the command line refers to.
    fn name(&mut self, name: &Path) -> Result<(), Error> {
        if self.args.recursive && is_url(name) {
            return self.below(name);
        }
        if !self.args.recursive || !is_dir(name) {
            let made = self.tag(|reader, checkpointer, nonce| match checkpointer {
                Some(checkpointer) => reader.tag_kept(name, nonce, checkpointer),
                None => reader.tag(name, nonce, Named::User),
            });
            return self.made(name, made);
        }
        walk::files(name, |path, file| {
            let (file, facts) = match file {
                Ok(opened) => opened,
                Err(error) => return self.unreadable(path, &error),
            };
            match self.reader.is_not_output(&facts) {
                Err(error) => {
                    diagnostic(format_args!("{}: skipped: {error}", Escaped::name(path)));
                    Ok(())
                }
                Ok(()) => {
                    let made =
                        self.tag(|reader, _, nonce| reader.tag_open(path, &file, &facts, nonce));
                    self.made(path, made)
                }
            }
        })
    }

    /// Tags all objects below a URL.
    fn below(&mut self, url: &Path) -> Result<(), Error> {
        let Some(stores) = self.stores.clone() else { return Ok(()) };
        stores.tag_below(self.key, self.bar, url, |path, made| {
            // A zero byte in the name would end the line and begin another one with any name and
            // tag.
            let made = match self.args.zero && path.as_os_str().as_bytes().contains(&0) {
                true => Err(ReadError::Io(io::Error::other(
                    "the name contains a zero byte, which would end its line",
                ))),
                false => made,
            };
            self.made(path, made)
        })
    }

    /// Tags a file under the given nonce, or a new random one.
    fn tag(
        &mut self,
        tag: impl FnOnce(
            &mut NamedReader<'a>,
            Option<&mut Checkpointer<'a>>,
            &[u8],
        ) -> Result<Tagged, ReadError>,
    ) -> Result<(Vec<u8>, Tagged), ReadError> {
        let nonce = match self.nonce {
            Some(given) => given.to_vec(),
            None => self.key.mac.algorithm().random_nonce()?,
        };
        let tagged = tag(&mut self.reader, self.checkpointer.as_mut(), &nonce)?;
        Ok((nonce, tagged))
    }

    fn made(
        &mut self,
        file: &Path,
        made: Result<(Vec<u8>, Tagged), ReadError>,
    ) -> Result<(), Error> {
        self.bar.file();
        match made {
            Ok((nonce, tagged)) => {
                self.tagged(file, &nonce, &tagged)?;
                if let Some(checkpointer) = &self.checkpointer {
                    output::settle()?;
                    checkpointer.done();
                }
                Ok(())
            }
            Err(error) => self.unreadable(file, &error),
        }
    }

    fn tagged(&self, file: &Path, nonce: &[u8], tagged: &Tagged) -> Result<(), Error> {
        let args = self.args;
        if args.raw {
            return output::write(tagged.tag.as_bytes());
        }
        let form = Form { json: args.json, zero: args.zero, untagged: args.untagged };
        tag_line::print(form, self.key, file.as_os_str().as_bytes(), nonce, tagged)
    }

    fn unreadable(&mut self, file: &Path, error: &ReadError) -> Result<(), Error> {
        self.exit = Some(Exit::from(error.kind()));
        let hint = match error {
            ReadError::Directory => "; -r tags the files in it",
            ReadError::Missing(_) if is_url(file) && !self.args.recursive => {
                "; -r tags the objects below it"
            }
            _ => "",
        };
        let why = say::read(error);
        diagnostic(format_args!("{}: {why}{hint}", Escaped::name(file)));
        if !self.args.json {
            return Ok(());
        }
        let (name, reason) = (file.as_os_str().as_bytes(), Some(why));
        output::json(&FileRecord { reason, ..FileRecord::new(name, self.key, "unreadable") })
    }
}
