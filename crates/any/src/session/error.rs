//! What a session refuses.

use core::fmt;

use tagmac::Error;
use tagmac_bounds::BoundError;

use crate::key_id::KeyId;
use crate::meter::MeterError;
use crate::registry::Algorithm;

/// What a [`Session`](super::Session) refuses.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionError {
    /// A session that was saved or restored has used what its last save covers.
    ReserveUsedUp,
    /// No theorem here bounds the MAC, so that nothing says how much its key may do.
    NoTheorem {
        /// The MAC.
        algorithm: Algorithm,
    },
    /// A saved session has the wrong number of bytes.
    SavedBytes {
        /// The bytes that it has.
        expected: usize,
        /// The bytes given.
        found: usize,
    },
    /// A saved session does not begin with the magic bytes of this version.
    SavedMagic,
    /// A saved session was damaged.
    SavedChecksum,
    /// A saved session is of another key.
    ForeignKey {
        /// The key's id.
        expected: KeyId,
        /// The id that was saved.
        found: KeyId,
    },
    /// No such budget.
    Bound(BoundError),
    /// The budget does not have it, or the MAC refuses it.
    Meter(MeterError),
}

/// What to do about a saved session that is no more.
const NOT_ANEW: &str = "do not begin anew under its key, which would use the same nonces";

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionError::ReserveUsedUp => f.write_str(
                "expected a message that the session's last save covers, found none left: \
                 reserve more, and save",
            ),
            SessionError::NoTheorem { algorithm } => {
                write!(f, "{algorithm}: expected no probability, because no theorem bounds it")
            }
            SessionError::SavedBytes { expected, found } => {
                write!(f, "expected {expected} bytes of a saved session, found {found}: {NOT_ANEW}")
            }
            SessionError::SavedMagic => write!(
                f,
                "expected a saved session that begins with 'tagmacS2', found something else: {NOT_ANEW}"
            ),
            SessionError::SavedChecksum => write!(
                f,
                "expected the checksum of the saved session, found another, as it was damaged: {NOT_ANEW}"
            ),
            SessionError::ForeignKey { expected, found } => {
                write!(f, "expected a saved session of the key {expected}, found one of {found}")
            }
            SessionError::Bound(error) => error.fmt(f),
            SessionError::Meter(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SessionError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            SessionError::Bound(error) => Some(error),
            SessionError::Meter(error) => Some(error),
            _ => None,
        }
    }
}

impl From<BoundError> for SessionError {
    fn from(error: BoundError) -> SessionError {
        SessionError::Bound(error)
    }
}

impl From<MeterError> for SessionError {
    fn from(error: MeterError) -> SessionError {
        SessionError::Meter(error)
    }
}

impl From<Error> for SessionError {
    fn from(error: Error) -> SessionError {
        SessionError::Meter(error.into())
    }
}
