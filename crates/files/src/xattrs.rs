//! A tag of a file's extended attributes, such as access control lists and capabilities.

use std::io;

use tagmac::Tag;
use tagmac_any::AnyMac;

use crate::manifest::entry::XATTR_BITS;
use crate::sys::{self, HandleRef};

/// The start of the tagged text. It differs from those of all other texts under the same key.
const MAGIC: &[u8] = b"tagmac-xattrs-1\n";
/// Maximum length of a value and of the list of names in bytes, as in Linux.
const MAX_BYTES: usize = 64 << 10;

/// Returns the tags of an open file's or directory's extended attributes under MACs of seals, from
/// one read. A tag covers those that this user can read: each name and value in order of names,
/// after their lengths as four bytes, the highest first. Without extended attributes it covers an
/// empty list.
pub fn tags<const N: usize>(file: HandleRef<'_>, seal_macs: [&AnyMac; N]) -> io::Result<[Tag; N]> {
    let mut buffer = vec![0; MAX_BYTES];
    let listed = sys::attributes(file, &mut buffer)?;
    let names: Vec<u8> = buffer[..listed].to_vec();
    let mut names: Vec<&[u8]> =
        names.split(|&byte| byte == 0).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    let mut streams = seal_macs.map(|mac| mac.stream(&[]).expect("HMAC takes no nonce"));
    let mut update = |text: &[u8]| streams.iter_mut().for_each(|stream| stream.update(text));
    update(MAGIC);
    for name in names {
        let length = sys::attribute(file, name, &mut buffer)?;
        for text in [name, &buffer[..length]] {
            update(&(text.len() as u32).to_be_bytes());
            update(text);
        }
    }
    Ok(streams.map(|stream| {
        let tag = stream.tag().expect("HMAC has no limit");
        Tag::new(&tag.as_bytes()[..XATTR_BITS / 8], XATTR_BITS).expect("a tag may have 128 bits")
    }))
}
