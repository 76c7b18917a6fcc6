//! Checks of a tag's first words, for the MAC that has grades: UMAC-128.

use core::fmt;

use tagmac::{Assurance, Bits, Mismatch, Nonce, Tag, Umac128, UmacNonce};

use crate::mac::AnyMac;
use crate::meter::{MeterError, Metered, MeteredVerifyError};
use crate::registry::Algorithm;

/// Why a check of a tag's first words gave no "yes".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GradeError {
    /// The words are wrong. A meter has counted this.
    Mismatch,
    /// Tags of this MAC are checked as a whole.
    NoGrades {
        /// The MAC.
        algorithm: Algorithm,
    },
    /// Nothing was checked: [`MeterError::BudgetExhausted`].
    Refused(MeterError),
}

impl fmt::Display for GradeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GradeError::Mismatch => Mismatch.fmt(f),
            GradeError::NoGrades { algorithm } => {
                write!(f, "{algorithm}: tags are checked as a whole; those of UMAC-128 have grades")
            }
            GradeError::Refused(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for GradeError {}

impl From<Mismatch> for GradeError {
    fn from(Mismatch: Mismatch) -> GradeError {
        GradeError::Mismatch
    }
}

impl From<MeteredVerifyError> for GradeError {
    fn from(error: MeteredVerifyError) -> GradeError {
        match error {
            MeteredVerifyError::Mismatch => GradeError::Mismatch,
            MeteredVerifyError::Refused(error) => GradeError::Refused(error),
        }
    }
}

impl AnyMac {
    /// Checks the first words of a tag, see [`Umac::verify_prefix`](tagmac::Umac::verify_prefix) for what
    /// such answers give away: [`Session::verify_prefix`](super::Session::verify_prefix) counts them.
    ///
    /// # Errors
    ///
    /// [`GradeError::Mismatch`] unless `tag` has 128 bits and begins as the tag of the message,
    /// [`GradeError::NoGrades`] for all algorithms but UMAC-128.
    pub fn verify_prefix<'m>(
        &self,
        nonce: &[u8],
        message: impl Into<Bits<'m>>,
        tag: &Tag,
        grade: Assurance,
    ) -> Result<(), GradeError> {
        let nonce = UmacNonce::from_slice(nonce).map_err(|_| Mismatch);
        Ok(self.graded()?.verify_prefix(&nonce?, message, tag, grade)?)
    }

    /// The MAC with its type, if that has grades.
    fn graded(&self) -> Result<&Umac128, GradeError> {
        self.mac.as_any().downcast_ref().ok_or(GradeError::NoGrades { algorithm: self.algorithm })
    }
}

/// A check that a meter of the MAC's key counts.
pub(crate) fn verify_metered<M>(
    meter: &Metered<M>,
    mac: &AnyMac,
    nonce: &[u8],
    message: Bits<'_>,
    tag: &Tag,
    grade: Assurance,
) -> Result<(), GradeError> {
    let mac = mac.graded()?;
    meter.verifying_prefix(message, grade, |_, message| {
        let nonce = UmacNonce::from_slice(nonce).map_err(|_| Mismatch)?;
        mac.verify_prefix(&nonce, message, tag, grade)
    })?;
    Ok(())
}
