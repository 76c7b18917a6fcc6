//! Algorithms with nonces: a nonce is random, its line contains it, and no tag is made without one.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{Place, Ran};
use tagmac_any::{AnyMac, KeyFile};

const ALGORITHMS: [&str; 5] = ["POLY1305-AES", "UMAC-32", "UMAC-64", "UMAC-96", "UMAC-128"];
/// A nonce of 16 bytes, in hex.
const NONCE: &str = "000102030405060708090a0b0c0d0e0f";

/// Returns a folder with a key file for the algorithm and the files `a` and `b`.
fn place(algorithm: &str) -> Place {
    let place = Place::bare();
    place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
    place.file("a", "one");
    place.file("b", "two");
    place
}

/// Returns the nonces of a list.
fn nonces(list: &str) -> Vec<&str> {
    list.lines().map(|line| line.split_once(".n=").unwrap().1.split(' ').next().unwrap()).collect()
}

/// Checks a list on standard input.
fn check(place: &Place, list: &str, more: &[&str]) -> Ran {
    place.feed(&[&["check", "-k", "k"], more].concat(), list.as_bytes())
}

#[test]
fn lines_of_each_algorithm_are_read_back() {
    for algorithm in ALGORITHMS {
        let place = place(algorithm);
        for form in [&["--allow-short"][..], &["--allow-short", "-z"]] {
            let list = place.keyed("tag", &[form, &["a", "b"]].concat()).exits(0).in_silence().out;
            assert!(list.starts_with(&format!("{algorithm}.n=")), "{list}");
            check(&place, &list, form).exits(0).in_silence().prints("a: OK\nb: OK\n");
            let changed = list.replace("(b)", "(a)");
            check(&place, &changed, form).exits(1).prints("a: OK\na: FAILED\n");
        }
    }
}

#[test]
fn each_file_has_a_nonce_of_its_own() {
    let place = place("POLY1305-AES");
    let mut seen = BTreeSet::new();
    for args in [&["a", "a", "b"][..], &["a", "a", "b"], &["-r", "."]] {
        let list = place.keyed("tag", args).exits(0).out;
        let nonces = nonces(&list);
        assert_eq!(nonces.len(), 3);
        for nonce in nonces {
            let full = nonce.len() == 32 && nonce.bytes().all(|b| b"0123456789abcdef".contains(&b));
            assert!(full, "{nonce}");
            assert!(seen.insert(nonce.to_string()), "{nonce} again");
        }
    }
}

#[test]
fn known_answers() {
    let place = Place::bare();
    place.file("f", "");
    // vectors/poly1305-aes.json and vectors/umac.json: the rows of Bernstein and of the RFC.
    let poly = "75deaa25c09f208e1dc4ce6b5cad3fbfa0f3080000f46400d0c7e9076c834403";
    let umac = "6162636465666768696a6b6c6d6e6f70";
    let run = |key: &str, algorithm: &str, nonce: &str, more: &[&str]| {
        let options = ["tag", "--key-env", "KEY", "--key-format", "hex", "-a", algorithm];
        let mut command = place.command(&options);
        command.args(["--nonce-hex", nonce, "f"]).args(more).env("KEY", key);
        Ran::from(command.output().unwrap()).exits(0).in_silence()
    };
    let (nonce, tag) = ("61ee09218d29b0aaed7e154a2c5509cc", "dd3fab2251f11ac759f0887129cc2ee7");
    let run_poly = |more: &[&str]| run(poly, "poly1305-aes", nonce, more);
    run_poly(&[]).prints(&format!("POLY1305-AES.n={nonce} (f) = {tag}\n"));
    run_poly(&["-z"]).prints(&format!("POLY1305-AES.n={nonce} (f) = {tag}\0"));
    run_poly(&["--untagged"]).prints(&format!("{tag}  f\n"));
    let raw = run_poly(&["--raw"]).bytes;
    assert_eq!(raw, u128::from_str_radix(tag, 16).unwrap().to_be_bytes());
    let json = run_poly(&["--json"]).out;
    assert!(json.contains(&format!("\"tag\":\"{tag}\",\"nonce\":\"{nonce}\",\"bits\":128,")));
    let short = run(umac, "umac-32", "6263646566676869", &["--allow-short"]);
    short.prints("UMAC-32.n=6263646566676869 (f) = 113145fb\n");
}

#[test]
fn another_nonce_fails() {
    let place = place("UMAC-128");
    let list = place.keyed("tag", &["a", "b"]).exits(0).out;
    let [one, two] = nonces(&list)[..] else { panic!("{list}") };
    let swapped = list.replace(one, "-").replace(two, one).replace("n=-", &format!("n={two}"));
    let ran = check(&place, &swapped, &[]).exits(1).prints("a: FAILED\nb: FAILED\n");
    ran.says(&[
        "tagmac: WARNING: 2 computed checksums did NOT match\n",
        ": no tag matches: check that key ",
    ]);
    let flipped = if one.starts_with('0') { "1" } else { "0" };
    let flipped = list.replace(one, &format!("{flipped}{}", &one[1..]));
    check(&place, &flipped, &[]).exits(1).prints("a: FAILED\nb: OK\n");
    // Upper case is accepted, as in tags.
    let upper = list.replace(one, &one.to_uppercase());
    check(&place, &upper, &[]).exits(0).prints("a: OK\nb: OK\n");
    let json = check(&place, &list, &["--json"]).exits(0).out;
    assert!(json.contains(&format!("\"nonce\":\"{one}\"")), "{json}");
}

#[test]
fn a_line_with_a_wrong_nonce_is_malformed() {
    let sixteen = "expected 'POLY1305-AES.n=NONCE (NAME) = HEX', with a nonce of 16 bytes, found '";
    let some = "expected 'UMAC-64.n=NONCE (NAME) = HEX', with a nonce of 1 to 16 bytes, found '";
    let digits = "expected two hex digits for each byte of the nonce, found '";
    let none = "expected 'PMAC-AES128 (NAME) = HEX', without a nonce, found 'PMAC-AES128.n=";
    let cases: [(&str, &[(&str, &str)]); 3] = [
        (
            "POLY1305-AES",
            &[
                ("", sixteen),
                (".n=00", sixteen),
                (".n=000102030405060708090a0b0c0d0e", sixteen),
                (".n=000102030405060708090a0b0c0d0e0f10", sixteen),
                (".n=", digits),
                (".n=0", digits),
                (".n=000102030405060708090a0b0c0d0e0g", digits),
            ],
        ),
        ("UMAC-64", &[("", some), (".n=000102030405060708090a0b0c0d0e0f10", some)]),
        ("PMAC-AES128", &[(".n=000102030405060708090a0b0c0d0e0f", none), (".n=00", none)]),
    ];
    for (algorithm, nonces) in cases {
        let place = place(algorithm);
        let good = place.keyed("tag", &["a"]).exits(0).out;
        let start = &good[..good.find(" (a)").unwrap()];
        for (nonce, why) in nonces {
            let bad = good.replace(start, &format!("{algorithm}{nonce}"));
            let list = format!("{good}{bad}{bad}");
            for more in [&[][..], &["--strict"], &["-w"]] {
                let ran = check(&place, &list, more).exits(1).prints("a: OK\n");
                let line = format!("tagmac: standard input: line 2: {why}");
                ran.says(&[&line, "WARNING: 2 lines are improperly formatted\n"]);
            }
            check(&place, &list, &["--status"]).exits(1).prints("").in_silence();
            check(&place, &list, &["--json"]).exits(1).says(&[why]);
            let ran = check(&place, &bad, &[]).exits(1).prints("");
            ran.says(&["standard input: no properly formatted checksum lines found\n"]);
        }
    }
    // An untagged line has no nonce; a line of another algorithm is unchanged.
    let place = place("UMAC-64");
    check(&place, "0011223344556677  a\n", &[]).exits(1).prints("").says(&[some]);
    for line in ["PMAC-AES128 (a) = 00\n", "UMAC-128.n=00 (a) = 00\n", "UMAC-32 (a) = 00\n"] {
        let ran = check(&place, line, &[]).exits(1).prints("a: FAILED\n");
        ran.says(&["a: expected algorithm UMAC-64, found "]);
    }
}

#[test]
fn a_given_nonce_is_for_one_input_of_an_algorithm_that_takes_it() {
    let place = place("POLY1305-AES");
    place.run(&["keygen", "-a", "UMAC-128", "-o", "u"]).exits(0);
    place.run(&["keygen", "-o", "p"]).exits(0);
    let long = format!("{NONCE}10");
    let cases: [(&str, &str); 14] = [
        ("tag -k k --nonce-hex NONCE a b", "--nonce-hex: expected one file, found 2"),
        ("tag -k k --nonce-hex NONCE -r .", "'--nonce-hex <HEX>' cannot be used with '--recursi"),
        ("tag -k k --nonce-hex 00 a", "POLY1305-AES: expected a nonce of 16 bytes, found 1"),
        ("tag -k k --nonce-hex LONG a", "POLY1305-AES: expected a nonce of 16 bytes, found 17"),
        ("tag -k u --nonce-hex LONG a", "UMAC-128: expected a nonce of 1 to 16 bytes, found 17"),
        ("tag -k u --nonce-hex 0 a", "expected two hex digits for each byte"),
        ("tag -k u --nonce-hex 0g a", "expected two hex digits for each byte"),
        ("tag -k u --nonce-hex= a", "expected two hex digits for each byte"),
        ("tag -k p --nonce-hex NONCE a", "--nonce-hex: PMAC-AES128: this MAC does not use a nonce"),
        ("tag -k k --raw a", "--raw: POLY1305-AES needs a nonce; use --nonce-hex"),
        ("tag -k u --untagged a", "--untagged: UMAC-128 needs a nonce; use --nonce-hex"),
        ("check -k k --raw-tag b a", "--raw-tag: POLY1305-AES needs a nonce; use --nonce-hex"),
        ("check -k k --nonce-hex NONCE a b", "--nonce-hex: expected one list, found 2"),
        (
            "check -k p --nonce-hex NONCE a",
            "--nonce-hex: PMAC-AES128: this MAC does not use a nonce",
        ),
    ];
    for (line, text) in cases {
        let line = line.replace("NONCE", NONCE).replace("LONG", &long);
        let args: Vec<&str> = line.split(' ').collect();
        place.run(&args).exits(2).prints("").says(&[text]);
    }
    place.keyed("tag", &["--nonce-hex", NONCE, "."]).exits(4).prints("");
    place.run(&["tag", "-k", "u", "--nonce-hex", "0F", "a"]).exits(0).in_silence();
}

#[test]
fn raw_and_untagged_tags() {
    for (algorithm, nonce, other) in
        [("POLY1305-AES", NONCE, "000102030405060708090a0b0c0d0e0e"), ("UMAC-64", "07", "0700")]
    {
        let place = place(algorithm);
        let tag = |form| place.keyed("tag", &["--nonce-hex", nonce, form, "a"]).exits(0);
        place.file("raw", tag("--raw").bytes);
        let raw =
            |nonce, file| place.keyed("check", &["--raw-tag", "raw", "--nonce-hex", nonce, file]);
        raw(nonce, "a").exits(0).in_silence().prints("a: OK\n");
        raw(nonce, "b").exits(1).prints("b: FAILED\n");
        raw(other, "a").exits(1).prints("a: FAILED\n");

        let list = tag("--untagged").in_silence().out;
        let given = |list: &str, nonce| check(&place, list, &["--nonce-hex", nonce]);
        given(&format!("# one\n\n{list}"), nonce).exits(0).in_silence().prints("a: OK\n");
        given(&list, other).exits(1).prints("a: FAILED\n");
        given(&list.replace("  a", "  b"), nonce).exits(1).prints("b: FAILED\n");
        // One nonce serves one line.
        let ran = given(&list.repeat(2), nonce).exits(1).prints("a: OK\n");
        ran.says(&["line 2: expected no second line with --nonce-hex, found '"]);
    }
}

#[test]
fn a_line_cannot_choose_another_nonce_than_the_given_one() {
    let place = place("POLY1305-AES");
    let list = place.keyed("tag", &["a"]).exits(0).out;
    let [own] = nonces(&list)[..] else { panic!("{list}") };
    check(&place, &list, &["--nonce-hex", own]).exits(0).in_silence().prints("a: OK\n");
    let ran = check(&place, &list, &["--nonce-hex", NONCE]).exits(1).prints("a: FAILED\n");
    ran.says(&[&format!("a: expected the nonce {NONCE} (--nonce-hex), found {own}\n")]);
}

#[test]
fn tags_have_the_algorithms_own_length() {
    for (algorithm, bits) in [("POLY1305-AES", "128"), ("UMAC-64", "64"), ("UMAC-96", "96")] {
        let place = place(algorithm);
        let list = place.keyed("tag", &["--tag-bits", bits, "a"]).exits(0).out;
        check(&place, &list, &[]).exits(0).prints("a: OK\n");
        for other in ["32", "65", "160"] {
            let why = format!("--tag-bits: {algorithm}: expected a tag length of {bits}");
            for command in ["tag", "check"] {
                let ran =
                    place.keyed(command, &["--tag-bits", other, "--allow-short", "a"]).exits(2);
                ran.prints("").says(&[&why, &format!("found {other}\n")]);
            }
        }
        // A truncated tag is rejected, even if its bytes are right.
        let cut = &list[..list.len() - 9];
        let ran = check(&place, cut, &[]).exits(1).prints("a: FAILED\n");
        ran.says(&[&format!("({bits} bits), found ")]);
    }
}

#[test]
fn tags_of_32_bits_have_to_be_allowed() {
    let place = place("UMAC-32");
    let list = place.keyed("tag", &["--allow-short", "a"]).exits(0).out;
    place.file("list", &list);
    let why = "expected tags of at least 64 bits, found 32; --allow-short permits shorter tags\n";
    for more in [&[][..], &["--tag-bits", "32"], &["-a", "umac-32"]] {
        place.keyed("tag", &[more, &["a"]].concat()).exits(2).prints("").says(&[why]);
        place.keyed("check", &[more, &["list"]].concat()).exits(2).prints("").says(&[why]);
        let allowed = [&["--allow-short"], more, &["list"]].concat();
        place.keyed("check", &allowed).exits(0).in_silence().prints("a: OK\n");
    }
    // -a already decides, so the key is not read.
    place.run(&["tag", "-k", "missing", "-a", "umac-32", "a"]).exits(2).says(&["UMAC-32: ", why]);
}

#[test]
fn standard_input() {
    let place = place("UMAC-96");
    let list = place.feed(&["tag", "-k", "k"], b"text").exits(0).in_silence().out;
    assert!(list.starts_with("UMAC-96.n=") && list.contains(" (-) = "), "{list}");
    place.file("list", &list);
    place.feed(&["check", "-k", "k", "list"], b"text").exits(0).prints("-: OK\n");
    place.feed(&["check", "-k", "k", "list"], b"texT").exits(1).prints("-: FAILED\n");
    place.file("text", "text");
    check(&place, &list.replace("(-)", "(text)"), &[]).exits(0).prints("text: OK\n");
    let again = place.feed(&["tag", "-k", "k", "--nonce-hex", nonces(&list)[0]], b"text");
    again.exits(0).prints(&list);
}

#[test]
fn a_file_on_all_cores_has_the_tag_of_its_bytes() {
    // Above 2^24 bytes UMAC changes to another field. The period is coprime to every relevant
    // length, so all pieces differ.
    let period: Vec<u8> = (0..1_000_003u32).map(|i| (i.wrapping_mul(i) >> 9) as u8).collect();
    let text: Vec<u8> = period.into_iter().cycle().take((40 << 20) + 1234).collect();
    let bare = Place::bare();
    bare.file("f", &text);
    let nonce: Vec<u8> = (0..16).collect();
    for algorithm in ALGORITHMS {
        bare.run(&["keygen", "-a", algorithm, "-o", algorithm]).exits(0);
        let key = KeyFile::parse(&fs::read(bare.path(algorithm)).unwrap()).unwrap();
        let mac = AnyMac::new(key.algorithm(), key.key()).unwrap();
        let tag = mac.tag(&nonce, &text).unwrap();
        for threads in ["1", "5"] {
            let options = ["--nonce-hex", NONCE, "--allow-short", "--num-threads", threads, "f"];
            let ran = bare.run(&[&["tag", "-k", algorithm], &options[..]].concat()).exits(0);
            ran.prints(&format!("{algorithm}.n={NONCE} (f) = {tag}\n"));
        }
    }
}
