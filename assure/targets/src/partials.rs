//! Partials. The first byte chooses the MAC and the second the input: all bytes of a file, or the
//! sealed text of one. In that case the header is correct except for range and name, which come
//! from the input.

use tagmac_any::{Partial, PartialError};

use crate::subject::{Subject, with_parts};

pub fn run(data: &[u8]) {
    let Some((&[first, second], data)) = data.split_first_chunk() else { return };
    let subject = with_parts(first);
    let file = if second & 1 == 0 { data.to_vec() } else { sealed(subject, data) };
    let Ok(partial) = Partial::parse(&file) else { return };
    assert!(partial.start() <= partial.end());
    assert!(partial.object().len() <= Partial::MAX_OBJECT);
    assert!(partial.header_len() <= Partial::MAX_HEADER.min(file.len()));
    assert!(Partial::parse(&file[..partial.header_len()]).is_ok(), "the header alone must parse");
    assert_eq!(
        Partial::parse(&file[..partial.header_len() - 1]).map(|_| ()),
        Err(PartialError::Header)
    );
    let Ok(checked) = partial.check(subject.best(), &subject.sealer) else { return };
    let max = checked.max_len();
    let Ok((part, tail)) = checked.open() else { return };
    assert_eq!(part.start(), checked.start());
    assert_eq!(part.end() + tail.len() as u64, checked.end());
    assert!(file.len() as u64 <= max, "expected at most {max} bytes, found {}", file.len());
    let parts = subject.best().parts().expect("it has parts");
    let _ = parts.finish(part, &subject.nonce, &tail);
}

/// The file of a range, a name and what is sealed, as `docs/formats/partials.md` has it.
fn sealed(subject: &Subject, data: &[u8]) -> Vec<u8> {
    let (range, rest) = data.split_at(data.len().min(17));
    let Some((&length, rest)) = rest.split_first() else { return range.to_vec() };
    let (object, secret) = rest.split_at(rest.len().min(length.into()));
    let name = subject.algorithm.name();
    let id = subject.best().key_id();
    let header = [
        b"tagmac-partial-2",
        &id.as_bytes()[..],
        range,
        &[name.len() as u8],
        name.as_bytes(),
        &(object.len() as u16).to_le_bytes(),
        object,
    ]
    .concat();
    let seal = |what: &[u8], secret| subject.sealer.seal(&[what, &header], secret).expect("a seal");
    [&*header, &seal(b"partial header 2", b""), &seal(b"partial 2", secret)].concat()
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for choice in 0..40 {
        let subject = with_parts(choice);
        let parts = subject.best().parts().expect("it has parts");
        let block = parts.block();
        let part = parts.new_part(block as u64, &vec![7; 2 * block]).expect("whole blocks");
        let mut secret = tagmac::save::Writer::default();
        parts.save(&part, &mut secret).expect("its own");
        secret.length_prefixed(b"end");
        let range = [block as u64, 3 * block as u64 + 3].map(u64::to_le_bytes);
        let under = [range.as_flattened(), &[1, 3], b"o@1", secret.as_bytes()].concat();
        seeds.push([&[choice, 1], &*under].concat());
        if choice == 0 {
            let file = Partial::seal(subject.best(), &subject.sealer, b"o@1", &part, Some(b"end"));
            seeds.push([&[choice, 0], &*file.expect("a partial")].concat());
        }
    }
    seeds
}
