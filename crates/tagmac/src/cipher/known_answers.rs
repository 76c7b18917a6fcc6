//! The known answers of the modes under each cipher, see `algo/known_answer.rs`.

use crate::isa::{KnownAnswer, SelfTest};

/// The known answers of the modes over a cipher.
pub struct KnownAnswers {
    pub(crate) pmac: KnownAnswer,
    pub(crate) lightmac: KnownAnswer,
    pub(crate) cmac: KnownAnswer,
    /// Compares batches of many raw keys with single messages.
    pub(crate) raw_pmac: SelfTest,
    pub(crate) raw_lightmac: SelfTest,
    pub(crate) raw_cmac: SelfTest,
}

macro_rules! answers {
    ($($name:ident: $pmac:literal, $lightmac:literal, $cmac:literal;)+) => {
        $(pub(super) static $name: KnownAnswers = KnownAnswers {
            pmac: KnownAnswer::new($pmac),
            lightmac: KnownAnswer::new($lightmac),
            cmac: KnownAnswer::new($cmac),
            raw_pmac: SelfTest::new(),
            raw_lightmac: SelfTest::new(),
            raw_cmac: SelfTest::new(),
        };)+
    };
}

answers! {
    AES128: 0x134e5f2fda249c1343568e746635bb7e, 0x6b669ed4af14d151d02034aea3f81174, 0x75461dda1dd334cf03ec62853d202654;
    AES192: 0x342de483c3f7219da7d38798240ac88b, 0xb36bd50d4da662d89aea8d1f14f51276, 0x85cc5a853c5bfd478f59492f108f1afb;
    AES256: 0xbb94d043f5e843cb48c2dd28829cb93e, 0x7b9c9902c16d9d9fc0346978880e3426, 0xdec99b9a77648be396f3521a37f554b8;
    PRESENT80: 0xf8ee737ab642f5c40000000000000000, 0xe6aef3e9b68daf700000000000000000, 0x456af45628d789500000000000000000;
    PRESENT128: 0xd89d75e5767427f30000000000000000, 0xcb4c0027c4e701060000000000000000, 0xeff43695cf2862eb0000000000000000;
}
