//! The position of an entry on a circle of 2^64 places, and unions of arcs of that circle.
//!
//! `position(name) = first 8 bytes of HMAC-SHA256(manifest key, "tagmac-position-1\n" || name)`, in
//! big-endian order. Positions do not depend on the other entries, so an entry keeps its place when
//! others come and go. Without the key nobody can compute a position or choose a name by it.
//!
//! A leaf has a position too, but another one in each audit: `position(start, name, number) = first
//! 8 bytes of HMAC-SHA256(manifest key, "tagmac-leaf-position-1\n" || start || name || number)`. `start`
//! is random, and both numbers have 8 bytes. So nobody learns from an audit which leaves the next one reads.

use tagmac_any::{AnyMac, AnyStream};

use crate::manifest::seal_mac;
use crate::raw_key::RawKey;

/// Separates positions from seals, which are made under the same key.
const DOMAIN: &[u8] = b"tagmac-position-1\n";
/// Separates positions of leaves from those of entries.
const LEAF_DOMAIN: &[u8] = b"tagmac-leaf-position-1\n";
/// The number of positions on the circle.
pub const CIRCLE: u128 = 1 << 64;

/// Computes the positions of entries.
pub struct Positions {
    /// The MAC after [`DOMAIN`].
    stream: AnyStream,
    /// The MAC after [`LEAF_DOMAIN`].
    leaves: AnyStream,
}

/// Computes the positions of the leaves of one entry.
pub struct LeafPositions {
    /// The MAC before the number of the leaf.
    stream: AnyStream,
}

impl Positions {
    /// Derives the key of positions, which is that of manifests.
    pub fn new(key: &RawKey) -> Positions {
        Positions::with_mac(&seal_mac(key))
    }

    pub(crate) fn with_mac(mac: &AnyMac) -> Positions {
        let [stream, leaves] = [DOMAIN, LEAF_DOMAIN].map(|domain| {
            let mut stream = mac.stream(&[]).expect("HMAC takes no nonce");
            stream.update(domain);
            stream
        });
        Positions { stream, leaves }
    }

    /// Returns the position of the entry `name`: a path in a tree, or the name of an object.
    pub fn of(&self, name: &[u8]) -> u64 {
        position(&self.stream, name)
    }

    /// Returns the positions of the leaves of the entry `name` in the audit with this `start`.
    pub fn of_leaves(&self, start: u64, name: &[u8]) -> LeafPositions {
        let mut stream = self.leaves.fork();
        stream.update(&start.to_be_bytes());
        stream.update(name);
        LeafPositions { stream }
    }
}

impl LeafPositions {
    /// Returns the position of leaf `number`.
    pub fn of(&self, number: u64) -> u64 {
        position(&self.stream, &number.to_be_bytes())
    }
}

/// Returns the position of an input that ends with `end`.
fn position(stream: &AnyStream, end: &[u8]) -> u64 {
    let tag = stream.tag_with_end(end).expect("HMAC has no limit");
    let first = tag.as_bytes().first_chunk().expect("HMAC-SHA256 has 32 bytes");
    u64::from_be_bytes(*first)
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

/// Returns the number of the part, of `of` parts counted from 1, that contains a position.
pub fn part_of(position: u64, of: u64) -> u64 {
    let end = u128::from(position) + 1;
    (end * u128::from(of)).div_ceil(CIRCLE) as u64
}

/// Returns the number of positions in `fraction` of the circle, rounded up.
pub fn length_of(fraction: f64) -> u128 {
    ((fraction * CIRCLE as f64).ceil() as u128).min(CIRCLE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tagmac_any::{Algorithm, AnyMac};

    use super::*;

    #[test]
    fn a_position_is_the_start_of_an_hmac() {
        let hmac = AnyMac::new(Algorithm::from_name("HMAC-SHA256").unwrap(), b"key").unwrap();
        let positions = Positions::with_mac(&hmac);
        // hmac.digest(b"key", b"tagmac-position-1\n" + name, "sha256")[:8].hex()
        assert_eq!(positions.of(b""), 0x5969_1622_087d_2fcc);
        assert_eq!(positions.of(b"a/b"), 0xde11_cc4a_fc2e_63c6);
        // The same text in pieces is the same name.
        let key = RawKey::new(Algorithm::default(), vec![7; 16].into()).unwrap();
        assert_eq!(Positions::new(&key).of(b"a"), Positions::with_mac(&seal_mac(&key)).of(b"a"));
    }

    #[test]
    fn parts_are_cut_where_the_format_says() {
        let part = |number, of| Arcs::part(number, of).map(|arcs| arcs.ranges().to_vec());
        assert_eq!(part(1, 1), Some(vec![(0, u64::MAX)]));
        assert_eq!(part(1, 3), Some(vec![(0, 0x5555_5555_5555_5554)]));
        assert_eq!(part(2, 3), Some(vec![(0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaa9)]));
        assert_eq!(part(3, 3), Some(vec![(0xaaaa_aaaa_aaaa_aaaa, u64::MAX)]));
        assert_eq!(part(u64::MAX, u64::MAX), Some(vec![(u64::MAX - 1, u64::MAX)]));
        assert_eq!([part(0, 3), part(4, 3), part(0, 0)], [None, None, None]);
    }

    #[test]
    fn fractions_are_rounded_up() {
        assert_eq!(Arcs::from_start(5, 1.0), Arcs::all());
        assert_eq!(Arcs::from_start(5, 7.0), Arcs::all());
        assert_eq!(Arcs::from_start(5, 0.0), Arcs::default());
        assert_eq!(Arcs::from_start(5, -1.0), Arcs::default());
        assert_eq!(Arcs::from_start(5, f64::NAN), Arcs::default());
        assert_eq!(Arcs::from_start(5, 1e-30).ranges(), [(5, 5)]);
        assert_eq!(
            Arcs::from_start(u64::MAX, 0.5).ranges(),
            [(0, (1 << 63) - 2), (u64::MAX, u64::MAX)]
        );
        assert_eq!(Arcs::from_start(u64::MAX, 0.5).fraction(), 0.5);
        assert_eq!(Arcs::all().fraction(), 1.0);
        assert_eq!(Arcs::default().fraction(), 0.0);
    }

    /// Positions near each other and near the ends.
    fn position() -> impl Strategy<Value = u64> {
        prop_oneof![0..40u64, any::<u64>(), (u64::MAX - 40)..=u64::MAX]
    }

    proptest! {
        #[test]
        fn each_position_is_in_one_part(position in position(), of in 1..1000u64) {
            let found = (1..=of).filter(|number| Arcs::part(*number, of).unwrap().contains(position));
            prop_assert_eq!(found.collect::<Vec<_>>(), [part_of(position, of)]);
        }

        #[test]
        fn the_parts_are_the_circle(of in 1..1000u64) {
            let parts = (1..=of).flat_map(|number| Arcs::part(number, of).unwrap().ranges);
            prop_assert_eq!(Arcs::from_ranges(parts), Arcs::all());
            let length: u128 = (1..=of).map(|number| Arcs::part(number, of).unwrap().length()).sum();
            prop_assert_eq!(length, CIRCLE);
        }

        #[test]
        fn an_arc_has_its_length(start in position(), length in position(), at in position()) {
            let arc = Arcs::arc(start, length.into());
            prop_assert_eq!(arc.length(), u128::from(length));
            prop_assert_eq!(arc.contains(at), at.wrapping_sub(start) < length);
        }

        #[test]
        fn a_union_contains_what_its_ranges_do(
            ranges in proptest::collection::vec((position(), position()), 0..9),
            at in position(),
        ) {
            let union = Arcs::from_ranges(ranges.clone());
            let inside = ranges.iter().any(|(first, last)| (*first..=*last).contains(&at));
            prop_assert_eq!(union.contains(at), inside);
            prop_assert_eq!(Arcs::from_ranges(union.ranges.clone()), union.clone());
            for pair in union.ranges.windows(2) {
                prop_assert!(pair[0].1 + 1 < pair[1].0);
            }
        }
    }
}
