//! The default MAC, compiled with the library, so that programs link it. Another MAC is compiled where it is
//! used, so that nobody pays for those they do not use.

use crate::algo::{PmacAes128, XorSum};
use crate::bits::Bits;
use crate::construction;
use crate::error::Error;
use crate::isa::{Level, Register};
use crate::tag::Tag;

/// What the default MAC is made of. Exported, because what is not is not compiled; not `#[used]`, which
/// would keep it in programs that have another MAC.
pub static COMPILED: Compiled = Compiled((
    PmacAes128::with_level,
    construction::one_shot,
    construction::absorb_and_finalize,
    construction::absorb,
    construction::finalize,
));
pub struct Compiled(#[allow(dead_code, reason = "it is there to be compiled")] Functions);
type Functions = (
    fn(&[u8; 16], Level) -> PmacAes128,
    fn(&PmacAes128, &(), &[u8]) -> Register,
    fn(&PmacAes128, &(), &mut (), Bits<'_>) -> Result<Tag, Error>,
    fn(&PmacAes128, &mut XorSum, u64, &[u8]),
    fn(&PmacAes128, &(), &mut (), &XorSum, u64, Bits<'_>) -> Result<Tag, Error>,
);
