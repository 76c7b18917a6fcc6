//! PMAC's parsimony (Black and Rogaway 2001, section 4.1): computes a block from the tag and the
//! other blocks, and a tag from the old one and a changed block.
//!
//! The tag of n bits is a permutation of each full block. Let D be the inverse of E, and S the xor
//! of all terms of Sigma except that of block i:
//!
//! ```text
//! M_i = D_K(D_K(Tag) ^ S) ^ gamma_i L     for i < m
//! M_m = D_K(Tag) ^ S                      if it is full; S has L/x in it
//! ```
//!
//! So the tag can replace a block: `wide_block.rs` builds a cipher from this. The code is fast
//! because PMAC's own kernels absorb the rest of the message, and only one block goes through D.

use core::fmt;

use tagmac::cipher::{Cipher, CipherBlock, Decrypt, Field};
use tagmac::hazmat::{Hash, PmacKey, absorbable_len};
use tagmac::isa::{Isa, Kernel, Levels};
use tagmac::{Bits, Error, Pmac, Tag};
use zeroize::Zeroize;

/// An error of [`recover_block`] or [`WideBlock`](crate::WideBlock).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParsimonyError {
    /// The message is shorter than one block, which the wide-block cipher needs.
    TooShort {
        /// The minimum length in bits.
        min_bits: usize,
        /// The length in bits.
        found: usize,
    },
    /// The message has no full block with this number.
    NoSuchBlock {
        /// The number of the last full block; the first is block 1.
        last: u64,
        /// The number that was requested.
        found: u64,
    },
    /// An error of the MAC.
    Mac(Error),
}

impl fmt::Display for ParsimonyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParsimonyError::TooShort { min_bits, found } => {
                write!(f, "expected a message of at least {min_bits} bits, found {found}")
            }
            ParsimonyError::NoSuchBlock { last, found } => {
                write!(f, "expected the number of a full block, 1 to {last}, found {found}")
            }
            ParsimonyError::Mac(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ParsimonyError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            ParsimonyError::Mac(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for ParsimonyError {
    fn from(error: Error) -> ParsimonyError {
        ParsimonyError::Mac(error)
    }
}

/// Computes the full block number `number`, counted from 1, of a message with the PMAC tag `tag`.
/// `rest` is the message without that block.
///
/// This is parsimony (Black and Rogaway 2001, section 4.1): PMAC's tag of n bits is a permutation
/// of each full block of n bits, which can be inverted with the key. It works for any full block,
/// including the last one.
///
/// The result cannot be checked: for each tag there is a block with this tag. Wrong bits in the
/// rest or the tag, or a wrong number, result in a wrong block and no error.
///
/// ```
/// use tagmac::PmacAes128;
/// use tagmac_papers::recover_block;
///
/// let mac = PmacAes128::new(&[7; 16]);
/// let message = b"sixteen bytes, sixteen more, and a rest";
/// let tag = mac.tag(message)?;
/// let rest = [&message[..16], &message[32..]].concat();
/// assert_eq!(recover_block(&mac, &rest, 2, &tag)?, message[16..32]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`ParsimonyError::Mac`] with [`Error::TagBits`] unless the tag has n bits,
/// [`ParsimonyError::NoSuchBlock`] if the message has no full block with this number.
pub fn recover_block<'m, C: Decrypt<Block: Field>>(
    mac: &Pmac<C>,
    rest: impl Into<Bits<'m>>,
    number: u64,
    tag: &Tag,
) -> Result<C::Block, ParsimonyError> {
    let (rest, n) = (rest.into(), 8 * C::Block::BYTES);
    if tag.bits() != n {
        return Err(Error::TagBits { min: n, max: n, step: 1, found: tag.bits() }.into());
    }
    let last = rest.bits() / n as u64 + 1;
    if !(1..=last).contains(&number) {
        return Err(ParsimonyError::NoSuchBlock { last, found: number });
    }
    let hole = (number - 1) as usize * C::Block::BYTES;
    let (before, after) = (&rest.bytes()[..hole], rest.after(hole));
    let tag = &C::Block::zero_filled(tag.as_bytes());
    Ok(mac.level().run(Recover { mac, before, after, tag }))
}

/// Computes the block between the full blocks `before` and the rest of a message with this tag.
pub(crate) struct Recover<'a, C: Cipher<Block: Field>> {
    pub(crate) mac: &'a Pmac<C>,
    pub(crate) before: &'a [u8],
    pub(crate) after: Bits<'a>,
    pub(crate) tag: &'a C::Block,
}

impl<C: Decrypt<Block: Field>> Kernel for Recover<'_, C> {
    const LEVELS: Levels = C::LEVELS;
    type Out = C::Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> C::Block {
        let Recover { mac, before, after, tag } = self;
        let next = before.len() + C::Block::BYTES;
        let cut = absorbable_len(mac, after);
        let mut sum = mac.empty();
        // One loop, so that the kernel contains the absorbing code once.
        for (at, blocks) in [(0, before), (next, &after.bytes()[..cut])] {
            mac.absorb(isa, &mut sum, at as u64, blocks);
        }
        // A full last block is in the sum unchanged, so for zeros only L/x remains.
        let (is_last, zeros) = (after.bits() == 0, C::Block::ZERO);
        let tail = if is_last { Bits::from(&zeros) } else { after.after(cut) };
        let mut others = mac.finish(isa, &sum, (next + cut) as u64, tail);
        let mut sigma = mac.cipher().decrypt_one(isa, tag);
        let mut term = sigma.xor(others.block());
        let block = if is_last {
            term
        } else {
            let number = before.len() as u64 / C::Block::BYTES as u64 + 1;
            mac.cipher().decrypt_one(isa, &term).xor(&mac.offset(number))
        };
        sum.zeroize();
        others.block().zeroize();
        sigma.zeroize();
        term.zeroize();
        block
    }
}

/// Computes the tag of a message after its full block `number`, counted from 1, changed from `old`
/// to `new`, from `tag`, the message's length and these two blocks alone (section 4.1,
/// incrementality). This takes three calls of the cipher and one of its inverse for any length; for
/// the last block it takes two calls in all.
///
/// The inputs cannot be checked. **With a wrong old block, number or length, the result is the tag
/// of a different message, usually one that was never written.** (Applying an edit twice reverts
/// it.) [`edit::Tree`](tagmac::edit) stores the sums that are needed to check old bytes.
///
/// ```
/// use tagmac::PmacAes128;
/// use tagmac_papers::replace_block;
///
/// let mac = PmacAes128::new(&[7; 16]);
/// let (before, after) = (b"pay 100 to Bob, sixteen more and a rest", b"pay 900 to Bob, sixteen more and a rest");
/// let tag = mac.tag(before)?;
/// let [old, new] = [&before[..16], &after[..16]].map(|block| block.try_into().expect("16 bytes"));
/// assert_eq!(replace_block(&mac, 8 * 39, 1, &old, &new, &tag)?, mac.tag(after)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`recover_block`].
pub fn replace_block<C: Decrypt<Block: Field>>(
    mac: &Pmac<C>,
    message_bits: u64,
    number: u64,
    old: &C::Block,
    new: &C::Block,
    tag: &Tag,
) -> Result<Tag, ParsimonyError> {
    let n = 8 * C::Block::BYTES;
    if tag.bits() != n {
        return Err(Error::TagBits { min: n, max: n, step: 1, found: tag.bits() }.into());
    }
    let last = message_bits / n as u64;
    if !(1..=last).contains(&number) {
        return Err(ParsimonyError::NoSuchBlock { last, found: number });
    }
    let is_last = number == last && message_bits.is_multiple_of(n as u64);
    let offset = (!is_last).then(|| mac.offset(number));
    let tag = &C::Block::zero_filled(tag.as_bytes());
    let tag = mac.level().run(Replace { cipher: mac.cipher(), offset, old, new, tag });
    Ok(Tag::new(tag.as_ref(), n)?)
}

/// Replaces one block in a tag. `offset` is added to a block before it is encrypted; the last block
/// is not encrypted.
struct Replace<'a, C: Cipher> {
    cipher: &'a C,
    offset: Option<C::Block>,
    old: &'a C::Block,
    new: &'a C::Block,
    tag: &'a C::Block,
}

impl<C: Decrypt<Block: Field>> Kernel for Replace<'_, C> {
    const LEVELS: Levels = C::LEVELS;
    type Out = C::Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> C::Block {
        let Replace { cipher, offset, old, new, tag } = self;
        let mut sigma = cipher.decrypt_one(isa, tag);
        let mut terms = [*old, *new];
        if let Some(offset) = &offset {
            terms = terms.map(|block| cipher.encrypt_one(isa, &block.xor(offset)));
        }
        for term in &mut terms {
            sigma = sigma.xor(term);
            term.zeroize();
        }
        let tag = cipher.encrypt_one(isa, &sigma);
        sigma.zeroize();
        tag
    }
}
