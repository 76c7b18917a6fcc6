//! One message on several threads: a part for each, joined in order.

use std::panic::resume_unwind;
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
    M: Mac,
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
    let mut pieces = (0..).step_by(piece).zip(blocks.chunks(piece));
    let first = pieces.next().expect("at least one piece");
    let of = |(start, piece)| Part::of(hash, start, piece);
    let whole = thread::scope(|scope| {
        // A piece whose thread the system refuses is left for this one.
        let others: Vec<_> = pieces
            .map(|piece| (piece, thread::Builder::new().spawn_scoped(scope, move || of(piece))))
            .collect();
        others.into_iter().fold(of(first), |left, (piece, thread)| {
            let right = match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(_) => of(piece),
            };
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
    M: Mac,
{
    match self::tag(mac, nonce, message, threads) {
        Ok(expected) if expected == *tag => Ok(()),
        _ => Err(Mismatch),
    }
}
