//! The wide-block cipher that PMAC's parsimony makes (Black and Rogaway 2001, section 4.1): a cipher on
//! messages of any length from n bits up. The tag stands in the place of a block, and is the start of a
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

use tagmac::cipher::{Cipher, CipherBlock, Decrypt, Encrypt, Field};
use tagmac::hazmat::Hash;
use tagmac::isa::{Isa, Kernel, Lanes, Level, Levels};
use tagmac::{Bits, Mismatch, Pmac, Tag};
use zeroize::Zeroize;

use crate::parsimony::{ParsimonyError, Recover};
use crate::silent;

/// Blocks whose numbers the kernels of the counter have a table for.
const PERIOD: usize = 32;

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
/// Deciphering gets block m - 1, or 1 if m = 1, from IV as [`recover_block`](crate::recover_block) does. That the
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
    /// [`ParsimonyError::Mac`] with [`Error::MessageBits`](tagmac::Error::MessageBits) unless `data` has
    /// as many bytes as the bits need,
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
