//! Streams at their ends, and two streams with a common start.

use std::io::Write as _;

use tagmac::{Error, LightMacAes128, Mac, PmacAes128, Poly1305Aes, Stream, Tag};
use tagmac::{Umac64, UmacNonce};

/// A check that is generic over the MAC.
trait Check {
    fn check<M: Mac>(&self, mac: &M, nonce: M::Nonce) -> Result<(), Error>;
}

/// Runs a check with one MAC of each kind: with and without a last block that is held back.
fn each_kind(check: &impl Check) {
    let light = LightMacAes128::new(&[1; 16], &[2; 16], 40).expect("s = 40");
    check.check(&PmacAes128::new(&[1; 16]), ()).expect("PMAC");
    check.check(&light, ()).expect("LightMAC");
    check.check(&Poly1305Aes::new(&[1; 32]), [3; 16]).expect("Poly1305-AES");
    check.check(&Umac64::new(&[1; 16]), UmacNonce::from(4)).expect("UMAC-64");
}

fn message(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 167 + i / 256) as u8).collect()
}

struct RefusesOtherTags;

impl Check for RefusesOtherTags {
    fn check<M: Mac>(&self, mac: &M, nonce: M::Nonce) -> Result<(), Error> {
        for bytes in [0, 1, 16, 40] {
            let message = message(bytes);
            let stream = || {
                let mut stream = Stream::new(mac, &nonce);
                stream.update(&message);
                stream
            };
            let tag = mac.tag_with(&nonce, &message)?;
            assert!(stream().verify(&tag).is_ok(), "{bytes} bytes");
            for bit in 0..tag.bits() {
                let mut other = tag.as_bytes().to_vec();
                other[bit / 8] ^= 0x80 >> (bit % 8);
                let other = Tag::new(&other, tag.bits())?;
                assert!(stream().verify(&other).is_err(), "{bytes} bytes, bit {bit}");
            }
            let short = Tag::new(&tag.as_bytes()[..tag.as_bytes().len() - 1], tag.bits() - 8)?;
            assert!(stream().verify(&short).is_err(), "{bytes} bytes, a byte less");
        }
        Ok(())
    }
}

#[test]
fn a_stream_refuses_every_other_tag() {
    each_kind(&RefusesOtherTags);
}

struct ForksGoOnAlone;

impl Check for ForksGoOnAlone {
    fn check<M: Mac>(&self, mac: &M, nonce: M::Nonce) -> Result<(), Error> {
        let block = mac.stream_with(&nonce);
        assert_eq!(block.bytes(), 0);
        for first in [0, 1, 10, 11, 12, 15, 16, 17, 40, 2047, 2048, 2049] {
            let begun = message(first);
            let mut one = mac.stream_with(&nonce);
            one.update(&begun);
            let mut other = one.fork();
            let third = other.fork();
            one.update(b"to the left");
            other.update(b"and to the right, further");
            one.update(b", and on");
            let joined = |end: &[u8]| [&begun[..], end].concat();
            let at = |which: &str| format!("{which}, forked after {first} bytes");
            assert_eq!(third.bytes(), first as u64, "{}", at("the third"));
            assert!(third.tag()? == mac.tag_with(&nonce, &begun)?, "{}", at("the third"));
            let expected = mac.tag_with(&nonce, &joined(b"to the left, and on"))?;
            assert!(one.tag()? == expected, "{}", at("the first"));
            let expected = mac.tag_with(&nonce, &joined(b"and to the right, further"))?;
            assert!(other.tag()? == expected, "{}", at("the second"));
        }
        Ok(())
    }
}

#[test]
fn forks_go_on_alone() {
    each_kind(&ForksGoOnAlone);
}

struct IsAWriter;

impl Check for IsAWriter {
    fn check<M: Mac>(&self, mac: &M, nonce: M::Nonce) -> Result<(), Error> {
        let mut stream = mac.stream_with(&nonce);
        for piece in message(40).chunks(7) {
            assert_eq!(stream.write(piece).expect("within the limit"), piece.len());
            stream.flush().expect("nothing waits");
        }
        assert_eq!(format!("{stream:?}"), "Stream(40 bytes)");
        assert!(stream.tag()? == mac.tag_with(&nonce, &message(40))?);
        Ok(())
    }
}

#[test]
fn a_stream_is_a_writer() {
    each_kind(&IsAWriter);
}

struct EndsWithABlock;

impl Check for EndsWithABlock {
    fn check<M: Mac>(&self, mac: &M, nonce: M::Nonce) -> Result<(), Error> {
        // Blocks of 11 bytes (LightMAC), 16 and 2048 (UMAC): pieces that end at block boundaries
        // and next to them.
        for block in [11, 16, 2048] {
            for bytes in [block, 2 * block, 3 * block] {
                let message = message(bytes);
                let expected = mac.tag_with(&nonce, &message)?;
                for first in [1, 5, block - 1, block] {
                    let (left, right) = message.split_at(first);
                    let (middle, right) = right.split_at(block - first);
                    let mut stream = mac.stream_with(&nonce);
                    stream.update(left).update(middle).update(b"").update(right);
                    assert!(stream.tag()? == expected, "{bytes} bytes, {first} first");
                }
            }
        }
        Ok(())
    }
}

#[test]
fn pieces_may_end_where_a_block_does() {
    each_kind(&EndsWithABlock);
}
