//! `tagmac audit --sample-leaves`.

use std::fs;

use serde_json::Value;

use crate::common::{Place, Random};

const LEAF: usize = 4096;

/// A place with a tree `t` of a file of one leaf and one of 40, and its manifest `m`.
fn place() -> (Place, Vec<u8>) {
    let place = Place::bare();
    place.run(&["keygen", "-o", "k"]).exits(0);
    fs::create_dir(place.path("t")).unwrap();
    let large = Random(5).bytes(40 * LEAF as u64 - 9);
    place.file("t/large", &large);
    place.file("t/small", "text");
    place.keyed("seal", &["--leaves=4KiB", "t", "-o", "m"]).exits(0);
    (place, large)
}

fn json(place: &Place, code: i32, args: &[&str]) -> Vec<Value> {
    let ran = place.keyed("audit", &[&["--json"], args, &["m", "t"]].concat()).exits(code);
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_damaged_leaf_is_reported_as_locate_does() {
    let (place, mut large) = place();
    let all = ["--sample-leaves", "100%", "m", "t"];
    place.keyed("audit", &all).exits(0).prints("").says(&[
        "1 unchanged, 0 changed, 0 new, 0 missing, 0 renamed, 1 not read\n",
        "read 41 of 41 leaves (163835 bytes), a sample of 100% of the leaves: damage to 10 leaves was \
         missed with probability 0.00\n",
    ]);
    for leaf in [3, 4, 39] {
        large[leaf * LEAF + 1] ^= 1;
    }
    // Reading is the only way to find this.
    let modified = fs::metadata(place.path("t/large")).unwrap().modified().unwrap();
    place.file("t/large", &large);
    fs::File::open(place.path("t/large")).unwrap().set_modified(modified).unwrap();
    let ran = place.keyed("audit", &all).exits(1);
    assert!(ran.out.starts_with("large: changed: content"), "{}", ran.out);
    let found = "large: damaged, as far as it was read: 3 of 40 leaves: bytes 12288 to 20480, 159744 to \
                 163831\n";
    ran.says(&[found, "1 changed"]);
    let lines = json(&place, 1, &all[..2]);
    let damaged = lines.iter().find(|line| line["status"] == "damaged").unwrap();
    assert_eq!((&damaged["path"], &damaged["leaves"]), (&"large".into(), &3.into()));
    assert_eq!((&damaged["of"], &damaged["sampled"]), (&40.into(), &true.into()));
    assert_eq!(damaged["damaged"].to_string(), "[[12288,20480],[159744,163831]]");
    let entry =
        lines.iter().find(|line| line["kind"] == "file" && line["path"] == "large").unwrap();
    assert_eq!((&entry["leaves"], &entry["leaves_read"]), (&40.into(), &40.into()));
    assert_eq!(entry["changes"][0]["what"], "content");
    // With --locate, the whole file is read.
    place
        .keyed("audit", &[&["--locate"], &all[..]].concat())
        .exits(1)
        .says(&["large: damaged: 3 of 40 leaves: bytes 12288 to 20480, 159744 to 163831\n"]);
    place
        .keyed("audit", &["--sample-leaves", "0%", "m", "t"])
        .says(&["read 0 of 41 leaves (0 bytes)"]);
}

#[test]
fn a_share_of_the_leaves_is_read_and_nothing_is_recorded() {
    let (place, _) = place();
    place.keyed("audit", &["--ledger", "l", "m", "t"]).exits(0);
    let before = place.read("l");
    let share = ["--sample-leaves", "30%", "--ledger", "l", "--pin", "p"];
    let mut read = 0;
    for _ in 0..20 {
        let lines = json(&place, 0, &share);
        let proof = &lines.last().unwrap()["proof"];
        assert_eq!(proof["leaves"], 41);
        read += proof["leaves_read"].as_u64().unwrap();
        assert!(proof["missed"].as_f64().unwrap() <= 1.0);
        let entry = lines.iter().find(|line| line["path"] == "large").unwrap();
        assert_eq!(entry["status"], "not_read");
    }
    // 246 of 820, with a standard deviation of 13.
    assert!((150..350).contains(&read), "{read}");
    assert!(place.read("l") == before);
    let files = ["--metrics", "metrics", "--report", "report.html"];
    place.keyed("audit", &[&files[..], &["--sample-leaves", "50%", "m", "t"]].concat()).exits(0);
    let metrics = String::from_utf8(place.read("metrics")).unwrap();
    assert!(metrics.contains("\ntagmac_audit_leaves{"), "{metrics}");
    assert!(metrics.contains("The probability that a change of this many leaves was missed."));
    let report = String::from_utf8(place.read("report.html")).unwrap();
    assert!(report.contains(" of 41 leaves ("), "{report}");
    assert!(report.contains("<th>changed leaves</th>"), "{report}");
}

#[test]
fn what_cannot_be_combined() {
    let (place, _) = place();
    let audit =
        |args: &[&str]| place.keyed("audit", &[&["--sample-leaves", "5%"], args].concat()).exits(2);
    for other in ["--quick", "--sample=5%", "--subset=1/7", "--max-bytes=1MiB"] {
        audit(&[other, "m", "t"]).says(&["cannot be used with"]);
    }
    audit(&["--oldest-first", "--ledger", "l", "m", "t"]).says(&["cannot be used with"]);
    audit(&["m", "t", "large"]).says(&["cannot be used with"]);
    for wrong in ["5", "101%", "-1%", "x%"] {
        place.keyed("audit", &[&format!("--sample-leaves={wrong}"), "m", "t"]).exits(2);
    }
    place.keyed("seal", &["t", "-o", "n"]).exits(0);
    audit(&["n", "t"]).prints("").says(&["n: no leaf tags; seal it with leaf tags"]);
    fs::remove_file(place.path("m.1.leaves")).unwrap();
    let all = ["--sample-leaves", "100%", "m", "t"];
    place.keyed("audit", &all).exits(4).says(&["m.1.leaves: No such file"]);
}
