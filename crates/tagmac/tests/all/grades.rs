//! Grades: where lower ones answer, words of a tag are guessed one after the other, and a budget ends that.

use num_bigint::BigInt;
use num_rational::Ratio;
use tagmac::bounds::umac::{self, Prf1999, Umac1999};
use tagmac::bounds::{BoundError, NonceKind, Theorem};
use tagmac::dynamic::{Algorithm, AnyMac, GradeError, Session, SessionError};
use tagmac::meter::{Budget, MeterError, Metered, MeteredVerifyError, Usage};
use tagmac::{Assurance, Mac, Nonce, Tag, Umac128, UmacNonce};

const GRADES: [Assurance; 4] =
    [Assurance::Bits30, Assurance::Bits60, Assurance::Bits90, Assurance::Bits120];
const UMAC128: Theorem = Theorem::Umac { t: 128, nonces: NonceKind::Counted };

/// What a forger asks: whether a tag passes at a grade. An error ends the attack.
type Asks<'a> = &'a mut dyn FnMut(&Tag, Assurance) -> Result<bool, MeterError>;

/// The attack. Each word has 32 bits, of which all but the last `unknown` are given away, so that it
/// ends: with 32 it would be the same. Returns the forged tag and the attempts.
fn word_by_word(given: &[u8; 16], unknown: u32, ask: Asks<'_>) -> Result<(Tag, u64), MeterError> {
    let (mut tag, mut attempts) = ([0; 16], 0);
    for (i, grade) in GRADES.into_iter().enumerate() {
        let word = u32::from_be_bytes(given[4 * i..][..4].try_into().expect("4 bytes"));
        let mut guess = word & (u32::MAX << unknown);
        loop {
            tag[4 * i..][..4].copy_from_slice(&guess.to_be_bytes());
            attempts += 1;
            if ask(&Tag::try_from(&tag[..]).expect("16 bytes"), grade)? {
                break;
            }
            guess += 1;
        }
    }
    Ok((Tag::try_from(&tag[..]).expect("16 bytes"), attempts))
}

/// 4 * 2^b attempts at most for words of b bits, half of that in the mean, where the whole tag has
/// 2^(4 b) guesses.
#[test]
fn words_are_guessed_one_at_a_time() {
    const BITS: u32 = 8;
    const MESSAGES: u64 = 400;
    let mac = Umac128::new(&[7; 16]);
    let (mut sum, mut most) = (0, 0);
    for number in 0..MESSAGES {
        // Nobody tagged these.
        let (nonce, message) = (UmacNonce::from(number), number.to_be_bytes());
        let right = mac.tag_with(&nonce, &message).expect("no limit");
        let given = right.as_bytes().try_into().expect("16 bytes");
        let mut ask =
            |tag: &Tag, grade| Ok(mac.verify_prefix(&nonce, &message, tag, grade).is_ok());
        let (forged, attempts) = word_by_word(given, BITS, &mut ask).expect("nobody refuses");
        assert!(mac.verify_with(&nonce, &message, &forged).is_ok(), "message {number}");
        (sum, most) = (sum + attempts, most.max(attempts));
    }
    let all = 4u64 << BITS;
    assert!(most <= all, "{most} attempts");
    // The mean is 2 (2^b + 1), with a deviation of 148 / 20 for so many messages.
    let mean = sum as f64 / MESSAGES as f64;
    assert!((mean - 2.0 * 257.0).abs() < 45.0, "{mean} attempts in the mean");
}

fn metered(graded: [u64; 3], failures: u64) -> Metered<Umac128> {
    let budget = Budget::new(UMAC128, 1 << 20, 2f64.powi(-32)).expect("a theorem");
    let budget = Budget { graded, failures, ..budget };
    Metered::new(Umac128::new(&[7; 16]), budget, Usage::default()).expect("nothing used")
}

/// The same attack, against a budget.
#[test]
fn a_budget_ends_the_attack() {
    let (nonce, message) = (UmacNonce::from(1), b"pay 900 to Bob");
    let right = Umac128::new(&[7; 16]).tag_with(&nonce, message).expect("no limit");
    let given: [u8; 16] = right.as_bytes().try_into().expect("16 bytes");
    let attack = |mac: &Metered<Umac128>| {
        word_by_word(&given, 8, &mut |tag, grade| match mac
            .verify_prefix(&nonce, message, tag, grade)
        {
            Ok(()) => Ok(true),
            Err(MeteredVerifyError::Mismatch) => Ok(false),
            Err(MeteredVerifyError::Refused(error)) => Err(error),
        })
    };
    // The attack's wrong guesses in each word; its right one needs room for a failure, too.
    let wrong: [u64; 4] = core::array::from_fn(|word| given[4 * word + 3].into());
    let all = |short: Option<usize>| -> Metered<Umac128> {
        let [one, two, three, four] =
            core::array::from_fn(|word| wrong[word] + u64::from(short != Some(word)));
        metered([one, two, three], four)
    };
    let mac = all(None);
    let (forged, attempts) = attack(&mac).expect("the budget has them all");
    assert!(forged == right && attempts == wrong.iter().sum::<u64>() + 4);
    let graded = [wrong[0], wrong[1], wrong[2]];
    assert_eq!(mac.usage(), Usage { graded, failures: wrong[3], ..Usage::default() });
    let counts = [
        "failed checks of one word",
        "failed checks of two words",
        "failed checks of three words",
        "failed verifications",
    ];
    for (word, count) in counts.into_iter().enumerate() {
        let (budget, asked) = (wrong[word], 1);
        assert!(budget > 0, "this message's words have wrong guesses");
        let refused = attack(&all(Some(word))).map(|_| ());
        let exhausted = MeterError::BudgetExhausted { count, budget, used: budget, asked };
        assert_eq!(refused, Err(exhausted), "word {word}");
    }
}

/// A budget that was made for whole tags answers no lower grade.
#[test]
fn lower_grades_need_a_budget() {
    let budget = Budget::new(UMAC128, 1 << 20, 2f64.powi(-32)).expect("a theorem");
    assert_eq!((budget.graded, budget.failures), ([0; 3], u64::MAX));
    let mac = Metered::new(Umac128::new(&[7; 16]), budget, Usage::default()).expect("nothing");
    let nonce = UmacNonce::from(1);
    let tag = mac.tag_with(&nonce, b"message").expect("a message");
    for grade in &GRADES[..3] {
        let refused = mac.verify_prefix(&nonce, b"message", &tag, *grade);
        assert!(matches!(refused, Err(MeteredVerifyError::Refused(_))), "{grade:?}");
    }
    assert_eq!(mac.verify_prefix(&nonce, b"message", &tag, Assurance::Bits120), Ok(()));
    assert_eq!(mac.usage(), Usage { messages: 1, blocks: 1, ..Usage::default() });
    let cost = mac.verify_prefix(&nonce, b"massage", &tag, Assurance::Bits120);
    assert_eq!((cost, mac.usage().failures), (Err(MeteredVerifyError::Mismatch), 1));
}

#[test]
fn what_passes_a_grade_costs_nothing_and_what_fails_is_saved() {
    let mac = metered([2, 3, 4], 5);
    let nonce = UmacNonce::from(1);
    let tag = mac.tag_with(&nonce, b"message").expect("a message");
    for grade in GRADES.into_iter().cycle().take(40) {
        assert_eq!(mac.verify_prefix(&nonce, b"message", &tag, grade), Ok(()));
    }
    for grade in GRADES {
        let failed = mac.verify_prefix(&nonce, b"massage", &tag, grade);
        assert_eq!(failed, Err(MeteredVerifyError::Mismatch), "{grade:?}");
    }
    let usage = Usage { messages: 1, blocks: 1, failures: 1, graded: [1; 3] };
    assert_eq!(mac.usage(), usage);
    assert_eq!(Usage::from_bytes(&usage.to_bytes()), Ok(usage));
    let text = "1 messages, 1 blocks, 1 failed verifications, 1, 1 and 1 failed checks of one, two and three words";
    assert_eq!(usage.to_string(), text);
    let whole = Budget { graded: [0; 3], ..mac.budget() };
    let again = Metered::new(Umac128::new(&[7; 16]), whole, usage).expect("whole tags");
    assert_eq!(again.usage(), usage);
    let over = Usage { graded: [1, 1, 5], ..usage };
    assert!(Metered::new(Umac128::new(&[7; 16]), mac.budget(), over).is_err());
    let long = vec![0; (1 << 20) + 1];
    let refused = mac.verify_prefix(&nonce, &long, &tag, Assurance::Bits30);
    assert!(matches!(refused, Err(MeteredVerifyError::Refused(_))));
    assert_eq!(mac.usage(), usage);
}

type Exact = Ratio<BigInt>;

fn int(value: impl Into<BigInt>) -> Exact {
    Exact::from(value.into())
}

fn two(e: i32) -> Exact {
    let power = int(BigInt::from(1) << e.unsigned_abs());
    if e < 0 { power.recip() } else { power }
}

/// v_1 e + v_2 e^2 and so on.
fn by_grade(e: &Exact, attempts: &[u128]) -> Exact {
    let power = |k: usize| (0..k).fold(int(1), |product, _| product * e);
    (1..).zip(attempts).fold(int(0), |sum, (h, v)| sum + int(*v) * power(h))
}

#[track_caller]
fn agrees(value: f64, exact: &Exact) {
    let value = Exact::from_float(value).expect("finite");
    assert!(value >= *exact && value <= exact * (int(1) + two(-40)), "{value} for {exact}");
}

#[test]
fn the_bound_by_grades_is_exact() {
    let mut state = 5u64;
    let mut word = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 20
    };
    for _ in 0..500 {
        let attempts: [u128; 4] = core::array::from_fn(|_| {
            (u128::from(word()) << 20 | u128::from(word())) >> (word() % 64)
        });
        let (b, bits) = (1 + (word() % 40) as u32, 1 + (word() % 32) as u32);
        let streams = 1 + (word() % 8) as usize;
        let longer: Vec<u128> = attempts.iter().chain(&attempts).copied().take(streams).collect();
        let bound = umac::graded(1, &attempts).expect("a message");
        agrees(bound.value(), &by_grade(&two(-30), &attempts));
        let word = Umac1999 { b, t: bits, prf: Prf1999::Named, nonces: NonceKind::Counted };
        let bound = umac::graded_1999(&word, 0, 1, &longer).expect("a message");
        let each = two(-(b as i32)) + two(-(bits as i32));
        agrees(bound.value(), &by_grade(&each, &longer));
        let random = Umac1999 { nonces: NonceKind::Random { bits: 64 }, ..word };
        let refused = umac::graded_1999(&random, 0, 1, &longer);
        let wrong = BoundError::NonceBits { max: 0, found: 64 };
        assert_eq!(refused, Err(wrong));
        let text = "expected nonces of a counter, found random ones of 64 bits";
        assert_eq!(wrong.to_string(), text);
    }
}

/// Section 8.3: a hash of 2^-32 lets fewer than 2^16 messages be authenticated without a nonce.
#[test]
fn without_a_nonce_collisions_count_by_pairs() {
    let mut state = 9u64;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 20
    };
    for _ in 0..500 {
        let (b, tau) = (1 + word() % 90, 1 + word() % 256);
        let q = 1 + (u128::from(word()) >> (word() % 44));
        let bound = umac::without_nonce(b as u32, tau as u32, q).expect("a message");
        agrees(bound.value(), &(int(q) * int(q) * two(-(b as i32)) + two(-(tau as i32))));
        assert_eq!(bound.terms()[0].queries, q);
    }
    assert!(umac::without_nonce(32, 160, 1 << 16).unwrap().value() >= 1.0);
    assert_eq!(umac::without_nonce(60, 64, 0), Err(BoundError::Nothing));
    assert!(umac::without_nonce(60, 0, 1).is_err() && umac::without_nonce(60, 257, 1).is_err());
    assert!(umac::without_nonce(u32::MAX, 256, 1).is_ok());
}

/// Section 8.3 states its bound for every adversary. It is for one attempt: over all 16 functions F of a hash
/// of two bits to a tag of one, which never collides, one attempt passes as the bound has it, and one of two always.
#[test]
fn attempts_without_a_nonce_count_each() {
    let bound = umac::without_nonce(64, 1, 1).expect("a message").value();
    let passing = |attempts: &[(u32, u32)]| {
        let passes = |f: &u32| attempts.iter().any(|(hash, tag)| f >> hash & 1 == *tag);
        (0..16).filter(passes).count() as f64 / 16.0
    };
    for hash in 0..4 {
        assert_eq!([passing(&[(hash, 0)]), passing(&[(hash, 0), (hash, 1)])], [0.5, 1.0]);
    }
    assert!((0.5..0.6).contains(&bound));
}

#[test]
fn grades_bound_what_they_should() {
    let log = |attempts: [u128; 4]| umac::graded(1, &attempts).unwrap().log2();
    // No lower grade: as UMAC-128 by itself.
    assert!((log([0, 0, 0, 1 << 88]) + 32.0).abs() < 1e-9);
    let whole = umac::mac(128, 9, 7, NonceKind::Counted).unwrap();
    let grades = umac::graded(9, &[0, 0, 0, 7]).unwrap();
    assert!((grades.log2() - whole.log2()).abs() < 1e-9 && grades.terms() == whole.terms());
    // One word alone: as UMAC-32 by itself, whatever the attempts at more words.
    assert!((log([1 << 20, 0, 0, 0]) + 10.0).abs() < 1e-9);
    assert!((log([1 << 20; 4]) + 10.0).abs() < 1e-8);
    // What pads from a permutation cost.
    let after = umac::graded(1 << 64, &[0, 0, 0, 1 << 88]).unwrap().value();
    assert!((after * 2f64.powi(32) - 0.5f64.exp()).abs() < 1e-9, "{after}");
    // Where each word may be guessed, the bound says nothing.
    assert!(log([1 << 32, 0, 0, 0]) >= 0.0);
    // More attempts at any grade never have less.
    let before = log([100; 4]);
    for word in 0..4 {
        let mut more = [100; 4];
        more[word] += 1;
        assert!(log(more) >= before);
    }
    assert_eq!(umac::graded(0, &[0; 4]), Err(BoundError::Nothing));
    assert!(matches!(umac::graded((1 << 68) + 1, &[0; 4]), Err(BoundError::Messages { .. })));
}

/// Whatever the probability, the failures are as many as keep to it, and too few to try each value of a word.
#[test]
fn a_budget_by_grades_keeps_to_its_probability() {
    let budget = Budget::new(UMAC128, 1 << 20, 2f64.powi(-32)).expect("a theorem");
    for log in (1..=40).rev() {
        for probability in [2f64.powi(-log), 1.5 * 2f64.powi(-log).min(0.6)] {
            let of = budget.with_grades(probability).expect("a probability");
            let v = u128::from(of.graded[0]);
            assert_eq!(of.graded, [of.graded[0]; 3]);
            assert_eq!(of.failures, if v > 0 { of.graded[0] } else { budget.failures });
            assert!(4 * v < 1 << 32, "{v} of 2^{log}");
            let at = |v| umac::graded(1 << 64, &[v; 4]).expect("some attempts");
            assert!(v == 0 || at(v).at_most(probability));
            assert!(!at(v + 1).at_most(probability));
        }
    }
    // None below one guess at a word: then no lower grade answers.
    assert_eq!(budget.with_grades(2f64.powi(-32)), Ok(budget));
    let fewer = Budget { failures: 7, ..budget }.with_grades(0.5).expect("as well");
    assert_eq!(fewer.failures, 7);
    for probability in [0.0, 1.0, f64::NAN] {
        assert!(matches!(budget.with_grades(probability), Err(BoundError::Probability { .. })));
    }
    let short =
        Budget::new(Theorem::Umac { t: 64, nonces: NonceKind::Counted }, 1 << 20, 2f64.powi(-32))
            .expect("a theorem");
    let wrong = BoundError::TagBits { min: 128, max: 128, found: 64 };
    assert_eq!(short.with_grades(0.5), Err(wrong));
    let pmac = Budget::new(Theorem::Pmac { n: 128, t: 128 }, 1, 0.5).expect("a theorem");
    assert!(matches!(pmac.with_grades(0.5), Err(BoundError::TagBits { found: 0, .. })));
}

fn any(name: &str) -> AnyMac {
    AnyMac::new(Algorithm::from_name(name).expect("a name"), &[7; 16]).expect("a key")
}

#[test]
fn any_mac_and_its_session_check_by_grades() {
    let mac = any("UMAC-128");
    let plain = Umac128::new(&[7; 16]);
    let tag = mac.tag(&[1; 8], b"message").expect("a tag");
    for (words, grade) in (1..).zip(GRADES) {
        for byte in 0..16 {
            let mut other = tag.as_bytes().to_vec();
            other[byte] ^= 1;
            let other = Tag::try_from(&other[..]).expect("as long");
            let checked = mac.verify_prefix(&[1; 8], b"message", &other, grade);
            let nonce = UmacNonce::from_slice(&[1; 8]).expect("8 bytes");
            let same = plain.verify_prefix(&nonce, b"message", &other, grade);
            assert_eq!(checked, same.map_err(|_| GradeError::Mismatch));
            assert_eq!(checked.is_ok(), byte >= 4 * words);
        }
        let none = mac.verify_prefix(&[], b"message", &tag, grade);
        assert_eq!(none, Err(GradeError::Mismatch), "no nonce of this MAC");
        let other = any("UMAC-64").verify_prefix(&[1; 8], b"message", &tag, grade);
        let algorithm = Algorithm::from_name("UMAC-64").expect("a name");
        assert_eq!(other, Err(GradeError::NoGrades { algorithm }));
        assert!(other.expect_err("none").to_string().starts_with("UMAC-64: "));
    }
    let metered = |graded| {
        let budget = mac.budget(Some(1500), Some(2f64.powi(-32))).expect("a theorem");
        Budget { graded, failures: 1, ..budget }
    };
    let mut session = Session::new(mac.clone(), &[0; 8], metered([1, 2, 3])).expect("a session");
    let (nonce, tag) = session.tag(b"packet").expect("a packet");
    let nonce = nonce.as_bytes().to_vec();
    for (grade, most) in GRADES.into_iter().zip([1, 2, 3, 1]) {
        assert_eq!(session.verify_prefix(&nonce, b"packet", &tag, grade), Ok(()));
        for _ in 0..most {
            let failed = session.verify_prefix(&nonce, b"pocket", &tag, grade);
            assert_eq!(failed, Err(GradeError::Mismatch), "{grade:?}");
        }
        let refused = session.verify_prefix(&nonce, b"packet", &tag, grade);
        assert!(matches!(refused, Err(GradeError::Refused(_))), "{refused:?}");
    }
    let refused = session.verify(&nonce, b"packet", &tag);
    assert!(
        matches!(refused, Err(MeteredVerifyError::Refused(_))),
        "the whole tag has that budget, too"
    );
    // What failed is saved.
    let saved = session.save().expect("a state");
    let again = Session::restore(mac.clone(), &saved, metered([1, 2, 3])).expect("the same budget");
    let refused = again.verify_prefix(&nonce, b"packet", &tag, Assurance::Bits30);
    assert!(matches!(refused, Err(GradeError::Refused(_))));
    assert!(Session::restore(mac.clone(), &saved, metered([1, 1, 3])).is_err());
    let again = Session::restore(mac.clone(), &saved, metered([2, 2, 3])).expect("more");
    assert_eq!(again.verify_prefix(&nonce, b"packet", &tag, Assurance::Bits30), Ok(()));
    // By a probability.
    let budget = mac.budget(Some(1500), Some(2f64.powi(-32))).expect("a theorem");
    let mut session = Session::new(mac, &[0; 8], budget).expect("a session");
    let (nonce, tag) = session.tag(b"packet").expect("a packet");
    let check = |session: &Session| {
        session.verify_prefix(nonce.as_bytes(), b"packet", &tag, Assurance::Bits30)
    };
    assert!(matches!(check(&session), Err(GradeError::Refused(_))));
    assert!(session.allow_grades(1.0).is_err() && check(&session).is_err());
    session.reserve(5).expect("a reserve");
    session.allow_grades(2f64.powi(-10)).expect("a probability");
    assert_eq!((check(&session), session.used(), session.reserved()), (Ok(()), 1, 5));
    // Where more has failed than a lower probability allows, nothing changes.
    let wrong = session.verify_prefix(nonce.as_bytes(), b"pocket", &tag, Assurance::Bits30);
    assert_eq!(wrong, Err(GradeError::Mismatch));
    assert!(matches!(session.allow_grades(2f64.powi(-119)), Err(SessionError::Meter(_))));
    assert_eq!(check(&session), Ok(()));
    // What was forged once does not end the session: restored, it checks whole tags, and first words once
    // they are allowed again.
    let saved = session.save().expect("a state");
    let mut again = Session::restore(session.mac().clone(), &saved, budget).expect("whole tags");
    assert!(matches!(check(&again), Err(GradeError::Refused(_))));
    assert_eq!(again.verify(nonce.as_bytes(), b"packet", &tag), Ok(()));
    assert!(matches!(again.allow_grades(2f64.powi(-119)), Err(SessionError::Meter(_))));
    assert_eq!(again.save().expect("a state"), saved, "what failed stays counted");
    again.allow_grades(2f64.powi(-10)).expect("a probability");
    assert_eq!(check(&again), Ok(()));
}

/// A session of any MAC counts what fails.
#[test]
fn a_session_counts_failures() {
    for name in ["PMAC-AES128", "UMAC-64", "HMAC-SHA256"] {
        let algorithm = Algorithm::from_name(name).expect("a name");
        let mac = AnyMac::new(algorithm, &vec![7; algorithm.new_key_bytes()]).expect("a key");
        let budget = mac.budget(Some(100), None).expect("a budget");
        let budget = Budget { failures: 2, ..budget };
        let next = vec![0; algorithm.nonce_bytes().into_inner().1.min(8)];
        let mut session = Session::new(mac.clone(), &next, budget).expect("a session");
        let (nonce, tag) = session.tag(b"packet").expect("a packet");
        for _ in 0..2 {
            assert_eq!(session.verify(nonce.as_bytes(), b"packet", &tag), Ok(()), "{name}");
            let failed = session.verify(nonce.as_bytes(), b"pocket", &tag);
            assert_eq!(failed, Err(MeteredVerifyError::Mismatch), "{name}");
        }
        let refused = session.verify(nonce.as_bytes(), b"packet", &tag);
        let words = "expected at most 2 failed verifications under this key";
        assert!(refused.expect_err("refused").to_string().starts_with(words), "{name}");
        let refused = session.verify_prefix(nonce.as_bytes(), b"packet", &tag, Assurance::Bits120);
        assert_eq!(refused, Err(GradeError::NoGrades { algorithm }), "{name}");
    }
}
