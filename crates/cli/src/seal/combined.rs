//! The report of `--combined`: a line for each entry, as rclone writes it.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::PathBuf;

use crate::error::{Error, Shown, why};
use crate::line::{self, End};
use crate::lines::Lines;
use crate::output::{self, Draft, Over};
use crate::seal::args::Audit;
use crate::walk::Spot;

/// What each line begins with.
const SYMBOLS: &[u8] = b"=*-+!";

/// Where the report goes.
pub enum Combined {
    /// There is none.
    Nowhere,
    /// Standard output, which has nothing else then.
    Output,
    /// A file, which appears when it is whole.
    File(BufWriter<Draft>, PathBuf),
}

impl Combined {
    /// As the command line says.
    pub fn new(args: &Audit) -> Result<Combined, Error> {
        let Some(path) = &args.combined else { return Ok(Combined::Nowhere) };
        if path.as_os_str() == "-" {
            if args.json {
                let what = "expected standard output to be free, found that it serves for --json";
                return Err(Error::usage(format_args!("--combined: {what}")));
            }
            return Ok(Combined::Output);
        }
        let over = Over::Kind("a report of --combined", is_report);
        let draft = Draft::new(path, output::PREFIX, 0o666, over);
        let draft = draft.map_err(|error| failed(path, &error))?;
        Ok(Combined::File(BufWriter::new(draft), path.clone()))
    }

    /// What is no part of the tree: the report, and the file until then.
    pub fn spots(&self) -> io::Result<Vec<Spot>> {
        match self {
            Combined::File(out, path) => {
                [path, out.get_ref().draft()].map(Spot::of).into_iter().collect()
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Whether standard output is taken.
    pub fn is_output(&self) -> bool {
        matches!(self, Combined::Output)
    }

    /// Adds a line.
    pub fn line(&mut self, symbol: u8, path: &[u8]) -> Result<(), Error> {
        if matches!(self, Combined::Nowhere) {
            return Ok(());
        }
        let mut text = Vec::with_capacity(path.len() + 4);
        let terminal = self.is_output() && output::is_terminal();
        let name = line::escaped(path, End::Newline, terminal, &mut text);
        text.extend_from_slice(&[symbol, b' ']);
        text.extend_from_slice(&name);
        text.push(b'\n');
        match self {
            Combined::File(out, path) => out.write_all(&text).map_err(|error| failed(path, &error)),
            _ => output::write(&text),
        }
    }

    /// Gives the report its name.
    pub fn finish(self) -> Result<(), Error> {
        let Combined::File(out, path) = self else { return Ok(()) };
        let draft = out.into_inner().map_err(io::IntoInnerError::into_error);
        draft.and_then(Draft::finish).map(drop).map_err(|error| failed(&path, &error))
    }
}

/// Whether every line of a file could be one of a report.
fn is_report(file: File) -> io::Result<bool> {
    let mut lines = Lines::new(BufReader::new(file), b'\n');
    while let Some(line) = lines.next()? {
        let line = line.bytes.map(|line| line.strip_prefix(b"\\").unwrap_or(line));
        let is_one = line.is_some_and(|line| match line {
            [symbol, b' ', _, ..] => SYMBOLS.contains(symbol),
            _ => false,
        });
        if !is_one {
            return Ok(false);
        }
    }
    Ok(true)
}

fn failed(path: &std::path::Path, error: &io::Error) -> Error {
    Error::io(format_args!("--combined: {}: {}", Shown::name(path), why(error)))
}
