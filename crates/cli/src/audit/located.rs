//! The damaged ranges of changed files.

use serde::Serialize;
use tagmac_files::Error;
use tagmac_files::audit::{Change, Status};
use tagmac_files::escaped::Escaped;
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::open_key::OpenKey;
use tagmac_files::progress::Progress;
use tagmac_files::raw_key::RawKey;

use crate::args::AuditArgs;
use crate::diagnostic::diagnostic;
use crate::json;
use crate::output;
use crate::repair;
use crate::say;

/// Files whose damage is located. More are reported by their number.
const MOST: usize = 1000;

/// Changed files whose damage will be located.
#[derive(Default)]
pub struct Located {
    paths: Vec<Vec<u8>>,
    more: u64,
}

/// The JSON object of a damaged file.
#[derive(Serialize)]
struct DamageRecord<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    status: &'static str,
    leaves: u64,
    of: u64,
    damaged: Vec<[u64; 2]>,
}

impl Located {
    /// Remembers a file whose contents changed.
    pub fn add(&mut self, path: &[u8], status: &Status<'_>) {
        let is_content = |change: &Change| ["size", "content"].contains(&change.what);
        if matches!(status, Status::Changed(changes) if changes.iter().any(is_content)) {
            match self.paths.len() < MOST {
                true => self.paths.push(path.to_vec()),
                false => self.more += 1,
            }
        }
    }

    /// Reads the files again and reports which bytes are damaged.
    pub fn report(
        self,
        args: &AuditArgs,
        (key, raw): (&OpenKey, &RawKey),
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        if self.paths.is_empty() {
            return Ok(());
        }
        let mut tree = SealedTree::open(key, raw, &args.manifest, &args.directory)?;
        for path in &self.paths {
            if let Err(error) = one(&mut tree, path, args.json, progress) {
                diagnostic(say::line(&error));
            }
        }
        if self.more > 0 {
            let (files, most) = (self.more, MOST);
            diagnostic(format_args!(
                "--locate: {files} more files changed; audit with the first {most} mended"
            ));
        }
        Ok(())
    }
}

fn one(
    tree: &mut SealedTree,
    path: &[u8],
    is_json: bool,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let damage = tree.damage(path, progress)?;
    if !is_json {
        let name = Escaped::bytes(path);
        diagnostic(format_args!("{name}: damaged: {}", repair::text(&damage)));
        return Ok(());
    }
    let (path, path_hex) = json::name(path);
    output::json(&DamageRecord {
        path: &path,
        path_hex,
        status: "damaged",
        leaves: damage.leaves,
        of: damage.of,
        damaged: damage.ranges.iter().map(|range| [range.start, range.end]).collect(),
    })
}
