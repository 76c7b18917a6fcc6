//! The damaged ranges of changed files.

use serde::Serialize;
use tagmac_files::Error;
use tagmac_files::audit::{Change, Status};
use tagmac_files::escaped::Escaped;
use tagmac_files::leaves::repair::Damage;

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

/// Reads a file and returns its damage.
pub type FindDamage<'a> = Box<dyn FnMut(&[u8]) -> Result<Damage, Error> + 'a>;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<bool>,
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
    pub fn report<'a>(
        self,
        is_json: bool,
        damage: impl FnOnce() -> Result<FindDamage<'a>, Error>,
    ) -> Result<(), Error> {
        if self.paths.is_empty() {
            return Ok(());
        }
        let mut damage = damage()?;
        for path in &self.paths {
            if let Err(error) = damage(path).and_then(|damage| one(path, &damage, false, is_json)) {
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

/// Reports the damage of sampled leaves, if a status has some.
pub fn sampled(path: &[u8], status: &Status<'_>, is_json: bool) {
    let Status::Changed(changes) = status else { return };
    for damage in changes.iter().filter_map(|change| change.damage.as_deref()) {
        if let Err(error) = one(path, damage, true, is_json) {
            diagnostic(say::line(&error));
        }
    }
}

/// Reports the damage of a file, or that of the leaves that were read.
fn one(path: &[u8], damage: &Damage, is_sample: bool, is_json: bool) -> Result<(), Error> {
    if !is_json {
        let (name, text) = (Escaped::bytes(path), repair::text(damage));
        match is_sample {
            true => diagnostic(format_args!("{name}: damaged, as far as it was read: {text}")),
            false => diagnostic(format_args!("{name}: damaged: {text}")),
        }
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
        sampled: is_sample.then_some(true),
    })
}
