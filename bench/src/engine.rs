//! An engine is what the bench times: a MAC of some library, as applications call it.

use std::hint::black_box;
use std::rc::Rc;

use tagmac::isa::Level;

/// Key material. An engine uses its beginning, as long as the engine's key.
pub type Key = [u8; 64];

/// The first key of each engine.
pub const KEY: Key = {
    let mut key = [0; 64];
    let mut i = 0;
    while i < key.len() {
        key[i] = (7 * i + 1) as u8;
        i += 1;
    }
    key
};

/// Returns key material that depends on `number`.
pub fn numbered(number: usize) -> Key {
    let mut key = KEY;
    key[..8].copy_from_slice(&(number as u64).to_le_bytes());
    key
}

/// The ways in which an application uses a MAC.
#[derive(Clone, Copy, PartialEq)]
pub enum Role {
    /// Tags and verifies messages under a nonce that the caller passes.
    Any,
    /// Sends packets under one key: a call returns the next nonce, if the MAC needs one, and the
    /// tag.
    Sender,
}

/// A MAC of tagmac on a level, or a MAC of another library.
pub struct Engine {
    /// The MAC's name; a peer's begins with its library: `OpenSSL HMAC-SHA256`.
    pub name: String,
    /// The library and its version.
    pub library: String,
    /// The level; only tagmac's engines have one.
    pub level: Option<Level>,
    /// The least cycles per byte that its multiplications or AES rounds cost.
    pub ceiling: Option<f64>,
    /// The longest message in bytes.
    pub longest: usize,
    /// The function that it computes. Engines of the same function return the same tags.
    pub function: String,
    /// A description of the call.
    pub call: String,
    /// True if every call returns the same tag for a message. Otherwise each call uses the next
    /// nonce.
    pub repeats: bool,
    /// Bytes of a ready key's tables; zero unless they are large.
    pub key_table: usize,
    /// The calls to time.
    pub timed: Box<dyn Timed>,
}

/// Whole calls as applications make them. The loops are compiled with the calls, so there is no
/// indirection in the part that is timed.
pub trait Timed {
    /// Returns the tag of a message.
    fn tag(&mut self, message: &[u8]) -> Vec<u8>;
    /// Returns the tags of the first `calls` calls under the key, concatenated.
    fn first_tags(&self, message: &[u8], calls: usize) -> Vec<u8>;
    /// Makes `calls` calls on one message, with the key ready.
    fn repeat(&mut self, message: &[u8], calls: usize);
    /// Makes `calls` calls and writes each tag over the beginning of the message.
    fn chain(&mut self, message: &mut [u8], calls: usize);
    /// Sets up a key and makes one call, `calls` times.
    fn rekey(&mut self, message: &[u8], calls: usize);
    /// Verifies a tag `calls` times with the key ready, and returns the verdict.
    fn verify(&mut self, message: &[u8], tag: &[u8], calls: usize) -> bool;
    /// Goes from the raw key to the verdict `calls` times: `verify(a, kr, n, m, mlen)`.
    fn verify_raw(&mut self, message: &[u8], tag: &[u8], calls: usize) -> bool;
    /// Makes one call for each message, with the key ready.
    fn each(&mut self, messages: &[&[u8]]);
    /// Verifies the tag of each message with the key ready, and returns true if all are right.
    fn verify_each(&mut self, messages: &[&[u8]], tags: &[Vec<u8>]) -> bool;
    /// Returns the tag of a message under `key`.
    fn tag_under(&self, key: &Key, message: &[u8]) -> Vec<u8>;
    /// Makes one call for each message, after setting up a key for it.
    fn each_under(&self, keys: &[Key], messages: &[&[u8]]);
    /// Sets up `keys` keys and returns a function that calls them in turn.
    fn with_keys(&self, keys: usize) -> Round;
}

/// Writes a tag over the beginning of a message, which may be shorter than the tag. The usual
/// lengths are constants, as in an application, so that the copy needs no function call.
#[inline(always)]
fn begin_with(message: &mut [u8], tag: &[u8]) {
    if let (Ok(tag), Some(start)) = (<[u8; 16]>::try_from(tag), message.first_chunk_mut()) {
        *start = tag;
    } else if let (Ok(tag), Some(start)) = (<[u8; 32]>::try_from(tag), message.first_chunk_mut()) {
        *start = tag;
    } else if let (Ok(tag), Some(start)) = (<[u8; 8]>::try_from(tag), message.first_chunk_mut()) {
        *start = tag;
    } else if let (Ok(tag), Some(start)) = (<[u8; 4]>::try_from(tag), message.first_chunk_mut()) {
        *start = tag;
    } else {
        let fits = tag.len().min(message.len());
        message[..fits].copy_from_slice(&tag[..fits]);
    }
}

/// Calls an engine on a message, a given number of times.
pub type Round = Box<dyn FnMut(&[u8], usize)>;

/// Wraps an engine's calls. `make` sets up a key and returns the function from message to tag. To
/// verify, the engine makes the tag and compares.
pub fn timed<F, M, T>(make: F) -> Box<dyn Timed>
where
    F: Fn(&Key) -> M + 'static,
    M: FnMut(&[u8]) -> T + 'static,
    T: AsRef<[u8]> + 'static,
{
    let make = Rc::new(make);
    let same = Rc::clone(&make);
    timed_verifying(
        move |key: &Key| make(key),
        move |key: &Key| {
            let mut mac = same(key);
            move |message: &[u8], tag: &[u8]| equal(mac(message).as_ref(), tag)
        },
    )
}

/// Like [`timed`], for a library with its own `verify`: `open` sets up a key and returns the
/// function from message and tag to verdict.
pub fn timed_verifying<F, M, T, G, V>(make: F, open: G) -> Box<dyn Timed>
where
    F: Fn(&Key) -> M + 'static,
    M: FnMut(&[u8]) -> T + 'static,
    T: AsRef<[u8]> + 'static,
    G: Fn(&Key) -> V + 'static,
    V: FnMut(&[u8], &[u8]) -> bool + 'static,
{
    Box::new(OneKey { mac: make(&KEY), make, verifier: open(&KEY), open })
}

/// Compares two tags in constant time.
fn equal(a: &[u8], b: &[u8]) -> bool {
    let differ = a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b));
    black_box(differ) == 0 && a.len() == b.len()
}

struct OneKey<F, M, G, V> {
    make: F,
    mac: M,
    open: G,
    verifier: V,
}

impl<F, M, T, G, V> Timed for OneKey<F, M, G, V>
where
    F: Fn(&Key) -> M + 'static,
    M: FnMut(&[u8]) -> T + 'static,
    T: AsRef<[u8]> + 'static,
    G: Fn(&Key) -> V + 'static,
    V: FnMut(&[u8], &[u8]) -> bool + 'static,
{
    fn tag(&mut self, message: &[u8]) -> Vec<u8> {
        (self.mac)(message).as_ref().to_vec()
    }

    fn first_tags(&self, message: &[u8], calls: usize) -> Vec<u8> {
        let mut mac = (self.make)(&KEY);
        (0..calls).flat_map(|_| mac(message).as_ref().to_vec()).collect()
    }

    fn repeat(&mut self, message: &[u8], calls: usize) {
        for _ in 0..calls {
            black_box((self.mac)(black_box(message)));
        }
    }

    fn chain(&mut self, message: &mut [u8], calls: usize) {
        for _ in 0..calls {
            let tag = (self.mac)(message);
            begin_with(message, tag.as_ref());
        }
    }

    fn rekey(&mut self, message: &[u8], calls: usize) {
        for _ in 0..calls {
            black_box((self.make)(black_box(&KEY))(black_box(message)));
        }
    }

    fn verify(&mut self, message: &[u8], tag: &[u8], calls: usize) -> bool {
        let mut verdict = false;
        for _ in 0..calls {
            verdict = black_box((self.verifier)(black_box(message), black_box(tag)));
        }
        verdict
    }

    fn verify_raw(&mut self, message: &[u8], tag: &[u8], calls: usize) -> bool {
        let mut verdict = false;
        for _ in 0..calls {
            let mut verifier = (self.open)(black_box(&KEY));
            verdict = black_box(verifier(black_box(message), black_box(tag)));
        }
        verdict
    }

    fn each(&mut self, messages: &[&[u8]]) {
        for message in messages {
            black_box((self.mac)(black_box(*message)));
        }
    }

    fn verify_each(&mut self, messages: &[&[u8]], tags: &[Vec<u8>]) -> bool {
        let mut all = true;
        for (message, tag) in messages.iter().zip(tags) {
            all &= black_box((self.verifier)(black_box(*message), black_box(tag)));
        }
        all
    }

    fn tag_under(&self, key: &Key, message: &[u8]) -> Vec<u8> {
        (self.make)(key)(message).as_ref().to_vec()
    }

    fn each_under(&self, keys: &[Key], messages: &[&[u8]]) {
        for (key, message) in keys.iter().zip(messages) {
            black_box((self.make)(black_box(key))(black_box(*message)));
        }
    }

    fn with_keys(&self, keys: usize) -> Round {
        let mut macs: Vec<M> = (0..keys).map(|key| (self.make)(&numbered(key))).collect();
        let mut next = 0;
        Box::new(move |message, calls| {
            for _ in 0..calls {
                black_box(macs[next](black_box(message)));
                next = if next + 1 < macs.len() { next + 1 } else { 0 };
            }
        })
    }
}
