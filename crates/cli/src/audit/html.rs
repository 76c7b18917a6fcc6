//! The file of `--report`: one HTML page without scripts and other resources.

use std::fmt::{self, Display, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use indicatif::{HumanBytes, HumanCount, HumanDuration};
use tagmac_files::day::Day;
use tagmac_files::proof::missed;

use crate::audit::facts::{Difference, Facts, LISTED};
use crate::audit::report::plural;

/// The start of every report.
pub const MAGIC: &str = "<!DOCTYPE html>\n<!-- tagmac audit report 1 -->\n";
const STYLE: &str = include_str!("report.css");

/// The verdicts in the order of the page, each with a word for several entries and what it means.
const KINDS: [(&str, &str); 5] = [
    ("changed", "The content, the size, the kind or recorded metadata differs."),
    ("missing", "Only the manifest has these entries."),
    ("new", "Only the directory has these entries."),
    ("renamed", "New files with the size and the tag of a missing one."),
    ("unreadable", "These entries could not be compared."),
];

/// Returns the page. `failure` is the error that ended the audit.
pub fn page(facts: &Facts, failure: Option<&str>) -> String {
    let (class, verdict) = verdict(facts, failure);
    let mut page = Page(String::from(MAGIC));
    let directory = Safe(&facts.directory);
    page.put(format_args!(
        "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{verdict} – {directory}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header class=\"{class}\">\n<p>Audit of <bdi>{directory}</bdi></p>\n<h1>{verdict}</h1>\n\
         <p>{}, in {}</p>\n</header>\n",
        utc(facts.started),
        duration(facts.took()),
    ));
    if let Some(failure) = failure {
        page.put(format_args!("<p class=\"failure\"><bdi>{}</bdi></p>\n", Safe(failure)));
    }
    page.section("What to do", |page| {
        advice(facts, failure).iter().for_each(|line| page.put(format_args!("<p>{line}</p>\n")));
    });
    if facts.proof.is_some() {
        differences(&mut page, facts);
        reading(&mut page, facts);
    }
    manifest(&mut page, facts);
    page.put(format_args!("</main>\n</body>\n</html>\n"));
    page.0
}

/// Returns the class and the text of the verdict.
fn verdict(facts: &Facts, failure: Option<&str>) -> (&'static str, String) {
    let counts = &facts.counts;
    if failure.is_some() || facts.proof.is_none() {
        return ("bad", "The audit did not finish".into());
    }
    match (facts.differing(), counts.unreadable) {
        (0, 0) if counts.not_read + counts.archived > 0 => {
            ("good", "No difference in the part that was read".into())
        }
        (0, 0) => ("good", "Everything is unchanged".into()),
        (0, some) => ("bad", format!("{} could not be read", plural(some, "entry", "entries"))),
        (1, _) => ("bad", "1 entry differs from the manifest".into()),
        (some, _) => ("bad", format!("{} entries differ from the manifest", HumanCount(some))),
    }
}

fn advice(facts: &Facts, failure: Option<&str>) -> Vec<&'static str> {
    if failure.is_some() || facts.proof.is_none() {
        return vec![
            "Nothing is proven. Remove the cause, which is named above, and run the audit again. If \
             the manifest, the ledger or the pin is the cause, find out who could write to it.",
        ];
    }
    let mut lines = Vec::new();
    if facts.differing() > 0 {
        lines.push(
            "Can somebody explain each difference below? If so, seal again. If not, do not seal, \
             because the new manifest would confirm the damage: find out who could write to the \
             directory, restore from a backup, and audit the restored files.",
        );
    }
    if facts.counts.unreadable > 0 {
        lines.push("Make the unreadable entries readable, and audit again.");
    }
    if lines.is_empty() {
        lines.push("Nothing. Keep the next audits on schedule.");
    }
    lines
}

fn differences(page: &mut Page, facts: &Facts) {
    let counts = facts.counts.with_words();
    page.section("Entries", |page| {
        page.put(format_args!("<ul class=\"counts\">\n"));
        let others = [("left out by the filters", facts.left_out), ("skipped", facts.skipped)];
        for (word, count) in counts.into_iter().chain(others) {
            if count > 0 || word == "unchanged" {
                page.put(format_args!("<li><b>{}</b> {word}</li>\n", HumanCount(count)));
            }
        }
        page.put(format_args!("</ul>\n"));
    });
    for (kind, meaning) in KINDS {
        let Some(found) = facts.differences.get(kind) else { continue };
        let count = counts.iter().find(|(word, _)| *word == kind).map_or(0, |(_, count)| *count);
        let title = format!("{}{} ({})", kind[..1].to_uppercase(), &kind[1..], HumanCount(count));
        page.section(&title, |page| {
            page.put(format_args!("<p>{meaning}</p>\n<table class=\"entries\">\n"));
            for Difference { name, what } in found {
                let (name, what) = (Safe(name), Safe(what));
                page.put(format_args!(
                    "<tr><td><bdi>{name}</bdi></td><td><bdi>{what}</bdi></td></tr>\n"
                ));
            }
            page.put(format_args!("</table>\n"));
            if count > LISTED as u64 {
                let more = HumanCount(count - LISTED as u64);
                page.put(format_args!(
                    "<p>And {more} more: 'tagmac audit --json' lists all.</p>\n"
                ));
            }
        });
    }
}

/// The ages of readings: a text, and the most days.
const AGES: [(&str, i32); 6] = [
    ("today", 0),
    ("in the last 7 days", 7),
    ("in the last 30 days", 30),
    ("in the last 90 days", 90),
    ("in the last year", 365),
    ("earlier", i32::MAX),
];

fn reading(page: &mut Page, facts: &Facts) {
    let Some(proof) = &facts.proof else { return };
    page.section("What was read", |page| {
        let part = facts.part.as_deref().map_or(String::new(), |part| format!(", {part}"));
        let (bytes, part) = (HumanBytes(proof.bytes), Safe(&part));
        // Some of these were chosen and read.
        let (read, all, (one, many)) = match proof.leaves {
            Some((read, all)) => (read, all, ("leaf", "leaves")),
            None => (proof.read, proof.files, ("file", "files")),
        };
        let of = plural(all, one, many);
        page.put(format_args!(
            "<p>This audit read {} of {of} ({bytes}{part}).</p>\n",
            HumanCount(read)
        ));
        let today = Day::today().days();
        let mut ages = [0u64; AGES.len() + 1];
        for (day, count) in &facts.last_read {
            let age = day.map(|day| today.saturating_sub(day.days()));
            let at = age.and_then(|age| AGES.iter().position(|(_, most)| age <= *most));
            ages[at.unwrap_or(AGES.len())] += count;
        }
        let words = AGES.iter().map(|(word, _)| *word).chain(["not known"]);
        page.put(format_args!("<p>Each file was last read:</p>\n<table class=\"ages\">\n"));
        for (word, count) in words.zip(ages).filter(|(_, count)| *count > 0) {
            let share = 100.0 * count as f64 / proof.files.max(1) as f64;
            page.put(format_args!(
                "<tr><td>{word}</td><td><div class=\"bar\" style=\"width:{share:.1}%\"></div></td>\
                 <td>{}</td></tr>\n",
                HumanCount(count)
            ));
        }
        page.put(format_args!("</table>\n"));
        if read < all {
            page.put(format_args!(
                "<p>The {many} were chosen with the key, so nobody else can predict them. If an \
                 attacker changed {many} and kept the size and times of the files, this audit \
                 missed all of them with this probability:</p>\n<table class=\"missed\">\n\
                 <tr><th>changed {many}</th><th>probability</th></tr>\n"
            ));
            for changed in [1, 10, 100].into_iter().filter(|changed| *changed <= all) {
                let missed = missed(all, read, changed);
                page.put(format_args!("<tr><td>{changed}</td><td>{}</td></tr>\n", share(missed)));
            }
            page.put(format_args!("</table>\n"));
        }
    });
}

fn manifest(page: &mut Page, facts: &Facts) {
    page.section("Manifest", |page| {
        page.put(format_args!("<dl>\n"));
        let mut row = |name: &str, value: &dyn Display| {
            let value = value.to_string();
            page.put(format_args!("<dt>{name}</dt><dd><bdi>{}</bdi></dd>\n", Safe(&value)));
        };
        row("name", &facts.manifest_name);
        if let Some(manifest) = &facts.manifest {
            if manifest.sequence > 0 {
                row("number in its chain", &manifest.sequence);
            }
            if let Some(day) = manifest.day {
                row("sealed on", &day);
            }
            row("seal", &manifest.seal);
            row(
                "algorithm",
                &format_args!("{}, tags of {} bits", manifest.algorithm, manifest.bits),
            );
            row("key id", &manifest.key_id);
        }
        page.put(format_args!("</dl>\n"));
    });
}

/// Formats a probability.
fn share(probability: f64) -> String {
    match probability {
        0.0 => "0".into(),
        0.0..0.005 => "below 0.01".into(),
        _ => format!("{probability:.2}"),
    }
}

fn duration(took: Duration) -> String {
    match took.as_secs() {
        0 => "less than a second".into(),
        _ => HumanDuration(took).to_string(),
    }
}

/// Formats a time in UTC, to the minute.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
    let day = i32::try_from(seconds / 86_400).ok().and_then(Day::from_days);
    let minutes = seconds % 86_400 / 60;
    format!("{} {:02}:{:02} UTC", day.unwrap_or(Day::MAX), minutes / 60, minutes % 60)
}

struct Page(String);

impl Page {
    fn put(&mut self, text: fmt::Arguments<'_>) {
        self.0.write_fmt(text).expect("a String");
    }

    fn section(&mut self, title: &str, inside: impl FnOnce(&mut Page)) {
        self.put(format_args!("<section>\n<h2>{title}</h2>\n"));
        inside(self);
        self.put(format_args!("</section>\n"));
    }
}

/// A text in which no character has a meaning in HTML.
struct Safe<'a>(&'a str);

impl Display for Safe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
