//! Every peer passes its check, and a check catches a wrong tag.

use peers::{Info, Visit, Wrong, prove};
use tagmac_any::{Algorithm, AnyMac};

/// Checks each peer that it visits, and a spoilt copy of it.
#[derive(Default)]
struct Proofs {
    names: Vec<&'static str>,
}

impl Visit for Proofs {
    fn peer<M, T>(&mut self, info: Info, make: impl Fn(&[u8], &[u8]) -> M + 'static)
    where
        M: FnMut(&[u8]) -> T + 'static,
        T: AsRef<[u8]> + 'static,
    {
        println!("{} ({} {})", info.name, info.library, info.version);
        assert!(info.version.starts_with(|c: char| c.is_ascii_digit()), "{}", info.version);
        assert!(!self.names.contains(&info.name), "two peers are {}", info.name);
        self.names.push(info.name);
        prove(&info, &make).unwrap_or_else(|wrong| panic!("{wrong}"));

        // One bit of the last byte, from some call on: only a check of that call sees it.
        let spoilt = |bit_from: usize| {
            let make = &make;
            move |key: &[u8], nonce: &[u8]| {
                let (mut tag, mut calls) = (make(key, nonce), 0);
                move |message: &[u8]| {
                    let mut tag = tag(message).as_ref().to_vec();
                    calls += 1;
                    *tag.last_mut().expect("no empty tag") ^= u8::from(calls >= bit_from);
                    tag
                }
            }
        };
        let wrong = prove(&info, &spoilt(1)).expect_err("a wrong tag");
        assert!(matches!(wrong, Wrong::Tag { .. }), "{wrong}");
        if info.repeats {
            let wrong = prove(&info, &spoilt(3)).expect_err("a tag that does not repeat");
            assert!(matches!(wrong, Wrong::Repeats { expected: true, .. }), "{wrong}");
        } else {
            let says = Info { repeats: true, ..info.clone() };
            let wrong = prove(&says, &make).expect_err("tags that do not repeat");
            assert!(matches!(wrong, Wrong::Repeats { expected: true, .. }), "{wrong}");
            let wrong = prove(&info, &spoilt(3)).expect_err("not the tag of the third nonce");
            assert!(matches!(wrong, Wrong::Nonce { .. }), "{wrong}");
        }
        let other = Info { function: "none", ..info };
        let wrong = prove(&other, &make).expect_err("a function without tags");
        assert!(matches!(wrong, Wrong::Unknown { function: "none", .. }), "{wrong}");
    }
}

#[test]
fn all_peers_prove_themselves() {
    let mut proofs = Proofs::default();
    peers::all(&mut proofs);
}

/// With TAGMAC_ALL_PEERS=1, which scripts/test sets under TAGMAC_EVIDENCE=1, no library may be
/// missing.
#[test]
fn none_is_missing() {
    let missing = peers::missing();
    if std::env::var_os("TAGMAC_ALL_PEERS").is_some_and(|set| set == "1") {
        assert!(missing.is_empty(), "missing: {missing:#?}");
    }
    missing.iter().for_each(|library| println!("missing: {library}"));
}

/// Returns a peer's tag of a message under a key and a nonce.
type Tag = Box<dyn Fn(&[u8], &[u8], &[u8]) -> Vec<u8>>;

/// Collects peers and their functions.
#[derive(Default)]
struct Tags(Vec<(Info, Tag)>);

impl Visit for Tags {
    fn peer<M, T>(&mut self, info: Info, make: impl Fn(&[u8], &[u8]) -> M + 'static)
    where
        M: FnMut(&[u8]) -> T + 'static,
        T: AsRef<[u8]> + 'static,
    {
        self.0.push((
            info,
            Box::new(move |key, nonce, message| make(key, nonce)(message).as_ref().to_vec()),
        ));
    }
}

/// Libraries that compute one function return the same tags, and tagmac's where it has the
/// function.
#[test]
fn peers_agree() {
    let mut tags = Tags::default();
    peers::all(&mut tags);
    let edges = [0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513];
    for length in edges.into_iter().chain([1000, 1023, 1024, 1025, 4096, 4097, 65537, 1 << 20]) {
        let bytes: Vec<u8> = (0..length).map(|i| (i * 7 + i / 256 + length) as u8).collect();
        let material: [u8; 64] = std::array::from_fn(|i| (i * 37 + length) as u8);
        let mut known: Vec<(&str, &str, Vec<u8>)> = Vec::new();
        for (info, tag) in &tags.0 {
            let (key, nonce) =
                (&material[..info.key_bytes.min(64)], &material[64 - info.nonce_bytes..]);
            let found = tag(key, nonce, &bytes);
            assert_eq!(found.len(), info.tag_bytes, "{}", info.name);
            if let Ok(algorithm) = Algorithm::from_name(info.function) {
                let mac = AnyMac::new(algorithm, key).expect("its key");
                let expected = mac.tag(nonce, &bytes).expect("its nonce");
                assert!(expected.as_bytes() == found, "tagmac, {}, {length} bytes", info.name);
            }
            match known.iter().find(|(function, ..)| *function == info.function) {
                Some((_, first, tag)) => {
                    assert!(*tag == found, "{first}, {}, {length} bytes", info.name);
                }
                None => known.push((info.function, info.name, found)),
            }
        }
    }
}
