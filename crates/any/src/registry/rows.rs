//! The rows. Most are another row with a few fields changed.

use core::num::NonZeroU64;
use std::sync::Arc;

use tagmac::cipher::{Aes128, Aes192, Aes256, Cipher, CipherBlock, Field, Present80, Present128};
use tagmac::internals::{self, ELIMAC_LIMIT_BITS, LongAes, lightmac_limit_bits};
use tagmac::isa::Level;
use tagmac::{EliMac, Error, Poly1305Aes, Umac};
use tagmac_bounds::umac::{Prf1999, Umac1999};
use tagmac_bounds::{NonceKind, Theorem};
use tagmac_papers::{Rc6, Umac99, Umac99Set};

use super::chosen::{self, is_chosen};
use super::row::{Capabilities, Make, Row};
use crate::erased::DynMac;
use crate::sequential::{HmacSha256, SequentialCmac};

/// PMAC, LightMAC and EliMAC.
const XOR: Capabilities =
    Capabilities { parts: true, threads: true, batch: true, edits: true, bits: true };
/// Poly1305-AES and UMAC.
const UNIVERSAL: Capabilities = Capabilities { bits: false, ..XOR };
/// UMAC of 1999. Its hash is long even for a short message and grows with it, so an edit would cost
/// as much as rehashing the message.
const UMAC99: Capabilities = Capabilities { batch: false, edits: false, ..UNIVERSAL };
/// CMAC and HMAC.
const SEQUENTIAL: Capabilities =
    Capabilities { parts: false, threads: false, batch: false, edits: false, bits: false };

/// Bits of the cipher's block.
const fn n_of<C: Cipher>() -> u32 {
    8 * C::Block::BYTES as u32
}

/// Leaves out the kernels of a MAC that is not to be built.
const fn built(name: &str, make: Make) -> Make {
    match is_chosen(name) {
        true => make,
        false => |_, _, _| unreachable!("a MAC that was not built has no key"),
    }
}

/// PMAC of C, with the kernels of K: ciphers that differ only in their key schedules share kernels.
const fn pmac<C: Cipher<Block: Field>, K>(name: &'static str) -> Row
where
    K: Cipher<Block = C::Block> + From<C> + 'static,
{
    Row {
        name,
        family: "PMAC",
        cipher: Some(C::NAME),
        counter_bits: None,
        new_key: C::KEY_BYTES,
        min_key: C::KEY_BYTES,
        max_key: C::KEY_BYTES,
        cipher_key: C::KEY_BYTES,
        min_nonce: 0,
        max_nonce: 0,
        min_tag: 1,
        max_tag: 8 * C::Block::BYTES,
        tag_step: 1,
        block: C::Block::BYTES,
        part_growth: None,
        stack: 48 << 10,
        stream_stack: 0,
        limit_bits: u64::MAX,
        can: XOR,
        theorem: Some(Theorem::Pmac { n: n_of::<C>(), t: n_of::<C>() }),
        make: built(name, |key, tag_bits, level| {
            let mac = internals::pmac::<K>(C::from_slice(key, level)?.into(), level);
            Ok(Arc::new(mac.with_tag_bits(tag_bits)?))
        }),
    }
}

/// Under PRESENT, whose batches need more stack.
const fn present(row: Row) -> Row {
    Row { stack: 64 << 10, ..row }
}

/// Under AES.
const fn aes(row: Row) -> Row {
    row
}

/// A XOR MAC with two keys of C.
const fn two_keys<C: Cipher<Block: Field>, K>(name: &'static str, make: Make) -> Row
where
    K: Cipher<Block = C::Block> + From<C> + 'static,
{
    let bytes = 2 * C::KEY_BYTES;
    Row {
        new_key: bytes,
        min_key: bytes,
        max_key: bytes,
        make: built(name, make),
        ..pmac::<C, K>(name)
    }
}

const fn lightmac<C: Cipher<Block: Field>, K, const S: usize>(name: &'static str) -> Row
where
    K: Cipher<Block = C::Block> + From<C> + 'static,
{
    let make: Make = |key, tag_bits, level| {
        let (k1, k2) = key.split_at(C::KEY_BYTES);
        let (k1, k2) = (C::from_slice(k1, level)?, C::from_slice(k2, level)?);
        let mac = internals::lightmac::<K>(k1.into(), k2.into(), S, level)?;
        Ok(Arc::new(mac.with_tag_bits(tag_bits)?))
    };
    let n = C::Block::BYTES;
    let (block, limit_bits) = (n - S / 8, lightmac_limit_bits(8 * n, S));
    let theorem = Theorem::LightMac { n: n_of::<C>(), s: S as u32, t: n_of::<C>() };
    Row {
        family: "LIGHTMAC",
        counter_bits: Some(S),
        block,
        limit_bits,
        theorem: Some(theorem),
        ..two_keys::<C, K>(name, make)
    }
}

const fn elimac(name: &'static str) -> Row {
    let make: Make = |key, tag_bits, level| {
        let wrong = Error::KeyLength { min: 32, max: 32, found: key.len() };
        let ([k1, k2], []) = key.as_chunks() else { return Err(wrong) };
        let mac = EliMac::with_level(k1, k2, level);
        Ok(Arc::new(mac.with_tag_bits(tag_bits)?))
    };
    let theorem = Some(Theorem::EliMacAes { t: 128 });
    Row {
        family: "ELIMAC",
        limit_bits: ELIMAC_LIMIT_BITS,
        theorem,
        ..two_keys::<Aes128, Aes128>(name, make)
    }
}

const fn poly1305_aes(name: &'static str) -> Row {
    Row {
        name,
        family: "POLY1305",
        cipher: None,
        counter_bits: None,
        new_key: 32,
        min_key: 32,
        max_key: 32,
        cipher_key: 16,
        min_nonce: 16,
        max_nonce: 16,
        min_tag: 128,
        max_tag: 128,
        tag_step: 1,
        block: 16,
        part_growth: None,
        stack: 48 << 10,
        stream_stack: 0,
        limit_bits: u64::MAX,
        can: UNIVERSAL,
        theorem: Some(Theorem::Poly1305Aes { nonces: drawn(128) }),
        make: built(name, |key, _, level| {
            let wrong = Error::KeyLength { min: 32, max: 32, found: key.len() };
            let mac = Poly1305Aes::with_level(key.try_into().map_err(|_| wrong)?, level);
            Ok(Arc::new(mac))
        }),
    }
}

const fn umac<const T: usize>(name: &'static str) -> Row {
    let make: Make = |key, _, level| {
        let wrong = Error::KeyLength { min: 16, max: 16, found: key.len() };
        let mac = Umac::<Aes128, T>::with_level(key.try_into().map_err(|_| wrong)?, level);
        Ok(Arc::new(mac))
    };
    Row {
        family: "UMAC",
        new_key: 16,
        min_key: 16,
        max_key: 16,
        min_nonce: 1,
        min_tag: 32 * T,
        max_tag: 32 * T,
        block: 2048,
        stack: 64 << 10,
        theorem: Some(Theorem::Umac { t: 32 * T as u32, nonces: drawn(128) }),
        make: built(name, make),
        ..poly1305_aes(name)
    }
}

/// Random nonces of the longest length.
const fn drawn(bits: u32) -> NonceKind {
    NonceKind::Random { bits }
}

/// UMAC of 1999 with HMAC-SHA1: a named set, with the collision bits of its hash.
const fn umac99_std(name: &'static str, b: u32, make: Make) -> Row {
    umac99(name, b, 160, Prf1999::Named, make)
}

/// UMAC of 1999 with CBC3 of RC6: a named set, with the bits of its hash for a message block, and
/// its collision bits.
const fn umac99_mmx(name: &'static str, b: u32, hash_bits: u32, make: Make) -> Row {
    let prf = Prf1999::Cbc3 { n: 128, block_bytes: 4096, hash_bytes: hash_bits / 8 };
    umac99(name, b, 128, prf, make)
}

const fn umac99(name: &'static str, b: u32, max_tag: usize, prf: Prf1999, make: Make) -> Row {
    let theorem = Theorem::Umac1999(Umac1999 { b, t: max_tag as u32, prf, nonces: drawn(64) });
    Row {
        name,
        family: "UMAC99",
        cipher: None,
        counter_bits: None,
        new_key: 16,
        min_key: 16,
        max_key: 16,
        cipher_key: 16,
        min_nonce: 8,
        max_nonce: 8,
        min_tag: 32,
        max_tag,
        tag_step: 8,
        block: 4096,
        // At most 1/256: four words of 4 bytes for a block of 4096.
        part_growth: NonZeroU64::new(256),
        stack: 64 << 10,
        // The states have several sizes.
        stream_stack: 8 << 10,
        limit_bits: u64::MAX,
        can: UMAC99,
        theorem: Some(theorem),
        make: built(name, make),
    }
}

fn umac99_set(
    set: Umac99Set,
    key: &[u8],
    tag_bits: usize,
    level: Level,
) -> Result<Arc<dyn DynMac>, Error> {
    let wrong = Error::KeyLength { min: 16, max: 16, found: key.len() };
    let mac = Umac99::with_level(set, key.try_into().map_err(|_| wrong)?, level);
    Ok(Arc::new(mac.with_tag_bits(tag_bits)?))
}

/// CMAC of C, with the kernels of K.
const fn cmac<C: Cipher<Block: Field>, K>(name: &'static str) -> Row
where
    K: Cipher<Block = C::Block> + From<C> + 'static,
{
    Row {
        family: "CMAC",
        min_tag: 32,
        tag_step: 8,
        block: 0,
        can: Capabilities { batch: true, ..SEQUENTIAL },
        theorem: None,
        make: built(name, |key, tag_bits, level| {
            let mac = internals::cmac::<K>(C::from_slice(key, level)?.into(), level);
            Ok(Arc::new(SequentialCmac(mac.with_tag_bits(tag_bits)?)))
        }),
        ..pmac::<C, K>(name)
    }
}

/// HMAC hashes keys of more than 64 bytes, so it accepts any length. A key file, with two hex
/// digits for each byte, has room only for these.
const MAX_HMAC_KEY: usize = 16 << 10;

const HMAC_SHA256: Row = Row {
    family: "HMAC",
    cipher: None,
    new_key: 32,
    // An empty key is not secret: anyone could make its tags.
    min_key: 1,
    max_key: MAX_HMAC_KEY,
    cipher_key: 32,
    max_tag: 256,
    can: SEQUENTIAL,
    make: |key, bits, _| Ok(Arc::new(HmacSha256::new(key, bits))),
    ..cmac::<Aes256, LongAes>("HMAC-SHA256")
};

/// LightMACs with one cipher and several counter lengths.
macro_rules! lightmacs {
    ($wrap:ident, $cipher:ty, $kernels:ty, $name:literal, $($s:literal)+) => {
        &[$($wrap(lightmac::<$cipher, $kernels, $s>(concat!($name, "-S", $s)))),+]
    };
}

/// All MACs, in groups with similar rows.
pub(super) static GROUPS: &[&[Row]] = &[
    &[
        pmac::<Aes128, Aes128>("PMAC-AES128"),
        pmac::<Aes192, LongAes>("PMAC-AES192"),
        pmac::<Aes256, LongAes>("PMAC-AES256"),
        present(pmac::<Present80, Present128>("PMAC-PRESENT80")),
        present(pmac::<Present128, Present128>("PMAC-PRESENT128")),
        pmac::<Rc6, Rc6>("PMAC-RC6"),
    ],
    lightmacs!(aes, Aes128, Aes128, "LIGHTMAC-AES128", 8 16 24 32 40 48 56 64),
    lightmacs!(aes, Aes192, LongAes, "LIGHTMAC-AES192", 8 16 24 32 40 48 56 64),
    lightmacs!(aes, Aes256, LongAes, "LIGHTMAC-AES256", 8 16 24 32 40 48 56 64),
    lightmacs!(present, Present80, Present128, "LIGHTMAC-PRESENT80", 8 16 24 32),
    lightmacs!(present, Present128, Present128, "LIGHTMAC-PRESENT128", 8 16 24 32),
    &[
        elimac("ELIMAC-AES128"),
        poly1305_aes("POLY1305-AES"),
        umac::<1>("UMAC-32"),
        umac::<2>("UMAC-64"),
        umac::<3>("UMAC-96"),
        umac::<4>("UMAC-128"),
        umac99_std("UMAC99-STD-30", 30, |key, bits, level| {
            umac99_set(Umac99Set::Std30, key, bits, level)
        }),
        umac99_std("UMAC99-STD-60", 60, |key, bits, level| {
            umac99_set(Umac99Set::Std60, key, bits, level)
        }),
        umac99_mmx("UMAC99-MMX-15", 15, 32, |key, bits, level| {
            umac99_set(Umac99Set::Mmx15, key, bits, level)
        }),
        umac99_mmx("UMAC99-MMX-30", 30, 64, |key, bits, level| {
            umac99_set(Umac99Set::Mmx30, key, bits, level)
        }),
        umac99_mmx("UMAC99-MMX-60", 60, 128, |key, bits, level| {
            umac99_set(Umac99Set::Mmx60, key, bits, level)
        }),
        cmac::<Aes128, Aes128>("CMAC-AES128"),
        cmac::<Aes192, LongAes>("CMAC-AES192"),
        cmac::<Aes256, LongAes>("CMAC-AES256"),
        HMAC_SHA256,
    ],
];

/// Limits that the rows depend on, checked at compile time.
const _: () = {
    // mu full blocks and a partial one: 2^32 blocks minus one bit.
    assert!(ELIMAC_LIMIT_BITS == (1 << 39) - 1);
    // 2^s blocks of n - s bits, if that fits in a u64.
    assert!(lightmac_limit_bits(128, 1) == 254 && lightmac_limit_bits(128, 8) == 256 * 120);
    assert!(lightmac_limit_bits(64, 32) == 32 << 32 && lightmac_limit_bits(128, 57) == 71 << 57);
    assert!(lightmac_limit_bits(128, 58) == u64::MAX && lightmac_limit_bits(256, 64) == u64::MAX);
};

/// A name of the variable that is not one of a MAC would leave out what was meant.
const _: () = {
    let (mut found, mut group) = (0, 0);
    while let Some(names) = chosen::CHOSEN
        && group < GROUPS.len()
    {
        let mut row = 0;
        while row < GROUPS[group].len() {
            found += chosen::has_word(names, GROUPS[group][row].name) as usize;
            row += 1;
        }
        group += 1;
    }
    assert!(found == chosen::named(), "TAGMAC_MACS: expected names of MACs, in capitals");
};
