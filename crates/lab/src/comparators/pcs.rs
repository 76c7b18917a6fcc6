//! The protected counter sum (Bernstein), as in section 4.4 of the PMAC paper. Our choice of f is
//! f(x) = HMAC-SHA256(K, x) for inputs of 384 bits.
//!
//! 10* always, M = M_1 .. M_l in pieces of 256 bits, i as 128 bits:
//!
//! ```text
//! Sigma = f(1, M_1) ^ .. ^ f(l, M_l)      Tag = f(0, Sigma)
//! ```

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tagmac::Tag;
use tagmac::cipher::CipherBlock;
use tagmac::isa::{Isa, Level, Levels};

use crate::blocks::padded;
use crate::parallel::{Mode, Parallel, Sums, whole};

type Piece = [u8; 32];

/// PCS-HMAC-SHA256.
#[derive(Clone)]
pub struct PcsHmacSha256(Hmac<Sha256>);

impl PcsHmacSha256 {
    /// Makes the protected counter sum under a key.
    pub fn with_level(key: &[u8; 32], level: Level) -> Parallel<Self> {
        let f = Hmac::new_from_slice(key).expect("any key");
        Parallel::new(PcsHmacSha256(f), level)
    }

    fn f(&self, i: u64, piece: &Piece) -> Piece {
        let f = self.0.clone().chain_update(u128::from(i).to_be_bytes()).chain_update(piece);
        f.finalize().into_bytes().into()
    }
}

impl Mode for PcsHmacSha256 {
    type Word = Piece;
    type Digest = Piece;
    type Nonce = ();
    const LEVELS: Levels = Levels::Narrow;
    const BLOCK_BYTES: usize = 32;
    const TAG_BYTES: usize = 32;

    fn absorb<I: Isa>(&self, _: I, sums: &mut Sums<Piece>, at: u64, pieces: &[u8]) {
        for (i, piece) in (at + 1..).zip(pieces.as_chunks().0) {
            sums.xor = sums.xor.xor(&self.f(i, piece));
        }
    }

    fn finish<I: Isa>(&self, _: I, sums: Sums<Piece>, at: u64, last: &[u8]) -> Piece {
        sums.xor.xor(&self.f(at + 1, &padded(last)))
    }

    fn tag<I: Isa>(&self, _: I, (): &(), sigma: Piece) -> Tag {
        whole(&self.f(0, &sigma))
    }
}
