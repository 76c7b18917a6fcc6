//! Standard input and output, without the changes of Rust's runtime.
//!
//! The runtime opens /dev/null in place of a closed descriptor, reads an unreadable one as if it
//! were empty, and ignores writes to an unwritable one. A closed input would get the tag of the
//! empty message, and lost output would look like success. So this module records which descriptors
//! are closed before the runtime starts, and bypasses it to read and write.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec, fcntl_getfd, try_close};
use rustix::stdio;
use rustix::termios::tcgetwinsize;
use tagmac_files::faults;

/// A bit for each closed descriptor from 0 to 2.
static CLOSED: AtomicU8 = AtomicU8::new(0);

ctor::declarative::ctor! {
    // The runtime opens closed descriptors before `main`, so they must be recorded earlier. This
    // needs nothing of the runtime: three system calls and a store.
    #[ctor(unsafe)]
    fn note_what_is_closed() {
        let all = [stdio::stdin(), stdio::stdout(), stdio::stderr()];
        let closed = all.map(|fd| fcntl_getfd(fd) == Err(Errno::BADF));
        let bits = closed.iter().rev().fold(0, |bits, &closed| bits << 1 | closed as u8);
        CLOSED.store(bits, Ordering::Relaxed);
    }
}

/// True if standard output was written to since [`settle`].
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// Rejects a descriptor that was closed when the command started.
pub fn given(fd: i32) -> io::Result<()> {
    let closed = (0..3).contains(&fd) && CLOSED.load(Ordering::Relaxed) >> fd & 1 == 1;
    if closed { Err(Errno::BADF.into()) } else { Ok(()) }
}

/// Duplicates an open descriptor. Opening /dev/fd would fail for sockets, and without /proc.
pub fn open(fd: i32) -> io::Result<File> {
    given(fd)?;
    // SAFETY: no other thread runs yet, so nothing closes the descriptor during the one call that
    // borrows it. If it is not open, the call fails.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    fd.try_clone_to_owned().map(File::from)
}

/// Returns the file that standard output writes to.
pub fn output() -> io::Result<File> {
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

/// Returns the columns of the terminal on standard error; `None` if it does not report both numbers,
/// which indicatif needs.
pub fn columns() -> Option<u16> {
    let size = tcgetwinsize(stdio::stderr()).ok()?;
    Some(size.ws_col).filter(|columns| *columns > 0 && size.ws_row > 0)
}

/// Returns the shell with a command line.
pub fn shell(line: &OsStr) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(line);
    shell
}

/// Standard input, unbuffered.
pub struct Stdin;

impl Read for Stdin {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        given(0)?;
        Waiting(stdio::stdin()).read(out)
    }
}

/// Standard output, unbuffered.
pub struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        given(1)?;
        let written = waiting(stdio::stdout(), PollFlags::OUT, |fd| rustix::io::write(fd, bytes))?;
        WRITTEN.store(true, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard error, unbuffered. The runtime's loses what a non-blocking descriptor does not accept
/// at once.
pub struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        waiting(stdio::stderr(), PollFlags::OUT, |fd| rustix::io::write(fd, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An open descriptor on which reads wait, even if another process has set O_NONBLOCK. The flag
/// belongs to the open file, which processes share.
pub struct Waiting<Fd>(pub Fd);

impl<Fd: AsFd> Read for Waiting<Fd> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        waiting(&self.0, PollFlags::IN, |fd| rustix::io::read(fd, &mut *out))
    }
}

/// Makes a call, and repeats it after each wait for the descriptor.
fn waiting<Fd: AsFd, T>(
    fd: Fd,
    until: PollFlags,
    mut call: impl FnMut(&Fd) -> rustix::io::Result<T>,
) -> io::Result<T> {
    loop {
        match call(&fd) {
            Err(Errno::AGAIN) => match poll(&mut [PollFd::new(&fd, until)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            },
            done => return Ok(done?),
        }
    }
}

/// Returns an error if anything written to standard output is lost.
///
/// Some file systems, mostly network ones, report a full disk or a lost server only when a file is
/// closed. So this closes a duplicate of the descriptor.
pub fn settle() -> io::Result<()> {
    if !WRITTEN.swap(false, Ordering::Relaxed) {
        return Ok(());
    }
    loop {
        match close_a_copy() {
            // The interrupted close did happen, but without reporting whether data is lost.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            settled => return settled,
        }
    }
}

fn close_a_copy() -> io::Result<()> {
    let copy = fcntl_dupfd_cloexec(stdio::stdout(), 0)?.into_raw_fd();
    faults::before("close")?;
    // SAFETY: the duplicate was made here, has no other owner, and is not used again.
    Ok(unsafe { try_close(copy) }?)
}
