//! Interrupted edits of `tagmac update`, and what somebody else did to the file since: each
//! cell of the table in `docs/formats/sidecar.md`. Nothing of others is written over or deleted, and there
//! is always a way on.

mod cut;
mod patch;

use std::fs;

use crate::common::{Place, Ran};

const OLD: usize = 20_000;
const OFFSET: usize = 7000;
const PATCH: usize = 9000;
/// So much of the patch was written.
const TORN: usize = 3000;
const CUT: usize = 12_345;
/// Bytes of a leaf.
const LEAF: usize = 256;

/// No two of these have a byte in common at one place.
fn old() -> Vec<u8> {
    (0..OLD).map(|at| (at % 83) as u8).collect()
}

fn new() -> Vec<u8> {
    let mut text = old();
    text[OFFSET..][..PATCH].iter_mut().for_each(|byte| *byte += 83);
    text
}

fn torn() -> Vec<u8> {
    let mut text = old();
    text[OFFSET..][..TORN].copy_from_slice(&new()[OFFSET..][..TORN]);
    text
}

fn added(text: &[u8], bytes: usize) -> Vec<u8> {
    [text, &vec![b'A'; bytes]].concat()
}

/// What is none of the old bytes nor of the new.
fn changed(mut text: Vec<u8>, at: usize) -> Vec<u8> {
    text[at] = 0xff;
    text
}

/// A place where an edit was killed.
struct Cell {
    place: Place,
    sidecar: Vec<u8>,
}

impl Cell {
    /// A file, its sidecar, and an edit that the fault ends.
    fn of(algorithm: &str, fault: &str, edit: &[&str]) -> Cell {
        let place = Place::bare();
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        place.file("f", old());
        place.file("p", &new()[OFFSET..][..PATCH]);
        place.file("q", "q");
        place.keyed("update", &["--leaf", &LEAF.to_string(), "f"]).exits(0);
        assert_eq!(place.faulty(fault, "update", &[edit, &["f"]].concat()).code, None);
        let sidecar = fs::read(place.path("f.tagmac")).unwrap();
        Cell { place, sidecar }
    }

    /// A patch of which a part is in the file.
    fn patch(algorithm: &str) -> Cell {
        // The piece, the list, a node page of leaves, the root, and the header twice come before.
        let first = (1..20).find_map(|n| {
            let (offset, fault) = (OFFSET.to_string(), format!("write:{n}:tear={TORN}"));
            let cell = Cell::of(algorithm, &fault, &["--patch", &offset, "p"]);
            (cell.read() == torn()).then_some(cell)
        });
        first.expect("a write to the file")
    }

    /// A cut that is known and not yet made.
    fn cut(algorithm: &str) -> Cell {
        let cell = Cell::of(algorithm, "cut:1:kill", &["--truncate", &CUT.to_string()]);
        assert!(cell.read() == old());
        cell
    }

    fn read(&self) -> Vec<u8> {
        fs::read(self.place.path("f")).unwrap()
    }

    /// The file as somebody else left it, and the sidecar as it was left.
    fn set(&self, text: &[u8]) -> &Cell {
        self.place.file("f", text);
        self.place.file("f.tagmac", &self.sidecar);
        self
    }

    /// An update that ends so and leaves such a file.
    #[track_caller]
    fn update(&self, code: i32, args: &[&str], text: &[u8]) -> Ran {
        let ran = self.place.keyed("update", &[args, &["f"]].concat()).exits(code);
        assert!(self.read() == text, "{args:?}: another file");
        if code == 0 {
            self.place.file("LIST", &ran.out);
            self.place.keyed("check", &["LIST"]).exits(0);
        } else {
            assert_eq!(ran.out, "", "{args:?}");
        }
        ran
    }

    /// Each form of an update is refused, changes nothing, and says this.
    #[track_caller]
    fn refuses(&self, text: &[u8], says: &[&str]) {
        let (offset, cut, old) = (OFFSET.to_string(), CUT.to_string(), OLD.to_string());
        for args in [
            &[][..],
            &["--append"],
            &["--range", "7000:9000"],
            &["--range", "0:1"],
            &["--patch", &offset, "p"],
            &["--patch", "0", "q"],
            &["--truncate", &cut],
            &["--truncate", &old],
            &["--truncate", "0"],
        ] {
            self.set(text).update(1, args, text).says(says);
            let sidecar = fs::read(self.place.path("f.tagmac")).unwrap();
            assert!(sidecar == self.sidecar, "{args:?}: another sidecar");
        }
    }
}

const PATCHED: &str = "; a patch of 9000 bytes at byte 7000 was interrupted: --finish writes its \
                       bytes, --undo the old ones, and neither overwrites bytes of other programs";
const BOTH_WAYS: &str = "; a truncation from 20000 to 12345 bytes was interrupted: --finish takes \
                         it as done, --undo undoes it, and neither deletes bytes of other programs";
const ONE_WAY: &str = "; a truncation from 20000 to 12345 bytes was interrupted: --finish takes it \
                       as done and deletes nothing";
const GROWN: &str = "--append accepts what was added";
const SHRUNK: &str = "restore the file";
const CHANGED: &str = " have changed since the last update";

const ALGORITHMS: [&str; 3] = ["PMAC-AES128", "POLY1305-AES", "UMAC-64"];
