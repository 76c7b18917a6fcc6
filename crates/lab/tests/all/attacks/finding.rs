//! A finding is as expected or not.

use tagmac_lab::attacks::{Expected, Finding, Role, interval};

/// The ends solve (found/of - p)^2 = Z^2 p (1 - p) / of.
#[test]
fn interval_is_wilsons() {
    for (found, of) in [(1, 10), (5, 10), (120, 65536), (999, 1000)] {
        for p in interval(found, of) {
            let away = (found as f64 / of as f64 - p).powi(2);
            let allowed = 2.575_829_303_548_901f64.powi(2) * p * (1.0 - p) / of as f64;
            assert!((away / allowed - 1.0).abs() < 1e-9, "{found}/{of}");
        }
    }
    assert_eq!(interval(0, 10)[0], 0.0);
    assert_eq!(interval(10, 10)[1], 1.0);
    assert!((interval(0, 1000)[1] - 0.006_591).abs() < 1e-6);
}

#[test]
fn findings_can_fail() {
    let finding = |found, expected, bound| Finding {
        target: String::new(),
        role: Role::Attack,
        queries: 1,
        keys: 1000,
        found,
        expected,
        formula: String::new(),
        bound,
    };
    assert!(finding(1000, Expected::Always, None).holds());
    assert!(!finding(999, Expected::Always, None).holds());
    assert!(finding(0, Expected::Never, None).holds());
    assert!(!finding(1, Expected::Never, None).holds());
    assert!(finding(100, Expected::About(0.11), None).holds());
    assert!(!finding(100, Expected::About(0.2), None).holds());
    assert!(!finding(100, Expected::About(0.11), Some(0.05)).holds());
    assert!(finding(7, Expected::Exactly(7), Some(0.007)).holds());
    assert!(!finding(7, Expected::Exactly(7), Some(0.006)).holds());
    assert!(!finding(8, Expected::Exactly(7), None).holds());
    assert!(finding(100, Expected::MoreThan(99), None).holds());
    assert!(!finding(100, Expected::MoreThan(100), None).holds());
}
