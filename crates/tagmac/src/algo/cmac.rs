//! CMAC (NIST SP 800-38B; RFC 4493 for AES-128), of any cipher.
//!
//! With L = E_K(0), K1 = L x and K2 = L x^2, for M = M_1 .. M_m in blocks of n bits:
//!
//! ```text
//! C_0 = 0      C_i = E_K(M_i ^ C_{i-1})      for i < m
//! Tag = first tau bits of E_K(M_m ^ K1 ^ C_{m-1})         if M_m is full
//!       first tau bits of E_K(M_m 10* ^ K2 ^ C_{m-1})     if not; M_m is empty where M is
//! ```
//!
//! One block waits for the one before it, so a message alone takes the time of its blocks, see
//! `cbc.rs`. The chains of many messages run in step, one in each lane of up to eight vectors.

use zeroize::Zeroize;

use super::cbc::{self, Chain, before_last};
use super::known_answer;
use super::xor::{self, OneBlock, Truncation};
use crate::batch::verify_in_turns;
use crate::bits::Bits;
use crate::cipher::{Cipher, Encrypt, Field};
use crate::error::{Error, Mismatch, silent};
use crate::isa::{CipherBlock, Isa, Kernel, Lanes, Level, Levels};
use crate::tag::{Tag, matches};
use crate::wipe::wipe;

/// CMAC under a key.
///
/// Deterministic; any bit length; tags of 1 to n bits, n unless [`with_tag_bits`](Cmac::with_tag_bits)
/// says less. Up to about 2^(n/2) blocks under a key; SP 800-38B recommends at most 2^48 messages
/// with AES and 2^21 with a cipher of 64-bit blocks.
///
/// One message is one chain, and cannot be split over vectors or threads; [`tag_many`](Cmac::tag_many)
/// is many times as fast.
///
/// ```
/// use tagmac::{Cmac, cipher::Aes128};
/// let mac = Cmac::<Aes128>::new(&[7; 16]);
/// let tag = mac.tag(b"message");
/// assert!(mac.verify(b"message", &tag).is_ok());
/// assert!(mac.verify(b"massage", &tag).is_err());
/// ```
#[derive(Clone)]
pub struct Cmac<C: Cipher<Block: Field>> {
    cipher: C,
    level: Level,
    truncation: Truncation<C::Block>,
    k1: C::Block,
    k2: C::Block,
}

silent!(Cmac<C: Cipher<Block: Field>>);

impl<C: Cipher<Block: Field>> Drop for Cmac<C> {
    #[inline(never)]
    fn drop(&mut self) {
        self.k1.zeroize();
        self.k2.zeroize();
    }
}

impl<C: Cipher<Block: Field>> Cmac<C> {
    /// The MAC on the best level of this CPU.
    pub fn new(key: &C::Key) -> Self {
        Cmac::with_level(key, Level::best())
    }

    /// The MAC on a level of your choice.
    #[inline(never)]
    pub fn with_level(key: &C::Key, level: Level) -> Self {
        Cmac::from_cipher(C::new(key, level), level)
    }

    /// CMAC with a cipher under its key, which was made for the same level.
    pub(crate) fn from_cipher(cipher: C, level: Level) -> Self {
        let Some(known) = C::KNOWN_ANSWERS else { return Cmac::build(cipher, level) };
        let level = known_answer::passing(&known.cmac, level, |level| {
            let cipher = C::from_slice(&known_answer::KEYS[..C::KEY_BYTES], level);
            let mac = Cmac::build(cipher.expect("a key of the cipher's length"), level);
            move |message| Ok(mac.tag(message))
        });
        Cmac::build(cipher, level)
    }

    fn build(cipher: C, level: Level) -> Self {
        let zero = C::Block::ZERO;
        let mut mac = Cmac { cipher, level, truncation: Truncation::none(), k1: zero, k2: zero };
        let mut l = level.run(Encrypt(&mac.cipher, &zero));
        mac.k1 = l.times_x();
        mac.k2 = mac.k1.times_x();
        l.zeroize();
        mac
    }

    /// The same key with tags of the first `bits` bits, 1 to n.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] for any other length.
    pub fn with_tag_bits(mut self, bits: usize) -> Result<Self, Error> {
        self.truncation = Truncation::to(bits)?;
        Ok(self)
    }

    /// The length of the tags in bits.
    pub fn tag_bits(&self) -> usize {
        self.truncation.bits()
    }

    /// The level in use.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The tag of a message.
    #[must_use]
    pub fn tag<'m>(&self, message: impl Into<Bits<'m>>) -> Tag {
        self.tag_of(message.into())
    }

    #[inline(never)]
    fn tag_of(&self, message: Bits<'_>) -> Tag {
        self.level.run(OneShot { mac: self, message })
    }

    /// Checks a tag in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the tag of the message, of the MAC's own length.
    pub fn verify<'m>(&self, message: impl Into<Bits<'m>>, tag: &Tag) -> Result<(), Mismatch> {
        matches(Ok::<_, Error>(self.tag(message)), tag)
    }

    /// A stream of one message.
    pub fn stream(&self) -> CmacStream<&Self, C> {
        CmacStream::new(self)
    }

    /// The tags of many messages, side by side, of any lengths.
    ///
    /// # Panics
    ///
    /// If `tags` does not have one entry per message.
    #[inline(never)]
    pub fn tag_many(&self, messages: &[&[u8]], tags: &mut [Tag]) {
        assert!(tags.len() == messages.len(), "a tag for each message");
        if messages.len() < MIN_BATCH {
            for (message, tag) in messages.iter().zip(tags) {
                *tag = self.tag(*message);
            }
        } else if messages.len() <= MAX_CHAINS / 2 {
            self.tag_side_by_side::<{ MAX_CHAINS / 2 }>(messages, tags);
        } else {
            self.tag_side_by_side::<MAX_CHAINS>(messages, tags);
        }
    }

    /// [`tag_many`](Cmac::tag_many) with scratch space for `CHAINS` chains.
    fn tag_side_by_side<const CHAINS: usize>(&self, messages: &[&[u8]], tags: &mut [Tag]) {
        let mut blocks = [[C::Block::ZERO; CHAINS]; 4];
        let mut lanes = [Lane { place: 0, rest: &[], left: usize::MAX }; CHAINS];
        let [last, y, rows @ ..] = blocks.each_mut().map(<[_; CHAINS]>::as_mut_slice);
        Many { mac: self, messages, next: 0, tags, chains: &mut lanes, last, y, rows }.run();
        wipe(blocks.as_flattened_mut(), C::Block::ZERO);
    }

    /// Checks the tags of many messages, each in constant time, and writes a verdict for each.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless all verify.
    ///
    /// # Panics
    ///
    /// If the slices do not all have one entry per message.
    pub fn verify_many(
        &self,
        messages: &[&[u8]],
        tags: &[Tag],
        verdicts: &mut [Result<(), Mismatch>],
    ) -> Result<(), Mismatch> {
        let n = messages.len();
        assert!(tags.len() == n && verdicts.len() == n, "a tag and a verdict for each message");
        verify_in_turns(
            tags,
            verdicts,
            |now, expected| {
                self.tag_many(&messages[now], expected);
                Ok(())
            },
            |i, tag| self.verify(messages[i], tag),
        )
    }

    /// What the last block adds to the chain: the padded block and K1 or K2.
    #[inline(always)]
    fn last<L: Lanes<Block = C::Block>>(&self, lanes: L, last: Bits<'_>) -> OneBlock<L> {
        let full = last.bits() == 8 * C::Block::BYTES as u64;
        let key = if full { &self.k1 } else { &self.k2 };
        let narrow = lanes.narrow();
        narrow.xor(xor::padded(lanes, last), narrow.splat(key))
    }

    /// The tag that E_K's output begins with.
    #[inline(always)]
    fn truncate(&self, output: C::Block) -> Tag {
        let mut tag = Tag::default();
        self.truncation.write(&output, &mut tag);
        tag
    }
}

struct OneShot<'a, C: Cipher<Block: Field>> {
    mac: &'a Cmac<C>,
    message: Bits<'a>,
}

impl<C: Cipher<Block: Field>> Kernel for OneShot<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        let OneShot { mac, message } = self;
        let isa = isa.narrow();
        let (lanes, keys) = (C::lanes(isa), mac.cipher.keys(isa));
        let cut = before_last::<C::Block>(message.bytes().len());
        let mut x = C::whiten(isa, &keys, mac.last(lanes, message.after(cut)));
        if cut > 0 {
            let (first, blocks) = message.bytes()[..cut].split_at(C::Block::BYTES);
            let chain = C::whiten(isa, &keys, lanes.splat(&C::Block::zero_filled(first)));
            let chain = cbc::absorb::<_, C>(isa, &keys, chain, blocks);
            [x] = C::encrypt_chained(isa, &keys, [chain], [x]);
        }
        let [y] = C::encrypt_whitened(isa, &keys, [x]);
        mac.truncate(lanes.lane0(y))
    }
}

/// A message that comes in pieces. `R` refers to the [`Cmac`]: `&Cmac<C>`, `Arc<Cmac<C>>`.
///
/// ```
/// use tagmac::{Cmac, cipher::Aes256};
/// let mac = Cmac::<Aes256>::new(&[7; 32]);
/// let mut stream = mac.stream();
/// stream.update(b"in ").update(b"pieces");
/// assert_eq!(stream.tag(), mac.tag(b"in pieces"));
/// ```
#[derive(Clone)]
#[must_use = "a message that nobody asks the tag of is not authenticated"]
pub struct CmacStream<R, C: Cipher> {
    mac: R,
    chain: Chain<C::Block>,
}

silent!(CmacStream<R: Sized, C: Cipher>);

impl<R: core::ops::Deref<Target = Cmac<C>>, C: Cipher<Block: Field>> CmacStream<R, C> {
    /// An empty message.
    pub fn new(mac: R) -> Self {
        CmacStream { mac, chain: Chain::new(&[]) }
    }

    /// Adds to the message.
    pub fn update(&mut self, data: &[u8]) -> &mut Self {
        if self.chain.has_room(data.len()) {
            self.chain.hold(data);
        } else {
            let mac = &*self.mac;
            mac.level.run(Update { mac, chain: &mut self.chain, data });
        }
        self
    }

    /// The tag of the message.
    #[must_use]
    pub fn tag(self) -> Tag {
        self.finalize()
    }

    /// The tag, where the stream is: one that moves leaves a copy behind.
    pub(crate) fn finalize(&self) -> Tag {
        let mac = &*self.mac;
        mac.level.run(Close { mac, chain: &self.chain })
    }

    /// Begins again with an empty message. The old one is wiped.
    #[cfg(feature = "rustcrypto")]
    pub(crate) fn restart(&mut self) {
        self.chain = Chain::new(&[]);
    }

    /// Checks the message's tag in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the tag of the message, of the MAC's own length.
    pub fn verify(self, tag: &Tag) -> Result<(), Mismatch> {
        matches(Ok::<_, Error>(self.tag()), tag)
    }
}

struct Update<'a, C: Cipher<Block: Field>> {
    mac: &'a Cmac<C>,
    chain: &'a mut Chain<C::Block>,
    data: &'a [u8],
}

impl<C: Cipher<Block: Field>> Kernel for Update<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.chain.update(isa, &self.mac.cipher, self.data);
    }
}

struct Close<'a, C: Cipher<Block: Field>> {
    mac: &'a Cmac<C>,
    chain: &'a Chain<C::Block>,
}

impl<C: Cipher<Block: Field>> Kernel for Close<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        let Close { mac, chain } = self;
        let isa = isa.narrow();
        let (lanes, keys) = (C::lanes(isa), mac.cipher.keys(isa));
        let last = mac.last(lanes, Bits::from(&chain.held.as_ref()[..chain.bytes]));
        let x = lanes.xor(last, lanes.splat(&chain.y));
        let [y] = C::encrypt_whitened(isa, &keys, [C::whiten(isa, &keys, x)]);
        mac.truncate(lanes.lane0(y))
    }
}

/// Fewer messages go one by one.
const MIN_BATCH: usize = 4;
/// The most chains in step.
const MAX_CHAINS: usize = 32;

/// Many messages, and where their chains are.
struct Many<'a, C: Cipher<Block: Field>> {
    mac: &'a Cmac<C>,
    messages: &'a [&'a [u8]],
    /// The first message that no lane has.
    next: usize,
    tags: &'a mut [Tag],
    chains: &'a mut [Lane<'a>],
    /// What each chain's last block adds, see [`Cmac::last`].
    last: &'a mut [C::Block],
    /// The chains.
    y: &'a mut [C::Block],
    /// Blocks that come next. Rows take turns, so that one is put together while the other is in use.
    rows: [&'a mut [C::Block]; 2],
}

/// The message of a lane.
#[derive(Clone, Copy)]
struct Lane<'a> {
    /// Its place in the batch.
    place: usize,
    /// What is left of it but for its last block.
    rest: &'a [u8],
    /// The blocks left, with the last one; `usize::MAX` if there is no message.
    left: usize,
}

impl<C: Cipher<Block: Field>> Kernel for Many<'_, C> {
    const LEVELS: Levels = C::LEVELS;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let (in_vector, messages) = (C::Lanes::<I>::LANES, self.messages.len());
        if C::Lanes::<I>::UNROLL == 1 || 8 * in_vector > MAX_CHAINS {
            self.in_step::<I, 1>(isa);
        } else if 2 * in_vector >= MIN_BATCH && messages <= 2 * in_vector {
            // Fewer vectors take less time.
            self.in_step::<I, 2>(isa);
        } else if messages <= 4 * in_vector {
            self.in_step::<I, 4>(isa);
        } else {
            self.in_step::<I, 8>(isa);
        }
    }
}

impl<C: Cipher<Block: Field>> Many<'_, C> {
    /// All tags. In a function of its own, so that every level has its kernel once.
    #[inline(never)]
    fn run(self) {
        self.mac.level.run(self);
    }

    /// A chain in each lane of `N` vectors. A lane whose message ends takes the next one.
    #[inline(always)]
    fn in_step<I: Isa, const N: usize>(mut self, isa: I) {
        let (lanes, keys) = (C::lanes(isa), self.mac.cipher.keys(isa));
        let (block, count) = (C::Block::BYTES, N * C::Lanes::<I>::LANES);
        let whitening = [C::whiten(isa, &keys, lanes.splat(&C::Block::ZERO)); N];
        let used = self.begin(count);
        while let Some(steps) = self.steps(used) {
            let mut x = whitening;
            for step in 0..steps {
                let row = &mut self.rows[step % 2][..count];
                let staged = row.iter_mut().zip(&self.chains[..used]);
                for (staged, chain) in staged {
                    if let Some(data) = chain.rest.get(step * block..(step + 1) * block) {
                        staged.as_mut().copy_from_slice(data);
                    }
                }
                if step + 1 == steps {
                    let staged = row.iter_mut().zip(&self.chains[..used]);
                    for ((staged, chain), last) in staged.zip(&*self.last) {
                        if chain.left == steps {
                            *staged = *last;
                        }
                    }
                }
                x = if step == 0 {
                    xor_blocks(lanes, xor_blocks(lanes, whitening, row), &self.y[..count])
                } else {
                    C::encrypt_chained(isa, &keys, x, xor_blocks(lanes, whitening, row))
                };
            }
            let x = C::encrypt_whitened(isa, &keys, x);
            let y = C::Block::flatten_mut(&mut self.y[..count]);
            for (x, y) in x.iter().zip(y.chunks_exact_mut(block * C::Lanes::<I>::LANES)) {
                lanes.store_lanes(*x, y);
            }
            self.advance(used, steps);
        }
    }

    /// Gives each of `count` lanes its first message; how many have one.
    #[inline(never)]
    fn begin(&mut self, count: usize) -> usize {
        (0..count).for_each(|lane| self.take(lane));
        self.next
    }

    /// The blocks until the first messages end; `None` if all have ended.
    #[inline(always)]
    fn steps(&self, used: usize) -> Option<usize> {
        let mut steps = usize::MAX;
        for chain in &self.chains[..used] {
            steps = steps.min(chain.left);
        }
        (steps < usize::MAX).then_some(steps)
    }

    /// Goes on by so many blocks. Where a message ends, the lane takes the next one. In a function of
    /// its own, which all levels share.
    #[inline(never)]
    fn advance(&mut self, used: usize, steps: usize) {
        for lane in 0..used {
            let chain = &mut self.chains[lane];
            if chain.left == steps {
                self.mac.truncation.write(&self.y[lane], &mut self.tags[chain.place]);
                self.y[lane] = C::Block::ZERO;
                self.take(lane);
            } else if chain.left != usize::MAX {
                chain.rest = &chain.rest[steps * C::Block::BYTES..];
                chain.left -= steps;
            }
        }
    }

    /// The next message, if there is one.
    #[inline(always)]
    fn take(&mut self, lane: usize) {
        let Some(message) = self.messages.get(self.next) else {
            (self.chains[lane].rest, self.chains[lane].left) = (&[], usize::MAX);
            return;
        };
        let (rest, last) = message.split_at(before_last::<C::Block>(message.len()));
        let left = 1 + rest.len() / C::Block::BYTES;
        self.chains[lane] = Lane { place: self.next, rest, left };
        let block = C::Block::zero_filled(last);
        self.last[lane] = if last.len() == C::Block::BYTES {
            block.xor(&self.mac.k1)
        } else {
            block.xor(&C::Block::one_at(8 * last.len())).xor(&self.mac.k2)
        };
        self.next += 1;
    }
}

/// Vectors of blocks, xored with `x`.
#[inline(always)]
fn xor_blocks<L: Lanes, const N: usize>(
    lanes: L,
    mut x: [L::V; N],
    blocks: &[L::Block],
) -> [L::V; N] {
    let blocks = L::Block::flatten(blocks).chunks_exact(L::Block::BYTES * L::LANES);
    for (x, blocks) in x.iter_mut().zip(blocks) {
        *x = lanes.xor(*x, lanes.load(blocks));
    }
    x
}
