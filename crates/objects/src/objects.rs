//! The stores that a process reads, and the buckets in them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tagmac_files::Error;
use tagmac_files::error::io_reason;
use tagmac_files::url::{Scheme, Url};
use tokio::runtime::{self, Runtime};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::requests::Store;

/// Requests that are under way at once, where nobody asks for another number.
pub const REQUESTS: usize = 32;
/// More would be more memory for connections than they bring.
const MAX_REQUESTS: usize = 64;
/// Threads that move what connections bring, and hash it.
const MAX_WORKERS: usize = 32;
/// Bytes of their stacks that are wiped when they end: those of any MAC's calls, and as much for the tasks around.
const STACK: usize = 128 << 10;

/// How much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests that may be under way at once, 0 for 32.
    pub requests: usize,
    /// Objects that a listing may have. A store could make one that never ends.
    pub objects: u64,
}

/// The stores that a process reads.
#[derive(Clone)]
pub struct Objects(Arc<Shared>);

struct Shared {
    runtime: Option<Runtime>,
    requests: usize,
    max_objects: u64,
    permits: Semaphore,
    large: Semaphore,
    stores: Mutex<BTreeMap<(Scheme, String), Arc<Store>>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Nobody waits for a name that is looked up.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Objects {
    /// None yet.
    pub fn new(limits: Limits) -> Result<Objects, Error> {
        let Limits { requests, objects: max_objects } = limits;
        // An error means that a provider is installed already, and any will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(cores.min(MAX_WORKERS))
            .enable_io()
            .enable_time()
            .on_thread_stop(tagmac::wipe_stack::<STACK>)
            .build();
        let runtime = runtime.map_err(|error| {
            Error::io(format_args!("expected threads for requests: {}", io_reason(&error)))
        })?;
        let requests = if requests == 0 { REQUESTS } else { requests.min(MAX_REQUESTS) };
        let permits = Semaphore::new(requests);
        let (large, stores) = (Semaphore::new(1), Mutex::default());
        let runtime = Some(runtime);
        let shared = Shared { runtime, requests, max_objects, permits, large, stores };
        Ok(Objects(Arc::new(shared)))
    }

    /// The bucket of a URL. Nothing is asked of the store yet.
    pub fn bucket(&self, url: &Url) -> Result<Bucket, Error> {
        let _inside = self.runtime().enter();
        let mut stores = self.0.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (url.scheme, url.bucket.clone());
        let store = match stores.get(&name) {
            Some(store) => Arc::clone(store),
            None => Arc::clone(stores.entry(name).or_insert(Arc::new(Store::new(url)?))),
        };
        Ok(self.bucket_in(store, url))
    }

    /// The bucket of a URL, in that store.
    pub(crate) fn bucket_in(&self, store: Arc<Store>, url: &Url) -> Bucket {
        Bucket { objects: self.clone(), store, url: url.with_key("") }
    }

    /// How many requests may be under way at once.
    pub fn requests(&self) -> usize {
        self.0.requests
    }

    /// How many objects a listing may have.
    pub(crate) fn max_objects(&self) -> u64 {
        self.0.max_objects
    }

    /// What moves bytes.
    pub(crate) fn runtime(&self) -> &Runtime {
        self.0.runtime.as_ref().expect("it is there until it is dropped")
    }

    /// Held while a large object has ranges to ask for: it has all requests, their threads and
    /// their memory, once.
    pub(crate) fn large(&self) -> SemaphorePermit<'_> {
        self.runtime().block_on(self.0.large.acquire()).expect("never closed")
    }

    /// One for each request that may be under way.
    pub(crate) fn permits(&self) -> &Semaphore {
        &self.0.permits
    }
}

/// A bucket.
#[derive(Clone)]
pub struct Bucket {
    /// All that the process reads.
    pub(crate) objects: Objects,
    /// Where it is.
    pub(crate) store: Arc<Store>,
    url: Url,
}

impl Bucket {
    /// The URL of a key.
    pub fn url(&self, key: &str) -> Url {
        self.url.with_key(key)
    }
}
