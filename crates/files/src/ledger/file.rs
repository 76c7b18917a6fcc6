//! The file of a ledger.

use std::path::Path;

use tagmac::Tag;

use crate::day::Day;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::ledger::{Ledger, text};
use crate::objects::ManifestKey;
use crate::sealed_file;

/// Opens the ledger of a chain; `None` if the file does not exist. Fails if the ledger has a day
/// after tomorrow: one of the clocks was wrong, and entries that were read long ago could pass as
/// read lately.
pub fn open(
    path: &Path,
    key: &ManifestKey,
    chain: &Tag,
    today: Day,
) -> Result<Option<Ledger>, Error> {
    let text = sealed_file::read(path, text::MAX_BYTES)?;
    text.map(|text| parse(&text, &Escaped::name(path).to_string(), key, chain, today)).transpose()
}

/// Merges a ledger into its file, or creates the file, and returns the merged ledger. Its sequence
/// number is one more than before. Other runs may save ledgers of the chain at the same time. A kill
/// leaves the previous file or the new one.
pub fn save(path: &Path, key: &ManifestKey, ledger: &Ledger, today: Day) -> Result<Ledger, Error> {
    let shown = Escaped::name(path).to_string();
    let mut saved = ledger.clone();
    sealed_file::update(path, text::MAX_BYTES, |old| {
        saved = ledger.clone();
        if let Some(old) = old {
            let old = parse(old, &shown, key, &ledger.chain, today)?;
            saved.merge(&old).map_err(|error| Error::io(format_args!("{shown}: {error}")))?;
        }
        let next = saved.sequence.checked_add(1);
        saved.sequence = next.ok_or_else(|| Error::io(format_args!("{shown}: too many saves")))?;
        Ok(write(&saved, key))
    })?;
    Ok(saved)
}

/// Returns the text of a ledger, with its seal.
pub(super) fn write(ledger: &Ledger, key: &ManifestKey) -> Vec<u8> {
    let mut text = text::body(ledger, key.key_id);
    key.close(&mut text);
    text
}

/// Parses the text of a ledger: the first two lines, the seal, and then the rest.
pub(super) fn parse(
    text: &[u8],
    shown: &str,
    key: &ManifestKey,
    chain: &Tag,
    today: Day,
) -> Result<Ledger, Error> {
    let mut lines = sealed_file::body(text, "ledger", text::FIRST_LINE, shown, key)?;
    let ledger = text::parse(&mut lines)
        .map_err(|why| Error::mismatch(format_args!("{shown}: line {}: {why}", lines.number())))?;
    if ledger.chain != *chain {
        return Err(Error::mismatch(format_args!(
            "{shown}: the ledger belongs to another chain of manifests: expected {chain}, found {}",
            ledger.chain
        )));
    }
    if let Some(latest) = ledger.latest()
        && latest.days() > today.days() + 1
    {
        return Err(Error::io(format_args!(
            "{shown}: the ledger says that entries were read on {latest}, and today is {today}; set \
             the clock, or remove the ledger to read all entries again"
        )));
    }
    Ok(ledger)
}
