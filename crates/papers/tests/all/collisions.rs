//! The paper's collision bounds for w = 4, compared with an exhaustive search over keys with the
//! library's own code.
//!
//! "UMAC: Fast and Secure Message Authentication", full version of 1999. Each line of `cargo test
//! --test all -- collisions:: --nocapture` has the theorem's number and the one found.

use tagmac::isa::Level;
use tagmac_papers::{Nh, NhShape};

/// The number of values of a word, of pairs of words, and of keys of a pair.
const W: usize = 16;
const PAIRS: usize = W * W;

/// The pair of words with this number.
fn pair(number: usize) -> [u8; 2] {
    [(number / W) as u8, (number % W) as u8]
}

fn of(shape: NhShape, k: &[u8], l: &[u8], message: &[u8]) -> Vec<u8> {
    let nh = Nh::with_level(shape, k, l, portable()).expect("enough key");
    let mut out = vec![0; shape.hash_bytes()];
    nh.block(message, &mut out).expect("a block");
    out
}

fn portable() -> Level {
    Level::from_name("portable").expect("every CPU has it")
}

fn shape(words: usize, signed: bool) -> NhShape {
    let shape = NhShape::with_nibbles(words).expect("even");
    if signed { shape.signed() } else { shape }
}

/// NH[2, 4] or NHS[2, 4] from the library: `[key][message]`, 8 bits.
fn table(signed: bool) -> Vec<[u8; PAIRS]> {
    let shape = shape(2, signed);
    (0..PAIRS)
        .map(|key| {
            let nh = Nh::with_level(shape, &pair(key), &[], portable()).expect("two words of key");
            let mut row = [0; PAIRS];
            for (message, value) in row.iter_mut().enumerate() {
                let mut out = [0; 2];
                nh.block(&pair(message), &mut out).expect("a block");
                *value = out[0] | out[1] << 4;
            }
            row
        })
        .collect()
}

/// Prints and checks a theorem's bound and the number found; both are divided by `of`.
fn report(what: &str, found: u64, bound: u64, of: u64) {
    println!("{what}: the paper's bound {bound}/{of}, found {found}/{of}");
    assert!(found <= bound, "{what}");
}

/// The maximum number of keys for which two messages collide, over all pairs of messages.
fn most(table: &[[u8; PAIRS]]) -> u64 {
    let mut most = 0;
    for left in 0..PAIRS {
        for right in 0..left {
            most = most.max(table.iter().filter(|row| row[left] == row[right]).count());
        }
    }
    most as u64
}

/// Theorems 4.2, 4.5 and 4.8: all 256 keys, all pairs of messages of two words.
#[test]
fn one_stream() {
    let found = most(&table(false));
    report("theorem 4.2, NH[2, 4]", found, 16, 256);
    assert_eq!(found, 16, "the bound is tight");
    let found = most(&table(true));
    report("theorem 4.5, NHS[2, 4]", found, 32, 256);
    println!("theorem 4.8, NHS[2, 4]: at least 30/256, found {found}/256");
    assert_eq!(found, 30);
}

/// Longer messages, NH[4, 4] and NHS[4, 4]: all 2^16 keys and all pairs of messages. Only m + k
/// matters, so m may be 0. Keys of two pairs of words collide if the two differences of products
/// cancel out, so it suffices to count how often each difference occurs.
#[test]
fn one_stream_of_four_words() {
    for (signed, what, bound) in
        [(false, "theorem 4.2, NH[4, 4]", 16 * 256), (true, "theorem 4.5, NHS[4, 4]", 32 * 256)]
    {
        let counts: Vec<_> = differences(&table(signed)).iter().take(PAIRS).map(counts).collect();
        let mut found = 0;
        for left in 0..PAIRS {
            for right in 0..PAIRS {
                if (left, right) != (0, 0) {
                    let keys = (0..=255u8).map(|d| {
                        let (a, b) =
                            (counts[left][d as usize], counts[right][d.wrapping_neg() as usize]);
                        a as u64 * b as u64
                    });
                    found = found.max(keys.sum());
                }
            }
        }
        report(what, found, bound, 65536);
    }
}

/// The difference of the hashes of each two messages of two words, with number 256 left + right,
/// for each key.
fn differences(table: &[[u8; PAIRS]]) -> Vec<[u8; PAIRS]> {
    let mut all = Vec::with_capacity(PAIRS * PAIRS);
    for left in 0..PAIRS {
        for right in 0..PAIRS {
            let mut row = [0; PAIRS];
            for (value, table) in row.iter_mut().zip(table) {
                *value = table[left].wrapping_sub(table[right]);
            }
            all.push(row);
        }
    }
    all
}

/// The number of keys with each difference.
fn counts(differences: &[u8; PAIRS]) -> [u16; PAIRS] {
    let mut counts = [0; PAIRS];
    differences.iter().for_each(|d| counts[*d as usize] += 1);
    counts
}

/// For each key, the number of keys of another pair of words that cancel its difference. `counts`
/// has the differences of that pair.
fn cancelled(counts: &[u16; PAIRS], differences: &[u8; PAIRS]) -> [u16; PAIRS] {
    let mut keys = [0; PAIRS];
    for (keys, d) in keys.iter_mut().zip(differences) {
        *keys = counts[d.wrapping_neg() as usize];
    }
    keys
}

fn dot(a: &[u16; PAIRS], b: &[u16; PAIRS]) -> u64 {
    // At most 2^24, so 32 bits suffice.
    a.iter().zip(b).map(|(a, b)| *a as u32 * *b as u32).sum::<u32>() as u64
}

/// The counts of the negated differences.
fn negated(counts: &[u16; PAIRS]) -> [u16; PAIRS] {
    let mut negated = [0; PAIRS];
    for (d, count) in counts.iter().enumerate() {
        negated[(d as u8).wrapping_neg() as usize] = *count;
    }
    negated
}

/// Pseudorandom numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }

    fn words(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(W) as u8).collect()
    }
}

/// The entry of a table for two words of key and of message, in the library's byte order.
fn looked_up(table: &[[u8; PAIRS]], key: &[u8], message: &[u8]) -> u8 {
    let number = |words: &[u8]| words[0] as usize * W + words[1] as usize;
    table[number(key)][number(message)]
}

fn written(value: u8) -> [u8; 2] {
    [value & 15, value >> 4]
}

/// The library's NH^T and NH^T2 are composed of its NH as the counts below assume.
#[test]
fn streams_and_levels_are_sums_of_the_table() {
    let mut random = Random(1);
    for signed in [false, true] {
        let table = table(signed);
        let t = shape(4, signed).toeplitz(2, 2).expect("two streams");
        let t2 = shape(2, signed).toeplitz(2, 2).expect("two streams");
        let t2 = t2.two_level(2).expect("two results");
        assert_eq!((t.key_bytes(), t2.key_bytes(), t2.second_key_bytes()), (6, 4, 6));
        for _ in 0..20_000 {
            let (k, l, m) = (random.words(6), random.words(6), random.words(4));
            let of_four = |k: &[u8], m: &[u8]| {
                let right = looked_up(&table, &k[2..4], &m[2..]);
                looked_up(&table, &k[..2], &m[..2]).wrapping_add(right)
            };
            let expected = [of_four(&k, &m), of_four(&k[2..], &m)].map(written);
            assert_eq!(of(t, &k, &[], &m), expected.as_flattened());

            let level = |k: &[u8]| [&m[..2], &m[2..]].map(|m| written(looked_up(&table, k, m)));
            let (a, b) = (level(&k), level(&k[2..]));
            let expected = [of_four(&l, a.as_flattened()), of_four(&l[2..], b.as_flattened())];
            assert_eq!(of(t2, &k[..4], &l, &m), expected.map(written).as_flattened());
        }
    }
}

/// Theorems 5.1 and 5.2 for NH^T[4, 4, 2]: all 2^24 keys and all pairs of messages of four words.
///
/// Let d1 and d2 be the differences of the two pairs of words. The streams collide if d1(k1, k2) +
/// d2(k3, k4) = 0 and d1(k3, k4) + d2(k5, k6) = 0. For each k3, k4 this is a product of two counts.
/// Adding (a, b, a, b) to both messages only renames keys, so the first message starts with 0, 0;
/// and all words may be swapped with their neighbours. A pair is skipped only if it cannot exceed
/// the maximum found so far: its keys that collide in the first stream, times the maximum that the
/// second stream can leave of them.
#[test]
fn two_streams() {
    for (signed, what, bound) in [
        (false, "theorem 5.1, NH^T[4, 4, 2]", 1 << 16),
        (true, "theorem 5.2, NHS^T[4, 4, 2]", 1 << 18),
    ] {
        let all = differences(&table(signed));
        let counted: Vec<_> = all.iter().map(counts).collect();
        let most: Vec<u64> =
            counted.iter().map(|c| u64::from(*c.iter().max().expect("256"))).collect();
        let mut found = 0;
        for first in 0..PAIRS {
            let [x, y] = pair(first);
            if x > y {
                continue;
            }
            let negated = negated(&counted[first]);
            for second in 0..PAIRS * PAIRS {
                let same = first == 0 && second / PAIRS == second % PAIRS;
                if same || dot(&negated, &counted[second]) * most[second] <= found {
                    continue;
                }
                let left = cancelled(&counted[first], &all[second]);
                let right = cancelled(&counted[second], &all[first]);
                found = found.max(dot(&left, &right));
            }
        }
        report(what, found, bound, 1 << 24);
        if !signed {
            assert_eq!(found, bound, "the bound is tight");
        }
    }
}

/// Theorems 5.3 and 5.4 for NH^T2[2, 1, 4]: all 2^16 keys K, all 2^16 keys L and all pairs of
/// messages of two words. The streams' keys share no word, so the probability is the square of that
/// of one stream.
#[test]
fn two_levels_of_two_words() {
    for (signed, what, bits) in
        [(false, "theorem 5.3, NH^T2[2, 1, 4]", 6), (true, "theorem 5.4, NHS^T2[2, 1, 4]", 4)]
    {
        let table = table(signed);
        let colliding: Vec<u16> = differences(&table).iter().map(|d| counts(d)[0]).collect();
        let result = |value: u8| {
            let [low, high] = written(value);
            low as usize * W + high as usize
        };
        let mut found = 0;
        for left in 0..PAIRS {
            for right in 0..left {
                let keys = table
                    .iter()
                    .map(|row| colliding[PAIRS * result(row[left]) + result(row[right])] as u64);
                found = found.max(keys.sum());
            }
        }
        report(what, found * found, 1 << (32 - bits), 1 << 32);
        if !signed {
            // "only loses a factor of two" (section 2.2) would be 2^-7.
            assert!(found * found > 1 << (32 - 7));
        }
        // The proof of `docs/design/theory.md`, for one stream and for three.
        for (streams, found) in [(1, found), (2, found.pow(2)), (3, found.pow(3))] {
            let shape = shape(2, signed).toeplitz(streams, 2).expect("streams");
            let b = shape.two_level(1).expect("one result").collision_bits();
            report(
                &format!("{streams} streams"),
                found,
                1 << (16 * streams - b),
                1 << (16 * streams),
            );
        }
    }
}

/// The proven bits. If the keys of streams are not whole groups of eight words apart, only some
/// streams count.
#[test]
fn bits_are_of_streams_whole_groups_apart() {
    let strided = |words, streams, shift, levels| {
        let shape = NhShape::new(words, 16).expect("words").strided().expect("groups of eight");
        let shape = shape.toeplitz(streams, shift).expect("streams");
        if levels == 2 { shape.two_level(4).expect("two levels") } else { shape }.collision_bits()
    };
    for (shift, counted) in [(2, 4), (4, 8), (6, 4), (8, 16), (12, 8), (16, 16), (20, 8)] {
        assert_eq!(strided(64, 16, shift, 1), 16 * counted, "{shift}");
        assert_eq!(strided(64, 16, shift, 2), 15 * counted, "{shift}");
        assert_eq!(strided(64, 1, shift, 1), 16, "{shift}");
    }
    let neighbours = NhShape::new(64, 16).expect("words").toeplitz(4, 6).expect("streams");
    assert_eq!(neighbours.collision_bits(), 64);
    assert_eq!(neighbours.signed().two_level(4).expect("two levels").collision_bits(), 56);
}

/// Theorems 5.3 and 5.4 for NH^T2[2, 2, 4]. Tries all 2^16 keys K and all 2^24 keys L, for the
/// message 0, 0, 0, 0 with each other message of four words (all pairs would be 2^31).
///
/// For each key of a stream, the first level has two pairs of results. The second level's streams
/// share the key words l3, l4. Let u and v be the numbers of keys of the first and second stream
/// for each value of these words; the total is the sum of u v. A pair is skipped only if the
/// maximum of u times the sum of v does not exceed the maximum found so far.
#[test]
fn two_levels_of_four_words() {
    for (signed, what, bits) in
        [(false, "theorem 5.3, NH^T2[2, 2, 4]", 6), (true, "theorem 5.4, NHS^T2[2, 2, 4]", 4)]
    {
        let table = table(signed);
        let all = differences(&table);
        let counted: Vec<_> = all.iter().map(counts).collect();
        let most: Vec<u64> =
            counted.iter().map(|c| u64::from(*c.iter().max().expect("256"))).collect();
        // By the difference of words: the number of keys that cancel two pairs' differences.
        let negated: Vec<_> = counted[..PAIRS].iter().map(negated).collect();
        let both: Vec<Vec<u64>> = (0..PAIRS)
            .map(|first| (0..PAIRS).map(|second| dot(&negated[first], &counted[second])).collect())
            .collect();
        let result = |value: u8| {
            let [low, high] = written(value);
            low as usize * W + high as usize
        };
        let difference = |number: usize| {
            let ([a, b], [c, d]) = (pair(number / PAIRS), pair(number % PAIRS));
            (c.wrapping_sub(a) & 15) as usize * W + (d.wrapping_sub(b) & 15) as usize
        };
        let mut found = 0;
        for other in 1..PAIRS * PAIRS {
            let (first, second) = (other / PAIRS, other % PAIRS);
            // For each key of a stream, the numbers of the pairs of results.
            let results: Vec<[usize; 2]> = table
                .iter()
                .map(|row| [first, second].map(|other| PAIRS * result(row[0]) + result(row[other])))
                .collect();
            let bound: u64 = results.iter().map(|[a, _]| most[*a]).sum();
            let sum: u64 = results.iter().map(|[a, b]| both[difference(*a)][difference(*b)]).sum();
            if bound * sum <= found {
                continue;
            }
            let (mut u, mut v) = ([0u64; PAIRS], [0u64; PAIRS]);
            for [a, b] in results {
                let left = cancelled(&counted[a], &all[b]);
                let right = cancelled(&counted[b], &all[a]);
                for l in 0..PAIRS {
                    u[l] += left[l] as u64;
                    v[l] += right[l] as u64;
                }
            }
            found = found.max(u.iter().zip(v).map(|(u, v)| u * v).sum());
        }
        report(what, found, 1 << (40 - bits), 1 << 40);
    }
}
