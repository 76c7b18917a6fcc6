//! `tagmac man` and `tagmac help`, made from the description of the command line.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use clap::CommandFactory;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;
use tagmac_files::overwrite::Overwrite;
use tagmac_files::{Error, folder, new_file};

use crate::args::{Args, HelpArgs, ManArgs};
use crate::{help, output};

/// Prints a manual page, or writes all pages.
pub fn man(args: &ManArgs) -> Result<(), Error> {
    let mut command = Args::command();
    command.build();
    if let Some(folder) = &args.output {
        if folder.as_os_str() == "-" {
            return Err(Error::usage(
                "--output: expected a directory, found '-'; to print a page, omit --output",
            ));
        }
        return all(&command, folder);
    }
    if let Some(name) = &args.command {
        let found = command.find_subcommand(name).cloned().ok_or_else(|| {
            let found = Escaped::text(name.as_bytes());
            Error::usage(format_args!("no command '{found}'; 'tagmac help' lists the commands"))
        })?;
        command = found;
    }
    output::write(&page(&command)?)
}

/// Prints the overview, a topic, or the long help of a command.
pub fn help(args: &HelpArgs) -> Result<(), Error> {
    let mut command = Args::command();
    command.build();
    let text = match &args.topic {
        None => command.render_help().to_string(),
        Some(name) => match (help::topic(name), command.find_subcommand_mut(name)) {
            (Some(text), _) => text,
            (None, Some(command)) => command.render_long_help().to_string(),
            (None, None) => {
                return Err(Error::usage(format_args!(
                    "no help about '{}'; 'tagmac help' lists the commands and topics",
                    Escaped::text(name.as_bytes())
                )));
            }
        },
    };
    output::write(text.as_bytes())
}

fn page(command: &clap::Command) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(Error::io)?;
    Ok(text)
}

/// Writes the main page and that of each command into a folder, which is created if necessary.
fn all(command: &clap::Command, folder: &Path) -> Result<(), Error> {
    folder::make(folder).map_err(|error| {
        Error::io(format_args!("{}: {}", Escaped::name(folder), io_reason(&error)))
    })?;
    for command in std::iter::once(command).chain(command.get_subcommands()) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let over = Overwrite::Kind("a manual page of tagmac", is_page);
        new_file::write(&folder.join(format!("{name}.1")), 0o666, over, &page(command)?)?;
    }
    Ok(())
}

/// Returns whether a file begins like a manual page of tagmac.
fn is_page(file: File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(512).read_to_end(&mut start)?;
    Ok(start.windows(10).any(|text| text == b".TH tagmac"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_names_its_command_and_known_topics() {
        let command = Args::command();
        let topics: Vec<&str> = help::topic_names().collect();
        for text in help::ALL {
            assert!(command.find_subcommand(text.name).is_some(), "{}", text.name);
            assert!(text.topics.iter().all(|name| topics.contains(name)), "{}", text.name);
        }
        // A topic with the name of a command would hide its help.
        assert!(topics.iter().all(|name| command.find_subcommand(name).is_none()));
    }
}
