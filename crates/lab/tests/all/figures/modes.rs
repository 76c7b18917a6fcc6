//! The borders of LightMAC's figure 1.

use tagmac_lab::figures::MODES;

/// The text of section 1 on q^2 l / 2^n, and of section 1.1 on LightMAC.
#[test]
fn the_papers_own_points() {
    let at = |name: &str, q| {
        let mode = MODES.iter().find(|mode| mode.name == name).expect("a mode");
        mode.most_blocks(32, q, 2f64.powi(-20), 2f64.powi(32))
    };
    // "32 four-block messages", "sixteen blocks long, only 16 messages", "64 one-block".
    let emac: Vec<_> = [64, 32, 16].map(|q| at("EMAC", q)).to_vec();
    assert_eq!(emac, [Some(1.0), Some(4.0), Some(16.0)]);
    // "roughly 64 messages can be tagged with length up to 2^15 blocks".
    assert_eq!([1, 63, 64].map(|q| at("LightMAC", q)), [Some(32768.0), Some(32768.0), None]);
}

/// Each border solves its formula for l.
#[test]
fn borders_solve_the_formulas() {
    let (n, probability, end) = (32, 2f64.powi(-20), 2f64.powi(22));
    let two = |power: i32| 2f64.powi(power);
    for q in [1u64, 2, 3, 7, 20, 31] {
        let x = q as f64;
        let quadratic = |a: f64, c: f64| (((probability - c) / a).sqrt()).floor();
        let linear: [(&str, f64); 5] = [
            ("EMAC", two(12) / (x * x)),
            ("OMAC", two(10) / (x * x)),
            ("PMAC", (two(12) / (x * x) + 3.5) / 5.0),
            ("PMAC/P", quadratic(x * x * two(-64), x * x * two(-32))),
            (
                "PMACX, m = 14, l = 12",
                quadratic(
                    144.0 * x * x * two(-64),
                    (72.0 + 1.5 * x * x) * two(-32) + 576.0 * x * x * two(-64),
                ),
            ),
        ];
        for (name, l) in linear {
            let mode = MODES.iter().find(|mode| mode.name == name).expect("a mode");
            let found = mode.most_blocks(n, q, probability, end);
            let expected = (l >= 1.0).then(|| l.floor().min(end));
            assert_eq!(found, expected, "{name}, {q}");
        }
        // c l q 2^-n + c (l q)^3 2^-2n: Newton's steps from above.
        for (name, c) in [("3kf9", 4.0), ("PMAC_Plus", 1.0)] {
            let mode = MODES.iter().find(|mode| mode.name == name).expect("a mode");
            let mut y = two(21);
            for _ in 0..200 {
                let value = c * y * two(-32) + c * y * y * y * two(-64) - probability;
                y -= value / (c * two(-32) + 3.0 * c * y * y * two(-64));
            }
            let found = mode.most_blocks(n, q, probability, end);
            assert_eq!(found, Some((y / x).floor()), "{name}, {q}");
        }
    }
}
