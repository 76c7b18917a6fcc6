//! Streams: a message in pieces. The last block is held back until more data follows.

use core::ops::Deref;

use zeroize::Zeroize;

use crate::bits::Bits;
use crate::construction;
use crate::construction::{Construction, Hash, absorbable_len, check_length};
use crate::error::{Error, Mismatch};
#[cfg(feature = "save")]
use crate::nonce::Nonce;
#[cfg(feature = "save")]
use crate::save::{Reader, Save, SaveError, Sealer, Writer};
use crate::tag::{Tag, matches};

/// A message that arrives in pieces. `R` refers to the MAC: `&M`, `Arc<M>`, `Box<M>`.
///
/// ```
/// use tagmac::PmacAes128;
/// let mac = PmacAes128::new(&[7; 16]);
/// let mut stream = mac.stream();
/// stream.update(b"in ").update(b"pieces");
/// assert_eq!(stream.tag()?, mac.tag(b"in pieces")?);
///
/// // A MAC that needs a nonce gets it first.
/// use tagmac::{Mac, Umac64, UmacNonce};
/// let (mac, nonce) = (Umac64::new(&[7; 16]), UmacNonce::from(1));
/// let mut stream = mac.stream_with(&nonce);
/// stream.update(b"in ").update(b"pieces");
/// assert_eq!(stream.tag()?, mac.tag_with(&nonce, b"in pieces")?);
/// # Ok::<(), tagmac::Error>(())
/// ```
#[must_use = "a stream that is dropped without `tag` or `verify` authenticates nothing"]
pub struct Stream<R: Deref<Target: Construction>> {
    mac: R,
    nonce: <R::Target as Construction>::Nonce,
    state: State<<R::Target as Construction>::Hash>,
}

impl<R: Deref<Target: Construction>> core::fmt::Debug for Stream<R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Stream({} bytes)", self.bytes())
    }
}

/// The state of the message so far. Wiped on drop.
struct State<H: Hash> {
    sum: H::Sum,
    /// Bytes absorbed.
    at: u64,
    /// The bytes after them, at most a block. The buffer may be larger.
    held: H::BlockBuffer,
    block: usize,
    held_bytes: usize,
    /// The message grew over the limit. A bool, not an `Option<Error>`, whose unused bytes would
    /// keep old stack contents.
    over: bool,
}

// A derive would require `H: Clone`.
impl<H: Hash> Clone for State<H> {
    fn clone(&self) -> Self {
        let &State { ref sum, at, ref held, block, held_bytes, over } = self;
        State { sum: sum.clone(), at, held: held.clone(), block, held_bytes, over }
    }
}

impl<H: Hash> Drop for State<H> {
    fn drop(&mut self) {
        self.sum.zeroize();
        self.held.as_mut()[..self.block].zeroize();
    }
}

impl<R: Deref<Target: Construction>> Stream<R> {
    /// Starts an empty message under a nonce; `&()` for a deterministic MAC.
    #[inline]
    pub fn new(mac: R, nonce: &<R::Target as Construction>::Nonce) -> Self {
        let state = State::new(&*mac, nonce);
        Stream { mac, nonce: *nonce, state }
    }

    /// Appends `data` to the message. Beyond the MAC's limit, [`tag`](Stream::tag) returns an
    /// error.
    #[inline]
    pub fn update(&mut self, data: &[u8]) -> &mut Self {
        let hash = self.mac.hash();
        let state = &mut self.state;
        let at = state.at + state.held_bytes as u64;
        if !state.over {
            state.over = check_length(hash, at, data.into()).is_err();
        }
        if !state.over {
            let room = hash.block() - state.held_bytes;
            if data.len() < room + <R::Target as Construction>::Hash::LAST_BLOCK_DISTINCT as usize {
                state.hold(data);
            } else {
                state.absorb(hash, data);
            }
        }
        self
    }

    /// Returns the number of bytes so far, up to the limit.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.state.at + self.state.held_bytes as u64
    }

    /// Returns the tag of the message.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message is over the MAC's limit.
    #[inline]
    pub fn tag(mut self) -> Result<Tag, Error> {
        self.finalize()
    }

    /// Returns the tag in place: a move would leave a copy of the secret in memory.
    #[inline]
    pub(crate) fn finalize(&mut self) -> Result<Tag, Error> {
        self.within_limit()?;
        let (mac, nonce, state) = (&*self.mac, &self.nonce, &mut self.state);
        let tail = Bits::from(&state.held.as_mut()[..state.held_bytes]);
        let (sum, at, pad) = (&state.sum, state.at, &mut Default::default());
        construction::finalize(mac, nonce, pad, sum, at, tail)
    }

    /// Restarts with an empty message under the same nonce. The old state is wiped.
    #[cfg(feature = "rustcrypto")]
    pub(crate) fn restart(&mut self) {
        self.state = State::new(&*self.mac, &self.nonce);
    }

    /// Refuses a message over the MAC's limit.
    fn within_limit(&self) -> Result<(), Error> {
        let limit_bits = self.mac.hash().limit_bits();
        if self.state.over { Err(Error::TooLong { limit_bits }) } else { Ok(()) }
    }

    /// Returns a second stream that starts with the same bytes, under the same nonce. If the MAC
    /// needs a nonce, **tag only one of the two streams**, unless both end with the same bytes: two
    /// tags under one nonce help to forge others, see [`NonceSequence`](crate::NonceSequence). A
    /// stream of a deterministic MAC is also `Clone`.
    #[inline]
    pub fn fork(&self) -> Self
    where
        R: Clone,
    {
        Stream { mac: self.mac.clone(), nonce: self.nonce, state: self.state.clone() }
    }

    /// Checks the message's tag in constant time.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the tag of the message, of the MAC's own length.
    #[inline]
    pub fn verify(self, tag: &Tag) -> Result<(), Mismatch> {
        matches(self.tag(), tag)
    }
}

impl<H: Hash> State<H> {
    /// The state of an empty message.
    #[inline(always)]
    fn new<M: Construction<Hash = H> + ?Sized>(mac: &M, nonce: &M::Nonce) -> Self {
        let (sum, held, block) = (mac.begin(nonce), mac.hash().new_buffer(), mac.hash().block());
        State { sum, at: 0, held, block, held_bytes: 0, over: false }
    }

    fn hold(&mut self, data: &[u8]) {
        let free = &mut self.held.as_mut()[self.held_bytes..];
        free[..data.len()].copy_from_slice(data);
        self.held_bytes += data.len();
    }

    /// Absorbs the held bytes and all whole blocks of `data`, together more than the buffer can
    /// hold.
    fn absorb(&mut self, hash: &H, mut data: &[u8]) {
        if self.held_bytes > 0 {
            let (fill, rest) = data.split_at(hash.block() - self.held_bytes);
            self.hold(fill);
            let (sum, at, blocks) = (&mut self.sum, self.at, &self.held.as_mut()[..hash.block()]);
            construction::absorb(hash, sum, at, blocks);
            self.at += hash.block() as u64;
            self.held_bytes = 0;
            data = rest;
        }
        let cut = absorbable_len(hash, data.into());
        let (sum, at, blocks) = (&mut self.sum, self.at, &data[..cut]);
        construction::absorb(hash, sum, at, blocks);
        self.at += cut as u64;
        self.hold(&data[cut..]);
    }
}

/// The purpose in the associated data of a saved stream.
#[cfg(feature = "save")]
const PURPOSE: &[u8] = b"stream 1";

#[cfg(feature = "save")]
impl<R: Deref<Target: Construction<Hash: Hash<Sum: Save>>>> Stream<R> {
    /// Seals the state of the message so far, with the nonce. [`restore`](Stream::restore)
    /// continues from here, in another process, on another machine or level.
    ///
    /// If the MAC needs a nonce, **tag only one of the streams that start with these bytes**: this
    /// one, or one restored copy, once. Finishing a saved state twice uses its nonce twice, see
    /// [`NonceSequence`](crate::NonceSequence). The seal cannot distinguish an old saved state from
    /// the latest one.
    ///
    /// ```
    /// use tagmac::save::Sealer;
    /// use tagmac::{PmacAes128, Stream};
    /// let mac = PmacAes128::new(&[7; 16]);
    /// let sealer = Sealer::new("PMAC-AES128", &[7; 16]);
    /// let mut stream = mac.stream();
    /// stream.update(b"before ");
    /// let saved = stream.save(&sealer)?;
    ///
    /// let mut stream = Stream::restore(&mac, &sealer, &saved)?;
    /// stream.update(b"and after");
    /// assert_eq!(stream.tag()?, mac.tag(b"before and after")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SaveError::NoSavedState`] for the UMAC of 1999, whose PRF has already processed the
    /// message, [`SaveError::Mac`] with [`Error::TooLong`] if the message is over the MAC's limit,
    /// or with [`Error::NoRandomBytes`] if the system's random generator failed.
    pub fn save(&self, sealer: &Sealer) -> Result<Vec<u8>, SaveError> {
        self.save_with(sealer, &[PURPOSE])
    }

    /// Restores a saved stream of this MAC under this key. Only the sealer distinguishes keys and
    /// MACs: use one sealer for each, with the MAC's name.
    ///
    /// # Errors
    ///
    /// [`SaveError::Seal`] if the state was altered or sealed by another sealer,
    /// [`SaveError::Saved`] if the MAC has another block size, nonce or tag length.
    pub fn restore(mac: R, sealer: &Sealer, saved: &[u8]) -> Result<Self, SaveError> {
        Stream::restore_with(mac, sealer, &[PURPOSE], saved)
    }

    /// As [`save`](Stream::save), with additional associated data.
    pub(crate) fn save_with(
        &self,
        sealer: &Sealer,
        associated_data: &[&[u8]],
    ) -> Result<Vec<u8>, SaveError> {
        self.within_limit()?;
        let (mac, state) = (&*self.mac, &self.state);
        let (mut out, mut held) = (Writer::default(), state.held.clone());
        out.number(state.block as u64).number(mac.output_bits() as u64);
        out.length_prefixed(self.nonce.as_bytes());
        out.number(state.at).length_prefixed(&held.as_mut()[..state.held_bytes]);
        held.as_mut()[..state.held_bytes].zeroize();
        Save::save(&state.sum, &mut out)?;
        sealer.seal(associated_data, out.as_bytes())
    }

    /// As [`restore`](Stream::restore), with additional associated data.
    pub(crate) fn restore_with(
        mac: R,
        sealer: &Sealer,
        associated_data: &[&[u8]],
        saved: &[u8],
    ) -> Result<Self, SaveError> {
        let opened = sealer.open(associated_data, saved)?;
        let stream = Stream::read(mac, &mut Reader::new(&opened));
        let stream: Self = stream.ok_or(SaveError::Saved { expected: "a stream of this MAC" })?;
        check_length(stream.mac.hash(), stream.bytes(), Bits::from(&[]))?;
        Ok(stream)
    }

    fn read(mac: R, input: &mut Reader<'_>) -> Option<Self> {
        let (hash, block) = (mac.hash(), mac.hash().block());
        let expected = [block as u64, mac.output_bits() as u64];
        ([input.number()?, input.number()?] == expected).then_some(())?;
        let nonce = Nonce::from_slice(input.length_prefixed()?).ok()?;
        let (at, bytes) = (input.number()?, input.length_prefixed()?);
        // Only hashes that treat the last block differently hold back a full block.
        let most = block - !<R::Target as Construction>::Hash::LAST_BLOCK_DISTINCT as usize;
        let whole = at % block as u64 == 0 && at.checked_add(bytes.len() as u64).is_some();
        (whole && bytes.len() <= most).then_some(())?;
        let sum = Save::load(input, 0..at)?;
        input.is_empty().then_some(())?;
        let mut state =
            State { sum, at, held: hash.new_buffer(), block, held_bytes: 0, over: false };
        state.hold(bytes);
        Some(Stream { mac, nonce, state })
    }
}

impl<R: Deref<Target: Construction<Nonce = ()>> + Clone> Clone for Stream<R> {
    fn clone(&self) -> Self {
        self.fork()
    }
}

#[cfg(feature = "std")]
impl<R: Deref<Target: Construction>> std::io::Write for Stream<R> {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.update(data).within_limit().map_err(std::io::Error::other)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
