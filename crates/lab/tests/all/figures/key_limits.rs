//! The borders of the messages that one key may authenticate.

use tagmac_any::Algorithm;
use tagmac_lab::choice::ACCEPTED;
use tagmac_lab::figures::key_limits::border;

fn border_of(name: &str, probability: f64) -> Vec<(f64, f64)> {
    let algorithm = Algorithm::from_name(name).expect("an algorithm");
    border(algorithm.theorem().expect("a theorem"), probability).expect("a border")
}

/// 1792 bytes is the limit, and 2^16 - 1 messages of any length up to it are allowed.
#[test]
fn a_counter_bounds_length_and_messages() {
    let line = border_of("LIGHTMAC-PRESENT128-S8", ACCEPTED);
    let (top, bottom) = (line[0], line[line.len() - 1]);
    // At most an eighth of a doubling above the drawn length.
    let limit = 1792f64.log2();
    assert!(top.0 == 0.0 && (limit - 0.13..=limit).contains(&top.1), "{top:?}");
    assert!(bottom.1 == 0.0 && (bottom.0 - 16.0).abs() < 0.001, "{bottom:?}");
}

#[test]
fn lower_probabilities_allow_less() {
    let end = |probability| border_of("UMAC-128", probability).last().map(|(x, _)| *x);
    assert!(end(2f64.powi(-60)) < end(ACCEPTED));
    assert!(border_of("PMAC-PRESENT80", 2f64.powi(-90)).is_empty());
}
