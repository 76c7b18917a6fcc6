//! Poly1305 with numbers around 2^130 - 5, and with keys that take special paths.

use super::*;

/// A key for one message uses powers of r that it computes on the way. As in `registry`, a wrong
/// answer would move it to a lower level.
#[test]
fn a_key_for_one_message_is_the_same_on_all_levels() {
    let key: [u8; 32] = std::array::from_fn(|i| (11 * i + 3) as u8);
    let on = |level| Poly1305::with_level(&key, level);
    let portable = on(Level::all().next().expect("the portable level"));
    for level in Level::all() {
        assert!(on(level).hash().level() == level, "{level}");
        let r = key.first_chunk().expect("16 of 32 bytes");
        assert!(Poly1305Hash::with_level(r, level).level() == level, "{level}");
        for blocks in (0..24).chain([31, 32, 33, 39, 40, 41, 63, 64, 65, 71, 72, 73, 80, 129, 260])
        {
            for length in [16 * blocks, 16 * blocks + 1, 16 * blocks + 15] {
                let message = message(length);
                let expected = portable.tag(&message).expect("whole bytes");
                assert!(on(level).tag(&message) == Ok(expected), "{level}, {length} bytes");
                let mac = on(level);
                let mut stream = mac.stream();
                message.chunks(16 * 37 + 3).for_each(|piece| _ = stream.update(piece));
                assert!(stream.tag() == Ok(expected), "{level}, {length} bytes in pieces");
            }
        }
    }
}

/// Sums are numbers mod p that may exceed p, and parts compare by value.
#[test]
fn a_sum_above_the_prime_is_the_same() {
    let mac = macs("POLY1305-AES").pop().expect("the best level");
    let parts = mac.parts().expect("it has parts");
    for blocks in [0, 1, 2, 3, 8, 40] {
        let blocks = message(16 * blocks);
        let part = parts.new_part(0, &blocks).expect("whole blocks");
        let mut saved = Writer::with_capacity(100);
        parts.save(&part, &mut saved).expect("its own");
        let mut limbs: Vec<u64> = (saved.as_bytes().len() - 24..saved.as_bytes().len())
            .step_by(8)
            .map(|at| u64::from_le_bytes(saved.as_bytes()[at..][..8].try_into().expect("8 bytes")))
            .collect();
        let is_same = |limbs: &[u64]| {
            let mut bytes = saved.as_bytes()[..saved.as_bytes().len() - 24].to_vec();
            limbs.iter().for_each(|limb| bytes.extend(limb.to_le_bytes()));
            let load = || parts.load(&mut Reader::new(&bytes)).expect("a number below 2^131");
            let part = parts.new_part(0, &blocks).expect("whole blocks");
            let tags = [part, load()].map(|part| parts.finish(part, &[7; 16], b""));
            let is_same = tags[0] == tags[1];
            assert_eq!(parts.check(&load(), &blocks).is_ok(), is_same);
            is_same
        };
        assert!(is_same(&limbs) && limbs[2] < 4);
        // p is 2^130 - 5.
        let (low, carry) = limbs[0].overflowing_add(u64::MAX - 4);
        let (middle, more) = limbs[1].overflowing_add(u64::MAX);
        let (middle, again) = middle.overflowing_add(carry as u64);
        limbs = vec![low, middle, limbs[2] + 3 + more as u64 + again as u64];
        assert!(is_same(&limbs), "{} bytes", blocks.len());
        limbs[0] ^= 1;
        assert!(!is_same(&limbs), "{} bytes", blocks.len());
        // From 2^131 on it cannot be a saved sum.
        let length = saved.as_bytes().len();
        let mut bytes = saved.as_bytes().to_vec();
        bytes[length - 8..].copy_from_slice(&8u64.to_le_bytes());
        assert!(parts.load(&mut Reader::new(&bytes)).is_err());
    }
}

/// With r = 1 the hash is the sum of the blocks. Here it ranges from below p to above p, and above
/// 2^130.
#[test]
fn hashes_around_the_prime_are_reduced() {
    let algorithm = Algorithm::from_name("POLY1305-AES").expect("a name");
    let mut key = [7; 32];
    key[16..].copy_from_slice(&1u128.to_le_bytes());
    let macs = Level::all()
        .map(|level| AnyMac::with_options(algorithm, &key, 128, level).expect("its own key"));
    let macs: Vec<AnyMac> = macs.collect();
    let pad = |mac: &AnyMac, nonce: &[u8]| {
        let tag = mac.tag(nonce, b"").expect("the empty message");
        u128::from_le_bytes(tag.as_bytes().try_into().expect("16 bytes"))
    };
    // c_1 + c_2 = 2^130 - 2 - less = p + 3 - less, and a block of `more` and a one after it.
    for (less, more) in (0..16).flat_map(|less| [(less, None), (less, Some(0u8)), (less, Some(9))])
    {
        let mut message = u128::MAX.to_le_bytes().to_vec();
        message.extend((u128::MAX - less).to_le_bytes());
        message.extend(more);
        // Mod p, and then mod 2^128: the sum is below 2p.
        let above = 3 - less as i128 + more.map_or(0, |more| 256 + more as i128);
        let expected = if above < 0 { (above - 5) as u128 } else { above as u128 };
        for mac in &macs {
            for count in [1, 4, 8, 9, 16, 17, 24, 31] {
                let nonces: Vec<_> = (0..count).map(|i| [i as u8; 16]).collect();
                let nonces: Vec<&[u8]> = nonces.iter().map(<[u8; 16]>::as_slice).collect();
                let mut tags = vec![Tag::default(); count];
                mac.tag_many(&nonces, &vec![&message[..]; count], &mut tags).expect("short");
                for (tag, nonce) in tags.iter().zip(nonces) {
                    let expected = expected.wrapping_add(pad(mac, nonce)).to_le_bytes();
                    let on = mac.level();
                    assert!(tag.as_bytes() == expected, "{on:?}: {count} of {less}, {more:?}");
                    assert!(mac.tag(nonce, &message) == Ok(*tag), "{on:?}: {less}, {more:?}");
                }
            }
        }
    }
}
