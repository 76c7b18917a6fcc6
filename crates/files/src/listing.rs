//! Reads the names in a directory, in order, within a memory limit.
//!
//! A directory may have more names than fit into memory. Each reading keeps the lowest of the names
//! still to come, as far as they fit, and the next reading continues after them. Nothing is written
//! to disk, and no name comes twice. A directory with N bytes of names is read N / room times.
//!
//! As with any listing of a directory that changes, an entry added, removed or renamed between two
//! readings may or may not appear. With several readings the directory's change time reveals this;
//! see [`Listing::changed`]. With a single one, nothing does.

use std::io;
use std::mem;

use crate::escaped::Escaped;
use crate::faults;
use crate::identity::Identity;
use crate::sys::{self, DirRef};

use crate::dir::{EntryKind, FileStat};

/// The names in a directory.
pub struct Listing {
    /// The directory's identity.
    identity: Identity,
    /// The time of the last change of its names, taken before the first reading.
    ctime: (i64, u32),
    /// The names in memory, sorted, and how many of them were returned.
    names: Names,
    next: usize,
    /// The last name returned before those in memory.
    after: Option<Vec<u8>>,
    /// True if names may follow those in memory.
    more: bool,
    /// The number of names that are too long.
    too_long: u64,
    changed: bool,
}

/// Names and their kinds, with all bytes in one buffer.
#[derive(Default)]
pub struct Names {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

/// The position of a name in the buffer.
struct Place {
    start: u32,
    len: u16,
    kind: EntryKind,
}

impl Listing {
    /// Starts a listing of the directory `fd`; nothing is read yet.
    pub fn new(fd: DirRef<'_>) -> io::Result<Listing> {
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

    /// Returns the directory's device and inode.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Returns the next name in memory, and its kind.
    pub fn next_name(&mut self) -> Option<(&[u8], EntryKind)> {
        let place = self.names.places.get(self.next)?;
        self.next += 1;
        Some((self.names.text(place), place.kind))
    }

    /// Returns whether names may follow those in memory.
    pub fn has_more(&self) -> bool {
        self.more
    }

    /// Returns the number of names that the last reading skipped because they were over `longest`
    /// bytes.
    pub fn too_long(&self) -> u64 {
        self.too_long
    }

    /// Returns whether the directory changed since its first reading. Resets the answer.
    pub fn changed(&mut self) -> bool {
        mem::take(&mut self.changed)
    }

    /// Returns the memory that the names use, in bytes.
    pub fn held(&self) -> usize {
        self.names.bytes.capacity() + self.names.places.capacity() * size_of::<Place>()
    }

    /// Drops the names in memory. Those not yet returned will be read again.
    pub fn release(&mut self) {
        let names = mem::take(&mut self.names);
        self.more |= self.next < names.places.len();
        if let Some(last) = mem::take(&mut self.next).checked_sub(1) {
            self.after = Some(names.text(&names.places[last]).to_vec());
        }
    }

    /// Reads the directory `fd` for the names after those already returned: the lowest that fit
    /// into `room` bytes, and none longer than `longest`. `scratch` holds names during the reading
    /// and grows to twice the room. The walk owns it and reuses it, as an allocator may not return
    /// freed memory to the system.
    pub fn read(
        &mut self,
        fd: DirRef<'_>,
        longest: usize,
        room: usize,
        scratch: &mut Names,
    ) -> io::Result<()> {
        self.release();
        scratch.clear();
        let first = self.after.is_none();
        // Names above this one do not fit.
        let mut top: Option<Vec<u8>> = None;
        let (after, mut more, mut too_long) = (self.after.as_deref(), false, 0);
        faults::open(|| Ok(()))?;
        sys::names_in(fd, |name, told| {
            if name.len() > longest {
                too_long += 1;
                return Ok(());
            }
            if after.is_some_and(|after| name <= after) {
                return Ok(());
            }
            if top.as_deref().is_some_and(|top| name > top) {
                more = true;
                return Ok(());
            }
            if let Some(kind) = kind_of(fd, name, told)? {
                scratch.push(name, kind);
            }
            if scratch.size() > 2 * room && scratch.cut(room) {
                more = true;
                let kept = scratch.copy();
                scratch.clear();
                kept.places.iter().for_each(|place| scratch.push(kept.text(place), place.kind));
                top = scratch.places.last().map(|last| scratch.text(last).to_vec());
            }
            Ok(())
        })?;
        (self.more, self.too_long) = (more, too_long);
        self.more |= scratch.cut(room);
        self.names = scratch.copy();
        let now = FileStat::from_fd(fd)?;
        // A single reading is as consistent as any; several must have seen the same directory.
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

    /// Sorts the names and keeps the lowest that fit into `room` bytes, at least one. Returns
    /// whether names were dropped. Their bytes stay in the buffer.
    fn cut(&mut self, room: usize) -> bool {
        let Names { bytes, places } = self;
        let text = |place: &Place| &bytes[place.start as usize..][..place.len.into()];
        places.sort_unstable_by(|a, b| text(a).cmp(text(b)));
        // A file system may list a name twice while its directory changes.
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

    /// Copies the names into exactly the memory that they need.
    fn copy(&self) -> Names {
        let bytes = self.places.iter().map(|place| usize::from(place.len)).sum();
        let (bytes, places) = (Vec::with_capacity(bytes), Vec::with_capacity(self.places.len()));
        let mut copy = Names { bytes, places };
        self.places.iter().for_each(|place| copy.push(self.text(place), place.kind));
        copy
    }
}

/// Returns the kind of an entry; `None` if it is gone.
fn kind_of(fd: DirRef<'_>, name: &[u8], told: Option<EntryKind>) -> io::Result<Option<EntryKind>> {
    let kind = match told {
        Some(kind) => return Ok(Some(kind)),
        // Some file systems do not store kinds in directories.
        None => match sys::facts_in(fd, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            facts => facts?.kind,
        },
    };
    kind.map(Some).ok_or_else(|| {
        let name = Escaped::bytes(name);
        io::Error::other(format!("{name}: unknown kind of entry"))
    })
}
