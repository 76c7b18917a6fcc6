// Sessions: senders of packets.

use std::ffi::c_int;

use tagmac::{Assurance, Tag};
use tagmac_any::meter::Budget;
use tagmac_any::{AnyMac, GradeError};
use tagmac_border::{Failure, Room, bytes, ensure};

use crate::key::{Key, keyed};
use crate::slot::{Held, free, slot};
use crate::status::{mismatch, refused_grade, refused_session, status, value};

/// A sender of packets: a key, its next nonce, and the remaining budget of the key. Begin with
/// zeros: `tagmac_session session = {0};`. Calls that take a const session may run in several
/// threads at the same time. A call that changes the session must be the only one; otherwise it
/// returns TAGMAC_MISUSE. Do not move or copy a session: the calls refuse a copy, which would reuse
/// its nonces.
///
/// Use only one session per key: two would use the same nonces. If you never save a session, make a
/// new key for it and do not use that key elsewhere. If the session must outlive the process: STORE
/// BEFORE YOU USE. First reserve nonces for the next messages with tagmac_session_reserve(). Then
/// call tagmac_session_save() and store its output in place of the previous one. Only then use the
/// next tag: sessions that are restored from that output never reuse its nonce. After a save or a
/// restore, a session tags only messages that its last save covers.
#[repr(C)]
pub struct Session {
    opaque: [usize; 4],
}

/// The size of a saved session in bytes.
pub const TAGMAC_SESSION_SAVED: usize = 104;

const _: () = assert!(TAGMAC_SESSION_SAVED == tagmac_any::Session::BYTES);

/// The contents of a `tagmac_session`.
struct Sending {
    session: tagmac_any::Session,
    /// The length of a tag in bytes. Copied here because asking the MAC is an indirect call, and
    /// every packet would wait for it.
    tag_bytes: usize,
}

impl Held for Sending {
    const NAME: &'static str = "tagmac_session";
    const MAGIC: usize = 0x7365_7373;
}

/// Runs `body` with the contents of a session, which it locks.
fn with(
    session: *mut Session,
    body: impl FnOnce(&mut Sending) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // SAFETY: the caller of the C function guarantees the session.
    let mut session = unsafe { slot::<Sending, Session>(session) }?.alone()?;
    body(session.get()?)
}

/// Makes a session from a key.
fn put(
    session: *mut Session,
    key: *const Key,
    max_message: u64,
    probability: f64,
    make: impl FnOnce(AnyMac, Budget) -> Result<tagmac_any::Session, Failure>,
) -> Result<(), Failure> {
    // Padding of the session would otherwise keep what earlier calls left on the stack.
    tagmac::wipe_stack::<{ 16 << 10 }>();
    put_below(session, key, max_message, probability, make)
}

/// The rest of [`put`], in a frame on the part of the stack that was wiped.
#[inline(never)]
fn put_below(
    session: *mut Session,
    key: *const Key,
    max_message: u64,
    probability: f64,
    make: impl FnOnce(AnyMac, Budget) -> Result<tagmac_any::Session, Failure>,
) -> Result<(), Failure> {
    // SAFETY: the caller of the C function guarantees the session and the key.
    let (mut session, key) = unsafe { (slot::<Sending, Session>(session)?.alone()?, keyed(key)?) };
    session.vacant()?;
    let max_message = (max_message != 0).then_some(max_message);
    let probability = (probability != 0.0).then_some(probability);
    let budget = key.mac.budget(max_message, probability).map_err(refused_session)?;
    session.put(Sending { session: make(key.mac.clone(), budget)?, tag_bytes: key.tag_bytes() })
}

/// Begins a session for a new key, or for one with its next nonce stored elsewhere. Nonces have
/// `nonce_size` bytes and count up, big-endian, from `next_nonce`, or from zero if that is NULL.
/// For algorithms without a nonce, pass NULL and 0. The session stays valid after the key is freed.
///
/// The last two arguments set the budget. Messages have at most `max_message` bytes; 0 means 1 MiB,
/// or the algorithm's limit if that is shorter. The number of messages is limited so that a forgery
/// succeeds with at most `probability`, such as 1e-9, by the theorem about the algorithm. Wrong
/// tags have a separate limit of the same probability, so that the sum is at most twice
/// `probability`. With a `probability` of 0 there is no limit, and messages are only counted; CMAC
/// and HMAC accept only 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_init(
    session: *mut Session,
    key: *const Key,
    next_nonce: *const u8,
    nonce_size: usize,
    max_message: u64,
    probability: f64,
) -> c_int {
    status(|| {
        put(session, key, max_message, probability, |mac, budget| {
            mac.algorithm().check_nonce(nonce_size)?;
            let nonce = if next_nonce.is_null() {
                &[0; 16][..nonce_size]
            } else {
                // SAFETY: the header requires memory of that size.
                unsafe { bytes("the nonce", next_nonce, nonce_size) }?
            };
            tagmac_any::Session::new(mac, nonce, budget).map_err(refused_session)
        })
    })
}

/// Continues a session that tagmac_session_save() wrote, under the same key. The last two arguments
/// are those of tagmac_session_init(). Call tagmac_session_reserve() and tagmac_session_save()
/// before you tag: a restored session covers no messages yet.
///
/// TAGMAC_INPUT if the saved session is damaged or belongs to another key. TAGMAC_LIMIT if the key
/// has already exceeded the budget.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_restore(
    session: *mut Session,
    key: *const Key,
    saved: *const u8,
    saved_size: usize,
    max_message: u64,
    probability: f64,
) -> c_int {
    status(|| {
        // SAFETY: the header requires memory of that size.
        let saved = unsafe { bytes("the saved session", saved, saved_size) }?;
        put(session, key, max_message, probability, |mac, budget| {
            tagmac_any::Session::restore(mac, saved, budget).map_err(refused_session)
        })
    })
}

/// Writes the tag of a message, and the nonce that it was made with. This is the only call that a
/// sender needs for each packet. `tag_size` must equal tagmac_key_tag_size() of the key, and
/// `nonce_size` must equal tagmac_session_nonce_size(). For algorithms without a nonce, pass NULL
/// and 0.
///
/// TAGMAC_LIMIT if the last save does not cover the message, or if the budget or the nonces are
/// used up. A call that fails does not use up a nonce.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_tag(
    session: *mut Session,
    tag: *mut u8,
    tag_size: usize,
    nonce: *mut u8,
    nonce_size: usize,
    message: *const u8,
    message_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires memory of that size.
        let message = unsafe { bytes("the message", message, message_size) }?;
        with(session, |sending| {
            let nonce_bytes = sending.session.nonce_bytes();
            // SAFETY: the header requires buffers of those sizes.
            let (tag_room, nonce_room) = unsafe {
                let tag_room = Room::new("the tag", tag, tag_size, sending.tag_bytes)?;
                (tag_room, Room::new("the nonce", nonce, nonce_size, nonce_bytes)?)
            };
            let (nonce, tag) = sending.session.tag(message).map_err(refused_session)?;
            tag_room.fill(tag.as_bytes());
            nonce_room.fill(nonce.as_bytes());
            Ok(())
        })
    })
}

/// Checks the tag of a message in constant time, and counts it against the budget if it is wrong.
/// Returns 0 if the tag is right and TAGMAC_MISMATCH if it is wrong. TAGMAC_LIMIT means that the
/// budget allows no more wrong tags; then nothing was checked. `nonce` is the nonce that came with
/// the message; the session's nonces are not used.
///
/// Set `words` to 0 to check the whole tag. A session of UMAC-128 can check only the first 1, 2, 3
/// or 4 words of 4 bytes, after tagmac_session_allow_grades(); pass the whole tag anyway. If others
/// can make the process restart, save the session after each failure, or its count is lost.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_session_verify(
    session: *mut Session,
    tag: *const u8,
    tag_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    message: *const u8,
    message_size: usize,
    words: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires memory of those sizes.
        let (tag, nonce, message) = unsafe {
            let (tag, nonce) =
                (bytes("the tag", tag, tag_size)?, bytes("the nonce", nonce, nonce_size)?);
            (tag, nonce, bytes("the message", message, message_size)?)
        };
        let grade = match Assurance::from_words(words) {
            None if words != 0 => {
                return Err(format!("expected 0 to 4 words of a tag, found {words}").into());
            }
            grade => grade,
        };
        with(session, |sending| {
            let Sending { session, tag_bytes } = sending;
            let (expected, found) = (*tag_bytes, tag.len());
            ensure(found == expected, || tagmac::Error::TagBytes { expected, found })?;
            session.mac().algorithm().check_nonce(nonce.len())?;
            let tag = Tag::new(tag, session.mac().tag_bits()).map_err(|_| mismatch())?;
            let checked = match grade {
                None => session.verify(nonce, message, &tag).map_err(GradeError::from),
                Some(grade) => session.verify_prefix(nonce, message, &tag, grade),
            };
            checked.map_err(refused_grade)
        })
    })
}

/// Allows a session of UMAC-128 to check only the first words of tags. From now on fewer failures
/// are allowed for each number of words. The limit keeps the probability that any attempt of a
/// forger passes, at any number of words, to at most `probability`, such as 1e-3. Below 1.5e-9 no
/// failures are allowed, and first words stay refused.
///
/// The bound ends with the first attempt that passes. So when the first words of a tag pass, check
/// the whole tag before you check another, and stop using the key if the whole tag is wrong. Note
/// that anyone who can change the last bytes of a tag in transit can thereby end the key.
///
/// tagmac_session_save() saves the failures but not this permission: call this again after
/// tagmac_session_restore().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_allow_grades(
    session: *mut Session,
    probability: f64,
) -> c_int {
    status(|| {
        with(session, |sending| sending.session.allow_grades(probability).map_err(refused_session))
    })
}

/// Reserves nonces and budget for `messages` more messages. Before you tag, call
/// tagmac_session_save() and store its output. Reserved messages that are not used before the
/// process ends are lost.
///
/// TAGMAC_LIMIT if the budget or the nonces do not suffice; then nothing is reserved. The last
/// nonce cannot be reserved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_reserve(session: *mut Session, messages: u64) -> c_int {
    status(|| with(session, |sending| sending.session.reserve(messages).map_err(refused_session)))
}

/// Writes the state that the session will have after all reserved messages: the next nonce and the
/// usage. Store the output in place of the previous one before you tag. From now on the session
/// tags only the reserved messages, until it is saved again. `saved_size` must be
/// TAGMAC_SESSION_SAVED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_save(
    session: *mut Session,
    saved: *mut u8,
    saved_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a buffer of that size.
        let room =
            unsafe { Room::new("the saved session", saved, saved_size, TAGMAC_SESSION_SAVED) }?;
        with(session, |sending| {
            room.fill(&sending.session.save().map_err(refused_session)?);
            Ok(())
        })
    })
}

/// Counts messages. `used`: tagged under the key, including all that were reserved before the
/// session was restored. `left`: may still be tagged. `reserved`: those of `left` that are
/// reserved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_counts(
    session: *const Session,
    used: *mut u64,
    left: *mut u64,
    reserved: *mut u64,
) -> c_int {
    status(|| {
        let rooms = [used, left, reserved];
        let null = rooms.iter().any(|room| room.is_null());
        ensure(!null, || "used, left or reserved is a null pointer")?;
        // SAFETY: the header requires a session.
        let Sending { session, .. } = &*unsafe { slot::<Sending, Session>(session) }?.read()?;
        let counts = [session.used(), session.left(), session.reserved()];
        for (room, count) in rooms.into_iter().zip(counts) {
            // SAFETY: not null; the header requires the memory.
            unsafe { room.write_unaligned(count) };
        }
        Ok(())
    })
}

/// Returns the length of the session's nonces in bytes. 0 for an empty session and for algorithms
/// without a nonce.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_nonce_size(session: *const Session) -> usize {
    value(0, || {
        // SAFETY: the header requires a session.
        let sending = unsafe { slot::<Sending, Session>(session) }?.read()?;
        Ok(sending.session.nonce_bytes())
    })
}

/// Wipes a session, frees its memory, and leaves zeros. Does nothing to an empty session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_free(session: *mut Session) -> c_int {
    // SAFETY: the header requires a session.
    status(|| unsafe { free::<Sending, Session>(session) })
}

/// Returns the size of a tagmac_session in bytes, for languages that cannot use sizeof.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_session_size() -> usize {
    size_of::<Session>()
}

/// Returns the alignment of a tagmac_session in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_session_align() -> usize {
    align_of::<Session>()
}
