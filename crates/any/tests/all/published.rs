//! Nothing that is published about a key is a tag under it.

use std::time::UNIX_EPOCH;

use tagmac::save::{Purpose, derive};
use tagmac_any::{Algorithm, AnyMac, KeyFile, Partial};

/// Shorter tags match by accident.
const MIN_BYTES: usize = 4;

/// Labels of the formats, including those of earlier versions.
const WORDS: [&str; 32] = [
    "",
    "tagmac key id 1",
    "tagmac seal key 1",
    "tagmac sealing key 1",
    "tagmac key id 2",
    "tagmac sealing key 2",
    "tagmac manifest key 2",
    "tagmac-key-1\n",
    "tagmac-key-2\n",
    "tagmac-manifest-2\n",
    "tagmac-manifest-3\n",
    "tagmac-xattrs-1\n",
    "tagmac-position-1\n",
    "tagmac-ledger-1\n",
    "tagmac-pin-1\n",
    "tagmac-partial-2",
    "tagmac-state-2",
    "tagmac-tree-2\n",
    "tagmac-tree-3\n",
    "partial header 2",
    "partial 2",
    "tag state 2",
    "tagmac tree 2",
    "tagmac tree 3",
    "any stream 1",
    "stream 1",
    "header",
    "checksum: ",
    "id: ",
    "seal: ",
    "\x01",
    "\n",
];

/// The values about a key that are public, and those that the formats store with it.
fn published(algorithm: Algorithm, key: &[u8]) -> Vec<Vec<u8>> {
    let file = KeyFile::new(algorithm, key, UNIX_EPOCH).unwrap();
    let text = file.to_text();
    let checksum = text.trim_end().rsplit_once(' ').unwrap().1;
    let mac = AnyMac::new(algorithm, key).unwrap();
    let mut all =
        vec![file.id().as_bytes().to_vec(), base16ct::lower::decode_vec(checksum).unwrap()];
    all.extend(Purpose::ALL.map(|purpose| purpose.label().as_bytes().to_vec()));
    // Only the id's first bytes are published, but none of the derived bytes may be a tag.
    all.extend(Purpose::ALL.map(|purpose| derive(purpose, algorithm.name(), key).to_vec()));
    // The nonce of a seal is random, and so is everything that depends on it.
    if let Some(parts) = mac.parts() {
        let part = parts.new_part(0, &[]).unwrap();
        let partial = Partial::seal(&mac, &file.sealer(), b"object", &part, Some(b"")).unwrap();
        let object = partial.windows(6).position(|six| six == b"object").unwrap();
        all.extend([partial[16..24].to_vec(), partial[..object + 6].to_vec()]);
    }
    // The MAC that seals manifests is a tag, but under another key.
    let hmac = Algorithm::from_name("HMAC-SHA256").unwrap();
    let derived = derive(Purpose::Manifest, algorithm.name(), key);
    let seal = AnyMac::new(hmac, &*derived).unwrap();
    all.extend(WORDS.map(|word| seal.tag(&[], word.as_bytes()).unwrap().as_bytes().to_vec()));
    all
}

/// All combinations of two labels and the name, and the published values themselves.
fn messages(algorithm: Algorithm, published: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let name = algorithm.name();
    let mut all = published.to_vec();
    for one in WORDS {
        for two in WORDS {
            all.push([one, two].concat().into());
            all.extend([[one, name, two].concat().into(), [one, two, name].concat().into()]);
        }
    }
    all
}

#[test]
fn no_published_value_is_a_tag() {
    let usual = Algorithm::all().map(|algorithm| (algorithm, algorithm.new_key_bytes()));
    // HMAC hashes keys of more than 64 bytes, as the derivation hashes all.
    let hmac = Algorithm::from_name("HMAC-SHA256").unwrap();
    for (algorithm, length) in usual.chain([1, 64, 65, 131].map(|length| (hmac, length))) {
        let key: Vec<u8> = (0..length as u8).map(|i| 0xa5 ^ i).collect();
        let published = published(algorithm, &key);
        let mac = AnyMac::new(algorithm, &key).unwrap();
        // If the MAC needs a nonce, one that the formats could produce.
        let longest = *algorithm.nonce_bytes().end();
        let nonces = [vec![0; longest], key.iter().copied().cycle().take(longest).collect()];
        for message in messages(algorithm, &published) {
            for nonce in &nonces[..if longest > 0 { 2 } else { 1 }] {
                let tag = mac.tag(nonce, &message).unwrap();
                let start = &tag.as_bytes()[..MIN_BYTES];
                // Truncated tags are prefixes, so checking the shortest covers all.
                if let Some(value) = published.iter().find(|value| value.starts_with(start)) {
                    panic!(
                        "{algorithm}: {} begins as the tag of {}",
                        base16ct::lower::encode_string(value),
                        message.escape_ascii()
                    );
                }
            }
        }
    }
}
