//! `tagmac part`: the sealed hash of a range.

use std::fmt;
use std::os::unix::ffi::OsStrExt;

use tagmac::dynamic::Partial;
use tagmac_files::escaped::Escaped;
use tagmac_files::mac::Mac;
use tagmac_files::overwrite::Overwrite;
use tagmac_files::progress::{Progress as _, Total};
use tagmac_files::read::{Reader, Span};
use tagmac_files::{Error, ReadError, open};

use crate::args::Part;
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::mac;
use crate::output;
use crate::progress::Progress;

/// Makes a partial of a range. `Some(exit)` if the file could not be read.
pub fn run(args: &Part) -> Result<Option<Exit>, Error> {
    for (name, option) in [(&args.file, "FILE"), (&args.output, "-o")] {
        if name.as_os_str() == "-" {
            return Err(Error::usage(format_args!("{option}: expected a file, found '-'")));
        }
    }
    let object = args.object.as_bytes();
    let (most, found) = (Partial::MOST_OBJECT, object.len());
    if !(1..=most).contains(&found) {
        return Err(Error::usage(format_args!(
            "--object: expected a name of 1 to {most} bytes, found {found}"
        )));
    }
    let mac = mac::full(&args.key.options())?;
    let block = mac.parts()?.block() as u64;
    aligned(&mac, "--start", block, args.start)?;
    let length = length(args, &mac, block)?;
    let (file, before) = match open::regular(&args.file) {
        Ok(opened) => opened,
        Err(error) => return Ok(failed(args, &error)),
    };
    let span = match span(args, length, before.len())? {
        Ok(span) => span,
        Err(error) => return Ok(failed(args, &error)),
    };
    output::refuse_existing(&args.output)?;
    let progress = Progress::new(args.reading.progress);
    let bar = progress.start("hashing", Total::one(Some(span.bytes)));
    let mut reader = Reader::new(&mac.mac, args.reading.num_threads, &bar);
    let (part, rest) = match reader.part(&file, &before, span, args.last) {
        Ok(made) => made,
        Err(error) => return Ok(failed(args, &error)),
    };
    bar.file();
    let sealed = Partial::seal(&mac.mac, &mac.sealer, object, &part, args.last.then_some(rest));
    output::file(&args.output, 0o666, Overwrite::Nothing, &sealed.map_err(Error::io)?)?;
    Ok(None)
}

/// The length of a range that is not the last.
fn length(args: &Part, mac: &Mac, block: u64) -> Result<Option<u64>, Error> {
    if args.last {
        return Ok(None);
    }
    let bytes = args.length.ok_or_else(|| {
        Error::usage(
            "--length: expected the bytes of the range, found none; \
             --last alone goes to the end of the file",
        )
    })?;
    aligned(mac, "--length, without --last", block, bytes)?;
    some(bytes)?;
    Ok(Some(bytes))
}

/// The range and where it is in the file, which has `found` bytes.
fn span(args: &Part, length: Option<u64>, found: u64) -> Result<Result<Span, ReadError>, Error> {
    let (start, at) = (args.start, args.at.unwrap_or(args.start));
    if let Some(bytes) = length {
        return Ok(Ok(Span { start, at, bytes }));
    }
    let Some(left) = found.checked_sub(at) else {
        return Ok(Err(ReadError::Short { expected: at, found }));
    };
    let bytes = args.length.unwrap_or(left);
    if bytes < left {
        return Err(Error::usage(format_args!(
            "--last: expected the range to end with the file, at byte {found}, found its end at {}",
            at + bytes
        )));
    }
    if start > 0 {
        some(bytes)?;
    }
    Ok(Ok(Span { start, at, bytes }))
}

/// Refuses what is no multiple of the block.
fn aligned(mac: &Mac, what: impl fmt::Display, block: u64, found: u64) -> Result<(), Error> {
    let below = found / block * block;
    if below == found {
        return Ok(());
    }
    let algorithm = mac.mac.algorithm();
    let above = below.checked_add(block).map_or(String::new(), |above| format!(" and {above}"));
    Err(Error::usage(format_args!(
        "{what}: expected a multiple of {algorithm}'s block of {block} bytes, found {found}; \
         the nearest: {below}{above}"
    )))
}

fn some(bytes: u64) -> Result<(), Error> {
    match bytes {
        0 => Err(Error::usage("--length: expected at least 1 byte, found 0")),
        _ => Ok(()),
    }
}

fn failed(args: &Part, error: &ReadError) -> Option<Exit> {
    let hint = match error {
        ReadError::Short { .. } if args.at.is_none() => "; --at 0 is for a file of the range alone",
        _ => "",
    };
    diagnostic(format_args!("{}: {error}{hint}", Escaped::name(&args.file)));
    Some(Exit::Io)
}
