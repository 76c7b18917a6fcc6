//! DataFusion reads 3 of 50 columns of a Parquet file, plain and through a `VerifiedStore`, and this
//! prints the bytes that each asked for. Then one byte of a column changes.
//!
//! ```sh
//! cargo run --release -- 1024
//! ```
//!
//! The number is the size of the file in MiB. With 1024 and leaves of 64 KiB, the verified store asks
//! for 1.03 times the bytes:
//!
//! ```text
//! plain: 31 requests for 64958318 bytes
//! verified: 31 requests for 66922425 bytes
//! ```

mod bridge;
mod counting;

use std::error::Error;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use std::{env, iter};

use bridge::Bridge;
use counting::{Counting, Counts};
use datafusion::arrow::array::{ArrayRef, Int64Array};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use object_store::local::LocalFileSystem;
use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::leaves;
use tagmac_files::leaves::content::Contents;
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;
use tagmac_files::seal::{SealOptions, Sealing};
use tagmac_objects::verified::{NotSealed, VerifiedStore};
use url::Url;

const COLUMNS: usize = 50;
const ROW_GROUPS: usize = 10;
const QUERY: &str = "SELECT sum(c3) AS a, min(c17) AS b, max(c40) AS c FROM t";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Writes a file of numbers that look random.
fn write(path: &Path, mib: usize) -> Result<()> {
    let rows = (mib << 20) / COLUMNS / 8 / ROW_GROUPS;
    let mut state = 1_u64;
    let mut column = || -> ArrayRef {
        let numbers = iter::repeat_with(|| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 8) as i64
        });
        Arc::new(numbers.take(rows).collect::<Int64Array>())
    };
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(rows))
        .set_dictionary_enabled(false)
        .set_compression(Compression::UNCOMPRESSED);
    let mut writer = None;
    for _ in 0..ROW_GROUPS {
        let columns = (0..COLUMNS).map(|number| (format!("c{number}"), column()));
        let batch = RecordBatch::try_from_iter(columns)?;
        if writer.is_none() {
            let (file, properties) = (File::create(path)?, properties.clone().build());
            writer = Some(ArrowWriter::try_new(file, batch.schema(), Some(properties))?);
        }
        writer.as_mut().expect("just made").write(&batch)?;
    }
    writer.expect("there are row groups").close()?;
    Ok(())
}

/// Seals a tree with leaf tags.
fn seal(root: &Path, manifest: &Path) -> Result<Arc<Contents>> {
    let algorithm = Algorithm::from_name("PMAC-AES128").expect("known");
    let raw = RawKey::new(algorithm, vec![7; 16].into())?;
    let key = OpenKey::new(&raw, algorithm.default_tag_bits(), Level::best())?;
    let sealed = ManifestOptions { leaves: Some(leaves::DEFAULT), ..ManifestOptions::default() };
    let options = SealOptions { sealed, ..SealOptions::new(root, manifest) };
    Sealing::new(&key, &raw, options)?.run(&())?;
    Ok(Arc::new(Contents::open(&key, &raw, manifest)?))
}

/// Runs the query. Returns its result, and prints what it asked for.
async fn query(
    name: &str,
    store: impl object_store::ObjectStore,
    counts: &Counts,
) -> Result<(String, u64)> {
    let context = SessionContext::new();
    context.register_object_store(&Url::parse("sealed://tree/")?, Arc::new(Bridge(store)));
    let start = Instant::now();
    let options = ParquetReadOptions::default();
    context.register_parquet("t", "sealed://tree/t.parquet", options).await?;
    let batches = context.sql(QUERY).await?.collect().await?;
    let seconds = start.elapsed().as_secs_f64();
    let (requests, bytes) = counts.take();
    println!("{name}: {seconds:.3} s, {requests} requests for {bytes} bytes");
    Ok((pretty_format_batches(&batches)?.to_string(), bytes))
}

#[tokio::main]
async fn main() -> Result<()> {
    let mib = env::args().nth(1).map_or(Ok(1024), |text| text.parse())?;
    let place = tempfile::tempdir()?;
    let root = place.path().join("tree");
    fs::create_dir(&root)?;
    let path = root.join("t.parquet");
    write(&path, mib)?;
    println!("the file: {} bytes", fs::metadata(&path)?.len());
    let contents = seal(&root, &place.path().join("manifest"))?;

    let store = || LocalFileSystem::new_with_prefix(&root).map(Counting::new);
    let verified = |store| VerifiedStore::new(store, "".into(), contents.clone());
    let plain = store()?;
    let counts = plain.counts.clone();
    let (expected, least) = query("plain", plain, &counts).await?;
    let below = store()?;
    let counts = below.counts.clone();
    let (found, bytes) = query("verified", verified(below), &counts).await?;
    println!("{found}\nbytes asked for: {:.3} of the plain ones", bytes as f64 / least as f64);
    assert_eq!(found, expected);

    // In column 3 of the first row group, where no reader would notice it.
    let at = fs::metadata(&path)?.len() * 35 / (10 * (COLUMNS * ROW_GROUPS) as u64);
    let file = File::options().read(true).write(true).open(&path)?;
    let mut byte = [0];
    file.read_exact_at(&mut byte, at)?;
    file.write_all_at(&[byte[0] ^ 1], at)?;
    let plain = store()?;
    let counts = plain.counts.clone();
    let (changed, _) = query("plain, one bit changed", plain, &counts).await?;
    assert_ne!(changed, expected);
    let below = store()?;
    let counts = below.counts.clone();
    let error = query("verified", verified(below), &counts).await.expect_err("a wrong leaf");
    let found = NotSealed::find(&*error).expect("the error is among the sources");
    println!("verified, one bit changed: {found}");
    Ok(())
}
