//! The pages that the lab writes, with all attacks run.

use std::fs;
use std::path::Path;

use tagmac_lab::attacks::{ATTACKS, Finding, Role};
use tagmac_lab::comparators::COMPARATORS;
use tagmac_lab::figures::FIGURES;
use tagmac_lab::report::{File, Outcome, attack_all, files};
use tagmac_lab::speeds::kept;
use tagmac_lab::tables::TABLES;

mod results;
mod template;

/// Each attack wins as often as it should, its control resists, and the repository's pages are what
/// the command writes.
#[test]
fn all_attacks_and_the_pages() {
    let outcomes = attack_all(|_| ());
    for Outcome { attack, findings, .. } in &outcomes {
        for role in [Role::Attack, Role::Control] {
            assert!(findings.iter().any(|one| one.role == role), "{}: {role:?}", attack.name);
        }
        for finding in findings {
            assert!(Finding::holds(finding), "{}: {finding}", attack.name);
        }
    }
    let speeds = kept().expect("the kept records");
    let files = files(&speeds, &outcomes).expect("all files");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for File { path, text } in &files[1..] {
        let kept = fs::read_to_string(root.join(path)).unwrap_or_default();
        assert!(kept == *text, "{path}: run 'cargo run --release -p tagmac-lab -- report -o .'");
    }
    let page = &files[0].text;
    let names = ATTACKS.iter().map(|one| one.name);
    let names = names.chain(TABLES.iter().map(|one| one.name));
    for name in names.chain(FIGURES.iter().map(|one| one.name)) {
        assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
    }
    assert_eq!(page.matches("<svg ").count(), FIGURES.len());
    assert!(
        COMPARATORS.iter().all(|one| page.contains(&format!("<th scope=\"row\">{}<", one.name)))
    );
    assert!(!page.contains("<script") && !page.contains("http://www.w3.org/1999/xhtml"));
}
