//! The exit status of every subcommand in every class: the table of `docs/exit-status.md`.

use std::fs;

use crate::common::{Place, UNPRIVILEGED};

/// A place with keys `k` and `other` and all that the commands take.
fn ready() -> Place {
    let place = Place::new();
    place.file("f", "text");
    place.file("g", "text");
    let lines = [
        "$T keygen -o other",
        "mkdir t u && echo one > t/a && echo two > t/b && cp t/a t/b u && echo three > u/c",
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
    // Another last byte, whichever the seal has.
    for name in ["m", "p"] {
        let mut altered = fs::read(place.path(name)).unwrap();
        *altered.last_mut().unwrap() ^= 1;
        place.file(format!("{name}.x"), altered);
    }
    place
}

/// A command, a status, a condition for it in the table of the page, and runs that meet it. `$U` takes
/// root's rights away, `$S` leaves the checkpoint of a run on `f`.
type Row = (&'static str, i32, &'static str, &'static [&'static str]);

const TABLE: [Row; 69] = [
    ("keygen", 0, "the key is in its file and its id was printed", &["$T keygen -o new"]),
    ("keygen", 2, "usage", &["$T keygen", "$T keygen -o -", "$T keygen -o k -o l"]),
    ("keygen", 4, "the file exists or cannot be made", &["$T keygen -o k", "$T keygen -o no/k"]),
    ("keygen", 4, "output", &["$T keygen -o new > /dev/full", "$T keygen -o new >&-"]),
    (
        "tag",
        0,
        "every file has its line",
        &["$T tag -k k f", "eval $S; $T tag -k k --checkpoint s f"],
    ),
    (
        "tag",
        1,
        "a checkpoint that is damaged or of the wrong kind",
        &[
            "eval $S; head -c -1 s > x; mv x s; $T tag -k k --checkpoint s f",
            "cp f s; $T tag -k k --checkpoint s f",
            "cp m s; $T tag -k k --checkpoint s f",
        ],
    ),
    ("tag", 1, "a checkpoint of another file", &["eval $S; mv f h; $T tag -k k --checkpoint s h"]),
    (
        "tag",
        2,
        "usage",
        &[
            "$T tag -k k --bogus f",
            "$T tag f",
            "$T tag -k k --raw f g",
            "$T tag -k missing --raw f g",
            "$T tag -k k -k k f",
            "$T tag -k k --checkpoint - f",
        ],
    ),
    (
        "tag",
        3,
        "the key",
        &[
            "$T tag -k missing f",
            "$T tag -k missing gone",
            "$T tag -k f f",
            "chmod 602 k; $T tag -k k f",
        ],
    ),
    ("tag", 3, "a checkpoint of another key", &["eval $S; $T tag -k other --checkpoint s f"]),
    (
        "tag",
        4,
        "a file that is missing or cannot be read; the others have their lines",
        &[
            "$T tag -k k gone",
            "$T tag -k k f/gone",
            "$T tag -k k gone f",
            "$T tag -k k t",
            "$U $T tag -k k secret",
            "$T tag -k k <&-",
        ],
    ),
    ("tag", 4, "a file that changed", &["eval $S; touch f; $T tag -k k --checkpoint s f"]),
    ("tag", 4, "output", &["$T tag -k k f > /dev/full", "$T tag -k k f >&-"]),
    (
        "check",
        0,
        "every line of every list is good",
        &["$T check -k k list", "$T check -k k --status list >&-"],
    ),
    (
        "check",
        1,
        "a tag that is wrong",
        &[
            "$T check -k other list",
            "cat list bad > both; $T check -k k both > /dev/full",
            "sed 's/= ../= 00/' list > l; $T check -k k l gone",
        ],
    ),
    (
        "check",
        1,
        "a file that is missing",
        &["$T check -k k missing", "sed 's/(f)/(f\\/g)/' list > l; $T check -k k l"],
    ),
    (
        "check",
        1,
        "a malformed line",
        &[
            "$T check -k k bad",
            "$T check -k k f",
            "$T check -k k list gone bad",
            "$T check -k k bad > /dev/full",
            "$T check -k k bad >&-",
        ],
    ),
    ("check", 1, "no line at all", &["$T check -k k full"]),
    ("check", 2, "usage", &["$T check -k k --bogus list", "$T check -k k --tag-bits 7 list"]),
    ("check", 3, "the key", &["$T check -k missing list"]),
    (
        "check",
        4,
        "a list that is missing or cannot be read",
        &[
            "$T check -k k gone",
            "$T check -k k f/gone",
            "$T check -k k list gone",
            "$T check -k k <&-",
            "$T check -k k --raw-tag gone f",
        ],
    ),
    (
        "check",
        4,
        "a file that cannot be read",
        &[
            "sed 's/(f)/(secret)/' list > l; $U $T check -k k l",
            "sed 's/(f)/(t)/' list > l; $T check -k k l",
        ],
    ),
    ("check", 4, "output", &["$T check -k k list > /dev/full"]),
    (
        "seal",
        0,
        "the manifest is written",
        &["$T seal -k k t -o n", "$T seal -k k t -o n >&-", "$T seal -k k t -o m --quiet"],
    ),
    ("seal", 2, "usage", &["$T seal -k k t", "$T seal -k k t -o -", "$T seal -k k - -o n"]),
    ("seal", 3, "the key", &["$T seal -k missing t -o n"]),
    (
        "seal",
        4,
        "the directory or an entry cannot be read: nothing is written, or with `--skip-unreadable` the rest",
        &[
            "$T seal -k k gone -o n",
            "$U $T seal -k k v -o n",
            "$U $T seal -k k v -o n --skip-unreadable",
        ],
    ),
    (
        "seal",
        4,
        "the manifest cannot be written",
        &["$T seal -k k t -o no/n", "$T seal -k k t -o f"],
    ),
    ("audit", 0, "everything is unchanged", &["$T audit -k k m t", "$T audit -k k m t >&-"]),
    (
        "audit",
        1,
        "a difference",
        &[
            "$T audit -k k m u",
            "$T audit -k k m u > /dev/full",
            "$T audit -k k m u >&-",
            "$T audit -k k --json --quiet m u > /dev/full",
            "$T audit -k k --json m u > /dev/full",
            "$T audit -k k --combined - m u >&-",
        ],
    ),
    (
        "audit",
        1,
        "a manifest that is damaged or of the wrong kind",
        &[
            "$T audit -k k m.x t",
            "$T audit -k k f t",
            "sed 's/^bits: 128/bits: 120/' m > x; $T audit -k k x t",
            "sed 's/^bits: 128/bits: 0128/' m > x; $T audit -k k x t",
        ],
    ),
    (
        "audit",
        2,
        "usage",
        &["$T audit -k k --tag-bits 120 m t", "$T audit -k k m", "$T audit -k k - t < m"],
    ),
    ("audit", 3, "the key", &["$T audit -k missing m t"]),
    ("audit", 3, "a manifest of another key", &["$T audit -k other m t"]),
    (
        "audit",
        4,
        "a manifest that is missing or cannot be read",
        &["$T audit -k k gone t", "$T audit -k k t t", "$U $T audit -k k secret t"],
    ),
    (
        "audit",
        4,
        "the directory or an entry cannot be read",
        &["$T audit -k k m gone", "$T seal -k k v -o w; $U $T audit -k k w v"],
    ),
    (
        "audit",
        4,
        "output",
        &[
            "$T audit -k k --json m t > /dev/full",
            "$T audit -k k --combined - m t >&-",
            "$T audit -k k --combined no/c m t",
        ],
    ),
    ("part", 0, "the partial is written", &["$T part -k k --object o --start 0 --last f -o q >&-"]),
    ("part", 2, "usage", &["$T part -k k --object o --start 1 --last f -o q"]),
    ("part", 3, "the key", &["$T part -k missing --object o --start 0 --last f -o q"]),
    (
        "part",
        4,
        "a file that is missing, cannot be read or lacks the range",
        &[
            "$T part -k k --object o --start 0 --last gone -o q",
            "$U $T part -k k --object o --start 0 --last secret -o q",
            "$T part -k k --object o --start 32 --last f -o q",
        ],
    ),
    (
        "part",
        4,
        "the partial exists or cannot be written",
        &[
            "$T part -k k --object o --start 0 --last f -o p",
            "$T part -k k --object o --start 0 --last f -o no/p",
        ],
    ),
    ("combine", 0, "the object has its line", &["$T combine -k k p"]),
    (
        "combine",
        1,
        "a partial that is damaged or of the wrong kind",
        &["$T combine -k k p.x", "$T combine -k k f"],
    ),
    ("combine", 1, "gaps or overlaps", &["$T combine -k k gap", "$T combine -k k p p"]),
    ("combine", 1, "partials of another object", &["$T combine -k k --object x p"]),
    ("combine", 2, "usage", &["$T combine -k k", "$T combine -k k -"]),
    ("combine", 3, "the key", &["$T combine -k missing p"]),
    ("combine", 3, "a partial of another key", &["$T combine -k other p"]),
    (
        "combine",
        4,
        "a partial that is missing or cannot be read",
        &["$T combine -k k gone", "$T combine -k k t", "$U $T combine -k k secret"],
    ),
    ("combine", 4, "output", &["$T combine -k k p >&-"]),
    (
        "update",
        0,
        "the file has its line",
        &["$T update -k k g", "$T update -k k f", "$T update -k k --append g --append"],
    ),
    (
        "update",
        1,
        "a sidecar that is damaged or of the wrong kind",
        &["cp f g.tagmac; $T update -k k g", "cp m g.tagmac; $T update -k k g"],
    ),
    (
        "update",
        1,
        "bytes around the edit that changed",
        &["cp f g; echo x >> g; $T update -k k g", "echo X > g; $T update -k k --append g"],
    ),
    (
        "update",
        1,
        "another tag than that of `--expect`",
        &["$T update -k k --expect 00112233445566778899aabbccddeeff g"],
    ),
    (
        "update",
        2,
        "usage",
        &["$T update -k k --expect 00 g", "$T update -k k --append --truncate 1 g"],
    ),
    (
        "update",
        2,
        "an edit of a file without a sidecar",
        &[
            "$T update -k k --append f",
            "$T update -k k --patch 0 g f",
            "$T update -k k --truncate 0 f",
            "$T update -k k --range 0:1 f",
            "$T update -k k --finish f",
            "$T update -k k --undo f",
        ],
    ),
    ("update", 3, "the key", &["$T update -k missing g"]),
    ("update", 3, "a sidecar of another key", &["$T update -k other g"]),
    (
        "update",
        4,
        "a file, a patch or a sidecar that cannot be read or written",
        &[
            "$T update -k k gone",
            "$T update -k k --patch 0 gone g",
            "rm g.tagmac; mkdir g.tagmac; $T update -k k g",
        ],
    ),
    ("update", 4, "output", &["$T update -k k g >&-"]),
    ("selftest", 0, "all answers are right", &["TAGMAC_LEVEL=portable $T selftest > /dev/null"]),
    ("selftest", 1, "a wrong answer", &[]),
    ("selftest", 2, "usage", &["TAGMAC_LEVEL=bogus $T selftest"]),
    ("selftest", 4, "output", &["$T selftest > /dev/full"]),
    (
        OTHERS,
        0,
        "printed",
        &["$T list; $T bounds; $T completions bash; $T man; $T --help; $T tag --help"],
    ),
    (
        OTHERS,
        2,
        "usage",
        &[
            "$T list --bogus || $T bounds -a x || $T completions x || $T man x || $T",
            "$T man --output -",
        ],
    ),
    (
        OTHERS,
        4,
        "output",
        &[
            "$T list > /dev/full || $T bounds >&- || $T completions bash > /dev/full || $T man >&-",
            "$T bounds --json >&- || $T list --json >&-",
            "$T --help >&- || $T --version > /dev/full || $T tag --help >&-",
        ],
    ),
    (OTHERS, 4, "the files of `man --output`", &["$T man --output f"]),
];

const OTHERS: &str = "list`, `bounds`, `completions`, `man`, `--help";

const PAGE: &str = include_str!("../../docs/exit-status.md");

/// The rows of the table under a heading: their cells.
fn rows(after: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = PAGE.split_once(after).unwrap();
    let lines = rest.lines().skip_while(|line| !line.starts_with('|'));
    let rows = lines.take_while(|line| line.starts_with('|'));
    // The first two are the table's head and the line below it.
    let cells = |row: &'static str| row.trim_matches('|').split('|').map(str::trim).collect();
    rows.skip(2).map(cells).collect()
}

/// The page's table says what the runs are, no more and no less.
#[test]
fn the_page_has_each_condition() {
    let cell = |command: &str, code: i32| {
        let conditions = TABLE.iter().filter(|row| (row.0, row.1) == (command, code));
        let conditions: Vec<&str> = conditions.map(|row| row.2).collect();
        if conditions.is_empty() { "never".into() } else { conditions.join("; ") }
    };
    let mut commands: Vec<&str> = TABLE.iter().map(|row| row.0).collect();
    commands.dedup();
    let rows = rows("## By command");
    let names: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    assert_eq!(names, commands);
    for row in &rows {
        for (code, found) in (0..=4).zip(&row[1..]) {
            assert_eq!(*found, cell(row[0].trim_matches('`'), code), "{} {code}", row[0]);
        }
    }
    // Only a build that is wrong computes a wrong answer.
    let without: Vec<_> = TABLE.iter().filter(|row| row.3.is_empty()).map(|row| row.2).collect();
    assert_eq!(without, ["a wrong answer"]);
}

/// What the help says of each status, in clauses, and the conditions of the table that they sum up.
const CLAUSES: [(i32, &str, &[&str]); 20] = [
    (0, "success", &["printed", "every file has its line"]),
    (0, "everything matches", &["every line of every list is good", "everything is unchanged"]),
    (0, "all output was written", &["printed"]),
    (1, "a tag is wrong", &["a tag that is wrong"]),
    (1, "a file of a list is missing", &["a file that is missing"]),
    (1, "a line is malformed", &["a malformed line"]),
    (1, "nothing was verified", &["no line at all"]),
    (
        1,
        "a manifest, sidecar, partial or checkpoint is damaged or of the wrong kind",
        &[
            "a manifest that is damaged or of the wrong kind",
            "a sidecar that is damaged or of the wrong kind",
            "a partial that is damaged or of the wrong kind",
            "a checkpoint that is damaged or of the wrong kind",
        ],
    ),
    (1, "a directory differs from its manifest", &["a difference"]),
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

/// The help, its manual page and the page here say one thing, and nothing that no run shows.
#[test]
fn the_help_says_what_happens() {
    let help = Place::bare().run(&["--help"]).exits(0).out;
    let (_, rest) = help.split_once("Exit status:\n").unwrap();
    let (rest, _) = rest.split_once("\n\n").unwrap();
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
            assert!(TABLE.iter().any(|row| (row.1, row.2) == (code, condition)), "{condition}");
        }
    }
    // What is left joins the clauses.
    let glue = ["", "or", "and", "also", "If 1 also applies, it is 1"];
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
    for (_, code, condition, lines) in TABLE {
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
    // The system gives none; nor the pages (MAP_DROPPABLE) in which newer C libraries make their own.
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
        // What needs none goes on as ever.
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
    // The filter is one thread's and its children's.
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
    // Under less the system cannot even start it.
    let least = (4 << 10..1 << 20).step_by(128).find(|&kib| run(kib, "--version").code == Some(0));
    let least = least.unwrap();
    for line in ["tag -k k f", "check -k k list", "audit -k k m t"] {
        let mut codes = Vec::new();
        for kib in (least..least + 3072).step_by(64) {
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
