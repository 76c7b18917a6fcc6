//! `update` against a model: random scripts of edits, with kills, failing system calls, full disks,
//! and other programs that write to the file, or replace it or its sidecar.
//!
//! The law: an update succeeds only if its tag is that of the file at the path, unless another
//! program wrote to it. After a kill at any point, the next update finds the state before or after
//! the edit. Bytes of other programs are never overwritten or deleted. And there is always a way to
//! continue.
//!
//! Runs `TAGMAC_TEST_SCRIPTS` scripts, starting with number `TAGMAC_TEST_FIRST`, with the seed
//! `TAGMAC_TEST_SEED`. A failure prints seed and number, so that the script can be run again. The
//! number selects the algorithm, and then the length modulo the block.

mod ops;
mod scripts;

use std::cell::Cell;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tagmac_files::faults::{HookedFault, with_hook};
use tagmac_files::open_key::OpenKey;
use tagmac_files::sidecar::{Edit, Sidecar, Update, Updated, update};
use tagmac_files::{Error, ErrorKind};
use tempfile::TempDir;

use ops::{Event, Op, Other, Random, keys};

/// System error numbers: input/output error, and no space left.
const EIO: i32 = 5;
const ENOSPC: i32 = 28;
/// The approximate number of calls that an update of a small file makes.
const CALLS: u64 = 40;

type Verdict = Result<(), String>;

/// Returns an error unless the condition is true.
macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

/// A file with a sidecar, and its expected state.
struct Model<'a> {
    key: &'a OpenKey,
    folder: TempDir,
    file: PathBuf,
    sidecar: PathBuf,
    leaf: u64,
    /// The bytes that the sidecar vouches for.
    content: Vec<u8>,
    random: Random,
}

/// The end of an update.
struct Ended {
    result: Result<Updated, Error>,
    /// True if the event took place.
    met: bool,
}

impl<'a> Model<'a> {
    fn new(key: &'a OpenKey, seed: u64, script: u64, residue: u64) -> Model<'a> {
        let mut random = Random::new(seed, script);
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
        let folder = folder.unwrap();
        let name = "f".repeat([1, 9, 248][random.below(3) as usize]);
        let (file, sidecar) =
            (folder.path().join(&name), folder.path().join(format!("{name}.tagmac")));
        let block = key.parts().unwrap().block() as u64;
        let leaf = block * (1 + random.below(4));
        // Two levels of node pages, occasionally.
        let limit = key.mac.max_message_bytes().unwrap_or(u64::MAX);
        let two_levels = random.one_in(32) && 400 * leaf < limit;
        let blocks = if two_levels { 300 * leaf / block } else { random.below(20) };
        let length = residue + blocks * block;
        let content = random.bytes(length);
        fs::write(&file, &content).unwrap();
        Model { key, folder, file, sidecar, leaf, content, random }
    }

    fn length(&self) -> u64 {
        self.content.len() as u64
    }

    fn disk(&self) -> Vec<u8> {
        fs::read(&self.file).unwrap_or_default()
    }

    /// Runs an edit, optionally with an event at a call.
    fn run(&self, op: &Op, event: Option<(u64, Event)>) -> Ended {
        let input = if let Op::Patch(_, bytes) = op { bytes.clone() } else { Vec::new() };
        let open = move || Ok(Box::new(io::Cursor::new(input.clone())) as Box<dyn Read>);
        let edit = match *op {
            Op::Patch(offset, _) => {
                Some(Edit::Patch { offset, name: Path::new("patch"), open: &open })
            }
            Op::Append => Some(Edit::Append),
            Op::Range(offset, length) => Some(Edit::Range { offset, length }),
            Op::Truncate(length) => Some(Edit::Truncate(length)),
            Op::Finish => Some(Edit::Finish),
            Op::Undo => Some(Edit::Undo),
            Op::None => None,
        };
        let leaf = (!self.sidecar.exists()).then_some(self.leaf);
        let args = Update {
            file: &self.file,
            sidecar: Sidecar::Any,
            edit,
            expect: None,
            leaf,
            threads: 1,
        };
        let met = Rc::new(Cell::new(false));
        let (seen, mut call) = (met.clone(), 0);
        let (file, sidecar) = (self.file.clone(), self.sidecar.clone());
        let hook = move |kind: &str| {
            call += 1;
            let (at, event) = event?;
            let now = call == at;
            seen.set(seen.get() || now);
            match event {
                Event::Kill(most) if now && kind == "write" => Some(HookedFault::Short(most, EIO)),
                Event::Kill(_) if call >= at => Some(HookedFault::Fail(EIO)),
                Event::Fail if now => Some(HookedFault::Fail(EIO)),
                Event::Full(most) if call >= at && kind == "write" => {
                    Some(HookedFault::Short(most, ENOSPC))
                }
                Event::Lose if now && kind == "write" => Some(HookedFault::Lose),
                Event::Other(other) if now => {
                    // The file may already be gone, and the sidecar may not exist yet.
                    let done = other.act(&file, &sidecar);
                    seen.set(done.is_ok());
                    None
                }
                _ => None,
            }
        };
        let result = with_hook(hook, || update(self.key, &args, &()));
        Ended { result, met: met.get() }
    }

    /// Returns whether this is the tag of these bytes.
    fn is_tag_of(&self, updated: &Updated, bytes: &[u8]) -> bool {
        updated.tagged.bytes == bytes.len() as u64
            && self.key.mac.tag(&updated.nonce, bytes).unwrap() == updated.tagged.tag
    }

    /// Runs an update without an event. It must succeed and leave this file.
    fn has_to_succeed(&mut self, op: &Op, expected: &[u8]) -> Verdict {
        let found = self.run(op, None).result;
        let updated = found.map_err(|error| format!("{op:?}: {error}"))?;
        ensure!(self.disk() == expected, "{op:?}: another file");
        ensure!(self.is_tag_of(&updated, expected), "{op:?}: another file's tag");
        self.content = expected.to_vec();
        Ok(())
    }

    /// Chooses an edit. Returns it, the file as the owner has prepared it, and the file after the
    /// edit.
    fn edit(&mut self) -> (Op, Vec<u8>, Vec<u8>) {
        let (length, old) = (self.length(), self.content.clone());
        let random = &mut self.random;
        match random.below(9) {
            0..3 if length > 0 => {
                let offset = random.below(length);
                let most = length - offset;
                let bytes = if random.one_in(2) { most } else { 1 + random.below(most) };
                let patch = random.bytes(bytes);
                let mut new = old.clone();
                new[offset as usize..][..patch.len()].copy_from_slice(&patch);
                (Op::Patch(offset, patch), old, new)
            }
            3..5 if length > 0 => {
                let to = if random.one_in(8) { 0 } else { random.below(length) };
                let new = old[..to as usize].to_vec();
                (Op::Truncate(to), old, new)
            }
            5..7 if length > 0 => {
                let offset = random.below(length);
                let bytes = 1 + random.below(length - offset);
                let mut new = old;
                for byte in &mut new[offset as usize..][..bytes as usize] {
                    *byte ^= random.below(256) as u8;
                }
                (Op::Range(offset, bytes), new.clone(), new)
            }
            7 => (Op::None, old.clone(), old),
            _ => {
                let limit = self.key.mac.max_message_bytes().unwrap_or(u64::MAX);
                // Leaves space for bytes that other programs append.
                let bytes = random.below(3 * self.leaf).min((limit - length).saturating_sub(200));
                let new = [old, random.bytes(bytes)].concat();
                (Op::Append, new.clone(), new)
            }
        }
    }

    /// Writes the bytes that the edit is to accept.
    fn write(&self, now: &[u8]) {
        if now != self.content {
            fs::write(&self.file, now).unwrap();
        }
    }

    /// Runs one edit of a script.
    fn step(&mut self) -> Verdict {
        let (op, now, new) = self.edit();
        self.write(&now);
        let at = 1 + self.random.below(CALLS);
        let most = [0, 1, 100, 3000][self.random.below(4) as usize];
        let event = match self.random.below(10) {
            0 => return self.has_to_succeed(&op, &new),
            1..4 => Event::Kill(most),
            4 => Event::Fail,
            5 => Event::Full(most),
            6 | 7 => return self.killed_and_changed(&op, &now, &new, (at, Event::Kill(most))),
            _ => Event::Other(Other::random(&mut self.random, now.len() as u64)),
        };
        let told = match event {
            Event::Other(other) => self.disturbed(&op, &new, at, other),
            event => self.failed(&op, &now, &new, (at, event)),
        };
        told.map_err(|what| format!("{}: {event:?} at call {at}: {what}", short(&op)))
    }

    /// Runs an edit that fails or is killed. No other program writes.
    fn failed(&mut self, op: &Op, now: &[u8], new: &[u8], event: (u64, Event)) -> Verdict {
        let old = self.content.clone();
        let Ended { result, met } = self.run(op, Some(event));
        let killed = met && matches!(event.1, Event::Kill(_));
        if let (Ok(updated), false) = (&result, killed) {
            ensure!(self.disk() == new, "another file");
            ensure!(self.is_tag_of(updated, new), "another file's tag");
            self.content = new.to_vec();
            return Ok(());
        }
        ensure!(met, "no event, and {:?}", result.err().map(|error| error.to_string()));
        self.is_between(now, new)?;
        // The following updates may be killed, too.
        for _ in 0..self.random.below(3) {
            let next = match self.random.below(4) {
                0 => Op::Finish,
                1 => Op::Undo,
                2 => Op::None,
                _ => op.clone(),
            };
            let at = 1 + self.random.below(CALLS);
            let ended = self.run(&next, Some((at, Event::Kill(1))));
            self.is_between(now, new)?;
            if let (Ok(updated), false) = (&ended.result, ended.met) {
                let disk = self.disk();
                ensure!(disk == now || disk == new, "{}: between", short(&next));
                // The owner's bytes are not accepted yet.
                let told = self.is_tag_of(updated, &disk) || self.is_tag_of(updated, &old);
                ensure!(told, "{}: another file's tag", short(&next));
            }
        }
        // Now the file must be in the state before or after the edit.
        let accepts = matches!(op, Op::Append | Op::Range(..));
        if self.random.one_in(2) && !accepts {
            let updated = self.run(&Op::None, None).result;
            let updated = updated.map_err(|error| format!("after it: {error}"))?;
            let disk = self.disk();
            ensure!(disk == now || disk == new, "after it: between");
            ensure!(self.is_tag_of(&updated, &disk), "after it: another file's tag");
            self.content = disk;
            return Ok(());
        }
        self.has_to_succeed(op, new).map_err(|what| format!("again: {what}"))
    }

    /// Checks that the file has only bytes from before and after the edit.
    fn is_between(&self, now: &[u8], new: &[u8]) -> Verdict {
        let disk = self.disk();
        ensure!([now.len(), new.len()].contains(&disk.len()), "{} bytes", disk.len());
        let is_one = |at: usize| [now, new].iter().any(|text| text.get(at) == Some(&disk[at]));
        ensure!((0..disk.len()).all(is_one), "bytes of neither state");
        Ok(())
    }

    /// Runs an edit that another program disturbs.
    fn disturbed(&mut self, op: &Op, new: &[u8], at: u64, other: Other) -> Verdict {
        let Ended { result, met } = self.run(op, Some((at, Event::Other(other))));
        let disk = self.disk();
        match result {
            Ok(updated) if !met => {
                ensure!(disk == new && self.is_tag_of(&updated, new), "no event, and another file");
                self.content = disk;
                return Ok(());
            }
            Ok(updated) if other.has_to_be_seen() => {
                ensure!(self.file.exists() && self.is_tag_of(&updated, &disk), "not seen");
                let again = self.run(&Op::None, None).result;
                let same = again.is_ok_and(|again| again.tagged.tag == updated.tagged.tag);
                ensure!(same, "not seen: another sidecar");
            }
            Err(error) if !met => return Err(format!("no event, and {error}")),
            _ => {}
        }
        self.goes_on(&[self.length(), new.len() as u64])
    }

    /// Checks that there is a way to continue, to a sidecar of the current file.
    fn goes_on(&mut self, lengths: &[u64]) -> Verdict {
        let anew = !self.file.exists() || !self.sidecar.exists();
        let decision = if self.random.one_in(2) { Op::Finish } else { Op::Undo };
        let before = self.disk().len() as u64;
        if anew || lengths.iter().all(|length| before < *length) {
            // Bytes are lost, or the sidecar is.
            if !self.file.exists() {
                fs::write(&self.file, &self.content).unwrap();
            }
            let _ = fs::remove_file(&self.sidecar);
        } else {
            let _ = self.run(&decision, None);
            // A truncation that cannot be undone can be accepted.
            let _ = self.run(&Op::Finish, None);
            let disk = self.disk().len() as u64;
            for length in lengths.iter().filter(|length| **length <= disk) {
                let _ = self.run(&Op::Range(0, *length), None);
            }
            let appended = self.run(&Op::Append, None).result;
            if appended.is_err() && lengths.iter().any(|length| disk < *length) {
                let _ = fs::remove_file(&self.sidecar);
            }
        }
        let disk = self.disk();
        self.has_to_succeed(&Op::None, &disk).map_err(|what| format!("no way on: {what}"))
    }

    /// Returns whether an edit is pending. Tries to undo it on a copy.
    fn is_pending(&self) -> bool {
        let folder = self.folder.path().join("copies");
        fs::create_dir_all(&folder).unwrap();
        let copy = |path: &Path| {
            let to = folder.join(path.file_name().unwrap());
            fs::copy(path, &to).unwrap();
            to
        };
        let (file, _sidecar) = (copy(&self.file), copy(&self.sidecar));
        let args = Update {
            file: &file,
            sidecar: Sidecar::Exists,
            edit: Some(Edit::Undo),
            expect: None,
            leaf: None,
            threads: 1,
        };
        let undone = update(self.key, &args, &()).map(drop);
        undone.map_or_else(|error| error.kind() != ErrorKind::Usage, |()| true)
    }

    /// Returns the range that a pending edit has touched or checks, in a file of `length` bytes.
    fn touched(&self, op: &Op, length: u64) -> (u64, u64) {
        let parts = self.key.parts().unwrap();
        let blocks = |length: u64| {
            let block = parts.block() as u64;
            length.saturating_sub(parts.last_block_distinct().into()) / block * block
        };
        let (old, leaf) = (self.length(), self.leaf);
        let all = blocks(old);
        match op {
            Op::Patch(offset, bytes) => {
                let end = offset + bytes.len() as u64;
                // At the end of the file, also the leaf before.
                let offset = offset.saturating_sub(u64::from(end == old));
                let start = if offset >= all { all } else { offset / leaf * leaf };
                (start, if end > all { old } else { (end.div_ceil(leaf) * leaf).min(all) })
            }
            Op::Truncate(to) => (blocks(to.saturating_sub(1)).min(all) / leaf * leaf, length),
            _ => (0, 0),
        }
    }

    /// Kills an edit, and has another program change the file before the next update.
    fn killed_and_changed(
        &mut self,
        op: &Op,
        now: &[u8],
        new: &[u8],
        event: (u64, Event),
    ) -> Verdict {
        let told = self.killed_then_changed(op, now, new, event);
        told.map_err(|what| format!("{}, {event:?}, others: {what}", short(op)))
    }

    fn killed_then_changed(
        &mut self,
        op: &Op,
        now: &[u8],
        new: &[u8],
        event: (u64, Event),
    ) -> Verdict {
        let Ended { met, .. } = self.run(op, Some(event));
        let pending = met && self.is_pending();
        let left = self.disk();
        let length = left.len() as u64;
        let (start, end) = self.touched(op, length);
        // Either one byte that is neither old nor new, within or outside the range that the edit
        // checks, or additional bytes.
        let within = self.random.one_in(2) && start < end;
        let (from, to) = if within { (start, end) } else { (0, length) };
        let grows = to == from || self.random.one_in(3);
        let mut others = left.clone();
        let (at, bytes) = if grows {
            let known = now.get(left.len()).copied().unwrap_or(7);
            let added = vec![known ^ 0x55; 1 + self.random.below(50) as usize];
            others.extend(&added);
            (length, added)
        } else {
            let at = from + self.random.below(to - from);
            let index = at as usize;
            let neither = (0..=255).find(|byte| {
                let known = [now, new, &*self.content, &*left];
                !known.iter().any(|text| text.get(index) == Some(byte))
            });
            others[index] = neither.expect("four of 256 bytes at most");
            (at, vec![others[index]])
        };
        fs::write(&self.file, &others).unwrap();
        let stays = |disk: &[u8], what: &str| {
            let there = disk.get(at as usize..at as usize + bytes.len()) == Some(&bytes);
            ensure!(there, "{what}: byte {at} is lost");
            Ok(())
        };
        let asked = self.run(&Op::None, None).result;
        let disk = self.disk();
        stays(&disk, "next")?;
        let seen = pending && !grows && (start..end).contains(&at);
        match asked {
            Ok(updated) => {
                ensure!(!seen, "byte {at} of {start} to {end} is not seen");
                let is_tag = self.is_tag_of(&updated, &disk);
                ensure!(!grows && !is_tag, "the tag of {} bytes", updated.tagged.bytes);
            }
            Err(error) => {
                ensure!(error.kind() == ErrorKind::Mismatch, "{error}");
                ensure!(!seen || disk == others, "{error}: and another file");
            }
        }
        for decision in [Op::Undo, Op::Finish] {
            if self.random.one_in(2) {
                let _ = self.run(&decision, None);
                stays(&self.disk(), &format!("{decision:?}"))?;
            }
        }
        self.goes_on(&[self.length(), new.len() as u64])?;
        stays(&self.disk(), "in the end")
    }
}

/// Describes an edit without its bytes.
fn short(op: &Op) -> String {
    match op {
        Op::Patch(offset, bytes) => format!("patch of {} bytes at {offset}", bytes.len()),
        op => format!("{op:?}"),
    }
}

/// Runs a script.
fn script(keys: &[OpenKey], seed: u64, number: u64) -> Verdict {
    let key = &keys[(number % keys.len() as u64) as usize];
    let block = key.parts().unwrap().block() as u64;
    // All residues in turn, with successive ones far apart.
    let residue = (number / keys.len() as u64 + seed).wrapping_mul(1_000_003) % block;
    let mut model = Model::new(key, seed, number, residue);
    let told = (|| {
        let content = model.content.clone();
        let at = 1 + model.random.below(CALLS);
        match model.random.below(8) {
            0 | 1 => {
                let ended = model.run(&Op::None, Some((at, Event::Kill(50))));
                ensure!(ended.met || ended.result.is_ok(), "the first: fails");
            }
            2 => {
                let removed = Event::Other(Other::RemoveFile);
                let ended = model.run(&Op::None, Some((at, removed)));
                ensure!(ended.met != ended.result.is_ok(), "the first: not seen");
                // The next file of that name must not have a sidecar.
                ensure!(!ended.met || !model.sidecar.exists(), "the first: a sidecar of no file");
                fs::write(&model.file, &content).unwrap();
            }
            _ => {}
        }
        model.has_to_succeed(&Op::None, &content)?;
        (0..4).try_for_each(|step| model.step().map_err(|what| format!("step {step}: {what}")))
    })();
    let algorithm = key.mac.algorithm();
    told.map_err(|what| format!("seed {seed}, script {number}, {algorithm}: {what}"))
}
