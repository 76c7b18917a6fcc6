//! The exit status of every subcommand in every class: the table of `docs/guide/exit-status.md`.

mod table;
mod trees;

use std::fs;

use crate::common::{Place, UNPRIVILEGED};
use table::{LISTS, REST, Row};
use trees::TREES;

/// Returns all rows, in the order of the page.
fn table() -> impl Iterator<Item = Row> {
    LISTS.into_iter().chain(TREES).chain(REST)
}

/// Returns a place with the keys `k` and `other` and the inputs of all commands.
fn ready() -> Place {
    let place = Place::new();
    place.file("f", "text");
    place.file("g", "text");
    let lines = [
        "$T keygen -o other",
        "mkdir t u && echo one > t/a && echo two > t/b && cp t/a t/b u && echo three > u/c",
        "mkdir w && echo onE > w/a && cp -r w ro && chmod 444 ro/a",
        "$T tag -k k f > list && $T seal -k k t -o m && $T update -k k g",
        "$T part -k k --object o --start 0 --last f -o p",
        "$T part -k k --object o --start 16 --last --at 0 f -o gap",
        "sed 's/= ../= zz/' list > bad && sed 's/f/gone/' list > missing",
        "echo text > secret; chmod 0 secret; mkdir v; cp secret v; chmod 0 v/secret; : > full",
    ];
    for line in lines {
        let ran = place.shell(line);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
    }
    // Changes the last byte.
    for name in ["m", "p"] {
        let mut altered = fs::read(place.path(name)).unwrap();
        *altered.last_mut().unwrap() ^= 1;
        place.file(format!("{name}.x"), altered);
    }
    place
}

const PAGE: &str = include_str!("../../../docs/guide/exit-status.md");

/// Returns the cells of the table below a heading.
fn rows(after: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = PAGE.split_once(after).unwrap();
    let lines = rest.lines().skip_while(|line| !line.starts_with('|'));
    let rows = lines.take_while(|line| line.starts_with('|'));
    // Skip the head of the table and the line below it.
    let cells = |row: &'static str| row.trim_matches('|').split('|').map(str::trim).collect();
    rows.skip(2).map(cells).collect()
}

/// The table on the page matches the runs.
#[test]
fn the_page_has_each_condition() {
    let cell = |command: &str, code: i32| {
        let conditions = table().filter(|row| (row.0, row.1) == (command, code));
        let conditions: Vec<&str> = conditions.map(|row| row.2).collect();
        if conditions.is_empty() { "never".into() } else { conditions.join("; ") }
    };
    let mut commands: Vec<&str> = table().map(|row| row.0).collect();
    commands.dedup();
    let rows = rows("## By command");
    let names: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    assert_eq!(names, commands);
    for row in &rows {
        for (code, found) in (0..=4).zip(&row[1..]) {
            assert_eq!(*found, cell(row[0].trim_matches('`'), code), "{} {code}", row[0]);
        }
    }
    // A correct build computes no wrong answer. Other tests are about mounts.
    let without = table().filter(|row| row.3.is_empty() && row.0 != "mount");
    assert_eq!(without.map(|row| row.2).collect::<Vec<_>>(), ["a wrong answer"]);
}

/// The clauses about each status in the help, with the conditions of the table that each
/// summarizes.
const CLAUSES: [(i32, &str, &[&str]); 20] = [
    (0, "success", &["printed", "every file has its line"]),
    (
        0,
        "everything matches",
        &["every line of every list is good", "everything that was read is unchanged"],
    ),
    (0, "all output was written", &["printed"]),
    (1, "a tag is wrong", &["a tag that is wrong"]),
    (1, "a file of a list is missing", &["a file that is missing"]),
    (1, "a line is malformed", &["a malformed line"]),
    (1, "nothing was verified", &["no line at all"]),
    (
        1,
        "a manifest, sidecar, partial or checkpoint is damaged or of the wrong kind",
        &[
            "a manifest, ledger or pin that is damaged, older than the pin or of the wrong kind",
            "a manifest that is damaged or of the wrong kind",
            "a manifest or leaf tags that are damaged or of the wrong kind",
            "a manifest or pin that is damaged, older than the pin or of the wrong kind",
            "a sidecar that is damaged or of the wrong kind",
            "a partial that is damaged or of the wrong kind",
            "a checkpoint that is damaged or of the wrong kind",
        ],
    ),
    (
        1,
        "a directory differs from its manifest",
        &[
            "a difference",
            "a difference; a name without an entry",
            "bytes that differ",
            "a leaf that is damaged in both copies",
        ],
    ),
    (1, "bytes around an edit have changed", &["bytes around the edit that changed"]),
    (1, "partials have gaps or overlap", &["gaps or overlaps"]),
    (2, "usage error", &["usage"]),
    (2, "an edit of a file that has no sidecar", &["an edit of a file without a sidecar"]),
    (3, "the key is unreadable, invalid or writable by others", &["the key"]),
    (
        3,
        "the input was sealed under another key",
        &[
            "a manifest of another key",
            "a partial of another key",
            "a sidecar of another key",
            "a checkpoint of another key",
        ],
    ),
    (
        4,
        "a list, manifest or partial is missing",
        &[
            "a list that is missing or cannot be read",
            "a manifest that is missing or cannot be read",
            "a manifest, leaf tags or a file that is missing or cannot be read",
            "a partial that is missing or cannot be read",
        ],
    ),
    (
        4,
        "a file to tag is missing",
        &["a file that is missing or cannot be read; the others have their lines"],
    ),
    (
        4,
        "reading, writing, memory or random bytes failed",
        &["output", "a file that cannot be read", "the directory or an entry cannot be read"],
    ),
    (4, "no verdict", &[]),
    (1, "does not match", &[]),
];

/// The help and the page agree, and each clause has a run.
#[test]
fn the_help_says_what_happens() {
    let help = Place::bare().run(&["help", "exit-status"]).exits(0).out;
    let rest = help.split("\n\n").nth(1).unwrap();
    let mut texts: Vec<String> = Vec::new();
    for line in rest.lines() {
        match line.trim().split_once("  ") {
            Some((code, text)) if code.parse() == Ok(texts.len()) => texts.push(text.into()),
            _ => *texts.last_mut().unwrap() += &format!(" {}", line.trim()),
        }
    }
    let page: Vec<&str> = rows("# Exit status").iter().map(|row| row[1]).collect();
    assert_eq!(texts, page);
    for (code, clause, conditions) in CLAUSES {
        let text = &mut texts[code as usize];
        assert!(text.contains(clause), "{code}: expected '{clause}', found '{text}'");
        *text = text.replacen(clause, "", 1);
        for condition in conditions {
            assert!(table().any(|row| (row.1, row.2) == (code, condition)), "{condition}");
        }
    }
    // The remaining words join the clauses.
    let glue = ["", "or", "Or", "and", "also", "If 1 also applies, it is 1"];
    for text in &texts {
        for word in text.split([':', ';', ',', '.']).map(str::trim) {
            let known = glue.contains(&word) || "If 1 also applies, it is 1".contains(word);
            assert!(known, "a clause without a run: {word}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn every_command_in_every_class() {
    let place = ready();
    let copy = "rm -rf run; mkdir run; tar c --exclude run . | tar xp -C run; cd run";
    let checkpoint = "S='$T tag -k k --checkpoint s f 1< k 2> /dev/null'";
    for (_, code, condition, lines) in table() {
        for line in lines {
            let ran = place.shell(&format!("{copy}; U='{UNPRIVILEGED}'; {checkpoint}; {line}"));
            let (out, err) = (&ran.out, &ran.err);
            assert_eq!(ran.code, Some(code), "{condition}: {line}\nout: {out}\nerr: {err}");
        }
    }
}

#[test]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn without_random_bytes_there_is_no_verdict() {
    use seccompiler::SeccompCmpArgLen::Dword;
    use seccompiler::SeccompCmpOp::MaskedEq;
    use seccompiler::{SeccompAction, SeccompCondition, SeccompFilter, SeccompRule};
    let place = ready();
    place.shell("$T keygen -a POLY1305-AES -o nonces").exits(0);
    // getrandom fails, and so do the MAP_DROPPABLE pages in which newer C libraries keep random
    // bytes.
    let droppable = SeccompCondition::new(3, Dword, MaskedEq(0xf), 8).unwrap();
    let droppable = SeccompRule::new(vec![droppable]).unwrap();
    let calls = [(libc::SYS_getrandom, vec![]), (libc::SYS_mmap, vec![droppable])];
    let error = SeccompAction::Errno(libc::EIO as u32);
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter =
        SeccompFilter::new(calls.into_iter().collect(), SeccompAction::Allow, error, arch).unwrap();
    let filter: seccompiler::BpfProgram = filter.try_into().unwrap();
    let run = || {
        seccompiler::apply_filter(&filter).unwrap();
        // Commands that need no random bytes still work.
        for line in ["tag -k k f", "check -k k list", "combine -k k p", "audit -k k m t", "list"] {
            place.shell(&format!("$T {line}")).exits(0);
        }
        place.keyed("audit", &["m", "u"]).exits(1).says(&["1 new"]);
        for line in [
            "keygen -o new",
            "tag -k nonces f",
            "tag -k nonces --checkpoint fresh f",
            "tag -k k --checkpoint fresh f",
            "part -k k --object o --start 0 --last f -o q",
            "combine -k nonces p",
            "seal -k nonces t -o n",
            "update -k k f",
            "update -k k --range 0:1 g",
        ] {
            let ran = place.shell(&format!("$T {line}"));
            assert_eq!(ran.code, Some(4), "{line}: {}", ran.err);
            assert!(ran.err.contains("random") && !ran.err.contains("internal"), "{}", ran.err);
        }
        for name in ["new", "q", "n", "fresh", "f.tagmac"] {
            assert!(!place.path(name).exists(), "{name}");
        }
    };
    // The filter applies to a thread and its children.
    std::thread::scope(|scope| scope.spawn(run).join()).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn without_memory_there_is_no_verdict() {
    let place = ready();
    let run = |kib: usize, line: &str| {
        let line = format!("ulimit -v {kib}; RUST_BACKTRACE=0 exec $T {line}");
        place.shell(&line)
    };
    // With less memory the system cannot start the command. Addresses are random, so the limit differs
    // by some pages from run to run.
    const MARGIN: usize = 256;
    let starts = |kib: &usize| matches!(run(*kib, "--version").code, Some(0 | 4));
    let least = (4 << 10..1 << 20).step_by(128).find(starts).unwrap();
    for line in ["tag -k k f", "check -k k list", "audit -k k m t"] {
        let mut codes = Vec::new();
        for kib in (least + MARGIN..least + 3072).step_by(64) {
            let ran = run(kib, line);
            let told = ["out of memory", "memory allocation of ", "Cannot allocate memory"];
            match ran.code {
                Some(0) => {}
                Some(4) => {
                    let said = ran.out + &ran.err;
                    assert!(told.iter().any(|text| said.contains(text)), "{said}");
                }
                _ => panic!("{line} under {kib} KiB: {:?} {}", ran.code, ran.err),
            }
            codes.push(ran.code);
        }
        assert!(codes.contains(&Some(4)), "{line}");
    }
}
