//! Grades: if lower grades answer, an attacker can guess a tag word by word, and a budget stops
//! that.

use tagmac::{Assurance, Mac, Nonce, Tag, Umac128, UmacNonce};
use tagmac_any::bounds::{BoundError, NonceKind, Theorem, umac};
use tagmac_any::meter::{Budget, MeterError, Metered, MeteredVerifyError, Usage};
use tagmac_any::{Algorithm, AnyMac, GradeError, Session, SessionError};

const GRADES: [Assurance; 4] =
    [Assurance::Bits30, Assurance::Bits60, Assurance::Bits90, Assurance::Bits120];
const UMAC128: Theorem = Theorem::Umac { t: 128, nonces: NonceKind::Counted };

/// The forger's query: whether a tag passes at a grade. An error ends the attack.
type Asks<'a> = &'a mut dyn FnMut(&Tag, Assurance) -> Result<bool, MeterError>;

/// The attack. The forger is given all bits of each 32-bit word except the last `unknown`, so that
/// the attack ends; with 32 unknown bits it would work the same way. Returns the forged tag and the
/// number of attempts.
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

/// At most 4 * 2^b attempts for words of b bits, and half of that on average. The whole tag would
/// need 2^(4 b) guesses.
#[test]
fn words_are_guessed_one_at_a_time() {
    const BITS: u32 = 8;
    const MESSAGES: u64 = 400;
    let mac = Umac128::new(&[7; 16]);
    let (mut sum, mut most) = (0, 0);
    for number in 0..MESSAGES {
        // These messages were never tagged.
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
    // The mean is 2 (2^b + 1), with a deviation of 148 / 20 for this number of messages.
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
    // The attack's wrong guesses in each word. The right one needs room for a failure too.
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

/// A budget for whole tags refuses all lower grades.
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

/// For any probability, the failures are the most that stay within it, and too few to try each
/// value of a word.
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
    // Below the probability of one guess there are 0 failures, and lower grades are refused.
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
    // Failures are saved.
    let saved = session.save().expect("a state");
    let again = Session::restore(mac.clone(), &saved, metered([1, 2, 3])).expect("the same budget");
    let refused = again.verify_prefix(&nonce, b"packet", &tag, Assurance::Bits30);
    assert!(matches!(refused, Err(GradeError::Refused(_))));
    assert!(Session::restore(mac.clone(), &saved, metered([1, 1, 3])).is_err());
    let again = Session::restore(mac.clone(), &saved, metered([2, 2, 3])).expect("more");
    assert_eq!(again.verify_prefix(&nonce, b"packet", &tag, Assurance::Bits30), Ok(()));
    // With a budget from a probability.
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
    // If more failed than a lower probability allows, nothing changes.
    let wrong = session.verify_prefix(nonce.as_bytes(), b"pocket", &tag, Assurance::Bits30);
    assert_eq!(wrong, Err(GradeError::Mismatch));
    assert!(matches!(session.allow_grades(2f64.powi(-119)), Err(SessionError::Meter(_))));
    assert_eq!(check(&session), Ok(()));
    // An earlier forgery does not end the session: once restored, it checks whole tags, and first
    // words once they are allowed again.
    let saved = session.save().expect("a state");
    let mut again = Session::restore(session.mac().clone(), &saved, budget).expect("whole tags");
    assert!(matches!(check(&again), Err(GradeError::Refused(_))));
    assert_eq!(again.verify(nonce.as_bytes(), b"packet", &tag), Ok(()));
    assert!(matches!(again.allow_grades(2f64.powi(-119)), Err(SessionError::Meter(_))));
    assert_eq!(again.save().expect("a state"), saved, "what failed stays counted");
    again.allow_grades(2f64.powi(-10)).expect("a probability");
    assert_eq!(check(&again), Ok(()));
}

/// A session of any MAC counts failures.
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
