//! The report's page: one file that needs neither a network nor scripts.

use std::fmt::Write;

use tagmac_figures::escaped;

use super::results::{Outcome, comparator_grid};
use crate::attacks::Role;
use crate::figures::{Drawing, FIGURES, Figure};
use crate::speeds::Speeds;
use crate::tables::{Cell, Grid, TABLES};

/// Pictures are drawn dark on white. In a dark theme the colours of text and background are
/// exchanged.
const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #222; --ground: #fff; --line: #ddd; --soft: #f4f6f8; \
--ours: #005a8c; --faint: #6a6a6a }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e4e4; --ground: #16181b; --line: #3a3d42; \
--soft: #202327; --ours: #7cc4f0; --faint: #9b9b9b }
svg text { fill: #e4e4e4 } svg > rect:first-of-type { fill: #16181b }
svg [stroke=\"#E1E1E1\"] { stroke: #3a3d42 } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem; \
color: var(--ink); background: var(--ground) }
h1, h2, h3 { line-height: 1.25 } h2 { margin-top: 3rem } h3 { margin-top: 2rem }
a { color: var(--ours) } code { overflow-wrap: anywhere }
nav ul { columns: 16rem; padding-left: 1.2rem } nav li { break-inside: avoid }
.wide { overflow-x: auto } figure { margin: 0 } svg { max-width: 100%; min-width: 640px; height: auto }
table { border-collapse: collapse; font-size: .875rem }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: left; \
vertical-align: top } th { font-weight: 600 } th[scope=row] { min-width: 9rem }
td { min-width: 4.5rem } .text td { min-width: 12rem }
thead th { background: var(--soft) } h1 ~ p .ours, [aria-labelledby=tables] .ours { color: var(--ours) } .lost { color: var(--faint) }
.source, .note { color: var(--faint); font-size: .875rem }";

/// Makes the page.
pub fn of(speeds: &[Speeds], outcomes: &[Outcome], drawings: &[(&Figure, Drawing)]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>tagmac's \
         lab</title>\n<style>\n{STYLE}\n</style></head><body>\n<header><h1>tagmac's \
         lab</h1>\n<p>The MACs that five papers on message authentication compare with and attack, \
         and the papers' tables and figures with the library's own figures. Values in <span \
         class=\"ours\">blue</span> are ours, all others are the papers'. Do not use any of this \
         for secrets.</p>\n<p>Speeds are from records of <code>bench</code>; each table names the \
         machine.</p></header>\n"
    );
    contents(&mut page);
    page += "<main>\n<section aria-labelledby=\"tables\"><h2 id=\"tables\">Tables</h2>\n";
    for table in TABLES {
        let (name, title, source) = (table.name, escaped(table.title), escaped(table.source));
        let _ = writeln!(page, "<h3 id=\"{name}\">{title}</h3>\n<p class=\"source\">{source}</p>");
        grid(&mut page, &table.fill(speeds), table.title);
    }
    page += "</section>\n<section aria-labelledby=\"figures\"><h2 id=\"figures\">Figures</h2>\n";
    for (figure, drawing) in drawings {
        let (name, title) = (figure.name, escaped(figure.title));
        let (source, words) = (escaped(figure.source), escaped(&drawing.alternative));
        let _ = writeln!(
            page,
            "<h3 id=\"{name}-figure\">{title}</h3>\n<p class=\"source\">{source}</p>\n\
             <figure id=\"{name}\"><div class=\"wide\" tabindex=\"0\">{}</div>\n\
             <figcaption><details><summary>In words</summary><p>{words}</p></details></figcaption>\
             </figure>",
            drawing.svg
        );
    }
    page += "</section>\n<section aria-labelledby=\"attacks\"><h2 \
         id=\"attacks\">Attacks</h2>\n<p>Each attack has just run under many random keys. In \
         brackets is the 99 % interval (Wilson's). A control is the real MAC under the same \
         attack, which must resist.</p>\n";
    for outcome in outcomes {
        attack(&mut page, outcome);
    }
    page += "</section>\n<section aria-labelledby=\"comparators\"><h2 \
         id=\"comparators\">Comparators</h2>\n<p><em>official</em>: a standard or an RFC defines \
         it, with vectors. <em>paper</em>: one of the five papers defines it. <em>pinned</em>: our \
         choice, because the paper that defines it could not be read. <em>not found</em>: we found \
         no definition.</p>\n";
    grid(&mut page, &comparator_grid(), "Comparators");
    page + "</section>\n</main></body></html>\n"
}

fn contents(page: &mut String) {
    page.push_str("<nav aria-label=\"Contents\"><ul>\n");
    let mut line = |to: &str, name: &str| {
        let _ = writeln!(page, "<li><a href=\"#{to}\">{}</a></li>", escaped(name));
    };
    line("tables", "Tables");
    TABLES.iter().for_each(|table| line(table.name, &format!("{}: {}", table.source, table.title)));
    line("figures", "Figures");
    FIGURES.iter().for_each(|figure| line(figure.name, figure.title));
    line("attacks", "Attacks");
    line("comparators", "Comparators");
    page.push_str("</ul></nav>\n");
}

/// Writes a table with heads of rows and columns.
fn grid(page: &mut String, grid: &Grid, caption: &str) {
    let long = |cell: &Cell| cell.text().len() > 40;
    let class = match grid.rows.iter().flat_map(|row| &row.cells).any(long) {
        true => " class=\"text\"",
        false => "",
    };
    let label = escaped(caption);
    let _ = write!(
        page,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\"><table{class}>\
         <thead><tr>"
    );
    for head in &grid.head {
        let _ = write!(page, "<th scope=\"col\">{}</th>", escaped(head));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in &grid.rows {
        let _ = write!(page, "<tr><th scope=\"row\">{}</th>", escaped(&row.label));
        for cell in &row.cells {
            let class = match cell {
                Cell::Ours(_) => " class=\"ours\"",
                Cell::Lost | Cell::Unmeasured(_) => " class=\"lost\"",
                Cell::Printed(_) | Cell::Empty => "",
            };
            let _ = write!(page, "<td{class}>{}</td>", escaped(&cell.text()));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
    for note in &grid.notes {
        let _ = writeln!(page, "<p class=\"note\">{}</p>", escaped(note));
    }
}

fn attack(page: &mut String, Outcome { attack, findings, time }: &Outcome) {
    let [about, source, how] = [attack.about, attack.source, attack.how].map(escaped);
    let name = attack.name;
    let _ = writeln!(
        page,
        "<h3 id=\"{name}\">{name}</h3>\n<p>{about}.</p>\n<p class=\"source\">{source}; {:.2} s</p>\n\
         <details><summary>How it works</summary><p>{how}</p></details>",
        time.as_secs_f64()
    );
    let mut rows =
        Grid::new(["target", "role", "queries", "should win", "won", "bound", "verdict"]);
    for finding in findings {
        let role = match finding.role {
            Role::Attack => "attack",
            Role::Control => "control",
        };
        let verdict = if finding.holds() { "as expected" } else { "NOT as expected" };
        let cells = [
            role.into(),
            finding.queries.to_string(),
            format!("{} ({})", finding.probability(), finding.formula),
            finding.measured(),
            finding.bound.map_or(String::new(), |p| format!("{:.4}", p.min(1.0))),
            verdict.into(),
        ];
        rows.row(&finding.target, cells.map(Cell::Ours).to_vec());
    }
    grid(page, &rows, name);
}
