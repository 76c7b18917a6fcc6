//! Deoxys-BC-256 on every level.

use tagmac::isa::{Isa, Kernel, Level};
use tagmac_lab::batch::BATCH;
use tagmac_lab::deoxys::Deoxys;

type Block = [u8; 16];

struct Encrypt(Deoxys, Vec<Block>, Vec<Block>);

impl Kernel for Encrypt {
    type Out = Vec<Block>;

    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) -> Vec<Block> {
        self.0.encrypt(isa, &self.1, &mut self.2);
        self.2
    }
}

/// A batch equals its blocks one by one, on every level.
#[test]
fn batches() {
    let cipher = Deoxys::new(&[7; 16]);
    let tweaks: Vec<Block> = (0..BATCH as u8).map(|i| [i; 16]).collect();
    let blocks: Vec<Block> = (0..BATCH as u8).map(|i| [3 * i; 16]).collect();
    let one_by_one = |level: Level| -> Vec<Block> {
        let pairs = tweaks.iter().zip(&blocks);
        let run =
            |(t, b): (&Block, &Block)| level.run(Encrypt(cipher.clone(), vec![*t], vec![*b]))[0];
        pairs.map(run).collect()
    };
    let expected = one_by_one(Level::best());
    for level in Level::all() {
        assert_eq!(one_by_one(level), expected, "{level}");
        for n in [1, 2, 5, 15, 31, 32] {
            let (t, b) = (tweaks[..n].to_vec(), blocks[..n].to_vec());
            assert_eq!(level.run(Encrypt(cipher.clone(), t, b)), expected[..n], "{level}, {n}");
        }
    }
}
