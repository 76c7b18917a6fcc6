//! `tagmac part -`: ranges from a pipe.

use crate::common::{Place, Random};

const OPTIONS: [&str; 7] = ["part", "-k", "k", "--object", "o", "--start", "0"];

/// Returns a place with an object in the file `f`, and the line of its tag.
fn object(bytes: u64) -> (Place, Vec<u8>, String) {
    let place = Place::new();
    let bytes = Random(bytes).bytes(bytes);
    place.file("f", &bytes);
    let line = place.keyed("tag", &["f"]).exits(0).out;
    (place, bytes, line)
}

#[test]
fn ranges_that_follow_each_other_in_one_pipe() {
    let (place, _, line) = object(3_000_001);
    let ranges = "cat f | (for n in 0 1; do \
                  $T part -k k --object o --start $((n * 1MiB)) --length 1MiB - -o $n.part || exit; \
                  done; $T part -k k --object o --start 2MiB --last - -o 2.part)";
    let ranges = ranges.replace("$((n * 1MiB))", "${n}MiB");
    place.shell(&ranges).exits(0).prints("").in_silence();
    let all = ["--name", "f", "2.part", "0.part", "1.part"];
    place.keyed("combine", &all).exits(0).prints(&line);
}

#[test]
fn all_of_a_pipe() {
    for bytes in [0, 1, 16, 100_000] {
        let (place, bytes, line) = object(bytes);
        let ran = place.feed(&[&OPTIONS[..], &["--last", "-", "-o", "p"]].concat(), &bytes);
        ran.exits(0).prints("").in_silence();
        place.keyed("combine", &["--name", "f", "p"]).exits(0).prints(&line);
        let length = bytes.len().to_string();
        let options = ["--last", "--length", &length, "-", "-o", "q"];
        place.feed(&[&OPTIONS[..], &options].concat(), &bytes).exits(0).in_silence();
        place.keyed("combine", &["--name", "f", "q"]).exits(0).prints(&line);
    }
}

#[test]
fn a_pipe_with_another_length() {
    let (place, bytes, _) = object(100);
    let part = |options: &[&str]| {
        let ran = place.feed(&[&OPTIONS[..], options, &["-", "-o", "p"]].concat(), &bytes);
        assert!(!place.path("p").exists());
        ran
    };
    part(&["--length", "112"])
        .exits(4)
        .says(&["tagmac: -: expected at least 112 bytes, found 100\n"]);
    part(&["--last", "--length", "101"]).exits(4).says(&["expected at least 101 bytes, found 100"]);
    part(&["--last", "--length", "99"])
        .exits(2)
        .says(&["--last: standard input has more than 99 bytes\n"]);
}

#[test]
fn what_a_pipe_cannot_have() {
    let (place, bytes, _) = object(100);
    let part = |options: &[&str]| {
        place.feed(&[&OPTIONS[..6], options, &["-", "-o", "p"]].concat(), &bytes)
    };
    part(&["0"]).exits(2).says(&["use --length BYTES, or --last"]);
    part(&["0", "--length", "15"])
        .exits(2)
        .says(&["--length, without --last: expected a multiple"]);
    part(&["8", "--last"]).exits(2).says(&["--start: expected a multiple of PMAC-AES128's block"]);
    part(&["0", "--last", "--at", "0"]).exits(2).says(&["--at: only for files; standard input"]);
    place.file("empty", "");
    let ran = place.shell("$T part -k k --object o --start 16 --last - -o p < empty");
    ran.exits(2).says(&["the range is empty; expected at least 1 byte"]);
    let key_too =
        ["part", "--key-fd", "0", "--object", "o", "--start", "0", "--last", "-", "-o", "p"];
    place.feed(&key_too, &bytes).exits(2).says(&["standard input can be used only once"]);
    place.shell("$T part -k k --object o --start 0 --last - -o p <&-").exits(4);
    assert!(!place.path("p").exists());
}
