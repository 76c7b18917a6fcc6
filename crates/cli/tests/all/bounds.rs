//! `tagmac bounds`, and what other commands print about a key's limits.

use std::fs;

use crate::common::{Place, Ran};
use serde_json::Value;

fn bounds(args: &[&str]) -> Ran {
    Place::bare().run(&[&["bounds"], args].concat())
}

/// Returns the cells of an algorithm's row.
fn row(ran: &Ran, name: &str) -> Vec<String> {
    let line = ran.out.lines().find(|line| line.split(' ').next() == Some(name));
    let cells = line.unwrap_or_else(|| panic!("no {name} in {}", ran.out)).split("  ");
    cells.map(str::trim).filter(|cell| !cell.is_empty()).map(String::from).collect()
}

#[test]
fn the_table_has_every_mac_of_the_papers() {
    let ran = bounds(&[]).exits(0);
    assert!(ran.err.is_empty() && ran.out.starts_with("What one key may authenticate "));
    // 3 * 65536 q^2 <= 2^96 for messages of 65536 blocks.
    let pmac = ["PMAC-AES128", "1 MiB", "2^39.2", "591.2 PiB", "2^61.78"];
    assert_eq!(row(&ran, "PMAC-AES128"), pmac);
    // 3 * 131072 q^2 <= 2^32.
    assert_eq!(row(&ran, "PMAC-PRESENT128")[2..], ["104", "104 MiB", "2047"]);
    // q^2 a little below 2^32.
    let light = row(&ran, "LIGHTMAC-PRESENT128-S8..S32");
    assert_eq!(light[1..4], ["1.75 KiB..1 MiB", "65535", "111.99 MiB..63.99 GiB"]);
    assert_eq!(row(&ran, "LIGHTMAC-AES256-S8..S64")[2], "2^47.99");
    assert_eq!(row(&ran, "ELIMAC-AES128")[2], "2^41.04");
    // Random nonces of 16 bytes: q^2 / 2^129. 2^74 / (13.19 * 65536)
    assert_eq!(row(&ran, "POLY1305-AES")[2..], ["2^48.5", "362.03 EiB", "2^54.27"]);
    assert_eq!(row(&ran, "UMAC-32")[4], "0");
    assert_eq!(row(&ran, "UMAC-128")[4], "2^87.27");
    assert!(ran.out.contains("Nonces are drawn at random, as 'tagmac tag' draws them"));
    for name in ["CMAC", "HMAC"] {
        assert!(!ran.out.contains(&format!("\n{name}")));
    }
    for term in
        ["\nPMAC ", "\nLIGHTMAC ", "3 Adv^prp_AES\n", "Adv^prp_AES7", "Adv^prf_F + Adv^prg_KDF"]
    {
        assert!(ran.out.contains(term), "{term}");
    }
    assert!(ran.out.lines().all(|line| line.len() < 100));
}

#[test]
fn algorithms_lengths_messages_and_probabilities() {
    let names = ["-a", "pmac-present128", "-a", "LIGHTMAC-PRESENT128-S16"];
    let ran = bounds(&[&names[..], &["--length", "1500", "--messages", "2^20"]].concat()).exits(0);
    assert!(ran.out.contains("AFTER 2^20"));
    let pmac = ["PMAC-PRESENT128", "1.46 KiB", "2759", "3.94 MiB", "503631", "2^-14.86"];
    assert_eq!(row(&ran, "PMAC-PRESENT128"), pmac);
    let light = row(&ran, "LIGHTMAC-PRESENT128-S16");
    assert_eq!(light[2..], ["65535", "93.74 MiB", "2^31.99", "2^-23.99"]);
    assert!(ran.out.contains("Adv^prp_E1(2^27.97) + Adv^prp_E2(2^20)"));
    // The same numbers in other notations.
    let same =
        bounds(&[&names[..], &["--length", "1500B", "-m", "1048576", "-p", "2^-32"]].concat());
    assert_eq!(same.exits(0).out, ran.out);

    // The default length is at most the MAC's limit.
    let ran = bounds(&["-a", "LIGHTMAC-PRESENT128-S8"]).exits(0);
    assert_eq!(row(&ran, "LIGHTMAC-PRESENT128-S8")[1], "1.75 KiB");
    let ran = bounds(&["--length", "1GiB", "-p", "0.5"]).exits(0);
    assert!(ran.out.contains("a forgery has a probability of at most 2^-1:"));
    assert_eq!(row(&ran, "LIGHTMAC-AES128-S8..S64")[1], "3.75 KiB..1 GiB");
    let ran = bounds(&["-p", "0.3", "-a", "UMAC-32", "-m", "2^64"]).exits(0);
    // 0.3 * 2^30 / 1.65; two of 2^64 random nonces are equal with a probability of 2^-1.
    assert_eq!(row(&ran, "UMAC-32")[4..], ["2^27.54", "2^-1"]);
    let ran = bounds(&["-p", "0.3", "-a", "UMAC-32", "-m", "2^64", "--nonces", "counter"]).exits(0);
    assert_eq!(row(&ran, "UMAC-32")[4..], ["2^27.54", "0"]);
    assert!(ran.out.contains("Nonces come from a counter"));
    assert!(ran.out.contains("a forgery has a probability of at most 0.3:"));
    let ran = bounds(&["-a", "PMAC-AES128", "-m", "2^60"]).exits(0);
    assert_eq!(row(&ran, "PMAC-AES128")[5], "1");
}

#[test]
fn tags_that_are_cut() {
    let all = bounds(&["--tag-bits", "64"]).exits(0);
    assert!(all.out.starts_with(
        "What one key may authenticate with tags of 64 bits while a forgery has a probability of at most 2^-32:"
    ));
    // 2^-32 / (2^-64 and a little); as many messages as with full-length tags.
    assert_eq!(row(&all, "PMAC-AES128")[2..], ["2^39.2", "591.2 PiB", "2^31.99"]);
    assert_eq!(row(&all, "LIGHTMAC-AES128-S8..S64")[4], "2^31.99");
    // 2^-32 / (2^-64 and a little); no more messages than with full-length tags.
    assert_eq!(row(&all, "ELIMAC-AES128")[2], "2^41.04");
    assert_eq!(row(&all, "ELIMAC-AES128")[4], "2^31.99");
    let cut = bounds(&["--tag-bits", "96", "-a", "ELIMAC-AES128"]).exits(0);
    assert_eq!(row(&cut, "ELIMAC-AES128")[2], "2^41.04");
    // Algorithms whose only tags have 64 bits.
    assert_eq!(row(&all, "UMAC-64")[4], "2^27.27");
    for name in ["UMAC-32", "UMAC-128", "POLY1305-AES"] {
        assert!(!all.out.contains(&format!("\n{name} ")), "{name}");
    }
    let objects =
        bounds(&["--tag-bits", "8", "--json", "-a", "PMAC-AES256", "-p", "2^-4"]).exits(0).out;
    let object: Value = serde_json::from_str(&objects).unwrap();
    assert_eq!((&object["tag_bits"], &object["guesses"]), (&8.into(), &15.into()));
    // Full-length tags, requested by their length.
    let whole = bounds(&["-a", "PMAC-AES128", "--tag-bits", "128"]).exits(0);
    let same = bounds(&["-a", "PMAC-AES128"]).exits(0);
    assert_eq!(row(&whole, "PMAC-AES128"), row(&same, "PMAC-AES128"));
}

#[test]
fn reads_of_leaves() {
    let ran = bounds(&["--leaves"]).exits(0);
    assert!(ran.out.contains("  GUESSES") && ran.out.contains("  READS"));
    assert!(ran.out.lines().all(|line| line.len() < 100));
    // A guess at a leaf tag of 128 bits is about as likely as a collision, or rarer.
    let last = |name| row(&ran, name)[4..].to_vec();
    assert_eq!(last("PMAC-AES128"), ["2^61.78", "2^61.78"]);
    assert_eq!(last("PMAC-PRESENT128"), ["2047", "2047"]);
    assert_eq!(last("LIGHTMAC-AES128-S8..S64"), ["2^96", "2^95"]);
    assert_eq!(last("ELIMAC-AES128"), ["2^81.08", "2^81.08"]);
    // Algorithms with nonces have no leaf tags.
    assert_eq!(last("POLY1305-AES"), ["2^54.27", "-"]);
    let hmac = "HMAC-SHA256, which makes leaf tags, is compared with a random function.\n";
    assert!(ran.out.ends_with(hmac), "{}", ran.out);
    assert!(ran.out.contains("Adv^prp_E + Adv^prf_HMAC-SHA256"), "{}", ran.out);
    let one = ["--leaves", "--json", "-a", "PMAC-AES128"];
    let object: Value = serde_json::from_str(&bounds(&one).exits(0).out).unwrap();
    let guesses = object["guesses"].as_f64().unwrap();
    assert!((object["reads"].as_f64().unwrap() / guesses - 1.0).abs() < 1e-6);
    // 2^39.2 contents of 512 leaves of 2 KiB.
    assert_eq!(object["plus"][1], "Adv^prf_HMAC-SHA256(2^48.21)");
    let without = bounds(&["--json", "-a", "PMAC-AES128"]).exits(0);
    assert!(!without.out.contains("reads") && !without.out.contains("HMAC"));
    // All keys together.
    let keys =
        bounds(&["--leaves", "--keys", "2^20", "-m", "2^20", "-a", "ELIMAC-AES128"]).exits(0);
    assert_eq!(row(&keys, "ELIMAC-AES128")[5..], ["2^61.08", "2^108", "2^-54.08"]);

    let refused = |args: &[&str], text: &str| {
        bounds(args).exits(2).prints("").says(&[text]);
    };
    let nonces = "--leaves: UMAC-64: a MAC with nonces has no leaf tags";
    refused(&["--leaves", "-a", "UMAC-64"], nonces);
    refused(&["--leaves", "--tag-bits", "64"], "cannot be used with");
}

#[test]
fn many_keys_share_the_probability() {
    let ran = bounds(&["--keys", "2^20", "--messages", "2^20"]).exits(0);
    assert!(
        ran.out.starts_with("What each of 2^20 keys may authenticate while a forgery under any of")
    );
    // A thousandth of the messages and a millionth of the guesses; 2^20 times the bound.
    let light = row(&ran, "LIGHTMAC-AES128-S8..S64");
    assert_eq!(light[2..], ["2^37.99", "959.99 TiB..255.99 PiB", "2^76", "2^108", "2^-67.99"]);
    let search = |name| row(&ran, name)[5].clone();
    assert_eq!([search("POLY1305-AES"), search("UMAC-64")], ["2^108", "2^108"]);
    assert_eq!(search("PMAC-PRESENT80"), "2^60");
    assert!(ran.out.contains("KEY SEARCH is the number of keys"));
    // The same probability for each key.
    let each = bounds(&["-p", "2^-52", "-a", "UMAC99-MMX-60"]).exits(0);
    let all = bounds(&["--keys", "2^20", "-a", "UMAC99-MMX-60"]).exits(0);
    assert_eq!(row(&each, "UMAC99-MMX-60")[..5], row(&all, "UMAC99-MMX-60")[..5]);
    let one = bounds(&["--keys", "1", "-a", "PMAC-AES256"]).exits(0);
    assert!(one.out.starts_with("What one key may authenticate while a forgery has a"));
    assert_eq!(row(&one, "PMAC-AES256")[5], "2^256");
}

#[test]
fn objects() {
    let ran = bounds(&["--json", "-m", "2^30"]).exits(0).in_silence();
    let objects: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let listed = Place::bare().run(&["list", "--json"]).exits(0).out;
    let listed: Vec<Value> =
        listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // All algorithms except three CMACs and HMAC.
    assert_eq!(objects.len() + 4, listed.len());
    for object in &objects {
        let same = listed.iter().find(|listed| listed["algorithm"] == object["algorithm"]);
        let budget = &same.unwrap()["budget"];
        for field in ["length", "messages", "bytes", "guesses"] {
            assert!(object[field].is_number());
            assert_eq!(object[field], budget[field], "{field} of {object}");
        }
        assert!(object["bound"].is_number() && object["probability"] == 2f64.powi(-32));
        assert!(!object["plus"].as_array().unwrap().is_empty());
    }
    let of = |name: &str| objects.iter().find(|object| object["algorithm"] == name).unwrap();
    assert_eq!(of("UMAC-64")["guesses"], 162_814_334);
    let nonces = (&of("UMAC-64")["nonces"], &of("UMAC-64")["bound"]);
    assert_eq!(nonces.0, "random");
    assert!((2f64.powi(-69) - nonces.1.as_f64().unwrap()).abs() < 2f64.powi(-98));
    assert!(of("UMAC-64").get("keys").is_none() && of("PMAC-AES128").get("nonces").is_none());
    let counter =
        ["--json", "-a", "UMAC-64", "-m", "2^30", "--nonces", "counter", "--keys", "1024"];
    let object: Value = serde_json::from_str(&bounds(&counter).exits(0).out).unwrap();
    assert_eq!((&object["bound"], &object["nonces"]), (&0.0.into(), &"counter".into()));
    assert_eq!((&object["keys"], &object["key_search_log2"]), (&1024.into(), &118.0.into()));
    assert_eq!(object["plus"][0], "3 Adv^prp_AES(1024 keys, 2^30)");
    assert!(object.get("bound_log2").is_none());
    assert_eq!(of("PMAC-AES128")["messages"], 634_803_334_273u64);
    let log2 = of("LIGHTMAC-AES128-S32")["bound_log2"].as_f64().unwrap();
    assert!((-68.0..-67.999).contains(&log2));
    let none = listed.iter().filter(|listed| listed["budget"].is_null()).count();
    assert_eq!(none, 4);
    let ran = bounds(&["--json", "-a", "POLY1305-AES"]).exits(0);
    assert!(!ran.out.contains("bound") && ran.out.contains("Adv^prp_AES(2^48.50)"));
}

#[test]
fn what_there_is_not() {
    let refused = |args: &[&str], text: &str| {
        let ran = bounds(args).exits(2).prints("");
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        ran.says(&[text]);
    };
    refused(&["-m", "0"], "--messages: PMAC-AES128: expected at least one message, found 0");
    for probability in ["1", "2^0", "2^5", "0", "nan", "inf", "2^-5000"] {
        refused(
            &["-p", probability],
            "--probability: expected a probability between 0 and 1, such as",
        );
    }
    refused(&["--probability=-0.5"], "found -0.5");
    for probability in ["", "2^", "half", "2^-1.5"] {
        refused(&["-p", probability], "expected a probability, such as 2^-32");
    }
    let s8 = "LIGHTMAC-PRESENT128-S8";
    let limit = "--length: LIGHTMAC-PRESENT128-S8: expected a message of at most 1792 bytes, found";
    refused(&["-a", s8, "--length", "1793"], limit);
    refused(&["-a", "ELIMAC-AES128", "--length", "64GiB"], "at most 68719476735 bytes");
    bounds(&["-a", s8, "--length", "1792"]).exits(0);
    for size in ["", "x", "1.5MiB", "-1", "4kB", "2^64", "16EiB", "1e6"] {
        refused(&[&format!("--length={size}")], "expected a size");
    }
    for count in ["", "x", "2^128", "-1", "1MiB"] {
        refused(&[&format!("--messages={count}")], "expected a number, such as 1000000 or 2^40");
    }
    refused(
        &["-a", "POLY1305-AES", "-m", "2^69"],
        "expected at most 295147905179352825856 messages",
    );
    refused(&["--keys", "0"], "--keys: expected at least one key, found 0");
    refused(&["--nonces", "none"], "invalid value 'none' for '--nonces <KIND>'");
    refused(
        &["-a", "HMAC-SHA256"],
        "-a: HMAC-SHA256 has no bound here: CMAC and HMAC are not covered",
    );
    refused(&["-a", "bogus"], "unknown algorithm 'bogus'");
    let tag_bits = |algorithm, bits, text| refused(&["-a", algorithm, "--tag-bits", bits], text);
    tag_bits("UMAC-64", "32", "--tag-bits: UMAC-64: expected a tag length of 64 bits, found 32");
    tag_bits("POLY1305-AES", "64", "POLY1305-AES: expected a tag length of 128 bits, found 64");
    tag_bits("PMAC-PRESENT128", "65", "expected a tag length of 1 to 64 bits, found 65");
    tag_bits("LIGHTMAC-AES128-S8", "0", "expected a tag length of 1 to 128 bits, found 0");
    tag_bits("PMAC-AES128", "4294967360", "found 4294967360");
    refused(&["--tag-bits", "1000"], "--tag-bits: no algorithm has tags of 1000 bits");
    refused(&["--tag-bits", "x"], "invalid value 'x' for '--tag-bits <BITS>'");
}

#[test]
fn keygen_says_what_the_key_may_do() {
    let place = Place::bare();
    let ran = place.run(&["keygen", "-o", "k"]).exits(0);
    assert_eq!(ran.out.len(), 17);
    ran.says(&[
        "tagmac: this key may authenticate 2^39.2 messages of 1 MiB, or reject 2^61.78 wrong",
    ]);
    let ran = place.run(&["keygen", "-a", "LIGHTMAC-PRESENT128-S8", "-o", "l"]).exits(0);
    ran.says(&["65535 messages of 1.75 KiB", "2^-32; see 'tagmac bounds'\n"]);
    let ran = place.run(&["keygen", "-a", "UMAC99-STD-60", "-o", "s"]).exits(0);
    ran.says(&["2^46.5 messages of 1 MiB under random nonces, or reject 2^26.41 wrong tags"]);
    let ran = place.run(&["keygen", "-a", "HMAC-SHA256", "-o", "h"]).exits(0);
    assert_eq!(ran.err.lines().count(), 1);
    let ran = place.run(&["keygen", "-a", "UMAC-32", "-o", "u"]).exits(0);
    ran.says(&[
        "tagmac: one guessed tag passes with a probability above 2^-32; see 'tagmac bounds'\n",
        "tagmac: tags of UMAC-32 have 32 bits: use --allow-short with this key\n",
    ]);
}

#[test]
fn check_warns_of_guesses() {
    let place = Place::bare();
    for (algorithm, length, warning) in [
        // A little over 2^-30 after the maximum of messages for random nonces, and a little over
        // 2^-8 for tags of 8 bits, rounded up.
        (
            "UMAC-32",
            "32",
            Some(
                "1 wrong tag of 32 bits: if they are guesses, one passes with a probability of up to 2^-29.99,",
            ),
        ),
        (
            "PMAC-AES128",
            "8",
            Some(
                "1 wrong tag of 8 bits: if they are guesses, one passes with a probability of up to 2^-7.99,",
            ),
        ),
        ("PMAC-PRESENT128", "64", None),
        ("UMAC-64", "64", None),
        ("HMAC-SHA256", "32", None),
    ] {
        let _ = fs::remove_file(place.path("k"));
        place.run(&["keygen", "-a", algorithm, "-o", "k"]).exits(0);
        place.file("a", "one");
        place.file("b", "two");
        let short = ["--allow-short", "--tag-bits", length];
        let list = place.keyed("tag", &[&short[..], &["a", "b"]].concat()).exits(0).out;
        place.file("list", &list);
        let check = |more: &[&str]| place.keyed("check", &[&short, more, &["list"]].concat());
        check(&[]).exits(0).in_silence();
        // Change the tag, not the file: one of 256 files has the same tag of 8 bits.
        let list = list.trim_end();
        let (most, last) = list.split_at(list.len() - 1);
        place.file("list", format!("{most}{}\n", if last == "0" { '1' } else { '0' }));
        let ran = check(&[]).exits(1);
        match warning {
            Some(warning) => {
                ran.says(&[&format!("tagmac: WARNING: {warning} more than 2^-32; see")]);
            }
            None => assert!(!ran.err.contains("guesses"), "{}", ran.err),
        }
        check(&["--status"]).exits(1).in_silence();
    }
    // Two lists, two wrong tags.
    place.run(&["keygen", "-a", "UMAC-32", "-o", "u"]).exits(0);
    let short = ["-k", "u", "--allow-short"];
    let list = place.run(&[&["tag"], &short[..], &["a"]].concat()).exits(0).out;
    place.file("list", &list);
    place.file("a", "other");
    let ran = place.run(&[&["check"], &short[..], &["list", "list"]].concat()).exits(1);
    ran.says(&[
        "WARNING: 2 wrong tags of 32 bits: if they are guesses, one passes with a probability of up to 2^-28.99,",
    ]);
}
