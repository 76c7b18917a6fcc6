//! `tagmac check`: the lists that it reads, with their lines, line ends and names.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::check::{check, list, listed};
use crate::common::Place;
use proptest::prelude::*;

#[test]
fn lines_with_one_blank() {
    let place = listed();
    place.file("b c", "three");
    let pairs = [("a", "one"), ("b c", "three")];
    let tags = pairs.map(|(name, _)| place.keyed("tag", &[name]).exits(0).out);
    let tags = tags.map(|line| line.trim().rsplit(' ').next().unwrap().to_string());
    place.file("short", format!("{} a\n{} b c\n", tags[0], tags[1].to_uppercase()));
    check(&place, &["short"]).exits(0).in_silence().prints("a: OK\nb c: OK\n");
    place.file("short", format!("{} b c\n", tags[0]));
    check(&place, &["short"]).exits(1).prints("b c: FAILED\n");
    place.file("short", format!("\\{} no\\nname\n", tags[0]));
    check(&place, &["short"]).exits(1).prints("\\no\\nname: FAILED open or read\n");
}

#[test]
fn a_mark_at_the_start_of_a_list_is_named() {
    let place = listed();
    let text = list(&place);
    place.file("marked", format!("\u{feff}{text}"));
    let ran = check(&place, &["marked"]).exits(1).prints("b: OK\n");
    ran.says(&[
        "marked: line 1: expected no byte order mark (BOM)",
        "WARNING: 1 line is improperly",
    ]);
    let wide = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(order).collect()
    };
    for bytes in [wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
        place.file("marked", bytes);
        check(&place, &["marked"])
            .exits(1)
            .prints("")
            .says(&["line 1: expected a list in UTF-8, not in UTF-16"]);
    }
}

#[test]
fn a_missing_file_with_the_name_of_a_url_has_a_hint() {
    let place = listed();
    place.file("urls", list(&place).replace("(a)", "(s3n://b/k)").replace("(b)", "(https://h/k)"));
    check(&place, &["urls"]).exits(1).says(&[
        "s3n://b/k: No such file or directory; write this URL as s3://BUCKET/KEY",
        "https://h/k: No such file or directory; expected a file, or s3://",
    ]);
}

#[test]
fn lists_that_cannot_be_read() {
    let place = listed();
    check(&place, &["nolist"]).exits(4).says(&["tagmac: nolist: No such file or directory\n"]);
    check(&place, &["."]).exits(4).says(&["tagmac: .: expected a file, found a directory\n"]);
    check(&place, &["nolist", "list"]).exits(4).prints("a: OK\nb: OK\n");
}

#[test]
fn lists_without_tags() {
    let place = listed();
    for text in ["", "\n\n", "# a comment\n"] {
        place.file("empty", text);
        let ran = check(&place, &["empty"]).exits(1).prints("");
        assert_eq!(ran.err, "tagmac: empty: no properly formatted checksum lines found\n");
    }
    place.feed(&["check", "-k", "k"], b"").exits(1).says(&["standard input: no properly"]);
    // One good list does not make up for an empty one.
    check(&place, &["empty", "list"]).exits(1).prints("a: OK\nb: OK\n");
}

#[test]
fn malformed_lines() {
    let place = listed();
    let text = list(&place);
    place.file("mixed", format!("{text}bogus\n\\PMAC-AES128 (a\\t) = 00\n"));
    let first = "tagmac: mixed: line 3: expected 'ALGORITHM (NAME) = HEX' or 'HEX  NAME', \
                 found 'bogus'\n";
    let sum = "tagmac: WARNING: 2 lines are improperly formatted\n";
    let ran = check(&place, &["mixed"]).exits(1).prints("a: OK\nb: OK\n");
    assert_eq!(ran.err, format!("{first}{sum}"));
    let ran = check(&place, &["-w", "mixed"]).exits(1);
    ran.says(&[first, "mixed: line 4: expected '\\\\', '\\n' or '\\r'", sum]);
    check(&place, &["--status", "mixed"]).exits(1).prints("").in_silence();
    place.file("mixed", format!("{text}\u{1b}[1mx"));
    check(&place, &["mixed"])
        .exits(1)
        .says(&["found '\\u{1b}[1mx'", "WARNING: 1 line is improperly"]);
    for (name, why) in
        [("", "expected a name that is not empty"), ("a\0b", "expected a name without zero bytes")]
    {
        place.file("mixed", format!("{text}PMAC-AES128 ({name}) = 00\n"));
        check(&place, &["mixed"]).exits(1).says(&[&format!("line 3: {why}")]);
    }
    place.file("zero", format!("{}\0PMAC-AES128 () = 00\0", text.lines().next().unwrap()));
    check(&place, &["-z", "zero"]).exits(1).says(&["line 2: expected a name that is not empty"]);
    let long = [text.as_bytes(), &vec![b'x'; 70_000], b"\n"].concat();
    place.file("mixed", long);
    check(&place, &["mixed"]).exits(1).prints("a: OK\nb: OK\n").says(&["at most 64 KiB"]);
}

#[test]
fn a_line_may_name_standard_input() {
    let place = Place::new();
    place.shell("printf text | $T tag -k k > list").exits(0);
    place.feed(&["check", "-k", "k", "list"], b"text").exits(0).prints("-: OK\n");
    place.feed(&["check", "-k", "k", "list"], b"other").exits(1).prints("-: FAILED\n");
    let text = list(&place);
    let ran = place.feed(&["check", "-k", "k"], text.as_bytes()).exits(4);
    ran.says(&["standard input is already used for the list"]);
}

#[test]
fn lists_with_carriage_returns() {
    let place = listed();
    place.file("c\r", "three");
    let text = place.keyed("tag", &["a", "c\r"]).exits(0).out
        + &place.keyed("tag", &["--untagged", "b", "c\r"]).exits(0).out;
    place.file("crlf", format!("# tags\n\n{text}").replace('\n', "\r\n"));
    let ran = check(&place, &["crlf"]).exits(0).in_silence();
    ran.prints("a: OK\n\\c\\r: OK\nb: OK\n\\c\\r: OK\n");
    // Only one carriage return belongs to the line end.
    place.file("crlf", text.replace('\n', "\r\r\n"));
    check(&place, &["crlf"]).exits(1).says(&["found 'PMAC-AES128 (a) = ", "\\r'"]);
    // With -z a line ends differently.
    let zero = place.keyed("tag", &["-z", "a"]).exits(0).out.replace('\0', "\r\0");
    place.feed(&["check", "-k", "k", "-z"], zero.as_bytes()).exits(1).prints("");
}

#[test]
fn a_long_malformed_line_is_shown_in_part() {
    let place = listed();
    place.file("long", "x".repeat(61));
    let part = format!("found '{}'...\n", "x".repeat(60));
    check(&place, &["long"]).exits(1).says(&[&part]);
}

fn names() -> impl Strategy<Value = Vec<u8>> {
    let special = proptest::sample::select(b"\\\n\r ()=*#-".to_vec());
    let byte = prop_oneof![special, (1..=255u8).prop_filter("a name", |byte| *byte != b'/')];
    prop::collection::vec(byte, 1..30).prop_filter("a file", |name| name != b"." && name != b"..")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_name_is_tagged_and_checked(names in prop::collection::btree_set(names(), 1..8)) {
        let place = Place::new();
        fs::create_dir(place.path("d")).unwrap();
        for name in &names {
            place.file(place.path("d").join(OsStr::from_bytes(name)), name);
        }
        for form in [&[][..], &["-z"], &["--untagged"], &["-z", "--untagged"]] {
            let tagged = place.keyed("tag", &[&["-r", "d"], form].concat()).exits(0).in_silence();
            let zero = if form.contains(&"-z") { &["-z"][..] } else { &[] };
            let args = [&["check", "-k", "k"], zero].concat();
            let checked = place.feed(&args, &tagged.bytes).exits(0).in_silence();
            prop_assert_eq!(checked.out.matches(": OK\n").count(), names.len());
        }
    }

    #[test]
    fn no_list_makes_it_panic(text: Vec<u8>, zero: bool) {
        let place = Place::new();
        let args: &[&str] = if zero { &["check", "-k", "k", "-z"] } else { &["check", "-k", "k"] };
        let ran = place.feed(args, &text);
        prop_assert_eq!(ran.code, Some(1), "{}", ran.err);
    }
}

#[test]
fn names_like_options_and_plain_dashes() {
    let place = Place::new();
    place.file("-l", "one");
    place.file("-", "two");
    let tagged = place.keyed("tag", &["--", "-l", "./-"]).exits(0).out;
    place.feed(&["check", "-k", "k"], tagged.as_bytes()).exits(0).prints("-l: OK\n./-: OK\n");
}

#[test]
fn mixed_forms_and_escapes_in_verdicts() {
    let place = Place::new();
    place.file("a\nb", "one");
    place.file("c", "two");
    place.shell("$T tag -k k 'a\nb' > list; $T tag -k k --untagged c >> list").exits(0);
    check(&place, &["list"]).exits(0).prints("\\a\\nb: OK\nc: OK\n");
    place.file("a\nb", "other");
    check(&place, &["list"]).exits(1).prints("\\a\\nb: FAILED\nc: OK\n");
    fs::remove_file(place.path("a\nb")).unwrap();
    check(&place, &["list"]).exits(1).says(&["tagmac: $'a\\nb': No such file"]);
}

#[test]
fn a_list_in_a_pipe_is_read_once() {
    let place = listed();
    for name in ["/dev/stdin", "/dev/fd/0", "-"] {
        let line = format!("cat list | $T check -k k --progress always {name}");
        let ran = place.shell(&line).prints("a: OK\nb: OK\n");
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    // A pipe that ended before it was opened, and one without a writer.
    place
        .shell(": | { read x; $T check -k k /dev/fd/0; }")
        .exits(1)
        .says(&["no properly formatted"]);
}
