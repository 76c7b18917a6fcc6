//! The texts of `tagmac help`, and those that follow the options in `--help`.
//!
//! `tagmac COMMAND --help` is short: one line per option, examples, and where to read on. `tagmac
//! help COMMAND` and the manual page are long: they add the second paragraphs of the options'
//! comments in `args` and [`CommandHelp`]. Facts about several commands are in [`TOPICS`].

mod commands;
mod topics;
mod trees;

use std::fmt::Write as _;

pub use commands::*;
use topics::{TOPICS, Topic};
pub use trees::*;

/// The end of `tagmac --help`.
pub fn overview() -> String {
    format!(
        "{EXAMPLES}\n\nTopics, for 'tagmac help TOPIC':\n{}\n'tagmac COMMAND --help' lists the \
         options of a command; 'tagmac help COMMAND'\nexplains them.",
        topic_list()
    )
}

/// The end of the main manual page: the overview, then all topics.
pub fn overview_and_topics() -> String {
    let mut text = overview();
    for topic in &TOPICS {
        write!(text, "\n\n{}", page(topic).trim_end()).expect("a String");
    }
    text
}

/// A line for each topic.
fn topic_list() -> String {
    let mut text = String::new();
    for topic in &TOPICS {
        writeln!(text, "  {:<12} {}", topic.name, topic.about).expect("a String");
    }
    text
}

fn page(topic: &Topic) -> String {
    format!("{}: {}\n\n{}\n", topic.name, topic.about, topic.text)
}

/// Returns the names of the topics.
pub fn topic_names() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|topic| topic.name)
}

/// Returns the page of a topic.
pub fn topic(name: &str) -> Option<String> {
    TOPICS.iter().find(|topic| topic.name == name).map(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_on_a_terminal() {
        let commands = commands::ALL.map(|help| help.long());
        for text in commands.into_iter().chain([overview_and_topics()]) {
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }
}
