//! Key files. Bytes are tried unchanged, and with the correct checksum and ID, which fuzzing would
//! never guess.

use std::time::{Duration, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use tagmac_any::{Algorithm, KeyFile, KeyFileError};
use tagmac_files::key_file::parse;

use crate::input::pattern;

pub fn run(data: &[u8]) {
    read(data);
    // Up to the last checksum line.
    let text = match data.windows(10).rposition(|window| window == b"\nchecksum:") {
        Some(at) => &data[..at + 1],
        None => data,
    };
    let text = with_checksum(text);
    if let Some(KeyFileError::Id { expected, found }) = read(&text) {
        let (expected, found) = (expected.to_string(), found.to_string());
        let text = str::from_utf8(&text).expect("a key file").replacen(&found, &expected, 1);
        let above = text.rfind("checksum: ").expect("a key file");
        let wrong = read(&with_checksum(&text.as_bytes()[..above]));
        assert_eq!(wrong, None, "a valid key file was refused");
    }
}

fn with_checksum(above: &[u8]) -> Vec<u8> {
    let sum = base16ct::lower::encode_string(&Sha256::digest(above)[..8]);
    [above, b"checksum: ", sum.as_bytes(), b"\n"].concat()
}

fn read(text: &[u8]) -> Option<KeyFileError> {
    match KeyFile::parse(text) {
        Ok(file) => {
            assert_eq!(file.to_text().as_bytes(), text, "accepts only what to_text writes");
            file.algorithm().check_key(file.key().len()).expect("a key of the right length");
            assert_eq!(file.algorithm().key_id(file.key()), file.id());
            assert!(parse(text, Some(file.algorithm())).is_ok());
            None
        }
        Err(error) => {
            let said = parse(text, None).expect_err("must be the same answer").to_string();
            let one_line = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
            assert!(one_line(&said) && one_line(&error.to_string()), "not a single line: {said:?}");
            Some(error)
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let names = ["PMAC-AES128", "UMAC-64", "POLY1305-AES", "CMAC-AES256", "LIGHTMAC-AES128-S32"];
    let text = |name: &str| {
        let algorithm = Algorithm::from_name(name).expect("an algorithm");
        let key = pattern(1, algorithm.new_key_bytes());
        let time = UNIX_EPOCH + Duration::from_secs(1_795_255_200);
        let file = KeyFile::new(algorithm, &key, time).expect("a key");
        file.to_text().as_bytes().to_vec()
    };
    names.map(text).to_vec()
}
