//! Partials: the header is bound to the content, and anything else is refused.

use tagmac::save::{SaveError, Sealer, Writer};
use tagmac_any::{Algorithm, AnyMac, AnyPart, Partial, PartialError};

use crate::save::sealer;

/// A partial of bytes 0 to 64 of "o", or the last one from byte 64 on.
fn partial(mac: &AnyMac, last: bool) -> Vec<u8> {
    let parts = mac.parts().expect("parts");
    let (part, tail): (AnyPart, Option<&[u8]>) = match last {
        false => (parts.new_part(0, &[3; 64]).expect("aligned"), None),
        true => (parts.new_part(64, &[3; 16]).expect("aligned"), Some(b"the tail")),
    };
    Partial::seal(mac, &sealer(), b"o", &part, tail).expect("random bytes")
}

#[test]
fn partials_say_what_they_are_and_are_bound_to_it() {
    let mac = AnyMac::new(Algorithm::default(), &[7; 16]).expect("16 bytes");
    for last in [false, true] {
        let bytes = partial(&mac, last);
        let read = Partial::parse(&bytes).expect("a partial");
        let (header, sealed) = bytes.split_at(read.header_len());
        let sealer = &sealer();
        let checked = read.check(&mac, sealer).expect("its own");
        assert!(bytes.len() as u64 <= checked.max_len());
        // The header alone suffices, and so does the longest prefix that may be read.
        let alone = Partial::parse(header).and_then(|alone| alone.check(&mac, sealer));
        let alone = alone.expect("a header");
        assert_eq!(alone.max_len(), checked.max_len());
        let mut sealed = sealed.to_vec();
        assert!(alone.open_in_place(&mut sealed).is_ok());
        assert!(alone.open_in_place(&mut sealed).is_err(), "opened twice");
        let range = (read.start(), read.end(), read.is_last());
        assert_eq!(range, if last { (64, 88, true) } else { (0, 64, false) });
        assert_eq!((read.algorithm(), read.object()), ("PMAC-AES128", &b"o"[..]));
        assert_eq!(read.key_id(), Algorithm::default().key_id(&[7; 16]));
        let (part, tail) = checked.open().expect("its own");
        assert_eq!(part.end() + tail.len() as u64, read.end());
        assert_eq!(&**tail, if last { &b"the tail"[..] } else { b"" });
        for place in 0..bytes.len() {
            let refused = |bytes: &[u8]| {
                let read = Partial::parse(bytes)?.check(&mac, sealer);
                // A wrong header is refused before the sealed content is opened.
                assert_eq!(read.is_err(), place < header.len(), "{place}");
                read?.open().map(|_| ())
            };
            for bit in 0..8 {
                let mut altered = bytes.clone();
                altered[place] ^= 1 << bit;
                assert!(refused(&altered).is_err(), "{place}");
            }
            assert!(refused(&bytes[..place]).is_err(), "{place}");
        }
    }
    // The two seals cannot replace each other, and neither can those of another header.
    let (one, two) = (partial(&mac, false), partial(&mac, true));
    let seal = Partial::parse(&one).expect("a partial").header_len() - Sealer::OVERHEAD;
    let empty = sealer().seal(&[b"partial 2", &one[..seal]], b"").expect("random bytes");
    for seal_of in [&empty, &two[seal..][..Sealer::OVERHEAD]] {
        let mixed = [&one[..seal], seal_of, &one[seal + Sealer::OVERHEAD..]].concat();
        let checked = Partial::parse(&mixed).expect("a header").check(&mac, &sealer()).map(|_| ());
        assert_eq!(checked, Err(PartialError::Save(SaveError::Seal)));
    }
    let mixed = [&one[..seal + Sealer::OVERHEAD], &two[seal + Sealer::OVERHEAD..]].concat();
    let sealer = sealer();
    let checked = Partial::parse(&mixed).and_then(|read| read.check(&mac, &sealer));
    let opened = checked.expect("a header of its own").open().map(|_| ());
    assert_eq!(opened, Err(PartialError::Save(SaveError::Seal)));
    let other = AnyMac::new(Algorithm::default(), &[8; 16]).expect("16 bytes");
    let bytes = partial(&mac, true);
    let read = Partial::parse(&bytes).expect("a partial");
    let foreign = read.check(&other, &sealer).map(|_| ());
    assert_eq!(foreign, Err(PartialError::Foreign));
    let sealed = read.check(&mac, &Sealer::new("", &[])).map(|_| ());
    assert_eq!(sealed, Err(PartialError::Save(SaveError::Seal)));
    assert_eq!(Partial::parse(b"").map(|_| ()), Err(PartialError::NotAPartial));
    assert_eq!(Partial::parse(b"tagmac-partial-1").map(|_| ()), Err(PartialError::Version));
    assert_eq!(Partial::parse(b"tagmac-partial-2").map(|_| ()), Err(PartialError::Header));
    let part = mac.parts().expect("parts").new_part(0, &[]).expect("aligned");
    let long = Partial::seal(&mac, &sealer, &vec![b'o'; 65536], &part, None).map(|_| ());
    assert_eq!(long, Err(PartialError::ObjectName { max: 65535, found: 65536 }));
    let long = Partial::seal(&mac, &sealer, &vec![b'o'; 65535], &part, None).expect("random");
    let header = &long[..Partial::MAX_HEADER.min(long.len())];
    let read = Partial::parse(header).and_then(|read| read.check(&mac, &sealer));
    assert_eq!(read.expect("a header").object().len(), 65535);

    // Only the sums of the UMAC of 1999 grow, within the stated limit.
    for algorithm in Algorithm::all().filter(|algorithm| algorithm.block().is_some()) {
        let mac = AnyMac::new(algorithm, &vec![7; algorithm.new_key_bytes()]).expect("a key");
        let (parts, mut out) = (mac.parts().expect("parts"), Writer::default());
        let blocks = vec![1; parts.block() * 9];
        parts.save(&parts.new_part(0, &blocks).expect("aligned"), &mut out).expect("saved");
        let max = algorithm.max_part_len(blocks.len() as u64).expect("parts");
        assert!(out.as_bytes().len() as u64 <= max, "{algorithm}");
    }
    let tail = Partial::seal(&mac, &sealer, b"o", &part, Some(&[0; 17])).map(|_| ());
    assert_eq!(tail, Err(PartialError::TailLength { max: 16, found: 17 }));
    let foreign = Partial::seal(&other, &sealer, b"o", &part, None).map(|_| ());
    assert_eq!(foreign, Err(PartialError::Save(SaveError::ForeignPart)));
}

/// Anyone with the key can seal anything, so content that does not fit the header is refused even
/// under a valid seal.
#[test]
fn what_a_partial_holds_fits_its_header() {
    let (mac, sealer) = (AnyMac::new(Algorithm::default(), &[7; 16]).expect("16 bytes"), sealer());
    let parts = mac.parts().expect("parts");
    for (is_last, (start, end)) in [(false, (0, 64)), (true, (64, 88))] {
        let own = partial(&mac, is_last);
        let read = Partial::parse(&own).expect("a partial");
        let header = &own[..read.header_len() - Sealer::OVERHEAD];
        let opened = |start: u64, blocks: usize, tail: &[u8], more: &[u8]| {
            let part = parts.new_part(start, &vec![3; 16 * blocks]).expect("aligned");
            let mut out = Writer::default();
            parts.save(&part, &mut out).expect("saved");
            out.length_prefixed(tail);
            let text = [out.as_bytes(), more].concat();
            let sealed = sealer.seal(&[b"partial 2", header], &text).expect("random bytes");
            let bytes = [&own[..read.header_len()], &sealed].concat();
            let checked = Partial::parse(&bytes)?.check(&mac, &sealer)?;
            checked.open().map(|(part, tail)| (part.start(), part.end() + tail.len() as u64))
        };
        let none = SaveError::Saved { expected: "a part and the tail of its object" };
        let none = Err(PartialError::Save(none));
        let (blocks, tail) = if is_last { (1, &b"the tail"[..]) } else { (4, &b""[..]) };
        assert_eq!(opened(start, blocks, tail, b""), Ok((start, end)), "its own");
        assert_eq!(opened(start, blocks, tail, b"x"), none, "more than a part and a tail");
        assert_eq!(opened(start + 16, blocks, tail, b""), none, "another start");
        assert_eq!(opened(start, blocks - 1, tail, b""), none, "another end");
        // The range is right, but the part ends and the tail begins elsewhere.
        let moved = vec![3; (end - start) as usize - 16 * (blocks - 1)];
        assert_eq!(opened(start, blocks - 1, &moved, b""), none, "a tail that is no tail");
    }
}

/// The example of `docs/formats/partials.md`, except for the seals, which are random.
#[test]
fn the_documentation_shows_a_partial_to_the_byte() {
    let key: Vec<u8> = (0..16).collect();
    let mac = AnyMac::new(Algorithm::default(), &key).expect("16 bytes");
    let sealer = Sealer::new("PMAC-AES128", &key);
    let guide = include_str!("../../docs/formats/partials.md");
    let block = guide.split("```hex\n").nth(1).and_then(|rest| rest.split("```").next());
    let digits: String = block.expect("an example").split_whitespace().collect();
    let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hex");
    let shown: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
    let read = Partial::parse(&shown).expect("a partial");
    let read = read.check(&mac, &sealer).expect("the key of the example");
    let (part, tail) = read.open().expect("the key of the example");
    assert_eq!(&**tail, b"tail");
    let made = Partial::seal(&mac, &sealer, read.object(), &part, Some(&tail));
    let made = made.expect("random bytes");
    assert_eq!(made.len(), shown.len());
    // A range, PMAC's sum, the tail with its length.
    let header = shown.len() - (16 + 16 + 8 + 4) - 2 * Sealer::OVERHEAD;
    assert_eq!(made[..header], shown[..header]);
}
