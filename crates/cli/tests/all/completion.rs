//! Completion in real shells: each runs on a terminal where the tests type keys. A substitute for
//! the command records the arguments that the shell passes to it.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command};

use crate::common::{Place, open_terminal, terminal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{Winsize, tcsetwinsize};

/// Records its arguments, each ended by a zero byte, and prints a mark.
const NOTES: &str = "#!/bin/sh\nprintf '%s\\0' \"$@\" > \"$NOTED\"\necho '<no''ted>'\n";
const NOTED: &[u8] = b"<noted>";
const PROMPT: &[u8] = b"<ready>";

/// A shell, its command line, and its first input.
struct Shell {
    name: &'static str,
    args: &'static [&'static str],
    setup: &'static str,
}

const BASH: Shell = Shell {
    name: "bash",
    args: &["--noprofile", "--rcfile", "setup", "-i"],
    setup: "PS1='<rea''dy>'; bind 'set enable-bracketed-paste off'; set +o history; . ./script",
};
const ZSH: Shell = Shell {
    name: "zsh",
    args: &["-d", "-i"],
    setup: "mv script ~/_tagmac; fpath=(~ $fpath); autoload -Uz compinit; compinit -u -D; \
            unset zle_bracketed_paste; PS1='<rea''dy>'",
};
const FISH: Shell = Shell {
    name: "fish",
    args: &["--no-config", "-i", "-C", "source setup"],
    setup: "set fish_greeting; function fish_prompt; echo -n '<rea''dy>'; end; source script",
};

/// A shell on a terminal, in its own folder.
struct Session {
    place: Place,
    terminal: File,
    child: Child,
    /// Output of the terminal that [`Session::until`] has not consumed.
    shown: Vec<u8>,
}

/// Returns the path of a program.
fn installed(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

impl Session {
    /// Starts a shell in a folder with these files and folders; a folder's name ends in a slash.
    /// Returns `None` if the shell is not installed, which is an error on a machine that must run
    /// all tests.
    fn start(shell: &Shell, files: &[&[u8]]) -> Option<Session> {
        let Some(program) = installed(shell.name) else {
            let all = env::var_os("TAGMAC_ALL_SHELLS").is_some();
            assert!(!all, "expected {}; 'scripts/need {0}' installs it", shell.name);
            return None;
        };
        let place = Place::bare();
        let script = place.run(&["completions", shell.name]).exits(0).bytes;
        place.shell("mkdir bin home files").exits(0);
        place.file("bin/tagmac", NOTES);
        fs::set_permissions(place.path("bin/tagmac"), fs::Permissions::from_mode(0o755)).unwrap();
        place.file("files/script", script);
        let setup = if shell.name == "zsh" { "home/.zshrc" } else { "files/setup" };
        place.file(setup, format!("{}\n", shell.setup));
        for name in files {
            let path = place.path("files").join(OsStr::from_bytes(name));
            match name.ends_with(b"/") {
                true => fs::create_dir(path).unwrap(),
                false => fs::write(path, "").unwrap(),
            }
        }
        let (terminal, name) = terminal();
        let size = Winsize { ws_row: 50, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
        let mut path = place.path("bin").into_os_string();
        path.push(":");
        path.push(env::var_os("PATH").unwrap());
        // The shell needs its own terminal.
        let child = Command::new("setsid")
            .arg("--ctty")
            .arg(program)
            .args(shell.args)
            .current_dir(place.path("files"))
            .env_clear()
            .env("PATH", path)
            .env("HOME", place.path("home"))
            .env("ZDOTDIR", place.path("home"))
            .env("NOTED", place.path("noted"))
            .env("TERM", "xterm")
            .env("LC_ALL", "C.UTF-8")
            .stdin(open_terminal(&name))
            .stdout(open_terminal(&name))
            .stderr(open_terminal(&name))
            .spawn()
            .unwrap();
        let mut session = Session { place, terminal, child, shown: Vec::new() };
        session.until(PROMPT);
        Some(session)
    }

    /// Waits until the terminal shows a text, and discards everything up to it.
    fn until(&mut self, text: &[u8]) {
        let mut all = Vec::new();
        loop {
            all.append(&mut self.shown);
            if let Some(at) = all.windows(text.len()).position(|part| part == text) {
                self.shown = all.split_off(at + text.len());
                return;
            }
            // Only a shell that hangs takes this long, even on a slow machine.
            let limit = Timespec { tv_sec: 300, tv_nsec: 0 };
            let mut ready = [PollFd::new(&self.terminal, PollFlags::IN)];
            let ready = poll(&mut ready, Some(&limit)).unwrap();
            let mut bytes = [0; 4096];
            let read = if ready == 0 { 0 } else { self.terminal.read(&mut bytes).unwrap_or(0) };
            let [text, all_shown] = [text, &all].map(|bytes| bytes.escape_ascii().to_string());
            assert!(read > 0, "expected {text}, found {all_shown}");
            self.shown.extend_from_slice(&bytes[..read]);
        }
    }

    /// Types a line with a tab at its end and enters it. Returns the arguments of the command.
    fn completes(&mut self, typed: &str) -> Vec<String> {
        self.enters(&format!("tagmac {typed}\t"))
    }

    /// Types a line and enters it. Returns the arguments of the command.
    fn enters(&mut self, typed: &str) -> Vec<String> {
        self.terminal.write_all(format!("{typed}\r").as_bytes()).unwrap();
        self.until(NOTED);
        self.until(PROMPT);
        let noted = self.place.read("noted");
        let mut args: Vec<String> =
            noted.split(|&byte| byte == 0).map(|arg| String::from_utf8_lossy(arg).into()).collect();
        args.pop();
        args
    }

    /// Returns the names in the shell's folder.
    fn names(&self) -> BTreeSet<Vec<u8>> {
        let entries = fs::read_dir(self.place.path("files")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().as_bytes().to_vec()).collect()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Names with an effect in a shell that reads them unquoted. Their first letters differ.
const NAMES: [&str; 17] = [
    "a;touch${IFS}pwned",
    "b c  d",
    "c$(touch pwned)",
    "d`touch pwned`",
    "e'f\"g",
    "g\\h",
    "h&touch pwned",
    "i|j>pwned",
    "j(k)[l]{m}",
    "k!l",
    "l~#m",
    "m=n:o",
    "n\u{e9}\u{20ac}",
    "o\np",
    "q?r\ts",
    "u\n-k pwned",
    "v*",
];
const FOLDER: &str = "folder $x/";
const INSIDE: &str = "folder $x/inner; file";

/// Starts a shell in a folder with the names.
fn with_names(shell: &Shell) -> Option<Session> {
    let files = NAMES.iter().copied().chain([FOLDER, INSIDE]).map(str::as_bytes);
    Session::start(shell, &files.collect::<Vec<_>>())
}

#[track_caller]
fn names_are_quoted(shell: &Shell) {
    let Some(mut session) = with_names(shell) else { return };
    let names = session.names();
    for name in NAMES {
        // fish treats the text after a tab as a description.
        let expected = if shell.name == "fish" { name.split('\t').next().unwrap() } else { name };
        let start = &name[..1];
        assert_eq!(session.completes(&format!("tag {start}")), ["tag", expected]);
        assert_eq!(session.completes(&format!("tag -k {start}")), ["tag", "-k", expected]);
        let joined = format!("--key-file={expected}");
        assert_eq!(session.completes(&format!("tag --key-file={start}")), ["tag", &joined]);
        assert_eq!(session.completes(&format!("tag -- {start}")), ["tag", "--", expected]);
    }
    // The typed start may already be quoted.
    for start in ["b\\ c\\ ", "'b c ", "\"b c "] {
        assert_eq!(session.completes(&format!("tag -k {start}")), ["tag", "-k", "b c  d"]);
    }
    assert_eq!(session.names(), names, "a name was run");
}

/// The names of values in the help: paths of any kind, folders, and others.
const PATHS: [&str; 9] = [
    "COPY",
    "FILE",
    "FILE.svg",
    "TAGFILE",
    "CHECKPOINT",
    "MANIFEST",
    "OLD",
    "PARTIAL",
    "OFFSET> <PATCHFILE",
];
const FOLDERS: [&str; 2] = ["DIR", "MOUNTPOINT"];
const OTHERS: [&str; 22] = [
    "ALG",
    "BITS",
    "BYTES",
    "CMD",
    "FORMAT",
    "GLOB",
    "HEX",
    "ID",
    "KIND",
    "LENGTH",
    "N",
    "N/T",
    "OFFSET:LENGTH",
    "OFFSET:LENGTH",
    "P",
    "RATE",
    "SEAL",
    "SHARE",
    "SIZE",
    "URL",
    "VAR",
    "WHEN",
];

/// Returns the options of a command with a path, and whether it must be a folder.
fn path_options(help: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    for line in help.lines().map(str::trim_start).filter(|line| line.starts_with('-')) {
        let Some((options, value)) = line.split_once(" <") else { continue };
        let value = value.split_once(">  ").map_or(value, |(value, _)| value);
        let value = value.trim_end_matches('>');
        let kinds = [&PATHS[..], &FOLDERS, &OTHERS].map(|kind| kind.contains(&value));
        assert!(kinds.contains(&true), "expected to know what {value} is: {line}");
        if kinds[0] || kinds[1] {
            let between = if value.starts_with("OFFSET") { " 0" } else { "" };
            found
                .extend(options.split(", ").map(|option| (format!("{option}{between}"), kinds[1])));
        }
    }
    found
}

#[track_caller]
fn every_path_is_completed(shell: &Shell) {
    let Some(mut session) = with_names(shell) else { return };
    let names = session.names();
    let commands =
        ["keygen", "tag", "check", "seal", "audit", "manifest", "rekey", "part", "combine"];
    let others =
        ["read", "mount", "repair", "update", "list", "bounds", "selftest", "completions", "man"];
    let mut seen = 0;
    for command in commands.into_iter().chain(others) {
        let help = session.place.run(&[command, "--help"]).exits(0).out;
        for (option, folder) in path_options(&help) {
            let before = format!("{command} {option}");
            let mut all: Vec<&str> = before.split(' ').collect();
            let (typed, name) = if folder { ("fol", &FOLDER[..9]) } else { ("a", NAMES[0]) };
            all.push(name);
            let found = session.completes(&format!("{before} {typed}"));
            let found: Vec<&str> = found.iter().map(|arg| arg.trim_end_matches('/')).collect();
            assert_eq!(found, all, "{before}");
            // A folder gets a slash and no blank, so that a name in it can follow.
            if !folder {
                *all.last_mut().unwrap() = INSIDE;
                assert_eq!(session.completes(&format!("{before} fol\tin")), all, "{before}");
            }
            seen += 1;
        }
    }
    assert!(seen > 25, "{seen}");
    // Operands.
    for before in
        ["tag", "check", "combine", "part --last", "update --append", "audit", "manifest log"]
    {
        let all: Vec<&str> = before.split(' ').chain([INSIDE]).collect();
        assert_eq!(session.completes(&format!("{before} fol\tin")), all, "{before}");
    }
    for before in ["seal", "audit m", "rekey m", "read m", "mount m", "repair m"] {
        let found = session.completes(&format!("{before} fol"));
        assert_eq!(found.last().unwrap().trim_end_matches('/'), &FOLDER[..9], "{before}");
    }
    assert_eq!(session.names(), names, "a name was run");
}

#[track_caller]
fn words_are_completed(shell: &Shell) {
    let Some(mut session) = Session::start(shell, &[b"PMAC-file", b"zsh-file", b"raw file"]) else {
        return;
    };
    for (typed, expected) in [
        ("keyg", &["keygen"][..]),
        ("tag --key-fo", &["tag", "--key-format"]),
        ("tag --key-format ra", &["tag", "--key-format", "raw"]),
        ("tag --key-format=ra", &["tag", "--key-format=raw"]),
        ("keygen -a PMAC-R", &["keygen", "-a", "PMAC-RC6"]),
        ("bounds --algorithm UMAC-12", &["bounds", "--algorithm", "UMAC-128"]),
        ("tag --progress nev", &["tag", "--progress", "never"]),
        ("completions zs", &["completions", "zsh"]),
        ("manifest di", &["manifest", "diff"]),
        ("help exi", &["help", "exit-status"]),
        ("update --patch 0 raw\\ file --exp", &["update", "--patch", "0", "raw file", "--expect"]),
        // Numbers are not completed to file names.
        ("tag --num-threads r", &["tag", "--num-threads", "r"]),
        ("tag --nonce-hex=r", &["tag", "--nonce-hex=r"]),
    ] {
        assert_eq!(session.completes(typed), expected, "{typed}");
    }
}

/// Bash splits words at colons and equal signs.
#[test]
fn bash_counts_operands() {
    let Some(mut session) = Session::start(&BASH, &[b"PMAC-file", b"folder/"]) else { return };
    for (typed, expected) in [
        ("tag s3://bucket/a --key-fo", &["tag", "s3://bucket/a", "--key-format"][..]),
        ("audit s3://bucket/a P", &["audit", "s3://bucket/a", "P"]),
        ("audit a=b P", &["audit", "a=b", "P"]),
        ("audit P", &["audit", "PMAC-file"]),
        ("audit P fo", &["audit", "P", "folder/"]),
        ("audit -k P P", &["audit", "-k", "P", "PMAC-file"]),
        ("audit --key-file=P P", &["audit", "--key-file=P", "PMAC-file"]),
        ("audit -- -k fo", &["audit", "--", "-k", "folder/"]),
        ("update --range 1:2 --trunc", &["update", "--range", "1:2", "--truncate"]),
        ("verify --allow-u", &["verify", "--allow-url"]),
        ("help keyg", &["help", "keygen"]),
        ("help exi", &["help", "exit-status"]),
        ("--vers", &["--version"]),
    ] {
        assert_eq!(session.completes(typed), expected, "{typed}");
    }
}

#[test]
fn bash_quotes_names() {
    names_are_quoted(&BASH);
}

#[test]
fn zsh_quotes_names() {
    names_are_quoted(&ZSH);
}

#[test]
fn fish_quotes_names() {
    names_are_quoted(&FISH);
}

#[test]
fn bash_completes_every_path() {
    every_path_is_completed(&BASH);
}

#[test]
fn zsh_completes_every_path() {
    every_path_is_completed(&ZSH);
}

#[test]
fn fish_completes_every_path() {
    every_path_is_completed(&FISH);
}

#[test]
fn bash_completes_words() {
    words_are_completed(&BASH);
}

#[test]
fn zsh_completes_words() {
    words_are_completed(&ZSH);
}

#[test]
fn fish_completes_words() {
    words_are_completed(&FISH);
}
