//! What a manifest is of: a walk through a tree, and the remarks on what it leaves out.

use std::io;
use std::path::Path;

use crate::diagnostic::diagnostic;
use crate::dir::DirTree;
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::manifest::header::ManifestOptions;
use crate::walk::Walk;

/// A walk through all of a tree but what is `excluded`.
pub fn start(tree: &DirTree, excluded: &[Exclusion], options: ManifestOptions) -> io::Result<Walk> {
    let walk = Walk::new(tree.again()?, excluded.to_vec());
    if options.one_file_system { walk.on_one_file_system() } else { Ok(walk) }
}

/// Says that a directory is not entered.
pub fn remark_mount(path: &Path) {
    let name = Escaped::name(path);
    diagnostic(format_args!("{name}: not entered: it is on another file system"));
}

/// Says that the manifest is left out of its tree.
pub fn remark_manifest(path: &Path) {
    diagnostic(format_args!("{}: left out: it is the manifest", Escaped::name(path)));
}

/// Says that what could be the manifest of another run is left out.
pub fn remark_leftover(path: &Path) {
    diagnostic(format_args!(
        "{}: left out: it has the name of a manifest in the making",
        Escaped::name(path)
    ));
}
