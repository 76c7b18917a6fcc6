//! The state of an interrupted `tagmac tag --state`, and how it is kept up.
//!
//! ```text
//! "tagmac-state-1"  key id (8)  sealed: name, size and times of the file, part of its beginning
//! ```
//!
//! The state is written beside its place and renamed, so a run that is killed at any moment leaves
//! the state of before or the new one. It holds no nonce: a tag has one that was never used, however
//! often its run was interrupted.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tagmac::any::AnyPart;
use tagmac::save::{Reader, Writer};

use crate::error::{Shown, say, why};
use crate::mac::Mac;
use crate::read::Trouble;

/// What a state begins with.
const MARK: &[u8] = b"tagmac-state-1";
/// What states are sealed for.
const PURPOSE: &[u8] = b"tag state 1";
/// Between two saves, if no number of bytes is.
const PAUSE: Duration = Duration::from_secs(5);
/// A save may take one part in so many of the time. States are small but for the UMAC of 1999.
const SHARE: u32 = 20;

/// Keeps the state of one file's tag.
pub struct Keeper<'a> {
    mac: &'a Mac,
    path: &'a Path,
    /// Bytes between two saves.
    every: Option<u64>,
    /// The file, once it is open.
    facts: Option<Facts>,
    clock: Mutex<Clock>,
}

/// When the next save is due.
struct Clock {
    time: Instant,
    bytes: u64,
    /// A thread is at it.
    busy: bool,
    /// A failure was told.
    told: bool,
}

/// A state to write.
pub struct Due {
    secret: Writer,
    started: Instant,
}

/// What tells whether a file is still the same. The inode's number and its device are not among it:
/// some file systems number anew with each mount, and who changes a file changes its times.
#[derive(Clone, PartialEq, Eq)]
struct Facts {
    name: PathBuf,
    bytes: u64,
    modified: (i64, i64),
    /// Also when its mode, owner or names were.
    changed: (i64, i64),
}

impl Facts {
    fn of(name: PathBuf, file: &Metadata) -> Facts {
        Facts {
            name,
            bytes: file.len(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }

    fn save(&self, out: &mut Writer) {
        out.counted(self.name.as_os_str().as_bytes()).number(self.bytes);
        for (seconds, nanoseconds) in [self.modified, self.changed] {
            out.number(seconds as u64).number(nanoseconds as u64);
        }
    }

    fn load(input: &mut Reader<'_>) -> Option<Facts> {
        let name = OsStr::from_bytes(input.counted()?).into();
        let bytes = input.number()?;
        let mut time = || Some((input.number()? as i64, input.number()? as i64));
        Some(Facts { name, bytes, modified: time()?, changed: time()? })
    }

    /// What is no longer as it was.
    fn differ(&self, now: &Facts) -> Option<String> {
        if self.bytes != now.bytes {
            Some(format!("{} bytes where there were {}", now.bytes, self.bytes))
        } else if self.modified != now.modified {
            Some("that it was written to".into())
        } else if self.changed != now.changed {
            Some("that its contents, mode, owner or names changed".into())
        } else {
            None
        }
    }
}

impl<'a> Keeper<'a> {
    /// Keeps the state in the file `path`, and saves it every so many bytes, or from time to time.
    pub fn new(mac: &'a Mac, path: &'a Path, every: Option<u64>) -> Keeper<'a> {
        let bytes = every.unwrap_or(u64::MAX);
        let clock = Clock { time: Instant::now() + PAUSE, bytes, busy: false, told: false };
        Keeper { mac, path, every, facts: None, clock: Mutex::new(clock) }
    }

    /// What is known of the file's beginning, `None` if there is no state yet. Then one is written
    /// at once, so that a state that cannot be kept is no surprise in the end.
    pub fn begin(&mut self, name: &Path, file: &Metadata) -> Result<Option<AnyPart>, Trouble> {
        let facts = self.facts.insert(Facts::of(fs::canonicalize(name)?, file)).clone();
        let saved = match fs::read(self.path) {
            Ok(saved) => saved,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parts = self.mac.mac.parts().ok_or(tagmac::Error::NoSavedState)?;
                let due = self.snapshot(&parts.of(0, &[])?)?;
                self.store(&due.secret).map_err(|what| self.trouble(&what))?;
                return Ok(None);
            }
            Err(error) => return Err(self.trouble(&why(&error))),
        };
        let part = self.read(&saved, &facts).map_err(|what| self.trouble(&what))?;
        if let Some(clock) = self.every {
            self.clock.get_mut().expect("no thread panics").bytes = part.end() + clock;
        }
        let name = Shown::name(name);
        say(format_args!("{name}: goes on at byte {} of {}", part.end(), facts.bytes));
        Ok(Some(part))
    }

    /// The part in a state of this file.
    fn read(&self, saved: &[u8], now: &Facts) -> Result<AnyPart, String> {
        let input = &mut Reader::new(saved);
        let id = input.bytes(MARK.len()).filter(|mark| *mark == MARK).and_then(|_| input.bytes(8));
        let id = id.map(base16ct::lower::encode_string).ok_or(
            "expected a state that this version of 'tagmac tag --state' made, found something else",
        )?;
        if id != self.mac.key_id {
            let own = &self.mac.key_id;
            return Err(format!("expected a state under the key {own}, found one under {id}"));
        }
        let altered = "expected a state as it was saved, found it altered; remove it to start over";
        let opened = self.mac.sealer.open(&[PURPOSE, id.as_bytes()], input.rest());
        let opened = opened.map_err(|_| altered)?;
        let input = &mut Reader::new(&opened);
        let then = Facts::load(input).ok_or(altered)?;
        if then.name != now.name {
            let [now, then] = [now, &then].map(|facts| Shown::name(&facts.name).to_string());
            return Err(format!("expected the state of {now}, found that of {then}"));
        }
        if let Some(found) = then.differ(now) {
            return Err(format!(
                "expected the file as it was when this state was begun, found {found}; \
                 remove the state to start over"
            ));
        }
        let parts = self.mac.mac.parts().ok_or(altered)?;
        let part = parts.load(input).map_err(|_| altered)?;
        let fits = part.start() == 0 && part.end() <= now.bytes.saturating_sub(1);
        (fits && input.is_empty()).then_some(part).ok_or(altered.into())
    }

    /// The state to write, if it is time.
    pub fn due(&self, whole: &AnyPart) -> Option<Due> {
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

    fn snapshot(&self, whole: &AnyPart) -> Result<Due, tagmac::Error> {
        let (mut secret, started) = (Writer::default(), Instant::now());
        if let Some(facts) = &self.facts {
            facts.save(&mut secret);
        }
        let parts = self.mac.mac.parts().ok_or(tagmac::Error::NoSavedState)?;
        parts.save(whole, &mut secret)?;
        Ok(Due { secret, started })
    }

    /// Writes a state that is due. If that fails the state of before stays, and the tag is made all
    /// the same: the failure is told once.
    pub fn write(&self, due: Due) {
        let stored = self.store(&due.secret);
        let mut clock = self.clock.lock().expect("no thread panics");
        clock.busy = false;
        clock.time = Instant::now() + PAUSE.max(SHARE * due.started.elapsed());
        if let Err(what) = stored
            && !clock.told
        {
            clock.told = true;
            let name = Shown::name(self.path);
            say(format_args!("warning: {name}: {what}: the state of before stays"));
        }
    }

    fn store(&self, secret: &Writer) -> Result<(), String> {
        let id = &self.mac.key_id;
        let sealed = self.mac.sealer.seal(&[PURPOSE, id.as_bytes()], secret.as_bytes());
        let sealed = sealed.map_err(|error| error.to_string())?;
        let id = base16ct::lower::decode_vec(id).expect("a key's id");
        let new = self.new_path();
        let written = write(&new, &[MARK, &id, &sealed].concat());
        written.and_then(|()| fs::rename(&new, self.path)).map_err(|error| {
            let _ = fs::remove_file(&new);
            why(&error)
        })
    }

    /// Refuses a file that is no longer the one that was opened.
    pub fn unchanged(&self, after: &Metadata) -> Result<(), Trouble> {
        let Some(before) = &self.facts else { return Ok(()) };
        match before.differ(&Facts::of(before.name.clone(), after)) {
            None => Ok(()),
            Some(found) => Err(Trouble::State(format!(
                "expected the file to stay as it was while it was read, found {found}"
            ))),
        }
    }

    /// Removes the state, once the tag is out.
    pub fn done(&self) {
        if self.facts.is_none() {
            return;
        }
        // What a run that was killed may have left.
        let _ = fs::remove_file(self.new_path());
        if let Err(error) = fs::remove_file(self.path) {
            let name = Shown::name(self.path);
            say(format_args!("warning: {name}: {}: expected to remove it", why(&error)));
        }
    }

    /// Where a state is written before it takes its place.
    fn new_path(&self) -> PathBuf {
        let mut name = OsString::from(self.path);
        name.push(".new");
        name.into()
    }

    fn trouble(&self, what: &str) -> Trouble {
        Trouble::State(format!("{}: {what}", Shown::name(self.path)))
    }
}

/// A new file, in the place of what a run that was killed may have left.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
