//! The names of `--files-from`, and the patterns of the filters.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use tagmac_files::escaped::Escaped;
use tagmac_files::filter::{self, Patterns};
use tagmac_files::{Error, ReadError};

use crate::args::{FilesFromArgs, FilterArgs};

/// Maximum length of a list of names, which is in memory while the names are in use.
const MAX_BYTES: u64 = 1 << 30;
/// Maximum length of an exclude file.
const MAX_PATTERNS_BYTES: u64 = 4 << 20;

/// Reads the names of a list; `None` without `--files-from`.
pub fn names(args: &FilesFromArgs) -> Result<Option<Vec<Vec<u8>>>, Error> {
    let Some(path) = &args.files_from else { return Ok(None) };
    let text = read(path, MAX_BYTES)?;
    let end = if args.null { 0 } else { b'\n' };
    let names = text.split(|&byte| byte == end).filter(|name| !name.is_empty());
    let names: Vec<Vec<u8>> = names.map(<[u8]>::to_vec).collect();
    let shown = Escaped::name(path);
    if names.is_empty() {
        return Err(Error::usage(format_args!("--files-from: {shown}: the list has no names")));
    }
    match names.iter().find(|name| name.contains(&0)) {
        Some(_) => Err(Error::usage(format_args!(
            "--files-from: {shown}: a name contains a zero byte; use -0 for names that end with one"
        ))),
        None => Ok(Some(names)),
    }
}

/// Returns the names of a list as paths below the directory `root`. A name is relative to it, or
/// absolute and in it. The directory itself has no entry, so its name is skipped.
pub fn below(root: &Path, names: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Error> {
    let mut paths = Vec::with_capacity(names.len());
    for name in names {
        let wrong = |what: &str| {
            let name = Escaped::bytes(&name);
            Err(Error::usage(format_args!("--files-from: {name}: {what}")))
        };
        let inside = match name.starts_with(b"/") {
            true => Path::new(std::ffi::OsStr::from_bytes(&name)).strip_prefix(root).ok(),
            false => Some(Path::new(std::ffi::OsStr::from_bytes(&name))),
        };
        let Some(inside) = inside else {
            let what = format!("not in the directory {}", Escaped::name(root));
            return wrong(&what);
        };
        let parts = inside.as_os_str().as_bytes().split(|&byte| byte == b'/');
        let parts: Vec<&[u8]> = parts.filter(|part| !part.is_empty() && *part != b".").collect();
        if parts.contains(&&b".."[..]) {
            return wrong("a name in the list contains '..'; expected one below the directory");
        }
        if !parts.is_empty() {
            paths.push(parts.join(&b'/'));
        }
    }
    Ok(paths)
}

/// Returns the names of a list as the command line's names.
pub fn paths(names: Vec<Vec<u8>>) -> Vec<PathBuf> {
    names.into_iter().map(|name| OsString::from_vec(name).into()).collect()
}

/// Returns the patterns of the filters: those of the files, then what is left out, then what is
/// kept.
pub fn patterns(args: &FilterArgs) -> Result<Patterns, Error> {
    let mut patterns = Patterns::new();
    for path in &args.exclude_from {
        patterns.extend(filter::patterns_in(&read(path, MAX_PATTERNS_BYTES)?));
    }
    for glob in &args.exclude {
        if glob.as_bytes().starts_with(b"!") {
            return Err(Error::usage(format_args!(
                "--exclude: '{}': the pattern begins with '!'; use --include to keep entries",
                Escaped::text(glob.as_bytes())
            )));
        }
        patterns.push(glob.as_bytes().to_vec());
    }
    if !args.include.is_empty() && patterns.is_empty() {
        return Err(Error::usage("--include keeps what --exclude leaves out; use --exclude too"));
    }
    patterns.extend(args.include.iter().map(|glob| [b"!", glob.as_bytes()].concat()));
    Ok(patterns)
}

/// Reads a file, or standard input for `-`.
fn read(path: &Path, max: u64) -> Result<Vec<u8>, Error> {
    let failed = |error: io::Error| Error::file(path, ReadError::from(error));
    let mut text = Vec::new();
    let read = match path.as_os_str() == "-" {
        true => io::stdin().lock().take(max + 1).read_to_end(&mut text),
        false => File::open(path).map_err(failed)?.take(max + 1).read_to_end(&mut text),
    };
    read.map_err(failed)?;
    if text.len() as u64 > max {
        let name = Escaped::name(path);
        return Err(Error::io(format_args!("{name}: longer than {max} bytes")));
    }
    Ok(text)
}
