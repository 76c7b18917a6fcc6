//! `file_digest`: files and file objects.
//!
//! A regular file that is given by its path is cut into pieces. Each thread takes the next piece
//! that nobody has, reads it in steps that stay in its core's second cache, and makes a part of it.
//! The parts are joined in order. All else is streamed through `readinto`, in order.
//!
//! The calling thread works like the others. Between pieces it looks after signals, so that Ctrl-C
//! works, and calls `progress`. An exception from either stops all threads.

use std::time::{Duration, Instant};

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBlockingIOError, PyOSError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use tagmac::Tag;
use tagmac::dynamic::AnyMac;

use crate::error::refused;
use crate::key::mac_of;
use crate::nonce::nonce_of;

/// Bytes of a step, nearly.
const STEP: usize = 128 << 10;
/// The time between two calls of `progress`.
const REST: Duration = Duration::from_millis(50);

/// The tag of a file.
///
/// file is a path, which is read by that many threads (0: as many as there are cores), or a binary
/// file object, which is read in order from where it stands. progress is called with the bytes done
/// and the bytes of the file, or None if they are not known: first, last, and now and then. An
/// exception that it raises stops the work and comes out.
#[pyfunction]
#[pyo3(signature = (file, key, alg=None, *, nonce=None, tag_bits=None, threads=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python's callers name them")]
pub fn file_digest<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    key: &Bound<'py, PyAny>,
    alg: Option<&str>,
    nonce: Option<&Bound<'py, PyAny>>,
    tag_bits: Option<usize>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mac = mac_of(key, alg, tag_bits)?;
    let nonce = nonce_of(mac.algorithm(), nonce)?;
    mac.algorithm().check_nonce(nonce.len()).map_err(refused)?;
    let progress = Progress { call: progress, total: None, last: Instant::now() };
    let job = Job { mac: &mac, nonce: &nonce, threads, progress };
    let tag =
        if file.hasattr(intern!(py, "readinto"))? { job.stream(file) } else { job.open(file) };
    Ok(PyBytes::new(py, tag?.as_bytes()))
}

struct Job<'a> {
    mac: &'a AnyMac,
    nonce: &'a [u8],
    #[cfg_attr(not(unix), expect(dead_code))]
    threads: usize,
    progress: Progress,
}

impl Job<'_> {
    /// The tag of the file of a path. Python opens it, so that its errors are Python's.
    fn open(self, path: &Bound<'_, PyAny>) -> PyResult<Tag> {
        let py = path.py();
        let path = py.import(intern!(py, "os"))?.call_method1(intern!(py, "fspath"), (path,))?;
        let open = py.import(intern!(py, "io"))?.getattr(intern!(py, "open"))?;
        let file = open.call1((path, "rb", 0))?;
        let tag = self.read(&file);
        file.call_method0(intern!(py, "close"))?;
        tag
    }

    #[cfg(unix)]
    fn read(mut self, file: &Bound<'_, PyAny>) -> PyResult<Tag> {
        let regular = parts::regular(file)?;
        self.progress.total = regular.as_ref().map(|(_, size)| *size);
        match (&regular, self.mac.parts()) {
            (Some((regular, size)), Some(parts)) => {
                parts::tag(file.py(), self, parts, regular, *size)
            }
            _ => self.stream(file),
        }
    }

    #[cfg(not(unix))]
    fn read(self, file: &Bound<'_, PyAny>) -> PyResult<Tag> {
        self.stream(file)
    }

    /// Reads a file object to its end.
    fn stream(mut self, file: &Bound<'_, PyAny>) -> PyResult<Tag> {
        let py = file.py();
        let mut stream = self.mac.stream(self.nonce).map_err(refused)?;
        let buffer = PyByteArray::new_with(py, 2 * STEP, |_| Ok(()))?;
        // While there is a view, the buffer's length does not change.
        let view = PyUntypedBuffer::get(&buffer)?;
        let mut done = 0;
        self.progress.tell(py, done)?;
        loop {
            let read = file.call_method1(intern!(py, "readinto"), (&buffer,))?;
            let read: Option<usize> = read.extract()?;
            let Some(read) = read else {
                let line = "expected a file that waits for its bytes, found one that does not";
                return Err(PyBlockingIOError::new_err(line));
            };
            if read > view.len_bytes() {
                let line = format!("expected at most {} bytes, found {read}", view.len_bytes());
                return Err(PyValueError::new_err(line));
            }
            if read == 0 {
                break;
            }
            // SAFETY: the view keeps the buffer's bytes in place.
            let bytes = unsafe { std::slice::from_raw_parts(view.buf_ptr() as *const u8, read) };
            py.detach(|| stream.update(bytes));
            done += read as u64;
            self.progress.now_and_then(py, done)?;
        }
        if let Some(size) = self.progress.total.filter(|size| *size != done) {
            return Err(changed(size, done));
        }
        self.progress.tell(py, done)?;
        stream.tag().map_err(refused)
    }
}

/// What is called while the work goes on.
struct Progress {
    call: Option<Py<PyAny>>,
    total: Option<u64>,
    last: Instant,
}

impl Progress {
    fn tell(&mut self, py: Python<'_>, done: u64) -> PyResult<()> {
        py.check_signals()?;
        if let Some(call) = &self.call {
            call.call1(py, (done, self.total))?;
        }
        self.last = Instant::now();
        Ok(())
    }

    fn due(&self) -> bool {
        self.last.elapsed() >= REST
    }

    fn now_and_then(&mut self, py: Python<'_>, done: u64) -> PyResult<()> {
        py.check_signals()?;
        if self.due() { self.tell(py, done) } else { Ok(()) }
    }
}

fn changed(before: u64, after: u64) -> PyErr {
    PyOSError::new_err(format!(
        "expected {before} bytes, found {after}: the file changed while it was read"
    ))
}

/// One file on several threads.
#[cfg(unix)]
mod parts {
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io;
    use std::num::NonZero;
    use std::os::fd::BorrowedFd;
    use std::os::unix::fs::FileExt;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use pyo3::intern;
    use pyo3::prelude::*;
    use tagmac::Tag;
    use tagmac::dynamic::{AnyPart, Parts};

    use super::{Job, Progress, STEP, changed};
    use crate::error::refused;

    /// A piece is so many steps: the disk sees long reads, and threads meet seldom.
    const STEPS: usize = 4;
    /// A file gets a thread for each of these, so that a small file starts none.
    const PER_THREAD: u64 = 1 << 20;

    /// The file of a file object and its size, if it is a regular file that is not empty. Files
    /// of /proc say that they are empty.
    pub fn regular(file: &Bound<'_, PyAny>) -> PyResult<Option<(File, u64)>> {
        let number = file.call_method0(intern!(file.py(), "fileno"))?.extract()?;
        // SAFETY: the file object is open, and lends its number for this call alone.
        let own = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned()?;
        let own = File::from(own);
        let about = own.metadata()?;
        Ok((about.is_file() && about.len() > 0).then_some((own, about.len())))
    }

    /// The tag of a file of `size` bytes, at least one.
    pub fn tag(
        py: Python<'_>,
        job: Job<'_>,
        parts: Parts<'_>,
        file: &File,
        size: u64,
    ) -> PyResult<Tag> {
        let Job { nonce, threads, mut progress, .. } = job;
        let step = STEP / parts.block() * parts.block();
        let piece = (STEPS * step) as u64;
        // At least one byte is left: some MACs treat the last block apart.
        let pieces = (size - 1) / piece;
        let (next, done, joined) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::default());
        let work = Work { parts, file, size, step, piece, pieces, next, done, joined };
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        let threads = if threads == 0 { cores() } else { threads } as u64;
        let helpers = threads.min(size / PER_THREAD).saturating_sub(1);
        progress.tell(py, 0)?;
        let tag = py.detach(|| {
            thread::scope(|scope| {
                for _ in 0..helpers {
                    let help = || work.take_pieces(|_| Ok(()));
                    // Where no thread can be had, this one does all the work.
                    if thread::Builder::new().spawn_scoped(scope, help).is_err() {
                        break;
                    }
                }
                work.take_pieces(|done| look_up(&mut progress, done));
            });
            work.finish(nonce)
        })?;
        let after = file.metadata()?.len();
        if after != size {
            return Err(changed(size, after));
        }
        progress.tell(py, size)?;
        Ok(tag)
    }

    /// What the calling thread does between pieces. It holds no lock then.
    fn look_up(progress: &mut Progress, done: u64) -> PyResult<()> {
        if progress.due() { Python::attach(|py| progress.tell(py, done)) } else { Ok(()) }
    }

    /// The pieces of a file, and what the threads share.
    struct Work<'a> {
        parts: Parts<'a>,
        file: &'a File,
        size: u64,
        step: usize,
        piece: u64,
        pieces: u64,
        /// The next piece that nobody has.
        next: AtomicU64,
        /// Bytes read.
        done: AtomicU64,
        joined: Mutex<Joined>,
    }

    impl Work<'_> {
        /// Takes pieces until there are none, or until one fails.
        fn take_pieces(&self, mut look_up: impl FnMut(u64) -> PyResult<()>) {
            let mut buffer = vec![0; self.step];
            loop {
                let index = self.next.fetch_add(1, Ordering::Relaxed);
                if index >= self.pieces {
                    return;
                }
                let start = index * self.piece;
                let part = self.part(start, start + self.piece, &mut buffer);
                let part = look_up(self.done.load(Ordering::Relaxed)).and(part);
                let mut joined = self.joined.lock().expect("no work panics");
                if let Err(error) = part.and_then(|part| joined.put(self.parts, part)) {
                    joined.error.get_or_insert(error);
                    self.next.store(self.pieces, Ordering::Relaxed);
                }
            }
        }

        /// The part of whole steps from `start` to `end`.
        fn part(&self, start: u64, end: u64, buffer: &mut [u8]) -> PyResult<AnyPart> {
            let mut part = self.parts.of(start, &[]).map_err(refused)?;
            while part.end() < end {
                self.read(buffer, part.end())?;
                let next = self.parts.of(part.end(), buffer).map_err(refused)?;
                part = self.parts.join(part, &next).map_err(refused)?;
            }
            Ok(part)
        }

        /// Reads bytes that the file had when it was opened.
        fn read(&self, buffer: &mut [u8], at: u64) -> PyResult<()> {
            let mut done = 0;
            while done < buffer.len() {
                let from = at + done as u64;
                match self.file.read_at(&mut buffer[done..], from) {
                    Ok(0) => return Err(changed(self.size, from)),
                    Ok(read) => done += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
            }
            self.done.fetch_add(done as u64, Ordering::Relaxed);
            Ok(())
        }

        /// Reads what is left after the last piece.
        fn finish(&self, nonce: &[u8]) -> PyResult<Tag> {
            let mut joined = self.joined.lock().expect("no work panics");
            if let Some(error) = joined.error.take() {
                return Err(error);
            }
            let mut buffer = vec![0; self.step];
            let tail = (self.size - 1) / self.step as u64 * self.step as u64;
            let last = self.part(self.pieces * self.piece, tail, &mut buffer)?;
            joined.put(self.parts, last)?;
            let whole = joined.whole.take().expect("the first piece, or the last");
            let rest = &mut buffer[..(self.size - tail) as usize];
            self.read(rest, tail)?;
            self.parts.finish(whole, nonce, rest).map_err(refused)
        }
    }

    /// The parts so far: those from the start without a gap as one, the others until the gap
    /// closes.
    #[derive(Default)]
    struct Joined {
        whole: Option<AnyPart>,
        waiting: BTreeMap<u64, AnyPart>,
        error: Option<PyErr>,
    }

    impl Joined {
        fn put(&mut self, parts: Parts<'_>, part: AnyPart) -> PyResult<()> {
            self.waiting.insert(part.start(), part);
            let end = |whole: &Option<AnyPart>| whole.as_ref().map_or(0, AnyPart::end);
            while let Some(next) = self.waiting.remove(&end(&self.whole)) {
                self.whole = Some(match self.whole.take() {
                    Some(left) => parts.join(left, &next).map_err(refused)?,
                    None => next,
                });
            }
            Ok(())
        }
    }
}
