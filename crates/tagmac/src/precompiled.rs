//! Compiles the default MAC into the library, so that programs only link it. Other MACs are
//! compiled where they are used, so that programs pay only for those.

use crate::algo::{PmacAes128, XorSum};
use crate::bits::Bits;
use crate::construction;
use crate::error::Error;
use crate::isa::{Level, Register};
use crate::tag::Tag;

/// The functions of the default MAC. The static is exported, because only reachable functions are
/// compiled; it is not `#[used]`, which would keep it in programs that use another MAC.
pub static COMPILED: Compiled = Compiled((
    PmacAes128::with_level,
    construction::one_shot,
    construction::absorb_and_finalize,
    construction::absorb,
    construction::finalize,
));
pub struct Compiled(#[allow(dead_code, reason = "it only needs to be compiled")] Functions);
type Functions = (
    fn(&[u8; 16], Level) -> PmacAes128,
    fn(&PmacAes128, &(), &[u8]) -> Register,
    fn(&PmacAes128, &(), &mut (), Bits<'_>) -> Result<Tag, Error>,
    fn(&PmacAes128, &mut XorSum, u64, &[u8]),
    fn(&PmacAes128, &(), &mut (), &XorSum, u64, Bits<'_>) -> Result<Tag, Error>,
);
