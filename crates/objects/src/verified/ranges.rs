//! Reads many ranges of a file at once.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::{Extensions, ObjectStore, Result};

use crate::verified::error::generic;
use crate::verified::fetch::{Fetcher, Leaf, Leaves, Sealed};

/// The number of concurrent requests of a call.
const REQUESTS: usize = 10;

/// Reads ranges, none of them empty or beyond the end of the file. Each leaf is requested once.
pub async fn read<S: ObjectStore>(
    fetcher: &Arc<Fetcher<S>>,
    sealed: &Arc<Sealed>,
    ranges: Vec<Range<u64>>,
) -> Result<Vec<Bytes>> {
    let mut outputs = Outputs::new(&ranges)?;
    let leaves = spans(sealed, &outputs.ranges).into_iter().map(|span| {
        let extensions = Extensions::default();
        Leaves::new(fetcher.clone(), sealed.clone(), span, extensions).into_stream()
    });
    let mut leaves = stream::iter(leaves).flatten_unordered(REQUESTS);
    while let Some(leaf) = leaves.try_next().await? {
        if outputs.put(&leaf) {
            fetcher.keep(sealed, &leaf);
        }
    }
    Ok(outputs.finish())
}

/// Returns the leaves that cover sorted ranges, adjacent ones joined.
fn spans(sealed: &Sealed, ranges: &[(usize, Range<u64>)]) -> Vec<Range<u64>> {
    let mut spans: Vec<Range<u64>> = Vec::new();
    for (_, range) in ranges {
        let cover = sealed.cover(range);
        match spans.last_mut() {
            Some(last) if cover.start <= last.end => last.end = last.end.max(cover.end),
            _ => spans.push(cover),
        }
    }
    spans
}

/// The bytes of all ranges, filled leaf by leaf.
struct Outputs {
    /// The ranges in the order of their starts, with their numbers in the call.
    ranges: Vec<(usize, Range<u64>)>,
    /// The greatest end of the ranges up to each one.
    reach: Vec<u64>,
    /// In the order of the call.
    buffers: Vec<Vec<u8>>,
}

impl Outputs {
    fn new(ranges: &[Range<u64>]) -> Result<Outputs> {
        let mut buffers = Vec::with_capacity(ranges.len());
        for range in ranges {
            let bytes = usize::try_from(range.end - range.start).map_err(generic)?;
            let mut buffer = Vec::new();
            buffer.try_reserve_exact(bytes).map_err(generic)?;
            buffer.resize(bytes, 0);
            buffers.push(buffer);
        }
        let mut ranges: Vec<_> = ranges.iter().cloned().enumerate().collect();
        ranges.sort_unstable_by_key(|(_, range)| range.start);
        let mut most = 0;
        let reach = ranges.iter().map(|(_, range)| {
            most = range.end.max(most);
            most
        });
        let reach = reach.collect();
        Ok(Outputs { ranges, reach, buffers })
    }

    /// Copies the bytes of a leaf to all ranges that have some. Returns whether none has all.
    fn put(&mut self, leaf: &Leaf) -> bool {
        let first = self.reach.partition_point(|&end| end <= leaf.start);
        let last = self.ranges.partition_point(|(_, range)| range.start < leaf.end());
        let mut is_part = true;
        for (number, range) in &self.ranges[first..last] {
            let (start, bytes) = leaf.within(range);
            if bytes.is_empty() {
                continue;
            }
            is_part &= bytes.len() < leaf.bytes.len();
            let at = (start - range.start) as usize;
            self.buffers[*number][at..at + bytes.len()].copy_from_slice(bytes);
        }
        is_part
    }

    fn finish(self) -> Vec<Bytes> {
        self.buffers.into_iter().map(Bytes::from).collect()
    }
}
