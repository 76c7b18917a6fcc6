//! Stamps: the metadata that shows whether a file may have been written since it was read.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::column::{parse_time, push_number, push_time};
use crate::dir::FileStat;
use crate::identity::Identity;

/// The age in seconds that a file's last change must have when it is read. File systems record
/// times in steps of up to two seconds, so a later write in the same step would leave no trace.
const AGE: i64 = 2;

/// The times and the place of a file. Together with the size, they change with every write of a
/// program that does not control the clock or the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The modification time: seconds since 1970, rounded down, and nanoseconds.
    pub mtime: (i64, u32),
    /// The status change time.
    pub ctime: (i64, u32),
    /// The device and inode.
    pub identity: Identity,
}

impl Stamp {
    /// Returns the stamp of a file.
    pub fn of(facts: &FileStat) -> Stamp {
        let FileStat { mtime, ctime, identity, .. } = *facts;
        Stamp { mtime, ctime, identity }
    }

    /// Returns the stamp of a file that was last changed more than two seconds before `now`.
    pub fn settled(facts: &FileStat, now: SystemTime) -> Option<Stamp> {
        let now = now.duration_since(UNIX_EPOCH).ok()?.as_secs() as i64;
        (facts.ctime.0 < now - AGE).then(|| Stamp::of(facts))
    }

    /// Returns whether the file has this stamp now.
    pub fn is_of(&self, facts: &FileStat) -> bool {
        *self == Stamp::of(facts)
    }

    /// Appends the stamp as in a line.
    pub fn push(&self, out: &mut Vec<u8>) {
        let Stamp { mtime, ctime, identity: Identity { device, inode } } = *self;
        push_time(mtime, out);
        out.push(b',');
        push_time(ctime, out);
        for number in [inode, device] {
            out.push(b',');
            push_number(number, 1, out);
        }
    }

    /// Parses the form that [`push`](Stamp::push) writes.
    pub fn parse(text: &[u8]) -> Option<Stamp> {
        let mut words = text.split(|&byte| byte == b',');
        let times = [parse_time(words.next()?)?, parse_time(words.next()?)?];
        let mut number = || str::from_utf8(words.next()?).ok()?.parse().ok();
        let (inode, device) = (number()?, number()?);
        let identity = Identity { device, inode };
        words.next().is_none().then_some(Stamp { mtime: times[0], ctime: times[1], identity })
    }
}
