//! The names in one directory, in order, some at a time.
//!
//! A directory may have more names than there is room for. So a reading of it keeps the lowest of
//! the names that are still to come, as many as have room, and the next reading goes on behind them.
//! Nothing is written anywhere, and a name never comes twice. A directory of N bytes of names is
//! read N / room times.
//!
//! What is added, removed or renamed between two readings may be told of or not, as with any listing
//! of a directory that changes. With one reading nobody could know; with more, the directory's time
//! of change shows it, and [`Listing::changed`] says so.

use std::io;
use std::mem;
use std::os::fd::BorrowedFd;

use crate::escaped::Escaped;
use crate::faults;
use crate::identity::Identity;
use rustix::fs::{self, AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;

use crate::dir::{EntryKind, FileStat};

/// The names in a directory.
pub struct Listing {
    /// The directory.
    identity: Identity,
    /// When its names were changed last, as of before the first reading.
    ctime: (i64, u32),
    /// The names that are held, sorted, and how many of them were given out.
    names: Names,
    next: usize,
    /// The name that was given out last before those that are held.
    after: Option<Vec<u8>>,
    /// Whether there may be names behind those that are held.
    more: bool,
    /// Names that are too long.
    too_long: u64,
    changed: bool,
}

/// Names and what they are of, with the bytes of all in one place.
#[derive(Default)]
pub struct Names {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

/// Where a name is in the bytes.
struct Place {
    start: u32,
    len: u16,
    kind: EntryKind,
}

impl Listing {
    /// A listing of the directory `fd`, of which nothing is read yet.
    pub fn new(fd: BorrowedFd<'_>) -> io::Result<Listing> {
        let FileStat { identity, ctime, .. } = FileStat::from_fd(fd)?;
        Ok(Listing {
            identity,
            ctime,
            names: Names::default(),
            next: 0,
            after: None,
            more: true,
            too_long: 0,
            changed: false,
        })
    }

    /// The directory's file system and number.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The next of the names that are held.
    pub fn next_name(&mut self) -> Option<(&[u8], EntryKind)> {
        let place = self.names.places.get(self.next)?;
        self.next += 1;
        Some((self.names.text(place), place.kind))
    }

    /// Whether there may be names behind those that are held.
    pub fn has_more(&self) -> bool {
        self.more
    }

    /// Names of more than `longest` bytes that the last reading passed over.
    pub fn too_long(&self) -> u64 {
        self.too_long
    }

    /// Whether the directory changed since its first reading. It is told once.
    pub fn changed(&mut self) -> bool {
        mem::take(&mut self.changed)
    }

    /// Bytes that the names take.
    pub fn held(&self) -> usize {
        self.names.bytes.capacity() + self.names.places.capacity() * size_of::<Place>()
    }

    /// Forgets the names that are held. Those that were not given out are to be read again.
    pub fn release(&mut self) {
        let names = mem::take(&mut self.names);
        self.more |= self.next < names.places.len();
        if let Some(last) = mem::take(&mut self.next).checked_sub(1) {
            self.after = Some(names.text(&names.places[last]).to_vec());
        }
    }

    /// Reads the directory `fd` again for the names behind those that were given out: the lowest, as
    /// many as fit into `room` bytes, and none that is longer than `longest`. What was read is in
    /// `scratch` meanwhile, which takes twice the room. It is the walk's and not made anew each time,
    /// as an allocator may keep what it gets back.
    pub fn read(
        &mut self,
        fd: BorrowedFd<'_>,
        longest: usize,
        room: usize,
        scratch: &mut Names,
    ) -> io::Result<()> {
        self.release();
        scratch.clear();
        let first = self.after.is_none();
        (self.more, self.too_long) = (false, 0);
        // Names above this one have no room.
        let mut top: Option<Vec<u8>> = None;
        // A descriptor of its own, which begins at the first name.
        let again = OFlags::RDONLY | OFlags::DIRECTORY;
        for entry in Dir::new(faults::open_in(fd, ".", again, Mode::empty())?)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if name.len() > longest {
                self.too_long += 1;
                continue;
            }
            if self.after.as_deref().is_some_and(|after| name <= after) {
                continue;
            }
            if top.as_deref().is_some_and(|top| name > top) {
                self.more = true;
                continue;
            }
            if let Some(kind) = kind_of(fd, name, entry.file_type())? {
                scratch.push(name, kind);
            }
            if scratch.size() > 2 * room && scratch.cut(room) {
                self.more = true;
                let kept = scratch.copy();
                scratch.clear();
                kept.places.iter().for_each(|place| scratch.push(kept.text(place), place.kind));
                top = scratch.places.last().map(|last| scratch.text(last).to_vec());
            }
        }
        self.more |= scratch.cut(room);
        self.names = scratch.copy();
        let now = FileStat::from_fd(fd)?;
        // One reading sees a directory as well as any; what comes of several has to fit together.
        let others = (now.identity, now.ctime) != (self.identity, self.ctime);
        if others && (self.more || !first) {
            (self.identity, self.ctime, self.changed) = (now.identity, now.ctime, true);
        }
        Ok(())
    }
}

impl Names {
    fn text(&self, place: &Place) -> &[u8] {
        &self.bytes[place.start as usize..][..place.len.into()]
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<Place>()
    }

    fn push(&mut self, name: &[u8], kind: EntryKind) {
        self.places.push(Place { start: self.bytes.len() as u32, len: name.len() as u16, kind });
        self.bytes.extend_from_slice(name);
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    /// Sorts the names and keeps the lowest that fit into `room` bytes, at least one. Whether others
    /// are gone. The bytes stay where they are.
    fn cut(&mut self, room: usize) -> bool {
        let Names { bytes, places } = self;
        let text = |place: &Place| &bytes[place.start as usize..][..place.len.into()];
        places.sort_unstable_by(|a, b| text(a).cmp(text(b)));
        // A file system may tell of a name twice while its directory changes.
        places.dedup_by(|a, b| text(a) == text(b));
        let mut size = 0;
        let over = places.iter().position(|place| {
            size += usize::from(place.len) + size_of::<Place>();
            size > room
        });
        let kept = over.map_or(places.len(), |over| over.max(1));
        let cut = kept < places.len();
        places.truncate(kept);
        cut
    }

    /// The names in just the memory that they need.
    fn copy(&self) -> Names {
        let bytes = self.places.iter().map(|place| usize::from(place.len)).sum();
        let (bytes, places) = (Vec::with_capacity(bytes), Vec::with_capacity(self.places.len()));
        let mut copy = Names { bytes, places };
        self.places.iter().for_each(|place| copy.push(self.text(place), place.kind));
        copy
    }
}

/// What a name is of; `None` if it is gone.
fn kind_of(fd: BorrowedFd<'_>, name: &[u8], told: fs::FileType) -> io::Result<Option<EntryKind>> {
    let kind = match EntryKind::from_file_type(told) {
        Some(kind) => return Ok(Some(kind)),
        // The file system leaves it to the entry itself to tell.
        None => match fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            stat => FileStat::from_stat(&stat?).kind,
        },
    };
    kind.map(Some).ok_or_else(|| {
        let name = Escaped::bytes(name);
        io::Error::other(format!("expected a file or its like at {name}, found neither"))
    })
}
