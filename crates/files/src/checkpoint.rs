//! The checkpoint of `tagmac tag --checkpoint`, which lets an interrupted run resume.
//!
//! ```text
//! "tagmac-state-2"  key id (8)  sealed: name, size and times of the file, part of its beginning,
//!                               and of pieces of that
//! ```
//!
//! A checkpoint is written to a temporary file and renamed. A run killed at any moment therefore
//! leaves the previous checkpoint or the new one. The file is locked before it is named, so it
//! belongs to one run. It contains no nonce: the nonce of a tag is always fresh, however often its
//! run was interrupted.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tagmac::save::{Reader, SaveError, Writer};
use tagmac_any::{AnyPart, KeyId, Parts};

use crate::atomic::{self, AtomicFile};
use crate::diagnostic::diagnostic;
use crate::error::{Error, io_reason};
use crate::escaped::Escaped;
use crate::faults;
use crate::identity::Identity;
use crate::open;
use crate::open_key::OpenKey;
use crate::overwrite::Overwrite;
use crate::read_error::ReadError;
#[cfg(unix)]
use crate::sys::MetadataExt;
use crate::sys::{self, Metadata, OsStrExt};

/// Marks a checkpoint file and its version.
const MAGIC: &[u8] = b"tagmac-state-2";
/// Domain of the seal, so that other sealed data cannot pass as a checkpoint.
const PURPOSE: &[u8] = b"tag state 2";
/// Bytes allowed for a checkpoint besides its sums. The file's name is far shorter.
const ROOM: u64 = 64 << 10;
/// Number of randomly chosen pieces that are read again before a run resumes.
const SAMPLES: usize = 32;
/// Maximum length of a piece in bytes.
const MAX_PIECE: u64 = 1 << 20;
/// Default time between saves.
const PAUSE: Duration = Duration::from_secs(5);
/// Saving may take at most 1/SHARE of the run time. This matters for UMAC (1999), whose checkpoints
/// are large.
const SHARE: u32 = 20;

/// Maintains the checkpoint of one file's tag.
pub struct Checkpointer<'a> {
    key: &'a OpenKey,
    path: &'a Path,
    /// Bytes between two saves; `None` to save by time.
    every: Option<u64>,
    /// The file's properties, once it is open.
    facts: Option<SavedStat>,
    clock: Mutex<Clock>,
    pieces: Mutex<Pieces>,
    /// The current checkpoint file, locked.
    held: Mutex<Option<File>>,
}

/// When the next save is due.
struct Clock {
    time: Instant,
    bytes: u64,
    /// A thread is saving now.
    busy: bool,
    /// A failed save was reported.
    told: bool,
}

/// Pieces of the part already read, each with its hash: some chosen at random, so that their
/// positions cannot be predicted, and the last one. They may reveal a change that the file's times
/// do not show.
#[derive(Default)]
struct Pieces {
    /// Number of pieces considered so far.
    passed: u64,
    some: Vec<AnyPart>,
    last: Option<AnyPart>,
}

impl Pieces {
    /// Makes `piece` the last one. The previous last piece enters the sample with the same
    /// probability as all earlier ones (reservoir sampling).
    fn pass(&mut self, piece: AnyPart) {
        let Some(before) = self.last.replace(piece) else { return };
        self.passed += 1;
        if self.some.len() < SAMPLES {
            self.some.push(before);
            return;
        }
        // Without random numbers the sample stays unchanged.
        let place = getrandom::u64().map_or(u64::MAX, |random| random % self.passed);
        if let Some(piece) = usize::try_from(place).ok().and_then(|place| self.some.get_mut(place))
        {
            *piece = before;
        }
    }

    fn all(&self) -> impl Iterator<Item = &AnyPart> {
        self.some.iter().chain(&self.last)
    }

    fn save(&self, parts: Parts<'_>, out: &mut Writer) -> Result<(), SaveError> {
        out.number(self.passed).number(self.all().count() as u64);
        self.all().try_for_each(|piece| parts.save(piece, out))
    }

    /// Loads the pieces; all must end at or before byte `end`.
    fn load(parts: Parts<'_>, input: &mut Reader<'_>, end: u64) -> Option<Pieces> {
        let (passed, count) = (input.number()?, input.number()?);
        if count > SAMPLES as u64 + 1 {
            return None;
        }
        let mut some = Vec::new();
        for _ in 0..count {
            let piece = parts.load(input).ok()?;
            let fits = piece.end() <= end && piece.end() - piece.start() <= MAX_PIECE;
            some.push(Some(piece).filter(|_| fits)?);
        }
        let last = some.pop();
        Some(Pieces { passed, some, last })
    }

    /// Returns the range of the first piece that differs from the file, if any.
    fn changed(&self, parts: Parts<'_>, file: &File) -> io::Result<Option<(u64, u64)>> {
        let mut bytes = Vec::new();
        for piece in self.all() {
            bytes.resize((piece.end() - piece.start()) as usize, 0);
            faults::read_exact_at(file, &mut bytes, piece.start())?;
            if parts.check(piece, &bytes).is_err() {
                return Ok(Some((piece.start(), piece.end())));
            }
        }
        Ok(None)
    }
}

/// The sealed contents: the file's properties, the hash of its beginning, and pieces of that.
struct Contents {
    facts: SavedStat,
    part: AnyPart,
    pieces: Pieces,
}

impl Contents {
    fn load(parts: Parts<'_>, facts: SavedStat, input: &mut Reader<'_>) -> Option<Contents> {
        let part = parts.load(input).ok()?;
        let pieces = Pieces::load(parts, input, part.end())?;
        let fits = part.start() == 0 && part.end() <= facts.bytes.saturating_sub(1);
        (fits && input.is_empty()).then_some(Contents { facts, part, pieces })
    }

    fn save(&self, parts: Parts<'_>, out: &mut Writer) -> Result<(), SaveError> {
        self.facts.save(out);
        parts.save(&self.part, out)?;
        self.pieces.save(parts, out)
    }
}

/// Loads the contents of a checkpoint and saves them again.
pub(crate) fn again(parts: Parts<'_>, text: &[u8]) -> Option<Vec<u8>> {
    let (input, mut out) = (&mut Reader::new(text), Writer::default());
    let facts = SavedStat::load(input)?;
    Contents::load(parts, facts, input)?.save(parts, &mut out).expect("parts of this MAC");
    Some(out.as_bytes().to_vec())
}

/// A serialized checkpoint that is due to be written.
pub struct PendingSave {
    secret: Writer,
    started: Instant,
}

/// File properties that reveal a change. Device and inode numbers are left out: some file systems
/// renumber on mount, and a change updates the times.
#[derive(Clone, PartialEq, Eq)]
struct SavedStat {
    name: PathBuf,
    bytes: u64,
    modified: (i64, i64),
    /// The status change time, which also covers mode, owner and names.
    changed: (i64, i64),
}

impl SavedStat {
    fn from_metadata(name: PathBuf, file: &Metadata) -> SavedStat {
        SavedStat {
            name,
            bytes: file.len(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }

    fn save(&self, out: &mut Writer) {
        out.length_prefixed(self.name.as_os_str().as_bytes()).number(self.bytes);
        for (seconds, nanoseconds) in [self.modified, self.changed] {
            out.number(seconds as u64).number(nanoseconds as u64);
        }
    }

    fn load(input: &mut Reader<'_>) -> Option<SavedStat> {
        let name = OsStr::from_bytes(input.length_prefixed()?).into();
        let bytes = input.number()?;
        let mut time = || Some((input.number()? as i64, input.number()? as i64));
        Some(SavedStat { name, bytes, modified: time()?, changed: time()? })
    }

    /// Describes the first difference, if any.
    fn differ(&self, now: &SavedStat) -> Option<String> {
        if self.bytes != now.bytes {
            Some(format!("it had {} bytes and has {}", self.bytes, now.bytes))
        } else if self.modified != now.modified {
            Some("it was written to".into())
        } else if self.changed != now.changed {
            Some("its contents, mode, owner or names changed".into())
        } else {
            None
        }
    }
}

impl<'a> Checkpointer<'a> {
    /// Maintains the checkpoint in the file `path`, and saves it every `every` bytes, or every 5
    /// seconds if that is `None`.
    pub fn new(key: &'a OpenKey, path: &'a Path, every: Option<u64>) -> Checkpointer<'a> {
        let bytes = every.unwrap_or(u64::MAX);
        let clock = Clock { time: Instant::now() + PAUSE, bytes, busy: false, told: false };
        let (clock, held) = (Mutex::new(clock), Mutex::new(None));
        Checkpointer { key, path, every, facts: None, clock, pieces: Mutex::default(), held }
    }

    /// Returns the hash of the file's beginning from the checkpoint. Without a checkpoint it is
    /// empty; then one is saved at once, to report early if it cannot be written.
    pub fn begin(
        &mut self,
        name: &Path,
        file: &File,
        now: &Metadata,
    ) -> Result<AnyPart, ReadError> {
        let facts =
            self.facts.insert(SavedStat::from_metadata(fs::canonicalize(name)?, now)).clone();
        let Some(checkpoint) = self.open()? else {
            let parts = self.key.mac.parts().ok_or(SaveError::NoSavedState)?;
            let whole = parts.new_part(0, &[])?;
            let due = self.snapshot(&whole)?;
            self.store(&due.secret, Overwrite::Nothing).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => self.io(
                    "another run has just created this checkpoint; wait for it or name another \
                     file",
                ),
                _ => self.io(io_reason(&error)),
            })?;
            return Ok(whole);
        };
        let (part, pieces) = self.read(&checkpoint, file, &facts)?;
        // This run may finish before its first save.
        atomic::sweep(self.path);
        *self.pieces.get_mut().expect("no thread panics") = pieces;
        *self.held.get_mut().expect("no thread panics") = Some(checkpoint);
        if let Some(clock) = self.every {
            let next = part.end().saturating_add(clock);
            self.clock.get_mut().expect("no thread panics").bytes = next;
        }
        let name = Escaped::name(name);
        diagnostic(format_args!("{name}: resumed at byte {} of {}", part.end(), facts.bytes));
        Ok(part)
    }

    /// Opens and locks the checkpoint, if it exists.
    fn open(&self) -> Result<Option<File>, Error> {
        match open::alone(self.path) {
            Ok(checkpoint) => Ok(Some(checkpoint)),
            Err(ReadError::Missing(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.io(error)),
        }
    }

    /// Reads a checkpoint of this file. Another kind of file is not read to its end.
    fn read(
        &self,
        checkpoint: &File,
        file: &File,
        now: &SavedStat,
    ) -> Result<(AnyPart, Pieces), Error> {
        let failed = |error: io::Error| self.io(io_reason(&error));
        let mut saved = Vec::new();
        let head = MAGIC.len() + KeyId::BYTES;
        checkpoint.take(head as u64).read_to_end(&mut saved).map_err(failed)?;
        let id = saved.strip_prefix(MAGIC).and_then(|id| <[u8; KeyId::BYTES]>::try_from(id).ok());
        let id = id
            .map(KeyId::from)
            .ok_or_else(|| self.mismatch("not a checkpoint of this version; name another file"))?;
        let own = self.key.key_id();
        if id != own {
            return Err(self.key(format_args!(
                "the checkpoint is sealed under another key: expected key id {own}, found {id}"
            )));
        }
        let altered = || self.mismatch("the checkpoint is damaged; remove it to start over");
        let (parts, algorithm) = (self.key.parts()?, self.key.mac.algorithm());
        let sums = [MAX_PIECE; SAMPLES + 1].into_iter().chain([now.bytes]);
        let most = ROOM + sums.filter_map(|range| algorithm.max_part_len(range)).sum::<u64>();
        checkpoint.take(most + 1).read_to_end(&mut saved).map_err(failed)?;
        if saved.len() as u64 > most {
            return Err(altered());
        }
        let opened = self.key.sealer.open(&[PURPOSE, id.to_string().as_bytes()], &saved[head..]);
        let opened = opened.map_err(|_| altered())?;
        let input = &mut Reader::new(&opened);
        let then = SavedStat::load(input).ok_or_else(altered)?;
        if then.name != now.name {
            let [now, then] = [now, &then].map(|facts| Escaped::name(&facts.name).to_string());
            let what = format_args!("the checkpoint is for {then}, not for {now}");
            return Err(self.mismatch(what));
        }
        let changed = |found: &dyn fmt::Display| {
            self.io(format_args!(
                "the file has changed since this checkpoint was saved: {found}; remove the checkpoint \
                 to start over"
            ))
        };
        if let Some(found) = then.differ(now) {
            return Err(changed(&found));
        }
        let contents = Contents::load(parts, then, input).ok_or_else(altered)?;
        let Contents { part, pieces, .. } = contents;
        match pieces.changed(parts, file) {
            Ok(None) => Ok((part, pieces)),
            Ok(Some((start, end))) => Err(changed(&format_args!("bytes {start} to {end} differ"))),
            Err(error) => Err(Error::io(io_reason(&error))),
        }
    }

    /// Considers a piece for the sample. Pieces must come in order.
    pub fn passed(&self, piece: AnyPart) {
        self.pieces.lock().expect("no thread panics").pass(piece);
    }

    /// Returns the checkpoint to write, if one is due.
    pub fn due(&self, whole: &AnyPart) -> Option<PendingSave> {
        let mut clock = self.clock.lock().expect("no thread panics");
        let due = match self.every {
            Some(_) => whole.end() >= clock.bytes,
            None => Instant::now() >= clock.time,
        };
        if clock.busy || !due {
            return None;
        }
        let due = self.snapshot(whole).ok()?;
        clock.busy = true;
        clock.bytes = whole.end().saturating_add(self.every.unwrap_or_default());
        Some(due)
    }

    fn snapshot(&self, whole: &AnyPart) -> Result<PendingSave, SaveError> {
        let (mut secret, started) = (Writer::default(), Instant::now());
        if let Some(facts) = &self.facts {
            facts.save(&mut secret);
        }
        let parts = self.key.mac.parts().ok_or(SaveError::NoSavedState)?;
        parts.save(whole, &mut secret)?;
        self.pieces.lock().expect("no thread panics").save(parts, &mut secret)?;
        Ok(PendingSave { secret, started })
    }

    /// Replaces the checkpoint that this run holds. If that fails, the previous one stays and the
    /// run continues; only the first failure is reported.
    pub fn write(&self, due: PendingSave) {
        let stored = self.held().and_then(|held| self.store(&due.secret, Overwrite::Held(held)));
        let mut clock = self.clock.lock().expect("no thread panics");
        clock.busy = false;
        clock.time = Instant::now() + PAUSE.max(SHARE * due.started.elapsed());
        if let Err(error) = stored
            && !clock.told
        {
            clock.told = true;
            let (name, what) = (Escaped::name(self.path), io_reason(&error));
            diagnostic(format_args!(
                "warning: {name}: {what}: the checkpoint is not saved; the run continues"
            ));
        }
    }

    /// Returns the identity of the previous checkpoint, which stays open until the next one is
    /// named.
    fn held(&self) -> io::Result<Identity> {
        let held = self.held.lock().expect("no thread panics");
        let held = held.as_ref().ok_or(io::ErrorKind::NotFound)?;
        Ok(Identity::new(&sys::metadata_of(held)?))
    }

    fn store(&self, secret: &Writer, over: Overwrite) -> io::Result<()> {
        let id = self.key.key_id();
        let sealed = self.key.sealer.seal(&[PURPOSE, id.to_string().as_bytes()], secret.as_bytes());
        let sealed = sealed.map_err(io::Error::other)?;
        let mut file = AtomicFile::new(self.path, 0o600, over)?;
        file.write_all(&[MAGIC, id.as_bytes(), &sealed].concat())?;
        let checkpoint = file.finish_locked()?;
        *self.held.lock().expect("no thread panics") = Some(checkpoint);
        Ok(())
    }

    /// Rejects a file that changed since it was opened.
    pub fn unchanged(&self, after: &Metadata) -> Result<(), ReadError> {
        let Some(before) = &self.facts else { return Ok(()) };
        match before.differ(&SavedStat::from_metadata(before.name.clone(), after)) {
            None => Ok(()),
            Some(found) => {
                Err(Error::io(format_args!("the file changed while it was read: {found}")).into())
            }
        }
    }

    /// Removes the checkpoint, once the tag was written.
    pub fn done(&self) {
        let held = self.held.lock().expect("no thread panics");
        let removed = held.as_ref().map_or(Ok(()), |held| atomic::remove(self.path, held));
        if let Err(error) = removed {
            diagnostic(format_args!(
                "warning: {}: {}: not removed",
                Escaped::name(self.path),
                io_reason(&error)
            ));
        }
    }

    fn io(&self, what: impl fmt::Display) -> Error {
        Error::io(self.named(what))
    }

    /// Returns an error for a checkpoint that does not match what was saved.
    fn mismatch(&self, what: impl fmt::Display) -> Error {
        Error::mismatch(self.named(what))
    }

    fn key(&self, what: impl fmt::Display) -> Error {
        Error::key(self.named(what))
    }

    fn named(&self, what: impl fmt::Display) -> String {
        format!("{}: {what}", Escaped::name(self.path))
    }
}

#[cfg(test)]
mod tests {
    use tagmac_any::{Algorithm, AnyMac};

    use super::*;

    /// Anyone who has the key can seal any contents, so loading must check them.
    #[test]
    fn what_is_sealed_is_of_a_files_beginning() {
        let mac = AnyMac::new(Algorithm::default(), &[7; 16]).expect("16 bytes");
        let parts = mac.parts().expect("parts");
        let accepts = |bytes: u64, whole: (u64, u64), pieces: &[(u64, u64)], more: &[u8]| {
            let (name, mut out) = (PathBuf::from("f"), Writer::default());
            SavedStat { name, bytes, modified: (1, 2), changed: (3, 4) }.save(&mut out);
            let save = |(start, end): (u64, u64), out: &mut Writer| {
                let part = parts.new_part(start, &vec![3; (end - start) as usize]);
                parts.save(&part.expect("aligned"), out).expect("of this MAC");
            };
            save(whole, &mut out);
            out.number(9).number(pieces.len() as u64);
            pieces.iter().for_each(|piece| save(*piece, &mut out));
            let text = [out.as_bytes(), more].concat();
            again(parts, &text).is_some_and(|same| same == text)
        };
        let two = [(0, 16), (16, 64)];
        assert!(accepts(65, (0, 64), &two, b""));
        assert!(accepts(65, (0, 64), &[], b""));
        assert!(!accepts(65, (16, 64), &two, b""), "the part begins later");
        assert!(
            !accepts(64, (0, 64), &two, b""),
            "the part is the whole file; at least one byte must be left"
        );
        assert!(!accepts(0, (0, 64), &two, b""), "the part is longer than the file");
        assert!(!accepts(65, (0, 64), &[(0, 16), (64, 80)], b""), "a piece after the part");
        assert!(!accepts(65, (0, 64), &two, b"x"), "something after the pieces");
        let most = MAX_PIECE;
        assert!(accepts(2 * most, (0, most + 16), &[(16, most + 16)], b""));
        assert!(
            !accepts(2 * most, (0, most + 16), &[(0, most + 16)], b""),
            "a piece that is too long"
        );
        assert!(accepts(65, (0, 64), &[(0, 16); SAMPLES + 1], b""));
        assert!(!accepts(65, (0, 64), &[(0, 16); SAMPLES + 2], b""), "more pieces than are kept");
    }
}
