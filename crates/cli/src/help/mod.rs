//! The texts of `tagmac help`, and those that follow the options in `--help`.
//!
//! `tagmac COMMAND --help` is short: one line per option, examples, and where to read on. `tagmac
//! help COMMAND` and the manual page are long: they add the second paragraphs of the options'
//! comments in `args` and [`CommandHelp::details`]. Facts about several commands are in [`TOPICS`].

mod commands;
mod topics;

use std::fmt::Write as _;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Command, CommandFactory};

use crate::args::Args;

pub use commands::*;
use topics::TOPICS;

/// A page of `tagmac help` that belongs to no single command.
struct Topic {
    name: &'static str,
    about: &'static str,
    /// At most 80 columns.
    text: &'static str,
}

/// The texts about one command that follow its options. At most 80 columns.
pub struct CommandHelp {
    name: &'static str,
    /// Examples, or the columns of the output.
    examples: &'static str,
    details: &'static str,
    /// Names of [`TOPICS`].
    topics: &'static [&'static str],
}

impl CommandHelp {
    /// The end of `tagmac COMMAND --help`.
    pub fn short(&self) -> String {
        let details = format!("Details: 'tagmac help {}'", self.name);
        let details = Some(details).filter(|_| !self.details.is_empty());
        let pointers: Vec<String> = details.into_iter().chain(self.topic_names()).collect();
        paragraphs(&[self.examples, &pointers.join("\n")])
    }

    /// The end of `tagmac help COMMAND` and of the manual page.
    pub fn long(&self) -> String {
        paragraphs(&[self.examples, self.details, &self.topic_names().unwrap_or_default()])
    }

    fn topic_names(&self) -> Option<String> {
        let names = format!("Topics:  'tagmac help TOPIC' with {}", self.topics.join(", "));
        Some(names).filter(|_| !self.topics.is_empty())
    }
}

fn paragraphs(texts: &[&str]) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

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

/// Returns the page of a topic.
pub fn topic(name: &str) -> Option<String> {
    TOPICS.iter().find(|topic| topic.name == name).map(page)
}

/// Accepts any name, so that `tagmac help` can report an unknown one. Completions offer the known
/// names.
#[derive(Clone)]
pub struct TopicParser;

impl TypedValueParser for TopicParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        static COMMAND: LazyLock<Command> = LazyLock::new(Args::command);
        let commands = COMMAND.get_subcommands().map(Command::get_name);
        Some(Box::new(
            TOPICS.iter().map(|topic| topic.name).chain(commands).map(PossibleValue::new),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_names_its_command_and_known_topics() {
        let command = Args::command();
        for help in commands::ALL {
            assert!(command.find_subcommand(help.name).is_some(), "{}", help.name);
            for name in help.topics {
                assert!(TOPICS.iter().any(|topic| topic.name == *name), "{}: {name}", help.name);
            }
        }
        for topic in &TOPICS {
            assert!(
                command.find_subcommand(topic.name).is_none(),
                "{}: also a command",
                topic.name
            );
        }
    }

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
