//! The ten MACs of the page on choosing one: what limits a key, and what a repeated nonce does.

use tagmac_any::Algorithm;
use tagmac_any::bounds::{NonceKind, Theorem, per_key};

/// A row of the page.
pub struct Choice {
    /// Its name in the library.
    pub name: &'static str,
    /// Bits of the cipher's block; 0 without one.
    pub block: u32,
    /// The effect of a repeated nonce, or [`NONE`].
    pub nonce: &'static str,
    /// When to take it.
    pub advice: &'static str,
}

/// [`Choice::nonce`] of a MAC without nonces.
pub const NONE: &str = "needs no nonce";
const HASH: &str =
    "one more tag allows forgeries ([attack](../design/lab.md#attacks) `umac-reuse`)";

/// All rows.
pub const CHOICES: [Choice; 10] = [
    Choice { name: "PMAC-AES128", block: 128, nonce: NONE, advice: "the default" },
    Choice {
        name: "LIGHTMAC-AES128-S32",
        block: 128,
        nonce: NONE,
        advice: "long messages, much data under one key",
    },
    Choice {
        name: "ELIMAC-AES128",
        block: 128,
        nonce: NONE,
        advice: "without a nonce, the lowest latency for messages of 32 to 256 bytes; assumes more of AES",
    },
    Choice {
        name: "POLY1305-AES",
        block: 128,
        nonce: "half of the key is revealed ([attack](../design/lab.md#attacks) `poly1305-reuse`)",
        advice: "formats that use it; a counter that cannot repeat",
    },
    Choice {
        name: "UMAC-64",
        block: 128,
        nonce: HASH,
        advice: "many messages and short tags, with a counter",
    },
    Choice { name: "UMAC-128", block: 128, nonce: HASH, advice: "the same, with long tags" },
    Choice {
        name: "PMAC-PRESENT80",
        block: 64,
        nonce: NONE,
        advice: "devices that have nothing else, with new keys often",
    },
    Choice {
        name: "LIGHTMAC-PRESENT80-S16",
        block: 64,
        nonce: NONE,
        advice: "small devices: 65,535 messages of up to 384 KiB",
    },
    Choice { name: "CMAC-AES128", block: 128, nonce: NONE, advice: "rules that require it" },
    Choice { name: "HMAC-SHA256", block: 0, nonce: NONE, advice: "rules that require it" },
];

/// The messages for which the page has costs: bytes.
pub const LENGTHS: [u64; 3] = [64, PACKET, 16384];
/// A packet.
pub const PACKET: u64 = 1536;
/// Seconds.
pub const DAY: f64 = 86400.0;
/// Seconds.
pub const YEAR: f64 = 365.25 * DAY;
/// Bits a second of the line.
const LINE: f64 = 1e10;
/// The probability of a forgery that is accepted.
pub const ACCEPTED: f64 = 1.0 / (1u64 << 32) as f64;

/// Messages of `bytes` bytes that the line carries in a day.
pub fn a_day(bytes: u64) -> f64 {
    DAY * LINE / (8 * bytes) as f64
}

impl Choice {
    /// The library's row.
    pub fn algorithm(&self) -> Algorithm {
        Algorithm::from_name(self.name).expect("a name of the library")
    }

    /// Messages until the bound is no longer below the probability; none where the papers have no
    /// bound. Nonces count.
    pub fn messages(&self, bytes: u64) -> Option<u128> {
        self.theorem()?.messages(bytes, ACCEPTED).ok()
    }

    /// Failed attempts that are allowed.
    pub fn guesses(&self, bytes: u64) -> Option<u128> {
        self.theorem()?.guesses(bytes, ACCEPTED).ok()
    }

    /// The row with random nonces of full length; none for a MAC without nonces.
    pub fn drawn(&self) -> Option<Theorem> {
        self.algorithm().theorem().filter(|theorem| theorem.nonces().is_some())
    }

    /// Messages of each of `keys` keys that share the probability.
    pub fn messages_of_keys(&self, bytes: u64, keys: u128) -> Option<u128> {
        self.theorem()?.messages(bytes, per_key(ACCEPTED, keys).ok()?).ok()
    }

    /// Seconds until then on a full line.
    pub fn seconds(&self, bytes: u64) -> Option<f64> {
        Some(self.messages(bytes)? as f64 / a_day(bytes) * DAY)
    }

    fn theorem(&self) -> Option<Theorem> {
        Some(self.algorithm().theorem()?.with_nonces(NonceKind::Counted))
    }
}

/// A power of two, or the number if it is small.
pub fn count(number: u128) -> String {
    match number {
        ..100_000 => number.to_string(),
        // Not above the number.
        _ => format!("2^{}", ((number as f64).log2() * 10.0).floor() / 10.0),
    }
}

/// A time as people say it.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        _ if seconds < 1.0 => (seconds * 1e3, "ms"),
        _ if seconds < 120.0 => (seconds, "s"),
        _ if seconds < 7200.0 => (seconds / 60.0, "minutes"),
        _ if seconds < 2.0 * DAY => (seconds / 3600.0, "hours"),
        _ if seconds < 2.0 * YEAR => (seconds / DAY, "days"),
        _ if seconds < 1e4 * YEAR => (seconds / YEAR, "years"),
        _ => return "over 10,000 years".into(),
    };
    // Never longer than it is.
    if value < 10.0 {
        format!("{:.1} {unit}", (value * 10.0).floor() / 10.0)
    } else {
        format!("{:.0} {unit}", value.floor())
    }
}
