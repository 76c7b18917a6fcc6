//! Manifests of directories: the first two bytes choose the MAC and the sealed fields; lines
//! follow. If the first line is `tagmac-manifest-`, the header is parsed.

use std::collections::HashSet;

use tagmac_files::chain::Chain;
use tagmac_files::day::Day;
use tagmac_files::dir::EntryKind;
use tagmac_files::fuzzing::entries;
use tagmac_files::line_reader::Lines;
use tagmac_files::manifest::header::{Header, MAGIC};
use tagmac_files::manifest::options::ManifestOptions;

use tagmac::Tag;

use crate::subject::any;

pub fn run(data: &[u8]) {
    let Some((&[first, second], text)) = data.split_first_chunk() else { return };
    let key = any(first).open_key();
    let has = |bit: u8| second >> bit & 1 == 1;
    // Version 2 has none of the later options.
    let is_new = has(6);
    let options = ManifestOptions {
        mode: has(0),
        mtime: has(1),
        special: has(2),
        one_file_system: has(3),
        owner: is_new && has(4),
        xattrs: is_new && has(5),
        ..ManifestOptions::default()
    };
    let day = Day::from_days(20_000).expect("it is in 2024");
    let chain = if is_new { Chain::start(day) } else { Chain::default() };
    let header = Header::new(&key, options, chain, Vec::new());
    if text.starts_with(MAGIC.as_bytes()) {
        let mut lines = Lines::new(text, b'\n');
        if let Ok(found) = Header::read(&mut lines, "it", &key) {
            let written = found.text();
            // The last line of a text may lack its end.
            let end = written.strip_suffix(b"\n").unwrap_or(&written);
            assert!(text.starts_with(&written) || text == end, "accepts only what is written");
        }
        return;
    }
    let (entries, wrong) = entries(text, &header);
    let mut again = Vec::new();
    let mut folders = HashSet::new();
    let mut last: Option<&[u8]> = None;
    for entry in &entries {
        entry.write(&header, &mut again);
        let path = &*entry.path;
        assert!(!path.is_empty() && !path.starts_with(b"/") && !path.contains(&0));
        assert!(!path.split(|&byte| byte == b'/').any(|name| matches!(name, b"" | b"." | b"..")));
        if let Some(at) = path.iter().rposition(|&byte| byte == b'/') {
            assert!(folders.contains(&path[..at]), "a folder must precede its contents");
        }
        assert_ne!(last, Some(path), "each path must be unique");
        if entry.kind == EntryKind::Directory {
            assert!(folders.insert(path), "each folder must be unique");
        }
        assert_eq!(entry.target.is_some(), entry.kind == EntryKind::Link);
        assert_eq!(entry.content.is_some(), entry.kind == EntryKind::File);
        last = Some(path);
    }
    assert!(
        text.starts_with(again.strip_suffix(b"\n").unwrap_or(&again)),
        "must be the same lines"
    );
    assert_eq!(
        wrong.is_none(),
        again.len() == text.len() + 1,
        "must read all lines or report an error"
    );
}

pub fn seeds() -> Vec<Vec<u8>> {
    let tag = "0123456789abcdef0123456789abcdef";
    let plain =
        format!("dir\t-\t-\td\nfile\t5\t{tag}\td/a\\tb\nlink\t-\t-\te\tto\\\\\nfile\t0\t{tag}\tf");
    let all = format!(
        "dir\t0755\t-\t-\t-\td\nfile\t0644\t-5.000000001\t7\t{tag}\td/f\nlink\t-\t12.999999999\t-\t-\te\tto\n\
         pipe\t0600\t1.000000000\t-\t-\tp\nsocket\t4755\t1.000000000\t-\t-\ts"
    );
    let large = format!("file\t18446744073709551000\t{tag}\ta\nfile\t700\t{tag}\tb");
    let options = ManifestOptions { mode: true, special: true, ..ManifestOptions::default() };
    let day = Day::from_days(20_000).expect("it is in 2024");
    let seal = Tag::new(&[7; 32], 256).expect("a seal has 256 bits");
    let chain = Chain::start(day).next(seal, day).next(seal, day);
    let filters = vec![b"*.tmp".to_vec(), b"!keep".to_vec()];
    let header = Header::new(&any(0).open_key(), options, chain, filters);
    let header = String::from_utf8(header.text()).expect("it is text");
    let stamp = "1.000000000,2.000000000,3,4";
    let new = format!(
        "dir\t0755\t-\t0:0\t{tag}\t-\t-\t-\t-\td\n\
         file\t0600\t1.000000000\t1:2\t{tag}\t1\t{tag}\t2024-10-04\t{stamp}\td/f"
    );
    [(0, plain), (7, all), (0, large), (5, header), (0x77, new)]
        .map(|(options, text)| [&[0, options], text.as_bytes()].concat())
        .to_vec()
}
