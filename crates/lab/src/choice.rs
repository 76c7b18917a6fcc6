//! The ten MACs of the page on choosing one: what limits a key, and what a repeated nonce does.

use tagmac_any::Algorithm;
use tagmac_any::bounds::{NonceKind, Theorem, per_key};

/// A row of the page.
pub struct Choice {
    /// Its name in the library.
    pub name: &'static str,
    /// Bits of the cipher's block; 0 without one.
    pub block: u32,
    /// What happens if a nonce repeats, or why none can.
    pub nonce: &'static str,
    /// When to take it.
    pub advice: &'static str,
}

const NONE: &str = "takes none";
const HASH: &str =
    "two tags under one nonce, and one more: forgeries ([attack](lab.md#attacks) `umac-reuse`)";

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
        advice: "without a nonce, the least wait for one message of 32 to 256 bytes; assumes more of AES",
    },
    Choice {
        name: "POLY1305-AES",
        block: 128,
        nonce: "two tags under one nonce: r, and so any message under every nonce whose tag is seen \
                ([attack](lab.md#attacks) `poly1305-reuse`)",
        advice: "where a counter cannot repeat",
    },
    Choice {
        name: "UMAC-64",
        block: 128,
        nonce: HASH,
        advice: "many messages, short tags, a counter",
    },
    Choice { name: "UMAC-128", block: 128, nonce: HASH, advice: "the same with long tags" },
    Choice {
        name: "PMAC-PRESENT80",
        block: 64,
        nonce: NONE,
        advice: "only where the device has nothing else: new keys often",
    },
    Choice {
        name: "LIGHTMAC-PRESENT80-S16",
        block: 64,
        nonce: NONE,
        advice: "small devices: 65 535 messages of up to 384 KiB, whatever their length",
    },
    Choice { name: "CMAC-AES128", block: 128, nonce: NONE, advice: "where rules ask for it" },
    Choice { name: "HMAC-SHA256", block: 0, nonce: NONE, advice: "where rules ask for it" },
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

/// Messages of so many bytes that the line takes in a day.
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

    /// Messages of each of so many keys that share the probability.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Each number of messages from the formula of the theory, solved by hand.
    #[test]
    fn messages_by_the_formulas() {
        let messages = |name: &str, bytes| {
            let choice = CHOICES.iter().find(|choice| choice.name == name).expect("a row");
            choice.messages(bytes)
        };
        let near = |found: Option<u128>, expected: f64| {
            let found = found.expect("a bound") as f64;
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
        };
        // 3 q^2 l = 2^(n - 32).
        for bytes in LENGTHS {
            let l = (bytes / 16) as f64;
            near(messages("PMAC-AES128", bytes), (2f64.powi(96) / (3.0 * l)).sqrt());
        }
        // 1536 bytes are 192 blocks of PRESENT.
        let present = messages("PMAC-PRESENT80", PACKET).expect("a bound") as f64;
        assert!((present - (2f64.powi(32) / (3.0 * 192.0)).sqrt()).abs() <= 1.0, "{present}");
        // q^2 = 2^(n - 32).
        near(messages("LIGHTMAC-AES128-S32", PACKET), 2f64.powi(48));
        assert_eq!(messages("LIGHTMAC-PRESENT80-S16", PACKET), Some(65535));
        // q (q - 1) / 2 eps = 2^-32: the hash is nearly all of corollary 1 there.
        near(messages("ELIMAC-AES128", PACKET), (2f64.powi(114 - 31) / 1.881).sqrt());
        near(messages("UMAC-64", PACKET), 2f64.powi(64));
        // q (q - 1) / 2^129 = 2^-32.
        let drawn = |choice: &Choice| choice.drawn()?.messages(PACKET, ACCEPTED).ok();
        let umac = CHOICES.iter().find(|choice| choice.name == "UMAC-64").expect("a row");
        near(drawn(umac), 2f64.powf(48.5));
        assert_eq!(CHOICES.iter().filter_map(drawn).count(), 3);
        // A key in 2^20 has a thousandth of LightMAC's messages, and as many of UMAC's.
        let of_keys = |name: &str| {
            let choice = CHOICES.iter().find(|choice| choice.name == name).expect("a row");
            choice.messages_of_keys(PACKET, 1 << 20)
        };
        near(of_keys("LIGHTMAC-AES128-S32"), 2f64.powi(38));
        near(of_keys("UMAC-64"), 2f64.powi(64));
        assert_eq!([messages("CMAC-AES128", 64), messages("HMAC-SHA256", 64)], [None, None]);
    }

    #[test]
    fn times_and_counts() {
        assert_eq!(a_day(1250), 86400e6);
        let words = [0.0821, 5.0, 3599.0, 90000.0, 86400.0 * 500.0, 1e9, 1e15].map(duration);
        let expected = [
            "82 ms",
            "5.0 s",
            "59 minutes",
            "25 hours",
            "500 days",
            "31 years",
            "over 10,000 years",
        ];
        assert_eq!(words, expected);
        assert_eq!([count(65535), count(1 << 20)], ["65535", "2^20"]);
    }

    #[test]
    fn nonces_are_the_librarys() {
        for choice in &CHOICES {
            assert_eq!(choice.algorithm().takes_nonce(), choice.nonce != NONE, "{}", choice.name);
        }
    }
}
