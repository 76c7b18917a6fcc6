//! RustCrypto: PMAC, CMAC, HMAC, Poly1305 and GHASH. AES (AES-NI, VAES), SHA-256 (SHA-NI), Poly1305
//! (AVX2) and POLYVAL (PCLMULQDQ) choose their instructions at run time.

use std::hint::black_box;

use aes::{Aes128, Aes192, Aes256};
use cmac::{Cmac, KeyInit, Mac};
use ghash::{GHash, universal_hash::UniversalHash};
use hmac::HmacReset;
use pmac::Pmac;
use poly1305::{Block, Poly1305};
use sha2::Sha256;

use crate::adversarial::{Answer, Subject};
use crate::info::{Library, Visit, exactly};

macro_rules! library {
    ($($version:expr),*) => {
        Library { name: "RustCrypto", version: concat!($($version),*).into() }
    };
}

pub(crate) fn all(visit: &mut impl Visit) {
    const RESET: &str = "update, finalize_reset of one instance";

    let library = library!(env!("PEERS_PMAC_VERSION"), ", aes ", env!("PEERS_AES_VERSION"));
    let info = library.info("RustCrypto PMAC-AES128", "PMAC-AES128", [16, 0, 16], RESET);
    visit.peer(info, |key, _| {
        let mut mac = Pmac::<Aes128>::new(&exactly(key).into());
        move |message: &[u8]| -> [u8; 16] {
            mac.update(message);
            mac.finalize_reset().into_bytes().into()
        }
    });

    let library = library!(env!("PEERS_CMAC_VERSION"), ", aes ", env!("PEERS_AES_VERSION"));
    let info = library.info("RustCrypto CMAC-AES128", "CMAC-AES128", [16, 0, 16], RESET);
    visit.peer(info, |key, _| {
        let mut mac = Cmac::<Aes128>::new(&exactly(key).into());
        move |message: &[u8]| -> [u8; 16] {
            mac.update(message);
            mac.finalize_reset().into_bytes().into()
        }
    });

    let library = library!(env!("PEERS_HMAC_VERSION"), ", sha2 ", env!("PEERS_SHA2_VERSION"));
    let info = library.info("RustCrypto HMAC-SHA256", "HMAC-SHA256", [32, 0, 32], RESET);
    visit.peer(info, |key, _| {
        let mut mac = HmacReset::<Sha256>::new_from_slice(key).expect("a key of any length");
        move |message: &[u8]| -> [u8; 32] {
            mac.update(message);
            mac.finalize_reset().into_bytes().into()
        }
    });

    // compute_unpadded could process whole blocks too, but one by one.
    let library = library!(env!("PEERS_POLY1305_VERSION"));
    let call = "new with the message's key, update of whole blocks, compute_unpadded of the rest";
    let info = library.info("RustCrypto Poly1305, a key each", "POLY1305", [32, 0, 16], call);
    visit.peer(info, |key, _| {
        let key: [u8; 32] = exactly(key);
        move |message: &[u8]| -> [u8; 16] {
            let mut mac = Poly1305::new(black_box(&key).into());
            let (blocks, rest) = Block::slice_as_chunks(message);
            mac.update(blocks);
            mac.compute_unpadded(rest).into()
        }
    });

    // Weaker than a MAC: without a length or a pad, a tag reveals the key.
    let library = library!(env!("PEERS_GHASH_VERSION"));
    let call = "a copy of the GHash, update_padded, finalize: a universal hash, no MAC";
    let info = library.info("RustCrypto GHASH (hash alone)", "GHASH", [16, 0, 16], call);
    visit.peer(info, |key, _| {
        let hash = GHash::new(&exactly(key).into());
        move |message: &[u8]| -> [u8; 16] {
            let mut hash = hash.clone();
            hash.update_padded(message);
            hash.finalize().into()
        }
    });
}

/// Lists RustCrypto's MACs for adversarial vectors. A whole tag goes to `verify_slice`, any other
/// to `verify_truncated_left`.
pub(crate) fn subjects(all: &mut Vec<Subject>) {
    let library = library!(env!("PEERS_PMAC_VERSION"), ", aes ", env!("PEERS_AES_VERSION"));
    macro_rules! pmac {
        ($($name:literal, $aes:ty;)*) => {$(
            let call = "verify_slice, verify_truncated_left";
            all.push(Subject::new(&library, $name, call, |test| {
                let Ok(mut mac) = Pmac::<$aes>::new_from_slice(&test.key) else {
                    return Answer::Refused;
                };
                mac.update(&test.message);
                let whole = test.tag.len() == 16;
                let verified = if whole {
                    mac.verify_slice(&test.tag)
                } else {
                    mac.verify_truncated_left(&test.tag)
                };
                Answer::accepted_if(verified.is_ok())
            }));
        )*};
    }
    pmac! {
        "PMAC-AES128", Aes128;
        "PMAC-AES192", Aes192;
        "PMAC-AES256", Aes256;
    }
}
