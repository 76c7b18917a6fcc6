//! Instruction sets: what a vector of 16-byte blocks can do on each rung of CPU.
//!
//! A rung is a bundle of CPU features. A value of a rung's type is the proof that this CPU has
//! them, so a kernel that takes the value is plain safe Rust. Kernels are written once, generic
//! over [`Isa`], and [`Level::run`] is the only place where a run-time choice becomes
//! compile-time code: choose once per range, loops inside.
//!
//! Every function and closure that a kernel passes through needs `#[inline(always)]`. Without it
//! the result stays right and every instruction becomes a call; `scripts/check-asm` tells.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod level;
mod portable;
mod proof;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod rung;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use level::{Kernel, Level, Status, UnusableLevel};
pub use words::Words;

/// Sixteen bytes: a block of AES.
pub type Block = [u8; 16];

/// One rung of instruction sets.
///
/// A vector [`V`](Isa::V) holds [`LANES`](Isa::LANES) blocks. All methods are safe because a value
/// of the type exists only where the CPU has the rung.
pub trait Isa: Copy + Send + Sync + 'static {
    /// The name that `TAGMAC_LEVEL` takes.
    const NAME: &'static str;
    /// Blocks in a vector.
    const LANES: usize;
    /// Vectors worth having in flight: 8 where instructions overlap, 1 where a vector keeps the
    /// CPU busy by itself.
    const VECTORS: usize;
    /// Messages of up to so many blocks cost less on the one-block rung; 0 if this is it.
    const FEW: usize;

    /// A vector of blocks.
    type V: Copy;
    /// A counter in each lane.
    type Counter: Copy;
    /// How a lane's counter is written into its block, see [`Isa::form`].
    type Form: Copy;
    /// How pieces shorter than a block are spread over lanes, see [`Isa::spread`].
    type Spread: Copy;
    /// `R` round keys as the rung likes to keep them over a loop.
    type Keys<'a, const R: usize>: Copy;
    /// Vectors of 64-bit words, see [`Isa::words`].
    type Words: Words;
    /// The rung for one block at a time. Only lane 0 of its vectors counts.
    type Narrow: Isa<Narrow = Self::Narrow>;

    /// Runs `f` compiled with this rung's instructions.
    fn run<R>(self, f: impl FnOnce() -> R) -> R;
    /// The one-block rung within this one, for tails and single blocks.
    fn narrow(self) -> Self::Narrow;
    /// Arithmetic on words, at the widest that the rung has.
    fn words(self) -> Self::Words;

    /// `b` in every lane.
    fn splat(self, b: &Block) -> Self::V;
    /// Lane j is block j of `p`, which holds exactly `LANES` blocks.
    fn load(self, p: &[u8]) -> Self::V;
    /// As [`load`](Isa::load) for up to `LANES` whole blocks; the other lanes are zero.
    fn load_lanes(self, p: &[u8]) -> Self::V;
    /// Writes the first lanes of `a` to `p`, as many as whole blocks fit.
    fn store_lanes(self, a: Self::V, p: &mut [u8]);
    /// The first `n` lanes of `a`; the other lanes are zero.
    fn keep_lanes(self, a: Self::V, n: usize) -> Self::V;
    /// `b` in the last lane; the other lanes are zero.
    fn last_lane(self, b: &Block) -> Self::V;
    /// Prepares round keys: once per range, before the loop.
    fn keys<'a, const R: usize>(self, keys: &'a [Block; R]) -> Self::Keys<'a, R>;
    /// Round key `r` in every lane.
    fn key<const R: usize>(self, keys: &Self::Keys<'_, R>, r: usize) -> Self::V;
    /// Lane 0.
    fn first_lane(self, a: Self::V) -> Block;
    /// Xor of all lanes.
    fn fold(self, a: Self::V) -> <Self::Narrow as Isa>::V;

    /// `a ^ b`.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a ^ b ^ c`.
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.xor(a, b), c)
    }
    /// One AES round in each lane: `MixColumns(ShiftRows(SubBytes(a))) ^ k`.
    fn aes(self, a: Self::V, k: Self::V) -> Self::V;
    /// The last AES round in each lane: `ShiftRows(SubBytes(a)) ^ k`.
    fn aes_last(self, a: Self::V, k: Self::V) -> Self::V;

    /// Lane j holds `first + j` (mod 2^64).
    fn counter(self, first: u64) -> Self::Counter;
    /// Adds `LANES` to each lane (mod 2^64).
    fn advance(self, c: Self::Counter) -> Self::Counter;
    /// Prepares a form: byte i of a block is byte `form[i]` of the little-endian counter, or zero
    /// where `form[i]` is [`ZERO`].
    fn form(self, form: &Block) -> Self::Form;
    /// Each lane's counter written in `form`.
    fn encode(self, c: Self::Counter, form: Self::Form) -> Self::V;

    /// Prepares pieces of `step` bytes, 8..=16.
    fn spread(self, step: usize) -> Self::Spread;
    /// `N` vectors of pieces: lane j of vector v ends with the `step` bytes of `data` from
    /// `at + (v * LANES + j) * step`; its first `16 - step` bytes are zero. At least `16 - step`
    /// bytes come before `at`. Many at once, so that bounds are checked once.
    fn load_spread<const N: usize>(
        self,
        data: &[u8],
        at: usize,
        spread: Self::Spread,
    ) -> [Self::V; N];
    /// As one vector of [`load_spread`](Isa::load_spread), but only the first `n` lanes are
    /// loaded; the other lanes are zero. No bytes need to come before `at`.
    fn load_spread_lanes(self, data: &[u8], at: usize, n: usize, spread: Self::Spread) -> Self::V;

    /// Up to 16 bytes, filled up with zeros, as a vector of the one-block rung.
    #[inline(always)]
    fn tail(self, p: &[u8]) -> <Self::Narrow as Isa>::V {
        self.narrow().splat(&zero_filled(p))
    }
}

/// In [`Isa::form`]: this byte of the block is zero.
pub const ZERO: u8 = 0x80;

/// Up to 16 bytes filled up with zeros. Two overlapping reads instead of a copy of unknown
/// length, which would be a call.
#[inline(always)]
pub(crate) fn zero_filled(p: &[u8]) -> Block {
    let n = p.len();
    let value = if let Some(b) = p.first_chunk::<16>() {
        u128::from_le_bytes(*b)
    } else if let (Some(low), Some(high)) = (p.first_chunk::<8>(), p.last_chunk::<8>()) {
        let high = u64::from_le_bytes(*high) as u128;
        u64::from_le_bytes(*low) as u128 | high << (8 * (n - 8))
    } else if let (Some(low), Some(high)) = (p.first_chunk::<4>(), p.last_chunk::<4>()) {
        let high = u32::from_le_bytes(*high) as u64;
        (u32::from_le_bytes(*low) as u64 | high << (8 * (n - 4))) as u128
    } else if let [first, .., last] = p {
        let middle = p[n / 2];
        (*first as u32 | (middle as u32) << (8 * (n / 2)) | (*last as u32) << (8 * (n - 1))) as u128
    } else {
        p.first().copied().unwrap_or(0) as u128
    };
    value.to_le_bytes()
}

/// 8 to 16 bytes, with zeros before them.
#[inline(always)]
pub(crate) fn zeros_before(p: &[u8]) -> Block {
    let low = u64::from_le_bytes(*p.first_chunk().expect("8 bytes"));
    let low = low.checked_shl(8 * (16 - p.len() as u32)).unwrap_or(0);
    let high = u64::from_le_bytes(*p.last_chunk().expect("8 bytes"));
    ((high as u128) << 64 | low as u128).to_le_bytes()
}

/// `a ^ b`.
#[inline(always)]
pub(crate) fn xor_blocks(a: &Block, b: &Block) -> Block {
    (u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b)).to_ne_bytes()
}

/// Where the block is that ends with the first of `pieces` pieces of `step` bytes from `at` on.
/// Blocks that end with the others follow it in steps of `step` bytes, all within `data`.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
#[inline(always)]
fn first_block(data: &[u8], at: usize, step: usize, pieces: usize) -> *const u8 {
    assert!((8..=16).contains(&step) && data[at..].len() >= pieces * step);
    data[at + step - 16..].as_ptr()
}

/// The block `0^bits 1 0*` for fewer than 128 bits: what padding by `10*` adds.
#[inline(always)]
pub(crate) fn one_at(bits: usize) -> Block {
    const BYTES: [[u8; 31]; 8] = {
        let mut rows = [[0; 31]; 8];
        let mut bit = 0;
        while bit < 8 {
            rows[bit][15] = 0x80 >> bit;
            bit += 1;
        }
        rows
    };
    let row = &BYTES[bits % 8];
    let first = 15 - bits / 8;
    *row[first..].first_chunk().expect("fewer than 128 bits")
}
