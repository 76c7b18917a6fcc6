//! The command `tagmac-lab`: its output, its errors and its exit status.

use std::io::Write;
use std::process::{Command, Stdio};

use tagmac_lab::comparators::{COMPARATORS, Status};

const ZEROS: &str = "00000000000000000000000000000000";

/// Returns exit status, standard output and standard error.
pub fn run(arguments: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tagmac-lab"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command");
    // A command that rejects its arguments does not read.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output = child.wait_with_output().expect("the command ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("a status"), text(output.stdout), text(output.stderr))
}

#[test]
fn tags() {
    let key = "000102030405060708090a0b0c0d0e0f";
    let rfc3566 = ["tag", "AES-XCBC-MAC", "--keys", key, "-"];
    let printed = "5b376580ae2f19afe7219ceef172756f\n";
    assert_eq!(run(&rfc3566, &[0, 1, 2]), (0, printed.into(), String::new()));
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let nonce = ["tag", "XOR-MAC", "--keys", key, "--nonce", "0001020304050607", file];
    let (status, tag, errors) = run(&nonce, &[]);
    assert_eq!((status, tag.len(), &*errors), (0, 33, ""));
}

#[test]
fn refusals_are_one_line() {
    let two = format!("{ZEROS}+{ZEROS}");
    let refused: &[(&[&str], &str)] = &[
        (
            &["tag", "PMAC3", "--keys", ZEROS, "-"],
            "name 'PMAC3': unknown; nearest: PMAC/P, PMAC1, PMAC2",
        ),
        (
            &["tag", "CMAC", "--keys", "00", "-"],
            "CMAC (official): key 1: expected 16 bytes, found 1",
        ),
        (&["tag", "CMAC", "--keys", &two, "-"], "CMAC (official): keys: expected 1 key, found 2"),
        (&["tag", "EMAC", "--keys", ZEROS, "-"], "EMAC (pinned): keys: expected 2 keys, found 1"),
        (
            &["tag", "CBC-MAC", "--keys", ZEROS, "-"],
            "message: expected a nonzero multiple of 16 bytes, found 3 bytes",
        ),
        (&["tag", "XOR-MAC", "--keys", ZEROS, "-"], "nonce: this MAC needs a nonce of 8 bytes"),
        (
            &["tag", "XECB-MAC", "--keys", ZEROS, "--nonce", "00", "-"],
            "nonce: expected 16 bytes, found 1",
        ),
        (&["tag", "CMAC", "--keys", ZEROS, "--nonce", "00", "-"], "nonce: this MAC needs no nonce"),
        (&["tag", "CMAC", "--keys", "0x", "-"], "--keys: expected hex digits, found 'x'"),
        (&["tag", "CMAC", "--keys", "000", "-"], "expected an even number of hex digits, found 3"),
        (&["tag", "PMACX", "--keys", ZEROS, "-"], "no definition found; looked at: "),
        (&["tag", "NH", "--keys", ZEROS, "-"], "message: expected a multiple of 8 bytes, found 3"),
        (&["tag", "CMAC", "--keys", ZEROS, "/nowhere"], "/nowhere: "),
        (&["tag", "CMAC", "--keys", ZEROS], "required arguments were not provided: <FILE>"),
        (&["tag", "CMAC", "-"], "required arguments were not provided: --keys"),
        (&["attack", "nothing"], "attack 'nothing': unknown; nearest:"),
        (&["nothing"], "unrecognized subcommand 'nothing'"),
    ];
    for (arguments, expected) in refused {
        let (status, out, errors) = run(arguments, b"abc");
        assert_eq!((status, &*out), (2, ""), "{arguments:?}");
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
        assert!(errors.starts_with("tagmac-lab: ") && errors.lines().count() == 1, "{errors}");
    }
}

#[test]
fn lists_all_with_their_status() {
    let (status, table, _) = run(&["list"], &[]);
    let (json_status, objects, _) = run(&["list", "--json"], &[]);
    assert_eq!((status, json_status), (0, 0));
    assert_eq!(objects.lines().count(), COMPARATORS.len());
    for (comparator, object) in COMPARATORS.iter().zip(objects.lines()) {
        let (name, status) = (comparator.name, comparator.status.to_string());
        let line = table.lines().find(|line| line.split_whitespace().next() == Some(name));
        assert!(line.is_some_and(|line| line.contains(&status)), "{name}");
        let object: serde_json::Value = serde_json::from_str(object).expect("an object");
        assert_eq!((&object["name"], &object["status"]), (&name.into(), &status.into()));
        assert!(!comparator.source.is_empty() && !comparator.about.is_empty());
    }
    let without = COMPARATORS.iter().filter(|one| one.status == Status::NotFound);
    assert_eq!(without.count(), 7);
}

#[test]
fn help_says_that_it_is_no_tool_for_secrets() {
    let (status, help, _) = run(&["--help"], &[]);
    assert_eq!(status, 0);
    assert!(
        help.contains("Not for secrets") && help.contains("Keys are arguments here on purpose")
    );
}

#[test]
fn attacks() {
    let (status, text, errors) = run(&["attack", "elihash-mixed-lengths"], &[]);
    assert_eq!((status, &*errors), (0, ""));
    assert!(text.contains("found 1000/1000") && text.contains("control  EliMAC-AES128"), "{text}");
    let (status, text, errors) = run(&["attack", "marvin"], &[]);
    assert_eq!((status, &*text), (2, ""));
    let nearest = "nearest: marvin-a1, marvin-a2, ";
    assert!(errors.contains(nearest) && errors.lines().count() == 1, "{errors}");
    assert_eq!(run(&["attack", "--long"], &[]).0, 2, "which one?");
}

/// Each name in the papers besides their own MACs has a comparator, an attack, a table, or a row
/// with its reason in the section 'Not built' of docs/design/claims.md.
#[test]
fn what_the_papers_name_is_built_or_says_why_not() {
    let comparators = [
        "CBC-MAC-EDE",
        "PELICAN",
        "MARVIN",
        "CHASKEY",
        "CHASKEY-12",
        "MULTILINEAR",
        "HASH127",
        "CRYPTOGRAPHIC-CRC",
        "BUCKET-HASH",
    ];
    for name in comparators {
        assert!(
            tagmac_lab::comparators::find(name).is_some_and(|one| one.has_definition()),
            "{name}"
        );
    }
    let attacks = [
        "elimac-tight-truncation",
        "elimac-tight-subkeys",
        "elimac-tight-guess",
        "elimac-two-rounds",
        "elihash-remark-1",
        "sum-ecbc-quadruples",
        "xor-mac-random-iv",
    ];
    let known = tagmac_lab::attacks::ATTACKS;
    for name in attacks {
        assert!(known.iter().any(|one| one.name == name), "{name}");
    }
    for name in ["pmac-calls", "elimac-3", "elimac-footnote-1"] {
        assert!(tagmac_lab::tables::find(name).is_some(), "{name}");
    }
    let claims = include_str!("../../../../docs/design/claims.md");
    let (_, not_built) = claims.split_once("## Not built\n").expect("the section");
    let ids = [
        "umac99-1.3-mdx-mac",
        "lightmac-table3-present-tables",
        "elimac-1.1-apa-mth",
        "elimac-1.1-mach",
        "elimac-1.1-ledmac",
        "elimac-6-zmac1",
    ];
    for id in ids {
        let row = not_built.lines().find(|line| line.starts_with(&format!("| `{id}` |")));
        assert!(row.is_some_and(|row| row.matches('|').count() == 4), "{id}");
    }
}
