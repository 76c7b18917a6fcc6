//! Checks of a tag's first words, for the MAC that has grades: UMAC-128.

use core::fmt;

use tagmac::{Assurance, Bits, Mismatch, Nonce, Tag, Umac128, UmacNonce};

use crate::mac::AnyMac;
use crate::meter::{MeterError, Metered, MeteredVerifyError};
use crate::registry::Algorithm;
use crate::registry::is_chosen;

/// An error of a check of a tag's first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GradeError {
    /// The words are wrong. A meter counts the failure.
    Mismatch,
    /// Only whole tags of this MAC can be checked.
    NoGrades {
        /// The MAC.
        algorithm: Algorithm,
    },
    /// Refused before any check: [`MeterError::BudgetExhausted`].
    Refused(MeterError),
}

impl fmt::Display for GradeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GradeError::Mismatch => Mismatch.fmt(f),
            GradeError::NoGrades { algorithm } => {
                write!(f, "{algorithm}: only whole tags can be checked; UMAC-128 has grades")
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
    /// Checks the first words of a tag. [`Umac::verify_prefix`](tagmac::Umac::verify_prefix)
    /// describes what the answers reveal; [`Session::verify_prefix`](super::Session::verify_prefix)
    /// counts failures.
    ///
    /// # Errors
    ///
    /// [`GradeError::Mismatch`] unless `tag` has 128 bits and its first words are those of the
    /// message's tag, [`GradeError::NoGrades`] for all algorithms except UMAC-128.
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

    /// The concrete MAC, if it has grades.
    fn graded(&self) -> Result<&Umac128, GradeError> {
        // Not asked where it is not built, so that nothing of it is.
        let graded = is_chosen("UMAC-128").then(|| self.mac.as_any().downcast_ref());
        graded.flatten().ok_or(GradeError::NoGrades { algorithm: self.algorithm })
    }
}

/// A check of first words that the meter of the MAC's key counts.
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
