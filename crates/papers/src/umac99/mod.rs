//! The first published UMAC (Black, Halevi, Krawczyk, Krovetz, Rogaway, "UMAC: Fast and Secure
//! Message Authentication", CRYPTO 1999, full version of 8 September 1999): a family of MACs, not
//! the UMAC of RFC 4418.
//!
//! ```text
//! tag = PRF(nonce || H(M_1) || .. || H(M_m) || length mod block)      prf.rs
//! H   = NH or NHS in t streams, perhaps in two levels                 nh.rs, levels.rs
//! ```
//!
//! The parameters are in `parameters.rs` and `shape.rs`, the paper's named sets in `sets.rs`. Where
//! the paper is silent (its specification was never found) the choices are ours: little-endian
//! words, results and length, keys from the PRF's own primitive, the full output as the tag.
//! `docs/design/theory.md` has more.
//!
//! The code is fast because H leaves only 1/1024 to 1/256 of the message to the PRF in the named
//! sets, and costs one to four multiplications for many bytes.

mod error;
mod graded;
mod levels;
mod nh;
mod parameters;
mod prf;
mod sets;
mod shape;

use alloc::vec;
use alloc::vec::Vec;

use subtle::ConstantTimeEq;
use tagmac::hazmat::{Construction, Hash, Plan, SharedFinish};
use tagmac::isa::{Isa, Level, Levels, SelfTest};
#[cfg(feature = "save")]
use tagmac::save::{Reader, Save, SaveError, Writer};
use tagmac::{Bits, Error, Tag};
use zeroize::Zeroize;

use crate::silent;
use prf::{Feed, PrfKey};

pub use error::NhError;
pub use graded::Umac99Graded;
pub(crate) use levels::NhKey;
pub use parameters::Umac99Parameters;
pub use prf::Umac99Prf;
pub use sets::Umac99Set;
pub use shape::NhShape;

/// The length of the shortest tag.
const MIN_TAG_BITS: usize = 32;
/// The maximum length of the hash of a block in bytes.
const MAX_HASH_BYTES: usize = 16 * shape::MAX_STREAMS;
/// The number of bytes of block hashes that are passed to the PRF at once.
const GROUP: usize = 1024;

/// The UMAC of 1999 under a key. Nonces have 8 bytes and must never repeat, see
/// [`NonceSequence`](tagmac::NonceSequence).
///
/// ```
/// use tagmac::Mac;
/// use tagmac_papers::{Umac99, Umac99Set};
/// let mac = Umac99::new(Umac99Set::Std60, &[7; 16]);
/// let nonce = 1u64.to_be_bytes();
/// let tag = mac.tag_with(&nonce, b"message")?;
/// assert!(mac.verify_with(&nonce, b"message", &tag).is_ok());
/// assert!(mac.verify_with(&nonce, b"massage", &tag).is_err());
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone)]
pub struct Umac99 {
    key: NhKey,
    prf: PrfKey,
    /// Shorter messages are not hashed.
    min_length_to_hash: usize,
    tag_bytes: usize,
    max_tag_bytes: usize,
    level: Level,
}

silent!(Umac99, Umac99Sum);

impl Umac99 {
    /// Truncates tags to the first `tag_bits` bits of the PRF's output.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] unless `tag_bits` is a multiple of 8 from 32 to the length of the output.
    pub fn with_tag_bits(self, tag_bits: usize) -> Result<Self, Error> {
        let (min, max, found) = (MIN_TAG_BITS, 8 * self.max_tag_bytes, tag_bits);
        if !(min..=max).contains(&found) || !found.is_multiple_of(8) {
            return Err(Error::TagBits { min, max, step: 8, found });
        }
        Ok(Umac99 { tag_bytes: tag_bits / 8, ..self })
    }
}

/// The block hashes of a range. At the start of a message with a known nonce they are fed to the
/// PRF immediately instead. Secret: wiped on drop, prints nothing in `Debug`.
#[derive(Clone)]
pub struct Umac99Sum {
    hashes: Vec<u8>,
    feed: Option<Feed>,
}

impl Zeroize for Umac99Sum {
    fn zeroize(&mut self) {
        self.hashes.zeroize();
        // Dropping it in place wipes it.
        self.feed = None;
    }
}

impl Drop for Umac99Sum {
    fn drop(&mut self) {
        self.hashes.zeroize();
    }
}

#[cfg(feature = "save")]
impl Save for Umac99Sum {
    fn save(&self, out: &mut Writer) -> Result<(), SaveError> {
        // The state of HMAC is private to its crate.
        if self.feed.is_some() {
            return Err(SaveError::NoSavedState);
        }
        out.length_prefixed(&self.hashes);
        Ok(())
    }

    fn load(input: &mut Reader<'_>, _: core::ops::Range<u64>) -> Option<Self> {
        Some(Umac99Sum { hashes: input.length_prefixed()?.to_vec(), feed: None })
    }
}

impl Umac99Sum {
    /// Makes room for `more` bytes of hashes. An old allocation is wiped.
    fn room(&mut self, more: usize) -> &mut [u8] {
        let start = self.hashes.len();
        if self.hashes.capacity() - start < more {
            let mut larger = Vec::with_capacity(start + more.max(start));
            larger.extend_from_slice(&self.hashes);
            self.hashes.zeroize();
            self.hashes = larger;
        }
        self.hashes.resize(start + more, 0);
        &mut self.hashes[start..]
    }

    #[inline(always)]
    fn push<I: Isa>(&mut self, isa: I, prf: &PrfKey, bytes: &[u8]) {
        match &mut self.feed {
            Some(feed) => feed.update(isa, prf, bytes),
            None => self.room(bytes.len()).copy_from_slice(bytes),
        }
    }
}

impl Hash for Umac99 {
    type Sum = Umac99Sum;
    type Digest = Umac99Sum;
    type BlockBuffer = Vec<u8>;
    const LAST_BLOCK_DISTINCT: bool = false;
    const ACCEPTS_BIT_STRINGS: bool = false;
    const PLAN: Plan = Plan {
        long: Levels::Narrow,
        short: Levels::Narrow,
        // A block is many vectors.
        narrow_path: false,
        shared_finish: SharedFinish::Always,
        ..Plan::DEFAULT
    };

    #[inline(always)]
    fn level(&self) -> Level {
        self.level
    }

    #[inline(always)]
    fn block(&self) -> usize {
        self.key.shape().block_bytes()
    }

    #[inline(always)]
    fn limit_bits(&self) -> u64 {
        u64::MAX
    }

    #[inline(always)]
    fn empty(&self) -> Umac99Sum {
        Umac99Sum { hashes: Vec::new(), feed: None }
    }

    fn new_buffer(&self) -> Vec<u8> {
        vec![0; self.block()]
    }

    #[inline(always)]
    fn absorb<I: Isa>(&self, isa: I, sum: &mut Umac99Sum, _: u64, blocks: &[u8]) {
        let (block, bytes) = (self.block(), self.key.shape().hash_bytes());
        let Some(feed) = &mut sum.feed else {
            let room = sum.room(blocks.len() / block * bytes);
            return self.key.hash(self.level, false, blocks, room);
        };
        let mut hashes = [0; GROUP];
        let mut used = 0;
        for blocks in blocks.chunks(GROUP / bytes * block) {
            let hashes = &mut hashes[..blocks.len() / block * bytes];
            used = used.max(hashes.len());
            self.key.hash(self.level, false, blocks, hashes);
            feed.update(isa, &self.prf, hashes);
        }
        hashes[..used].zeroize();
    }

    fn join(&self, left: &mut Umac99Sum, right: &Umac99Sum) {
        left.room(right.hashes.len()).copy_from_slice(&right.hashes);
    }

    fn ct_eq(&self, one: &Umac99Sum, other: &Umac99Sum) -> bool {
        one.hashes.ct_eq(&other.hashes).into()
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, sum: &Umac99Sum, at: u64, tail: Bits<'_>) -> Umac99Sum {
        let (mut digest, tail) = (sum.clone(), tail.bytes());
        let bytes = at + tail.len() as u64;
        if bytes < self.min_length_to_hash as u64 {
            digest.push(isa, &self.prf, tail);
        } else if !tail.is_empty() {
            let mut hash = [0; MAX_HASH_BYTES];
            let hash = &mut hash[..self.key.shape().hash_bytes()];
            self.key.hash(self.level, false, tail, hash);
            digest.push(isa, &self.prf, hash);
            hash.zeroize();
        }
        digest.push(isa, &self.prf, &self.key.shape().length(bytes));
        digest
    }
}

impl Construction for Umac99 {
    type Hash = Self;
    type Nonce = [u8; 8];
    type PadCache = ();

    #[inline(always)]
    fn hash(&self) -> &Self {
        self
    }

    fn output_bits(&self) -> usize {
        8 * self.tag_bytes
    }

    fn begin(&self, nonce: &[u8; 8]) -> Umac99Sum {
        Umac99Sum { hashes: Vec::new(), feed: Some(self.prf.begin(nonce)) }
    }

    #[inline(always)]
    fn finalize_tag<I: Isa>(
        &self,
        isa: I,
        nonce: &[u8; 8],
        _: &mut (),
        mut digest: Umac99Sum,
    ) -> Tag {
        let feed = match digest.feed.take() {
            Some(feed) => feed,
            None => {
                let mut feed = self.prf.begin(nonce);
                feed.update(isa, &self.prf, &digest.hashes);
                feed
            }
        };
        let mut output = feed.finish(isa, &self.prf);
        let tag = Tag::new(&output[..self.tag_bytes], 8 * self.tag_bytes);
        output.zeroize();
        tag.expect("4 to 20 whole bytes")
    }
}

/// The highest level up to `level` with kernels that match the plain definition.
pub(crate) fn passing(level: Level) -> Level {
    static TEST: SelfTest = SelfTest::new();
    #[cfg(test)]
    tests::ASKED.set(tests::ASKED.get() + 1);
    level.passing(&TEST, is_definition)
}

fn is_definition(level: Level) -> bool {
    let sets = [
        Umac99Set::Std30,
        Umac99Set::Std60,
        Umac99Set::Mmx15,
        Umac99Set::Mmx30,
        Umac99Set::Mmx60,
        Umac99Set::Figure1,
    ];
    let message: Vec<u8> = (0..4133).map(|i| (i * 167 + i / 256) as u8).collect();
    // Any bytes are a valid key.
    let key = [&message[5..], &message].concat();
    sets.into_iter().all(|set| {
        let shape = set.shape();
        let key = NhKey::new(shape, &key, &key).expect("two messages are long enough");
        let blocks = message.len().div_ceil(shape.block_bytes());
        let mut hashes = [0; 64];
        let (fast, plain) = hashes.split_at_mut(32);
        let bytes = blocks * shape.hash_bytes();
        let (fast, plain) = (&mut fast[..bytes], &mut plain[..bytes]);
        key.hash(level, false, &message, fast);
        key.hash(level, true, &message, plain);
        fast == plain
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    std::thread_local! {
        /// The number of self-tests that were requested in this thread.
        pub(super) static ASKED: core::cell::Cell<u32> = const { core::cell::Cell::new(0) };
    }

    #[test]
    fn every_key_asks_for_the_self_test() {
        let asks = |what: &str, make: &dyn Fn(Level)| {
            let before = ASKED.get();
            make(Level::best());
            assert!(ASKED.get() > before, "{what}: expected a self-test, found none");
        };
        for set in [Umac99Set::Std30, Umac99Set::Std60, Umac99Set::Mmx15, Umac99Set::Mmx60] {
            asks("UMAC of 1999", &|level| drop(Umac99::with_level(set, &[7; 16], level)));
        }
        let shape = NhShape::new(8, 32).expect("a shape");
        let nh = |level| crate::Nh::with_level(shape, &[7; 32], &[], level).map(|_| ());
        asks("NH", &|level| nh(level).expect("enough key"));
    }

    /// Compares the vectors' sums with the definition, for any length.
    #[test]
    fn vectors_are_the_definition() {
        let bytes = |count: usize| -> Vec<u8> {
            (0..count as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8).collect()
        };
        let (key, message) = (bytes(5000), bytes(9000));
        let neighbours = |t| NhShape::new(24, 32)?.signed().toeplitz(t, 2)?.two_level(5);
        let strided = |t| NhShape::new(264, 16)?.signed().strided()?.toeplitz(t, 8);
        let unsigned = |t| NhShape::new(70, 32)?.toeplitz(t, 2);
        let shapes = (1..=8).flat_map(|t| [neighbours(t), strided(t), unsigned(t)]);
        for shape in shapes.map(|shape: Result<NhShape, NhError>| shape.expect("a shape")) {
            let nh = NhKey::new(shape, &key, &key).expect("enough key");
            let block = shape.block_bytes();
            for level in Level::all() {
                for length in (1..=block).chain([2 * block - 1, 2 * block, 3 * block + 5]) {
                    let mut found = vec![0; length.div_ceil(block) * shape.hash_bytes()];
                    let mut expected = found.clone();
                    nh.hash(level, false, &message[..length], &mut found);
                    nh.hash(level, true, &message[..length], &mut expected);
                    assert!(found == expected, "{shape:?} on {level}, {length} bytes");
                }
            }
        }
    }

    #[test]
    fn parameters_that_there_are_not() {
        let refused = |shape: Result<NhShape, NhError>| shape.expect_err("refused");
        let words = |step, max, found| NhError::HashWords { step, max, found };
        assert_eq!(refused(NhShape::new(63, 32)), words(2, 16384, 63));
        assert_eq!(refused(NhShape::new(0, 16)), words(2, 32768, 0));
        assert_eq!(refused(NhShape::new(16386, 32)), words(2, 16384, 16386));
        for found in [0, 4, 8, 24, 128] {
            assert_eq!(refused(NhShape::new(64, found)), NhError::WordBits { found });
        }
        let nh = NhShape::new(12, 64).expect("a shape");
        assert_eq!(refused(nh.strided()), words(8, 8192, 12));
        for found in [0, 1, 3, 4098] {
            let wrong = NhError::KeyShift { max: 4096, found };
            assert_eq!(refused(nh.toeplitz(2, found)), wrong);
        }
        for found in [0, 17] {
            assert_eq!(refused(nh.toeplitz(found, 2)), NhError::Streams { max: 16, found });
        }
        for found in [0, 683] {
            assert_eq!(refused(nh.two_level(found)), NhError::SecondLevel { max: 682, found });
        }
        let parameters = Umac99Parameters::from(Umac99Set::Std60);
        let subkeys = |k: usize, l: usize, prf: usize| {
            parameters.subkeys(&[1; 264][..k], &[2; 136][..l], &[3; 64][..prf]).map(|_| ())
        };
        let short = |expected, found| Err(NhError::KeyMaterial { expected, found });
        assert_eq!(subkeys(264, 136, 64), Ok(()));
        assert_eq!(subkeys(263, 136, 64), short(264, 263));
        assert_eq!(subkeys(264, 135, 64), short(136, 135));
        assert_eq!(subkeys(264, 136, 63), short(64, 63));
        let long = parameters.min_length_to_hash(4097);
        assert_eq!(long, Err(NhError::MinLengthToHash { max: 4096, found: 4097 }));
        let mac = Umac99::new(Umac99Set::Mmx60, &[1; 16]);
        for found in [0, 24, 33, 136, 160] {
            let wrong = Error::TagBits { min: 32, max: 128, step: 8, found };
            assert_eq!(mac.clone().with_tag_bits(found).map(|_| ()), Err(wrong));
        }
        assert_eq!(
            NhError::KeyShift { max: 4096, found: 3 }.to_string(),
            "expected an even key shift of 2 to 4096 words, found 3"
        );
    }
}
