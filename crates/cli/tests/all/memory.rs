//! `seal` and `audit` use little memory, and not more for more files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Place, Ran, peak};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat, symlinkat};

/// Creates `files` files, a thousand in each directory.
fn fill(root: &Path, files: usize) {
    for folder in 0..files / 1000 {
        let folder = root.join(format!("folder {folder}"));
        fs::create_dir_all(&folder).unwrap();
        for file in 0..1000 {
            let name =
                format!("a name of one hundred bytes, which would be seen if kept {file:043}");
            fs::write(folder.join(name), "text").unwrap();
        }
    }
}

/// Returns the peak memory of a run in KiB, and its result.
fn run(place: &Place, args: &[&str]) -> (u64, Ran) {
    let mut command = place.command(args);
    let (peak, ran) = peak(command.stdout(Stdio::null()));
    println!("{}: {peak} KiB", args[0]);
    (peak, ran)
}

#[test]
fn memory_does_not_grow_with_the_tree() {
    let peaks = [2000, 20_000].map(|files| {
        let place = Place::new();
        fill(&place.path("t"), files);
        // One thread: with more, the system decides how many of them get work, and so a buffer.
        let one = ["-k", "k", "--num-threads", "1"];
        let (seal, ran) = run(&place, &[&["seal", "t", "-o", "m"], &one[..]].concat());
        ran.exits(0).says(&[&format!("{files} files, ")]);
        let (audit, ran) = run(&place, &[&["audit", "m", "t"], &one[..]].concat());
        ran.exits(0);
        [seal, audit]
    });
    for (few, many) in peaks[0].into_iter().zip(peaks[1]) {
        // 18 000 names alone would be 1800 KiB.
        assert!(many < few + 1024, "{few} KiB for 2000 files, {many} KiB for 20 000");
    }
}

/// Creates `levels` nested directories with names of 255 bytes. Each has a link in it, and the
/// lowest five have `more` links.
fn dig(root: &Path, levels: usize, more: usize) {
    let name = "d".repeat(255);
    fs::create_dir(root).unwrap();
    let flags = OFlags::DIRECTORY | OFlags::RDONLY;
    let mut folder = openat(CWD, root, flags, Mode::empty()).unwrap();
    for level in 0..levels {
        mkdirat(&folder, &name, Mode::RWXU).unwrap();
        symlinkat("nowhere", &folder, "link").unwrap();
        for number in 0..if level + 5 >= levels { more } else { 0 } {
            symlinkat("nowhere", &folder, format!("{number:0240}")).unwrap();
        }
        folder = openat(&folder, &name, flags, Mode::empty()).unwrap();
    }
}

#[test]
fn any_tree_in_less_than_64_mib() {
    const MOST: u64 = 64 << 10;
    let place = Place::new_in("/dev/shm");
    fs::create_dir(place.path("none")).unwrap();
    place.keyed("seal", &["none", "-o", "empty"]).exits(0);
    // Links are made and read fastest.
    fs::create_dir(place.path("wide")).unwrap();
    for number in 0..250_000 {
        symlink("nowhere", place.path(format!("wide/{number:0240}"))).unwrap();
    }
    dig(&place.path("deep"), 4000, 0);
    dig(&place.path("both"), 15, 40_000);
    let small = |args: &[&str], code: i32, says: &str| {
        // The maximum of threads, each with files ahead of the results.
        let (peak, ran) = run(&place, &[args, &["-k", "k", "--num-threads", "64"]].concat());
        ran.exits(code).says(&[says]);
        assert!(peak < MOST, "{args:?}: {peak} KiB");
    };
    small(&["seal", "wide", "-o", "m"], 0, " 250000 links, ");
    small(&["audit", "m", "wide"], 0, "250000 unchanged");
    small(&["audit", "empty", "wide"], 1, " 250000 new, ");
    small(&["audit", "m", "none"], 1, " 250000 missing, ");
    let said = "paths in it that are longer than 4096 bytes: 2";
    small(&["seal", "--skip-unreadable", "deep", "-o", "m"], 4, said);
    small(&["audit", "m", "deep"], 4, "31 unchanged, 0 changed, 0 new, ");
    small(&["audit", "empty", "deep"], 1, " 32 new, 0 missing, 0 renamed, 1 unreadable");
    small(&["tag", "-r", "deep"], 4, said);
    small(&["seal", "both", "-o", "m"], 0, " 200015 links, ");
    small(&["audit", "m", "both"], 0, "200030 unchanged");
    small(&["audit", "empty", "both"], 1, " 200030 new, ");
    // Too deep for `remove_dir_all`, which holds each level open.
    place.shell("rm -r deep").exits(0);
}

/// `cargo test -p tagmac-cli --all-features --test all -- memory:: --ignored --nocapture`
#[test]
#[ignore = "takes minutes, and a million inodes in /dev/shm"]
fn a_million_files_in_less_than_64_mib() {
    const MOST: u64 = 64 << 10;
    let place = Place::new_in("/dev/shm");
    fill(&place.path("t"), 1_000_000);
    let small = |args: &[&str], code: i32, says: &str| {
        let (peak, ran) = run(&place, args);
        ran.exits(code).says(&[says]);
        assert!(peak < MOST, "{args:?}: {peak} KiB");
    };
    small(&["seal", "-k", "k", "t", "-o", "m"], 0, "1000000 files, 1000 directories, ");
    small(&["audit", "-k", "k", "m", "t"], 0, "1001000 unchanged, 0 changed");
    // The worst case: every file is missing, and new elsewhere.
    fs::create_dir(place.path("u")).unwrap();
    fs::rename(place.path("t"), place.path("u/t")).unwrap();
    small(&["audit", "-k", "k", "m", "u"], 1, "0 unchanged, 0 changed, ");
    // All in one directory, whose names must be sorted.
    fs::create_dir(place.path("flat")).unwrap();
    for (number, folder) in fs::read_dir(place.path("u/t")).unwrap().enumerate() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            let name = format!("{number:03}{}", &name[3..]);
            fs::rename(file.path(), place.path(format!("flat/{name}"))).unwrap();
        }
    }
    small(&["seal", "-k", "k", "flat", "-o", "m"], 0, "1000000 files, 0 directories, ");
    small(&["audit", "-k", "k", "m", "flat"], 0, "1000000 unchanged, 0 changed");
}
