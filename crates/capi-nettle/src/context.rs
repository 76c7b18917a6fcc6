//! The memory of a context: a key, a nonce, and the state of a message.
//!
//! By Nettle's contract a context is plain memory of the caller. Programs may copy it at any time
//! and never free it. So it contains no pointers and needs no alignment. It must not be larger than
//! Nettle's, because programs compiled with Nettle's headers allocate only that size.
//!
//! The keys derived from a key do not fit into it. Each thread caches those of the keys that it
//! used last, because deriving them takes longer than the tag of a packet, and some programs set
//! the key for each packet. They are wiped when others replace them and when the thread ends.

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

/// A MAC that Nettle also has, with a key of `KEY` bytes.
pub trait Shim<const KEY: usize>: Construction<Hash: Hash<Sum: Copy>> + 'static {
    /// Distinguishes contexts of this MAC from those of other MACs and from other memory.
    const MAGIC: u64;
    /// The size of Nettle's context on 64-bit machines. A later Nettle may have larger ones.
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
/// Poly1305-AES. Its buffer has room for several blocks, so that small pieces are hashed together.
pub type Poly1305 = Context<Poly1305Aes, 32, 160>;

type Sum<M> = <<M as Construction>::Hash as Hash>::Sum;

/// A number at any alignment.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Anywhere<T: Copy>(T);

/// A context. It needs no alignment, because a program may copy it to any address. `HELD`, the size
/// of the buffer, is a multiple of the block size.
#[repr(C)]
pub struct Context<M: Shim<KEY>, const KEY: usize, const HELD: usize> {
    mark: Anywhere<u64>,
    key: [u8; KEY],
    nonce: [u8; 16],
    nonce_bytes: Anywhere<usize>,
    /// The hash of the first `at` bytes of the message, which are whole blocks.
    sum: Anywhere<Sum<M>>,
    at: Anywhere<u64>,
    /// The bytes after the first `at`.
    held: [u8; HELD],
    held_bytes: Anywhere<usize>,
}

/// Hashes whole blocks.
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

/// Finalizes the hash and makes the tag.
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

/// Hashes whole blocks that start at byte `at`. Returns the position after them.
fn absorb<M: Construction>(mac: &M, sum: &mut Sum<M>, at: u64, blocks: &[u8]) -> u64 {
    mac.hash().level().run(Absorb { mac, sum, at, blocks });
    at + blocks.len() as u64
}

/// A key and the MAC derived from it.
struct Kept<M, const KEY: usize> {
    key: [u8; KEY],
    mac: M,
}

impl<M, const KEY: usize> Drop for Kept<M, KEY> {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

/// The number of keys that a thread caches: enough for a few connections, in both directions.
const KEPT: usize = 8;

thread_local! {
    /// The MACs used last, most recent first.
    static RECENT: RefCell<Vec<Rc<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Derives a MAC, in a frame on the part of the stack that is wiped afterwards.
#[inline(never)]
fn made<M: Shim<KEY>, const KEY: usize>(key: &[u8; KEY]) -> Rc<Kept<M, KEY>> {
    Rc::new(Kept { key: *key, mac: M::under(key) })
}

/// Returns the MAC of a key, and caches it.
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
    // Without a cache, because the thread is being destroyed, derive it.
    RECENT.try_with(find).ok().flatten().unwrap_or_else(|| {
        let kept = made(key);
        // The move to the heap leaves a copy on the stack.
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

    /// Writes a context with a key; the nonce is 16 zero bytes.
    ///
    /// # Errors
    ///
    /// For null pointers.
    ///
    /// # Safety
    ///
    /// Unless null, `at` has room for a context, and `key` has `KEY` bytes.
    pub unsafe fn set_key(at: *mut u8, key: *const u8) -> Result<(), Failure> {
        const { Self::FITS };
        ensure(!at.is_null(), || "the context is a null pointer")?;
        // SAFETY: the caller guarantees the bytes.
        let key = unsafe { tagmac_border::bytes("the key", key, KEY) }?;
        let key = key.first_chunk().expect("the bytes of a key");
        let kept = mac_of::<M, KEY>(key);
        // Written in place, because moving a context would leave its key on the stack.
        // SAFETY: the
        // caller guarantees the room. Zero bytes are valid numbers and sums, and a context needs no
        // alignment.
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

    /// Changes the context at an address.
    ///
    /// # Errors
    ///
    /// If the context has no key, or one of another MAC. Contexts of MACs with shorter tags are
    /// smaller, so using one would overrun it.
    ///
    /// # Safety
    ///
    /// Unless null, `at` is a context of this type or at least eight other readable bytes. No other
    /// thread uses it.
    pub unsafe fn change(at: *mut u8, body: impl FnOnce(&mut Self)) -> Result<(), Failure> {
        ensure(!at.is_null(), || "the context is a null pointer")?;
        // SAFETY: guaranteed by the caller; any bytes are a valid number.
        let mark = unsafe { at.cast::<u64>().read_unaligned() };
        ensure(
            mark == M::MAGIC,
            || "the context has no key, or belongs to another MAC: call set_key first",
        )?;
        // SAFETY: the mark shows that `set_key` wrote this context, or one that was copied to here.
        // It needs no alignment.
        body(unsafe { &mut *at.cast() });
        Ok(())
    }

    /// Sets the nonce of the current message: 1 to 16 bytes, or the length that the MAC needs.
    pub fn set_nonce(&mut self, nonce: &[u8]) {
        self.nonce = [0; 16];
        self.nonce[..nonce.len()].copy_from_slice(nonce);
        self.nonce_bytes.0 = nonce.len();
    }

    /// Adds data to the message.
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

    /// Returns the tag, increments the nonce, and begins the next message.
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
        // Counts big-endian and wraps from all ones to zero.
        nonce.iter_mut().rev().any(|byte| {
            *byte = byte.wrapping_add(1);
            *byte != 0
        });
        self.sum.0 = mac.hash().empty();
        (self.at.0, self.held_bytes.0) = (0, 0);
        tag
    }
}
