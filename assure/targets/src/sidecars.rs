//! The sealed texts of sidecars: headers and node pages. The first byte chooses the MAC, and the
//! second the header or a node page of a level.

use tagmac::save::Writer;
use tagmac_any::Parts;
use tagmac_files::fuzzing::{node_page, sidecar_header};

use crate::plant::Plant;
use crate::subject::with_parts;

pub fn run(data: &[u8]) {
    let Some((&[first, second], text)) = data.split_first_chunk() else { return };
    let parts = with_parts(first).best().parts().expect("it has parts");
    if Plant::TruncatedField.is_set() && text.len() > 16 {
        let length = u64::from_le_bytes(text[8..16].try_into().expect("8 bytes")) as usize;
        if length < 256 {
            let _ = u64::from_le_bytes(text[16 + length..24 + length].try_into().expect("8 bytes"));
        }
    }
    let again = |text: &[u8]| match second % 4 {
        0 => sidecar_header(parts, text),
        level => node_page(parts, u32::from(level) - 1, text),
    };
    if let Some(once) = again(text) {
        assert_eq!(again(&once), Some(once.clone()), "must read back what is written");
    }
}

/// An entry of a node page: its extent, its bytes, and its part.
fn child(parts: Parts<'_>, out: &mut Writer) {
    out.number(20_480).number(500).bytes(&[3; 16]).number(500);
    part(parts, 0, out);
}

fn part(parts: Parts<'_>, at: usize, out: &mut Writer) {
    let block = parts.block();
    let part = parts.new_part((at * block) as u64, &vec![7; block]).expect("whole blocks");
    parts.save(&part, out).expect("its own");
}

fn sums(parts: Parts<'_>, out: &mut Writer) {
    out.number(parts.block() as u64 + 1).length_prefixed(b"x").number(1);
    out.number(0);
    child(parts, out);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for choice in 0..40 {
        let subject = with_parts(choice);
        let parts = subject.best().parts().expect("it has parts");
        let mut seed = |kind: u8, text: &Writer| {
            seeds.push([&[choice, kind], text.as_bytes()].concat());
        };
        for patch in [false, true] {
            let mut header = Writer::default();
            header.number(5).length_prefixed(b"file").number(64 * parts.block() as u64);
            header.length_prefixed(&subject.nonce).number(20_980);
            sums(parts, &mut header);
            header.number(patch.into());
            if patch {
                sums(parts, &mut header);
                header.number(1).number(0).number(1).number(20_480).number(500).bytes(&[3; 16]);
            }
            seed(0, &header);
        }
        let (mut leaves, mut pages) = (Writer::default(), Writer::default());
        leaves.number(2);
        part(parts, 0, &mut leaves);
        part(parts, 1, &mut leaves);
        seed(1, &leaves);
        pages.number(1);
        child(parts, &mut pages);
        seed(2, &pages);
    }
    seeds
}
