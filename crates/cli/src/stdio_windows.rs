//! Standard input and output on Windows, by Rust's runtime. It does not tell a closed handle from an
//! empty file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::windows::io::AsHandle;
use std::os::windows::process::CommandExt;
use std::process::Command;

use tagmac_files::faults;

/// Accepts every descriptor.
pub fn given(_: i32) -> io::Result<()> {
    Ok(())
}

/// Returns standard input, the only descriptor that programs inherit by number.
pub fn open(fd: i32) -> io::Result<File> {
    if fd != 0 {
        let what = "only 0 is possible on Windows: standard input";
        return Err(io::Error::new(io::ErrorKind::Unsupported, what));
    }
    io::stdin().as_handle().try_clone_to_owned().map(File::from)
}

/// Returns the file that standard output writes to.
pub fn output() -> io::Result<File> {
    io::stdout().as_handle().try_clone_to_owned().map(File::from)
}

/// Returns `None`: lines have the default width.
pub fn columns() -> Option<u16> {
    None
}

/// Returns the shell with a command line.
pub fn shell(line: &OsStr) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").raw_arg(line);
    shell
}

/// Standard input.
pub struct Stdin;

impl Read for Stdin {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        io::stdin().read(out)
    }
}

/// Standard output.
pub struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// Standard error.
pub struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stderr().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// An open file. Reads wait anyway.
pub struct Waiting<F>(pub F);

impl<F: Read> Read for Waiting<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

/// Returns an error if anything written to standard output is lost.
pub fn settle() -> io::Result<()> {
    faults::before("close")?;
    io::stdout().flush()
}
