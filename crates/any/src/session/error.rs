//! Errors of sessions.

use core::fmt;

use tagmac::Error;
use tagmac_bounds::BoundError;

use crate::key_id::KeyId;
use crate::meter::MeterError;
use crate::registry::Algorithm;

/// An error of a [`Session`](super::Session).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionError {
    /// A saved or restored session has used all messages that its last save covers.
    ReserveUsedUp,
    /// No theorem here bounds the MAC, so no budget follows from a probability.
    NoTheorem {
        /// The MAC.
        algorithm: Algorithm,
    },
    /// The saved session has the wrong length.
    SavedBytes {
        /// The required length in bytes.
        expected: usize,
        /// The length found in bytes.
        found: usize,
    },
    /// The saved session does not begin with the magic bytes of this version.
    SavedMagic,
    /// The saved session is damaged.
    SavedChecksum,
    /// The saved session belongs to another key.
    ForeignKey {
        /// The key's id.
        expected: KeyId,
        /// The id in the saved session.
        found: KeyId,
    },
    /// The budget cannot be computed.
    Bound(BoundError),
    /// The budget does not suffice, or the MAC refuses the message.
    Meter(MeterError),
}

/// The advice if a saved session is lost.
const NO_NEW_SESSION: &str = "do not start a new session under its key, which would reuse nonces";

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionError::ReserveUsedUp => f.write_str(
                "the session's reserve is used up: reserve more, save, and store the result",
            ),
            SessionError::NoTheorem { algorithm } => {
                write!(f, "{algorithm}: no theorem bounds it, so no probability can be given")
            }
            SessionError::SavedBytes { expected, found } => {
                write!(
                    f,
                    "expected {expected} bytes of a saved session, found {found}: {NO_NEW_SESSION}"
                )
            }
            SessionError::SavedMagic => {
                write!(f, "the saved session does not begin with 'tagmacS2': {NO_NEW_SESSION}")
            }
            SessionError::SavedChecksum => {
                write!(f, "the saved session is damaged: {NO_NEW_SESSION}")
            }
            SessionError::ForeignKey { expected, found } => {
                write!(f, "the saved session belongs to the key {found}; expected {expected}")
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
