//! The tested commands, and the folder that they run in.

use std::collections::BTreeMap;
use std::path::Path;

use assure::Random;
use assure::process::history::Files;
use assure::process::place::Place;
use assure::process::trace::{self, Call, Fault, Injection, Phase, Trace};

use super::case::{Case, Proof, Records};

/// A worker's folder with the examples.
pub struct Bench {
    pub place: Place,
    pub files: Files,
    pub cases: Vec<Case>,
    /// The line of `combine`.
    pub line: String,
    /// The expected line of `tag` for each file with a sidecar.
    pub lines: BTreeMap<&'static str, String>,
}

/// The bytes of a file with a sidecar, before and after edits.
struct Edits {
    old: Vec<u8>,
    patched: Vec<u8>,
    cut: Vec<u8>,
    grown: Vec<u8>,
    changed: Vec<u8>,
}

impl Bench {
    pub fn new(command: &Path, full: bool) -> Result<Bench, String> {
        let mut place = Place::new(command).map_err(|error| error.to_string())?;
        let mut random = Random::new(11);
        plain_files(&place, &mut random).map_err(|error| error.to_string())?;
        manifests_and_lists(&place, &mut random)?;
        let edits = Edits::new(&place, &mut random)?;
        edits.make_files(&place)?;
        leave_half_done(&place)?;
        let line = place.must(&["combine", "-k", "k", "p1", "p2"])?;
        place.note_modes();
        let files = place.files();
        let lines = edits.lines(&place)?;
        place.restore(&files);
        let mut cases = cases(&place, edits);
        // It computes for long, and writes in the same way as the others.
        cases.retain(|case| full || case.name != "selftest");
        Ok(Bench { place, files, cases, line, lines })
    }
}

fn plain_files(place: &Place, random: &mut Random) -> std::io::Result<()> {
    for (name, bytes) in [("f", 3000), ("g", 700), ("b", 1_100_000), ("patch", 1500)] {
        place.write(name, random.bytes(bytes));
    }
    std::fs::create_dir_all(place.file("t/sub"))?;
    place.write("t/a", "another text");
    place.write("t/sub/c", random.bytes(300));
    std::os::unix::fs::symlink("a", place.file("t/link"))
}

/// Makes a key, and manifests, lists and partials with it, each correct and wrong.
fn manifests_and_lists(place: &Place, random: &mut Random) -> Result<(), String> {
    place.must(&["keygen", "-o", "k"])?;
    place.must(&["seal", "-k", "k", "-o", "mbad", "t"])?;
    place.write("t/a", random.bytes(500));
    place.must(&["seal", "-k", "k", "-o", "m", "t"])?;
    // The records have seen the first manifest of a chain, and `m2` is the second one.
    let seal = ["seal", "-k", "k", "-o", "m2", "t"];
    place.must(&seal)?;
    place.must(&["audit", "-k", "k", "--ledger", "led2", "--pin", "pin2", "m2", "t"])?;
    place.must(&seal)?;
    let list = place.must(&["tag", "-k", "k", "f", "g"])?;
    place.write("list", &list);
    // The last digit but one of the last line.
    let mut bad = list.into_bytes();
    let digit = bad.len() - 3;
    bad[digit] = if bad[digit] == b'0' { b'1' } else { b'0' };
    place.write("listbad", bad);
    let part = ["part", "-k", "k", "--object", "o", "--start"];
    place.must(&[&part[..], &["0", "--length", "2048", "-o", "p1", "f"]].concat())?;
    place.must(&[&part[..], &["2048", "--last", "-o", "p2", "f"]].concat())?;
    let mut bad = place.read("p2").ok_or("no partial")?;
    *bad.last_mut().ok_or("an empty partial")? ^= 1;
    place.write("pbad", bad);
    place.must(&["man", "--output", "man"])?;
    place.write("man/tagmac.1", ".TH tagmac 1 \"an older page\"");
    Ok(())
}

impl Edits {
    fn new(place: &Place, random: &mut Random) -> Result<Edits, String> {
        let old = random.bytes(8000);
        let mut patched = old.clone();
        patched[1000..2500].copy_from_slice(&place.read("patch").ok_or("no patch")?);
        let grown = [&old[..], &random.bytes(900)].concat();
        let mut changed = old.clone();
        changed[300] ^= 1;
        Ok(Edits { cut: old[..4321].to_vec(), old, patched, grown, changed })
    }

    /// Makes files with sidecars, each before an edit.
    fn make_files(&self, place: &Place) -> Result<(), String> {
        for name in ["s", "sa", "sr", "sp"] {
            place.write(name, &self.old);
            place.must(&["update", "-k", "k", "--leaf", "64", name])?;
        }
        place.write("u", &self.old);
        place.write("sa", &self.grown);
        place.write("sr", &self.changed);
        Ok(())
    }

    /// Returns the expected lines by file name; a file with several edits has a line for each.
    fn lines(&self, place: &Place) -> Result<BTreeMap<&'static str, String>, String> {
        let texts = [
            ("s", "s", &self.patched),
            ("s cut", "s", &self.cut),
            ("sa", "sa", &self.grown),
            ("sr", "sr", &self.changed),
            ("sp", "sp", &self.patched),
            ("sp undone", "sp", &self.old),
            ("u", "u", &self.old),
        ];
        let line = |(key, name, bytes): (_, &str, &Vec<u8>)| {
            place.write(name, bytes);
            Ok((key, place.must(&["tag", "-k", "k", name])?))
        };
        texts.into_iter().map(line).collect()
    }
}

/// Leaves runs that were killed: an edit, and a tag with a checkpoint.
fn leave_half_done(place: &Place) -> Result<(), String> {
    let run = |args: &[&str], injection| -> Result<Trace, String> {
        trace::run(&place.program(args, b""), injection).map_err(|error| error.to_string())
    };
    let kill = |args: &[&str], number: Option<usize>, fault| {
        let number = number.ok_or("the call to kill at was not made")?;
        run(args, Some(Injection { phase: Phase::Main, number, nr: None, fault }))
    };
    let edit = ["update", "-k", "k", "--patch", "1000", "patch", "sp"];
    let kept = place.files();
    let traced = run(&edit, None)?;
    place.restore(&kept);
    // The write to the file itself: two writes, of the header's copies, follow it.
    kill(&edit, from_the_end(&traced, libc::SYS_pwrite64, 2), Fault::Tear)?;
    let tag = ["tag", "-k", "k", "--num-threads", "1", "--checkpoint", "half"];
    let tag = [&tag[..], &["--checkpoint-every", "1", "b"]].concat();
    // Killed when it would remove the checkpoint.
    let traced = run(&tag, None)?;
    kill(&tag, from_the_end(&traced, libc::SYS_unlink, 0), Fault::Kill)?;
    place.read("half").map(|_| ()).ok_or("no checkpoint is left".into())
}

/// Returns the number of the n-th such call from the end.
fn from_the_end(trace: &Trace, nr: i64, n: usize) -> Option<usize> {
    let is_one = |call: &&Call| call.nr == nr;
    let numbers: Vec<_> = trace.counted().filter(is_one).filter_map(|call| call.number).collect();
    numbers.iter().rev().nth(n).copied()
}

/// Returns the commands on their examples.
fn cases(place: &Place, edits: Edits) -> Vec<Case> {
    let Edits { old, patched, cut, grown, changed } = edits;
    let read = |name| place.read(name).unwrap_or_default();
    let one = ["--num-threads", "1"];
    let with = |head: &[&'static str], tail: &[&'static str]| [head, &one, tail].concat();
    let tag = |tail: &[&'static str]| with(&["tag", "-k", "k"], tail);
    let check = |tail: &[&'static str]| with(&["check", "-k", "k"], tail);
    let update = |tail: &[&'static str]| with(&["update", "-k", "k"], tail);
    let part = |tail: &[&'static str]| with(&["part", "-k", "k", "--object", "o"], tail);
    let range = ["--start", "0", "--length", "2048", "-o", "new"];
    let undone = old.clone();
    vec![
        Case::new("tag", &tag(&["f", "g"])),
        Case::new("keygen", &["keygen", "-o", "new"]).proof(Proof::Key, &["new"]).refuses(),
        Case::new("tag -r", &tag(&["-r", "t"])),
        Case::new("tag --json", &tag(&["--json", "f"])),
        Case::new("tag --raw", &tag(&["--raw", "f"])),
        Case { stdin: read("f"), ..Case::new("tag -", &tag(&["-"])) },
        Case { stdin: read("k"), ..Case::new("tag --key-fd", &["tag", "--key-fd", "0", "f"]) },
        Case::new("tag --key-cmd", &["tag", "--key-cmd", "cat k", "f"]),
        Case::new(
            "tag --checkpoint",
            &tag(&["--checkpoint", "new", "--checkpoint-every", "1", "b"]),
        )
        .proof(Proof::Output, &["new"]),
        Case::new(
            "tag --checkpoint, resumed",
            &tag(&["--checkpoint", "half", "--checkpoint-every", "1", "b"]),
        )
        .proof(Proof::Output, &["half"]),
        Case::new("check", &check(&["list"])),
        Case { stdin: read("list"), ..Case::new("check -", &check(&["--json", "-"])) },
        Case::new("check, a wrong tag", &check(&["listbad"])).expect(1),
        Case::new("seal", &with(&["seal", "-k", "k", "-o", "new"], &["t"]))
            .proof(Proof::Manifest("new"), &["new"]),
        Case::new("seal, replacing", &with(&["seal", "-k", "k", "-o", "mbad"], &["--mtime", "t"]))
            .proof(Proof::Manifest("mbad"), &["mbad"]),
        Case::new("seal --since", &with(&["seal", "-k", "k", "--since", "m", "-o", "new"], &["t"]))
            .proof(Proof::Manifest("new"), &["new"]),
        Case::new(
            "seal --since, replacing",
            &with(&["seal", "-k", "k", "--since", "mbad", "-o", "mbad"], &["t"]),
        )
        .proof(Proof::Manifest("mbad"), &["mbad"]),
        Case::new("audit", &with(&["audit", "-k", "k"], &["m", "t"])),
        Case::new(
            "audit --ledger --pin, the first",
            &with(&["audit", "-k", "k", "--ledger", "led", "--pin", "pin"], &["m", "t"]),
        )
        .records(Records { manifest: "m", ledger: "led", pin: "pin" }),
        Case::new(
            "audit --ledger --pin",
            &with(&["audit", "-k", "k", "--ledger", "led2", "--pin", "pin2"], &["m2", "t"]),
        )
        .records(Records { manifest: "m2", ledger: "led2", pin: "pin2" }),
        Case::new(
            "audit --report --metrics",
            &with(&["audit", "-k", "k", "--report", "r", "--metrics", "x"], &["m", "t"]),
        )
        .proof(Proof::Output, &["r", "x"]),
        Case::new(
            "audit --combined",
            &with(&["audit", "-k", "k", "--combined", "new"], &["m", "t"]),
        )
        .proof(Proof::Report("new"), &["new"])
        .refuses(),
        Case::new("audit, a changed file", &with(&["audit", "-k", "k"], &["mbad", "t"])).expect(1),
        Case::new("part", &part(&[&range[..], &["f"]].concat()))
            .proof(Proof::Partial, &["new"])
            .refuses(),
        Case {
            stdin: read("f"),
            ..Case::new("part -", &part(&[&range[..], &["-"]].concat()))
                .proof(Proof::Partial, &["new"])
                .refuses()
        },
        Case::new("combine", &["combine", "-k", "k", "p1", "p2"]),
        Case::new("combine, a damaged partial", &["combine", "-k", "k", "p1", "pbad"]).expect(1),
        Case::new("update, the first", &update(&["--leaf", "64", "u"]))
            .proof(Proof::Updated("u", old), &["u.tagmac"])
            .again(&["update", "-k", "k", "u"]),
        Case::new("update --patch", &update(&["--patch", "1000", "patch", "s"]))
            .proof(Proof::Updated("s", patched.clone()), &["s", "s.tagmac"]),
        Case::new("update --truncate", &update(&["--truncate", "4321", "s"]))
            .proof(Proof::Updated("s", cut), &["s", "s.tagmac"]),
        Case::new("update --append", &update(&["--append", "sa"]))
            .proof(Proof::Updated("sa", grown), &["sa.tagmac"]),
        Case::new("update --range", &update(&["--range", "300:1", "sr"]))
            .proof(Proof::Updated("sr", changed), &["sr.tagmac"]),
        Case::new("update, after a kill", &update(&["sp"]))
            .proof(Proof::Updated("sp", patched.clone()), &["sp", "sp.tagmac"]),
        Case::new("update --finish", &update(&["--finish", "sp"]))
            .proof(Proof::Updated("sp", patched), &["sp", "sp.tagmac"])
            .again(&["update", "-k", "k", "sp"]),
        Case::new("update --undo", &update(&["--undo", "sp"]))
            .proof(Proof::Updated("sp", undone), &["sp", "sp.tagmac"])
            .again(&["update", "-k", "k", "--undo", "sp"]),
        Case::new("bounds", &["bounds", "-a", "PMAC-AES128"]),
        Case::new("list", &["list"]),
        Case::new("selftest", &["selftest"]),
        Case::new("man", &["man", "tag"]),
        Case::new("man --output", &["man", "--output", "new/man1"])
            .proof(Proof::Pages("new/man1"), &["new/"]),
        Case::new("man --output, replacing", &["man", "--output", "man"])
            .proof(Proof::Pages("man"), &["man/"]),
        Case::new("completions", &["completions", "bash"]),
        Case {
            threads: true,
            ..Case::new("tag, three threads", &["tag", "-k", "k", "--num-threads", "3", "b"])
        },
        Case {
            threads: true,
            ..Case::new(
                "seal, three threads",
                &["seal", "-k", "k", "--num-threads", "3", "-o", "new", "t"],
            )
            .proof(Proof::Manifest("new"), &["new"])
        },
        Case {
            threads: true,
            ..Case::new("check, three threads", &["check", "-k", "k", "--num-threads", "3", "list"])
        },
    ]
}
