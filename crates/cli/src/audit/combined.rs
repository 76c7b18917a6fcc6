//! The report of `--combined`: a line for each entry, in rclone's format.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use tagmac_files::Error;
use tagmac_files::atomic::AtomicFile;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;
use tagmac_files::exclusion::Exclusion;
use tagmac_files::line::{self, End};
use tagmac_files::overwrite::Overwrite;

use crate::args::AuditArgs;
use crate::output;

/// The destination of the report.
pub enum Combined {
    /// No report.
    Nowhere,
    /// Standard output, which then contains only the report.
    Output,
    /// A file, which appears when it is complete.
    File(BufWriter<AtomicFile>, PathBuf),
}

impl Combined {
    /// Returns the destination that the command line names.
    pub fn new(args: &AuditArgs) -> Result<Combined, Error> {
        let Some(path) = &args.combined else { return Ok(Combined::Nowhere) };
        if path.as_os_str() == "-" {
            if args.json {
                let what = "standard output is already used for --json";
                return Err(Error::usage(format_args!("--combined: {what}")));
            }
            return Ok(Combined::Output);
        }
        // An old report cannot be distinguished from a to-do list, so it is never overwritten.
        let over = Overwrite::Kind("an empty file", |_| Ok(false));
        let file = AtomicFile::new(path, 0o666, over);
        let file = file.map_err(|error| failed(path, &error))?;
        Ok(Combined::File(BufWriter::new(file), path.clone()))
    }

    /// Returns the files that do not belong to the tree: the report, and its temporary file.
    pub fn exclusions(&self) -> io::Result<Vec<Exclusion>> {
        match self {
            Combined::File(out, path) => {
                let draft = out.get_ref().draft().unwrap_or(path);
                [path, draft].map(Exclusion::new).into_iter().collect()
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Returns whether the report goes to standard output.
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

    /// Completes the report and gives it its name.
    pub fn finish(self) -> Result<(), Error> {
        let Combined::File(out, path) = self else { return Ok(()) };
        let file = out.into_inner().map_err(io::IntoInnerError::into_error);
        file.and_then(AtomicFile::finish).map(drop).map_err(|error| failed(&path, &error))
    }
}

fn failed(path: &std::path::Path, error: &io::Error) -> Error {
    Error::io(format_args!("--combined: {}: {}", Escaped::name(path), io_reason(error)))
}
