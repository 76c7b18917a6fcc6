//! The report's page: one file that needs no network.

use std::fmt::Write;

use tagmac_figures::{bytes, escaped, number};

use super::pictures::Picture;
use crate::record::Record;
use crate::table::title;

const STYLE: &str = "\
body { font: 15px/1.5 sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; color: #222 }
h1, h2 { line-height: 1.2 } h2 { margin-top: 2.5em }
svg { max-width: 100%; height: auto; border: 1px solid #e5e5e5; margin: .6em 0 }
table { border-collapse: collapse; font: 12px/1.35 monospace }
td, th { padding: 1px 8px; text-align: right; white-space: nowrap }
td:first-child, th:first-child { text-align: left; position: sticky; left: 0; background: #fff }
table.words { font: inherit } .words td, .words th { text-align: left; white-space: normal }
tr:hover td { background: #f2f7fb } .noisy { color: #b04a00 }
details > div, .picture { overflow-x: auto } nav a { display: inline-block; margin-right: 1em } .peer { color: #777 }
.picture svg { max-width: none } @media (min-width: 1010px) { .picture svg { max-width: 100% } }";

/// Makes the page from records and their pictures.
pub fn of(records: &[Record], pictures: &[Vec<Picture>]) -> String {
    let mut page = String::new();
    let machine = records.first().map(|record| record.machine.line()).unwrap_or_default();
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>tagmac: \
         speed</title>\n<style>\n{STYLE}\n</style></head><body>\n<h1>tagmac: \
         speed</h1>\n<p>{}</p>\n<p>Figures are medians in core cycles. Contenders take turns; \
         bands and whiskers are quartiles. <span class=\"noisy\">~</span> marks figures whose \
         quartiles are more than 6 % of the median apart. Peers are dashed or pale. The tag of \
         each timed call is checked first.</p>\n<nav>",
        escaped(&machine)
    );
    for record in records {
        let _ = write!(page, "<a href=\"#{0}\">{0}</a>", record.experiment);
    }
    page.push_str("</nav>\n");
    left_out(&mut page, records);
    for (record, pictures) in records.iter().zip(pictures) {
        let name = &record.experiment;
        let _ = writeln!(page, "<h2 id=\"{name}\">{name}</h2>\n<p>{}</p>", escaped(&record.about));
        for picture in pictures {
            // On a narrow screen a picture scrolls, because a shrunk one would be unreadable.
            let _ = writeln!(page, "<div class=\"picture\">{}</div>", picture.svg);
        }
        table(&mut page, record);
    }
    page.push_str("</body></html>\n");
    page
}

/// Writes one table of all omissions. An omission of several experiments appears once.
fn left_out(page: &mut String, records: &[Record]) {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for record in records {
        for missing in &record.missing {
            match all.iter_mut().find(|(known, _)| known == missing) {
                Some((_, experiments)) => experiments.push(&record.experiment),
                None => all.push((missing, vec![&record.experiment])),
            }
        }
    }
    if all.is_empty() {
        return;
    }
    page.push_str("<h2 id=\"left-out\">Left out</h2>\n<table class=\"words\">\n<tr><th>what</th><th>of</th></tr>\n");
    for (missing, experiments) in all {
        let (missing, experiments) = (escaped(missing), escaped(&experiments.join(", ")));
        let _ = writeln!(page, "<tr><td>{missing}</td><td>{experiments}</td></tr>");
    }
    page.push_str("</table>\n");
}

/// Writes all figures of a record, in cycles per byte if x is the length of a message.
fn table(page: &mut String, record: &Record) {
    let mut xs: Vec<u64> =
        record.series.iter().flat_map(|series| &series.points).map(|point| point.0).collect();
    xs.sort_unstable();
    xs.dedup();
    // The thousands of lengths would make the page too large to load; the CSV file has them.
    if xs.len() > 64 {
        xs.retain(|x| x.is_power_of_two() || x % 512 == 0 || *x == 1536);
    }
    let per_byte = record.x == "bytes" && record.y == "cycles";
    let unit = if per_byte { "cycles per byte" } else { &record.y };
    let _ = write!(
        page,
        "<details><summary>The figures, {unit}</summary><div><table>\n<tr><th>{}</th>",
        escaped(&record.x)
    );
    for x in &xs {
        let x = if record.x.starts_with("bytes") { bytes(*x as f64) } else { x.to_string() };
        let _ = write!(page, "<th>{x}</th>");
    }
    page.push_str("</tr>\n");
    for series in &record.series {
        let class = if series.is_ours() { "" } else { " class=\"peer\"" };
        let (name, library) = (escaped(&title(series)), escaped(&series.library));
        let _ = write!(page, "<tr{class}><td title=\"{library}\">{name}</td>");
        for &x in &xs {
            let Some(figure) = series.at(x) else {
                page.push_str("<td></td>");
                continue;
            };
            let by = if per_byte { x.max(1) as f64 } else { 1.0 };
            let shown = number(figure.median / by);
            let spread = format!("{} to {}", number(figure.low / by), number(figure.high / by));
            let _ = match figure.is_noisy() {
                true => write!(page, "<td class=\"noisy\" title=\"{spread}\">{shown}~</td>"),
                false => write!(page, "<td title=\"{spread}\">{shown}</td>"),
            };
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div></details>\n");
}
