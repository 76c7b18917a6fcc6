//! `tagmac check`: verdicts, summaries, exit codes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::common::{Place, Ran};
use proptest::prelude::*;

/// A folder with the files `a` and `b` and their `list`.
fn listed() -> Place {
    let place = Place::new();
    place.file("a", "one");
    place.file("b", "two");
    place.shell("$T tag -k k a b > list").exits(0);
    place
}

fn check(place: &Place, args: &[&str]) -> Ran {
    place.keyed("check", args)
}

fn list(place: &Place) -> String {
    fs::read_to_string(place.path("list")).unwrap()
}

#[test]
fn all_good() {
    let place = listed();
    let good = |args: &[&str]| check(&place, args).exits(0).in_silence();
    good(&["list"]).prints("a: OK\nb: OK\n");
    good(&["list", "list"]).prints("a: OK\nb: OK\na: OK\nb: OK\n");
    good(&["--quiet", "list"]).prints("");
    good(&["--status", "list"]).prints("");
    good(&["--strict", "-w", "list"]).prints("a: OK\nb: OK\n");
    let text = list(&place);
    let fed = place.feed(&["check", "-k", "k"], text.as_bytes()).exits(0);
    fed.in_silence().prints("a: OK\nb: OK\n");
    // No line feed at the end, hex in upper case, comments, empty lines, another case of letters.
    let odd = text.trim_end().replace("PMAC-AES128", "pmac-Aes128");
    let hex = odd.rsplit(' ').next().unwrap();
    let odd = format!("# tags\n\n{}", odd.replace(hex, &hex.to_uppercase()));
    let fed = place.feed(&["check", "-k", "k", "-"], odd.as_bytes()).exits(0);
    fed.in_silence().prints("a: OK\nb: OK\n");
}

#[test]
fn a_mismatch() {
    let place = listed();
    place.file("b", "twO");
    let ran = check(&place, &["list"]).exits(1).prints("a: OK\nb: FAILED\n");
    assert_eq!(ran.err, "tagmac: WARNING: 1 computed checksum did NOT match\n");
    check(&place, &["--quiet", "list"]).exits(1).prints("b: FAILED\n");
    check(&place, &["--status", "list"]).exits(1).prints("").in_silence();
    place.file("a", "");
    let ran = check(&place, &["list"]).exits(1);
    ran.says(&[
        "WARNING: 2 computed checksums did NOT match",
        "tagmac: list: no tag matches: check that key ",
        " made this list\n",
    ]);
    // The tag that would be right is not for who has the wrong file.
    let json = check(&place, &["--json", "list"]).exits(1).out;
    let right = place.keyed("tag", &["a"]).exits(0).out;
    assert!(!json.contains(right.trim().rsplit(' ').next().unwrap()));
}

#[test]
fn another_key() {
    let place = listed();
    place.run(&["keygen", "-o", "other"]).exits(0);
    place.run(&["check", "-k", "other", "list"]).exits(1).prints("a: FAILED\nb: FAILED\n");
}

#[test]
fn missing_and_unreadable_files() {
    let place = listed();
    fs::remove_file(place.path("b")).unwrap();
    let ran = check(&place, &["list"]).exits(1).prints("a: OK\nb: FAILED open or read\n");
    ran.says(&["b: No such file or directory\n", "WARNING: 1 listed file could not be read\n"]);
    check(&place, &["--ignore-missing", "list"]).exits(0).prints("a: OK\n").in_silence();
    fs::remove_file(place.path("a")).unwrap();
    check(&place, &["list"]).exits(1).says(&["WARNING: 2 listed files could not be read\n"]);
    let ran = check(&place, &["--ignore-missing", "list"]).exits(1).prints("");
    assert_eq!(ran.err, "tagmac: list: no file was verified\n");

    // There is no verdict on a directory.
    fs::create_dir(place.path("a")).unwrap();
    let one = list(&place).lines().next().unwrap().to_string();
    place.file("one", &one);
    check(&place, &["one"]).exits(4).prints("a: FAILED open or read\n");
    // 1 wins over 4.
    check(&place, &["list"]).exits(1).prints("a: FAILED open or read\nb: FAILED open or read\n");
}

#[test]
fn a_name_below_a_file_is_missing() {
    let place = listed();
    let text = list(&place);
    for below in ["k/a", "k/", "k/a/b"] {
        place.file("one", format!("{text}{}", text.replace("(a)", &format!("({below})"))));
        let expected = format!("a: OK\nb: OK\n{below}: FAILED open or read\nb: OK\n");
        let ran = check(&place, &["one"]).exits(1).prints(&expected);
        ran.says(&[&format!("{below}: Not a directory\n")]);
        check(&place, &["--ignore-missing", "one"]).exits(0).in_silence();
        let json = check(&place, &["--json", "one"]).exits(1).out;
        assert!(json.contains("\"status\":\"missing\""), "{json}");
    }
}

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
        "s3n://b/k: No such file or directory; expected s3://BUCKET/KEY",
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
fn a_key_may_come_by_standard_input() {
    let place = listed();
    let key = fs::read(place.path("k")).unwrap();
    let ran = place.feed(&["check", "--key-fd", "0", "list"], &key).exits(0).in_silence();
    ran.prints("a: OK\nb: OK\n");
    let ran = place.feed(&["check", "--key-fd", "0"], &key).exits(2).prints("");
    ran.says(&["standard input"]);
    // A pipe has no folder in which others could replace it.
    let ran = place.shell("cat k | $T check -k /dev/fd/0 list").exits(0).in_silence();
    ran.prints("a: OK\nb: OK\n");
}

#[test]
fn what_is_small_is_checked_without_a_bar() {
    let place = listed();
    place.shell("$T tag -k k --raw a > raw").exits(0);
    for args in [&["list"][..], &["--raw-tag", "raw", "a"]] {
        check(&place, &[&["--progress", "always"], args].concat()).exits(0).in_silence();
    }
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
        [("", "expected a name, found none"), ("a\0b", "expected a name without zero bytes")]
    {
        place.file("mixed", format!("{text}PMAC-AES128 ({name}) = 00\n"));
        check(&place, &["mixed"]).exits(1).says(&[&format!("line 3: {why}")]);
    }
    place.file("zero", format!("{}\0PMAC-AES128 () = 00\0", text.lines().next().unwrap()));
    check(&place, &["-z", "zero"]).exits(1).says(&["line 2: expected a name, found none"]);
    let long = [text.as_bytes(), &vec![b'x'; 70_000], b"\n"].concat();
    place.file("mixed", long);
    check(&place, &["mixed"]).exits(1).prints("a: OK\nb: OK\n").says(&["at most 64 KiB"]);
}

#[test]
fn the_list_does_not_choose_the_algorithm() {
    let place = listed();
    let text = list(&place);
    let tag = text.lines().next().unwrap().rsplit(' ').next().unwrap();
    let cases = [
        (
            format!("PMAC-AES256 (a) = {tag}"),
            "expected a tag of PMAC-AES128, found one of PMAC-AES256",
        ),
        (format!("SHA256 (a) = {tag}{tag}"), "found one of SHA256"),
        (
            format!("PMAC-AES128 (a) = {}", &tag[..30]),
            "expected a tag of 16 bytes (128 bits), found one of 15",
        ),
        (format!("PMAC-AES128 (a) = {tag}00"), "found one of 17"),
        (format!("{}  a", &tag[..2]), "found one of 1"),
        (format!("{tag}{tag}{tag}  a"), "found one of 48"),
    ];
    for (line, why) in cases {
        place.file("one", line);
        let ran = check(&place, &["one"]).exits(1).prints("a: FAILED\n").says(&[why]);
        assert!(!ran.err.contains("improperly"));
        check(&place, &["--ignore-missing", "one"]).exits(1);
    }
    // Without --tag-bits, shorter tags are of another length even where they are right.
    place.shell("$T tag -k k --tag-bits 64 a > short").exits(0);
    check(&place, &["short"]).exits(1).prints("a: FAILED\n");
    check(&place, &["--tag-bits", "64", "short"]).exits(0).prints("a: OK\n");
}

#[test]
fn short_tags_and_unused_bits() {
    let place = listed();
    let short = place.keyed("tag", &["--tag-bits", "12", "--allow-short", "a"]).exits(0).out;
    place.file("short", &short);
    check(&place, &["--tag-bits", "12", "short"]).exits(2).says(&["at least 64 bits, found 12"]);
    check(&place, &["--tag-bits", "12", "--allow-short", "short"]).exits(0).prints("a: OK\n");
    place.file("short", format!("{}1", short.trim_end().strip_suffix('0').unwrap()));
    let ran = check(&place, &["--tag-bits", "12", "--allow-short", "short"])
        .exits(1)
        .prints("a: FAILED\n");
    ran.says(&["a: expected a tag of 12 bits, found one with bits set after them\n"]);
}

#[test]
fn raw_tags() {
    let place = listed();
    place.shell("$T tag -k k --raw a > raw").exits(0);
    check(&place, &["--raw-tag", "raw", "a"]).exits(0).prints("a: OK\n").in_silence();
    check(&place, &["--raw-tag", "raw", "b"]).exits(1).prints("b: FAILED\n");
    check(&place, &["--raw-tag", "a", "b"])
        .exits(1)
        .prints("b: FAILED\n")
        .says(&["tagmac: a: expected a raw tag of 16 bytes (128 bits), found 3 bytes\n"]);
    check(&place, &["--raw-tag", "raw", "missing"])
        .exits(1)
        .prints("missing: FAILED open or read\n");
    check(&place, &["--raw-tag", "raw", "."]).exits(4);
    check(&place, &["--raw-tag", "missing", "a"]).exits(4).prints("");
    check(&place, &["--raw-tag", "raw", "a", "b"]).exits(2);
    place.feed(&["check", "-k", "k", "--raw-tag", "raw"], b"one").exits(0).prints("-: OK\n");
    let raw = fs::read(place.path("raw")).unwrap();
    place.feed(&["check", "-k", "k", "--raw-tag", "-", "a"], &raw).exits(0);
    place.feed(&["check", "-k", "k", "--raw-tag", "-"], &raw).exits(2);
}

#[test]
fn objects() {
    let place = listed();
    place.file("b", "changed");
    place.file("more", list(&place).replace("(a)", "(gone)") + "bogus\n");
    let ran = check(&place, &["--json", "list", "more"]).exits(1);
    let rows: Vec<serde_json::Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let status: Vec<&str> = rows.iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["ok", "failed", "missing", "failed", "malformed"]);
    assert_eq!(rows[0]["bytes"], 3);
    assert_eq!(rows[4]["line"], 3);
    assert_eq!(rows[4]["list"], "more");
    // Its name as it is, as that of a file.
    place.file("a\nlist", "bogus\n");
    let ran = check(&place, &["--json", "a\nlist"]).exits(1).says(&["$'a\\nlist': line 1: "]);
    let row: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(row["list"], "a\nlist");
    let quiet = check(&place, &["--json", "--quiet", "list"]).exits(1).out;
    assert_eq!(quiet.lines().count(), 1);
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
fn cksum_passes_over_our_lines() {
    let place = listed();
    let ran = place.shell(
        "cksum --help | grep -q algorithm || exit 77; cat list > mixed; \
         $T keygen -a UMAC-64 -o u > u.id; $T tag -k u a >> mixed; \
         cksum -a sha256 a >> mixed; cksum --check mixed",
    );
    if ran.code != Some(77) {
        assert_eq!((ran.code, &*ran.out), (Some(0), "a: OK\n"), "{}", ran.err);
    }
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
    // One is of the line's end, two are not.
    place.file("crlf", text.replace('\n', "\r\r\n"));
    check(&place, &["crlf"]).exits(1).says(&["found 'PMAC-AES128 (a) = ", "\\r'"]);
    // With -z a line has another end.
    let zero = place.keyed("tag", &["-z", "a"]).exits(0).out.replace('\0', "\r\0");
    place.feed(&["check", "-k", "k", "-z"], zero.as_bytes()).exits(1).prints("");
}

#[test]
#[cfg(target_os = "linux")]
fn one_wins_over_four_where_the_output_fails() {
    let place = listed();
    place.shell("$T check -k k list > /dev/full").exits(4).says(&["standard output: No space"]);
    place.file("a", "other");
    let ran = place.shell("$T check -k k list > /dev/full").exits(1);
    ran.says(&["standard output: No space left on device"]);
}

#[test]
fn output_that_is_lost_is_lost_once() {
    let place = listed();
    place.file("odd", list(&place) + "no line\nnor this\n");
    let ran = place.shell("$T check -k k --json odd > /dev/full").exits(1);
    assert_eq!(ran.err.matches("standard output").count(), 1, "{}", ran.err);
}

#[test]
fn the_status_alone_whatever_is_wrong() {
    let place = listed();
    let fails = |args: &[&str], words: &str| {
        check(&place, args).exits(1).says(&[words]);
        check(&place, &[&["--status"], args].concat()).exits(1).prints("").in_silence();
    };
    let text = list(&place);
    place.file("foreign", text.replace("PMAC-AES128", "LIGHTMAC-AES128-S8"));
    fails(&["foreign"], "expected a tag of PMAC-AES128, found one of LIGHTMAC-AES128-S8");
    place.file("gone", text.replace("(a)", "(x)").replace("(b)", "(y)"));
    fails(&["--ignore-missing", "gone"], "no file was verified");
    place.file("a", "other");
    place.file("b", "other");
    fails(&["list"], "no tag matches");
    // One tag that matches is enough to know that the key is right.
    place.file("c", "three");
    place.shell("cp list most; $T tag -k k c >> most").exits(0);
    assert!(!check(&place, &["most"]).exits(1).err.contains("no tag matches"));
    // A bar counts the files of proper lines.
    place.file("most", "no line\n".to_string() + &list(&place));
    let ran = check(&place, &["--progress", "always", "most"]);
    assert!(ran.code == Some(1) && ran.err.contains("improperly formatted"), "{}", ran.err);
}

#[test]
fn a_long_malformed_line_is_shown_in_part() {
    let place = listed();
    place.file("long", "x".repeat(61));
    let part = format!("found '{}'...\n", "x".repeat(60));
    check(&place, &["long"]).exits(1).says(&[&part]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_sees_what_a_name_holds() {
    let place = listed();
    let text = list(&place).replace("(b)", "(b: OK\u{1b}[8m)");
    place.file("odd", text);
    let line = "script -qec \"$T check -k k odd\" /dev/null";
    let ran = place.shell(&format!("command -v script > /dev/null || exit 77; {line}"));
    if ran.code != Some(77) {
        assert_eq!(ran.code, Some(1));
        assert!(ran.out.contains("\\b: OK\\u{1b}[8m: FAILED open or read"), "{}", ran.out);
        assert!(!ran.out.contains('\u{1b}'));
    }
    // Elsewhere the bytes are those of the name, as GNU's tools write them.
    check(&place, &["odd"]).exits(1).prints("a: OK\nb: OK\u{1b}[8m: FAILED open or read\n");
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
    // A pipe that has ended before it is opened, and one that nobody ever wrote to.
    place
        .shell(": | { read x; $T check -k k /dev/fd/0; }")
        .exits(1)
        .says(&["no properly formatted"]);
}

/// Nobody writes to the pipe, and the devices have no end.
#[test]
#[cfg(target_os = "linux")]
fn a_name_that_stands_for_something_without_end() {
    let place = listed();
    place.shell("mkfifo p; ln -s p l; $T tag -k k --raw a > raw").exits(0);
    let pipe = "expected a file, found a named pipe; '< PIPE' gives it as standard input\n";
    for name in ["p", "l"] {
        let said = format!("tagmac: {name}: {pipe}");
        check(&place, &[name]).exits(4).prints("").says(&[&said]);
        check(&place, &["--raw-tag", name, "a"]).exits(4).prints("").says(&[&said]);
        place.keyed("tag", &[name]).exits(4).prints("").says(&[&said]);
        let regular = format!("tagmac: {name}: expected a regular file, found a named pipe\n");
        place.keyed("combine", &[name]).exits(4).prints("").says(&[&regular]);
        place
            .run(&["tag", "-k", name, "a"])
            .exits(3)
            .prints("")
            .says(&[&format!("{name}: expected")]);
        check(&place, &["--raw-tag", "raw", name]).exits(4).says(&[&said]);
    }
    // What a list names has to be a file.
    for name in ["p", "l", "/dev/zero", "/dev/tty"] {
        place.shell(&format!("sed 's:(a):({name}):' list > other")).exits(0);
        let found = match name.starts_with('/') {
            true => "a device; --special reads devices",
            false => "a named pipe",
        };
        let said = format!("tagmac: {name}: expected a regular file, found {found}\n");
        let ran = check(&place, &["other"]).exits(4).says(&[&said]);
        ran.prints(&format!("{name}: FAILED open or read\nb: OK\n"));
    }
    place.shell("sed 's:(a):(/dev/null):' list > other").exits(0);
    check(&place, &["--special", "other"]).exits(1).prints("/dev/null: FAILED\nb: OK\n");
    // A list and a tag end.
    let ran = check(&place, &["/dev/zero"]).exits(1).prints("");
    assert_eq!(ran.err, "tagmac: /dev/zero: expected lines, found one of more than 1 MiB\n");
    let ran = check(&place, &["/dev/urandom"]).exits(1).prints("");
    ran.says(&[
        "tagmac: /dev/urandom: expected lines of tags, found none in 1 MiB: not read further\n",
    ]);
    check(&place, &["--raw-tag", "/dev/zero", "a"]).exits(1).prints("a: FAILED\n").says(&[
        "/dev/zero: expected a raw tag of 16 bytes (128 bits), found more than 32 bytes\n",
    ]);
    place.keyed("combine", &["/dev/zero"]).exits(4).says(&["/dev/zero: expected a regular file"]);
}
