//! Guarded buffers, `Room`: inaccessible pages directly before and after a buffer or, in a build
//! with a sanitizer, a heap allocation of the exact size.

use std::ptr;

/// The sanitizer of this build, as `sanitized.py` names it.
pub const SANITIZER: Option<&str> = option_env!("TAGMAC_SANITIZER");
/// True in a build with a sanitizer, which also has debug assertions.
pub const SANITIZED: bool = SANITIZER.is_some();

/// The end of a buffer that is next to a guard page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    Start,
    End,
}

/// The sides to try: an allocation of the exact size guards both at once.
pub const SIDES: &[Side] = if SANITIZED { &[Side::End] } else { &[Side::Start, Side::End] };

/// Memory for one buffer at a time. The program may only read a lent `&[u8]`.
pub struct Room {
    /// The pages for writing, and the same pages between guards.
    write: *mut u8,
    read: *mut u8,
    bytes: usize,
    /// The current allocation, in a build with a sanitizer.
    heap: Box<[u8]>,
}

impl Room {
    /// Allocates space for buffers of up to `max` bytes.
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
        // SAFETY: the name is a C string; all other arguments are numbers.
        let file = unsafe { libc::memfd_create(c"room".as_ptr(), 0) };
        assert!(file >= 0, "cannot create a memory file");
        // SAFETY: the file is open.
        assert_eq!(unsafe { libc::ftruncate(file, bytes as libc::off_t) }, 0, "out of memory");
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
        // SAFETY: the file is open, and only this function has it; the mappings stay.
        unsafe { libc::close(file) };
        Room { write, read, bytes, heap: Box::default() }
    }

    /// Allocates space for results, which the program may write.
    pub fn for_results(max: usize) -> Room {
        let room = Room::new(max);
        if !SANITIZED {
            // SAFETY: `bytes` bytes are mapped there, and no reference to them exists yet.
            let changed = unsafe {
                libc::mprotect(room.read.cast(), room.bytes, libc::PROT_READ | libc::PROT_WRITE)
            };
            assert_eq!(changed, 0, "cannot make the pages writable");
        }
        room
    }

    /// Copies these bytes into the buffer and returns its start, which is valid until the next
    /// call.
    pub fn place(&mut self, bytes: &[u8], side: Side) -> *mut u8 {
        assert!(bytes.len() <= self.bytes, "too small for {} bytes", bytes.len());
        if SANITIZED {
            self.heap = bytes.into();
            return self.heap.as_mut_ptr();
        }
        let at = match side {
            Side::Start => 0,
            Side::End => self.bytes - bytes.len(),
        };
        // SAFETY: `at + bytes.len()` is within the mapping.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.write.add(at), bytes.len()) };
        self.read.wrapping_add(at)
    }

    /// Returns a buffer with these bytes.
    pub fn lend(&mut self, bytes: &[u8], side: Side) -> &[u8] {
        let at = self.place(bytes, side);
        // SAFETY: `place` wrote these bytes there, and `self` stays borrowed.
        unsafe { std::slice::from_raw_parts(at, bytes.len()) }
    }
}

fn page_bytes() -> usize {
    // SAFETY: it returns a number of the system.
    (unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) as usize
}

fn map(at: *mut u8, bytes: usize, protection: i32, flags: i32, file: i32) -> *mut u8 {
    // SAFETY: it maps free addresses, or replaces the caller's own mapping.
    let found = unsafe { libc::mmap(at.cast(), bytes, protection, flags, file, 0) };
    assert_ne!(found, libc::MAP_FAILED, "cannot map pages");
    found.cast()
}

/// Maps pages that a process shares with its children.
pub fn shared_pages(bytes: usize) -> *mut u8 {
    let anonymous = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    map(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, anonymous, -1)
}
