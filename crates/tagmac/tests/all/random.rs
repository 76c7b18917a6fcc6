//! Tests properties with random keys, messages and cuts.

use proptest::collection::vec;
use proptest::prelude::*;
use tagmac::cipher::Aes128;
use tagmac::hazmat::{Hash, Part};
use tagmac::isa::Level;
use tagmac::{
    Bits, EliMac, LightMac, LightMacAes128, Mac, Pmac, PmacAes128, Poly1305Aes, Stream, Umac64,
    Umac128, UmacNonce,
};

/// Asserts that a message streamed in pieces, or joined from parts, has its one-shot tag.
fn holds<M: Mac>(mac: &M, nonce: &M::Nonce, message: &[u8], cuts: &[usize]) {
    let block = mac.hash().block();
    let expected = mac.tag_with(nonce, message).expect("within the limit");
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (message.len() + 1)).collect();
    ends.sort();
    let mut stream = Stream::new(mac, nonce);
    let mut start = 0;
    for &end in &ends {
        stream.update(&message[start..end]);
        start = end;
    }
    stream.update(&message[start..]);
    assert!(stream.tag() == Ok(expected), "streamed");

    let whole = message.len().saturating_sub(1) / block;
    let mut part = Part::new(mac.hash(), 0, &[]).expect("aligned");
    let mut start = 0;
    for end in ends.iter().map(|end| end / block).filter(|end| *end <= whole) {
        let next =
            Part::new(mac.hash(), (start * block) as u64, &message[start * block..end * block]);
        part = part.join(mac.hash(), &next.expect("aligned")).expect("neighbours");
        start = end;
    }
    assert!(part.finish(mac, nonce, &message[start * block..]) == Ok(expected), "joined");
}

proptest! {
    #[test]
    fn any_cuts_give_the_one_shot_tag(
        k1: [u8; 16],
        k2: [u8; 16],
        nonce: [u8; 16],
        s in 2usize..=8,
        cached in 0usize..2000,
        message in vec(any::<u8>(), 0..3000),
        cuts in vec(any::<usize>(), 0..6),
    ) {
        for level in Level::all() {
            holds(&Pmac::<Aes128>::with_level(&k1, level), &(), &message, &cuts);
            let light = LightMac::<Aes128>::with_level(&k1, &k2, 8 * s, level).expect("16 to 64 bits");
            holds(&light, &(), &message, &cuts);
            let elimac = EliMac::with_level(&k1, &k2, level);
            let tag = elimac.tag(&message);
            let elimac = elimac.with_cache(cached);
            prop_assert!(elimac.tag(&message) == tag);
            holds(&elimac, &(), &message, &cuts);
            let both = [k1, k2].concat().try_into().expect("32 bytes");
            holds(&Poly1305Aes::with_level(&both, level), &nonce, &message, &cuts);
            let nonce = UmacNonce::from(nonce);
            let (umac64, umac128) = (Umac64::with_level(&k1, level), Umac128::with_level(&k1, level));
            for message in [&message[..], &message.repeat(4)] {
                holds(&umac64, &nonce, message, &cuts);
                holds(&umac128, &nonce, message, &cuts);
            }
        }
    }

    #[test]
    fn bits_past_the_end_do_not_matter(
        key: [u8; 16],
        message in vec(any::<u8>(), 1..200),
        unused in 1usize..8,
        flips: u8,
    ) {
        let mac = PmacAes128::new(&key);
        let bits = message.len() * 8 - unused;
        let mut other = message.clone();
        *other.last_mut().expect("a byte") ^= flips & !(0xff << unused);
        let tag = mac.tag(Bits::new(&message, bits).expect("as many bytes"));
        prop_assert!(mac.tag(Bits::new(&other, bits).expect("as many bytes")) == tag);
        prop_assert!(mac.tag(&message) != tag);
    }

    #[test]
    fn every_flipped_bit_is_seen(
        key: [u8; 16],
        mut message in vec(any::<u8>(), 1..500),
        place: prop::sample::Index,
        bit in 0u8..8,
    ) {
        let mac = LightMacAes128::new(&key, &[9; 16], 24).expect("s = 24");
        let tag = mac.tag(&message).expect("within the limit");
        let place = place.index(message.len());
        message[place] ^= 1 << bit;
        prop_assert!(mac.verify(&message, &tag).is_err());
    }
}
