//! The level of aarch64: its features.

use crate::isa::detect::level;
use crate::isa::sealed::Sealed;

level!(
    is_aarch64_feature_detected;
    /// NEON and AES: nearly every 64-bit Arm CPU of servers, phones and desktops.
    Neon: "neon", "aes"
);

impl Sealed for Neon {}
