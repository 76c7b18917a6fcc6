//! Finds the comparisons that others win. There is one contest for each column of a table in which
//! a contender was measured together with an engine of tagmac.
//!
//! A peer is compared with tagmac's engine of the same function. A peer without a counterpart, as
//! AEGIS or BLAKE3, is compared with the fastest of tagmac's engines that have tags of 128 bits and
//! no limit on the messages under a key. In a batch, the peer's single calls are compared with our
//! one call, unless the peer has such a call too. The command is compared with other commands. Several
//! threads and a batch are also compared with one thread and single calls of tagmac, which is counted
//! apart.

use tagmac_figures::bytes;

use super::age::not_counted;
use super::call_tables::{BATCHES, SENDER};
use super::machine_tables::{LENGTHS, Machine, NOT_RECORDED, all_xs, worst};
use super::markdown::{filled_columns, head, table};
use crate::measure::Figure;
use crate::record::{Record, Series};

/// The engines that a peer without a counterpart is compared with.
const RIVALS: [&str; 4] = ["PMAC-AES128", "ELIMAC-AES128", "UMAC-128", "POLY1305-AES"];

/// The MAC that README recommends. Contenders that are faster than it are counted too.
pub const DEFAULT: &str = "PMAC-AES128";

/// The maximum of names in a cell; half of it if each name has a case.
const MAX_NAMES: usize = 4;

/// A contender that was faster.
pub struct Win {
    pub name: String,
    /// The ratio of our cycles to the contender's.
    pub ratio: f64,
    /// True if the quartiles of the two overlap, so that another run may give the opposite result.
    pub is_close: bool,
}

/// One column of a table.
pub struct Contest {
    /// The name of the situation, which several columns share: "a new key for each message".
    pub group: &'static str,
    /// The column: "64 B".
    pub column: String,
    /// True if tagmac is compared with itself.
    is_own: bool,
    pub compared: usize,
    /// The number of contenders that are faster than [`DEFAULT`], if that was measured.
    pub beat_default: Option<usize>,
    /// The faster contenders, fastest first.
    pub wins: Vec<Win>,
}

impl Contest {
    fn new(group: &'static str, column: String) -> Contest {
        Contest { group, column, is_own: false, compared: 0, beat_default: None, wins: Vec::new() }
    }

    /// Compares a contender with one of ours.
    fn compare(&mut self, name: &str, theirs: Figure, ours: Figure) {
        self.compared += 1;
        if theirs.median < ours.median {
            self.wins.push(Win {
                name: name.into(),
                ratio: ours.median / theirs.median.max(1e-9),
                is_close: theirs.high >= ours.low,
            });
            self.wins.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        }
    }
}

/// The figure of a series: at an x, or at its worst offset.
#[derive(Clone, Copy)]
enum At {
    X(u64),
    Worst,
}

impl At {
    fn of(self, series: &Series) -> Option<Figure> {
        match self {
            At::X(x) => series.at(x),
            At::Worst => worst(series).map(|(_, figure)| figure),
        }
    }
}

/// Returns all contests of a machine, in the order of its tables.
pub fn contests(machine: &Machine) -> Vec<Contest> {
    let mut all = Vec::new();
    let mut add = |group, experiment: &str, case: Option<&str>, xs: &[u64]| {
        let Some(record) = machine.record(experiment) else { return };
        for &x in xs {
            let column = match experiment {
                "agility" if x == 1 => "1 key".into(),
                "agility" => format!("{x} keys"),
                _ if x < 1024 || x % 512 != 0 => format!("{x} B"),
                _ => bytes(x as f64),
            };
            all.push(calls(record, [case; 2], At::X(x), Contest::new(group, column)));
        }
    };
    let agility = machine.record("agility").map(all_xs).unwrap_or_default();
    add("key ready, one message after the other", "sizes", None, &LENGTHS);
    add("key ready, short messages", "short", Some("back to back"), &[16, 64]);
    add("each message waits for the previous tag", "short", Some("chained"), &[16, 64]);
    add("a new key for each message", "keys", Some("new key"), &[16, 64, 256, 1536]);
    let off = Some("new key, message off a line of cache");
    add("a new key for each message, unaligned", "keys", off, &[43, 127, 1025]);
    let packets = [16, 64, 256, 1024, 1536];
    add("a packet's nonce and tag in one call", "session", Some(SENDER), &packets);
    let good = Some("key ready, good tag");
    add("verification, key ready, good tag", "verify", good, &[16, 64, 1536]);
    add("verification, key ready, bad tag", "verify", Some("key ready, bad tag"), &[64]);
    let good = Some("raw key, good tag");
    add("verification from the raw key, good tag", "verify", good, &[16, 64, 1536]);
    add("verification from the raw key, bad tag", "verify", Some("raw key, bad tag"), &[64]);
    add("nothing in any cache", "cold", Some("cold"), &[16, 64, 1536]);
    add("one call right after another", "cold", Some("warm"), &[16, 64, 1536]);
    add("many keys in turn", "agility", None, &agility);
    if let Some(record) = machine.record("unaligned") {
        for (at, column) in [(At::X(0), "on a line"), (At::Worst, "at the worst offset")] {
            let contest = Contest::new("1536 bytes off a line of cache", column.into());
            all.push(calls(record, [None; 2], at, contest));
        }
    }
    let pairs = |record: &Record, mut contest: Contest, ours: &dyn Fn(&str) -> Option<String>| {
        contest.is_own = true;
        for series in record.best().filter(|series| series.is_ours()) {
            let Some(other) = series.case.as_deref().and_then(ours) else { continue };
            let other = machine.best(&record.experiment, &series.name, Some(&other));
            for point in other.map_or(&[][..], |other| &other.points) {
                if let Some(figure) = series.at(point.0) {
                    let case = other.and_then(|other| other.case.as_deref()).unwrap_or_default();
                    let name = format!("{}, {}, {case}", series.name, bytes(point.0 as f64));
                    contest.compare(&name, point.figure(), figure);
                }
            }
        }
        contest
    };
    if let Some(record) = machine.record("batch") {
        for (what, many, each) in BATCHES {
            for x in all_xs(record) {
                let contest = Contest::new(
                    "other libraries' single calls, compared with tagmac's batch",
                    format!("{x} B, {what}"),
                );
                all.push(calls(record, [Some(many), Some(each)], At::X(x), contest));
            }
        }
        let contest =
            Contest::new("tagmac's single calls, compared with its batch", "all lengths".into());
        all.push(pairs(record, contest, &|case| {
            let each = case.replace("in one call", "one by one");
            (each != case).then_some(each)
        }));
    }
    if let Some(record) = machine.record("threads") {
        let column = format!("{} threads", record.machine.cores);
        let contest = Contest::new("tagmac on one thread, compared with several", column);
        let many = format!("{} threads", record.machine.cores);
        all.push(pairs(record, contest, &|case| (case == many).then(|| "1 thread".into())));
    }
    if let Some(record) = machine.record("cli") {
        for ours in record.series.iter().filter(|series| series.is_ours()) {
            let (Some(case), Some(point)) = (&ours.case, ours.points.first()) else { continue };
            let column = format!("{case}, {} each", bytes(point.0 as f64));
            let mut contest = Contest::new("the whole command", column);
            for series in &record.series {
                if let (Some(figure), true, false) =
                    (series.at(point.0), series.case == ours.case, series.is_ours())
                {
                    contest.compare(&series.name, figure, point.figure());
                }
            }
            all.push(contest);
        }
    }
    all
}

/// Compares the peers of a column with ours, each in its case.
fn calls(
    record: &Record,
    [our_case, their_case]: [Option<&str>; 2],
    at: At,
    mut contest: Contest,
) -> Contest {
    let of = |case| record.best().filter(move |series: &&Series| series.case.as_deref() == case);
    let ours = || of(our_case).filter(|series| series.is_ours());
    let of_peers = |case| of(case).filter(|series| !series.is_ours() && is_mac(series));
    let has_our_case = |peer: &Series| of_peers(our_case).any(|one| one.name == peer.name);
    let peers =
        || of_peers(our_case).chain(of_peers(their_case).filter(|peer| !has_our_case(peer)));
    let best = ours()
        .filter(|series| RIVALS.contains(&&*series.name))
        .filter_map(|series| at.of(series))
        .min_by(|a, b| a.median.total_cmp(&b.median));
    let default = ours().find(|series| series.name == DEFAULT).and_then(|series| at.of(series));
    contest.beat_default = default.map(|default| {
        peers().filter_map(|peer| at.of(peer)).filter(|found| found.median < default.median).count()
    });
    for peer in peers() {
        let same = ours().find(|ours| is_same(ours, peer)).and_then(|series| at.of(series));
        if let (Some(theirs), Some(ours)) = (at.of(peer), same.or(best)) {
            contest.compare(&peer.name, theirs, ours);
        }
    }
    contest
}

/// Returns true unless it is the hash that only shows what a hash without security costs.
pub fn is_mac(series: &Series) -> bool {
    series.function != "XXH3-128"
}

/// Returns true if both compute the same function, and both count nonces or neither does.
pub fn is_same(ours: &Series, peer: &Series) -> bool {
    ours.is_ours()
        && ours.function == peer.function
        && ours.name.ends_with(", counting") == peer.name.ends_with(", counting")
        && !ours.name.ends_with(", cached")
}

/// Returns a table of how many times as fast ours are as the peers of the same function.
pub fn ratios(machine: &Machine) -> String {
    let Some(record) = machine.record("sizes") else { return NOT_RECORDED.into() };
    let mut columns: Vec<(&str, Option<&str>, u64, String)> =
        LENGTHS.map(|x| ("sizes", None, x, bytes(x as f64))).into();
    columns.extend([
        ("short", Some("chained"), 64, "64 chained".into()),
        ("keys", Some("new key"), 64, "64 new key".into()),
        ("verify", Some("raw key, good tag"), 64, "64 raw key to verdict".into()),
        ("cold", Some("cold"), 64, "64 cold".into()),
        ("agility", None, 4096, "64, 4096 keys".into()),
    ]);
    let mut rows = vec![head("times as fast", columns.iter().map(|column| column.3.clone()))];
    for peer in record.best().filter(|series| !series.is_ours()) {
        let Some(ours) = record.best().find(|ours| is_same(ours, peer)) else { continue };
        let mut row = vec![format!("{}, compared with {}", ours.name, peer.name)];
        row.extend(columns.iter().map(|(experiment, case, x, _)| {
            let figure = |name| machine.best(experiment, name, *case).and_then(|s| s.at(*x));
            match (figure(&ours.name), figure(&peer.name)) {
                (Some(ours), Some(peer)) => {
                    let ratio = peer.median / ours.median;
                    if ratio < 1.0 { format!("**{ratio:.2}**") } else { format!("{ratio:.1}") }
                }
                _ => String::new(),
            }
        }));
        rows.push(row);
    }
    table(&filled_columns(&rows))
}

/// The totals of some contests.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    columns: usize,
    /// Columns in which something else is faster.
    lost: usize,
    compared: usize,
    wins: usize,
    close: usize,
}

impl Counts {
    fn new<'a>(contests: impl IntoIterator<Item = &'a Contest>) -> Counts {
        let mut all = Counts::default();
        for contest in contests.into_iter().filter(|contest| contest.compared > 0) {
            all.columns += 1;
            all.lost += usize::from(!contest.wins.is_empty());
            all.compared += contest.compared;
            all.wins += contest.wins.len();
            all.close += contest.wins.iter().filter(|win| win.is_close).count();
        }
        all
    }

    /// Returns the share of the comparisons that others win.
    fn share(&self) -> f64 {
        self.wins as f64 / self.compared as f64
    }
}

/// Returns two sentences with the totals; `of` says which columns.
fn totals<'a>(contests: impl Iterator<Item = &'a Contest> + Clone, of: &str) -> String {
    let Counts { columns, lost, compared, wins, close } =
        Counts::new(contests.clone().filter(|contest| !contest.is_own));
    let own = Counts::new(contests.filter(|contest| contest.is_own));
    format!(
        "Another library or command is faster in {lost} of {columns} columns{of}, in {wins} of \
         {compared} comparisons\n({close} of them within the spread). Single calls or one thread of \
         tagmac are faster than a batch or several threads\nin {} of {} comparisons ({} within the \
         spread).",
        own.wins, own.compared, own.close
    )
}

/// Returns the totals of a machine's contests.
pub fn counted(machine: &Machine) -> String {
    totals(contests(machine).iter(), "")
}

/// Returns a table of a machine's contests.
pub fn of_machine(machine: &Machine) -> String {
    let contests = contests(machine);
    let than_default = format!("faster than {DEFAULT}");
    let columns = [
        "column",
        "compared",
        &than_default,
        "faster than ours",
        "of these within the spread",
        "the fastest, times as fast",
    ];
    let mut rows = vec![head("situation", columns.map(Into::into))];
    for contest in contests.iter().filter(|contest| contest.compared > 0) {
        let Counts { compared, wins, close, .. } = Counts::new([contest]);
        let names = if contest.is_own { MAX_NAMES / 2 } else { MAX_NAMES };
        let first = contest.wins.iter().take(names);
        let mut who: Vec<String> =
            first.map(|win| format!("{} ({})", win.name, times(win.ratio))).collect();
        if wins > names {
            who.push(format!("and {} more", wins - names));
        }
        let mut row = vec![contest.group.to_string(), contest.column.clone()];
        row.push(compared.to_string());
        row.push(contest.beat_default.map_or(String::new(), |count| count.to_string()));
        row.extend([wins, close].map(|count| count.to_string()));
        row.push(who.join(", "));
        rows.push(row);
    }
    table(&rows)
}

/// Returns the totals of all machines and a row for each situation that others win somewhere, the
/// largest share of lost comparisons first.
pub fn of_all(machines: &[Machine]) -> String {
    let (counts, losses) = losses(machines);
    let columns = ["columns lost", "comparisons lost", "largest lead of", "times as fast", "where"];
    let mut rows = vec![head("situation", columns.map(Into::into))];
    for Loss { group, counts, name, ratio, column, machine, .. } in losses {
        let Counts { columns, lost, compared, wins, .. } = counts;
        let mut row = vec![group.to_string()];
        row.extend([format!("{lost} of {columns}"), format!("{wins} of {compared}"), name]);
        row.extend([times(ratio), format!("{column}, {machine}")]);
        rows.push(row);
    }
    format!("{counts}\n\n{}", table(&rows))
}

/// Returns the largest lead of others and the counts, for README.
pub fn in_short(machines: &[Machine]) -> String {
    let (counts, losses) = losses(machines);
    let worst = losses.iter().filter(|loss| !loss.is_own);
    let worst = worst.max_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let worst = worst.map_or(String::new(), |Loss { group, name, ratio, column, machine, .. }| {
        format!(
            "The largest lead in the tables: with {group}, {name} is\n{} times as fast as tagmac \
             ({column}, {machine}).\n",
            times(*ratio)
        )
    });
    format!(
        "{worst}{counts}\n[All comparisons](docs/PERFORMANCE.md#where-something-else-is-faster).\n"
    )
}

/// A situation that others win, and their largest lead in it.
struct Loss {
    group: &'static str,
    is_own: bool,
    counts: Counts,
    name: String,
    ratio: f64,
    column: String,
    machine: String,
}

/// Returns the totals, and the situations that others win, the largest share first.
fn losses(machines: &[Machine]) -> (String, Vec<Loss>) {
    let contests: Vec<(String, Vec<Contest>)> =
        machines.iter().map(|machine| (machine.title(), contests(machine))).collect();
    let all = || contests.iter().flat_map(|(_, contests)| contests);
    let mut groups: Vec<&str> = Vec::new();
    for contest in all() {
        if !groups.contains(&contest.group) {
            groups.push(contest.group);
        }
    }
    let mut losses: Vec<Loss> = Vec::new();
    for group in groups {
        let of_group = contests.iter().flat_map(|(machine, contests)| {
            let of_group = contests.iter().filter(move |contest| contest.group == group);
            of_group.flat_map(move |c| c.wins.iter().map(move |win| (machine, &c.column, win)))
        });
        let most = of_group.max_by(|a, b| a.2.ratio.total_cmp(&b.2.ratio));
        let Some((machine, column, win)) = most else { continue };
        losses.push(Loss {
            group,
            is_own: all().any(|contest| contest.group == group && contest.is_own),
            counts: Counts::new(all().filter(|contest| contest.group == group)),
            name: win.name.clone(),
            ratio: win.ratio,
            column: column.clone(),
            machine: machine.clone(),
        });
    }
    losses.sort_by(|a, b| b.counts.share().total_cmp(&a.counts.share()));
    let counts = totals(all(), &format!(" of {} machines", contests.len()))
        + &not_counted(machines.iter().map(|machine| (machine.title(), machine.left_out)));
    (counts, losses)
}

/// Formats how many times as fast, with enough digits to distinguish it from 1.
pub fn times(ratio: f64) -> String {
    match ratio {
        _ if ratio >= 10.0 => format!("{ratio:.0}"),
        _ if ratio >= 1.1 => format!("{ratio:.1}"),
        _ => format!("{ratio:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn figure(median: f64) -> Figure {
        Figure { median, low: median - 1.0, high: median + 1.0 }
    }

    #[test]
    fn a_win_is_counted_however_small_and_said_to_be_close() {
        let mut contest = Contest::new("test", "64 B".into());
        contest.compare("slower", figure(101.0), figure(100.0));
        contest.compare("just faster", figure(99.5), figure(100.0));
        contest.compare("faster", figure(50.0), figure(100.0));
        let expected = Counts { columns: 1, lost: 1, compared: 3, wins: 2, close: 1 };
        assert_eq!(Counts::new([&contest, &Contest::new("none", String::new())]), expected);
        let names: Vec<&str> = contest.wins.iter().map(|win| &*win.name).collect();
        assert_eq!(names, ["faster", "just faster"]);
    }

    #[test]
    fn a_peer_meets_its_own_function_or_else_the_fastest() {
        let of = |name, function, at| (name, function, "chained", at);
        let ours = [
            of(DEFAULT, "PMAC-AES128", 100.0),
            of("UMAC-128", "UMAC-128", 50.0),
            // Its tag is too short for a rival.
            of("UMAC-32", "UMAC-32", 10.0),
        ];
        let theirs = [
            of("another PMAC", "PMAC-AES128", 90.0),
            of("another UMAC-32", "UMAC-32", 20.0),
            of("another hash", "HASH", 60.0),
            of("a fast hash", "HASH", 40.0),
        ];
        let records = [sample::record("short", &ours, &theirs)];
        let contests = contests(&Machine::new("some-machine", &records));
        let expected = Counts { columns: 1, lost: 1, compared: 4, wins: 2, close: 0 };
        assert_eq!(Counts::new(&contests), expected, "chained ones alone");
        for contest in contests.iter().filter(|contest| contest.compared > 0) {
            let names: Vec<&str> = contest.wins.iter().map(|win| &*win.name).collect();
            assert_eq!(names, ["a fast hash", "another PMAC"]);
            assert_eq!(contest.beat_default, Some(4));
        }
    }

    #[test]
    fn in_a_batch_one_call_meets_their_single_calls() {
        let ours = [
            (DEFAULT, "PMAC-AES128", "in one call", 30.0),
            (DEFAULT, "PMAC-AES128", "one by one", 60.0),
        ];
        let theirs = [
            ("another PMAC", "PMAC-AES128", "one by one", 50.0),
            ("a fast hash", "HASH", "one by one", 20.0),
            ("no MAC", "XXH3-128", "one by one", 1.0),
            ("a PMAC in bursts", "PMAC-AES128", "in one call", 40.0),
            ("a PMAC in bursts", "PMAC-AES128", "one by one", 10.0),
        ];
        let records = [sample::record("batch", &ours, &theirs)];
        let contests = contests(&Machine::new("some-machine", &records));
        let [contest, own] = &contests.iter().filter(|c| c.compared > 0).collect::<Vec<_>>()[..]
        else {
            panic!("a column with peers, and one with our single calls")
        };
        assert_eq!((contest.compared, contest.wins.len()), (3, 1));
        assert_eq!(contest.wins[0].name, "a fast hash");
        assert_eq!((own.compared, own.wins.len()), (1, 0));
        let expected = "Another library or command is faster in 1 of 1 columns, in 1 of 3 comparisons\n\
                        (0 of them within the spread). Single calls or one thread of tagmac are faster \
                        than a batch or several threads\nin 0 of 1 comparisons (0 within the spread).";
        assert_eq!(totals(contests.iter(), ""), expected);
    }
}
