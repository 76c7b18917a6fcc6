//! One message on several threads: they take pieces as they come, and the parts join in order.
//! A thread that starts late takes fewer, so that nobody waits for it.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::error::{Error, Mismatch};
use crate::hash::{Hash, whole, within_limit};
use crate::mac::Mac;
use crate::part::Part;
use crate::tag::{Tag, matches};

/// The least that is worth a thread, measured with the fastest MAC: starting one costs about as
/// much as tagging this.
const LEAST: usize = 2 << 20;
/// Bytes that a thread takes at once: little enough that all end at about the same time.
const PIECE: usize = 1 << 18;

/// The tag of a message, on up to `threads` threads; 0 stands for as many as there are cores.
///
/// ```
/// use tagmac::{PmacAes128, threads};
/// let (mac, message) = (PmacAes128::new(&[7; 16]), vec![1; 5_000_000]);
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
    let threads = threads.min(message.len() / LEAST);
    if threads < 2 {
        return mac.tag_with(nonce, message);
    }
    let (blocks, rest) = message.split_at(whole(hash, message.into()));
    let piece = PIECE / hash.block() * hash.block();
    let next = AtomicUsize::new(0);
    // Takes pieces until there are none, and gives the part of each with its place.
    let work = || -> Result<Vec<_>, Error> {
        let mut parts = Vec::new();
        loop {
            let start = next.fetch_add(piece, Ordering::Relaxed);
            let Some(left) = blocks.get(start..).filter(|left| !left.is_empty()) else {
                return Ok(parts);
            };
            parts.push(Part::of(hash, start as u64, &left[..piece.min(left.len())])?);
        }
    };
    let mut parts = thread::scope(|scope| {
        // A thread that the system refuses is done without.
        let others: Vec<_> = (1..threads)
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut parts = work()?;
        for other in others {
            parts.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(parts)
    })?;
    parts.sort_by_key(Part::start);
    let empty = Part::of(hash, 0, &[]);
    let whole = parts.iter().fold(empty, |left, right| left?.join(hash, right))?;
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
    matches(self::tag(mac, nonce, message, threads), tag)
}
