//! Bursts return published tags, and tagmac's for messages of mixed lengths.

use peers::{Burst, bursts, prove};
use tagmac_any::{Algorithm, AnyMac};

/// Returns tagmac's tag, if it has the function.
fn tagmac(function: &str, key: &[u8], nonce: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let mac = AnyMac::new(Algorithm::from_name(function).ok()?, key).expect("its key");
    Some(mac.tag(nonce, message).expect("its nonce").as_bytes().to_vec())
}

/// Each call passes the check of peers with bursts of one message. Messages that the library refuses
/// get tagmac's tag.
#[test]
fn bursts_of_one_prove_themselves() {
    for Burst { info, shortest, tag } in &bursts() {
        println!("{} ({} {})", info.name, info.library, info.version);
        assert!(info.version.starts_with(|c: char| c.is_ascii_digit()));
        let make = |key: &[u8], nonce: &[u8]| {
            let (key, nonce) = (key.to_vec(), nonce.to_vec());
            move |message: &[u8]| {
                if message.len() < *shortest {
                    return tagmac(info.function, &key, &nonce, message).expect("in the registry");
                }
                let mut found = vec![0; info.tag_bytes];
                tag(&[&key], &nonce, &[message], &mut found);
                found
            }
        };
        prove(info, &make).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

/// Returns bytes that depend on two numbers.
fn bytes(seed: usize, length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 + i / 251 + seed * 89) as u8).collect()
}

/// In bursts of each size around the library's, with lengths in no order, every tag is that of a
/// burst of one, and tagmac's where it has the function.
#[test]
fn bursts_are_as_single_calls() {
    for Burst { info, shortest, tag } in &bursts() {
        for count in [1, 2, 7, 8, 9, 16, 17, 127, 128, 129, 300] {
            let keys: Vec<Vec<u8>> = (0..count).map(|i| bytes(i + 1, info.key_bytes)).collect();
            let message = |i| bytes(i, (i * 197 % 1031).max(*shortest));
            let messages: Vec<Vec<u8>> = (0..count).map(message).collect();
            let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            let nonce = bytes(3, info.nonce_bytes);
            let mut tags = vec![0; count * info.tag_bytes];
            tag(&keys, &nonce, &messages, &mut tags);
            for (i, found) in tags.chunks(info.tag_bytes).enumerate() {
                let at = format!("{}, message {i} of {count}", info.name);
                let mut one = vec![0; info.tag_bytes];
                tag(&[keys[i]], &nonce, &[messages[i]], &mut one);
                assert!(one == *found, "{at}");
                if let Some(expected) = tagmac(info.function, keys[i], &nonce, messages[i]) {
                    assert!(expected == found, "tagmac, {at}");
                }
            }
        }
    }
}
