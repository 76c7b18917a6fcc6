//! The formulas of the theorems in exact rational arithmetic, and test values.

use std::sync::OnceLock;

use num_bigint::BigInt;
use num_rational::Ratio;
use tagmac_bounds::umac::{Prf1999, Umac1999};
use tagmac_bounds::{Bound, NonceKind, Theorem};

pub type Exact = Ratio<BigInt>;

pub fn int(value: impl Into<BigInt>) -> Exact {
    Exact::from(value.into())
}

/// 2^e.
pub fn two(e: i64) -> Exact {
    let power = int(BigInt::from(1) << e.unsigned_abs());
    if e < 0 { power.recip() } else { power }
}

/// The exact value of a finite `f64`.
pub fn of_f64(x: f64) -> Exact {
    Exact::from_float(x).expect("finite")
}

/// The square root, rounded up to 2^-600.
pub fn root(x: &Exact) -> Exact {
    let scaled = (x * two(1200)).ceil().to_integer();
    let root = scaled.sqrt();
    let up = if &root * &root < scaled { 1 } else { 0 };
    int(root + up) * two(-600)
}

/// The logarithm to base 2 in units of 2^-100, rounded downward.
pub fn lg(x: &Exact) -> BigInt {
    const PLACES: u64 = 400;
    assert!(*x > int(0));
    let bits = |n: &BigInt| n.bits() as i64;
    let mut whole = bits(x.numer()) - bits(x.denom());
    if *x < two(whole) {
        whole -= 1;
    }
    let mut m = (x * two(PLACES as i64 - whole)).floor().to_integer();
    let mut log = BigInt::from(whole);
    for _ in 0..100 {
        m = (&m * &m) >> PLACES;
        log <<= 1;
        if m.bits() > PLACES + 1 {
            m >>= 1;
            log += 1;
        }
    }
    log
}

/// Compares a bound with the exact value: never below it, and above it by less than one part in
/// 2^40.
#[track_caller]
pub fn agrees(bound: &Bound, exact: &Exact) {
    if *exact == int(0) {
        assert_eq!((bound.log2(), bound.value()), (f64::NEG_INFINITY, 0.0));
        assert!(bound.at_most(f64::MIN_POSITIVE));
        return;
    }
    let told = (of_f64(bound.log2()) * two(100)).to_integer();
    let over = told - lg(exact);
    // 2^x - 1 < 2^-40 for x below 2^-40.
    assert!(over >= BigInt::from(0), "{exact}: below by {over}");
    assert!(over < BigInt::from(1) << 60, "{exact}: over by {over} of 2^-100");
    // The value itself, and the comparison that the inverse relies on.
    if *exact > two(-1000) && *exact < two(1000) {
        let value = of_f64(bound.value());
        assert!(value >= *exact && value <= exact * (int(1) + two(-40)));
        assert!(bound.at_most(bound.value()), "{exact}");
        let more = bound.value() * (1.0 + 2f64.powi(-41));
        assert!(bound.at_most(more));
        let less = bound.value() * (1.0 - 2f64.powi(-40));
        assert!(!bound.at_most(less));
    }
}

/// Numbers of all sizes, the same in every run.
pub struct Source(pub u64);

impl Source {
    pub fn word(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.word() % n
    }

    /// A number of up to `bits` bits, often next to a power of 2.
    pub fn number(&mut self, bits: u32) -> u128 {
        let most = u128::MAX >> (128 - bits);
        let wide = (self.word() as u128) << 64 | self.word() as u128;
        let length = 1 + self.below(bits.into()) as u32;
        match self.below(4) {
            0 => (1u128 << (length - 1)).saturating_sub(1 - (wide & 1)).min(most),
            1 => (1u128 << (length - 1)).saturating_add(wide & 1).min(most),
            _ => wide >> (128 - length),
        }
    }

    /// As [`number`](Source::number), but not 0.
    pub fn some(&mut self, bits: u32) -> u128 {
        self.number(bits).max(1)
    }

    pub fn n(&mut self) -> u32 {
        match self.below(3) {
            0 => 2 * (1 + self.below(128) as u32),
            _ => 32 * (1 + self.below(8) as u32),
        }
    }

    pub fn t(&mut self, n: u32) -> u32 {
        if self.below(2) == 0 { n } else { 1 + self.below(n.into()) as u32 }
    }

    pub fn nonces(&mut self, max: u64) -> NonceKind {
        match self.below(3) {
            0 => NonceKind::Counted,
            1 => NonceKind::Random { bits: max as u32 },
            _ => NonceKind::Random { bits: 1 + self.below(max) as u32 },
        }
    }

    pub fn e(&mut self) -> f64 {
        let e = -(self.below(300) as i32);
        (1.0 + self.below(1 << 52) as f64 / 2f64.powi(52)) * 2f64.powi(e)
    }
}

pub const ROUNDS: usize = 3000;

pub fn square(q: u128) -> Exact {
    int(q) * int(q)
}

/// C(q, 2)
pub fn pairs(q: u128) -> Exact {
    int(q) * (int(q) - int(1)) / int(2)
}

/// ceil(log2(number))
pub fn ceil_log(number: u128) -> u64 {
    (0..128).find(|a| number <= 1 << a).unwrap_or(128)
}

/// The term of q_v attempts in PMAC's bound, from the formula in `docs/design/theory.md`; `None`
/// where it is not proven, or where numbers have more than 128 bits.
pub fn pmac_attempts(n: u32, t: u32, (q, sigma): (u128, u128), v: u128, l: u128) -> Option<Exact> {
    let left = two(n.into()) - int(sigma.checked_add(l)?.checked_add(1)?);
    let ql = q.checked_mul(l)?;
    if left <= int(0) || int(2) * int(ql) > left {
        return None;
    }
    // 8 l N^l (2 q l^2 / N)^places <= 1/N, in whole bits.
    let (n_bits, log_l) = (BigInt::from(n), BigInt::from(ceil_log(l)));
    let gain: BigInt = &n_bits - 1u8 - ceil_log(q) - &log_l * 2u8;
    let mut hits = int(q);
    if gain > BigInt::from(0) {
        let needed = &n_bits * (BigInt::from(l) + 1u8) + 3u8 + &log_l;
        let places: BigInt = (needed + &gain - 1u8) / gain;
        hits = hits.min(int(l) * int(places));
    }
    let equal = multiplicity(q, t, 1u32.checked_shl(n - t));
    let guess = two((n - t).into()) / &left * (int(1) + int(8) * int(ql) / &left);
    let second = int(ql) * int(l) * (int(5) * int(q) + int(18)) / &left;
    let each = guess + (equal + int(1)) * (int(8) * int(l) + hits + second) / left;
    Some(int(v) * (two(-i64::from(n)) + each).min(int(1)))
}

/// PMAC's bound with attempts.
pub fn pmac_exact(n: u32, t: u32, (q, sigma): (u128, u128), v: u128, l: u128) -> Exact {
    let tags = |q: Exact, sigma: Exact, known: bool| {
        let each = &sigma + int(1);
        let each = if known { each.min(int(3) * q) } else { each };
        sigma * each * two(-i64::from(n))
    };
    let sigma = sigma.max(q);
    let alone = tags(int(q), int(sigma), sigma < u128::MAX);
    if v == 0 {
        return alone;
    }
    let (all, blocks) = (q.saturating_add(v), sigma.saturating_add(v.saturating_mul(l)));
    let queries = tags(int(all), int(blocks), blocks < u128::MAX) + int(v) * two(-i64::from(t));
    match pmac_attempts(n, t, (q, sigma), v, l) {
        Some(attempts) => queries.min(alone + attempts),
        // Each attempt passes with a probability of at most 1.
        None => queries.min(alone + int(v)),
    }
}

/// LightMAC's factor: 1 + a x + b x^2 for x = 1/(2^(n/2) - 1).
pub fn light_factor(n: u32, a: Exact, b: Exact) -> Exact {
    let x = (two(n as i64 / 2) - int(1)).recip();
    int(1) + a * &x + b * &x * x
}

pub fn light_prf(n: u32, q: u128) -> Exact {
    light_factor(n, int(1), int(1) / int(2)) * square(q) * two(-(n as i64))
}

pub fn light_mac(n: u32, t: u32, q: u128, v: u128) -> Exact {
    let sum = square(q) * two(-(n as i64)) + int(v) * two(-(t as i64));
    light_factor(n, int(2), int(1)) * sum
}

pub fn eli_prf(n: u32, t: u32, e: &Exact, q: u128) -> Exact {
    let whole = pairs(q) * two(-(n as i64));
    pairs(q) * e + root(&(pairs(q) * two(t as i64 - 2 * n as i64))).min(whole)
}

pub fn eli_attempts(n: u32, t: u32, e: &Exact, q: u128, f: u128) -> Exact {
    let fresh = (two(n.into()) - int(q)).recip();
    let cut = two((n - t).into());
    let paper = int(f) * &cut * e.max(&fresh);
    let same = multiplicity(q, t, 1u32.checked_shl(n - t));
    paper.min(int(f) * (cut * fresh + same * e))
}

pub fn eli_mac(n: u32, t: u32, e: &Exact, q: u128, f: u128) -> Exact {
    pairs(q) * e + eli_attempts(n, t, e, q, f)
}

/// The sum of min(1, C(q, j + 1) / 2^(bits j)) over j < most; or q, or 8 q / 2^bits + 130, if that
/// is less. Rounded downward by less than 2^-300.
pub fn multiplicity(q: u128, bits: u32, most: Option<u32>) -> Exact {
    let q = q.max(1);
    let simple = int(q).min(int(8) * int(q) * two(-(bits as i64)) + int(130));
    let (steps, rate) = (most.unwrap_or(u32::MAX).min(128), q.checked_shr(bits).unwrap_or(0));
    let (mut sum, mut choose) = (int(0), BigInt::from(q));
    for j in 0..=steps {
        let term = if choose.bits() > (bits * j) as u64 {
            int(1)
        } else {
            let places = (bits * j).saturating_sub(400);
            int(&choose >> places) * two(places as i64 - (bits * j) as i64)
        };
        if term <= two(-200) && j > 0 && rate < u128::from((j - 1) / 2) {
            return sum.min(simple);
        }
        if j == steps {
            break;
        }
        sum += term;
        let more = (BigInt::from(q) - BigInt::from(j + 1)).max(0.into());
        choose = choose * more / (j + 2);
    }
    // Either these are all terms, or the rest of the sum is unknown.
    if most.is_some_and(|most| most <= 128) { sum.min(simple) } else { simple }
}

/// The factor of pads from a permutation after c tags, rounded downward by less than one part in
/// 2^300.
pub fn pads(c: u128) -> Exact {
    // In units of 2^-500.
    const PLACES: usize = 500;
    let c = BigInt::from(c);
    let mut exponent = BigInt::from(0);
    for k in 1..=8 {
        exponent += (c.pow(k) << PLACES >> (128 * k)) / k;
    }
    exponent = exponent * (&c + 1) / 2;
    let mut term = BigInt::from(1) << PLACES;
    let mut sum = term.clone();
    for k in 1.. {
        term = ((term * &exponent) >> PLACES) / k;
        sum += &term;
        if term == BigInt::from(0) {
            break;
        }
    }
    int(sum) * two(-(PLACES as i64))
}

/// The expected number of pairs of messages under one nonce.
pub fn equal_pairs(nonces: NonceKind, q: u128) -> Exact {
    match nonces {
        NonceKind::Counted => int(0),
        NonceKind::Random { bits } => pairs(q) * two(-(bits as i64)),
    }
}

/// The number of inner blocks of CBC3 for a message, and the length of a block in bits.
pub fn inner(prf: Prf1999, length: u64) -> Option<(u128, u32)> {
    let Prf1999::Cbc3 { n, block_bytes, hash_bytes } = prf else { return None };
    let bytes = 10 + length.div_ceil(block_bytes.into()) as u128 * hash_bytes as u128;
    Some(((8 * bytes).div_ceil(n.into()) - 1, n))
}

pub fn umac_1999_tags(mac: &Umac1999, length: u64, q: u128) -> Exact {
    let hashes = equal_pairs(mac.nonces, q) * two(-(mac.b as i64));
    let Some((inner, n)) = inner(mac.prf, length) else { return hashes };
    let d = q.saturating_mul(inner);
    hashes + (pairs(d) + pairs(q) * int(2)) / (two(n.into()) - int(d))
}

pub fn umac_1999_attempts(mac: &Umac1999, length: u64, q: u128, v: u128) -> Exact {
    let fresh = match inner(mac.prf, length) {
        None => two(-(mac.t as i64)),
        Some((inner, n)) => {
            let (l, d) = (int(inner), int(q) * int(inner));
            let meets = &l * &d + pairs(inner) + int(q);
            let guess = two((n - mac.t).into()) / (two(n.into()) - int(q));
            meets / (two(n.into()) - d - l) + guess
        }
    };
    let same = match mac.nonces {
        NonceKind::Counted => int(1),
        NonceKind::Random { bits } => multiplicity(q, bits, None),
    };
    int(v) * (same * two(-(mac.b as i64)) + fresh)
}

/// eps / (1 - 2^32 / 2^128)
pub fn eli_aes() -> Exact {
    aes4() / (int(1) - two(-96))
}

/// (53 / 2^34)^4
pub fn aes4() -> Exact {
    int(53 * 53 * 53 * 53) * two(-136)
}

/// Theorems of all kinds, with the blocks, tags and nonces of the MACs, and with others.
pub fn theorems() -> Vec<Theorem> {
    let random = |bits| NonceKind::Random { bits };
    let mut all = vec![
        Theorem::Pmac { n: 128, t: 128 },
        Theorem::Pmac { n: 64, t: 64 },
        Theorem::Pmac { n: 32, t: 20 },
        Theorem::Pmac { n: 256, t: 256 },
        Theorem::LightMac { n: 32, s: 16, t: 32 },
        Theorem::LightMac { n: 256, s: 100, t: 100 },
        Theorem::LightMac { n: 64, s: 7, t: 1 },
        Theorem::EliMacAes { t: 128 },
        Theorem::EliMacAes { t: 64 },
        Theorem::Poly1305Aes { nonces: random(128) },
    ];
    all.extend((1..=8).map(|i| Theorem::LightMac { n: 128, s: 8 * i, t: 128 }));
    all.extend((1..=4).map(|i| Theorem::LightMac { n: 64, s: 8 * i, t: 64 }));
    all.extend((1..=4).map(|i| Theorem::Umac { t: 32 * i, nonces: random(128) }));
    let of_1999 = |b, t, prf| Theorem::Umac1999(Umac1999 { b, t, prf, nonces: random(64) });
    all.extend([30, 60].map(|b| of_1999(b, 160, Prf1999::Named)));
    all.extend([(15, 4), (30, 8), (60, 16)].map(|(b, hash_bytes)| {
        of_1999(b, 128, Prf1999::Cbc3 { n: 128, block_bytes: 4096, hash_bytes })
    }));
    let counted = all.clone().into_iter().filter(|theorem| theorem.nonces().is_some());
    let counted: Vec<_> = counted.map(|theorem| theorem.with_nonces(NonceKind::Counted)).collect();
    all.extend(counted);
    all
}

/// The factor of pads after 2^64 tags.
pub fn pads_of_all() -> &'static Exact {
    static ALL: OnceLock<Exact> = OnceLock::new();
    ALL.get_or_init(|| pads(1 << 64))
}

/// The exact maximum of the bound on tags and that on forging without attempts, and the exact bound
/// on guesses.
pub fn exact(theorem: Theorem, q: u128, length: u64, v: u128) -> (Exact, Exact) {
    let bits = 8 * length as u128;
    match theorem {
        Theorem::Pmac { n, t } => {
            let blocks = int(q) * int(bits.div_ceil(n.into()).max(1));
            // More blocks than a u128 counts have no useful bound.
            let known = blocks < int(u128::MAX);
            let each = (int(3) * int(q)).min(&blocks + int(1));
            let each = if known { each } else { &blocks + int(1) };
            let (l, sigma) =
                (bits.div_ceil(n.into()).max(1), q.saturating_mul(bits.div_ceil(n.into()).max(1)));
            let attempts = pmac_attempts(n, t, (q, sigma), v, l).unwrap_or(int(v));
            (blocks * each * two(-(n as i64)), attempts)
        }
        Theorem::LightMac { n, t, .. } => {
            (light_prf(n, q).max(light_mac(n, t, q, 0)), light_mac(n, t, 0, v))
        }
        Theorem::EliMacAes { t } => {
            let e = eli_aes();
            let tags = eli_prf(128, 128, &e, q).max(eli_mac(128, t, &e, q, 0));
            (tags, eli_attempts(128, t, &e, q, v))
        }
        Theorem::Umac { t, nonces } => {
            let hash = two(-30 * (t as i64 / 32));
            (equal_pairs(nonces, q), int(v) * hash * pads_of_all())
        }
        Theorem::Umac1999(mac) => {
            (umac_1999_tags(&mac, length, q), umac_1999_attempts(&mac, length, q, v))
        }
        Theorem::Poly1305Aes { nonces } => {
            let hash = int(8) * int(length.div_ceil(16).max(1)) * two(-106);
            (equal_pairs(nonces, q), int(v) * hash * pads_of_all())
        }
        _ => unreachable!("no other theorem"),
    }
}

/// UMAC99-STD-60 with tags of 64 bits.
pub const STD: Umac1999 =
    Umac1999 { b: 60, t: 64, prf: Prf1999::Named, nonces: NonceKind::Counted };

/// Returns whether a theorem's numbers of blocks fit in 128 bits. Those of PMAC with blocks of 256
/// bits do not; where they overflow, no attempt is allowed.
pub fn numbers_suffice(theorem: &Theorem) -> bool {
    !matches!(theorem, Theorem::Pmac { n: 256, .. })
}
