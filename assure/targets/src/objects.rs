//! Manifests of objects. The first byte chooses a root, given by the lines after its head, or a
//! shard, whose first line is the root's record. Both are sealed here, since fuzzing would never
//! guess a seal.

use tagmac_files::objects::{ManifestKey, Object, Root, Shard, ShardRecord};

use crate::input::pattern;
use crate::subject::any;

pub fn run(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else { return };
    let subject = any(first >> 1);
    let key = ManifestKey::new(subject.best(), &subject.raw_key());
    for line in text.split(|&byte| byte == b'\n') {
        if let Ok(record) = ShardRecord::parse(line) {
            assert_eq!(record.to_line(), line, "accepts only what is written");
            assert!(record.file_name().is_ascii());
        }
        if let Ok(object) = Object::parse(line, &key) {
            let mut again = Vec::new();
            object.write(&mut again);
            assert_eq!(again.strip_suffix(b"\n"), Some(line), "accepts only what is written");
        }
    }
    if first & 1 == 0 {
        let mut sealed = [head(&key, "root").as_bytes(), text].concat();
        key.close(&mut sealed);
        if let Ok(root) = Root::open(&key, sealed, "root") {
            let records: Vec<ShardRecord> = root.records().collect();
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
    let mut sealed = [head(&key, "shard").as_bytes(), number.as_bytes(), text].concat();
    record.seal = key.close(&mut sealed);
    record.length = sealed.len() as u64;
    let (entries, bytes) = (record.entries, record.bytes);
    if let Ok(shard) = Shard::open(&key, &record, sealed, "shard") {
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
fn head(key: &ManifestKey, kind: &str) -> String {
    let ManifestKey { algorithm, bits, key_id, .. } = key;
    format!("tagmac-object-{kind}-1\nalgorithm: {algorithm}\nbits: {bits}\nkey id: {key_id}\n")
}

pub fn seeds() -> Vec<Vec<u8>> {
    let seal = base16ct::lower::encode_string(&pattern(1, 32));
    let tag = base16ct::lower::encode_string(&pattern(2, 16));
    let record = format!("0\t9\t2\t12\t{seal}\ta\tb\\tc\n");
    let root = format!("{record}shards: 1\nentries: 2\nbytes: 12\n");
    let shard = format!("{record}5\t-\t{tag}\ta\n7\t-\t{tag}\tb\\tc\nentries: 2\nbytes: 12\n");
    [(0, root), (1, shard)].map(|(first, text)| [&[first], text.as_bytes()].concat()).to_vec()
}
