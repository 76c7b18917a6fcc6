//! Streams as state machines: after any sequence of updates, forks, saves, restores on other levels
//! and joins of parts, the tag is that of the whole message on the portable level.

use tagmac_any::AnyStream;

use crate::input::{Input, pattern};
use crate::plant::Plant;
use crate::subject::any;

/// Length of the longest message in bytes.
const LONGEST: usize = 1500;

pub fn run(data: &[u8]) {
    let input = &mut Input::new(data);
    let subject = any(input.byte());
    let nonce = &*subject.nonce;
    let message = pattern(input.byte(), LONGEST);
    let begin = |level| subject.on(level).stream(nonce).expect("its nonce");
    // Each with its length.
    let mut streams: Vec<(AnyStream, usize)> = vec![(begin(input.byte()), 0)];
    for _ in 0..24 {
        if input.is_empty() {
            break;
        }
        let operation = input.byte();
        let place = usize::from(operation >> 3) % streams.len();
        let (stream, length) = &mut streams[place];
        match operation & 7 {
            0..=2 => {
                let most = if operation & 7 == 0 { 24 } else { 400 };
                let more = input.up_to(most).min(LONGEST - *length);
                stream.update(&message[*length..*length + more]);
                *length += more;
            }
            3 => {
                let second = (stream.fork(), *length);
                if streams.len() < 4 {
                    streams.push(second);
                } else {
                    streams[place] = second;
                }
            }
            4 => {
                let Ok(saved) = stream.save(&subject.sealer) else { continue };
                let level = subject.on(input.byte());
                let restored = level.restore(&subject.sealer, &saved).expect("it was saved");
                *stream = restored;
                if Plant::RestoredForgets.is_set() && *length % 16 == 15 {
                    *stream = begin(0);
                    stream.update(&message[..*length - 1]);
                }
            }
            5 => {
                let length = *length;
                let level = input.byte();
                let cuts = [input.short(), input.short()];
                join(subject, level, &message[..length], cuts);
            }
            _ => {
                let found = stream.fork().tag();
                let expected = subject.macs[0].tag(nonce, &message[..*length]);
                assert_eq!(found, expected, "{} of {length} bytes", subject.algorithm);
            }
        }
    }
    for (stream, length) in streams {
        let expected = subject.macs[0].tag(nonce, &message[..length]);
        assert_eq!(stream.tag(), expected, "{} of {length} bytes", subject.algorithm);
    }
}

/// Returns the tag from two parts and the rest.
fn join(subject: &crate::subject::Subject, level: u8, message: &[u8], cuts: [usize; 2]) {
    let mac = subject.on(level);
    let Some(parts) = mac.parts() else { return };
    let expected = mac.tag(&subject.nonce, message);
    if expected.is_err() {
        return;
    }
    let block = parts.block();
    let most = message.len().saturating_sub(parts.last_block_distinct().into()) / block;
    let [left, right] = cuts.map(|cut| cut % (most + 1) * block);
    let (left, right) = (left.min(right), left.max(right));
    let new = |start: usize, end: usize| {
        parts.new_part(start as u64, &message[start..end]).expect("whole blocks")
    };
    let second = new(left, right);
    parts.check(&second, &message[left..right]).expect("its own bytes");
    let whole = parts.join(new(0, left), &second).expect("neighbours");
    let found = parts.finish(whole, &subject.nonce, &message[right..]).expect("a whole");
    assert_eq!(Ok(found), expected, "{} of {} bytes", subject.algorithm, message.len());
}

pub fn seeds() -> Vec<Vec<u8>> {
    let seed = |choice: u8| {
        vec![choice, 1, choice, 1, 45, 0, 4, 2, 6, 3, 9, 100, 0, 5, 2, 3, 0, 9, 0, 14, 6, 1, 33, 1]
    };
    (0..crate::subject::count()).map(seed).collect()
}
