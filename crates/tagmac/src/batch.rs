//! Tags many messages in one call. Short messages share vectors, which keeps the hardware as busy
//! as one long message does.
//!
//! ```
//! use tagmac::{PmacAes128, Tag};
//! let mac = PmacAes128::new(&[7; 16]);
//! let messages = [&b"one"[..], b"two", b"and a third one that is longer"];
//! let mut tags = [Tag::default(); 3];
//! mac.tag_many(&messages, &mut tags)?;
//! assert_eq!(tags[1], mac.tag(b"two")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! If each message has its own key, use [`tag_many_keys`], or [`RawKeys`] if keys are kept as
//! bytes.

use core::fmt;
use core::ops::Range;

pub use crate::algo::RawKeys;
use crate::construction;
use crate::construction::{Construction, Hash, absorb, absorbable_len};
pub use crate::error::BatchError;
use crate::error::Mismatch;
use crate::isa::{Isa, Kernel, Levels};
use crate::tag::Tag;

/// Smaller batches are tagged one message at a time.
const MIN_BATCH: usize = 4;

/// The number of messages to gather short ones from, large enough that the fixed cost of a kernel
/// call does not matter.
const WINDOW: usize = 64;

/// The minimum of short messages to gather.
const MIN_GATHERED: usize = 8;

/// The number of messages to tag one at a time before the next search for neighbours that are faster
/// in a batch, where short ones are not gathered.
const STEP: usize = 16;

/// Messages that are faster together.
struct Batch<'a, M: Construction + ?Sized> {
    mac: &'a M,
    nonces: &'a [M::Nonce],
    messages: &'a [&'a [u8]],
    tags: &'a mut [Tag],
}

impl<M: Construction + ?Sized> Kernel for Batch<'_, M> {
    const LEVELS: Levels = M::Hash::PLAN.long;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Batch { mac, nonces, messages, tags } = self;
        mac.tag_batch(isa, nonces, messages, tags);
    }
}

/// See [`Mac::tag_many_with`].
pub(crate) fn tag_many<M: Construction + ?Sized>(
    mac: &M,
    nonces: &[M::Nonce],
    messages: &[&[u8]],
    tags: &mut [Tag],
) -> Result<(), BatchError> {
    let n = messages.len();
    assert!(nonces.len() == n && tags.len() == n, "a nonce and a tag for each message");
    if n < MIN_BATCH {
        return tag_each(mac, nonces, messages, tags, |_| true);
    }
    let limit = mac.hash().limit_bits() / 8;
    let most = usize::try_from(limit).unwrap_or(usize::MAX).min(isize::MAX as usize);
    let short = mac.batch_max_len().min(most);
    let short_alike = mac.batch_max_len_alike().min(most);
    let is_short = |message: &&[u8]| short > 0 && message.len() <= short;
    let gathers = mac.batch_gathers();
    let (mut done, mut tried) = (0, false);
    while done < n {
        let is_alike = messages[done].len() > short && messages[done].len() <= short_alike;
        let run = if is_alike {
            leading_alike(&messages[done..])
        } else if short > 0 {
            leading_short(&messages[done..], short)
        } else {
            0
        };
        let shares = match gathers {
            true => run >= WINDOW || run >= MIN_BATCH && (is_alike || done + run == n),
            false => run >= MIN_BATCH,
        };
        if shares && mac.batch_helps(&messages[done..done + run]) {
            let now = done..done + run;
            let (nonces, messages) = (&nonces[now.clone()], &messages[now.clone()]);
            mac.hash().level().run(Batch { mac, nonces, messages, tags: &mut tags[now] });
            done += run;
            continue;
        }
        // If all messages are short, the search for a faster way costs more than it saves.
        if run < n - done && !core::mem::replace(&mut tried, true) {
            let rest = done..n;
            let tags = &mut tags[rest.clone()];
            if let Some(made) = mac.tag_long(&nonces[rest.clone()], &messages[rest], tags) {
                return made.map_err(refused_at(done));
            }
        }
        let end = n.min(done + if gathers { WINDOW } else { STEP });
        let (nonces, messages) = (&nonces[done..end], &messages[done..end]);
        let tags = &mut tags[done..end];
        // Gathering only a few messages costs more than it saves.
        let gathered = gathers && {
            let count = messages.iter().filter(|message| is_short(message)).count();
            count >= MIN_GATHERED.max(messages.len() / 4)
        };
        if gathered {
            tag_gathered(mac, nonces, messages, tags, short);
        }
        let is_left = |message: &[u8]| !gathered || !is_short(&message);
        tag_each(mac, nonces, messages, tags, is_left).map_err(refused_at(done))?;
        done = end;
    }
    Ok(())
}

/// Tags the messages that are left, one at a time.
#[inline(always)]
fn tag_each<M: Construction + ?Sized>(
    mac: &M,
    nonces: &[M::Nonce],
    messages: &[&[u8]],
    tags: &mut [Tag],
    is_left: impl Fn(&[u8]) -> bool,
) -> Result<(), BatchError> {
    for (index, (message, tag)) in messages.iter().zip(tags).enumerate() {
        if is_left(message) {
            let made = construction::tag(mac, &nonces[index], (*message).into());
            *tag = made.map_err(|error| BatchError { index, error })?;
        }
    }
    Ok(())
}

/// Tags messages within the limit one at a time, for batches that would not be faster.
#[inline(never)]
pub(crate) fn one_by_one<M: Construction + ?Sized>(
    mac: &M,
    nonces: &[M::Nonce],
    messages: &[&[u8]],
    tags: &mut [Tag],
) {
    tag_each(mac, nonces, messages, tags, |_| true).expect("a message within the limit");
}

/// Returns the digest of a message, for MACs whose digests do not depend on the nonce. Runs inside a
/// kernel.
#[inline(always)]
pub(crate) fn digest<I: Isa, H: Hash>(isa: I, hash: &H, message: &[u8]) -> H::Digest {
    let (mut sum, cut) = (hash.empty(), absorbable_len(hash, message.into()));
    let blocks = &message[..cut];
    if const { H::PLAN.narrow_path } && cut <= hash.narrow_path_max_bytes() {
        hash.absorb_narrow(isa.narrow(), &mut sum, blocks);
    } else if cut > 0 {
        absorb(hash, &mut sum, 0, blocks);
    }
    let tail = message[cut..].into();
    if const { H::PLAN.shared_finish.applies::<I>() } {
        return isa.run_outlined(
            #[inline(always)]
            || hash.finish(isa, &sum, cut as u64, tail),
        );
    }
    hash.finish(isa, &sum, cut as u64, tail)
}

/// Returns an error in a batch whose first message has the index `first`.
fn refused_at(first: usize) -> impl Fn(BatchError) -> BatchError {
    move |refused| BatchError { index: first + refused.index, ..refused }
}

/// Tags the messages of at most `short` bytes together, out of at most [`WINDOW`]. Not inlined,
/// because calls without such messages would have its large stack frame.
#[inline(never)]
fn tag_gathered<M: Construction + ?Sized>(
    mac: &M,
    nonces: &[M::Nonce],
    messages: &[&[u8]],
    tags: &mut [Tag],
    short: usize,
) {
    let (mut some_nonces, mut some) = ([nonces[0]; WINDOW], [&[][..]; WINDOW]);
    let mut count = 0;
    for (nonce, message) in nonces.iter().zip(messages) {
        if message.len() <= short {
            (some_nonces[count], some[count]) = (*nonce, *message);
            count += 1;
        }
    }
    let mut made = [Tag::default(); WINDOW];
    let (some_nonces, some) = (&some_nonces[..count], &some[..count]);
    let batch = Batch { mac, nonces: some_nonces, messages: some, tags: &mut made[..count] };
    mac.hash().level().run(batch);
    let of_short = messages.iter().zip(tags).filter(|(message, _)| message.len() <= short);
    for ((_, tag), made) in of_short.zip(&made) {
        *tag = *made;
    }
}

/// Returns how many messages come before the first of more than `short` bytes. Not inlined, so that
/// all MACs share it.
#[inline(never)]
fn leading_short(messages: &[&[u8]], short: usize) -> usize {
    let mut count = 0;
    for some in messages.chunks(16) {
        // No branch per message: a length never has its highest bit set, and a negative difference
        // does.
        let differences = |all, message: &&[u8]| all | short.wrapping_sub(message.len());
        if some.iter().fold(0, differences) > isize::MAX as usize {
            return count + some.iter().take_while(|message| message.len() <= short).count();
        }
        count += some.len();
    }
    count
}

/// Returns how many messages have the length of the first one.
#[inline(never)]
fn leading_alike(messages: &[&[u8]]) -> usize {
    let bytes = messages[0].len();
    messages.iter().take_while(|message| message.len() == bytes).count()
}

/// The number of messages that are checked at once.
const CHECKED: usize = 256;

/// See [`Mac::verify_many_with`].
pub(crate) fn verify_many<M: Construction + ?Sized>(
    mac: &M,
    nonces: &[M::Nonce],
    messages: &[&[u8]],
    tags: &[Tag],
    verdicts: &mut [Result<(), Mismatch>],
) -> Result<(), Mismatch> {
    let n = messages.len();
    assert!(
        nonces.len() == n && tags.len() == n && verdicts.len() == n,
        "a nonce, a tag and a verdict for each message"
    );
    verify_in_turns(
        tags,
        verdicts,
        |now, expected| tag_many(mac, &nonces[now.clone()], &messages[now], expected),
        |i, tag| construction::verify(mac, &nonces[i], messages[i].into(), tag),
    )
}

/// Checks tags in runs of `CHECKED`. `tag_many` computes the right tags of a range of messages, and
/// `verify` checks one tag.
pub(crate) fn verify_in_turns(
    tags: &[Tag],
    verdicts: &mut [Result<(), Mismatch>],
    tag_many: impl Fn(Range<usize>, &mut [Tag]) -> Result<(), BatchError>,
    verify: impl Fn(usize, &Tag) -> Result<(), Mismatch>,
) -> Result<(), Mismatch> {
    let mut all = Ok(());
    let mut expected = [Tag::default(); CHECKED];
    for start in (0..tags.len()).step_by(CHECKED) {
        let now = start..tags.len().min(start + CHECKED);
        let expected = &mut expected[..now.len()];
        let made = tag_many(now.clone(), expected);
        let now = write_verdicts(made, expected, &tags[now.clone()], &mut verdicts[now], |i| {
            verify(start + i, &tags[start + i])
        });
        all = all.and(now);
    }
    all
}

/// Writes the verdicts of `tags` and returns whether all are right. `expected` holds the right
/// tags. If a message was refused (`made`), some of them are missing, so each tag is checked
/// separately.
pub(crate) fn write_verdicts(
    made: Result<(), BatchError>,
    expected: &[Tag],
    tags: &[Tag],
    verdicts: &mut [Result<(), Mismatch>],
    alone: impl Fn(usize) -> Result<(), Mismatch>,
) -> Result<(), Mismatch> {
    if made.is_ok() {
        return compare(expected, tags, verdicts);
    }
    let mut all = Ok(());
    for (i, verdict) in verdicts.iter_mut().enumerate() {
        *verdict = alone(i);
        all = all.and(*verdict);
    }
    all
}

/// Writes whether each tag is the expected one, and returns whether all are. Not inlined, so that
/// its loop stays in registers.
#[inline(never)]
fn compare(
    expected: &[Tag],
    tags: &[Tag],
    verdicts: &mut [Result<(), Mismatch>],
) -> Result<(), Mismatch> {
    let mut all = Ok(());
    for (verdict, (expected, tag)) in verdicts.iter_mut().zip(expected.iter().zip(tags)) {
        *verdict = if expected == tag { Ok(()) } else { Err(Mismatch) };
        all = all.and(*verdict);
    }
    all
}

/// A message and its key, for [`tag_many_keys`].
pub struct Job<'a, M: Construction> {
    /// The key.
    pub mac: &'a M,
    /// The message's nonce; `()` for a deterministic MAC.
    pub nonce: M::Nonce,
    /// The message.
    pub message: &'a [u8],
}

// A derive would require `M: Copy`.
impl<M: Construction> Copy for Job<'_, M> {}

impl<M: Construction> Clone for Job<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Construction> fmt::Debug for Job<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job({} bytes)", self.message.len())
    }
}

/// The number of messages that are staged at once.
const SAME_KEY: usize = 64;

/// Tags many messages under many keys. Neighbours that refer to the same `mac` are tagged as
/// [`tag_many`](crate::PmacAes128::tag_many) tags them. For keys that are kept as bytes, see
/// [`RawKeys`].
///
/// ```
/// use tagmac::batch::{Job, tag_many_keys};
/// use tagmac::{PmacAes128, Tag};
/// let devices = [PmacAes128::new(&[1; 16]), PmacAes128::new(&[2; 16])];
/// let jobs = [0, 1, 1].map(|i| Job { mac: &devices[i], nonce: (), message: b"report" });
/// let mut tags = [Tag::default(); 3];
/// tag_many_keys(&jobs, &mut tags)?;
/// assert_eq!(tags[0], devices[0].tag(b"report")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`BatchError`] if a message is over the limit of its MAC's definition. The jobs before it have
/// their tags.
///
/// # Panics
///
/// If `tags` does not have one entry per job.
pub fn tag_many_keys<M: Construction>(
    jobs: &[Job<'_, M>],
    tags: &mut [Tag],
) -> Result<(), BatchError> {
    assert!(tags.len() == jobs.len(), "a tag for each job");
    let mut done = 0;
    while done < jobs.len() {
        let first = &jobs[done];
        let most = SAME_KEY.min(jobs.len() - done);
        let mut run = 1;
        while run < most && core::ptr::eq(jobs[done + run].mac, first.mac) {
            run += 1;
        }
        let now = &jobs[done..done + run];
        let tags = &mut tags[done..done + run];
        let refused = refused_at(done);
        if run < MIN_BATCH {
            for (index, (job, tag)) in now.iter().zip(tags).enumerate() {
                match construction::tag(job.mac, &job.nonce, job.message.into()) {
                    Ok(made) => *tag = made,
                    Err(error) => return Err(refused(BatchError { index, error })),
                }
            }
        } else {
            let (mut nonces, mut messages) = ([first.nonce; SAME_KEY], [first.message; SAME_KEY]);
            for (job, (nonce, message)) in now.iter().zip(nonces.iter_mut().zip(&mut messages)) {
                (*nonce, *message) = (job.nonce, job.message);
            }
            tag_many(first.mac, &nonces[..run], &messages[..run], tags).map_err(refused)?;
        }
        done += run;
    }
    Ok(())
}
