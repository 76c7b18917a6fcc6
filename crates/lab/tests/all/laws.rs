//! The laws of every parallel comparator: streams and parts have the tag of one call, on every
//! level, and every level has the same tag.

use tagmac::cipher::{Aes128, Present80};
use tagmac::hazmat::Part;
use tagmac::isa::Level;
use tagmac::{Mac, Stream};
use tagmac_lab::comparators::{
    CounterSum, PcsHmacSha256, Pmac1, Pmac2, PmacParity, PmacPlus, XecbMac, XorMac, Zmac,
};
use tagmac_lab::parallel::{Mode, Parallel};
use tagmac_papers::Rc6;

const MESSAGE_BYTES: usize = 4500;

fn message() -> Vec<u8> {
    let mut state = 1u32;
    let mut byte = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 24) as u8
    };
    (0..MESSAGE_BYTES).map(|_| byte()).collect()
}

/// Lengths around blocks, pairs and batches.
fn lengths(block: usize) -> impl Iterator<Item = usize> {
    [0, 1, 2, 3, 7, 64, 65, 128].into_iter().flat_map(move |blocks| {
        let edge = blocks * block;
        [edge.saturating_sub(1), edge, edge + 1, edge + block / 2]
    })
}

fn laws<M: Mode>(make: impl Fn(Level) -> Parallel<M>, nonce: &M::Nonce) {
    let (message, block) = (message(), M::BLOCK_BYTES);
    for length in lengths(block) {
        let message = &message[..length];
        let expected = make(Level::best()).tag_with(nonce, message).expect("a tag");
        for level in Level::all() {
            let mac = make(level);
            let whole = mac.tag_with(nonce, message).expect("a tag");
            assert!(whole == expected, "{level}, {length} bytes");
            let mut stream = Stream::new(&mac, nonce);
            message.chunks(block - 1).for_each(|piece| _ = stream.update(piece));
            assert!(stream.tag() == Ok(expected), "{level}, a stream of {length} bytes");
            for cut in [block, 3 * block, 64 * block] {
                if let Some(found) = in_parts(&mac, nonce, message, cut) {
                    assert!(found == expected, "{level}, {length} bytes in parts, cut at {cut}");
                }
            }
        }
    }
}

/// Returns the tag from two parts and a rest, if the message is longer than that.
fn in_parts<M: Mode>(
    mac: &Parallel<M>,
    nonce: &M::Nonce,
    message: &[u8],
    cut: usize,
) -> Option<tagmac::Tag> {
    let (left, rest) = message.split_at_checked(cut)?;
    let block = M::BLOCK_BYTES;
    let (right, last) = rest.split_at(rest.len().checked_sub(1)? / block * block);
    let left = Part::new(mac, 0, left).expect("whole blocks");
    let right = Part::new(mac, cut as u64, right).expect("whole blocks");
    let (end, none) = (right.end(), Part::new(mac, right.end(), &[]).expect("no blocks"));
    let whole = left.join(mac, &right).expect("neighbours").join(mac, &none).expect("neighbours");
    whole.check(mac, &message[..end as usize]).expect("the same blocks");
    if M::LAST_BLOCK_DISTINCT || last.len() < block {
        return Some(whole.finish(mac, nonce, last).expect("a rest"));
    }
    let whole =
        whole.join(mac, &Part::new(mac, (message.len() - block) as u64, last).expect("a block"));
    Some(whole.expect("neighbours").finish(mac, nonce, &[]).expect("no rest"))
}

#[test]
fn pmac1() {
    laws(|level| Pmac1::<Aes128>::with_level(&[1; 16], level), &());
    laws(|level| Pmac1::<Present80>::with_level(&[1; 10], level), &());
    laws(|level| Pmac1::<Rc6>::with_level(&[1; 16], level), &());
}

#[test]
fn pmac2() {
    laws(|level| Pmac2::<Aes128>::with_level(&[1; 16], &[2; 16], level), &());
    laws(|level| Pmac2::<Present80>::with_level(&[1; 10], &[2; 10], level), &());
}

#[test]
fn pmac_plus() {
    laws(|level| PmacPlus::<Aes128>::with_level([&[1; 16], &[2; 16], &[3; 16]], level), &());
    laws(|level| PmacPlus::<Present80>::with_level([&[1; 10], &[2; 10], &[3; 10]], level), &());
}

#[test]
fn pmac_parity() {
    let aes = [&[1; 16], &[2; 16], &[3; 16], &[4; 16]];
    laws(|level| PmacParity::<Aes128>::with_level(aes, level), &());
    let present = [&[1; 10], &[2; 10], &[3; 10], &[4; 10]];
    laws(|level| PmacParity::<Present80>::with_level(present, level), &());
}

#[test]
fn counter_sums() {
    laws(|level| XorMac::<Aes128, 8>::with_level(&[1; 16], level), &[9; 8]);
    laws(|level| XorMac::<Present80, 4>::with_level(&[1; 10], level), &[9; 4]);
    laws(|level| CounterSum::<Aes128, 8>::with_level(&[1; 16], &[2; 16], level), &());
    laws(|level| CounterSum::<Present80, 4>::with_level(&[1; 10], &[2; 10], level), &());
    laws(|level| PcsHmacSha256::with_level(&[1; 32], level), &());
}

#[test]
fn xecb() {
    laws(|level| XecbMac::<Aes128>::with_level(&[1; 16], level).under(&[9; 16]), &());
    laws(|level| XecbMac::<Present80>::with_level(&[1; 10], level).under(&[9; 8]), &());
}

#[test]
fn zmac() {
    laws(|level| Zmac::with_level(&[1; 16], level), &());
}

/// With pieces of 32 bits there are 2^32 - 1 numbers, and the last piece needs another one.
#[test]
fn counters_that_end() {
    let mac = XorMac::<Present80, 4>::with_level(&[1; 10], Level::best());
    let bytes = 4 * ((1 << 32) - 3);
    assert!(Part::new(&mac, bytes, &[0; 4]).is_ok());
    assert!(Part::new(&mac, bytes + 4, &[0; 4]).is_err());
}
