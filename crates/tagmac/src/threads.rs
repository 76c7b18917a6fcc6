//! One message on several threads: a part for each, joined in order.

use std::thread;

use crate::error::{Error, Mismatch};
use crate::hash::{Hash, whole, within_limit};
use crate::mac::Mac;
use crate::part::Part;
use crate::tag::Tag;

/// The least that is worth a thread: starting one costs about as much as tagging half of this, so
/// that several threads are never slower than one.
const LEAST: usize = 1 << 20;

/// The tag of a message, on up to `threads` threads; 0 stands for as many as there are cores.
///
/// ```
/// use tagmac::{Pmac, threads};
/// let (mac, message) = (Pmac::aes128(&[7; 16]), vec![1; 5_000_000]);
/// assert_eq!(threads::tag(&mac, &(), &message, 0)?, mac.tag(&message)?);
/// # Ok::<(), tagmac::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::TooLong`] if the message is over the limit of the MAC's definition.
pub fn tag<M>(mac: &M, nonce: &M::Nonce, message: &[u8], threads: usize) -> Result<Tag, Error>
where
    M: Mac<Hash: Sync>,
{
    let hash = mac.hash();
    within_limit(hash, 0, message.into())?;
    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, |n| n.get()),
        threads => threads,
    };
    let pieces = threads.min(message.len() / LEAST);
    if pieces < 2 {
        return mac.tag_with(nonce, message);
    }
    let (blocks, rest) = message.split_at(whole(hash, message.into()));
    let piece = (blocks.len() / hash.block()).div_ceil(pieces) * hash.block();
    let mut starts = (0..).step_by(piece).zip(blocks.chunks(piece));
    let (_, first) = starts.next().expect("at least one piece");
    let whole = thread::scope(|scope| {
        let others: Vec<_> = starts
            .map(|(start, piece)| scope.spawn(move || Part::of(hash, start, piece)))
            .collect();
        let first = Part::of(hash, 0, first);
        others.into_iter().fold(first, |left, right| {
            let right = right.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            left?.join(hash, &right?)
        })
    })?;
    whole.finish(mac, nonce, rest)
}

/// Checks a tag in constant time, on up to `threads` threads.
///
/// # Errors
///
/// [`Mismatch`] unless `tag` is the message's tag, of the MAC's own length.
pub fn verify<M>(
    mac: &M,
    nonce: &M::Nonce,
    message: &[u8],
    tag: &Tag,
    threads: usize,
) -> Result<(), Mismatch>
where
    M: Mac<Hash: Sync>,
{
    match self::tag(mac, nonce, message, threads) {
        Ok(expected) if expected == *tag => Ok(()),
        _ => Err(Mismatch),
    }
}
