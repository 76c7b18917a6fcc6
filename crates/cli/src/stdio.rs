//! Standard input and output as the command was given them.
//!
//! Rust's runtime opens /dev/null in place of one that was closed, reads one that cannot be read as
//! if it were empty, and writes to one that cannot be written as if it took all. Then the tag of
//! nothing would pass for that of an input, and output that nobody gets would pass for told. So
//! what was closed is noted before the runtime starts, and reads and writes go past it.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, IntoRawFd};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec, fcntl_getfd, try_close};
use rustix::stdio;
use tagmac_files::faults;

/// A bit for each of the descriptors 0 to 2 that was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

ctor::declarative::ctor! {
    // The runtime opens what is closed before `main`, so it can only be seen before that. Nothing
    // here needs the runtime: three system calls and a store.
    #[ctor(unsafe)]
    fn note_what_is_closed() {
        let all = [stdio::stdin(), stdio::stdout(), stdio::stderr()];
        let closed = all.map(|fd| fcntl_getfd(fd) == Err(Errno::BADF));
        let bits = closed.iter().rev().fold(0, |bits, &closed| bits << 1 | closed as u8);
        CLOSED.store(bits, Ordering::Relaxed);
    }
}

/// Whether standard output has taken anything since it was settled.
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// Refuses a descriptor that the command was not given.
pub fn given(fd: i32) -> io::Result<()> {
    let closed = (0..3).contains(&fd) && CLOSED.load(Ordering::Relaxed) >> fd & 1 == 1;
    if closed { Err(Errno::BADF.into()) } else { Ok(()) }
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

/// Standard error, unbuffered. The runtime's loses what does not fit at once.
pub struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        waiting(stdio::stderr(), PollFlags::OUT, |fd| rustix::io::write(fd, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An open descriptor. What is read from it is waited for, whatever its other users have set: with
/// O_NONBLOCK, which a descriptor keeps from one process to the next, reads fail that have to wait.
pub struct Waiting<Fd>(pub Fd);

impl<Fd: AsFd> Read for Waiting<Fd> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        waiting(&self.0, PollFlags::IN, |fd| rustix::io::read(fd, &mut *out))
    }
}

/// Makes a call, once more whenever it would have had to wait.
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

/// Whether all that standard output has taken is where it goes. Some file systems, most of them of a
/// network, have no room, or no server any more, and say so when a file is closed: a copy of the
/// descriptor is.
pub fn settle() -> io::Result<()> {
    if !WRITTEN.swap(false, Ordering::Relaxed) {
        return Ok(());
    }
    loop {
        match close_a_copy() {
            // What was interrupted is closed all the same, and whether anything is lost is not told.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            settled => return settled,
        }
    }
}

fn close_a_copy() -> io::Result<()> {
    let copy = fcntl_dupfd_cloexec(stdio::stdout(), 0)?.into_raw_fd();
    faults::before("close")?;
    // SAFETY: the copy was made here, nobody else has it, and it is not used again.
    Ok(unsafe { try_close(copy) }?)
}
