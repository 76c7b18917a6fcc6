//! Saved states are restored unchanged, on any level, and anything else is refused.

use proptest::collection::vec;
use proptest::prelude::*;
use tagmac::cipher::Aes128;
use tagmac::hazmat::{Construction, Hash, Part, PartError};
use tagmac::isa::Level;
use tagmac::save::{Reader, Save, SaveError, Sealer, Writer};
use tagmac::{
    EliMac, Error, LightMac, Mac, Pmac, PmacAes128, Poly1305Aes, Stream, Tag, Umac32, Umac64,
    Umac128, UmacNonce,
};
use tagmac_any::{Algorithm, AnyMac, Partial};
use tagmac_papers::{Umac99, Umac99Set};

fn message(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u8).collect()
}

pub fn sealer() -> Sealer {
    Sealer::new("a MAC", &[7; 16])
}

/// A nonce of the longest length.
fn nonce(algorithm: Algorithm) -> Vec<u8> {
    (1..=*algorithm.nonce_bytes().end() as u8).collect()
}

/// All algorithms' MACs on one level.
fn macs(level: Level) -> impl Iterator<Item = AnyMac> {
    Algorithm::all().map(move |algorithm| {
        let key = vec![9; algorithm.new_key_bytes()];
        AnyMac::with_options(algorithm, &key, algorithm.default_tag_bits(), level)
            .expect("its own key")
    })
}

/// Pairs of levels: each with the next, and the last with the first.
fn pairs() -> Vec<(Level, Level)> {
    let all: Vec<Level> = Level::all().collect();
    (0..all.len()).map(|i| (all[i], all[(i + 1) % all.len()])).collect()
}

/// A stream that is saved at the cut on one level and restored on another has the one-shot tag.
fn resumed<M: Mac<Hash: Hash<Sum: Save>>>(
    one: &M,
    other: &M,
    nonce: &M::Nonce,
    message: &[u8],
    cut: usize,
) {
    let mut stream = one.stream_with(nonce);
    stream.update(&message[..cut]);
    let saved = stream.save(&sealer()).expect("a state");
    drop(stream);
    let mut stream = Stream::restore(other, &sealer(), &saved).expect("the same key");
    assert_eq!(stream.bytes(), cut as u64);
    stream.update(&message[cut..]);
    assert!(stream.tag() == one.tag_with(nonce, message), "{} at {cut}", message.len());
}

#[test]
fn streams_saved_at_any_byte() {
    for (one, other) in pairs() {
        let pmac =
            |level| Pmac::<Aes128>::with_level(&[1; 16], level).with_tag_bits(61).expect("61 bits");
        let (p, q) = (pmac(one), pmac(other));
        let light =
            |level| LightMac::<Aes128>::with_level(&[1; 16], &[2; 16], 20, level).expect("s = 20");
        let (l, m) = (light(one), light(other));
        for length in [0, 1, 16, 32, 33, 200] {
            let message = message(length);
            for cut in 0..=length {
                resumed(&p, &q, &(), &message, cut);
                resumed(&l, &m, &(), &message, cut);
            }
        }
        let poly = |level| Poly1305Aes::with_level(&[3; 32], level);
        let umac = |level| Umac128::with_level(&[4; 16], level);
        let eli = |level| EliMac::with_level(&[5; 16], &[6; 16], level);
        let message = message(3 * 2048 + 77);
        for cut in [0, 1, 15, 16, 17, 2047, 2048, 2049, 4096, 6143, 6144, 6145, message.len()] {
            resumed(&poly(one), &poly(other), &[8; 16], &message, cut);
            resumed(&umac(one), &umac(other), &UmacNonce::from(5), &message, cut);
            resumed(&eli(one), &eli(other), &(), &message, cut);
        }
    }
}

/// From byte 2^24 on, UMAC continues with another polynomial, and its sum contains both.
#[test]
fn streams_and_parts_of_umac_around_the_end_of_poly64() {
    const END: usize = 1 << 24;
    fn holds<M: Mac<Nonce = UmacNonce, Hash: Hash<Sum: Save>>>(one: M, other: M, length: usize) {
        let (nonce, message) = (UmacNonce::from(7), message(length));
        for cut in [END - 2048, END - 1, END, END + 1, END + 2048, END + 2049] {
            resumed(&one, &other, &nonce, &message, cut);
        }
        let expected = one.tag_with(&nonce, &message).expect("no limit");
        for cuts in [[2048, END], [END - 2048, END + 2048], [END, END + 4096]] {
            let ends = [0, cuts[0], cuts[1], (length - 1) / 2048 * 2048];
            let carried = |i: usize| {
                let part = Part::new(one.hash(), ends[i] as u64, &message[ends[i]..ends[i + 1]]);
                let sealed = part.expect("aligned").seal(&sealer(), b"o").expect("random bytes");
                Part::open(other.hash(), &sealer(), b"o", &sealed).expect("the same key")
            };
            let [left, middle, right] = [0, 1, 2].map(carried);
            let right = middle.join(other.hash(), &right).expect("neighbours");
            let whole = left.join(other.hash(), &right).expect("neighbours");
            let tag = whole.finish(&other, &nonce, &message[ends[3]..]);
            assert!(tag == Ok(expected), "{length}, {cuts:?}");
        }
    }
    let (portable, best) = (Level::all().next().expect("a level"), Level::best());
    for (one, other) in [(portable, best), (best, portable)] {
        holds(
            Umac128::with_level(&[1; 16], one),
            Umac128::with_level(&[1; 16], other),
            END + 3 * 2048 + 5,
        );
        holds(
            Umac32::with_level(&[1; 16], one),
            Umac32::with_level(&[1; 16], other),
            END + 3 * 2048,
        );
    }
    // Words that are not numbers mod p: their steps are counted separately.
    let (one, other) = (Umac64::with_level(&[2; 16], portable), Umac64::with_level(&[2; 16], best));
    let zeros = vec![0; 5 * 2048];
    for cut in [1, 2048, 4096, 5000] {
        resumed(&one, &other, &UmacNonce::from(1), &zeros, cut);
    }
}

#[test]
fn streams_of_every_algorithm() {
    let mut saved = 0;
    for (one, other) in pairs() {
        for (one, other) in macs(one).zip(macs(other)) {
            let (algorithm, nonce) = (one.algorithm(), nonce(one.algorithm()));
            let block = algorithm.block().unwrap_or(16);
            let limit = algorithm.max_message_bytes().unwrap_or(u64::MAX);
            let longest = limit.min(3 * block as u64 + 7) as usize;
            let message = message(longest);
            for cut in [0, 1, block - 1, block, block + 1, longest] {
                let mut stream = one.stream(&nonce).expect("its nonce");
                stream.update(&message[..cut]);
                let state = stream.save(&sealer());
                let sequential = algorithm.block().is_none();
                if sequential || algorithm.name().starts_with("UMAC99") {
                    assert_eq!(state, Err(SaveError::NoSavedState), "{algorithm}");
                    continue;
                }
                let state = state.expect("a state");
                let mut stream = other.restore(&sealer(), &state).expect("the same key");
                stream.update(&message[cut..]);
                assert!(stream.tag() == one.tag(&nonce, &message), "{algorithm} at {cut}");
                saved += 1;
            }
        }
    }
    assert!(saved > 200, "{saved} states");
    let hmac = AnyMac::new(Algorithm::from_name("HMAC-SHA256").expect("known"), &[1; 32]);
    let state = hmac.expect("32 bytes").restore(&sealer(), &[0; 100]).map(|_| ());
    assert_eq!(state, Err(SaveError::NoSavedState));
}

#[test]
fn parts_of_every_algorithm() {
    for (one, other) in pairs() {
        for (one, other) in macs(one).zip(macs(other)) {
            let (algorithm, nonce) = (one.algorithm(), nonce(one.algorithm()));
            let (Some(makes), Some(joins)) = (one.parts(), other.parts()) else { continue };
            let block = makes.block();
            let limit = algorithm.max_message_bytes().unwrap_or(u64::MAX);
            let most = limit.min(21 * block as u64) as usize / block - 1;
            let message = message(most * block + block.min(9));
            let ends = [0, block, 4 * block, 5 * block, most * block];
            let carried = |(start, end): (usize, usize)| {
                let mut out = Writer::default();
                let part = makes.new_part(start as u64, &message[start..end]).expect("aligned");
                makes.save(&part, &mut out).expect("a part");
                let input = &mut Reader::new(out.as_bytes());
                let part = joins.load(input).expect("a part");
                assert!(input.is_empty(), "{algorithm}");
                assert_eq!((part.start(), part.end()), (start as u64, end as u64));
                part
            };
            let mut parts = ends.iter().copied().zip(ends[1..].iter().copied()).map(carried);
            let first = parts.next().expect("four");
            let whole = parts.try_fold(first, |left, right| joins.join(left, &right));
            let tag = joins.finish(whole.expect("neighbours"), &nonce, &message[most * block..]);
            assert!(tag == one.tag(&nonce, &message).map_err(PartError::from), "{algorithm}");
        }
    }
}

#[test]
fn a_stream_opens_under_its_own_seal() {
    let mac = PmacAes128::new(&[7; 16]);
    let sealed = mac.stream().update(b"text").save(&sealer()).expect("a state");
    let restored = |mac, sealer: &Sealer| Stream::restore(mac, sealer, &sealed).map(|_| ());
    assert_eq!(restored(&mac, &sealer()), Ok(()));
    assert_eq!(restored(&mac, &Sealer::new("a MAC", &[8; 16])), Err(SaveError::Seal));
    assert_eq!(restored(&mac, &Sealer::new("another", &[7; 16])), Err(SaveError::Seal));
    let short = mac.clone().with_tag_bits(64).expect("64 bits");
    let other = SaveError::Saved { expected: "a stream of this MAC" };
    assert_eq!(restored(&short, &sealer()), Err(other));
    let poly = Poly1305Aes::new(&[7; 32]);
    let poly = Stream::restore(&poly, &sealer(), &sealed).map(|_| ());
    assert_eq!(poly, Err(other), "another nonce");
    // A part cannot be opened as a stream or the reverse, for any MAC.
    let part = Part::new(&mac, 0, &[1; 16]).expect("aligned");
    let part = part.seal(&sealer(), b"").expect("random bytes");
    assert_eq!(Stream::restore(&mac, &sealer(), &part).map(|_| ()), Err(SaveError::Seal));
    let any = AnyMac::new(Algorithm::default(), &[7; 16]).expect("16 bytes");
    assert_eq!(any.restore(&sealer(), &sealed).map(|_| ()), Err(SaveError::Seal));
    let stream = any.stream(&[]).expect("no nonce").save(&sealer()).expect("a state");
    assert_eq!(Stream::restore(&mac, &sealer(), &stream).map(|_| ()), Err(SaveError::Seal));
    let other = AnyMac::new(Algorithm::default(), &[8; 16]).expect("16 bytes");
    assert_eq!(other.restore(&sealer(), &stream).map(|_| ()), Err(SaveError::Seal));
    // A stream over the limit cannot be saved.
    let light = LightMac::<Aes128>::new(&[1; 16], &[2; 16], 8).expect("s = 8");
    let over = light.stream().update(&[0; 3841]).save(&sealer());
    assert_eq!(over, Err(Error::TooLong { limit_bits: 8 * 3840 }.into()));
}

#[test]
fn a_part_belongs_to_its_object() {
    let mac = PmacAes128::new(&[7; 16]);
    let sealed = Part::new(&mac, 32, &[1; 64]).expect("aligned").seal(&sealer(), b"a");
    let sealed = sealed.expect("random bytes");
    let part = Part::open(&mac, &sealer(), b"a", &sealed).expect("its own");
    assert_eq!((part.start(), part.end()), (32, 96));
    assert_eq!(Part::open(&mac, &sealer(), b"b", &sealed).map(|_| ()), Err(SaveError::Seal));
    for place in 0..sealed.len() {
        let mut altered = sealed.clone();
        altered[place] ^= 1;
        let opened = Part::open(&mac, &sealer(), b"a", &altered).map(|_| ());
        assert_eq!(opened, Err(SaveError::Seal), "byte {place}");
        let opened = Part::open(&mac, &sealer(), b"a", &sealed[..place]).map(|_| ());
        assert_eq!(opened, Err(SaveError::Seal), "cut at {place}");
    }
    let umac = Umac64::new(&[7; 16]);
    let foreign = Part::open(umac.hash(), &sealer(), b"a", &sealed).map(|_| ());
    assert_eq!(foreign, Err(SaveError::ForeignPart), "32 is no multiple of 2048");
}

#[test]
fn what_is_sealed_opens_for_the_same_list_alone() {
    let sealed = sealer().seal(&[b"ab", b"c"], b"secret").expect("random bytes");
    assert_eq!(sealed.len(), 6 + Sealer::OVERHEAD);
    assert_eq!(&*sealer().open(&[b"ab", b"c"], &sealed).expect("the same"), b"secret");
    let others: [&[&[u8]]; 6] =
        [&[b"a", b"bc"], &[b"abc"], &[b"ab", b"c", b""], &[b"ab"], &[], &[b"c", b"ab"]];
    for other in others {
        assert_eq!(sealer().open(other, &sealed).map(|_| ()), Err(SaveError::Seal));
    }
    assert!(sealer().seal(&[], b"").expect("random bytes").len() == Sealer::OVERHEAD);
    let again = sealer().seal(&[b"ab", b"c"], b"secret").expect("random bytes");
    assert!(again != sealed, "a nonce twice");
    assert_eq!(format!("{:?}", sealer()), "Sealer(..)");
}

/// Bytes that someone with the key sealed, and that are not a state: they are refused, or they open
/// as a stream that can be finished.
fn any_state<M: Mac<Hash: Hash<Sum: Save>>>(mac: &M, secret: &[u8]) {
    let sealed = sealer().seal(&[b"stream 1"], secret).expect("random bytes");
    if let Ok(mut stream) = Stream::restore(mac, &sealer(), &sealed) {
        stream.update(&[1; 5000]);
        let _: Result<Tag, Error> = stream.tag();
    }
    let sealed = sealer().seal(&[b"part 1", b""], secret).expect("random bytes");
    if let Ok(part) = Part::open(mac.hash(), &sealer(), b"", &sealed) {
        let start = part.start();
        let joined = match Part::new(mac.hash(), 0, &[]) {
            Ok(empty) if start == 0 => empty.join(mac.hash(), &part).expect("neighbours"),
            _ => part,
        };
        let _ = joined.finish(mac, &M::Nonce::clone(&nonce_of(mac)), b"end");
    }
}

/// A nonce of the MAC.
fn nonce_of<M: Mac>(_: &M) -> M::Nonce {
    use tagmac::Nonce;
    let bytes = *<M::Nonce as Nonce>::BYTES.end();
    <M::Nonce as Nonce>::from_slice(&vec![3; bytes]).expect("a length of its own")
}

/// The same for every kind of sum.
fn any_states(secret: &[u8]) {
    any_state(&PmacAes128::new(&[1; 16]), secret);
    any_state(&LightMac::<Aes128>::new(&[1; 16], &[2; 16], 16).expect("s = 16"), secret);
    any_state(&EliMac::new(&[1; 16], &[2; 16]), secret);
    any_state(&Poly1305Aes::new(&[1; 32]), secret);
    any_state(&Umac32::new(&[1; 16]), secret);
    any_state(&Umac128::new(&[1; 16]), secret);
    any_state(&Umac99::new(Umac99Set::Std30, &[1; 16]), secret);
}

proptest! {
    #[test]
    fn any_cut_on_any_rungs(
        key: [u8; 16],
        message in vec(any::<u8>(), 0..6000),
        cuts in vec(any::<prop::sample::Index>(), 1..4),
        picks in vec(any::<prop::sample::Index>(), 4),
    ) {
        let levels: Vec<Level> = Level::all().collect();
        let level = |i: usize| levels[picks[i].index(levels.len())];
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(message.len() + 1)).collect();
        cuts.sort();
        for name in ["PMAC-AES128", "PMAC-PRESENT128", "UMAC-96", "CMAC-AES128"] {
            let algorithm = Algorithm::from_name(name).expect("known");
            let mac = |i| AnyMac::with_options(algorithm, &key, algorithm.default_tag_bits(), level(i));
            let first = mac(0).expect("16 bytes");
            let expected = first.tag(&nonce(algorithm), &message);
            let mut stream = first.stream(&nonce(algorithm)).expect("its nonce");
            let mut start = 0;
            for (i, &cut) in cuts.iter().enumerate() {
                stream.update(&message[start..cut]);
                start = cut;
                match stream.save(&sealer()) {
                    Ok(saved) => {
                        let other = mac(i + 1).expect("16 bytes");
                        stream = other.restore(&sealer(), &saved).expect("the same key");
                    }
                    Err(error) => prop_assert_eq!((error, name), (SaveError::NoSavedState, "CMAC-AES128")),
                }
            }
            stream.update(&message[start..]);
            prop_assert!(stream.tag() == expected, "{} at {:?}", name, cuts);
        }
    }

    #[test]
    fn garbage_is_no_state(secret in vec(any::<u8>(), 0..400)) {
        any_states(&secret);
        let _ = Partial::parse(&secret);
        let _ = Partial::parse(&[b"tagmac-partial-2", &secret[..]].concat());
        prop_assert!(sealer().open(&[], &secret).is_err());
    }

    #[test]
    fn likely_garbage_is_no_state(
        // A range, and numbers that occur in sums.
        block in prop::sample::select(vec![16u64, 13, 14, 2048, 4096]),
        bits in prop::sample::select(vec![128u64, 32, 160]),
        nonce in prop::sample::select(vec![0usize, 8, 16]),
        at in prop_oneof![0u64..40, any::<u64>(), Just(1 << 13), Just(1 << 43), Just(1 << 52)],
        held in vec(any::<u8>(), 0..40),
        numbers in vec(prop_oneof![0u64..9, any::<u64>(), Just(u64::MAX)], 0..40),
    ) {
        let mut stream = Writer::default();
        stream.number(block).number(bits).length_prefixed(&vec![5; nonce]);
        stream.number(at.wrapping_mul(block)).length_prefixed(&held);
        let mut part = Writer::default();
        part.number(0).number(at.wrapping_mul(block));
        for number in numbers {
            stream.number(number);
            part.number(number);
        }
        any_states(stream.as_bytes());
        any_states(part.as_bytes());
    }

    #[test]
    fn altered_states_are_refused(cut in 0usize..5000, place: prop::sample::Index, flip in 1u8..) {
        let mac = Umac64::new(&[7; 16]);
        let mut stream = mac.stream_with(&UmacNonce::from(3));
        let mut saved = stream.update(&message(cut)).save(&sealer()).expect("a state");
        let place = place.index(saved.len());
        saved[place] ^= flip;
        prop_assert_eq!(Stream::restore(&mac, &sealer(), &saved).map(|_| ()), Err(SaveError::Seal));
        prop_assert!(Stream::restore(&mac, &sealer(), &saved[..place]).is_err());
    }
}
