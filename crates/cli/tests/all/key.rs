//! Keys: their sources, and which keys are rejected.

use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::SystemTime;

use tagmac_any::{Algorithm, KeyFile};

use crate::common::{KEY_HEX, Place, Ran};

const PMAC: [&str; 2] = ["-a", "pmac-aes128"];

#[test]
fn keygen_makes_a_file_for_its_owner() {
    let place = Place::bare();
    let ran = place.run(&["keygen", "-o", "k"]).exits(0);
    let text = fs::read_to_string(place.path("k")).unwrap();
    assert!(text.contains(&format!("id: {}\n", ran.out.trim_end())));
    assert_eq!(ran.out.len(), 17);
    let key = text.lines().nth(4).unwrap().strip_prefix("key: ").unwrap();
    assert!(!ran.out.contains(key) && !ran.err.contains(key));
    assert_eq!(fs::metadata(place.path("k")).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(fs::read_dir(place.path(".")).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn keygen_never_overwrites() {
    let place = Place::new();
    let before = fs::read(place.path("k")).unwrap();
    symlink("nowhere", place.path("link")).unwrap();
    for name in ["k", "link"] {
        let ran = place.run(&["keygen", "-o", name]).exits(4).prints("");
        ran.says(&["the file exists"]);
    }
    let ran = place.run(&["keygen", "-o", "."]).exits(4).prints("");
    ran.says(&[".: the path does not name a file"]);
    assert_eq!(fs::read(place.path("k")).unwrap(), before);
    place
        .run(&["keygen", "-o", "no/k"])
        .exits(4)
        .says(&["tagmac: no/k: No such file or directory\n"]);
    place.run(&["keygen"]).exits(2);
    place.run(&["keygen", "-o", "-"]).exits(2);
    place.run(&["keygen", "-a", "bogus", "-o", "new"]).exits(2);
    assert_eq!(fs::read_dir(place.path(".")).unwrap().count(), 2, "nothing half-written is left");
}

#[test]
fn every_source_gives_the_same_key() {
    let place = Place::bare();
    place.file("f", [0, 1, 2]);
    place.file("hex", format!("{KEY_HEX}\n"));
    place.file("base64", "AAECAwQFBgcICQoLDA0ODw==\n");
    place.file("raw", (0..16).collect::<Vec<u8>>());
    for name in ["hex", "base64", "raw"] {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let expected = "PMAC-AES128 (f) = 256ba5193c1b991b4df0c51f388a9e27\n";
    for format in ["hex", "base64", "raw"] {
        let flags = format!("--key-format {format} -a pmac-aes128 f");
        let sources = [
            format!("$T tag -k {format} {flags}"),
            format!("$T tag --key-fd 0 {flags} < {format}"),
            format!("$T tag --key-fd 5 {flags} 5< {format}"),
            format!("cat {format} | $T tag --key-fd 0 {flags}"),
            format!("$T tag --key-cmd 'cat {format}' {flags}"),
        ];
        for line in sources {
            place.shell(&line).exits(0).prints(expected);
        }
    }
    place
        .shell(&format!("KEY={KEY_HEX} $T tag --key-env KEY --key-format hex -a pmac-aes128 f"))
        .exits(0)
        .prints(expected)
        .in_silence();
}

#[test]
fn our_own_file_by_every_source() {
    let place = Place::new();
    place.file("f", "text");
    let expected = place.keyed("tag", &["f"]).exits(0).out;
    let sources = [
        "TAGMAC_KEY_FILE=k $T tag f",
        "TAGMAC_KEY_FILE=missing $T tag -k k f",
        "TAGMAC_KEY_FILE=k $T tag -a pmac-aes128 f",
        "KEY=\"$(cat k)\n\" $T tag --key-env KEY f",
        "$T tag --key-cmd 'cat k' f",
        "$T tag --key-fd 0 f < k",
        // As a shell fills a variable, and as password managers print keys.
        "KEY=\"$(cat k)\" $T tag --key-env KEY f",
        "$T tag --key-cmd 'printf %s \"$(cat k)\"' f",
        "printf %s \"$(cat k)\" | $T tag --key-fd 0 f",
    ];
    for line in sources {
        place.shell(line).exits(0).prints(&expected).in_silence();
    }
    place.shell("TAGMAC_KEY_FILE=missing $T tag f").exits(3);
}

/// Runs the command with a key in `foreign`, which is not a key file.
fn foreign(key: &[u8], flags: &[&str]) -> Ran {
    let place = Place::bare();
    place.file("f", "text");
    place.file("foreign", key);
    fs::set_permissions(place.path("foreign"), fs::Permissions::from_mode(0o600)).unwrap();
    let ran = place.run(&[&["tag", "-k", "foreign"], flags, &["f"]].concat());
    assert!(!ran.err.contains("c0ffee") && !ran.out.contains("c0ffee"), "{}", ran.err);
    ran
}

#[test]
fn foreign_keys_need_their_format_and_algorithm() {
    let hex = |length: usize| "c0ffee00".repeat(length / 4).into_bytes();
    let ran = foreign(&hex(16), &PMAC).exits(3).prints("");
    ran.says(&["key file foreign: not a key file from 'tagmac keygen'", "--key-format"]);
    foreign(b"", &PMAC).exits(3).says(&["empty; expected a key file"]);
    foreign(&hex(16), &["--key-format", "hex"]).exits(2);
    foreign(&hex(16), &["--key-format", "hex", "-a", "pmac-aes128"]).exits(0).in_silence();
    let wrong = [
        ("hex", hex(20), "expected a key of 16 bytes, found 20"),
        ("hex", b"c0ffee0".to_vec(), "not hex: expected an even number of hex digits"),
        ("hex", [hex(16), b"\n\n".to_vec()].concat(), "the lines of the key differ in length"),
        ("hex", [b"\xef\xbb\xbf".to_vec(), hex(16)].concat(), "found a byte order mark (BOM)"),
        ("base64", b"c0ffee0".to_vec(), "not base64 with padding"),
        ("base64", b"\xff\xfec\x000\x00".to_vec(), "found a text in UTF-16"),
        ("raw", b"c0ffee\n".to_vec(), "expected a key of 16 bytes, found 7"),
        ("raw", vec![7; 70_000], "longer than 64 KiB"),
        ("raw", vec![], "expected a key of 16 bytes, found 0"),
    ];
    for (format, key, text) in wrong {
        foreign(&key, &["--key-format", format, "-a", "pmac-aes128"]).exits(3).says(&[text]);
    }
}

#[test]
fn a_mark_before_a_key_file_is_named() {
    let place = Place::new();
    let text = [b"\xef\xbb\xbf".to_vec(), place.read("k")].concat();
    place.file("k", text);
    place.file("f", "text");
    place.keyed("tag", &["f"]).exits(3).says(&["found a byte order mark (BOM)"]);
}

/// `base64` breaks lines after 76 digits, `openssl base64` after 64, `xxd -p` after 60.
#[test]
fn keys_in_several_lines() {
    let place = Place::bare();
    place.file("f", "text");
    place.file("key", (0..100).collect::<Vec<u8>>());
    place.shell("base64 -w 0 key > one").exits(0);
    let tag = |file: &str, format: &str| {
        place.shell(&format!("chmod 600 {file}")).exits(0);
        let args = ["tag", "-a", "hmac-sha256", "--key-format", format, "-k", file, "f"];
        place.run(&args)
    };
    let expected = tag("one", "base64").exits(0).in_silence().out;
    for width in [64, 76] {
        place.shell(&format!("base64 -w {width} key > b; sed 's/$/\r/' b > c")).exits(0);
        tag("b", "base64").exits(0).in_silence().prints(&expected);
        tag("c", "base64").exits(0).in_silence().prints(&expected);
    }
    place.shell("od -An -v -tx1 key | tr -d ' \n' | fold -w 60 > h").exits(0);
    tag("h", "hex").exits(0).in_silence().prints(&expected);
    // Two keys in one file are an error.
    place.shell("base64 -w 64 key > b; cat b b > two").exits(0);
    tag("two", "base64").exits(3).prints("").says(&["the lines of the key differ in length"]);
}

#[test]
fn a_newline_after_a_text_is_part_of_the_key_and_remarked_on() {
    let raw = ["--key-format", "raw", "-a", "pmac-aes128"];
    let warning = "tagmac: warning: key file foreign: the key is a text and its newline is part of the key; \
                   if that is not meant, write it with 'printf %s'\n";
    assert_eq!(foreign(b"fifteen letters\n", &raw).exits(0).err, warning);
    foreign(b"sixteen letters.", &raw).exits(0).in_silence();
    foreign(b"fifteen\0letters\n", &raw).exits(0).in_silence();
    let place = Place::bare();
    place.file("f", "text");
    let line = "$T tag --key-env K --key-format raw -a pmac-aes128 f > list";
    place
        .shell(&format!("K='fifteen letters\n'; export K; {line}"))
        .exits(0)
        .says(&["--key-env K: the key is a text"]);
    // --status also suppresses this warning.
    let line = line.replace("tag ", "check --status ").replace("f > list", "list");
    place.shell(&format!("K='fifteen letters\n'; export K; {line}")).exits(0).in_silence();
}

/// RFC 4231, test cases 2 and 6: a short key needs its option, a long key is hashed.
#[test]
fn keys_of_hmac_have_any_length() {
    const HMAC: [&str; 4] = ["--key-format", "raw", "-a", "hmac-sha256"];
    let place = Place::bare();
    let run = |command: &str, key: &[u8], flags: &[&str], name: &str| {
        place.file("key", key);
        fs::set_permissions(place.path("key"), fs::Permissions::from_mode(0o600)).unwrap();
        place.run(&[&[command, "-k", "key"], &HMAC[..], flags, &[name]].concat())
    };
    let (short, allow) = (b"Jefe".as_slice(), ["--allow-short-key"].as_slice());
    place.file("f", "what do ya want for nothing?");
    let refused = run("tag", short, &[], "f").exits(3).prints("");
    refused.says(&["key file key: expected a key of at least 16 bytes, found 4, which can be"]);
    let tag = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    let list = run("tag", short, allow, "f").exits(0).in_silence().out;
    assert_eq!(list, format!("HMAC-SHA256 (f) = {tag}\n"));
    place.file("list", &list);
    run("check", short, &[], "list").exits(3);
    run("check", short, allow, "list").exits(0).prints("f: OK\n");
    run("check", b"Jeff", allow, "list").exits(1);
    run("tag", &[7; 15], &[], "f").exits(3);
    run("tag", &[7; 16], &[], "f").exits(0).in_silence();

    place.file("f", "Test Using Larger Than Block-Size Key - Hash Key First");
    let long = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";
    run("tag", &[0xaa; 131], &[], "f").exits(0).prints(&format!("HMAC-SHA256 (f) = {long}\n"));
    run("tag", &[7; 16384], &[], "f").exits(0);
    for length in [0, 16385] {
        let ran = run("tag", &vec![7; length], allow, "f").exits(3);
        ran.says(&[&format!("expected a key of 1 to 16384 bytes, found {length}")]);
    }

    // A key file may also contain a short key, which needs the option too.
    let algorithm = Algorithm::from_name("HMAC-SHA256").unwrap();
    let text = KeyFile::new(algorithm, short, SystemTime::UNIX_EPOCH).unwrap().to_text();
    place.file("f", "what do ya want for nothing?");
    place.file("k", text.as_bytes());
    fs::set_permissions(place.path("k"), fs::Permissions::from_mode(0o600)).unwrap();
    place.run(&["tag", "-k", "k", "f"]).exits(3).says(&["--allow-short-key permits"]);
    place.run(&["tag", "-k", "k", "--allow-short-key", "f"]).exits(0).prints(&list);
    // Keys of PRESENT80 have 10 random bytes.
    place.run(&["keygen", "-a", "pmac-present80", "-o", "p"]).exits(0);
    place.run(&["tag", "-k", "p", "f"]).exits(0);
}

#[test]
fn damaged_key_files() {
    let place = Place::new();
    place.file("f", "text");
    let text = fs::read_to_string(place.path("k")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let cases = [
        (text[..90].to_string(), "line 5: expected 'key: ' and the key in hex, found the end"),
        (
            text.trim_end().to_string(),
            "line 6: expected 'checksum: ' and 16 hex digits, found the end",
        ),
        (text.replace("created: 2", "created: 3"), "line 6: the checksum does not match"),
        (
            text.replace("key-2", "key-1"),
            "line 1: expected 'tagmac-key-2', found version '1', which is",
        ),
        (format!("{text}\n"), "line 7: expected the end of the file, found more text"),
    ];
    for (damaged, why) in cases {
        fs::write(place.path("k"), damaged).unwrap();
        let ran = place.keyed("tag", &["f"]).exits(3).prints("").says(&["key file k: ", why]);
        assert!(!ran.err.contains(&lines[4][5..]));
        place.keyed("check", &["f"]).exits(3);
    }
}

#[test]
fn the_algorithm_is_the_key_files() {
    let place = Place::new();
    place.file("f", "text");
    let ran = place.keyed("tag", &["-a", "cmac-aes128", "f"]).exits(3).prints("");
    ran.says(&["expected a key for CMAC-AES128 (-a), found one for PMAC-AES128"]);
    place.keyed("tag", &["-a", "PMAC-aes128", "f"]).exits(0);
}

#[test]
fn a_key_that_others_can_read() {
    let place = Place::new();
    place.file("f", "text");
    let warned = |mode| {
        fs::set_permissions(place.path("k"), fs::Permissions::from_mode(mode)).unwrap();
        let ran = place.keyed("tag", &["f"]).exits(0);
        ran.err.contains("key file k: expected mode 0600, found 06")
    };
    assert!(warned(0o644) && warned(0o604));
    assert!(!warned(0o600));
}

#[test]
fn a_key_id_is_no_tag() {
    for algorithm in ["HMAC-SHA256", "PMAC-AES128", "CMAC-AES128", "LIGHTMAC-AES128-S64"] {
        let place = Place::bare();
        let id = place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0).out;
        let id = id.trim();
        assert_eq!(id.len(), 16, "{id}");
        for version in 1..=2 {
            place.file("forged", format!("tagmac key id {version}{algorithm}"));
            place.file("L", format!("{algorithm} (forged) = {id}\n"));
            place.keyed("check", &["--tag-bits", "64", "L"]).exits(1).prints("forged: FAILED\n");
        }
    }
}

#[test]
fn only_a_line_feed_may_be_missing_and_not_in_a_file() {
    let place = Place::new();
    place.file("f", "text");
    let line = "head -c -1 k > cut; chmod 600 cut; $T tag -k cut f";
    place.shell(line).exits(3).says(&["key file cut: line 6: expected 'checksum: '"]);
    for env in ["$(head -c -2 k)", "$(head -n 5 k)", "$(cat k; echo x)", ""] {
        let line = format!("KEY=\"{env}\" $T tag --key-env KEY f");
        place.shell(&line).exits(3).prints("").says(&["--key-env KEY: "]);
    }
}

#[test]
fn a_key_that_others_can_write() {
    let place = Place::new();
    place.file("f", "text");
    let expected = place.keyed("tag", &["f"]).exits(0).out;
    let mode = |name: &str, mode| {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    for wrong in [0o620, 0o602, 0o660, 0o666, 0o622] {
        mode("k", wrong);
        let what = format!("key file k: others can write to it (mode {wrong:04o})");
        for line in ["-k k", "-k k --num-threads 1", "-k link"] {
            place.shell(&format!("ln -sf k link; $T tag {line} f")).exits(3).prints("");
        }
        place.keyed("tag", &["f"]).exits(3).prints("").says(&[&what, "'chmod go-w'"]);
        place.keyed("check", &["--status", "f"]).exits(3).says(&[&what]);
    }
    mode("k", 0o600);
    // Others can replace the file.
    fs::create_dir(place.path("d")).unwrap();
    fs::rename(place.path("k"), place.path("d/k")).unwrap();
    let tag = || place.shell("ln -sf d/k link; $T tag -k link f");
    mode("d", 0o777);
    tag().exits(3).prints("").says(&["key file link: others can put another key into the folder"]);
    // Others can replace a link or a folder.
    place
        .shell("mkdir -p w g/h; ln -s ../k w/link; cp -p d/k k; cp -p k g/h/k; chmod 777 w g")
        .exits(0);
    for name in ["w/link", "g/h/k", "g/../k", "w/../g/h/k"] {
        let ran = place.run(&["tag", "-k", name, "f"]).exits(3).prints("");
        ran.says(&[": others can put another key into the folder "]);
    }
    // Others can replace a link on the way.
    place.shell("ln -s ../d/k w/half; ln -s w/half half; chmod 755 d").exits(0);
    place.run(&["tag", "-k", "half", "f"]).exits(3).prints("").says(&["w (mode 0777)"]);
    // With these modes they cannot.
    for right in [0o1777, 0o755] {
        mode("d", right);
        tag().exits(0).prints(&expected).in_silence();
    }
    // A file that another program opened is not checked.
    mode("d", 0o777);
    place.shell("$T tag --key-fd 0 f < d/k").exits(0).prints(&expected);
}

#[test]
fn a_key_of_somebody_else() {
    let place = Place::new();
    place.file("f", "text");
    let expected = place.keyed("tag", &["f"]).exits(0).out;
    // Only root can give a file away.
    if std::os::unix::fs::chown(place.path("k"), Some(12345), None).is_err() {
        return;
    }
    let ran = place.keyed("tag", &["f"]).exits(3).prints("");
    ran.says(&["key file k: it belongs to user 12345", "to use it anyway: '--key-fd 0 < FILE'"]);
    place.shell("$T tag --key-fd 0 f < k").exits(0).prints(&expected);
    // In a folder of theirs, others could put a link to another file of yours, and so learn what it
    // contains.
    place.shell("chown 0 k; mkdir d; mv k d/k; chown 12345 d").exits(0);
    let ran = place.run(&["tag", "-k", "d/k", "f"]).exits(3).prints("");
    ran.says(&["key file d/k: the folder ", "/d belongs to user 12345", "'--key-fd 0 < FILE'"]);
    place.shell("$T tag --key-fd 0 f < d/k").exits(0).prints(&expected);
}

#[test]
#[cfg(target_os = "linux")]
fn a_way_to_a_key_that_cannot_be_checked() {
    let place = Place::new();
    place.file("f", "text");
    let ran = place.shell("mkdir d; cd d; rmdir ../d; $T tag -k ../k f");
    ran.exits(3).prints("").says(&["key file ../k: cannot check the folders that lead to it: "]);
}

/// Returns the soft core limit of a process, and the owner of its files in /proc: root, if the
/// process cannot be dumped.
#[cfg(target_os = "linux")]
fn core_limit(id: u32) -> (String, u32) {
    use std::os::unix::fs::MetadataExt;
    let limits = fs::read_to_string(format!("/proc/{id}/limits")).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max core file size")).unwrap();
    let soft = line.split_whitespace().next().unwrap().into();
    (soft, fs::metadata(format!("/proc/{id}/limits")).unwrap().uid())
}

#[test]
#[cfg(target_os = "linux")]
fn no_core_has_a_key() {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    let place = Place::new();
    let key = fs::read_to_string(place.path("k")).unwrap();
    let line = "ulimit -S -c $(ulimit -H -c); exec \"$T\" tag --key-env KEY";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", line]).env("KEY", key).env("T", env!("CARGO_BIN_EXE_tagmac"));
    // A process of root proves nothing: its files belong to root anyway.
    let root = fs::metadata(place.path("k")).unwrap().uid() == 0;
    if root {
        shell.uid(65534);
    }
    let child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than a pipe holds, so the command is reading and has its key once this is written.
    let fed = stdin.write_all(&vec![0; 2 << 20]);
    // Only run where other users can reach the command.
    if fed.is_ok() {
        assert_eq!(core_limit(child.id()), ("0".into(), 0));
    }
    drop(stdin);
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert!(ran.code == Some(0) || root && fed.is_err(), "{}", ran.err);
    // Child processes get the original limits.
    let before = place.shell("ulimit -c").out;
    place.shell("$T tag --key-cmd 'ulimit -c > limit; cat k' < k").exits(0);
    assert_eq!(fs::read_to_string(place.path("limit")).unwrap(), before);
}

#[test]
fn a_descriptor_is_read_as_it_is() {
    let place = Place::bare();
    place.file("f", [0, 1, 2]);
    let expected = "PMAC-AES128 (f) = 256ba5193c1b991b4df0c51f388a9e27\n";
    let options = ["tag", "--key-fd", "0", "--key-format", "hex", "-a", "pmac-aes128", "f"];
    // Node gives its children a socket.
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(KEY_HEX.as_bytes()).unwrap();
    drop(ours);
    let stdin = Stdio::from(OwnedFd::from(theirs));
    Ran::from(place.command(&options).stdin(stdin).output().unwrap()).exits(0).prints(expected);
    // A file is read from its current position, and need not be openable again.
    place.file("keys", format!("the second line\n{KEY_HEX}\n"));
    let line = "exec 5< keys; read -r line <&5; rm keys; $T tag --key-fd 5 --key-format hex \
                -a pmac-aes128 f";
    place.shell(line).exits(0).prints(expected);
}

#[test]
fn a_dash_is_no_key_file() {
    let place = Place::new();
    let text = fs::read(place.path("k")).unwrap();
    let ran = place.feed(&["tag", "-k", "-", "k"], &text).exits(2).prints("");
    ran.says(&["-k: expected a file, found '-'; --key-fd 0 is standard input\n"]);
}

#[test]
fn sources_that_fail() {
    let place = Place::new();
    place.file("f", "text");
    let cases = [
        ("$T tag -k missing f", "key file missing: No such file or directory"),
        ("$T tag --key-fd 2147483647 f", "--key-fd 2147483647: Bad file descriptor"),
        ("$T tag -k . f", "key file .: "),
        ("$T tag --key-env UNSET_IN_TESTS f", "--key-env UNSET_IN_TESTS: the variable is not set"),
        ("$T tag --key-fd 77 f", "--key-fd 77: Bad file descriptor"),
        ("$T tag --key-fd 0 f <&-", "--key-fd 0: Bad file descriptor"),
        ("$T tag --key-fd 1 f >&-", "--key-fd 1: Bad file descriptor"),
        ("$T tag --key-cmd 'cat k; exit 5' f", "--key-cmd: the command failed: "),
        ("$T tag --key-cmd 'exec kill -9 $$' f", "--key-cmd: the command failed: "),
        ("$T tag --key-cmd 'yes' f", "--key-cmd: longer than 64 KiB"),
        ("$T tag --key-cmd true f", "--key-cmd: empty; expected a key file from"),
        ("$T check -k missing list", "key file missing: No such file or directory"),
    ];
    for (line, text) in cases {
        place.shell(line).exits(3).prints("").says(&[text]);
    }
}
