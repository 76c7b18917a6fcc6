//! The position of an entry on a circle of 2^64 places, and unions of arcs of that circle.
//!
//! `position(name) = first 8 bytes of HMAC-SHA256(manifest key, "tagmac-position-1\n" || name)`, in
//! big-endian order. Positions do not depend on the other entries, so an entry keeps its place when
//! others come and go. Without the key nobody can compute a position or choose a name by it.

use tagmac_any::{AnyMac, AnyStream};

use crate::manifest::seal_mac;
use crate::raw_key::RawKey;

/// Separates positions from seals, which are made under the same key.
const DOMAIN: &[u8] = b"tagmac-position-1\n";
/// The number of positions on the circle.
pub const CIRCLE: u128 = 1 << 64;

/// Computes the positions of entries.
pub struct Positions {
    /// The MAC after [`DOMAIN`].
    stream: AnyStream,
}

impl Positions {
    /// Derives the key of positions, which is that of manifests.
    pub fn new(key: &RawKey) -> Positions {
        Positions::with_mac(&seal_mac(key))
    }

    fn with_mac(mac: &AnyMac) -> Positions {
        let mut stream = mac.stream(&[]).expect("HMAC takes no nonce");
        stream.update(DOMAIN);
        Positions { stream }
    }

    /// Returns the position of the entry `name`: a path in a tree, or the name of an object.
    pub fn of(&self, name: &[u8]) -> u64 {
        let mut stream = self.stream.fork();
        stream.update(name);
        let tag = stream.tag().expect("HMAC has no limit");
        let first = tag.as_bytes().first_chunk().expect("HMAC-SHA256 has 32 bytes");
        u64::from_be_bytes(*first)
    }
}

/// A union of arcs of the circle.
///
/// ```
/// use tagmac_files::position::Arcs;
///
/// let third = Arcs::part(3, 4).unwrap();
/// assert!(third.contains(0x8000_0000_0000_0000));
/// assert!(!third.contains(0xc000_0000_0000_0000));
/// assert_eq!(third.fraction(), 0.25);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arcs {
    /// The first and the last position of each arc, ascending. At least one position is between two
    /// arcs, and no arc goes beyond the end of the circle.
    ranges: Vec<(u64, u64)>,
}

impl Arcs {
    /// The whole circle.
    pub fn all() -> Arcs {
        Arcs { ranges: vec![(0, u64::MAX)] }
    }

    /// Part `number` of `of` parts, counted from 1: the positions from (number - 1) * 2^64 / of to
    /// before number * 2^64 / of. Each position is in exactly one part. Returns `None` unless
    /// 1 <= number <= of.
    pub fn part(number: u64, of: u64) -> Option<Arcs> {
        if number == 0 || number > of {
            return None;
        }
        let bound = |number: u64| u128::from(number) * CIRCLE / u128::from(of);
        let (start, end) = (bound(number - 1), bound(number));
        Some(Arcs::arc(start as u64, end - start))
    }

    /// An arc of `length` positions from `start` on, which may go beyond the end of the circle.
    pub fn arc(start: u64, length: u128) -> Arcs {
        let Some(more) = length.min(CIRCLE).checked_sub(1) else { return Arcs::default() };
        let more = more as u64;
        match start.checked_add(more) {
            Some(last) => Arcs::from_ranges([(start, last)]),
            None => Arcs::from_ranges([(0, start.wrapping_add(more)), (start, u64::MAX)]),
        }
    }

    /// An arc from `start` on that is `fraction` of the circle, rounded up.
    pub fn from_start(start: u64, fraction: f64) -> Arcs {
        Arcs::arc(start, length_of(fraction))
    }

    /// A union of ranges, each given by its first and last position.
    pub fn from_ranges(ranges: impl IntoIterator<Item = (u64, u64)>) -> Arcs {
        let mut sorted: Vec<_> = ranges.into_iter().filter(|(first, last)| first <= last).collect();
        sorted.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (first, last) in sorted {
            match ranges.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last)
                }
                _ => ranges.push((first, last)),
            }
        }
        Arcs { ranges }
    }

    /// Returns the first and the last position of each arc, ascending. An arc that goes beyond the
    /// end of the circle is returned in two pieces.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Returns whether a position is in one of the arcs.
    pub fn contains(&self, position: u64) -> bool {
        let after = self.ranges.partition_point(|(first, _)| *first <= position);
        after > 0 && position <= self.ranges[after - 1].1
    }

    /// Returns the number of positions in the arcs.
    pub fn length(&self) -> u128 {
        self.ranges.iter().map(|(first, last)| u128::from(last - first) + 1).sum()
    }

    /// Returns the fraction of the circle that the arcs cover, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.length() as f64 / CIRCLE as f64
    }
}

/// Returns the number of positions in `fraction` of the circle, rounded up.
pub fn length_of(fraction: f64) -> u128 {
    ((fraction * CIRCLE as f64).ceil() as u128).min(CIRCLE)
}
