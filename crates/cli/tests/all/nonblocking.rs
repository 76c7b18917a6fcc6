//! Standard input and output on which another process has set O_NONBLOCK: the command still waits.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Stdio};

use crate::common::{Place, Ran};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::ioctl_fionread;
use rustix::pipe::fcntl_setpipe_size;

/// Returns a pipe with one non-blocking end.
fn pipe(reads: bool) -> (PipeReader, PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    let end = if reads { reader.as_fd() } else { writer.as_fd() };
    fcntl_setfl(end, fcntl_getfl(end).unwrap() | OFlags::NONBLOCK).unwrap();
    (reader, writer)
}

/// Returns whether a child has ended.
fn ended(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}

/// Writes byte by byte, each after the previous one was read. A reader that does not wait would
/// fail.
fn feed(child: &mut Child, mut writer: PipeWriter, probe: PipeReader, bytes: &[u8]) {
    for byte in bytes {
        while ioctl_fionread(&probe).unwrap() > 0 && !ended(child) {
            std::thread::yield_now();
        }
        if ended(child) {
            return;
        }
        writer.write_all(&[*byte]).unwrap();
    }
}

#[test]
fn input_is_waited_for() {
    let place = Place::new();
    place.file("f", [7; 300]);
    let line = place.keyed("tag", &["f"]).exits(0).out;
    place.file("list", &line);
    let runs: [(&[&str], Vec<u8>, String); 5] = [
        (&["tag", "-k", "k"], vec![7; 300], line.replace("(f)", "(-)")),
        (&["check", "-k", "k"], line.clone().into(), "f: OK\n".into()),
        (&["tag", "--key-fd", "0", "f"], place.read("k"), line.clone()),
        (&["tag", "-k", "/dev/stdin", "f"], place.read("k"), line.clone()),
        (
            &["part", "-k", "k", "--object", "o", "--start", "0", "--last", "-", "-o", "p"],
            vec![7; 300],
            String::new(),
        ),
    ];
    for (args, bytes, out) in runs {
        let (reader, writer) = pipe(true);
        let probe = reader.try_clone().unwrap();
        let mut command = place.command(args);
        command.stdin(reader).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(command);
        feed(&mut child, writer, probe, &bytes);
        let ran: Ran = child.wait_with_output().unwrap().into();
        ran.exits(0).prints(&out);
    }
}

#[test]
fn output_is_waited_for() {
    let place = Place::new();
    let expected = place.run(&["completions", "bash"]).exits(0).bytes;
    assert!(expected.len() > 8192);
    let names: Vec<String> = (0..300).map(|n| format!("no-such-file-{n}")).collect();
    let messages = place.keyed("tag", &names).exits(4).err;
    for (to_stderr, expected) in [(false, expected), (true, messages.into_bytes())] {
        let (mut reader, writer) = pipe(false);
        fcntl_setpipe_size(&writer, 4096).unwrap();
        let mut command = match to_stderr {
            false => place.command(&["completions", "bash"]),
            true => {
                let mut command = place.command(&["tag", "-k", "k"]);
                command.args(&names);
                command
            }
        };
        if to_stderr {
            command.stderr(writer)
        } else {
            command.stdout(writer)
        };
        let mut child = command.spawn().unwrap();
        drop(command);
        // Reading starts when the pipe is full, so the command must wait.
        while ioctl_fionread(&reader).unwrap() < 4000 && !ended(&mut child) {
            std::thread::yield_now();
        }
        let mut found = Vec::new();
        reader.read_to_end(&mut found).unwrap();
        let code = child.wait().unwrap().code();
        assert!(found == expected, "{} of {} bytes", found.len(), expected.len());
        assert_eq!(code, Some(if to_stderr { 4 } else { 0 }));
    }
}

#[test]
fn what_does_not_wait_is_as_ever() {
    let place = Place::new();
    place.file("f", "text");
    let file = File::open(place.path("f")).unwrap();
    fcntl_setfl(&file, OFlags::NONBLOCK).unwrap();
    let ran: Ran = place.command(&["tag", "-k", "k"]).stdin(file).output().unwrap().into();
    ran.exits(0).in_silence();
    place.shell("$T tag -k k <&-").exits(4).says(&["Bad file descriptor"]);
}
