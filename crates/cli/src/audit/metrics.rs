//! The file of `--metrics`: the facts about an audit in the text format of Prometheus, for the
//! textfile collector of its node exporter.

use std::fmt::{Display, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use tagmac_files::proof::CHANGED;

use crate::audit::facts::Facts;

/// The start of every such file.
pub const MAGIC: &str = "# HELP tagmac_audit_";

/// Returns the text.
pub fn text(facts: &Facts) -> String {
    let mut metrics = Metrics {
        labels: format!(
            "manifest=\"{}\",directory=\"{}\"",
            escaped(&facts.manifest_name),
            escaped(&facts.directory)
        ),
        text: String::new(),
    };
    let seconds =
        |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
    metrics.add(
        "success",
        "1 if the audit ended and nothing that it compared differs, else 0.",
        u8::from(facts.is_good()),
    );
    metrics.add("end_timestamp_seconds", "The end of the audit.", seconds(SystemTime::now()));
    let took = format!("{:.3}", facts.took().as_secs_f64());
    metrics.add("duration_seconds", "The duration of the audit.", took);
    let Some(proof) = &facts.proof else { return metrics.text };
    metrics.head("entries", "The number of entries with each verdict.");
    for (word, count) in facts.counts.with_words() {
        metrics.line("entries", &format!(",status=\"{word}\""), count);
    }
    metrics.add("files", "The number of sealed files that were found.", proof.files);
    metrics.add("read_files", "The number of those that were read as a whole.", proof.read);
    metrics.add("read_bytes", "The number of bytes that were read.", proof.bytes);
    let mut changed = "files";
    if let Some((read, leaves)) = proof.leaves {
        metrics.add("leaves", "The number of leaves of these files.", leaves);
        metrics.add("read_leaves", "The number of leaves that were read.", read);
        changed = "leaves";
    }
    let help = format!("The probability that a change of this many {changed} was missed.");
    metrics.head("missed_probability", &help);
    metrics.line("missed_probability", &format!(",changed=\"{CHANGED}\""), proof.missed);
    if let Some(day) = proof.oldest {
        let start = 86_400 * i64::from(day.days());
        metrics.add(
            "oldest_read_timestamp_seconds",
            "The start of the day since which every file has been read.",
            start,
        );
    }
    metrics.add("manifest_number", "The manifest's number in its chain.", proof.sequence);
    metrics.text
}

struct Metrics {
    labels: String,
    text: String,
}

impl Metrics {
    fn head(&mut self, name: &str, help: &str) {
        let text = format!("{MAGIC}{name} {help}\n# TYPE tagmac_audit_{name} gauge\n");
        self.text.push_str(&text);
    }

    fn line(&mut self, name: &str, labels: &str, value: impl Display) {
        writeln!(self.text, "tagmac_audit_{name}{{{}{labels}}} {value}", self.labels)
            .expect("a String");
    }

    fn add(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, help);
        self.line(name, "", value);
    }
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
