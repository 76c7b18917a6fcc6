//! Metered MACs: counts are never lost, and no call exceeds the budget.

use std::error::Error as _;
use std::thread;

use tagmac::cipher::{Present80, Present128};
use tagmac::{LightMacAes128, Nonce, NonceSequence, Poly1305Aes, Tag, Umac32, UmacNonce};
use tagmac::{Mac, Pmac, PmacAes128};
use tagmac_any::bounds::{NonceKind, Theorem, Workload, pmac};
use tagmac_any::meter::{Budget, MeterError, Metered, MeteredVerifyError, Usage};
use tagmac_any::{Algorithm, AnyMac, Session};

const PMAC: Theorem = Theorem::Pmac { n: 128, t: 128 };
const POLY1305: Theorem = Theorem::Poly1305Aes { nonces: NonceKind::Counted };
const LIGHT: Theorem = Theorem::LightMac { n: 128, s: 32, t: 128 };

fn pmac_of(messages: u64, blocks: u64, failures: u64) -> Metered<PmacAes128> {
    let budget = Budget::new(PMAC, 1 << 20, 0.5).unwrap();
    let budget = Budget { messages, blocks, failures, ..budget };
    Metered::new(PmacAes128::new(&[7; 16]), budget, Usage::default()).unwrap()
}

fn light_of(messages: u64, failures: u64) -> Metered<LightMacAes128> {
    let budget = Budget::new(LIGHT, 1 << 20, 0.5).unwrap();
    let mac = LightMacAes128::new(&[1; 16], &[2; 16], 32).unwrap();
    Metered::new(mac, Budget { messages, failures, ..budget }, Usage::default()).unwrap()
}

fn umac_of(t: u32) -> Theorem {
    Theorem::Umac { t, nonces: NonceKind::Counted }
}

fn exhausted<T>(result: Result<T, MeterError>) -> (&'static str, u64, u64, u64) {
    match result {
        Err(MeterError::BudgetExhausted { count, budget, used, asked }) => {
            (count, budget, used, asked)
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("not refused"),
    }
}

fn wrong() -> Tag {
    Tag::new(&[0; 16], 128).unwrap()
}

#[test]
fn messages_and_blocks_are_counted() {
    let mac = pmac_of(5, 16, 5);
    let plain = PmacAes128::new(&[7; 16]);
    // 1, 1, 1 and 2 blocks.
    for (message, blocks) in [(0, 1), (1, 2), (16, 3), (17, 5)] {
        let message = vec![9; message];
        assert!(mac.tag(&message).unwrap() == plain.tag(&message).unwrap());
        assert_eq!(mac.usage().blocks, blocks);
    }
    assert_eq!(exhausted(mac.tag(&[0; 16 * 11 + 1])), ("blocks", 16, 5, 12));
    assert_eq!(mac.usage(), Usage { messages: 4, blocks: 5, ..Usage::default() });
    mac.tag(&[0; 16 * 11]).unwrap();
    assert_eq!(exhausted(mac.tag(b"")), ("messages", 5, 5, 1));
    assert_eq!(mac.usage().to_string(), "5 messages, 16 blocks, 0 failed verifications");
    let error = mac.tag(b"").unwrap_err().to_string();
    assert_eq!(
        error,
        "expected at most 5 messages under this key, found 5 and 1 more: use a new key"
    );
    let length = mac.budget().length;
    let long = vec![0; length as usize + 1];
    assert_eq!(exhausted(mac.tag(&long)), ("bytes of a message", length, 0, length + 1));
    assert!(matches!(mac.verify(&long, &wrong()), Err(MeteredVerifyError::Refused(_))));
    assert_eq!(mac.usage().messages, 5);
}

#[test]
fn failed_verifications_are_counted() {
    let mac = light_of(10, 2);
    let tag = mac.tag(b"good").unwrap();
    let before = mac.usage();
    assert_eq!(before, Usage { messages: 1, blocks: 1, ..Usage::default() });
    for _ in 0..100 {
        assert_eq!(mac.verify(b"good", &tag), Ok(()));
    }
    assert_eq!(mac.usage(), before);
    for failures in 1..=2 {
        assert_eq!(mac.verify(b"bad", &tag), Err(MeteredVerifyError::Mismatch));
        assert_eq!(mac.usage(), Usage { failures, ..before });
    }
    let refused = mac.verify(b"good", &tag).unwrap_err();
    let text = "expected at most 2 failed verifications under this key, found 2 and 1 more: \
                use a new key";
    assert_eq!(refused.to_string(), text);
    // Tags have a separate budget.
    assert!(mac.tag(b"good").is_ok());
}

/// Anyone can send packets with wrong tags. They must not stop the owner of a PMAC key from
/// tagging.
#[test]
fn forged_packets_use_up_no_messages() {
    let budget = Budget::new(Theorem::Pmac { n: 64, t: 64 }, 4096, 2f64.powi(-32)).unwrap();
    assert_eq!(budget.messages, 1672);
    // The proof allows over 100 forged packets for each valid one.
    assert!(budget.failures > 200 * budget.messages, "{}", budget.failures);
    let key = Pmac::<Present80>::new(&[7; 10]);
    let mac = Metered::new(key, budget, Usage::default()).unwrap();
    let wrong = Tag::new(&[0; 8], 64).unwrap();
    for _ in 0..2 * budget.messages {
        assert_eq!(mac.verify(&[0; 4096], &wrong), Err(MeteredVerifyError::Mismatch));
    }
    assert_eq!(mac.usage(), Usage { failures: 2 * budget.messages, ..Usage::default() });
    let tag = mac.tag(b"good").unwrap();
    assert_eq!(mac.verify(b"good", &tag), Ok(()));
}

#[test]
fn threads_lose_no_count() {
    const EACH: u64 = 20_000;
    let (messages, failures) = (4 * EACH + 17, 4 * EACH - 5);
    let mac = light_of(messages, failures);
    let good = mac.tag(b"good").unwrap();
    let [tagged, failed] = thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let (mut tagged, mut failed) = (0, 0);
                    for i in 0..EACH {
                        tagged += mac.tag(&i.to_le_bytes()).is_ok() as u64;
                        failed +=
                            (mac.verify(b"bad", &good) == Err(MeteredVerifyError::Mismatch)) as u64;
                        let verdict = mac.verify(b"good", &good);
                        assert!(!matches!(verdict, Err(MeteredVerifyError::Mismatch)));
                        let usage = mac.usage();
                        assert!(usage.messages <= messages && usage.failures <= failures);
                    }
                    [tagged, failed]
                })
            })
            .collect();
        let sums = runs.into_iter().map(|run| run.join().unwrap());
        sums.fold([0, 0], |sum, run| [sum[0] + run[0], sum[1] + run[1]])
    });
    // Together the threads asked for twice the budget.
    assert_eq!(tagged + 1, messages);
    assert_eq!(failed, failures);
    let usage = mac.usage();
    assert_eq!((usage.messages, usage.failures), (messages, failures));
    assert_eq!(exhausted(mac.tag(b"")).0, "messages");

    // PMAC: successful verifications are taken back while other threads count.
    let mac = pmac_of(u64::MAX, u64::MAX, u64::MAX);
    let good = mac.tag(b"good").unwrap();
    mac.reserve(100, 1000).unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    mac.tag(&[0; 20]).unwrap();
                    assert_eq!(mac.verify(b"good", &good), Ok(()));
                    assert_eq!(mac.verify(b"bad", &good), Err(MeteredVerifyError::Mismatch));
                }
            });
        }
    });
    let usage = mac.usage();
    assert_eq!(usage.failures, 8 * EACH);
    assert_eq!(usage.messages, 1 + 8 * EACH);
    // One block for the first, two for each tag. The reserve is used up.
    assert_eq!(usage.blocks, 1 + 2 * 8 * EACH);
}

#[test]
fn a_reserve_is_spent_at_once() {
    let mac = light_of(10, 5);
    mac.reserve(4, 100).unwrap();
    assert_eq!(mac.usage(), Usage { messages: 4, blocks: 12, ..Usage::default() });
    assert_eq!(exhausted(mac.reserve(7, 0)), ("messages", 10, 4, 7));
    assert_eq!(mac.usage().messages, 4);
    for _ in 0..4 {
        mac.tag(b"from the reserve").unwrap();
        assert_eq!(mac.usage().messages, 4);
    }
    for messages in 5..=10 {
        mac.tag(b"beyond it").unwrap();
        assert_eq!(mac.usage().messages, messages);
    }
    assert_eq!(exhausted(mac.tag(b"")), ("messages", 10, 10, 1));
    // Any messages of that total length fit the reserve.
    for lengths in [[0, 0, 100], [33, 33, 34], [1, 1, 98], [16, 17, 67]] {
        let mac = pmac_of(1000, 1000, 5);
        mac.reserve(3, 100).unwrap();
        let before = mac.usage();
        for length in lengths {
            mac.tag(&vec![1; length]).unwrap();
        }
        assert_eq!(mac.usage(), before, "{lengths:?}");
    }
    let mac = pmac_of(10, 20, 5);
    assert_eq!(exhausted(mac.reserve(1, u64::MAX)).0, "blocks");
    assert_eq!(exhausted(mac.reserve(u64::MAX, 0)).0, "messages");
    assert_eq!(mac.usage(), Usage::default());
}

#[test]
fn usage_is_saved_and_resumed() {
    let usage = Usage { messages: 1, blocks: 0x0203, failures: u64::MAX, graded: [5, 6, 7] };
    let bytes = usage.to_bytes();
    assert_eq!(bytes[..10], *b"tagmacU3\x01\0");
    assert_eq!(bytes[16..18], [3, 2]);
    assert_eq!([bytes[32], bytes[40], bytes[48]], [5, 6, 7]);
    assert_eq!(Usage::from_bytes(&bytes), Ok(usage));
    for found in (0..80).filter(|found| *found != 56) {
        let wrong = MeterError::UsageBytes { expected: 56, found };
        assert_eq!(Usage::from_bytes(&[bytes, bytes].concat()[..found]), Err(wrong));
    }
    for i in 0..8 {
        let mut bytes = bytes;
        bytes[i] ^= 1;
        assert_eq!(Usage::from_bytes(&bytes), Err(MeterError::UsageMagic));
    }
    for (messages, blocks) in [(1, 0), (u64::MAX, u64::MAX - 1), (3, 2)] {
        let usage = Usage { messages, blocks, ..Usage::default() };
        assert_eq!(
            Usage::from_bytes(&usage.to_bytes()),
            Err(MeterError::UsageBlocks { messages, blocks })
        );
    }

    let budget = pmac_of(3, 100, 1).budget();
    let resume = |usage| Metered::new(PmacAes128::new(&[7; 16]), budget, usage);
    let usage = Usage { messages: 2, blocks: 10, failures: 1, ..Usage::default() };
    let mac = resume(usage).unwrap();
    assert_eq!(mac.usage(), usage);
    let saved = Usage::from_bytes(&mac.usage().to_bytes()).unwrap();
    mac.tag(b"the third").unwrap();
    assert_eq!(exhausted(mac.tag(b"")), ("messages", 3, 3, 1));
    assert!(matches!(mac.verify(b"", &wrong()), Err(MeteredVerifyError::Refused(_))));
    assert_eq!(saved, usage);
    let spent = Usage { messages: 4, ..usage };
    assert_eq!(exhausted(resume(spent)), ("messages", 3, 0, 4));
}

#[test]
fn budgets_follow_from_the_theorems() {
    let probability = 2f64.powi(-32);
    // 3 * 65536 q^2 is at most 2^96.
    let budget = Budget::new(PMAC, 1 << 20, probability).unwrap();
    assert_eq!(budget.messages as u128, PMAC.messages(1 << 20, probability).unwrap());
    assert_eq!(budget.blocks, budget.messages << 16);
    let cost = |messages: u64, blocks: u64| {
        pmac::prf(128, messages.into(), blocks.into()).unwrap().at_most(probability)
    };
    assert!(cost(budget.messages, budget.blocks));
    assert!(!cost(budget.messages + 1, budget.blocks + (1 << 16)));
    let attempt = pmac::attempt(128, 128, (budget.messages.into(), budget.blocks.into()), 1 << 16);
    // As numbers of 53 bits, rounded: the failures have more bits.
    let failures = budget.failures as f64 * attempt.unwrap().value() / probability;
    assert!((failures - 1.0).abs() < 2f64.powi(-50), "{failures}");
    // Messages of one block: sigma (sigma + 1) is at most 2^96.
    let budget = Budget::new(PMAC, 16, probability).unwrap();
    assert_eq!((budget.messages, budget.blocks), ((1 << 48) - 1, (1 << 48) - 1));
    // Short tags allow fewer guesses than messages.
    let short = PMAC.with_tag_bits(64).unwrap();
    assert_eq!(Budget::new(short, 1 << 20, probability).unwrap().failures, (1 << 32) - 7);

    let budget = Budget::new(LIGHT, 1 << 20, probability).unwrap();
    assert_eq!(budget.messages as u128, LIGHT.messages(1 << 20, probability).unwrap());
    assert_eq!((budget.blocks, budget.failures), (u64::MAX, u64::MAX));
    let load = Workload { messages: budget.messages.into(), length: 1 << 20, attempts: 0 };
    assert!(LIGHT.forgery(&load).unwrap().at_most(probability));

    // Poly1305-AES: 2^106 / 2^32 / 13.19 / blocks, which exceeds a meter's counts for short
    // messages.
    let budget = Budget::new(POLY1305, 1 << 32, probability).unwrap();
    assert_eq!((budget.messages, budget.failures), (u64::MAX, 5_335_100_103_653));
    let of = |length, probability| Budget::new(LIGHT, length, probability);
    assert!(of(LIGHT.limit(), probability).is_ok());
    assert!(of(LIGHT.limit() + 1, probability).is_err() && of(0, 1.0).is_err());
}

#[test]
fn what_a_meter_refuses_and_shows_is_said() {
    let (mac, usage) = (pmac_of(3, 100, 1), Usage { messages: 2, blocks: 3, ..Usage::default() });
    let short = [b"tagmacU3", &[0; 7][..]].concat();
    let other = [&b"tagmacU2"[..], &[0; 48]].concat();
    let fewer = Usage { blocks: 1, ..usage }.to_bytes();
    let nothing_left =
        Metered::new(PmacAes128::new(&[7; 16]), mac.budget(), Usage { messages: 4, ..usage });
    let cases = [
        (nothing_left.map(|_| ()), "expected at most 3 messages under this key, found 4"),
        (
            mac.reserve(2, 0).and_then(|()| mac.reserve(2, 0)),
            "expected at most 3 messages under this key, found 2 and 2 more: use a new key",
        ),
        (
            mac.tag(&vec![0; (1 << 20) + 1]).map(|_| ()),
            "expected at most 1048576 bytes of a message under this key, found 1048577",
        ),
        (Usage::from_bytes(&short).map(|_| ()), "expected 56 bytes of saved usage, found 15"),
        (
            Usage::from_bytes(&other).map(|_| ()),
            "saved usage does not begin with 'tagmacU3': it is not this version's",
        ),
        (
            Usage::from_bytes(&fewer).map(|_| ()),
            "saved usage has 2 messages and only 1 blocks: it is damaged",
        ),
    ];
    for (refused, expected) in cases {
        let error = refused.expect_err(expected);
        assert_eq!(error.to_string(), expected);
        assert!(error.source().is_none());
        assert_eq!(MeteredVerifyError::Refused(error).to_string(), expected);
    }
    let long = vec![0; 3841];
    let short = LightMacAes128::new(&[7; 16], &[8; 16], 8).unwrap();
    let budget = Budget { length: 3841, ..Budget::new(LIGHT, 1500, 0.5).unwrap() };
    let short = Metered::new(short, budget, Usage::default()).unwrap();
    let error = short.tag(&long).map(|_| ()).unwrap_err();
    let expected = tagmac::Error::TooLong { limit_bits: 8 * 3840 }.to_string();
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some(&*expected));
    let mismatch = mac.verify(b"message", &wrong()).unwrap_err();
    assert_eq!(mismatch.to_string(), "the tag does not match the message");
    let shown = "Metered(2 messages, 3 blocks, 1 failed verifications)";
    assert_eq!(format!("{mac:?}"), shown);
}

/// The lengths of the messages that a key tags under its budget, one after the other, until the
/// meter refuses.
fn spend(budget: Budget, lengths: impl Iterator<Item = usize>) -> Vec<u64> {
    let mac = Pmac::<Present128>::new(&[7; 16]);
    let mac = Metered::new(mac, budget, Usage::default()).unwrap();
    let data = vec![0; 8 * 1000];
    lengths
        .take_while(|blocks| mac.tag(&data[..8 * blocks]).is_ok())
        .map(|blocks| blocks as u64)
        .collect()
}

fn named(name: &str) -> Algorithm {
    Algorithm::from_name(name).unwrap()
}

#[test]
fn any_mix_of_lengths_keeps_to_the_probability() {
    let theorem = named("PMAC-PRESENT128").theorem().unwrap();
    let probability = 2f64.powi(-40);
    let mut wholly_spent = 0;
    for length in [1, 10, 91, 1000] {
        let budget = Budget::new(theorem, 8 * length as u64, probability).unwrap();
        // One length; two lengths; a long message, then short ones; short ones, then a long one; a
        // ramp.
        let mixes: [&dyn Fn(usize) -> usize; 5] = [
            &|_| length,
            &|i| [1, length][i % 2],
            &|i| if i == 0 { length } else { 1 },
            &|i| if i % 50 == 49 { length } else { 1 },
            &|i| 1 + i % length,
        ];
        for mix in mixes {
            let lengths = spend(budget, (0..).map(mix));
            let (q, sigma) = (lengths.len() as u128, lengths.iter().sum::<u64>() as u128);
            assert!(q > 1);
            let fits = |q, sigma| pmac::prf(64, q, sigma).unwrap().at_most(probability);
            assert!(fits(q, sigma), "{length} {q} {sigma}");
            wholly_spent += !fits(q + 1, sigma + length as u128) as u32;
        }
    }
    assert!(wholly_spent >= 4, "each length by itself spends the budget");
}

#[test]
fn macs_with_nonces_and_macs_by_name() {
    let probability = 2f64.powi(-32);
    // A guess of UMAC-32 succeeds with 2^-30, so no failure is within 2^-32.
    let budget = Budget::new(umac_of(32), 1500, probability).unwrap();
    assert_eq!(budget.failures, 0);
    let mac = Metered::new(Umac32::new(&[7; 16]), budget, Usage::default()).unwrap();
    let nonce = UmacNonce::from(1);
    let tag = mac.tag_with(&nonce, b"message").unwrap();
    assert!(matches!(
        mac.verify_with(&nonce, b"message", &tag),
        Err(MeteredVerifyError::Refused(_))
    ));
    let budget = Budget::new(umac_of(32), 1500, 2f64.powi(-20)).unwrap();
    assert_eq!(budget.failures, 621);
    let mac = Metered::new(Umac32::new(&[7; 16]), budget, mac.usage()).unwrap();
    assert_eq!(mac.verify_with(&nonce, b"message", &tag), Ok(()));
    assert_eq!(
        mac.verify_with(&UmacNonce::from(2), b"message", &tag),
        Err(MeteredVerifyError::Mismatch)
    );
    assert_eq!(mac.usage(), Usage { messages: 1, blocks: 1, failures: 1, ..Usage::default() });

    let budget = Budget::new(POLY1305, 1500, probability).unwrap();
    let poly = Poly1305Aes::new(&[3; 32]);
    let metered = Metered::new(&poly, budget, Usage::default()).unwrap();
    assert!(metered.mac().tag_with(&[1; 16], b"m").is_ok());
    assert_eq!(metered.usage(), Usage::default(), "the MAC inside does not count");

    for algorithm in Algorithm::all() {
        let Some(theorem) = algorithm.theorem() else { continue };
        let budget = Budget::new(theorem, 1500, 0.25).unwrap();
        let budget = Budget { messages: 3, ..budget };
        let key = vec![5; algorithm.new_key_bytes()];
        let nonce = vec![6; *algorithm.nonce_bytes().end()];
        let plain = AnyMac::new(algorithm, &key).unwrap();
        let mut session = Session::new(plain.clone(), &nonce, budget).unwrap();
        let (nonce, tag) = session.tag(b"message").unwrap();
        let nonce = nonce.as_bytes();
        assert!(plain.tag(nonce, b"message").unwrap() == tag, "{algorithm}");
        assert_eq!(session.verify(nonce, b"message", &tag), Ok(()), "{algorithm}");
        let failed = session.verify(nonce, b"massage", &tag);
        assert_eq!(failed, Err(MeteredVerifyError::Mismatch), "{algorithm}");
        // A failure is not a message.
        assert_eq!((session.used(), session.left()), (1, 2), "{algorithm}");
    }
}

#[test]
fn a_metered_sequence_counts_messages_and_nonces() {
    let mac = Poly1305Aes::new(&[7; 32]);
    let budget = Budget::new(POLY1305, 100, 0.5).unwrap();
    let budget = Budget { messages: 5, blocks: 20, ..budget };
    let sequence = || NonceSequence::new(&mac, 16).unwrap();
    let mut session = Metered::new(sequence(), budget, Usage::default()).unwrap();
    for (number, length) in [(0u128, 0usize), (1, 16), (2, 17)] {
        let message = vec![3; length];
        let (nonce, tag) = session.tag_next(&message).unwrap();
        assert_eq!(nonce, number.to_be_bytes());
        assert!(tag == mac.tag_with(&nonce, &message).unwrap());
    }
    assert_eq!(session.usage(), Usage { messages: 3, blocks: 4, ..Usage::default() });

    // A reserve is used first, and a refused call uses neither nonces nor budget.
    session.reserve(1, 16).unwrap();
    let reserved = Usage { messages: 4, blocks: 6, ..Usage::default() };
    assert_eq!(session.usage(), reserved);
    session.tag_next(b"reserved").unwrap();
    assert_eq!(session.usage(), reserved);
    let next = session.mac().peek().unwrap();
    assert_eq!(exhausted(session.tag_next(&[0; 101])), ("bytes of a message", 100, 0, 101));
    assert_eq!(exhausted(session.reserve(2, 0)), ("messages", 5, 4, 2));
    assert_eq!(session.usage(), reserved);
    session.tag_next(b"the last").unwrap();
    assert_eq!(exhausted(session.tag_next(b"")), ("messages", 5, 5, 1));
    assert_eq!(session.mac().peek().unwrap(), 5u128.to_be_bytes());
    assert_eq!(next, 4u128.to_be_bytes());
    let again = Metered::new(sequence(), budget, Usage { messages: 6, ..Usage::default() });
    assert_eq!(exhausted(again.map(|_| ())), ("messages", 5, 0, 6));

    let blocks = Budget { blocks: 3, ..budget };
    let mut session = Metered::new(sequence(), blocks, Usage::default()).unwrap();
    session.tag_next(&[0; 32]).unwrap();
    assert_eq!(exhausted(session.tag_next(&[0; 17])), ("blocks", 3, 2, 2));
    session.tag_next(&[0; 16]).unwrap();

    // The nonces may run out before the budget.
    let umac = Umac32::new(&[7; 16]);
    let last = UmacNonce::from_slice(&[255]).unwrap();
    let budget = Budget::new(umac_of(32), 100, 0.5).unwrap();
    let sequence = NonceSequence::resume(&umac, &last).unwrap();
    let mut session = Metered::new(sequence, budget, Usage::default()).unwrap();
    session.tag_next(b"the last").unwrap();
    let none = MeterError::Mac(tagmac::Error::NoncesUsedUp { bytes: 1 });
    assert_eq!(session.tag_next(b"none").map(|_| ()), Err(none));
}

#[test]
fn a_message_counts_the_same_with_a_lock_and_without() {
    // Before the third message, two messages and two blocks are reserved. The last messages exceed
    // the budget.
    let (locked, mut alone) = (pmac_of(5, 9, 0), pmac_of(5, 9, 0));
    for (at, length) in [0, 32, 48, 16, 33, 1].into_iter().enumerate() {
        if at == 2 {
            locked.reserve(2, 0).expect("within the budget");
            alone.reserve(2, 0).expect("within the budget");
        }
        let message = vec![9; length];
        assert_eq!(alone.tag_mut(&message), locked.tag(&message), "{at}");
        assert_eq!(alone.usage(), locked.usage(), "{at}");
    }
    assert!(locked.tag(b"").is_err() && alone.tag_mut(b"").is_err());
}
