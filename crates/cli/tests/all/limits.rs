//! Files from others need no more memory than their kind can have, whatever their size, until their
//! seal is verified.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

#[cfg(all(feature = "fault-injection", debug_assertions))]
use crate::common::peak;
use crate::common::{Place, Ran, sparse};
use tagmac::save::Sealer;
use tagmac_any::{KeyFile, Partial};

const TIB: u64 = 1 << 40;

/// Runs the command with 256 MiB of address space, including threads and libraries.
fn within(place: &Place, line: &str) -> Ran {
    place.shell(&format!("ulimit -v 262144; exec $T {line}"))
}

/// Creates a complete file that is as long as a disk.
fn stretch(place: &Place, name: &str, bytes: u64) {
    OpenOptions::new().write(true).open(place.path(name)).unwrap().set_len(bytes).unwrap();
}

#[test]
fn partials() {
    let place = Place::bare();
    for algorithm in ["PMAC-AES128", "POLY1305-AES", "UMAC-128", "UMAC99-STD-60"] {
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        sparse(&place, "f", 3 << 20);
        let part = ["--object", "o", "--start", "0", "--last", "f", "-o", "p"];
        place.keyed("part", &part).exits(0);
        within(&place, "combine -k k p").exits(0);
        stretch(&place, "p", TIB);
        let altered = "tagmac: p: the partial is damaged, or was not sealed under this key";
        within(&place, "combine -k k p").exits(1).prints("").says(&[altered]);
        // Not the header of a partial.
        sparse(&place, "p", TIB);
        within(&place, "combine -k k p").exits(1).says(&["p: not a partial from"]);
        for name in ["k", "p"] {
            fs::remove_file(place.path(name)).unwrap();
        }
    }
}

/// A partial of UMAC99 may be as long as its range allows. The header's length is used only after
/// its seal is verified, and then only up to the length of the file.
#[test]
fn a_partial_that_claims_a_long_range() {
    let place = Place::bare();
    place.run(&["keygen", "-a", "UMAC99-STD-60", "-o", "k"]).exits(0);
    sparse(&place, "f", 3 << 20);
    place.keyed("part", &["--object", "o", "--start", "0", "--last", "f", "-o", "p"]).exits(0);
    let good = fs::read(place.path("p")).unwrap();
    let file = OpenOptions::new().write(true).open(place.path("p")).unwrap();
    // The end of the range in the header. A 256th of it is more than the file's length.
    file.write_all_at(&(2 * TIB).to_le_bytes(), 32).unwrap();
    stretch(&place, "p", 6 << 30);
    let altered = "tagmac: p: the partial is damaged, or was not sealed under this key\n";
    let ran = within(&place, "combine -k k p").exits(1).prints("");
    assert_eq!(ran.err, altered);

    // The same, sealed with the right key.
    let sealer = KeyFile::parse(&fs::read(place.path("k")).unwrap()).unwrap().sealer();
    let seal = Partial::parse(&good).unwrap().header_len() - Sealer::OVERHEAD;
    let mut header = good[..seal].to_vec();
    header[32..40].copy_from_slice(&(2 * TIB).to_le_bytes());
    let sealed = sealer.seal(&[b"partial header 2", &header], b"").unwrap();
    file.write_all_at(&sealed, seal as u64).unwrap();
    let ran = within(&place, "combine -k k p").exits(4).prints("");
    assert_eq!(ran.err, "tagmac: p: out of memory\n");
    place.run(&["combine", "-k", "k", "p", "p"]).exits(1).says(&["they overlap"]);
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn many_partials() {
    let place = Place::new();
    place.file("f", vec![0; 16 * 200]);
    let object = "o".repeat(60_000);
    let mut names = Vec::new();
    for number in 0..200 {
        let (name, start) = (format!("p{number}"), (16 * number).to_string());
        let range = if number < 199 { ["--length", "16"] } else { ["--last", "f"] };
        let mut args =
            vec!["--object", &object, "--start", &start, range[0], range[1], "-o", &name];
        args.extend((number < 199).then_some("f"));
        place.keyed("part", &args).exits(0);
        names.push(name);
    }
    place
        .keyed("part", &["--object", &object, "--start", "0", "--last", "f", "-o", "all"])
        .exits(0);
    let combine = |names: &[&str]| {
        let args = [&["combine", "-k", "k", "--name", "f"], names].concat();
        peak(&mut place.command(&args))
    };
    let (one, ran) = combine(&["all"]);
    let line = ran.exits(0).out;
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let (all, ran) = combine(&names);
    ran.exits(0).prints(&line);
    // Their names alone are 12 MB.
    assert!(all < one + 2048, "{one} KiB for one, {all} KiB for 200");
}

#[test]
fn checkpoints() {
    let place = Place::new();
    sparse(&place, "f", 3 << 20);
    place.shell("$T tag -k k --checkpoint s f > /dev/full").exits(4);
    stretch(&place, "s", TIB);
    let ran = within(&place, "tag -k k --num-threads 1 --checkpoint s f").exits(1).prints("");
    ran.says(&["s: the checkpoint is damaged; remove it to start over"]);
}

#[test]
fn keys() {
    let place = Place::new();
    place.file("f", "text");
    for bytes in [(64 << 10) + 1, TIB] {
        stretch(&place, "k", bytes);
        within(&place, "tag -k k f").exits(3).says(&["k: longer than 64 KiB"]);
    }
}

#[test]
fn manifests_lists_and_tags() {
    let place = Place::new();
    place.file("f", "text");
    fs::create_dir(place.path("t")).unwrap();
    // A line without an end.
    sparse(&place, "m", 1 << 30);
    let what = "m: a line is longer than 1 MiB";
    within(&place, "audit -k k --num-threads 1 m t").exits(1).says(&[what]);
    within(&place, "check -k k --num-threads 1 m").exits(1).says(&[what]);
    sparse(&place, "raw", TIB);
    let ran = within(&place, "check -k k --num-threads 1 --raw-tag raw f");
    assert!(matches!(ran.code, Some(1 | 2)), "{}", ran.err);
}
