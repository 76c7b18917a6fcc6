//! Counts and bounds of EliMAC's paper.

use tagmac_any::bounds;
use tagmac_lab::tables::elimac::{elimac, footnote, lightmac};

/// The footnote's bound is never above LightMAC's own, and half of it where collisions dominate.
#[test]
fn the_footnote_is_an_improvement() {
    for (q, v, t) in [(0, 0, 64), (40, 0, 128), (62, 20, 96), (63, 63, 128)] {
        let own = bounds::lightmac::mac(128, 32, t, (1 << q, u128::MAX), (1 << v, u128::MAX));
        let own = own.expect("parameters within range").value();
        let footnote = footnote((1u128 << q) as f64, (1u128 << v) as f64, t as i32);
        assert!(footnote <= own * (1.0 + 1e-12), "{q} {v} {t}: {footnote} {own}");
    }
    assert!((footnote(2f64.powi(60), 1.0, 128) / 2f64.powi(-9) - 1.0).abs() < 1e-6);
}

/// The printed formulas, except for the bits of errata.md.
#[test]
fn counting_gives_the_formulas() {
    for l in 1..200 {
        let (light, eli) = (lightmac(l), elimac(l));
        assert_eq!([light.before, light.online], [0, 10 * l]);
        assert_eq!([eli.before, eli.online], [7 * (l - 1), 4 * (l - 1) + 10]);
        assert_eq!(eli.before + eli.online, 11 * l - 1);
        assert_eq!([light.bits, eli.bits], [96 * l - 1, 128 * l - 1]);
    }
}
