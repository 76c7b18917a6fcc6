//! The command `tagmac-lab`.

mod commands;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

/// The lab of tagmac: the MACs that the papers compare with, and the attacks on their weaker
/// relatives.
///
/// Not for secrets. Keys are arguments here on purpose, so every user of the machine can read them,
/// and some of these MACs are broken. Use `tagmac` to authenticate anything.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(commands::list::List),
    Tag(commands::tag::Tag),
    Attack(commands::attack::Attack),
    Table(commands::table::Table),
    Figure(commands::figure::Figure),
    Report(commands::report::Report),
}

/// The exit status for a wrong command line or input.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    // Rust ignores SIGPIPE, but a filter should end silently, as in `list | head`.
    sigpipe::reset();
    let result = match Args::try_parse() {
        Ok(Args { command: Command::List(list) }) => list.run(),
        Ok(Args { command: Command::Tag(tag) }) => tag.run(),
        Ok(Args { command: Command::Attack(attack) }) => attack.run(),
        Ok(Args { command: Command::Table(table) }) => table.run(),
        Ok(Args { command: Command::Figure(figure) }) => figure.run(),
        Ok(Args { command: Command::Report(report) }) => report.run(),
        Err(error) => return usage(&error),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("tagmac-lab: {error}");
            ExitCode::from(USAGE)
        }
    }
}

/// Prints help unchanged, and an error in the command line on one line.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        error.exit();
    }
    let text = error.to_string();
    let words: Vec<&str> =
        text.lines().take_while(|line| !line.is_empty()).flat_map(str::split_whitespace).collect();
    eprintln!("tagmac-lab: {}", words.join(" ").trim_start_matches("error: "));
    ExitCode::from(USAGE)
}
