//! Block ciphers on numbers: the first byte of a block is the highest.

use aes::cipher::{BlockCipherEncrypt, KeyInit};

use super::{present, rc6};

/// A block cipher under a key.
pub struct Cipher {
    /// Number of bits of a block, n.
    pub bits: u32,
    encrypt: Box<dyn Fn(u128) -> u128>,
}

impl Cipher {
    /// Returns the cipher with a name of the registry; `None` if unknown.
    pub fn new(name: &str, key: &[u8]) -> Option<Cipher> {
        let bits = if name.starts_with("PRESENT") { 64 } else { 128 };
        let encrypt: Box<dyn Fn(u128) -> u128> = match name {
            "AES128" => aes_of::<aes::Aes128>(key),
            "AES192" => aes_of::<aes::Aes192>(key),
            "AES256" => aes_of::<aes::Aes256>(key),
            "PRESENT80" | "PRESENT128" => {
                let keys = present::round_keys(key);
                Box::new(move |block| present::encrypt(&keys, block as u64).into())
            }
            "RC6" => {
                let keys = rc6::round_keys(key);
                Box::new(move |block| rc6::encrypt(&keys, block))
            }
            _ => return None,
        };
        Some(Cipher { bits, encrypt })
    }

    /// Returns E(X), for a number of [`bits`](Cipher::bits) bits.
    pub fn encrypt(&self, block: u128) -> u128 {
        (self.encrypt)(block)
    }
}

fn aes_of<C>(key: &[u8]) -> Box<dyn Fn(u128) -> u128>
where
    C: BlockCipherEncrypt + KeyInit + 'static,
{
    let cipher = C::new_from_slice(key).expect("a key of the right length");
    Box::new(move |block| {
        let mut bytes = aes::cipher::Block::<C>::default();
        bytes.copy_from_slice(&block.to_be_bytes());
        cipher.encrypt_block(&mut bytes);
        u128::from_be_bytes(bytes.as_slice().try_into().expect("a block of 16 bytes"))
    })
}
