//! The choices of the page on choosing a MAC, against formulas solved by hand.

use tagmac_lab::choice::{
    ACCEPTED, CHOICES, Choice, LENGTHS, NONE, PACKET, a_day, count, duration,
};

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
    // A key in 2^20 has a thousandth of the messages with LightMAC; with UMAC it has the same
    // number.
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
    let expected =
        ["82 ms", "5.0 s", "59 minutes", "25 hours", "500 days", "31 years", "over 10,000 years"];
    assert_eq!(words, expected);
    assert_eq!([count(65535), count(1 << 20)], ["65535", "2^20"]);
}

#[test]
fn nonces_are_the_librarys() {
    for choice in &CHOICES {
        assert_eq!(choice.algorithm().takes_nonce(), choice.nonce != NONE, "{}", choice.name);
    }
}
