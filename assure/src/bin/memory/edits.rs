//! Tags that follow edits, with new and old bytes in guarded buffers.

use tagmac::cipher::{Aes128, Present80};
use tagmac::edit::{Edit, EditError, Tree};
use tagmac::isa::Level;
use tagmac::{EliMac, LightMac, Mac, Pmac, Poly1305Aes, Tag, Umac64, UmacNonce};

use assure::Random;

use crate::child::Cases;
use crate::rooms::{Room, SIDES, Side};

/// Length of the longest message in bytes.
const LONGEST: usize = 4096;

/// Tries all MACs with edits and distinct hashes, on a level.
pub fn walk(cases: &Cases, level: Level) {
    let key = [7; 16];
    of(cases, &Pmac::<Aes128>::with_level(&key, level), &());
    of(cases, &Pmac::<Present80>::with_level(&[7; 10], level), &());
    of(cases, &LightMac::<Aes128>::with_level(&key, &[8; 16], 32, level).expect("s"), &());
    of(cases, &EliMac::with_level(&key, &[8; 16], level), &());
    of(cases, &Poly1305Aes::with_level(&[7; 32], level), &[9; 16]);
    of(cases, &Umac64::with_level(&key, level), &UmacNonce::from([9; 16]));
}

fn of<M: Mac>(cases: &Cases, mac: &M, nonce: &M::Nonce) {
    let mut random = Random::new(3);
    let message = random.bytes(LONGEST);
    let [mut new, mut old] = [(); 2].map(|()| Room::new(LONGEST));
    for &side in SIDES {
        for round in 0..60 {
            let length = random.up_to(1 + round * 60);
            let mut edited = Edited::new(cases, mac, nonce, &message[..length], side);
            for _ in 0..6 {
                let length = [0, 1, 16, 64, 300][random.up_to(4)];
                let bytes = random.bytes(length);
                let at = random.up_to(edited.message.len());
                edited.step(random.up_to(4), at, &bytes, &mut new, &mut old);
            }
        }
    }
}

/// A message and its tree.
struct Edited<'a, M: Mac> {
    cases: &'a Cases,
    mac: &'a M,
    nonce: &'a M::Nonce,
    side: Side,
    message: Vec<u8>,
    tree: Tree<&'a M>,
}

impl<'a, M: Mac> Edited<'a, M> {
    fn new(cases: &'a Cases, mac: &'a M, nonce: &'a M::Nonce, of: &[u8], side: Side) -> Self {
        let message = of.to_vec();
        // Leaves of two blocks, for any block size.
        let leaf = (1..=2048).find(|&leaf| Tree::with_leaf(mac, leaf).is_ok()).expect("a block");
        let mut tree = Tree::with_leaf(mac, 2 * leaf).expect("two blocks");
        tree.append(of).expect("short");
        Edited { cases, mac, nonce, side, message, tree }
    }

    /// Makes one edit of a kind at a place, in the tree and in the message.
    fn step(&mut self, kind: usize, at: usize, bytes: &[u8], new: &mut Room, old: &mut Room) {
        let (start, length) = (at as u64, self.message.len());
        if length + bytes.len() > LONGEST {
            return;
        }
        let end = (at + bytes.len()).min(length);
        let edit = match kind {
            0 => {
                self.cases.at("append", bytes.len(), self.side);
                self.tree.append(new.lend(bytes, self.side)).expect("short");
                self.message.extend_from_slice(bytes);
                return self.compare();
            }
            1 => Edit::Replace(start..end as u64),
            2 => Edit::Truncate(start),
            3 => Edit::Insert(start),
            _ => Edit::Remove(start..end as u64),
        };
        let Ok(needed) = self.tree.needs(&edit) else { return };
        let needed = &self.message[needed.start as usize..needed.end as usize];
        let needed = old.lend(needed, self.side);
        let bytes = new.lend(if kind == 1 { &bytes[..end - at] } else { bytes }, self.side);
        let name = ["", "replace", "truncate", "insert", "remove"][kind];
        self.cases.at(name, bytes.len(), self.side);
        let done: Result<(), EditError> = match kind {
            1 => self.tree.replace(start, bytes, needed),
            2 => self.tree.truncate(start, needed),
            3 => self.tree.insert(start, bytes, needed),
            _ => self.tree.remove(start..end as u64, needed),
        };
        match (done, kind) {
            (Err(EditError::Unaligned { .. }), 3 | 4) => {}
            (Err(_), _) => self.cases.check(false),
            (Ok(()), 1) => self.message[at..end].copy_from_slice(bytes),
            (Ok(()), 2) => self.message.truncate(at),
            (Ok(()), 3) => drop(self.message.splice(at..at, bytes.iter().copied())),
            (Ok(()), _) => drop(self.message.drain(at..end)),
        }
        self.compare();
    }

    fn compare(&self) {
        let plain: Tag = self.mac.tag_with(self.nonce, &self.message).expect("short");
        self.cases.check(self.tree.tag(self.nonce).is_ok_and(|tag| tag == plain));
    }
}
