//! Walks through a tree for a manifest, and remarks on the entries left out.

use std::io;
use std::path::Path;

use crate::diagnostic::diagnostic;
use crate::dir::DirTree;
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::filter::Filter;
use crate::manifest::options::ManifestOptions;
use crate::rules::Rules;
use crate::walk::Walk;

/// Starts a walk through a tree without the entries in `excluded` and those that the filter and the
/// options leave out.
pub fn start(
    tree: &DirTree,
    excluded: &[Exclusion],
    options: ManifestOptions,
    filter: Filter,
) -> io::Result<Walk> {
    let ManifestOptions { exclude_caches, max_depth, .. } = options;
    let rules = Rules { filter, exclude_caches, max_depth };
    let walk = Walk::new(tree.again()?, excluded.to_vec()).with_rules(rules);
    if options.one_file_system { walk.on_one_file_system() } else { Ok(walk) }
}

/// Reports that a directory is not entered.
pub fn remark_mount(path: &Path) {
    let name = Escaped::name(path);
    diagnostic(format_args!("{name}: not entered: it is on another file system"));
}

/// Reports that the manifest itself is left out.
pub fn remark_manifest(path: &Path) {
    diagnostic(format_args!("{}: left out: it is the manifest", Escaped::name(path)));
}

/// Reports that a sealed file is not audited because the audit uses it.
pub fn remark_own(path: &Path) {
    let name = Escaped::name(path);
    diagnostic(format_args!("{name}: sealed, but not audited: this run keeps its records there"));
}

/// Reports that an entry is left out because it may be the unfinished manifest of another run.
pub fn remark_leftover(path: &Path) {
    diagnostic(format_args!(
        "{}: left out: it has the name of an unfinished manifest",
        Escaped::name(path)
    ));
}

/// Reports that the checkpoint of this run is left out.
pub fn remark_checkpoint(path: &Path) {
    diagnostic(format_args!("{}: left out: it is the checkpoint", Escaped::name(path)));
}
