//! Reads `vectors/*.json`. `vectors/README.md` describes the schema.

#![allow(dead_code, reason = "the tests of two crates share this")]

use serde_json::Value;
use tagmac::Bits;

/// The directory of the vectors.
pub const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors");

/// Returns the parsed contents of a file.
pub fn parsed(file: &str) -> Value {
    let path = format!("{VECTORS}/{file}");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The rows of a file.
pub fn rows(file: &str) -> Vec<Value> {
    let Value::Array(rows) = parsed(file) else { panic!("{file}: expected an array of rows") };
    assert!(!rows.is_empty(), "{file} is empty");
    rows
}

/// Returns the MAC's name without its cipher and parameters: `PMAC` of `PMAC-AES128`.
pub fn family(name: &str) -> &str {
    name.split(['-', ' ', ',']).next().unwrap_or(name)
}

/// Returns a text field.
pub fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_else(|| panic!("no text in '{field}' of {row}"))
}

/// Bytes from hex digits.
pub fn hex(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2), "half a byte in {digits}");
    let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hex");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// A string of bits.
pub struct BitString {
    bytes: Vec<u8>,
    bits: usize,
}

impl BitString {
    /// Returns the bytes, possibly with a partial last byte, and the number of bits.
    pub fn into_parts(self) -> (Vec<u8>, usize) {
        (self.bytes, self.bits)
    }

    pub fn bits(&self) -> Bits<'_> {
        Bits::new(&self.bytes, self.bits).expect("as many bytes as the bits need")
    }

    /// Returns the bytes if the string is whole bytes.
    pub fn whole(&self) -> Option<&[u8]> {
        (self.bits == 8 * self.bytes.len()).then_some(&self.bytes)
    }
}

/// Returns the string of `field`: hex, a repetition, or 0s and 1s in the field with the suffix
/// `_bits`.
pub fn string(row: &Value, field: &str) -> BitString {
    if let Some(digits) = row.get(format!("{field}_bits")) {
        let digits = digits.as_str().expect("a text of 0s and 1s");
        let mut bytes = vec![0; digits.len().div_ceil(8)];
        for (i, _) in digits.bytes().enumerate().filter(|(_, bit)| *bit == b'1') {
            bytes[i / 8] |= 0x80 >> (i % 8);
        }
        return BitString { bytes, bits: digits.len() };
    }
    let bytes = match &row[field] {
        Value::String(digits) => hex(digits),
        repeated => {
            let count = repeated["count"].as_u64().expect("a count") as usize;
            let mut bytes = hex(text(repeated, "repeat")).repeat(count);
            bytes.truncate(repeated["total_bytes"].as_u64().expect("a length") as usize);
            bytes
        }
    };
    BitString { bits: 8 * bytes.len(), bytes }
}
