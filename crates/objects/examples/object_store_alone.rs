//! Reads the same bytes as `tagmac tag -r s3://BUCKET/PREFIX` with `object_store` only, by the same
//! requests, and discards them. The speed of the command is compared with this.
//!
//! ```sh
//! cargo run --release -p tagmac-objects --example object_store_alone -- BUCKET PREFIX
//! ```

// Uses the command's client, because object_store's own would use HTTP/2. Parts of it are unused
// here.
#[allow(dead_code)]
#[path = "../src/connector.rs"]
mod connector;
#[allow(dead_code)]
#[path = "../src/endpoint.rs"]
mod endpoint;

use std::env;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::AmazonS3Builder;
use object_store::client::{ClientOptions, HttpClient, HttpConnector};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};

const RANGE: u64 = 8 << 20;
const REQUESTS: usize = 32;

/// Builds the command's clients.
#[derive(Debug)]
struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let terms = connector::Terms { reach: endpoint::Reach::Plain, writes: false, roots: &None };
        connector::client(terms)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut args = env::args().skip(1);
    let (Some(bucket), Some(prefix)) = (args.next(), args.next()) else {
        return Err("expected BUCKET PREFIX".into());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = AmazonS3Builder::from_env().with_bucket_name(bucket);
        let store = store.with_http_connector(Connector).build()?;
        let store: Arc<dyn ObjectStore> = Arc::new(store);
        let start = Instant::now();
        let folder = Path::from(prefix);
        let ranges = store.list(Some(&folder)).map_ok(|meta| {
            let count = meta.size.div_ceil(RANGE).max(1);
            let each = (0..count).map(move |index| {
                let start = index * RANGE;
                let end = meta.size.min(start + RANGE);
                Ok::<_, object_store::Error>((
                    meta.location.clone(),
                    meta.e_tag.clone(),
                    start,
                    end,
                ))
            });
            stream::iter(each)
        });
        let bytes = ranges.try_flatten().map(|range| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let (path, if_match, start, end) = range?;
                if start == end {
                    store.head(&path).await?;
                    return Ok(0);
                }
                let range = Some(GetRange::Bounded(start..end));
                let options = GetOptions { range, if_match, ..GetOptions::default() };
                let mut pieces = store.get_opts(&path, options).await?.into_stream();
                let mut bytes = 0;
                while let Some(piece) = pieces.next().await {
                    bytes += piece?.len();
                }
                Ok::<usize, object_store::Error>(bytes)
            })
        });
        let mut total = 0;
        let mut bytes = bytes.buffer_unordered(REQUESTS);
        while let Some(read) = bytes.next().await {
            total += read??;
        }
        println!("{total} bytes in {:.3} s", start.elapsed().as_secs_f64());
        Ok(())
    })
}
