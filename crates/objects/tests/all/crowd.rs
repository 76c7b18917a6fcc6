//! Many readers at once: what they ask for, and their memory.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Poll;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use tagmac_objects::verified::{MemoryLimits, VerifiedStore};
use tokio::runtime::Builder;

use crate::hostile::{Hostile, Lie};
use crate::place::{LEAF, PREFIX, Place, Random};

const READERS: u64 = 1000;

fn limited(place: &Place, lie: Lie, limits: MemoryLimits) -> VerifiedStore<Hostile> {
    let hostile = Hostile::new(&place.objects, lie);
    VerifiedStore::with_limits(hostile, PREFIX.into(), place.contents.clone(), limits)
}

/// A thousand readers request only the leaves that cover their ranges. The store delivers at most
/// four at a time, since the readers have room for four.
#[test]
fn a_thousand_readers_share_the_memory() {
    let place = Arc::new(Place::of_lengths("PMAC-AES128", Some(LEAF)));
    for lie in [Lie::None, Lie::Slow] {
        let limits = MemoryLimits { receiving: 4 * LEAF as usize, cache: 3 * LEAF as usize };
        let hostile = Hostile::new(&place.objects, lie);
        let counts = hostile.counts.clone();
        let contents = place.contents.clone();
        let store = VerifiedStore::with_limits(hostile, PREFIX.into(), contents, limits);
        let runtime = Builder::new_multi_thread().worker_threads(4).build().unwrap();
        let readers = (0..READERS).map(|number| {
            let (place, store) = (place.clone(), store.clone());
            runtime.spawn(async move {
                let mut random = Random(number);
                let (path, bytes) = &place.files[5 + random.below(4) as usize];
                let start = random.below(bytes.len() as u64 - 1) / LEAF * LEAF;
                let end = (start + LEAF).min(bytes.len() as u64);
                let from = start + random.below(end - start);
                let found = match number % 2 {
                    0 => store.get_range(path, from..end).await.unwrap(),
                    _ => store.get_ranges(path, &[from..end]).await.unwrap()[0].clone(),
                };
                assert!(found == bytes[from as usize..end as usize]);
                end - start
            })
        });
        let readers: Vec<_> = readers.collect();
        let mut covered = 0;
        for reader in readers {
            covered += runtime.block_on(reader).unwrap();
        }
        let most = counts.most_open.load(SeqCst);
        let (requests, bytes) = counts.take();
        assert!(requests <= READERS && bytes <= covered, "{requests} {bytes} {covered}");
        assert!((1..=4).contains(&most), "{most}");
        assert_eq!(counts.open.load(SeqCst), 0);
    }
}

/// A reader that was started and is not polled does not stop the others.
#[test]
fn readers_that_wait_do_not_stop_the_others() {
    let place = Place::of_lengths("PMAC-AES128", Some(LEAF));
    let (path, bytes) = place.files.last().unwrap();
    let limits = MemoryLimits { receiving: 1, cache: 0 };
    let store = limited(&place, Lie::Slow, limits);
    for runtime in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let runtime = { runtime }.build().unwrap();
        let all = async {
            let mut streams = Vec::new();
            for _ in 0..50 {
                let mut stream = store.get(path).await.unwrap().into_stream();
                // Polled once, so that its first bytes are on their way.
                let first = match futures_util::poll!(stream.next()) {
                    Poll::Ready(piece) => piece.unwrap().unwrap(),
                    Poll::Pending => Bytes::new(),
                };
                streams.push((first, stream));
            }
            while let Some((first, stream)) = streams.pop() {
                let rest: Vec<_> = stream.try_collect().await.unwrap();
                assert!([first, rest.concat().into()].concat() == bytes[..]);
            }
        };
        runtime.block_on(all);
    }
}

/// Readers that go away while they wait for the store leave the room to others.
#[test]
fn readers_that_go_away_leave_no_trace() {
    let place = Place::of_lengths("PMAC-AES128", Some(LEAF));
    let (path, _) = place.files.last().unwrap();
    let stuck = || format!("{PREFIX}/{path}").into();
    for lie in [Lie::Hangs(stuck()), Lie::Empty(stuck())] {
        let store = limited(&place, lie, MemoryLimits { receiving: 1, cache: 0 });
        let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
        runtime.block_on(async {
            for _ in 0..20 {
                let mut one = Box::pin(store.get_range(path, 0..1));
                let ranges = [0..1, 2 * LEAF..3 * LEAF];
                let mut other = Box::pin(store.get_ranges(path, &ranges));
                for _ in 0..50 {
                    assert!(futures_util::poll!(&mut one).is_pending());
                    assert!(futures_util::poll!(&mut other).is_pending());
                    tokio::task::yield_now().await;
                }
            }
            let (path, bytes) = &place.files[6];
            assert!(store.get_range(path, 5..9).await.unwrap() == bytes[5..9]);
        });
    }
}

/// Without a runtime of Tokio the work runs where the reader is polled.
#[test]
fn a_reader_needs_no_runtime() {
    let place = Place::of_lengths("PMAC-AES128", Some(LEAF));
    let store: VerifiedStore<InMemory> = place.verified(place.objects.clone());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for (path, bytes) in &place.files {
        let read = async { store.get(path).await.unwrap().bytes().await.unwrap() };
        let mut read = Box::pin(read);
        let found = loop {
            if let std::task::Poll::Ready(found) = read.as_mut().poll(&mut context) {
                break found;
            }
        };
        assert!(found == bytes[..]);
    }
}

/// The files are closed again: more of them than are kept can be read, in any order.
#[test]
fn many_files_are_read() {
    let names: Vec<String> = (0..600).map(|number| format!("{}/{number}", number % 7)).collect();
    let files = names.iter().map(|name| (&name[..], name.repeat(2000).into_bytes())).collect();
    let place = Place::new("PMAC-AES128", Some(LEAF), files);
    let store = place.verified(place.objects.clone());
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let mut random = Random(6);
        let reads = (0..READERS).map(|_| {
            let (path, bytes) = &place.files[random.below(600) as usize];
            let start = random.below(bytes.len() as u64);
            let store = &store;
            async move {
                let found = store.get_range(path, start..start + 100).await.unwrap();
                let end = bytes.len().min(start as usize + 100);
                assert!(found == bytes[start as usize..end]);
            }
        });
        stream::iter(reads).buffer_unordered(1000).collect::<Vec<_>>().await;
    });
}
