//! A sensor that sends its readings in datagrams of 12 bytes, with tags of LightMAC-PRESENT128, and
//! the server that checks them. Between them, over UDP on this machine, an attacker loses, alters,
//! shortens, extends, mixes, repeats and delays datagrams.
//!
//! ```console
//! $ cargo run --release -p tagmac-any --example sensor
//! ```
//!
//! It prints what the server accepted and why it refused the rest. It exits with 1 if the server
//! accepted anything but what the sensor sent, in that order and once.
//!
//! ```text
//! datagram:   counter, 2 bytes || temperature, 2 bytes || tag, 8 bytes
//! ```
//!
//! `Sensor` and `Server` are the parts to copy. The counter prevents replays; it proves the order
//! of readings and not their age. It has 16 bits, because 65,535 tags keep the probability of a
//! forgery below 2^-32: enough for a reading every ten minutes for 15 months. LightMAC needs no
//! nonce. If a sensor loses its counter, nothing leaks, but the server refuses its readings until
//! the counter exceeds the last one again.
//!
//! `Sensor` needs neither a heap nor an operating system. On a Cortex-M4, LightMAC-PRESENT128 needs
//! 10 KB of flash, and 2 KB of RAM for the keys. `examples/embedded` shows how to build a library
//! for it.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use tagmac::cipher::Present128;
use tagmac::{LightMac, Tag};
use tagmac_any::bounds::Theorem;
use tagmac_any::meter::{Budget, Metered, MeteredVerifyError, Usage};

/// Counter and temperature.
const READING_BYTES: usize = 4;
const TAG_BYTES: usize = 8;
const DATAGRAM_BYTES: usize = READING_BYTES + TAG_BYTES;

/// Bits of LightMAC's own counter of blocks, the fewest that whole bytes allow.
const S: usize = 8;

/// The two PRESENT keys that one sensor shares with the server. The manufacturer installs them.
type Key = [[u8; 16]; 2];

fn lightmac([k1, k2]: &Key) -> LightMac<Present128> {
    LightMac::new(k1, k2, S).expect("a counter of 8 bits fits blocks of 64")
}

struct Sensor {
    mac: LightMac<Present128>,
    /// The counter of the last datagram. A device keeps it in flash, and writes it before it sends.
    counter: u16,
}

impl Sensor {
    fn new(key: &Key) -> Sensor {
        Sensor { mac: lightmac(key), counter: 0 }
    }

    /// The next datagram, for a temperature in hundredths of a degree. `None` once the key is used
    /// up.
    fn datagram(&mut self, temperature: i16) -> Option<[u8; DATAGRAM_BYTES]> {
        self.counter = self.counter.checked_add(1)?;
        let mut datagram = [0; DATAGRAM_BYTES];
        datagram[..2].copy_from_slice(&self.counter.to_be_bytes());
        datagram[2..READING_BYTES].copy_from_slice(&temperature.to_be_bytes());
        let tag = self.mac.tag(&datagram[..READING_BYTES]).ok()?;
        datagram[READING_BYTES..].copy_from_slice(tag.as_bytes());
        Some(datagram)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reading {
    counter: u16,
    temperature: i16,
}

struct Server {
    /// Counts wrong tags, and stops before one could pass by chance.
    mac: Metered<LightMac<Present128>>,
    /// The counter of the last reading that was accepted; a server stores it.
    last: u16,
}

/// Why the server refuses a datagram.
#[derive(Debug)]
enum Refusal {
    Length,
    Tag(MeteredVerifyError),
    /// The counter is not above the last one: this datagram or a later one was accepted already.
    Late,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Length => f.write_str("not 12 bytes"),
            Refusal::Tag(error) => error.fmt(f),
            Refusal::Late => f.write_str("a counter that is not above the last"),
        }
    }
}

impl Server {
    fn new(key: &Key) -> Result<Server, Box<dyn Error>> {
        let theorem = Theorem::LightMac { n: 64, s: S as u32, t: 64 };
        let budget = Budget::new(theorem, READING_BYTES as u64, 2f64.powi(-32))?;
        let mac = Metered::new(lightmac(key), budget, Usage::default())?;
        Ok(Server { mac, last: 0 })
    }

    /// Accepts a datagram and returns its reading. The tag is checked before anything else is
    /// parsed.
    fn accept(&mut self, datagram: &[u8]) -> Result<Reading, Refusal> {
        let datagram: &[u8; DATAGRAM_BYTES] = datagram.try_into().map_err(|_| Refusal::Length)?;
        let (reading, tag) = datagram.split_at(READING_BYTES);
        let tag = Tag::try_from(tag).map_err(|_| Refusal::Length)?;
        self.mac.verify(reading, &tag).map_err(Refusal::Tag)?;
        let counter = u16::from_be_bytes([reading[0], reading[1]]);
        let temperature = i16::from_be_bytes([reading[2], reading[3]]);
        if counter <= self.last {
            return Err(Refusal::Late);
        }
        self.last = counter;
        Ok(Reading { counter, temperature })
    }
}

/// The readings sent and accepted, and the datagrams refused.
#[derive(Default)]
struct Report {
    sent: Vec<Reading>,
    accepted: Vec<Reading>,
    /// Number of refused datagrams by reason.
    refused: BTreeMap<String, usize>,
}

impl Report {
    fn add(&mut self, verdict: Result<Reading, Refusal>) {
        match verdict {
            Ok(reading) => self.accepted.push(reading),
            Err(refusal) => *self.refused.entry(refusal.to_string()).or_default() += 1,
        }
    }

    /// True if the server accepted only readings that the sensor sent, in that order and once each.
    fn is_right(&self) -> bool {
        let mut sent = self.sent.iter();
        self.accepted.iter().all(|accepted| sent.any(|reading| reading == accepted))
    }
}

/// The datagrams that the attacker delivers after seeing `seen`, where the last one is new.
fn attack(seen: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let Some((latest, earlier)) = seen.split_last() else { return Vec::new() };
    match earlier.len() % 3 {
        0 => {
            let mut arriving = forgeries(latest, earlier.last().unwrap_or(latest));
            arriving.push(latest.clone());
            arriving
        }
        1 => Vec::new(),
        // All datagrams so far, latest first.
        _ => seen.iter().rev().cloned().collect(),
    }
}

/// The datagram with each bit flipped, with each shorter length, with an extra byte, and with the
/// tag of the previous datagram.
fn forgeries(datagram: &[u8], before: &[u8]) -> Vec<Vec<u8>> {
    let flipped = (0..8 * datagram.len()).map(|bit| {
        let mut flipped = datagram.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    });
    let shorter = (0..datagram.len()).map(|length| datagram[..length].to_vec());
    let longer = [datagram, &[0]].concat();
    let mixed = [&datagram[..READING_BYTES], &before[READING_BYTES..]].concat();
    flipped.chain(shorter).chain([longer, mixed]).collect()
}

/// Two sockets on this machine; the first sends to the second.
fn link() -> io::Result<(UdpSocket, UdpSocket)> {
    let [from, to] = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)));
    let (from, to) = (from?, to?);
    from.connect(to.local_addr()?)?;
    to.connect(from.local_addr()?)?;
    // The datagram has arrived already. The limit matters only if the system drops it.
    to.set_read_timeout(Some(Duration::from_secs(10)))?;
    Ok((from, to))
}

/// Receives a datagram. If it is too long, one extra byte suffices to show it.
fn receive(socket: &UdpSocket) -> io::Result<Vec<u8>> {
    let mut datagram = vec![0; DATAGRAM_BYTES + 1];
    let length = socket.recv(&mut datagram)?;
    datagram.truncate(length);
    Ok(datagram)
}

fn run(readings: i16) -> Result<Report, Box<dyn Error>> {
    let mut key = Key::default();
    getrandom::fill(key.as_flattened_mut())?;
    let (mut sensor, mut server) = (Sensor::new(&key), Server::new(&key)?);
    let (sensor_socket, attacker_in) = link()?;
    let (attacker_out, server_socket) = link()?;

    let (mut report, mut seen) = (Report::default(), Vec::new());
    for number in 0..readings {
        let temperature = 2000 - 7 * number;
        sensor_socket.send(&sensor.datagram(temperature).ok_or("the key is used up")?)?;
        report.sent.push(Reading { counter: sensor.counter, temperature });

        seen.push(receive(&attacker_in)?);
        for datagram in attack(&seen) {
            attacker_out.send(&datagram)?;
            report.add(server.accept(&receive(&server_socket)?));
        }
    }
    Ok(report)
}

fn main() -> Result<(), Box<dyn Error>> {
    let report = run(300)?;
    println!("the sensor sent {} readings of {DATAGRAM_BYTES} bytes", report.sent.len());
    println!("the server accepted {}", report.accepted.len());
    for (reason, count) in &report.refused {
        println!("      and refused {count}: {reason}");
    }
    if report.is_right() { Ok(()) } else { Err("the server accepted what was not sent".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attack_is_refused() {
        let report = run(12).expect("sockets");
        assert!(report.is_right());
        // The attacker delivers two of three datagrams unchanged.
        let counters: Vec<_> = report.accepted.iter().map(|reading| reading.counter).collect();
        assert_eq!(counters, [1, 3, 4, 6, 7, 9, 10, 12]);
    }

    #[test]
    fn a_key_lasts_as_long_as_its_counter() {
        let server = Server::new(&Key::default()).expect("a server");
        assert!(server.mac.budget().messages >= u16::MAX.into());
        let mut sensor = Sensor { counter: u16::MAX - 1, ..Sensor::new(&Key::default()) };
        assert!(sensor.datagram(0).is_some());
        assert!(sensor.datagram(0).is_none());
    }
}
