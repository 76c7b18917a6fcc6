//! What is timed: a MAC of some library, as applications call it.

use std::hint::black_box;
use std::rc::Rc;

use tagmac::isa::Level;

/// Key material for any engine, which takes as many of its first bytes as its keys have.
pub type Key = [u8; 64];

/// The key that engines start with.
pub const KEY: Key = {
    let mut key = [0; 64];
    let mut i = 0;
    while i < key.len() {
        key[i] = (7 * i + 1) as u8;
        i += 1;
    }
    key
};

/// Key material that differs from key to key.
pub fn numbered(number: usize) -> Key {
    let mut key = KEY;
    key[..8].copy_from_slice(&(number as u64).to_le_bytes());
    key
}

/// What an application does with a MAC.
#[derive(Clone, Copy, PartialEq)]
pub enum Role {
    /// Tags and checks messages, under a nonce that is given.
    Any,
    /// Sends packets under one key: a call gives the next nonce, where the MAC takes one, and the
    /// tag.
    Sender,
}

/// A MAC of tagmac on a level, or of another library.
pub struct Engine {
    /// The MAC's name, and for a peer its library's too: `OpenSSL HMAC-SHA256`.
    pub name: String,
    /// What made it, with its version.
    pub library: String,
    /// The level of an engine of tagmac.
    pub level: Option<Level>,
    /// Cycles per byte that its multiplications or AES rounds cost at least, where it has such.
    pub ceiling: Option<f64>,
    /// The longest message in bytes.
    pub longest: usize,
    /// What it computes: engines of one function give the same tags.
    pub function: String,
    /// What a call does.
    pub call: String,
    /// Whether the tags of one message are the same in each call. Else each call is under the nonce
    /// after the one before it.
    pub repeats: bool,
    /// Bytes of the tables that a ready key has, where they are many.
    pub key_table: usize,
    /// Its calls.
    pub timed: Box<dyn Timed>,
}

/// Whole calls as applications make them, in loops compiled with them: no indirection inside what
/// is timed.
pub trait Timed {
    /// The tag of a message.
    fn tag(&mut self, message: &[u8]) -> Vec<u8>;
    /// The tags that the first calls under the key give, one after the other.
    fn first_tags(&self, message: &[u8], calls: usize) -> Vec<u8>;
    /// That many calls on one message, the key ready.
    fn repeat(&mut self, message: &[u8], calls: usize);
    /// That many calls, each of which writes its tag to the front of the message.
    fn chain(&mut self, message: &mut [u8], calls: usize);
    /// That many times a key made ready and one call under it.
    fn rekey(&mut self, message: &[u8], calls: usize);
    /// Checks a tag that many times, the key ready. The verdict.
    fn verify(&mut self, message: &[u8], tag: &[u8], calls: usize) -> bool;
    /// That many times all from the raw key to the verdict: `verify(a, kr, n, m, mlen)`.
    fn verify_raw(&mut self, message: &[u8], tag: &[u8], calls: usize) -> bool;
    /// One call for each message, the key ready.
    fn each(&mut self, messages: &[&[u8]]);
    /// Checks the tag of each message, the key ready. Whether all are right.
    fn verify_each(&mut self, messages: &[&[u8]], tags: &[Vec<u8>]) -> bool;
    /// The tag of a message under a key.
    fn tag_under(&self, key: &Key, message: &[u8]) -> Vec<u8>;
    /// One call for each message, each under a key that is made ready for it.
    fn each_under(&self, keys: &[Key], messages: &[&[u8]]);
    /// Gets that many keys ready, and gives what `repeat` does going round them.
    fn with_keys(&self, keys: usize) -> Round;
}

/// Writes a tag over the start of a message, which may be shorter. As applications do, which know how
/// long a tag is: of the usual lengths no copy is a call.
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

/// Makes that many calls on a message.
pub type Round = Box<dyn FnMut(&[u8], usize)>;

/// An engine's calls: `make` gets a key ready and gives the call from message to tag. To verify is
/// to make the tag and to compare.
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

/// As [`timed`], where `open` gets a key ready and gives the library's own call from message and
/// tag to verdict.
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

/// Whether two tags are equal, in a time that does not tell where they differ.
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
