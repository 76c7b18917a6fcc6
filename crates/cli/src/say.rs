//! Error messages for the command line: adds the options that are concerned, and what to do, to the
//! facts of `tagmac_files`.

use tagmac_any::PartialError;
use tagmac_files::escaped::Escaped;
use tagmac_files::key_file::KeyError;
use tagmac_files::key_source::KeySourceError;
use tagmac_files::manifest::ManifestError;
use tagmac_files::partial::{CombineError, Edge, Named, RangeError, Wanted};
use tagmac_files::sidecar::{Interrupted, UpdateError};
use tagmac_files::url::ForeignUrl;
use tagmac_files::{Error, ReadError};

/// Returns the message of an error.
pub fn line(error: &Error) -> String {
    match error {
        Error::Update(error) => update(error),
        Error::Range(error) => range(error),
        Error::Combine(error) => combine(error),
        Error::Manifest(error) => manifest(error),
        Error::NoParts(_) => {
            format!("{error}; 'tagmac list' shows the algorithms with 'parts'")
        }
        Error::TooManyObjects(_) => format!("{error}; --max-objects allows them"),
        Error::File(file) => format!("{}: {}", Escaped::name(&file.path), read(&file.error)),
        _ => error.to_string(),
    }
}

/// Returns the reason why a file cannot be read, without its name.
pub fn read(error: &ReadError) -> String {
    match error {
        ReadError::Pipe => format!("{error}; use '< PIPE' to read it"),
        ReadError::Sizeless => format!("{error}; 'tagmac tag' reads it to its end"),
        ReadError::Checkpoint(_, error) => {
            error.downcast_ref().map_or_else(|| error.to_string(), line)
        }
        _ => error.to_string(),
    }
}

/// Returns the hint for a URL of an unsupported kind.
pub fn foreign_url(url: ForeignUrl) -> String {
    match url {
        ForeignUrl::Web => format!("{url}; 'curl URL | tagmac tag' reads those"),
        _ => url.to_string(),
    }
}

/// Returns the reason why a source has no key.
pub fn key_source(error: &KeySourceError) -> String {
    match error {
        KeySourceError::Closed(error) => read(error),
        KeySourceError::Access(access) if access.is_other_owner() => {
            format!("{error}; to use it anyway: '--key-fd 0 < FILE'")
        }
        _ => error.to_string(),
    }
}

/// Returns the reason why the text of a source is not a key.
pub fn key(error: &KeyError) -> String {
    match error {
        KeyError::Empty => "empty; expected a key file from 'tagmac keygen'".into(),
        KeyError::Mark(mark) => {
            format!("expected a key file from 'tagmac keygen', found {mark}")
        }
        KeyError::NotAKeyFile => {
            "not a key file from 'tagmac keygen'; for other keys use --key-format raw, hex or base64"
                .into()
        }
        KeyError::OtherAlgorithm { expected, found } => {
            format!("expected a key for {expected} (-a), found one for {found}")
        }
        _ => error.to_string(),
    }
}

fn update(error: &UpdateError) -> String {
    let reason = error.reason();
    let place = match error.place() {
        Some(place) => format!("{}: ", Escaped::name(place)),
        None => String::new(),
    };
    let option = |option: &str| format!("{place}{option}: {reason}");
    match error {
        UpdateError::NoEdits { .. } => {
            format!("{error}; 'tagmac list' shows the algorithms with 'edits'")
        }
        UpdateError::NoSidecar { .. } => format!(
            "{error}; 'tagmac update' without an edit creates it and accepts the current file"
        ),
        UpdateError::LeafFixed => option("--leaf"),
        UpdateError::LeafTooLong { max, found } => {
            format!("--leaf: expected at most {max} bytes (64 MiB), found {found}")
        }
        UpdateError::NothingToExpect => option("--expect"),
        UpdateError::ExpectedTag { algorithm, error } => format!("--expect: {algorithm}: {error}"),
        UpdateError::OtherTag { .. } => format!(
            "{place}the tag is not that of --expect: the file or its sidecar was rolled back, or was \
             updated since"
        ),
        UpdateError::ExpectedInterrupted { edit, .. } => {
            let finish = match edit {
                Interrupted::Truncation { to, .. } => format!("cuts the file off at {to} bytes"),
                Interrupted::Patch { offset, length } => {
                    format!("writes {length} bytes at byte {offset}")
                }
            };
            format!(
                "{place}an edit was interrupted after the tag of --expect: --finish {finish}, --undo \
                 keeps the old bytes. If you interrupted no update, the sidecar is an old copy: use \
                 --undo"
            )
        }
        UpdateError::OtherFile { expected, found, interrupted: true, .. } => {
            let [expected, found] = [expected, found].map(|name| Escaped::bytes(name));
            format!(
                "{place}the sidecar belongs to {found}, not to {expected}, and has an interrupted edit. \
                 Keep it, rename both back to {found} and {found}.tagmac, and finish the edit or undo \
                 it with --undo"
            )
        }
        UpdateError::OtherLength { expected, found, .. } if found > expected => {
            format!("{error}: --append accepts the added bytes")
        }
        UpdateError::Unaccepted { bytes, grew, settled, .. } => {
            let and = if *settled { ", and" } else { ";" };
            let then = if *grew { ", and then --append accepts the added bytes" } else { "" };
            let (start, length) = (bytes.start, bytes.end - bytes.start);
            format!("{error}{and} --range {start}:{length} accepts the current bytes{then}")
        }
        UpdateError::PatchStart { .. } | UpdateError::PatchTooLong(..) => option("--patch"),
        UpdateError::PatchEnd { .. } => {
            format!("{}; --append accepts bytes added at the end", option("--patch"))
        }
        UpdateError::TruncateEnd { .. } => option("--truncate"),
        UpdateError::RangeEnd { .. } => option("--range"),
        UpdateError::NotInterrupted { .. } => option("--undo"),
        UpdateError::Stuck { edit, .. } => format!("{error}: {}", decision(edit)),
        UpdateError::Unfinished { edit, expects, error, .. } => {
            let next = match expects {
                true => format!("--finish continues the {edit}, --undo undoes it"),
                false => format!("the next update continues the {edit}, or --undo undoes it"),
            };
            format!("{place}{}; {next}; free space if the disk is full", read(error))
        }
        UpdateError::NotASidecar { .. } => {
            format!("{place}not a sidecar from 'tagmac update'")
        }
        _ => error.to_string(),
    }
}

/// Returns the ways to continue after an interrupted edit.
fn decision(edit: &Interrupted) -> &'static str {
    match edit {
        Interrupted::Truncation { gone: true, .. } => {
            "--finish treats it as done and deletes nothing"
        }
        Interrupted::Truncation { .. } => {
            "--finish treats it as done, --undo undoes it, and both keep bytes of other programs"
        }
        Interrupted::Patch { .. } => {
            "--finish writes its bytes, --undo the old ones, and both keep bytes of other programs"
        }
    }
}

fn range(error: &RangeError) -> String {
    match error {
        RangeError::NameLength { name: Named::Object, .. } => format!("--{error}"),
        RangeError::Unaligned { edge: Edge::Start, .. } => format!("--{error}"),
        RangeError::Unaligned { edge: Edge::Length, algorithm, block, found } => format!(
            "--length, without --last: expected a multiple of {algorithm}'s block of {block} bytes, \
             found {found}; the nearest: {}",
            RangeError::nearest(*block, *found)
        ),
        RangeError::NoLength => {
            "use --length BYTES, or --last for the range up to the end of the file".into()
        }
        RangeError::LengthZero => "--length: expected at least 1 byte, found 0".into(),
        RangeError::BeforeEnd { expected, found } => format!(
            "--last: the range must end with the file: expected an end at byte {expected}, found \
             {found}"
        ),
        RangeError::StreamGoesOn { expected } => {
            format!("--last: standard input has more than {expected} bytes")
        }
        RangeError::StreamPlace => {
            "--at: only for files; standard input begins with the range".into()
        }
        RangeError::Read { file, in_place, error } => {
            let hint = match error {
                ReadError::Short { .. } if *in_place => {
                    "; --at 0 is for a file that has only the range"
                }
                _ => "",
            };
            format!("{}: {}{hint}", Escaped::name(file), read(error))
        }
        _ => error.to_string(),
    }
}

fn combine(error: &CombineError) -> String {
    match error {
        CombineError::OtherObject { partial, expected: Wanted::Name(name), found } => format!(
            "{partial}: the partial is of {}, not of {} (--object)",
            Escaped::bytes(found),
            Escaped::bytes(name)
        ),
        CombineError::Refused { partial, error: PartialError::NotAPartial } => {
            format!("{partial}: not a partial from 'tagmac part'")
        }
        CombineError::NoLast { found } => {
            format!("no range was made with --last; the last one is {found}")
        }
        _ => error.to_string(),
    }
}

fn manifest(error: &ManifestError) -> String {
    match error {
        ManifestError::NoFileName { .. } => format!("-o: {error}"),
        ManifestError::Unsealed { .. } => format!("{error}; --skip-unreadable seals the rest"),
        ManifestError::Directory { .. } => format!("{error}; usage: audit MANIFEST DIR"),
        ManifestError::NotAManifest { manifest, cut_off } => match cut_off {
            true => format!("{manifest}: the manifest is cut off in its header"),
            false => format!("{manifest}: not a manifest from 'tagmac seal'"),
        },
        ManifestError::TagBits { .. } => format!("{error}; see --tag-bits"),
        ManifestError::NoLeafTags { .. } => format!("{error}; seal with --leaves"),
        ManifestError::NoChain { .. } => format!("{error}; --new-chain starts a new one"),
        _ => error.to_string(),
    }
}
