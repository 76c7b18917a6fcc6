//! Keys outside key files: the first byte chooses the encoding and the algorithm.

use base16ct::lower::encode_string;
use tagmac_any::Algorithm;
use tagmac_files::key_source::{Format, KeyText};

use crate::input::pattern;
use crate::subject::any;

pub fn run(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else { return };
    let format = [Format::Raw, Format::Hex, Format::Base64, Format::Auto][usize::from(first & 3)];
    let algorithm: Algorithm = any(first >> 2).algorithm;
    let found = KeyText::from_input(text).expect("memory");
    let file = match found.key_file(format, Some(algorithm)) {
        Ok(file) => file,
        Err(why) => {
            let why = why.to_string();
            assert!(!why.is_empty() && !why.chars().any(char::is_control), "expected a line");
            return;
        }
    };
    assert_eq!(file.algorithm(), algorithm);
    algorithm.check_key(file.key().len()).expect("a key of the right length");
    // Lines of one length are joined.
    let line: Vec<u8> = text.iter().copied().filter(|byte| !b"\r\n".contains(byte)).collect();
    match format {
        Format::Raw => assert_eq!(file.key(), text),
        Format::Hex => {
            assert_eq!(encode_string(file.key()).as_bytes(), line.to_ascii_lowercase());
        }
        Format::Base64 => {
            assert_eq!(line.len(), file.key().len().div_ceil(3) * 4, "expected padding")
        }
        Format::Auto => assert!(text.starts_with(b"tagmac-key-2\n"), "expected a key file"),
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let key = pattern(3, 16);
    let hex = encode_string(&key);
    let base64 = "AAECAwQFBgcICQoLDA0ODw==\n";
    let mut seeds = vec![[&[0], &*key].concat()];
    let wrapped = format!("{}\n{}\n", &hex[..16], &hex[16..]);
    for (format, text) in [(1, hex + "\r\n"), (2, base64.into()), (1, wrapped)] {
        seeds.push([&[format], text.as_bytes()].concat());
    }
    seeds
}
