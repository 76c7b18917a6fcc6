//! Where the work of a reader runs. Without a runtime of Tokio it runs where the reader is polled.

use std::future::Future;

use object_store::Result;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// Runs work that reads files or hashes many bytes, on a thread where it delays no other task. A
/// leaf may have 64 MiB, and its tag is in a file, which may be on a slow disk.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match Handle::try_current() {
        Ok(handle) => handle.spawn_blocking(work).await?,
        Err(_) => work(),
    }
}

/// Runs work to its end even if the reader does not ask for the result for some time. If the reader
/// goes away, the work ends too.
pub async fn apart<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let Ok(handle) = Handle::try_current() else { return work.await };
    let mut tasks = JoinSet::new();
    tasks.spawn_on(work, &handle);
    tasks.join_next().await.expect("one task")?
}
