//! Memory that ends where a buffer ends: pages that nobody may touch directly before and after it,
//! or, in a build with a sanitizer, a heap allocation of the exact size.

use std::ptr;

/// The sanitizer of this build, as `sanitized.py` names it.
pub const SANITIZER: Option<&str> = option_env!("TAGMAC_SANITIZER");
/// Whether there is one; such a build has debug assertions too.
pub const SANITIZED: bool = SANITIZER.is_some();

/// Which end of a buffer lies at a guard page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    Start,
    End,
}

/// The sides to try: allocations of the exact size have both at once.
pub const SIDES: &[Side] = if SANITIZED { &[Side::End] } else { &[Side::Start, Side::End] };

/// Memory for one buffer at a time. The program may only read what it lends as `&[u8]`.
pub struct Room {
    /// The pages as they are filled, and the same pages between guards.
    write: *mut u8,
    read: *mut u8,
    bytes: usize,
    /// The allocation in use, in a sanitized build.
    heap: Box<[u8]>,
}

impl Room {
    /// Room for buffers of up to `max` bytes.
    pub fn new(max: usize) -> Room {
        if SANITIZED {
            return Room {
                write: ptr::null_mut(),
                read: ptr::null_mut(),
                bytes: max,
                heap: Box::default(),
            };
        }
        let page = page_bytes();
        let bytes = max.max(1).next_multiple_of(page);
        // SAFETY: the name is a C string; all else are numbers.
        let file = unsafe { libc::memfd_create(c"room".as_ptr(), 0) };
        assert!(file >= 0, "a file in memory");
        // SAFETY: the file is open.
        assert_eq!(unsafe { libc::ftruncate(file, bytes as libc::off_t) }, 0, "room in memory");
        let read_write = libc::PROT_READ | libc::PROT_WRITE;
        let write = map(ptr::null_mut(), bytes, read_write, libc::MAP_SHARED, file);
        let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let guards = map(ptr::null_mut(), bytes + 2 * page, libc::PROT_NONE, anonymous, -1);
        let read = map(
            guards.wrapping_add(page),
            bytes,
            libc::PROT_READ,
            libc::MAP_SHARED | libc::MAP_FIXED,
            file,
        );
        // SAFETY: the file is open, and nothing else has it; the maps stay.
        unsafe { libc::close(file) };
        Room { write, read, bytes, heap: Box::default() }
    }

    /// Room for results, which the program may write.
    pub fn for_results(max: usize) -> Room {
        let room = Room::new(max);
        if !SANITIZED {
            // SAFETY: `bytes` bytes are mapped there, and nothing points to them yet.
            let changed = unsafe {
                libc::mprotect(room.read.cast(), room.bytes, libc::PROT_READ | libc::PROT_WRITE)
            };
            assert_eq!(changed, 0, "pages to write");
        }
        room
    }

    /// Where a buffer of these bytes begins. It is there until the next call.
    pub fn place(&mut self, bytes: &[u8], side: Side) -> *mut u8 {
        assert!(bytes.len() <= self.bytes, "room for {} bytes", bytes.len());
        if SANITIZED {
            self.heap = bytes.into();
            return self.heap.as_mut_ptr();
        }
        let at = match side {
            Side::Start => 0,
            Side::End => self.bytes - bytes.len(),
        };
        // SAFETY: `at + bytes.len()` is within the map.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.write.add(at), bytes.len()) };
        self.read.wrapping_add(at)
    }

    /// A buffer of these bytes.
    pub fn lend(&mut self, bytes: &[u8], side: Side) -> &[u8] {
        let at = self.place(bytes, side);
        // SAFETY: `place` has put as many bytes there, and `self` is borrowed as long.
        unsafe { std::slice::from_raw_parts(at, bytes.len()) }
    }
}

fn page_bytes() -> usize {
    // SAFETY: it reads a number of the system.
    (unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) as usize
}

fn map(at: *mut u8, bytes: usize, protection: i32, flags: i32, file: i32) -> *mut u8 {
    // SAFETY: it takes free addresses, or those of a map that the caller made to be replaced.
    let found = unsafe { libc::mmap(at.cast(), bytes, protection, flags, file, 0) };
    assert_ne!(found, libc::MAP_FAILED, "pages in memory");
    found.cast()
}

/// Pages that a process shares with those that it forks.
pub fn shared_pages(bytes: usize) -> *mut u8 {
    let anonymous = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    map(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, anonymous, -1)
}
