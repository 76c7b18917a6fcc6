//! Times verified reads of ranges of a file next to reads that verify nothing, and next to Bao, which
//! verifies ranges without a key. The file is in the page cache. All run on one thread.

use std::fs::{self, File};
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::leaves::verified::{Leaf, VerifiedFile};
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;
use tagmac_files::read::FileReader;
use tagmac_files::seal::{SealOptions, Sealing};
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::Figure;
use crate::record::{Point, Record, Series};

pub const NAME: &str = "reads";
pub const ABOUT: &str = "verified reads of ranges of a file in the page cache";

/// The minimum of rounds for a figure. The first round is not counted.
const MIN_ROUNDS: usize = 3;
const BAO: &str = "bao 0.13";

/// A contender, and the case in which it takes part.
struct Contender<'a> {
    case: &'static str,
    name: &'static str,
    library: &'static str,
    /// Bytes per read.
    bytes: usize,
    /// Makes all reads of a round, and returns their number.
    run: Box<dyn FnMut(u64) -> Result<usize, Failure> + 'a>,
}

/// Runs the experiment. Its files are in the directory for temporary files.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(NAME, ABOUT, "bytes per read", "nanoseconds per read");
    record.missing.clear();
    let folder = tempfile::tempdir()?;
    let size = if harness.quick { 16 << 20 } else { 256 << 20 };
    let tree = folder.path().join("tree");
    fs::create_dir(&tree)?;
    let mut state = 1u64;
    let bytes: Vec<u8> = (0..size)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        })
        .collect();
    let path = tree.join("file");
    fs::write(&path, &bytes)?;
    let algorithm = Algorithm::default();
    let raw = RawKey::new(algorithm, Zeroizing::new(vec![7; 16]))?;
    let key = OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best())?;
    let place = |name: &str| folder.path().join(name);
    let [large, small] = [(64 << 10, "large"), (4 << 10, "small")].map(|(leaf, name)| {
        seal(&key, &raw, Some(leaf), &tree, &place(name))?;
        let mut tree = SealedTree::open(&key, &raw, &place(name), &tree)?;
        Ok::<_, Failure>(tree.file(b"file")?)
    });
    let (large, small) = (large?, small?);
    let (outboard, hash) = bao::encode::outboard(&bytes);
    drop(bytes);
    let file = File::open(&path)?;
    let mut contenders = vec![
        in_order("tagmac read, leaves of 64 KiB", size, &large),
        Contender {
            case: IN_ORDER,
            name: "tagmac check",
            library: "tagmac",
            bytes: size,
            run: Box::new(|_| {
                let file = File::open(&path)?;
                let mut reader = FileReader::new(&key.mac, 1, &());
                reader.tag_open(&file, &file.metadata()?, &[])?;
                Ok(1)
            }),
        },
        Contender {
            case: IN_ORDER,
            name: "pread of 64 KiB",
            library: "",
            bytes: size,
            run: Box::new(|_| {
                let mut buffer = vec![0; 64 << 10];
                for at in (0..size as u64).step_by(64 << 10) {
                    file.read_exact_at(&mut buffer, at)?;
                    std::hint::black_box(&buffer);
                }
                Ok(1)
            }),
        },
        random(LARGE, "tagmac, leaves of 64 KiB", 64 << 10, size, &large),
        pread(LARGE, 64 << 10, size, &file),
        random(SMALL, "tagmac, leaves of 4 KiB", 4 << 10, size, &small),
        pread(SMALL, 4 << 10, size, &file),
    ];
    contenders.push(Contender {
        case: SMALL,
        name: "Bao",
        library: BAO,
        bytes: 4 << 10,
        run: Box::new(|seed| {
            let mut decoder =
                bao::decode::Decoder::new_outboard(&file, Cursor::new(&outboard), &hash);
            let mut buffer = vec![0; 4 << 10];
            for at in offsets(seed, 4 << 10, size) {
                decoder.seek(SeekFrom::Start(at))?;
                decoder.read_exact(&mut buffer)?;
                std::hint::black_box(&buffer);
            }
            Ok(READS)
        }),
    });
    for (name, leaf) in
        [("seal", None), ("seal, leaves of 64 KiB", Some(64 << 10)), ("seal, 4 KiB", Some(4 << 10))]
    {
        contenders.push(Contender {
            case: "sealed",
            name,
            library: "tagmac",
            bytes: size,
            run: Box::new({
                let (key, raw, tree, place) = (&key, &raw, &tree, place("again"));
                move |_| seal(key, raw, leaf, tree, &place).map(|()| 1)
            }),
        });
    }
    harness.begin(NAME, 1, budget);
    let rounds = if harness.quick { 5 } else { 25 };
    let (start, limit) = (Instant::now(), harness.effort().limit);
    let mut samples = vec![Vec::new(); contenders.len()];
    for round in 0..=rounds {
        if round > MIN_ROUNDS && start.elapsed() >= limit {
            break;
        }
        for (one, samples) in contenders.iter_mut().zip(&mut samples) {
            let start = Instant::now();
            let reads = (one.run)(round as u64)?;
            let seconds = start.elapsed().as_secs_f64();
            if round > 0 {
                samples.push(1e9 * seconds / reads as f64);
            }
        }
    }
    for (one, samples) in contenders.iter().zip(samples) {
        record.series.push(Series {
            name: one.name.into(),
            library: one.library.into(),
            level: None,
            case: Some(one.case.into()),
            ceiling: None,
            function: String::new(),
            call: String::new(),
            points: vec![Point::new(one.bytes, Figure::of(samples))],
        });
    }
    drop(contenders);
    harness.step(&record)?;
    Ok(record)
}

const IN_ORDER: &str = "in order";
const LARGE: &str = "64 KiB at random places";
const SMALL: &str = "4 KiB at random places";
/// Reads per round at random places.
const READS: usize = 2000;

/// Seals the tree on one thread.
fn seal(
    key: &OpenKey,
    raw: &RawKey,
    leaves: Option<u64>,
    tree: &Path,
    output: &Path,
) -> Result<(), Failure> {
    let sealed = ManifestOptions { leaves, ..ManifestOptions::default() };
    let options = SealOptions { sealed, threads: 1, ..SealOptions::new(tree, output) };
    Sealing::new(key, raw, options)?.run(&())?;
    Ok(())
}

fn in_order<'a>(name: &'static str, size: usize, file: &'a VerifiedFile) -> Contender<'a> {
    let run = Box::new(move |_| {
        let (mut leaf, mut at) = (Leaf::default(), 0);
        while at < size as u64 {
            file.read(at, &mut leaf)?;
            at += std::hint::black_box(leaf.from(at)).len() as u64;
        }
        Ok(1)
    });
    Contender { case: IN_ORDER, name, library: "tagmac", bytes: size, run }
}

fn random<'a>(
    case: &'static str,
    name: &'static str,
    bytes: usize,
    size: usize,
    file: &'a VerifiedFile,
) -> Contender<'a> {
    let run = Box::new(move |seed| {
        let mut leaf = Leaf::default();
        for at in offsets(seed, bytes, size) {
            file.read(at, &mut leaf)?;
            std::hint::black_box(leaf.from(at));
        }
        Ok(READS)
    });
    Contender { case, name, library: "tagmac", bytes, run }
}

fn pread<'a>(case: &'static str, bytes: usize, size: usize, file: &'a File) -> Contender<'a> {
    let run = Box::new(move |seed| {
        let mut buffer = vec![0; bytes];
        for at in offsets(seed, bytes, size) {
            file.read_exact_at(&mut buffer, at)?;
            std::hint::black_box(&buffer);
        }
        Ok(READS)
    });
    Contender { case, name: "pread", library: "", bytes, run }
}

/// Returns the offsets of a round, multiples of `bytes`.
fn offsets(seed: u64, bytes: usize, size: usize) -> impl Iterator<Item = u64> {
    let mut state = seed;
    (0..READS).map(move |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % (size / bytes) as u64 * bytes as u64
    })
}
