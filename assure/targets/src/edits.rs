//! Edits of a tree, compared with a message that is edited too and tagged from scratch.

use tagmac::edit::{Edit, EditError, Tree};
use tagmac::hazmat::Hash;
use tagmac::{Mac, Nonce, PmacAes128, Poly1305Aes, Umac64, UmacNonce};

use std::sync::LazyLock;

use crate::input::{Input, pattern};
use crate::plant::Plant;

/// Length of the longest message in bytes.
const LONGEST: usize = 3000;

static PMAC: LazyLock<PmacAes128> = LazyLock::new(|| PmacAes128::new(&[7; 16]));
static POLY1305: LazyLock<Poly1305Aes> = LazyLock::new(|| Poly1305Aes::new(&[7; 32]));
static UMAC: LazyLock<Umac64> = LazyLock::new(|| Umac64::new(&[7; 16]));

pub fn run(data: &[u8]) {
    let input = &mut Input::new(data);
    match input.byte() % 3 {
        0 => script(&*PMAC, &(), input),
        1 => script(&*POLY1305, &[9; 16], input),
        _ => script(&*UMAC, &UmacNonce::from_slice(&[9; 8]).expect("a nonce"), input),
    }
}

fn script<M: Mac>(mac: &M, nonce: &M::Nonce, input: &mut Input<'_>) {
    let block = mac.hash().block();
    let leaf = block * (1 + input.up_to(3));
    let mut tree = Tree::with_leaf(mac, leaf).expect("whole blocks");
    let mut message = pattern(input.byte(), input.up_to(LONGEST / 2));
    tree.append(&message).expect("within the limit");
    for _ in 0..16 {
        if input.is_empty() {
            break;
        }
        let operation = input.byte();
        // Sometimes past the end, and sometimes at a block.
        let mut at = input.up_to(message.len() + 3);
        let mut more = input.up_to(3 * leaf);
        if operation & 8 != 0 {
            at = at / block * block;
            more = more / block * block;
        }
        let new = pattern(operation, more);
        let wrong = operation & 16 != 0;
        match operation & 7 {
            0 | 1 => {
                let new = &new[..more.min(LONGEST - message.len())];
                tree.append(new).expect("within the limit");
                message.extend_from_slice(new);
            }
            2 => {
                let old = old(&tree, &Edit::Truncate(at as u64), &message, wrong);
                let done = old.and_then(|old| tree.truncate(at as u64, &old));
                if expected(done, wrong, at <= message.len()) {
                    message.truncate(at);
                }
            }
            3 | 4 => {
                let range = at as u64..(at + more) as u64;
                let old = old(&tree, &Edit::Replace(range), &message, wrong);
                let over = at / leaf != (at + more) / leaf && more > 1;
                let missed = Plant::EditMissed.is_set() && over && old.is_ok() && !wrong;
                let done = match missed {
                    true => Ok(()),
                    false => old.and_then(|old| tree.replace(at as u64, &new, &old)),
                };
                if expected(done, wrong, at + more <= message.len()) {
                    message[at..at + more].copy_from_slice(&new);
                }
            }
            5 => {
                let new = if message.len() + more <= LONGEST { &*new } else { &[] };
                let old = old(&tree, &Edit::Insert(at as u64), &message, wrong);
                let done = old.and_then(|old| tree.insert(at as u64, new, &old));
                let can = at <= message.len() && moves::<M>(block, at, new.len());
                if expected(done, wrong, can) {
                    message.splice(at..at, new.iter().copied());
                }
            }
            6 => {
                let range = at as u64..(at + more) as u64;
                let old = old(&tree, &Edit::Remove(range.clone()), &message, wrong);
                let done = old.and_then(|old| tree.remove(range, &old));
                if expected(done, wrong, at + more <= message.len() && moves::<M>(block, at, more))
                {
                    message.drain(at..at + more);
                }
            }
            _ => {}
        }
        assert_eq!(tree.bytes(), message.len() as u64);
        assert_eq!(tree.tag(nonce), mac.tag_with(nonce, &*message), "must be the message's tag");
    }
}

/// Returns whether blocks can be inserted or removed there.
fn moves<M: Mac>(block: usize, at: usize, more: usize) -> bool {
    M::Hash::POSITION_INDEPENDENT && at.is_multiple_of(block) && more.is_multiple_of(block)
}

/// Returns the old bytes that the edit needs, one of them wrong if requested and possible.
fn old<M: Mac>(
    tree: &Tree<&M>,
    edit: &Edit,
    message: &[u8],
    wrong: bool,
) -> Result<Vec<u8>, EditError> {
    let need = tree.needs(edit)?;
    let mut old = message[need.start as usize..need.end as usize].to_vec();
    match old.last_mut() {
        Some(last) if wrong => *last ^= 1,
        None if wrong => old.push(0),
        _ => {}
    }
    Ok(old)
}

/// Checks that a possible edit with correct old bytes succeeded, and all others failed. Returns
/// whether it succeeded.
fn expected(done: Result<(), EditError>, wrong: bool, can: bool) -> bool {
    assert_eq!(done.is_ok(), can && !wrong, "{done:?}");
    done.is_ok()
}

pub fn seeds() -> Vec<Vec<u8>> {
    let seed = |choice: u8| {
        vec![
            choice, 1, 5, 200, 0, 3, 10, 0, 40, 8, 5, 64, 0, 16, 14, 32, 0, 32, 2, 90, 0, 0, 19, 4,
            0, 3,
        ]
    };
    let mut seeds: Vec<Vec<u8>> = (0..3).map(seed).collect();
    seeds.extend((0..3).map(|choice| vec![choice, 0, 7, 0, 1, 0, 0, 0, 200, 3, 5, 0, 60]));
    seeds
}
