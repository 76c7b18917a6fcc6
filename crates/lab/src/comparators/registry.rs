//! The comparators by name.

use tagmac::cipher::Aes128;
use tagmac::isa::Level;
use tagmac::{Cmac, LightMac, Mac};
use tagmac_papers::Cbc3;

use super::chained::{CbcMac, CbcMacEde, Emac, SumEcbc, ThreeKf9, Xcbc};
use super::chaskey::Chaskey;
use super::comparator::{Comparator, Keys, Status};
use super::counter_sum::{CounterSum, XorMac};
use super::hash_rows::{hash, hash_of_bytes};
use super::hmacs::{hmac_md5, hmac_sha1, hmac_sha256};
use super::lemac::{LeMac, PetitMac};
use super::marvin::Marvin;
use super::pcs::PcsHmacSha256;
use super::pelican::Pelican;
use super::pmac_parity::PmacParity;
use super::pmac_plus::PmacPlus;
use super::pmac1::Pmac1;
use super::pmac2::Pmac2;
use super::rows::{
    FOUR, HASH, LEMAC, ROW, THREE, TWO, keys, not_found, of_blocks, of_nonces, of_tags, of_trait,
};
use super::xecb::XecbMac;
use super::zmac::Zmac;
use crate::hashes::{self, Inner, Outer};
use crate::parallel::whole;

/// All comparators, in the order of the lab's list.
pub const COMPARATORS: &[Comparator] = &[
    Comparator {
        name: "CBC-MAC",
        about: "CBC with a zero IV, no padding: a nonzero multiple of the block only",
        status: Status::Official,
        source: "NIST SP 800-38A F.2: the last block, if the IV is added to the first; FIPS 113 \
             without its padding",
        make: Some(|k, level| {
            let mac = CbcMac::<Aes128>::with_level(&keys::<1>(k)[0], level);
            Box::new(move |_, message| mac.tag(message).map(|tag| whole(&tag)))
        }),
        ..ROW
    },
    Comparator {
        name: "EMAC",
        keys: TWO,
        about: "E_K2(CBC_K1(M 10*)); always padded, which is our choice",
        source: "LightMAC paper, section 5, in words",
        make: Some(|k, level| {
            let [k1, k2] = keys(k);
            let mac = Emac::<Aes128>::with_level(&k1, &k2, level);
            of_blocks(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "CBC-MAC-EDE",
        keys: TWO,
        about: "E_K1(D_K2(CBC_K1(M 10*))): triple encryption of the last block; always padded, which is our choice",
        source: "PMAC paper, performance, in words; ISO/IEC 9797-1 algorithm 3, as remembered",
        make: Some(|k, level| {
            let [k1, k2] = keys(k);
            let mac = CbcMacEde::<Aes128>::with_level(&k1, &k2, level);
            of_blocks(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "CBC3",
        keys: THREE,
        about: "CBC under K1, the last block under K2 if full, under K3 with 10* if not",
        status: Status::Paper,
        source: "UMAC paper, section 8.4",
        make: Some(|k, level| {
            let [k1, k2, k3] = keys(k);
            let mac = Cbc3::<Aes128>::with_level(&k1, &k2, &k3, level);
            of_tags(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "CMAC",
        about: "CBC with a multiple of L = E_K(0) in the last block",
        status: Status::Official,
        source: "NIST SP 800-38B, RFC 4493",
        make: Some(|k, level| {
            let mac = Cmac::<Aes128>::with_level(&keys::<1>(k)[0], level);
            of_tags(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "AES-XCBC-MAC",
        about: "XCBC under E_K(0101..), E_K(0202..), E_K(0303..); 16 bytes; RFC 3566's \
             AES-XCBC-MAC-96 is the first 12",
        status: Status::Official,
        source: "RFC 3566",
        make: Some(|k, level| {
            let mac = Xcbc::<Aes128>::derived(&keys::<1>(k)[0], level);
            of_blocks(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "XCBC",
        keys: THREE,
        about: "CBC with K2 xored into a full last block, K3 into one with 10*",
        status: Status::Official,
        source: "Black and Rogaway 2000; matches RFC 3566's vectors under the derived keys",
        make: Some(|k, level| {
            let [k1, k2, k3] = keys(k);
            let mac = Xcbc::<Aes128>::with_level(&k1, &k2, &k3, level);
            of_blocks(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "PMAC1",
        about: "PMAC with masks x^i L; the last one times x + 1 if full, x^2 + 1 if padded",
        source: "Rogaway 2004, as remembered",
        make: Some(|k, level| of_trait(Pmac1::<Aes128>::with_level(&keys::<1>(k)[0], level))),
        ..ROW
    },
    Comparator {
        name: "PMAC2",
        keys: TWO,
        about: "PMAC1's terms with weights: y = x y ^ E_K1(M_i ^ x^i L), T = E_K2(y ^ last)",
        source: "EliMAC paper, section 6; padding and keys are our choice",
        make: Some(|k, level| {
            let [k1, k2] = keys(k);
            of_trait(Pmac2::<Aes128>::with_level(&k1, &k2, level))
        }),
        ..ROW
    },
    Comparator {
        name: "PMAC/P",
        keys: FOUR,
        about: "PMAC with Parity: each pair of blocks and its xor under three keys",
        source: "Yasuda 2012; only the abstract could be read",
        make: Some(|k, level| {
            let k = keys(k);
            of_trait(PmacParity::<Aes128>::with_level(k.each_ref(), level))
        }),
        ..ROW
    },
    Comparator {
        name: "PMAC_Plus",
        keys: THREE,
        about: "two sums of E_K1(M_i ^ x^i D0 ^ x^2i D1), one with weights; T = E_K2 ^ E_K3",
        source: "Yasuda 2011, as remembered",
        make: Some(|k, level| {
            let k = keys(k);
            of_trait(PmacPlus::<Aes128>::with_level(k.each_ref(), level))
        }),
        ..ROW
    },
    Comparator {
        name: "SUM-ECBC",
        keys: FOUR,
        about: "EMAC under K1, K2 xor EMAC under K3, K4",
        source: "Yasuda 2010, as remembered; always padded, which is our choice",
        make: Some(|k, level| {
            let k = keys(k);
            let mac = SumEcbc::<Aes128>::with_level(k.each_ref(), level);
            of_blocks(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "3kf9",
        keys: THREE,
        about: "CBC under K1; T = E_K2(the last block) ^ E_K3(the xor of all)",
        source: "Zhang, Wu, Sui, Wang 2012, as remembered; always padded, which is our choice",
        make: Some(|k, level| {
            let k = keys(k);
            let mac = ThreeKf9::<Aes128>::with_level(k.each_ref(), level);
            of_blocks(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "ZMAC",
        tag: 32,
        about: "Deoxys-TBC-256 on blocks of 31 bytes: 16 as block, 15 as tweak, one of index",
        source: "Iwata, Minematsu, Peyrin, Seurin 2017, as remembered; t = 120 is our choice",
        make: Some(|k, level| of_trait(Zmac::with_level(&keys::<1>(k)[0], level))),
        ..ROW
    },
    Comparator {
        name: "XOR-MAC",
        nonce: 8,
        about: "xor of E_K(i, M_i) for pieces of n/2 bits, xor E_K(0, nonce)",
        status: Status::Paper,
        source: "PMAC paper, section 4.4",
        make: Some(|k, level| of_trait(XorMac::<Aes128, 8>::with_level(&keys::<1>(k)[0], level))),
        ..ROW
    },
    Comparator {
        name: "PCS-HMAC-SHA256",
        keys: Keys::Sizes(&[32]),
        tag: 32,
        about: "protected counter sum: f(0, xor of f(i, M_i)); f = HMAC-SHA256 is our choice",
        status: Status::Paper,
        source: "PMAC paper, section 4.4",
        make: Some(|k, level| {
            let key = k[0].try_into().expect("the row's size");
            of_trait(PcsHmacSha256::with_level(key, level))
        }),
        ..ROW
    },
    Comparator {
        name: "COUNTER-SUM",
        keys: TWO,
        about: "E_K2 of XOR-MAC's sum under K1, without a nonce",
        status: Status::Paper,
        source: "PMAC paper, section 4.4",
        make: Some(|k, level| {
            let [k1, k2] = keys(k);
            of_trait(CounterSum::<Aes128, 8>::with_level(&k1, &k2, level))
        }),
        ..ROW
    },
    Comparator {
        name: "XECB-MAC",
        nonce: 16,
        about: "xor of E_K(M_i + i R mod 2^n), xor R; R = E_K(nonce)",
        status: Status::Paper,
        source: "PMAC paper, section 4.4",
        make: Some(|k, level| {
            let mac = XecbMac::<Aes128>::with_level(&keys::<1>(k)[0], level);
            Box::new(move |nonce, message| {
                let nonce = nonce.try_into().expect("the row's size");
                let tag = mac.under(nonce).tag_with(&(), message);
                tag.map_err(|error| error.to_string())
            })
        }),
        ..ROW
    },
    Comparator {
        name: "1K-LIGHTMAC-S32",
        about: "LightMAC with a counter of 32 bits and K1 = K2",
        status: Status::Pinned,
        source: "named by the EliMAC paper; LightMAC with one key, Chattopadhyay, Jha, Nandi 2021 (ePrint 2021/1166, \
                 abstract)",
        make: Some(|k, level| {
            let [key] = keys(k);
            of_trait(LightMac::<Aes128>::with_level(&key, &key, 32, level).expect("s = 32"))
        }),
        ..ROW
    },
    Comparator {
        name: "PELICAN",
        about: "CBC from E_K(0) on with four rounds of AES without keys; E_K of the last sum",
        source: "Daemen and Rijmen 2005 (ePrint 2005/088), as LibTomCrypt has it, with its vectors; 2.0 begins with another constant",
        make: Some(|k, level| {
            let mac = Pelican::with_level(&keys::<1>(k)[0], level);
            of_blocks(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "MARVIN",
        about: "E_K(R ^ lengths ^ xor of Theta(M_i ^ R x^(8 i))), R = E_K(c) ^ c; Theta: four rounds of AES",
        source: "EliMAC paper, figure 3; Simplicio and others 2009, as public programs have its algorithm 1; \
                 the field is our choice",
        make: Some(|k, level| {
            let mac = Marvin::with_level(&keys::<1>(k)[0], level);
            of_blocks(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "CHASKEY",
        about: "CBC over a permutation of four words, 8 rounds, with K, x K or x^2 K before and after the last",
        status: Status::Official,
        source: "Mouha and others 2014, with the designers' vectors; LightMAC paper, section 1.2",
        make: Some(|k, _| {
            let mac = Chaskey::<8>::new(&keys::<1>(k)[0]);
            of_blocks(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "CHASKEY-12",
        about: "Chaskey with 12 rounds",
        status: Status::Official,
        source: "ISO/IEC 29192-6; Mouha 2015, with the designer's vectors",
        make: Some(|k, _| {
            let mac = Chaskey::<12>::new(&keys::<1>(k)[0]);
            of_blocks(move |message| mac.tag(message))
        }),
        ..ROW
    },
    Comparator {
        name: "LEMAC",
        nonce: 16,
        about: "nine blocks of state, two rounds of AES a block; rests on 26 active S-boxes, not on a proof",
        status: Status::Official,
        source: LEMAC,
        make: Some(|k, level| {
            let mac = LeMac::with_level(&keys::<1>(k)[0], level);
            of_nonces(move |nonce, message| mac.tag(nonce, message))
        }),
        ..ROW
    },
    Comparator {
        name: "PETITMAC",
        nonce: 16,
        about: "six blocks of state, two rounds of AES a block, one after the other; no proof either",
        status: Status::Official,
        source: LEMAC,
        make: Some(|k, level| {
            let mac = PetitMac::with_level(&keys::<1>(k)[0], level);
            of_nonces(move |nonce, message| mac.tag(nonce, message))
        }),
        ..ROW
    },
    not_found(
        "LIGHTMAC-DS",
        "named by the EliMAC paper; no definition found, only the abstract of ePrint 2021/1166: 1K-LIGHTMAC \
         with messages half as long",
    ),
    not_found("LEDMAC1", "named by the EliMAC paper; no definition found"),
    not_found("LEDMAC2", "named by the EliMAC paper; no definition found"),
    not_found(
        "ZMAC1",
        "Naito's variant of ZMAC, which the EliMAC paper times; no definition found",
    ),
    not_found(
        "APA-MTH",
        "named by the EliMAC paper (Minematsu and Tsunoo 2006); no definition found",
    ),
    not_found(
        "MACH",
        "named by the EliMAC paper (Jakimoski and Subbalakshmi 2007); no definition found",
    ),
    not_found(
        "PMACX",
        "in the LightMAC paper's table 2 and figure 1 with m = 14, l = 12; no definition found",
    ),
    Comparator {
        name: "HMAC-MD5",
        keys: Keys::Any,
        about: "HMAC with MD5",
        status: Status::Official,
        source: "RFC 2104, RFC 2202",
        make: Some(|k, _: Level| of_tags(hmac_md5(k[0]))),
        ..ROW
    },
    Comparator {
        name: "HMAC-SHA1",
        keys: Keys::Any,
        tag: 20,
        about: "HMAC with SHA-1",
        status: Status::Official,
        source: "RFC 2104, RFC 2202",
        make: Some(|k, _: Level| of_tags(hmac_sha1(k[0]))),
        ..ROW
    },
    Comparator {
        name: "HMAC-SHA256",
        keys: Keys::Any,
        tag: 32,
        about: "HMAC with SHA-256",
        status: Status::Official,
        source: "RFC 2104, RFC 4231",
        make: Some(|k, _: Level| of_tags(hmac_sha256(k[0]))),
        ..ROW
    },
    Comparator {
        name: "MH",
        about: "sum of m_i k_i mod 2^64: MMH without its last two reductions",
        status: Status::Paper,
        source: "UMAC paper, section 3",
        make: Some(|k, _| hash(k[0], 1, 8, hashes::mh)),
        ..HASH
    },
    Comparator {
        name: "MMH",
        tag: 4,
        about: "MH mod p mod 2^32; p = 2^32 + 15",
        source: "UMAC paper, sections 1.3 and 3; p as remembered",
        make: Some(|k, _| hash(k[0], 1, 4, |k, m| hashes::mmh(k, m).into())),
        ..HASH
    },
    Comparator {
        name: "NMH",
        tag: 4,
        about: "NH mod p mod 2^32; p = 2^32 + 15",
        source: "UMAC paper, section 1.3; p as remembered",
        make: Some(|k, _| hash(k[0], 2, 4, |k, m| hashes::nmh(k, m).into())),
        ..HASH
    },
    Comparator {
        name: "NMH*",
        about: "sum of (m_1 + k_1) (m_2 + k_2) .. mod p; p = 2^32 + 15",
        source: "UMAC paper, section 1.3; p as remembered",
        make: Some(|k, _| hash(k[0], 2, 8, hashes::nmh_star)),
        ..HASH
    },
    Comparator {
        name: "SQUARE-HASH",
        about: "sum of (m_i + k_i)^2 mod p; p = 2^32 + 15",
        source: "Etzel, Patel, Ramzan 1999, as remembered",
        make: Some(|k, _| hash(k[0], 1, 8, hashes::square_hash)),
        ..HASH
    },
    Comparator {
        name: "NH",
        about: "sum of (m_1 + k_1 mod 2^32) (m_2 + k_2 mod 2^32) .. mod 2^64",
        status: Status::Paper,
        source: "UMAC paper, formula 1",
        make: Some(|k, _| hash(k[0], 2, 8, hashes::nh)),
        ..HASH
    },
    Comparator {
        name: "NH-INNER-XOR",
        about: "NH with m xor k, which fails",
        status: Status::Paper,
        source: "UMAC paper, section 4.3",
        make: Some(|k, _| {
            hash(k[0], 2, 8, |k, m| hashes::nh_variant(k, m, Inner::Xor, Outer::Add))
        }),
        ..HASH
    },
    Comparator {
        name: "NH-OUTER-XOR",
        about: "NH with the xor of its products, which the paper says fails; no increase found",
        status: Status::Paper,
        source: "UMAC paper, section 4.3",
        make: Some(|k, _| {
            hash(k[0], 2, 8, |k, m| hashes::nh_variant(k, m, Inner::AddMod, Outer::Xor))
        }),
        ..HASH
    },
    Comparator {
        name: "NH-NO-INNER-MODULI",
        about: "NH with m + k, which keeps the bound",
        status: Status::Paper,
        source: "UMAC paper, section 4.3",
        make: Some(|k, _| {
            hash(k[0], 2, 8, |k, m| hashes::nh_variant(k, m, Inner::Add, Outer::Add))
        }),
        ..HASH
    },
    Comparator {
        name: "MULTILINEAR",
        tag: 16,
        about: "sum of K_i M_i over GF(2^128)",
        status: Status::Paper,
        source: "EliMAC paper, section 1.2; in PMAC's field",
        make: Some(|k, _| hash_of_bytes(k[0], 16, true, hashes::multilinear)),
        ..HASH
    },
    Comparator {
        name: "HASH127",
        keys: Keys::Sizes(&[16]),
        tag: 16,
        about: "r^(n+1) + m_1 r^n + .. + m_n r mod 2^127 - 1, words of 32 bits with a sign",
        source: "UMAC paper, section 1.3, in words; Bernstein's program hash127; the key's form is our choice",
        make: Some(|k, _| {
            hash_of_bytes(k[0], 4, false, |k, m| {
                hashes::hash127(k.try_into().expect("the row's size"), m)
            })
        }),
        ..HASH
    },
    Comparator {
        name: "CRYPTOGRAPHIC-CRC",
        keys: Keys::Sizes(&[8]),
        about: "M(x) x^64 mod p(x), the key being an irreducible p, which is not checked",
        source: "UMAC paper, section 1.3, in words; Krawczyk 1994, as remembered",
        make: Some(|k, _| {
            hash_of_bytes(k[0], 1, false, |k, m| {
                hashes::cryptographic_crc(k.try_into().expect("the row's size"), m)
            })
        }),
        ..HASH
    },
    Comparator {
        name: "BUCKET-HASH",
        tag: 32,
        about: "each word xored into three of 8 buckets, which the key names",
        source: "UMAC paper, section 1.3, in words; Rogaway 1995, as remembered, with 140 buckets \
             and more",
        make: Some(|k, _| hash_of_bytes(k[0], 4, true, hashes::bucket_hash)),
        ..HASH
    },
];

/// Returns the comparator called `name`.
pub fn find(name: &str) -> Option<&'static Comparator> {
    COMPARATORS.iter().find(|comparator| comparator.name == name)
}
