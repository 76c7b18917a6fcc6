//! `--progress`: bars for people, JSON for programs.

use std::fs;

use crate::common::{Place, sparse};
#[cfg(target_os = "linux")]
use crate::output::on_terminal;
use serde_json::Value;

const LARGE: u64 = 256 << 20;

/// Returns a folder `t` with a large file, a small one and an empty directory, and with its
/// manifest and a list.
fn place() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.path("t/empty")).unwrap();
    sparse(&place, "t/large", LARGE);
    place.file("t/small", "text");
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    place.shell("$T tag -k k -r t > LIST").exits(0);
    place
}

const RUNS: [(&str, &[&str], &str, u64); 6] = [
    ("tag", &["-r", "t"], "tagging", 2),
    ("tag", &["t/large"], "tagging", 1),
    ("check", &["LIST"], "checking", 2),
    ("seal", &["t", "-o", "other"], "sealing", 3),
    ("audit", &["m", "t"], "auditing", 3),
    ("part", &["--object", "o", "--start", "0", "--last", "-o", "p", "t/large"], "hashing", 1),
];

#[test]
fn a_limited_rate_changes_nothing_else() {
    let place = Place::new();
    place.file("f", [7; 5000]);
    let limited = place.keyed("tag", &["--bwlimit", "1", "--bwlimit", "1GiB", "f"]).exits(0).out;
    assert_eq!(limited, place.keyed("tag", &["f"]).exits(0).out);
    let says = "--bwlimit <RATE>': expected at least 1 byte per second, such as 20MiB";
    place.keyed("tag", &["--bwlimit", "0", "f"]).exits(2).says(&[says]);
}

#[test]
fn bars() {
    let place = place();
    for (command, args, phase, files) in RUNS {
        let run = |when: &str| {
            let ran = place.keyed(command, &[args, &["--progress", when]].concat());
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            // A partial is never replaced.
            let _ = fs::remove_file(place.path("p"));
            let bars = ran.err.lines().filter(|line| line.starts_with(phase)).map(String::from);
            bars.collect::<Vec<_>>()
        };
        assert_eq!(run("auto").len() + run("never").len(), 0);
        let bars = run("always");
        let first = bars.first().unwrap_or_else(|| panic!("{command} shows no bar"));
        assert!(first.contains(&format!("/{files} ")) && first.contains("/256.00 MiB"), "{first}");
        assert!(first.ends_with(" to go"), "{first}");
    }
    // Short work shows no progress.
    place.keyed("tag", &["--progress", "always", "t/small"]).exits(0).in_silence();
}

#[test]
fn many_small_files_are_counted_by_their_number() {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    for i in 0..10_000 {
        place.file(format!("t/{i}"), "");
    }
    let ran = place.keyed("seal", &["--progress", "always", "t", "-o", "m"]);
    let bar = ran.err.lines().find(|line| line.starts_with("sealing ")).expect("a bar");
    assert!(bar.contains("/10000 ") && bar.contains("/s, ") && !bar.contains("MiB"), "{bar}");
}

#[test]
fn objects() {
    let place = place();
    for (command, args, phase, files) in RUNS {
        let ran = place.keyed(command, &[args, &["--progress", "json"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let lines = ran.err.lines().filter(|line| line.starts_with('{'));
        let objects: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(objects.len() >= 2, "one at the start and one at the end: {}", ran.err);
        let bytes = if files == 1 { LARGE } else { LARGE + 4 };
        for pair in objects.windows(2) {
            for key in ["files", "bytes"] {
                assert!(pair[0][key].as_u64() <= pair[1][key].as_u64());
            }
            assert!(pair[0]["seconds"].as_f64() <= pair[1]["seconds"].as_f64());
        }
        for object in &objects {
            assert_eq!(object["phase"], phase);
            assert_eq!(
                (&object["total_files"], &object["total_bytes"]),
                (&files.into(), &bytes.into())
            );
        }
        let last = objects.last().unwrap();
        assert_eq!((&last["files"], &last["bytes"]), (&files.into(), &bytes.into()), "{command}");
    }
    // The length of standard input is unknown.
    let ran = place.feed(&["tag", "-k", "k", "--progress", "json"], &[0; 1000]);
    let last: Value = serde_json::from_str(ran.err.lines().last().unwrap()).unwrap();
    assert_eq!((&last["bytes"], &last["total_files"]), (&1000.into(), &1.into()));
    assert!(last.get("total_bytes").is_none());
    // Each message has its own line between the objects.
    let ran = place.keyed("tag", &["--progress", "json", "missing"]);
    assert_eq!(ran.code, Some(4));
    assert_eq!(ran.err.lines().filter(|line| line.starts_with("tagmac: missing: ")).count(), 1);
    // A closed standard error does not stop the work.
    assert_eq!(place.shell("$T tag -k k --progress json t/large 2> /dev/full").code, Some(0));
}

/// Returns the lines that a terminal shows, without the codes that move its cursor.
#[cfg(target_os = "linux")]
fn shown(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap().to_string();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        plain += "\r";
        plain += &part[end + 1..];
    }
    let lines = plain.split(['\r', '\n']).map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(String::from).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn a_bar_stays_on_its_line_and_in_its_locale() {
    let place = place();
    for (columns, locale, whole) in [
        (20, "C", false),
        (20, "C.UTF-8", false),
        (50, "C", false),
        (200, "C", true),
        (200, "C.UTF-8", true),
    ] {
        let line = format!(
            "stty rows 24 cols {columns} 0<&2; LC_ALL={locale} $T tag -k k --num-threads 1 t/large > /dev/null"
        );
        let got = on_terminal(&place, &line);
        let lines = shown(&got);
        let bars: Vec<_> = lines.iter().filter(|line| line.contains("tagging")).collect();
        assert!(!bars.is_empty(), "{columns} {locale}: {}", got.escape_ascii());
        for line in &lines {
            assert!(line.chars().count() < columns, "{columns} {locale}: {line}");
        }
        // A bar of several lines would move the cursor up.
        assert!(!got.windows(4).any(|part| part == b"\x1b[1A"), "{}", got.escape_ascii());
        assert_eq!(got.is_ascii(), locale == "C" || !whole, "{}", got.escape_ascii());
        let full = |line: &&&String| line.contains("/256.00 MiB ") && line.ends_with(" to go");
        assert_eq!(bars.iter().find(full).is_some(), whole, "{}", got.escape_ascii());
    }
}
