//! The engines of other libraries.

use peers::{Info, Visit};

use crate::engine::{Engine, KEY, Key, timed};
use crate::failure::Failure;
use crate::tagmac_engines::NONCE;

/// The peers that this build has. Each has proved itself by published tags.
pub fn engines() -> Result<Vec<Engine>, Failure> {
    let mut found = Found { engines: Vec::new(), wrong: None };
    peers::all(&mut found);
    match found.wrong {
        Some(wrong) => Err(wrong.into()),
        None => Ok(found.engines),
    }
}

/// What this build lacks, and why.
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
