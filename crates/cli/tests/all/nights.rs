//! Seals and audits that do not read everything: filters, lists, ledgers and pins on the command
//! line.

use std::fs;

use crate::common::{Place, without_stamps};

/// A place with a key and a tree of nine files in `t`.
fn place() -> Place {
    let place = Place::new();
    for number in 0..9 {
        fs::create_dir_all(place.path(format!("t/{}", number % 3))).unwrap();
        place.file(format!("t/{}/f{number}", number % 3), format!("text {number}"));
    }
    place
}

fn json(place: &Place, args: &[&str]) -> serde_json::Value {
    let ran = place.keyed("audit", &[&["--json"], args].concat());
    serde_json::from_str(ran.out.lines().last().unwrap()).unwrap()
}

#[test]
fn filters_are_recorded_and_audited() {
    let place = place();
    place.file("t/0/a.tmp", "");
    place.file("t/0/keep.tmp", "");
    place.file("ignore", "# what the editor leaves\n*~\n");
    place.file("t/1/b~", "");
    let filters = ["--exclude", "*.tmp", "--include", "keep.tmp", "--exclude-from", "ignore"];
    let ran = place.keyed("seal", &[&filters[..], &["t", "-o", "m"]].concat()).exits(0);
    ran.says(&["10 files, 3 directories", "2 left out by the filters"]);
    place.file("t/2/c.tmp", "");
    place.keyed("audit", &["m", "t"]).exits(0).prints("").says(&["3 left out"]);
    assert_eq!(json(&place, &["m", "t"])["summary"]["left_out"], 3);
    // No other file can hide.
    place.file("t/2/c.bak", "");
    place.keyed("audit", &["m", "t"]).exits(1).prints("2/c.bak: new\n");

    let seal = |args: &[&str]| place.keyed("seal", &[args, &["t", "-o", "n"]].concat());
    seal(&["--exclude", "*"]).exits(0).says(&["the filters left out everything\n"]);
    seal(&["--exclude", "zz"]).exits(0).says(&["the pattern 'zz' matched nothing\n"]);
    seal(&["--exclude", "!a"]).exits(2).says(&["use --include to keep entries\n"]);
    seal(&["--include", "a"]).exits(2).says(&["use --exclude too\n"]);
    seal(&["--exclude", "a//b"]).exits(2).says(&["pattern 'a//b': it contains an empty name"]);
    seal(&["--exclude-from", "none"]).exits(4).says(&["none: No such file or directory\n"]);
    let ran = seal(&["--max-depth", "1"]).exits(0);
    ran.says(&["0 files, 3 directories", "3 left out"]);
    seal(&["--max-depth", "0"]).exits(2);
}

#[test]
fn a_list_of_names_is_sealed_exactly() {
    let place = place();
    place
        .shell("(cd t && find . -name 'f[0-4]' -print0) | $T seal -k k -0 --files-from - t -o m")
        .exits(0)
        .says(&["5 files, 3 directories"]);
    place.file("t/new", "");
    place.keyed("audit", &["m", "t"]).exits(0);
    place.file("list", "0/f3\n./1/f4\n\n");
    place.keyed("seal", &["--files-from", "list", "t", "-o", "n"]).exits(0).says(&["2 files"]);
    for (names, says) in [
        ("", "--files-from: list: the list has no names\n"),
        ("a\0b", "use -0 for names that end with one\n"),
        ("../x", "--files-from: ../x: the name contains '..'"),
        ("t/f0", "--files-from: t/f0: expected a name relative to t; 'find t -printf \"%P\\n\"'"),
        ("/etc/passwd", "--files-from: /etc/passwd: not in the directory t\n"),
    ] {
        place.file("list", names);
        place.keyed("seal", &["--files-from", "list", "t", "-o", "n"]).exits(2).says(&[says]);
    }
    place.file("list", "0/none");
    let ran = place.keyed("seal", &["--files-from", "list", "t", "-o", "n"]).exits(4);
    ran.says(&["t/0/none: No such file or directory\n", "1 entry could not be sealed"]);
    let both = ["--files-from", "list", "--exclude", "a", "t", "-o", "n"];
    place.keyed("seal", &both).exits(2).says(&["no filter can be used with it\n"]);
    // `tag` takes the same lists.
    place.file("list", "t/0/f0\0t/1/f1\0");
    let listed = place.keyed("tag", &["-0", "--files-from", "list"]).exits(0).out;
    assert_eq!(listed, place.keyed("tag", &["t/0/f0", "t/1/f1"]).exits(0).out);
    place.keyed("tag", &["--files-from", "list", "t/0/f0"]).exits(2);
}

#[test]
fn some_entries_are_audited() {
    let place = place();
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    place.file("t/0/f0", "TEXT 0");
    place.keyed("audit", &["m", "t", "1"]).exits(0).says(&["4 unchanged"]);
    place.keyed("audit", &["m", "t", "1", "0/f0"]).exits(1).prints("0/f0: changed: content\n");
    place.keyed("audit", &["m", "t", "x"]).exits(2).says(&["x: the manifest has no entry"]);
    place.keyed("audit", &["m", "t", "../t"]).exits(2);
}

#[test]
fn a_quick_audit_reads_nothing() {
    let place = place();
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let ran = place.keyed("audit", &["--quick", "m", "t"]).exits(0);
    ran.prints("").says(&["read no file", "9 not read"]);
    let summary = json(&place, &["--quick", "m", "t"]);
    assert_eq!(
        (&summary["status"], &summary["summary"]["not_read"]),
        (&"not_read".into(), &9.into())
    );
    place.file("t/0/f0", "longer than before");
    let ran = place.keyed("audit", &["--quick", "m", "t"]).exits(1);
    ran.prints("0/f0: changed: size: expected 6, found 18\n");
}

#[test]
fn each_file_is_read_in_exactly_one_part() {
    let place = place();
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    // Of the same size: only an audit that reads a file sees the change of its content.
    (0..9).for_each(|number| place.file(format!("t/{}/f{number}", number % 3), "TEXT 0"));
    let mut read = Vec::new();
    for part in 1..=13 {
        let ran = place.keyed("audit", &["--subset", &format!("{part}/13"), "m", "t"]);
        let lines = ran.out.lines().filter_map(|line| line.strip_suffix(": changed: content"));
        read.extend(lines.map(String::from));
    }
    read.sort();
    let all: Vec<String> = (0..3)
        .flat_map(|folder| (0..3).map(move |number| format!("{folder}/f{}", 3 * number + folder)))
        .collect();
    assert_eq!(read, all);
}

#[test]
fn files_in_json_have_their_part_and_the_day_of_the_last_reading() {
    let place = place();
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let entries = |args: &[&str]| -> Vec<serde_json::Value> {
        let ran = place.keyed("audit", &[&["--json"], args, &["m", "t"]].concat()).exits(0);
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (mut read, mut files) = (0, 0);
    for entry in entries(&["--subset", "2/3"]) {
        if entry["kind"] != "file" {
            assert!(entry["part"].is_null() && entry["last_read"].is_null(), "{entry}");
            continue;
        }
        let is_read = entry["status"] == "unchanged";
        assert_eq!(entry["part"] == 2, is_read, "{entry}");
        assert!(matches!(entry["part"].as_u64(), Some(1..=3)), "{entry}");
        assert_eq!(entry["last_read"].as_str().map(str::len), Some("2026-11-28".len()));
        (read, files) = (read + u64::from(is_read), files + 1);
    }
    assert_eq!(files, 9);
    assert_eq!(json(&place, &["--subset", "2/3", "m", "t"])["proof"]["read"], read);
    let all = entries(&[]);
    assert!(all.iter().all(|entry| entry["part"].is_null()));
    assert_eq!(all.iter().filter(|entry| entry["last_read"].is_string()).count(), 9);
}

#[test]
fn each_night_reads_its_part_and_the_ledger_remembers() {
    let place = place();
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let mut read = 0;
    for part in ["1/3", "2/3", "3/3"] {
        let proof = &json(&place, &["--subset", part, "--ledger", "l", "m", "t"])["proof"];
        assert_eq!(proof["files"], 9);
        read += proof["read"].as_u64().unwrap();
    }
    assert_eq!(read, 9);
    assert!(fs::read_to_string(place.path("l")).unwrap().contains("\nsequence: 3\n"));
    let oldest = ["--sample", "40%", "--oldest-first", "--ledger", "l", "m", "t"];
    place.keyed("audit", &oldest).exits(0).says(&["a sample of 40%, oldest first"]);
    let ran = place.keyed("audit", &["--max-bytes", "12", "--ledger", "l", "m", "t"]).exits(0);
    ran.says(&["at most 12 bytes", "a change of 10 files was missed with probability"]);
    assert!(json(&place, &["--ledger", "l", "m", "t"])["proof"]["read"] == 9);
    for wrong in ["0/3", "4/3", "3", "a/b", "1/0"] {
        place.keyed("audit", &["--subset", wrong, "m", "t"]).exits(2);
    }
    for wrong in ["5", "101%", "-1%", "x%"] {
        place.keyed("audit", &[&format!("--sample={wrong}"), "m", "t"]).exits(2);
    }
    place.keyed("audit", &["--oldest-first", "m", "t"]).exits(2);
    place.keyed("audit", &["--quick", "--sample", "5%", "m", "t"]).exits(2);
    place.file("l", "something else");
    place.keyed("audit", &["--ledger", "l", "m", "t"]).exits(1).says(&["l: "]);
    assert_eq!(fs::read_to_string(place.path("l")).unwrap(), "something else");
}

#[test]
fn records_that_were_sealed_are_not_missing() {
    let place = place();
    let records = ["--ledger", "t/l", "--pin", "t/p", "m", "t"];
    for _ in 0..2 {
        place.keyed("seal", &["t", "-o", "m"]).exits(0);
        place.keyed("audit", &records).exits(0);
    }
    let said = ["l", "p"]
        .map(|name| format!("{name}: sealed, but not audited: this run keeps its records there"));
    place.keyed("audit", &records).exits(0).prints("").says(&[&said[0], &said[1]]);
    let proof = &json(&place, &records)["proof"];
    assert_eq!((&proof["files"], &proof["read"]), (&9.into(), &9.into()));
    // Without the options they are files like others.
    let ran = place.keyed("audit", &["m", "t"]).exits(1);
    assert!(ran.out.contains("l: changed: ") && ran.out.contains("p: changed: "), "{}", ran.out);
    fs::remove_file(place.path("t/p")).unwrap();
    place.keyed("audit", &["m", "t"]).exits(1);
}

#[test]
fn an_old_manifest_is_found_by_the_pin() {
    let place = place();
    let seal = || place.keyed("seal", &["t", "-o", "m"]).exits(0);
    let audit = || place.keyed("audit", &["--pin", "p", "m", "t"]);
    seal();
    audit().exits(0).says(&["p: created"]);
    let old = place.read("m");
    seal();
    audit().exits(0);
    // The tree and its manifest are restored together: only the pin tells.
    let new = place.read("m");
    place.file("m", &old);
    place.keyed("audit", &["m", "t"]).exits(0);
    audit().exits(1).says(&["m: "]);
    // A fork of the chain.
    place.file("t/fork", "");
    seal();
    audit().exits(1).says(&["m: "]);
    place.file("m", &new);
    fs::remove_file(place.path("t/fork")).unwrap();
    audit().exits(0);
    let sealed = String::from_utf8(new).unwrap();
    let sealed = sealed.lines().last().unwrap().strip_prefix("seal: ").unwrap();
    place.keyed("audit", &["--expect", sealed, "m", "t"]).exits(0);
    let other = format!("00{}", &sealed[2..]);
    place.keyed("audit", &["--expect", &other, "m", "t"]).exits(1).says(&["m: expected the seal"]);
    // A damaged manifest has no successor.
    place.shell("sed -i 's/entries: 12/entries: 13/' m").exits(0);
    let ran = place.keyed("seal", &["t", "-o", "m"]).exits(1);
    ran.says(&["the new manifest cannot continue the old one: m: the seal does not match"]);
    place.keyed("seal", &["--new-chain", "t", "-o", "m"]).exits(0);
    audit().exits(1);
}

#[test]
fn a_checkpoint_replaces_nothing_and_is_gone_at_the_end() {
    let place = place();
    let seal = |args: &[&str]| place.keyed("seal", &[args, &["--num-threads", "1", "t"]].concat());
    seal(&["-o", "m"]).exits(0);
    let whole = place.read("m");
    let other = "m: not a checkpoint of a seal; name another file\n";
    seal(&["-o", "n", "--checkpoint", "m"]).exits(1).says(&[other]);
    let same = "m: the checkpoint would be the manifest\n";
    seal(&["-o", "m", "--checkpoint", "m"]).exits(2).says(&[same]);
    place.file("text", "text");
    seal(&["-o", "n", "--checkpoint", "text"]).exits(1);
    assert_eq!((place.read("m"), place.read("text")), (whole, b"text".to_vec()));
    // The manifest does not depend on it.
    seal(&["-o", "n", "--checkpoint", "c", "--checkpoint-every", "1"]).exits(0);
    assert!(!place.path("c").exists());
    let [m, n] = ["m", "n"].map(|name| String::from_utf8(place.read(name)).unwrap());
    assert_eq!(without_stamps(&n), without_stamps(&m));
    seal(&["-o", "n", "--checkpoint", "no/c"]).exits(4);
    seal(&["-o", "n", "--checkpoint-every", "1"]).exits(2);
}

#[cfg(all(feature = "fault-injection", debug_assertions))]
#[test]
fn a_seal_resumes_after_a_kill() {
    let place = place();
    let args = ["--num-threads", "1", "--checkpoint", "t/c", "--checkpoint-every", "1"];
    let args = [&args[..], &["t", "-o", "t/m"]].concat();
    let mut left = Vec::new();
    for call in 1.. {
        // Each run starts from the beginning.
        for name in ["t/c", "t/m"] {
            let _ = fs::remove_file(place.path(name));
        }
        let ran = place.faulty(&format!("any:{call}:kill"), "seal", &args);
        if ran.code == Some(0) {
            break;
        }
        left.extend(place.path("t/c").exists().then(|| place.read("t/c")));
        assert!(call < 500);
    }
    assert!(left.len() > 5, "{}", left.len());
    let whole = without_stamps(&String::from_utf8_lossy(&place.read("t/m")));
    for checkpoint in left.iter().step_by(left.len() / 5) {
        fs::remove_file(place.path("t/m")).unwrap();
        place.file("t/c", checkpoint);
        // No reader accepts it as a manifest.
        place.keyed("audit", &["t/c", "t"]).exits(1).prints("");
        place.keyed("seal", &["--since", "t/c", "t", "-o", "n"]).exits(1);
        place.keyed("seal", &args).exits(0);
        assert_eq!(without_stamps(&String::from_utf8_lossy(&place.read("t/m"))), whole);
        assert!(!place.path("t/c").exists());
    }
    // A checkpoint that was altered, and one of another key.
    let checkpoint = left.last().unwrap();
    let mut altered = checkpoint.clone();
    let digit = altered.len() - 9;
    altered[digit] = if altered[digit] == b'1' { b'2' } else { b'1' };
    place.file("t/c", &altered);
    place.keyed("seal", &args).exits(1).says(&["t/c: the checkpoint is damaged"]);
    place.run(&["keygen", "-o", "k2"]).exits(0);
    place.file("t/c", checkpoint);
    place.run(&[&["seal", "-k", "k2"], &args[..]].concat()).exits(3);
}
