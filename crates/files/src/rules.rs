//! Rules for the entries of a walk.

use std::io::Read;

use crate::dir::DirTree;
use crate::filter::Filter;

/// Rules for the entries of a walk.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Patterns of entries to leave out.
    pub filter: Filter,
    /// Directories with a `CACHEDIR.TAG` are not entered.
    pub exclude_caches: bool,
    /// Directories at this depth are not entered; those in the root have depth 1.
    pub max_depth: Option<u32>,
}

impl Rules {
    /// Returns whether the directory at `path` is not entered.
    pub fn close(&self, tree: &mut DirTree, path: &[u8]) -> bool {
        let depth = path.iter().filter(|&&byte| byte == b'/').count() as u32 + 1;
        !path.is_empty()
            && (self.max_depth.is_some_and(|most| depth >= most)
                || self.exclude_caches && is_cache(tree, path))
    }
}

/// Returns whether a directory declares itself a cache, as `https://bford.info/cachedir/` specifies:
/// it has a regular file `CACHEDIR.TAG` that begins with a signature.
fn is_cache(tree: &mut DirTree, path: &[u8]) -> bool {
    let signature = b"Signature: 8a477f597d28d172789f06886806bc55";
    let mut start = Vec::new();
    let tag = [path, b"/CACHEDIR.TAG"].concat();
    let read = tree
        .file(&tag)
        .is_ok_and(|(file, _)| file.take(signature.len() as u64).read_to_end(&mut start).is_ok());
    read && start == signature
}
