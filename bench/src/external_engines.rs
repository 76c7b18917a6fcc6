//! The engines of other libraries.

use std::cell::RefCell;
use std::rc::Rc;

use peers::{Burst, Info, Visit};
use tagmac::Tag;

use crate::engine::{Engine, KEY, Key, Role, Timed, timed};
use crate::failure::Failure;
use crate::tagmac_engines::NONCE;

/// The end of a peer's name if the library counts the nonces instead of getting them.
const COUNTING: &str = ", counting";
/// A function with one key per message: it has no sessions.
const ONE_TIME: &str = "POLY1305";

/// Returns the peers of this build; each has passed a check against published tags. As a sender, a
/// peer counts nonces in the library's way if the MAC needs them, and does not derive keys.
pub fn engines(role: Role) -> Result<Vec<Engine>, Failure> {
    let mut found = Found { engines: Vec::new(), wrong: None };
    peers::all(&mut found);
    if let Some(wrong) = found.wrong {
        return Err(wrong.into());
    }
    let mut engines = found.engines;
    match role {
        Role::Any => engines.retain(|engine| engine.repeats),
        Role::Sender => {
            let names = engines.iter().filter_map(|engine| engine.name.strip_suffix(COUNTING));
            let counting: Vec<String> = names.map(Into::into).collect();
            engines
                .retain(|engine| engine.function != ONE_TIME && !counting.contains(&engine.name));
        }
    }
    for engine in &mut engines {
        engine.name.truncate(engine.name.trim_end_matches(COUNTING).len());
    }
    Ok(engines)
}

/// Returns the libraries that this build lacks, and the reasons.
pub fn missing() -> Vec<String> {
    peers::missing()
}

/// A call of a library on many messages, each under its own raw key.
pub struct Many {
    burst: Rc<Burst>,
    nonce: Vec<u8>,
    /// The call with one message.
    pub engine: Engine,
}

/// Returns this build's calls on many messages.
pub fn many() -> Vec<Many> {
    peers::bursts().into_iter().map(Many::new).collect()
}

impl Many {
    fn new(burst: Burst) -> Many {
        let (nonce, burst) = (nonce_of(&burst.info), Rc::new(burst));
        let one = (Rc::clone(&burst), nonce.clone());
        let timed = timed(move |key: &Key| {
            let ((burst, nonce), key) = (one.clone(), *key);
            move |message: &[u8]| {
                let mut tag = [0; Tag::MAX_BYTES];
                let tag = &mut tag[..burst.info.tag_bytes];
                (burst.tag)(&[&key[..burst.info.key_bytes]], &nonce, &[message], tag);
                Tag::try_from(&*tag).expect("a tag's length")
            }
        });
        let engine = engine(&burst.info, timed);
        Many { burst, nonce, engine }
    }

    /// Returns the call on messages under these keys.
    pub fn with_keys<'a>(&self, keys: &'a [Key]) -> impl Fn(&[&[u8]], &mut [Tag]) + use<'a> {
        let (burst, nonce) = (Rc::clone(&self.burst), self.nonce.clone());
        let (key_bytes, tag_bytes) = (burst.info.key_bytes, burst.info.tag_bytes);
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..key_bytes]).collect();
        let room = RefCell::new(vec![0; keys.len() * tag_bytes]);
        move |messages, tags| {
            let room = &mut *room.borrow_mut();
            (burst.tag)(&keys, &nonce, messages, room);
            for (tag, bytes) in tags.iter_mut().zip(room.chunks_exact(tag_bytes)) {
                *tag = Tag::try_from(bytes).expect("a tag's length");
            }
        }
    }
}

/// Returns the nonce of a peer's messages.
fn nonce_of(info: &Info) -> Vec<u8> {
    let nonce = u128::from(NONCE).to_be_bytes();
    nonce[nonce.len() - info.nonce_bytes..].to_vec()
}

/// Describes a peer.
fn engine(info: &Info, timed: Box<dyn Timed>) -> Engine {
    Engine {
        name: info.name.into(),
        library: format!("{} {}", info.library, info.version),
        level: None,
        ceiling: None,
        longest: usize::try_from(info.longest).unwrap_or(usize::MAX),
        function: info.function.into(),
        call: info.call.into(),
        repeats: info.repeats,
        key_table: 0,
        timed,
    }
}

struct Found {
    engines: Vec<Engine>,
    wrong: Option<peers::Wrong>,
}

impl Visit for Found {
    fn peer<M, T>(&mut self, info: Info, make: impl Fn(&[u8], &[u8]) -> M + 'static)
    where
        M: FnMut(&[u8]) -> T + 'static,
        T: AsRef<[u8]> + 'static,
    {
        if let Err(wrong) = peers::prove(&info, &make) {
            self.wrong.get_or_insert(wrong);
        }
        let (nonce, key_bytes) = (nonce_of(&info), info.key_bytes.min(KEY.len()));
        let timed = timed(move |key: &Key| make(&key[..key_bytes], &nonce));
        self.engines.push(engine(&info, timed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_has_every_peer_once_and_counts_where_it_can() {
        let any = engines(Role::Any).expect("right tags");
        let senders = engines(Role::Sender).expect("right tags");
        for engine in any.iter().filter(|engine| engine.function != ONE_TIME) {
            let same = senders.iter().filter(|sender| sender.name == engine.name).count();
            assert_eq!(same, 1, "{}", engine.name);
        }
        let takes_nonces = ["UMAC", "POLY1305-AES", "GMAC"];
        for sender in &senders {
            let takes_nonces = takes_nonces.iter().any(|name| sender.function.starts_with(name));
            assert!(!(takes_nonces && sender.repeats), "{}", sender.name);
            assert_ne!(sender.function, ONE_TIME);
        }
    }
}
