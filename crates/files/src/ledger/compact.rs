//! Fewer arcs, at the least loss.

use std::collections::BTreeSet;

use crate::day::Day;

/// Merges neighbours until at most `max` arcs are left. Two neighbours get the older of their days,
/// so that no position seems to have been read later than it was. The pair that loses least comes
/// first. The loss is the number of positions in the newer arc times the difference in days.
pub fn compacted(arcs: Vec<(u64, Option<Day>)>, max: usize) -> Vec<(u64, Option<Day>)> {
    if arcs.len() <= max {
        return arcs;
    }
    let count = arcs.len();
    let mut days: Vec<i64> = arcs.iter().map(|(_, day)| number(*day)).collect();
    // Arc `i` reaches up to arc `next[i]`. Arcs that were merged into an earlier one are skipped.
    let mut next: Vec<usize> = (1..=count).collect();
    let mut before: Vec<usize> = (0..count).map(|arc| arc.wrapping_sub(1)).collect();
    let start = |arc: usize| arcs.get(arc).map_or(1 << 64, |(start, _)| u128::from(*start));
    let loss = |arc: usize, days: &[i64], next: &[usize]| {
        let (middle, end) = (next[arc], next[next[arc]]);
        let newer = if days[arc] > days[middle] {
            start(middle) - start(arc)
        } else {
            start(end) - start(middle)
        };
        newer * u128::from(days[arc].abs_diff(days[middle]))
    };
    let mut losses: BTreeSet<(u128, usize)> =
        (0..count - 1).map(|arc| (loss(arc, &days, &next), arc)).collect();
    for _ in max..count {
        let Some((_, arc)) = losses.pop_first() else { break };
        let merged = next[arc];
        // The losses of three pairs change: of this one and its two neighbours.
        if next[merged] < count {
            losses.remove(&(loss(merged, &days, &next), merged));
        }
        if arc > 0 {
            losses.remove(&(loss(before[arc], &days, &next), before[arc]));
        }
        days[arc] = days[arc].min(days[merged]);
        next[arc] = next[merged];
        if next[arc] < count {
            before[next[arc]] = arc;
            losses.insert((loss(arc, &days, &next), arc));
        }
        if arc > 0 {
            losses.insert((loss(before[arc], &days, &next), before[arc]));
        }
    }
    let mut kept = Vec::with_capacity(max);
    let mut arc = 0;
    while arc < count {
        let day = i32::try_from(days[arc]).ok().and_then(Day::from_days);
        push(&mut kept, arcs[arc].0, day);
        arc = next[arc];
    }
    kept
}

/// The day's number; the day before all others for "never".
fn number(day: Option<Day>) -> i64 {
    day.map_or(-1, |day| i64::from(day.days()))
}

/// Appends an arc to a step function. An arc that begins where the last one does replaces it.
pub fn push(arcs: &mut Vec<(u64, Option<Day>)>, start: u64, day: Option<Day>) {
    arcs.pop_if(|last| last.0 == start);
    if arcs.last().is_none_or(|last| last.1 != day) {
        arcs.push((start, day));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arcs(days: &[(u64, i32)]) -> Vec<(u64, Option<Day>)> {
        days.iter().map(|(start, day)| (*start, Day::from_days(*day))).collect()
    }

    #[test]
    fn the_least_loss_comes_first() {
        let ten = arcs(&[(0, 5), (100, 6), (110, 5), (1000, 9), (1001, 5)]);
        assert_eq!(compacted(ten.clone(), 5), ten);
        // One position ages by four days: less than ten by one day. Its neighbours are one arc then.
        assert_eq!(compacted(ten.clone(), 4), arcs(&[(0, 5), (100, 6), (110, 5)]));
        assert_eq!(compacted(ten, 2), arcs(&[(0, 5)]));
        // "Never" is older than any day.
        let never = arcs(&[(0, -1), (10, 0), (20, -1), (1 << 63, 7)]);
        assert_eq!(compacted(never, 3), arcs(&[(0, -1), (1 << 63, 7)]));
    }

    /// The same by the definition, in quadratic time.
    fn slow(mut arcs: Vec<(u64, Option<Day>)>, max: usize) -> Vec<(u64, Option<Day>)> {
        while arcs.len() > max {
            let end = |arc: usize| arcs.get(arc).map_or(1 << 64, |(start, _)| u128::from(*start));
            let loss = |arc: usize| {
                let (left, right) = (number(arcs[arc].1), number(arcs[arc + 1].1));
                let newer = if left > right { arc } else { arc + 1 };
                (end(newer + 1) - end(newer)) * u128::from(left.abs_diff(right))
            };
            let arc = (0..arcs.len() - 1).min_by_key(|arc| loss(*arc)).unwrap();
            arcs[arc].1 = arcs[arc].1.min(arcs[arc + 1].1);
            arcs.remove(arc + 1);
        }
        let mut kept = Vec::new();
        arcs.into_iter().for_each(|(start, day)| push(&mut kept, start, day));
        kept
    }

    proptest::proptest! {
        #[test]
        fn the_fast_way_is_the_slow_way(
            starts in proptest::collection::btree_map(1..1000u64, -1..9i32, 0..60),
            max in 1..40usize,
        ) {
            let mut all = Vec::new();
            let days = [(0, 3)].into_iter().chain(starts);
            days.for_each(|(start, day)| push(&mut all, start, Day::from_days(day)));
            let fast = compacted(all.clone(), max);
            proptest::prop_assert!(fast.len() <= max);
            for at in 0..1000 {
                let day = |arcs: &[(u64, Option<Day>)]| arcs.iter().rfind(|arc| arc.0 <= at).unwrap().1;
                proptest::prop_assert!(day(&fast) <= day(&all));
            }
            proptest::prop_assert_eq!(fast, slow(all, max));
        }
    }

    #[test]
    fn many_arcs_take_little_time() {
        let many =
            |n: u64| (0..n).map(|i| (i << 40, Day::from_days((i * i % 97) as i32))).collect();
        let found = compacted(many(1 << 17), 1 << 16);
        assert!(found.len() <= 1 << 16);
    }
}
