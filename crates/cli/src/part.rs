//! `tagmac part`: the sealed hash of a range.

use std::os::unix::ffi::OsStrExt;

use tagmac_files::overwrite::Overwrite;
use tagmac_files::partial::{Range, Ranged, check_object};
use tagmac_files::{Error, new_file};

use crate::args::Part;
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::mac;
use crate::progress::Progress;

/// Makes a partial of a range. `Some(exit)` if the file could not be read.
pub fn run(args: &Part) -> Result<Option<Exit>, Error> {
    for (name, option) in [(&args.file, "FILE"), (&args.output, "-o")] {
        if name.as_os_str() == "-" {
            return Err(Error::usage(format_args!("{option}: expected a file, found '-'")));
        }
    }
    let Part { start, at, length, last, .. } = *args;
    let (object, file) = (args.object.as_bytes(), &*args.file);
    check_object(object)?;
    let mac = mac::full(&args.key.options())?;
    let ranged = Ranged::open(&mac, Range { object, file, start, at, length, last })?;
    new_file::refuse_existing(&args.output)?;
    let bar = Progress::new(args.reading.progress).start("hashing", ranged.total());
    match ranged.partial(args.reading.num_threads, &bar) {
        Ok(partial) => new_file::write(&args.output, 0o666, Overwrite::Nothing, &partial)?,
        Err(error) => {
            diagnostic(&error);
            return Ok(Some(Exit::from(error.kind())));
        }
    }
    Ok(None)
}
