//! Section 9 of the paper: a UMAC of 1999 with tags that are checked word by word.
//!
//! ```text
//! word j = first 4 bytes of PRF_j(nonce || H_j(M_1) || .. || H_j(M_m) || length mod block)
//! ```
//!
//! H_j is stream j of the hash, and each PRF_j has a separate key. A check of the first words
//! therefore hashes only their streams. The paper has the idea, for UMAC-MMX-60, and leaves the
//! details open. Two choices are ours: words of 4 bytes, so that four streams fill the 16 bytes of
//! MMX-60's tag, and a PRF for each stream. The first word is that of the same MAC with one stream.

use alloc::sync::Arc;
use alloc::vec::Vec;

use tagmac::hazmat::Construction;
use tagmac::isa::{Isa, Level};
use tagmac::{Bits, Mac, Mismatch, Tag};
use zeroize::Zeroize;

use super::parameters::USE_PRF;
use super::prf::PrfKey;
use super::{NhError, NhShape, Umac99, Umac99Parameters, Umac99Set, Umac99Sum};
use crate::silent;

/// The length of a word in bytes.
const WORD: usize = 4;
/// The number of words in the longest tag.
const MAX_WORDS: usize = Tag::MAX_BYTES / WORD;

/// The UMAC of 1999 with grades. A tag has a word of 4 bytes for each stream, and checking only the
/// first words takes that part of the work (section 9 of the paper). Nonces have 8 bytes and must
/// never repeat.
///
/// With UMAC-MMX-60 each word is forged with a probability of about 2^-15, so the tag of 16 bytes
/// with about 2^-60, as for MMX-60. With other shapes each word is forged with about 2^-b + 2^-32,
/// where b is the bits of a stream in [`NhShape::collision_bits`](crate::NhShape::collision_bits).
/// [`verify_prefix`](Umac99Graded::verify_prefix) describes the risk of answers at lower grades.
///
/// One-shot calls and streams store the hash of the message until its end. With UMAC-MMX-60 this is
/// 1/256 of the message.
///
/// ```
/// use tagmac::Mac;
/// use tagmac_papers::{Umac99Graded, Umac99Set};
/// let mac = Umac99Graded::new(Umac99Set::Mmx60, &[7; 16]);
/// let nonce = 1u64.to_be_bytes();
/// let tag = mac.tag_with(&nonce, b"a frame of a film")?;
/// assert_eq!(tag.as_bytes().len(), 16);
/// // With 2^-15, for a quarter of the work.
/// assert!(mac.verify_prefix(&nonce, b"a frame of a film", &tag, 1).is_ok());
/// assert!(mac.verify_with(&nonce, b"a frame of a film", &tag).is_ok());
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone)]
pub struct Umac99Graded {
    keys: Arc<Keys>,
    /// The number of words in a tag, or of the first ones to check: the same code serves both.
    words: usize,
}

struct Keys {
    /// The hashes of the first stream, of the first two, and so on.
    hashes: Vec<Umac99>,
    prfs: Vec<PrfKey>,
}

silent!(Umac99Graded);

impl Umac99Graded {
    /// Returns the MAC for a named set on the best level of this CPU.
    pub fn new(set: Umac99Set, key: &[u8; 16]) -> Umac99Graded {
        let made = Umac99Graded::with_level(set.into(), key, Level::best());
        made.expect("all messages are hashed, by at most four streams")
    }

    /// Returns the MAC for given parameters on a given level. Keys are derived as in
    /// [`Umac99Parameters::key`], with one for the PRF of each stream.
    ///
    /// # Errors
    ///
    /// [`NhError::Streams`] for more than 8 streams: a tag has at most 32 bytes.
    /// [`NhError::MinLengthToHash`] unless all messages are hashed.
    pub fn with_level(
        parameters: Umac99Parameters,
        key: &[u8; 16],
        level: Level,
    ) -> Result<Umac99Graded, NhError> {
        let Umac99Parameters { shape, prf, keys_by, min_length_to_hash: found } = parameters;
        if found > 0 {
            return Err(NhError::MinLengthToHash { max: 0, found });
        }
        if shape.streams > MAX_WORDS {
            return Err(NhError::Streams { max: MAX_WORDS, found: shape.streams });
        }
        let hash = |streams| {
            let shape = NhShape { streams, ..shape };
            Umac99Parameters { shape, ..parameters }.key_with_level(key, level)
        };
        let prf = |stream: usize| {
            let mut derived = [0; 64];
            let derived = &mut derived[..prf.key_bytes()];
            keys_by.derive(key, USE_PRF + stream as u8, derived, level);
            let made = PrfKey::new(prf, derived, level);
            derived.zeroize();
            made
        };
        let words = shape.streams;
        let (hashes, prfs) = ((1..=words).map(hash).collect(), (0..words).map(prf).collect());
        Ok(Umac99Graded { keys: Arc::new(Keys { hashes, prfs }), words })
    }

    /// Returns the number of words in a tag.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Checks the first `words` words of a tag in constant time, with the same number of streams.
    ///
    /// **If a verifier answers at several grades under one key, words can be guessed one at a
    /// time.** A forger tries the first word, at most 2^32 times, keeps the one that passes, and
    /// continues with the second. If a stream collides with 2^-15, as in the MMX sets, the first
    /// word may take only about 2^15 attempts. `tagmac_bounds::umac::graded_1999` bounds the
    /// probability that any attempt ever passes. After one has passed there is no bound, since the
    /// streams share a key. Count the failed attempts, and use a new key in time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` has all words and starts as the tag of the message. Also if
    /// `words` is not 1 to the number of words.
    pub fn verify_prefix<'m>(
        &self,
        nonce: &[u8; 8],
        message: impl Into<Bits<'m>>,
        tag: &Tag,
        words: usize,
    ) -> Result<(), Mismatch> {
        if tag.bits() != 8 * WORD * self.words || !(1..=self.words).contains(&words) {
            return Err(Mismatch);
        }
        let begin = Tag::try_from(&tag.as_bytes()[..WORD * words]).map_err(|_| Mismatch)?;
        Umac99Graded { keys: self.keys.clone(), words }.verify_with(nonce, message, &begin)
    }
}

impl Construction for Umac99Graded {
    type Hash = Umac99;
    type Nonce = [u8; 8];
    type PadCache = ();

    #[inline(always)]
    fn hash(&self) -> &Umac99 {
        &self.keys.hashes[self.words - 1]
    }

    fn output_bits(&self) -> usize {
        8 * WORD * self.words
    }

    #[inline(always)]
    fn finalize_tag<I: Isa>(&self, isa: I, nonce: &[u8; 8], _: &mut (), digest: Umac99Sum) -> Tag {
        let result = self.hash().key.shape().result_bytes();
        let (hashes, length) = digest.hashes.split_at(digest.hashes.len() - 2);
        let mut tag = [0; Tag::MAX_BYTES];
        let tag = &mut tag[..WORD * self.words];
        for (stream, word) in tag.chunks_exact_mut(WORD).enumerate() {
            let prf = &self.keys.prfs[stream];
            let mut feed = prf.begin(nonce);
            for block in hashes.chunks_exact(self.words * result) {
                feed.update(isa, prf, &block[stream * result..][..result]);
            }
            feed.update(isa, prf, length);
            let mut output = feed.finish(isa, prf);
            word.copy_from_slice(&output[..WORD]);
            output.zeroize();
        }
        Tag::new(tag, 8 * tag.len()).expect("1 to 8 words")
    }
}
