//! Runs a program under `ptrace`, records its system calls, and lets one of them go wrong.
//!
//! The program is the one that users run: nothing in it knows of the fault. The kernel stops it at
//! each call and after it; here the call is then skipped, cut short or answered with an error, or the
//! process is killed. Linux on x86-64 only, for calls are read from registers.

use std::collections::HashMap;
use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use libc::{c_long, pid_t, user_regs_struct};

/// A program that does not end by itself hangs.
const HANG: Duration = Duration::from_secs(60);

/// What to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file to execute.
    pub path: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs.
    pub folder: PathBuf,
    /// Its standard input.
    pub stdin: Vec<u8>,
}

/// How a call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It fails with this error number and does nothing.
    Error(i32),
    /// It reads or writes half of the bytes, and says so.
    Short,
    /// The process is killed before it.
    Kill,
    /// It writes half of the bytes, and then the process is killed.
    Tear,
    /// It does nothing and answers success: as a program sees it that looks at no errors.
    Lie,
    /// It writes half of the bytes and answers that it wrote all.
    ShortLie,
}

/// In which part of the run a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The loader and the runtime, before the program's `main`.
    Startup,
    /// From its first call in `main`, which forbids dumps, to the end.
    Main,
}

/// A fault at the call with this number in its phase.
#[derive(Clone, Copy, Debug)]
pub struct Injection {
    /// The phase.
    pub phase: Phase,
    /// The call's number, from 0.
    pub number: usize,
    /// The call that it has to be, else nothing happens: threads make calls in any order.
    pub nr: Option<c_long>,
    /// What happens there.
    pub fault: Fault,
}

/// A system call of the program's main process.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its number in the kernel's table.
    pub nr: c_long,
    /// Its arguments.
    pub args: [u64; 6],
    /// What it answered; `None` if the process ended in it.
    pub ret: Option<i64>,
    /// Names that it takes, in the order of its arguments.
    pub names: Vec<Vec<u8>>,
    /// The bytes that it was given to write.
    pub data: Vec<u8>,
    /// The phase.
    pub phase: Phase,
    /// Its number in the phase; `None` for calls that are not counted.
    pub number: Option<usize>,
    /// Whether the fault was here.
    pub faulty: bool,
    /// Whether the kernel was let do it.
    pub done: bool,
}

impl Call {
    /// Its name.
    pub fn name(&self) -> String {
        name(self.nr)
    }

    /// Whether it was done and did not fail.
    pub fn succeeded(&self) -> bool {
        self.done && self.ret.is_some_and(|ret| ret >= 0)
    }
}

/// A run.
pub struct Trace {
    /// How it ended.
    pub status: ExitStatus,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: Vec<u8>,
    /// The calls of the main process, in the order in which they began.
    pub calls: Vec<Call>,
    /// Whether it had to be killed because it did not end.
    pub hung: bool,
}

impl Trace {
    /// The call at which the fault was.
    pub fn faulty(&self) -> Option<&Call> {
        self.calls.iter().find(|call| call.faulty)
    }

    /// The calls that can be given a fault.
    pub fn counted(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.number.is_some())
    }
}

/// Names of the calls that a reader of a report wants to know; others have their number.
pub fn name(nr: c_long) -> String {
    macro_rules! names {
        ($($name:ident)*) => {
            match nr { $(libc::$name => stringify!($name).trim_start_matches("SYS_").into(),)*
                other => format!("call {other}") }
        };
    }
    names! {
        SYS_read SYS_write SYS_open SYS_close SYS_stat SYS_fstat SYS_lstat SYS_poll SYS_lseek SYS_mmap
        SYS_mprotect SYS_munmap SYS_brk SYS_rt_sigaction SYS_rt_sigprocmask SYS_ioctl SYS_pread64
        SYS_pwrite64 SYS_readv SYS_writev SYS_access SYS_mremap SYS_madvise SYS_dup SYS_getpid SYS_clone
        SYS_clone3 SYS_fork SYS_vfork SYS_execve SYS_wait4 SYS_waitid SYS_kill SYS_fcntl SYS_flock SYS_fsync
        SYS_fdatasync SYS_syncfs SYS_ftruncate SYS_getcwd SYS_mkdir SYS_mkdirat SYS_rename SYS_link SYS_unlink SYS_symlink SYS_readlink
        SYS_fchmod SYS_fchown SYS_getuid SYS_geteuid SYS_sigaltstack SYS_prctl SYS_arch_prctl SYS_gettid
        SYS_futex SYS_sched_getaffinity SYS_set_tid_address SYS_getdents64 SYS_openat SYS_newfstatat
        SYS_unlinkat SYS_renameat SYS_renameat2 SYS_linkat SYS_readlinkat SYS_set_robust_list SYS_pipe2
        SYS_prlimit64 SYS_getrandom SYS_statx SYS_rseq SYS_statfs SYS_fstatfs SYS_fadvise64 SYS_fallocate
        SYS_clock_nanosleep SYS_exit SYS_exit_group SYS_socketpair SYS_sendfile SYS_copy_file_range
        SYS_sched_yield SYS_getrlimit SYS_setrlimit SYS_pidfd_open SYS_faccessat2 SYS_uname SYS_close_range
    }
}

/// Calls without a number: they cannot fail, or how many there are depends on the clock.
fn uncounted(nr: c_long) -> bool {
    [
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_rt_sigreturn,
        libc::SYS_restart_syscall,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_sched_yield,
        libc::SYS_execve,
    ]
    .contains(&nr)
}

/// Which arguments are names.
fn name_arguments(nr: c_long) -> &'static [usize] {
    match nr {
        libc::SYS_open | libc::SYS_unlink | libc::SYS_mkdir => &[0],
        libc::SYS_openat | libc::SYS_unlinkat | libc::SYS_mkdirat => &[1],
        libc::SYS_rename | libc::SYS_link => &[0, 1],
        libc::SYS_renameat | libc::SYS_renameat2 | libc::SYS_linkat => &[1, 3],
        _ => &[],
    }
}

/// The argument that is a number of bytes to read or write, where fewer may be.
pub fn count_argument(nr: c_long) -> Option<usize> {
    match nr {
        libc::SYS_read | libc::SYS_write | libc::SYS_pread64 | libc::SYS_pwrite64 => Some(2),
        libc::SYS_getrandom => Some(1),
        _ => None,
    }
}

/// Whether a call writes bytes to a file.
pub fn writes(nr: c_long) -> bool {
    nr == libc::SYS_write || nr == libc::SYS_pwrite64
}

/// A thread that is traced.
struct Thread {
    process: pid_t,
    /// The call that it is in.
    inside: Option<Inside>,
    /// Its first stop is the kernel's doing.
    new: bool,
}

/// A call that has begun.
struct Inside {
    /// Where it is among the recorded ones.
    index: Option<usize>,
    /// The registers before it, if they were changed, and what it is to answer.
    changed: Option<(user_regs_struct, Option<i64>)>,
    kill_after: bool,
}

/// Kills a process that hangs.
struct Watchdog {
    over: Arc<(Mutex<bool>, Condvar)>,
    hung: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watchdog {
    fn new(pid: pid_t) -> Watchdog {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let hung = Arc::new(AtomicBool::new(false));
        let (theirs, bit) = (over.clone(), hung.clone());
        let thread = thread::spawn(move || {
            let ended = theirs.0.lock().expect("nobody panics");
            let waited = theirs.1.wait_timeout_while(ended, HANG, |ended| !*ended);
            if waited.expect("nobody panics").1.timed_out() {
                bit.store(true, Ordering::Relaxed);
                kill(pid);
            }
        });
        Watchdog { over, hung, thread: Some(thread) }
    }

    fn end(mut self) -> bool {
        *self.over.0.lock().expect("nobody panics") = true;
        self.over.1.notify_all();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the watchdog does not panic");
        }
        self.hung.load(Ordering::Relaxed)
    }
}

fn kill(pid: pid_t) {
    // SAFETY: a call without pointers.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// A file in memory, from its beginning.
fn memory(bytes: &[u8]) -> io::Result<File> {
    let name = CString::new("stream").expect("no zero bytes");
    // SAFETY: the name is a string that ends, and outlives the call.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just made it, and nobody else has it.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

fn ptrace(request: libc::c_uint, tid: pid_t, data: usize) -> io::Result<()> {
    // SAFETY: the requests made here take numbers alone.
    match unsafe { libc::ptrace(request, tid, 0usize, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn registers(tid: pid_t) -> io::Result<user_regs_struct> {
    let mut regs = std::mem::MaybeUninit::<user_regs_struct>::uninit();
    // SAFETY: the kernel writes the structure, and it is used only if it did.
    match unsafe { libc::ptrace(libc::PTRACE_GETREGS, tid, 0usize, regs.as_mut_ptr()) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: as above.
        _ => Ok(unsafe { regs.assume_init() }),
    }
}

fn set_registers(tid: pid_t, regs: &user_regs_struct) -> io::Result<()> {
    // SAFETY: the kernel reads the structure during the call.
    match unsafe { libc::ptrace(libc::PTRACE_SETREGS, tid, 0usize, regs) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn arguments(regs: &user_regs_struct) -> [u64; 6] {
    [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9]
}

fn set_argument(regs: &mut user_regs_struct, index: usize, value: u64) {
    *match index {
        0 => &mut regs.rdi,
        1 => &mut regs.rsi,
        2 => &mut regs.rdx,
        3 => &mut regs.r10,
        4 => &mut regs.r8,
        _ => &mut regs.r9,
    } = value;
}

/// A string that ends with a zero byte.
fn string(memory: &File, at: u64) -> Vec<u8> {
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

/// The process that a thread is of.
fn process_of(tid: pid_t) -> pid_t {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    line.and_then(|id| id.trim().parse().ok()).unwrap_or(tid)
}

/// Runs a program, with a fault or none. The calling thread may have no other children meanwhile.
pub fn run(program: &Program, injection: Option<Injection>) -> io::Result<Trace> {
    let (stdin, out, err) = (memory(&program.stdin)?, memory(&[])?, memory(&[])?);
    let mut command = Command::new(&program.path);
    command.args(&program.args).current_dir(&program.folder);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
    command.stdin(stdin).stdout(out.try_clone()?).stderr(err.try_clone()?);
    let traced = || {
        // SAFETY: this request takes no pointers.
        match unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0usize, 0usize) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: between fork and exec it makes one system call and takes no memory.
    unsafe { command.pre_exec(traced) };
    let root = command.spawn()?.id() as pid_t;
    let watchdog = Watchdog::new(root);
    let mut tracer = Tracer {
        root,
        main: None,
        memories: HashMap::new(),
        threads: HashMap::new(),
        calls: Vec::new(),
        numbers: [0; 2],
        injection,
    };
    let status = tracer.follow();
    let hung = watchdog.end();
    let status = status?;
    let text = |mut file: File| {
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map(|_| bytes)
    };
    Ok(Trace { status, out: text(out)?, err: text(err)?, calls: tracer.calls, hung })
}

struct Tracer {
    root: pid_t,
    /// The process that has come to `main`.
    main: Option<pid_t>,
    memories: HashMap<pid_t, File>,
    threads: HashMap<pid_t, Thread>,
    calls: Vec<Call>,
    /// How many calls were counted in each phase.
    numbers: [usize; 2],
    injection: Option<Injection>,
}

impl Tracer {
    fn follow(&mut self) -> io::Result<ExitStatus> {
        let options = libc::PTRACE_O_TRACESYSGOOD
            | libc::PTRACE_O_EXITKILL
            | libc::PTRACE_O_TRACECLONE
            | libc::PTRACE_O_TRACEFORK
            | libc::PTRACE_O_TRACEVFORK
            | libc::PTRACE_O_TRACEEXEC;
        let mut ended = None;
        loop {
            let mut status = 0;
            // Of this thread's children alone: others may trace at the same time.
            let flags = libc::__WALL | libc::__WNOTHREAD;
            // SAFETY: the status outlives the call.
            let tid = unsafe { libc::waitpid(-1, &mut status, flags) };
            if tid < 0 {
                let error = io::Error::last_os_error();
                match error.kind() {
                    io::ErrorKind::Interrupted => continue,
                    _ => return ended.ok_or(error),
                }
            }
            if !libc::WIFSTOPPED(status) {
                self.threads.remove(&tid);
                if tid == self.root {
                    ended = Some(ExitStatus::from_raw(status));
                }
                continue;
            }
            if !self.threads.contains_key(&tid) {
                let process = process_of(tid);
                let first = self.threads.is_empty() && tid == self.root;
                self.threads.insert(tid, Thread { process, inside: None, new: !first });
                if first {
                    ptrace(libc::PTRACE_SETOPTIONS, tid, options as usize)?;
                    self.open_memory(tid)?;
                    self.go_on(tid, 0);
                    continue;
                }
            }
            let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
            let signal = match (signal, event) {
                (signal, _) if signal == libc::SIGTRAP | 0x80 => {
                    // It may just have been killed.
                    let _ = self.call(tid);
                    0
                }
                (_, libc::PTRACE_EVENT_EXEC) => {
                    let process = process_of(tid);
                    self.open_memory(process)?;
                    0
                }
                (_, 1..) => 0,
                (libc::SIGSTOP, 0) if self.threads[&tid].new => {
                    self.threads.get_mut(&tid).expect("it is known").new = false;
                    0
                }
                (signal, _) => signal,
            };
            self.go_on(tid, signal);
        }
    }

    fn open_memory(&mut self, process: pid_t) -> io::Result<()> {
        // While it may be looked at: the program forbids that later on.
        let memory = File::open(format!("/proc/{process}/mem"))?;
        self.memories.insert(process, memory);
        Ok(())
    }

    fn go_on(&self, tid: pid_t, signal: i32) {
        // It may just have been killed.
        let _ = ptrace(libc::PTRACE_SYSCALL, tid, signal as usize);
    }

    fn call(&mut self, tid: pid_t) -> io::Result<()> {
        match self.threads.get_mut(&tid).and_then(|thread| thread.inside.take()) {
            None => {
                let inside = self.begin(tid)?;
                self.threads.get_mut(&tid).expect("it is known").inside = Some(inside);
                Ok(())
            }
            Some(inside) => self.end(tid, inside),
        }
    }

    fn begin(&mut self, tid: pid_t) -> io::Result<Inside> {
        let mut inside = Inside { index: None, changed: None, kill_after: false };
        let process = self.threads[&tid].process;
        let mut regs = registers(tid)?;
        let (nr, args) = (regs.orig_rax as c_long, arguments(&regs));
        let mark = nr == libc::SYS_prctl && args[0] == libc::PR_SET_DUMPABLE as u64;
        if self.main.is_none() && mark {
            self.main = Some(process);
        }
        let phase = match self.main {
            Some(main) if main == process => Phase::Main,
            None if process == self.root => Phase::Startup,
            _ => return Ok(inside),
        };
        let number = (!uncounted(nr)).then(|| {
            let next = &mut self.numbers[phase as usize];
            *next += 1;
            *next - 1
        });
        let memory = self.memories.get(&process);
        let names = name_arguments(nr).iter();
        let names = names.filter_map(|index| Some(string(memory?, args[*index]))).collect();
        let mut data = Vec::new();
        if writes(nr) && phase == Phase::Main {
            data.resize(args[2] as usize, 0);
            if let Some(memory) = memory {
                memory.read_exact_at(&mut data, args[1])?;
            }
        }
        let fault = self.injection.filter(|injection| {
            let here = injection.phase == phase && Some(injection.number) == number;
            here && injection.nr.is_none_or(|planned| planned == nr)
        });
        let fault = fault.map(|injection| injection.fault);
        let mut done = true;
        let before = regs;
        let count = count_argument(nr);
        let half = |count: usize| (args[count] / 2).max(1);
        match fault {
            None => {}
            Some(Fault::Kill) => {
                kill(process);
                done = false;
            }
            // It answers failure with the break as it is, which any program believes.
            Some(Fault::Error(_)) if nr == libc::SYS_brk => {
                regs.rdi = 0;
                inside.changed = Some((before, None));
            }
            // The kernel lets go of the descriptor whatever it answers.
            Some(Fault::Error(error)) if nr == libc::SYS_close => {
                inside.changed = Some((before, Some(-i64::from(error))));
            }
            Some(Fault::Error(error)) => {
                regs.orig_rax = u64::MAX;
                inside.changed = Some((before, Some(-i64::from(error))));
                done = false;
            }
            Some(Fault::Lie) => {
                regs.orig_rax = u64::MAX;
                let answer = count.map_or(0, |count| args[count] as i64);
                inside.changed = Some((before, Some(answer)));
                done = false;
            }
            Some(fault @ (Fault::Short | Fault::Tear | Fault::ShortLie)) => {
                if let Some(count) = count {
                    set_argument(&mut regs, count, half(count));
                    data.truncate(half(count) as usize);
                    let answer = (fault == Fault::ShortLie).then_some(args[count] as i64);
                    inside.changed = Some((before, answer));
                    inside.kill_after = fault == Fault::Tear;
                }
            }
        }
        let faulty = fault.is_some();
        let call = Call { nr, args, ret: None, names, data, phase, number, faulty, done };
        inside.index = Some(self.calls.len());
        self.calls.push(call);
        if inside.changed.is_some() {
            set_registers(tid, &regs)?;
        }
        Ok(inside)
    }

    fn end(&mut self, tid: pid_t, inside: Inside) -> io::Result<()> {
        let Some(index) = inside.index else { return Ok(()) };
        let mut regs = registers(tid)?;
        if let Some((before, answer)) = inside.changed {
            let ret = answer.unwrap_or(regs.rax as i64);
            let did = regs.rax as i64;
            // A call keeps all registers but these, and the program may count on that.
            regs = user_regs_struct { rcx: regs.rcx, r11: regs.r11, rax: ret as u64, ..before };
            regs.orig_rax = u64::MAX;
            set_registers(tid, &regs)?;
            // What was written is what the kernel says.
            if self.calls[index].done {
                self.calls[index].data.truncate(did.max(0) as usize);
            }
        }
        let ret = regs.rax as i64;
        let call = &mut self.calls[index];
        if writes(call.nr) && call.done {
            call.data.truncate(ret.max(0) as usize);
        }
        call.ret = Some(ret);
        if inside.kill_after {
            kill(self.threads[&tid].process);
        }
        Ok(())
    }
}

/// Whether this machine lets a program be traced.
pub fn works(folder: &Path) -> bool {
    let args = vec!["-c".into(), "exit 7".into()];
    let program =
        Program { path: "/bin/sh".into(), args, folder: folder.into(), stdin: Vec::new() };
    run(&program, None).is_ok_and(|trace| trace.status.code() == Some(7) && !trace.calls.is_empty())
}
