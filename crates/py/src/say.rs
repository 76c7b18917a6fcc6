//! Messages of `tagmac_files` errors for Python: they name the arguments, and the calls that help.

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::key_file::KeyError;
use tagmac_files::key_source::KeySourceError;
use tagmac_files::manifest::ManifestError;
use tagmac_files::partial::CombineError;
use tagmac_files::sidecar::{Interrupted, UpdateError};

/// The message of an error.
pub fn line(error: &Error) -> String {
    match error {
        Error::Update(error) => update(error),
        Error::Combine(error) => match &**error {
            CombineError::NoLast { found } => {
                format!("the last range (last=True) is missing; the others end with {found}")
            }
            _ => error.to_string(),
        },
        Error::Manifest(error) => match &**error {
            ManifestError::NoFileName { .. } => format!("manifest: {error}"),
            ManifestError::Unsealed { .. } => {
                format!("{error}; skip_unreadable=True seals the rest")
            }
            ManifestError::TagBits { .. } => format!("{error}; see the key's tag_bits"),
            _ => error.to_string(),
        },
        _ => error.to_string(),
    }
}

/// The message of a key source that cannot be read.
pub fn key_source(error: &KeySourceError) -> String {
    match error {
        KeySourceError::Access(access) if access.is_other_owner() => {
            format!("{error}; to use it anyway: Key.from_command([\"cat\", FILE])")
        }
        _ => error.to_string(),
    }
}

/// The message for a text that does not contain a key.
pub fn key(error: &KeyError) -> String {
    match error {
        KeyError::NotAKeyFile => {
            format!("{error}; for other keys give format raw, hex or base64")
        }
        KeyError::OtherAlgorithm { expected, found } => {
            format!("expected a key for {expected} (alg), found one for {found}")
        }
        KeyError::NoAlgorithm => "alg: a bare key needs its algorithm's name".into(),
        _ => error.to_string(),
    }
}

fn update(error: &UpdateError) -> String {
    let reason = error.reason();
    let place = match error.place() {
        Some(place) => format!("{}: ", Escaped::name(place)),
        None => String::new(),
    };
    let argument = |name: &str| format!("{place}{name}: {reason}");
    match error {
        UpdateError::NoSidecar { .. } => {
            format!("{error}; Tree.create creates it and accepts the file's current content")
        }
        UpdateError::LeafTooLong { max, found } => {
            format!("leaf: expected at most {max} bytes (64 MiB), found {found}")
        }
        UpdateError::ExpectedTag { algorithm, error } => format!("expect: {algorithm}: {error}"),
        UpdateError::OtherTag { .. } => argument("expect"),
        UpdateError::ExpectedInterrupted { .. } => {
            format!("{}; undo() undoes it, finish() finishes it", argument("expect"))
        }
        UpdateError::OtherLength { expected, found, .. } if found > expected => {
            format!("{error}: append() accepts what was added")
        }
        UpdateError::Unaccepted { bytes, grew, settled, .. } => {
            let and = if *settled { ", and" } else { ";" };
            let then = if *grew { ", and then append() accepts what was added" } else { "" };
            let (start, length) = (bytes.start, bytes.end - bytes.start);
            format!("{error}{and} range({start}, {length}) accepts them as they are now{then}")
        }
        UpdateError::PatchStart { .. } => argument("offset"),
        UpdateError::PatchTooLong(..) => argument("data"),
        UpdateError::PatchEnd { .. } => {
            format!("{}; append() accepts what was added at its end", argument("data"))
        }
        UpdateError::TruncateEnd { .. } => argument("length"),
        UpdateError::RangeEnd { .. } => argument("offset and length"),
        UpdateError::Stuck { edit, .. } => format!("{error}: {}", decision(edit)),
        UpdateError::Unfinished { edit, expects, error, .. } => {
            let next = match expects {
                true => format!("finish() continues the {edit}, undo() undoes it"),
                false => format!("the next call continues the {edit}, or undo() undoes it"),
            };
            format!("{place}{error}; {next}; free space if the disk is full")
        }
        _ => error.to_string(),
    }
}

/// The ways to continue after an interrupted edit.
fn decision(edit: &Interrupted) -> &'static str {
    match edit {
        Interrupted::Truncation { gone: true, .. } => {
            "finish() treats it as done and deletes nothing"
        }
        Interrupted::Truncation { .. } => {
            "finish() treats it as done, undo() undoes it, and neither deletes bytes of other \
             programs"
        }
        Interrupted::Patch { .. } => {
            "finish() writes the new bytes, undo() the old ones, and neither overwrites bytes of \
             other programs"
        }
    }
}
