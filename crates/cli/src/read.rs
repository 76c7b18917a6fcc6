//! `tagmac read`: writes a range of a sealed file. Each leaf is verified before it is written.

use std::path::Path;

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::leaves::verified::Leaf;

use crate::args::{ReadArgs, SealedArgs};
use crate::files_from;
use crate::mac;
use crate::names;
use crate::output;

/// Writes the range to standard output.
pub fn run(args: &ReadArgs) -> Result<(), Error> {
    names(&args.sealed)?;
    let mut tree = open(&args.sealed)?;
    let file = tree.file(&path(&args.sealed, &args.path)?)?;
    let size = file.content().size();
    let (start, length) = args.range.unwrap_or((0, u64::MAX));
    if start > size {
        return Err(Error::usage(format_args!(
            "--range: it begins at byte {start}, but {} has {} bytes",
            Escaped::name(&args.path),
            size
        )));
    }
    let (mut at, end) = (start, start.saturating_add(length).min(size));
    let mut leaf = Leaf::default();
    if size == 0 {
        // An empty file can be a damaged one.
        file.read(0, &mut leaf)?;
    }
    while at < end {
        file.read(at, &mut leaf)?;
        let bytes = leaf.from(at);
        let bytes = &bytes[..bytes.len().min((end - at) as usize)];
        output::write(bytes)?;
        at += bytes.len() as u64;
    }
    Ok(())
}

/// Rejects names with a special meaning.
pub fn names(sealed: &SealedArgs) -> Result<(), Error> {
    let SealedArgs { manifest, directory, .. } = sealed;
    names::output("MANIFEST", manifest)?;
    names::directory(directory)?;
    [manifest, directory].into_iter().try_for_each(|name| names::file(name))
}

/// Opens the key, the manifest and the directory.
pub fn open(sealed: &SealedArgs) -> Result<SealedTree, Error> {
    let (key, raw) = mac::open_with_raw(&sealed.key.options(), false)?;
    SealedTree::open(&key, &raw, &sealed.manifest, &sealed.directory)
}

/// Returns the path in the manifest of a file in the directory.
pub fn path(sealed: &SealedArgs, path: &Path) -> Result<Vec<u8>, Error> {
    let paths = files_from::given(&[path.to_path_buf()]);
    let paths = files_from::below("PATH", &sealed.directory, paths)?;
    paths.iter().next().map(<[u8]>::to_vec).ok_or_else(|| Error::usage("PATH: expected a file"))
}
