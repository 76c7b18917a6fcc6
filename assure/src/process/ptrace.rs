//! The kernel calls for tracing another process, and access to its registers and memory.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use libc::{pid_t, user_regs_struct};

/// Time limit of a program; a slower one hangs.
const HANG: Duration = Duration::from_secs(1200);

/// Lets the parent trace the program, which stops at its start.
pub fn let_trace(command: &mut Command) {
    let traced = || {
        // SAFETY: this request uses no pointers.
        match unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0usize, 0usize) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: between fork and exec it makes one system call and allocates nothing.
    unsafe { command.pre_exec(traced) };
}

/// Waits for a thread to stop or end. Only children of this thread count: others may trace at the
/// same time.
pub fn wait() -> io::Result<(pid_t, i32)> {
    let mut status = 0;
    let flags = libc::__WALL | libc::__WNOTHREAD;
    // SAFETY: the status outlives the call.
    match unsafe { libc::waitpid(-1, &mut status, flags) } {
        -1 => Err(io::Error::last_os_error()),
        tid => Ok((tid, status)),
    }
}

/// Kills a process.
pub fn kill(pid: pid_t) {
    // SAFETY: a call without pointers.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// Creates a file in memory with these bytes, positioned at its start.
pub fn memory(bytes: &[u8]) -> io::Result<File> {
    let name = CString::new("stream").expect("no zero bytes");
    // SAFETY: the name ends in NUL and outlives the call.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just created it, and nothing else owns it.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Makes a request with a number.
pub fn ptrace(request: libc::c_uint, tid: pid_t, data: usize) -> io::Result<()> {
    // SAFETY: the requests made here use only numbers.
    match unsafe { libc::ptrace(request, tid, 0usize, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Returns the registers of a stopped thread.
pub fn registers(tid: pid_t) -> io::Result<user_regs_struct> {
    let mut regs = std::mem::MaybeUninit::<user_regs_struct>::uninit();
    // SAFETY: the kernel writes the structure, which is used only if it did.
    match unsafe { libc::ptrace(libc::PTRACE_GETREGS, tid, 0usize, regs.as_mut_ptr()) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: as above.
        _ => Ok(unsafe { regs.assume_init() }),
    }
}

/// Sets the registers of a stopped thread.
pub fn set_registers(tid: pid_t, regs: &user_regs_struct) -> io::Result<()> {
    // SAFETY: the kernel reads the structure during the call.
    match unsafe { libc::ptrace(libc::PTRACE_SETREGS, tid, 0usize, regs) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Returns a call's arguments.
pub fn arguments(regs: &user_regs_struct) -> [u64; 6] {
    [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9]
}

/// Changes one of the arguments.
pub fn set_argument(regs: &mut user_regs_struct, index: usize, value: u64) {
    *match index {
        0 => &mut regs.rdi,
        1 => &mut regs.rsi,
        2 => &mut regs.rdx,
        3 => &mut regs.r10,
        4 => &mut regs.r8,
        _ => &mut regs.r9,
    } = value;
}

/// Reads a string that ends with NUL.
pub fn string(memory: &File, at: u64) -> Vec<u8> {
    let mut text = Vec::new();
    let mut page = [0; 256];
    while text.len() < 8192 {
        let Ok(read @ 1..) = memory.read_at(&mut page, at + text.len() as u64) else { break };
        match page[..read].iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&page[..end]);
                break;
            }
            None => text.extend_from_slice(&page[..read]),
        }
    }
    text
}

/// Returns the process of a thread.
pub fn process_of(tid: pid_t) -> pid_t {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    line.and_then(|id| id.trim().parse().ok()).unwrap_or(tid)
}

/// Kills a process that hangs.
pub struct Watchdog {
    over: Arc<(Mutex<bool>, Condvar)>,
    hung: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watchdog {
    /// Starts to watch.
    pub fn new(pid: pid_t) -> Watchdog {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let hung = Arc::new(AtomicBool::new(false));
        let (theirs, bit) = (over.clone(), hung.clone());
        let thread = thread::spawn(move || {
            let ended = theirs.0.lock().expect("no thread panics");
            let waited = theirs.1.wait_timeout_while(ended, HANG, |ended| !*ended);
            if waited.expect("no thread panics").1.timed_out() {
                bit.store(true, Ordering::Relaxed);
                kill(pid);
            }
        });
        Watchdog { over, hung, thread: Some(thread) }
    }

    /// Ends the watch after the program ended. Returns whether it had to be killed.
    pub fn end(mut self) -> bool {
        *self.over.0.lock().expect("no thread panics") = true;
        self.over.1.notify_all();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the watchdog does not panic");
        }
        self.hung.load(Ordering::Relaxed)
    }
}
