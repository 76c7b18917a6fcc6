//! The command as a process: signals, memory, files that change during a run, and the small
//! subcommands.

use std::fs;
#[cfg(all(feature = "fault-injection", debug_assertions))]
use std::os::unix::process::ExitStatusExt;

use crate::common::{Place, Ran};
#[cfg(all(feature = "fault-injection", debug_assertions))]
use crate::common::{at, peak, sparse};

#[cfg(all(feature = "fault-injection", debug_assertions))]
const SIGINT: i32 = 2;
const SIGPIPE: i32 = 13;

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_file_that_shrinks() {
    for algorithm in ["PMAC-AES128", "HMAC-SHA256"] {
        let place = Place::bare();
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        sparse(&place, "f", 8 << 20);
        let mut command = place.command(&["tag", "-k", "k", "f"]);
        let ran: Ran =
            at(&mut command, "read:3", "run=truncate -s 12345 f").output().unwrap().into();
        ran.exits(4).prints("").says(&[
            "tagmac: f: expected 8388608 bytes, found ",
            "the file changed while it was read",
        ]);
    }
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn a_file_that_grows() {
    let place = Place::new();
    sparse(&place, "f", 8 << 20);
    let mut command = place.command(&["tag", "-k", "k", "f"]);
    let ran: Ran = at(&mut command, "read:3", "run=printf x >> f").output().unwrap().into();
    ran.exits(4).prints("").says(&["the file changed while it was read"]);
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn memory_does_not_depend_on_the_file() {
    let place = Place::new();
    sparse(&place, "f", 2 << 30);
    for threads in ["0", "1000"] {
        let args = ["tag", "-k", "k", "--num-threads", threads, "f"];
        let (peak, ran) = peak(&mut place.command(&args));
        ran.exits(0);
        assert!((1..64 << 10).contains(&peak), "{threads} threads: {peak} KiB");
    }
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn an_error_of_the_command_itself_is_one_line_and_no_verdict() {
    let place = Place::new();
    place.file("f", "text");
    // The run with a fault must succeed.
    let mut command = place.command(&["tag", "-k", "k", "f"]);
    let ran: Ran = at(&mut command, "read:1", "run=false").output().unwrap().into();
    let ran = ran.exits(4).prints("").says(&[
        "tagmac: internal error at ",
        "faults.rs:",
        "false: exit status: 1",
    ]);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

#[test]
#[cfg(target_os = "linux")]
fn files_of_proc_say_that_they_are_empty() {
    let place = Place::new();
    place.shell("cat /proc/version | $T tag -k k | sed s:-:/proc/version: > x");
    // A file without a size would look empty, and so get the tag of the empty message.
    let range = ["--object", "v", "--start", "0", "--last", "/proc/version", "-o", "v"];
    place.keyed("part", &range).exits(4).says(&["/proc/version: the file's size is unknown"]);
    place.keyed("tag", &["--checkpoint", "s", "/proc/version"]).exits(4);
    // A file that is too long to read.
    let ran = place.keyed("tag", &["/proc/self/pagemap"]).exits(4).prints("");
    ran.says(&[
        "/proc/self/pagemap: longer than 64 MiB, the limit for files that do not report their size",
    ]);
    place.file("P", "PMAC-AES128 (/proc/self/pagemap) = 00112233445566778899aabbccddeeff\n");
    place.keyed("check", &["P"]).exits(4);
    let direct = place.keyed("tag", &["/proc/version"]).exits(0).out;
    let piped = place.shell("cat /proc/version | $T tag -k k").exits(0).out;
    assert_eq!(direct, piped.replace("(-)", "(/proc/version)"));
}

#[test]
fn sigpipe_ends_it() {
    let place = Place::new();
    // The shell's own pipe, so that no process of another test holds its reader.
    let ran = place.shell("mkfifo p; exec 3<>p 4>p 3<&-; $T list >&4; echo $?");
    ran.prints(&format!("{}\n", 128 + SIGPIPE));
}

/// Returns whether this process ignores SIGINT, as background processes of a shell do. The command
/// then ignores it too.
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn sigint_is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) >> (SIGINT - 1) & 1 == 1
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn sigint_ends_it() {
    if sigint_is_ignored() {
        return;
    }
    let place = Place::new();
    let mut command = place.command(&["tag", "-k", "k"]);
    let output = at(&mut command, "read:1", "run=kill -INT $PPID").output().unwrap();
    assert_eq!(output.status.signal(), Some(SIGINT));
    assert_eq!(output.stdout, b"");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let place = Place::new();
    place.file("f", "text");
    let ran = place.shell("$T tag -k k f > /dev/full").exits(4);
    ran.says(&["tagmac: standard output: No space left on device\n"]);
}

#[test]
#[cfg(target_os = "linux")]
fn standard_error_that_takes_nothing() {
    let place = Place::new();
    for end in ["2> /dev/full", "2>&-"] {
        assert_eq!(place.shell(&format!("$T {end}")).code, Some(2));
        assert_eq!(place.shell(&format!("$T tag --bogus {end}")).code, Some(2));
        assert_eq!(place.shell(&format!("$T tag -k k missing {end}")).code, Some(4));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn files_of_sys_say_that_they_have_a_page() {
    let folder = "/sys/kernel/mm/transparent_hugepage";
    let name = &format!("{folder}/enabled");
    let Ok(text) = fs::read(name) else { return };
    assert!((text.len() as u64) < fs::metadata(name).unwrap().len());
    let place = Place::new();
    place.file("copy", &text);
    for key in [&["-k", "k"][..], &["-k", "u", "--nonce-hex", "01"]] {
        if key[1] == "u" {
            place.run(&["keygen", "-a", "UMAC-64", "-o", "u"]).exits(0);
        }
        let tag = |name: &str| place.run(&[&["tag"], key, &[name]].concat()).exits(0).out;
        assert_eq!(tag(name).replace(name, "copy"), tag("copy"));
    }
    let line = place.keyed("tag", &["--json", name]).exits(0).out;
    assert!(line.contains(&format!("\"bytes\":{}", text.len())), "{line}");
    place.shell(&format!("$T tag -k k {name} | $T check -k k")).exits(0);
    place.keyed("seal", &[folder, "-o", "m"]).exits(0);
    place.keyed("audit", &["m", folder]).exits(0).prints("");
}

#[test]
fn the_list_of_algorithms() {
    let place = Place::bare();
    let table = place.run(&["list"]).exits(0).in_silence().out;
    assert!(table.contains("PMAC-AES128 ") && table.contains("LIGHTMAC-AES256-S8..S64 "));
    let rows = place.run(&["list", "--json"]).exits(0).out;
    assert!(rows.lines().count() >= 31);
    let nonces = |algorithm: &str| {
        let named = |row: &&serde_json::Value| row["algorithm"] == algorithm;
        let rows: Vec<serde_json::Value> =
            rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let row = rows.iter().find(named).unwrap();
        [&row["min_nonce_bytes"], &row["max_nonce_bytes"]].map(|bytes| bytes.as_u64().unwrap())
    };
    assert_eq!(["HMAC-SHA256", "POLY1305-AES", "UMAC-96"].map(nonces), [[0, 0], [16, 16], [1, 16]]);
    let cells = |algorithm: &str| -> Vec<&str> {
        let line = table.lines().find(|line| line.split(' ').next() == Some(algorithm)).unwrap();
        line.split_whitespace().take(4).collect()
    };
    assert_eq!(cells("UMAC-96"), ["UMAC-96", "16", "1..16", "96"]);
    assert_eq!(cells("POLY1305-AES"), ["POLY1305-AES", "32", "16", "128"]);
    assert_eq!(cells("CMAC-AES128")[2], "0");
    let row = |algorithm: &str| table.lines().find(|line| line.starts_with(algorithm)).unwrap();
    let cell = |algorithm: &str| row(algorithm).split_whitespace().nth(4).unwrap();
    assert_eq!(["PMAC-AES128 ", "UMAC-64 "].map(cell), ["16", "2048"]);
    assert!(row("PMAC-AES128 ").contains("  parts ") && row("HMAC").ends_with("  -"));
    let level = place.command(&["list"]).env("TAGMAC_LEVEL", "portable").output().unwrap();
    assert!(Ran::from(level).exits(0).out.contains("  portable  parts"));
}

#[test]
fn the_test_of_itself() {
    let out = Place::bare().run(&["selftest"]).exits(0).in_silence().out;
    assert!(out.starts_with("portable: usable\n  PMAC-AES128: "));
    let levels = out.matches(": usable\n").count();
    let ends = |start: &str, end: &str| {
        let own = out.lines().filter(|line| line.starts_with(start));
        assert_eq!(own.filter(|line| line.ends_with(end)).count(), levels, "{start}: {out}");
    };
    ends("  POLY1305-AES: ", " right");
    for start in ["  UMAC-32: ", "  UMAC-64: ", "  UMAC-96: ", "  UMAC-128: "] {
        ends(start, " of over 2 MiB left out");
    }
    assert!(out.ends_with("\nall answers are right\n"));
}

/// The commands and topics that `tagmac help` lists.
fn listed(place: &Place, heading: &str) -> Vec<String> {
    let help = place.run(&["help"]).exits(0).in_silence().out;
    let (_, rest) = help.split_once(&format!("{heading}\n")).unwrap();
    let lines = rest.lines().take_while(|line| line.starts_with("  "));
    lines.map(|line| line.split_whitespace().next().unwrap().into()).collect()
}

#[test]
fn help_fits_on_two_screens() {
    let place = Place::bare();
    let commands = listed(&place, "Commands:");
    let topics = listed(&place, "Topics, for 'tagmac help TOPIC':");
    assert_eq!((commands.len(), topics.len()), (19, 7));
    let of_command = |name: &String| vec![name.clone(), "--help".into()];
    let of_topic = |name: &String| vec!["help".into(), name.clone()];
    let pages = commands.iter().map(of_command).chain(topics.iter().map(of_topic));
    for args in pages.chain([vec!["--help".into()]]) {
        let help = place.run(&args).exits(0).in_silence().out;
        assert!((5..=48).contains(&help.lines().count()), "{args:?}: {}", help.lines().count());
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{args:?}: {line}");
        }
        // Each topic that a page points to exists.
        if let Some((_, names)) = help.split_once("'tagmac help TOPIC' with ") {
            assert!(names.trim_end().split(", ").all(|name| topics.contains(&name.into())));
        }
    }
}

#[test]
fn help_about_topics_and_commands() {
    let place = Place::bare();
    let help = |args: &[&str]| place.run(args).exits(0).in_silence().out;
    for topic in listed(&place, "Topics, for 'tagmac help TOPIC':") {
        assert!(help(&["help", &topic]).starts_with(&format!("{topic}: ")));
    }
    for command in listed(&place, "Commands:") {
        let (short, long) = (help(&[&command, "--help"]), help(&["help", &command]));
        assert_eq!(short, help(&[&command, "-h"]));
        assert!(short.contains(&format!("Usage: tagmac {command}")));
        assert!(long.contains(&format!("Usage: tagmac {command}")));
        // The short help points to a longer one.
        let details = short.contains(&format!("Details: 'tagmac help {command}'\n"));
        assert!(!details || long.len() > short.len(), "{command}");
        place.run(&["man", &command]).exits(0);
    }
    let overview = help(&["--help"]);
    assert!(overview.contains("Examples:"));
    assert_eq!((overview.clone(), overview), (help(&["-h"]), help(&["help"])));
    // An alias is the command.
    assert_eq!(help(&["verify", "--help"]), help(&["check", "--help"]));
    assert_eq!(help(&["help", "verify"]), help(&["help", "check"]));
}

#[test]
fn help_about_nothing_known() {
    let place = Place::bare();
    let ran = place.run(&["help", "bog\nus"]).exits(2).prints("");
    let line = "no help about 'bog\\nus'; 'tagmac help' lists the commands and topics";
    assert_eq!(ran.err, format!("tagmac: {line}\n"));
    for args in [&["help", "--all"][..], &["help", "keys", "lists"]] {
        place.run(args).exits(2).prints("");
    }
}

#[test]
fn pages_and_completions() {
    let place = Place::bare();
    let page = place.run(&["man"]).exits(0).out;
    assert!(page.contains(".TH tagmac 1") && page.contains("\nexit\\-status: "));
    place.run(&["man", "bogus"]).exits(2);
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&["completions", shell]).exits(0).out;
        assert!(script.contains("PMAC-AES128") && script.contains("exit-status"), "{shell}");
    }
}

#[test]
fn the_version_says_what_is_built() {
    let place = Place::bare();
    let short = concat!("tagmac ", env!("CARGO_PKG_VERSION"), "\n");
    place.run(&["-V"]).exits(0).prints(short);
    let long = place.run(&["--version"]).exits(0).in_silence().out;
    assert!(long.starts_with(short), "{long}");
    let rest: Vec<_> = long.lines().skip(1).map(|line| line.split_once(": ").unwrap()).collect();
    // Test builds have no commit, because every commit would rebuild them.
    let level = tagmac::isa::Level::best().to_string();
    assert_eq!((rest[0], rest[2]), (("commit", "unknown"), ("level", &*level)));
    assert!(rest[1].0 == "target" && rest[1].1.contains(std::env::consts::OS), "{long}");
    assert_eq!(rest.len(), 3);
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn folders_for_manual_pages_outlive_a_power_cut() {
    for sync in [1, 2] {
        let place = Place::bare();
        let mut command = place.command(&["man", "--output", "new/man1"]);
        let ran = at(&mut command, &format!("sync:{sync}"), "fail=5").output().unwrap();
        Ran::from(ran).exits(4).says(&["tagmac: new/man1: Input/output error"]);
        // Each folder must be synced before it gets a file.
        assert_eq!(place.path("new/man1").exists(), sync == 2);
        assert!(!place.path("new/man1/tagmac.1").exists());
        place.run(&["man", "--output", "new/man1"]).exits(0);
    }
}

#[test]
fn all_manual_pages_at_once() {
    let place = Place::bare();
    place.run(&["man", "--output", "new/man1"]).exits(0).in_silence().prints("");
    let page = |name: &str| fs::read_to_string(place.path(format!("new/man1/{name}"))).unwrap();
    assert_eq!(page("tagmac.1"), place.run(&["man"]).out);
    let mut count = 1;
    for command in listed(&place, "Commands:") {
        let text = page(&format!("tagmac-{command}.1"));
        assert_eq!(text, place.run(&["man", &command]).out, "{command}");
        // A page does not depend on the machine.
        assert!(!text.contains("level:") && text.contains(".TH tagmac"), "{command}");
        count += 1;
    }
    assert!(count > 12 && fs::read_dir(place.path("new/man1")).unwrap().count() == count);
    // Only manual pages are replaced.
    place.file("new/man1/tagmac-tag.1", "a file of yours");
    let ran = place.run(&["man", "--output", "new/man1"]).exits(4);
    ran.says(&["new/man1/tagmac-tag.1: the file exists and is not a manual page of tagmac"]);
    fs::remove_file(place.path("new/man1/tagmac-tag.1")).unwrap();
    place.run(&["man", "--output", "new/man1"]).exits(0);
    assert!(page("tagmac-tag.1").contains(".TH tagmac-tag 1"));
    place.run(&["man", "--output", "new", "tag"]).exits(2);
    place.run(&["man", "--output", "/proc/none"]).exits(4).says(&["/proc/none: "]);
}
