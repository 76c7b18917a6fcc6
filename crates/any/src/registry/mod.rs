//! The registry: one row for each MAC, with everything that other code asks about it. The command,
//! the bindings and the tests find all MACs here.

mod chosen;
mod row;
mod rows;

use core::fmt;
use core::ops::RangeInclusive;
use core::str::FromStr;
use std::sync::Arc;

use tagmac::internals::{check_nonce_length, fill_random, with_stack_wiped};
use tagmac::isa::Level;
use tagmac::{Error, wipe_stack};
use tagmac_bounds::Theorem;

use crate::erased::DynMac;
use crate::key_id::KeyId;
pub(crate) use chosen::is_chosen;
pub use row::Capabilities;
use row::Row;
use rows::GROUPS;

/// A MAC of the registry.
#[derive(Clone, Copy)]
pub struct Algorithm(&'static Row);

/// LightMAC's counter length if the name does not include it.
const USUAL_COUNTER_BITS: usize = 32;

/// Length of a saved part in bytes, without a growing hash: the range, and up to 160 bytes
/// (UMAC-128).
const FIXED_PART: u64 = 16 + 160;

/// Wipes `bytes` bytes of the stack, rounded up to steps of 8 KiB.
fn wipe(bytes: usize) {
    /// The length of a step in bytes.
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

/// Returns a limit of [`Hash::limit_bits`](tagmac::hazmat::Hash::limit_bits) if a message can reach
/// it.
fn reachable(limit_bits: u64) -> Option<u64> {
    (limit_bits < u64::MAX).then_some(limit_bits)
}

/// The number of whole bytes within such a limit.
pub(crate) fn max_bytes(limit_bits: u64) -> Option<u64> {
    reachable(limit_bits).map(|bits| bits / 8)
}

/// Inserts a dash before the number of a cipher, as OpenSSL does: `AES-128`, `PRESENT-80`, `RC6`.
fn dashed(cipher: &str) -> String {
    match cipher.find(|c: char| c.is_ascii_digit()) {
        Some(at) if cipher.len() - at > 1 => format!("{}-{}", &cipher[..at], &cipher[at..]),
        _ => cipher.into(),
    }
}

/// A name that is not in the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownAlgorithm {
    /// The name is unknown.
    Name(String),
    /// The name of a LightMAC with an unsupported counter length.
    CounterBits(String),
}

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnknownAlgorithm::Name(name) => write!(f, "unknown algorithm '{name}'"),
            UnknownAlgorithm::CounterBits(name) => write!(
                f,
                "unknown algorithm '{name}': LightMAC's counter length is S8 to S64 in steps of 8, \
                 with PRESENT up to S32"
            ),
        }
    }
}

impl std::error::Error for UnknownAlgorithm {}

impl Algorithm {
    /// Returns all MACs that are built: all of the table, or those that the variable TAGMAC_MACS
    /// named when this crate was compiled, and HMAC-SHA256.
    pub fn all() -> impl Iterator<Item = Algorithm> {
        GROUPS.iter().copied().flatten().filter(|row| is_chosen(row.name)).map(Algorithm)
    }

    /// Returns the MAC with this name, which is not case-sensitive; `FromStr` does the same.
    /// LightMAC's counter has 32 bits if the name does not include its length.
    ///
    /// # Errors
    ///
    /// [`UnknownAlgorithm`] if no MAC has this name.
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

    /// The name without LightMAC's counter length.
    pub fn stem(self) -> &'static str {
        match self.0.counter_bits {
            Some(_) => self.0.name.rsplit_once('-').map_or(self.0.name, |(stem, _)| stem),
            None => self.0.name,
        }
    }

    /// Names of other libraries for this MAC: OpenSSL writes `PMAC-AES-128`, and others `UMAC64`.
    /// [`from_name`](Algorithm::from_name) does not accept those with other dashes.
    ///
    /// ```
    /// use tagmac_any::Algorithm;
    /// assert_eq!(Algorithm::from_name("pmac-aes128")?.aliases(), ["PMAC-AES-128"]);
    /// assert_eq!(Algorithm::from_name("umac-64")?.aliases(), ["UMAC64"]);
    /// # Ok::<(), tagmac_any::UnknownAlgorithm>(())
    /// ```
    pub fn aliases(self) -> Vec<String> {
        let name = self.name();
        let other = match self.cipher() {
            Some(cipher) => {
                let counter = name.strip_prefix(self.stem()).unwrap_or_default();
                let other = format!("{}-{}{counter}", self.family(), dashed(cipher));
                (other != name).then_some(other)
            }
            None => name
                .split_once('-')
                .filter(|(_, rest)| rest.bytes().all(|byte| byte.is_ascii_digit()))
                .map(|(family, bits)| format!("{family}{bits}")),
        };
        let has_usual_counter = self.counter_bits() == Some(USUAL_COUNTER_BITS);
        let short = |name: &str| name.rsplit_once('-').map(|(stem, _)| stem.to_string());
        let names = [Some(name), other.as_deref()].into_iter().flatten();
        let short: Vec<_> = names.filter(|_| has_usual_counter).filter_map(short).collect();
        other.into_iter().chain(short).collect()
    }

    /// The name of the MAC without cipher and parameters, such as `PMAC` and `UMAC`.
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

    /// The cipher in the name; `None` if the MAC has only one.
    pub fn cipher(self) -> Option<&'static str> {
        self.0.cipher
    }

    /// The length of LightMAC's counter in bits; `None` for other MACs.
    pub fn counter_bits(self) -> Option<usize> {
        self.0.counter_bits
    }

    /// The length of a new key in bytes.
    pub fn new_key_bytes(self) -> usize {
        self.0.new_key
    }

    /// The valid key lengths in bytes.
    pub fn key_bytes(self) -> RangeInclusive<usize> {
        self.0.min_key..=self.0.max_key
    }

    /// The length of the cipher's key in bits. An exhaustive search finds the MAC's key, or one of
    /// its two, with at most 2 to the power of this number of trials. For HMAC it is the length of
    /// a new key.
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

    /// True if each message needs a nonce.
    pub fn takes_nonce(self) -> bool {
        self.0.max_nonce > 0
    }

    /// Returns a random nonce of the longest length; empty for a deterministic MAC.
    ///
    /// # Errors
    ///
    /// [`Error::NoRandomBytes`] if the system's random generator fails.
    pub fn random_nonce(self) -> Result<Vec<u8>, Error> {
        let mut nonce = vec![0; self.0.max_nonce];
        fill_random(&mut nonce)?;
        Ok(nonce)
    }

    /// The default tag length in bits, which is the longest.
    pub fn default_tag_bits(self) -> usize {
        self.0.max_tag
    }

    /// The valid tag lengths in bits.
    pub fn tag_bits(self) -> RangeInclusive<usize> {
        self.0.min_tag..=self.0.max_tag
    }

    /// The step between valid tag lengths in bits.
    pub fn tag_step(self) -> usize {
        self.0.tag_step
    }

    /// The length of a block in bytes. Parts start and end at multiples of it. `None` if the MAC
    /// has no parts.
    pub fn block(self) -> Option<usize> {
        self.0.can.parts.then_some(self.0.block)
    }

    /// The maximum number of bytes that [`Parts::save`](super::Parts::save) appends for a part of
    /// `range` bytes. `None` if the MAC has no parts.
    pub fn max_part_len(self, range: u64) -> Option<u64> {
        let grows = self.0.part_growth.map_or(0, |bytes| range / bytes);
        self.0.can.parts.then_some(FIXED_PART + grows)
    }

    /// The maximum length of a message in bytes; `None` if no message can reach the limit.
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

    /// The same in bits, since the limit may be within a byte.
    pub fn max_message_bits(self) -> Option<u64> {
        reachable(self.0.limit_bits)
    }

    /// The theorem that bounds the MAC with its longest tags, and with random nonces of the longest
    /// length if it needs nonces ([`random_nonce`](Algorithm::random_nonce)). `None` for CMAC and
    /// HMAC, which the papers here do not bound. For nonces from a counter, see
    /// [`with_nonces`](Theorem::with_nonces).
    ///
    /// ```
    /// use tagmac_any::Algorithm;
    /// let theorem = Algorithm::default().theorem().expect("PMAC has one");
    /// // With tags of 64 bits and a probability of 2^-32: slightly fewer than 2^32 guesses.
    /// let guesses = theorem.with_tag_bits(64)?.guesses(1500, 2f64.powi(-32))?;
    /// assert_eq!(guesses.ilog2(), 31);
    /// # Ok::<(), tagmac_any::bounds::BoundError>(())
    /// ```
    pub fn theorem(self) -> Option<Theorem> {
        self.0.theorem
    }

    /// The operations that the MAC supports.
    pub fn capabilities(self) -> Capabilities {
        self.0.can
    }

    /// Wipes secrets that this MAC's calls left on this thread's stack.
    pub(crate) fn wipe_calls(self) {
        wipe(self.0.stack);
    }

    /// Wipes the stack below this frame, if a new stream's state could keep bytes from there.
    pub(crate) fn wipe_before_stream(self) {
        wipe(self.0.stream_stack);
    }

    /// Checks a key length.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] unless keys of `found` bytes are valid.
    pub fn check_key(self, found: usize) -> Result<(), Error> {
        let (min, max) = (self.0.min_key, self.0.max_key);
        if (min..=max).contains(&found) {
            Ok(())
        } else {
            Err(Error::KeyLength { min, max, found })
        }
    }

    /// Returns the public id of a key.
    pub fn key_id(self, key: &[u8]) -> KeyId {
        with_stack_wiped(|| KeyId::new(self.0.name, key))
    }

    /// Checks a nonce length.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] unless nonces of `found` bytes are valid.
    pub fn check_nonce(self, found: usize) -> Result<(), Error> {
        check_nonce_length(self.nonce_bytes(), found)
    }

    /// Checks a tag length.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] unless tags of `found` bits are valid.
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

/// PMAC-AES128, the default for new keys.
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
