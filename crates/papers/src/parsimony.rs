//! What PMAC's parsimony gives (Black and Rogaway 2001, section 4.1): a block from the tag and the
//! others, a tag from the old one and a changed block, and a cipher on messages of any length from n bits up.
//!
//! The tag of n bits is a permutation of each full block. With D for the inverse of E, and S for
//! the xor of what Sigma is made of without block i:
//!
//! ```text
//! M_i = D_K(D_K(Tag) ^ S) ^ gamma_i L     for i < m
//! M_m = D_K(Tag) ^ S                      if it is full; S has L/x in it
//! ```
//!
//! So the tag can stand in the place of a block. The wide-block cipher makes it the start of a
//! counter that encrypts the others:
//!
//! ```text
//! IV  = PMAC_K1(M)
//! C_j = M_j ^ first |M_j| bits of E_K2(IV + j - 1 mod 2^n)
//! C   = IV || C_1 .. C_{m-2} || C_m       IV alone if m = 1
//! ```
//!
//! The paper names the block that is dropped with "say", and does not say how the counter goes on;
//! both are ours as written. Fast because the counters of unrolled blocks differ in their last
//! byte alone: one xor with a table makes a vector of them.

use core::fmt;

use tagmac::cipher::{Cipher, CipherBlock, Decrypt, Encrypt, Field};
use tagmac::hazmat::{Hash, PmacKey, absorbable_len};
use tagmac::isa::{Isa, Kernel, Lanes, Level, Levels};
use tagmac::{Bits, Error, Mismatch, Pmac, Tag};
use zeroize::Zeroize;

use crate::silent;

/// Blocks whose numbers the kernels of the counter have a table for.
const PERIOD: usize = 32;

/// A message that [`recover_block`] or [`WideBlock`] cannot serve.
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
struct Recover<'a, C: Cipher<Block: Field>> {
    mac: &'a Pmac<C>,
    before: &'a [u8],
    after: Bits<'a>,
    tag: &'a C::Block,
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

/// A cipher on messages of any length from n bits up, n being the bits of the cipher C's block:
/// the wide-block cipher that PMAC makes (Black and Rogaway 2001, section 4.1).
///
/// The ciphertext has exactly as many bits as the message, and each of its bits depends on the
/// whole message. With independent keys K1 and K2, M = M_1 .. M_m in blocks of n bits, of which
/// the last may be shorter:
///
/// ```text
/// IV  = PMAC_K1(M)
/// C_j = M_j ^ first |M_j| bits of E_K2(IV + j - 1 mod 2^n)
/// C   = IV || C_1 .. C_{m-2} || C_m       IV alone if m = 1
/// ```
///
/// Deciphering gets block m - 1, or 1 if m = 1, from IV as [`recover_block`] does. That the
/// counter goes on by ones and that block m - 1 is the one left out is ours: the paper leaves it
/// open, so do not expect other programs to agree.
///
/// # What it promises
///
/// Against attackers who see ciphertexts of messages that they choose, it is a pseudorandom
/// permutation for each length, up to about 2^(n/2) blocks under a pair of keys. Equal messages
/// have equal ciphertexts, and nothing else shows but the length.
///
/// **It is not secure where attackers learn how ciphertexts decipher that they made**, and it
/// authenticates nothing. To flip a bit of C_j is to flip that bit of M_j and to change block
/// m - 1 at random, no more. Redundancy is sure to show a forgery only as far as it depends on block
/// m - 1: k fixed bits there miss it with 2^-k. If it is all of that block (n zero bits, say), IV is a tag
/// of the others. Where the ciphertext may be
/// longer than the message, take an AEAD, or a MAC beside a cipher.
///
/// ```
/// use tagmac::cipher::Aes128;
/// use tagmac_papers::WideBlock;
///
/// let cipher = WideBlock::<Aes128>::new(&[1; 16], &[2; 16]);
/// let mut data = *b"a record that has no room for more";
/// cipher.encipher(&mut data)?;
/// assert_ne!(&data, b"a record that has no room for more");
/// cipher.decipher(&mut data)?;
/// assert_eq!(&data, b"a record that has no room for more");
/// # Ok::<(), tagmac_papers::ParsimonyError>(())
/// ```
#[derive(Clone)]
pub struct WideBlock<C: Cipher<Block: Field>> {
    mac: Pmac<C>,
    counter: C,
}

silent!(WideBlock<C: Cipher<Block: Field>>);

impl<C: Decrypt<Block: Field>> WideBlock<C> {
    /// The cipher under K1, for PMAC, and K2, for the counter, on the best level of this CPU. The
    /// keys must be independent.
    pub fn new(k1: &C::Key, k2: &C::Key) -> Self {
        WideBlock::with_level(k1, k2, Level::best())
    }

    /// The cipher on a level of your choice.
    pub fn with_level(k1: &C::Key, k2: &C::Key, level: Level) -> Self {
        WideBlock { mac: Pmac::with_level(k1, level), counter: C::new(k2, level) }
    }

    /// Enciphers a message of whole bytes in place.
    ///
    /// # Errors
    ///
    /// [`ParsimonyError::TooShort`] if the message is shorter than a block. It is as it was then.
    pub fn encipher(&self, data: &mut [u8]) -> Result<(), ParsimonyError> {
        self.encipher_bits(data, 8 * data.len())
    }

    /// Deciphers a ciphertext of whole bytes in place.
    ///
    /// # Errors
    ///
    /// [`ParsimonyError::TooShort`] if the ciphertext is shorter than a block. It is as it was then.
    pub fn decipher(&self, data: &mut [u8]) -> Result<(), ParsimonyError> {
        self.decipher_bits(data, 8 * data.len())
    }

    /// Enciphers the message of the first `bits` bits of `data` in place. Bits of the last byte
    /// that do not belong to it come out as zeros.
    ///
    /// # Errors
    ///
    /// [`ParsimonyError::Mac`] with [`Error::MessageBits`] unless `data` has as many bytes as the
    /// bits need,
    /// [`ParsimonyError::TooShort`] if the message is shorter than a block. It is as it was then.
    pub fn encipher_bits(&self, data: &mut [u8], bits: usize) -> Result<(), ParsimonyError> {
        let last = last_block::<C::Block>(data, bits)?;
        let tag = self.mac.tag(Bits::new(data, bits)?)?;
        let iv = C::Block::zero_filled(tag.as_bytes());
        if last > 0 {
            self.count(&iv, &mut data[..last - C::Block::BYTES]);
            data.copy_within(..last - C::Block::BYTES, C::Block::BYTES);
            self.count_last(&iv, data, last, bits);
        }
        data[..C::Block::BYTES].copy_from_slice(iv.as_ref());
        Ok(())
    }

    /// Deciphers the ciphertext of the first `bits` bits of `data` in place. Bits of the last byte
    /// that do not belong to it come out as zeros.
    ///
    /// # Errors
    ///
    /// As [`encipher_bits`](WideBlock::encipher_bits).
    pub fn decipher_bits(&self, data: &mut [u8], bits: usize) -> Result<(), ParsimonyError> {
        let last = last_block::<C::Block>(data, bits)?;
        let iv = C::Block::zero_filled(&data[..C::Block::BYTES]);
        if last > 0 {
            self.count_last(&iv, data, last, bits);
            data.copy_within(C::Block::BYTES..last, 0);
            self.count(&iv, &mut data[..last - C::Block::BYTES]);
        }
        // Block m - 1 is missing; or, if that is block 0, the message's only one.
        let hole = last.saturating_sub(C::Block::BYTES);
        let (before, rest) = data.split_at_mut(hole);
        let (block, after) = rest.split_at_mut(C::Block::BYTES);
        let after = Bits::new(after, bits - 8 * (hole + C::Block::BYTES))?;
        let recover = Recover { mac: &self.mac, before, after, tag: &iv };
        block.copy_from_slice(self.mac.level().run(recover).as_ref());
        Ok(())
    }

    /// Encrypts a message of any length in place and returns IV: the paper's deterministic encryption,
    /// "one can use C directly", C = IV || C_1 .. C_m. Equal messages have equal ciphertexts.
    ///
    /// Unlike the wide-block cipher this is longer than the message, and
    /// [`decrypt`](WideBlock::decrypt) checks IV, which is a tag. It is what Rogaway and Shrimpton later
    /// called SIV, without associated data: an attempt to forge passes as a guess at PMAC's tag does.
    ///
    /// ```
    /// use tagmac::cipher::Aes128;
    /// use tagmac_papers::WideBlock;
    /// let cipher = WideBlock::<Aes128>::new(&[1; 16], &[2; 16]);
    /// let mut data = *b"a key";
    /// let iv = cipher.encrypt(&mut data)?;
    /// assert!(cipher.decrypt(&iv, &mut data).is_ok());
    /// assert_eq!(&data, b"a key");
    /// # Ok::<(), tagmac_papers::ParsimonyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ParsimonyError::Mac`] as [`Pmac::tag`]. The message is as it was then.
    pub fn encrypt(&self, data: &mut [u8]) -> Result<C::Block, ParsimonyError> {
        let iv = C::Block::zero_filled(self.mac.tag(&*data)?.as_bytes());
        self.count_all(&iv, data);
        Ok(iv)
    }

    /// Decrypts what [`encrypt`](WideBlock::encrypt) made, in place, and checks it in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless IV is that of the message; `data` is zeros then.
    pub fn decrypt(&self, iv: &C::Block, data: &mut [u8]) -> Result<(), Mismatch> {
        self.count_all(iv, data);
        let tag = Tag::try_from(iv.as_ref()).map_err(|_| Mismatch)?;
        let checked = self.mac.verify(&*data, &tag);
        if checked.is_err() {
            data.zeroize();
        }
        checked
    }

    /// Encrypts or decrypts a message of any length, all of it.
    fn count_all(&self, iv: &C::Block, data: &mut [u8]) {
        if let Some(last) = data.len().checked_sub(1) {
            let (last, bits) = (last / C::Block::BYTES * C::Block::BYTES, 8 * data.len());
            self.count(iv, &mut data[..last]);
            self.count_last(iv, data, last, bits);
        }
    }

    /// Encrypts or decrypts whole blocks, the message's first ones.
    fn count(&self, iv: &C::Block, data: &mut [u8]) {
        self.mac.level().run(Count { cipher: &self.counter, first: *iv, data });
    }

    /// Encrypts or decrypts the last block, which begins at byte `last`.
    fn count_last(&self, iv: &C::Block, data: &mut [u8], last: usize, bits: usize) {
        let number = plus(iv, (last / C::Block::BYTES) as u64);
        let mut pad = self.mac.level().run(Encrypt(&self.counter, &number));
        for (byte, pad) in data[last..].iter_mut().zip(pad.as_ref()) {
            *byte ^= pad;
        }
        pad.zeroize();
        let unused = 8 * data.len() - bits;
        data[bits.div_ceil(8) - 1] &= 0xff << unused;
    }
}

/// Where the last block of a message of at least a block begins.
fn last_block<B: CipherBlock>(data: &[u8], bits: usize) -> Result<usize, ParsimonyError> {
    Bits::new(data, bits)?;
    if bits < 8 * B::BYTES {
        return Err(ParsimonyError::TooShort { min_bits: 8 * B::BYTES, found: bits });
    }
    Ok((data.len() - 1) / B::BYTES * B::BYTES)
}

/// `block + number` mod 2^n, big-endian.
#[inline(always)]
fn plus<B: Field>(block: &B, number: u64) -> B {
    let (mut sum, mut carry) = (*block, number);
    // The fields' blocks are whole words of 32 bits.
    for word in sum.as_mut().as_chunks_mut().0.iter_mut().rev() {
        let digits = u32::from_be_bytes(*word) as u64 + (carry & u32::MAX as u64);
        *word = (digits as u32).to_be_bytes();
        carry = (carry >> 32) + (digits >> 32);
    }
    sum
}

/// Xors E_K(first), E_K(first + 1), .. to whole blocks. The numbers are no secret: the first is
/// the ciphertext's first block.
struct Count<'a, C: Cipher> {
    cipher: &'a C,
    first: C::Block,
    data: &'a mut [u8],
}

impl<C: Cipher<Block: Field>> Kernel for Count<'_, C> {
    const LEVELS: Levels = C::LEVELS;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        const { assert!(PERIOD.is_multiple_of(C::Lanes::<I>::UNROLLED_BLOCKS)) };
        let unrolled = C::Lanes::<I>::UNROLLED_BLOCKS;
        let bytes = C::Block::BYTES;
        let mut places = [C::Block::ZERO; PERIOD];
        for (place, block) in places.iter_mut().enumerate() {
            block.as_mut()[bytes - 1] = place as u8;
        }
        let (keys, number) = (self.cipher.keys(isa), self.first);
        let mut counting: Counting<'_, I, C> = Counting { isa, keys, number };
        let last_byte = self.first.as_ref()[bytes - 1];
        let head = last_byte.wrapping_neg() as usize % unrolled;
        let (head, data) = self.data.split_at_mut((head * bytes).min(self.data.len()));
        counting.by_vectors(head);
        let mut chunks = data.chunks_exact_mut(unrolled * bytes);
        for chunk in &mut chunks {
            counting.unrolled(&places, chunk);
        }
        counting.by_vectors(chunks.into_remainder());
    }
}

/// A counter on a level.
struct Counting<'a, I: Isa, C: Cipher + 'a> {
    isa: I,
    keys: C::Keys<'a, I>,
    /// The next block's number.
    number: C::Block,
}

impl<I: Isa, C: Cipher<Block: Field>> Counting<'_, I, C> {
    /// The next blocks, a vector at a time.
    #[inline(always)]
    fn by_vectors(&mut self, data: &mut [u8]) {
        let lanes = C::lanes(self.isa);
        let zero = C::whiten(self.isa, &self.keys, lanes.splat(&C::Block::ZERO));
        for data in data.chunks_mut(C::Lanes::<I>::LANES * C::Block::BYTES) {
            let n = data.len() / C::Block::BYTES;
            let mut numbers = [C::Block::ZERO; PERIOD];
            for number in &mut numbers[..n] {
                *number = self.number;
                self.number = plus(&self.number, 1);
            }
            let numbers = lanes.load_lanes(C::Block::flatten(&numbers[..n]));
            let x = [lanes.xor(zero, numbers)];
            let [pad] = C::encrypt_whitened(self.isa, &self.keys, x);
            lanes.store_lanes(lanes.xor(pad, lanes.load_lanes(data)), data);
        }
    }

    /// The next `UNROLL` vectors. Their first number is a multiple of their number of blocks, so the
    /// others are that one xor their places.
    #[inline(always)]
    fn unrolled(&mut self, places: &[C::Block; PERIOD], data: &mut [u8]) {
        const { assert!(C::Lanes::<I>::UNROLL == 1 || C::Lanes::<I>::UNROLL == 8) };
        if C::Lanes::<I>::UNROLL == 8 {
            self.vectors::<8>(places, data);
        } else {
            self.vectors::<1>(places, data);
        }
        self.number = plus(&self.number, C::Lanes::<I>::UNROLLED_BLOCKS as u64);
    }

    #[inline(always)]
    fn vectors<const N: usize>(&self, places: &[C::Block; PERIOD], data: &mut [u8]) {
        let (lanes, in_vector) = (C::lanes(self.isa), C::Lanes::<I>::LANES);
        let number = C::whiten(self.isa, &self.keys, lanes.splat(&self.number));
        let mut x = [number; N];
        for (x, places) in x.iter_mut().zip(places.chunks_exact(in_vector)) {
            *x = lanes.xor(*x, lanes.load(C::Block::flatten(places)));
        }
        let x = C::encrypt_whitened(self.isa, &self.keys, x);
        for (pad, data) in x.into_iter().zip(data.chunks_exact_mut(in_vector * C::Block::BYTES)) {
            lanes.store_lanes(lanes.xor(pad, lanes.load(data)), data);
        }
    }
}
