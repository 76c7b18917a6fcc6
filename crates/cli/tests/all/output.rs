//! Output to a terminal, and output that cannot be written.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::common::{Place, open_terminal, sealed, terminal, without_stamps};

/// A name with ESC, CSI in UTF-8 and as a byte, and a mark that changes the writing direction.
const ODD: &[u8] = b"\x1b[8m\xc2\x9b\xe2\x80\xae\x9bz";

/// A name with the same characters, in valid UTF-8.
const ODD_TEXT: &str = "\u{1b}[8m\u{9b}\u{202e}\u{7f}z";

/// Runs a line of shell with both outputs on a new terminal. Returns what the terminal received.
pub fn on_terminal(place: &Place, line: &str) -> Vec<u8> {
    let (mut terminal, name) = terminal();
    let mut child = std::process::Command::new("sh");
    child.args(["-c", line]).current_dir(place.path("")).env("T", env!("CARGO_BIN_EXE_tagmac"));
    child.stdin(std::process::Stdio::null());
    child.stdout(open_terminal(&name)).stderr(open_terminal(&name));
    let mut running = child.spawn().unwrap();
    drop(child);
    // The terminal reports EIO after its last user has closed it.
    let mut all = Vec::new();
    let _ = terminal.read_to_end(&mut all);
    running.wait().unwrap();
    all
}

/// Returns whether the bytes only end lines on a terminal, also with zero bytes.
fn is_plain(bytes: &[u8]) -> bool {
    let plain = |c: char| "\0\r\n".contains(c) || !c.is_control() && c != '\u{202e}';
    str::from_utf8(bytes).is_ok_and(|text| text.chars().all(plain))
}

#[test]
fn no_name_does_anything_to_a_terminal() {
    let place = Place::new();
    fs::create_dir(place.path("d")).unwrap();
    let odd = Path::new("d").join(OsStr::from_bytes(ODD));
    place.file(&odd, "text");
    place.shell("$T tag -k k -r d > list; $T tag -k k -r -z d > zero").exits(0);
    place.shell("mkdir e; $T seal -k k d -o m; $T seal -k k e -o n").exits(0);
    let lines = [
        "$T tag -k k -r d",
        "$T tag -k k -r -z d",
        "$T tag -k k -r --untagged d",
        "$T tag -k k -r --json d",
        "$T tag -k k -r --progress json d",
        "$T tag -k k -r --progress always d",
        "$T check -k k list",
        "$T check -k k -z --json zero",
        "rm -r d; $T check -k k list; $T audit -k k --combined - m e",
        "$T audit -k k m e",
        "$T audit -k k --json m e",
        "mkdir d; cp k d/$(printf '\\033\\302\\233'); $T audit -k k --combined - n d",
        "$T update -k k d/*; $T update -k k --json d/$(printf '\\033\\302\\233')",
        "$T part -k k --object $(printf 'o\\033') --start 0 --last k -o p; $T combine -k k p",
        "$T combine -k k --json p; $T combine -k k --object x p",
        "$T tag -k k missing$(printf '\\033\\302\\233\\342\\200\\256')",
        "$T tag -k missing$(printf '\\033')",
        "$T tag --bogus$(printf '\\033\\302\\233'); $T tag -a $(printf 'x\\033') k",
        "$T man $(printf 'x\\033'); TAGMAC_LEVEL=$(printf 'x\\033') $T list",
        "$T keygen -o $(printf 'key\\033'); $T bounds --length $(printf '1\\033')",
        "printf 'x\\033 (y) = 00\\n#\\nbogus\\033' | $T check -k k --progress never",
    ];
    for line in lines {
        let got = on_terminal(&place, line);
        assert!(!got.is_empty(), "{line}");
        assert!(is_plain(&got), "{line}: {}", got.escape_ascii());
    }
}

#[test]
fn elsewhere_lines_have_the_bytes_of_the_name() {
    let place = Place::new();
    fs::create_dir(place.path("d")).unwrap();
    place.file(Path::new("d").join(OsStr::from_bytes(ODD)), "text");
    let line = place.keyed("tag", &["-r", "d"]).exits(0).bytes;
    let start = [b"PMAC-AES128 (d/".as_slice(), ODD, b") = "].concat();
    assert!(line.starts_with(&start), "{}", line.escape_ascii());
    place.shell("mkdir e; $T seal -k k e -o m").exits(0);
    let combined = place.keyed("audit", &["--combined", "-", "m", "d"]).exits(1).bytes;
    assert_eq!(combined, [b"- ", ODD, b"\n"].concat());
}

#[test]
fn json_has_no_control_character_wherever_it_goes() {
    let place = Place::new();
    place.file(ODD_TEXT, "text");
    let ran = place.keyed("tag", &["--json", ODD_TEXT]).exits(0);
    assert!(is_plain(&ran.bytes), "{}", ran.out);
    assert!(ran.out.contains("\"\\u001b[8m\\u009b\\u202e\\u007fz\""), "{}", ran.out);
    let object: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(object["path"], ODD_TEXT);
}

#[test]
fn messages_show_a_name_so_that_it_can_be_given_back() {
    let place = Place::new();
    let missing = |name: &str| {
        let err = place.keyed("tag", &[name]).exits(4).err;
        err.strip_prefix("tagmac: ").unwrap().split(": No such").next().unwrap().to_string()
    };
    for seen in ["a\\b", "a b", "it's", "\u{e9}"] {
        assert_eq!(missing(seen), seen);
    }
    let odd = format!("a\n\\'{ODD_TEXT}");
    let shown = missing(&odd);
    assert_eq!(shown, "$'a\\n\\\\\\'\\033[8m\\302\\233\\342\\200\\256\\177z'");
    // Some shells do not read this form.
    place.file(&odd, "text");
    place.file("script", format!("cat {shown}\n"));
    let ran = place.shell("command -v bash > /dev/null || exit 77; bash script");
    assert!(ran.code == Some(77) || ran.out == "text", "{shown}: {}", ran.err);
}

/// Lines of shell that print something. They need the key, `f`, `m` of `t`, `p` and `list`.
const PRINT: [&str; 14] = [
    "$T keygen -o new",
    "$T tag -k k f",
    "$T tag -k k --raw f",
    "$T tag -k k --json f",
    "$T check -k k list",
    "$T audit -k k --json m t",
    "$T audit -k k --combined - m t",
    "$T combine -k k p",
    "$T update -k k f",
    "$T list",
    "$T bounds",
    "$T completions bash",
    "$T man",
    "$T tag --help",
];

fn ready() -> Place {
    let place = sealed(&[], &[]);
    place.file("f", "text");
    place.shell("$T tag -k k f > list").exits(0);
    place.shell("$T part -k k --object o --start 0 --last f -o p").exits(0);
    place
}

#[test]
fn output_that_nobody_gets_is_an_error() {
    let ends =
        [">&-", "1< k"].into_iter().chain(cfg!(target_os = "linux").then_some("> /dev/full"));
    for end in ends {
        let place = ready();
        let why =
            if end.contains("full") { "No space left on device" } else { "Bad file descriptor" };
        for line in PRINT {
            let ran = place.shell(&format!("{line} {end}")).exits(4).prints("");
            ran.says(&[&format!("tagmac: standard output: {why}\n")]);
        }
    }
}

#[test]
fn output_that_nobody_wants_is_none() {
    let place = ready();
    for end in ["> /dev/null", "1<> /dev/null", "2>&-", "<&-"] {
        for line in PRINT {
            place.shell(&format!("rm -f new; {line} {end}")).exits(0);
        }
    }
}

#[test]
fn a_checkpoint_stays_until_its_tag_is_out() {
    let place = Place::new();
    place.file("f", "text");
    for end in [">&-", "1< k"] {
        let ran = place.shell(&format!("$T tag -k k --checkpoint s f {end}")).exits(4);
        ran.says(&["tagmac: standard output: Bad file descriptor\n"]);
        assert!(place.path("s").exists());
    }
    let line = place.keyed("tag", &["--checkpoint", "s", "f"]).exits(0).out;
    assert_eq!(line, place.keyed("tag", &["f"]).exits(0).out);
    assert!(!place.path("s").exists());
}

#[test]
fn input_that_is_none_is_no_empty_one() {
    let place = ready();
    for start in ["<&-", "0> x"] {
        for line in ["tag -k k", "tag -k k -", "tag -k k --json", "check -k k --raw-tag - f"] {
            let ran = place.shell(&format!("$T {line} {start}")).exits(4);
            assert!(!ran.out.contains("(-)") && !ran.out.contains("\"tagged\""), "{}", ran.out);
            ran.says(&["Bad file descriptor\n"]);
        }
        // These names would open the runtime's /dev/null.
        for name in ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
            for line in ["tag -k k", "check -k k"] {
                place.shell(&format!("$T {line} {name} <&-")).exits(4);
            }
        }
        let ran = place.shell(&format!("$T check -k k {start}")).exits(4).prints("");
        ran.says(&["tagmac: standard input: Bad file descriptor\n"]);
        place.keyed("update", &["f"]).exits(0);
        let ran = place.shell(&format!("$T update -k k --patch 0 - f {start}")).exits(4);
        ran.says(&["Bad file descriptor\n"]);
    }
}

#[test]
fn no_message_ends_in_a_file_that_was_opened_for_data() {
    let place = ready();
    for closed in ["2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"] {
        place.shell(&format!("$T tag -k k missing f {closed}"));
        place.shell(&format!("$T seal -k k --new-chain t -o n {closed}"));
        place.shell(&format!("$T part -k k --object o --start 0 --last f -o q {closed}"));
        place.shell(&format!("$T update -k k --append f {closed}"));
        assert_eq!(fs::read_to_string(place.path("f")).unwrap(), "text");
        let manifest = fs::read_to_string(place.path("n")).unwrap();
        let expected = fs::read_to_string(place.path("m")).unwrap();
        assert_eq!(without_stamps(&manifest), without_stamps(&expected));
        assert!(fs::read(place.path("q")).unwrap().starts_with(b"tagmac-partial-"));
        fs::remove_file(place.path("q")).unwrap();
    }
}

#[test]
fn no_line_is_printed_that_a_check_would_refuse() {
    let place = Place::new();
    place.file("f", "text");
    let part = |object: &str, output: &str| {
        let args = ["--object", object, "--start", "0", "--last", "f", "-o", output];
        place.keyed("part", &args).exits(0);
    };
    part(&"n".repeat(65_535), "p");
    let ran = place.keyed("combine", &["p"]).exits(2).prints("");
    ran.says(&["name too long: its line would have ", "reads at most 65536", "--name"]);
    place.keyed("combine", &["--name", "f", "p"]).exits(0);
    // `check` reads the longest line that is printed.
    let room = 65_536 - "PMAC-AES128 () = ".len() - 32;
    let longest = "n".repeat(room);
    let line = place.keyed("combine", &["--name", &longest, "p"]).exits(0).out;
    let ran = place.feed(&["check", "-k", "k"], line.as_bytes()).exits(4);
    assert!(!ran.err.contains("64 KiB"), "{}", ran.err);
    let longer = format!("{longest}n");
    place.keyed("combine", &["--name", &longer, "p"]).exits(2);
    // A backslash needs two bytes, and another one begins the line.
    let doubled = format!("{}\\", "n".repeat(room - 2));
    place.keyed("combine", &["--name", &doubled, "p"]).exits(2);
}

#[test]
#[cfg(all(feature = "fault-injection", debug_assertions))]
fn output_that_is_lost_when_it_is_closed() {
    let place = Place::new();
    place.file("f", "text");
    let line = place.keyed("tag", &["f"]).exits(0).out;
    place.file("list", &line);
    place.file("bad", format!("{line}PMAC-AES128 (f) = {}\n", "0".repeat(32)));
    let lost = |what, args: &[&str]| place.faulty("close:1:fail=28", what, args);
    let said = ["tagmac: standard output: No space left on device\n"];
    lost("tag", &["f"]).exits(4).prints(&line).says(&said);
    lost("check", &["list"]).exits(4).says(&said);
    lost("check", &["bad"]).exits(1).says(&said);
    // An interrupted close reports no loss.
    place.faulty("close:1:fail=4", "tag", &["f"]).exits(0).prints(&line).in_silence();
    // Nothing was written, so nothing is lost.
    lost("check", &["--quiet", "list"]).exits(0).in_silence();
    // The line may be lost, so the checkpoint is kept.
    let kept = ["--checkpoint", "s", "f"];
    lost("tag", &kept).exits(4).says(&said);
    assert!(place.path("s").exists());
    place.keyed("tag", &kept).exits(0).prints(&line);
    assert!(!place.path("s").exists());
}
