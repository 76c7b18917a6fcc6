//! `tagmac completions` and `tagmac man`, made from the command line's own description.

use clap::CommandFactory;
use tagmac_files::Error;
use tagmac_files::escaped::Escaped;

use crate::args::{Args, Completions, Man};
use crate::output;

/// Prints completions.
pub fn completions(args: &Completions) -> Result<(), Error> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "tagmac", &mut text);
    output::write(&text)
}

/// Prints a manual page.
pub fn man(args: &Man) -> Result<(), Error> {
    let mut command = Args::command();
    command.build();
    if let Some(name) = &args.command {
        let found = command.find_subcommand(name).cloned().ok_or_else(|| {
            let found = Escaped::text(name.as_bytes());
            Error::usage(format_args!("expected one of tagmac's commands, found '{found}'"))
        })?;
        command = found;
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text).map_err(Error::io)?;
    output::write(&text)
}
