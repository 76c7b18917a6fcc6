//! What stands in the memory of a context: a key, a nonce, and a message so far.
//!
//! Nettle's contract: a context is plain memory of the caller, which nobody frees and which may be
//! copied at any time. So it holds no pointer and needs no alignment. It is no larger than Nettle's:
//! programs that were compiled with Nettle's headers give no more. So what is derived from a key has
//! no room in it. Each thread keeps that of the keys it used last, wiped when others take their place
//! or the thread ends: deriving takes longer than the tag of a packet, and there are programs that
//! set the key for each packet.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

use subtle::ConstantTimeEq;
use tagmac::cipher::Aes128;
use tagmac::hazmat::{Construction, Hash};
use tagmac::isa::{Isa, Kernel};
use tagmac::{Bits, Nonce, Poly1305Aes, Tag};
use tagmac_border::{Failure, ensure};
use zeroize::Zeroize;

/// A MAC that Nettle has too, with a key of `KEY` bytes.
pub trait Shim<const KEY: usize>: Construction<Hash: Hash<Sum: Copy>> + 'static {
    /// Tells a context with a key of this MAC from that of another, and from other memory.
    const MAGIC: u64;
    /// The bytes of Nettle's context on 64-bit machines. A later Nettle may have more.
    const ROOM: usize;

    fn under(key: &[u8; KEY]) -> Self;
}

impl<const T: usize> Shim<16> for tagmac::Umac<Aes128, T> {
    const MAGIC: u64 =
        u64::from_be_bytes(*[b"no  umac", b"umac  32", b"umac  64", b"umac  96", b"umac 128"][T]);
    const ROOM: usize = [0, 2392, 2520, 2640, 2768][T];

    fn under(key: &[u8; 16]) -> Self {
        tagmac::Umac::new(key)
    }
}

impl Shim<32> for Poly1305Aes {
    const MAGIC: u64 = u64::from_be_bytes(*b"poly key");
    const ROOM: usize = 272;

    fn under(key: &[u8; 32]) -> Self {
        Poly1305Aes::new(key)
    }
}

/// UMAC with a tag of `T` words.
pub type Umac<const T: usize> = Context<tagmac::Umac<Aes128, T>, 16, 2048>;
/// Poly1305-AES. It holds some blocks, so that small pieces are not absorbed one by one.
pub type Poly1305 = Context<Poly1305Aes, 32, 160>;

type Sum<M> = <<M as Construction>::Hash as Hash>::Sum;

/// A number that stands anywhere.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Anywhere<T: Copy>(T);

/// What a context holds, of no alignment, because a copy may stand anywhere. `HELD` is a number of whole
/// blocks.
#[repr(C)]
pub struct Context<M: Shim<KEY>, const KEY: usize, const HELD: usize> {
    mark: Anywhere<u64>,
    key: [u8; KEY],
    nonce: [u8; 16],
    nonce_bytes: Anywhere<usize>,
    /// The hash of the first `at` bytes of the message, whole blocks.
    sum: Anywhere<Sum<M>>,
    at: Anywhere<u64>,
    /// The bytes after them.
    held: [u8; HELD],
    held_bytes: Anywhere<usize>,
}

/// Adds whole blocks.
struct Absorb<'a, M: Construction> {
    mac: &'a M,
    sum: &'a mut Sum<M>,
    at: u64,
    blocks: &'a [u8],
}

impl<M: Construction> Kernel for Absorb<'_, M> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.mac.hash().absorb(isa, self.sum, self.at, self.blocks);
    }
}

/// Closes the hash and makes the tag.
struct Close<'a, M: Construction> {
    mac: &'a M,
    nonce: M::Nonce,
    sum: &'a Sum<M>,
    at: u64,
    tail: &'a [u8],
}

impl<M: Construction> Kernel for Close<'_, M> {
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        let digest = self.mac.hash().finish(isa, self.sum, self.at, Bits::from(self.tail));
        let mut pad = M::PadCache::default();
        let tag = self.mac.finalize_tag(isa, &self.nonce, &mut pad, digest);
        pad.zeroize();
        tag
    }
}

/// Adds whole blocks that start at byte `at`; where the next one starts.
fn absorb<M: Construction>(mac: &M, sum: &mut Sum<M>, at: u64, blocks: &[u8]) -> u64 {
    mac.hash().level().run(Absorb { mac, sum, at, blocks });
    at + blocks.len() as u64
}

/// A MAC under a key.
struct Kept<M, const KEY: usize> {
    key: [u8; KEY],
    mac: M,
}

impl<M, const KEY: usize> Drop for Kept<M, KEY> {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

/// Keys that a thread keeps: those of some connections, in both directions.
const KEPT: usize = 8;

thread_local! {
    /// MACs that were used lately, the last one first.
    static RECENT: RefCell<Vec<Rc<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// A MAC of a key, in a frame that lies where the stack is wiped.
#[inline(never)]
fn made<M: Shim<KEY>, const KEY: usize>(key: &[u8; KEY]) -> Rc<Kept<M, KEY>> {
    Rc::new(Kept { key: *key, mac: M::under(key) })
}

/// The MAC under a key.
fn mac_of<M: Shim<KEY>, const KEY: usize>(key: &[u8; KEY]) -> Rc<Kept<M, KEY>> {
    let find = |recent: &RefCell<Vec<Rc<dyn Any>>>| {
        let mut recent = recent.borrow_mut();
        let (place, kept) = recent.iter().enumerate().find_map(|(place, kept)| {
            let kept = kept.clone().downcast::<Kept<M, KEY>>().ok()?;
            bool::from(key.ct_eq(&kept.key)).then_some((place, kept))
        })?;
        recent[..=place].rotate_right(1);
        Some(kept)
    };
    // A thread that ends keeps nothing.
    RECENT.try_with(find).ok().flatten().unwrap_or_else(|| {
        let kept = made(key);
        // What was moved to its place is still on the stack.
        tagmac::wipe_stack::<{ 16 << 10 }>();
        let _ = RECENT.try_with(|recent| {
            let mut recent = recent.borrow_mut();
            recent.truncate(KEPT - 1);
            recent.insert(0, kept.clone());
        });
        kept
    })
}

impl<M: Shim<KEY>, const KEY: usize, const HELD: usize> Context<M, KEY, HELD> {
    const FITS: () =
        assert!(size_of::<Self>() <= M::ROOM && align_of::<Self>() == 1 && HELD.is_multiple_of(16));

    /// Writes a context of a key; the nonce is 16 bytes of zero.
    ///
    /// # Errors
    ///
    /// For null pointers.
    ///
    /// # Safety
    ///
    /// There is room for a context, and there are `KEY` bytes.
    pub unsafe fn set_key(at: *mut u8, key: *const u8) -> Result<(), Failure> {
        const { Self::FITS };
        ensure(!at.is_null(), "expected a context, found a null pointer")?;
        // SAFETY: the caller gives the bytes of a key.
        let key = unsafe { tagmac_border::bytes("the key", key, KEY) }?;
        let key = key.first_chunk().expect("the bytes of a key");
        let kept = mac_of::<M, KEY>(key);
        // In place: a context that is moved leaves a key on the stack.
        // SAFETY: the caller gives room. Zeros are numbers, of which sums are too, and a context needs
        // no alignment.
        let context = unsafe {
            at.write_bytes(0, size_of::<Self>());
            &mut *at.cast::<Self>()
        };
        context.mark.0 = M::MAGIC;
        context.key = *key;
        context.nonce_bytes.0 = 16;
        context.sum.0 = kept.mac.hash().empty();
        Ok(())
    }

    /// The context at an address changes.
    ///
    /// # Errors
    ///
    /// If it has no key, or one of another MAC: contexts of shorter tags are smaller.
    ///
    /// # Safety
    ///
    /// A context of this kind is there, or eight bytes of other memory, and nobody else uses it.
    pub unsafe fn change(at: *mut u8, body: impl FnOnce(&mut Self)) -> Result<(), Failure> {
        ensure(!at.is_null(), "expected a context, found a null pointer")?;
        // SAFETY: the caller's word; any bytes are numbers.
        let mark = unsafe { at.cast::<u64>().read_unaligned() };
        ensure(
            mark == M::MAGIC,
            "expected a context with a key, found one without, or one of another MAC",
        )?;
        // SAFETY: the mark says that `set_key` wrote a context here, or into what was copied to here,
        // and it needs no alignment.
        body(unsafe { &mut *at.cast() });
        Ok(())
    }

    /// Sets the nonce of the message that is under way: 1 to 16 bytes, or what the MAC takes.
    pub fn set_nonce(&mut self, nonce: &[u8]) {
        self.nonce = [0; 16];
        self.nonce[..nonce.len()].copy_from_slice(nonce);
        self.nonce_bytes.0 = nonce.len();
    }

    /// Adds to the message.
    pub fn update(&mut self, mut data: &[u8]) {
        let room = HELD - self.held_bytes.0;
        if data.len() < room {
            return self.hold(data);
        }
        let mac = &mac_of::<M, KEY>(&self.key).mac;
        let mut sum = self.sum.0;
        if self.held_bytes.0 > 0 {
            let (fill, rest) = data.split_at(room);
            self.hold(fill);
            self.at.0 = absorb(mac, &mut sum, self.at.0, &self.held);
            self.held_bytes.0 = 0;
            data = rest;
        }
        let (blocks, rest) = data.split_at(data.len() / HELD * HELD);
        self.at.0 = absorb(mac, &mut sum, self.at.0, blocks);
        self.sum.0 = sum;
        sum.zeroize();
        self.hold(rest);
    }

    fn hold(&mut self, data: &[u8]) {
        let held_bytes = self.held_bytes.0;
        self.held[held_bytes..][..data.len()].copy_from_slice(data);
        self.held_bytes.0 = held_bytes + data.len();
    }

    /// The tag; then the next nonce, and no message.
    pub fn digest(&mut self) -> Tag {
        let mac = &mac_of::<M, KEY>(&self.key).mac;
        let (mut sum, mut at, held_bytes) = (self.sum.0, self.at.0, self.held_bytes.0);
        let block = mac.hash().block();
        let (blocks, tail) = self.held[..held_bytes].split_at(held_bytes / block * block);
        if !blocks.is_empty() {
            at = absorb(mac, &mut sum, at, blocks);
        }
        let nonce = &mut self.nonce[..self.nonce_bytes.0];
        let this = M::Nonce::from_slice(nonce).expect("a nonce of the MAC's length");
        let tag = mac.hash().level().run(Close { mac, nonce: this, sum: &sum, at, tail });
        sum.zeroize();
        // Big-endian, and from all ones to zero.
        nonce.iter_mut().rev().any(|byte| {
            *byte = byte.wrapping_add(1);
            *byte != 0
        });
        self.sum.0 = mac.hash().empty();
        (self.at.0, self.held_bytes.0) = (0, 0);
        tag
    }
}
