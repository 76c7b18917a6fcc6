//! The reason that the sums of parts are secret.

use tagmac::save::{Sealer, Writer};
use tagmac_any::{Algorithm, AnyMac, AnyPart};

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial};
use super::random::Random;

/// The row of the table.
pub const XOR_SUM_MIX: Attack = Attack {
    name: "xor-sum-mix",
    about: "two leaked sums of parts: the end of one message and the beginning of another make a \
         forgery",
    source: "why sums are secret: tagmac::hazmat, docs/formats/partials.md",
    how: "PMAC encrypts the xor of the sum of all blocks but the last, and the last block. If the \
         sums s and s' of two beginnings are known, replace the last block z of one by z ^ s ^ s' \
         after the other: the tag is the same. Parts leave the process as sealed sums, which \
         reveal nothing about s ^ s'.",
    run,
};

/// Bytes of the messages' beginnings.
const START: usize = 64;

/// Returns the sum that leaves the process with a part.
type Leak = fn(&AnyMac, &[u8; 16], &AnyPart) -> Vec<u8>;

/// Returns a sum as written by `Parts::save`: the block at the end.
fn bare(mac: &AnyMac, _: &[u8; 16], part: &AnyPart) -> Vec<u8> {
    let mut out = Writer::default();
    mac.parts().expect("parts").save(part, &mut out).expect("this key's part");
    out.as_bytes()[out.as_bytes().len() - 16..].to_vec()
}

/// Returns the sealed sum, without what the seal adds before and after it.
fn sealed(mac: &AnyMac, key: &[u8; 16], part: &AnyPart) -> Vec<u8> {
    let sealer = Sealer::new(mac.algorithm().name(), key);
    let bytes = sealer.seal(&[b"lab"], &bare(mac, key, part)).expect("random bytes");
    bytes[24..40].to_vec()
}

/// Makes one query, with two leaks.
fn mix(leak: Leak) -> impl FnMut(&mut Random) -> (u64, bool) {
    move |random| {
        let key = random.array();
        let algorithm = Algorithm::from_name("PMAC-AES128").expect("in the registry");
        let mac = AnyMac::new(algorithm, &key).expect("16 bytes");
        let parts = mac.parts().expect("parts");
        let starts = [random.array::<START>(), random.array()];
        let leaks =
            starts.map(|start| leak(&mac, &key, &parts.new_part(0, &start).expect("blocks")));
        let tagging = mac.clone();
        let tags: Tags = Box::new(move |_, message| {
            tagging.tag(&[], message).expect("short").as_bytes().to_vec()
        });
        let mut game = Game::new(tags);
        let mut last = random.bytes(16);
        let tag = game.ask(&[&starts[0][..], &last].concat());
        for (i, byte) in last.iter_mut().enumerate() {
            *byte ^= leaks[0][i] ^ leaks[1][i];
        }
        let won = game.forges(&[&starts[1][..], &last].concat(), &tag);
        (game.queries(), won)
    }
}

fn run(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, expected| Trial {
        target,
        role,
        keys: 1000,
        expected,
        formula: "the cipher's last input is the same",
    };
    vec![
        trial("PMAC-AES128, bare sums seen", Role::Attack, Expected::Always).count(mix(bare)),
        trial("PMAC-AES128, sealed sums seen", Role::Control, Expected::Never).count(mix(sealed)),
    ]
}
