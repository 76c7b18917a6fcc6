//! `tagmac update`: a tag that follows the edits of a file.

use std::io::Read;
use std::path::Path;

use tagmac_files::sidecar::{self, Edit, Sidecar, Updated};
use tagmac_files::sys::OsStrExt;
use tagmac_files::{Error, open};

use crate::args::UpdateArgs;
use crate::exit::Exit;
use crate::mac;
use crate::named_reader::stdin_once;
use crate::names;
use crate::progress::Progress;
use crate::stdio;
use crate::tag_line::{self, Form};

/// Makes one edit, or creates the sidecar, and prints the file's line.
pub fn run(args: &UpdateArgs) -> Result<Option<Exit>, Error> {
    let path = &*args.file;
    if path.as_os_str() == "-" {
        return Err(Error::usage("expected a file, found '-'; standard input cannot be updated"));
    }
    names::file(path)?;
    let patch = args.edit.patch()?;
    patch.iter().try_for_each(|(_, patch)| names::file(patch))?;
    stdin_once(&args.key.only.options(), patch.as_ref().map(|(_, patch)| patch))?;
    let key = mac::open(&args.key.options(), false)?;
    let open = || input(patch.as_ref().map_or(path, |(_, patch)| patch));
    let edit = match (&patch, args.edit.range, args.edit.truncate) {
        (Some((offset, name)), ..) => Some(Edit::Patch { offset: *offset, name, open: &open }),
        (_, Some((offset, length)), _) => Some(Edit::Range { offset, length }),
        (_, _, Some(length)) => Some(Edit::Truncate(length)),
        _ if args.edit.append => Some(Edit::Append),
        _ if args.edit.finish => Some(Edit::Finish),
        _ if args.edit.undo => Some(Edit::Undo),
        _ => None,
    };
    let update = sidecar::Update {
        file: path,
        sidecar: Sidecar::Any,
        edit,
        expect: args.expect.as_deref(),
        leaf: args.leaf,
        threads: args.reading.num_threads,
    };
    let progress = Progress::new(args.reading.progress, args.reading.bwlimit);
    let Updated { tagged, nonce } = sidecar::update(&key, &update, &progress)?;
    let form = Form { json: args.json, zero: args.zero, untagged: false };
    tag_line::print(form, &key, path.as_os_str().as_bytes(), &nonce, &tagged)?;
    Ok(None)
}

/// Opens the input of a patch.
fn input(path: &Path) -> Result<Box<dyn Read>, Error> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(stdio::Stdin));
    }
    Ok(Box::new(open::regular(path).map_err(|error| Error::file(path, error))?.0))
}
