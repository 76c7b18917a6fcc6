//! The forgery game (LightMAC, definition 3; EliMAC, section 2.3): request tags, then present a
//! message that was not requested, and its tag.

use tagmac_any::{Algorithm, AnyMac};

use super::finding::{Expected, Finding, Role};
use super::random::Random;

/// Returns the tag of a message under a nonce, which is empty for a MAC without nonces. The key is
/// fixed.
pub type Tags = Box<dyn Fn(&[u8], &[u8]) -> Vec<u8>>;

/// Returns the library's MAC of this name under random keys.
pub fn real(name: &str) -> impl FnMut(&mut Random) -> Tags {
    let algorithm = Algorithm::from_name(name).unwrap_or_else(|error| panic!("{error}"));
    move |random| {
        let key = random.bytes(algorithm.new_key_bytes());
        let mac = AnyMac::new(algorithm, &key).expect("the key's size");
        Box::new(move |nonce, message| {
            mac.tag(nonce, message).expect("within the limits").as_bytes().to_vec()
        })
    }
}

/// A MAC under a key unknown to the attacker.
pub struct Game {
    tags: Tags,
    asked: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Game {
    /// Starts a game without queries.
    pub fn new(tags: Tags) -> Self {
        Game { tags, asked: Vec::new() }
    }

    /// Requests the tag of a message.
    pub fn ask(&mut self, message: &[u8]) -> Vec<u8> {
        self.ask_with(&[], message)
    }

    /// Requests the tag of a message under a nonce.
    pub fn ask_with(&mut self, nonce: &[u8], message: &[u8]) -> Vec<u8> {
        self.asked.push((nonce.to_vec(), message.to_vec()));
        (self.tags)(nonce, message)
    }

    /// Returns true for a forgery: a message that was not requested, and its right tag.
    pub fn forges(&self, message: &[u8], tag: &[u8]) -> bool {
        self.forges_with(&[], message, tag)
    }

    /// Returns true for a forgery under a nonce.
    pub fn forges_with(&self, nonce: &[u8], message: &[u8], tag: &[u8]) -> bool {
        let asked = self.asked.iter().any(|(n, m)| n == nonce && m == message);
        !asked && (self.tags)(nonce, message) == tag
    }

    /// Returns the number of requested tags.
    pub fn queries(&self) -> u64 {
        self.asked.len() as u64
    }
}

/// An attack on a MAC under many keys, all drawn from a seed.
pub struct Trial<'a> {
    /// The MAC that is attacked.
    pub target: &'a str,
    /// The role of the row.
    pub role: Role,
    /// The number of keys.
    pub keys: u64,
    /// The expected frequency of success.
    pub expected: Expected,
    /// The formula of the expected frequency.
    pub formula: &'a str,
}

impl Trial<'_> {
    /// Draws keys and counts successes. `wins` returns the number of tags or blocks that it
    /// requested, and whether it won.
    pub fn count(self, mut wins: impl FnMut(&mut Random) -> (u64, bool)) -> Finding {
        let seed = self
            .target
            .bytes()
            .fold(self.keys, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let mut random = Random::new(seed);
        let (mut found, mut queries) = (0, 0);
        for _ in 0..self.keys {
            let (asked, won) = wins(&mut random);
            found += won as u64;
            queries = queries.max(asked);
        }
        Finding {
            target: self.target.into(),
            role: self.role,
            queries,
            keys: self.keys,
            found,
            expected: self.expected,
            formula: self.formula.into(),
            bound: None,
        }
    }

    /// Plays the game under each key: `mac` makes the MAC under a random key, `attack` returns
    /// whether it won.
    pub fn play(
        self,
        mut mac: impl FnMut(&mut Random) -> Tags,
        mut attack: impl FnMut(&mut Game, &mut Random) -> bool,
    ) -> Finding {
        self.count(|random| {
            let mut game = Game::new(mac(random));
            let won = attack(&mut game, random);
            (game.queries(), won)
        })
    }
}
