//! `tagmac part` and `tagmac combine`: tags from ranges, and which inputs are rejected.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};

use crate::common::{Place, Ran};

/// Returns bytes that do not repeat soon.
fn bytes(count: usize) -> Vec<u8> {
    (0..count as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u8).collect()
}

/// Runs `part` for the object "o" in the file "f".
fn part(place: &Place, more: &[&str]) -> Ran {
    place.keyed("part", &[&["--object", "o", "f"], more].concat())
}

/// Writes the partial of a range, or of everything from `start` on.
fn range(place: &Place, output: &str, start: u64, length: Option<u64>) {
    let start = start.to_string();
    let ran = match length {
        Some(length) => {
            let length = length.to_string();
            part(place, &["--start", &start, "--length", &length, "-o", output])
        }
        None => part(place, &["--start", &start, "--last", "-o", output]),
    };
    ran.exits(0).prints("").in_silence();
}

fn remove(place: &Place, names: &[&str]) {
    names.iter().for_each(|name| fs::remove_file(place.path(name)).unwrap());
}

#[test]
fn every_algorithm_with_parts() {
    let place = Place::bare();
    let list = place.run(&["list", "--json"]).exits(0).out;
    let text = bytes(3_000_000);
    for row in list.lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let algorithm = row["algorithm"].as_str().unwrap();
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        let parts = row["can"].as_array().unwrap().iter().any(|can| can == "parts");
        assert_eq!(row["block_bytes"].is_null(), !parts, "{algorithm}");
        let Some(block) = row["block_bytes"].as_u64() else {
            place.file("f", "text");
            let ran = part(&place, &["--start", "0", "--last", "-o", "p"]).exits(2);
            ran.says(&[&format!("tagmac: {algorithm} cannot hash ranges; 'tagmac list' shows")]);
            let ran = place.keyed("combine", &["f"]).exits(2);
            ran.says(&[&format!("tagmac: {algorithm} cannot hash ranges")]);
            remove(&place, &["k"]);
            continue;
        };
        let limit = row["limit_bits"].as_u64().unwrap_or(u64::MAX) / 8;
        let length = limit.min(text.len() as u64);
        place.file("f", &text[..length as usize]);
        let most = row["max_nonce_bytes"].as_u64().unwrap() as usize;
        let nonce =
            ["--allow-short", "--nonce-hex", &"00112233445566778899aabbccddeeff"[..2 * most]];
        let nonce = if most == 0 { &nonce[..1] } else { &nonce };
        let whole = place.keyed("tag", &[nonce, &["f"]].concat()).exits(0).out;
        let blocks = (length - 1) / block;
        let (a, b) = (blocks / 3 * block, blocks * 3 / 4 * block);
        range(&place, "2", a, Some(b - a));
        range(&place, "3", b, None);
        range(&place, "1", 0, Some(a));
        let options = [nonce, &["--name", "f", "3", "1", "2"]].concat();
        place.keyed("combine", &options).exits(0).in_silence().prints(&whole);
        remove(&place, &["k", "1", "2", "3"]);
    }
}

#[test]
fn lengths_around_every_edge() {
    let place = Place::bare();
    let text = bytes((1 << 20) + 100);
    for (algorithm, block) in [("PMAC-AES128", 16), ("LIGHTMAC-AES128-S24", 13), ("UMAC-64", 2048)]
    {
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        let nonce = ["--nonce-hex", "0102030405060708"];
        let nonce = if block == 2048 { &nonce[..] } else { &[] };
        let step = (128 << 10) / block * block;
        for edge in [0, block, 2 * block, step, step + block, 4 * step, 5 * step] {
            for length in edge.max(1) - 1..=edge + 1 {
                place.file("f", &text[..length]);
                let whole = place.keyed("tag", &[nonce, &["f"]].concat()).exits(0).out;
                // In one range, and with as much as possible before the last byte.
                for cut in [0, length.saturating_sub(1) / block * block] {
                    let mut names = vec!["last"];
                    if cut > 0 {
                        range(&place, "first", 0, Some(cut as u64));
                        names.push("first");
                    }
                    range(&place, "last", cut as u64, None);
                    let options = [nonce, &["--name", "f"], &names].concat();
                    let made = place.keyed("combine", &options).exits(0).out;
                    assert_eq!(made, whole, "{algorithm}, {length} bytes cut at {cut}");
                    remove(&place, &names);
                }
            }
        }
        remove(&place, &["k"]);
    }
}

#[test]
fn the_line_can_be_checked() {
    let place = Place::bare();
    place.run(&["keygen", "-a", "POLY1305-AES", "-o", "k"]).exits(0);
    place.file("o", bytes(100));
    place.file("f", bytes(100));
    range(&place, "1", 0, Some(64));
    range(&place, "2", 64, None);
    let line = place.keyed("combine", &["1", "2"]).exits(0).in_silence().out;
    assert!(line.starts_with("POLY1305-AES.n="), "{line}");
    let again = place.keyed("combine", &["1", "2"]).exits(0).out;
    assert_ne!(line, again, "a nonce twice");
    place.file("list", line + &again);
    place.keyed("check", &["list"]).exits(0).prints("o: OK\no: OK\n");
    place.file("o", bytes(101));
    place.keyed("check", &["--status", "list"]).exits(1);
    let json = place.keyed("combine", &["--json", "--name", "x", "2", "1"]).exits(0).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["path"], &json["bytes"]), (&"x".into(), &100.into()));
    place
        .keyed("combine", &["1", "2", "--nonce-hex", "00"])
        .exits(2)
        .says(&["a nonce of 16 bytes"]);
    place.keyed("combine", &["1", "2", "--tag-bits", "64"]).exits(2).says(&["128 bits, found 64"]);
}

#[test]
fn tags_are_as_long_as_they_are_asked_for() {
    let place = Place::new();
    place.file("f", bytes(100));
    range(&place, "1", 0, None);
    let whole = place.keyed("tag", &["--tag-bits", "96", "f"]).exits(0).out;
    place.keyed("combine", &["--tag-bits", "96", "--name", "f", "1"]).exits(0).prints(&whole);
}

#[test]
fn ranges_in_files_of_their_own() {
    let place = Place::new();
    let text = bytes(1000);
    place.file("f", &text);
    let whole = place.keyed("tag", &["f"]).exits(0).out;
    place.file("chunk1", &text[..400]);
    // A chunk with bytes before and after it.
    place.file("chunk2", [b"before".as_slice(), &text[400..800], b"behind"].concat());
    place.file("chunk3", &text[800..]);
    let cases: [(&str, &[&str]); 3] = [
        ("chunk1", &["--start", "0", "--length", "400"]),
        ("chunk2", &["--start", "400", "--length", "400", "--at", "6"]),
        ("chunk3", &["--start", "800", "--last", "--at", "0"]),
    ];
    for (chunk, options) in cases {
        let output = format!("{chunk}.part");
        let more = ["--object", "o", "-o", &output, chunk];
        place.keyed("part", &[options, &more].concat()).exits(0).in_silence();
    }
    let partials = ["chunk2.part", "chunk3.part", "chunk1.part"];
    place.keyed("combine", &[&partials[..], &["--name", "f"]].concat()).exits(0).prints(&whole);
    // Without --at, the range is read at --start.
    let ran = part(&place, &["--start", "992", "--length", "16", "-o", "p"]).exits(4);
    ran.says(&["tagmac: f: expected at least 1008 bytes, found 1000; --at 0 is for"]);
    let ran = part(&place, &["--start", "1600", "--last", "-o", "p"]).exits(4);
    ran.says(&["tagmac: f: expected at least 1600 bytes, found 1000; --at 0 is for"]);
    let ran = part(&place, &["--start", "0", "--length", "992", "--at", "16", "-o", "p"]).exits(4);
    ran.says(&["tagmac: f: expected at least 1008 bytes, found 1000\n"]);
    assert!(!place.path("p").exists());
}

#[test]
fn made_on_one_level_and_combined_on_another() {
    let place = Place::bare();
    let text = bytes((1 << 24) + 70_000);
    place.file("f", &text);
    for algorithm in ["PMAC-AES128", "ELIMAC-AES128", "UMAC-128", "POLY1305-AES", "UMAC99-STD-60"] {
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        let on = |level: &str, args: &[&str]| -> Ran {
            let mut command = place.command(args);
            command.env("TAGMAC_LEVEL", level).output().unwrap().into()
        };
        let cut = "16MiB";
        let first = ["part", "-k", "k", "--object", "o", "f", "--start", "0", "--length", cut];
        let last = ["part", "-k", "k", "--object", "o", "f", "--start", cut, "--last"];
        on("portable", &[&first[..], &["-o", "1"]].concat()).exits(0);
        on("", &[&last[..], &["-o", "2"]].concat()).exits(0);
        on("", &[&first[..], &["-o", "3"]].concat()).exits(0);
        on("portable", &[&last[..], &["-o", "4"]].concat()).exits(0);
        let mut list = String::new();
        for level in ["portable", ""] {
            for (one, two) in [("1", "2"), ("3", "4"), ("1", "4")] {
                let combine = ["combine", "-k", "k", "--name", "f", one, two];
                list += &on(level, &combine).exits(0).in_silence().out;
            }
        }
        place.file("list", list);
        place.keyed("check", &["list"]).exits(0).prints(&"f: OK\n".repeat(6));
        remove(&place, &["k", "1", "2", "3", "4"]);
    }
}

#[test]
fn sparse_files() {
    let place = Place::new();
    let mut file = OpenOptions::new().create_new(true).write(true).open(place.path("f")).unwrap();
    file.set_len(300 << 20).unwrap();
    file.seek(SeekFrom::Start(200 << 20)).unwrap();
    file.write_all(b"data among holes").unwrap();
    let whole = place.keyed("tag", &["f"]).exits(0).out;
    range(&place, "1", 0, Some(200 << 20));
    range(&place, "2", 200 << 20, None);
    place.keyed("combine", &["--name", "f", "1", "2"]).exits(0).prints(&whole);
}

#[test]
fn blocks_are_kept_whole() {
    let place = Place::new();
    place.file("f", bytes(100));
    let ran = part(&place, &["--start", "40", "--last", "-o", "p"]).exits(2);
    ran.says(&[
        "tagmac: --start: expected a multiple of PMAC-AES128's block of 16 bytes, found 40; \
         the nearest: 32 and 48\n",
    ]);
    let ran = part(&place, &["--start", "0", "--length", "15", "-o", "p"]).exits(2);
    ran.says(&["--length, without --last: expected a multiple", "found 15; the nearest: 0 and 16"]);
    let ran = part(&place, &["--start", "18446744073709551615", "--last", "-o", "p"]).exits(2);
    ran.says(&["the nearest: 18446744073709551600\n"]);
    let ran = part(&place, &["--start", "18446744073709551600", "--length", "16", "-o", "p"]);
    ran.exits(4).says(&["tagmac: f: expected at least 18446744073709551615 bytes, found 100"]);
    let far = ["--start", "18446744073709551600", "--length", "16", "--at", "0", "-o", "p"];
    part(&place, &far).exits(4).says(&["algorithm's limit"]);
    part(&place, &["--start", "0", "-o", "p"]).exits(2).says(&["use --length BYTES, or --last"]);
    let nothing = ["--start", "0", "--length", "0", "-o", "p"];
    part(&place, &nothing).exits(2).says(&["--length: expected at least 1 byte, found 0"]);
    let nothing = ["--start", "96", "--last", "--at", "100", "-o", "p"];
    part(&place, &nothing).exits(2).says(&["expected at least 1 byte, found 0"]);
    // The last range ends with the file.
    let early = ["--start", "0", "--length", "64", "--last", "-o", "p"];
    part(&place, &early)
        .exits(2)
        .says(&["--last: the range must end with the file: expected an end at byte 100, found 64"]);
    let late = ["--start", "0", "--length", "101", "--last", "-o", "p"];
    part(&place, &late).exits(4).says(&["expected at least 101 bytes, found 100"]);
    assert!(!place.path("p").exists());
}

#[test]
fn an_object_of_no_bytes() {
    let place = Place::new();
    place.file("f", "");
    let whole = place.keyed("tag", &["f"]).exits(0).out;
    range(&place, "1", 0, None);
    place.keyed("combine", &["--name", "f", "1"]).exits(0).prints(&whole);
}

#[test]
fn over_the_limit() {
    let place = Place::bare();
    place.run(&["keygen", "-a", "LIGHTMAC-AES128-S8", "-o", "k"]).exits(0);
    place.file("f", vec![0; 15]);
    let at = |start: &str| part(&place, &["--start", start, "--last", "--at", "0", "-o", start]);
    at("3825").exits(0);
    at("3840").exits(4).says(&["at most 3840 bytes, the algorithm's limit, found 3855"]);
}

#[test]
fn ranges_that_make_no_whole() {
    let place = Place::new();
    place.file("f", bytes(200));
    for (name, start, length) in
        [("a", 0, Some(64)), ("b", 64, Some(32)), ("c", 96, Some(16)), ("b2", 48, Some(64))]
    {
        range(&place, name, start, length);
    }
    range(&place, "z", 112, None);
    let refused = |names: &[&str], what: &str| {
        let ran = place.keyed("combine", names).exits(1).prints("");
        assert_eq!(ran.err, format!("tagmac: {what}\n"));
    };
    let apart = |left: &str, right: &str, why: &str| {
        format!("bytes {left} and bytes {right} do not adjoin: {why}")
    };
    refused(
        &["z", "a", "b"],
        &apart("64 to 96 (b)", "112 to 200 (z)", "there is a gap of 16 bytes"),
    );
    refused(&["a", "b2", "z", "c"], &apart("0 to 64 (a)", "48 to 112 (b2)", "they overlap"));
    refused(&["a", "b", "b", "c", "z"], &apart("64 to 96 (b)", "64 to 96 (b)", "they overlap"));
    refused(
        &["b", "c", "z"],
        "the range from byte 0 is missing; no range precedes bytes 64 to 96 (b)",
    );
    refused(&["a", "b", "c"], "no range was made with --last; the last one is bytes 96 to 112 (c)");
    refused(&["z"], "the range from byte 0 is missing; no range precedes bytes 112 to 200 (z)");
    refused(&["a"], "no range was made with --last; the last one is bytes 0 to 64 (a)");
    // Another range after the last one.
    place.file("f", bytes(64));
    range(&place, "end", 0, None);
    refused(
        &["b", "c", "end"],
        &apart("0 to 64 (end)", "64 to 96 (b)", "the first is the object's last range"),
    );
    place.keyed::<&str>("combine", &[]).exits(2);
}

#[test]
fn partials_of_others() {
    let place = Place::new();
    place.file("f", bytes(200));
    range(&place, "a", 0, Some(64));
    let last = ["--start", "64", "--last", "f"];
    place.keyed("part", &[&last[..], &["--object", "other", "-o", "b"]].concat()).exits(0);
    let ran = place.keyed("combine", &["a", "b"]).exits(1).prints("");
    ran.says(&["tagmac: b: the partial is of other, not of o (a)\n"]);
    let ran = place.keyed("combine", &["--object", "x\ny", "a"]).exits(1);
    ran.says(&["tagmac: a: the partial is of o, not of $'x\\ny' (--object)\n"]);
    place.run(&["keygen", "-o", "k2"]).exits(0);
    place.run(&["keygen", "-a", "ELIMAC-AES128", "-o", "k3"]).exits(0);
    for (key, found) in [("k2", "PMAC-AES128"), ("k3", "ELIMAC-AES128")] {
        let own = ["part", "-k", key, "--object", "o", "-o", &format!("of {key}")];
        place.run(&[&own[..], &last].concat()).exits(0);
        let ran = place.keyed("combine", &["a", &format!("of {key}")]).exits(3).prints("");
        ran.says(&[
            &format!("tagmac: of {key}: made with {found} and key id "),
            "; expected PMAC-AES128 and key id ",
        ]);
    }
    place.file("text", "tagmac-partia");
    let ran = place.keyed("combine", &["a", "text"]).exits(1);
    ran.says(&["tagmac: text: not a partial from 'tagmac part'\n"]);
    place.file("two", "tagmac-partial-1 and more");
    place
        .keyed("combine", &["two"])
        .exits(1)
        .says(&["the partial has an unknown version; this program reads version 2"]);
    place.keyed("combine", &["a", "none"]).exits(4).says(&["tagmac: none: No such file"]);
    place.keyed("combine", &["a", "."]).exits(4).says(&["found a directory"]);
}

#[test]
fn every_altered_byte_is_refused() {
    let place = Place::new();
    place.file("f", bytes(100));
    range(&place, "a", 0, Some(64));
    range(&place, "z", 64, None);
    place.keyed("combine", &["a", "z"]).exits(0);
    for name in ["a", "z"] {
        let good = fs::read(place.path(name)).unwrap();
        for byte in 0..good.len() {
            let mut bad = good.clone();
            bad[byte] ^= 1 << (byte % 8);
            place.file(name, &bad);
            let ran = place.keyed("combine", &["a", "z"]).prints("").says(&["tagmac: "]);
            // The key's id and the algorithm are compared before the seal is checked.
            let key = ran.err.contains(" and key id ");
            assert!(!key || (16..24).contains(&byte) || (41..53).contains(&byte), "{byte}");
            // A range is only compared with others once its seal is verified.
            assert!(!(24..40).contains(&byte) || ran.err.contains(" damaged"), "{}", ran.err);
            ran.exits(if key { 3 } else { 1 });
            place.file(name, &good[..byte]);
            place.keyed("combine", &["a", "z"]).exits(1).prints("");
        }
        place.file(name, [&good[..], b"x"].concat());
        let ran = place.keyed("combine", &["a", "z"]).exits(1);
        ran.says(&["the partial is damaged, or was not sealed under this key\n"]);
        place.file(name, &good);
    }
}

#[test]
fn what_cannot_be_read_or_written() {
    let place = Place::new();
    place.file("f", bytes(100));
    range(&place, "p", 0, None);
    let whole = ["--start", "0", "--last"];
    let to = |output: &'static str| [&whole[..], &["-o", output]].concat();
    part(&place, &to("p")).exits(4).says(&["tagmac: p: the file exists\n"]);
    part(&place, &to("none/p")).exits(4).says(&["tagmac: none/p: No such file or directory\n"]);
    part(&place, &to("-")).exits(2).says(&["-o: expected a file, found '-'"]);
    let of = |file: &'static str| {
        place.keyed("part", &[&whole[..], &["--object", "o", "-o", "q", file]].concat())
    };
    of("none").exits(4).says(&["tagmac: none: No such file or directory\n"]);
    of(".").exits(4).says(&["found a directory"]);
    of("/dev/null").exits(4).says(&["tagmac: /dev/null: expected a regular file"]);
    place.shell("mkfifo pipe").exits(0);
    of("pipe").exits(4).says(&["tagmac: pipe: expected a regular file, found a named pipe\n"]);
    fs::remove_file(place.path("pipe")).unwrap();
    let unnamed = [&whole[..], &["--object", "", "-o", "q", "f"]].concat();
    place.keyed("part", &unnamed).exits(2).says(&["--object: expected a name of 1 to 65535 bytes"]);
    place.keyed("part", &[&to("q")[..], &["f"]].concat()).exits(2).says(&["--object is missing"]);
    let full = "trap '' XFSZ; ulimit -f 0; $T part -k k --object o --start 0 --last f -o q";
    place.shell(full).exits(4).says(&["tagmac: q: File too large\n"]);
    assert!(!place.path("q").exists());
    let left = fs::read_dir(place.path(".")).unwrap().count();
    assert_eq!(left, 3, "the key, the file and the first partial");
}
