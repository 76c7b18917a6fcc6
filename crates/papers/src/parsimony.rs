//! What PMAC's parsimony gives (Black and Rogaway 2001, section 4.1): a block from the tag and the
//! others, and a tag from the old one and a changed block.
//!
//! The tag of n bits is a permutation of each full block. With D for the inverse of E, and S for
//! the xor of what Sigma is made of without block i:
//!
//! ```text
//! M_i = D_K(D_K(Tag) ^ S) ^ gamma_i L     for i < m
//! M_m = D_K(Tag) ^ S                      if it is full; S has L/x in it
//! ```
//!
//! So the tag can stand in the place of a block: `wide_block.rs` makes a cipher of that. Fast because
//! the rest of the message is absorbed by PMAC's own kernels, and one block alone goes through D.

use core::fmt;

use tagmac::cipher::{Cipher, CipherBlock, Decrypt, Field};
use tagmac::hazmat::{Hash, PmacKey, absorbable_len};
use tagmac::isa::{Isa, Kernel, Levels};
use tagmac::{Bits, Error, Pmac, Tag};
use zeroize::Zeroize;

/// A message that [`recover_block`] or [`WideBlock`](crate::WideBlock) cannot serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParsimonyError {
    /// The message is shorter than the one block that the wide-block cipher needs.
    TooShort {
        /// The fewest bits of a message.
        min_bits: usize,
        /// The bits given.
        found: usize,
    },
    /// The message has no full block of that number.
    NoSuchBlock {
        /// The number of the last full block; the first is block 1.
        last: u64,
        /// The number given.
        found: u64,
    },
    /// What the MAC refuses.
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

/// The full block of number `number`, counted from 1, of a message that has the PMAC tag `tag`;
/// `rest` is the message without that block.
///
/// Parsimony (Black and Rogaway 2001, section 4.1): PMAC's tag of n bits is a permutation of each
/// full block of n bits, so with the key it can be turned back. Any block will do, also the last
/// one if it is full.
///
/// Nothing is checked and nothing can be: for each tag there is a block that gives it. Wrong bits
/// in the rest or the tag, or another number, give another block and no error.
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
/// [`ParsimonyError::NoSuchBlock`] if the message has no full block of that number.
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

/// The block between the full blocks `before` and the rest of a message with this tag.
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
        // One loop, so that the kernel has one copy of what absorbs.
        for (at, blocks) in [(0, before), (next, &after.bytes()[..cut])] {
            mac.absorb(isa, &mut sum, at as u64, blocks);
        }
        // A full last block stands in the sum as it is, so of zeros there is nothing but L/x.
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

/// The tag of a message after its full block `number`, counted from 1, changed from `old` to `new`: from
/// `tag`, the message's length and these two blocks alone (section 4.1, incrementality). Three calls of
/// the cipher and one of its inverse, however long the message is; two in all for the last block.
///
/// Nothing is checked and nothing can be. **A wrong old block or number, or a length that makes another
/// block the last one, gives the tag of another message than the edited one, mostly of one that nobody wrote** (an
/// edit that is made twice takes itself back): [`edit::Tree`](tagmac::edit) keeps what it takes to check old
/// bytes.
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

/// A tag with one block replaced. `offset` is what is added to a block before it is encrypted; the last
/// one is not.
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
