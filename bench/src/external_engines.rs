//! The engines of other libraries.

use peers::{Info, Visit};

use crate::engine::{Engine, KEY, Key, Role, timed};
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
        let nonce = u128::from(NONCE).to_be_bytes();
        let nonce = nonce[nonce.len() - info.nonce_bytes..].to_vec();
        let key_bytes = info.key_bytes.min(KEY.len());
        self.engines.push(Engine {
            name: info.name.into(),
            library: format!("{} {}", info.library, info.version),
            level: None,
            ceiling: None,
            longest: usize::try_from(info.longest).unwrap_or(usize::MAX),
            function: info.function.into(),
            call: info.call.into(),
            repeats: info.repeats,
            key_table: 0,
            timed: timed(move |key: &Key| make(&key[..key_bytes], &nonce)),
        });
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
