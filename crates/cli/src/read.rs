//! `tagmac read`: writes a range of a sealed file. Each leaf is verified before it is written.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::leaves::content::Contents;
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::leaves::verified::Leaf;

use crate::args::{MAX_OBJECTS, ReadArgs, SealedArgs};
use crate::files_from;
use crate::mac;
use crate::names;
use crate::objects::{Stores, is_url};
use crate::output;

/// Writes the range to standard output.
pub fn run(args: &ReadArgs) -> Result<(), Error> {
    let SealedArgs { manifest, directory, .. } = &args.sealed;
    names::output("MANIFEST", manifest)?;
    names::directory(directory)?;
    names::object(manifest)?;
    let stores = stores(&args.sealed)?;
    let contents = contents(&args.sealed, stores.as_ref())?;
    let range = |size| range(args, size);
    if let Some(stores) = stores.filter(|_| is_url(directory)) {
        let path = files_from::object(args.path.as_os_str().as_encoded_bytes());
        return stores.read_sealed(&contents, (directory, &path), range, output::write);
    }
    let file = SealedTree::new(contents, directory)?.file(&path(&args.sealed, &args.path)?)?;
    let size = file.content().size();
    let Range { start: mut at, end } = range(size)?;
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

/// Returns the range to write of a file of `size` bytes.
fn range(args: &ReadArgs, size: u64) -> Result<Range<u64>, Error> {
    let (start, length) = args.range.unwrap_or((0, u64::MAX));
    if start > size {
        return Err(Error::usage(format_args!(
            "--range: it begins at byte {start}, but {} has {} bytes",
            Escaped::name(&args.path),
            size
        )));
    }
    Ok(start..start.saturating_add(length).min(size))
}

/// Rejects names with a special meaning, and the URL of objects instead of a directory.
pub fn names(sealed: &SealedArgs) -> Result<(), Error> {
    let SealedArgs { manifest, directory, .. } = sealed;
    names::output("MANIFEST", manifest)?;
    names::directory(directory)?;
    names::file(directory)?;
    names::object(manifest)
}

/// Opens the key, the manifest and the directory.
pub fn open(sealed: &SealedArgs) -> Result<SealedTree, Error> {
    SealedTree::new(contents(sealed, stores(sealed)?.as_ref())?, &sealed.directory)
}

/// Opens the stores of the URLs.
fn stores(sealed: &SealedArgs) -> Result<Option<Stores>, Error> {
    let names = [&*sealed.manifest, &*sealed.directory].into_iter();
    Stores::open(names, [].into_iter(), (0, MAX_OBJECTS))
}

/// Opens the key and the manifest.
fn contents(sealed: &SealedArgs, stores: Option<&Stores>) -> Result<Arc<Contents>, Error> {
    let (key, raw) = mac::open_with_raw(&sealed.key.options(), false)?;
    let contents = match stores.filter(|_| is_url(&sealed.manifest)) {
        Some(stores) => Contents::open_bucket(&key, &raw, stores.place(&sealed.manifest)?),
        None => Contents::open(&key, &raw, &sealed.manifest),
    };
    contents.map(Arc::new)
}

/// Returns the path in the manifest of a file in the directory.
pub fn path(sealed: &SealedArgs, path: &Path) -> Result<Vec<u8>, Error> {
    let paths = files_from::given(&[path.to_path_buf()]);
    let paths = files_from::below("PATH", &sealed.directory, paths)?;
    paths.iter().next().map(<[u8]>::to_vec).ok_or_else(|| Error::usage("PATH: expected a file"))
}
