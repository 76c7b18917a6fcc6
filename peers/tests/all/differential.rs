//! Compares tagmac with nettle and OpenSSL on random messages, and on long ones through every call.
//! Seeds are fixed.

use peers::{NettlePoly1305Aes, NettleUmac, OpensslPoly1305, OpensslPoly1305Aes};
use tagmac::hazmat::{Hash, Part};
use tagmac::isa::Level;
use tagmac::{Mac, Nonce, Poly1305, Poly1305Aes, Stream, Umac32, Umac64, Umac96, Umac128, threads};
use tagmac_any::{Algorithm, AnyMac};

/// Random numbers from a fixed seed: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 1) as usize % limit
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let words = (0..length.div_ceil(8)).flat_map(|_| self.next().to_le_bytes());
        words.take(length).collect()
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.bytes(N).try_into().expect("as many as asked for")
    }

    /// Returns a length up to 5000 bytes: any, or at most two bytes from an edge.
    fn length(&mut self) -> usize {
        match self.below(4) {
            0 => self.below(5001),
            1 => self.below(300),
            _ => {
                let edge = [16, 32, 64, 128, 512, 1024, 2048][self.below(7)];
                (edge * self.below(4900 / edge + 1) + self.below(5)).saturating_sub(2)
            }
        }
    }

    /// Returns a message: mostly random, else a repeated byte, or random words mixed with the
    /// greatest ones.
    fn message(&mut self, length: usize) -> Vec<u8> {
        let mut message = self.bytes(length);
        match self.below(8) {
            0 => message.fill(0xff),
            1 => message.fill(0),
            2 => {
                for block in message.chunks_mut(16) {
                    if self.below(2) == 0 {
                        block.fill(0xff);
                    }
                }
            }
            _ => {}
        }
        message
    }
}

const NAMES: [&str; 5] = ["UMAC-32", "UMAC-64", "UMAC-96", "UMAC-128", "POLY1305-AES"];

/// Returns nettle's tag.
fn nettle(name: &str, key: &[u8], nonce: &[u8], message: &[u8]) -> Vec<u8> {
    if name == "POLY1305-AES" {
        let mut tag = [0; 16];
        let mut mac = NettlePoly1305Aes::new(key.try_into().expect("32 bytes"));
        mac.tag(nonce.try_into().expect("16 bytes"), message, &mut tag);
        return tag.into();
    }
    let bits: usize = name.strip_prefix("UMAC-").expect("UMAC").parse().expect("a number");
    let mut tag = vec![0; bits / 8];
    NettleUmac::new(key.try_into().expect("16 bytes"), bits / 8).tag(nonce, message, &mut tag);
    tag
}

/// Tags ten thousand messages, each under its own key and nonce, on every level.
#[test]
fn random_messages() {
    const MESSAGES: usize = 10_000;
    let mut random = Random(1);
    let levels: Vec<Level> = Level::all().collect();
    for i in 0..MESSAGES {
        let (key, nonce): ([u8; 32], [u8; 16]) = (random.array(), random.array());
        let length = random.length();
        let message = random.message(length);
        let cut = random.below(length + 1);
        for name in NAMES {
            let algorithm = Algorithm::from_name(name).expect("in the registry");
            let key = &key[..algorithm.new_key_bytes()];
            let lengths = algorithm.nonce_bytes();
            let nonce = &nonce[..lengths.start() + i % (lengths.end() - lengths.start() + 1)];
            let expected = nettle(name, key, nonce, &message);
            for &level in &levels {
                let at = || format!("message {i}: {name} on {level}, {length} bytes");
                let mac = AnyMac::with_options(algorithm, key, 8 * expected.len(), level)
                    .expect("its key");
                let tag = mac.tag(nonce, &message).expect("its nonce");
                assert!(tag.as_bytes() == expected, "{}", at());
                let mut stream = mac.stream(nonce).expect("its nonce");
                stream.update(&message[..cut]);
                stream.update(&message[cut..]);
                assert!(stream.tag() == Ok(tag), "{}, cut at {cut}", at());
            }
        }
    }
}

/// Cuts a message at `cuts` random places and joins the parts in random grouping.
fn joined<M: Mac>(
    mac: &M,
    nonce: &M::Nonce,
    message: &[u8],
    cuts: usize,
    random: &mut Random,
) -> Vec<u8> {
    let (hash, block) = (mac.hash(), mac.hash().block());
    let blocks = message.len() / block;
    let mut ends: Vec<usize> = (0..cuts).map(|_| random.below(blocks + 1) * block).collect();
    ends.sort();
    let mut start = 0;
    let mut parts = vec![Part::new(hash, 0, &[]).expect("nothing")];
    for end in ends {
        parts.push(Part::new(hash, start as u64, &message[start..end]).expect("whole blocks"));
        start = end;
    }
    while parts.len() > 1 {
        let place = random.below(parts.len() - 1);
        let right = parts.remove(place + 1);
        let left = parts.remove(place);
        parts.insert(place, left.join(hash, &right).expect("neighbours"));
    }
    let whole = parts.pop().expect("one part");
    let tag = whole.finish(mac, nonce, &message[start..]).expect("within the limit");
    tag.as_bytes().into()
}

/// Tags a long message through every call.
fn every_way<M: Mac>(mac: &M, nonce: &[u8], message: &[u8], expected: &[u8], at: &str) {
    let nonce = M::Nonce::from_slice(nonce).expect("its nonce");
    let mut random = Random(message.len() as u64);
    let tag = mac.tag_with(&nonce, message).expect("within the limit");
    assert!(tag.as_bytes() == expected, "{at}");
    for count in [2, 3] {
        assert!(threads::tag(mac, &nonce, message, count) == Ok(tag), "{at}, {count} threads");
    }
    let mut stream = Stream::new(mac, &nonce);
    let mut left = message;
    while !left.is_empty() {
        let (piece, after) = left.split_at((1 + random.below(3 << 20)).min(left.len()));
        stream.update(piece);
        left = after;
    }
    assert!(stream.tag() == Ok(tag), "{at}, streamed");
    for cuts in [1, 7, 40] {
        let found = joined(mac, &nonce, message, cuts, &mut random);
        assert!(found == expected, "{at}, {cuts} cuts");
    }
}

/// Goes past byte 2^24, where UMAC changes to POLY-128.
#[test]
fn long_messages() {
    let mut random = Random(2);
    let others: Vec<Level> = Level::all().filter(|level| *level != Level::best()).collect();
    for (i, length) in [17 << 20, (17 << 20) + 1, 40 << 20].into_iter().enumerate() {
        // An odd length, so that the last chunk is not whole.
        let message = random.bytes(length - 777 * (i % 2));
        for (j, name) in NAMES.into_iter().enumerate() {
            let key: [u8; 32] = random.array();
            let nonce: [u8; 16] = random.array();
            let (k, _) = key.split_first_chunk::<16>().expect("32 bytes");
            let other = others.get((i + j) % others.len().max(1)).copied();
            for level in [Some(Level::best()), other].into_iter().flatten() {
                let at = format!("{name} on {level}, {} bytes", message.len());
                let check = |key: &[u8]| nettle(name, key, &nonce, &message);
                let (m, at) = (&message, at.as_str());
                match name {
                    "UMAC-32" => every_way(&Umac32::with_level(k, level), &nonce, m, &check(k), at),
                    "UMAC-64" => every_way(&Umac64::with_level(k, level), &nonce, m, &check(k), at),
                    "UMAC-96" => every_way(&Umac96::with_level(k, level), &nonce, m, &check(k), at),
                    "UMAC-128" => {
                        every_way(&Umac128::with_level(k, level), &nonce, m, &check(k), at)
                    }
                    _ => every_way(
                        &Poly1305Aes::with_level(&key, level),
                        &nonce,
                        m,
                        &check(&key),
                        at,
                    ),
                }
            }
        }
    }
}

/// Compares with OpenSSL: random keys and messages, and those that make numbers large.
#[test]
fn poly1305_of_openssl() {
    let mut random = Random(3);
    let mut openssl = OpensslPoly1305::new();
    let levels: Vec<Level> = Level::all().collect();
    for i in 0..10_000 {
        let mut key: [u8; 32] = random.array();
        match i % 8 {
            0 => key[..16].fill(0xff),
            1 => key = [0xff; 32],
            2 => key[..16].fill(0),
            3 => key[1..16].fill(0),
            4 => key[..15].fill(0),
            _ => {}
        }
        let length = random.length();
        let message = if i % 3 == 0 { vec![0xff; length] } else { random.message(length) };
        let expected = openssl.tag(&key, &message);
        for &level in &levels {
            let tag = Poly1305::with_level(&key, level).tag(&message).expect("no limit");
            assert!(tag.as_bytes() == expected, "message {i} on {level}, {length} bytes");
        }
        // For Poly1305-AES, r is the second half, and s comes from AES.
        let (r, s) = key.split_first_chunk::<16>().expect("32 bytes");
        let key: [u8; 32] = [s, r].concat().try_into().expect("32 bytes");
        let nonce = random.array();
        let expected = OpensslPoly1305Aes::new(&key).tag(&nonce, &message);
        for &level in &levels {
            let tag =
                Poly1305Aes::with_level(&key, level).tag_with(&nonce, &message).expect("no limit");
            assert!(tag.as_bytes() == expected, "Poly1305-AES, message {i} on {level}");
        }
    }
}

/// Residues near 0, 2^128 and 2^130 - 5. With r = 1 the hash is a sum of blocks, which can reach
/// values that random messages do not.
#[test]
fn poly1305_at_the_edges_of_the_field() {
    let mut openssl = OpensslPoly1305::new();
    let levels: Vec<Level> = Level::all().collect();
    let ends = [0u128, 1, 2, 4, 5, 6, 7, 1 << 127, 1 << 64, (1 << 64) - 1];
    for r in [1u128, 2, 4, 0x0ffffffc_0ffffffc_0ffffffc_0fffffff] {
        for blocks in [1, 2, 3, 4, 5, 8, 9, 12, 13, 16, 17, 33, 40, 41, 64, 100] {
            for end in ends {
                for (fill, last) in [(0xff, end), (0xff, end.wrapping_neg()), (0, end)] {
                    let mut message = vec![fill; 16 * blocks];
                    message[16 * (blocks - 1)..].copy_from_slice(&last.to_le_bytes());
                    for s in [[0; 16], [0xff; 16]] {
                        let key: [u8; 32] =
                            [r.to_le_bytes(), s].concat().try_into().expect("32 bytes");
                        let expected = openssl.tag(&key, &message);
                        for &level in &levels {
                            let tag =
                                Poly1305::with_level(&key, level).tag(&message).expect("no limit");
                            assert!(
                                tag.as_bytes() == expected,
                                "r = {r:x} on {level}, {blocks} blocks of {fill:x}, {last:x}"
                            );
                        }
                    }
                }
            }
        }
    }
}
