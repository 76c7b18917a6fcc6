//! Google Tink's seekable streaming AEAD, in the Java program bench/tink/Reads.java.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::failure::Failure;

/// The variable with Tink's class path.
pub const CLASSPATH: &str = "TINK_CLASSPATH";

/// The program, which reads an encrypted copy of a file.
pub struct Tink {
    child: Child,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
    /// The processor time of the rounds so far.
    served: Cell<Duration>,
}

impl Tink {
    /// Starts the program, which makes `reads` reads in a round. `None` without a class path.
    pub fn start(file: &Path, copy: &Path, reads: usize) -> Result<Option<Tink>, Failure> {
        let Some(classpath) = std::env::var_os(CLASSPATH) else { return Ok(None) };
        // Compiled code replaces interpreted code during the warm rounds, also on a busy machine.
        let mut child = Command::new("java")
            .args(["-Xbatch", "-cp"])
            .arg(classpath)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tink/Reads.java"))
            .args([file, copy])
            .arg(reads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let tink =
            Tink { child, pipes: RefCell::new((input, output)), served: Cell::new(Duration::ZERO) };
        match tink.line()?.as_str() {
            "ready" => Ok(Some(tink)),
            line => Err(format!("Reads.java: expected 'ready', found '{line}'").into()),
        }
    }

    /// Makes the reads of a round.
    pub fn round(&self, seed: u64) -> Result<(), Failure> {
        writeln!(self.pipes.borrow_mut().0, "{seed}")?;
        let nanos = self.line()?.parse()?;
        self.served.set(self.served.get() + Duration::from_nanos(nanos));
        Ok(())
    }

    /// Returns the processor time of the thread that reads, in all rounds so far.
    pub fn served(&self) -> Duration {
        self.served.get()
    }

    fn line(&self) -> Result<String, Failure> {
        let mut line = String::new();
        self.pipes.borrow_mut().1.read_line(&mut line)?;
        Ok(line.trim_end().into())
    }
}

impl Drop for Tink {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
