//! Interrupted edits of `tagmac update`, and changes of the file by another program since: each
//! cell of the table in `docs/formats/sidecar.md`. Another program's bytes are never overwritten or
//! deleted, and there is always a way to continue.

mod cut;
mod patch;

use std::fs;

use crate::common::{Place, Ran};

const OLD: usize = 20_000;
const OFFSET: usize = 7000;
const PATCH: usize = 9000;
/// Number of bytes of the patch that were written.
const TORN: usize = 3000;
const CUT: usize = 12_345;
/// Bytes of a leaf.
const LEAF: usize = 256;

/// The old and the new bytes differ everywhere.
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

/// Changes a byte to one that is different from the old and the new.
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
    /// Returns a file, its sidecar, and an edit that the fault ends.
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

    /// Returns a patch that is partly in the file.
    fn patch(algorithm: &str) -> Cell {
        // The piece, the list, a node page of leaves, the root, and the header twice come first.
        let first = (1..20).find_map(|n| {
            let (offset, fault) = (OFFSET.to_string(), format!("write:{n}:tear={TORN}"));
            let cell = Cell::of(algorithm, &fault, &["--patch", &offset, "p"]);
            (cell.read() == torn()).then_some(cell)
        });
        first.expect("a write to the file")
    }

    /// Returns a cut that is recorded and not yet made.
    fn cut(algorithm: &str) -> Cell {
        let cell = Cell::of(algorithm, "cut:1:kill", &["--truncate", &CUT.to_string()]);
        assert!(cell.read() == old());
        cell
    }

    fn read(&self) -> Vec<u8> {
        fs::read(self.place.path("f")).unwrap()
    }

    /// Restores the sidecar, and sets the file to the content that another program left.
    fn set(&self, text: &[u8]) -> &Cell {
        self.place.file("f", text);
        self.place.file("f.tagmac", &self.sidecar);
        self
    }

    /// Runs an update, and asserts its exit code and the resulting file.
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

    /// Asserts that every form of an update is rejected, changes nothing, and prints this message.
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
                       bytes, --undo the old ones, and both keep bytes of other programs";
const BOTH_WAYS: &str = "; a truncation from 20000 to 12345 bytes was interrupted: --finish treats \
                         it as done, --undo undoes it, and both keep bytes of other programs";
const ONE_WAY: &str = "; a truncation from 20000 to 12345 bytes was interrupted: --finish treats \
                       it as done and deletes nothing";
const GROWN: &str = "--append accepts the added bytes";
const SHRUNK: &str = "restore the file";
const CHANGED: &str = " have changed since the last update";

const ALGORITHMS: [&str; 3] = ["PMAC-AES128", "POLY1305-AES", "UMAC-64"];
