//! `tagmac mount`. Skipped where the system cannot mount.

use std::fs;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Place, Random};

/// A mounted tree. It is unmounted when this is dropped.
struct Mounted {
    child: Child,
    messages: BufReader<ChildStderr>,
    point: PathBuf,
}

impl Mounted {
    /// Mounts the tree `t` with the manifest `m` at `at`. Returns `None` where that is impossible.
    fn new(place: &Place) -> Option<Mounted> {
        let possible = fs::File::options().read(true).write(true).open("/dev/fuse").is_ok()
            && rustix::process::geteuid().is_root();
        if !possible {
            println!("skipped: mounting needs root and /dev/fuse");
            return None;
        }
        let point = place.path("at");
        fs::create_dir_all(&point).unwrap();
        let mut command = place.command(&["mount", "-k", "k", "m", "t", "at"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut messages = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        messages.read_line(&mut line).unwrap();
        if line != "tagmac: at: mounted\n" {
            println!("skipped: the system cannot mount: {line}");
            child.wait().unwrap();
            return None;
        }
        Some(Mounted { child, messages, point })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.point.join(name)
    }

    /// Ends the mount by a signal and returns the messages.
    fn end(mut self) -> String {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
        let mut text = String::new();
        self.messages.read_to_string(&mut text).unwrap();
        assert_eq!(fs::read_dir(&self.point).unwrap().count(), 0, "it is unmounted");
        text
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.point).stderr(Stdio::null()).status();
        let _ = self.child.wait();
    }
}

const LEAF: usize = 4096;

fn place() -> (Place, Vec<u8>) {
    let place = Place::bare();
    place.run(&["keygen", "-o", "k"]).exits(0);
    fs::create_dir_all(place.path("t/d/deep")).unwrap();
    fs::create_dir(place.path("t/many")).unwrap();
    let bytes = Random(6).bytes(300_001);
    place.file("t/large", &bytes);
    place.file("t/d/small", "text");
    place.file("t/d/deep/empty", "");
    for number in 0..1500 {
        place.file(format!("t/many/{number}"), number.to_string());
    }
    symlink("../large", place.path("t/d/link")).unwrap();
    fs::set_permissions(place.path("t/d/small"), fs::Permissions::from_mode(0o640)).unwrap();
    place.shell("touch -d @1700000000.5 t/large").exits(0);
    place.keyed("seal", &["--leaves=4KiB", "--mode", "--mtime", "t", "-o", "m"]).exits(0);
    (place, bytes)
}

#[test]
fn programs_see_what_was_sealed() {
    let (place, bytes) = place();
    place.file("t/d/added", "nobody sealed this");
    let Some(mounted) = Mounted::new(&place) else { return };
    let names = |name: &str| {
        let entries = fs::read_dir(mounted.path(name)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(""), ["d", "large", "many"]);
    assert_eq!(names("d"), ["deep", "link", "small"]);
    assert_eq!(names("many").len(), 1500);
    assert!(fs::read(mounted.path("large")).unwrap() == bytes);
    assert!(fs::read(mounted.path("d/link")).unwrap() == bytes);
    assert_eq!(fs::read(mounted.path("d/small")).unwrap(), b"text");
    assert_eq!(fs::read(mounted.path("d/deep/empty")).unwrap(), b"");
    assert_eq!(fs::read(mounted.path("many/1499")).unwrap(), b"1499");
    assert!(fs::metadata(mounted.path("d/added")).is_err());
    let facts = fs::metadata(mounted.path("large")).unwrap();
    assert_eq!((facts.mtime(), facts.mtime_nsec()), (1_700_000_000, 500_000_000));
    assert_eq!(fs::metadata(mounted.path("d/small")).unwrap().mode() & 0o7777, 0o640);
    let mut random = Random(7);
    let mut file = fs::File::open(mounted.path("large")).unwrap();
    for _ in 0..200 {
        let at = random.below(bytes.len() as u64 + 10);
        let mut found = vec![0; random.below(10_000) as usize];
        file.seek(SeekFrom::Start(at)).unwrap();
        let read = file.read(&mut found).unwrap();
        let expected = &bytes[bytes.len().min(at as usize)..];
        assert!(
            found[..read] == expected[..read]
                && (read > 0 || expected.is_empty() || found.is_empty())
        );
    }
    for wrong in [
        fs::write(mounted.path("new"), "").err(),
        fs::remove_file(mounted.path("large")).err(),
        fs::File::options().write(true).open(mounted.path("large")).err(),
    ] {
        assert_eq!(wrong.unwrap().raw_os_error(), Some(libc::EROFS));
    }
    assert_eq!(mounted.end(), "");
}

#[test]
fn a_damaged_leaf_is_an_input_error() {
    let (place, bytes) = place();
    // Before it is mounted, so that no page of it is cached.
    let damaged = fs::File::options().write(true).open(place.path("t/large")).unwrap();
    damaged.write_all_at(&[bytes[50 * LEAF + 9] ^ 1], 50 * LEAF as u64 + 9).unwrap();
    place.file("t/many/7", "77");
    fs::remove_file(place.path("t/many/8")).unwrap();
    let Some(mounted) = Mounted::new(&place) else { return };
    let file = fs::File::open(mounted.path("large")).unwrap();
    let mut found = vec![0; LEAF];
    file.read_exact_at(&mut found, 2 * LEAF as u64).unwrap();
    assert!(found == bytes[2 * LEAF..3 * LEAF]);
    for error in [
        file.read_exact_at(&mut found, 50 * LEAF as u64).unwrap_err(),
        fs::read(mounted.path("many/7")).unwrap_err(),
        fs::read(mounted.path("many/8")).unwrap_err(),
    ] {
        assert_eq!(error.raw_os_error(), Some(libc::EIO));
    }
    drop(file);
    let messages = mounted.end();
    for text in [
        "tagmac: t/large: bytes 204800 to 208896 differ from those sealed\n",
        "tagmac: t/many/7: expected 1 bytes, found 2\n",
        "tagmac: t/many/8: ",
    ] {
        assert!(messages.contains(text), "{messages}");
    }
}

#[test]
fn what_cannot_be_mounted() {
    let (place, _) = place();
    place.run(&["keygen", "-o", "other"]).exits(0);
    fs::create_dir(place.path("at")).unwrap();
    let mount = |args: &[&str]| place.run(&[&["mount"], args].concat());
    mount(&["-k", "gone", "m", "t", "at"]).exits(3);
    mount(&["-k", "other", "m", "t", "at"]).exits(3);
    mount(&["-k", "k", "gone", "t", "at"]).exits(4);
    mount(&["-k", "k", "m", "gone", "at"]).exits(4);
    mount(&["-k", "k", "m", "t", "gone"]).exits(4).says(&["gone: "]);
    mount(&["-k", "k", "m", "t", "k"]).exits(4).says(&["k: "]);
    mount(&["-k", "k", "m", "t", "s3://b/at"]).exits(2);
    place.file("m", [place.read("m"), b"x".to_vec()].concat());
    mount(&["-k", "k", "m", "t", "at"]).exits(1);
}
