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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::dir::EntryKind;

    #[test]
    fn a_stamp_needs_a_change_more_than_two_seconds_ago() {
        let identity = Identity { device: 1, inode: 2 };
        let stat = |seconds| FileStat {
            kind: Some(EntryKind::File),
            size: 3,
            mode: 0o644,
            owner: (0, 0),
            mtime: (1, 0),
            ctime: (seconds, 5),
            identity,
        };
        let now = UNIX_EPOCH + Duration::new(100, 7);
        for (changed, expected) in [(0, true), (97, true), (98, false), (100, false), (200, false)]
        {
            let stamp = Stamp::settled(&stat(changed), now);
            assert_eq!(stamp.is_some(), expected, "{changed}");
            assert!(stamp.is_none_or(|stamp| stamp.is_of(&stat(changed))));
        }
        let stamp = Stamp::of(&stat(50));
        assert!(stamp.is_of(&stat(50)) && !stamp.is_of(&stat(51)));
        // A clock before 1970 proves nothing.
        assert_eq!(Stamp::settled(&stat(-9), UNIX_EPOCH - Duration::from_secs(1)), None);
    }
}
