//! All MACs with parts, as an interface for the laws: those of the registry, and those of the
//! library whose parameters have no name there.

use tagmac::cipher::Aes128;
use tagmac::hazmat::{Hash, Part, PartError};
use tagmac::isa::Level;
use tagmac::{Bits, EliMac, Error, LightMac, Mac, Pmac, Poly1305, Tag};
use tagmac_any::{Algorithm, AnyMac, Parts};
use tagmac_papers::{NhShape, Umac99, Umac99Graded, Umac99Parameters, Umac99Prf, Umac99Set};

/// All MACs that have parts, on one level: the rows of the registry, and MACs whose parameters have
/// no name.
pub fn each_mac(level: Level, check: &mut dyn FnMut(&str, &dyn Laws)) {
    for algorithm in Algorithm::all().filter(|one| is_walked(*one)) {
        let key = [key(1), key(99)].concat()[..algorithm.new_key_bytes()].to_vec();
        let bits = algorithm.default_tag_bits();
        let mac = AnyMac::with_options(algorithm, &key, bits, level).expect("its own key");
        check(algorithm.name(), &Named { mac, nonce: vec![0x6e; *algorithm.nonce_bytes().end()] });
    }
    let (k1, k2) = (key(1), key(99));
    let short = Pmac::<Aes128>::with_level(first(&k1), level).with_tag_bits(61);
    check("PMAC-AES128, 61 bits", &under(cut(short), ()));
    for s in [13, 20, 63] {
        let mac = LightMac::<Aes128>::with_level(first(&k1), first(&k2), s, level);
        check(&format!("LIGHTMAC-AES128, s = {s}"), &under(cut(mac), ()));
    }
    let mac = LightMac::<Aes128>::with_level(first(&k1), first(&k2), 24, level);
    check("LIGHTMAC-AES128-S24 in Gray code", &under(cut(mac).with_gray_code(), ()));
    for cached in [1, 16, 100, 512, 4000] {
        let elimac = EliMac::with_level(first(&k1), first(&k2), level).with_cache(cached);
        check(&format!("ELIMAC-AES128, {cached} cached"), &under(elimac, ()));
    }
    check("POLY1305", &under(Poly1305::with_level(first(&k1), level), ()));
    umac99(first(&k1), level, check);
}

/// All rows with parts. Of LightMAC under ciphers other than AES-128, only two counter lengths.
fn is_walked(algorithm: Algorithm) -> bool {
    let repeats = algorithm.family() == "LIGHTMAC"
        && algorithm.cipher() != Some("AES128")
        && ![Some(16), Some(32)].contains(&algorithm.counter_bits());
    algorithm.capabilities().parts && !repeats
}

fn key(seed: u8) -> Vec<u8> {
    (0..64u8).map(|i| seed ^ i.wrapping_mul(7)).collect()
}

fn first<const N: usize>(key: &[u8]) -> &[u8; N] {
    key.first_chunk().expect("a long key")
}

/// Parameters of the UMAC of 1999 that differ from those of the named sets.
fn umac99(key: &[u8; 16], level: Level, check: &mut dyn FnMut(&str, &dyn Laws)) {
    let nonce = *b"8 bytes.";
    let figure = Umac99::with_level(Umac99Set::Figure1, key, level);
    check("UMAC99 of figure 1", &under(figure, nonce));
    let nh = |words, bits| NhShape::new(words, bits).expect("a block");
    let big = nh(512, 64).big_endian().toeplitz(3, 4).expect("three streams");
    let big = Umac99Parameters::new(big, Umac99Prf::Cbc3Aes128);
    check("UMAC99 of 64 bits", &under(big.key_with_level(key, level), nonce));
    let strided = nh(128, 32).strided().and_then(|shape| shape.toeplitz(2, 6));
    let strided = strided.and_then(|shape| shape.two_level(10)).expect("a shape");
    let strided = Umac99Parameters::new(strided, Umac99Prf::HmacSha1).keys_by(Umac99Prf::Cbc3Rc6);
    let strided = strided.min_length_to_hash(100).expect("less than a block");
    let short = cut(strided.key_with_level(key, level).with_tag_bits(88));
    check("UMAC99 of 32 bits, strided, in two levels", &under(short, nonce));
    let third = nh(2048, 16).signed().strided().and_then(|shape| shape.toeplitz(3, 8));
    let third = Umac99Parameters::new(third.expect("a shape"), Umac99Prf::Cbc3Rc6);
    check("UMAC99 of three streams", &under(third.key_with_level(key, level), nonce));
    let graded = Umac99Graded::with_level(Umac99Set::Mmx60.into(), key, level);
    check("UMAC99 Mmx60 with grades", &under(graded.expect("all are hashed"), nonce));
}

/// A MAC and the nonce of all its messages here.
pub struct Under<M: Mac> {
    pub mac: M,
    pub nonce: M::Nonce,
}

pub fn under<M: Mac>(mac: M, nonce: M::Nonce) -> Under<M> {
    Under { mac, nonce }
}

fn cut<M>(mac: Result<M, Error>) -> M {
    mac.expect("a length that the MAC has")
}

/// A MAC under a fixed nonce, as an interface for the laws.
pub trait Laws {
    fn tag(&self, message: Bits<'_>) -> Result<Tag, Error>;
    fn limit(&self) -> u64;
    fn block(&self) -> usize;
    /// True if messages may end within a byte.
    fn bits(&self) -> bool;
    /// The tag from a stream that gets the message in these pieces.
    fn streamed(&self, pieces: &[&[u8]]) -> Result<Tag, Error>;
    /// The tag from parts that end at these offsets, joined left to right or right to left.
    fn joined(
        &self,
        message: &[u8],
        ends: &[usize],
        from_the_right: bool,
    ) -> Result<Tag, PartError>;
}

/// A MAC of the registry and its nonce.
struct Named {
    mac: AnyMac,
    nonce: Vec<u8>,
}

impl Named {
    fn parts(&self) -> Parts<'_> {
        self.mac.parts().expect("a MAC with parts")
    }
}

impl Laws for Named {
    fn tag(&self, message: Bits<'_>) -> Result<Tag, Error> {
        self.mac.tag(&self.nonce, message)
    }

    fn limit(&self) -> u64 {
        self.mac.max_message_bytes().unwrap_or(u64::MAX)
    }

    fn block(&self) -> usize {
        self.parts().block()
    }

    fn bits(&self) -> bool {
        self.mac.algorithm().capabilities().bits
    }

    fn streamed(&self, pieces: &[&[u8]]) -> Result<Tag, Error> {
        let mut stream = self.mac.stream(&self.nonce)?;
        pieces.iter().for_each(|piece| stream.update(piece));
        stream.tag()
    }

    fn joined(
        &self,
        message: &[u8],
        ends: &[usize],
        from_the_right: bool,
    ) -> Result<Tag, PartError> {
        let of = self.parts();
        let new = |at, bytes: &[u8]| of.new_part(at, bytes);
        let (whole, rest) =
            join(message, ends, from_the_right, new, |left, right| of.join(left, right))?;
        of.finish(whole, &self.nonce, rest)
    }
}

/// The part of all bytes up to the last end, joined from one part for each end, and the remaining
/// bytes.
fn join<'m, P>(
    message: &'m [u8],
    ends: &[usize],
    from_the_right: bool,
    new: impl Fn(u64, &[u8]) -> Result<P, PartError>,
    join: impl Fn(P, &P) -> Result<P, PartError>,
) -> Result<(P, &'m [u8]), PartError> {
    let mut start = 0;
    let mut parts = Vec::new();
    for &end in ends {
        parts.push(new(start as u64, &message[start..end])?);
        start = end;
    }
    let whole = if from_the_right {
        let mut right = new(start as u64, &[])?;
        for left in parts.into_iter().rev() {
            right = join(left, &right)?;
        }
        right
    } else {
        let mut left = new(0, &[])?;
        for right in &parts {
            left = join(left, right)?;
        }
        left
    };
    Ok((whole, &message[start..]))
}

impl<M: Mac> Laws for Under<M> {
    fn tag(&self, message: Bits<'_>) -> Result<Tag, Error> {
        self.mac.tag_with(&self.nonce, message)
    }

    fn limit(&self) -> u64 {
        self.mac.hash().limit_bits() / 8
    }

    fn block(&self) -> usize {
        self.mac.hash().block()
    }

    fn bits(&self) -> bool {
        M::Hash::ACCEPTS_BIT_STRINGS
    }

    fn streamed(&self, pieces: &[&[u8]]) -> Result<Tag, Error> {
        let mut stream = self.mac.stream_with(&self.nonce);
        pieces.iter().for_each(|piece| {
            stream.update(piece);
        });
        assert_eq!(stream.bytes(), pieces.iter().map(|piece| piece.len() as u64).sum::<u64>());
        stream.tag()
    }

    fn joined(
        &self,
        message: &[u8],
        ends: &[usize],
        from_the_right: bool,
    ) -> Result<Tag, PartError> {
        let hash = self.mac.hash();
        let new = |at, bytes: &[u8]| Part::new(hash, at, bytes);
        let (whole, rest) = join(message, ends, from_the_right, new, |left: Part<_>, right| {
            left.join(hash, right)
        })?;
        whole.finish(&self.mac, &self.nonce, rest)
    }
}
