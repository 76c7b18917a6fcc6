//! The results of attacks in words.

use std::time::Duration;

use tagmac_lab::attacks::{ATTACKS, Expected, Finding, Role};
use tagmac_lab::report::Outcome;
use tagmac_lab::report::results::found;

#[test]
fn what_was_found() {
    let finding = |found, keys, expected| Finding {
        target: String::new(),
        role: Role::Attack,
        queries: 1,
        keys,
        found,
        expected,
        formula: String::new(),
        bound: None,
    };
    let findings = vec![
        finding(2_752_512, 1 << 28, Expected::MoreThan(2_097_152)),
        finding(383, 100_000, Expected::About(0.0039)),
        finding(0, 50, Expected::Never),
    ];
    let attack = &ATTACKS[0];
    let outcomes = [Outcome { attack, findings, time: Duration::ZERO }];
    let at = |number: &str| found(&outcomes, &format!("{}{number}", attack.name));
    assert_eq!(at("").as_deref(), Some("2 752 512, all keys"));
    assert_eq!(at(" 2").as_deref(), Some("383/100000 (0.0034 to 0.0044)"));
    assert_eq!(at(" 3").as_deref(), Some("0/50"));
    assert_eq!([at(" 4"), at(" 0"), found(&outcomes, "x")], [None, None, None]);
}
