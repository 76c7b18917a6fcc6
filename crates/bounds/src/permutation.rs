//! The cost of pads from a permutation, whose outputs never repeat.
//!
//! Bernstein ("Stronger security bounds for Wegman-Carter-Shoup authenticators", Eurocrypt 2005):
//! take a hash with differences of at most eps under pads from a random permutation of N blocks.
//! After C tags, an attempt passes with a probability of at most
//!
//! ```text
//! eps (1 - C/N)^(-(C + 1)/2)
//! ```
//!
//! `docs/design/theory.md` ("Pads from a permutation") has the argument for pads that are pieces of
//! a block.

use super::BoundError;
use super::up::UpperFloat;

/// The maximum number of messages for the factor, 2^68: it is 2^185 there.
const MAX: u128 = 0x10_0000_0000_0000_0000;

/// (1 - C/N)^(-(C + 1)/2) for N = 2^128: 1.65 at C = 2^64, 2^11.5 at 2^66.
pub(super) fn factor(c: u128) -> Result<UpperFloat, BoundError> {
    if c > MAX {
        return Err(BoundError::Messages { max: MAX, found: c });
    }
    // -ln(1 - x) is at most x/(1 - x), so the exponent is at most C (C + 1) / (2 (N - C)). This is
    // too large by less than one part in 2^60.
    let one_below = UpperFloat::one_below(128, c).expect("c is below 2^128");
    let exponent = UpperFloat::from(c).times(UpperFloat::from(c + 1)).scaled(-1).times(one_below);
    Ok(exponent.exp())
}
