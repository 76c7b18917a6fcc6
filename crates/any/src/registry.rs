//! The registry: one row per MAC, which is all that others ask about it. The command, the bindings, the laws and
//! the vectors find every MAC here.

use core::fmt;
use core::num::NonZeroU64;
use core::ops::RangeInclusive;
use core::str::FromStr;
use std::sync::Arc;

use tagmac::bounds::umac::{Prf1999, Umac1999};
use tagmac::bounds::{NonceKind, Theorem};
use tagmac::cipher::{
    Aes128, Aes192, Aes256, Cipher, CipherBlock, Field, Present80, Present128, Rc6,
};
use tagmac::internals::{
    self, ELIMAC_LIMIT_BITS, LongAes, check_nonce_length, fill_random, lightmac_limit_bits,
    with_stack_wiped,
};
use tagmac::isa::Level;
use tagmac::{EliMac, Error, Poly1305Aes, Umac, Umac99, Umac99Set, wipe_stack};

use crate::erased::DynMac;
use crate::key_id::KeyId;
use crate::sequential::{HmacSha256, SequentialCmac};

/// A MAC of the registry.
#[derive(Clone, Copy)]
pub struct Algorithm(&'static Row);

/// What can be done with a MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Hashes of ranges join.
    pub parts: bool,
    /// One message on several threads.
    pub threads: bool,
    /// Many short messages in one call, side by side.
    pub batch: bool,
    /// A tag that follows edits.
    pub edits: bool,
    /// Messages of any number of bits.
    pub bits: bool,
}

type Make = fn(key: &[u8], tag_bits: usize, level: Level) -> Result<Arc<dyn DynMac>, Error>;

struct Row {
    name: &'static str,
    family: &'static str,
    /// The cipher that the name has, and LightMAC's counter.
    cipher: Option<&'static str>,
    counter_bits: Option<usize>,
    /// Bytes of a new key, and of the keys that are taken.
    new_key: usize,
    min_key: usize,
    max_key: usize,
    /// Bytes of the cipher's key: what a search for a key tries.
    cipher_key: usize,
    /// The shortest and longest nonce in bytes; both 0 for a deterministic MAC.
    min_nonce: usize,
    max_nonce: usize,
    min_tag: usize,
    max_tag: usize,
    tag_step: usize,
    /// Bytes of a block, 0 if there are no parts.
    block: usize,
    /// A saved part's hash grows with the range, by a byte for so many; `None` if it does not.
    part_growth: Option<NonZeroU64>,
    /// Bytes of the stack within which calls leave secrets, on the thread that made them.
    stack: usize,
    /// Bytes of the stack to wipe before a stream is made there, for a state whose empty room keeps what it finds.
    stream_stack: usize,
    limit_bits: u64,
    can: Capabilities,
    /// What bounds it with tags of full length.
    theorem: Option<Theorem>,
    make: Make,
}

/// PMAC, LightMAC and EliMAC.
const XOR: Capabilities =
    Capabilities { parts: true, threads: true, batch: true, edits: true, bits: true };
/// Poly1305-AES and UMAC.
const UNIVERSAL: Capabilities = Capabilities { bits: false, ..XOR };
/// UMAC of 1999: its hash is long already where a message is short, and grows with it, so that an
/// edit would cost as much as the message.
const UMAC99: Capabilities = Capabilities { batch: false, edits: false, ..UNIVERSAL };
/// CMAC and HMAC.
const SEQUENTIAL: Capabilities =
    Capabilities { parts: false, threads: false, batch: false, edits: false, bits: false };

/// LightMAC's counter where a name has none.
const USUAL_COUNTER_BITS: usize = 32;

/// Bytes of a saved part but for a hash that grows: the range and 160 bytes for UMAC-128.
const FIXED_PART: u64 = 16 + 160;

/// Bits of the cipher's block.
const fn n_of<C: Cipher>() -> u32 {
    8 * C::Block::BYTES as u32
}

/// PMAC of C, with the kernels of K: those of ciphers that differ in their key schedules alone are the
/// same.
const fn pmac<C: Cipher<Block: Field>, K>(name: &'static str) -> Row
where
    K: Cipher<Block = C::Block> + From<C> + 'static,
{
    Row {
        name,
        family: "PMAC",
        cipher: Some(C::NAME),
        counter_bits: None,
        new_key: C::KEY_BYTES,
        min_key: C::KEY_BYTES,
        max_key: C::KEY_BYTES,
        cipher_key: C::KEY_BYTES,
        min_nonce: 0,
        max_nonce: 0,
        min_tag: 1,
        max_tag: 8 * C::Block::BYTES,
        tag_step: 1,
        block: C::Block::BYTES,
        part_growth: None,
        stack: 48 << 10,
        stream_stack: 0,
        limit_bits: u64::MAX,
        can: XOR,
        theorem: Some(Theorem::Pmac { n: n_of::<C>(), t: n_of::<C>() }),
        make: |key, tag_bits, level| {
            let mac = internals::pmac::<K>(C::from_slice(key, level)?.into(), level);
            Ok(Arc::new(mac.with_tag_bits(tag_bits)?))
        },
    }
}

/// Under PRESENT, whose batches take more room.
const fn present(row: Row) -> Row {
    Row { stack: 64 << 10, ..row }
}

/// Under AES.
const fn aes(row: Row) -> Row {
    row
}

/// A xor MAC with two keys of C.
const fn two_keys<C: Cipher<Block: Field>, K>(name: &'static str, make: Make) -> Row
where
    K: Cipher<Block = C::Block> + From<C> + 'static,
{
    let bytes = 2 * C::KEY_BYTES;
    Row { new_key: bytes, min_key: bytes, max_key: bytes, make, ..pmac::<C, K>(name) }
}

const fn lightmac<C: Cipher<Block: Field>, K, const S: usize>(name: &'static str) -> Row
where
    K: Cipher<Block = C::Block> + From<C> + 'static,
{
    let make: Make = |key, tag_bits, level| {
        let (k1, k2) = key.split_at(C::KEY_BYTES);
        let (k1, k2) = (C::from_slice(k1, level)?, C::from_slice(k2, level)?);
        let mac = internals::lightmac::<K>(k1.into(), k2.into(), S, level)?;
        Ok(Arc::new(mac.with_tag_bits(tag_bits)?))
    };
    let n = C::Block::BYTES;
    let (block, limit_bits) = (n - S / 8, lightmac_limit_bits(8 * n, S));
    let theorem = Theorem::LightMac { n: n_of::<C>(), s: S as u32, t: n_of::<C>() };
    Row {
        family: "LIGHTMAC",
        counter_bits: Some(S),
        block,
        limit_bits,
        theorem: Some(theorem),
        ..two_keys::<C, K>(name, make)
    }
}

const fn elimac(name: &'static str) -> Row {
    let make: Make = |key, tag_bits, level| {
        let wrong = Error::KeyLength { min: 32, max: 32, found: key.len() };
        let ([k1, k2], []) = key.as_chunks() else { return Err(wrong) };
        let mac = EliMac::with_level(k1, k2, level);
        Ok(Arc::new(mac.with_tag_bits(tag_bits)?))
    };
    let theorem = Some(Theorem::EliMacAes { t: 128 });
    Row {
        family: "ELIMAC",
        limit_bits: ELIMAC_LIMIT_BITS,
        theorem,
        ..two_keys::<Aes128, Aes128>(name, make)
    }
}

const fn poly1305_aes(name: &'static str) -> Row {
    Row {
        name,
        family: "POLY1305",
        cipher: None,
        counter_bits: None,
        new_key: 32,
        min_key: 32,
        max_key: 32,
        cipher_key: 16,
        min_nonce: 16,
        max_nonce: 16,
        min_tag: 128,
        max_tag: 128,
        tag_step: 1,
        block: 16,
        part_growth: None,
        stack: 48 << 10,
        stream_stack: 0,
        limit_bits: u64::MAX,
        can: UNIVERSAL,
        theorem: Some(Theorem::Poly1305Aes { nonces: drawn(128) }),
        make: |key, _, level| {
            let wrong = Error::KeyLength { min: 32, max: 32, found: key.len() };
            let mac = Poly1305Aes::with_level(key.try_into().map_err(|_| wrong)?, level);
            Ok(Arc::new(mac))
        },
    }
}

const fn umac<const T: usize>(name: &'static str) -> Row {
    let make: Make = |key, _, level| {
        let wrong = Error::KeyLength { min: 16, max: 16, found: key.len() };
        let mac = Umac::<Aes128, T>::with_level(key.try_into().map_err(|_| wrong)?, level);
        Ok(Arc::new(mac))
    };
    Row {
        family: "UMAC",
        new_key: 16,
        min_key: 16,
        max_key: 16,
        min_nonce: 1,
        min_tag: 32 * T,
        max_tag: 32 * T,
        block: 2048,
        stack: 64 << 10,
        theorem: Some(Theorem::Umac { t: 32 * T as u32, nonces: drawn(128) }),
        make,
        ..poly1305_aes(name)
    }
}

/// Nonces of full length, drawn at random.
const fn drawn(bits: u32) -> NonceKind {
    NonceKind::Random { bits }
}

/// UMAC of 1999 with HMAC-SHA1: a named set, with its hash's collision bits.
const fn umac99_std(name: &'static str, b: u32, make: Make) -> Row {
    umac99(name, b, 160, Prf1999::Named, make)
}

/// UMAC of 1999 with CBC3 of RC6: a named set, with the bits that its hash has for a block of the
/// message, and its collision bits.
const fn umac99_mmx(name: &'static str, b: u32, hash_bits: u32, make: Make) -> Row {
    let prf = Prf1999::Cbc3 { n: 128, block_bytes: 4096, hash_bytes: hash_bits / 8 };
    umac99(name, b, 128, prf, make)
}

const fn umac99(name: &'static str, b: u32, max_tag: usize, prf: Prf1999, make: Make) -> Row {
    let theorem = Theorem::Umac1999(Umac1999 { b, t: max_tag as u32, prf, nonces: drawn(64) });
    Row {
        name,
        family: "UMAC99",
        cipher: None,
        counter_bits: None,
        new_key: 16,
        min_key: 16,
        max_key: 16,
        cipher_key: 16,
        min_nonce: 8,
        max_nonce: 8,
        min_tag: 32,
        max_tag,
        tag_step: 8,
        block: 4096,
        // To a 256th at most: four words of 4 bytes for a block of 4096.
        part_growth: NonZeroU64::new(256),
        stack: 64 << 10,
        // States have several sizes.
        stream_stack: 8 << 10,
        limit_bits: u64::MAX,
        can: UMAC99,
        theorem: Some(theorem),
        make,
    }
}

fn umac99_set(
    set: Umac99Set,
    key: &[u8],
    tag_bits: usize,
    level: Level,
) -> Result<Arc<dyn DynMac>, Error> {
    let wrong = Error::KeyLength { min: 16, max: 16, found: key.len() };
    let mac = Umac99::with_level(set, key.try_into().map_err(|_| wrong)?, level);
    Ok(Arc::new(mac.with_tag_bits(tag_bits)?))
}

/// CMAC of C, with the kernels of K.
const fn cmac<C: Cipher<Block: Field>, K>(name: &'static str) -> Row
where
    K: Cipher<Block = C::Block> + From<C> + 'static,
{
    Row {
        family: "CMAC",
        min_tag: 32,
        tag_step: 8,
        block: 0,
        can: Capabilities { batch: true, ..SEQUENTIAL },
        theorem: None,
        make: |key, tag_bits, level| {
            let mac = internals::cmac::<K>(C::from_slice(key, level)?.into(), level);
            Ok(Arc::new(SequentialCmac(mac.with_tag_bits(tag_bits)?)))
        },
        ..pmac::<C, K>(name)
    }
}

/// HMAC hashes keys of more than 64 bytes, so that it takes any. A key file, which has two digits for a
/// byte, has room for no more than these.
const MAX_HMAC_KEY: usize = 16 << 10;

const HMAC_SHA256: Row = Row {
    family: "HMAC",
    cipher: None,
    new_key: 32,
    // Without a byte it is no key: everybody makes its tags.
    min_key: 1,
    max_key: MAX_HMAC_KEY,
    cipher_key: 32,
    max_tag: 256,
    can: SEQUENTIAL,
    make: |key, bits, _| Ok(Arc::new(HmacSha256::new(key, bits))),
    ..cmac::<Aes256, LongAes>("HMAC-SHA256")
};

/// LightMACs with a cipher and each of some lengths of the counter.
macro_rules! lightmacs {
    ($wrap:ident, $cipher:ty, $kernels:ty, $name:literal, $($s:literal)+) => {
        &[$($wrap(lightmac::<$cipher, $kernels, $s>(concat!($name, "-S", $s)))),+]
    };
}

/// Every MAC, in groups that are made alike.
static GROUPS: &[&[Row]] = &[
    &[
        pmac::<Aes128, Aes128>("PMAC-AES128"),
        pmac::<Aes192, LongAes>("PMAC-AES192"),
        pmac::<Aes256, LongAes>("PMAC-AES256"),
        present(pmac::<Present80, Present128>("PMAC-PRESENT80")),
        present(pmac::<Present128, Present128>("PMAC-PRESENT128")),
        pmac::<Rc6, Rc6>("PMAC-RC6"),
    ],
    lightmacs!(aes, Aes128, Aes128, "LIGHTMAC-AES128", 8 16 24 32 40 48 56 64),
    lightmacs!(aes, Aes192, LongAes, "LIGHTMAC-AES192", 8 16 24 32 40 48 56 64),
    lightmacs!(aes, Aes256, LongAes, "LIGHTMAC-AES256", 8 16 24 32 40 48 56 64),
    lightmacs!(present, Present80, Present128, "LIGHTMAC-PRESENT80", 8 16 24 32),
    lightmacs!(present, Present128, Present128, "LIGHTMAC-PRESENT128", 8 16 24 32),
    &[
        elimac("ELIMAC-AES128"),
        poly1305_aes("POLY1305-AES"),
        umac::<1>("UMAC-32"),
        umac::<2>("UMAC-64"),
        umac::<3>("UMAC-96"),
        umac::<4>("UMAC-128"),
        umac99_std("UMAC99-STD-30", 30, |key, bits, level| {
            umac99_set(Umac99Set::Std30, key, bits, level)
        }),
        umac99_std("UMAC99-STD-60", 60, |key, bits, level| {
            umac99_set(Umac99Set::Std60, key, bits, level)
        }),
        umac99_mmx("UMAC99-MMX-15", 15, 32, |key, bits, level| {
            umac99_set(Umac99Set::Mmx15, key, bits, level)
        }),
        umac99_mmx("UMAC99-MMX-30", 30, 64, |key, bits, level| {
            umac99_set(Umac99Set::Mmx30, key, bits, level)
        }),
        umac99_mmx("UMAC99-MMX-60", 60, 128, |key, bits, level| {
            umac99_set(Umac99Set::Mmx60, key, bits, level)
        }),
        cmac::<Aes128, Aes128>("CMAC-AES128"),
        cmac::<Aes192, LongAes>("CMAC-AES192"),
        cmac::<Aes256, LongAes>("CMAC-AES256"),
        HMAC_SHA256,
    ],
];

/// Wipes that much of the stack.
fn wipe(bytes: usize) {
    /// Bytes of one step.
    const STEP: usize = 8 << 10;
    const WIPES: [fn(); 9] = [
        || {},
        wipe_stack::<STEP>,
        wipe_stack::<{ 2 * STEP }>,
        wipe_stack::<{ 3 * STEP }>,
        wipe_stack::<{ 4 * STEP }>,
        wipe_stack::<{ 5 * STEP }>,
        wipe_stack::<{ 6 * STEP }>,
        wipe_stack::<{ 7 * STEP }>,
        wipe_stack::<{ 8 * STEP }>,
    ];
    WIPES[bytes.div_ceil(STEP)]();
}

/// A limit as [`Hash::limit_bits`](tagmac::hazmat::Hash::limit_bits) says it, if it can be reached.
fn reachable(limit_bits: u64) -> Option<u64> {
    (limit_bits < u64::MAX).then_some(limit_bits)
}

/// The whole bytes within such a limit.
pub(crate) fn max_bytes(limit_bits: u64) -> Option<u64> {
    reachable(limit_bits).map(|bits| bits / 8)
}

/// A name that is not in the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownAlgorithm {
    /// No such name.
    Name(String),
    /// A LightMAC whose counter length is not 8 to 64 bits in steps of 8.
    CounterBits(String),
}

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnknownAlgorithm::Name(name) => write!(f, "unknown algorithm '{name}'"),
            UnknownAlgorithm::CounterBits(name) => write!(
                f,
                "expected LightMAC's counter length to be S8 to S64 in steps of 8, with PRESENT to S32, found '{name}'"
            ),
        }
    }
}

impl std::error::Error for UnknownAlgorithm {}

impl Algorithm {
    /// Every MAC there is.
    pub fn all() -> impl Iterator<Item = Algorithm> {
        GROUPS.iter().copied().flatten().map(Algorithm)
    }

    /// The MAC of that name, in any case of letters, also by `FromStr`. LightMAC without a counter
    /// length has 32 bits.
    ///
    /// # Errors
    ///
    /// [`UnknownAlgorithm`] if there is none.
    pub fn from_name(name: &str) -> Result<Algorithm, UnknownAlgorithm> {
        let find = |is: &dyn Fn(Algorithm) -> bool| Algorithm::all().find(|one| is(*one));
        let usual = |one: Algorithm| {
            one.counter_bits() == Some(USUAL_COUNTER_BITS) && one.stem().eq_ignore_ascii_case(name)
        };
        let found = find(&|one| one.name().eq_ignore_ascii_case(name)).or_else(|| find(&usual));
        let stem = name.rsplit_once('-').map_or(name, |(stem, _)| stem);
        let counts =
            |one: Algorithm| one.counter_bits().is_some() && one.stem().eq_ignore_ascii_case(stem);
        found.ok_or_else(|| match find(&counts) {
            Some(_) => UnknownAlgorithm::CounterBits(name.into()),
            None => UnknownAlgorithm::Name(name.into()),
        })
    }

    /// The name, in capitals.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The name without the length of LightMAC's counter.
    pub fn stem(self) -> &'static str {
        match self.0.counter_bits {
            Some(_) => self.0.name.rsplit_once('-').map_or(self.0.name, |(stem, _)| stem),
            None => self.0.name,
        }
    }

    /// The MAC without its cipher and parameters, such as `PMAC` and `UMAC`.
    ///
    /// ```
    /// use tagmac_any::Algorithm;
    /// let light = Algorithm::from_name("lightmac-aes128")?;
    /// assert_eq!((light.name(), light.stem()), ("LIGHTMAC-AES128-S32", "LIGHTMAC-AES128"));
    /// assert_eq!((light.family(), light.cipher()), ("LIGHTMAC", Some("AES128")));
    /// assert_eq!(light.counter_bits(), Some(32));
    /// # Ok::<(), tagmac_any::UnknownAlgorithm>(())
    /// ```
    pub fn family(self) -> &'static str {
        self.0.family
    }

    /// The cipher in the name; `None` where there is no choice.
    pub fn cipher(self) -> Option<&'static str> {
        self.0.cipher
    }

    /// The length of LightMAC's counter.
    pub fn counter_bits(self) -> Option<usize> {
        self.0.counter_bits
    }

    /// Bytes of a new key.
    pub fn new_key_bytes(self) -> usize {
        self.0.new_key
    }

    /// Bytes of the keys that are taken.
    pub fn key_bytes(self) -> RangeInclusive<usize> {
        self.0.min_key..=self.0.max_key
    }

    /// Bits of a key of the cipher: a search finds the key of the MAC, or one of two such keys, with at
    /// most that many bits of trials. For HMAC those of a new key.
    ///
    /// ```
    /// use tagmac_any::Algorithm;
    /// let bits = |name| Algorithm::from_name(name).map(Algorithm::cipher_key_bits);
    /// assert_eq!(bits("PMAC-PRESENT80"), Ok(80));
    /// assert_eq!((bits("LIGHTMAC-AES128-S32"), bits("POLY1305-AES")), (Ok(128), Ok(128)));
    /// ```
    pub fn cipher_key_bits(self) -> usize {
        8 * self.0.cipher_key
    }

    /// The valid nonce lengths in bytes; `0..=0` for a deterministic MAC.
    pub fn nonce_bytes(self) -> RangeInclusive<usize> {
        self.0.min_nonce..=self.0.max_nonce
    }

    /// Whether each message needs a nonce.
    pub fn takes_nonce(self) -> bool {
        self.0.max_nonce > 0
    }

    /// A random nonce of full length; empty for a deterministic MAC.
    ///
    /// # Errors
    ///
    /// [`Error::NoRandomBytes`] if the system gives none.
    pub fn random_nonce(self) -> Result<Vec<u8>, Error> {
        let mut nonce = vec![0; self.0.max_nonce];
        fill_random(&mut nonce)?;
        Ok(nonce)
    }

    /// Bits of a tag where nothing else is asked for: the longest.
    pub fn default_tag_bits(self) -> usize {
        self.0.max_tag
    }

    /// The valid tag lengths in bits.
    pub fn tag_bits(self) -> RangeInclusive<usize> {
        self.0.min_tag..=self.0.max_tag
    }

    /// Tag lengths go up in steps of this many bits.
    pub fn tag_step(self) -> usize {
        self.0.tag_step
    }

    /// Bytes of a block: parts start and end at multiples of it. `None` if there are no parts.
    pub fn block(self) -> Option<usize> {
        self.0.can.parts.then_some(self.0.block)
    }

    /// The most bytes that [`Parts::save`](super::Parts::save) appends for a part of `range` bytes.
    /// `None` if there are no parts.
    pub fn max_part_len(self, range: u64) -> Option<u64> {
        let grows = self.0.part_growth.map_or(0, |bytes| range / bytes);
        self.0.can.parts.then_some(FIXED_PART + grows)
    }

    /// The most bytes of a message; `None` where a limit, if there is one, is out of reach.
    ///
    /// ```
    /// use tagmac_any::Algorithm;
    /// assert_eq!(Algorithm::default().max_message_bytes(), None);
    /// let light = Algorithm::from_name("LIGHTMAC-AES128-S8").expect("known");
    /// assert_eq!(light.max_message_bytes(), Some(256 * 15));
    /// ```
    pub fn max_message_bytes(self) -> Option<u64> {
        max_bytes(self.0.limit_bits)
    }

    /// The same in bits: a limit may be within a byte.
    pub fn max_message_bits(self) -> Option<u64> {
        reachable(self.0.limit_bits)
    }

    /// The theorem that bounds the MAC with its longest tags, and with random nonces of full length if
    /// it takes nonces ([`random_nonce`](Algorithm::random_nonce)); `None` for CMAC and HMAC, which none
    /// of the papers here bounds. Where a counter makes the nonces, see
    /// [`with_nonces`](Theorem::with_nonces).
    ///
    /// ```
    /// use tagmac_any::Algorithm;
    /// let theorem = Algorithm::default().theorem().expect("PMAC has one");
    /// // Tags of 64 bits, and a probability of 2^-32: a few less than 2^32 guesses.
    /// let guesses = theorem.with_tag_bits(64)?.guesses(1500, 2f64.powi(-32))?;
    /// assert_eq!(guesses.ilog2(), 31);
    /// # Ok::<(), tagmac::bounds::BoundError>(())
    /// ```
    pub fn theorem(self) -> Option<Theorem> {
        self.0.theorem
    }

    /// What can be done with the MAC.
    pub fn capabilities(self) -> Capabilities {
        self.0.can
    }

    /// Wipes what this MAC's calls have left on this thread's stack.
    pub(crate) fn wipe_calls(self) {
        wipe(self.0.stack);
    }

    /// Wipes the stack where a stream is about to be made, if its state keeps what it finds.
    pub(crate) fn wipe_before_stream(self) {
        wipe(self.0.stream_stack);
    }

    /// Refuses a key length.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] unless the algorithm takes keys of that many bytes.
    pub fn check_key(self, found: usize) -> Result<(), Error> {
        let (min, max) = (self.0.min_key, self.0.max_key);
        if (min..=max).contains(&found) {
            Ok(())
        } else {
            Err(Error::KeyLength { min, max, found })
        }
    }

    /// The public id of a key.
    pub fn key_id(self, key: &[u8]) -> KeyId {
        with_stack_wiped(|| KeyId::new(self.0.name, key))
    }

    /// Refuses a nonce length.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] unless the algorithm takes nonces of that many bytes.
    pub fn check_nonce(self, found: usize) -> Result<(), Error> {
        check_nonce_length(self.nonce_bytes(), found)
    }

    /// Refuses a tag length.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] unless the algorithm has tags of that many bits.
    pub fn check_tag_bits(self, found: usize) -> Result<(), Error> {
        let (min, max, step) = (self.0.min_tag, self.0.max_tag, self.0.tag_step);
        if (min..=max).contains(&found) && found.is_multiple_of(step) {
            Ok(())
        } else {
            Err(Error::TagBits { min, max, step, found })
        }
    }

    pub(crate) fn make(
        self,
        key: &[u8],
        tag_bits: usize,
        level: Level,
    ) -> Result<Arc<dyn DynMac>, Error> {
        (self.0.make)(key, tag_bits, level)
    }
}

/// PMAC-AES128: what new keys are for where nothing else is asked.
///
/// ```
/// assert_eq!(tagmac_any::Algorithm::default().name(), "PMAC-AES128");
/// ```
impl Default for Algorithm {
    fn default() -> Algorithm {
        Algorithm(&GROUPS[0][0])
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Algorithm, UnknownAlgorithm> {
        Algorithm::from_name(name)
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Algorithm) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Algorithm {}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Algorithm({})", self.name())
    }
}

/// Limits that the rows are made with, held by the compiler: with others this does not build.
const _: () = {
    // mu full blocks and one that is not: 2^32 blocks but for a bit.
    assert!(ELIMAC_LIMIT_BITS == (1 << 39) - 1);
    // 2^s blocks of n - s bits, where that is a u64.
    assert!(lightmac_limit_bits(128, 1) == 254 && lightmac_limit_bits(128, 8) == 256 * 120);
    assert!(lightmac_limit_bits(64, 32) == 32 << 32 && lightmac_limit_bits(128, 57) == 71 << 57);
    assert!(lightmac_limit_bits(128, 58) == u64::MAX && lightmac_limit_bits(256, 64) == u64::MAX);
};
