//! Times verified reads of ranges of a file next to reads that verify nothing, next to Bao, which
//! verifies ranges without a key, and next to Google Tink, which also encrypts. The file is in the page
//! cache. All run on one thread. The figures are processor time, so other programs on the machine do not
//! count.

#[cfg(target_os = "linux")]
mod mounted;
#[cfg(not(target_os = "linux"))]
#[path = "reads/not_mounted.rs"]
mod mounted;
mod tink;

use std::fs::{self, File};
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Arg, ArgMatches, Command, value_parser};
use cpu_time::ProcessTime;
use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::leaves::verified::{Leaf, VerifiedFile};
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;
use tagmac_files::read::{FileReader, Span};
use tagmac_files::seal::{SealOptions, Sealing};
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::Figure;
use crate::record::{Point, Record, Series};
use mounted::Mounted;
use tink::Tink;

pub const NAME: &str = "reads";
pub const ABOUT: &str = "verified reads of ranges of a file in the page cache";

/// The subcommand that mounts a file without verification.
pub const SERVE: &str = "serve";

/// Returns the subcommand [`SERVE`].
pub fn serve_command() -> Command {
    let place = |name| Arg::new(name).required(true).value_parser(value_parser!(PathBuf));
    Command::new(SERVE).hide(true).args([place("file"), place("dir")])
}

/// Runs the subcommand [`SERVE`].
pub fn serve(args: &ArgMatches) -> Result<(), Failure> {
    let place = |name| args.get_one::<PathBuf>(name).expect("it is required");
    mounted::serve(place("file"), place("dir"))
}

/// The minimum of rounds for a figure. The first round is not counted.
const MIN_ROUNDS: usize = 3;
const BAO: &str = "bao 0.13";
const TINK: &str = "tink 1.18.0";
/// The minimum work of a verified read.
const CEILING: &str = "a read, then one tag of the bytes";

/// A contender, and the case in which it takes part.
struct Contender<'a> {
    case: &'static str,
    name: &'static str,
    library: &'static str,
    /// Bytes per read.
    bytes: usize,
    /// The program that reads, if it is another one.
    server: Server<'a>,
    /// Makes all reads of a round, which a number chooses, and returns how many they were.
    run: Box<dyn FnMut(u64) -> Result<usize, Failure> + 'a>,
}

#[derive(Clone, Copy)]
enum Server<'a> {
    None,
    Mount(&'a Mounted),
    Tink(&'a Tink),
}

impl Server<'_> {
    /// Returns the processor time of the program.
    fn served(self) -> Result<Duration, Failure> {
        match self {
            Server::None => Ok(Duration::ZERO),
            Server::Mount(mounted) => mounted.served(),
            Server::Tink(tink) => Ok(tink.served()),
        }
    }
}

impl Contender<'_> {
    /// Returns the nanoseconds of processor time per read in a round, with those of another program
    /// that reads.
    fn time(&mut self, round: u64) -> Result<f64, Failure> {
        if let Server::Mount(mounted) = self.server {
            mounted.forget()?;
        }
        let (served, start) = (self.server.served()?, ProcessTime::now());
        let reads = (self.run)(round)?;
        let time = start.elapsed() + (self.server.served()? - served);
        Ok(1e9 * time.as_secs_f64() / reads as f64)
    }
}

/// Runs the experiment. Its files are in the directory for temporary files.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(NAME, ABOUT, "bytes per read", "nanoseconds per read");
    record.missing.clear();
    let folder = tempfile::tempdir()?;
    let size = if harness.quick { 4 * PIECE } else { 256 << 20 };
    let [tree, part] = ["tree", "part"].map(|name| folder.path().join(name));
    fs::create_dir(&tree)?;
    fs::create_dir(&part)?;
    let mut state = 1u64;
    let bytes: Vec<u8> = (0..size)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        })
        .collect();
    let path = tree.join("file");
    fs::write(&path, &bytes)?;
    let sealed = size / 4;
    fs::write(part.join("file"), &bytes[..sealed])?;
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
    let facts = file.metadata()?;
    // A quick run mounts nothing: a mount needs another build of the command.
    let (through, verified) = match harness.quick {
        true => (None, None),
        false => (
            Mounted::pass_through(SERVE, &path, place("through"))?,
            Mounted::verified(&tree, place("verified"))?,
        ),
    };
    let tink = Tink::start(&path, &place("encrypted"), READS)?;
    let mut contenders = vec![
        in_order("tagmac read, leaves of 64 KiB", size, &large),
        Contender {
            case: IN_ORDER,
            name: "tagmac check",
            library: "tagmac",
            bytes: PIECE,
            server: Server::None,
            run: Box::new(|round| {
                let start = piece(round, size);
                let span = Span { start, at: start, bytes: PIECE as u64 };
                FileReader::new(&key.mac, 1, &()).part(&file, &facts, span, false)?;
                Ok(1)
            }),
        },
        pread_in_order("pread of 64 KiB", size, &file, None),
        pread_in_order(CEILING, size, &file, Some(&key)),
        random(LARGE, "tagmac, leaves of 64 KiB", 64 << 10, size, &large),
        pread(LARGE, 64 << 10, size, &file, None),
        pread(LARGE, 64 << 10, size, &file, Some(&key)),
        random(SMALL, "tagmac, leaves of 4 KiB", 4 << 10, size, &small),
        pread(SMALL, 4 << 10, size, &file, None),
        pread(SMALL, 4 << 10, size, &file, Some(&key)),
    ];
    contenders.push(Contender {
        case: SMALL,
        name: "Bao",
        library: BAO,
        bytes: 4 << 10,
        server: Server::None,
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
    match &tink {
        Some(tink) => contenders.push(Contender {
            case: SMALL,
            name: "Tink, AES256_GCM_HKDF_4KB",
            library: TINK,
            bytes: 4 << 10,
            server: Server::Tink(tink),
            run: Box::new(move |seed| tink.round(seed).map(|()| READS)),
        }),
        None => record.missing.push(format!("Tink: {} is not set", tink::CLASSPATH)),
    }
    for (name, leaf) in
        [("seal", None), ("seal, leaves of 64 KiB", Some(64 << 10)), ("seal, 4 KiB", Some(4 << 10))]
    {
        contenders.push(Contender {
            case: "sealed",
            name,
            library: "tagmac",
            bytes: sealed,
            server: Server::None,
            run: Box::new({
                let (key, raw, tree, place) = (&key, &raw, &part, place("again"));
                move |_| seal(key, raw, leaf, tree, &place).map(|()| 1)
            }),
        });
    }
    for (mounted, name, library) in [
        (&through, "a mount that verifies nothing", "fuser"),
        (&verified, "tagmac mount", "tagmac"),
    ] {
        let mounted = mounted.iter();
        contenders.extend(mounted.flat_map(|one| through_mount(one, name, library, size)));
    }
    harness.begin(NAME, 1, budget);
    let rounds = if harness.quick { 5 } else { 100 };
    let (start, limit) = (Instant::now(), harness.effort().limit);
    let mut samples = vec![Vec::new(); contenders.len()];
    for round in 0..=rounds {
        if round > MIN_ROUNDS && start.elapsed() >= limit {
            break;
        }
        for turn in 0..contenders.len() {
            // Rotate the order, so that no contender always follows the same one.
            let at = (turn + round) % contenders.len();
            // Others must not read what the one before left in the processor's caches.
            let nanos = contenders[at].time((round + APART * at) as u64)?;
            if round > 0 {
                samples[at].push(nanos);
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
const MOUNT_IN_ORDER: &str = "in order, mounted";
const MOUNT_LARGE: &str = "64 KiB at random places, mounted";
/// The rounds from a contender's reads until the next contender makes the same reads.
const APART: usize = 7;
/// Reads per round at random places.
const READS: usize = 2000;
const MOUNT_READS: usize = 500;
/// Bytes per round in order. The caches of the processor do not have the piece of the next round.
const PIECE: usize = 16 << 20;

/// Returns the start of the piece that a round reads.
fn piece(round: u64, size: usize) -> u64 {
    round % (size / PIECE) as u64 * PIECE as u64
}

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
    let run = Box::new(move |round| {
        let (mut leaf, mut at) = (Leaf::default(), piece(round, size));
        let end = at + PIECE as u64;
        while at < end {
            file.read(at, &mut leaf)?;
            at += std::hint::black_box(leaf.from(at)).len() as u64;
        }
        Ok(1)
    });
    Contender { case: IN_ORDER, name, library: "tagmac", bytes: PIECE, server: Server::None, run }
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
    Contender { case, name, library: "tagmac", bytes, server: Server::None, run }
}

fn pread_in_order<'a>(
    name: &'static str,
    size: usize,
    file: &'a File,
    key: Option<&'a OpenKey>,
) -> Contender<'a> {
    let run = Box::new(move |round| {
        let mut buffer = vec![0; 64 << 10];
        let start = piece(round, size);
        for at in (start..start + PIECE as u64).step_by(buffer.len()) {
            read_and_tag(file, at, &mut buffer, key)?;
        }
        Ok(1)
    });
    Contender { case: IN_ORDER, name, library: "", bytes: PIECE, server: Server::None, run }
}

/// Reads without leaves. With a key, it also tags each read, as a verified read must.
fn pread<'a>(
    case: &'static str,
    bytes: usize,
    size: usize,
    file: &'a File,
    key: Option<&'a OpenKey>,
) -> Contender<'a> {
    let run = Box::new(move |seed| {
        let mut buffer = vec![0; bytes];
        for at in offsets(seed, bytes, size) {
            read_and_tag(file, at, &mut buffer, key)?;
        }
        Ok(READS)
    });
    let name = if key.is_some() { CEILING } else { "pread" };
    Contender { case, name, library: "", bytes, server: Server::None, run }
}

fn read_and_tag(
    file: &File,
    at: u64,
    buffer: &mut [u8],
    key: Option<&OpenKey>,
) -> Result<(), Failure> {
    file.read_exact_at(buffer, at)?;
    match key {
        Some(key) => _ = std::hint::black_box(key.mac.tag(&[], &*buffer)?),
        None => _ = std::hint::black_box(buffer),
    }
    Ok(())
}

/// Reads through a mount.
fn through_mount<'a>(
    mounted: &'a Mounted,
    name: &'static str,
    library: &'static str,
    size: usize,
) -> [Contender<'a>; 2] {
    let in_order = Box::new(move |round| {
        let mut buffer = vec![0; 128 << 10];
        let start = piece(round, size);
        for at in (start..start + PIECE as u64).step_by(buffer.len()) {
            mounted.read(&mut buffer, at)?;
        }
        Ok(1)
    });
    let random = Box::new(move |seed| {
        let mut buffer = vec![0; 64 << 10];
        for at in offsets(seed, buffer.len(), size).take(MOUNT_READS) {
            mounted.read(&mut buffer, at)?;
        }
        Ok(MOUNT_READS)
    });
    let server = Server::Mount(mounted);
    [
        Contender { case: MOUNT_IN_ORDER, name, library, bytes: PIECE, server, run: in_order },
        Contender { case: MOUNT_LARGE, name, library, bytes: 64 << 10, server, run: random },
    ]
}

/// Returns the offsets of a round, multiples of `bytes`.
fn offsets(seed: u64, bytes: usize, size: usize) -> impl Iterator<Item = u64> {
    let mut state = seed;
    (0..READS).map(move |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % (size / bytes) as u64 * bytes as u64
    })
}
