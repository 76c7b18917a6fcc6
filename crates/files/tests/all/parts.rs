//! Parts of objects, hashed in pieces of any length and joined in any order.

use std::cell::RefCell;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use tagmac::isa::Level;
use tagmac::save::Zeroizing;
use tagmac_any::Algorithm;
use tagmac_files::open_key::OpenKey;
use tagmac_files::partial::{
    Expected, PartRange, PartStream, Stored, combine, open, piped, versioned,
};
use tagmac_files::raw_key::RawKey;
use tagmac_files::{Error, ErrorKind};

struct Blob(usize, Vec<u8>);

impl Stored for Blob {
    fn name(&self) -> String {
        format!("blob {}", self.0)
    }

    fn read(&self, most: u64) -> Result<Zeroizing<Vec<u8>>, Error> {
        let most = self.1.len().min(most as usize);
        Ok(Zeroizing::new(self.1[..most].to_vec()))
    }
}

fn key(algorithm: Algorithm) -> OpenKey {
    let raw = RawKey::new(algorithm, vec![7; algorithm.new_key_bytes()].into()).unwrap();
    OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best()).unwrap()
}

fn pmac() -> OpenKey {
    key(Algorithm::default())
}

fn bytes(count: usize) -> Vec<u8> {
    (0..count as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u8).collect()
}

/// Returns the partial of a range that is hashed in pieces of these lengths, repeated.
fn part(key: &OpenKey, start: u64, last: bool, data: &[u8], pieces: &[usize]) -> Vec<u8> {
    let object = versioned(b"o", b"1").unwrap();
    let mut part = PartStream::new(key, object, start, last).unwrap();
    let (mut rest, mut pieces) = (data, pieces.iter().cycle());
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(*pieces.next().unwrap()));
        part.update(piece).unwrap();
        rest = after;
    }
    assert_eq!((part.start(), part.end()), (start, start + data.len() as u64));
    assert_eq!((part.object(), part.is_last()), (&b"o@1"[..], last));
    part.seal().unwrap()
}

#[test]
fn any_pieces_of_any_ranges_give_the_tag() {
    for algorithm in Algorithm::all() {
        let Some(block) = algorithm.block() else { continue };
        let (key, nonce) = (key(algorithm), vec![9; *algorithm.nonce_bytes().end()]);
        let most = algorithm.max_message_bytes().unwrap_or(u64::MAX).min(20_000) as usize;
        let text = bytes(most);
        let mut lengths: Vec<_> = [0, 1, 2, 3]
            .iter()
            .flat_map(|n| [(n * block).saturating_sub(1), n * block, n * block + 1])
            .filter(|length| *length <= most)
            .collect();
        lengths.push(most);
        for length in lengths {
            let message = &text[..length];
            let expected = key.mac.tag(&nonce, message).unwrap();
            let blocks = length.saturating_sub(1) / block;
            let (a, b) = (blocks / 3 * block, blocks * 2 / 3 * block);
            for pieces in
                [&[1][..], &[block], &[block - 1, 1, 2], &[1, 3 * block + 1], &[length + 1]]
            {
                let mut partials = vec![part(&key, b as u64, true, &message[b..], pieces)];
                if b > a {
                    partials.push(part(&key, a as u64, false, &message[a..b], pieces));
                }
                if a > 0 {
                    partials.push(part(&key, 0, false, &message[..a], pieces));
                }
                let blobs: Vec<_> =
                    partials.into_iter().enumerate().map(|(i, p)| Blob(i, p)).collect();
                let combined = combine(&key, Expected::Any, &blobs, &nonce).unwrap();
                assert_eq!(combined.tagged.tag, expected, "{algorithm}, {length}, {pieces:?}");
                assert_eq!(combined.tagged.bytes, length as u64);
            }
        }
    }
}

#[test]
fn neighbours_join_in_the_process() {
    let (key, text) = (Arc::new(pmac()), bytes(100));
    let new = |start, last| PartStream::new(key.clone(), b"o@1".to_vec(), start, last).unwrap();
    let (mut left, mut right) = (new(0, false), new(64, true));
    left.update(&text[..64]).unwrap();
    right.update(&text[64..]).unwrap();
    let parts = key.parts().unwrap();
    let (left, none) = left.close().unwrap();
    let (right, tail) = right.close().unwrap();
    assert!(none.is_empty());
    let whole = parts.join(left, &right).unwrap();
    assert_eq!(parts.finish(whole, &[], &tail).unwrap(), key.mac.tag(&[], &*text).unwrap());
}

#[test]
fn what_is_refused() {
    let key = pmac();
    let new = |start, last| PartStream::new(&key, b"o@1".to_vec(), start, last);
    let text = |error: Error| error.to_string();
    let error = new(17, false).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let block = "expected a multiple of PMAC-AES128's block of 16 bytes, found";
    assert_eq!(text(error), format!("start: {block} 17; the nearest: 16 and 32"));
    let mut part = new(16, false).unwrap();
    let empty = "the range is empty; expected at least 1 byte";
    assert_eq!(text(part.seal().unwrap_err()), empty);
    part.update(&[1; 17]).unwrap();
    let inner =
        format!("a range that is not the object's last: {block} 17; the nearest: 16 and 32");
    assert_eq!(text(part.seal().unwrap_err()), inner);
    part.update(&[1; 15]).unwrap();
    part.seal().unwrap();
    assert_eq!(text(new(16, true).unwrap().seal().unwrap_err()), empty);
    new(0, true).unwrap().seal().unwrap();
    assert_eq!(text(new(0, false).unwrap().seal().unwrap_err()), empty);
    let start = u64::MAX / 16 * 16;
    assert!(text(new(start, true).err().unwrap()).starts_with("PMAC-AES128: "));
    let name = PartStream::new(&key, vec![b'o'; 1 << 16], 0, true).err().unwrap();
    assert_eq!(text(name), "object: expected a name of 1 to 65535 bytes, found 65536");
    let cmac = self::key(Algorithm::from_name("CMAC-AES128").unwrap());
    let error = PartStream::new(&cmac, b"o".to_vec(), 0, true).err().unwrap();
    assert!(text(error).starts_with("CMAC-AES128 cannot hash ranges"));
}

#[test]
fn a_range_ends_within_the_limit() {
    let algorithm = Algorithm::from_name("LIGHTMAC-AES128-S8").unwrap();
    let (key, most) = (key(algorithm), algorithm.max_message_bytes().unwrap() as usize);
    let text = bytes(most + 1);
    for piece in [1, 15, most] {
        let mut part = PartStream::new(&key, b"o@1".to_vec(), 0, true).unwrap();
        text[..most].chunks(piece).for_each(|piece| part.update(piece).unwrap());
        assert!(part.update(&text[most..]).unwrap_err().to_string().contains("limit"));
        assert_eq!(part.end(), most as u64);
        let blob = Blob(0, part.seal().unwrap());
        let combined = combine(&key, Expected::Any, &[blob], &[]).unwrap();
        assert_eq!(combined.tagged.tag, key.mac.tag(&[], &text[..most]).unwrap());
    }
}

#[test]
fn what_is_no_whole_is_named() {
    let (key, text) = (pmac(), bytes(100));
    let blob = |i: usize, start: usize, end: usize, last| {
        Blob(i, part(&key, start as u64, last, &text[start..end], &[100]))
    };
    let refused = |expected: Expected<'_>, blobs: &[Blob]| {
        let error = combine(&key, expected, blobs, &[]).err().unwrap();
        (error.kind(), error.to_string())
    };
    let incomplete = |blobs: &[Blob], text: &str| {
        assert_eq!(refused(Expected::Any, blobs), (ErrorKind::Incomplete, text.into()));
    };
    incomplete(&[], "there are no partials to combine");
    let missing = "bytes 0 to 32 (blob 1) and bytes 64 to 100 (blob 0) do not adjoin: there is a \
                    gap of 32 bytes";
    incomplete(&[blob(0, 64, 100, true), blob(1, 0, 32, false)], missing);
    let twice = "bytes 0 to 64 (blob 0) and bytes 0 to 64 (blob 1) do not adjoin: they overlap";
    incomplete(&[blob(0, 0, 64, false), blob(1, 0, 64, false), blob(2, 64, 100, true)], twice);
    let first = "the range from byte 0 is missing; no range precedes bytes 64 to 100 (blob 0)";
    incomplete(&[blob(0, 64, 100, true)], first);
    let last = "the object's last range is missing; no range follows bytes 0 to 64 (blob 0)";
    incomplete(&[blob(0, 0, 64, false)], last);
    let foreign = |object: Option<&str>, version: Option<&str>, text: &str| {
        let [object, version] = [object, version].map(|name| name.map(str::as_bytes));
        let found = refused(Expected::Object { object, version }, &[blob(3, 0, 100, true)]);
        assert_eq!(found, (ErrorKind::Foreign, format!("blob 3: the partial is of {text}")));
    };
    foreign(Some("p"), None, "object o, not of object p");
    foreign(Some("p"), Some("2"), "object o, not of object p");
    foreign(Some("o"), Some("2"), "version 1, not of version 2");
    let both = Expected::Object { object: Some(b"o"), version: Some(b"1") };
    assert!(combine(&key, both, &[blob(3, 0, 100, true)], &[]).is_ok());
    let mut other = PartStream::new(&key, b"o".to_vec(), 64, true).unwrap();
    other.update(b"tail").unwrap();
    let blobs = [blob(0, 0, 64, false), Blob(1, other.seal().unwrap())];
    let version = Expected::Object { object: Some(b"o"), version: Some(b"1") };
    let text = "blob 1: the partial is of no version, not of version 1";
    assert_eq!(refused(version, &blobs), (ErrorKind::Foreign, text.into()));
    let text = "blob 1: the partial is of o, not of o@1 (blob 0)";
    assert_eq!(refused(Expected::Any, &blobs), (ErrorKind::Foreign, text.into()));
    // The first partial of another object is named.
    let blobs = [blob(0, 0, 64, false), Blob(1, blobs[1].1.clone()), Blob(2, blobs[1].1.clone())];
    assert_eq!(refused(Expected::Any, &blobs), (ErrorKind::Foreign, text.into()));
}

#[test]
fn one_partial_alone() {
    let (key, text) = (pmac(), bytes(100));
    for (start, end, last) in [(0, 64, false), (64, 100, true)] {
        let sealed = part(&key, start as u64, last, &text[start..end], &[100]);
        let opened = open(&key, &Blob(7, sealed.clone())).unwrap();
        assert_eq!((&*opened.object, opened.last), (&b"o@1"[..], last));
        assert_eq!((opened.start, opened.end), (start as u64, end as u64));
        for place in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[place] ^= 1;
            assert!(open(&key, &Blob(7, altered)).is_err(), "byte {place}");
            assert!(open(&key, &Blob(7, sealed[..place].to_vec())).is_err(), "cut at {place}");
        }
        // Too long, but within the maximum length.
        let long = [&*sealed, &[0; 100]].concat();
        assert!(open(&key, &Blob(7, long)).is_err());
    }
    let cmac = self::key(Algorithm::from_name("CMAC-AES128").unwrap());
    let error = open(&cmac, &Blob(7, Vec::new())).err().unwrap().to_string();
    assert!(error.starts_with("CMAC-AES128 cannot hash ranges"), "{error}");
}

/// A stored partial that is another one each time it is read.
struct Changing(RefCell<Vec<Vec<u8>>>);

impl Stored for Changing {
    fn name(&self) -> String {
        "changing".into()
    }

    fn read(&self, _: u64) -> Result<Zeroizing<Vec<u8>>, Error> {
        Ok(self.0.borrow_mut().remove(0).into())
    }
}

/// The header is read first and the whole later; both must belong to the same partial.
#[test]
fn a_partial_that_is_exchanged_between_two_reads() {
    let (key, text) = (pmac(), bytes(100));
    let sealed = |object: &[u8], start: usize, end: usize, last| {
        let mut part = PartStream::new(&key, object.to_vec(), start as u64, last).unwrap();
        part.update(&text[start..end]).unwrap();
        part.seal().unwrap()
    };
    let first = || sealed(b"o", 16, 64, false);
    assert!(open(&key, &Changing(vec![first(), first()].into())).is_ok());
    for second in [
        sealed(b"p", 16, 64, false),
        sealed(b"o", 32, 64, false),
        sealed(b"o", 16, 48, false),
        sealed(b"o", 16, 64, true),
    ] {
        let error = open(&key, &Changing(vec![first(), second].into())).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
    }
}

/// A pipe in which every read is interrupted once.
struct Interrupted<'a>(&'a [u8], bool);

impl Read for Interrupted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(out) }
    }
}

#[test]
fn a_signal_ends_no_range_of_a_pipe() {
    let (key, text) = (pmac(), bytes(100));
    let range = PartRange {
        object: b"o@1",
        file: Path::new("-"),
        start: 0,
        at: None,
        length: None,
        last: true,
    };
    let sealed = piped(&key, range, &mut Interrupted(&text, false), &()).unwrap();
    let combined = combine(&key, Expected::Any, &[Blob(0, sealed)], &[]).unwrap();
    assert_eq!(combined.tagged.tag, key.mac.tag(&[], &*text).unwrap());
    assert_eq!(combined.tagged.bytes, 100);
}
