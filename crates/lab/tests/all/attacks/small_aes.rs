//! With 8-bit cells the cipher is AES; the S-box of 4 bits is the paper's.

use tagmac::cipher::{Aes128, Cipher};
use tagmac::isa::Level;
use tagmac_lab::attacks::small_aes::{SmallAes, cells, packed};
use tagmac_lab::blocks::encrypt;

#[test]
fn ten_rounds_are_aes() {
    for byte in 0..20 {
        let (key, block) = ([byte; 16], core::array::from_fn(|i| byte * 7 + i as u8));
        let ours = SmallAes::aes().expand(&key, 10).encrypt(&block);
        let level = Level::best();
        assert_eq!(ours, encrypt(&Aes128::new(&key, level), &block, level));
    }
}

/// The S-box of the paper.
#[test]
fn small_s_box() {
    let table = [6, 11, 5, 4, 2, 14, 7, 10, 9, 13, 15, 12, 3, 1, 0, 8];
    let small = SmallAes::small();
    assert_eq!(core::array::from_fn(|cell| small.substituted(cell as u8)), table);
    let block = *b"\x01\x23\x45\x67\x89\xab\xcd\xef";
    assert_eq!(cells(&block)[..4], [0, 1, 2, 3]);
    assert_eq!(packed(&cells(&block)), block);
}
