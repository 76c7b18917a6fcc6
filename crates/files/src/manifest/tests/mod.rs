//! Laws of manifests: whatever is written can be read, and nothing else can.

mod entry;
mod header;

use std::fs;
use std::path::PathBuf;

use tagmac::isa::Level;
use tagmac_any::KeyId;

use super::*;
use crate::chain::Chain;
use crate::day::Day;
use crate::error::ErrorKind;
use crate::line_reader;
use crate::manifest::entry::Content;
use crate::manifest::header::MAGIC;
use crate::manifest::options::ManifestOptions;
use crate::manifest::writer::Writer;

/// Found while writing the fuzz target `manifests`: the sum wrapped around, and any total passed.
#[test]
fn sizes_that_come_to_2_64_bytes_are_refused() {
    let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
    let (key_id, options) = (KeyId::from([7; 8]), ManifestOptions::default());
    let header = Header {
        algorithm,
        bits: 128,
        key_id,
        options,
        chain: Chain::default(),
        filters: Vec::new(),
    };
    for (last, fits) in [(u64::MAX - 700, true), (u64::MAX - 699, false)] {
        let mut sequence = Sequence::default();
        let mut line = |size: u64, name: &str| {
            let line = format!("file\t{size}\t{:032x}\t{name}", 7);
            sequence.entry(line.as_bytes(), &header)
        };
        assert!(line(700, "a").is_ok());
        let found = line(last, "b").map(|_| ());
        let expected = "the files have 2^64 bytes or more in all".to_string();
        assert_eq!(found, if fits { Ok(()) } else { Err(expected) });
    }
}

#[test]
fn sizes_that_come_to_2_64_bytes_are_not_written() {
    let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
    let (key_id, options) = (KeyId::from([7; 8]), ManifestOptions::default());
    let header = Header {
        algorithm,
        bits: 128,
        key_id,
        options,
        chain: Chain::default(),
        filters: Vec::new(),
    };
    let seal = AnyMac::new(algorithm, &[7; 16]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let mut writer = Writer::create(&path, header.clone(), &seal).unwrap();
    for (size, name, fits) in [(700, "a", true), (u64::MAX - 699, "b", false)] {
        let line = format!("file\t{size}\t{:032x}\t{name}", 7);
        let written = writer.entry(&Entry::parse(line.as_bytes(), &header).unwrap());
        let expected = "b: the files have 2^64 bytes or more in all";
        assert_eq!(written.map_err(|error| error.to_string()).is_ok(), fits, "{expected}");
    }
    drop(writer);
    assert!(!path.exists());
}

/// A header of version 2 with all its options or none.
fn header(algorithm: &str, bits: usize, all: bool) -> Header {
    let algorithm = Algorithm::from_name(algorithm).unwrap();
    let options = ManifestOptions {
        mode: all,
        mtime: all,
        special: all,
        one_file_system: all,
        ..ManifestOptions::default()
    };
    let (chain, filters) = (Chain::default(), Vec::new());
    Header { algorithm, bits, key_id: KeyId::from([7; 8]), options, chain, filters }
}

/// Parses lines that are valid except for the last. Returns the error of that one, if any.
fn sequence(lines: &[&str]) -> Option<String> {
    let (mut sequence, header) = (Sequence::default(), header("PMAC-AES128", 128, false));
    let (last, first) = lines.split_last().unwrap();
    for line in first {
        sequence.entry(line.as_bytes(), &header).unwrap();
    }
    let found = sequence.entry(last.as_bytes(), &header).err();
    let bytes: u64 = lines[..first.len() + usize::from(found.is_none())]
        .iter()
        .filter_map(|line| line.split('\t').nth(1)?.parse::<u64>().ok())
        .sum();
    let entries = first.len() as u64 + u64::from(found.is_none());
    assert_eq!((sequence.entries, sequence.bytes), (entries, bytes));
    found
}

#[test]
fn entries_are_in_order_and_within_their_directories() {
    let tag = "00112233445566778899aabbccddeeff";
    let file = |path: &str| format!("file\t5\t{tag}\t{path}");
    let dir = |path: &str| format!("dir\t-\t-\t{path}");
    let (a, b, d) = (file("a"), file("b"), dir("d"));
    let (da, dd, dda, e, ea) = (file("d/a"), dir("d/d"), file("d/d/a"), dir("e"), file("e/a"));
    let order = Some("the path is before that of the previous entry".to_string());
    let same = Some("the path is the same as that of the previous entry".to_string());
    let lost = Some("the path's directory is not listed before it".to_string());
    let cases: [(&[&String], _); 14] = [
        (&[&a], None),
        (&[&a, &b], None),
        (&[&b, &a], order.clone()),
        (&[&a, &a], same),
        (&[&da], lost.clone()),
        (&[&d, &da], None),
        (&[&d, &da, &dd, &dda], None),
        (&[&d, &da, &dda], lost.clone()),
        (&[&d, &dd, &dda, &e, &ea], None),
        (&[&d, &dd, &dda, &ea], lost.clone()),
        // A file is not a directory.
        (&[&file("d"), &da], lost.clone()),
        // Out of a directory and back into it.
        (&[&d, &da, &e, &da], order),
        (&[&d, &da, &e, &file("d/b")], Some("".into())),
        (&[&dir("d"), &file("d/d"), &dda], lost),
    ];
    for (lines, expected) in cases {
        let lines: Vec<&str> = lines.iter().map(|line| line.as_str()).collect();
        let found = sequence(&lines);
        match expected.as_deref() {
            Some("") => assert!(found.is_some(), "{lines:?}"),
            _ => assert_eq!(found, expected, "{lines:?}"),
        }
    }
}

#[test]
fn what_a_line_says_is_checked_column_by_column() {
    let (plain, full) = (header("PMAC-AES128", 32, false), header("UMAC-32", 32, true));
    let (nonce, long) = ("00".repeat(16), "n/".repeat(2047) + "na");
    let (more, kind) = ("expected more columns", "expected a kind of entry");
    let (other, none) =
        ("expected '-' in a column that this kind does not use", "expected a value, found '-'");
    let (below, between) = (
        "the path is absolute; expected one below the directory",
        "the path contains an empty name or '.'",
    );
    let one_form = Some("expected numbers and names in canonical form");
    let target = Some("expected a link's target without zero bytes");
    let cases = [
        ("file\t5\t0a0b0c0d\ta", None),
        ("file\t5\t0a0b0c0d", Some(more)),
        ("file", Some(more)),
        ("", Some(kind)),
        ("fil\t5\t0a0b0c0d\ta", Some(kind)),
        ("pipe\t-\t-\ta", Some("expected a file, directory or link: the options lack 'special'")),
        ("dir\t-\t-\ta", None),
        ("dir\t5\t-\ta", Some(other)),
        ("dir\t-\t0a0b0c0d\ta", Some(other)),
        ("file\t-\t0a0b0c0d\ta", Some(none)),
        ("file\t5\t-\ta", Some(none)),
        ("link\t-\t-\ta\tb", None),
        ("link\t-\t-\ta", Some(more)),
        ("link\t-\t-\ta\t", target),
        ("link\t-\t-\ta\tb\0", target),
        ("file\t5\t0a0b0c0d\ta\tb", Some("expected fewer columns")),
        ("file\t5x\t0a0b0c0d\ta", Some("expected a size in bytes")),
        ("file\t05\t0a0b0c0d\ta", one_form),
        ("file\t5\t0a0b0c\ta", Some("expected a tag in hex digits")),
        ("file\t5\t0a0b0c0d0e\ta", Some("expected a tag in hex digits")),
        ("file\t5\t0A0B0C0D\ta", Some("expected a tag in hex digits")),
        ("file\t5\t0a0b0c0d\t/a", Some(below)),
        (
            "file\t5\t0a0b0c0d\ta/../b",
            Some("the path contains '..'; expected one below the directory"),
        ),
        ("file\t5\t0a0b0c0d\ta/./b", Some(between)),
        ("file\t5\t0a0b0c0d\ta//b", Some(between)),
        ("file\t5\t0a0b0c0d\t", Some(between)),
        ("file\t5\t0a0b0c0d\ta\0", Some("the path contains a zero byte")),
        ("file\t5\t0a0b0c0d\ta\\q", Some("expected '\\\\', '\\t', '\\n' or '\\r' after \\")),
        ("file\t5\t0a0b0c0d\ta\\n", None),
    ];
    for (line, expected) in cases {
        assert_eq!(Entry::parse(line.as_bytes(), &plain).err(), expected, "{line:?}");
    }
    let lengths = [(&long[..4095], None), (&long[..], None), (&format!("{long}a")[..], Some(()))];
    for (path, expected) in lengths {
        let found = Entry::parse(format!("file\t5\t0a0b0c0d\t{path}").as_bytes(), &plain);
        assert_eq!(
            found.err().map(|why| assert!(why.contains("longer than 4096 bytes"))),
            expected
        );
    }
    let (octal, time) =
        ("expected a mode in octal digits", "expected a time as SECONDS.NANOSECONDS");
    let nonces = "expected a nonce of the algorithm's maximum length";
    let cases = [
        ("file\t0644\t-7.000000000\t5\tNONCE\t0a0b0c0d\ta", None),
        ("file\t0644\t7.999999999\t5\tNONCE\t0a0b0c0d\ta", None),
        ("file\t0644\t7.1000000000\t5\tNONCE\t0a0b0c0d\ta", Some(time)),
        ("file\t0644\t7\t5\tNONCE\t0a0b0c0d\ta", Some(time)),
        ("file\t0644\tx.000000000\t5\tNONCE\t0a0b0c0d\ta", Some(time)),
        ("file\t0648\t7.000000000\t5\tNONCE\t0a0b0c0d\ta", Some(octal)),
        ("file\t644\t7.000000000\t5\tNONCE\t0a0b0c0d\ta", one_form),
        ("file\t-\t7.000000000\t5\tNONCE\t0a0b0c0d\ta", Some(none)),
        ("file\t0644\t-\t5\tNONCE\t0a0b0c0d\ta", Some(none)),
        ("file\t0644\t7.000000000\t5\t-\t0a0b0c0d\ta", Some(none)),
        ("file\t0644\t7.000000000\t5\t00\t0a0b0c0d\ta", Some(nonces)),
        ("dir\t0755\t-\t-\t-\t-\ta", None),
        ("dir\t-\t-\t-\t-\t-\ta", Some(none)),
        ("dir\t0755\t7.000000000\t-\t-\t-\ta", Some(other)),
        ("dir\t0755\t-\t-\tNONCE\t-\ta", Some(other)),
        ("link\t-\t7.000000000\t-\t-\t-\ta\tb", None),
        ("link\t0777\t7.000000000\t-\t-\t-\ta\tb", Some(other)),
        ("pipe\t0644\t7.000000000\t-\t-\t-\ta", None),
    ];
    for (line, expected) in cases {
        let line = line.replace("NONCE", &nonce);
        assert_eq!(Entry::parse(line.as_bytes(), &full).err(), expected, "{line:?}");
    }
}

#[test]
fn names_have_one_form_in_their_column() {
    for (name, column) in [
        (&b"a"[..], &b"a"[..]),
        (b"", b""),
        (b"\\", b"\\\\"),
        (b"a\tb\nc\rd", b"a\\tb\\nc\\rd"),
        (b"\n\nn\\n", b"\\n\\nn\\\\n"),
    ] {
        let mut out = b"x".to_vec();
        name::escape(name, &mut out);
        assert_eq!(out[1..], *column);
        assert_eq!(name::unescape(column).as_deref(), Some(name));
    }
    for column in [&b"\\"[..], b"a\\", b"\\x", b"a\\\\\\"] {
        assert_eq!(name::unescape(column), None);
    }
}

/// Returns an open key, and the MAC that seals its manifests.
fn macs(bits: usize) -> (OpenKey, AnyMac) {
    let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
    let key = RawKey::new(algorithm, vec![7; 16].into()).unwrap();
    (OpenKey::new(&key, bits, Level::best()).unwrap(), seal_mac(&key))
}

/// A header of the current version.
fn new_header(key: &OpenKey) -> Header {
    let chain = Chain::start(Day::from_days(20_000).unwrap());
    Header::new(key, ManifestOptions::default(), chain, Vec::new())
}

/// Returns the entry of a file of `size` bytes.
fn file(path: &str, size: u64) -> Entry {
    let tag = Some(Tag::new(&[7; 4], 32).unwrap());
    let content = Some(Content { size, nonce: Vec::new(), tag });
    let read = Day::from_days(20_000);
    Entry { path: path.into(), content, read, ..Entry::new(EntryKind::File) }
}

/// Writes a manifest with these entries into a new directory.
fn written(entries: &[Entry]) -> (tempfile::TempDir, PathBuf) {
    let (mac, seal) = macs(32);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let mut writer = Writer::create(&path, new_header(&mac), &seal).unwrap();
    entries.iter().for_each(|entry| writer.entry(entry).unwrap());
    writer.finish().unwrap();
    (folder, path)
}

/// Reads a manifest. Returns its counts and entries, or the error without the path.
fn read(path: &Path) -> Result<(u64, u64, Vec<Entry>), (ErrorKind, String)> {
    let (mac, seal) = macs(32);
    let name = format!("{}: ", path.display());
    let failed = |error: Error| (error.kind(), error.to_string().replace(&name, ""));
    let manifest = Manifest::open(path, &mac, seal).map_err(failed)?;
    let entries = manifest.entries(&mac).map_err(failed)?.collect::<Result<Vec<_>, _>>();
    Ok((manifest.entries, manifest.bytes, entries.map_err(failed)?))
}

#[test]
fn what_is_written_is_read() {
    let many: Vec<Entry> = (10_000..14_000).map(|i| file(&format!("n{i}"), i)).collect();
    for entries in [&many[..0], &many[..1], &many[..2], &many] {
        let (_folder, path) = written(entries);
        let bytes = entries.iter().map(|entry| entry.content.as_ref().unwrap().size).sum();
        assert_eq!(read(&path), Ok((entries.len() as u64, bytes, entries.to_vec())));
    }
}

#[test]
fn no_byte_of_a_manifest_can_be_another() {
    let (_folder, path) = written(&[file("a", 5), file("b", 7)]);
    let text = fs::read(&path).unwrap();
    for at in 0..text.len() {
        let mut other = text.clone();
        other[at] ^= 1;
        fs::write(&path, &other).unwrap();
        assert!(read(&path).is_err(), "byte {at}");
        fs::write(&path, &text[..at]).unwrap();
        assert!(read(&path).is_err(), "{at} bytes");
    }
}

#[test]
fn what_is_under_a_right_seal_is_checked_too() {
    let (mac, seal) = macs(32);
    let head = String::from_utf8(new_header(&mac).text()).unwrap();
    let (a, b) = ("file\t5\t07070707\t2024-10-04\t-\ta\n", "file\t7\t07070707\t2024-10-04\t-\tb\n");
    let (folder, mismatch) = (tempfile::tempdir().unwrap(), ErrorKind::Mismatch);
    let counts = "expected 'entries: ' and 'bytes: ' before the seal";
    let rest =
        |line: u64, bytes: u64| format!("line {line}: expected 'bytes: {bytes}' and then the end");
    let cases = [
        (format!("{a}{b}entries: 2\nbytes: 12\n"), None),
        (format!("{a}entries: 1\nbytes: 5\n"), None),
        ("entries: 0\nbytes: 0\n".into(), None),
        (format!("{a}{b}"), Some(counts.into())),
        (format!("{a}entries: 1\n"), Some(counts.into())),
        (format!("{a}bytes: 5\nentries: 1\n"), Some(counts.into())),
        (format!("{a}{b}entries: 3\nbytes: 12\n"), Some("line 12: expected 'entries: 2'".into())),
        (format!("{a}{b}entries: 2\nbytes: 13\n"), Some(rest(13, 12))),
        (format!("{a}entries: 1\nbytes: 5\nentries: 1\nbytes: 5\n"), Some(rest(12, 5))),
        (format!("{a}entries: 1\nbytes: 5\n{b}entries: 2\nbytes: 12\n"), Some(rest(12, 5))),
        (
            format!("{b}{a}entries: 2\nbytes: 12\n"),
            Some("line 11: the path is before that of the previous entry".into()),
        ),
        (
            format!("{}\nentries: 1\nbytes: 0\n", "x".repeat(line_reader::MAX_BYTES + 1)),
            Some("line 10: the line is too long".into()),
        ),
    ];
    for (number, (body, expected)) in cases.into_iter().enumerate() {
        let path = folder.path().join(number.to_string());
        let text = head.clone() + &body;
        let tag = seal.tag(&[], text.as_bytes()).unwrap();
        fs::write(&path, format!("{text}seal: {tag}\n")).unwrap();
        let found = read(&path).map(|_| ());
        assert_eq!(found, expected.map_or(Ok(()), |why: String| Err((mismatch, why))), "{body}");
    }
}

#[test]
fn a_manifest_is_of_one_key_and_one_length_of_tags() {
    let (_folder, path) = written(&[file("a", 5)]);
    let failed = |mac: &OpenKey, seal| Manifest::open(&path, mac, seal).err().unwrap();
    let (mac, seal) = macs(64);
    let found = failed(&mac, seal);
    assert_eq!(found.kind(), ErrorKind::Usage);
    let what = "expected tags of 64 bits, found 32";
    assert!(found.to_string().ends_with(what), "{found}");
    let found = Manifest::open(path.parent().unwrap(), &mac, macs(32).1).err().unwrap();
    let what = "this is a directory, not a manifest";
    assert!(found.to_string().ends_with(what), "{found}");
    let found = Manifest::open(&path.join("a"), &mac, macs(32).1).err().unwrap();
    assert_eq!(found.kind(), ErrorKind::Io);
}

#[test]
fn a_manifest_that_changes_while_it_is_read_is_no_manifest() {
    let (mac, seal) = macs(32);
    let (_folder, path) = written(&[file("a", 5)]);
    let changed = |of: &dyn Fn(String) -> String| {
        let manifest = Manifest::open(&path, &mac, seal.clone()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, of(text.clone())).unwrap();
        let found =
            manifest.entries(&mac).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        fs::write(&path, text).unwrap();
        found.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(changed(&|text| text), Ok(()));
    let what = "the manifest changed while it was read: nothing reported so far is valid";
    for (old, new) in
        [("07070707", "07070708"), ("options: none", "options: mode"), ("bits: 32", "bits: 40")]
    {
        let found = changed(&|text| text.replace(old, new)).unwrap_err();
        assert!(found.ends_with(what), "{found}");
    }
}

#[test]
fn a_manifest_takes_the_place_of_nothing_else() {
    let (mac, seal) = macs(32);
    let header = new_header(&mac);
    let (_folder, path) = written(&[file("a", 5)]);
    for (before, takes) in
        [("", true), ("tagmac-manifest-1", true), ("tagmac-manifest", false), ("x", false)]
    {
        fs::write(&path, before).unwrap();
        let created = Writer::create(&path, header.clone(), &seal);
        let text = created.and_then(Writer::finish).map(|_| fs::read_to_string(&path).unwrap());
        assert_eq!(text.is_ok_and(|text| text.starts_with(MAGIC)), takes, "{before}");
    }
    for path in ["-", "/", ".."] {
        let found = Writer::create(Path::new(path), header.clone(), &seal).err().unwrap();
        assert_eq!(found.kind(), ErrorKind::Usage, "{path}");
    }
}

#[test]
fn lines_are_as_long_as_a_reader_takes() {
    let (mac, seal) = macs(32);
    let folder = tempfile::tempdir().unwrap();
    let header = new_header(&mac);
    let mut writer = Writer::create(&folder.path().join("m"), header, &seal).unwrap();
    let rest = "file\t5\t07070707\t2024-10-04\t-\t".len();
    // Linux allows only shorter paths.
    for (length, fits) in
        [(100, true), (line_reader::MAX_BYTES, true), (line_reader::MAX_BYTES + 1, false)]
    {
        let entry = file(&"a".repeat(length - rest), 5);
        let found = writer.entry(&entry).err().map(|error| error.to_string());
        let what = format!("expected a line of at most 65536 bytes, found {length}");
        assert_eq!(found.is_none(), fits, "{length}");
        assert!(found.is_none_or(|found| found.ends_with(&what)), "{length}");
    }
}

#[test]
fn what_can_be_read_and_is_no_manifest_is_damage() {
    for (kind, expected) in [
        (io::ErrorKind::InvalidData, ErrorKind::Mismatch),
        (io::ErrorKind::NotFound, ErrorKind::Io),
        (io::ErrorKind::UnexpectedEof, ErrorKind::Io),
    ] {
        let found = unreadable("m", &kind.into());
        assert_eq!(found.kind(), expected);
        assert!(found.to_string().starts_with("m: "));
    }
}

#[test]
fn what_is_left_out_is_said() {
    crate::diagnostic::tests::listen();
    listed::remark_mount(Path::new("d1"));
    listed::remark_manifest(Path::new("d2"));
    listed::remark_leftover(Path::new("d3"));
    listed::remark_checkpoint(Path::new("d4"));
    listed::remark_own(Path::new("d5"));
    for what in [
        "d1: not entered: it is on another file system",
        "d2: left out: it is the manifest",
        "d3: left out: it has the name of an unfinished manifest",
        "d4: left out: it is the checkpoint",
        "d5: sealed, but not audited: this run keeps its records there",
    ] {
        assert!(crate::diagnostic::tests::heard(what), "{what}");
    }
}
