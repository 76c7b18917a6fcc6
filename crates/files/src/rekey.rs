//! Gives the manifest of a tree a new key: each file is read once, verified under the old key and
//! tagged under the new one.
//!
//! Both tags come from the same bytes. If there were two reads, an attacker could change a file
//! between them, and the new key would authenticate the change.

use std::path::Path;

use crate::audit::{Audited, Plan, Put, Status, TreeAudit};
use crate::chain::Chain;
use crate::day::Day;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::identity::Identity;
use crate::leaf_size;
use crate::leaves;
use crate::manifest::header::Header;
use crate::manifest::writer::Writer;
use crate::manifest::{Manifest, ManifestError, seal_mac};
use crate::open_key::OpenKey;
use crate::position::Positions;
use crate::progress::{Progress, Total};
use crate::raw_key::RawKey;
use crate::scanner::{Anew, Second};
use crate::seal::there;
use tagmac::Tag;

/// A key and its bytes.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    /// The open key.
    pub open: &'a OpenKey,
    /// Its bytes.
    pub raw: &'a RawKey,
}

/// The names of a tree and of its manifests.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The manifest under the old key.
    pub manifest: &'a Path,
    /// The manifest to write: the same, or a file that does not exist.
    pub output: &'a Path,
    /// The directory.
    pub directory: &'a Path,
}

/// A manifest that is being given a new key.
pub struct Rekeying<'a> {
    audit: TreeAudit<'a>,
    writer: Writer,
    /// The leaf tags, if the old manifest has some.
    leaves: Option<leaves::sealing::Sealing>,
    chain: Chain,
    plan: Plan,
    output: &'a Path,
    /// The file at the output when the run began.
    replaces: Option<Identity>,
}

/// The result of a run.
pub struct Rekeyed {
    /// The new manifest's seal and place in the chain; `None` if an entry is not unchanged. Then
    /// nothing was written.
    pub written: Option<(Tag, Chain)>,
    /// The summary of the audit under the old key.
    pub audited: Audited,
}

impl<'a> Rekeying<'a> {
    /// Verifies the seal of the old manifest, and starts the new one.
    pub fn new(old: Key<'a>, new: Key<'_>, names: Names<'a>) -> Result<Rekeying<'a>, Error> {
        let Names { manifest, output, directory } = names;
        let replaces = there(output);
        if replaces.is_some() && replaces != there(manifest) {
            return Err(Error::usage(format_args!(
                "{}: the file exists; the new manifest replaces only the old one",
                Escaped::name(output)
            )));
        }
        let mut audit = TreeAudit::open(old.open, old.raw, manifest, directory)?;
        let Manifest { header, seal, .. } = audit.manifest();
        let chain = header.chain.next(*seal, Day::today());
        let (filters, mut options) = (header.filters.clone(), header.options);
        let leaves = match options.leaves {
            None => None,
            Some(size) => {
                let size = leaf_size::in_blocks(size, new.open.parts()?.block());
                options.leaves = Some(size);
                let file = leaves::file::path(output, chain.sequence);
                let key = (new.open, new.raw);
                Some(leaves::sealing::Sealing::new(key, size, directory, file, None)?)
            }
        };
        let header = Header::new(new.open, options, chain.clone(), filters);
        let seal_mac = seal_mac(new.raw);
        let writer = Writer::create(output, header, &seal_mac)?;
        audit.exclude(Ok(writer.exclusions()?.into()))?;
        let made = leaves.as_ref().map(|leaves| leaves.leaves().clone());
        audit.tag_anew(Second { mac: new.open.mac.clone(), seal_mac, leaves: made });
        let plan = Plan::all(Positions::new(old.raw));
        Ok(Rekeying { audit, writer, leaves, chain, plan, output, replaces })
    }

    /// Returns the old manifest.
    pub fn manifest(&self) -> &Manifest {
        self.audit.manifest()
    }

    /// Returns the number of entries and bytes to read.
    pub fn total(&self) -> Total {
        self.audit.total()
    }

    /// Reads the tree on `threads` threads; 0 means one per core. `put` receives the verdicts under
    /// the old key, as in an audit. Writes the manifest if every entry is unchanged.
    pub fn run(
        self,
        threads: usize,
        progress: &dyn Progress,
        put: &mut Put<'_>,
    ) -> Result<Rekeyed, Error> {
        let Rekeying { audit, mut writer, mut leaves, chain, plan, output, replaces } = self;
        let mut same = true;
        let put = &mut |path: &[u8], kind: &'static str, status: Status<'_>, turn| {
            same &= matches!(status, Status::Unchanged);
            put(path, kind, status, turn);
        };
        let keep = &mut |Anew { entry, leaf_tags }| {
            writer.entry(&entry)?;
            leaves.as_mut().map_or(Ok(()), |leaves| leaves.add(&entry, &leaf_tags))
        };
        let audited = audit.keeping(&plan, &[], threads, progress, put, keep)?;
        if !same {
            return Ok(Rekeyed { written: None, audited });
        }
        // The chain would lose the manifest of a run that finished meanwhile.
        if there(output) != replaces {
            return Err(ManifestError::OtherRun { manifest: output.into() }.into());
        }
        let has_leaves = leaves.is_some();
        leaves.map(leaves::sealing::Sealing::finish).transpose()?;
        let seal = writer.finish()?;
        // Until here, the old manifest has its leaf tags.
        if has_leaves {
            leaves::file::sweep(output, Some(chain.sequence));
        }
        Ok(Rekeyed { written: Some((seal, chain)), audited })
    }
}
