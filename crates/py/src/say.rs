//! Errors of files in the words of Python: with the names of the arguments that they concern, and the
//! calls that help.

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::key_file::KeyError;
use tagmac_files::key_source::KeySourceError;
use tagmac_files::manifest::ManifestError;
use tagmac_files::partial::CombineError;
use tagmac_files::sidecar::{Interrupted, UpdateError};

/// The line of an error.
pub fn line(error: &Error) -> String {
    match error {
        Error::Update(error) => update(error),
        Error::Combine(error) => match &**error {
            CombineError::NoLast { found } => {
                format!("expected a last range (last=True), found {found} after all others")
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

/// Why the source of a key gave nothing.
pub fn key_source(error: &KeySourceError) -> String {
    match error {
        KeySourceError::Access(access) if access.is_other_owner() => {
            format!("{error}; to use it anyway: Key.from_command([\"cat\", FILE])")
        }
        _ => error.to_string(),
    }
}

/// Why what a source gave is no key.
pub fn key(error: &KeyError) -> String {
    match error {
        KeyError::NotAKeyFile => {
            format!("{error}; for other keys give format raw, hex or base64")
        }
        KeyError::OtherAlgorithm { expected, found } => {
            format!("expected a key for {expected} (alg), found one for {found}")
        }
        KeyError::NoAlgorithm => "format: expected alg with the key's algorithm, found none".into(),
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
            format!("{error}; Tree.create creates it and accepts the file as it is")
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

/// The two ways to go on with an interrupted edit, or the only one.
fn decision(edit: &Interrupted) -> &'static str {
    match edit {
        Interrupted::Truncation { gone: true, .. } => {
            "finish() takes it as done and deletes nothing"
        }
        Interrupted::Truncation { .. } => {
            "finish() takes it as done, undo() undoes it, and neither deletes bytes of other programs"
        }
        Interrupted::Patch { .. } => {
            "finish() writes its bytes, undo() the old ones, and neither overwrites bytes of other \
             programs"
        }
    }
}
