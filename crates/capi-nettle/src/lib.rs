//! UMAC under Nettle's names, `nettle_umac{32,64,96,128}_{set_key,set_nonce,update,digest}`, so that
//! programs that load Nettle at run time can load this in its place.
//!
//! Nettle's contract: a context is plain memory of the caller, which nobody frees and which may be
//! copied at any time. So it holds no pointer and needs no alignment. It is no larger than Nettle's: `struct umac32_ctx` to `umac128_ctx` have 2392 to
//! 2768 bytes on 64-bit machines, and programs that were compiled with Nettle's headers give no
//! more. So the keys that RFC 4418 derives from the 16 bytes of the key have no room in it. Each
//! thread keeps those of the keys it used last, wiped when others take their place or the thread
//! ends: deriving them takes longer than the tag of a packet, and there are programs that set the
//! key for each packet.
//!
//! Calls cannot fail. On a length or an order that Nettle's own assertions refuse, this library
//! writes a line to standard error and ends the process, as they do; so it does with a context that
//! never had a key.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_int;
use std::rc::Rc;

use subtle::ConstantTimeEq;
use tagmac::hazmat::{Construction, Hash, UmacHash, UmacPad, UmacSum};
use tagmac::isa::{Isa, Kernel};
use tagmac::{Bits, Nonce, Tag, Umac, UmacNonce, cipher::Aes128};
use tagmac_border::{Failure, bytes, ensure, guard};
use zeroize::Zeroize;

/// Bytes of a block of UMAC's hash.
const BLOCK: usize = 2048;

/// Tells a context with a key from other memory.
const MAGIC: u64 = u64::from_be_bytes(*b"umac key");

/// What a context holds, for a tag of `T` words. Packed, because a copy may stand anywhere.
#[repr(C, packed)]
struct Context<const T: usize> {
    mark: u64,
    key: [u8; 16],
    nonce: [u8; 16],
    nonce_bytes: u64,
    /// The hash of the first `at` bytes of the message, whole blocks.
    sum: UmacSum<T>,
    at: u64,
    /// The bytes after them.
    held: [u8; BLOCK],
    held_bytes: usize,
}

/// Nettle's contexts on 64-bit machines, by words of the tag; a later Nettle may have larger ones.
const ROOM: [usize; 5] = [0, 2392, 2520, 2640, 2768];

/// Adds whole blocks.
struct Absorb<'a, const T: usize> {
    hash: &'a UmacHash<T>,
    sum: &'a mut UmacSum<T>,
    at: u64,
    blocks: &'a [u8],
}

impl<const T: usize> Kernel for Absorb<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.hash.absorb(isa, self.sum, self.at, self.blocks);
    }
}

/// Closes the hash and makes the tag.
struct Close<'a, const T: usize> {
    mac: &'a Umac<Aes128, T>,
    nonce: UmacNonce,
    sum: &'a UmacSum<T>,
    at: u64,
    tail: &'a [u8],
}

impl<const T: usize> Kernel for Close<'_, T> {
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        let digest = self.mac.hash().finish(isa, self.sum, self.at, Bits::from(self.tail));
        let mut pad = UmacPad::default();
        let tag = self.mac.finalize_tag(isa, &self.nonce, &mut pad, digest);
        pad.zeroize();
        tag
    }
}

/// UMAC under keys that were used lately, the last one first, for any number of words.
type Recent = Vec<([u8; 16], Rc<dyn Any>)>;

/// Keys that a thread keeps: those of some connections, in both directions.
const KEPT: usize = 8;

/// UMAC under a key.
fn umac<const T: usize>(key: &[u8; 16]) -> Rc<Umac<Aes128, T>> {
    thread_local! {
        static RECENT: RefCell<Recent> = const { RefCell::new(Vec::new()) };
    }
    let find = |recent: &RefCell<Recent>| {
        let mut recent = recent.borrow_mut();
        let (place, mac) = recent.iter().enumerate().find_map(|(place, (other, mac))| {
            let mac = mac.clone().downcast().ok()?;
            bool::from(key.ct_eq(other)).then_some((place, mac))
        })?;
        recent[..=place].rotate_right(1);
        Some(mac)
    };
    let keep = |recent: &RefCell<Recent>, mac: &Rc<Umac<Aes128, T>>| {
        let mut recent = recent.borrow_mut();
        if recent.len() == KEPT {
            recent.pop().expect("a key").0.zeroize();
        }
        recent.insert(0, (*key, mac.clone()));
    };
    // A thread that ends keeps nothing.
    RECENT.try_with(find).ok().flatten().unwrap_or_else(|| {
        let mac = Rc::new(Umac::new(key));
        let _ = RECENT.try_with(|recent| keep(recent, &mac));
        mac
    })
}

impl<const T: usize> Context<T> {
    const FITS: () = assert!(size_of::<Self>() <= ROOM[T]);

    /// Begins in cleared memory.
    fn begin(&mut self, key: &[u8; 16]) {
        self.mark = MAGIC;
        self.key = *key;
        self.nonce_bytes = 16;
        self.sum = umac::<T>(key).hash().empty();
    }

    fn update(&mut self, mut data: &[u8]) {
        let room = BLOCK - self.held_bytes;
        if data.len() < room {
            return self.hold(data);
        }
        let mac = &*umac::<T>(&self.key);
        let mut sum = self.sum;
        if self.held_bytes > 0 {
            let (fill, rest) = data.split_at(room);
            self.hold(fill);
            self.at = absorb(mac, &mut sum, self.at, &self.held);
            self.held_bytes = 0;
            data = rest;
        }
        let (blocks, rest) = data.split_at(data.len() / BLOCK * BLOCK);
        self.at = absorb(mac, &mut sum, self.at, blocks);
        self.sum = sum;
        sum.zeroize();
        self.hold(rest);
    }

    fn hold(&mut self, data: &[u8]) {
        let held_bytes = self.held_bytes;
        self.held[held_bytes..][..data.len()].copy_from_slice(data);
        self.held_bytes += data.len();
    }

    /// The tag; then the next nonce, and no message.
    fn digest(&mut self) -> Tag {
        let mac = &*umac::<T>(&self.key);
        let (mut sum, at, held_bytes) = (self.sum, self.at, self.held_bytes);
        let nonce = &mut self.nonce[..self.nonce_bytes as usize];
        let this = UmacNonce::from_slice(nonce).expect("1 to 16 bytes");
        let tail = &self.held[..held_bytes];
        let tag = mac.hash().level().run(Close { mac, nonce: this, sum: &sum, at, tail });
        sum.zeroize();
        // Big-endian, and from all ones to zero.
        nonce.iter_mut().rev().any(|byte| {
            *byte = byte.wrapping_add(1);
            *byte != 0
        });
        self.sum = mac.hash().empty();
        (self.at, self.held_bytes) = (0, 0);
        tag
    }
}

/// Adds whole blocks that start at byte `at`; where the next one starts.
fn absorb<const T: usize>(
    mac: &Umac<Aes128, T>,
    sum: &mut UmacSum<T>,
    at: u64,
    blocks: &[u8],
) -> u64 {
    let hash = mac.hash();
    hash.level().run(Absorb { hash, sum, at, blocks });
    at + blocks.len() as u64
}

/// Runs a call. What it cannot do, and a panic, ends the process: there is no other answer.
fn call(name: &str, body: impl FnOnce() -> Result<(), Failure>) {
    if let Err(failure) = guard(body) {
        eprintln!("{name}: {}", failure.into_c().to_string_lossy());
        std::process::abort();
    }
}

/// The context at an address changes.
///
/// # Safety
///
/// A context of this `T` is there, or memory as large that is no context, and nobody else uses it.
unsafe fn change<const T: usize>(
    context: *mut u8,
    body: impl FnOnce(&mut Context<T>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    const { Context::<T>::FITS };
    ensure(!context.is_null(), "expected a context, found a null pointer")?;
    // SAFETY: the caller's word; any bytes are numbers.
    let mark = unsafe { context.cast::<u64>().read_unaligned() };
    ensure(mark == MAGIC, "expected a context with a key, found one without")?;
    // SAFETY: the mark says that `set_key` wrote a context here, or into what was copied to here,
    // and it needs no alignment.
    body(unsafe { &mut *context.cast() })
}

macro_rules! umac {
    ($words:literal: $set_key:ident $set_nonce:ident $update:ident $digest:ident $size:ident
        $asyncssh_size:ident) => {
        /// Makes a context of a key of 16 bytes; the nonce is 16 bytes of zero.
        ///
        /// # Safety
        ///
        /// As with Nettle: room for a context, and 16 bytes of key.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_key(context: *mut u8, key: *const u8) {
            call(stringify!($set_key), || {
                ensure(!context.is_null(), "expected a context, found a null pointer")?;
                // SAFETY: the caller gives 16 bytes of key.
                let key = unsafe { bytes("the key", key, 16) }?;
                // SAFETY: the caller gives room. Zeros are a context, and it needs no alignment.
                let context = unsafe {
                    context.write_bytes(0, size_of::<Context<$words>>());
                    &mut *context.cast::<Context<$words>>()
                };
                context.begin(key.try_into().expect("16 bytes"));
                Ok(())
            });
        }

        /// Sets the nonce of the message that is under way: 1 to 16 bytes.
        ///
        /// # Safety
        ///
        /// As with Nettle: a context, and as many bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_nonce(context: *mut u8, length: usize, nonce: *const u8) {
            call(stringify!($set_nonce), || {
                let expected = format_args!("expected a nonce of 1 to 16 bytes, found {length}");
                ensure((1..=16).contains(&length), expected)?;
                // SAFETY: the caller gives a context and the nonce's bytes.
                unsafe {
                    let nonce = bytes("the nonce", nonce, length)?;
                    change::<$words>(context, |context| {
                        context.nonce = [0; 16];
                        context.nonce[..length].copy_from_slice(nonce);
                        context.nonce_bytes = length as u64;
                        Ok(())
                    })
                }
            });
        }

        /// Adds to the message.
        ///
        /// # Safety
        ///
        /// As with Nettle: a context, and as many bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $update(context: *mut u8, length: usize, data: *const u8) {
            call(stringify!($update), || {
                // SAFETY: the caller gives a context and the data's bytes.
                unsafe {
                    let data = bytes("the message", data, length)?;
                    change::<$words>(context, |context| {
                        context.update(data);
                        Ok(())
                    })
                }
            });
        }

        /// Writes the first `length` bytes of the tag, goes on to the next nonce, and begins a
        /// message.
        ///
        /// # Safety
        ///
        /// As with Nettle: a context, and room for as many bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $digest(context: *mut u8, length: usize, digest: *mut u8) {
            call(stringify!($digest), || {
                const MAX: usize = 4 * $words;
                ensure(
                    (1..=MAX).contains(&length),
                    format_args!("expected a digest of 1 to {MAX} bytes, found {length}"),
                )?;
                ensure(!digest.is_null(), "expected room for a digest, found a null pointer")?;
                // SAFETY: the caller gives a context, and room for the digest.
                unsafe {
                    change::<$words>(context, |context| {
                        let tag = context.digest();
                        std::ptr::copy_nonoverlapping(tag.as_bytes().as_ptr(), digest, length);
                        Ok(())
                    })
                }
            });
        }

        /// Bytes of a context.
        #[unsafe(no_mangle)]
        pub extern "C" fn $size() -> c_int {
            size_of::<Context<$words>>() as c_int
        }

        /// The same under the name that asyncssh asks for.
        #[unsafe(no_mangle)]
        pub extern "C" fn $asyncssh_size() -> c_int {
            $size()
        }
    };
}

umac!(1: nettle_umac32_set_key nettle_umac32_set_nonce nettle_umac32_update nettle_umac32_digest
    nettle_umac32_ctx_size nettle_umac32__ctx_size);
umac!(2: nettle_umac64_set_key nettle_umac64_set_nonce nettle_umac64_update nettle_umac64_digest
    nettle_umac64_ctx_size nettle_umac64__ctx_size);
umac!(3: nettle_umac96_set_key nettle_umac96_set_nonce nettle_umac96_update nettle_umac96_digest
    nettle_umac96_ctx_size nettle_umac96__ctx_size);
umac!(4: nettle_umac128_set_key nettle_umac128_set_nonce nettle_umac128_update
    nettle_umac128_digest nettle_umac128_ctx_size nettle_umac128__ctx_size);
