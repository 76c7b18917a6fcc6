//! Names that are given to another file during a run: no command then reports success.

use std::fs;

use crate::common::{Place, Ran};

const REPLACED: &str = "the file was removed or replaced while it was read";
const NO_DIRECTORY: &str = "the directory was removed or replaced while this run was using it";
const NO_OUTPUT: &str = "the new file was removed or replaced at once";

/// Returns a place with a file, a tree, and what the commands made of them.
fn place() -> Place {
    let place = Place::new();
    place.file("f", vec![b'x'; 100_000]);
    fs::create_dir(place.path("t")).unwrap();
    place.file("t/a", vec![b'a'; 3000]);
    let line = place.keyed("tag", &["f"]).exits(0).out;
    place.file("LIST", line);
    place.keyed("tag", &["--raw", "f"]).exits(0);
    place.keyed("seal", &["t", "-o", "m"]).exits(0);
    place
}

/// Runs a command with a line of shell at a call.
fn disturbed(call: &str, line: &str, command: &[&str]) -> Ran {
    let place = place();
    let ran = place.faulty(&format!("{call}:run={line}"), command[0], &command[1..]);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    ran
}

/// The name of an input belongs to another file at the end.
#[test]
fn a_file_that_is_replaced_or_removed_while_it_is_read() {
    // An editor writes a new file and renames it.
    for line in ["cp f g; mv g f", "rm f"] {
        for command in [
            &["tag", "f"][..],
            &["tag", "--raw", "f"],
            &["tag", "--num-threads", "1", "LIST", "f"],
            &["part", "--object", "o", "--start", "0", "--last", "-o", "new", "f"],
        ] {
            let call = if command.contains(&"LIST") { "read:2" } else { "read:1" };
            let ran = disturbed(call, line, command).exits(4).says(&["tagmac: f: ", REPLACED]);
            assert!(!ran.out.contains("(f)"), "{command:?}: {}", ran.out);
        }
        let ran = disturbed("read:1", line, &["check", "LIST"]).exits(4).says(&["f: ", REPLACED]);
        assert_eq!(ran.out, "f: FAILED open or read\n");
    }
    for line in ["cp t/a g; mv g t/a", "rm t/a"] {
        let ran = disturbed("read:1", line, &["tag", "-r", "t"]).exits(4).prints("");
        ran.says(&["t/a: ", REPLACED]);
    }
    // The target of a link counts.
    let place = place();
    std::os::unix::fs::symlink("f", place.path("l")).unwrap();
    place.keyed("tag", &["l"]).exits(0);
    let ran = place.faulty("read:1:run=cp f g; mv g f", "tag", &["l"]).exits(4).prints("");
    ran.says(&["l: ", REPLACED]);
}

#[test]
fn a_file_with_a_checkpoint_that_is_moved_while_it_is_read() {
    let place = place();
    fs::create_dir(place.path("d")).unwrap();
    place.file("d/f", vec![b'x'; 100_000]);
    // The file itself does not change.
    let args = ["--checkpoint", "c", "d/f"];
    let ran = place.faulty("read:1:run=mv d e", "tag", &args).exits(4).prints("");
    ran.says(&["d/f: ", REPLACED]);
    assert!(place.path("c").exists());
}

#[test]
fn a_file_of_a_tree_that_is_replaced_or_removed_while_it_is_read() {
    let first = |command: &[&str], line: &str| {
        // Reads of a manifest come before the first read of the file.
        let calls = (1..20).map(|n| disturbed(&format!("read:{n}"), line, command));
        calls.take_while(|ran| ran.code != Some(0)).last().expect("a read")
    };
    for line in ["cp t/a g; mv g t/a", "rm t/a"] {
        let ran = first(&["seal", "t", "-o", "new"], line).exits(4);
        ran.says(&["t/a: "]);
    }
    let ran = disturbed("read:1", "cp t/a g; mv g t/a", &["audit", "m", "t"]).exits(4);
    ran.says(&[]);
    let ran = disturbed("read:1", "rm t/a", &["audit", "m", "t"]).exits(1);
    assert!(ran.out.contains("t/a") || ran.out.contains("missing"), "{}", ran.out);
}

#[test]
fn a_file_or_a_manifest_that_is_replaced_during_rekey() {
    let rekey = |line: &str| {
        let place = place();
        place.run(&["keygen", "-o", "n"]).exits(0);
        fs::copy(place.path("m"), place.path("before")).unwrap();
        let args = ["--new-key", "n", "m", "t"];
        let ran = place.faulty(&format!("read:1:run={line}"), "rekey", &args);
        (place, ran)
    };
    // A file that was replaced is not sealed, even by one with the same bytes.
    for line in ["cp t/a g; mv g t/a", "cp t/a g; echo b > t/a", "rm t/a"] {
        let (place, ran) = rekey(line);
        assert!(matches!(ran.code, Some(1 | 4)), "{line}: {:?} {}", ran.code, ran.err);
        ran.says(&["m: not written, as not every entry is unchanged\n"]);
        assert_eq!(place.read("m"), place.read("before"), "{line}");
    }
    let (place, ran) = rekey("cp m g; mv g m");
    ran.exits(4).says(&["m: not written, as another program replaced or removed it meanwhile"]);
    assert_eq!(place.read("m"), place.read("before"));
}

#[test]
fn a_directory_that_is_replaced_or_removed_while_it_is_read() {
    for line in ["mv t u; cp -r u t", "mv t u"] {
        let sealed = disturbed("read:1", line, &["seal", "t", "-o", "new"]);
        sealed.exits(4).says(&["tagmac: t: ", NO_DIRECTORY]);
        let audited = disturbed("read:1", line, &["audit", "m", "t"]);
        audited.exits(4).says(&["tagmac: t: ", NO_DIRECTORY]);
    }
}

/// The output is removed, or its name given to another file, before the command ends.
#[test]
fn an_output_that_is_replaced_or_removed() {
    for line in ["rm new", "cp new g; mv g new"] {
        for command in [
            &["part", "--object", "o", "--start", "0", "--last", "-o", "new", "f"][..],
            &["seal", "t", "-o", "new"],
        ] {
            // The file is synced and named, then its folder is synced.
            disturbed("sync:2", line, command).exits(4).says(&["tagmac: new: ", NO_OUTPUT]);
        }
        let place = Place::bare();
        let mut command = place.command(&["keygen", "-o", "new"]);
        let ran = crate::common::at(&mut command, "sync:2", &format!("run={line}")).output();
        let ran = Ran::from(ran.unwrap()).exits(4).prints("");
        ran.says(&["tagmac: new: ", NO_OUTPUT]);
    }
}
