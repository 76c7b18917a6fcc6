//! Prints the transcript on each level of this CPU: `transcript ROUNDS` prints a line `LEVEL
//! DIGEST` for each. `assure/transcript.py` compares them with those of other CPUs.

use std::process::ExitCode;

use assure::transcript::{Planted, transcript};
use tagmac::isa::Level;

fn main() -> ExitCode {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok());
    let Some(rounds) = rounds else {
        eprintln!("usage: transcript ROUNDS");
        return ExitCode::from(2);
    };
    for level in Level::all() {
        println!("{level} {:016x}", transcript(level, rounds, Planted::Nothing));
    }
    ExitCode::SUCCESS
}
