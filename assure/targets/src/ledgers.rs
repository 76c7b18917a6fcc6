//! Ledgers and pins. The first byte chooses a pin, or one or two ledgers of one chain, separated by
//! a zero byte. The texts have no first line, key ID and seal.

use tagmac::Tag;
use tagmac_files::fuzzing::{ledger, ledger_text, pin};
use tagmac_files::ledger::Ledger;

use crate::input::pattern;
use crate::plant::Plant;

pub fn run(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else { return };
    if first & 1 == 1 {
        if let Some(again) = pin(text) {
            assert_eq!(again, text, "accepts only what is written");
        }
        return;
    }
    let mut texts = text.split(|&byte| byte == 0);
    let Some(one) = texts.next().and_then(read) else { return };
    let Some(mut two) = texts.next().and_then(read) else { return };
    two.chain = one.chain;
    let merged = [(&one, &two), (&two, &one)].map(|(one, two)| {
        let mut merged = one.clone();
        merged.merge(&given(two)).is_ok().then_some(merged)
    });
    assert_eq!(merged[0], merged[1], "the order of a merge does not matter");
    let [Some(merged), _] = merged else { return };
    let lines = text.split(|&byte| byte == b'\n' || byte == 0);
    let positions = lines.filter_map(|line| line.first_chunk::<16>()).filter_map(|hex| {
        let mut bytes = [0; 8];
        base16ct::lower::decode(hex, &mut bytes).ok()?;
        Some(u64::from_be_bytes(bytes))
    });
    for at in positions.flat_map(|at| [at.wrapping_sub(1), at, at.wrapping_add(1)]) {
        let later = one.day_at(at).max(two.day_at(at));
        assert_eq!(merged.day_at(at), later, "the later day counts at {at:016x}");
    }
    for part in [&one, &two, &merged] {
        let mut again = merged.clone();
        again.merge(part).expect("no more exceptions");
        assert_eq!(again, merged, "a ledger that is merged already changes nothing");
    }
}

/// Reads a ledger and checks that it is written as it was read.
fn read(text: &[u8]) -> Option<Ledger> {
    let ledger = ledger(text)?;
    assert_eq!(ledger_text(&ledger), text, "accepts only what is written");
    Some(ledger)
}

/// Returns the ledger to merge, without its exceptions if that bug is planted.
fn given(one: &Ledger) -> Ledger {
    if !Plant::ExceptionsLost.is_set() {
        return one.clone();
    }
    let text = String::from_utf8(ledger_text(one)).expect("it is ASCII");
    let (arcs, _) = text.split_once("exceptions: ").expect("every ledger has the line");
    ledger(format!("{arcs}exceptions: 0\n").as_bytes()).expect("a ledger without exceptions")
}

pub fn seeds() -> Vec<Vec<u8>> {
    let seal = Tag::try_from(&pattern(1, 32)[..]).expect("32 bytes");
    let head = |number: u64| format!("chain: {seal}\nsequence: {number}\n");
    let one = format!(
        "{}arcs: 3\n0000000000000000 2026-11-21\n4000000000000000 -\n8000000000000000 2026-11-22\n\
         exceptions: 2\n1000000000000000 -\n9000000000000000 2026-11-21\n",
        head(3)
    );
    let two = format!(
        "{}arcs: 2\n0000000000000000 -\n2000000000000000 2026-11-23\n\
         exceptions: 1\n9000000000000000 2026-11-20\n",
        head(9)
    );
    let pin = format!("{}manifest: {seal}\nledger: 7\n", head(3));
    [(0, one.clone()), (0, format!("{one}\0{two}")), (0, format!("{two}\0{one}")), (1, pin)]
        .map(|(first, text)| [&[first], text.as_bytes()].concat())
        .to_vec()
}
