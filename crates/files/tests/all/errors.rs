//! Errors are facts that display as a line which any program can show. All variants are here.

use std::io;
use std::path::{Path, PathBuf};

use tagmac::hazmat::PartError;
use tagmac_any::{Algorithm, KeyFileError, KeyId, PartialError};
use tagmac_files::byte_order::ByteOrder;
use tagmac_files::key_access::AccessError;
use tagmac_files::key_file::KeyError;
use tagmac_files::key_source::{Format, KeySourceError};
use tagmac_files::manifest::ManifestError;
use tagmac_files::partial::{Between, CombineError, Edge, Located, Named, RangeError, Wanted};
use tagmac_files::sidecar::{Interference, Interrupted, UpdateError};
use tagmac_files::{Error, ErrorKind, NoParts, ReadError, TooManyObjects};

fn pmac() -> Algorithm {
    Algorithm::from_name("PMAC-AES128").unwrap()
}

fn shown(cases: Vec<(Error, ErrorKind, &str)>) {
    for (error, kind, line) in cases {
        assert_eq!((error.kind(), error.to_string()), (kind, line.into()), "{error:?}");
        assert!(!line.contains("--") && !line.contains('\n'), "{line}");
    }
}

#[test]
fn an_update_says_what_is_wrong_with_the_file() {
    let (file, sidecar) = (|| PathBuf::from("f"), || PathBuf::from("f.tagmac"));
    let (algorithm, bits) = (pmac(), tagmac::Error::TooLong { limit_bits: 8 });
    let patch = Interrupted::Patch { offset: 5, length: 7 };
    let cut = Interrupted::Truncation { from: 9, to: 4, gone: true };
    let stuck = |edit, found| UpdateError::Stuck { file: file(), edit, found };
    let of = |interrupted| UpdateError::OtherFile {
        sidecar: sidecar(),
        expected: b"f".into(),
        found: b"g".into(),
        interrupted,
    };
    let length = |found| UpdateError::OtherLength { file: file(), expected: 5, found };
    let unaccepted =
        |settled| UpdateError::Unaccepted { file: file(), bytes: 0..16, grew: false, settled };
    let range = |before| Interference::Length { expected: 4, before, found: 3 };
    let [expected, found] = [[1; 8], [2; 8]].map(KeyId::from);
    use ErrorKind::{Io, Key, Mismatch, Usage};
    use UpdateError as U;
    let full = ReadError::Io(io::Error::from_raw_os_error(28));
    let cases = vec![
        (U::NoEdits { algorithm }, Usage, "PMAC-AES128 cannot follow edits"),
        (U::NoSidecar { sidecar: sidecar() }, Usage, "f.tagmac: the sidecar does not exist"),
        (U::SidecarExists { sidecar: sidecar() }, Usage, "f.tagmac: the sidecar exists"),
        (U::LeafFixed, Usage, "the sidecar exists and keeps the size of its leaves"),
        (
            U::LeafTooLong { max: 8, found: 9 },
            Usage,
            "expected a leaf of at most 8 bytes (64 MiB), found 9",
        ),
        (
            U::NothingToExpect,
            Usage,
            "no tag can be expected of a new sidecar, as it gets a new nonce",
        ),
        (
            U::ExpectedTag { algorithm, error: bits },
            Usage,
            "the expected tag: PMAC-AES128: the message is over this MAC's limit of 8 bits (1 bytes)",
        ),
        (
            U::OtherTag { file: file() },
            Mismatch,
            "f: the tag is not the expected one: the file or its sidecar was rolled back, or was \
             updated since",
        ),
        (
            U::ExpectedInterrupted { file: file(), edit: patch },
            Mismatch,
            "f: the tag is the expected one, but a patch of 7 bytes at byte 5 was interrupted; unless \
             that was an update of yours, this is an old sidecar: undo the edit",
        ),
        (of(false), Mismatch, "f.tagmac: the sidecar belongs to g, not to f"),
        (
            of(true),
            Mismatch,
            "f.tagmac: the sidecar belongs to g, not to f; an edit was interrupted: keep the sidecar, \
             rename both back to g and g.tagmac, and finish or undo the edit there",
        ),
        (length(6), Mismatch, "f: expected 5 bytes, found 6"),
        (
            length(4),
            Mismatch,
            "f: expected 5 bytes, found 4: what is left cannot be checked without the missing bytes; \
             restore the file, or, to accept what is left, move the sidecar away and create a new one",
        ),
        (
            U::Changed { file: file(), bytes: 16..32 },
            Mismatch,
            "f: bytes 16 to 32 have changed since the last update",
        ),
        (unaccepted(false), Mismatch, "f: bytes 0 to 16 have changed since the last update"),
        (
            unaccepted(true),
            Mismatch,
            "f: bytes 0 to 16 have changed since the last update; the interrupted edit is settled",
        ),
        (
            U::PatchStart { file: file(), length: 5, found: 6 },
            Usage,
            "f: expected an offset within the file's 5 bytes, found 6",
        ),
        (
            U::PatchEnd { file: file(), length: 5 },
            Usage,
            "f: the patch ends after the file's 5 bytes",
        ),
        (U::PatchTooLong(file(), 5), Usage, "f: the patch is longer than 5 bytes"),
        (
            U::TruncateEnd { file: file(), length: 5, found: 6 },
            Usage,
            "f: expected at most the file's 5 bytes, found 6",
        ),
        (
            U::RangeEnd { file: file(), length: 5, found: 6 },
            Usage,
            "f: the range ends at byte 6, after the file's 5 bytes",
        ),
        (U::NotInterrupted { file: file() }, Usage, "f: no edit was interrupted"),
        (
            stuck(patch, Interference::Foreign(5..6)),
            Mismatch,
            "f: bytes 5 to 6 are neither as before the patch nor as after it; a patch of 7 bytes at \
             byte 5 was interrupted",
        ),
        (
            stuck(cut, range(None)),
            Mismatch,
            "f: expected 4 bytes, found 3; a truncation from 9 to 4 bytes was interrupted",
        ),
        (
            stuck(cut, range(Some(9))),
            Mismatch,
            "f: expected 4 bytes, or 9 as before the truncation, found 3; a truncation from 9 to 4 \
             bytes was interrupted",
        ),
        (
            U::Unfinished { file: file(), edit: "patch", expects: true, error: full },
            Io,
            "f: No space left on device; the patch was interrupted; free space if the disk is full",
        ),
        (
            U::FileReplaced { file: file() },
            Io,
            "f: the file was removed or replaced while this run was using it",
        ),
        (
            U::SidecarReplaced { sidecar: sidecar() },
            Io,
            "f.tagmac: the sidecar was removed or replaced while this run was using it; the file may \
             have been edited",
        ),
        (U::NotASidecar { sidecar: sidecar() }, Mismatch, "f.tagmac: not a sidecar"),
        (
            U::Version { sidecar: sidecar() },
            Mismatch,
            "f.tagmac: not a sidecar of version 3, so the file was not checked; check it against a \
             tag that you trust before you move the sidecar away and create a new one",
        ),
        (
            U::OtherKey { sidecar: sidecar(), expected, found },
            Key,
            "f.tagmac: the sidecar is sealed under another key: expected key id 0101010101010101, \
             found 0202020202020202",
        ),
        (
            U::Altered { sidecar: sidecar() },
            Mismatch,
            "f.tagmac: the sidecar is damaged: it is not as this key sealed it",
        ),
        (
            U::Shrunk { file: file(), expected: 5 },
            Io,
            "f: the file has fewer than 5 bytes: it changed while it was read",
        ),
        (U::Mac(file(), PartError::ForeignPart), Io, "f: the part belongs to another MAC or key"),
    ];
    shown(cases.into_iter().map(|(error, kind, line)| (error.into(), kind, line)).collect());
}

#[test]
fn a_range_says_what_is_wrong_with_it() {
    use ErrorKind::{Io, Usage};
    use RangeError as R;
    let (algorithm, block) = (pmac(), 16);
    let edge = |edge, found| R::Unaligned { edge, algorithm, block, found };
    let name = |name| R::NameLength { name, found: 0 };
    let cases = vec![
        (R::NoObject, Usage, "object: the name is empty"),
        (
            R::NoVersion,
            Usage,
            "version: the version is empty; expected a version ID, an ETag or an upload ID",
        ),
        (
            R::VersionWithAt { found: b"1@2".into() },
            Usage,
            "version: a version must not contain '@', found 1@2",
        ),
        (name(Named::Object), Usage, "object: expected a name of 1 to 65535 bytes, found 0"),
        (
            name(Named::ObjectAndVersion),
            Usage,
            "object and version: expected a name of 1 to 65535 bytes, found 0",
        ),
        (
            edge(Edge::Start, 17),
            Usage,
            "start: expected a multiple of PMAC-AES128's block of 16 bytes, found 17; the nearest: 16 \
             and 32",
        ),
        (
            edge(Edge::Length, u64::MAX),
            Usage,
            "length: expected a multiple of PMAC-AES128's block of 16 bytes, found \
             18446744073709551615; the nearest: 18446744073709551600",
        ),
        (
            edge(Edge::Hashed, 1),
            Usage,
            "a range that is not the object's last: expected a multiple of PMAC-AES128's block of 16 \
             bytes, found 1; the nearest: 0 and 16",
        ),
        (R::NoLength, Usage, "a range that is not the object's last needs a length"),
        (R::LengthZero, Usage, "the range is empty; expected at least 1 byte"),
        (R::Empty, Usage, "the range is empty; expected at least 1 byte"),
        (
            R::BeforeEnd { expected: 9, found: 5 },
            Usage,
            "the object's last range must end with the file, at byte 9; it ends at 5",
        ),
        (
            R::StreamGoesOn { expected: 5 },
            Usage,
            "the stream continues after the 5 bytes of the object's last range",
        ),
        (R::StreamPlace, Usage, "a stream has no offsets; its next byte is the first of the range"),
        (
            R::Read {
                file: "f".into(),
                in_place: true,
                error: ReadError::Short { expected: 5, found: 4 },
            },
            Io,
            "f: expected at least 5 bytes, found 4",
        ),
        (
            R::Mac { algorithm, error: PartError::ForeignPart },
            Usage,
            "PMAC-AES128: the part belongs to another MAC or key",
        ),
        (R::Seal(PartialError::Foreign), Io, "the partial belongs to another algorithm or key"),
    ];
    shown(cases.into_iter().map(|(error, kind, line)| (error.into(), kind, line)).collect());
}

#[test]
fn partials_say_why_they_make_no_object() {
    use CombineError as C;
    use ErrorKind::{Foreign, Incomplete, Key, Mismatch};
    let partial = || "p".to_string();
    let at = |start, end| Located { start, end, partial: partial() };
    let other = |expected| C::OtherObject { partial: partial(), expected, found: b"o@1".into() };
    let apart = |between| C::Apart { between, left: at(0, 16), right: at(32, 48) };
    let [expected, found] = [[1; 8], [2; 8]].map(KeyId::from);
    let cases = vec![
        (C::NoPartials, Incomplete, "there are no partials to combine"),
        (other(Wanted::Name(b"n".into())), Foreign, "p: the partial is of o@1, not of n"),
        (
            other(Wanted::Object(b"n".into())),
            Foreign,
            "p: the partial is of object o, not of object n",
        ),
        (
            other(Wanted::Version(b"2".into())),
            Foreign,
            "p: the partial is of version 1, not of version 2",
        ),
        (
            C::OtherObject {
                partial: partial(),
                expected: Wanted::Version(b"2".into()),
                found: b"o".into(),
            },
            Foreign,
            "p: the partial is of no version, not of version 2",
        ),
        (
            other(Wanted::First { name: b"n".into(), partial: "q".into() }),
            Foreign,
            "p: the partial is of o@1, not of n (q)",
        ),
        (
            C::OtherKey {
                partial: partial(),
                algorithm: pmac(),
                expected,
                found_algorithm: "X\n".into(),
                found,
            },
            Key,
            "p: made with $'X\\n' and key id 0202020202020202; expected PMAC-AES128 and key id \
             0101010101010101",
        ),
        (
            C::Refused { partial: partial(), error: PartialError::NotAPartial },
            Mismatch,
            "p: not a partial",
        ),
        (
            apart(Between::Gap(16)),
            Incomplete,
            "bytes 0 to 16 (p) and bytes 32 to 48 (p) do not adjoin: there is a gap of 16 bytes",
        ),
        (
            apart(Between::Overlap),
            Incomplete,
            "bytes 0 to 16 (p) and bytes 32 to 48 (p) do not adjoin: they overlap",
        ),
        (
            apart(Between::End),
            Incomplete,
            "bytes 0 to 16 (p) and bytes 32 to 48 (p) do not adjoin: the first is the object's last \
             range",
        ),
        (
            C::NoFirst { found: at(16, 32) },
            Incomplete,
            "the range from byte 0 is missing; no range precedes bytes 16 to 32 (p)",
        ),
        (
            C::NoLast { found: at(16, 32) },
            Incomplete,
            "the object's last range is missing; no range follows bytes 16 to 32 (p)",
        ),
        (C::Mac(PartError::ForeignPart), Mismatch, "the part belongs to another MAC or key"),
    ];
    shown(cases.into_iter().map(|(error, kind, line)| (error.into(), kind, line)).collect());
}

#[test]
fn a_manifest_says_what_is_wrong_with_it() {
    use ErrorKind::{Io, Mismatch, Usage};
    use ManifestError as M;
    let (path, manifest) = (|| PathBuf::from("m"), || "m".to_string());
    let unsealed = |entries| M::Unsealed { manifest: path(), entries };
    let none = |cut_off| M::NotAManifest { manifest: manifest(), cut_off };
    let cases = vec![
        (
            M::NoFileName { manifest: "-".into() },
            Usage,
            "a manifest must be written to a file, not to '-'",
        ),
        (unsealed(1), Io, "m: not written, as 1 entry could not be sealed"),
        (unsealed(2), Io, "m: not written, as 2 entries could not be sealed"),
        (M::Directory { manifest: manifest() }, Io, "m: this is a directory, not a manifest"),
        (none(false), Mismatch, "m: not a manifest"),
        (none(true), Mismatch, "m: the manifest ends within its header"),
        (
            M::TagBits { manifest: manifest(), expected: 64, found: 32 },
            Usage,
            "m: expected tags of 64 bits, found 32",
        ),
    ];
    shown(cases.into_iter().map(|(error, kind, line)| (error.into(), kind, line)).collect());
}

#[test]
fn all_else_is_a_kind_and_a_line() {
    let piped = Error::file(Path::new("f"), ReadError::Pipe);
    shown(vec![
        (NoParts(pmac()).into(), ErrorKind::Usage, "PMAC-AES128 cannot hash ranges"),
        (piped, ErrorKind::Io, "f: expected a file, found a named pipe"),
        (
            TooManyObjects { url: "s3://b/".into(), max: 9 }.into(),
            ErrorKind::Io,
            "s3://b/: the listing has more than 9 objects",
        ),
        (Error::foreign("x"), ErrorKind::Foreign, "x"),
    ]);
}

#[test]
fn a_key_says_what_is_wrong_with_it() {
    let (path, algorithm) = (|| PathBuf::from("d"), pmac());
    let umac = Algorithm::from_name("UMAC-64").unwrap();
    let mark = ByteOrder::Utf16;
    let length = tagmac::Error::KeyLength { min: 16, max: 16, found: 3 };
    let (own, owner) = (7, 8);
    let closed = || ReadError::Sizeless;
    let cases: Vec<(String, &str)> = vec![
        (KeyError::Empty.to_string(), "the key is empty"),
        (
            KeyError::Mark(mark).to_string(),
            "expected a key file, found a text in UTF-16, as PowerShell writes it: save as UTF-8",
        ),
        (KeyError::NotAKeyFile.to_string(), "not a key file"),
        (
            KeyError::File(KeyFileError::Checksum).to_string(),
            "line 6: the checksum does not match: the file is damaged",
        ),
        (
            KeyError::OtherAlgorithm { expected: umac, found: algorithm }.to_string(),
            "expected a key for UMAC-64, found one for PMAC-AES128",
        ),
        (
            KeyError::NoAlgorithm.to_string(),
            "the format does not name the key's algorithm, and none was given",
        ),
        (
            KeyError::EncodedMark { format: Format::Hex, mark }.to_string(),
            "expected a key in hex, found a text in UTF-16, as PowerShell writes it: save as UTF-8",
        ),
        (KeyError::Lines.to_string(), "the lines of the key differ in length"),
        (KeyError::Hex.to_string(), "not hex: expected an even number of hex digits"),
        (KeyError::Base64.to_string(), "not base64 with padding"),
        (KeyError::Length(length).to_string(), "expected a key of 16 bytes, found 3"),
        (
            AccessError::Writable { mode: 0o622 }.to_string(),
            "others can write to it (mode 0622); check who changed it, then run 'chmod go-w'",
        ),
        (
            AccessError::OtherOwner { own, owner }.to_string(),
            "it belongs to user 8, who could replace the key; expected user 7 or root",
        ),
        (
            AccessError::SharedFolder { path: path(), mode: 0o777 }.to_string(),
            "others can put another key into the folder d (mode 0777); run 'chmod go-w' on it",
        ),
        (
            AccessError::OwnerOnWay { what: "link", path: path(), own, owner }.to_string(),
            "the link d belongs to user 8, who could replace the key; expected user 7 or root",
        ),
        (AccessError::Links.to_string(), "more than 40 symbolic links lead to it"),
        (
            AccessError::Unchecked(io::Error::from_raw_os_error(13)).to_string(),
            "cannot check the folders that lead to it: Permission denied",
        ),
        (KeySourceError::Io(io::Error::from_raw_os_error(13)).to_string(), "Permission denied"),
        (
            KeySourceError::Closed(closed()).to_string(),
            "the file's size is unknown, as with generated files in /proc",
        ),
        (
            KeySourceError::Access(AccessError::Links).to_string(),
            "more than 40 symbolic links lead to it",
        ),
        (
            KeySourceError::VariableName.to_string(),
            "the variable's name is empty or contains '=' or a zero byte",
        ),
        (KeySourceError::VariableUnset.to_string(), "the variable is not set"),
        (KeySourceError::TooLong.to_string(), "longer than 64 KiB"),
    ];
    for (found, line) in cases {
        assert_eq!(found, line);
    }
    let others = [
        (AccessError::Writable { mode: 0o622 }, false),
        (AccessError::OtherOwner { own, owner }, true),
        (AccessError::SharedFolder { path: path(), mode: 0o777 }, false),
        (AccessError::OwnerOnWay { what: "link", path: path(), own, owner }, true),
        (AccessError::Links, false),
    ];
    for (error, expected) in others {
        assert_eq!(error.is_other_owner(), expected, "{error}");
    }
}
