//! Tags messages between inaccessible pages, and at every position in a cache line: the tag must be
//! the same. Reading a byte outside the message ends the program, even if the tag would be right.

use std::ptr;
use std::slice;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use tagmac::cipher::Present80;
use tagmac::isa::Level;
use tagmac::{EliMac, LightMac, LightMacAes128, Mac, PmacAes128, Poly1305Aes, Tag};
use tagmac::{Umac32, Umac128, UmacNonce};

/// At least as large as a page of any CPU.
const PAGE: usize = 1 << 16;

/// An accessible page between two inaccessible ones.
struct Guarded(*mut u8);

impl Guarded {
    fn new() -> Guarded {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: the system chooses an unused address.
        let all = unsafe { mmap_anonymous(ptr::null_mut(), 3 * PAGE, access, flags) };
        let all = all.expect("three pages");
        for guard in [all, all.wrapping_byte_add(2 * PAGE)] {
            // SAFETY: nothing refers to these pages, which were made above.
            unsafe { mprotect(guard, PAGE, MprotectFlags::empty()) }.expect("a guard");
        }
        Guarded(all.cast())
    }

    /// Places the message at byte `at` of the page.
    fn place(&mut self, at: usize, message: &[u8]) -> &[u8] {
        assert!(at + message.len() <= PAGE);
        // SAFETY: the page is mapped, and borrowed as a whole.
        let page = unsafe { slice::from_raw_parts_mut(self.0.wrapping_add(PAGE), PAGE) };
        let here = &mut page[at..at + message.len()];
        here.copy_from_slice(message);
        here
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the pages any more.
        unsafe { munmap(self.0.cast(), 3 * PAGE) }.expect("pages");
    }
}

/// Enough messages to share vectors.
const COPIES: usize = 40;

/// Tags a message under a nonce: alone, and together with copies of it.
type Tags<'a> = &'a dyn Fn(&[u8]) -> [Tag; COPIES + 1];

fn tags<M: Mac>(mac: &M, nonce: M::Nonce, message: &[u8]) -> [Tag; COPIES + 1] {
    let mut tags = [Tag::default(); COPIES + 1];
    mac.tag_many_with(&[nonce; COPIES], &[message; COPIES], &mut tags[..COPIES])
        .expect("short messages");
    tags[COPIES] = mac.tag_with(&nonce, message).expect("a short message");
    tags
}

/// One MAC of each kind on each level.
fn each_kind(check: &mut dyn FnMut(&str, Level, Tags<'_>)) {
    let (k1, k2, nonce) = ([1; 16], [2; 16], UmacNonce::from(3));
    for level in Level::all() {
        let mac = PmacAes128::with_level(&k1, level);
        check("PMAC", level, &|message| tags(&mac, (), message));
        let mac = LightMacAes128::with_level(&k1, &k2, 40, level).expect("s = 40");
        check("LightMAC", level, &|message| tags(&mac, (), message));
        let mac = LightMac::<Present80>::with_level(&[1; 10], &[2; 10], 16, level);
        let mac = mac.expect("s = 16");
        check("LightMAC with PRESENT", level, &|message| tags(&mac, (), message));
        let mac = EliMac::with_level(&k1, &k2, level);
        check("EliMAC", level, &|message| tags(&mac, (), message));
        let mac = Poly1305Aes::with_level(&[4; 32], level);
        check("Poly1305-AES", level, &|message| tags(&mac, [5; 16], message));
        let mac = Umac32::with_level(&k1, level);
        check("UMAC-32", level, &|message| tags(&mac, nonce, message));
        let mac = Umac128::with_level(&k1, level);
        check("UMAC-128", level, &|message| tags(&mac, nonce, message));
    }
}

fn message(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 167 + i / 256) as u8).collect()
}

#[test]
fn no_byte_before_or_behind_a_message_is_read() {
    let mut page = Guarded::new();
    let edges = [96, 127, 128, 129, 255, 256, 257, 300, 511, 1025, 2100];
    each_kind(&mut |name, level, tags| {
        for bytes in (0..66).chain(edges) {
            let message = message(bytes);
            let expected = tags(&message);
            for at in [0, PAGE - bytes] {
                let found = tags(page.place(at, &message));
                assert!(found == expected, "{name} on {level}: {bytes} bytes from {at}");
            }
        }
    });
}

#[test]
fn a_message_may_begin_anywhere() {
    let mut page = Guarded::new();
    each_kind(&mut |name, level, tags| {
        for bytes in [16, 200, 1100] {
            let message = message(bytes);
            let expected = tags(&message);
            for at in 0..64 {
                let found = tags(page.place(at, &message));
                assert!(found == expected, "{name} on {level}: {bytes} bytes from {at}");
            }
        }
    });
}
