//! Parts of hashes that have the same type but different blocks, because of a parameter.

use tagmac::LightMacAes128;
use tagmac::hazmat::{Part, PartError};

type Typed = Part<LightMacAes128>;

#[test]
fn a_part_of_another_block_is_refused() {
    let mac = |s| LightMacAes128::new(&[7; 16], &[8; 16], s).expect("a counter");
    // Blocks of 12 and of 8 bytes. The length is whole blocks of both.
    let (own, other, bytes) = (mac(32), mac(64), [1; 24]);
    let foreign = Some(PartError::ForeignPart);
    let left = || -> Typed { Part::new(&own, 0, &bytes).expect("aligned") };
    let mut part = left();
    assert_eq!(part.extend(&other, &bytes).err(), foreign);
    assert_eq!((part.start(), part.end(), part.check(&own, &bytes)), (0, 24, Ok(())));
    assert_eq!(
        part.extend(&own, &bytes[..8]).err(),
        Some(PartError::Unaligned { block: 12, found: 8 })
    );
    assert_eq!(part.check(&other, &bytes).err(), foreign);
    let right: Typed = Part::new(&other, 24, &bytes).expect("aligned");
    assert_eq!(left().join(&own, &right).err(), foreign);
    assert_eq!(right.join(&own, &left()).err(), foreign);
    assert!(left().finish(&other, &(), b"the end").err() == foreign);
    assert_eq!(format!("{:?}", left()), "Part(0..24)");
    // The refused operations have changed nothing.
    part.extend(&own, &bytes).expect("its own");
    let whole = [&bytes[..], &bytes, b"the end"].concat();
    let tag = part.finish(&own, &(), b"the end").expect("whole");
    assert!(tag == own.tag(&whole).expect("short"));
}
