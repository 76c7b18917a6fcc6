//! Audits that read a random share of the leaves.

use std::fs;
use std::path::Path;

use tagmac_files::audit::{LeafPlan, Plan, Status, Tally, TreeAudit};
use tagmac_files::leaves::content::Contents;
use tagmac_files::leaves::repair::Damage;
use tagmac_files::night::{Night, NightOptions, Opened, Proof};
use tagmac_files::objects::ManifestKey;
use tagmac_files::position::{Arcs, Positions};
use tagmac_files::proof::missed;
use tagmac_files::{Error, ErrorKind};

use super::key;
use super::sealed_tree::{Place, bytes, flip};

const LEAF: u64 = 4096;
/// The lengths of the files `f0`, `f1`, ... in bytes: 4 files without leaf tags, then 2 + 5 + 600.
const LENGTHS: [u64; 7] = [0, 1, LEAF - 1, LEAF, LEAF + 1, 5 * LEAF, 600 * LEAF - 7];
const LEAVES: u64 = 4 + 2 + 5 + 600;

/// Seals the files.
fn sealed(leaves: Option<u64>) -> Place {
    let contents = LENGTHS.map(|length| bytes(length as usize));
    Place::new(key(), leaves, &contents.each_ref().map(Vec::as_slice))
}

impl Place {
    /// Changes a byte of a file.
    fn damage(&self, number: usize, at: u64) {
        flip(&self.file(number), at);
    }

    fn contents(&self) -> Contents {
        Contents::open(&self.keys.0, &self.keys.1, &self.manifest).unwrap()
    }

    /// Returns what a plan finds: the verdicts that are not "not read", and the damaged leaves.
    fn audit(
        &self,
        plan: &Plan,
        threads: usize,
    ) -> Result<(Vec<String>, Vec<Damage>, Tally), Error> {
        let mut audit = TreeAudit::open(&self.keys.0, &self.keys.1, &self.manifest, &self.root)?;
        audit.exclude(Ok(Vec::new()))?;
        let (mut verdicts, mut damages) = (Vec::new(), Vec::new());
        let put = &mut |path: &[u8], _: &'static str, status: Status<'_>, _| {
            let mut is_shown = !path.is_empty() && !matches!(status, Status::NotRead);
            if let Status::Changed(changes) = &status {
                damages.extend(changes.iter().filter_map(|c| c.damage.as_deref()).cloned());
                // The damage also changes times.
                is_shown = changes.iter().any(|c| ["content", "size"].contains(&c.what));
            }
            if is_shown {
                verdicts.push(format!("{}: {}", String::from_utf8_lossy(path), status.word()));
            }
        };
        let audited = audit.run(plan, &[], threads, &(), put)?;
        Ok((verdicts, damages, audited.tally))
    }

    /// Audits a share of the leaves as a night does.
    fn night(&self, share: f64, ledger: Option<&Path>) -> Result<(Tally, Proof), Error> {
        let (key, raw) = (&self.keys.0, &self.keys.1);
        let request = tagmac_files::selection::Request::SampleLeaves(share);
        let options = NightOptions { request, ledger, ..NightOptions::default() };
        let audit = TreeAudit::open(key, raw, &self.manifest, &self.root)?;
        let (chain, seal) = (&audit.manifest().header.chain, audit.manifest().seal);
        let opened = Opened { shown: "m", chain, seal, is_bucket: false };
        let manifest_key = ManifestKey::new(&key.mac, raw);
        let contents = || Contents::open(key, raw, &self.manifest);
        let mut night = Night::new(options, raw, manifest_key, opened, |_, _| Ok(()), contents)?;
        let (_, _, tally) = self.audit(&night.plan, 2)?;
        let proof = night.finish(&tally)?;
        Ok((tally, proof))
    }

    fn plan(&self, start: u64, share: f64) -> Plan {
        Plan {
            arcs: Arcs::from_start(start, share),
            leaves: Some(LeafPlan { contents: self.contents(), start }),
            ..Plan::all(Positions::new(&self.keys.1))
        }
    }
}

#[test]
fn all_leaves_can_be_read_and_a_damaged_one_is_found() {
    let place = sealed(Some(LEAF));
    for threads in [1, 3] {
        let (verdicts, damages, tally) = place.audit(&place.plan(9, 1.0), threads).unwrap();
        // Files without leaf tags are read as a whole.
        assert_eq!(verdicts, ["f0", "f1", "f2", "f3"].map(|name| format!("{name}: unchanged")));
        assert_eq!((tally.files, tally.read, damages.len()), (7, 4, 0));
        assert_eq!((tally.leaves, tally.leaves_read), (LEAVES, LEAVES));
        assert_eq!(tally.bytes, LENGTHS.iter().sum::<u64>());
    }
    let end = LENGTHS[6];
    for at in [5 * LEAF - 1, 7 * LEAF, 8 * LEAF, end - 1] {
        place.damage(6, at);
    }
    place.damage(3, 0);
    place.damage(5, 2 * LEAF);
    let (verdicts, damages, _) = place.audit(&place.plan(9, 1.0), 3).unwrap();
    let changed = [(3, "changed"), (5, "changed"), (6, "changed")];
    let of = |number| changed.iter().find(|(is, _)| *is == number).map_or("unchanged", |is| is.1);
    let expected = [0, 1, 2, 3, 5, 6].map(|number| format!("f{number}: {}", of(number)));
    assert_eq!(verdicts, expected);
    let ranges = [
        vec![(2 * LEAF, 3 * LEAF)],
        vec![(4 * LEAF, 5 * LEAF), (7 * LEAF, 9 * LEAF), (599 * LEAF, end)],
    ];
    let pairs = |damage: &Damage| -> Vec<_> {
        damage.ranges.iter().map(|range| (range.start, range.end)).collect()
    };
    assert_eq!(damages.iter().map(pairs).collect::<Vec<_>>(), ranges);
    assert_eq!(
        damages.iter().map(|damage| (damage.leaves, damage.of)).collect::<Vec<_>>(),
        [(1, 5), (4, 600)]
    );
    // Nothing is read without a share, and of a file with another size.
    let (verdicts, _, tally) = place.audit(&place.plan(9, 0.0), 3).unwrap();
    assert_eq!((verdicts.len(), tally.leaves, tally.leaves_read, tally.bytes), (0, LEAVES, 0, 0));
    let file = fs::File::options().write(true).open(place.file(6)).unwrap();
    file.set_len(end - 1).unwrap();
    let (verdicts, damages, tally) = place.audit(&place.plan(9, 1.0), 3).unwrap();
    assert!(verdicts.contains(&"f6: changed".into()) && damages.len() == 1);
    assert_eq!((tally.leaves, tally.leaves_read), (LEAVES, LEAVES - 600));
}

/// 3 leaves are damaged, two of them in one file. The number of audits that miss all of them is near
/// the sum of the probabilities that their proofs state.
#[test]
fn audits_find_damage_as_often_as_they_say() {
    let place = sealed(Some(LEAF));
    for (file, at) in [(6, 17 * LEAF), (6, 400 * LEAF), (3, 100)] {
        place.damage(file, at);
    }
    let (mut found, mut expected, mut variance) = (0.0, 0.0, 0.0);
    let mut plan = place.plan(0, 0.0);
    for number in 1..=200u64 {
        let start = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        plan.arcs = Arcs::from_start(start, 0.2);
        plan.leaves.as_mut().unwrap().start = start;
        let (verdicts, _, tally) = place.audit(&plan, 1).unwrap();
        assert_eq!(tally.leaves, LEAVES);
        let probability = missed(LEAVES, tally.leaves_read, 3);
        expected += probability;
        variance += probability * (1.0 - probability);
        found += f64::from(!verdicts.iter().any(|line| line.ends_with(": changed")));
    }
    let deviations = (found - expected) / f64::sqrt(variance);
    assert!(deviations.abs() < 3.0, "{found} audits missed the damage, expected {expected}");
}

#[test]
fn the_ledger_records_no_leaves() {
    let place = sealed(Some(LEAF));
    let ledger = place.path("l");
    let (tally, proof) = place.night(1.0, Some(&ledger)).unwrap();
    assert!(!ledger.exists() && tally.exceptions.is_empty());
    assert_eq!((proof.leaves, proof.missed, proof.read), (Some((LEAVES, LEAVES)), 0.0, 4));
    // One that exists is not changed, and tells when whole files were read.
    let key = ManifestKey::new(&place.keys.0.mac, &place.keys.1);
    let audit =
        TreeAudit::open(&place.keys.0, &place.keys.1, &place.manifest, &place.root).unwrap();
    let chain = audit.manifest().header.chain.name(audit.manifest().seal);
    let today = tagmac_files::day::Day::today();
    tagmac_files::ledger::save(&ledger, &key, &tagmac_files::ledger::Ledger::new(chain), today)
        .unwrap();
    let before = fs::read(&ledger).unwrap();
    let (_, proof) = place.night(0.3, Some(&ledger)).unwrap();
    assert_eq!(fs::read(&ledger).unwrap(), before);
    let (read, all) = proof.leaves.unwrap();
    assert!(all == LEAVES && (100..300).contains(&read), "{read} of {all}");
    assert_eq!(proof.missed, missed(all, read, 10));
}

#[test]
fn leaves_need_leaf_tags() {
    let place = sealed(None);
    let error = place.night(0.5, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().starts_with("m: no leaf tags; "), "{error}");
    // An error about leaf tags is not a verdict on a file.
    let place = sealed(Some(LEAF));
    let tags = place.path("m.1.leaves");
    let sealed = fs::read(&tags).unwrap();
    fs::remove_file(&tags).unwrap();
    let error = place.night(1.0, None).unwrap_err();
    assert!(error.kind() == ErrorKind::Io && error.to_string().contains("m.1.leaves: "), "{error}");
    fs::write(&tags, &sealed[..sealed.len() - 1]).unwrap();
    let error = place.night(1.0, None).unwrap_err();
    assert!(error.to_string().ends_with("the file of leaf tags was cut off"), "{error}");
}
