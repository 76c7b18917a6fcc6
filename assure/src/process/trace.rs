//! Runs a program under `ptrace`, records its system calls, and makes one of them fail.
//!
//! The program is the one that users run, without knowledge of the fault. The kernel stops it
//! before and after each call. The tracer then skips the call, cuts it short, replaces its result
//! by an error, or kills the process. Linux on x86-64 only, because calls are read from registers.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use libc::{c_long, pid_t, user_regs_struct};

use super::calls::{count_argument, name, name_arguments, uncounted, writes};
use super::ptrace::{
    Watchdog, arguments, kill, let_trace, memory, process_of, ptrace, registers, set_argument,
    set_registers, string, wait,
};

/// A program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file to execute.
    pub path: PathBuf,
    /// Command-line arguments.
    pub args: Vec<OsString>,
    /// The working directory.
    pub folder: PathBuf,
    /// Standard input.
    pub stdin: Vec<u8>,
}

/// A fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It fails with this error number and does nothing.
    Error(i32),
    /// It reads or writes half of the bytes, and returns that number.
    Short,
    /// The process is killed before the call.
    Kill,
    /// It writes half of the bytes, and then the process is killed.
    Tear,
    /// It does nothing and returns success, as a program that ignores errors would see it.
    Lie,
    /// It writes half of the bytes and returns the full number.
    ShortLie,
}

/// The part of the run that a call belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The loader and the runtime, before the program's `main`.
    Startup,
    /// From the first call in `main`, which forbids dumps, to the end.
    Main,
}

/// A fault at the call with this number in its phase.
#[derive(Clone, Copy, Debug)]
pub struct Injection {
    /// The phase of the call.
    pub phase: Phase,
    /// The call's number, from 0.
    pub number: usize,
    /// If set, the fault happens only if the call is this one: threads make calls in any order.
    pub nr: Option<c_long>,
    /// The fault.
    pub fault: Fault,
}

/// A system call of the program's main process.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its number in the kernel's table.
    pub nr: c_long,
    /// The arguments.
    pub args: [u64; 6],
    /// Its result; `None` if the process ended during the call.
    pub ret: Option<i64>,
    /// Its path arguments, in order.
    pub names: Vec<Vec<u8>>,
    /// The bytes that it was given to write.
    pub data: Vec<u8>,
    /// The phase of the call.
    pub phase: Phase,
    /// Its number in the phase; `None` for calls that are not counted.
    pub number: Option<usize>,
    /// True if it had the fault.
    pub faulty: bool,
    /// True if the kernel executed it.
    pub done: bool,
}

impl Call {
    /// Returns the call's name.
    pub fn name(&self) -> String {
        name(self.nr)
    }

    /// Returns whether it was executed and did not fail.
    pub fn succeeded(&self) -> bool {
        self.done && self.ret.is_some_and(|ret| ret >= 0)
    }
}

/// A run.
pub struct Trace {
    /// The exit status of the program.
    pub status: ExitStatus,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: Vec<u8>,
    /// The calls of the main process, ordered by their start.
    pub calls: Vec<Call>,
    /// True if it did not end and had to be killed.
    pub hung: bool,
}

impl Trace {
    /// Returns the call with the fault.
    pub fn faulty(&self) -> Option<&Call> {
        self.calls.iter().find(|call| call.faulty)
    }

    /// Returns the calls that can have a fault.
    pub fn counted(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.number.is_some())
    }
}

/// A traced thread.
struct Thread {
    process: pid_t,
    /// The call in progress.
    inside: Option<Inside>,
    /// True until its first stop, which the kernel causes.
    new: bool,
}

/// A call that has begun.
struct Inside {
    /// Its index in `calls`, if it is recorded.
    index: Option<usize>,
    /// The registers at its start, if they were changed, and the result to return.
    changed: Option<(user_regs_struct, Option<i64>)>,
    kill_after: bool,
}

/// Returns the variable for coverage counters and its value, if this run collects them.
pub fn counters() -> Option<(&'static str, OsString)> {
    let name = "LLVM_PROFILE_FILE";
    env::var_os(name).map(|place| (name, place))
}

/// Sets the same environment for each run: the little that the command needs.
pub fn set_environment(command: &mut Command) {
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").envs(counters());
}

/// Runs a program with an optional fault. The calling thread must have no other children meanwhile.
pub fn run(program: &Program, injection: Option<Injection>) -> io::Result<Trace> {
    let (stdin, out, err) = (memory(&program.stdin)?, memory(&[])?, memory(&[])?);
    let mut command = Command::new(&program.path);
    command.args(&program.args).current_dir(&program.folder);
    set_environment(&mut command);
    command.stdin(stdin).stdout(out.try_clone()?).stderr(err.try_clone()?);
    let_trace(&mut command);
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
    /// The process that has reached `main`.
    main: Option<pid_t>,
    memories: HashMap<pid_t, File>,
    threads: HashMap<pid_t, Thread>,
    calls: Vec<Call>,
    /// Number of counted calls in each phase.
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
            let (tid, status) = match wait() {
                Ok(stopped) => stopped,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return ended.ok_or(error),
            };
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
                    // The thread may just have been killed.
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
                    self.threads.get_mut(&tid).expect("the thread is known").new = false;
                    0
                }
                (signal, _) => signal,
            };
            self.go_on(tid, signal);
        }
    }

    fn open_memory(&mut self, process: pid_t) -> io::Result<()> {
        // Opened now, because the program forbids it later.
        let memory = File::open(format!("/proc/{process}/mem"))?;
        self.memories.insert(process, memory);
        Ok(())
    }

    fn go_on(&self, tid: pid_t, signal: i32) {
        // The thread may just have been killed.
        let _ = ptrace(libc::PTRACE_SYSCALL, tid, signal as usize);
    }

    fn call(&mut self, tid: pid_t) -> io::Result<()> {
        match self.threads.get_mut(&tid).and_then(|thread| thread.inside.take()) {
            None => {
                let inside = self.begin(tid)?;
                self.threads.get_mut(&tid).expect("the thread is known").inside = Some(inside);
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
            // `brk` fails by returning the unchanged break, which every program handles.
            Some(Fault::Error(_)) if nr == libc::SYS_brk => {
                regs.rdi = 0;
                inside.changed = Some((before, None));
            }
            // The kernel closes the descriptor whatever it returns.
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
            // Restores all registers that a call preserves, since the program relies on that.
            regs = user_regs_struct { rcx: regs.rcx, r11: regs.r11, rax: ret as u64, ..before };
            regs.orig_rax = u64::MAX;
            set_registers(tid, &regs)?;
            // The kernel reports how much was written.
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

/// Returns whether programs can be traced on this machine.
pub fn works(folder: &Path) -> bool {
    let args = vec!["-c".into(), "exit 7".into()];
    let program =
        Program { path: "/bin/sh".into(), args, folder: folder.into(), stdin: Vec::new() };
    run(&program, None).is_ok_and(|trace| trace.status.code() == Some(7) && !trace.calls.is_empty())
}
