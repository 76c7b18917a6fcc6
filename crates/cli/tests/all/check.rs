//! `tagmac check`: verdicts, summaries, exit codes. `lists.rs` tests the lines of lists.

use std::fs;

use crate::common::{Place, Ran};

/// Returns a folder with the files `a` and `b` and their `list`.
pub fn listed() -> Place {
    let place = Place::new();
    place.file("a", "one");
    place.file("b", "two");
    place.shell("$T tag -k k a b > list").exits(0);
    place
}

pub fn check(place: &Place, args: &[&str]) -> Ran {
    place.keyed("check", args)
}

pub fn list(place: &Place) -> String {
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
    // No line feed at the end, hex in upper case, comments, empty lines, mixed case.
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
    // The right tag of the file must not be shown to somebody who forges one.
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
fn a_key_may_come_by_standard_input() {
    let place = listed();
    let key = fs::read(place.path("k")).unwrap();
    let ran = place.feed(&["check", "--key-fd", "0", "list"], &key).exits(0).in_silence();
    ran.prints("a: OK\nb: OK\n");
    let ran = place.feed(&["check", "--key-fd", "0"], &key).exits(2).prints("");
    ran.says(&["standard input"]);
    // Nobody can replace a pipe through its folder.
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
fn the_list_does_not_choose_the_algorithm() {
    let place = listed();
    let text = list(&place);
    let tag = text.lines().next().unwrap().rsplit(' ').next().unwrap();
    let cases = [
        (format!("PMAC-AES256 (a) = {tag}"), "expected algorithm PMAC-AES128, found PMAC-AES256"),
        (format!("SHA256 (a) = {tag}{tag}"), "found SHA256, which uses no key\n"),
        (format!("SHAKE (a) = {tag}"), "found SHAKE, which uses no key\n"),
        (format!("{tag}{tag}  a"), "a: this looks like a line of sha256sum, which uses no key: "),
        (
            format!("PMAC-AES128 (a) = {}", &tag[..30]),
            "expected a tag of 16 bytes (128 bits), found 15",
        ),
        (format!("PMAC-AES128 (a) = {tag}00"), "bits), found 17"),
        (format!("{}  a", &tag[..2]), "bits), found 1\n"),
        (format!("{tag}{tag}{tag}  a"), "bits), found 48"),
    ];
    for (line, why) in cases {
        place.file("one", line);
        let ran = check(&place, &["one"]).exits(1).prints("a: FAILED\n").says(&[why]);
        assert!(!ran.err.contains("improperly"));
        check(&place, &["--ignore-missing", "one"]).exits(1);
    }
    // Without --tag-bits, a correct shorter tag has the wrong length.
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
    ran.says(&["a: the tag has bits set after its 12 bits\n"]);
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
    // The list's name is escaped like a file's.
    place.file("a\nlist", "bogus\n");
    let ran = check(&place, &["--json", "a\nlist"]).exits(1).says(&["$'a\\nlist': line 1: "]);
    let row: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(row["list"], "a\nlist");
    let quiet = check(&place, &["--json", "--quiet", "list"]).exits(1).out;
    assert_eq!(quiet.lines().count(), 1);
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
    fails(&["foreign"], "expected algorithm PMAC-AES128, found LIGHTMAC-AES128-S8");
    place.file("gone", text.replace("(a)", "(x)").replace("(b)", "(y)"));
    fails(&["--ignore-missing", "gone"], "no file was verified");
    place.file("a", "other");
    place.file("b", "other");
    fails(&["list"], "no tag matches");
    // One matching tag shows that the key is right.
    place.file("c", "three");
    place.shell("cp list most; $T tag -k k c >> most").exits(0);
    assert!(!check(&place, &["most"]).exits(1).err.contains("no tag matches"));
    // The bar counts only the files of well-formed lines.
    place.file("most", "no line\n".to_string() + &list(&place));
    let ran = check(&place, &["--progress", "always", "most"]);
    assert!(ran.code == Some(1) && ran.err.contains("improperly formatted"), "{}", ran.err);
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
    // Elsewhere names are printed unchanged, as GNU's tools print them.
    check(&place, &["odd"]).exits(1).prints("a: OK\nb: OK\u{1b}[8m: FAILED open or read\n");
}

/// Nobody writes to the pipe, and the devices never end.
#[test]
#[cfg(target_os = "linux")]
fn a_name_that_stands_for_something_without_end() {
    let place = listed();
    place.shell("mkfifo p; ln -s p l; $T tag -k k --raw a > raw").exits(0);
    let pipe = "expected a file, found a named pipe; use '< PIPE' to read it\n";
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
    // A name in a list must be that of a regular file.
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
    // Reading a list or a tag stops at a limit.
    let ran = check(&place, &["/dev/zero"]).exits(1).prints("");
    assert_eq!(ran.err, "tagmac: /dev/zero: a line is longer than 1 MiB\n");
    let ran = check(&place, &["/dev/urandom"]).exits(1).prints("");
    ran.says(&["tagmac: /dev/urandom: 1 MiB without the line of a tag: the rest was not read\n"]);
    check(&place, &["--raw-tag", "/dev/zero", "a"]).exits(1).prints("a: FAILED\n").says(&[
        "/dev/zero: expected a raw tag of 16 bytes (128 bits), found more than 32 bytes\n",
    ]);
    place.keyed("combine", &["/dev/zero"]).exits(4).says(&["/dev/zero: expected a regular file"]);
}
