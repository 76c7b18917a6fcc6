//! Headers have one form.

use super::*;

#[test]
fn a_header_is_read_as_it_is_written_and_not_otherwise() {
    let (mac, _) = macs(32);
    let read = |text: &str| {
        let found = Header::read(&mut Lines::new(text.as_bytes(), b'\n'), "m", &mac);
        found
            .map(|header| (header.options, header.bits))
            .map_err(|error| (error.kind(), error.to_string()))
    };
    for bits in 0..16u32 {
        let [mode, mtime, special, one_file_system] = [0, 1, 2, 3].map(|at| bits >> at & 1 == 1);
        let options =
            ManifestOptions { mode, mtime, special, one_file_system, ..ManifestOptions::default() };
        let words = ["mode", "mtime", "special", "one-file-system"];
        let named: Vec<&str> =
            (0..4).filter(|at| bits >> at & 1 == 1).map(|at| words[at]).collect();
        let named = if named.is_empty() { "none".into() } else { named.join(" ") };
        // Both versions have these options.
        for chain in [new_header(&mac).chain, Chain::default()] {
            let header = Header { bits: 96, ..Header::new(&mac, options, chain, Vec::new()) };
            let text = String::from_utf8(header.text()).unwrap();
            assert!(text.contains(&format!("\noptions: {named}\n")), "{text}");
            assert_eq!(read(&text), Ok((options, 96)));
        }
    }
    let text = String::from_utf8(new_header(&mac).text()).unwrap();
    let id = mac.key_id().to_string();
    let (mismatch, key) = (ErrorKind::Mismatch, ErrorKind::Key);
    let cases = [
        (
            "tagmac-manifest-3",
            "tagmac-manifest-4",
            mismatch,
            "expected tagmac-manifest-3, found tagmac-manifest-4",
        ),
        ("tagmac-m", "x", mismatch, "not a manifest"),
        ("PMAC-AES128", "UMAC-32", key, "the manifest is for UMAC-32; expected PMAC-AES128"),
        ("algorithm: ", "a: ", mismatch, "line 2: expected a line that begins with 'algorithm: '"),
        ("bits: 32", "bits: 032", mismatch, "expected a number of bits, found '032'"),
        ("bits: 32", "bits: x", mismatch, "expected a number of bits, found 'x'"),
        (&id[..], "0000000000000000", key, "found 0000000000000000"),
        ("none", "", mismatch, "expected options, found ''"),
        ("none", "mode none", mismatch, "expected options, found 'mode none'"),
        ("none", "mtime mode", mismatch, "expected options, found 'mtime mode'"),
        ("none", "max-depth=03", mismatch, "expected options, found 'max-depth=03'"),
        ("none", "leaves=065536", mismatch, "expected options, found 'leaves=065536'"),
        ("none", "leaves=3999", mismatch, "expected options, found 'leaves=3999'"),
        ("none", "leaves=67108865", mismatch, "expected options, found 'leaves=67108865'"),
        ("options: none\n", "", mismatch, "line 5: expected a line that begins with 'options: '"),
        ("filters: 0\n", "", mismatch, "the manifest ends within its header"),
        ("filters: 0", "filters: 00", mismatch, "expected a number of filters, at most 1024"),
        ("filters: 0", "filters: 1025", mismatch, "expected a number of filters, at most 1024"),
        (
            "sequence: 1 ",
            "sequence: 0 ",
            mismatch,
            "expected a number from 1 and a day as YYYY-MM-DD",
        ),
        ("2024-", "24-", mismatch, "expected a number from 1 and a day as YYYY-MM-DD"),
        ("links: 0", "links: 4097", mismatch, "expected a number of links, at most 4096"),
        ("first: -", "first: 00", mismatch, "expected '-' or a seal"),
        ("links: 0", "links: 00", mismatch, "expected numbers and patterns in canonical form"),
        (
            "filters: 0\n",
            "filters: 1\na\tb\n",
            mismatch,
            "expected numbers and patterns in canonical form",
        ),
        (
            "sequence: 1",
            "sequence: 2",
            mismatch,
            "the links do not lead to the first manifest of the chain",
        ),
    ];
    // Version 2 has none of the later options.
    for option in ["owner", "xattrs", "exclude-caches", "listed", "max-depth=1", "leaves=65536"] {
        let new = text.replace("none", option);
        assert!(read(&new).is_ok(), "{option}");
        let (_, message) = read(&new.replace("-3\n", "-2\n")).unwrap_err();
        assert!(message.ends_with(&format!("expected options, found '{option}'")), "{message}");
    }
    for (old, new, kind, what) in cases {
        let (found, message) = read(&text.replacen(old, new, 1)).unwrap_err();
        assert_eq!(found, kind, "{message}");
        assert!(message.ends_with(what), "{message}");
    }
}
