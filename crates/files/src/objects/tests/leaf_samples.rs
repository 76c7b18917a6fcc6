//! Audits that read a random share of the leaves of objects.

use std::ops::Range;

use tagmac::Tag;
use tagmac_any::AnyMac;

use super::leaves::{LEAF, Objects, keys, objects, write};
use crate::audit::{BucketAudit, LeafPlan, Plan, Status, Tally};
use crate::error::Error;
use crate::leaves::content::Contents;
use crate::objects::{Folder, Listed, ManifestKey, ObjectManifest, Tagger, Unread};
use crate::position::{Arcs, Positions};

/// The names of objects, and the ranges of them that were read.
type Ranges = Vec<(Vec<u8>, Range<u64>)>;

/// Reads objects in memory, and notes the ranges.
struct Reader<'a> {
    mac: &'a AnyMac,
    objects: &'a Objects,
    ranges: Ranges,
    /// An object whose ranges cannot be read.
    denied: &'static str,
}

impl Reader<'_> {
    fn content(&self, name: &[u8]) -> Result<&[u8], Unread> {
        let found = self.objects.iter().find(|(found, _)| found.as_bytes() == name);
        found.map(|(_, content)| &**content).ok_or(Unread::Gone)
    }
}

impl Tagger<()> for Reader<'_> {
    fn tag(&mut self, object: &Listed<()>, nonce: &[u8]) -> Result<Tag, Unread> {
        Ok(self.mac.tag(nonce, self.content(&object.name)?).unwrap())
    }

    fn range(&mut self, object: &Listed<()>, range: Range<u64>) -> Result<Vec<u8>, Unread> {
        self.ranges.push((object.name.clone(), range.clone()));
        match object.name == self.denied.as_bytes() {
            true => Err(Unread::Failed("Access Denied".into())),
            false => {
                Ok(self.content(&object.name)?[range.start as usize..range.end as usize].into())
            }
        }
    }

    fn find(&mut self, name: &[u8]) -> Result<Listed<()>, Unread> {
        Ok(listed(name, self.content(name)?))
    }
}

fn listed(name: &[u8], content: &[u8]) -> Listed<()> {
    let (name, size) = (name.to_vec(), content.len() as u64);
    Listed { name, size, stamp: Some(b"\"e\"".to_vec()), archived: false, about: () }
}

/// Returns the verdicts other than "not read", the counts and the ranges that were read.
fn audit(
    place: &Folder,
    plan: &Plan,
    objects: &Objects,
    denied: &'static str,
) -> (Vec<String>, Tally, Ranges) {
    let (key, raw) = keys("PMAC-AES128");
    let manifest_key = ManifestKey::new(&key.mac, &raw);
    let manifest = ObjectManifest::open(&manifest_key, place).unwrap();
    let reader = || Reader { mac: &key.mac, objects, ranges: Vec::new(), denied };
    let (mut main, mut others) = (reader(), [reader()]);
    let list = || {
        let all = objects.iter().map(|(name, content)| Ok(listed(name.as_bytes(), content)));
        all.collect::<Vec<Result<_, Error>>>().into_iter()
    };
    let mut verdicts = Vec::new();
    let put = &mut |name: &[u8], _: &'static str, status: Status<'_>, _| {
        let name = String::from_utf8_lossy(name);
        match status {
            Status::NotRead => {}
            Status::Changed(changes) => {
                let damage = changes[0].damage.as_ref().map(|damage| &damage.ranges);
                verdicts.push(format!("{name}: {} {damage:?}", changes[0].what));
            }
            Status::Unreadable(why) => verdicts.push(format!("{name}: {why}")),
            status => verdicts.push(format!("{name}: {}", status.word())),
        }
    };
    let audit = BucketAudit { manifest: &manifest, progress: &(), plan, paths: &[] };
    let audited = audit.run(list, &mut main, &mut others, put).unwrap();
    let [other] = others;
    (verdicts, audited.tally, other.ranges)
}

#[test]
fn leaves_of_objects_are_sampled() {
    let (key, raw) = keys("PMAC-AES128");
    let (folder, mut objects) = (tempfile::tempdir().unwrap(), objects());
    write((&key, &raw), Some(LEAF), folder.path(), &objects);
    let place = Folder::new(folder.path());
    let plan = |start, share| Plan {
        arcs: Arcs::from_start(start, share),
        leaves: Some(LeafPlan {
            contents: Contents::open(&key, &raw, folder.path()).unwrap(),
            start,
        }),
        ..Plan::all(Positions::new(&raw))
    };
    // Objects of at most a leaf are read as a whole: 3 of 8. Neighbouring leaves are read at once.
    let (verdicts, tally, ranges) = audit(&place, &plan(3, 1.0), &objects, "");
    assert_eq!(verdicts, ["a: unchanged", "a-b: unchanged", "a/b: unchanged"]);
    let leaves = 3 + 2 + 2 + 2 + 5 + 5;
    assert_eq!((tally.files, tally.read, tally.leaves, tally.leaves_read), (8, 3, leaves, leaves));
    assert_eq!(tally.bytes, objects.values().map(|content| content.len() as u64).sum::<u64>());
    assert!(ranges.len() == 5 && ranges[4] == (b"d/f".to_vec(), 0..20_000), "{ranges:?}");
    // Each leaf is read by some audit, and the counts are those of the ranges.
    let mut read = std::collections::BTreeSet::new();
    for start in 1..=60u64 {
        let plan = plan(start.wrapping_mul(0x9e37_79b9_7f4a_7c15), 0.2);
        let (_, tally, ranges) = audit(&place, &plan, &objects, "");
        let leaf = |range: &Range<u64>| (range.end - range.start).div_ceil(LEAF);
        let count = ranges.iter().map(|(_, range)| leaf(range)).sum::<u64>();
        assert_eq!((tally.leaves, tally.leaves_read), (leaves, count + tally.read));
        for (name, range) in ranges {
            read.extend((range.start / LEAF..range.end.div_ceil(LEAF)).map(|i| (name.clone(), i)));
        }
    }
    assert_eq!(read.len() as u64, leaves - 3);
    // Damage is found where it is; an object that cannot be read has no verdict.
    objects.get_mut("d/f").unwrap()[2 * LEAF as usize] ^= 1;
    objects.get_mut("a/b").unwrap()[0] ^= 1;
    let (verdicts, ..) = audit(&place, &plan(3, 1.0), &objects, "d/e");
    let damaged = format!("d/f: content Some([{}..{}])", 2 * LEAF, 3 * LEAF);
    let expected =
        ["a: unchanged", "a-b: unchanged", "a/b: content None", "d/e: Access Denied", &damaged];
    assert_eq!(verdicts, expected);
    objects.get_mut("d/f").unwrap().pop();
    let (verdicts, ..) = audit(&place, &plan(3, 1.0), &objects, "");
    assert_eq!(verdicts.last().unwrap(), "d/f: size None");
}
