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

/// What each command gives. `$U` takes root's rights away, `$S` leaves the checkpoint of a run on `f`.
const CASES: [(&str, i32); 109] = [
    ("$T keygen -o new", 0),
    ("$T keygen", 2),
    ("$T keygen -o -", 2),
    ("$T keygen -o k", 4),
    ("$T keygen -o no/k", 4),
    ("$T keygen -o new > /dev/full", 4),
    ("$T keygen -o new >&-", 4),
    ("$T tag -k k f", 0),
    ("eval $S; $T tag -k k --checkpoint s f", 0),
    ("eval $S; head -c -1 s > x; mv x s; $T tag -k k --checkpoint s f", 1),
    ("eval $S; mv f h; $T tag -k k --checkpoint s h", 1),
    ("$T tag -k k --bogus f", 2),
    ("$T tag f", 2),
    ("$T tag -k k --raw f g", 2),
    ("$T tag -k missing --raw f g", 2),
    ("$T tag -k missing f", 3),
    ("$T tag -k missing gone", 3),
    ("$T tag -k f f", 3),
    ("chmod 602 k; $T tag -k k f", 3),
    ("eval $S; $T tag -k other --checkpoint s f", 3),
    ("$T tag -k k gone", 4),
    ("$T tag -k k gone f", 4),
    ("$T tag -k k t", 4),
    ("$U $T tag -k k secret", 4),
    ("eval $S; touch f; $T tag -k k --checkpoint s f", 4),
    ("$T tag -k k f > /dev/full", 4),
    ("$T tag -k k f >&-", 4),
    ("$T tag -k k <&-", 4),
    ("$T check -k k list", 0),
    ("$T check -k k --status list >&-", 0),
    ("$T check -k k bad", 1),
    ("$T check -k k missing", 1),
    ("$T check -k k full", 1),
    ("$T check -k k f", 1),
    ("$T check -k other list", 1),
    ("$T check -k k list gone bad", 1),
    ("$T check -k k bad > /dev/full", 1),
    ("$T check -k k bad >&-", 1),
    ("$T check -k k --bogus list", 2),
    ("$T check -k k --tag-bits 7 list", 2),
    ("$T check -k missing list", 3),
    ("$T check -k k gone", 4),
    ("$T check -k k list gone", 4),
    ("sed 's/(f)/(secret)/' list > l; $U $T check -k k l", 4),
    ("$T check -k k list > /dev/full", 4),
    ("$T check -k k <&-", 4),
    ("$T seal -k k t -o n", 0),
    ("$T seal -k k t -o n >&-", 0),
    ("$T seal -k k t", 2),
    ("$T seal -k missing t -o n", 3),
    ("$T seal -k k gone -o n", 4),
    ("$T seal -k k t -o no/n", 4),
    ("$T seal -k k t -o f", 4),
    ("$U $T seal -k k v -o n", 4),
    ("$U $T seal -k k v -o n --skip-unreadable", 4),
    ("$T audit -k k m t", 0),
    ("$T audit -k k m t >&-", 0),
    ("$T audit -k k m u", 1),
    ("$T audit -k k m u > /dev/full", 1),
    ("$T audit -k k m u >&-", 1),
    ("$T audit -k k --json --quiet m u > /dev/full", 1),
    ("$T audit -k k --json m u > /dev/full", 1),
    ("cat list bad > both; $T check -k k both > /dev/full", 1),
    ("$T audit -k k --combined - m u >&-", 1),
    ("$T audit -k k m.x t", 1),
    ("$T audit -k k f t", 1),
    ("sed 's/^bits: 128/bits: 120/' m > x; $T audit -k k x t", 1),
    ("sed 's/^bits: 128/bits: 0128/' m > x; $T audit -k k x t", 1),
    ("$T audit -k k --tag-bits 120 m t", 2),
    ("$T audit -k k m", 2),
    ("$T audit -k missing m t", 3),
    ("$T audit -k other m t", 3),
    ("$T audit -k k gone t", 4),
    ("$T audit -k k m gone", 4),
    ("$T audit -k k --json m t > /dev/full", 4),
    ("$T audit -k k --combined - m t >&-", 4),
    ("$T audit -k k --combined no/c m t", 4),
    ("$T part -k k --object o --start 0 --last f -o q >&-", 0),
    ("$T part -k k --object o --start 1 --last f -o q", 2),
    ("$T part -k missing --object o --start 0 --last f -o q", 3),
    ("$T part -k k --object o --start 0 --last gone -o q", 4),
    ("$T part -k k --object o --start 0 --last f -o p", 4),
    ("$T part -k k --object o --start 32 --last f -o q", 4),
    ("$T combine -k k p", 0),
    ("$T combine -k k p.x", 1),
    ("$T combine -k k f", 1),
    ("$T combine -k k gap", 1),
    ("$T combine -k k --object x p", 1),
    ("$T combine -k k", 2),
    ("$T combine -k other p", 3),
    ("$T combine -k k gone", 4),
    ("$T combine -k k p >&-", 4),
    ("$T update -k k g", 0),
    ("cp f g.tagmac; $T update -k k g", 1),
    ("cp f g; echo x >> g; $T update -k k g", 1),
    ("$T update -k k --expect 00 g", 2),
    ("$T update -k k --append --truncate 1 g", 2),
    ("$T update -k other g", 3),
    ("$T update -k k gone", 4),
    ("$T update -k k g >&-", 4),
    ("$T list; $T bounds; $T completions bash; $T man; $T --help; $T tag --help", 0),
    ("$T list --bogus || $T bounds -a x || $T completions x || $T man x || $T", 2),
    ("$T list > /dev/full || $T bounds >&- || $T completions bash > /dev/full || $T man >&-", 4),
    ("$T bounds --json >&- || $T list --json >&-", 4),
    ("$T bounds --plot no/x.svg", 4),
    ("$T --help >&- || $T --version > /dev/full || $T tag --help >&-", 4),
    ("TAGMAC_LEVEL=portable $T selftest > /dev/null", 0),
    ("TAGMAC_LEVEL=bogus $T selftest", 2),
    ("$T selftest > /dev/full", 4),
];

#[test]
#[cfg(target_os = "linux")]
fn every_command_in_every_class() {
    let place = ready();
    let copy = "rm -rf run; mkdir run; tar c --exclude run . | tar xp -C run; cd run";
    let checkpoint = "S='$T tag -k k --checkpoint s f 1< k 2> /dev/null'";
    for (line, code) in CASES {
        let ran = place.shell(&format!("{copy}; U='{UNPRIVILEGED}'; {checkpoint}; {line}"));
        assert_eq!(ran.code, Some(code), "{line}\nout: {}\nerr: {}", ran.out, ran.err);
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
