//! What the sender of packets holds, for any MAC: a key, the next nonce under it, and what the key may
//! still do.
//!
//! ```text
//! saved = "tagmacS2" | id of the key, 8 | length of a nonce, 8 | next nonce, zero-filled, 16
//!       | usage, 56 | first 8 bytes of SHA-256 of all that
//! ```
//!
//! Numbers are little-endian. The checksum detects accidental damage only: anyone who can write the
//! state can put an older one in its place, and nothing in it would show that.

mod error;

pub use error::SessionError;

use core::fmt;

use tagmac::save::Reader;
use tagmac::{Assurance, Error, Tag};
use tagmac_bounds::NonceKind;

use crate::erased::DynSequence;
use crate::grade::{GradeError, verify_metered};
use crate::key_file::checksum;
use crate::key_id::KeyId;
use crate::mac::AnyMac;
use crate::meter::{Budget, Metered, MeteredVerifyError, Usage};
use crate::nonce::AnyNonce;

/// How a saved session begins.
const MAGIC: [u8; 8] = *b"tagmacS2";

/// A MAC with the nonces under its key and its key's budget: [`tag`](Session::tag) is all that the
/// sender of packets calls for each. Nonces count up, big-endian. A deterministic MAC has none.
///
/// **One session per key**: two may use the same nonces, also those of two processes after a fork.
/// One that ends with the process is never saved, and needs a key of its own. One that outlives the
/// process keeps this rule:
///
/// **Store before you use.** [`reserve`](Session::reserve) takes the nonces and the budget of the next
/// messages, [`save`](Session::save) gives a state from which no restored session reuses them, and
/// that state must be stored, in place of the one before it, before the next tag is used. Whatever
/// happens then, no nonce serves twice. What a crash leaves of a reserve is lost.
///
/// A session that was saved or restored tags no message that its last save does not cover, so one that
/// was restored reserves and saves first. What nothing here can see is a state that was not stored, an
/// older one that somebody put back, and [`new`](Session::new) on a key that was used before: save the
/// first state where the key is made, and restore it everywhere else.
///
/// ```
/// use tagmac_any::{Algorithm, AnyMac, Session};
///
/// let mac = AnyMac::new(Algorithm::from_name("UMAC-64")?, &[7; 16])?;
/// let budget = mac.budget(Some(1500), Some(2f64.powi(-32)))?;
/// // Once, where the key is made.
/// let disk = Session::new(mac.clone(), &[0; 8], budget)?.save()?;
///
/// // At each start.
/// let mut session = Session::restore(mac.clone(), &disk, budget)?;
/// session.reserve(1000)?;
/// let disk = session.save()?; // stored, and only then:
/// let (nonce, tag) = session.tag(b"packet")?;
/// assert!(mac.verify(nonce.as_bytes(), b"packet", &tag).is_ok());
///
/// // After a crash the reserve counts as spent.
/// let mut session = Session::restore(mac, &disk, budget)?;
/// assert!(session.tag(b"packet").is_err(), "nothing is reserved");
/// session.reserve(1000)?;
/// let disk = session.save()?;
/// assert_eq!(session.tag(b"packet")?.0.as_bytes(), 1000u64.to_be_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Where a MAC's type is known, [`Metered`](crate::meter::Metered) of a
/// [`NonceSequence`](tagmac::NonceSequence) does the same, without the saved form.
pub struct Session {
    mac: AnyMac,
    meter: Metered<Box<dyn DynSequence>>,
    nonce_bytes: usize,
    /// The messages that the last save covers and that are yet to come. `None`: it was never saved.
    covered: Option<u64>,
}

/// Silent about the key.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session(..)")
    }
}

/// What tags the messages, from this nonce on.
fn sequence(any: &AnyMac, next: &[u8]) -> Result<Box<dyn DynSequence>, Error> {
    any.algorithm.check_nonce(next.len())?;
    any.mac.clone().sequence(next)
}

impl AnyMac {
    /// The budget of a key: how many messages of at most `max_message_bytes` it may tag, and how many
    /// wrong tags it may reject, while either by itself keeps a forgery to a probability of at most
    /// `probability`; both together, to at most twice that. Without
    /// `max_message_bytes` they have at most 1 MiB, or the MAC's limit if that is shorter. Without a
    /// probability messages are counted and not limited.
    ///
    /// This is for a [`Session`], which counts its nonces, and for one key. Random nonces allow less:
    /// [`Algorithm::theorem`](super::Algorithm::theorem). For several keys, pass [`per_key`](tagmac_bounds::per_key) of the
    /// probability.
    ///
    /// # Errors
    ///
    /// [`SessionError::NoTheorem`] for CMAC and HMAC with a probability, [`SessionError::Bound`] as
    /// [`Budget::new`].
    pub fn budget(
        &self,
        max_message_bytes: Option<u64>,
        probability: Option<f64>,
    ) -> Result<Budget, SessionError> {
        let usual = || self.max_message_bytes().unwrap_or(u64::MAX).min(1 << 20);
        let length = max_message_bytes.unwrap_or_else(usual);
        let algorithm = self.algorithm;
        let Some(probability) = probability else {
            // Blocks are counted as the MAC's theorem has it, so that a later budget can limit them.
            let (theorem, most) = (algorithm.theorem(), u64::MAX);
            return Ok(Budget {
                theorem,
                length,
                messages: most,
                blocks: most,
                failures: most,
                graded: [most; 3],
            });
        };
        let theorem = algorithm.theorem().ok_or(SessionError::NoTheorem { algorithm })?;
        // A session counts its nonces.
        let theorem = theorem.with_nonces(NonceKind::Counted);
        Ok(Budget::new(theorem.with_tag_bits(self.tag_bits() as u32)?, length, probability)?)
    }
}

impl Session {
    /// Bytes of a saved session.
    pub const BYTES: usize = 104;

    /// A session of a new key, or of one whose state is kept elsewhere. The nonces count from
    /// `next_nonce` on and have its length; it is empty for a deterministic MAC.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] if the MAC takes no nonces of that length.
    pub fn new(mac: AnyMac, next_nonce: &[u8], budget: Budget) -> Result<Session, SessionError> {
        let meter = Metered::new(sequence(&mac, next_nonce)?, budget, Usage::default())?;
        Ok(Session { mac, meter, nonce_bytes: next_nonce.len(), covered: None })
    }

    /// The session that [`save`](Session::save) saved, under the same key. It covers nothing yet:
    /// reserve and save first. The length of the tags and the budget are those given here, what the
    /// key has done is what was saved. Where that budget allows no checks of first words, as one
    /// that follows from a probability does not, none is allowed until
    /// [`allow_grades`](Session::allow_grades); what that accepted before comes on top of the budget's probability.
    ///
    /// # Errors
    ///
    /// [`SessionError::SavedBytes`], [`SessionError::SavedMagic`] and [`SessionError::SavedChecksum`]
    /// unless it was saved, [`SessionError::ForeignKey`] if it is of another key,
    /// [`BudgetExhausted`](crate::meter::MeterError::BudgetExhausted) if more was done than the budget
    /// allows.
    pub fn restore(mac: AnyMac, saved: &[u8], budget: Budget) -> Result<Session, SessionError> {
        let (next, usage) = read(mac.id, saved)?;
        let meter = Metered::new(sequence(&mac, next)?, budget, usage)?;
        Ok(Session { mac, meter, nonce_bytes: next.len(), covered: Some(0) })
    }

    /// The tag of a message, and the nonce that goes with it; it is empty for a deterministic MAC.
    ///
    /// # Errors
    ///
    /// [`SessionError::ReserveUsedUp`] if the last save does not cover the message,
    /// [`BudgetExhausted`](crate::meter::MeterError::BudgetExhausted) if the budget does not have it;
    /// then nothing is tagged, counted or used up. What the MAC refuses is counted and uses up its nonce.
    #[inline]
    pub fn tag(&mut self, message: &[u8]) -> Result<(AnyNonce, Tag), SessionError> {
        let (mut nonce, mut tag) = (AnyNonce::NONE, Tag::default());
        self.tag_in_place(message, &mut nonce, &mut tag)?;
        Ok((nonce, tag))
    }

    /// As [`tag`](Session::tag). Results of both would move by loads that do not match their stores,
    /// which took half as long as a short message's tag.
    fn tag_in_place(
        &mut self,
        message: &[u8],
        nonce: &mut AnyNonce,
        tag: &mut Tag,
    ) -> Result<(), SessionError> {
        let covered = match self.covered {
            Some(0) => return Err(SessionError::ReserveUsedUp),
            covered => covered.map(|messages| messages - 1),
        };
        let sequence = self.meter.count_message(message.len())?;
        self.covered = covered;
        *tag = sequence.tag(message, nonce)?;
        Ok(())
    }

    /// Takes the nonces and the budget of `messages` messages more, of any lengths within the budget's.
    /// The tags that follow use them up. Save then, and store what that gives, before you tag.
    ///
    /// # Errors
    ///
    /// [`BudgetExhausted`](crate::meter::MeterError::BudgetExhausted) or [`Error::NoncesUsedUp`] if there
    /// are not as many; then nothing is reserved. The last nonce cannot be reserved, since a nonce must
    /// be left to save.
    pub fn reserve(&mut self, messages: u64) -> Result<(), SessionError> {
        if let Some(next) = self.meter.mac().peek()? {
            next.plus(self.reserved().saturating_add(messages))?;
        }
        Ok(self.meter.reserve_longest(messages)?)
    }

    /// The session as it is once all that is reserved has been used: the nonce after that, and the
    /// usage. Store it in place of the one before it, and only then tag; from now on the session tags
    /// what is reserved, and no more before it is saved again.
    ///
    /// # Errors
    ///
    /// [`Error::NoncesUsedUp`] if there is no nonce left.
    pub fn save(&mut self) -> Result<[u8; Session::BYTES], SessionError> {
        let reserved = self.reserved();
        let next = match self.meter.mac().peek()? {
            Some(next) => next.plus(reserved)?,
            None => AnyNonce::NONE,
        };
        self.covered = Some(reserved);
        Ok(written(self.mac.id, &next, &self.meter.usage()))
    }

    /// Checks a tag of another sender under the key, in constant time, and counts it if it is wrong. It
    /// takes no nonce of this session. That sender needs nonces of another range, and a share of the budget:
    /// this session counts its own messages alone. What failed since the last save is lost with the process: save
    /// after a failure where attackers can make the process start again.
    ///
    /// # Errors
    ///
    /// [`MeteredVerifyError::Mismatch`] if it is wrong, [`MeteredVerifyError::Refused`] if the budget
    /// has no failure left; then nothing is verified.
    pub fn verify(
        &self,
        nonce: &[u8],
        message: &[u8],
        tag: &Tag,
    ) -> Result<(), MeteredVerifyError> {
        self.meter.verifying_by(&self.mac, nonce, message, tag)
    }

    /// Checks the first words of a UMAC-128 tag, see
    /// [`Umac::verify_prefix`](tagmac::Umac::verify_prefix), and counts what fails at its grade. A budget that
    /// follows from a probability refuses this until [`allow_grades`](Session::allow_grades).
    ///
    /// # Errors
    ///
    /// [`GradeError`]; what is refused is not checked.
    pub fn verify_prefix(
        &self,
        nonce: &[u8],
        message: &[u8],
        tag: &Tag,
        grade: Assurance,
    ) -> Result<(), GradeError> {
        verify_metered(&self.meter, &self.mac, nonce, message.into(), tag, grade)
    }

    /// Lets lower grades answer, under [`Budget::with_grades`]: fewer verifications may fail from now on.
    /// The budget is not saved, but the failures are: call it again after [`restore`](Session::restore), if
    /// the budget given there has no grades.
    ///
    /// # Errors
    ///
    /// As [`Budget::with_grades`]; [`BudgetExhausted`](crate::meter::MeterError::BudgetExhausted) if more
    /// has failed by now than that budget allows, and then nothing changes.
    pub fn allow_grades(&mut self, probability: f64) -> Result<(), SessionError> {
        let budget = self.meter.budget().with_grades(probability)?;
        Ok(self.meter.set_budget(budget)?)
    }

    /// The MAC, to verify with. It knows neither the nonces nor the budget.
    pub fn mac(&self) -> &AnyMac {
        &self.mac
    }

    /// Bytes of a nonce; 0 for a deterministic MAC.
    pub fn nonce_bytes(&self) -> usize {
        self.nonce_bytes
    }

    /// Messages tagged under the key, with those that were reserved before it was restored.
    pub fn used(&self) -> u64 {
        self.meter.usage().messages - self.reserved()
    }

    /// Messages that the key may still tag, by its budget and its nonces, with those that are reserved.
    pub fn left(&self) -> u64 {
        let nonces = match self.meter.mac().peek() {
            Ok(Some(next)) => next.over().saturating_add(1),
            Ok(None) => u128::MAX,
            Err(_) => 0,
        };
        let left = self.meter.budget().messages - self.used();
        u64::try_from(nonces).unwrap_or(u64::MAX).min(left)
    }

    /// Messages that are reserved and not tagged yet.
    pub fn reserved(&self) -> u64 {
        self.meter.reserved().messages
    }
}

/// A saved session.
fn written(id: KeyId, next: &AnyNonce, usage: &Usage) -> [u8; Session::BYTES] {
    let length = (next.as_bytes().len() as u64).to_le_bytes();
    let fields: [&[u8]; 5] = [&MAGIC, id.as_bytes(), &length, &next.block(), &usage.to_bytes()];
    let mut saved = [0; Session::BYTES];
    let (above, sum) = saved.split_at_mut(Session::BYTES - 8);
    above.copy_from_slice(&fields.concat());
    sum.copy_from_slice(&checksum(above));
    saved
}

/// The next nonce, and what the key has done.
fn read(expected: KeyId, saved: &[u8]) -> Result<(&[u8], Usage), SessionError> {
    // Before the length: other versions have others.
    if saved.len() >= MAGIC.len() && !saved.starts_with(&MAGIC) {
        return Err(SessionError::SavedMagic);
    }
    let wrong = SessionError::SavedBytes { expected: Session::BYTES, found: saved.len() };
    let saved: &[u8; Session::BYTES] = saved.try_into().map_err(|_| wrong)?;
    let (above, sum) = saved.split_at(Session::BYTES - 8);
    let mut fields = Reader::new(&above[MAGIC.len()..]);
    if *sum != checksum(above) {
        return Err(SessionError::SavedChecksum);
    }
    let id: [u8; KeyId::BYTES] = fields.array().ok_or(wrong)?;
    let found = KeyId::from(id);
    if found != expected {
        return Err(SessionError::ForeignKey { expected, found });
    }
    let length = fields.number().ok_or(wrong)?;
    let block = fields.bytes(16).ok_or(wrong)?;
    let next = usize::try_from(length).ok().and_then(|length| block.get(..length));
    let next = next.ok_or(SessionError::SavedChecksum)?;
    Ok((next, Usage::from_bytes(fields.rest())?))
}
