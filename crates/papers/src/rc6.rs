//! RC6-32/20 (Rivest, Robshaw, Sidney, Yin 1998): 20 rounds on four words of 32 bits,
//! little-endian, and 44 round keys S:
//!
//! ```text
//! t = (B (2 B + 1)) <<< 5      A = ((A ^ t) <<< u) + S[2 i]
//! u = (D (2 D + 1)) <<< 5      C = ((C ^ u) <<< t) + S[2 i + 1]      then A, B, C, D turn by one
//! ```
//!
//! There are no tables. Rotations by t and u depend on data, and so do the products. On common CPUs
//! both take constant time (except on some small ones without a barrel shifter or a fast
//! multiplier). Blocks are processed eight at a time, word by word, so that compilers vectorise the
//! code.

use core::hint::black_box;

use tagmac::cipher::{BlockCipher, Decrypt};
use tagmac::isa::Isa;
use zeroize::Zeroize;

const ROUNDS: usize = 20;
/// The number of round keys.
const KEYS: usize = 2 * ROUNDS + 4;
/// Odd((e - 2) 2^32) and Odd((golden ratio - 1) 2^32).
const P: u32 = 0xb7e1_5163;
const Q: u32 = 0x9e37_79b9;

/// RC6 with a key of 16 bytes, or of 24 or 32. Wiped on drop.
///
/// ```
/// use tagmac::cipher::BlockCipher;
/// use tagmac_papers::Rc6;
/// let mut blocks = [[0; 16]];
/// Rc6::<16>::new(&[0; 16]).encrypt(&mut blocks);
/// assert_eq!(u128::from_be_bytes(blocks[0]), 0x8fc3a53656b1f778c129df4e9848a41e);
/// ```
#[derive(Clone)]
pub struct Rc6<const BYTES: usize = 16> {
    keys: [u32; KEYS],
}

impl<const BYTES: usize> core::fmt::Debug for Rc6<BYTES> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Rc6(..)")
    }
}

impl<const BYTES: usize> Drop for Rc6<BYTES> {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}

/// t or u of each block.
#[inline(always)]
fn turned<const N: usize>(x: &[u32; N]) -> [u32; N] {
    let mut turned = [0; N];
    for (turned, x) in turned.iter_mut().zip(x) {
        *turned = x.wrapping_mul(x.wrapping_add(x.wrapping_add(1))).rotate_left(5);
    }
    turned
}

/// A or C of each block after a round.
#[inline(always)]
fn mixed<const N: usize>(x: &mut [u32; N], with: &[u32; N], by: &[u32; N], key: u32) {
    for ((x, with), by) in x.iter_mut().zip(with).zip(by) {
        *x = (*x ^ with).rotate_left(by & 31).wrapping_add(key);
    }
}

impl<const BYTES: usize> Rc6<BYTES> {
    #[inline(always)]
    fn encrypt_many<const N: usize>(&self, blocks: &mut [[u8; 16]; N]) {
        let [mut a, mut b, mut c, mut d] = [[0; N]; 4];
        for (j, block) in blocks.iter().enumerate() {
            let ([w0, w1, w2, w3], []) = block.as_chunks() else { unreachable!("16 bytes") };
            a[j] = u32::from_le_bytes(*w0);
            b[j] = u32::from_le_bytes(*w1).wrapping_add(self.keys[0]);
            c[j] = u32::from_le_bytes(*w2);
            d[j] = u32::from_le_bytes(*w3).wrapping_add(self.keys[1]);
        }
        // Compilers vectorise words in memory, but not words in registers. Without this, eight
        // blocks take three times as long.
        let in_memory = |words: [[u32; N]; 4]| if N > 1 { black_box(words) } else { words };
        [a, b, c, d] = in_memory([a, b, c, d]);
        let (rounds, _) = self.keys[2..].as_chunks::<2>();
        for [key_a, key_c] in &rounds[..ROUNDS] {
            let (t, u) = (turned(&b), turned(&d));
            mixed(&mut a, &t, &u, *key_a);
            mixed(&mut c, &u, &t, *key_c);
            (a, b, c, d) = (b, c, d, a);
        }
        [a, b, c, d] = in_memory([a, b, c, d]);
        for (j, block) in blocks.iter_mut().enumerate() {
            let (words, _) = block.as_chunks_mut();
            words[0] = a[j].wrapping_add(self.keys[KEYS - 2]).to_le_bytes();
            words[1] = b[j].to_le_bytes();
            words[2] = c[j].wrapping_add(self.keys[KEYS - 1]).to_le_bytes();
            words[3] = d[j].to_le_bytes();
        }
    }
}

impl<const BYTES: usize> BlockCipher for Rc6<BYTES> {
    const NAME: &'static str = "RC6";
    const KEY_BYTES: usize = BYTES;
    type Block = [u8; 16];
    type Key = [u8; BYTES];

    fn new(key: &[u8; BYTES]) -> Self {
        const { assert!(BYTES == 16 || BYTES == 24 || BYTES == 32) };
        let mut l = [0; 8];
        for (word, bytes) in l.iter_mut().zip(key.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let mut rc6 = Rc6 { keys: [0; KEYS] };
        for (i, key) in rc6.keys.iter_mut().enumerate() {
            *key = P.wrapping_add(Q.wrapping_mul(i as u32));
        }
        let (mut a, mut b) = (0u32, 0u32);
        for i in 0..3 * KEYS {
            let (key, word) = (&mut rc6.keys[i % KEYS], &mut l[i % (BYTES / 4)]);
            a = key.wrapping_add(a).wrapping_add(b).rotate_left(3);
            *key = a;
            let sum = a.wrapping_add(b);
            b = word.wrapping_add(sum).rotate_left(sum & 31);
            *word = b;
        }
        l.zeroize();
        rc6
    }

    #[inline(always)]
    fn encrypt(&self, blocks: &mut [[u8; 16]]) {
        let (blocks64, rest) = blocks.as_chunks_mut::<8>();
        for eight in blocks64 {
            self.encrypt_many(eight);
        }
        for block in rest.as_chunks_mut::<1>().0 {
            self.encrypt_many(block);
        }
    }
}

/// Decrypts one block at a time.
impl<const BYTES: usize> Decrypt for Rc6<BYTES> {
    #[inline(always)]
    fn decrypt_one<I: Isa>(&self, _isa: I, block: &[u8; 16]) -> [u8; 16] {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let [a, mut b, c, mut d] = words;
        let mut a = a.wrapping_sub(self.keys[KEYS - 2]);
        let mut c = c.wrapping_sub(self.keys[KEYS - 1]);
        let (rounds, _) = self.keys[2..].as_chunks::<2>();
        for [key_a, key_c] in rounds[..ROUNDS].iter().rev() {
            (a, b, c, d) = (d, a, b, c);
            let ([t], [u]) = (turned(&[b]), turned(&[d]));
            a = a.wrapping_sub(*key_a).rotate_right(u & 31) ^ t;
            c = c.wrapping_sub(*key_c).rotate_right(t & 31) ^ u;
        }
        b = b.wrapping_sub(self.keys[0]);
        d = d.wrapping_sub(self.keys[1]);
        let mut plain = [0; 16];
        for (bytes, word) in plain.as_chunks_mut().0.iter_mut().zip([a, b, c, d]) {
            *bytes = word.to_le_bytes();
        }
        plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the submission.
    #[test]
    fn official() {
        let key = 0x0123456789abcdef0112233445566778u128.to_be_bytes();
        let block = 0x02132435465768798a9bacbdcedfe0f1u128.to_be_bytes();
        let expected = 0x524e192f4715c6231f51f6367ea43f18u128.to_be_bytes();
        for count in 1..40 {
            let mut blocks = vec![block; count];
            Rc6::<16>::new(&key).encrypt(&mut blocks);
            assert_eq!(blocks, vec![expected; count]);
        }
        let mut zero = [[0; 16]];
        Rc6::<16>::new(&[0; 16]).encrypt(&mut zero);
        assert_eq!(zero[0], 0x8fc3a53656b1f778c129df4e9848a41eu128.to_be_bytes());
    }

    #[test]
    fn eight_at_once_are_eight_alone() {
        let cipher = Rc6::<16>::new(&[0x5a; 16]);
        let mut blocks = [[0; 16]; 29];
        for (i, byte) in blocks.as_flattened_mut().iter_mut().enumerate() {
            *byte = (i * 91 + i / 16) as u8;
        }
        let mut one_by_one = blocks;
        one_by_one.chunks_mut(1).for_each(|block| cipher.encrypt(block));
        cipher.encrypt(&mut blocks);
        assert_eq!(blocks, one_by_one);
    }
}
