//! The wide-block cipher from PMAC's parsimony (Black and Rogaway 2001, section 4.1): a cipher on
//! messages of any length from n bits. The tag replaces a block, and is the start of a counter that
//! encrypts the other blocks:
//!
//! ```text
//! IV  = PMAC_K1(M)
//! C_j = M_j ^ first |M_j| bits of E_K2(IV + j - 1 mod 2^n)
//! C   = IV || C_1 .. C_{m-2} || C_m       IV alone if m = 1
//! ```
//!
//! The paper names the dropped block only with "say", and does not define how the counter
//! continues; both are our choices. The code is fast because the counters of unrolled blocks differ
//! only in their last byte: one xor with a table computes a vector of them.

use tagmac::cipher::{Cipher, CipherBlock, Decrypt, Encrypt, Field};
use tagmac::hazmat::Hash;
use tagmac::isa::{Isa, Kernel, Lanes, Level, Levels};
use tagmac::{Bits, Mismatch, Pmac, Tag};
use zeroize::Zeroize;

use crate::parsimony::{ParsimonyError, Recover};
use crate::silent;

/// The number of blocks in the counter kernels' table.
const PERIOD: usize = 32;

/// A cipher on messages of any length from n bits, where n is the length in bits of the cipher C's
/// block: the wide-block cipher from PMAC (Black and Rogaway 2001, section 4.1).
///
/// The ciphertext has exactly the length of the message, and each of its bits depends on the whole
/// message. Take independent keys K1 and K2, and M = M_1 .. M_m in blocks of n bits. The last block
/// may be shorter:
///
/// ```text
/// IV  = PMAC_K1(M)
/// C_j = M_j ^ first |M_j| bits of E_K2(IV + j - 1 mod 2^n)
/// C   = IV || C_1 .. C_{m-2} || C_m       IV alone if m = 1
/// ```
///
/// Deciphering computes block m - 1, or 1 if m = 1, from IV as
/// [`recover_block`](crate::recover_block) does. The paper does not define the counter's steps and
/// the omitted block. We count by ones and omit block m - 1, so other programs may not be
/// compatible.
///
/// # Security
///
/// Against attackers who see ciphertexts of messages that they choose, it is a pseudorandom
/// permutation for each length, up to about 2^(n/2) blocks under a pair of keys. Equal messages
/// have equal ciphertexts; otherwise a ciphertext reveals only its length.
///
/// **It is not secure if attackers learn decryptions of ciphertexts that they made**, and it
/// authenticates nothing. Flipping a bit of C_j flips that bit of M_j and changes block m - 1
/// randomly, nothing else. Redundancy detects a forgery reliably only as far as it depends on block
/// m - 1: k fixed bits there miss it with a probability of 2^-k. If that block consists only of
/// redundancy (n zero bits, say), IV is a tag of the other blocks. If the ciphertext may be longer
/// than the message, use an AEAD, or a cipher and a MAC.
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
    /// Returns the cipher under K1, for PMAC, and K2, for the counter, on the best level of this
    /// CPU. The keys must be independent.
    pub fn new(k1: &C::Key, k2: &C::Key) -> Self {
        WideBlock::with_level(k1, k2, Level::best())
    }

    /// Returns the cipher on a given level.
    pub fn with_level(k1: &C::Key, k2: &C::Key, level: Level) -> Self {
        WideBlock { mac: Pmac::with_level(k1, level), counter: C::new(k2, level) }
    }

    /// Enciphers a message of whole bytes in place.
    ///
    /// # Errors
    ///
    /// [`ParsimonyError::TooShort`] if the message is shorter than a block. It is then unchanged.
    pub fn encipher(&self, data: &mut [u8]) -> Result<(), ParsimonyError> {
        self.encipher_bits(data, 8 * data.len())
    }

    /// Deciphers a ciphertext of whole bytes in place.
    ///
    /// # Errors
    ///
    /// [`ParsimonyError::TooShort`] if the ciphertext is shorter than a block. It is then
    /// unchanged.
    pub fn decipher(&self, data: &mut [u8]) -> Result<(), ParsimonyError> {
        self.decipher_bits(data, 8 * data.len())
    }

    /// Enciphers the first `bits` bits of `data` in place. Unused bits of the last byte become
    /// zero.
    ///
    /// # Errors
    ///
    /// [`ParsimonyError::Mac`] with [`Error::MessageBits`](tagmac::Error::MessageBits) unless
    /// `bits` ends in the last byte of `data`, [`ParsimonyError::TooShort`] if the message is
    /// shorter than a block. It is then unchanged.
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

    /// Deciphers the first `bits` bits of `data` in place. Unused bits of the last byte become
    /// zero.
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
        // Block m - 1 is missing, or the only block if m = 1.
        let hole = last.saturating_sub(C::Block::BYTES);
        let (before, rest) = data.split_at_mut(hole);
        let (block, after) = rest.split_at_mut(C::Block::BYTES);
        let after = Bits::new(after, bits - 8 * (hole + C::Block::BYTES))?;
        let recover = Recover { mac: &self.mac, before, after, tag: &iv };
        block.copy_from_slice(self.mac.level().run(recover).as_ref());
        Ok(())
    }

    /// Encrypts a message of any length in place and returns IV: the paper's deterministic
    /// encryption, "one can use C directly", C = IV || C_1 .. C_m. Equal messages have equal
    /// ciphertexts.
    ///
    /// Unlike with the wide-block cipher, the ciphertext is longer than the message, and
    /// [`decrypt`](WideBlock::decrypt) checks IV, which is a tag. Rogaway and Shrimpton later
    /// called this SIV; here it has no associated data. An attempt to forge passes with the
    /// probability of a guess at PMAC's tag.
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
    /// [`ParsimonyError::Mac`] as [`Pmac::tag`]. The message is then unchanged.
    pub fn encrypt(&self, data: &mut [u8]) -> Result<C::Block, ParsimonyError> {
        let iv = C::Block::zero_filled(self.mac.tag(&*data)?.as_bytes());
        self.count_all(&iv, data);
        Ok(iv)
    }

    /// Decrypts the output of [`encrypt`](WideBlock::encrypt) in place, and checks it in constant
    /// time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless IV is that of the message; `data` is then set to zeros.
    pub fn decrypt(&self, iv: &C::Block, data: &mut [u8]) -> Result<(), Mismatch> {
        self.count_all(iv, data);
        let tag = Tag::try_from(iv.as_ref()).map_err(|_| Mismatch)?;
        let checked = self.mac.verify(&*data, &tag);
        if checked.is_err() {
            data.zeroize();
        }
        checked
    }

    /// Encrypts or decrypts all of a message of any length.
    fn count_all(&self, iv: &C::Block, data: &mut [u8]) {
        if let Some(last) = data.len().checked_sub(1) {
            let (last, bits) = (last / C::Block::BYTES * C::Block::BYTES, 8 * data.len());
            self.count(iv, &mut data[..last]);
            self.count_last(iv, data, last, bits);
        }
    }

    /// Encrypts or decrypts the first blocks of a message, which must be whole.
    fn count(&self, iv: &C::Block, data: &mut [u8]) {
        self.mac.level().run(Count { cipher: &self.counter, first: *iv, data });
    }

    /// Encrypts or decrypts the last block, which starts at byte `last`.
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

/// The start of the last block of a message of at least a block.
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
    // The blocks of all fields are whole words of 32 bits.
    for word in sum.as_mut().as_chunks_mut().0.iter_mut().rev() {
        let digits = u32::from_be_bytes(*word) as u64 + (carry & u32::MAX as u64);
        *word = (digits as u32).to_be_bytes();
        carry = (carry >> 32) + (digits >> 32);
    }
    sum
}

/// Xors E_K(first), E_K(first + 1), .. to whole blocks. The numbers are not secret: the first is
/// the first block of the ciphertext.
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
    /// The number of the next block.
    number: C::Block,
}

impl<I: Isa, C: Cipher<Block: Field>> Counting<'_, I, C> {
    /// Processes the next blocks, one vector at a time.
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

    /// Processes the next `UNROLL` vectors. Their first number is a multiple of their number of
    /// blocks, so each number is the first one xor the block's index.
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
