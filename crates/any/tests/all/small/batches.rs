//! Batches of short tags, and of messages with a raw key each.

use super::*;

/// A batch truncates short tags like a single call. `tags` makes those of a batch, and `tag` makes
/// one.
fn short_tags(tags: impl Fn(&[&[u8]], &mut [Tag]), tag: impl Fn(&[u8]) -> Tag) {
    let messages: Vec<_> = (0..40).map(message).collect();
    for messages in [messages.iter().collect::<Vec<_>>(), vec![&messages[33]; 20]] {
        let messages: Vec<&[u8]> = messages.into_iter().map(Vec::as_slice).collect();
        let mut found = vec![Tag::default(); messages.len()];
        tags(&messages, &mut found);
        for (found, message) in found.iter().zip(messages) {
            let expected = tag(message);
            assert!(*found == expected && found.as_bytes() == expected.as_bytes());
        }
    }
}

#[test]
fn short_tags_are_cut_in_batches() {
    for level in Level::all() {
        for bits in [1, 8, 13, 20, 61, 64, 127, 128] {
            let pmac = Pmac::<Aes128>::with_level(&[1; 16], level).with_tag_bits(bits);
            let pmac = pmac.expect("a length");
            let tags = |all: &[&[u8]], tags: &mut [Tag]| pmac.tag_many(all, tags).expect("short");
            short_tags(tags, |message| pmac.tag(message).expect("short"));
            let light = LightMac::<Aes128>::with_level(&[1; 16], &[2; 16], 32, level);
            let light = light.and_then(|mac| mac.with_tag_bits(bits)).expect("a length");
            let tags = |all: &[&[u8]], tags: &mut [Tag]| light.tag_many(all, tags).expect("short");
            short_tags(tags, |message| light.tag(message).expect("short"));
            let eli = EliMac::with_level(&[1; 16], &[2; 16], level).with_tag_bits(bits);
            let eli = eli.expect("a length");
            let tags = |all: &[&[u8]], tags: &mut [Tag]| eli.tag_many(all, tags).expect("short");
            short_tags(tags, |message| eli.tag(message).expect("short"));
            let cmac = Cmac::<Aes128>::with_level(&[1; 16], level).with_tag_bits(bits);
            let cmac = cmac.expect("a length");
            short_tags(|all, tags| cmac.tag_many(all, tags), |message| cmac.tag(message));
        }
    }
}

/// Compares messages under raw keys with each message under a separate MAC. `tag` makes the tag of
/// one message under a key.
macro_rules! raw_keys {
    ($set:expr, $tag:expr, $key:expr) => {{
        let (set, tag_one, key) = ($set, $tag, $key);
        let check = |lengths: &[usize]| {
            let keys: Vec<_> = (0..lengths.len()).map(|i| key(i as u8)).collect();
            let keys: Vec<_> = keys.iter().map(RawKey::raw).collect();
            let messages: Vec<_> = lengths.iter().map(|length| message(*length)).collect();
            let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            let mut tags = vec![Tag::default(); lengths.len()];
            set.tag_many(&keys, &messages, &mut tags).expect("within the limit");
            for (i, tag) in tags.iter().enumerate() {
                let one = tag_one(keys[i], messages[i]);
                assert!(*tag == one, "{i} of {lengths:?}");
            }
            let mut verdicts = vec![Err(Mismatch); lengths.len()];
            assert_eq!(set.verify_many(&keys, &messages, &tags, &mut verdicts), Ok(()));
            if let Some(last) = tags.last_mut() {
                *last = tag_one(keys[0], b"another");
                let all = set.verify_many(&keys, &messages, &tags, &mut verdicts);
                assert_eq!(all, Err(Mismatch));
                assert_eq!(verdicts.iter().position(Result::is_err), Some(lengths.len() - 1));
            }
        };
        for count in [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 15, 16, 17, 18, 19, 20, 33, 64, 65, 67] {
            check(&vec![3 * count % 49; count]);
            check(&(0..count).map(|i| i * 29 % 83).collect::<Vec<_>>());
            check(&(0..count).map(|i| 33 + i % 15).collect::<Vec<_>>());
        }
        for length in [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 127, 128, 129, 513] {
            check(&[length; 17]);
        }
        // The longest message that is batched, and longer ones among others.
        for length in [263, 264, 265, 395, 396, 397, 494, 495, 496, 527, 528, 529, 600] {
            check(&[5, length, 7, length, length, 9, length, length, 40]);
        }
    }};
}

/// A key as the call takes it.
trait RawKey {
    type Raw<'k>: Copy
    where
        Self: 'k;
    fn raw(&self) -> Self::Raw<'_>;
}

/// One key.
impl<const N: usize> RawKey for [u8; N] {
    type Raw<'k> = &'k [u8; N];

    fn raw(&self) -> &[u8; N] {
        self
    }
}

/// Two keys.
impl RawKey for [[u8; 16]; 2] {
    type Raw<'k> = &'k [[u8; 16]; 2];

    fn raw(&self) -> &[[u8; 16]; 2] {
        self
    }
}

/// A key and a nonce.
impl RawKey for ([u8; 32], [u8; 16]) {
    type Raw<'k> = (&'k [u8; 32], &'k [u8; 16]);

    fn raw(&self) -> (&[u8; 32], &[u8; 16]) {
        (&self.0, &self.1)
    }
}

impl RawKey for ([u8; 16], UmacNonce) {
    type Raw<'k> = (&'k [u8; 16], UmacNonce);

    fn raw(&self) -> (&[u8; 16], UmacNonce) {
        (&self.0, self.1)
    }
}

#[test]
fn raw_keys_of_pmac_are_its_keys() {
    for level in Level::all() {
        let set = RawKeys::<Pmac<Aes128>>::with_level(level);
        let tag = |key: &[u8; 16], message: &[u8]| {
            Pmac::<Aes128>::with_level(key, level).tag(message).expect("no limit")
        };
        raw_keys!(set, tag, |i: u8| [i.wrapping_mul(7); 16]);
        let set = RawKeys::<Pmac<Aes256>>::with_level(level);
        let tag = |key: &[u8; 32], message: &[u8]| {
            Pmac::<Aes256>::with_level(key, level).tag(message).expect("no limit")
        };
        raw_keys!(set, tag, |i: u8| [i.wrapping_mul(7); 32]);
    }
}

#[test]
fn raw_keys_of_lightmac_are_its_keys() {
    for level in Level::all() {
        for s in [8, 12, 32, 64] {
            let set = RawKeys::<LightMac<Aes128>>::with_level(s, level).expect("a counter");
            let tag = |[k1, k2]: &[[u8; 16]; 2], message: &[u8]| {
                let mac = LightMac::<Aes128>::with_level(k1, k2, s, level).expect("a counter");
                mac.tag(message).expect("within the limit")
            };
            raw_keys!(set, tag, |i: u8| [[i; 16], [!i; 16]]);
        }
    }
}

#[test]
fn raw_keys_of_cmac_are_its_keys() {
    for level in Level::all() {
        let set = RawKeys::<Cmac<Aes128>>::with_level(level);
        let tag =
            |key: &[u8; 16], message: &[u8]| Cmac::<Aes128>::with_level(key, level).tag(message);
        raw_keys!(set, tag, |i: u8| [i.wrapping_mul(7); 16]);
        let set = RawKeys::<Cmac<Aes256>>::with_level(level);
        let tag =
            |key: &[u8; 32], message: &[u8]| Cmac::<Aes256>::with_level(key, level).tag(message);
        raw_keys!(set, tag, |i: u8| [i.wrapping_mul(7); 32]);
    }
}

#[test]
fn raw_keys_of_elimac_are_its_keys() {
    for level in Level::all() {
        let set = RawKeys::<EliMac>::with_level(level);
        let tag = |[k1, k2]: &[[u8; 16]; 2], message: &[u8]| {
            EliMac::with_level(k1, k2, level).tag(message).expect("short")
        };
        raw_keys!(set, tag, |i: u8| [[i; 16], [!i; 16]]);
    }
}

#[test]
fn raw_keys_of_poly1305_aes_are_its_keys() {
    for level in Level::all() {
        let set = RawKeys::<Poly1305Aes>::with_level(level);
        let tag = |(key, nonce): (&[u8; 32], &[u8; 16]), message: &[u8]| {
            let mac = Poly1305Aes::with_level(key, level);
            mac.tag_with(nonce, message).expect("no limit")
        };
        // With r = 0 the tag is the pad, whatever the message.
        raw_keys!(set, tag, |i: u8| ([!i; 32], [i; 16]));
    }
}

#[test]
fn raw_keys_of_umac_are_its_keys() {
    fn of<const T: usize>(level: Level) {
        let set = RawKeys::<Umac<Aes128, T>>::with_level(level);
        let tag = |(key, nonce): (&[u8; 16], UmacNonce), message: &[u8]| {
            let mac = Umac::<Aes128, T>::with_level(key, level);
            mac.tag_with(&nonce, message).expect("no limit")
        };
        // Nonces of all lengths.
        let nonce = |i: u8| UmacNonce::from_slice(&[i; 16][..i as usize % 16 + 1]);
        raw_keys!(set, tag, |i: u8| ([!i; 16], nonce(i).expect("1 to 16 bytes")));
    }
    for level in Level::all() {
        of::<1>(level);
        of::<2>(level);
        of::<3>(level);
        of::<4>(level);
    }
}
