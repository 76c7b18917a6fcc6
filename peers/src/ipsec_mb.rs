//! intel-ipsec-mb: CMAC, GMAC, Poly1305 and HMAC in bursts. It chooses the instructions, and runs
//! 8 or 16 messages of CMAC and HMAC side by side.

use std::array;
use std::ffi::{CStr, c_char, c_int};
use std::ptr::{self, NonNull};
use std::rc::Rc;

use crate::burst::Burst;
use crate::info::Library;

/// Bytes of a block. CMAC reads whole ones, also past the end of a message and for an empty one.
const BLOCK: usize = 16;
/// The maximum of messages in a burst.
const MAX_BURST: usize = 128;

/// `struct peers_ipsec_mb`, which is opaque.
#[repr(C)]
struct State([u8; 0]);

unsafe extern "C" {
    safe fn peers_ipsec_mb_version() -> *const c_char;
    safe fn peers_ipsec_mb_new() -> *mut State;
    fn peers_ipsec_mb_free(state: *mut State);
    fn peers_ipsec_mb_burst(
        state: *mut State,
        mac: c_int,
        count: u32,
        keys: *const *const u8,
        nonce: *const u8,
        messages: *const *const u8,
        lengths: *const u64,
        tags: *mut u8,
        tag_length: u64,
    ) -> c_int;
}

/// A manager of jobs. Only one thread uses it.
struct Manager(NonNull<State>);

impl Manager {
    fn new() -> Manager {
        Manager(NonNull::new(peers_ipsec_mb_new()).expect("intel-ipsec-mb: no manager"))
    }

    /// Tags messages, each under its own key.
    fn tag(&self, mac: Mac, keys: &[&[u8]], nonce: &[u8], messages: &[&[u8]], tags: &mut [u8]) {
        let count = messages.len();
        assert!(keys.len() == count && tags.len() == count * mac.tag_bytes);
        assert!(nonce.len() == mac.nonce_bytes);
        assert!(keys.iter().all(|key| key.len() == mac.key_bytes));
        let bursts = keys.chunks(MAX_BURST).zip(messages.chunks(MAX_BURST));
        for ((keys, messages), tags) in bursts.zip(tags.chunks_mut(MAX_BURST * mac.tag_bytes)) {
            let keys: [_; MAX_BURST] =
                array::from_fn(|i| keys.get(i).map_or(ptr::null(), |key| key.as_ptr()));
            let (mut data, mut copies) = ([ptr::null(); MAX_BURST], Vec::new());
            for (at, message) in data.iter_mut().zip(messages) {
                *at = message.as_ptr();
                if message.is_empty() || message.len() % BLOCK != 0 {
                    let mut copy = message.to_vec();
                    copy.resize((message.len() / BLOCK + 1) * BLOCK, 0);
                    *at = copy.as_ptr();
                    copies.push(copy);
                }
            }
            let lengths: [_; MAX_BURST] =
                array::from_fn(|i| messages.get(i).map_or(0, |one| one.len() as u64));
            // SAFETY: the state lives as long as `self`, and no other thread has it. The first
            // `messages.len()` entries, at most MAX_BURST, are keys of the MAC's length, and
            // messages with theirs and a readable last block. The nonce has the MAC's length, and
            // `tags` has room for the tags. All outlive the call, which completes its jobs.
            let answer = unsafe {
                peers_ipsec_mb_burst(
                    self.0.as_ptr(),
                    mac.number,
                    messages.len() as u32,
                    keys.as_ptr(),
                    nonce.as_ptr(),
                    data.as_ptr(),
                    lengths.as_ptr(),
                    tags.as_mut_ptr(),
                    mac.tag_bytes as u64,
                )
            };
            assert!(answer == 0, "intel-ipsec-mb: a burst of {} returned {answer}", mac.name);
        }
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // SAFETY: the state was made in `new`, and only `self` has it.
        unsafe { peers_ipsec_mb_free(self.0.as_ptr()) };
    }
}

/// A MAC of ipsec_mb.c.
#[derive(Clone, Copy)]
struct Mac {
    number: c_int,
    name: &'static str,
    function: &'static str,
    key_bytes: usize,
    nonce_bytes: usize,
    tag_bytes: usize,
}

const fn mac(
    number: c_int,
    name: &'static str,
    function: &'static str,
    [key_bytes, nonce_bytes, tag_bytes]: [usize; 3],
) -> Mac {
    Mac { number, name, function, key_bytes, nonce_bytes, tag_bytes }
}

const MACS: [Mac; 4] = [
    mac(0, "intel-ipsec-mb CMAC-AES128", "CMAC-AES128", [16, 0, 16]),
    mac(1, "intel-ipsec-mb GMAC-AES128", "GMAC-AES128", [16, 12, 16]),
    mac(2, "intel-ipsec-mb Poly1305, a key each", "POLY1305", [32, 0, 16]),
    mac(3, "intel-ipsec-mb HMAC-SHA256", "HMAC-SHA256", [32, 0, 32]),
];

pub(crate) fn all(bursts: &mut Vec<Burst>) {
    // SAFETY: the library returns a C string that lives as long as the process.
    let version = unsafe { CStr::from_ptr(peers_ipsec_mb_version()) };
    let version = version.to_string_lossy().trim_start_matches('v').into();
    let library = Library { name: "intel-ipsec-mb", version };
    let manager = Rc::new(Manager::new());
    let call = "key set-up for each job, IMB_SUBMIT_BURST of 128, IMB_FLUSH_BURST";
    for mac in MACS {
        let lengths = [mac.key_bytes, mac.nonce_bytes, mac.tag_bytes];
        let info = library.info(mac.name, mac.function, lengths, call);
        let manager = Rc::clone(&manager);
        bursts.push(Burst {
            info,
            // The library refuses an empty message for HMAC.
            shortest: usize::from(mac.function == "HMAC-SHA256"),
            tag: Box::new(move |keys, nonce, messages, tags| {
                manager.tag(mac, keys, nonce, messages, tags);
            }),
        });
    }
}
