//! The life of a MAC of the registry, until all of it is dropped.

use std::hint::black_box;
use std::time::UNIX_EPOCH;

use tagmac::Tag;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac, KeyFile, Partial, Session};

use crate::Learn;

/// Message lengths in bytes: no block, one block, the narrow path, batches and long kernels.
const LENGTHS: [usize; 6] = [0, 5, 100, 1000, 5000, 20_000];

/// The use of a MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Make,
    Tag,
    Verify,
    Batch,
    Stream,
    Part,
    Session,
    Saved,
    Partial,
    KeyFile,
}

impl Case {
    pub const ALL: [Case; 10] = [
        Case::Make,
        Case::Tag,
        Case::Verify,
        Case::Batch,
        Case::Stream,
        Case::Part,
        Case::Session,
        Case::Saved,
        Case::Partial,
        Case::KeyFile,
    ];

    /// Returns whether the MAC supports it.
    pub fn fits(self, algorithm: Algorithm) -> bool {
        let can = algorithm.capabilities();
        match self {
            Case::Batch => can.batch,
            Case::Part | Case::Partial => can.parts,
            Case::Saved => can.edits,
            _ => true,
        }
    }
}

/// Returns a message of that length, the same in every run.
pub fn message(algorithm: Algorithm, length: usize) -> Vec<u8> {
    let limit = algorithm.max_message_bytes().unwrap_or(u64::MAX);
    vec![0x11; length.min(limit as usize)]
}

/// Returns the messages of a scenario.
pub fn messages(algorithm: Algorithm) -> Vec<Vec<u8>> {
    LENGTHS.map(|length| message(algorithm, length)).into()
}

/// Plays the case and returns the MAC: its drop wipes the stack.
#[inline(never)]
pub fn play(
    case: Case,
    algorithm: Algorithm,
    level: Level,
    messages: &[Vec<u8>],
    key: &[u8],
    learn: &mut Learn<'_>,
) -> AnyMac {
    let bits = algorithm.default_tag_bits();
    let nonce = &[9; 16][..*algorithm.nonce_bytes().end()];
    let mac = AnyMac::with_options(algorithm, key, bits, level).expect("a key of the right length");
    learn();
    let long = &messages[messages.len() - 1];
    match case {
        Case::Make => {}
        Case::Tag => {
            for message in messages {
                black_box(mac.tag(nonce, message).expect("short"));
            }
            learn();
        }
        Case::Verify => {
            for message in messages {
                let wrong = Tag::new(&[0; 32][..bits / 8], bits).expect("a tag's length");
                assert!(mac.verify(nonce, message, &wrong).is_err());
            }
        }
        Case::Batch => {
            let messages: Vec<&[u8]> =
                messages.iter().map(Vec::as_slice).cycle().take(40).collect();
            let nonces = vec![nonce; messages.len()];
            let mut tags = vec![Tag::default(); messages.len()];
            mac.tag_many(&nonces, &messages, &mut tags).expect("short");
        }
        Case::Stream => {
            let mut stream = mac.stream(nonce).expect("a nonce");
            stream.update(&long[..long.len() / 2]);
            learn();
            let fork = stream.fork();
            stream.update(&long[long.len() / 2..]);
            learn();
            black_box(stream.tag().expect("short"));
            drop(fork);
        }
        Case::Part => {
            let parts = mac.parts().expect("it has parts");
            let block = parts.block();
            let blocks = (long.len() - 1) / block;
            let half = blocks / 2 * block;
            let mut left = parts.new_part(0, &long[..half]).expect("blocks");
            learn();
            let right = parts.new_part(half as u64, &long[half..block * blocks]).expect("blocks");
            learn();
            parts.extend(&mut left, &[]).expect("blocks");
            let both = parts.join(left, &right).expect("neighbours");
            learn();
            black_box(parts.finish(both, nonce, &long[block * blocks..]).expect("short"));
        }
        Case::Session => {
            let budget = mac.budget(None, None).expect("no bound");
            let mut session = Session::new(mac.clone(), nonce, budget).expect("a nonce");
            for message in messages {
                black_box(session.tag(message).expect("a budget"));
            }
            learn();
            session.reserve(10).expect("a budget");
            black_box(session.save().expect("a nonce"));
        }
        Case::Saved => {
            let sealer = KeyFile::new(algorithm, key, UNIX_EPOCH).expect("a key").sealer();
            let mut stream = mac.stream(nonce).expect("a nonce");
            stream.update(long);
            let saved = stream.save(&sealer).expect("a state");
            drop(stream);
            let stream = mac.restore(&sealer, &saved).expect("the saved stream");
            learn();
            black_box(stream.tag().expect("short"));
        }
        Case::Partial => {
            let sealer = KeyFile::new(algorithm, key, UNIX_EPOCH).expect("a key").sealer();
            let parts = mac.parts().expect("it has parts");
            let half = long.len() / 2 / parts.block() * parts.block();
            let part = parts.new_part(0, &long[..half]).expect("blocks");
            let sealed = Partial::seal(&mac, &sealer, b"o", &part, None).expect("a part");
            let partial = Partial::parse(&sealed).expect("the sealed partial");
            let opened = partial.check(&mac, &sealer).expect("the sealed partial").open();
            learn();
            drop(opened.expect("the sealed partial"));
        }
        Case::KeyFile => {
            let file = KeyFile::new(algorithm, key, UNIX_EPOCH).expect("a key");
            let text = file.to_text();
            let read = KeyFile::parse(text.as_bytes()).expect("the key file");
            assert!(read.key() == key);
        }
    }
    mac
}
