//! `tagmac tag`: what it prints, and how it fails.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use crate::common::{KEY_HEX, Place, Ran};

/// The options for a key that is the same in every run.
fn fixed(place: &Place, algorithm: &str, more: &[&str]) -> Ran {
    let options = ["tag", "--key-env", "KEY", "--key-format", "hex", "-a", algorithm];
    place.command(&options).args(more).env("KEY", KEY_HEX).output().unwrap().into()
}

#[test]
fn forms() {
    let place = Place::bare();
    place.file("f", [0, 1, 2]);
    // vectors/pmac.json, PMAC-AES-128-3B.
    let tag = "256ba5193c1b991b4df0c51f388a9e27";
    let run = |more: &[&str]| fixed(&place, "pmac-aes128", more).exits(0).in_silence();
    run(&["f"]).prints(&format!("PMAC-AES128 (f) = {tag}\n"));
    run(&["--untagged", "f"]).prints(&format!("{tag}  f\n"));
    run(&["-z", "f"]).prints(&format!("PMAC-AES128 (f) = {tag}\0"));
    run(&["-z", "--untagged", "f", "f"]).prints(&format!("{tag}  f\0{tag}  f\0"));
    run(&["--tag-bits", "64", "f"]).prints("PMAC-AES128 (f) = 256ba5193c1b991b\n");
    run(&["--tag-bits", "12", "--allow-short", "f"]).prints("PMAC-AES128 (f) = 2560\n");
    let raw = run(&["--raw", "f"]).bytes;
    assert_eq!(raw, u128::from_str_radix(tag, 16).unwrap().to_be_bytes());
    run(&["--json", "f"]).prints(&format!(
        "{{\"path\":\"f\",\"algorithm\":\"PMAC-AES128\",\"tag\":\"{tag}\",\"bits\":128,\
         \"key_id\":\"93ccce922cfd13ec\",\"bytes\":3,\"status\":\"tagged\"}}\n"
    ));
}

#[test]
fn names_are_bytes() {
    let place = Place::bare();
    let odd = OsStr::from_bytes(b"a\xff\n\\\r) = ");
    place.file(odd, [0, 1, 2]);
    let run = |more: &str| {
        let options = ["tag", "--key-env", "KEY", "--key-format", "hex", "-a", "pmac-aes128"];
        let mut command = place.command(&options);
        let ran: Ran = command.arg(more).arg(odd).env("KEY", KEY_HEX).output().unwrap().into();
        ran.exits(0).in_silence().bytes
    };
    let tag = b"256ba5193c1b991b4df0c51f388a9e27";
    assert_eq!(
        run("--progress=never"),
        [b"\\PMAC-AES128 (a\xff\\n\\\\\\r) = ) = ", &tag[..], b"\n"].concat()
    );
    assert_eq!(run("-z"), [b"PMAC-AES128 (a\xff\n\\\r) = ) = ", &tag[..], b"\0"].concat());
    assert_eq!(run("--untagged"), [b"\\", &tag[..], b"  a\xff\\n\\\\\\r) = \n"].concat());
    let json: serde_json::Value = serde_json::from_slice(&run("--json")).unwrap();
    assert_eq!(json["path_hex"], "61ff0a5c0d29203d20");
}

#[test]
fn standard_input() {
    let place = Place::new();
    place.file("f", "text");
    let file = place.keyed("tag", &["f"]).exits(0).out;
    let expected = file.replace("(f)", "(-)");
    place.feed(&["tag", "-k", "k"], b"text").exits(0).prints(&expected);
    place.feed(&["tag", "-k", "k", "-"], b"text").exits(0).prints(&expected);
    place.feed(&["tag", "-k", "k", "-", "-"], b"text").exits(2).prints("");
    let hex = ["tag", "--key-fd", "0", "--key-format", "hex", "-a", "pmac-aes128"];
    place.feed(&hex, b"text").exits(2).says(&["standard input: expected one use of it"]);
}

#[test]
fn every_algorithm_and_every_way_of_reading_agree() {
    let place = Place::bare();
    let list = place.run(&["list", "--json"]).exits(0).out;
    let text: Vec<u8> = (0..5_000_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    place.file("small", &text[..1777]);
    place.file("large", &text);
    for row in list.lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let algorithm = row["algorithm"].as_str().unwrap();
        let limit = row["limit_bits"].as_u64().unwrap_or(u64::MAX) / 8;
        let name = if limit > 5_000_000 { "large" } else { "small" };
        place.run(&["keygen", "-a", algorithm, "-o", algorithm]).exits(0);
        let most = row["max_nonce_bytes"].as_u64().unwrap() as usize;
        let nonce = ["--nonce-hex", &"00112233445566778899aabbccddeeff"[..2 * most]];
        let nonce = if most == 0 { &[][..] } else { &nonce };
        let options = [&["tag", "-k", algorithm, "--allow-short"], nonce].concat();
        let tag = |threads: &str| {
            let options = [&options[..], &["--num-threads", threads, name]].concat();
            place.run(&options).exits(0).in_silence().out
        };
        let one = tag("1");
        assert_eq!(one, tag("0"));
        assert_eq!(one, tag("7"));
        let input = fs::read(place.path(name)).unwrap();
        let streamed = place.feed(&options, &input).exits(0).out;
        assert_eq!(one, streamed.replace("(-)", &format!("({name})")), "{algorithm}");
    }
}

#[test]
fn lengths_around_every_edge_of_the_reader() {
    let place = Place::bare();
    place.run(&["keygen", "-a", "LIGHTMAC-AES128-S24", "-o", "k13"]).exits(0);
    place.run(&["keygen", "-o", "k16"]).exits(0);
    place.run(&["keygen", "-a", "UMAC-64", "-o", "k2048"]).exits(0);
    let text = vec![7; (2 << 20) + 1];
    let nonce = &["--nonce-hex", "0102030405060708"][..];
    for (key, block, nonce) in [("k13", 13, &[][..]), ("k16", 16, &[]), ("k2048", 2048, nonce)] {
        let step = (128 << 10) / block * block;
        let edges = [0, block, step, 4 * step, 5 * step, 8 * step, 1 << 20, 2 << 20];
        for edge in edges {
            for length in edge.max(1) - 1..=edge + 1 {
                place.file("f", &text[..length]);
                let options = [&["tag", "-k", key], nonce].concat();
                let one = place.run(&[&options[..], &["f"]].concat()).exits(0).out;
                let streamed = place.feed(&options, &text[..length]).exits(0).out;
                assert_eq!(one, streamed.replace("(-)", "(f)"), "{length} bytes, block {block}");
            }
        }
    }
}

#[test]
fn trees_are_walked_in_order() {
    let place = Place::new();
    for folder in ["t", "t/b", "t/empty"] {
        fs::create_dir(place.path(folder)).unwrap();
    }
    for file in ["t/c", "t/a", "t/b/2", "t/b/1"] {
        place.file(file, file);
    }
    symlink("a", place.path("t/link")).unwrap();
    symlink("..", place.path("t/b/loop")).unwrap();
    let ran = place.keyed("tag", &["-r", "t"]).exits(0);
    let names: Vec<&str> = ran.out.lines().map(|line| &line[13..line.find(')').unwrap()]).collect();
    assert_eq!(names, ["t/a", "t/b/1", "t/b/2", "t/c"]);
    ran.says(&[
        "tagmac: t/b/loop: skipped: expected a file or directory, found a symbolic link\n",
        "tagmac: t/link: skipped: expected a file or directory, found a symbolic link\n",
    ]);
    place.keyed("tag", &["t"]).exits(4).prints("").says(&["expected a file, found a directory"]);
}

#[test]
fn the_output_is_no_input() {
    let place = Place::new();
    place.file("f", "text");
    place.shell("$T tag -k k -r . > list").exits(0).says(&["./list: skipped"]);
    place.keyed("check", &["list"]).exits(0).prints("./f: OK\n./k: OK\n");
    place.shell("$T tag -k k list > list").exits(4);
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let place = Place::new();
    place.file("f", "text");
    let ran = place.keyed("tag", &["f/under", "missing", "f"]).exits(4);
    assert!(ran.out.starts_with("PMAC-AES128 (f) = "));
    ran.says(&[
        "tagmac: f/under: Not a directory\n",
        "tagmac: missing: No such file or directory\n",
    ]);
    let json = place.keyed("tag", &["--json", "missing"]).exits(4).out;
    assert!(json.contains("\"status\":\"unreadable\""));
}

#[test]
fn over_the_limit() {
    let place = Place::new();
    place.run(&["keygen", "-a", "lightmac-aes128-s8", "-o", "k8"]).exits(0);
    place.file("f", vec![0; 3841]);
    let file = place.run(&["tag", "-k", "k8", "f"]).exits(4).prints("");
    file.says(&["tagmac: f: expected at most 3840 bytes, the algorithm's limit, found 3841\n"]);
    place.feed(&["tag", "-k", "k8"], &[0; 3841]).exits(4).prints("");
    place.feed(&["tag", "-k", "k8"], &[0; 3840]).exits(0);
    place.file("list", format!("LIGHTMAC-AES128-S8 (f) = {KEY_HEX}"));
    place.run(&["check", "-k", "k8", "list"]).exits(4).prints("f: FAILED open or read\n");
}

#[test]
fn wrong_command_lines() {
    let place = Place::new();
    place.file("f", "text");
    let cases: [(&[&str], &str); 14] = [
        (&["tag", "-k", "k", "--bogus"], "unexpected argument '--bogus'"),
        (&["tag", "-k", "k", "-a", "rot13", "f"], "unknown algorithm 'rot13'"),
        (&["tag", "-k", "k", "-a", "lightmac-aes128-s9", "f"], "S8 to S64 in steps of 8"),
        (&["tag", "-k", "k", "--tag-bits", "0", "--allow-short", "f"], "1 to 128 bits, found 0"),
        (&["tag", "-k", "k", "--tag-bits", "129", "f"], "1 to 128 bits, found 129"),
        (&["tag", "-k", "k", "--tag-bits", "63", "f"], "at least 64 bits, found 63"),
        (&["tag", "-k", "k", "--raw", "f", "f"], "--raw: expected one file, found 2"),
        (&["tag", "-k", "k", "--key-env", "KEY", "f"], "cannot be used with"),
        (&["tag", "--key-fd", "3", "--key-cmd", "true", "f"], "cannot be used with"),
        (&["tag", "f"], "no key given: use -k FILE"),
        (&["tag", "--key-env", "KEY", "--key-format", "hex", "f"], "expected -a"),
        (
            &["tag", "-k", "k", "-a", "aes-cmac", "f"],
            "'aes-cmac'; did you mean CMAC-AES128? 'tagmac",
        ),
        (&["keygen", "new.key"], "'new.key' found; use -o FILE"),
        (&["bogus"], "unrecognized subcommand 'bogus'"),
    ];
    for (args, text) in cases {
        place.run(args).exits(2).prints("").says(&[text]);
    }
    place.run(&["keygen", "-a", "HMAC-SHA256", "-o", "h"]).exits(0);
    place
        .run(&["tag", "-k", "h", "--tag-bits", "65", "f"])
        .exits(2)
        .says(&["in steps of 8, found 65"]);
    place.run(&["tag", "-k", "h", "--tag-bits", "24", "--allow-short", "f"]).exits(2);
    place.run(&["tag", "-k", "h", "--tag-bits", "32", "--allow-short", "f"]).exits(0);
    assert_eq!(place.run::<&str>(&[]).code, Some(2));
}

/// An alias may have a flag already. Which of two keys or files is meant nobody can know.
#[test]
fn flags_may_be_repeated_and_values_may_not() {
    let place = Place::new();
    place.file("f", "text");
    place.shell("mkdir t; echo one > t/a; $T tag -k k -r t > list; $T update -k k f").exits(0);
    place.shell("$T seal -k k t -o m; $T part -k k --object o --start 0 --last f -o p").exits(0);
    for line in [
        "tag -k k --json --json f",
        "tag -k k -z --zero -z f",
        "tag -k k -r --recursive t",
        "tag -k k --untagged --untagged f",
        "tag -k k --allow-short --allow-short --allow-short-key --allow-short-key f",
        "tag -k k --progress always --progress never --num-threads 2 --num-threads 1 f",
        "tag -k k --checkpoint s --checkpoint-every 1 --checkpoint-every 2 f",
        "check -k k --quiet --quiet -w --warn --strict --strict --status --status list",
        "check -k k --ignore-missing --ignore-missing --special --special list",
        "seal -k k --quiet --quiet --mtime --mtime --mode --mode t -o n",
        "audit -k k --quiet --quiet --json --json m t",
        "part -k k --object o --start 0 --last --last f -o q",
        "combine -k k --json --json p",
        "update -k k --append --append f",
        "list --json --json",
        "bounds --json --json -a PMAC-AES128 -a PMAC-AES128",
    ] {
        place.shell(&format!("$T {line}")).exits(0);
    }
    for (line, option) in [
        ("tag -k k -k k f", "--key-file <FILE>"),
        ("tag -k k --key-file other f", "--key-file <FILE>"),
        ("tag -k k -a PMAC-AES128 -a HMAC-SHA256 f", "--algorithm <ALG>"),
        ("tag -k k --tag-bits 64 --tag-bits 128 f", "--tag-bits <BITS>"),
        ("tag -k k --key-format auto --key-format raw f", "--key-format <FORMAT>"),
        ("tag -k k --checkpoint s --checkpoint u f", "--checkpoint <CHECKPOINT>"),
        ("keygen -o a -o b", "--output <FILE>"),
        ("seal -k k t -o a -o b", "--output <MANIFEST>"),
        ("audit -k k --combined a --combined b m t", "--combined <FILE>"),
        ("part -k k --object o --start 0 --start 16 --last f -o q", "--start <BYTES>"),
        ("update -k k --truncate 1 --truncate 2 f", "--truncate <LENGTH>"),
    ] {
        let ran = place.shell(&format!("$T {line}")).exits(2).prints("");
        ran.says(&[&format!("the argument '{option}' cannot be used multiple times")]);
    }
    // Flags that exclude each other still do.
    place.keyed("tag", &["--json", "--untagged", "--json", "f"]).exits(2);
    place.keyed("update", &["--append", "--finish", "--append", "f"]).exits(2);
}

#[test]
fn names_that_mean_something_else_are_explained() {
    let place = Place::new();
    place.shell("mkdir t; echo one > t/a; $T seal -k k t -o m; $T tag -k k m > list").exits(0);
    for (line, said) in [
        (
            "audit -k k - t < m",
            "expected the manifest's file, found '-': its tag is checked before",
        ),
        ("audit -k k m -", "expected a directory, found '-'"),
        ("seal -k k - -o n", "expected a directory, found '-'"),
        ("combine -k k - < m", "expected a partial's file, found '-'"),
        ("tag -k k --checkpoint - m", "--checkpoint: expected a file to write, found '-'"),
        ("keygen -o -", "-o: expected a file to write, found '-'"),
        ("man --output -", "--output: expected a directory, found '-'"),
        ("tag -k k s3n://b/k", "s3n://b/k: write this URL as s3://BUCKET/KEY"),
        ("tag -k k -r S3://b/k", "S3://b/k: write this URL as s3://BUCKET/KEY"),
        ("tag -k k m arn:aws:s3:::b/k", "arn:aws:s3:::b/k: expected s3://BUCKET/KEY, found an ARN"),
        (
            "tag -k k https://host/f",
            "https://host/f: expected a file, or s3://, gs:// or az:// with bucket and key, found a web \
             address; 'curl URL | tagmac tag' reads those",
        ),
        ("seal -k k hdfs://h/d -o n", "hdfs://h/d: this URL is not supported; expected a file, or s3://"),
        ("seal -k k t -o https://b/m", "https://b/m: expected a file, or s3://"),
        ("audit -k k gcs://b/m t", "gcs://b/m: write this URL as gs://BUCKET/KEY"),
        ("audit -k k m abfss://c@h/d", "abfss://c@h/d: write this URL as az://CONTAINER/KEY"),
        (
            "part -k k --object o --start 0 --last s3n://b/k -o p",
            "s3n://b/k: write this URL as s3://BUCKET/KEY",
        ),
        ("check -k k --raw-tag m s3n://b/k", "s3n://b/k: write this URL as s3://BUCKET/KEY"),
        ("check -k k s3://b/list", "s3://b/list: expected a file, found the URL of an object"),
        ("combine -k k s3://b/p", "s3://b/p: expected a file, found the URL of an object"),
        ("update -k k gs://b/k", "gs://b/k: expected a file, found the URL of an object"),
        ("update -k k --patch 0 https://h/p m", "https://h/p: expected a file, or s3://"),
        ("tag -k az://c/k m", "az://c/k: expected a file, found the URL of an object"),
        (
            "tag -k k --checkpoint s3://b/c m",
            "s3://b/c: expected a file, found the URL of an object",
        ),
        ("part -k k --object o --start 0 --last m -o s3://b/p", "s3://b/p: expected a file, found"),
        ("keygen -o s3://b/k", "s3://b/k: expected a file, found the URL of an object"),
    ] {
        let ran = place.shell(&format!("$T {line}")).exits(2).prints("").says(&[said]);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
    assert!(!place.path("-").exists());
    // Files may have such names.
    place
        .shell("mkdir -p s3n:/b https: && echo one > s3n:/b/k && echo two > ./arn:x && cp m ./-")
        .exits(0);
    place.keyed("tag", &["s3n://b/k", "arn:x", "./-"]).exits(0).in_silence();
    place.keyed("audit", &["./-", "t"]).exits(0);
}

#[test]
fn messages_name_the_help_to_read() {
    let place = Place::new();
    // Under whatever name the command is installed.
    symlink(env!("CARGO_BIN_EXE_tagmac"), place.path("other")).unwrap();
    let says = |line: &str, text: &str| {
        let ran = place.shell(line).exits(2);
        assert_eq!(ran.err, format!("tagmac: {text}\n"));
    };
    says("./other -c", "unexpected argument '-c' found; see 'tagmac --help'");
    says("./other tag -q f", "unexpected argument '-q' found; see 'tagmac tag --help'");
    says(
        "./other check --quit",
        "unexpected argument '--quit' found; tip: a similar argument exists: '--quiet'; \
         see 'tagmac check --help'",
    );
    says(
        "$T tag --tag-bits x",
        "invalid value 'x' for '--tag-bits <BITS>': expected a number of bits, such as 64; \
         see 'tagmac tag --help'",
    );
}

#[test]
fn levels() {
    let place = Place::new();
    place.file("f", "text");
    let at = |level: &str| -> Ran {
        let mut command = place.command(&["tag", "-k", "k", "f"]);
        command.env("TAGMAC_LEVEL", level).output().unwrap().into()
    };
    assert_eq!(at("portable").exits(0).out, at("").exits(0).out);
    at("bogus").exits(2).prints("").says(&["TAGMAC_LEVEL: expected one of portable"]);
    let other = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    at(other).exits(2).prints("");
}
