//! Lists the files of a manifest as a store lists its objects.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ListResult, ObjectMeta, Result};
use tagmac_files::dir::EntryKind;
use tagmac_files::leaves::content::{Contents, below};
use tagmac_files::manifest::entry::Entry;

use crate::verified::error::generic;
use crate::verified::meta;
use crate::verified::threads::blocking;

/// The number of entries that are read at once.
const PAGE: usize = 1000;

/// Lists the files below a path. Memory holds one page.
pub fn all(contents: Arc<Contents>, path: Vec<u8>) -> BoxStream<'static, Result<ObjectMeta>> {
    let pages = stream::try_unfold(Some(path.clone()), move |start| {
        let (contents, path) = (contents.clone(), path.clone());
        async move {
            let Some(start) = start else { return Ok(None) };
            blocking(move || page(&contents, &path, &start)).await.map(Some)
        }
    });
    pages.map_ok(stream::iter).try_flatten().boxed()
}

type Metas = VecDeque<Result<ObjectMeta>>;

/// Returns the files among the entries from `start` on, and where the next page starts.
fn page(contents: &Contents, path: &[u8], start: &[u8]) -> Result<(Metas, Option<Vec<u8>>)> {
    let mut metas = VecDeque::new();
    for (number, entry) in contents.entries_from(path, start).enumerate() {
        let entry = entry.map_err(generic)?;
        if number == PAGE {
            return Ok((metas, Some(entry.path)));
        }
        metas.extend(file_below(&entry, path).transpose());
    }
    Ok((metas, None))
}

/// Returns the metadata of a file below a path. Like other stores, this does not list the path
/// itself.
fn file_below(entry: &Entry, path: &[u8]) -> Result<Option<ObjectMeta>> {
    if entry.kind != EntryKind::File || entry.path == path {
        return Ok(None);
    }
    Ok(meta::of(entry, meta::location(&entry.path)?))
}

/// Lists the files in a directory, and its directories with files anywhere below them.
pub fn directory(contents: &Contents, path: &[u8]) -> Result<ListResult> {
    let (mut objects, mut common_prefixes) = (Vec::new(), Vec::new());
    let mut start = Some(path.to_vec());
    while let Some(from) = start.take() {
        // The entries of a directory that is listed already, and their number.
        let mut listed: Option<(Vec<u8>, usize)> = None;
        for entry in contents.entries_from(path, &from) {
            let entry = entry.map_err(generic)?;
            if let Some((above, count)) = &mut listed
                && below(above, &entry.path).is_some()
            {
                *count += 1;
                if *count < PAGE {
                    continue;
                }
                start = Some(contents.after(above));
                break;
            }
            let Some(meta) = file_below(&entry, path)? else { continue };
            let cut = if path.is_empty() { 0 } else { path.len() + 1 };
            match entry.path[cut..].iter().position(|&byte| byte == b'/') {
                None => objects.push(meta),
                Some(end) => {
                    let above = &entry.path[..cut + end];
                    common_prefixes.push(meta::location(above)?);
                    listed = Some((above.to_vec(), 0));
                }
            }
        }
    }
    Ok(ListResult { common_prefixes, objects, extensions: Default::default() })
}

/// Returns the path in the manifest of a prefix of a listing.
pub fn path_of(prefix: Option<&Path>) -> Vec<u8> {
    prefix.map_or_else(Vec::new, |prefix| prefix.as_ref().as_bytes().to_vec())
}
