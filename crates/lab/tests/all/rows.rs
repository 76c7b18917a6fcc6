//! Reads `vectors/*.json`; `reference/lab_vectors.py` defines their schema.

use serde_json::Value;

/// Returns the rows of a file.
pub fn rows(file: &str) -> Vec<Value> {
    let path = format!("{}/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).expect("an array of rows")
}

/// Returns a field that is text.
pub fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_else(|| panic!("no text in '{field}' of {row}"))
}

/// Decodes hex.
pub fn hex(digits: &str) -> Vec<u8> {
    let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hex");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Returns the message of a row: hex, or a repetition.
pub fn message(row: &Value) -> Vec<u8> {
    let msg = &row["msg"];
    if let Some(digits) = msg.as_str() {
        return hex(digits);
    }
    let number = |field: &str| msg[field].as_u64().expect("a number") as usize;
    let mut message = hex(text(msg, "repeat")).repeat(number("count"));
    assert!(message.len() >= number("total_bytes"), "{row}");
    message.truncate(number("total_bytes"));
    message
}
