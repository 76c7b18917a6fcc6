//! One message on several threads: they take pieces as they come, and the parts join in order.
//! A thread that starts late takes fewer, so that nobody waits for it.
//!
//! How much is worth a thread depends on the MAC, the CPU and the memory, so it is measured: the
//! first piece is timed, and threads are started where the rest takes long enough.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Mismatch};
use crate::hash::{Hash, absorbable_len, check_length};
use crate::mac::Mac;
use crate::part::Part;
use crate::tag::{Tag, matches};

/// Bytes that are timed; a message of less than four times as many is not worth the look.
const FIRST: usize = 1 << 16;
/// What starting a thread and waiting for its end costs, at most, where CPUs are idle.
const START: Duration = Duration::from_micros(100);
/// How long a thread works on a piece, so little that all end at about the same time, and bytes
/// that are worth taking one.
const PIECE: Duration = Duration::from_micros(10);
const MIN_PIECE: usize = 1 << 12;

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
    check_length(hash, 0, message.into())?;
    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, |n| n.get()),
        threads => threads,
    };
    let blocks = &message[..absorbable_len(hash, message.into())];
    let timed = FIRST.next_multiple_of(hash.block());
    if threads < 2 || blocks.len() < 4 * timed {
        return mac.tag_with(nonce, message);
    }
    let start = Instant::now();
    let first = Part::new(hash, 0, &blocks[..timed]).expect("blocks within the limit");
    let per_byte = start.elapsed().as_secs_f64() / timed as f64;
    let left = blocks.len() - timed;
    let piece = ((PIECE.as_secs_f64() / per_byte) as usize).clamp(MIN_PIECE, left);
    let worth = (left as f64 * per_byte / START.as_secs_f64()) as usize;
    let threads = threads.min(worth).min(left / piece);
    let whole = if threads < 2 { first } else { grow(hash, first, blocks, threads, piece) };
    let rest = &message[whole.end() as usize..];
    Ok(whole.finish(mac, nonce, rest).expect("the start of a message within the limit"))
}

/// The part of all blocks, of which `first` has the first, on `threads` threads in pieces of about
/// `piece` bytes.
fn grow<H: Hash>(hash: &H, first: Part<H>, blocks: &[u8], threads: usize, piece: usize) -> Part<H> {
    let piece = piece.next_multiple_of(hash.block());
    let next = AtomicUsize::new(first.end() as usize);
    // Takes pieces until there are none, and gives the part of each with its place.
    let work = || {
        let mut parts = Vec::new();
        loop {
            let start = next.fetch_add(piece, Ordering::Relaxed);
            let Some(left) = blocks.get(start..).filter(|left| !left.is_empty()) else {
                return parts;
            };
            let part = Part::new(hash, start as u64, &left[..piece.min(left.len())]);
            parts.push(part.expect("blocks within the limit"));
        }
    };
    let mut parts = thread::scope(|scope| {
        // A thread that the system refuses is done without.
        let others: Vec<_> = (1..threads)
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut parts: Vec<_> = work();
        for other in others {
            parts.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        parts
    });
    parts.sort_by_key(Part::start);
    let whole = parts.iter().try_fold(first, |left, right| left.join(hash, right));
    whole.expect("neighbours")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LightMacAes128, PmacAes128, Poly1305Aes, Umac64, UmacNonce};

    /// As `tag`, however little there is to do.
    fn tag_on<M: Mac>(mac: &M, nonce: M::Nonce, message: &[u8], threads: usize, piece: usize) {
        let hash = mac.hash();
        let blocks = &message[..absorbable_len(hash, message.into())];
        let first = Part::new(hash, 0, &blocks[..blocks.len().min(3 * hash.block())]);
        let part = grow(hash, first.expect("blocks"), blocks, threads, piece);
        let rest = &message[part.end() as usize..];
        let tag = part.finish(mac, &nonce, rest).expect("a short message");
        assert!(tag == mac.tag_with(&nonce, message).expect("a short message"));
    }

    #[test]
    fn any_number_of_threads_and_any_piece() {
        let light = LightMacAes128::new(&[1; 16], &[2; 16], 40).expect("a counter");
        for bytes in [100, 10_000, 100_001] {
            let message: Vec<u8> = (0..bytes).map(|i| (i * 7 / 3) as u8).collect();
            for (threads, piece) in [(2, 1), (2, 5000), (3, 64), (8, 1000), (5, 1 << 20)] {
                tag_on(&PmacAes128::new(&[7; 16]), (), &message, threads, piece);
                tag_on(&light, (), &message, threads, piece);
                tag_on(&Poly1305Aes::new(&[7; 32]), [9; 16], &message, threads, piece);
                tag_on(&Umac64::new(&[7; 16]), UmacNonce::from(3), &message, threads, piece);
            }
        }
    }
}
