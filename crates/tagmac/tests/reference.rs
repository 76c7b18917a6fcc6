//! Thousands of random messages, of bytes and of bits, against the slow programs in `reference/`,
//! which were written from the papers and share nothing with the library.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;
use tagmac::any::{Algorithm, AnyMac};
use tagmac::cipher::{Aes128, Aes192, Aes256, Cipher, Field};
use tagmac::isa::Level;
use tagmac::{Bits, EliMac, Error, LightMac, Pmac, Tag};

fn hex(row: &Value, field: &str) -> Vec<u8> {
    let digits = row[field].as_str().unwrap_or_else(|| panic!("no '{field}' in {row}"));
    let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hex");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Has the reference tag random messages for every MAC that it knows; the number of cases.
fn each_case(arguments: &[&str], check: &mut dyn FnMut(&Value)) -> usize {
    let program = format!("{}/../../reference/generate.py", env!("CARGO_MANIFEST_DIR"));
    // With --bits, only those that take bits.
    let bits = arguments.contains(&"--bits");
    let known = |a: &Algorithm| a.block().is_some() && (a.capabilities().bits || !bits);
    // The reference has no UMAC of 1999 yet.
    let known = |a: &Algorithm| known(a) && !a.name().starts_with("UMAC99");
    let names = Algorithm::all().filter(known).map(|algorithm| algorithm.name());
    let mut child = Command::new("python3")
        .arg(&program)
        .args(arguments)
        .args(names)
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    let mut count = 0;
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
        check(&serde_json::from_str(&line.expect("a line")).expect("an object"));
        count += 1;
    }
    assert!(child.wait().expect("it ends").success());
    count
}

fn expected(row: &Value) -> Tag {
    let bits = row["tag_bits"].as_u64().expect("a number") as usize;
    Tag::new(&hex(row, "tag"), bits).expect("a tag")
}

#[test]
fn agrees_on_random_messages() {
    let count = each_case(&["--count", "10000", "--seed", "2026"], &mut |row| {
        let algorithm =
            Algorithm::named(row["algorithm"].as_str().expect("a name")).expect("known");
        let (tag, key, message) = (expected(row), hex(row, "key"), hex(row, "msg"));
        for level in Level::all() {
            let mac = AnyMac::with(algorithm, &key, tag.bits(), level);
            let mac = mac.expect("a key and a tag length");
            let nonce = row.get("nonce").map(|_| hex(row, "nonce")).unwrap_or_default();
            assert!(mac.tag(&nonce, &message) == Ok(tag), "{level}: {row}");
        }
    });
    assert_eq!(count, 10_000);
}

/// The tag of a bit string by the typed MACs, which the registry, of bytes, does not have.
fn tag(
    name: &str,
    key: &[u8],
    tag_bits: usize,
    message: Bits<'_>,
    level: Level,
) -> Result<Tag, Error> {
    fn key_of<const N: usize>(key: &[u8]) -> &[u8; N] {
        key.try_into().expect("a key of the right length")
    }
    type Arguments<'a> = (&'a [u8], usize, Bits<'a>, Level);
    fn pmac<const N: usize, C: Cipher<Key = [u8; N], Block: Field>>(
        a: Arguments<'_>,
    ) -> Result<Tag, Error> {
        let (key, tag_bits, message, level) = a;
        Pmac::<C>::on(key_of(key), level).with_tag_bits(tag_bits)?.tag(message)
    }
    fn light<const N: usize, C: Cipher<Key = [u8; N]>>(
        s: usize,
        a: Arguments<'_>,
    ) -> Result<Tag, Error> {
        let (key, tag_bits, message, level) = a;
        let (k1, k2) = key.split_at(N);
        LightMac::<C>::on(key_of(k1), key_of(k2), s, level)?.with_tag_bits(tag_bits)?.tag(message)
    }
    let s = |text: &str| text.strip_prefix('S').and_then(|s| s.parse().ok()).expect("S and bits");
    let arguments = (key, tag_bits, message, level);
    match name.split('-').collect::<Vec<_>>()[..] {
        ["PMAC", "AES128"] => pmac::<16, Aes128>(arguments),
        ["PMAC", "AES192"] => pmac::<24, Aes192>(arguments),
        ["PMAC", "AES256"] => pmac::<32, Aes256>(arguments),
        ["LIGHTMAC", "AES128", bits] => light::<16, Aes128>(s(bits), arguments),
        ["LIGHTMAC", "AES192", bits] => light::<24, Aes192>(s(bits), arguments),
        ["LIGHTMAC", "AES256", bits] => light::<32, Aes256>(s(bits), arguments),
        ["ELIMAC", "AES128"] => {
            let (k1, k2) = key.split_at(16);
            EliMac::on(key_of(k1), key_of(k2), level).with_tag_bits(tag_bits)?.tag(message)
        }
        _ => panic!("no typed MAC for {name}"),
    }
}

#[test]
fn agrees_on_random_bit_strings() {
    let mut checked = 0;
    each_case(&["--bits", "--count", "8000", "--seed", "2027"], &mut |row| {
        // A quarter of them; the others are whole bytes.
        let Some(digits) = row.get("msg_bits").and_then(Value::as_str) else { return };
        let mut bytes = vec![0; digits.len().div_ceil(8)];
        for (i, _) in digits.bytes().enumerate().filter(|(_, digit)| *digit == b'1') {
            bytes[i / 8] |= 0x80 >> (i % 8);
        }
        let message = Bits::new(&bytes, digits.len()).expect("as many bytes");
        let (name, key) = (row["algorithm"].as_str().expect("a name"), hex(row, "key"));
        let expected = expected(row);
        for level in Level::all() {
            let tag = tag(name, &key, expected.bits(), message, level);
            assert!(tag == Ok(expected), "{level}: {row}");
        }
        checked += 1;
    });
    assert!(checked > 1900, "only {checked} messages did not end on a byte");
}
