//! placeholder
use super::{Block, Isa, zero_filled};
#[derive(Clone, Copy)]
pub struct Portable(());
impl Portable { pub fn detect() -> Option<Self> { Some(Portable(())) } }
fn xt(b: u8) -> u8 { (b << 1) ^ ((b >> 7) * 0x1b) }
fn mul(mut a: u8, mut b: u8) -> u8 { let mut r = 0; while b != 0 { if b & 1 == 1 { r ^= a } a = xt(a); b >>= 1 } r }
fn sbox(a: u8) -> u8 { let mut q = 1; for _ in 0..254 { q = mul(q, a) } q ^ q.rotate_left(1) ^ q.rotate_left(2) ^ q.rotate_left(3) ^ q.rotate_left(4) ^ 0x63 }
fn sub_shift(a: Block) -> Block { core::array::from_fn(|i| sbox(a[(i + 4 * (i % 4)) % 16])) }
impl Isa for Portable {
    const NAME: &'static str = "portable"; const LANES: usize = 1; const TOGETHER: bool = true; type Keys<'a, const R: usize> = &'a [Block; R]; type V = Block; type Counter = u64; type Form = Block; type Spread = usize; type Narrow = Portable;
    fn run<R>(self, f: impl FnOnce() -> R) -> R { #[inline(never)] fn inside<R>(f: impl FnOnce() -> R) -> R { f() } inside(f) }
    fn narrow(self) -> Self { self }
    fn splat(self, b: &Block) -> Block { *b }
    fn load(self, p: &[u8]) -> Block { p.try_into().unwrap() }
    fn load_lanes(self, p: &[u8]) -> Block { zero_filled(p) }
    fn store_lanes(self, a: Block, p: &mut [u8]) { if let Some(p) = p.first_chunk_mut() { *p = a } }
    fn keep_lanes(self, a: Block, n: usize) -> Block { if n == 0 { [0; 16] } else { a } }
    fn last_lane(self, b: &Block) -> Block { *b }
    fn keys<const R: usize>(self, keys: &[Block; R]) -> &[Block; R] { keys }
    fn key<const R: usize>(self, keys: &&[Block; R], r: usize) -> Block { keys[r] }
    fn first_lane(self, a: Block) -> Block { a }
    fn fold(self, a: Block) -> Block { a }
    fn xor(self, a: Block, b: Block) -> Block { core::array::from_fn(|i| a[i] ^ b[i]) }
    fn aes(self, a: Block, k: Block) -> Block { let s = sub_shift(a);
        core::array::from_fn(|i| { let c = i & !3; let (w, x, y, z) = (s[c + i % 4], s[c + (i + 1) % 4], s[c + (i + 2) % 4], s[c + (i + 3) % 4]); xt(w) ^ xt(x) ^ x ^ y ^ z ^ k[i] }) }
    fn aes_last(self, a: Block, k: Block) -> Block { self.xor(sub_shift(a), k) }
    fn counter(self, first: u64) -> u64 { first }
    fn advance(self, c: u64) -> u64 { c.wrapping_add(1) }
    fn form(self, f: &Block) -> Block { *f }
    fn encode(self, c: u64, f: Block) -> Block { core::array::from_fn(|i| if f[i] < 8 { c.to_le_bytes()[f[i] as usize] } else { 0 }) }
    fn spread(self, s: usize) -> usize { s }
    fn load_spread<const N: usize>(self, d: &[u8], at: usize, s: usize) -> [Block; N] { core::array::from_fn(|v| { let mut b = [0; 16]; b[16 - s..].copy_from_slice(&d[at + v * s..at + v * s + s]); b }) }
    fn load_spread_lanes(self, d: &[u8], at: usize, n: usize, s: usize) -> Block { if n == 0 { [0; 16] } else { self.load_spread::<1>(d, at, s)[0] } }
}
