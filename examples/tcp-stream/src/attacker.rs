//! An attacker between sender and receiver, with a separate connection to each. It reads everything
//! that the sender sends, changes one message, and passes the result on.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;

use crate::stream::{Key, MESSAGE_BYTES, Receiver, Sender, TAG_BYTES, new_key};

/// An attack on one message.
#[derive(Clone, Copy, Debug)]
enum Attack {
    /// Flips a bit of the message.
    FlipMessage,
    /// Flips a bit of the tag.
    FlipTag,
    Drop,
    /// Sends the message twice.
    Replay,
    /// Sends the next message first.
    Reorder,
    /// Replaces the message with the one at the same place in an earlier connection.
    ReplayConnection,
    /// Appends a byte.
    Insert,
    /// Ends the connection before the message.
    End,
    /// Ends the connection in the middle of the message.
    EndWithin,
}

const ATTACKS: [Attack; 9] = [
    Attack::FlipMessage,
    Attack::FlipTag,
    Attack::Drop,
    Attack::Replay,
    Attack::Reorder,
    Attack::ReplayConnection,
    Attack::Insert,
    Attack::End,
    Attack::EndWithin,
];

/// The lengths of the streams to attack: the last message is empty, the only one, short, or almost
/// full.
const STREAMS: [usize; 4] = [3 * MESSAGE_BYTES, 0, 3 * MESSAGE_BYTES + 1000, 4 * MESSAGE_BYTES - 1];

/// Attacks each message of some streams in every way. Returns the number of attacks; an error if
/// the receiver missed one or accepted a byte that was not sent.
pub fn attack_all() -> io::Result<usize> {
    let mut attacks = 0;
    for bytes in STREAMS {
        let data = random(bytes)?;
        let key = new_key()?;
        let received = receive_through(&key, &data, |wire| Some(wire.to_vec()))?;
        expect(matches!(received, Some((None, all)) if all == data), "the stream as it was sent")?;

        let old = on_the_wire(&new_key()?, &random(bytes)?)?;
        let messages = bytes / MESSAGE_BYTES + 1;
        expect(old.len() == bytes + messages * TAG_BYTES, "not a byte added but the tags")?;
        for (target, attack) in (0..messages).flat_map(|at| ATTACKS.map(|attack| (at, attack))) {
            let key = new_key()?;
            let change = |wire: &[u8]| attack.apply(wire, &old, target);
            let Some((error, accepted)) = receive_through(&key, &data, change)? else { continue };
            let what = format!("an error from {attack:?} of message {target} of {messages}");
            // The receiver itself must detect it; an error of the socket does not count.
            let seen = error.is_some_and(|error| {
                matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
            });
            expect(seen, &what)?;
            let what = format!("only bytes that were sent from {attack:?} of message {target}");
            let before = target * MESSAGE_BYTES;
            expect(accepted.len() >= before && data.starts_with(&accepted), &what)?;
            attacks += 1;
        }
    }
    Ok(attacks)
}

impl Attack {
    /// Applies the attack to the message `target` of `wire`. `old` is the data of an earlier
    /// connection. `None` if the attack does not apply to that message.
    fn apply(self, wire: &[u8], old: &[u8], target: usize) -> Option<Vec<u8>> {
        let mut messages: Vec<_> = split(wire).map(<[u8]>::to_vec).collect();
        let message = &mut messages[target];
        let bytes = message.len() - TAG_BYTES;
        match self {
            Attack::FlipMessage => *message[..bytes].get_mut(bytes / 2)? ^= 1,
            Attack::FlipTag => message[bytes] ^= 1,
            Attack::Drop => drop(messages.remove(target)),
            Attack::Replay => {
                let copy = message.clone();
                messages.insert(target, copy);
            }
            Attack::Reorder => {
                messages.get(target + 1)?;
                messages.swap(target, target + 1);
            }
            Attack::ReplayConnection => *message = split(old).nth(target)?.to_vec(),
            Attack::Insert => message.push(0),
            Attack::End => messages.truncate(target),
            Attack::EndWithin => {
                message.truncate(bytes / 2);
                messages.truncate(target + 1);
            }
        }
        Some(messages.concat())
    }
}

/// Splits a stream into messages with their tags.
fn split(wire: &[u8]) -> impl Iterator<Item = &[u8]> {
    wire.chunks(MESSAGE_BYTES + TAG_BYTES)
}

/// Returns the bytes that a sender writes for `data`.
fn on_the_wire(key: &Key, data: &[u8]) -> io::Result<Vec<u8>> {
    let mut wire = Vec::new();
    send(key, data, &mut wire)?;
    Ok(wire)
}

fn send(key: &Key, data: &[u8], socket: impl Write) -> io::Result<()> {
    let mut sender = Sender::new(socket, key);
    sender.write_all(data)?;
    sender.finish()
}

/// The error that ended a stream, if any, and the bytes accepted until then.
type Received = (Option<io::Error>, Vec<u8>);

/// Sends `data` through an attacker, who applies `change`. `None` if `change` returns `None`.
fn receive_through(
    key: &Key,
    data: &[u8],
    change: impl Fn(&[u8]) -> Option<Vec<u8>>,
) -> io::Result<Option<Received>> {
    let attacker = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let receiver = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let (to_attacker, to_receiver) = (attacker.local_addr()?, receiver.local_addr()?);
    thread::scope(|threads| {
        let sending = threads.spawn(move || send(key, data, TcpStream::connect(to_attacker)?));
        let mut wire = Vec::new();
        attacker.accept()?.0.read_to_end(&mut wire)?;
        sending.join().expect("the sender does not panic")?;
        let Some(changed) = change(&wire) else { return Ok(None) };

        let receiving = threads.spawn(move || Ok(receive_all(key, receiver.accept()?.0)));
        // Fails if the receiver has already detected the attack and closed the connection.
        let _ = TcpStream::connect(to_receiver)?.write_all(&changed);
        receiving.join().expect("the receiver does not panic").map(Some)
    })
}

fn receive_all(key: &Key, socket: TcpStream) -> Received {
    let mut receiver = Receiver::new(socket, key);
    let mut accepted = Vec::new();
    loop {
        match receiver.receive() {
            Ok(Some(message)) => accepted.extend_from_slice(message),
            Ok(None) => return (None, accepted),
            Err(error) => return (Some(error), accepted),
        }
    }
}

fn random(bytes: usize) -> io::Result<Vec<u8>> {
    let mut data = vec![0; bytes];
    getrandom::fill(&mut data).map_err(io::Error::other)?;
    Ok(data)
}

fn expect(holds: bool, expected: &str) -> io::Result<()> {
    if holds { Ok(()) } else { Err(io::Error::other(format!("expected {expected}"))) }
}
