//! Words of UMAC's tags and of POLY-128: grades, saved parts, and rows that shorter tests cannot
//! replace.

use super::*;

/// Exactly the first words of a tag are checked.
#[test]
fn a_grade_of_umac_checks_its_words() {
    use Assurance::{Bits30, Bits60, Bits90, Bits120};
    for level in Level::all() {
        let (mac, nonce) = (Umac128::with_level(&[9; 16], level), UmacNonce::from(5));
        for length in [0, 1, 33, 1024, 1025, 3000] {
            let message = message(length);
            let tag = mac.tag_with(&nonce, &message).expect("no limit in reach");
            for (words, grade) in [(1, Bits30), (2, Bits60), (3, Bits90), (4, Bits120)] {
                let check = |tag: &Tag| mac.verify_prefix(&nonce, &message, tag, grade);
                assert_eq!(check(&tag), Ok(()), "{level}, {length} bytes, {grade:?}");
                for byte in 0..16 {
                    let mut bytes = tag.as_bytes().to_vec();
                    bytes[byte] ^= 1 << (byte % 8);
                    let other = Tag::try_from(&bytes[..]).expect("as long");
                    let expected = if byte < 4 * words { Err(Mismatch) } else { Ok(()) };
                    assert_eq!(check(&other), expected, "{level}, {grade:?}, byte {byte}");
                }
                let part = Tag::try_from(&tag.as_bytes()[..4 * words.min(3)]).expect("4 bytes");
                assert_eq!(check(&part), Err(Mismatch), "{level}, {grade:?}");
                let other = mac.verify_prefix(&UmacNonce::from(6), &message, &tag, grade);
                assert_eq!(other, Err(Mismatch), "{level}, {grade:?}");
            }
        }
    }
}

/// A loaded part equals the saved one, before and after POLY-128 begins, and joins in the same way.
#[test]
fn parts_of_umac_are_saved_with_their_words() {
    const END: usize = 1 << 24;
    let mac = macs("UMAC-64").pop().expect("the best level");
    let parts = mac.parts().expect("it has parts");
    let blocks = message(6144);
    for (start, length) in [(0, 4096), (END - 4096, 4096), (END - 2048, 6144), (END, 4096)] {
        let blocks = &blocks[..length];
        let part = || parts.new_part(start as u64, blocks).expect("whole blocks");
        let mut saved = Writer::with_capacity(200);
        parts.save(&part(), &mut saved).expect("its own");
        let load = || parts.load(&mut Reader::new(saved.as_bytes())).expect("as it was saved");
        parts.check(&load(), blocks).expect("the same part");
        let before = |part| {
            let left = start.saturating_sub(2048);
            let left = parts.new_part(left as u64, &message(start - left)).expect("a block");
            let whole = parts.join(left, &part).expect("neighbours");
            let mut saved = Writer::with_capacity(200);
            parts.save(&whole, &mut saved).expect("its own");
            saved.as_bytes().to_vec()
        };
        assert_eq!(before(load()), before(part()), "from {start}");
    }
    let part = |from: usize, to: usize| {
        let from_end = END - 4096 + from;
        parts.new_part(from_end as u64, &message(10_240)[from..to]).expect("whole blocks")
    };
    let join = |left, right| parts.join(left, &right).expect("neighbours");
    let all = join(join(part(0, 2048), part(2048, 6144)), part(6144, 10_240));
    parts.check(&all, &message(10_240)).expect("from the left");
    let all = join(part(0, 2048), join(part(2048, 6144), part(6144, 10_240)));
    parts.check(&all, &message(10_240)).expect("from the right");
}

/// The long rows of `vectors/umac.json` on the best level, which shorter tests cannot replace.
fn long_rows(wanted: impl Fn(&str, u64) -> bool, least: usize) {
    let mut checked = 0;
    for row in common::rows("umac.json") {
        let bytes = row["msg"]["total_bytes"].as_u64().unwrap_or(0);
        if !wanted(row["msg"]["repeat"].as_str().unwrap_or(""), bytes) {
            continue;
        }
        let name = common::text(&row, "algorithm");
        if name != "UMAC-32" && bytes != 1 << 25 || name == "UMAC-64" || name == "UMAC-96" {
            continue;
        }
        // Misprints of the RFC.
        if row["valid"] == false {
            continue;
        }
        let algorithm = Algorithm::from_name(name).expect("a name");
        let key = common::hex(common::text(&row, "key"));
        let mac = AnyMac::new(algorithm, &key).expect("its own key");
        let (nonce, message) =
            (common::hex(common::text(&row, "nonce")), common::string(&row, "msg"));
        let tag = mac.tag(&nonce, message.bits()).expect("no limit in reach");
        assert_eq!(tag.as_bytes(), common::hex(common::text(&row, "tag")), "{name}, {bytes}");
        checked += 1;
    }
    assert!(checked >= least, "expected {least} rows, found {checked}");
}

#[test]
fn umac_of_the_longest_message_of_the_rfc() {
    long_rows(|text, bytes| text == "61" && bytes == 1 << 25, 2);
}

#[test]
fn umac_around_where_poly_128_begins() {
    let lengths = [1 << 24, (1 << 24) + 1, (1 << 24) + 1024, (1 << 24) + 1025];
    long_rows(|text, bytes| text.starts_with("6465666") && lengths.contains(&bytes), 4);
}

#[test]
fn umac_with_words_of_poly_128_that_take_two_steps() {
    long_rows(|text, bytes| text.starts_with("bbd66b70") && bytes > 1 << 24, 5);
}
