//! `tagmac manifest`: prints manifests and compares them, without the data that they describe.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tagmac::Tag;
use tagmac_files::Error;
use tagmac_files::audit::{self, Status};
use tagmac_files::chain::{Chain, Relation};
use tagmac_files::dir;
use tagmac_files::escaped::Escaped;
use tagmac_files::manifest::entry::{Entry, mode_text, mtime_text, owner_text, word};
use tagmac_files::manifest::{Manifest, seal_mac};
use tagmac_files::objects::{Folder, ManifestKey, ObjectManifest, Place};
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;
use tagmac_files::sys::OsStrExt;

use crate::args::{Action, MAX_OBJECTS, ManifestArgs};
use crate::audit::{Combined, Form, Report};
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::files_from;
use crate::json;
use crate::mac;
use crate::names;
use crate::objects::{Stores, is_url};
use crate::output;

/// Runs the action. Returns `Some(exit)` if manifests differ, or an entry is missing.
pub fn run(args: &ManifestArgs) -> Result<Option<Exit>, Error> {
    let paths: Vec<&Path> = [&args.manifest].into_iter().chain(&args.names).map(|p| &**p).collect();
    let manifests = match args.action {
        Action::Log | Action::Cat => &paths[..1],
        Action::Diff => &paths[..],
    };
    manifests.iter().try_for_each(|path| names::object(path))?;
    match (args.action, args.names.len()) {
        (Action::Log, 1..) => return Err(Error::usage("log: expected one manifest")),
        (Action::Diff, found) if found != 1 => {
            return Err(Error::usage("diff: expected two manifests, the older one first"));
        }
        _ => {}
    }
    let stores = Stores::open(manifests.iter().copied(), [].into_iter(), (0, MAX_OBJECTS))?;
    let (key, raw) = mac::open_with_raw(&args.key.options(), false)?;
    let manifest_key = ManifestKey::new(&key.mac, &raw);
    let places = manifests.iter().map(|path| place(path, stores.as_ref()));
    let places = places.collect::<Result<Vec<_>, Error>>()?;
    let open = |number: usize| match &places[number] {
        Some(place) => ObjectManifest::open(&manifest_key, &**place).map(Opened::Objects),
        None => tree(manifests[number], &key, &raw).map(|manifest| Opened::Tree(manifest, &key)),
    };
    let opened = open(0)?;
    match args.action {
        Action::Log => log(args, &opened).map(|()| None),
        Action::Diff => diff(args, &key, &opened, &open(1)?),
        Action::Cat => cat(args, &opened),
    }
}

/// Returns the place of a manifest of objects, which is a URL or a directory.
fn place(
    path: &Path,
    stores: Option<&Stores>,
) -> Result<Option<Box<dyn Place + Send + Sync>>, Error> {
    match stores {
        Some(stores) if is_url(path) => stores.place(path).map(Some),
        _ if path.is_dir() => Ok(Some(Box::new(Folder::new(path)))),
        _ => Ok(None),
    }
}

fn tree(path: &Path, key: &OpenKey, raw: &RawKey) -> Result<Manifest, Error> {
    Manifest::open(path, key, seal_mac(raw))
}

/// A manifest with a verified seal.
enum Opened<'a> {
    Tree(Manifest, &'a OpenKey),
    Objects(ObjectManifest<'a>),
}

impl Opened<'_> {
    fn chain(&self) -> (&Chain, Tag) {
        match self {
            Opened::Tree(manifest, _) => (&manifest.header.chain, manifest.seal),
            Opened::Objects(manifest) => (&manifest.root.header.chain, manifest.root.seal),
        }
    }

    /// Returns the order of the entries.
    fn order(&self) -> fn(&[u8], &[u8]) -> Ordering {
        match self {
            Opened::Tree(..) => dir::order,
            Opened::Objects(_) => <[u8]>::cmp,
        }
    }

    /// Returns all entries, in order.
    fn entries(&self) -> Result<Box<dyn Iterator<Item = Result<Entry, Error>> + '_>, Error> {
        Ok(match self {
            Opened::Tree(manifest, key) => Box::new(manifest.entries(key)?),
            Opened::Objects(manifest) => {
                Box::new(manifest.objects().map(|object| object.map(Entry::from)))
            }
        })
    }
}

/// A manifest of a chain.
#[derive(Serialize)]
struct LinkRecord {
    sequence: u64,
    day: Option<String>,
    seal: String,
}

/// Prints the chain, the newest manifest first.
fn log(args: &ManifestArgs, opened: &Opened<'_>) -> Result<(), Error> {
    let (chain, seal) = opened.chain();
    if chain.sequence == 0 {
        let shown = Escaped::name(&args.manifest);
        diagnostic(format_args!("{shown}: the manifest is from a version without chains"));
    }
    let own = (chain.sequence, chain.day, seal);
    let earlier = chain.links.iter().map(|link| (link.sequence, link.day, link.seal));
    for (sequence, day, seal) in [own].into_iter().chain(earlier) {
        let (day, seal) = (day.map(|day| day.to_string()), seal.to_string());
        if args.json {
            output::json(&LinkRecord { sequence, day, seal })?;
        } else {
            let day = day.as_deref().unwrap_or("-");
            output::write(format!("{sequence} {day} {seal}\n").as_bytes())?;
        }
    }
    Ok(())
}

/// Compares a manifest with a later one.
fn diff(
    args: &ManifestArgs,
    key: &OpenKey,
    old: &Opened<'_>,
    new: &Opened<'_>,
) -> Result<Option<Exit>, Error> {
    if matches!(old, Opened::Tree(..)) != matches!(new, Opened::Tree(..)) {
        return Err(Error::usage("diff: one manifest is of a directory, the other one of objects"));
    }
    let ((old_chain, old_seal), (new_chain, new_seal)) = (old.chain(), new.chain());
    let form = Form { json: args.json, quiet: args.quiet, parts: None };
    let mut report = Report::new(form, key, old_seal, Combined::Nowhere);
    let mut unknown = 0u64;
    let put = &mut |path: &[u8], kind, status: Status<'_>, turn| {
        unknown += u64::from(matches!(status, Status::NotRead));
        report.put(path, kind, status, turn);
    };
    let nonces = key.mac.algorithm().takes_nonce();
    let all = audit::compare(old.entries()?, new.entries()?, old.order(), nonces, put)?;
    if !args.quiet {
        diagnostic(relation(old_chain.relation(old_seal, new_chain, new_seal)));
        if unknown > 0 {
            diagnostic(
                "contents with two nonces cannot be compared; these files count as not read",
            );
        }
    }
    Ok(report.finish(0, 0, all, None))
}

fn relation(relation: Relation) -> Cow<'static, str> {
    let later = |count: u64| match count {
        1 => "directly".to_string(),
        count => format!("after {} others", count - 1),
    };
    match relation {
        Relation::Same => "both are the same manifest".into(),
        Relation::Before(count) => {
            format!("the second manifest follows the first one {}", later(count)).into()
        }
        Relation::After(count) => {
            format!("the first manifest follows the second one {}", later(count)).into()
        }
        Relation::Fork => "the manifests are from one chain, but neither follows the other".into(),
        Relation::Foreign => "the manifests are from different chains".into(),
    }
}

/// Prints the entries at and below the given names, or all.
fn cat(args: &ManifestArgs, opened: &Opened<'_>) -> Result<Option<Exit>, Error> {
    let name = |name: &PathBuf| {
        let name = name.as_os_str().as_bytes();
        match opened {
            Opened::Tree(..) => files_from::path(name),
            Opened::Objects(_) => Ok(files_from::object(name)),
        }
    };
    let wanted = args.names.iter().map(|each| Ok((name(each)?, false)));
    let mut wanted = wanted.collect::<Result<Vec<(Vec<u8>, bool)>, Error>>()?;
    let mut is_wanted = |path: &[u8]| {
        let mut found = wanted.is_empty();
        for (name, seen) in &mut wanted {
            if let Some(rest) = path.strip_prefix(&**name)
                && (rest.is_empty() || rest[0] == b'/' || name.is_empty())
            {
                (found, *seen) = (true, true);
            }
        }
        found
    };
    let mut out = Vec::new();
    match opened {
        Opened::Tree(manifest, key) => {
            for entry in manifest.entries(key)? {
                let entry = entry?;
                if !is_wanted(&entry.path) {
                    continue;
                }
                match args.json {
                    true => out.extend(json::line(&EntryRecord::new(&entry))),
                    false => entry.write(&manifest.header, &mut out),
                }
                flush(&mut out, BUFFER)?;
            }
        }
        Opened::Objects(manifest) => {
            for object in manifest.objects() {
                let object = object?;
                if !is_wanted(&object.name) {
                    continue;
                }
                match args.json {
                    true => out.extend(json::line(&EntryRecord::new(&object.into()))),
                    false => object.write(manifest.root.version, &mut out),
                }
                flush(&mut out, BUFFER)?;
            }
        }
    }
    flush(&mut out, 0)?;
    let mut exit = None;
    for (name, _) in wanted.iter().filter(|(_, seen)| !seen) {
        diagnostic(format_args!(
            "{}: the manifest has no entry at or below it",
            Escaped::bytes(name)
        ));
        exit = Some(Exit::Mismatch);
    }
    Ok(exit)
}

/// Bytes that are written at a time.
const BUFFER: usize = 64 << 10;

/// Writes the lines if there are more than `most` bytes.
fn flush(out: &mut Vec<u8>, most: usize) -> Result<(), Error> {
    if out.len() > most {
        output::write(out)?;
        out.clear();
    }
    Ok(())
}

/// An entry as JSON. Columns that the manifest does not have are left out.
#[derive(Serialize)]
struct EntryRecord<'a> {
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtime: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_hex: Option<String>,
}

impl<'a> EntryRecord<'a> {
    fn new(entry: &'a Entry) -> EntryRecord<'a> {
        let Entry { kind, path, mode, mtime, owner, content, read, target, .. } = entry;
        let (path, path_hex) = json::name(path);
        let (target, target_hex) = target.as_deref().map(json::name).unzip();
        let content = content.as_ref();
        let nonce = content.map(|content| &content.nonce).filter(|nonce| !nonce.is_empty());
        EntryRecord {
            path,
            path_hex,
            kind: word(*kind),
            mode: mode.map(mode_text),
            mtime: mtime.map(mtime_text),
            owner: owner.map(owner_text),
            bytes: content.map(|content| content.size),
            nonce: nonce.map(|nonce| base16ct::lower::encode_string(nonce)),
            tag: content.and_then(|content| content.tag).map(|tag| tag.to_string()),
            read: read.map(|day| day.to_string()),
            target,
            target_hex: target_hex.flatten(),
        }
    }
}
