// Senders of packets.

use std::ffi::c_int;

use tagmac::{Assurance, Tag};
use tagmac_any::meter::Budget;
use tagmac_any::{AnyMac, GradeError};
use tagmac_border::{Failure, Room, bytes, ensure};

use crate::key::{Key, keyed};
use crate::slot::{Held, free, slot};
use crate::status::{mismatch, refused_grade, refused_session, status, value};

/// What the sender of packets holds: a key, the next nonce under it, and what the key may still do.
/// Begin with zeros: `tagmac_session session = {0};`. Several threads may read one session at once, by the
/// calls that take it as const. A call that changes it has to be the only one, or it gets TAGMAC_MISUSE. Do
/// not move or copy it: the calls refuse a copy, which would use the same nonces.
///
/// One session per key, or two use the same nonces. One that ends with the process is never saved,
/// and needs a key of its own. For one that outlives the process: STORE BEFORE YOU USE.
/// tagmac_session_reserve() takes the nonces of the next messages, tagmac_session_save() gives a state
/// from which no restored session reuses them, and that has to be stored, in place of the one before
/// it, before the next tag is used. A session that was saved or restored tags no message that its
/// last save does not cover.
#[repr(C)]
pub struct Session {
    opaque: [usize; 4],
}

/// Bytes of a saved session.
pub const TAGMAC_SESSION_SAVED: usize = 104;

const _: () = assert!(TAGMAC_SESSION_SAVED == tagmac_any::Session::BYTES);

/// What a session holds.
struct Sending {
    session: tagmac_any::Session,
    /// Bytes of a tag. The MAC knows them behind a call, which each packet would wait for.
    tag_bytes: usize,
}

impl Held for Sending {
    const NAME: &'static str = "tagmac_session";
    const MAGIC: usize = 0x7365_7373;
}

/// The slot of a session, and what to do with what it holds.
fn with(
    session: *mut Session,
    body: impl FnOnce(&mut Sending) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // SAFETY: the caller of the C function vouches for the session.
    let mut session = unsafe { slot::<Sending, Session>(session) }?.alone()?;
    body(session.get()?)
}

/// Makes a session of a key.
fn put(
    session: *mut Session,
    key: *const Key,
    max_message: u64,
    probability: f64,
    make: impl FnOnce(AnyMac, Budget) -> Result<tagmac_any::Session, Failure>,
) -> Result<(), Failure> {
    // What a session leaves empty would keep what calls before have left on the stack.
    tagmac::wipe_stack::<{ 16 << 10 }>();
    put_below(session, key, max_message, probability, make)
}

/// The same, in a frame that lies where the stack was wiped.
#[inline(never)]
fn put_below(
    session: *mut Session,
    key: *const Key,
    max_message: u64,
    probability: f64,
    make: impl FnOnce(AnyMac, Budget) -> Result<tagmac_any::Session, Failure>,
) -> Result<(), Failure> {
    // SAFETY: the caller of the C function vouches for the session and the key.
    let (mut session, key) = unsafe { (slot::<Sending, Session>(session)?.alone()?, keyed(key)?) };
    session.vacant()?;
    let max_message = (max_message != 0).then_some(max_message);
    let probability = (probability != 0.0).then_some(probability);
    let budget = key.mac.budget(max_message, probability).map_err(refused_session)?;
    session.put(Sending { session: make(key.mac.clone(), budget)?, tag_bytes: key.tag_bytes() })
}

/// Begins a session of a key that is new, or whose next nonce is kept elsewhere. Its nonces count up
/// from `next_nonce`, big-endian, or from zeros if that is NULL, and have `nonce_size` bytes; NULL and 0
/// for algorithms that take none. The session keeps what it needs of the key.
///
/// The key's messages have at most `max_message` bytes (0: 1 MiB, or the algorithm's limit if that is
/// shorter), and are as many as the theorem about the algorithm allows until a forgery has that
/// probability, such as 1e-9. Wrong tags have the same limit by themselves, so that both used up give at most
/// twice that. With a probability of 0 they are counted only; CMAC and HMAC take no
/// other.
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
                // SAFETY: the header asks for memory of that size.
                unsafe { bytes("the nonce", next_nonce, nonce_size) }?
            };
            tagmac_any::Session::new(mac, nonce, budget).map_err(refused_session)
        })
    })
}

/// Goes on with the session that tagmac_session_save() saved, under the same key; the last two
/// arguments are as with tagmac_session_init(). Call tagmac_session_reserve() and
/// tagmac_session_save() before you tag: nothing is covered yet.
///
/// TAGMAC_INPUT if the saved session is damaged or of another key, and TAGMAC_LIMIT if the key has done
/// more than the budget allows.
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
        // SAFETY: the header asks for memory of that size.
        let saved = unsafe { bytes("a saved session", saved, saved_size) }?;
        put(session, key, max_message, probability, |mac, budget| {
            tagmac_any::Session::restore(mac, saved, budget).map_err(refused_session)
        })
    })
}

/// Writes the tag of a message and the nonce that goes with it: all that the sender of packets calls.
/// `tag_size` has to be tagmac_key_tag_size() of the key and `nonce_size` tagmac_session_nonce_size();
/// the nonce is NULL and 0 for algorithms that take none.
///
/// TAGMAC_LIMIT if the last save does not cover the message, and if the budget or the nonces have no
/// more. No call that fails uses up a nonce.
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
        // SAFETY: the header asks for memory of that size.
        let message = unsafe { bytes("the message", message, message_size) }?;
        with(session, |sending| {
            let nonce_bytes = sending.session.nonce_bytes();
            // SAFETY: the header asks for room of those sizes.
            let (tag_room, nonce_room) = unsafe {
                let tag_room = Room::new("a tag", tag, tag_size, sending.tag_bytes)?;
                (tag_room, Room::new("a nonce", nonce, nonce_size, nonce_bytes)?)
            };
            let (nonce, tag) = sending.session.tag(message).map_err(refused_session)?;
            tag_room.fill(tag.as_bytes());
            nonce_room.fill(nonce.as_bytes());
            Ok(())
        })
    })
}

/// Checks the tag of a message under the key, in constant time, and counts it if it is wrong: 0 if it is
/// right, TAGMAC_MISMATCH if it is wrong, TAGMAC_LIMIT if the budget has no failure left, and then nothing
/// was checked. The nonce is that of the message's sender, and none of the session's is used up.
///
/// `words` is 0 for the whole tag. A session of UMAC-128 checks the first 1, 2, 3 or all 4 words of 4
/// bytes, once tagmac_session_allow_grades() allows that; the tag is given whole. Save after a failure
/// where somebody else can make the process start again.
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
        // SAFETY: the header asks for memory of those sizes.
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
            ensure(found == expected, tagmac::Error::TagBytes { expected, found })?;
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

/// Lets a session of UMAC-128 check the first words of tags. Fewer failures are allowed from now on, for
/// each number of words: as many as keep the chance that a forger's attempt ever passes, at any number of
/// words, to the probability, such as 1e-3. Below 1.5e-9 that is none, and first words stay refused. After a
/// first word that passed there is no bound: check the whole tag at once, and end the key if it is wrong (so
/// whoever can change the last bytes of a tag on its way can end the key).
/// Failures are saved and this permission is not: call it again after tagmac_session_restore().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_allow_grades(
    session: *mut Session,
    probability: f64,
) -> c_int {
    status(|| {
        with(session, |sending| sending.session.allow_grades(probability).map_err(refused_session))
    })
}

/// Takes the nonces and the budget of `messages` messages more. Save then, and store what that gives,
/// before you tag. What is left of a reserve when the process ends is lost.
///
/// TAGMAC_LIMIT if the budget or the nonces have not as many, and then nothing is reserved. The last
/// nonce cannot be reserved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_reserve(session: *mut Session, messages: u64) -> c_int {
    status(|| with(session, |sending| sending.session.reserve(messages).map_err(refused_session)))
}

/// Writes the session as it is once all that is reserved has been used: the nonce after that, and the
/// usage. Store it in place of the one before it, and only then tag: from now on the session tags
/// what is reserved, and no more before it is saved again. `saved_size` has to be
/// TAGMAC_SESSION_SAVED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_save(
    session: *mut Session,
    saved: *mut u8,
    saved_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header asks for room of that size.
        let room =
            unsafe { Room::new("a saved session", saved, saved_size, TAGMAC_SESSION_SAVED) }?;
        with(session, |sending| {
            room.fill(&sending.session.save().map_err(refused_session)?);
            Ok(())
        })
    })
}

/// Counts messages: those tagged under the key, with what was reserved before it was restored; those
/// that may still be tagged; and those of the latter that are reserved.
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
        ensure(!null, "expected room for the counts, found a null pointer")?;
        // SAFETY: the header asks for a session.
        let Sending { session, .. } = &*unsafe { slot::<Sending, Session>(session) }?.read()?;
        let counts = [session.used(), session.left(), session.reserved()];
        for (room, count) in rooms.into_iter().zip(counts) {
            // SAFETY: not null; the header asks for room.
            unsafe { room.write_unaligned(count) };
        }
        Ok(())
    })
}

/// Bytes of the session's nonces. 0 for an empty session, and for algorithms that take none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_nonce_size(session: *const Session) -> usize {
    value(0, || {
        // SAFETY: the header asks for a session.
        let sending = unsafe { slot::<Sending, Session>(session) }?.read()?;
        Ok(sending.session.nonce_bytes())
    })
}

/// Wipes a session, frees what it holds, and leaves zeros. Without effect on an empty session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_session_free(session: *mut Session) -> c_int {
    // SAFETY: the header asks for a session.
    status(|| unsafe { free::<Sending, Session>(session) })
}

/// Bytes of a tagmac_session, for languages that cannot ask the compiler.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_session_size() -> usize {
    size_of::<Session>()
}

/// The alignment of a tagmac_session in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_session_align() -> usize {
    align_of::<Session>()
}
