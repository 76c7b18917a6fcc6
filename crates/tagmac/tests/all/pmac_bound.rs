//! Compares PMAC's bound (`docs/design/theory.md`, "PMAC's bound") with every permutation of small
//! blocks.
//!
//! For blocks of 3 to 6 bits all permutations are tried, as far as a MAC queries them. Every
//! probability is therefore exact, a fraction of two numbers of cases.

use tagmac_bounds::pmac as bound;

use crate::pmac_small::*;

/// The advantage of distinguishing these tags from random strings, times the number of cases.
fn advantage((counts, all): &(Vec<u128>, u128)) -> (u128, u128) {
    let strings = counts.len() as u128;
    let over = counts.iter().map(|count| (count * strings).saturating_sub(*all)).sum();
    (over, all * strings)
}

/// The bound, times 2^n.
fn cost(q: u128, sigma: u128) -> u128 {
    sigma * (3 * q).min(sigma + 1)
}

/// Compares an exact probability with the bound and returns it as an `f64`.
#[track_caller]
fn within(field: Field, (found, of): (u128, u128), cost: u128, what: &str) -> f64 {
    assert!(found * field.size() <= cost * of, "{what}: {found} of {of}, {cost} of 2^{}", field.n);
    found as f64 / of as f64
}

#[test]
fn equal_lengths_are_not_the_worst_case_of_the_papers_sum() {
    // Lemmas 1 and 2: the sum of (m + m' + 1)(m + m') / 2 over the pairs of messages, divided by
    // 2^n.
    let pairs = |lengths: &[u64]| -> f64 {
        let each = |(i, m): (usize, &u64)| -> u64 {
            lengths[i + 1..].iter().map(|other| (m + other + 1) * (m + other) / 2).sum()
        };
        lengths.iter().enumerate().map(each).sum::<u64>() as f64
    };
    for (longest, q, times, sigma) in [(91, 10, 2.3, 100), (9901, 100, 32.0, 10_000)] {
        let mixed = [vec![longest], vec![1; q - 1]].concat();
        let equal = vec![sigma / q as u64; q];
        assert_eq!(mixed.iter().sum::<u64>(), sigma);
        // The number in theorem 1, and the term that lemma 1 adds to the sum.
        let s = (sigma + q as u64 + 1) as f64;
        let (theorem, more) = (1.5 * s * s, (sigma + 1).pow(2) as f64 / 2.0);
        assert!(pairs(&equal) + more <= theorem);
        let over = (pairs(&mixed) + more) / theorem;
        println!("{longest} and {} of 1: {over:.2} times what theorem 1 says", q - 1);
        assert!(over >= times, "{over}");
        // The theorem's statement still holds, by the proof of the bound here.
        assert!((cost(q as u128, sigma.into()) as f64) < theorem);
    }
}

#[test]
fn the_library_has_this_bound() {
    for n in [4, 6, 64, 128] {
        for (q, sigma) in [(1, 1), (1, 9), (2, 5), (3, 8), (3, 9), (9, 9), (10, 100), (100, 10_000)]
        {
            let value = bound::prf(n, q, sigma).unwrap().value();
            assert_eq!(value, cost(q, sigma) as f64 / 2f64.powi(n as i32), "{n} {q} {sigma}");
        }
    }
}

#[test]
fn exact_advantages_are_within_the_bound() {
    let mut most = [0f64; 2];
    // Every single message, of up to two blocks of 3 bits and up to three of 4 bits.
    for (field, blocks) in [(GF8, 1), (GF8, 2), (GF16, 1), (GF16, 2)] {
        for message in messages(field, blocks) {
            let found = advantage(&tags(field, field.n, &[&message]));
            most[0] = most[0].max(within(field, found, cost(1, blocks.into()), "alone"));
        }
    }
    // Every pair of messages of one block, with whole tags and with truncated ones.
    for field in [GF8, GF16] {
        let all = short(field);
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                for t in 1..=field.n {
                    let found = advantage(&tags(field, t, &[a, b]));
                    most[1] = most[1].max(within(field, found, cost(2, 2), "a pair"));
                }
            }
        }
    }
    // The advantage is not trivial: two tags differ more often than random strings.
    println!("alone {:.4}, pairs {:.4}", most[0], most[1]);
    assert!(most[0] > 0.1 && most[1] > 0.15, "{most:?}");
    // Mixes of lengths.
    let mut choice = Choice(1);
    let mixes: [(Field, &[usize], u32); 9] = [
        (GF16, &[3], 20),
        (GF16, &[4], 20),
        (GF16, &[2, 1], 300),
        (GF16, &[1, 1, 1], 300),
        (GF32, &[2, 1], 12),
        (GF32, &[3], 6),
        (GF32, &[1, 1, 1], 12),
        (GF32, &[4], 1),
        (GF32, &[3, 1], 1),
    ];
    for (field, lengths, rounds) in mixes {
        let (mut most, mut limit) = (0f64, 0.0);
        for _ in 0..rounds {
            let messages = choice.messages(field, lengths);
            let messages: Vec<&Message> = messages.iter().collect();
            let found = advantage(&tags(field, field.n, &messages));
            let cost = cost(messages.len() as u128, sigma(&messages));
            limit = cost as f64 / field.size() as f64;
            assert!(limit < 1.0);
            most = most.max(within(field, found, cost, "a mix"));
        }
        println!("n = {}, blocks {lengths:?}: {most:.4}, the bound {limit:.4}", field.n);
    }
}

#[test]
fn choosing_by_the_tags_seen_gains_no_more() {
    // The best that two queries can achieve, for any second query.
    let mut choice = Choice(2);
    for (field, firsts, seconds) in [(GF8, 15, 0), (GF16, 31, 0), (GF16, 2, 60)] {
        let n = field.n;
        let all = short(field);
        let longer = choice.messages(field, &vec![2; seconds]);
        let sigma = if seconds == 0 { 2 } else { 3 };
        let mut best = (0, 1);
        for i in 0..firsts {
            let first = &all[i * all.len() / firsts];
            let seconds = all.iter().chain(&longer).filter(|second| *second != first);
            let mut most = vec![0; 1 << n];
            let mut of = 1;
            for second in seconds {
                // The same denominator for all.
                let (counts, total) = tags(field, n, &[first, second]);
                let scale =
                    falling(field.size() - 1 - second.blocks() - 1, sigma - 1 - second.blocks());
                of = total * scale * counts.len() as u128;
                for (most, after) in most.iter_mut().zip(counts.chunks(1 << n)) {
                    let over =
                        |count: &u128| (count * (1 << (2 * n))).saturating_sub(total) * scale;
                    *most = after.iter().map(over).sum::<u128>().max(*most);
                }
            }
            best = (most.iter().sum::<u128>(), of).max(best);
        }
        let found = within(field, best, cost(2, sigma), "adaptive");
        println!("n = {n}, {sigma} blocks, adaptive: {found:.4} of {}", cost(2, sigma));
        assert!(found > 0.1);
    }
}

#[test]
fn forgeries_are_within_the_bound() {
    for (field, firsts) in [(GF8, 15), (GF16, 6)] {
        let all = short(field);
        for t in 1..=field.n {
            // One attempt before any tag is seen, and one after a tag.
            let mut blind = (0, 1);
            let mut after = (0, 1);
            for i in 0..firsts {
                let first = &all[i * all.len() / firsts];
                let (counts, of) = tags(field, t, &[first]);
                blind = (*counts.iter().max().unwrap(), of).max(blind);
                let mut most = vec![0; 1 << t];
                for second in all.iter().filter(|second| *second != first) {
                    let (counts, total) = tags(field, t, &[first, second]);
                    after.1 = total;
                    for (most, counts) in most.iter_mut().zip(counts.chunks(1 << t)) {
                        *most = counts.iter().copied().max().unwrap().max(*most);
                    }
                }
                after.0 = after.0.max(most.iter().sum());
            }
            let guess = 1u128 << (field.n - t);
            within(field, blind, cost(1, 1) + guess, "blind");
            let found = within(field, after, cost(2, 2) + guess, "forged");
            assert!(found >= 2f64.powi(-(t as i32)), "a guess always does so much: {found}");
        }
    }
}

/// The events of the proof, computed exactly, for mixes of lengths that are too many to compute the
/// tags.
#[test]
fn the_proofs_events_are_as_rare_as_it_says() {
    let mut choice = Choice(3);
    let mixes: [(Field, &[usize], u32); 12] = [
        (GF16, &[1, 1], 40),
        (GF16, &[2, 1], 40),
        (GF16, &[2, 2], 40),
        (GF16, &[3, 1], 40),
        (GF16, &[2, 2, 2], 12),
        (GF16, &[3, 2, 1], 12),
        (GF16, &[4, 1, 1, 1], 12),
        (GF16, &[3, 3], 2),
        (GF32, &[3, 1, 1, 1, 1, 1, 1, 1, 1, 1], 6),
        (GF32, &[2, 2, 1, 1], 12),
        (GF64, &[3, 1, 1, 1], 1),
        (GF64, &[2, 1, 1, 1, 1, 1, 1, 1, 1, 1], 20),
    ];
    for (field, lengths, rounds) in mixes {
        let (mut most, mut limit) = (0f64, 0);
        for _ in 0..rounds {
            let messages = choice.messages(field, lengths);
            let messages: Vec<&Message> = messages.iter().collect();
            most = most.max(events(field, &messages));
            limit = cost(messages.len() as u128, sigma(&messages)).min(field.size());
        }
        println!("n = {}, blocks {lengths:?}: bad with up to {most:.4}", field.n);
        // Half of the bound would be too small.
        assert!(2.0 * most * field.size() as f64 > limit as f64, "{lengths:?}");
    }
    // Messages that differ only in one block, or only in the last one.
    for (a, b) in [([0, 0], [0, 1]), ([1, 0], [0, 0]), ([3, 3], [3, 3]), ([1, 2], [2, 1])] {
        for (i, j) in [(0, 0), (0, 9), (20, 21), (15, 30)] {
            let shorts = short(GF16);
            let of =
                |full: [u64; 2], last: usize| Message { full: full.into(), ..shorts[last].clone() };
            let (a, b) = (of(a, i), of(b, j));
            if a != b {
                events(GF16, &[&a, &b]);
            }
        }
    }
}

/// Checks the events for fixed messages, and returns the probability that one of them happens.
fn events(field: Field, messages: &[&Message]) -> f64 {
    let size = field.size();
    let (q, sigma) = (messages.len() as u128, sigma(messages));
    let d = sigma - q;
    let (mut alone, mut pairs) =
        (vec![0; messages.len()], vec![vec![0; messages.len()]; messages.len()]);
    let mut good = 0;
    let run = |pi: &Partial| {
        messages.iter().map(|m| m.sum(field, |x| pi.of(x))).collect::<Result<Vec<_>, _>>()
    };
    let all = cases(field, d + 1, run, |sums, weight, pi| {
        let mut bad = false;
        for (r, sum) in sums.iter().enumerate() {
            // Only 0 and the masked blocks were queried.
            if pi.values[*sum as usize].is_some() {
                alone[r] += weight;
                bad = true;
            }
            for (s, other) in sums.iter().enumerate().skip(r + 1) {
                if sum == other {
                    pairs[r][s] += weight;
                    bad = true;
                }
            }
        }
        if !bad {
            // Of all tags, those that differ from each other and from the permutation's other
            // outputs.
            good += weight * falling(size - pi.points, q);
        }
    });
    for (r, a) in messages.iter().enumerate() {
        within(field, (alone[r], all), a.blocks() + d, "a sum that was asked for");
        for (s, b) in messages.iter().enumerate().skip(r + 1) {
            let (m, both) = (a.blocks() + b.blocks(), (pairs[r][s], all));
            // Also in the table of hashes.
            within(field, both, m - 1, "two equal sums");
        }
    }
    let of = all * size.pow(q as u32);
    let bad = (of - good, of);
    within(field, bad, q * (3 * sigma - 2 * q + 1), "bad, first way");
    within(field, bad, sigma * (sigma + 1) - d * (d + 1) / 2, "bad, second way");
    within(field, bad, cost(q, sigma), "bad")
}

/// The known values of a permutation.
type Values = Vec<Option<u64>>;

/// The state before an attempt, and the inputs that it may still meet: the ideal world of the
/// proof.
struct Attempt<'a> {
    field: Field,
    /// Messages and their tags.
    asked: &'a [(Message, u64)],
    message: &'a Message,
    tag: u64,
}

impl Attempt<'_> {
    /// The probability of a good outcome in which the attempt succeeds: over L, the values on the
    /// masked blocks of the queries, and the rest of the permutation.
    fn passes(&self) -> f64 {
        let size = 1u64 << self.field.n;
        (0..size).map(|l| self.with_l(l)).sum::<f64>() / size as f64
    }

    fn with_l(&self, l: u64) -> f64 {
        let mut pi = vec![None; 1 << self.field.n];
        pi[0] = Some(l);
        let masked = self.asked.iter().flat_map(|(message, _)| message.masked(self.field, l));
        let mut points: Vec<u64> = masked.filter(|x| *x != 0).collect();
        points.sort_unstable();
        points.dedup();
        self.over_values(&mut pi, &mut vec![l], &points, &|pi, used| self.after_tags(pi, used))
    }

    /// The mean of `then` over the values of these points, which differ from each other and from
    /// the used ones.
    fn over_values(
        &self,
        pi: &mut Values,
        used: &mut Vec<u64>,
        points: &[u64],
        then: &dyn Fn(&mut Values, &mut Vec<u64>) -> f64,
    ) -> f64 {
        let Some((x, points)) = points.split_first() else { return then(pi, used) };
        let (mut sum, size) = (0.0, 1u64 << self.field.n);
        for y in 0..size {
            if !used.contains(&y) {
                pi[*x as usize] = Some(y);
                used.push(y);
                sum += self.over_values(pi, used, points, then);
                used.pop();
            }
        }
        pi[*x as usize] = None;
        sum / (size - used.len() as u64) as f64
    }

    fn after_tags(&self, pi: &mut Values, used: &mut Vec<u64>) -> f64 {
        let sums: Vec<u64> = self
            .asked
            .iter()
            .map(|(message, _)| message.sum(self.field, |x| pi[x as usize].ok_or(())).unwrap())
            .collect();
        let mut set: Vec<u64> = Vec::new();
        let mut good = true;
        for (sum, (_, tag)) in sums.iter().zip(self.asked) {
            good &= pi[*sum as usize].is_none() && !used.contains(tag);
            if !good {
                break;
            }
            pi[*sum as usize] = Some(*tag);
            used.push(*tag);
            set.push(*sum);
        }
        let found = if good { self.at_the_end(pi, used) } else { 0.0 };
        for sum in set {
            pi[sum as usize] = None;
            used.pop();
        }
        found
    }

    fn at_the_end(&self, pi: &mut Values, used: &mut Vec<u64>) -> f64 {
        let l = pi[0].unwrap();
        let mut points: Vec<u64> =
            self.message.masked(self.field, l).filter(|x| pi[*x as usize].is_none()).collect();
        points.sort_unstable();
        points.dedup();
        self.over_values(pi, used, &points, &|pi, used| {
            let sum = self.message.sum(self.field, |x| pi[x as usize].ok_or(())).unwrap();
            match pi[sum as usize] {
                Some(value) => f64::from(value == self.tag),
                None if used.contains(&self.tag) => 0.0,
                None => 1.0 / ((1u64 << self.field.n) - used.len() as u64) as f64,
            }
        })
    }
}

/// Attempts suggested by the proof's cases, and random attempts, pass at most as often as the bound
/// says.
#[test]
fn attempts_pass_as_rarely_as_the_bound_says() {
    let mut choice = Choice(4);
    // The lengths of the queried messages, the length of the attempt, the number of attempts, and
    // the minimum gain of the best of them over a guess.
    let worlds: [(Field, &[usize], usize, u32, f64); 6] = [
        (GF1024, &[1; 4], 1, 12, 0.9),
        (GF1024, &[1; 4], 2, 12, 0.9),
        (GF1024, &[1; 64], 2, 12, 0.9),
        (GF256, &[1; 8], 3, 4, 0.85),
        (GF256, &[2], 1, 12, 0.9),
        (GF256, &[2, 1, 1], 2, 4, 0.85),
    ];
    for (field, lengths, blocks, rounds, at_least) in worlds {
        let messages = choice.messages(field, lengths);
        let (q, sigma) = (messages.len() as u128, sigma(&messages.iter().collect::<Vec<_>>()));
        let l = lengths.iter().max().unwrap().max(&blocks);
        // The tags must differ, otherwise no outcome is good.
        let mut tags: Vec<u64> = (0..1 << field.n).collect();
        let asked: Vec<(Message, u64)> = messages
            .into_iter()
            .map(|message| (message, tags.swap_remove(choice.below(tags.len()))))
            .collect();
        let mut most = 0f64;
        for round in 0..rounds {
            let (target, source) = (choice.below(asked.len()), choice.below(asked.len()));
            let mut message = choice.message(field, blocks);
            let tag = asked[target].1;
            if blocks == 1 {
                // Unlike the target in this respect, so that one L makes them collide.
                message.whole = !asked[target].0.whole;
            } else if round % 4 > 0 {
                // Case h and similar ones: the target's blocks, one or more possible hits, and the
                // difference between a hit and the target.
                let full = &asked[target].0.full;
                for (block, from) in message.full.iter_mut().zip(full) {
                    *block = *from;
                }
                message.whole = asked[target].0.whole;
                message.last = asked[target].0.last ^ asked[source].1;
            }
            if asked.iter().all(|(other, _)| *other != message) {
                most = most.max(Attempt { field, asked: &asked, message: &message, tag }.passes());
            }
        }
        let size = (1u64 << field.n) as f64;
        let limit = bound::attempt(field.n, field.n, (q, sigma), *l as u128).unwrap();
        let limit = limit.value();
        println!(
            "n = {}, blocks {lengths:?}, an attempt of {blocks}: {:.2} guesses of {:.2}",
            field.n,
            most * size,
            limit * size
        );
        assert!(most <= limit && limit < 1.0, "{most} of {limit}");
        assert!(most * size >= at_least, "{most}");
    }
}
