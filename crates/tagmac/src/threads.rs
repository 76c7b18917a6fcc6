//! Tags one message on several threads. Threads fetch pieces as they become free, and the parts are
//! joined in order. A thread that starts late fetches fewer pieces, so the others do not wait for
//! it.
//!
//! The first call that has work for the threads starts them, and they wait for the next call. The
//! amount of work that justifies a thread depends on the MAC, the CPU and the memory, so it is
//! measured. The first piece is timed, and threads are used if the rest takes long enough. If all
//! threads are busy, a call does all its work itself.
//!
//! After a fork the child does not have these threads: every call there does all its work itself.

mod cpu;
mod pool;

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::construction::{Hash, absorbable_len, check_length};
use crate::error::{Error, Mismatch};
use crate::mac::Mac;
use crate::part::Part;
use crate::tag::{Tag, matches};
use pool::{Helpers, Pool};

/// The bytes to time, and the shortest message for which the timing costs almost nothing.
const FIRST: usize = 1 << 14;
const MIN_MESSAGE: usize = 1 << 18;
/// The cost of waking a sleeping thread.
const START: Duration = Duration::from_micros(8);
/// The time that a thread spends on a piece. The last pieces are short, so that all threads end at
/// about the same time; no piece is so long that a thread that loses its CPU delays the others.
const PIECE: Range<Duration> = Duration::from_micros(2)..Duration::from_micros(100);
/// The smallest piece in bytes that is worth fetching.
const MIN_PIECE: usize = 1 << 12;

/// Returns the tag of a message, computed on up to `threads` threads. 0 means the number of cores,
/// which is counted once.
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
    let blocks = &message[..absorbable_len(hash, message.into())];
    let timed = FIRST.next_multiple_of(hash.block());
    if threads == 1 || blocks.len() < MIN_MESSAGE.max(2 * timed) {
        return mac.tag_with(nonce, message);
    }
    let start = Instant::now();
    let first = Part::new(hash, 0, &blocks[..timed]).expect("blocks within the limit");
    let per_byte = start.elapsed().as_secs_f64() / timed as f64;
    let left = (blocks.len() - timed) as f64 * per_byte;
    let worth = (left / START.as_secs_f64()) as usize;
    let helpers = if threads == 0 { worth } else { threads.min(worth) }.saturating_sub(1);
    let pool = if helpers > 0 { Pool::get() } else { None };
    let whole = match pool.and_then(|pool| pool.take(helpers, Duration::from_secs_f64(left))) {
        Some(helpers) => {
            let bytes = |time: Duration| (time.as_secs_f64() / per_byte) as usize;
            let min = bytes(PIECE.start).max(MIN_PIECE);
            grow(hash, first, blocks, helpers, min..bytes(PIECE.end).max(min))
        }
        None => first,
    };
    let rest = &message[whole.end() as usize..];
    Ok(whole.finish(mac, nonce, rest).expect("the start of a message within the limit"))
}

/// The part of all blocks. `first` holds the first of them; this thread and `helpers` hash the
/// rest, in pieces whose size in bytes is in `piece`.
fn grow<H: Hash>(
    hash: &H,
    first: Part<H>,
    blocks: &[u8],
    helpers: Helpers<'_>,
    piece: Range<usize>,
) -> Part<H> {
    let (start, threads) = (first.end() as usize, helpers.count() + 1);
    let cuts = cuts(start, blocks.len(), threads, piece, hash.block());
    let parts: Vec<OnceLock<Part<H>>> = cuts.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    helpers.run(|| {
        let mut bytes = 0;
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let (Some(cut), Some(place)) = (cuts.get(i), parts.get(i)) else { return bytes };
            let part = Part::new(hash, cut.start as u64, &blocks[cut.clone()]);
            let _ = place.set(part.expect("blocks within the limit"));
            bytes += cut.len();
        }
    });
    let mut parts = parts.iter().map(|part| part.get().expect("all pieces were taken"));
    let whole = parts.try_fold(first, |left, right| left.join(hash, right));
    whole.expect("neighbours")
}

/// Splits the bytes from `start` to `end` into pieces of whole blocks. Each piece is half a
/// thread's share of the rest, clamped to `piece`, so that long runs are read in one go and the
/// wait at the end is short.
fn cuts(
    mut start: usize,
    end: usize,
    threads: usize,
    piece: Range<usize>,
    block: usize,
) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    while start < end {
        let share = (end - start) / (2 * threads);
        let bytes = share.clamp(piece.start, piece.end).next_multiple_of(block);
        let cut = start..end.min(start + bytes);
        start = cut.end;
        cuts.push(cut);
    }
    cuts
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

    /// As `tag`, but uses threads even for short messages.
    fn tag_on<M: Mac>(mac: &M, nonce: M::Nonce, message: &[u8], pool: &Pool, piece: Range<usize>) {
        let hash = mac.hash();
        let blocks = &message[..absorbable_len(hash, message.into())];
        let first = Part::new(hash, 0, &blocks[..blocks.len().min(3 * hash.block())]);
        // The second try is for a pool that had paused: so much work ends the pause.
        let helpers = (0..2).find_map(|_| pool.take(usize::MAX, Duration::MAX));
        let part = match helpers {
            Some(helpers) => grow(hash, first.expect("blocks"), blocks, helpers, piece),
            None => first.expect("blocks"),
        };
        let rest = &message[part.end() as usize..];
        let tag = part.finish(mac, &nonce, rest).expect("a short message");
        assert!(tag == mac.tag_with(&nonce, message).expect("a short message"));
    }

    #[test]
    fn any_number_of_threads_and_any_piece() {
        let light = LightMacAes128::new(&[1; 16], &[2; 16], 40).expect("a counter");
        for bytes in [100, 10_000, 100_001] {
            let message: Vec<u8> = (0..bytes).map(|i| (i * 7 / 3) as u8).collect();
            for (helpers, piece) in [
                (1, 1..1),
                (1, 5000..5000),
                (2, 64..1000),
                (7, 1000..1 << 20),
                (4, 1 << 20..1 << 20),
            ] {
                let pool = Pool::new(helpers).expect("threads");
                tag_on(&PmacAes128::new(&[7; 16]), (), &message, &pool, piece.clone());
                tag_on(&light, (), &message, &pool, piece.clone());
                tag_on(&Poly1305Aes::new(&[7; 32]), [9; 16], &message, &pool, piece.clone());
                tag_on(&Umac64::new(&[7; 16]), UmacNonce::from(3), &message, &pool, piece);
            }
        }
    }

    #[test]
    fn many_callers_at_the_same_time() {
        let (mac, message) = (PmacAes128::new(&[7; 16]), vec![5; 100_000]);
        let pool = Pool::new(2).expect("threads");
        std::thread::scope(|scope| {
            for _ in 0..5 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        tag_on(&mac, (), &message, &pool, 64..1 << 12);
                    }
                });
            }
        });
        let all = (0..2).find_map(|_| pool.take(usize::MAX, Duration::MAX));
        assert_eq!(all.map(|helpers| helpers.count()), Some(2));
    }

    #[test]
    fn cuts_are_neighbours_of_whole_blocks() {
        for (start, end, threads, piece, block) in
            [(0, 0, 2, 1..1, 16), (32, 1 << 20, 3, 4096..1 << 16, 16), (48, 12 * 999, 8, 1..9, 12)]
        {
            let mut at = start;
            for cut in cuts(start, end, threads, piece, block) {
                assert!(cut.start == at && !cut.is_empty() && cut.len().is_multiple_of(block));
                at = cut.end;
            }
            assert_eq!(at, end);
        }
    }
}
