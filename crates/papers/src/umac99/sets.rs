//! The paper's named parameter sets (section 2.2), and its worked example (figure 1).

use super::prf::Umac99Prf;
use super::shape::NhShape;

/// A named set of parameters.
///
/// | set | words | block | streams | PRF | forged with about |
/// |---|---|---|---|---|---|
/// | `Std30` | 32 bits, signed, two levels | 64 words, 16 results | 1 | HMAC-SHA1 | 2^-30 |
/// | `Std60` | as `Std30` | as `Std30` | 2 | HMAC-SHA1 | 2^-60 |
/// | `Mmx15` | 16 bits, signed, strided | 2048 words | 1 | CBC3 with RC6 | 2^-15 |
/// | `Mmx30` | as `Mmx15` | as `Mmx15` | 2 | CBC3 with RC6 | 2^-30 |
/// | `Mmx60` | as `Mmx15` | as `Mmx15` | 4 | CBC3 with RC6 | 2^-60 |
/// | `Figure1` | 32 bits, unsigned | 1024 words | 1 | HMAC-SHA1 | 2^-32 |
///
/// All sets hash 4096 bytes at once and are little-endian. The limits of CBC3 are in its blocks of
/// 16 bytes: the nonce, 4, 8 or 16 bytes for each 4096 of the message, and the length. With counted
/// nonces, a key of an MMX set is good for at least 2^48 blocks at 2^-32, which is 2^40.5 messages
/// of 1 MiB for `Mmx60`. With random nonces, `Mmx15` is limited to 2^24 messages, and `Mmx30` to
/// 2^31.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Umac99Set {
    /// UMAC-STD-30.
    Std30,
    /// UMAC-STD-60.
    Std60,
    /// UMAC-MMX-15.
    Mmx15,
    /// UMAC-MMX-30.
    Mmx30,
    /// UMAC-MMX-60.
    Mmx60,
    /// The special case at the start of the paper.
    Figure1,
}

impl Umac99Set {
    /// Returns the hash's parameters.
    pub fn shape(self) -> NhShape {
        let (words, word_bits, streams) = match self {
            Umac99Set::Std30 => (64, 32, 1),
            Umac99Set::Std60 => (64, 32, 2),
            Umac99Set::Mmx15 => (2048, 16, 1),
            Umac99Set::Mmx30 => (2048, 16, 2),
            Umac99Set::Mmx60 => (2048, 16, 4),
            Umac99Set::Figure1 => (1024, 32, 1),
        };
        let shape = NhShape::new(words, word_bits).and_then(|shape| match self {
            Umac99Set::Std30 | Umac99Set::Std60 => {
                shape.signed().toeplitz(streams, 2)?.two_level(16)
            }
            Umac99Set::Mmx15 | Umac99Set::Mmx30 | Umac99Set::Mmx60 => {
                shape.signed().strided()?.toeplitz(streams, 8)
            }
            Umac99Set::Figure1 => Ok(shape),
        });
        shape.expect("valid parameters")
    }

    /// Returns the PRF.
    pub fn prf(self) -> Umac99Prf {
        match self {
            Umac99Set::Std30 | Umac99Set::Std60 | Umac99Set::Figure1 => Umac99Prf::HmacSha1,
            Umac99Set::Mmx15 | Umac99Set::Mmx30 | Umac99Set::Mmx60 => Umac99Prf::Cbc3Rc6,
        }
    }
}
