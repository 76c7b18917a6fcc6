//! Parallel work, with the results in order.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::stack;

/// Jobs that a thread receives at a time. Small, so that all threads finish at about the same time.
pub const BATCH: usize = 8;
/// Maximum number of batches that may be ahead of the results, per thread and in total. A job may
/// hold a long path or two.
const AHEAD: u64 = 32;
const MAX_AHEAD: u64 = 128;

/// Does each job with one of the workers, on the worker's own thread, and calls `done` with the
/// results in the order of the jobs. `jobs` and `done` run on the calling thread. The number of
/// jobs in memory is bounded. A single worker runs on the calling thread.
pub fn in_order<J: Send, O: Send, W: Send, E>(
    workers: &mut [W],
    jobs: impl Iterator<Item = J>,
    work: impl Fn(&mut W, J) -> O + Sync,
    done: impl FnMut(O) -> Result<(), E>,
) -> Result<(), E> {
    in_batches(BATCH, workers, jobs, work, done)
}

/// Like [`in_order`], with `batch` jobs per thread at a time: 1 for jobs that mostly wait, and more
/// for jobs that are shorter than handing them over.
pub fn in_batches<J: Send, O: Send, W: Send, E>(
    batch: usize,
    workers: &mut [W],
    mut jobs: impl Iterator<Item = J>,
    work: impl Fn(&mut W, J) -> O + Sync,
    mut done: impl FnMut(O) -> Result<(), E>,
) -> Result<(), E> {
    let work = &work;
    let ahead = (AHEAD * workers.len() as u64).min(MAX_AHEAD * BATCH as u64 / batch as u64).max(1);
    if let [worker] = workers {
        return jobs.try_for_each(|job| done(work(worker, job)));
    }
    let stop = &AtomicBool::new(false);
    let (give, take) = mpsc::channel::<(u64, Vec<J>)>();
    let take = &Mutex::new(take);
    let (back, results) = mpsc::channel();
    let (all_jobs, each) = (&mut jobs, &mut done);
    let finished = thread::scope(|scope| {
        // Dropped at the end of this closure, which ends the threads.
        let give = give;
        let mut any = false;
        for worker in workers.iter_mut() {
            let back = back.clone();
            let serve = move || {
                loop {
                    let batch = take.lock().expect("no worker panics").recv();
                    let Ok((number, batch)) = batch else { return };
                    let batch = batch.into_iter().map_while(|job| {
                        (!stop.load(Ordering::Relaxed)).then(|| work(worker, job))
                    });
                    if back.send((number, batch.collect::<Vec<O>>())).is_err() {
                        return;
                    }
                }
            };
            if thread::Builder::new().spawn_scoped(scope, || stack::wiped(serve)).is_err() {
                break;
            }
            any = true;
        }
        drop(back);
        if !any {
            return None;
        }
        let (mut given, mut next) = (0, 0);
        let mut waiting = BTreeMap::new();
        loop {
            while given - next < ahead {
                let batch: Vec<J> = all_jobs.by_ref().take(batch).collect();
                if batch.is_empty() {
                    break;
                }
                give.send((given, batch)).expect("the receiver is here");
                given += 1;
            }
            if next == given {
                return Some(Ok(()));
            }
            let (number, batch) = results.recv().expect("workers stay until there are no jobs");
            waiting.insert(number, batch);
            while let Some(batch) = waiting.remove(&next) {
                next += 1;
                if let Err(error) = batch.into_iter().try_for_each(&mut *each) {
                    stop.store(true, Ordering::Relaxed);
                    return Some(Err(error));
                }
            }
        }
    });
    // If no thread can be started, the calling thread does all the work.
    finished.unwrap_or_else(|| jobs.try_for_each(|job| done(work(&mut workers[0], job))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for threads in [1, 2, 7] {
            let mut workers = vec![0u64; threads];
            let mut seen = Vec::new();
            let later = AtomicBool::new(false);
            let slow = |worker: &mut u64, job: u64| {
                *worker += 1;
                // The first job waits for one of a later batch, which another worker has.
                if job == 2 * BATCH as u64 {
                    later.store(true, Ordering::Relaxed);
                }
                while threads > 1 && job == 0 && !later.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                job * job
            };
            let done = |result| {
                seen.push(result);
                Ok::<(), ()>(())
            };
            in_order(&mut workers, 0..5000, slow, done).unwrap();
            assert!(seen.into_iter().eq((0..5000).map(|job| job * job)));
            assert_eq!(workers.iter().sum::<u64>(), 5000);
        }
    }

    #[test]
    fn an_error_ends_it() {
        for threads in [1, 3] {
            let mut workers = vec![(); threads];
            let mut most = 0;
            let jobs = (0..u64::MAX).inspect(|&job| most = job);
            let done = |result| if result < 1000 { Ok(()) } else { Err(result) };
            assert_eq!(in_order(&mut workers, jobs, |(), job| job, done), Err(1000));
            assert!(most < 1000 + AHEAD * BATCH as u64 * 4);
        }
    }

    #[test]
    fn no_jobs() {
        let done = |()| Err(());
        assert_eq!(in_order(&mut [(), ()], [].into_iter(), |(), ()| (), done), Ok(()));
    }
}
