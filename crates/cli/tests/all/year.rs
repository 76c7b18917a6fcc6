//! One archive through a year, as `docs/guide/operations.md` describes it: what is new each day, a
//! seventh each night, a new key, a disk that rots, an intruder, and a restored backup.

use std::fs::{self, File, FileTimes};
use std::path::Path;

use crate::common::{Place, Ran};

const NIGHTS: usize = 7;

/// The archive and its records.
struct Archive {
    place: Place,
    key: &'static str,
}

impl Archive {
    fn new() -> Archive {
        let archive = Archive { place: Place::new(), key: "k" };
        fs::create_dir(archive.place.path("keep")).unwrap();
        (0..60).for_each(|number| archive.add(number));
        archive.seal(&[]);
        archive
    }

    fn add(&self, number: usize) {
        let folder = self.place.path(format!("srv/{}", number / 10));
        fs::create_dir_all(&folder).unwrap();
        self.place.file(format!("srv/{}/{number}", number / 10), format!("photo {number}"));
    }

    fn run(&self, command: &str, args: &[&str]) -> Ran {
        self.place.run(&[&[command, "-k", self.key], args].concat())
    }

    fn seal(&self, options: &[&str]) {
        self.run("seal", &[options, &["srv", "-o", "keep/m"]].concat()).exits(0);
    }

    /// Audits part `night` of seven, with the ledger and the pin.
    fn night(&self, night: usize) -> Ran {
        let part = format!("{}/{NIGHTS}", night % NIGHTS + 1);
        let records = ["--ledger", "keep/ledger", "--pin", "keep/pin"];
        self.run("audit", &[&["--subset", &part], &records[..], &["keep/m", "srv"]].concat())
    }
}

/// Copies a tree, with the times of its files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, to) = (entry.as_ref().unwrap(), to.join(entry.as_ref().unwrap().file_name()));
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
            let times =
                FileTimes::new().set_modified(entry.metadata().unwrap().modified().unwrap());
            File::options().write(true).open(&to).unwrap().set_times(times).unwrap();
        }
    }
}

#[test]
fn an_archive_lives_through_a_year() {
    let mut archive = Archive::new();
    let root = archive.place.path("");
    let path = |name: &str| root.join(name);

    // A week: new files each day, a seventh each night.
    for night in 0..NIGHTS {
        archive.add(60 + night);
        archive.seal(&["--since", "keep/m"]);
        archive.night(night).exits(0);
    }
    let log = archive.run("manifest", &["log", "keep/m"]).exits(0).out;
    assert_eq!(log.lines().count(), 1 + NIGHTS);

    // A disk rots: a byte flips, and no time changes. One of seven nights finds it.
    let rotten = path("srv/3/33");
    let times = fs::metadata(&rotten).unwrap();
    let mut bytes = fs::read(&rotten).unwrap();
    bytes[2] ^= 1;
    fs::write(&rotten, &bytes).unwrap();
    let times = FileTimes::new().set_modified(times.modified().unwrap());
    File::options().write(true).open(&rotten).unwrap().set_times(times).unwrap();
    let found: Vec<String> = (0..NIGHTS).map(|night| archive.night(night).out).collect();
    let tells = |out: &&String| out.contains("3/33: changed: content");
    assert_eq!(found.iter().filter(tells).count(), 1, "{found:?}");
    bytes[2] ^= 1;
    fs::write(&rotten, &bytes).unwrap();
    archive.run("audit", &["keep/m", "srv"]).exits(0);

    // An intruder restores an old state, with the manifest of that day: the pin tells.
    copy(&path("srv"), &path("old"));
    fs::copy(path("keep/m"), path("old.m")).unwrap();
    archive.add(70);
    archive.seal(&["--since", "keep/m"]);
    archive.night(0).exits(0);
    copy(&path("srv"), &path("new"));
    fs::copy(path("keep/m"), path("new.m")).unwrap();
    fs::remove_dir_all(path("srv")).unwrap();
    fs::rename(path("old"), path("srv")).unwrap();
    fs::copy(path("old.m"), path("keep/m")).unwrap();
    archive.run("audit", &["keep/m", "srv"]).exits(0);
    archive.night(1).exits(1).says(&["keep/m: the manifest was rolled back"]);
    // Or adds a filter that hides a file, which breaks the seal.
    let hides = "sed 's/^filters: 0/filters: 1\\nhidden/' new.m > keep/m";
    archive.place.shell(hides).exits(0);
    archive.night(1).exits(1).says(&["the seal does not match"]);

    // The backup is restored: each file has another inode and the same content.
    fs::copy(path("new.m"), path("keep/m")).unwrap();
    fs::remove_dir_all(path("srv")).unwrap();
    copy(&path("new"), &path("srv"));
    archive.run("audit", &["--pin", "keep/pin", "keep/m", "srv"]).exits(0);
    archive.seal(&[]);
    (0..NIGHTS).for_each(|night| drop(archive.night(night).exits(0)));

    // A new key: the chain goes on, and the pin follows.
    archive.place.run(&["keygen", "-o", "k2"]).exits(0);
    let rekey = ["--new-key", "k2", "--pin", "keep/pin", "keep/m", "srv"];
    archive.run("rekey", &rekey).exits(0);
    fs::remove_file(path("keep/ledger")).unwrap();
    archive.run("audit", &["keep/m", "srv"]).exits(3);
    let before = log.lines().count();
    archive.key = "k2";
    (0..NIGHTS).for_each(|night| drop(archive.night(night).exits(0)));
    let log = archive.run("manifest", &["log", "keep/m"]).exits(0).out;
    assert_eq!(log.lines().count(), before + 3);
}
