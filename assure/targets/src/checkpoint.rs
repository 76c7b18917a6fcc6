//! The sealed text of a checkpoint. The first byte chooses the MAC.

use tagmac::save::Writer;
use tagmac_files::fuzzing::checkpoint;

use crate::plant::Plant;
use crate::subject::with_parts;

pub fn run(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else { return };
    let parts = with_parts(first).best().parts().expect("it has parts");
    if let (true, Some(length)) = (Plant::LengthTrusted.is_set(), text.first_chunk()) {
        let name = vec![0u8; u64::from_le_bytes(*length) as usize];
        assert!(std::hint::black_box(name).len() < usize::MAX);
    }
    if let Some(once) = checkpoint(parts, text) {
        assert_eq!(checkpoint(parts, &once), Some(once.clone()), "must read back what is written");
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let seed = |choice: u8| {
        let parts = with_parts(choice).best().parts().expect("it has parts");
        let block = parts.block() as u64;
        let part = |start: u64, blocks: u64| {
            let bytes = vec![7; (blocks * block) as usize];
            parts.new_part(start * block, &bytes).expect("whole blocks")
        };
        let mut text = Writer::default();
        text.length_prefixed(b"/a/b").number(10 * block).number(1).number(2).number(3).number(4);
        parts.save(&part(0, 4), &mut text).expect("its own");
        text.number(1).number(2);
        for piece in [part(0, 2), part(2, 2)] {
            parts.save(&piece, &mut text).expect("its own");
        }
        [&[choice], text.as_bytes()].concat()
    };
    (0..40).map(seed).collect()
}
