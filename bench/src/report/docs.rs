//! Makes `docs/PERFORMANCE.md`, and a page with all tables for each machine, from the records in
//! `bench/record`.

use tagmac_figures::{bytes, number};

use super::machine_tables::Machine;
use super::markdown::{flagged, head, table};
use super::papers::{self, Printed};
use super::{kinds, readme, summary, thresholds, wins};
use crate::failure::Failure;

/// The template of `docs/PERFORMANCE.md`. A line `@name` stands for the table of that name. A line
/// `?experiment text` is kept only if there is a record of the experiment.
const PAGE: &str = include_str!("performance.md");
/// The template of each machine's section; `@title` and `@id` may be within a line.
const SECTION: &str = include_str!("machine.md");
/// The template of each machine's own page.
const TABLES: &str = include_str!("tables.md");

/// The pictures of the first machine, and of the others.
pub const PICTURES: [&str; 4] = ["lengths", "short-64", "roofline", "agility"];
pub const PICTURES_OF_OTHERS: [&str; 1] = ["lengths"];
/// The path from a machine's own page to the pictures.
const UP: &str = "../../../docs/pictures/";

/// Returns `docs/PERFORMANCE.md`.
pub fn page(machines: &[Machine]) -> Result<String, Failure> {
    let has = |experiment: &str| machines.iter().any(|m| m.record(experiment).is_some());
    expand(PAGE, "performance.md", &has, &|name| {
        Some(match name {
            "headline" => readme::headline(machines),
            "losses" => wins::of_all(machines),
            "ceilings" => summary::ceilings(machines),
            "thresholds" => thresholds::of_all(machines),
            "machines" => {
                let sections = machines.iter().enumerate().map(|(at, m)| section(m, at == 0));
                sections.collect::<Result<Vec<_>, _>>().ok()?.join("\n\n")
            }
            _ => return None,
        })
    })
}

/// Returns a machine's section.
fn section(machine: &Machine, is_first: bool) -> Result<String, Failure> {
    let has = |experiment: &str| machine.record(experiment).is_some();
    let text = expand(&of(SECTION, machine), "machine.md", &has, &|name| match name {
        "measured" => Some(machine.measured()),
        "summary" => Some(summary::of_machine(machine)),
        "counted" => Some(wins::counted(machine)),
        _ => Some(shown(machine, name.strip_prefix("pictures-")?, is_first, "pictures/")),
    })?;
    Ok(text.trim_end().into())
}

/// Returns the page with all tables of a machine.
pub fn tables(machine: &Machine, is_first: bool) -> Result<String, Failure> {
    let has = |experiment: &str| machine.record(experiment).is_some();
    expand(&of(TABLES, machine), "tables.md", &has, &|name| match name {
        "counted" => Some(wins::counted(machine)),
        "others-win" => Some(wins::of_machine(machine)),
        "kinds" => Some(kinds::of_machine(machine)),
        "ratios" => Some(wins::ratios(machine)),
        "pmac" => Some(printed(
            machine,
            &papers::PMAC,
            papers::PMAC_LENGTHS,
            &["PMAC-AES128", "OpenSSL CMAC-AES128"],
        )),
        "elimac" => Some(printed(
            machine,
            &papers::ELIMAC,
            papers::ELIMAC_LENGTHS,
            &["LIGHTMAC-AES128-S32", "ELIMAC-AES128", "ELIMAC-AES128, cached"],
        )),
        "poly1305" => {
            let lengths = papers::POLY1305_LENGTHS;
            Some(slides(machine, &papers::POLY1305, lengths, "new key"))
        }
        "poly1305-unaligned" => {
            let lengths = papers::POLY1305_UNALIGNED_LENGTHS;
            let case = "new key, message off a line of cache";
            Some(slides(machine, &papers::POLY1305_UNALIGNED, lengths, case))
        }
        _ => match name.strip_prefix("pictures-") {
            Some(picture) => Some(shown(machine, picture, is_first, UP)),
            None => machine.table(name),
        },
    })
}

/// Replaces the machine's names in a text.
fn of(text: &str, machine: &Machine) -> String {
    text.replace("@title", &machine.title()).replace("@id", machine.id)
}

/// Returns the pictures of a machine, each with the name of its file.
pub fn pictures_of(machine: &Machine, is_first: bool) -> Vec<(&'static str, String)> {
    match is_first {
        true => PICTURES.map(|name| (name, name.to_string())).to_vec(),
        false => PICTURES_OF_OTHERS.map(|name| (name, format!("{name}-{}", machine.id))).to_vec(),
    }
}

/// Returns the Markdown of a picture if the machine has it. `up` is the path from the page to the
/// pictures.
fn shown(machine: &Machine, picture: &str, is_first: bool, up: &str) -> String {
    let about = match picture {
        "lengths" => "Cycles per byte by length",
        "short-64" => "Short messages",
        "roofline" => "The roofline",
        _ => "Many keys",
    };
    // A picture needs its record.
    let experiment = match picture {
        "lengths" => "lengths",
        "short-64" => "short",
        "roofline" => "sizes",
        _ => "agility",
    };
    let pictures = pictures_of(machine, is_first);
    match pictures.iter().find(|(name, _)| *name == picture) {
        Some((_, file)) if machine.record(experiment).is_some() => {
            format!("![{about}]({up}{file}.svg)")
        }
        _ => String::new(),
    }
}

/// Replaces the lines `@name` by tables. If a table is empty, the next line goes too when it is
/// blank.
fn expand(
    text: &str,
    file: &str,
    has: &dyn Fn(&str) -> bool,
    table: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Failure> {
    let mut page = String::new();
    for line in text.lines() {
        let line = match line.strip_prefix('?').and_then(|rest| rest.split_once(' ')) {
            Some((experiment, _)) if !has(experiment) => continue,
            Some((_, line)) => line,
            None => line,
        };
        match line.strip_prefix('@') {
            Some(name) => match table(name) {
                Some(table) if table.is_empty() => continue,
                Some(table) => page += &table,
                None => return Err(format!("{file}: no table is called {name}").into()),
            },
            None if line.is_empty() && page.ends_with("\n\n") => continue,
            None => page += line,
        }
        page.push('\n');
    }
    Ok(page)
}

/// Returns a table of a paper's figures, followed by ours.
fn printed(machine: &Machine, printed: &[Printed], lengths: [u64; 3], names: &[&str]) -> String {
    let mut rows = vec![head("cycles per byte", lengths.map(|n| bytes(n as f64)))];
    for Printed { name, cpu, figures } in printed {
        let mut row = vec![format!("{name}, {cpu}, the paper")];
        row.extend(figures.map(|figure| figure.to_string()));
        rows.push(row);
    }
    for name in names {
        let series = machine.best("lengths", name, None);
        let mut row = vec![format!("**{name}**, {}", machine.title())];
        row.extend(lengths.map(|length| match series.and_then(|series| series.at(length)) {
            Some(figure) => flagged(number(figure.median / length as f64), figure),
            None => "not recorded".into(),
        }));
        rows.push(row);
    }
    table(&rows)
}

/// Returns a table of cycles per message with a new key, as on the slides.
fn slides(machine: &Machine, printed: &[Printed], lengths: [u64; 3], case: &str) -> String {
    let mut rows = vec![head("cycles", lengths.map(|n| bytes(n as f64)))];
    for Printed { cpu, figures, .. } in printed {
        let mut row = vec![format!("{cpu}, the slides")];
        row.extend(figures.map(|figure| figure.to_string()));
        rows.push(row);
    }
    let series = machine.best("keys", "POLY1305-AES", Some(case));
    let mut row = vec![format!("**POLY1305-AES**, {}", machine.title())];
    row.extend(lengths.map(|length| match series.and_then(|series| series.at(length)) {
        Some(figure) => flagged(format!("{:.0}", figure.median), figure),
        None => "not recorded".into(),
    }));
    rows.push(row);
    table(&rows)
}

#[cfg(test)]
mod tests {
    use super::super::machine_tables::NOT_RECORDED;
    use super::*;

    #[test]
    fn a_machine_with_few_records_has_pages_that_say_so() {
        let all = super::super::read_all().expect("records");
        let (id, records) = &all[0];
        let some: Vec<_> =
            records.iter().filter(|record| record.experiment == "short").cloned().collect();
        let whole = Machine::new(id, records);
        let other = Machine::new("another-cpu", &some);
        let tables = tables(&other, false).expect("all tables");
        assert!(tables.starts_with("# All tables of Another CPU\n"));
        assert!(tables.matches(NOT_RECORDED).count() >= 10);
        assert!(tables.contains("chained, 64 B"), "its short messages");
        let page = page(&[whole, other]).expect("all tables");
        let (_, section) = page.split_once("## Another CPU").expect("its own section");
        assert!(section.contains("| cycles | back to back | chained |\n"), "its columns");
        assert!(page.contains("](../bench/record/another-cpu/tables.md)"));
    }

    #[test]
    fn the_page_is_for_readers_and_the_tables_are_elsewhere() {
        const MAX_LINES: usize = 300;
        let all = super::super::read_all().expect("records");
        let machines: Vec<_> = all.iter().map(|(id, all)| Machine::new(id, all)).collect();
        let lines = page(&machines).expect("all tables").lines().count();
        assert!(lines <= MAX_LINES, "{lines} lines");
    }

    #[test]
    fn a_line_about_an_experiment_is_there_with_its_record() {
        let text = "a\n\n?session ### Senders\n\n@session\n\nb\n";
        let made = |has: bool| {
            let table = if has { "table" } else { "" };
            expand(text, "x.md", &|_| has, &|_| Some(table.into())).expect("a table")
        };
        assert_eq!(made(true), "a\n\n### Senders\n\ntable\n\nb\n");
        assert_eq!(made(false), "a\n\nb\n");
    }

    #[test]
    fn an_unknown_table_is_an_error() {
        let error =
            expand("a\n@b\n", "x.md", &|_| true, &|_| None).expect_err("no such table").to_string();
        assert_eq!(error, "x.md: no table is called b");
    }
}
