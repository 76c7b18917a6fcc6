//! The stores that a process reads, and their buckets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tagmac_files::Error;
use tagmac_files::error::io_reason;
use tagmac_files::url::{Scheme, Url};
use tokio::runtime::{self, Runtime};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::requests::Store;

/// The default number of concurrent requests.
pub const REQUESTS: usize = 32;
/// More connections would not be worth their memory.
const MAX_REQUESTS: usize = 64;
/// The maximum number of threads that receive and hash bytes.
const MAX_WORKERS: usize = 32;
/// The bytes of a thread's stack to wipe when it ends: enough for the calls of any MAC and the
/// tasks around them.
const STACK: usize = 128 << 10;

/// Limits on requests and listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of concurrent requests; 0 for 32.
    pub requests: usize,
    /// The maximum number of objects in a listing. A hostile store could return an endless one.
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
        // Do not wait for name lookups that are still running.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Objects {
    /// Returns an empty set of stores.
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
            Error::io(format_args!("cannot start threads for requests: {}", io_reason(&error)))
        })?;
        let requests = if requests == 0 { REQUESTS } else { requests.min(MAX_REQUESTS) };
        let permits = Semaphore::new(requests);
        let (large, stores) = (Semaphore::new(1), Mutex::default());
        let runtime = Some(runtime);
        let shared = Shared { runtime, requests, max_objects, permits, large, stores };
        Ok(Objects(Arc::new(shared)))
    }

    /// Returns the bucket of a URL. Sends no request yet.
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

    /// Returns the bucket of a URL in a given store.
    pub(crate) fn bucket_in(&self, store: Arc<Store>, url: &Url) -> Bucket {
        Bucket { objects: self.clone(), store, url: url.with_key("") }
    }

    /// Returns the number of concurrent requests.
    pub fn requests(&self) -> usize {
        self.0.requests
    }

    /// Returns the maximum number of objects in a listing.
    pub(crate) fn max_objects(&self) -> u64 {
        self.0.max_objects
    }

    /// Returns the runtime that runs the requests.
    pub(crate) fn runtime(&self) -> &Runtime {
        self.0.runtime.as_ref().expect("present until dropped")
    }

    /// Acquires the lock of large objects, held until all ranges of one are requested. So only one
    /// object at a time uses all requests, their threads and their memory.
    pub(crate) fn large(&self) -> SemaphorePermit<'_> {
        self.runtime().block_on(self.0.large.acquire()).expect("never closed")
    }

    /// Returns the permits, one for each concurrent request.
    pub(crate) fn permits(&self) -> &Semaphore {
        &self.0.permits
    }
}

/// A bucket.
#[derive(Clone)]
pub struct Bucket {
    /// The stores of the process.
    pub(crate) objects: Objects,
    /// The store of the bucket.
    pub(crate) store: Arc<Store>,
    url: Url,
}

impl Bucket {
    /// Returns the URL of a key.
    pub fn url(&self, key: &str) -> Url {
        self.url.with_key(key)
    }
}
