//! Manifests of objects. The first byte chooses the version, and a root, given by the lines after its
//! key, or a shard, whose first line is the root's record. Both are sealed here, since fuzzing would
//! never guess a seal.

use tagmac_files::filter::{Filter, MAX_PATTERNS};
use tagmac_files::objects::{FormatVersion, ManifestKey, Object, Root, Shard, ShardRecord};

use crate::input::pattern;
use crate::subject::any;

pub fn run(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else { return };
    let version = if first & 2 == 0 { FormatVersion::V1 } else { FormatVersion::V2 };
    let subject = any(first >> 2);
    let key = ManifestKey::new(subject.best(), &subject.raw_key());
    for line in text.split(|&byte| byte == b'\n') {
        if let Ok(record) = ShardRecord::parse(line) {
            assert_eq!(record.to_line(), line, "accepts only what is written");
            assert!(record.file_name().is_ascii());
        }
        if let Ok(object) = Object::parse(line, &key, version) {
            let mut again = Vec::new();
            object.write(version, &mut again);
            assert_eq!(again.strip_suffix(b"\n"), Some(line), "accepts only what is written");
        }
    }
    if first & 1 == 0 {
        let mut sealed = [head(&key, "root", version).as_bytes(), text].concat();
        key.close(&mut sealed);
        if let Ok(root) = Root::open(&key, sealed, "root") {
            let records: Vec<ShardRecord> = root.records().collect();
            assert_eq!(root.version, version);
            let (chain, filters) = (&root.header.chain, &root.header.filters);
            assert_eq!(chain.sequence == 0, version == FormatVersion::V1);
            assert!(chain.links.is_sorted_by(|left, right| left.sequence > right.sequence));
            assert!(filters.len() <= MAX_PATTERNS);
            if let Ok(mut filter) = Filter::new(filters) {
                for record in &records {
                    let _ = filter.leaves_out_below(&record.first);
                }
            }
            assert_eq!(records.len() as u64, root.shards);
            assert_eq!(records.iter().map(|record| record.entries).sum::<u64>(), root.entries);
            assert_eq!(records.iter().map(|record| record.bytes).sum::<u64>(), root.bytes);
        }
        let _ = Root::open(&key, text.to_vec(), "root");
        return;
    }
    let Some(end) = text.iter().position(|&byte| byte == b'\n') else { return };
    let (line, text) = (&text[..end], &text[end + 1..]);
    // The line lacks length and seal: fill in those of the shard.
    let Ok(mut record) = ShardRecord::parse(line) else { return };
    let number = format!("shard: {}\n", record.number);
    let mut sealed = [head(&key, "shard", version).as_bytes(), number.as_bytes(), text].concat();
    record.seal = key.close(&mut sealed);
    record.length = sealed.len() as u64;
    let (entries, bytes) = (record.entries, record.bytes);
    if let Ok(shard) = Shard::open(&key, version, &record, sealed, "shard") {
        let objects: Vec<Object> = shard.into_objects().collect();
        assert_eq!(objects.len() as u64, entries);
        assert_eq!(objects.iter().map(|object| object.size).sum::<u64>(), bytes);
        assert!(
            objects.is_sorted_by(|left, right| left.name < right.name),
            "objects must be sorted"
        );
        assert_eq!(objects.first().map(|object| &object.name), Some(&record.first));
        assert_eq!(objects.last().map(|object| &object.name), Some(&record.last));
    }
}

/// The lines at the top, as `docs/formats/object-manifest.md` has them.
fn head(key: &ManifestKey, kind: &str, version: FormatVersion) -> String {
    let (ManifestKey { algorithm, bits, key_id, .. }, version) = (key, version.number());
    format!(
        "tagmac-object-{kind}-{version}\nalgorithm: {algorithm}\nbits: {bits}\nkey id: {key_id}\n"
    )
}

pub fn seeds() -> Vec<Vec<u8>> {
    let seal = base16ct::lower::encode_string(&pattern(1, 32));
    let tag = base16ct::lower::encode_string(&pattern(2, 16));
    let record = format!("0\t9\t2\t12\t{seal}\ta\tb\\tc\n");
    let root = format!("{record}shards: 1\nentries: 2\nbytes: 12\n");
    let shard = format!("{record}5\t-\t{tag}\ta\n7\t-\t{tag}\tb\\tc\nentries: 2\nbytes: 12\n");
    let chain = format!("sequence: 2 2026-11-28\nfirst: {seal}\nlinks: 1\n1 2026-11-27 {seal}\n");
    let new_root = format!("options: none\n{chain}filters: 2\n*.tmp\n!a\\tb/\n{root}");
    let entries = format!("5\t-\t{tag}\t2026-11-28\t\"e\"\ta\n7\t-\t-\t-\t-\tb\\tc\n");
    let new_shard = format!("{record}{entries}entries: 2\nbytes: 12\n");
    [(0, root), (1, shard), (2, new_root), (3, new_shard)]
        .map(|(first, text)| [&[first], text.as_bytes()].concat())
        .to_vec()
}
