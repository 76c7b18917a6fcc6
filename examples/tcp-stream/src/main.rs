//! A TCP stream with a tag for each message, as the slides on Poly1305-AES describe it. The program
//! attacks it from between sender and receiver, and compares its speed with plain TCP and TLS.
//! Everything runs over sockets of this machine.
//!
//! ```console
//! $ cargo run --release -p tcp-stream
//! ```
//!
//! `stream.rs` is the part to copy. `attacker.rs` flips bits, drops, replays, reorders, inserts and
//! truncates, for each message in turn. The program exits with 1 if the receiver accepts anything
//! wrong. `goodput.rs` times the three transports in turn, and the last line names the fastest.

mod attacker;
mod goodput;
mod stream;
mod tls;

use std::process::ExitCode;

use goodput::{Result, Transport};
use stream::{MESSAGE_BYTES, TAG_BYTES};

const HELP: &str = "\
Sends an authenticated stream over TCP, attacks it, and compares its speed with plain TCP and TLS.

Usage: tcp-stream [--quick]

  --quick  times 16 MiB instead of 1 GiB, so the figures are not meaningful

Exit status: 0; 1 if the receiver accepted anything wrong or a socket failed; 2 for wrong usage.";

/// The number of measurements of each transport; the median counts.
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let messages = match &arguments[..] {
        [] => 65536,
        [one] if one == "--quick" => 1024,
        [one] if one == "--help" => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match run(messages) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tcp-stream: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(messages: u64) -> Result<()> {
    let attacks = attacker::attack_all()?;
    println!("{attacks} attacks: the receiver detected each, and accepted only earlier bytes\n");

    let transports = [
        ("plain TCP", Transport::Tcp, "nothing checked"),
        ("Poly1305-AES tags", Transport::Tags, "authenticated"),
        ("TLS 1.3, AES-128-GCM", Transport::Tls, "authenticated and encrypted"),
    ];
    let mut rounds = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (goodput, (_, transport, _)) in rounds.iter_mut().zip(transports) {
            goodput.push(transport.gigabytes_per_second(messages)?);
        }
    }
    println!(
        "{} MiB in messages of {} KiB over loopback, {ROUNDS} rounds in turns, GB/s:",
        messages * MESSAGE_BYTES as u64 / (1 << 20),
        MESSAGE_BYTES / 1024
    );
    println!("{:22} {:>6} {:>7} {:>7}", "", "median", "lowest", "highest");
    for (goodput, (name, _, what)) in rounds.iter_mut().zip(transports) {
        goodput.sort_by(f64::total_cmp);
        let (lowest, highest) = (goodput[0], goodput[ROUNDS - 1]);
        println!("{name:22} {:6.2} {lowest:7.2} {highest:7.2}  {what}", goodput[ROUNDS / 2]);
    }
    let [tcp, tags, tls] = &rounds;
    let ratio = tcp[ROUNDS / 2] / tags[ROUNDS / 2];
    println!("\nTags add {TAG_BYTES} bytes to a message, TLS {}.", tls::ADDED_BYTES);
    println!("Plain TCP is {ratio:.1} times as fast as tags. {}", verdict(tags, tls));
    Ok(())
}

/// Compares two sorted lists of rounds: one is faster only if all of its rounds are.
fn verdict(tags: &[f64], tls: &[f64]) -> String {
    let ratio = tags[ROUNDS / 2] / tls[ROUNDS / 2];
    if tags[0] > tls[ROUNDS - 1] {
        format!("Tags are {ratio:.1} times as fast as TLS, which also encrypts.")
    } else if tls[0] > tags[ROUNDS - 1] {
        format!("TLS is {:.1} times as fast as tags, and also encrypts.", 1.0 / ratio)
    } else {
        "The rounds of tags and TLS overlap; TLS also encrypts.".to_owned()
    }
}
