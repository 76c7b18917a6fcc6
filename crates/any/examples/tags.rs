//! Reads lines `ALGORITHM KEY NONCE BITS MESSAGE` on standard input, with bytes in hex and `-` for
//! empty ones, and prints each message's tag. `scripts/compare-languages` compares the other
//! languages with it.
//!
//! ```console
//! $ echo PMAC-AES128 000102030405060708090a0b0c0d0e0f - 128 616263 |
//!     cargo run --release -p tagmac-any --example tags
//! dbd0b134c556c3779d5f113fd277b3d8
//! ```

use std::error::Error;
use std::io;

use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac};

fn main() -> Result<(), Box<dyn Error>> {
    for line in io::stdin().lines() {
        let line = line?;
        let [name, key, nonce, bits, message] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("expected five words, found '{line}'").into());
        };
        let algorithm = Algorithm::from_name(name)?;
        let mac = AnyMac::with_options(algorithm, &bytes(key)?, bits.parse()?, Level::best())?;
        let tag = mac.tag(&bytes(nonce)?, &bytes(message)?)?;
        let hex: String = tag.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        println!("{hex}");
    }
    Ok(())
}

fn bytes(hex: &str) -> Result<Vec<u8>, std::num::ParseIntError> {
    let digits = hex.strip_prefix('-').unwrap_or(hex);
    (0..digits.len() / 2).map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16)).collect()
}
