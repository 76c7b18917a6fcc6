//! Published tags, and a check of peers against them.

use std::fmt;
use std::sync::LazyLock;

use serde_json::Value;

use crate::info::Info;

/// The vector files: those of our MACs, then those of others. vectors/README.md describes the rows.
const FILES: [&str; 7] = [
    include_str!("../../vectors/cmac.json"),
    include_str!("../../vectors/hmac-sha256.json"),
    include_str!("../../vectors/pmac.json"),
    include_str!("../../vectors/poly1305.json"),
    include_str!("../../vectors/poly1305-aes.json"),
    include_str!("../../vectors/umac.json"),
    include_str!("../vectors.json"),
];

/// Bytes of the longest message in a check, so that it takes milliseconds.
const LONGEST: usize = 1 << 16;

/// A published tag.
struct Row {
    function: String,
    key: Vec<u8>,
    nonce: Vec<u8>,
    message: Vec<u8>,
    tag: Vec<u8>,
    source: String,
}

static ROWS: LazyLock<Vec<Row>> =
    LazyLock::new(|| FILES.iter().flat_map(|file| rows(file)).flatten().collect());

/// Returns the rows of a file. A row is `None` if no peer can run it: a negative one, or one with a
/// message in bits, with truncated bytes or longer than [`LONGEST`].
fn rows(file: &str) -> impl Iterator<Item = Option<Row>> {
    let rows: Vec<Value> = serde_json::from_str(file).expect("an array of rows");
    rows.into_iter().map(|row| {
        let field = |name: &str| row[name].as_str().map(str::to_owned);
        let hex = |name: &str| field(name).as_deref().map(bytes);
        let tag = hex("tag").filter(|_| row["valid"] == true)?;
        (row["tag_bits"] == 8 * tag.len()).then_some(())?;
        Some(Row {
            function: field("algorithm").expect("an algorithm"),
            key: hex("key").expect("a key"),
            nonce: hex("nonce").unwrap_or_default(),
            message: message(&row["msg"])?,
            tag,
            source: field("source").expect("a source"),
        })
    })
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = (0..hex.len()).step_by(2);
    pairs.map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")).collect()
}

/// Decodes hex, or repeated bytes; `None` for a message in bits or longer than [`LONGEST`].
fn message(value: &Value) -> Option<Vec<u8>> {
    let message = match value {
        Value::String(hex) => bytes(hex),
        Value::Object(repeat) => {
            let total = repeat["total_bytes"].as_u64().expect("a length") as usize;
            let repeat = bytes(repeat["repeat"].as_str().expect("hex"));
            (total <= LONGEST).then(|| repeat.into_iter().cycle().take(total).collect())?
        }
        _ => return None,
    };
    (message.len() <= LONGEST).then_some(message)
}

/// The reason not to time a peer.
#[derive(Debug)]
pub enum Wrong {
    /// No published tag for the function with these lengths of key, nonce and tag.
    Unknown {
        /// The peer.
        name: &'static str,
        /// The function that it computes.
        function: &'static str,
    },
    /// A tag differs from the published one.
    Tag {
        /// The peer.
        name: &'static str,
        /// Bytes of the message.
        length: usize,
        /// The published tag.
        expected: Vec<u8>,
        /// The peer's tag.
        found: Vec<u8>,
        /// The source of the published tag.
        source: &'static str,
    },
    /// Tags of one message repeat where they must not, or differ where they must be equal.
    Repeats {
        /// The peer.
        name: &'static str,
        /// The value of `Info::repeats`.
        expected: bool,
    },
    /// A call does not use the nonce after that of the previous call.
    Nonce {
        /// The peer.
        name: &'static str,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Wrong::Unknown { name, function } => {
                write!(f, "{name}: no published tag of {function} with its lengths")
            }
            Wrong::Tag { name, length, expected, found, source } => write!(
                f,
                "{name}, {length} bytes: expected {}, found {} ({source})",
                Hex(expected),
                Hex(found)
            ),
            Wrong::Repeats { name, expected: true } => {
                write!(f, "{name}: two calls on one message returned different tags")
            }
            Wrong::Repeats { name, expected: false } => {
                write!(
                    f,
                    "{name}: two calls on one message returned the same tag, but each should \
                     use a new nonce"
                )
            }
            Wrong::Nonce { name } => {
                write!(f, "{name}: the third call did not use the third nonce")
            }
        }
    }
}

impl std::error::Error for Wrong {}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Returns the nonce that is `more` after another one, as big-endian numbers.
fn after(nonce: &[u8], more: u128) -> Vec<u8> {
    let mut block = [0; 16];
    block[16 - nonce.len()..].copy_from_slice(nonce);
    let next = u128::from_be_bytes(block).wrapping_add(more);
    next.to_be_bytes()[16 - nonce.len()..].to_vec()
}

/// Checks that a peer returns the published tags of its function, and on later calls the same tags
/// again or those of the next nonces. Needs milliseconds.
pub fn prove<M, T>(info: &Info, make: &impl Fn(&[u8], &[u8]) -> M) -> Result<(), Wrong>
where
    M: FnMut(&[u8]) -> T,
    T: AsRef<[u8]>,
{
    let &Info { name, function, repeats, .. } = info;
    let mut rows = ROWS
        .iter()
        .filter(|row| {
            let lengths = [row.key.len(), row.nonce.len(), row.tag.len()];
            row.function == function
                && lengths == [info.key_bytes, info.nonce_bytes, info.tag_bytes]
        })
        .peekable();
    if rows.peek().is_none() {
        return Err(Wrong::Unknown { name, function });
    }
    for row in rows {
        let mut tag = make(&row.key, &row.nonce);
        let first = tag(&row.message);
        if first.as_ref() != row.tag {
            return Err(Wrong::Tag {
                name,
                length: row.message.len(),
                expected: row.tag.clone(),
                found: first.as_ref().into(),
                source: &row.source,
            });
        }
        // A call of another length between two equal ones, in case it leaves state.
        tag(&row.message[..row.message.len() / 2]);
        let third = tag(&row.message);
        if (third.as_ref() == row.tag) != repeats {
            return Err(Wrong::Repeats { name, expected: repeats });
        }
        if !repeats {
            let mut counted = make(&row.key, &after(&row.nonce, 2));
            let expected = counted(&row.message);
            if third.as_ref() != expected.as_ref() {
                return Err(Wrong::Nonce { name });
            }
        }
    }
    Ok(())
}
