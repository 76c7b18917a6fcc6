//! The memory that `seal` and `audit` take: little, and no more for more files.
#![cfg(all(target_os = "linux", feature = "fault-injection"))]

mod common;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use common::{Place, Ran, peak};

/// So many files, a thousand in each directory.
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

/// The most KiB that a run took, and what it gave.
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
        let (seal, ran) = run(&place, &["seal", "-k", "k", "t", "-o", "m"]);
        ran.exits(0).says(&[&format!("{files} files, ")]);
        let (audit, ran) = run(&place, &["audit", "-k", "k", "m", "t"]);
        ran.exits(0);
        [seal, audit]
    });
    for (few, many) in peaks[0].into_iter().zip(peaks[1]) {
        // 18 000 names alone would be 1800 KiB.
        assert!(many < few + 1024, "{few} KiB for 2000 files, {many} KiB for 20 000");
    }
}

/// `cargo test -p tagmac-cli --all-features --test memory -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes, and a million inodes in /dev/shm"]
fn a_million_files_in_less_than_200_mib() {
    const MOST: u64 = 200 << 10;
    let place = Place::new_in("/dev/shm");
    fill(&place.path("t"), 1_000_000);
    let small = |args: &[&str], code: i32, says: &str| {
        let (peak, ran) = run(&place, args);
        ran.exits(code).says(&[says]);
        assert!(peak < MOST, "{args:?}: {peak} KiB");
    };
    small(&["seal", "-k", "k", "t", "-o", "m"], 0, "1000000 files, 1000 directories, ");
    small(&["audit", "-k", "k", "m", "t"], 0, "1001000 unchanged, 0 changed");
    // The worst: every file is missing, and new elsewhere.
    fs::create_dir(place.path("u")).unwrap();
    fs::rename(place.path("t"), place.path("u/t")).unwrap();
    small(&["audit", "-k", "k", "m", "u"], 1, "0 unchanged, 0 changed, ");
    // All in one directory, whose names have to be sorted.
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
