//! A message cut into ranges with a partial for each. Together they must give the message's tag if
//! each range occurs once, and an error otherwise.

use tagmac::save::Zeroizing;
use tagmac_any::Partial;
use tagmac_files::Error;
use tagmac_files::partial::{Expected, Stored, combine};

use crate::input::{Input, pattern};
use crate::plant::Plant;
use crate::subject::with_parts;

struct Blob(Vec<u8>);

impl Stored for Blob {
    fn name(&self) -> String {
        "blob".into()
    }

    fn read(&self, most: u64) -> Result<Zeroizing<Vec<u8>>, Error> {
        let most = self.0.len().min(most as usize);
        Ok(Zeroizing::new(self.0[..most].to_vec()))
    }
}

pub fn run(data: &[u8]) {
    let input = &mut Input::new(data);
    let subject = with_parts(input.byte());
    let key = subject.open_key();
    let parts = key.mac.parts().expect("it has parts");
    let block = parts.block();
    let limit = key.mac.max_message_bytes().unwrap_or(u64::MAX).min(1200) as usize;
    let message = pattern(input.byte(), input.up_to(limit));
    let distinct = usize::from(parts.last_block_distinct());
    let most = message.len().saturating_sub(distinct) / block;
    let mut cuts: Vec<usize> = (0..input.up_to(3)).map(|_| input.up_to(most) * block).collect();
    cuts.extend([0, message.len()]);
    cuts.sort_unstable();
    let count = cuts.len() - 1;
    let seal = |(number, range): (usize, &[usize])| {
        let (start, end, last) = (range[0], range[1], number + 1 == count);
        let whole = if last { start.max(most * block) } else { end };
        let part = parts.new_part(start as u64, &message[start..whole]).expect("whole blocks");
        let tail = last.then(|| &message[whole..end]);
        Partial::seal(&key.mac, &key.sealer, b"o@1", &part, tail).expect("a partial")
    };
    let partials: Vec<Vec<u8>> = cuts.windows(2).enumerate().map(seal).collect();
    // In any order; some may be missing, repeated, or have a flipped bit.
    let mut chosen: Vec<usize> = Vec::new();
    let how = input.byte();
    match how % 4 {
        0 => chosen.extend((0..count).rev()),
        _ => chosen.extend((0..1 + input.up_to(count)).map(|_| input.up_to(count - 1))),
    }
    let mut blobs: Vec<Blob> = chosen.iter().map(|&i| Blob(partials[i].clone())).collect();
    let flipped = how & 64 != 0;
    if flipped {
        let blob = &mut blobs[0].0;
        let bit = input.short() % (8 * blob.len());
        blob[bit / 8] ^= 1 << (bit % 8);
    }
    let once = |number: usize| chosen.iter().filter(|&&i| i == number).count() == 1;
    let all = chosen.len() == count && (0..count).all(once);
    let last_missing = Plant::LastMissing.is_set() && !chosen.contains(&(count - 1));
    let found = combine(&key, Expected::Any, &blobs, &subject.nonce);
    let accepted = found.is_ok() || last_missing && how % 4 == 2 && !flipped;
    let expected = all && !flipped;
    // An extra empty range makes no difference, wherever it is.
    let empty = cuts.windows(2).any(|range| range[0] == range[1]);
    assert!(accepted == expected || empty && !flipped, "{:?}", found.err());
    if let Ok(found) = found {
        let tag = key.mac.tag(&subject.nonce, &*message).expect("within the limit");
        assert_eq!(found.tagged.tag, tag, "must be the tag of the message");
        assert_eq!((found.tagged.bytes, &*found.object), (message.len() as u64, &b"o@1"[..]));
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    (0..40).map(|choice| vec![choice, 1, 200, 1, 2, 5, 9, choice % 4, 2, 0, 1, 2]).collect()
}
