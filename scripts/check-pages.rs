//! Tests the additions of docs/design/adding-a-mac.md and docs/design/adding-a-level.md, each with
//! all levels and MACs. scripts/check-pages runs them.

use tagmac::Tag;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac};

const MAC: &str = "TOY-AES128";

fn message(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 167 + i / 256) as u8).collect()
}

fn mac(algorithm: Algorithm, level: Level) -> AnyMac {
    let key: Vec<u8> = (0..algorithm.new_key_bytes() as u8).collect();
    AnyMac::with_options(algorithm, &key, algorithm.default_tag_bits(), level)
        .expect("a key of the right length")
}

fn nonce(algorithm: Algorithm) -> Vec<u8> {
    vec![1; *algorithm.nonce_bytes().end()]
}

#[test]
fn the_mac_is_in_the_registry_and_any_cut_on_any_level_gives_its_tag() {
    let algorithm = Algorithm::from_name(MAC).expect("a row");
    let lowest = Level::all().next().expect("a level");
    for length in [0, 1, 15, 16, 17, 64, 127, 128, 129, 255, 256, 257, 511, 513, 1041] {
        let message = message(length);
        let expected = mac(algorithm, lowest).tag(&[], &message).expect("short");
        for level in Level::all() {
            let (mac, at) = (mac(algorithm, level), format!("{length} bytes on {level}"));
            assert_eq!(mac.level(), Some(level), "{at}");
            assert!(mac.tag(&[], &message) == Ok(expected), "{at}");
            for piece in [1, 16, 37, 200] {
                let mut stream = mac.stream(&[]).expect("no nonce");
                message.chunks(piece).for_each(|piece| stream.update(piece));
                assert!(stream.tag() == Ok(expected), "{at}, streamed by {piece}");
            }
            let parts = mac.parts().expect("parts");
            for cut in (0..length).step_by(16) {
                let left = parts.new_part(0, &message[..cut]).expect("aligned");
                let whole = length.saturating_sub(1) / 16 * 16;
                let right = parts.new_part(cut as u64, &message[cut..whole]).expect("aligned");
                let both = parts.join(left, &right).expect("neighbours");
                assert!(parts.finish(both, &[], &message[whole..]) == Ok(expected), "{at}, {cut}");
            }
        }
    }
}

#[test]
fn the_mac_gives_the_tags_of_its_vectors() {
    let text = include_str!("../../../vectors/toy.json");
    let rows: Vec<serde_json::Value> = serde_json::from_str(text).expect("rows");
    for row in rows {
        let bytes = |field: &str| {
            let hex = row[field].as_str().expect("hex");
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
            (0..hex.len()).step_by(2).map(byte).collect::<Vec<u8>>()
        };
        let bits = row["tag_bits"].as_u64().expect("a number") as usize;
        let expected = Tag::new(&bytes("tag"), bits).expect("a tag");
        let algorithm = Algorithm::from_name(MAC).expect("a row");
        for level in Level::all() {
            let mac = AnyMac::with_options(algorithm, &bytes("key"), bits, level).expect("a key");
            assert!(mac.tag(&[], &bytes("msg")) == Ok(expected), "{row} on {level}");
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_level_gives_the_tags_of_the_portable_one() {
    use tagmac::isa::Status;
    const LEVEL: &str = "sse42";
    assert!(Level::NAMES.contains(&LEVEL));
    let Ok(level) = Level::from_name(LEVEL) else {
        assert_eq!(Level::status(LEVEL), Some(Status::Unsupported));
        println!("not on this CPU: {LEVEL}");
        return;
    };
    let portable = Level::from_name("portable").expect("every CPU has it");
    for algorithm in Algorithm::all() {
        let (mac, expected) = (mac(algorithm, level), mac(algorithm, portable));
        assert!(mac.level().is_none_or(|used| used == level), "{algorithm} runs on another level");
        for length in [0, 16, 100, 513, 2600] {
            let (nonce, message) = (nonce(algorithm), message(length));
            let tag = expected.tag(&nonce, &message);
            assert!(mac.tag(&nonce, &message) == tag, "{algorithm}, {length} bytes");
        }
    }
}
