//! RC6-32/20/16 (Rivest, Robshaw, Sidney, Yin, 1998, section 2); words have their lowest byte
//! first.

const ROUNDS: usize = 20;

/// Returns S[0 .. 2r + 3].
pub(super) fn round_keys(key: &[u8]) -> Vec<u32> {
    let words = key.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")));
    let mut l: Vec<u32> = words.collect();
    let mut s: Vec<u32> = (0..2 * ROUNDS as u32 + 4)
        .map(|i| 0xb7e1_5163u32.wrapping_add(i.wrapping_mul(0x9e37_79b9)))
        .collect();
    let (mut a, mut b) = (0u32, 0u32);
    for step in 0..3 * s.len().max(l.len()) {
        let (i, j) = (step % s.len(), step % l.len());
        a = s[i].wrapping_add(a).wrapping_add(b).rotate_left(3);
        s[i] = a;
        let sum = a.wrapping_add(b);
        b = l[j].wrapping_add(sum).rotate_left(sum % 32);
        l[j] = b;
    }
    s
}

pub(super) fn encrypt(s: &[u32], block: u128) -> u128 {
    let bytes = block.to_be_bytes();
    let word = |i: usize| u32::from_le_bytes(bytes[4 * i..][..4].try_into().expect("4 bytes"));
    let [mut a, mut b, mut c, mut d] = [word(0), word(1), word(2), word(3)];
    b = b.wrapping_add(s[0]);
    d = d.wrapping_add(s[1]);
    let f = |x: u32| x.wrapping_mul(x.wrapping_mul(2).wrapping_add(1)).rotate_left(5);
    for i in 1..=ROUNDS {
        let (t, u) = (f(b), f(d));
        a = (a ^ t).rotate_left(u % 32).wrapping_add(s[2 * i]);
        c = (c ^ u).rotate_left(t % 32).wrapping_add(s[2 * i + 1]);
        (a, b, c, d) = (b, c, d, a);
    }
    a = a.wrapping_add(s[2 * ROUNDS + 2]);
    c = c.wrapping_add(s[2 * ROUNDS + 3]);
    [a, b, c, d].iter().fold(0, |all, word| all << 32 | u128::from(word.swap_bytes()))
}
