//! `tagmac update` when it is killed, and when there is no room: old or new, nothing between.

mod common;

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Place, Ran, Random};

impl Place {
    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Whether a line is that of the file.
    fn holds(&self, line: &str) -> bool {
        self.file("LIST", line);
        self.keyed("check", &["LIST"]).code == Some(0)
    }

    /// Runs an update and kills it as soon as the sidecar's header is another.
    fn killed_at_its_state(&self, args: &[&str]) {
        let sidecar = File::open(self.path("f.tagmac")).unwrap();
        let headers = || {
            let mut bytes = [0; 8192];
            sidecar.read_exact_at(&mut bytes, 4096).unwrap();
            bytes
        };
        let before = headers();
        let mut child = self.spawn(args);
        while headers() == before && child.try_wait().unwrap().is_none() {}
        let _ = child.kill();
        child.wait().unwrap();
    }

    /// An update that may write files of so many KiB and no more. The signal that would end it is
    /// ignored, so that it meets an error as where a disk is full.
    fn limited(&self, kib: u64, args: &str) -> Ran {
        // dash counts blocks of 512 bytes, bash of 1024.
        let line = format!("trap '' XFSZ; ulimit -f {kib}; exec $T update -k k {args}");
        let line = format!("exec bash -c \"{}\"", line.replace('$', "\\$"));
        self.shell(&line)
    }
}

/// Killed at random moments: what is there is the old or the new, and the next update makes it the
/// new.
#[test]
fn killed_at_random_moments() {
    for (algorithm, rounds) in [("PMAC-AES128", 120), ("POLY1305-AES", 60)] {
        let place = Place::bare();
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        let mut random = Random(rounds);
        let mut text = random.bytes(300_000);
        place.file("f", &text);
        place.keyed("update", &["--leaf", "64", "f"]).exits(0);
        let (mut killed, mut finished) = (0, 0);
        // How long it takes where nothing ends it, as far as is known.
        let mut whole = 5000;
        for round in 0..rounds {
            let new = random.bytes(200_000);
            let offset = random.below(100_000);
            place.file("p", &new);
            let at = offset.to_string();
            let patch = ["update", "-k", "k", "--patch", &at, "p", "f"];
            let mut child = place.spawn(&patch);
            sleep(Duration::from_micros(random.below(whole)));
            let _ = child.kill();
            killed += (child.wait().unwrap().code().is_none()) as u32;
            // Bytes are old or new, and none is another.
            let (found, old) = (place.read("f"), text.clone());
            text[offset as usize..][..new.len()].copy_from_slice(&new);
            let both = found.iter().zip(old.iter().zip(&text));
            assert!(both.clone().all(|(f, (o, n))| f == o || f == n), "{algorithm}, round {round}");
            // Asked what there is, or told to go on: both leave one of the two states.
            let again = if random.below(1) == 0 {
                let asked = place.keyed("update", &["f"]).exits(0);
                finished += asked.err.contains("that was cut short") as u32;
                assert!(place.holds(&asked.out), "{algorithm}, round {round}");
                let found = place.read("f");
                assert!(found == old || found == text, "{algorithm}, round {round}");
                let start = Instant::now();
                let again = place.run(&patch).exits(0);
                whole = start.elapsed().as_micros() as u64;
                again
            } else {
                let again = place.run(&patch).exits(0);
                finished += again.err.contains("that was cut short") as u32;
                again
            };
            assert!(place.read("f") == text, "{algorithm}, round {round}");
            assert!(place.holds(&again.out), "{algorithm}, round {round}");
            if algorithm == "PMAC-AES128" {
                place.keyed("tag", &["f"]).prints(&again.out);
            }
        }
        assert!(killed > 0, "{algorithm}: no round was killed");
        println!("{algorithm}: {killed} of {rounds} killed, {finished} found within the patch");
    }
}

/// The same where the file grows and is cut off.
#[test]
fn killed_while_the_length_changes() {
    for (algorithm, rounds) in [("PMAC-AES128", 30), ("POLY1305-AES", 15)] {
        let place = Place::bare();
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        let mut random = Random(rounds);
        let mut text = random.bytes(300_000);
        place.file("f", &text);
        place.keyed("update", &["--leaf", "64", "f"]).exits(0);
        let mut killed = 0;
        let mut whole = 20_000;
        for round in 0..2 * rounds {
            let length = (random.below(200_000) + 50_000).to_string();
            let grows = round % 2 == 0;
            let edit = if grows { vec!["--append"] } else { vec!["--truncate", &*length] };
            let args = [&["update", "-k", "k"], &*edit, &["f"]].concat();
            let old = text.clone();
            if grows {
                text.extend(random.bytes(250_000));
                place.file("f", &text);
            } else {
                text.truncate(length.parse().unwrap());
            }
            let mut child = place.spawn(&args);
            sleep(Duration::from_micros(random.below(whole)));
            let _ = child.kill();
            killed += child.wait().unwrap().code().is_none() as u32;
            let asked = place.keyed("update", &["f"]);
            let found = place.read("f");
            if grows {
                // The old state does not go with a file that has grown, the new one does.
                assert!(found == text, "{algorithm}, round {round}");
                assert!(matches!(asked.code, Some(0 | 1)), "{}", asked.err);
            } else {
                assert!(found == old || found == text, "{algorithm}, round {round}");
                assert_eq!(asked.code, Some(0), "{algorithm}, round {round}: {}", asked.err);
            }
            assert!(asked.code == Some(1) || place.holds(&asked.out), "{algorithm}, round {round}");
            let start = Instant::now();
            let again = place.run(&args).exits(0);
            if asked.code == Some(1) || found == old {
                whole = start.elapsed().as_micros() as u64;
            }
            assert!(place.read("f") == text && place.holds(&again.out), "{algorithm}, {round}");
        }
        assert!(killed > 0, "{algorithm}: no round was killed");
        println!("{algorithm}: {killed} of {} killed", 2 * rounds);
    }
}

/// Killed while the live boxes move: one of the two sidecars is there, whole, and of the new state.
#[test]
fn killed_while_dead_boxes_are_left_behind() {
    let place = Place::new();
    let mut random = Random(7);
    let mut text = random.bytes(300_000);
    place.file("f", &text);
    place.keyed("update", &["--leaf", "16", "f"]).exits(0);
    let inode = || fs::metadata(place.path("f.tagmac")).unwrap().ino();
    let begun = || {
        let names = fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name());
        names.into_iter().filter(|name| name.to_string_lossy().starts_with(".tagmac-")).count()
    };
    let (mut left, mut moved) = (0, 0);
    for round in 0..60 {
        let new = random.bytes(250_000);
        place.file("p", &new);
        text[..new.len()].copy_from_slice(&new);
        let before = inode();
        let mut child = place.spawn(&["update", "-k", "k", "--patch", "0", "p", "f"]);
        // From the moment on at which the other sidecar is begun.
        while begun() == left && inode() == before && child.try_wait().unwrap().is_none() {}
        sleep(Duration::from_micros(random.below(10_000)));
        let _ = child.kill();
        child.wait().unwrap();
        moved += (inode() != before) as u32;
        let asked = place.keyed("update", &["f"]).exits(0).in_silence();
        assert!(place.read("f") == text, "round {round}");
        assert!(place.holds(&asked.out), "round {round}");
        left = begun();
    }
    assert!(left > 0 && moved > 0, "{left} killed before the move, {moved} after it");
    println!("{left} killed before the move, {moved} moved");
}

/// Killed while the sidecar is made: there is none, or a whole one.
#[test]
fn killed_while_the_sidecar_is_made() {
    let place = Place::new();
    let mut random = Random(3);
    place.file("f", random.bytes(200_000));
    let tag = place.keyed("tag", &["f"]).out;
    for _ in 0..40 {
        let _ = fs::remove_file(place.path("f.tagmac"));
        let mut child = place.spawn(&["update", "-k", "k", "--leaf", "16", "f"]);
        sleep(Duration::from_micros(random.below(40_000)));
        let _ = child.kill();
        child.wait().unwrap();
        place.keyed("update", &["f"]).exits(0).prints(&tag);
    }
}

/// A patch of which a part is written: the next update, whichever it is, finishes it.
#[test]
fn a_patch_that_was_cut_short() {
    for algorithm in
        ["PMAC-AES128", "LIGHTMAC-AES128-S32", "ELIMAC-AES128", "POLY1305-AES", "UMAC-64"]
    {
        let place = Place::bare();
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        let mut random = Random(4);
        let old = random.bytes(1 << 20);
        let new = random.bytes(100_000);
        let mut text = old.clone();
        text[480_000..][..new.len()].copy_from_slice(&new);
        place.file("p", &new);
        let cut_short = || {
            place.file("f", &old);
            let _ = fs::remove_file(place.path("f.tagmac"));
            let first = place.keyed("update", &["f"]).exits(0).out;
            // There is room for the sidecar, and for the patch up to byte 512 Ki of the file.
            place
                .limited(512, "--patch 480000 p f")
                .exits(4)
                .prints("")
                .says(&["f: File too large; the next update finishes the patch"]);
            let found = place.read("f");
            assert!(found[..1 << 19] == text[..1 << 19] && found[1 << 19..] == old[1 << 19..]);
            first
        };
        cut_short();
        let asked = place.keyed("update", &["f"]).exits(0);
        let asked = asked.says(&["f: finished a patch of 100000 bytes at byte 480000"]);
        assert!(place.read("f") == text && place.holds(&asked.out), "{algorithm}");
        // Within another edit.
        let first = cut_short();
        place.file("q", "another");
        let tag = first.trim_end().rsplit(' ').next().unwrap();
        let edited = place.keyed("update", &["--expect", tag, "--patch", "500000", "q", "f"]);
        let edited = edited.exits(0).says(&["finished a patch"]);
        assert!(place.holds(&edited.out), "{algorithm}");
        assert!(&place.read("f")[500_000..][..7] == b"another", "{algorithm}");
        // What somebody else changes beside it meanwhile is refused.
        cut_short();
        let mut forged = place.read("f");
        forged[479_999] ^= 1;
        place.file("f", &forged);
        place.keyed("update", &["f"]).exits(1).prints("").says(&["f: expected bytes"]);
        assert!(place.read("f") == forged, "{algorithm}");
        forged[479_999] ^= 1;
        place.file("f", &forged);
        let done = place.keyed("update", &["f"]).exits(0);
        assert!(place.read("f") == text && place.holds(&done.out), "{algorithm}");
    }
}

/// No room for the sidecar: the old state stays, and the file is as it was.
#[test]
fn no_room_for_the_sidecar() {
    let place = Place::new();
    let mut random = Random(5);
    let text = random.bytes(10_000);
    place.file("f", &text);
    place.limited(4, "f").exits(4).prints("").says(&["f.tagmac: File too large"]);
    assert!(!place.path("f.tagmac").exists());
    let line = place.keyed("update", &["--leaf", "16", "f"]).exits(0).out;
    place.file("p", random.bytes(9000));
    let sidecar = fs::metadata(place.path("f.tagmac")).unwrap().len();
    // Room for nothing, and for ever more of the boxes.
    for kib in sidecar / 1024 + 1..sidecar / 1024 + 18 {
        let ran = place.limited(kib, "--patch 500 p f").exits(4);
        ran.prints("").says(&["f.tagmac: File too large"]);
        assert!(place.read("f") == text, "{kib} KiB");
        place.keyed("update", &["f"]).exits(0).prints(&line);
    }
    for args in ["--range 0:10000 f", "--truncate 9000 f"] {
        place.limited(sidecar / 1024 + 1, args).exits(4).prints("");
        assert!(place.read("f") == text, "{args}");
        place.keyed("update", &["f"]).exits(0).prints(&line);
    }
    // Nothing is left of what could not be made.
    let names = fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with(".tagmac-")));
}

/// Killed between the state and the cut: the next update, whichever it is, cuts the file off, unless
/// it has become another meanwhile.
#[test]
fn a_cut_that_was_cut_short() {
    for algorithm in ["PMAC-AES128", "POLY1305-AES"] {
        let place = Place::bare();
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        let text = Random(6).bytes(300_000);
        let cut_short = || {
            for _ in 0..100 {
                place.file("f", &text);
                let _ = fs::remove_file(place.path("f.tagmac"));
                place.keyed("update", &["--leaf", "256", "f"]).exits(0);
                place.killed_at_its_state(&["update", "-k", "k", "--truncate", "200001", "f"]);
                if place.read("f") == text {
                    return;
                }
            }
            panic!("{algorithm}: the file was cut each time");
        };
        let done = |ran: Ran| {
            assert!(place.read("f") == text[..200_001] && place.holds(&ran.out), "{algorithm}");
        };
        let finished = ["f: finished a cut to 200001 bytes that was cut short"];
        for args in [&[][..], &["--append"], &["--range", "0:1"]] {
            cut_short();
            let ran = place.keyed("update", &[args, &["f"]].concat()).exits(0);
            done(ran.says(&finished));
        }
        cut_short();
        let ran = place.keyed("update", &["--truncate", "200001", "f"]).exits(0);
        done(ran.in_silence());
        place.keyed("update", &["f"]).exits(0).in_silence();
        // Another length, and other bytes of the same.
        cut_short();
        let mut longer = text.clone();
        longer.push(0);
        place.file("f", &longer);
        for args in [&["f"][..], &["--append", "f"]] {
            let what = "expected 200001 bytes, or 300000 with those that were being cut off, found \
                        300001; '--truncate 200001' cuts off all that follows";
            place.keyed("update", args).exits(1).prints("").says(&[what]);
            assert!(place.read("f") == longer, "{algorithm}");
        }
        let mut other = text.clone();
        other[200_000] ^= 1;
        place.file("f", &other);
        place.keyed("update", &["f"]).exits(1).prints("").says(&["f: expected bytes"]);
        assert!(place.read("f") == other, "{algorithm}");
        place.file("f", &longer);
        done(place.keyed("update", &["--truncate", "200001", "f"]).exits(0));
        place.keyed("update", &["f"]).exits(0).in_silence();
    }
}
