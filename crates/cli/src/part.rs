//! `tagmac part`: hashes a range into a sealed partial.

use tagmac_files::overwrite::Overwrite;
use tagmac_files::partial::{PartRange, Ranged, check_object, piped};
use tagmac_files::progress::Total;
use tagmac_files::sys::OsStrExt;
use tagmac_files::{Error, new_file};

use crate::args::{MAX_OBJECTS, PartArgs};
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::mac;
use crate::named_reader::stdin_once;
use crate::names;
use crate::objects::Stores;
use crate::progress::Progress;
use crate::{say, stdio};

/// Writes the partial of a range. Returns `Some(exit)` if the file could not be read.
pub fn run(args: &PartArgs) -> Result<Option<Exit>, Error> {
    names::output("-o", &args.output)?;
    names::file(&args.output)?;
    names::object(&args.file)?;
    let PartArgs { start, at, length, last, .. } = *args;
    let file = &*args.file;
    let stores =
        Stores::open([file].into_iter(), [].into_iter(), (args.reading.num_threads, MAX_OBJECTS))?;
    let object = match &args.object {
        Some(object) => object.as_bytes(),
        None if stores.is_some() => b"",
        None => {
            return Err(Error::usage(
                "--object is missing: name the object and its version; only a URL has a default",
            ));
        }
    };
    if args.object.is_some() {
        check_object(object)?;
    }
    stdin_once(&args.key.options(), [&args.file])?;
    let key = mac::open_full(&args.key.options())?;
    let range = PartRange { object, file, start, at, length, last };
    let progress = Progress::new(args.reading.progress, args.reading.bwlimit);
    let partial = if let Some(stores) = stores {
        new_file::refuse_existing(&args.output)?;
        let bar = progress.start("hashing", Total::one(length));
        stores.partial(&key, &bar, range)
    } else if file.as_os_str() == "-" {
        new_file::refuse_existing(&args.output)?;
        let bar = progress.start("hashing", Total::one(length));
        piped(&key, range, &mut stdio::Stdin, &bar)
    } else {
        let ranged = Ranged::open(&key, range)?;
        new_file::refuse_existing(&args.output)?;
        let bar = progress.start("hashing", ranged.total());
        ranged.partial(args.reading.num_threads, &bar)
    };
    match partial {
        Ok(partial) => new_file::write(&args.output, 0o666, Overwrite::Nothing, &partial)?,
        Err(error) => {
            diagnostic(say::line(&error));
            return Ok(Some(Exit::from(error.kind())));
        }
    }
    Ok(None)
}
