//! Parameters without a theorem are refused, with an error that names the valid ones.

use tagmac_bounds::umac::{Prf1999, Umac1999};
use tagmac_bounds::{NonceKind, Theorem, Workload, per_key};
use tagmac_bounds::{elimac, lightmac, pmac, poly1305, umac};

use crate::exact::*;

#[test]
fn what_no_theorem_speaks_of_is_refused() {
    use tagmac_bounds::BoundError::*;
    let pmac = Theorem::Pmac { n: 128, t: 128 };
    let light = Theorem::LightMac { n: 64, s: 8, t: 64 };
    let none = Workload::default();
    for theorem in theorems() {
        assert_eq!(theorem.tags(&none), Err(Nothing));
        assert_eq!(theorem.forgery(&none), Err(Nothing));
        assert_eq!(theorem.guessing(&none), Err(Nothing));
        for found in [0.0, -1.0, 1.0, 2.0, f64::INFINITY, -0.0] {
            assert_eq!(theorem.messages(0, found), Err(Probability { found }));
            assert_eq!(theorem.guesses(0, found), Err(Probability { found }));
        }
        assert!(matches!(theorem.messages(0, f64::NAN), Err(Probability { .. })));
        assert!(theorem.messages(0, f64::from_bits(1)).is_ok());
        let limit = theorem.limit();
        if let Some(found) = limit.checked_add(1) {
            assert_eq!(theorem.messages(found, 0.5), Err(TooLong { limit, found }));
            let load = Workload { messages: 1, length: found, attempts: 0 };
            assert_eq!(theorem.tags(&load), Err(TooLong { limit, found }));
            assert_eq!(theorem.forgery(&load), Err(TooLong { limit, found }));
            assert_eq!(theorem.guessing(&load), Err(TooLong { limit, found }));
        }
    }
    assert_eq!(light.limit(), 1792);
    assert_eq!(pmac.limit(), u64::MAX);
    for n in [0, 1, 3, 127, 257, 258, u32::MAX] {
        let wrong = BlockBits { found: n };
        assert_eq!(pmac::prf(n, 1, 1), Err(wrong));
        assert_eq!(lightmac::prf(n, 1, 1, 1), Err(wrong));
        assert_eq!(elimac::prf(n, 1, 0.5, 1), Err(wrong));
        assert_eq!(lightmac::mac(n, 1, 1, (1, 1), (0, 0)), Err(wrong));
        assert_eq!(lightmac::collision(n, 1, 1), Err(wrong));
        assert_eq!(lightmac::generic(n, 1, 1), Err(wrong));
        assert_eq!(lightmac::emac(n, 1, 1), Err(wrong));
        assert_eq!(lightmac::sum_of_cbcs(n, 1, 1), Err(wrong));
        assert_eq!(elimac::mac(n, 1, 0.5, 1, 0), Err(wrong));
        assert_eq!(Theorem::Pmac { n, t: 1 }.messages(1 << 40, 0.5), Err(wrong));
        assert_eq!(Theorem::Pmac { n, t: 1 }.bytes(1 << 40, 0.5), Err(wrong));
        assert_eq!(Theorem::Pmac { n, t: 1 }.guesses(1 << 40, 0.5), Err(wrong));
        assert_eq!(Theorem::LightMac { n, s: 1, t: 1 }.messages(0, 0.5), Err(wrong));
    }
    for s in [0, 33, 64, u32::MAX] {
        assert_eq!(lightmac::prf(64, s, 1, 1), Err(CounterBits { max: 32, found: s }));
    }
    for t in [0, 129, u32::MAX] {
        let wrong = TagBits { min: 1, max: 128, found: t };
        assert_eq!(pmac::mac(128, t, (1, 1), 0, 1), Err(wrong));
        assert_eq!(lightmac::mac(128, 64, t, (1, 1), (0, 0)), Err(wrong));
        assert_eq!(elimac::aes_prf(t, elimac::AES4, 1), Err(wrong));
        assert_eq!(umac::mac(t, 1, 0, NonceKind::Counted), Err(wrong));
        // The bound on tags as random bits does not depend on the tag's length; the bound on
        // forging does.
        assert_eq!(Theorem::Pmac { n: 128, t }.messages(0, 0.5), Err(wrong));
        assert_eq!(Theorem::Pmac { n: 128, t }.guesses(0, 0.5), Err(wrong));
    }
    let wrong = TagBits { min: 1, max: 256, found: 0 };
    assert_eq!(umac::mac_1999(&Umac1999 { t: 0, ..STD }, 0, 1, 0), Err(wrong));
    for (q, l) in [(0, 1), (1, 0)] {
        assert_eq!(lightmac::generic(128, q, l), Err(Nothing));
        assert_eq!(lightmac::emac(128, q, l), Err(Nothing));
        assert_eq!(lightmac::sum_of_cbcs(128, q, l), Err(Nothing));
    }
    assert_eq!(lightmac::collision(128, 0, 0), Err(Nothing));
    let all = 1 << 16;
    assert_eq!(lightmac::collision(16, all, 1), Err(Blocks { n: 16, found: all + 1 }));
    assert_eq!(elimac::mac(16, 16, 0.5, all, 0), Err(Messages { max: all - 1, found: all }));
    assert_eq!(
        umac::mac(48, 1, 0, NonceKind::Counted),
        Err(TagBits { min: 32, max: 128, found: 48 })
    );
    for found in [0.0, -0.5, f64::INFINITY] {
        assert_eq!(elimac::prf(128, 128, found, 1), Err(Epsilon { found }));
    }
    let (max, found) = (1 << 68, (1 << 68) + 1);
    let counted = NonceKind::Counted;
    assert_eq!(poly1305::mac(found, 0, 16, counted), Err(Messages { max, found }));
    assert_eq!(umac::mac(64, found, 0, counted), Err(Messages { max, found }));
    let (max, found) = (1 << 64, (1 << 64) + 1);
    assert_eq!(umac::mac_1999(&STD, 0, found, 0), Err(Messages { max, found }));
    for found in [0, 129] {
        let (nonces, wrong) = (NonceKind::Random { bits: found }, NonceBits { max: 128, found });
        assert_eq!(poly1305::mac(1, 0, 16, nonces), Err(wrong));
        assert_eq!(umac::mac(64, 1, 0, nonces), Err(wrong));
    }
    let (nonces, wrong) = (NonceKind::Random { bits: 65 }, NonceBits { max: 64, found: 65 });
    assert_eq!(umac::mac_1999(&Umac1999 { nonces, ..STD }, 0, 1, 0), Err(wrong));
    let cbc3 = |n| Prf1999::Cbc3 { n, block_bytes: 4096, hash_bytes: 16 };
    let wrong = TagBits { min: 1, max: 64, found: 65 };
    let mac = Umac1999 { t: 65, prf: cbc3(64), ..STD };
    assert_eq!(umac::mac_1999(&mac, 0, 1, 0), Err(wrong));
    assert_eq!(Theorem::Umac1999(mac).with_tag_bits(65), Err(wrong));
    assert_eq!(
        umac::mac_1999(&Umac1999 { prf: cbc3(7), ..STD }, 0, 1, 0),
        Err(BlockBits { found: 7 })
    );
    assert_eq!(umac::cbc3_prf(128, 0, 5), Err(Nothing));
    assert_eq!(per_key(0.5, 0), Err(NoKeys));
    assert_eq!(poly1305::mac(1, 1, 1, counted).unwrap().of_keys(0), Err(NoKeys));
    for found in [0.0, 1.0, -1.0, f64::INFINITY] {
        assert_eq!(per_key(found, 2), Err(Probability { found }));
    }
    assert!(matches!(per_key(f64::MIN_POSITIVE, 2), Err(Probability { .. })));
    // One clear line each.
    let lines = [Nothing, NoKeys, wrong, Messages { max, found }];
    for error in lines.into_iter().chain([TooLong { limit: 1792, found: 1793 }]) {
        assert!(!error.to_string().contains('\n'));
    }
}
