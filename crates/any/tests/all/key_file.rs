//! Key files: parsing accepts exactly what was written.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use tagmac_any::{Algorithm, KeyFile};

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn pmac() -> Algorithm {
    Algorithm::default()
}

fn example() -> KeyFile {
    let key: Vec<u8> = (0..16).collect();
    KeyFile::new(pmac(), &key, at(1_795_255_200)).unwrap()
}

/// The text with one line replaced and a new checksum.
fn altered(line: usize, new: &str) -> Vec<u8> {
    let text = example().to_text();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[line - 1] = new;
    let above = lines[..5].join("\n") + "\n";
    let sum = &Sha256::digest(above.as_bytes())[..8];
    let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    let last = if line == 6 { new.into() } else { format!("checksum: {sum}") };
    format!("{above}{last}\n").into_bytes()
}

fn error(line: usize, new: &str) -> String {
    KeyFile::parse(&altered(line, new)).unwrap_err().to_string()
}

#[test]
fn the_documentation_shows_a_file_to_the_byte() {
    let text = example().to_text();
    let guide = include_str!("../../docs/formats/key-file.md");
    assert!(guide.contains(&format!("```text\n{}```", *text)), "expected in the guide:\n{}", *text);
    assert_eq!(KeyFile::parse(text.as_bytes()).unwrap().key(), example().key());
}

#[test]
fn every_algorithm_comes_back() {
    for algorithm in Algorithm::all() {
        let (shortest, longest) = algorithm.key_bytes().into_inner();
        let mut files = vec![KeyFile::generate(algorithm, at(0)).unwrap()];
        for length in [shortest, longest] {
            files.push(KeyFile::new(algorithm, &vec![0xa5; length], at(0)).unwrap());
        }
        for file in files {
            let text = file.to_text();
            let again = KeyFile::parse(text.as_bytes()).unwrap();
            assert_eq!((again.algorithm(), again.key()), (algorithm, file.key()));
            assert_eq!(again.created(), "1970-01-01T00:00:00Z");
            let room = 256 + 2 * file.key().len();
            assert!(text.capacity() == room, "the text grew, and left copies of the key");
            assert!(text.len() <= KeyFile::MAX_BYTES, "{algorithm}");
        }
    }
}

#[test]
fn dates() {
    let cases = [
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_709_251_199, "2024-02-29T23:59:59Z"),
        (1_735_689_599, "2024-12-31T23:59:59Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
        (253_402_300_800, "9999-12-31T23:59:59Z"),
    ];
    for (seconds, text) in cases {
        let file = KeyFile::new(pmac(), &[7; 16], at(seconds)).unwrap();
        assert_eq!(file.created(), text);
    }
}

#[test]
fn every_cut_and_every_changed_byte_is_refused() {
    let text = example().to_text();
    for cut in 0..text.len() {
        assert!(KeyFile::parse(&text.as_bytes()[..cut]).is_err(), "cut at {cut}");
        let mut bytes = text.as_bytes().to_vec();
        bytes[cut] ^= 1;
        assert!(KeyFile::parse(&bytes).is_err(), "changed at {cut}");
    }
}

#[test]
fn errors_name_the_line() {
    let whole = example().to_text();
    let cut = KeyFile::parse(&whole.as_bytes()[..60]).unwrap_err().to_string();
    assert_eq!(cut, "line 4: expected 'created: ' and a date, found the end of the file");
    let more = [whole.as_bytes(), b"\n"].concat();
    let more = KeyFile::parse(&more).unwrap_err().to_string();
    assert_eq!(more, "line 7: expected the end of the file, found more text");
    let cases = [
        (
            1,
            "tagmac-key-1",
            "line 1: expected 'tagmac-key-2', found version '1', which is no longer",
        ),
        (1, "tagmac-key-3", "line 1: expected 'tagmac-key-2', found version '3'"),
        (1, "secret", "line 1: expected 'tagmac-key-2', found something else"),
        (1, "tagmac-key-2\r", "line 1: expected a line that ends in a line feed alone"),
        (2, "algorithm: ROT\u{1b}[1m", "line 2: expected a name of letters, digits and dashes"),
        (2, "algorithm: ROT13", "line 2: unknown algorithm 'ROT13'"),
        (
            2,
            "algorithm: LIGHTMAC-AES128-S9",
            "line 2: unknown algorithm 'LIGHTMAC-AES128-S9': LightMAC's counter",
        ),
        (2, "algorithm: pmac-aes128", "line 2: expected the name in full and in capitals"),
        (3, "id: 0011223344556677", "line 3: expected the key's id"),
        (3, "id: 00", "line 3: expected 16 hex digits, found another number"),
        (4, "created: today", "line 4: expected a date such as"),
        (5, "key: 00", "line 5: expected a key of 16 bytes, found 1"),
        (5, "key: secret", "line 5: expected lower-case hex digits"),
        (5, "kex: secret", "line 5: expected 'key: ' and the key in hex, found another line"),
        (6, "checksum: 0011223344556677", "line 6: the checksum does not match"),
    ];
    for (line, new, expected) in cases {
        let found = error(line, new);
        assert!(found.starts_with(expected), "expected {expected}, found {found}");
        assert!(!found.contains("secret"));
    }
}

#[test]
fn debug_keeps_the_key() {
    let shown = format!("{:?}", example());
    assert!(!shown.contains("000102") && shown.contains("PMAC-AES128"), "{shown}");
}

#[test]
fn ids_differ_by_key_and_algorithm() {
    let other = Algorithm::from_name("CMAC-AES128").unwrap();
    assert_ne!(pmac().key_id(&[1; 16]), pmac().key_id(&[2; 16]));
    assert_ne!(pmac().key_id(&[1; 16]), other.key_id(&[1; 16]));
}
