//! The Go code's own vectors.

use tagmac_lab::attacks::lightmac_go::go_code;

fn hex(text: &str) -> Vec<u8> {
    let digit = |i: usize| u8::from_str_radix(&text[i..i + 2], 16).expect("hex");
    (0..text.len()).step_by(2).map(digit).collect()
}

/// The code's own two vectors, which `vectors/lightmac.json` has as negative rows.
#[test]
fn the_codes_vectors() {
    let text = include_str!("../../../../../vectors/lightmac.json");
    let rows: Vec<serde_json::Value> = serde_json::from_str(text).expect("an array of rows");
    let of = |row: &serde_json::Value, name| hex(row[name].as_str().expect("a string"));
    let mut checked = 0;
    for row in rows.iter().filter(|row| row["status"] == "other padding") {
        let (key, message) = (of(row, "key"), of(row, "msg"));
        let (k1, k2) = (key.first_chunk().expect("16"), key.last_chunk().expect("16"));
        assert_eq!(go_code(k1, k2)(&[], &message), of(row, "tag"));
        checked += 1;
    }
    assert_eq!(checked, 3);
}
