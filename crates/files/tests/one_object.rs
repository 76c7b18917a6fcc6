//! The memory and the requests that opening one object of a large bucket's manifest needs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::Error;
use tagmac_files::leaves::content::Contents;
use tagmac_files::objects::{Folder, ManifestKey, Object, Place, Start, Writer};
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;

const OBJECTS: usize = 1_000_000;
/// Each 1000th object has this length, and so leaf tags.
const LARGE: u64 = 3 << 16;
const LEAF: u64 = 1 << 16;

/// Counts the bytes that are in use.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: each call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(used, Relaxed);
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `alloc` returned this memory, from the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A folder that notes its requests. Readers in pieces wait for each other, if there is a meeting.
struct Noting(Folder, Arc<Mutex<Vec<String>>>, Option<Meeting>);

impl Noting {
    fn note(&self, request: String) {
        self.1.lock().unwrap().push(request);
    }
}

/// Where two threads wait for each other. Fails if one of them never comes.
#[derive(Default)]
struct Meeting(Mutex<usize>, Condvar);

impl Meeting {
    fn attend(&self) {
        let mut arrived = self.0.lock().unwrap();
        *arrived += 1;
        self.1.notify_all();
        let wait = Duration::from_secs(1200);
        let (_arrived, waited) =
            self.1.wait_timeout_while(arrived, wait, |arrived| *arrived < 2).unwrap();
        assert!(!waited.timed_out(), "one look-up waits for another in a different shard");
    }
}

impl Place for Noting {
    fn shown(&self) -> String {
        self.0.shown()
    }

    fn read(&self, file: &str, max: u64) -> Result<Option<Vec<u8>>, Error> {
        self.note(format!("all of {file}"));
        self.0.read(file, max)
    }

    fn read_pieces(
        &self,
        file: &str,
        size: u64,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, Error> {
        self.note(format!("pieces of {file}"));
        self.2.iter().for_each(Meeting::attend);
        self.0.read_pieces(file, size, take)
    }

    fn read_range(
        &self,
        file: &str,
        size: u64,
        range: Range<u64>,
    ) -> Result<Option<Vec<u8>>, Error> {
        self.note(format!("{} bytes of {file}", range.end - range.start));
        self.0.read_range(file, size, range)
    }

    fn has(&self, file: &str) -> Result<bool, Error> {
        self.0.has(file)
    }

    fn write_file(&self, _: &str, _: &[u8]) -> Result<(), Error> {
        unreachable!("it is only read")
    }

    fn write_root(&self, _: &[u8], _: Option<&[u8]>) -> Result<(), Error> {
        unreachable!("it is only read")
    }

    fn remove_file(&self, _: &str) -> Result<(), Error> {
        unreachable!("it is only read")
    }
}

fn name(number: usize) -> String {
    format!("photos/2026/{:02}/{number:07}.jpg", number * 12 / OBJECTS + 1)
}

#[test]
fn one_of_a_million_objects_needs_two_requests_a_mebibyte_and_no_other_thread() {
    let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
    let raw = RawKey::new(algorithm, vec![7; 16].into()).unwrap();
    let key = OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best()).unwrap();
    let manifest_key = ManifestKey::new(&key.mac, &raw);
    let place = tempfile::tempdir().unwrap();
    let tag = key.mac.tag(&[], b"x").unwrap();
    {
        let folder = Folder::new(place.path());
        let start = Start { leaves: Some(LEAF), ..Start::default() };
        let mut writer = Writer::new(&manifest_key, &folder, start).unwrap();
        for number in 0..OBJECTS {
            let size = if number % 1000 == 0 { LARGE } else { 1 };
            let stamp = Some(format!("\"{number:032x}\"").into_bytes());
            let name = name(number).into_bytes();
            let object =
                Object { name, size, nonce: Vec::new(), tag: Some(tag), read: None, stamp };
            let tags = if size == LARGE { &[1; 48][..] } else { &[] };
            writer.push_with_leaves(&object, tags).unwrap();
        }
        writer.finish().unwrap();
    }
    for number in [0, 1, 65_535, 65_536, 500_000, OBJECTS - 1] {
        let requests = Arc::default();
        let noting = Noting(Folder::new(place.path()), Arc::clone(&requests), None);
        let before = USED.load(Relaxed);
        PEAK.store(before, Relaxed);
        let contents = Contents::open_bucket(&key, &raw, Box::new(noting)).unwrap();
        let path = name(number);
        let content = contents.content(path.as_bytes(), Path::new(&path)).unwrap();
        let used = PEAK.load(Relaxed) - before;
        assert!(used <= 1 << 20, "{path}: {used} bytes of memory");
        println!("{path}: {used} bytes of memory");
        assert_eq!(content.entry().path, path.as_bytes());
        // Once more costs nothing.
        contents.entry(path.as_bytes()).unwrap();
        let requests = requests.lock().unwrap();
        let is_large = content.size() == LARGE;
        assert_eq!(requests.len(), 2 + usize::from(is_large), "{requests:?}");
        assert_eq!(requests[0], "all of root");
        assert!(requests[1].starts_with("pieces of shard-"), "{requests:?}");
        assert!(!is_large || requests[2].starts_with("48 bytes of leaves-"), "{requests:?}");
        if number % 1000 != 0 {
            assert!(content.is_sealed(0, b"x").unwrap() && !content.is_sealed(0, b"y").unwrap());
        }
    }

    // Two shards are looked into at once.
    let noting = Noting(Folder::new(place.path()), Arc::default(), Some(Meeting::default()));
    let contents = Contents::open_bucket(&key, &raw, Box::new(noting)).unwrap();
    thread::scope(|scope| {
        for number in [0, OBJECTS - 1] {
            let (contents, path) = (&contents, name(number));
            scope.spawn(move || contents.entry(path.as_bytes()).unwrap());
        }
    });
}
