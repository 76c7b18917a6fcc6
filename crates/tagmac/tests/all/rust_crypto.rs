//! RustCrypto's own tests of its trait `Mac`, on the vectors of `vectors/`. RustCrypto's macros
//! read another file format, so this calls their functions. The tests of two crates share this
//! file.

use digest::dev::{MacTestVector, MacTruncSide, mac_test, reset_mac_test};
use digest::{FixedOutputReset, KeyInit, Mac};
use serde_json::Value;

use crate::common::{hex, rows, string, text};

/// RustCrypto's tests cut each message in 63 ways; longer messages would take minutes.
pub const MAX_BYTES: usize = 5000;

fn leaked(bytes: Vec<u8>) -> &'static [u8] {
    bytes.leak()
}

/// Runs both of RustCrypto's tests on the rows of a MAC that are whole bytes. Returns the number of
/// rows.
pub fn mac_rows<M>(file: &str, name: &str) -> usize
where
    M: Mac + KeyInit + FixedOutputReset + Clone,
{
    let mut checked = 0;
    // CBC3 is not a MAC of the registry: `parameters.json` lists it as a pseudorandom function.
    let named =
        |row: &&Value| row["algorithm"] == name || row["family"] == "PRF" && row["prf"] == name;
    for row in rows(file).iter().filter(named) {
        let key = leaked(hex(text(row, "key")));
        if row.get("refuse").is_some_and(|what| what == "key") {
            assert!(<M as KeyInit>::new_from_slice(key).is_err(), "took the key of {row}");
            continue;
        }
        let message = string(row, "msg");
        let Some(input) = message.whole().filter(|bytes| bytes.len() <= MAX_BYTES) else {
            continue;
        };
        if row["tag_bits"].as_u64().is_some_and(|bits| !bits.is_multiple_of(8)) {
            continue;
        }
        let (input, tag) = (leaked(input.to_vec()), leaked(hex(text(row, "tag"))));
        let vector = MacTestVector { key, input, tag };
        let expected =
            if row["valid"].as_bool().expect("a flag") { Ok(()) } else { Err("whole message") };
        assert_eq!(mac_test::<M>(&vector, MacTruncSide::Left), expected, "{row}");
        assert_eq!(reset_mac_test::<M>(&vector, MacTruncSide::Left), expected, "{row}");
        checked += 1;
    }
    checked
}

/// Defines a test for each MAC, with the minimum number of rows that it must check.
macro_rules! macs {
    ($($test:ident: $mac:ty, $file:literal $name:literal, $least:literal;)+) => {$(
        #[test]
        fn $test() {
            let checked = $crate::rust_crypto::mac_rows::<tagmac::digest::Keyed<$mac>>($file, $name);
            assert!(checked >= $least, "only {checked} rows of {}", $name);
        }
    )+};
}
pub(crate) use macs;
