//! The life of the library's types, each in a separate heap block, until all is dropped.

use std::hint::black_box;

use tagmac::edit::Tree;
use tagmac::hashes::{Poly1305Hash, Uhash64, Uhash128, Universal};
use tagmac::hazmat::{Construction, Hash, Part};
use tagmac::isa::Level;
use tagmac::{
    Cmac, CmacStream, EliMac, LightMac, Mac, Nonce, NonceSequence, Pmac, Poly1305, Poly1305Aes,
    Tag, Umac32, Umac64, Umac96, Umac128, cipher,
};
use tagmac_papers::{Cbc3, Rc6, Umac99, Umac99Set, WideBlock};

use crate::Learn;

/// A type, and the use of a value of it.
pub struct Typed {
    pub name: &'static str,
    pub key: usize,
    pub play: fn(&[u8], Level, &mut Learn<'_>),
}

pub const ALL: [Typed; 26] = [
    Typed { name: "PmacAes128", key: 16, play: pmac::<cipher::Aes128> },
    Typed { name: "PmacAes192", key: 24, play: pmac::<cipher::Aes192> },
    Typed { name: "PmacAes256", key: 32, play: pmac::<cipher::Aes256> },
    Typed { name: "Pmac<Present80>", key: 10, play: pmac::<cipher::Present80> },
    Typed { name: "Pmac<Present128>", key: 16, play: pmac::<cipher::Present128> },
    Typed { name: "Pmac<Rc6>", key: 16, play: pmac::<Rc6> },
    Typed { name: "LightMacAes128", key: 32, play: lightmac::<cipher::Aes128> },
    Typed { name: "LightMacAes192", key: 48, play: lightmac::<cipher::Aes192> },
    Typed { name: "LightMacAes256", key: 64, play: lightmac::<cipher::Aes256> },
    Typed { name: "LightMac<Present80>", key: 20, play: lightmac::<cipher::Present80> },
    Typed { name: "LightMac<Present128>", key: 32, play: lightmac::<cipher::Present128> },
    Typed {
        name: "EliMac",
        key: 32,
        play: |key, level, learn| all(make_elimac(key, level), learn),
    },
    Typed {
        name: "Poly1305Aes",
        key: 32,
        play: |key, level, learn| all(Box::new(Poly1305Aes::with_level(bytes(key), level)), learn),
    },
    Typed {
        name: "Umac32",
        key: 16,
        play: |key, level, learn| all(Box::new(Umac32::with_level(bytes(key), level)), learn),
    },
    Typed {
        name: "Umac64",
        key: 16,
        play: |key, level, learn| all(Box::new(Umac64::with_level(bytes(key), level)), learn),
    },
    Typed {
        name: "Umac96",
        key: 16,
        play: |key, level, learn| all(Box::new(Umac96::with_level(bytes(key), level)), learn),
    },
    Typed {
        name: "Umac128",
        key: 16,
        play: |key, level, learn| all(Box::new(Umac128::with_level(bytes(key), level)), learn),
    },
    Typed {
        name: "Umac99, STD-60",
        key: 16,
        play: |key, level, learn| {
            all(Box::new(Umac99::with_level(Umac99Set::Std60, bytes(key), level)), learn);
        },
    },
    Typed {
        name: "Umac99, MMX-60",
        key: 16,
        play: |key, level, learn| {
            all(Box::new(Umac99::with_level(Umac99Set::Mmx60, bytes(key), level)), learn);
        },
    },
    Typed { name: "Cmac<Aes128>", key: 16, play: cmac::<cipher::Aes128> },
    Typed { name: "Cmac<Aes256>", key: 32, play: cmac::<cipher::Aes256> },
    Typed { name: "Cbc3<Aes128>", key: 48, play: cbc3 },
    Typed { name: "Poly1305", key: 32, play: poly1305 },
    Typed {
        name: "Poly1305Hash",
        key: 16,
        play: |key, level, learn| {
            hash(Box::new(Poly1305Hash::with_level(bytes(key), level)), learn)
        },
    },
    Typed {
        name: "Uhash64 and Uhash128",
        key: 16,
        play: |key, level, learn| {
            hash(Box::new(Uhash64::with_level(bytes(key), level)), learn);
            hash(Box::new(Uhash128::with_level(bytes(key), level)), learn);
        },
    },
    Typed { name: "WideBlock<Aes128>", key: 32, play: wide_block },
];

fn bytes<const N: usize>(key: &[u8]) -> &[u8; N] {
    key.try_into().expect("a key of the right length")
}

fn pmac<C>(key: &[u8], level: Level, learn: &mut Learn<'_>)
where
    C: cipher::Cipher<Block: cipher::Field>,
    C::Key: Copy,
    for<'a> &'a C::Key: TryFrom<&'a [u8], Error: std::fmt::Debug>,
{
    let key = <&C::Key>::try_from(key).expect("a key of the right length");
    all(Box::new(Pmac::<C>::with_level(key, level)), learn);
}

fn lightmac<C>(key: &[u8], level: Level, learn: &mut Learn<'_>)
where
    C: cipher::Cipher<Block: cipher::Field>,
    for<'a> &'a C::Key: TryFrom<&'a [u8], Error: std::fmt::Debug>,
{
    let (first, second) = key.split_at(key.len() / 2);
    let first = <&C::Key>::try_from(first).expect("a key of the right length");
    let second = <&C::Key>::try_from(second).expect("a key of the right length");
    all(Box::new(LightMac::<C>::with_level(first, second, 32, level).expect("a counter")), learn);
}

fn make_elimac(key: &[u8], level: Level) -> Box<EliMac> {
    let mac = EliMac::with_level(bytes(&key[..16]), bytes(&key[16..]), level);
    Box::new(mac.with_cache(2000))
}

fn cmac<C>(key: &[u8], level: Level, learn: &mut Learn<'_>)
where
    C: cipher::Cipher<Block: cipher::Field>,
    for<'a> &'a C::Key: TryFrom<&'a [u8], Error: std::fmt::Debug>,
{
    let key = <&C::Key>::try_from(key).expect("a key of the right length");
    let mac = Box::new(Cmac::<C>::with_level(key, level));
    learn();
    black_box(mac.tag(&[0x11; 1000]));
    let mut stream = Box::new(mac.stream());
    stream.update(&[0x11; 333]);
    learn();
    black_box(CmacStream::clone(&stream).tag());
}

fn cbc3(key: &[u8], level: Level, learn: &mut Learn<'_>) {
    let part = |i: usize| bytes(&key[16 * i..16 * (i + 1)]);
    let mac = Cbc3::<cipher::Aes128>::with_level(part(0), part(1), part(2), level);
    let mac = Box::new(mac);
    learn();
    black_box(mac.tag(&[0x11; 1000]));
}

fn poly1305(key: &[u8], level: Level, learn: &mut Learn<'_>) {
    let mac = Box::new(Poly1305::with_level(bytes(key), level));
    learn();
    black_box(mac.tag(&[0x11; 1000]).expect("short"));
}

#[allow(clippy::boxed_local, reason = "the search covers heap blocks")]
fn hash<U: Universal>(hash: Box<U>, learn: &mut Learn<'_>) {
    learn();
    let value = Box::new(hash.value(&[0x11; 5000][..]).expect("short"));
    learn();
    drop(value);
}

fn wide_block(key: &[u8], level: Level, learn: &mut Learn<'_>) {
    let (first, second) = (bytes(&key[..16]), bytes(&key[16..]));
    let cipher = Box::new(WideBlock::<cipher::Aes128>::with_level(first, second, level));
    learn();
    let mut message = [0x11; 1000];
    cipher.encipher(&mut message).expect("two blocks or more");
    black_box(&message);
}

/// Does everything that a MAC supports. Each step has a separate frame, and the stack is wiped
/// before: padding of values that move to the heap would take old stack contents along.
fn all<M: Mac>(mac: Box<M>, learn: &mut Learn<'_>) {
    learn();
    let nonce = M::Nonce::from_slice(&[9; 16][..*M::Nonce::BYTES.end()]).expect("a nonce");
    let long = vec![0x11; 20_000];
    type Step<M> = fn(&M, &<M as Construction>::Nonce, &[u8], &mut Learn<'_>);
    let steps: [Step<M>; 6] = [tags, batch, stream, part, sequence, tree];
    for step in steps {
        tagmac::wipe_stack::<{ 64 << 10 }>();
        black_box(step)(&mac, &nonce, &long, learn);
    }
}

fn tags<M: Mac>(mac: &M, nonce: &M::Nonce, long: &[u8], learn: &mut Learn<'_>) {
    for length in [0, 5, 100, 1000, 5000, 20_000] {
        let tag = mac.tag_with(nonce, &long[..length]).expect("short");
        assert!(mac.verify_with(nonce, &long[..length], &tag).is_ok());
    }
    learn();
}

fn batch<M: Mac>(mac: &M, nonce: &M::Nonce, long: &[u8], _: &mut Learn<'_>) {
    let messages: Vec<&[u8]> = (0..40).map(|i| &long[..30 * i]).collect();
    let nonces = vec![*nonce; messages.len()];
    let mut tags = vec![Tag::default(); messages.len()];
    mac.tag_many_with(&nonces, &messages, &mut tags).expect("short");
    mac.tag_many_with(&nonces, &vec![&long[..100]; tags.len()], &mut tags).expect("short");
}

fn stream<M: Mac>(mac: &M, nonce: &M::Nonce, long: &[u8], learn: &mut Learn<'_>) {
    let mut stream = Box::new(mac.stream_with(nonce));
    stream.update(&long[..7777]);
    learn();
    let mut fork = stream.fork();
    fork.update(&long[7777..]);
    black_box(fork.tag().expect("short"));
}

fn part<M: Mac>(mac: &M, nonce: &M::Nonce, long: &[u8], learn: &mut Learn<'_>) {
    let hash = mac.hash();
    let blocks = (long.len() - 1) / hash.block() * hash.block();
    let part = Box::new(Part::new(hash, 0, &long[..blocks]).expect("blocks"));
    learn();
    drop(part);
    let part = Part::new(hash, 0, &long[..blocks]).expect("blocks");
    black_box(part.finish(mac, nonce, &long[blocks..]).expect("short"));
}

fn sequence<M: Mac>(mac: &M, _: &M::Nonce, long: &[u8], learn: &mut Learn<'_>) {
    let bytes = *M::Nonce::BYTES.end();
    if bytes > 0 {
        let mut sequence = Box::new(NonceSequence::new(mac, bytes).expect("a length"));
        black_box(sequence.tag(&long[..99]).expect("short"));
        learn();
    }
}

fn tree<M: Mac>(mac: &M, nonce: &M::Nonce, long: &[u8], learn: &mut Learn<'_>) {
    let mut tree = Tree::new(mac);
    tree.append(long).expect("short");
    learn();
    black_box(tree.tag(nonce).expect("short"));
}
