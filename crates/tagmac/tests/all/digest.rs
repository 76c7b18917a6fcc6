//! RustCrypto's own tests of its traits, on the vectors of `vectors/`.

use digest::array::{Array, ArraySize};
use digest::common::BlockSizeUser;
use digest::consts::U16;
use digest::typenum::Unsigned;
use digest::{KeyInit, Mac, Reset};
use subtle::ConstantTimeEq;
use tagmac::cipher::{Aes128, Aes192, Aes256, Present80, Present128};
use tagmac::digest::{Keyed, LightMacS, UniversalHash};
use tagmac::hashes::{AesFamilies, EliHash, Poly1305Hash, Universal};
use tagmac::isa::Level;
use tagmac::{Cmac, EliMac, Pmac, PmacAes128, Poly1305, Tag};
use universal_hash::{UhfBackend, UhfClosure};

use crate::common::{hex, rows, string, text};
use crate::rust_crypto::{MAX_BYTES, macs};

macs! {
    pmac_aes128: PmacAes128, "pmac.json" "PMAC-AES128", 40;
    pmac_aes192: Pmac<Aes192>, "pmac.json" "PMAC-AES192", 7;
    pmac_aes256: Pmac<Aes256>, "pmac.json" "PMAC-AES256", 7;
    pmac_present80: Pmac<Present80>, "pmac.json" "PMAC-PRESENT80", 34;
    pmac_present128: Pmac<Present128>, "pmac.json" "PMAC-PRESENT128", 34;
    lightmac_s8: LightMacS<Aes128, 8>, "lightmac.json" "LIGHTMAC-AES128-S8", 11;
    lightmac_s32: LightMacS<Aes128, 32>, "lightmac.json" "LIGHTMAC-AES128-S32", 14;
    lightmac_s64: LightMacS<Aes128, 64>, "lightmac.json" "LIGHTMAC-AES128-S64", 9;
    lightmac_present80:
        LightMacS<Present80, 32>, "lightmac.json" "LIGHTMAC-PRESENT80-S32", 29;
    lightmac_present128:
        LightMacS<Present128, 16>, "lightmac.json" "LIGHTMAC-PRESENT128-S16", 20;
    elimac: EliMac, "elimac.json" "ELIMAC-AES128", 14;
    cmac_aes128: Cmac<Aes128>, "cmac.json" "CMAC-AES128", 123;
    cmac_aes192: Cmac<Aes192>, "cmac.json" "CMAC-AES192", 106;
    cmac_aes256: Cmac<Aes256>, "cmac.json" "CMAC-AES256", 110;
}

/// Code written for RustCrypto's CMAC gets the same tags from ours.
#[test]
fn takes_the_place_of_another_crate() {
    fn tag<M: Mac + KeyInit>(message: &[u8]) -> Vec<u8> {
        let key: Vec<u8> = (0..M::KeySize::U8).collect();
        let mac = <M as KeyInit>::new_from_slice(&key).expect("a key of this length");
        mac.chain_update(message).finalize().into_bytes().to_vec()
    }
    for length in [0, 1, 15, 16, 17, 1000] {
        let message = vec![0x5a; length];
        let theirs = tag::<cmac::Cmac<aes::Aes128>>(&message);
        assert_eq!(tag::<Keyed<Cmac<Aes128>>>(&message), theirs, "{length} bytes");
        // Their cipher in our mode, through their traits.
        type Ours = Keyed<Cmac<tagmac::cipher::RustCrypto<des::TdesEde3>>>;
        let theirs = tag::<cmac::Cmac<des::TdesEde3>>(&message);
        assert_eq!(tag::<Ours>(&message), theirs, "{length} bytes under 3DES");
    }
}

#[test]
#[should_panic(expected = "the message is over this MAC's limit of 30720 bits (3840 bytes)")]
fn a_message_over_the_limit_has_no_tag() {
    let mac = <Keyed<LightMacS<Aes128, 8>> as KeyInit>::new(&[7; 32].into());
    let _ = mac.chain_update([0; 3841]).finalize();
}

#[test]
fn a_reset_forgets_the_message() {
    let new = || <Keyed<PmacAes128> as KeyInit>::new(&[7; 16].into());
    let mut mac = new().chain_update(b"forgotten");
    Reset::reset(&mut mac);
    let tag = mac.chain_update(b"message").finalize();
    assert!(tag == new().chain_update(b"message").finalize());
}

#[test]
fn shows_no_key() {
    let mac = <Keyed<PmacAes128> as KeyInit>::new(&[7; 16].into());
    assert_eq!(format!("{mac:?}"), "Keyed(..)");
}

/// Feeds blocks through the backend, as modes with their own loop do.
struct ByBackend<'a, N: ArraySize>(&'a [Array<u8, N>]);

impl<N: ArraySize> BlockSizeUser for ByBackend<'_, N> {
    type BlockSize = N;
}

impl<N: ArraySize> UhfClosure for ByBackend<'_, N> {
    fn call<B: UhfBackend<BlockSize = N>>(self, backend: &mut B) {
        let (wide, rest) = Array::slice_as_chunks(self.0);
        wide.iter().for_each(|blocks| backend.proc_par_blocks(blocks));
        rest.iter().for_each(|block| backend.proc_block(block));
    }
}

/// Computes the hash of whole blocks in every way that the trait offers, cut anywhere.
fn hashes<H>(key: &[u8], message: &[u8]) -> Vec<u8>
where
    H: UniversalHash<BlockSize = U16> + KeyInit,
{
    let new = || H::new_from_slice(key).expect("a key of this length");
    let (blocks, rest) = Array::slice_as_chunks(message);
    assert!(rest.is_empty(), "whole blocks");
    let mut whole = new();
    whole.update(blocks);
    let value = whole.finalize();
    for cut in [0, 1, blocks.len() / 2, blocks.len()] {
        let (left, right) = blocks.split_at(cut.min(blocks.len()));
        let mut hash = new();
        hash.update(left);
        hash.update_with_backend(ByBackend(right));
        assert!(hash.verify(&value).is_ok(), "{} blocks cut at {cut}", blocks.len());
    }
    let mut padded = new();
    padded.update_padded(&message[..message.len().saturating_sub(1)]);
    let mut zeros = message.to_vec();
    if let Some(last) = zeros.last_mut() {
        *last = 0;
    }
    let mut expected = new();
    expected.update(Array::slice_as_chunks(&zeros).0);
    assert!(padded.verify(&expected.finalize()).is_ok(), "{} bytes padded", message.len());
    value.to_vec()
}

#[test]
fn poly1305() {
    let mut checked = 0;
    for row in rows("poly1305.json") {
        let (key, message) = (hex(text(&row, "key")), string(&row, "msg"));
        let message = message.whole().expect("bytes");
        if message.len().is_multiple_of(16) && message.len() <= MAX_BYTES {
            let value = hashes::<Keyed<Poly1305>>(&key, message);
            assert_eq!(value, hex(text(&row, "tag")), "{row}");
            checked += 1;
        }
    }
    assert!(checked >= 143, "only {checked} rows");
}

/// Other tests compare the library's own methods with the papers.
#[test]
fn hashes_by_themselves() {
    for blocks in [0, 1, 2, 31, 32, 33, 63, 64, 65, 300] {
        let message: Vec<u8> = (0..16 * blocks).map(|i| (i * 7 / 3) as u8).collect();
        let own = Poly1305Hash::new(&[0x2a; 16]).value(&message).expect("within the limit");
        assert_eq!(hashes::<Keyed<Poly1305Hash>>(&[0x2a; 16], &message), own.as_bytes());
        let families = AesFamilies::<7, 4>::new(&[0x2a; 16], Level::best());
        let own = EliHash::with_level(families, Level::best());
        let own = own.value(&message).expect("within the limit");
        type Ours = Keyed<EliHash<AesFamilies<7, 4>>>;
        assert_eq!(hashes::<Ours>(&[0x2a; 16], &message), own.as_bytes());
    }
}

#[test]
fn tags_in_constant_time() {
    let tag = |bytes: &[u8], bits| Tag::new(bytes, bits).expect("a tag");
    let one = tag(&[0xab, 0xc0], 12);
    assert!(bool::from(one.ct_eq(&tag(&[0xab, 0xc0], 12))));
    for other in [tag(&[0xab, 0xd0], 12), tag(&[0xab, 0xc0], 13), tag(&[0xab, 0xc0, 0], 24)] {
        assert!(!bool::from(one.ct_eq(&other)), "{other}");
    }
    for wrong in 0..256 {
        let mut bytes = [0; 32];
        bytes[wrong / 8] = 0x80 >> (wrong % 8);
        assert!(!bool::from(tag(&[0; 32], 256).ct_eq(&tag(&bytes, 256))), "bit {wrong}");
    }
}
