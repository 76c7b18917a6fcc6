//! Kernels compared with each other: one message on all levels, at any alignment, as bits, and in
//! batches.

use tagmac::{Bits, Tag};
use tagmac_any::AnyMac;

use crate::input::{Input, pattern};
use crate::plant::Plant;
use crate::subject::any;

pub fn run(data: &[u8]) {
    let input = &mut Input::new(data);
    let subject = any(input.byte());
    let limit = subject.algorithm.max_message_bytes().unwrap_or(u64::MAX).min(2100) as usize;
    let (length, start) = (input.up_to(limit), input.up_to(63));
    let memory = pattern(input.byte(), start + length);
    let message = &memory[start..];
    let nonce = &*subject.nonce;
    let last = subject.macs.len() - 1;
    let same = |what: &str, tag: &dyn Fn(&AnyMac, bool) -> Result<Tag, tagmac::Error>| {
        let expected = tag(&subject.macs[0], false);
        for (number, mac) in subject.macs.iter().enumerate().skip(1) {
            let found = tag(mac, number == last);
            assert_eq!(found, expected, "{} of {length} bytes, {what}", subject.algorithm);
        }
        expected
    };
    let one = same("at once", &|mac, best| {
        let lost = best && (70..100).contains(&length) && Plant::TailLost.is_set();
        mac.tag(nonce, &message[..length - usize::from(lost)])
    });
    let unused = input.up_to(7);
    let bits = same("as bits", &|mac, _| {
        mac.tag(nonce, Bits::new(message, (8 * length).saturating_sub(unused))?)
    });
    if unused == 0 {
        assert_eq!(bits, one, "whole bytes as bits must have the same tag");
    }
    // Batched with messages of one or of other lengths, which share vectors.
    let (count, few) = (input.up_to(40), 1 + input.up_to(8));
    let few: Vec<usize> = (0..few).map(|_| input.up_to(length.min(200))).collect();
    let lengths: Vec<usize> = few.into_iter().cycle().take(count).collect();
    let messages: Vec<&[u8]> = lengths.iter().map(|&length| &message[..length]).collect();
    let nonces = vec![nonce; count];
    let expected = |message: &&[u8]| subject.macs[0].tag(nonce, *message).expect("short");
    let expected: Vec<Tag> = messages.iter().map(expected).collect();
    for mac in &subject.macs {
        let mut tags = vec![Tag::default(); count];
        mac.tag_many(&nonces, &messages, &mut tags).expect("short");
        assert_eq!(tags, expected, "{} of {lengths:?} bytes", subject.algorithm);
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let seed = |choice: u8| vec![choice, 200, 1, 3, 5, choice % 8, 37, choice % 4, 16, 17, 0, 150];
    (0..crate::subject::count()).map(seed).collect()
}
