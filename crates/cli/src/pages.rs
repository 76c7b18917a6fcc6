//! `tagmac man`, made from the command line's own description.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use clap::CommandFactory;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;
use tagmac_files::overwrite::Overwrite;
use tagmac_files::{Error, folder, new_file};

use crate::args::{Args, ManArgs};
use crate::output;

/// Prints a manual page, or writes all.
pub fn man(args: &ManArgs) -> Result<(), Error> {
    let mut command = Args::command();
    command.build();
    if let Some(folder) = &args.output {
        if folder.as_os_str() == "-" {
            return Err(Error::usage(
                "--output: expected a directory, found '-'; without --output a page is printed",
            ));
        }
        return all(&command, folder);
    }
    if let Some(name) = &args.command {
        let found = command.find_subcommand(name).cloned().ok_or_else(|| {
            let found = Escaped::text(name.as_bytes());
            Error::usage(format_args!("expected one of tagmac's commands, found '{found}'"))
        })?;
        command = found;
    }
    output::write(&page(&command)?)
}

fn page(command: &clap::Command) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(Error::io)?;
    Ok(text)
}

/// Writes the main page and that of each command into a folder, which is made if it is not there.
fn all(command: &clap::Command, folder: &Path) -> Result<(), Error> {
    folder::make(folder).map_err(|error| {
        Error::io(format_args!("{}: {}", Escaped::name(folder), io_reason(&error)))
    })?;
    let commands = command.get_subcommands().filter(|command| command.get_name() != "help");
    for command in std::iter::once(command).chain(commands) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let over = Overwrite::Kind("a manual page of tagmac", is_page);
        new_file::write(&folder.join(format!("{name}.1")), 0o666, over, &page(command)?)?;
    }
    Ok(())
}

/// Whether a file begins as the pages do.
fn is_page(file: File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(512).read_to_end(&mut start)?;
    Ok(start.windows(10).any(|text| text == b".TH tagmac"))
}
