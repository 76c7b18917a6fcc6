//! The C library: opened and closed many times, and one session shared by all threads.

use std::collections::HashSet;
use std::ffi::{CString, c_char, c_int};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use assure::Job;
use assure::c_library::Library;
use tagmac_any::{Algorithm, AnyMac};

type Words = [usize; 4];
type Init = unsafe extern "C" fn(*mut Words, *const c_char, *const u8, usize, usize) -> c_int;
type Tag =
    unsafe extern "C" fn(*const Words, *mut u8, usize, *const u8, usize, *const u8, usize) -> c_int;
type Free = unsafe extern "C" fn(*mut Words) -> c_int;
type SessionInit =
    unsafe extern "C" fn(*mut Words, *const Words, *const u8, usize, u64, f64) -> c_int;
type SessionTag =
    unsafe extern "C" fn(*mut Words, *mut u8, usize, *mut u8, usize, *const u8, usize) -> c_int;
type Count = unsafe extern "C" fn(*mut Words, u64) -> c_int;
type Save = unsafe extern "C" fn(*mut Words, *mut u8, usize) -> c_int;

pub fn run(job: &Job) {
    let names = ["PMAC-AES128", "UMAC-64", "LIGHTMAC-AES128-S32", "HMAC-SHA256"];
    let rounds = job.either(200, 1000);
    for round in 0..rounds {
        let algorithm = Algorithm::from_name(names[round % 4]).expect("a name in the registry");
        let key: Vec<u8> = (0..algorithm.new_key_bytes()).map(|i| (i + round) as u8).collect();
        let nonce = &[9; 16][..*algorithm.nonce_bytes().end()];
        let mac = AnyMac::new(algorithm, &key).expect("a key of the right length");
        let expected = mac.tag(nonce, b"message").expect("short");
        let planted = job.planted("tag-before-the-last-unload") && round > 0;
        let message: &[u8] = if planted { b"massage" } else { b"message" };
        // In a separate thread, which ends after the library is closed.
        let found = std::thread::spawn({
            let (key, nonce, message) = (key.clone(), nonce.to_vec(), message.to_vec());
            move || once(algorithm.name(), &key, &nonce, &message)
        });
        let found = found.join().ok().flatten();
        let right = found.as_ref().is_some_and(|tag| tag[..] == *expected.as_bytes());
        job.check(right, || format!("{algorithm}, load {round}: found {found:?}"));
    }
    // It is linked with `nodelete`, because its thread-local errors outlive a `dlclose`.
    job.check(is_loaded(), || "the library was unloaded".into());
    job.note(&format!(
        "the C library was opened and closed {rounds} times, each in a separate thread"
    ));
    for threads in [1, 2, 7, 64] {
        one_session(job, threads);
    }
}

fn is_loaded() -> bool {
    std::fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains("/libtagmac.so"))
}

/// Loads the library, tags, frees the key and unloads the library.
fn once(name: &str, key: &[u8], nonce: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let library = Library::open()?;
    let name = CString::new(name).ok()?;
    let (mut place, mut tag) = ([0; 4], vec![0; 32]);
    // SAFETY: types and arguments match the header, and all lengths are correct.
    let bytes = unsafe {
        let (key, bytes) = (key.as_ptr(), key.len());
        let made = library.get::<Init>("tagmac_key_init")(&mut place, name.as_ptr(), key, bytes, 0);
        let size: unsafe extern "C" fn(*const Words) -> usize = library.get("tagmac_key_tag_size");
        let size = size(&place);
        let nonce = (if nonce.is_empty() { std::ptr::null() } else { nonce.as_ptr() }, nonce.len());
        let (to, text, length) = (tag.as_mut_ptr(), message.as_ptr(), message.len());
        let tagged =
            library.get::<Tag>("tagmac_key_tag")(&place, to, size, nonce.0, nonce.1, text, length);
        let freed = library.get::<Free>("tagmac_key_free")(&mut place);
        ([made, tagged, freed] == [0; 3]).then_some(size)?
    };
    tag.truncate(bytes);
    Some(tag)
}

/// Memory that all threads pass to the library, which refuses a call that it cannot serve at once.
struct Shared(std::cell::UnsafeCell<Words>);

// SAFETY: only the library accesses it, with atomic operations.
unsafe impl Sync for Shared {}

impl Shared {
    fn at(&self) -> *mut Words {
        self.0.get()
    }
}

/// Calls one session from all threads without a lock: each call is refused or tags one message, and
/// the reservation is never exceeded.
fn one_session(job: &Job, threads: usize) {
    let library = Library::open().expect("loaded before");
    let (mut key, covered) = ([0; 4], 300);
    let session = Shared(std::cell::UnsafeCell::new([0; 4]));
    let nonces = Mutex::new(Vec::new());
    let refused = AtomicU64::new(0);
    // SAFETY: as in `once`.
    unsafe {
        let made = library.get::<Init>("tagmac_key_init")(
            &mut key,
            c"UMAC-64".as_ptr(),
            [5; 16].as_ptr(),
            16,
            0,
        );
        let begun = library.get::<SessionInit>("tagmac_session_init")(
            session.at(),
            &key,
            std::ptr::null(),
            8,
            0,
            0.0,
        );
        let reserved = library.get::<Count>("tagmac_session_reserve")(session.at(), covered);
        let saved =
            library.get::<Save>("tagmac_session_save")(session.at(), [0; 104].as_mut_ptr(), 104);
        job.check([made, begun, reserved, saved] == [0; 4], || "a session in C".into());
    }
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // SAFETY: as in `once`; the session may be shared, since the library refuses a
                // concurrent call.
                let tag = unsafe { library.get::<SessionTag>("tagmac_session_tag") };
                for _ in 0..2 * covered / threads as u64 + 1 {
                    let (mut to, mut nonce) = ([0; 8], [0; 8]);
                    // SAFETY: as above.
                    let status = unsafe {
                        tag(
                            session.at(),
                            to.as_mut_ptr(),
                            8,
                            nonce.as_mut_ptr(),
                            8,
                            b"m".as_ptr(),
                            1,
                        )
                    };
                    match status {
                        0 => nonces.lock().expect("no panic").push((nonce, to)),
                        _ => _ = refused.fetch_add(1, Ordering::Relaxed),
                    }
                }
            });
        }
    });
    let mut nonces = nonces.into_inner().expect("no panic");
    if job.planted("nonce-of-two-packets") {
        nonces.extend(nonces.first().copied());
    }
    let distinct = nonces.iter().map(|(nonce, _)| nonce).collect::<HashSet<_>>().len();
    job.check(distinct == nonces.len() && nonces.len() as u64 <= covered, || {
        format!("{threads} threads: {} packets under {distinct} nonces of {covered}", nonces.len())
    });
    let umac = Algorithm::from_name("UMAC-64").expect("a name in the registry");
    let mac = AnyMac::new(umac, &[5; 16]).expect("a key of the right length");
    for (nonce, tag) in &nonces {
        let right = mac.tag(nonce, b"m").is_ok_and(|right| right.as_bytes() == tag);
        job.check(right, || format!("{threads} threads: a wrong tag under {nonce:?}"));
    }
    // SAFETY: as in `once`; no other thread is running.
    unsafe {
        library.get::<Free>("tagmac_session_free")(session.at());
        library.get::<Free>("tagmac_key_free")(&mut key);
    }
}
