//! The names of `--files-from`, and the patterns of the filters.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tagmac_files::dir;
use tagmac_files::escaped::Escaped;
use tagmac_files::filter::{self, Patterns};
use tagmac_files::name_list::{MAX_TEXT, NameList};
use tagmac_files::objects::check_name;
use tagmac_files::plain::{self, NotBelow};
use tagmac_files::sys::OsStrExt;
use tagmac_files::{Error, ReadError};

use crate::args::{FilesFromArgs, FilterArgs};

/// Maximum length of an exclude file.
const MAX_PATTERNS_BYTES: u64 = 4 << 20;

/// Reads the names of a list; `None` without `--files-from`.
pub fn names(args: &FilesFromArgs) -> Result<Option<NameList>, Error> {
    let Some(path) = &args.files_from else { return Ok(None) };
    let text = read(path, MAX_TEXT)?;
    let names = NameList::split(text, if args.null { 0 } else { b'\n' });
    let shown = Escaped::name(path);
    if names.is_empty() {
        return Err(Error::usage(format_args!("--files-from: {shown}: the list has no names")));
    }
    if names.iter().any(|name| name.contains(&0)) {
        return Err(Error::usage(format_args!(
            "--files-from: {shown}: a name contains a zero byte; use -0 for names that end with one"
        )));
    }
    Ok(Some(names))
}

/// Returns the names of a command line as a list.
pub fn given(names: &[PathBuf]) -> NameList {
    let text: Vec<u8> =
        names.iter().flat_map(|name| [name.as_os_str().as_bytes(), b"\0"].concat()).collect();
    NameList::split(text, 0)
}

/// Returns names as sorted paths below the directory `root`. A name is relative to it, or absolute
/// and in it. The directory itself has no entry, so its name is skipped. Messages begin with
/// `label`.
pub fn below(label: &str, root: &Path, mut names: NameList) -> Result<NameList, Error> {
    let in_root: Vec<&[u8]> = plain::names(root.as_os_str().as_bytes()).collect();
    // `find DIR` prints names that begin with DIR.
    if let Some(name) = names.get(0)
        && root.is_relative()
        && !in_root.is_empty()
        && plain::names(name).take(in_root.len()).eq(in_root.iter().copied())
        && !root.join(root).exists()
    {
        let (name, root) = (Escaped::bytes(name), Escaped::name(root));
        return Err(Error::usage(format_args!(
            "{label}: {name}: expected a name relative to {root}; 'find {root} -printf \"%P\\n\"' \
             prints such names"
        )));
    }
    names.shorten(|path| match plain::shorten(path, Some(root)) {
        Ok(length) => Ok(0..length),
        Err(why) => {
            let name = Escaped::bytes(path);
            Err(Error::usage(match why {
                NotBelow::Absolute => {
                    let root = Escaped::name(root);
                    format!("{label}: {name}: not in the directory {root}")
                }
                NotBelow::Parent => format!(
                    "{label}: {name}: the name contains '..'; expected one below the directory"
                ),
            }))
        }
    })?;
    names.sort(dir::order);
    Ok(names)
}

/// Returns the names of a list as sorted names of objects below a URL.
pub fn objects(mut names: NameList) -> Result<NameList, Error> {
    for name in names.iter() {
        let wrong = |what: &str| {
            let name = Escaped::bytes(&name[..name.len().min(100)]);
            Error::usage(format_args!("--files-from: {name}: {what}"))
        };
        check_name(name).map_err(wrong)?;
        str::from_utf8(name).map_err(|_| wrong("the name is not valid UTF-8"))?;
    }
    names.sort(<[u8]>::cmp);
    Ok(names)
}

/// Returns a path below the root of a tree in its plain form; an empty one for the root.
pub fn path(name: &[u8]) -> Result<Vec<u8>, Error> {
    let mut path = name.to_vec();
    let length = plain::shorten(&mut path, None)
        .map_err(|why| Error::usage(format_args!("{}: {why}", Escaped::bytes(name))))?;
    path.truncate(length);
    Ok(path)
}

/// Returns the name of an object, or of the objects below it, without slashes at the end.
pub fn object(name: &[u8]) -> Vec<u8> {
    name[..name.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1)].to_vec()
}

/// Returns the names of a list as the command line's names.
pub fn paths(names: &NameList) -> impl Iterator<Item = &Path> {
    names.iter().map(|name| Path::new(OsStr::from_bytes(name)))
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
