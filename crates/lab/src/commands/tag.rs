//! `tagmac-lab tag`.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use tagmac::isa::Level;
use tagmac_lab::comparators::{COMPARATORS, find};
use tagmac_lab::unknown;

/// Print the tag of a file in hex.
#[derive(Args)]
pub struct Tag {
    /// A name of `tagmac-lab list`
    name: String,
    /// The keys in hex, in order, with `+` between them. Not for secrets: all users of the machine
    /// can read arguments
    #[arg(long, value_name = "HEX[+HEX...]")]
    keys: String,
    /// The nonce in hex, for a MAC that needs one
    #[arg(long, value_name = "HEX")]
    nonce: Option<String>,
    /// The message; `-` is standard input
    file: PathBuf,
}

impl Tag {
    pub fn run(&self) -> super::Exit {
        let Some(comparator) = find(&self.name) else {
            return Err(unknown("name", &self.name, COMPARATORS.iter().map(|one| one.name)).into());
        };
        let keys = self.keys.split('+').map(|key| bytes("--keys", key));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let nonce = bytes("--nonce", self.nonce.as_deref().unwrap_or_default())?;
        let named = |error| format!("{} ({}): {error}", comparator.name, comparator.status);
        let keyed = comparator.with_keys(&keys, Level::best()).map_err(named)?;
        println!("{}", keyed.tag(&nonce, &self.message()?).map_err(named)?);
        Ok(ExitCode::SUCCESS)
    }

    fn message(&self) -> Result<Vec<u8>, String> {
        let mut message = Vec::new();
        let read = if self.file.as_os_str() == "-" {
            io::stdin().read_to_end(&mut message)
        } else {
            File::open(&self.file).and_then(|mut file| file.read_to_end(&mut message))
        };
        read.map(|_| message).map_err(|error| format!("{}: {error}", self.file.display()))
    }
}

fn bytes(option: &str, hex: &str) -> Result<Vec<u8>, String> {
    if let Some(wrong) = hex.chars().find(|c| !c.is_ascii_hexdigit()) {
        return Err(format!("{option}: expected hex digits, found {wrong:?}"));
    }
    if !hex.len().is_multiple_of(2) {
        let found = hex.len();
        return Err(format!("{option}: expected an even number of hex digits, found {found}"));
    }
    let digit = |digit: u8| char::from(digit).to_digit(16).expect("a hex digit") as u8;
    Ok(hex.as_bytes().as_chunks().0.iter().map(|&[a, b]| digit(a) << 4 | digit(b)).collect())
}
