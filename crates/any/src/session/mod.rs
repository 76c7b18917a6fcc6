//! Sessions, for any MAC: a key, the next nonce under it, and the rest of its budget, for the
//! sender of packets.
//!
//! ```text
//! saved = "tagmacS2" | id of the key, 8 | length of a nonce, 8 | next nonce, zero-filled, 16
//!       | usage, 56 | first 8 bytes of SHA-256 of all that
//! ```
//!
//! Numbers are little-endian. The checksum detects only accidental damage: anyone who can write the
//! saved state can replace it with an older one, and nothing in it would show that.

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

/// The first bytes of a saved session.
const MAGIC: [u8; 8] = *b"tagmacS2";

/// A MAC with its key's nonces and budget. The sender of packets only calls [`tag`](Session::tag)
/// for each. Nonces count up, big-endian; those of a deterministic MAC are empty.
///
/// **Use one session per key**: two may use the same nonces, also in two processes after a fork. A
/// session that ends with the process need not be saved, and needs a key that nothing else uses.
/// One that outlives the process must follow this rule:
///
/// **Store before you use.** [`reserve`](Session::reserve) sets aside the nonces and the budget of
/// the next messages. [`save`](Session::save) then returns a state that never reuses them. Store
/// that state in place of the previous one before you use the next tag. Then no nonce is used
/// twice, whatever happens; a crash only loses the rest of a reserve.
///
/// A saved or restored session tags only the messages that its last save covers, so a restored one
/// reserves and saves first. It cannot detect a state that was not stored, an older state that was
/// put back, or a [`new`](Session::new) session of a key that was used before. So save the first
/// state where the key is made, and restore it everywhere else.
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
/// let disk = session.save()?; // store it, and only then:
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
/// For a MAC of a known type, a [`Metered`](crate::meter::Metered)
/// [`NonceSequence`](tagmac::NonceSequence) does the same, without the saved form.
pub struct Session {
    mac: AnyMac,
    meter: Metered<Box<dyn DynSequence>>,
    nonce_bytes: usize,
    /// The number of messages that the last save still covers. `None` if it was never saved.
    covered: Option<u64>,
}

/// Shows nothing of the key.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session(..)")
    }
}

/// A tagger of messages from this nonce on.
fn sequence(any: &AnyMac, next: &[u8]) -> Result<Box<dyn DynSequence>, Error> {
    any.algorithm.check_nonce(next.len())?;
    any.mac.clone().sequence(next)
}

impl AnyMac {
    /// Returns the budget of a key: the number of messages of at most `max_message_bytes` bytes
    /// that it may tag, and of wrong tags that it may reject. Each number by itself keeps the
    /// probability of a forgery within `probability`; both together, within twice that. By default
    /// messages have at most 1 MiB, or the MAC's limit if that is less. With `None` as the
    /// probability, messages are counted and not limited.
    ///
    /// This is for a [`Session`], which counts its nonces, and for one key. Random nonces allow
    /// less: see [`Algorithm::theorem`](super::Algorithm::theorem). For several keys, pass
    /// [`per_key`](tagmac_bounds::per_key) of the probability.
    ///
    /// # Errors
    ///
    /// [`SessionError::NoTheorem`] for CMAC and HMAC with a probability; [`SessionError::Bound`] as
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
            // Count blocks as the MAC's theorem does, so that a later budget can limit them.
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
    /// The length of a saved session in bytes.
    pub const BYTES: usize = 104;

    /// Starts a session of a new key, or of a key whose state is kept elsewhere. The nonces count
    /// from `next_nonce` on and have its length; it is empty for a deterministic MAC.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] if the MAC has no nonces of that length.
    pub fn new(mac: AnyMac, next_nonce: &[u8], budget: Budget) -> Result<Session, SessionError> {
        let meter = Metered::new(sequence(&mac, next_nonce)?, budget, Usage::default())?;
        Ok(Session { mac, meter, nonce_bytes: next_nonce.len(), covered: None })
    }

    /// Restores a session that [`save`](Session::save) saved, under the same key. It covers no
    /// messages yet: reserve and save first. The tag length and the budget are those given here;
    /// the usage is the saved one. If the budget allows no checks of first words, like one that
    /// [`budget`](AnyMac::budget) returns, none is allowed until
    /// [`allow_grades`](Session::allow_grades). The probability that earlier checks accepted then
    /// adds to the budget's.
    ///
    /// # Errors
    ///
    /// [`SessionError::SavedBytes`], [`SessionError::SavedMagic`] or
    /// [`SessionError::SavedChecksum`] if these are not the bytes of a saved session,
    /// [`SessionError::ForeignKey`] if it belongs to another key,
    /// [`BudgetExhausted`](crate::meter::MeterError::BudgetExhausted) if its usage exceeds the
    /// budget.
    pub fn restore(mac: AnyMac, saved: &[u8], budget: Budget) -> Result<Session, SessionError> {
        let (next, usage) = read(mac.id, saved)?;
        let meter = Metered::new(sequence(&mac, next)?, budget, usage)?;
        Ok(Session { mac, meter, nonce_bytes: next.len(), covered: Some(0) })
    }

    /// Returns the next nonce and the tag of a message under it. The nonce is empty for a
    /// deterministic MAC.
    ///
    /// # Errors
    ///
    /// [`SessionError::ReserveUsedUp`] if the last save does not cover the message,
    /// [`BudgetExhausted`](crate::meter::MeterError::BudgetExhausted) if the budget does not
    /// suffice; then nothing is tagged, counted or used up. A message that the MAC refuses is
    /// counted and uses up its nonce.
    #[inline]
    pub fn tag(&mut self, message: &[u8]) -> Result<(AnyNonce, Tag), SessionError> {
        let (mut nonce, mut tag) = (AnyNonce::NONE, Tag::default());
        self.tag_in_place(message, &mut nonce, &mut tag)?;
        Ok((nonce, tag))
    }

    /// As [`tag`](Session::tag). Returning both values would move them by loads that do not match
    /// their stores, which took half as long as tagging a short message.
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

    /// Sets aside the nonces and the budget of `messages` more messages, of any lengths within the
    /// budget's. Later tags use them up. Then save, and store the result before you tag.
    ///
    /// # Errors
    ///
    /// [`BudgetExhausted`](crate::meter::MeterError::BudgetExhausted) or [`Error::NoncesUsedUp`] if
    /// the budget or the nonces do not suffice; then nothing is reserved. The last nonce cannot be
    /// reserved, because saving needs one.
    pub fn reserve(&mut self, messages: u64) -> Result<(), SessionError> {
        if let Some(next) = self.meter.mac().peek()? {
            next.plus(self.reserved().saturating_add(messages))?;
        }
        Ok(self.meter.reserve_longest(messages)?)
    }

    /// Returns the state of the session after all reserved messages: the nonce after them, and the
    /// usage. Store it in place of the previous state, and only then tag. From now on the session
    /// tags the reserved messages, and no others until the next save.
    ///
    /// # Errors
    ///
    /// [`Error::NoncesUsedUp`] if no nonce is left.
    pub fn save(&mut self) -> Result<[u8; Session::BYTES], SessionError> {
        let reserved = self.reserved();
        let next = match self.meter.mac().peek()? {
            Some(next) => next.plus(reserved)?,
            None => AnyNonce::NONE,
        };
        self.covered = Some(reserved);
        Ok(written(self.mac.id, &next, &self.meter.usage()))
    }

    /// Checks a tag of another sender under the key, in constant time, and counts a failure. It
    /// uses no nonce of this session. The other sender needs nonces of another range and a share of
    /// the budget, since this session counts only its own messages. Failures since the last save
    /// are lost with the process: save after a failure if an attacker can make the process restart.
    ///
    /// # Errors
    ///
    /// [`MeteredVerifyError::Mismatch`] if the tag is wrong, [`MeteredVerifyError::Refused`] if the
    /// budget allows no more failures; then nothing is verified.
    pub fn verify(
        &self,
        nonce: &[u8],
        message: &[u8],
        tag: &Tag,
    ) -> Result<(), MeteredVerifyError> {
        self.meter.verifying_by(&self.mac, nonce, message, tag)
    }

    /// Checks the first words of a UMAC-128 tag, see
    /// [`Umac::verify_prefix`](tagmac::Umac::verify_prefix), and counts a failure at its grade. A
    /// budget that follows from a probability refuses this until
    /// [`allow_grades`](Session::allow_grades).
    ///
    /// # Errors
    ///
    /// [`GradeError`]; if it is refused, nothing is checked.
    pub fn verify_prefix(
        &self,
        nonce: &[u8],
        message: &[u8],
        tag: &Tag,
        grade: Assurance,
    ) -> Result<(), GradeError> {
        verify_metered(&self.meter, &self.mac, nonce, message.into(), tag, grade)
    }

    /// Allows checks at lower grades, under [`Budget::with_grades`]; from now on fewer
    /// verifications may fail. The failures are saved and this budget is not: after
    /// [`restore`](Session::restore), call it again unless the budget given there has grades.
    ///
    /// # Errors
    ///
    /// As [`Budget::with_grades`]; [`BudgetExhausted`](crate::meter::MeterError::BudgetExhausted)
    /// if more checks have failed than that budget allows; then nothing changes.
    pub fn allow_grades(&mut self, probability: f64) -> Result<(), SessionError> {
        let budget = self.meter.budget().with_grades(probability)?;
        Ok(self.meter.set_budget(budget)?)
    }

    /// The MAC, for verification. It does not count nonces or the budget.
    pub fn mac(&self) -> &AnyMac {
        &self.mac
    }

    /// The length of a nonce in bytes; 0 for a deterministic MAC.
    pub fn nonce_bytes(&self) -> usize {
        self.nonce_bytes
    }

    /// Number of messages tagged under the key, including those that were reserved before it was
    /// restored.
    pub fn used(&self) -> u64 {
        self.meter.usage().messages - self.reserved()
    }

    /// Number of messages that the key may still tag, by its budget and its nonces, including the
    /// reserved ones.
    pub fn left(&self) -> u64 {
        let nonces = match self.meter.mac().peek() {
            Ok(Some(next)) => next.over().saturating_add(1),
            Ok(None) => u128::MAX,
            Err(_) => 0,
        };
        let left = self.meter.budget().messages - self.used();
        u64::try_from(nonces).unwrap_or(u64::MAX).min(left)
    }

    /// Number of messages that are reserved and not tagged yet.
    pub fn reserved(&self) -> u64 {
        self.meter.reserved().messages
    }
}

/// Writes a saved session.
fn written(id: KeyId, next: &AnyNonce, usage: &Usage) -> [u8; Session::BYTES] {
    let length = (next.as_bytes().len() as u64).to_le_bytes();
    let fields: [&[u8]; 5] = [&MAGIC, id.as_bytes(), &length, &next.block(), &usage.to_bytes()];
    let mut saved = [0; Session::BYTES];
    let (above, sum) = saved.split_at_mut(Session::BYTES - 8);
    above.copy_from_slice(&fields.concat());
    sum.copy_from_slice(&checksum(above));
    saved
}

/// Reads the next nonce and the key's usage.
fn read(expected: KeyId, saved: &[u8]) -> Result<(&[u8], Usage), SessionError> {
    // Check the version before the length, which depends on it.
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
