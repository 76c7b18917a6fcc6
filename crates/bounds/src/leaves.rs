//! Leaf tags, which verify ranges of a content. The theorem is in `docs/design/theory.md` ("Leaf
//! tags").

use super::up::UpperFloat;
use super::{Bound, BoundError, Term, Theorem, Workload};

/// The length of a leaf tag in bits.
const LEAF_TAG_BITS: i32 = 128;

/// The maximum number of leaf tags of a content.
const MAX_LEAVES: u64 = 524_288;

/// Less than the length in bytes of any leaf but the last: at least 4 KiB, rounded to whole blocks.
const MIN_LEAF_BYTES: u64 = 2048;

impl Theorem {
    /// Returns the probability that a reader accepts wrong bytes for a leaf. The load's messages
    /// are contents with leaf tags, its attempts are reads of wrong leaves. All leaf tags are
    /// known. The value is
    ///
    /// ```text
    /// forgery(load)  +  attempts / 2^128
    /// ```
    ///
    /// since a wrong leaf passes only by a guess at its tag of 128 bits, or if the content with this
    /// leaf has the content's tag. The PRF that makes leaf tags adds a term; its queries are the
    /// leaf tags and the reads. `docs/design/theory.md` ("Leaf tags") has the proof.
    ///
    /// # Errors
    ///
    /// [`BoundError::NoLeafTags`] for a MAC without leaf tags, [`BoundError::TagBits`] for truncated
    /// tags, and as [`forgery`](Theorem::forgery).
    ///
    /// ```
    /// use tagmac_bounds::{Theorem, Workload};
    /// // A billion contents of up to 1 GiB, and a million reads of wrong leaves.
    /// let load = Workload { messages: 1 << 30, length: 1 << 30, attempts: 1 << 20 };
    /// let light = Theorem::LightMac { n: 128, s: 32, t: 128 };
    /// let bound = light.leaves(&load)?;
    /// assert!(bound.at_most(2f64.powi(-67)));
    /// assert_eq!(bound.terms()[2].to_string(), "Adv^prf_HMAC-SHA256(2^49)");
    /// # Ok::<(), tagmac_bounds::BoundError>(())
    /// ```
    pub fn leaves(self, load: &Workload) -> Result<Bound, BoundError> {
        self.check_leaf_tags()?;
        let Bound { value, mut terms } = self.forgery(load)?;
        let each = load.length.div_ceil(MIN_LEAF_BYTES).min(MAX_LEAVES);
        let tags = load.messages.saturating_mul(each.into());
        let hmac = Term::prp("HMAC-SHA256", tags.saturating_add(load.attempts));
        terms.push(Term { notion: "prf", ..hmac });
        let guesses = UpperFloat::from(load.attempts).scaled(-LEAF_TAG_BITS);
        Ok(Bound::new(value.plus(guesses), terms))
    }

    /// Returns the maximum number of reads of wrong leaves within a probability that one is
    /// accepted. As for [`guesses`](Theorem::guesses), contents have up to `length` bytes, their
    /// number is the maximum of [`messages`](Theorem::messages), and using up both limits at most
    /// doubles the probability. Failed attempts at tags and reads share this limit.
    ///
    /// # Errors
    ///
    /// As [`leaves`](Theorem::leaves) and [`messages`](Theorem::messages).
    ///
    /// ```
    /// use tagmac_bounds::Theorem;
    /// let (light, pmac) = (
    ///     Theorem::LightMac { n: 128, s: 32, t: 128 },
    ///     Theorem::Pmac { n: 128, t: 128 },
    /// );
    /// assert_eq!(light.reads(1 << 20, 2f64.powi(-32))?.ilog2(), 94);
    /// assert_eq!(pmac.reads(1 << 20, 2f64.powi(-32))?.ilog2(), 61);
    /// # Ok::<(), tagmac_bounds::BoundError>(())
    /// ```
    pub fn reads(self, length: u64, probability: f64) -> Result<u128, BoundError> {
        self.check_leaf_tags()?;
        let messages = self.messages(length, probability)?;
        let guess = UpperFloat::new(1, -LEAF_TAG_BITS);
        let each = self.each(messages, length)?.plus(guess);
        self.largest(length, probability, |reads, probability| {
            Ok(UpperFloat::from(reads).times(each) <= probability)
        })
    }

    /// Refuses MACs without leaf tags, and truncated tags.
    fn check_leaf_tags(self) -> Result<(), BoundError> {
        let (whole, found) = match self {
            Theorem::Pmac { n, t } | Theorem::LightMac { n, t, .. } => (n, t),
            Theorem::EliMacAes { t } => (128, t),
            _ => return Err(BoundError::NoLeafTags),
        };
        if found == whole {
            Ok(())
        } else {
            Err(BoundError::TagBits { min: whole, max: whole, found })
        }
    }
}
