//! A film of frames with UMAC-128 tags, checked in two steps: the first 4 bytes of a tag
//! immediately, the whole tag when there is time (graded verification, section 9 of the UMAC
//! paper).
//!
//! ```console
//! $ cargo run --release -p tagmac --example graded
//! ```
//!
//! A tag of UMAC-128 consists of four 32-bit tags, each from a separate hash. A forgery passes the
//! first with a probability of 2^-30, and all four with 2^-120. A player can therefore show a frame
//! after the first check, and rely on it after the second. The first check is a quarter of the
//! work. On an Ice Lake it takes 30 % of the time for a frame in L2, and 55 % for one outside it.
//!
//! The program sends a film three times: unchanged, with a guessed tag on a forged frame, and with
//! a lucky guess that starts with the right bytes. One guess in 2^30 is that lucky. The first check
//! rejects the first guess, and the second check rejects the lucky one. The film ends there,
//! because somebody who passed the first check once has learned something about its hash. Finally
//! the program prints the cost of both checks. It exits with 1 if a forged frame was confirmed, or
//! if an earlier genuine frame was not.
//!
//! `Receiver` and `play` are the parts to copy.

use std::collections::VecDeque;
use std::error::Error;
use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::Instant;

use tagmac::{Assurance, Mac, Mismatch, NonceSequence, Tag, Umac128, UmacNonce};

/// The maximum number of frames that wait for the second check. A sender cannot make us keep more.
const MAX_WAITING: usize = 64;

/// A frame has no nonce: the nonce is its number, which both sides count.
#[derive(Clone)]
struct Frame {
    data: Vec<u8>,
    tag: Tag,
}

/// The check that a frame failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failed {
    First,
    Second,
}

struct Receiver {
    mac: Umac128,
    /// The number of frames that passed the first check, which is also the number of the next
    /// frame.
    shown: u64,
    /// The shown frames that still need the second check.
    waiting: VecDeque<Frame>,
}

impl Receiver {
    fn new(key: &[u8; 16]) -> Receiver {
        Receiver { mac: Umac128::new(key), shown: 0, waiting: VecDeque::new() }
    }

    /// Runs the first check. If it passes, the frame may be shown. The first failure ends the film:
    /// with more answers, a forger could guess the tag word by word, see `Umac128::verify_prefix`.
    fn show(&mut self, frame: Frame) -> Result<(), Failed> {
        let nonce = UmacNonce::from(self.shown);
        let check = self.mac.verify_prefix(&nonce, &frame.data, &frame.tag, Assurance::Bits30);
        check.map_err(|Mismatch| Failed::First)?;
        self.shown += 1;
        self.waiting.push_back(frame);
        Ok(())
    }

    /// Runs the second check on the oldest waiting frame, which is then genuine. Returns `None` if
    /// no frame waits.
    fn confirm(&mut self) -> Result<Option<Frame>, Failed> {
        let nonce = UmacNonce::from(self.shown - self.waiting.len() as u64);
        let Some(frame) = self.waiting.pop_front() else { return Ok(None) };
        let check = self.mac.verify_with(&nonce, &frame.data, &frame.tag);
        check.map_err(|Mismatch| Failed::Second)?;
        Ok(Some(frame))
    }
}

/// Shows frames as they arrive. Confirms frames while none arrives or when too many wait.
fn play(
    arriving: mpsc::Receiver<Frame>,
    mut receiver: Receiver,
    confirmed: &mut Vec<Frame>,
) -> Result<(), Failed> {
    let shown = loop {
        let next = match receiver.waiting.len() {
            0 => arriving.recv().map_err(|_| TryRecvError::Disconnected),
            MAX_WAITING => Err(TryRecvError::Empty),
            _ => arriving.try_recv(),
        };
        match next {
            Ok(frame) => match receiver.show(frame) {
                Ok(()) => {}
                failed => break failed,
            },
            Err(TryRecvError::Empty) => confirmed.extend(receiver.confirm()?),
            Err(TryRecvError::Disconnected) => break Ok(()),
        }
    };
    while let Some(frame) = receiver.confirm()? {
        confirmed.push(frame);
    }
    shown
}

const FRAMES: usize = 200;
const FRAME_BYTES: usize = 16 << 10;
/// The number of the forged frame.
const FORGED: usize = 100;

/// The frames of the sender.
fn film(key: &[u8; 16]) -> Result<Vec<Frame>, tagmac::Error> {
    let mac = Umac128::new(key);
    let mut sequence = NonceSequence::new(&mac, 8)?;
    let frame = |number| {
        let data = vec![number as u8; FRAME_BYTES];
        let (_, tag) = sequence.tag(&data)?;
        Ok(Frame { data, tag })
    };
    (0..FRAMES).map(frame).collect()
}

/// Changes frame [`FORGED`] and gives it a tag that starts with the first `lucky` bytes of the
/// right one. An attacker has no key: here the key simulates one lucky guess in 2^30.
fn forge(frame: &Frame, lucky: usize, key: &[u8; 16]) -> Result<Frame, tagmac::Error> {
    let mut data = frame.data.clone();
    data[0] ^= 1;
    let right = Umac128::new(key).tag_with(&UmacNonce::from(FORGED as u64), &data)?;
    let mut tag: Vec<u8> = right.as_bytes().iter().map(|byte| byte ^ 1).collect();
    tag[..lucky].copy_from_slice(&right.as_bytes()[..lucky]);
    Ok(Frame { data, tag: Tag::try_from(&tag[..])? })
}

/// Sends frames to a receiver. Returns how the film ended, or an error if the receiver confirmed
/// anything but the first `genuine` frames.
fn send(key: &[u8; 16], sent: &[Frame], genuine: usize) -> Result<Result<(), Failed>, String> {
    let (to, arriving) = mpsc::sync_channel(8);
    let mut confirmed = Vec::new();
    let end = thread::scope(|threads| {
        // `send` fails once the receiver has hung up.
        threads.spawn(move || sent.iter().try_for_each(|frame| to.send(frame.clone())));
        play(arriving, Receiver::new(key), &mut confirmed)
    });
    let is_same = |(one, other): (&Frame, &Frame)| one.data == other.data;
    if confirmed.len() != genuine || !confirmed.iter().zip(sent).all(is_same) {
        return Err(format!("expected the first {genuine} frames, the receiver confirmed others"));
    }
    Ok(end)
}

/// Returns how the film ends for each attack: none, a guessed tag, and a lucky one.
fn attacks(key: &[u8; 16]) -> Result<[Result<(), Failed>; 3], Box<dyn Error>> {
    let film = film(key)?;
    let forged = |lucky| -> Result<_, Box<dyn Error>> {
        let mut film = film.clone();
        film[FORGED] = forge(&film[FORGED], lucky, key)?;
        Ok(send(key, &film, FORGED)?)
    };
    Ok([send(key, &film, FRAMES)?, forged(0)?, forged(4)?])
}

/// Measures the first and the second check of a cached frame, in microseconds. Returns medians of
/// alternating rounds.
fn microseconds(key: &[u8; 16]) -> Result<[f64; 2], Box<dyn Error>> {
    const ROUNDS: usize = 15;
    const FRAMES: usize = 16;
    let (mac, film) = (Umac128::new(key), film(key)?);
    let mut rounds = [[0.0; ROUNDS]; 2];
    for round in 0..ROUNDS {
        for (times, grade) in rounds.iter_mut().zip([Assurance::Bits30, Assurance::Bits120]) {
            let start = Instant::now();
            for (number, Frame { data, tag }) in film[..FRAMES].iter().enumerate() {
                mac.verify_prefix(&UmacNonce::from(number as u64), data, tag, grade)?;
            }
            times[round] = start.elapsed().as_secs_f64() * 1e6 / FRAMES as f64;
        }
    }
    Ok(rounds.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    }))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut key = [0; 16];
    getrandom::fill(&mut key)?;
    let names = ["as it was sent", "with a guessed tag", "with a lucky tag"];
    for (name, end) in names.iter().zip(attacks(&key)?) {
        let end = match end {
            Ok(()) => "all frames confirmed",
            Err(Failed::First) => "the first check refuses the forged frame",
            Err(Failed::Second) => "the second check refuses the forged frame",
        };
        println!("the film {name}: {end}");
    }
    let [first, second] = microseconds(&key)?;
    println!("\na frame of {FRAME_BYTES} bytes, on one core:");
    for (name, time) in [("first check", first), ("second check", second)] {
        println!(
            "  {name:12} {time:6.2} microseconds, {:5.1} GB/s",
            FRAME_BYTES as f64 / time / 1e3
        );
    }
    println!("The first takes {:.0} % of the second.", 100.0 * first / second);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_check_finds_what_passed_the_first() {
        let ends = attacks(&[7; 16]).expect("only genuine frames confirmed");
        assert_eq!(ends, [Ok(()), Err(Failed::First), Err(Failed::Second)]);
    }
}
