//! The report and the metrics of an audit.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Place, sealed};

fn text(place: &Place, name: &str) -> String {
    String::from_utf8(place.read(name)).unwrap()
}

/// Returns each sample with its labels, after checking the format.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let (mut samples, mut named) = (BTreeMap::new(), "");
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            named = help.split(' ').next().unwrap();
            assert!(help.ends_with('.'), "{help}");
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            assert_eq!(kind, format!("{named} gauge"));
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let labels = name.strip_prefix(named).unwrap();
            assert!(labels.starts_with("{manifest=\"") && labels.ends_with("\"}"), "{labels}");
            assert!(
                samples
                    .insert(name.replace("manifest=\"m\",", ""), value.parse().unwrap())
                    .is_none()
            );
        }
    }
    samples
}

#[test]
fn a_report_shows_every_difference_and_obeys_no_name() {
    let place = sealed(&[], &[]);
    let evil = "t/<script>alert('1')&\u{202e}\n";
    place.file(evil, "new");
    place.keyed("audit", &["--report", "r.html", "m", "t"]).exits(1);
    let page = text(&place, "r.html");
    assert!(page.starts_with("<!DOCTYPE html>\n<!-- tagmac audit report 1 -->\n"));
    for part in ["<h1>1 entry differs from the manifest</h1>", "<h2>New (1)</h2>", "seal again"] {
        assert!(page.contains(part), "{page}");
    }
    assert!(
        page.contains("$&#39;&lt;script&gt;alert(\\&#39;1\\&#39;)&amp;\\342\\200\\256\\n&#39;"),
        "{page}"
    );
    for part in ["<script", "http", "src=", "href=", "url(", "\u{202e}"] {
        assert!(!page.contains(part), "{part}");
    }
    // The next one replaces it, and nothing else.
    fs::remove_file(place.path(evil)).unwrap();
    place.keyed("audit", &["--report", "r.html", "m", "t"]).exits(0);
    assert!(text(&place, "r.html").contains("<h1>Everything is unchanged</h1>"));
    place.file("other", "text");
    let ran = place.keyed("audit", &["--report", "other", "m", "t"]).exits(4);
    ran.says(&["--report: other: the file exists and is not a report of 'tagmac audit'"]);
    let ran = place.keyed("audit", &["--metrics", "other", "m", "t"]).exits(4);
    ran.says(&["--metrics: other: the file exists and is not a file of 'tagmac audit --metrics'"]);
    assert_eq!(text(&place, "other"), "text");
}

#[test]
fn a_report_lists_a_thousand_differences_of_a_kind() {
    let place = sealed(&[], &[]);
    for number in 0..1002 {
        place.file(format!("t/new{number}"), "");
    }
    place.keyed("audit", &["--quiet", "--report", "r.html", "m", "t"]).exits(1);
    let page = text(&place, "r.html");
    assert!(page.contains("1,002 entries differ") && page.contains("And 2 more"), "{page}");
    assert_eq!(page.matches("<bdi>new").count(), 1000);
}

#[test]
fn an_audit_that_fails_replaces_the_old_report_too() {
    let place = sealed(&[], &[]);
    let audit = |manifest: &str| {
        place.keyed("audit", &["--report", "r.html", "--metrics", "x.prom", manifest, "t"])
    };
    audit("m").exits(0);
    let found = samples(&text(&place, "x.prom"));
    assert_eq!(found["tagmac_audit_success{directory=\"t\"}"], 1.0);
    place.shell("sed 's/^bits: 128/bits: 120/' m > cut").exits(0);
    audit("cut").exits(1);
    let page = text(&place, "r.html");
    assert!(page.contains("<h1>The audit did not finish</h1>"), "{page}");
    assert!(page.contains("cut: the seal does not match"), "{page}");
    let found = samples(&text(&place, "x.prom").replace("\"cut\"", "\"m\""));
    assert_eq!(found["tagmac_audit_success{directory=\"t\"}"], 0.0);
    assert_eq!(found.len(), 3);
}

#[test]
fn metrics_have_the_facts_of_the_audit() {
    let place = sealed(&[], &[]);
    place.file("t/new", "");
    // The files belong to the run, not to the tree.
    let files =
        ["--report", "t/r.html", "--metrics", "t/x.prom", "--ledger", "t/l", "--pin", "t/p"];
    let audit = |part: &str| {
        place.keyed("audit", &[&files[..], &["--subset", part, "m", "t"]].concat()).exits(1)
    };
    audit("1/1").prints("new: new\n");
    audit("1/1").prints("new: new\n");
    let found = samples(&text(&place, "t/x.prom"));
    let get = |name: &str| found[&format!("tagmac_audit_{name}directory=\"t\"}}")];
    assert_eq!(get("success{"), 0.0);
    assert_eq!(get("files{"), get("read_files{"));
    assert_eq!(get("manifest_number{"), 1.0);
    assert!(get("oldest_read_timestamp_seconds{") > 1.7e9 && get("duration_seconds{") < 1e4);
    assert_eq!(found["tagmac_audit_entries{directory=\"t\",status=\"new\"}"], 1.0);
    assert_eq!(found["tagmac_audit_missed_probability{directory=\"t\",changed=\"10\"}"], 0.0);
    let mode = fs::metadata(place.path("t/x.prom")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}
