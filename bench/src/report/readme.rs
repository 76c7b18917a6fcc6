//! README's figures about speed, from the tables of all machines.

use tagmac_figures::number;

use super::machine_tables::Machine;
use super::markdown::{flagged, head, table};
use super::overview;
use super::wins::{self, DEFAULT, is_mac, times};
use crate::failure::Failure;
use crate::measure::Figure;
use crate::record::Series;

/// Replaces README's generated blocks. A block is between `<!-- bench docs: NAME -->` and `<!-- end
/// -->`, each on its own line.
pub fn with_blocks(readme: &str, machines: &[Machine]) -> Result<String, Failure> {
    const END: &str = "<!-- end -->";
    let mut text = String::new();
    let mut lines = readme.lines();
    let mut blocks = 0;
    while let Some(line) = lines.next() {
        text += line;
        text.push('\n');
        let name =
            line.strip_prefix("<!-- bench docs: ").and_then(|rest| rest.strip_suffix(" -->"));
        let Some(name) = name else { continue };
        let block = match name {
            "headline" => headline(machines),
            "speed" => speed(machines),
            "picture" => overview::block(machines),
            "others win" => wins::in_short(machines),
            _ => return Err(format!("README.md: no block is called {name}").into()),
        };
        blocks += 1;
        text += &format!("{}\n{END}\n", block.trim_end());
        if !lines.by_ref().any(|line| line == END) {
            return Err(format!("README.md: the block {name} has no line {END}").into());
        }
    }
    match blocks {
        4 => Ok(text),
        _ => Err(format!("README.md: expected 4 blocks of bench docs, found {blocks}").into()),
    }
}

/// Returns the speed of long messages on the first machine that has it.
pub fn headline(machines: &[Machine]) -> String {
    let found = machines.iter().find_map(|machine| {
        let clock = machine.record("sizes")?.machine.clock;
        let (figure, other) = pair(machine, "sizes", [None; 2], 16384);
        Some((machine.title(), clock, figure?.median, other, share_of_limit(machine)?))
    });
    let Some((title, clock, cycles, other, share)) = found else { return "not recorded".into() };
    let mut text = format!(
        "{DEFAULT}, the default, takes {} cycles per byte on one core of an {title} for messages\n\
         of 16 KiB. That is {:.1} GB/s at {clock} GHz, {share:.0} % of what its AES instructions allow.",
        number(cycles / 16384.0),
        clock * 16384.0 / cycles,
    );
    if let Some((series, figure)) = other.filter(|(_, figure)| figure.median < cycles) {
        let ratio = times(cycles / figure.median);
        text += &format!("\n{} is {ratio} times as fast there.", series.name);
    }
    text
}

/// Returns the share of the AES rounds' speed that long messages reach, in percent.
fn share_of_limit(machine: &Machine) -> Option<f64> {
    let ceiling = machine.best("sizes", DEFAULT, None)?.ceiling?;
    let figure = pair(machine, "sizes", [None; 2], 16384).0?;
    Some(100.0 * ceiling / (figure.median / 16384.0))
}

/// Ways to call: heading, experiment, our case and theirs.
const CALLS: [(&str, &str, [&str; 2]); 3] = [
    ("chained", "short", ["chained"; 2]),
    ("new key", "keys", ["new key"; 2]),
    ("in a batch", "batch", ["in one call", "one by one"]),
];
const ABOUT_CALLS: &str = "*Chained*: each message begins with the previous tag, so calls cannot \
     overlap. *In a batch*: 1024 messages\nin one call; other libraries are called once per \
     message. *Older code*: the record was made before the\ncode of this call. `~`: the quartiles \
     differ by more than 6 % of the median.";

/// Returns two rows for each machine: our figures for a long message and for a short one in several
/// ways to call, and the fastest other library for each.
fn speed(machines: &[Machine]) -> String {
    let columns = ["16 KiB, GB/s", "% of the AES limit", "16 B, cycles"];
    let mut columns: Vec<String> = columns.map(Into::into).into();
    columns.extend(CALLS.iter().map(|(name, ..)| format!("16 B, {name}, cycles")));
    let mut rows = vec![head(&format!("one core, {DEFAULT}"), columns)];
    for machine in machines {
        let Some(sizes) = machine.record("sizes") else { continue };
        let clock = sizes.machine.clock;
        let none = if machine.left_out.is_empty() { "not recorded" } else { "older code" };
        let mut ours = vec![format!("{}, {clock} GHz", machine.title())];
        let mut theirs = vec!["*fastest other library*".to_string()];
        let mut add = |(own, other): (Option<Figure>, Fastest), cell: &dyn Fn(Figure) -> String| {
            ours.push(own.map_or(none.into(), cell));
            theirs.push(named(other, cell));
        };
        let speed =
            |figure: Figure| flagged(format!("{:.1}", clock * 16384.0 / figure.median), figure);
        add(pair(machine, "sizes", [None; 2], 16384), &speed);
        let cycles = |figure: Figure| flagged(format!("{:.0}", figure.median), figure);
        add(pair(machine, "short", [Some("back to back"); 2], 16), &cycles);
        for (_, experiment, cases) in CALLS {
            add(pair(machine, experiment, cases.map(Some), 16), &cycles);
        }
        let share = share_of_limit(machine).map(|share| format!("{share:.0}"));
        ours.insert(2, share.unwrap_or_default());
        theirs.insert(2, String::new());
        rows.push(ours);
        rows.push(theirs);
    }
    format!("{}\n\n{ABOUT_CALLS}", table(&rows))
}

fn named(found: Option<(&Series, Figure)>, cell: impl Fn(Figure) -> String) -> String {
    found.map_or(String::new(), |(series, figure)| format!("{}, {}", cell(figure), series.name))
}

type Fastest<'a> = Option<(&'a Series, Figure)>;

/// Returns the default's figure and the fastest peer.
fn pair<'a>(
    machine: &Machine<'a>,
    experiment: &str,
    [our_case, their_case]: [Option<&str>; 2],
    x: u64,
) -> (Option<Figure>, Fastest<'a>) {
    let ours = machine.best(experiment, DEFAULT, our_case).and_then(|series| series.at(x));
    let peers = machine.record(experiment).into_iter().flat_map(|record| record.best());
    let peers = peers.filter(|series| !series.is_ours() && is_mac(series));
    let peers = peers.filter(|series| series.case.as_deref() == their_case);
    let figures = peers.filter_map(|series| Some((series, series.at(x)?)));
    (ours, figures.min_by(|a, b| a.1.median.total_cmp(&b.1.median)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_replaced_and_nothing_else() {
        let all = super::super::read_all().expect("records");
        let machines: Vec<Machine> = all.iter().map(|(id, all)| Machine::new(id, all)).collect();
        let readme = "a\n<!-- bench docs: speed -->\nformer\n<!-- end -->\nb\n\
                      <!-- bench docs: headline -->\n<!-- end -->\n\
                      <!-- bench docs: picture -->\n<!-- end -->\n\
                      <!-- bench docs: others win -->\n<!-- end -->\nc\n";
        let made = with_blocks(readme, &machines).expect("all blocks");
        assert!(made.starts_with("a\n<!-- bench docs: speed -->\n| one core, PMAC-AES128 |"));
        assert!(made.contains("\n<!-- bench docs: headline -->\nPMAC-AES128, the default, takes "));
        assert!(made.contains("\n<!-- end -->\nb\n") && made.ends_with(").\n<!-- end -->\nc\n"));
        assert!(!made.contains("former"));
        assert_eq!(with_blocks(&made, &machines).expect("all blocks"), made);
    }

    #[test]
    fn a_block_that_is_missing_or_unknown_is_an_error() {
        let error = |readme: &str| with_blocks(readme, &[]).expect_err("no README").to_string();
        assert_eq!(error("a\n"), "README.md: expected 4 blocks of bench docs, found 0");
        assert_eq!(
            error("<!-- bench docs: sped -->\n<!-- end -->\n"),
            "README.md: no block is called sped"
        );
        assert_eq!(
            error("<!-- bench docs: speed -->\na\n"),
            "README.md: the block speed has no line <!-- end -->"
        );
    }
}
