//! Tests the papers' lemmas for small numbers, exhaustively.

/// LightMAC, lemma 1: of the N! sequences of N different blocks, at most N! / (N - l + 1) have a
/// given xor of the first l. Counted by their first l blocks: at most N (N-1) .. (N-l+2).
#[test]
fn lightmac_1_few_sequences_have_a_given_xor() {
    fn count(n: u32, left: u32, used: u32, xor: u32, counts: &mut [u64]) {
        if left == 0 {
            counts[xor as usize] += 1;
            return;
        }
        for y in (0..n).filter(|y| used >> y & 1 == 0) {
            count(n, left - 1, used | 1 << y, xor ^ y, counts);
        }
    }
    for n in [2u32, 4, 8, 16] {
        for l in 1..=n.min(6) {
            let mut counts = vec![0; n as usize];
            count(n, l, 0, 0, &mut counts);
            let bound: u64 = (0..l - 1).map(|i| u64::from(n - i)).product();
            let most = *counts.iter().max().expect("some");
            assert!(most <= bound, "{most} of {n}, {l}: over {bound}");
            // Two different blocks never have the xor 0, and every other xor is equally frequent.
            assert!(l != 2 || counts[0] == 0 && most == bound, "{counts:?}");
        }
    }
}

/// EliMAC, lemma 1: n^m is at most twice n (n-1) .. (n-m+1) for m^2 <= n; the proof has e^(1/2).
#[test]
fn elimac_1_falling_factorials_are_close_to_powers() {
    let ratio = |n: u64, m: u64| (0..m).map(|i| n as f64 / (n - i) as f64).product::<f64>();
    for n in 1..3000u64 {
        let most = n.isqrt();
        for m in 0..=most {
            assert!(ratio(n, m) <= 0.5f64.exp() * (1.0 + 1e-12), "{n}, {m}");
        }
    }
    // The condition m^2 <= n is needed: with m = n the ratio is far larger.
    assert!(ratio(10, 10) > 2.0);
}

/// UMAC 1999, lemmas 4.3, 4.4, 4.6 and 4.7, for words of 1 to 4 bits. The first is the maximum
/// number of k that solve c (k + m) = c' (k + m') + y, with sums mod 2^w and the rest mod 2^2w, for
/// c different from c'. The second is the maximum number of a that solve a x = y, for x other than
/// 0.
#[test]
fn umac99_4_few_keys_solve_the_equations() {
    for w in 1..=4u32 {
        let (words, all) = (1i64 << w, 1i64 << (2 * w));
        for (low, most) in [(0, 1), (-(words / 2), 2)] {
            let range = || low..low + words;
            let sum = |a: i64, b: i64| (a + b - low).rem_euclid(words) + low;
            let mut found = 0;
            for (c, other) in range().flat_map(|c| range().map(move |other| (c, other))) {
                if c == other {
                    continue;
                }
                for (m, shifted) in range().flat_map(|m| range().map(move |other| (m, other))) {
                    let mut counts = vec![0; all as usize];
                    for k in range() {
                        let y = c * sum(k, m) - other * sum(k, shifted);
                        counts[y.rem_euclid(all) as usize] += 1;
                    }
                    found = found.max(*counts.iter().max().expect("some"));
                }
            }
            assert!(found <= most, "words of {w} bits from {low}: {found} keys");
            // Two keys do occur in lemma 4.7, so its bound cannot be that of lemma 4.3.
            assert!(w < 2 || found == most, "words of {w} bits from {low}: {found} keys");
            for x in (1 - words..words).filter(|x| *x != 0) {
                let mut counts = vec![0; all as usize];
                range().for_each(|a| counts[(a * x).rem_euclid(all) as usize] += 1);
                assert!(counts.iter().all(|count| *count <= 1), "{x}, words of {w} bits");
            }
        }
    }
}
