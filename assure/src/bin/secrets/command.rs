//! The command `tagmac`: just before it exits, its memory must keep no trace of the key.

use std::ffi::c_long;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use assure::Job;
use assure::process::place;
use tagmac::save::{Purpose, derive};
use tagmac_any::{Algorithm, KeyFile};

use crate::c::hex;
use crate::known::{Hit, Known, told};
use crate::{keys, known, process};

/// The commands, each run with a key file `k`, a file `f` and the results of the previous ones.
const RUNS: [&[&str]; 12] = [
    &["tag", "-k", "k", "--num-threads", "1", "f"],
    &["tag", "-k", "k", "--num-threads", "2", "f"],
    &["tag", "--key-fd", "0", "f"],
    &["tag", "-k", "k", "--json", "f"],
    &["check", "-k", "k", "list"],
    &["seal", "-k", "k", "-o", "m", "d"],
    &["audit", "-k", "k", "m", "d"],
    &["part", "-k", "k", "--object", "o", "--start", "0", "--length", "6144", "-o", "p1", "f"],
    &["part", "-k", "k", "--object", "o", "--start", "6144", "--last", "-o", "p2", "f"],
    &["combine", "-k", "k", "p1", "p2"],
    &["update", "-k", "k", "--leaf", "64", "f"],
    &["tag", "-k", "k", "--checkpoint", "c", "--checkpoint-every", "1", "f"],
];

/// Runs all commands under some algorithms.
pub fn run(job: &Job) {
    let names: &[&str] = job.either(
        &["PMAC-AES128", "UMAC-64"],
        &["PMAC-AES128", "LIGHTMAC-AES128-S32", "ELIMAC-AES128", "POLY1305-AES", "UMAC-64"],
    );
    let mut searched = 0;
    for name in names {
        let algorithm = Algorithm::from_name(name).expect("a name in the registry");
        if let Err(error) = under(job, algorithm, &mut searched) {
            job.check(false, || format!("the command under {name}: {error}"));
        }
    }
    job.note(&format!("{} MiB of the command's processes were searched", searched >> 20));
}

fn under(job: &Job, algorithm: Algorithm, searched: &mut u64) -> Result<(), String> {
    let command = place::command()?;
    let place = place::Place::new(&command).map_err(|error| error.to_string())?;
    let keys = keys(algorithm);
    let file = KeyFile::new(algorithm, &keys[0], UNIX_EPOCH).expect("a key");
    let mut known = known(algorithm, &keys);
    known.text("the key in hex", hex(&keys[0]).as_bytes());
    for purpose in [Purpose::Sealing, Purpose::Manifest] {
        let derived = derive(purpose, algorithm.name(), &keys[0]);
        known.secret(&format!("the key for {purpose:?}"), &*derived);
    }
    place.write("k", file.to_text().as_bytes());
    place.write("f", vec![0x11; 300_000]);
    std::fs::create_dir(place.file("d")).map_err(|error| error.to_string())?;
    place.write("d/f", vec![0x11; 5000]);
    // Readable only by its owner, or the command warns.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(place.file("k"), mode).map_err(|error| error.to_string())?;
    for args in RUNS {
        let is_list = args[0] == "check";
        if is_list {
            let ran = place.run(RUNS[0], b"");
            place.write("list", ran.out);
        }
        let early = job.planted("command-stopped-before-its-end") && args[0] == "tag";
        let (at, bytes, hits) = end_of(&command, place.path(), args, &known, early)
            .map_err(|error| format!("{}: {error}", args.join(" ")))?;
        *searched += bytes;
        let line = args.join(" ");
        job.check(at == 0, || format!("tagmac {line}: expected exit status 0, found {at}"));
        job.check(hits.is_empty(), || {
            format!("tagmac {line}, {algorithm}: secrets left at its end: {}", told(&hits))
        });
    }
    Ok(())
}

fn request(request: libc::c_uint, pid: i32, data: c_long) -> io::Result<()> {
    // SAFETY: a request about a traced process; it writes nothing here.
    match unsafe { libc::ptrace(request, pid, 0, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Runs the command until its exit, or until its first write, and searches its memory. Returns the
/// status and the hits.
fn end_of(
    command: &std::path::Path,
    folder: &std::path::Path,
    args: &[&str],
    known: &Known,
    early: bool,
) -> io::Result<(i32, u64, Vec<Hit>)> {
    let mut command = Command::new(command);
    command.args(args).current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin");
    command.stdin(File::open(folder.join("k"))?).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: one system call between fork and exec.
    unsafe {
        command.pre_exec(|| request(libc::PTRACE_TRACEME, 0, 0));
    }
    let child = command.spawn()?;
    let pid = child.id() as i32;
    let wait = || {
        let mut status = 0;
        // SAFETY: a child of this process, and a place for its status.
        match unsafe { libc::waitpid(pid, &mut status, libc::__WALL) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(status),
        }
    };
    let _ = wait()?;
    // Opened before the command makes its memory unreadable for users other than root.
    let memory = process::open(pid)?;
    let options = libc::PTRACE_O_TRACEEXIT | libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SETOPTIONS, pid, options.into())?;
    let (mut found, mut signal) = ((0, Vec::new()), 0);
    loop {
        let how = if early { libc::PTRACE_SYSCALL } else { libc::PTRACE_CONT };
        request(how, pid, signal)?;
        let status = wait()?;
        signal = 0;
        if libc::WIFEXITED(status) {
            return Ok((libc::WEXITSTATUS(status), found.0, found.1));
        } else if libc::WIFSIGNALED(status) {
            return Err(io::Error::other(format!("signal {}", libc::WTERMSIG(status))));
        }
        let stop = status >> 8;
        if stop == libc::SIGTRAP | libc::PTRACE_EVENT_EXIT << 8 {
            if !early {
                found = process::search(pid, &memory, known)?;
            }
        } else if stop == libc::SIGTRAP | 0x80 {
            // Keeps the stop with the most hits: the key is in memory at some of the stops.
            let now = process::search(pid, &memory, known)?;
            if now.1.len() > found.1.len() {
                found = now;
            }
        } else if stop != libc::SIGTRAP {
            signal = c_long::from(stop);
        }
    }
}
