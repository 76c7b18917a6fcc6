//! The C library: a process that used a key and freed it must keep no trace of it.
//!
//! The process is this program again. It reads the key into a separate page and clears the page
//! once the library has the key. After the last call it waits while the parent searches its memory.

use std::ffi::{CString, c_char, c_int};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::ptr::{null, null_mut};
use std::time::UNIX_EPOCH;

use assure::Job;
use assure::c_library::Library;
use tagmac_any::{Algorithm, KeyFile};

use crate::known::told;
use crate::{keys, known, process};

/// The header's `TAGMAC_MISMATCH`.
const MISMATCH: c_int = -1;

/// The first argument of the process.
pub const CHILD: &str = "--c-child";

/// Size of the child's input in bytes: a key, or a key file.
const PAGE: usize = 4096;

/// Tries every algorithm with key bytes, with the text of a key file, with a key file, and with a
/// key for a single call.
pub fn run(job: &Job) {
    let mut searched = 0;
    for algorithm in Algorithm::all() {
        let keys = keys(algorithm);
        let mut known = known(algorithm, &keys);
        let file = KeyFile::new(algorithm, &keys[0], UNIX_EPOCH).expect("a key");
        let text = file.to_text();
        known.text("the key in hex", hex(&keys[0]).as_bytes());
        let path = std::env::temp_dir().join(format!("tagmac-secrets-{}.key", std::process::id()));
        std::fs::write(&path, &*text).expect("cannot write the key file");
        let path = path.to_str().expect("a UTF-8 path");
        let (key, text) = (&keys[0][..], text.as_bytes());
        for (how, input) in
            [("init", key), ("parse", text), ("load", path.as_bytes()), ("once", key)]
        {
            let how = if job.planted("c-key-not-freed") { "leak" } else { how };
            let input = if how == "leak" { &keys[0][..] } else { input };
            let hits = look(algorithm, how, input, &known, &mut searched);
            job.check(matches!(&hits, Ok(hits) if hits.is_empty()), || {
                let found = hits.map_or_else(|error| error, |hits| told(&hits));
                format!("C, {algorithm}, {how}: secrets in the process: {found}")
            });
        }
        std::fs::remove_file(path).expect("cannot remove the key file");
    }
    job.note(&format!("{} MiB of processes with the C library were searched", searched >> 20));
}

/// Encodes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn look(
    algorithm: Algorithm,
    how: &str,
    input: &[u8],
    known: &crate::known::Known,
    searched: &mut u64,
) -> Result<Vec<crate::known::Hit>, String> {
    let (mut child, _stdin) = start(algorithm, how, input).map_err(|error| error.to_string())?;
    let mut done = [0; 1];
    let mut out = child.stdout.take().expect("a pipe");
    if out.read_exact(&mut done).is_err() || done != *b"d" {
        let status = child.wait().map_err(|error| error.to_string())?;
        return Err(format!("the process failed: {status}"));
    }
    let pid = child.id() as i32;
    let found = process::open(pid).and_then(|memory| process::search(pid, &memory, known));
    child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
    let (bytes, hits) = found.map_err(|error| error.to_string())?;
    *searched += bytes;
    Ok(hits)
}

fn start(algorithm: Algorithm, how: &str, input: &[u8]) -> std::io::Result<(Child, ChildStdin)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([CHILD, algorithm.name(), how]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut message = vec![0; PAGE];
    message[..input.len()].copy_from_slice(input);
    message[PAGE - 8..].copy_from_slice(&(input.len() as u64).to_le_bytes());
    stdin.write_all(&message)?;
    // Left open: the child waits until it is closed.
    Ok((child, stdin))
}

type Words = [usize; 4];
type Init = unsafe extern "C" fn(*mut Words, *const c_char, *const u8, usize, usize) -> c_int;
type Parse = unsafe extern "C" fn(*mut Words, *const u8, usize, usize) -> c_int;
type Load = unsafe extern "C" fn(*mut Words, *const u8, usize) -> c_int;
type Free = unsafe extern "C" fn(*mut Words) -> c_int;
type Size = unsafe extern "C" fn(*const Words) -> usize;
type Tag =
    unsafe extern "C" fn(*const Words, *mut u8, usize, *const u8, usize, *const u8, usize) -> c_int;
type Once = unsafe extern "C" fn(
    *mut u8,
    usize,
    *const c_char,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
) -> c_int;
type PartInit = unsafe extern "C" fn(*mut Words, *const Words, u64, *const u8, usize) -> c_int;
type PartFinish = unsafe extern "C" fn(
    *mut Words,
    *const Words,
    *mut u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
) -> c_int;
type StreamInit = unsafe extern "C" fn(*mut Words, *const Words, *const u8, usize) -> c_int;
type Update = unsafe extern "C" fn(*mut Words, *const u8, usize) -> c_int;
type Final = unsafe extern "C" fn(*mut Words, *mut u8, usize) -> c_int;
type SessionInit =
    unsafe extern "C" fn(*mut Words, *const Words, *const u8, usize, u64, f64) -> c_int;
type SessionTag =
    unsafe extern "C" fn(*mut Words, *mut u8, usize, *mut u8, usize, *const u8, usize) -> c_int;

/// Uses a key and frees it, reports that, and waits.
pub fn child(algorithm: &str, how: &str) -> ExitCode {
    let algorithm = Algorithm::from_name(algorithm).expect("a name in the registry");
    let name = CString::new(algorithm.name()).expect("no NUL");
    let Some(library) = Library::open() else {
        eprintln!("libtagmac.so is not next to this program");
        return ExitCode::from(2);
    };
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping.
    let page = unsafe { libc::mmap(null_mut(), PAGE, access, kind, -1, 0) }.cast::<u8>();
    let mut read = 0;
    while read < PAGE {
        // SAFETY: within the rest of the page; the key passes through no buffer of Rust's.
        let more =
            unsafe { libc::read(std::io::stdin().as_raw_fd(), page.add(read).cast(), PAGE - read) };
        assert!(more > 0, "expected {PAGE} bytes, found {read}");
        read += more as usize;
    }
    let message = vec![0x11u8; algorithm.max_message_bytes().unwrap_or(5000).min(5000) as usize];
    let nonce = [9u8; 16];
    let nonce_bytes = *algorithm.nonce_bytes().end();
    let nonce = if nonce_bytes == 0 { null() } else { nonce.as_ptr() };
    let [mut key, mut stream, mut session, mut part] = [[0; 4]; 4];
    let mut tag = [0; 32];
    let mut made = [0; 16];
    // SAFETY: types and arguments match the header, and all lengths are correct.
    unsafe {
        let input = usize::from_le_bytes(page.add(PAGE - 8).cast::<[u8; 8]>().read());
        let (text, length) = (message.as_ptr(), message.len());
        let status = match how {
            "once" => {
                let bytes = algorithm.default_tag_bits().div_ceil(8);
                // A correct tag, and then a wrong one.
                let call = |call, tag: &mut [u8; 32]| {
                    let (tag, name) = (tag.as_mut_ptr(), name.as_ptr());
                    let call = library.get::<Once>(call);
                    call(tag, bytes, name, page, input, nonce, nonce_bytes, text, length)
                };
                let made = call("tagmac_tag", &mut tag);
                let right = call("tagmac_verify", &mut tag);
                tag[0] ^= 1;
                let wrong = call("tagmac_verify", &mut tag);
                if [made, right, wrong] == [0, 0, MISMATCH] { 0 } else { wrong }
            }
            "parse" => library.get::<Parse>("tagmac_key_parse")(&mut key, page, input, 0),
            "load" => library.get::<Load>("tagmac_key_load")(&mut key, page, 0),
            _ => library.get::<Init>("tagmac_key_init")(&mut key, name.as_ptr(), page, input, 0),
        };
        for at in 0..PAGE {
            page.add(at).write_volatile(0);
        }
        if how == "once" {
            return wait(&[status]);
        }
        let bytes = library.get::<Size>("tagmac_key_tag_size")(&key);
        let tag = tag.as_mut_ptr();
        let tagged = library.get::<Tag>("tagmac_key_tag")(
            &key,
            tag,
            bytes,
            nonce,
            nonce_bytes,
            text,
            length,
        );
        let begun =
            library.get::<StreamInit>("tagmac_stream_init")(&mut stream, &key, nonce, nonce_bytes);
        let updated = library.get::<Update>("tagmac_stream_update")(&mut stream, text, length);
        let ended = library.get::<Final>("tagmac_stream_final")(&mut stream, tag, bytes);
        let session_begun = library.get::<SessionInit>("tagmac_session_init")(
            &mut session,
            &key,
            nonce,
            nonce_bytes,
            0,
            0.0,
        );
        let made = if nonce_bytes == 0 { null_mut() } else { made.as_mut_ptr() };
        let sent = library.get::<SessionTag>("tagmac_session_tag")(
            &mut session,
            tag,
            bytes,
            made,
            nonce_bytes,
            text,
            length,
        );
        let (mut parted, mut finished) = (0, 0);
        if let Some(block) = algorithm.block() {
            let first = length / 2 / block * block;
            parted = library.get::<PartInit>("tagmac_part_init")(&mut part, &key, 0, text, first);
            finished = library.get::<PartFinish>("tagmac_part_finish")(
                &mut part,
                &key,
                tag,
                bytes,
                nonce,
                nonce_bytes,
                text.add(first),
                length - first,
            );
        }
        library.get::<Free>("tagmac_session_free")(&mut session);
        library.get::<Free>("tagmac_stream_free")(&mut stream);
        if how != "leak" {
            library.get::<Free>("tagmac_key_free")(&mut key);
        }
        wait(&[status, tagged, begun, updated, ended, session_begun, sent, parted, finished])
    }
}

/// Reports that the calls succeeded, and waits until the parent has searched.
fn wait(statuses: &[c_int]) -> ExitCode {
    if statuses.iter().any(|&status| status != 0) {
        eprintln!("a call failed: {statuses:?}");
        return ExitCode::from(2);
    }
    std::io::stdout().write_all(b"d").and_then(|()| std::io::stdout().flush()).expect("a pipe");
    let _ = std::io::stdin().read(&mut [0; 1]);
    ExitCode::SUCCESS
}
