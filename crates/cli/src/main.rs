//! The command `tagmac`: tags files with a key and checks the tags.
//!
//! `main` is parse, build, run. Each subcommand has a file of its own.

mod allowance;
mod args;
mod audit;
mod bounds;
mod check;
mod combine;
mod completions;
mod diagnostic;
mod exit;
mod given;
mod harden;
mod help;
mod json;
mod key;
mod keygen;
mod list;
mod mac;
mod names;
mod number;
mod objects;
mod output;
mod pages;
mod part;
mod progress;
mod read;
mod record;
mod say;
mod seal;
mod selftest;
mod stdio;
mod table;
mod tag;
mod tag_line;
mod update;
mod version;

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::panic::{self, PanicHookInfo};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, CommandFactory, FromArgMatches};

use args::{Args, Command};
use diagnostic::diagnostic;
use exit::Exit;
use signal_hook::consts::SIGABRT;
use signal_hook::flag::register_conditional_shutdown;
use tagmac_files::escaped::Escaped;
use tagmac_files::{Error, faults};

fn main() -> ExitCode {
    // Rust ignores SIGPIPE; a filter should end by it, as SIGINT ends it.
    sigpipe::reset();
    harden::forbid_cores();
    // Without memory the runtime says so and aborts. That is no verdict either. If it cannot be
    // had, the signal itself says that there is none.
    let always = Arc::new(AtomicBool::new(true));
    let _ = register_conditional_shutdown(SIGABRT, Exit::Io as i32, always);
    panic::set_hook(Box::new(internal));
    tagmac_files::diagnostic::set_sink(|message| diagnostic(message));
    let exit = panic::catch_unwind(|| match parse() {
        Ok(args) => run(&args.command),
        Err(wrong) => usage(&wrong),
    });
    let exit = settled(exit.unwrap_or(Ok(Some(Exit::Io))));
    // A test may look here at what the run took.
    let _ = faults::before("end");
    match exit {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(exit)) => ExitCode::from(exit as u8),
        Err(error) => {
            diagnostic(say::line(&error));
            ExitCode::from(Exit::from(error.kind()) as u8)
        }
    }
}

/// What came of a run, once its output is where it goes. Output that is lost makes a 4 of success, and of
/// nothing else.
fn settled(exit: Result<Option<Exit>, Error>) -> Result<Option<Exit>, Error> {
    match (exit, output::settle()) {
        (Ok(None), Err(lost)) => Err(lost),
        (Ok(Some(Exit::Mismatch)), Err(lost)) => {
            diagnostic(say::line(&lost));
            Ok(Some(Exit::Mismatch))
        }
        (exit, _) => exit,
    }
}

/// Parses the command line. A flag may be given twice, as an alias may have it already. An option with
/// a value may not, as one of two keys, nonces or files would be dropped in silence; those that only say
/// how to read may, and the last one counts. The version in full is no part of `Args`, of which the manual is made: a page
/// is the same whatever machine made it.
fn parse() -> Result<Args, clap::Error> {
    let again = |arg: Arg| match arg.get_action() {
        ArgAction::SetTrue => {
            let itself = arg.get_id().clone();
            arg.overrides_with(itself)
        }
        _ => arg,
    };
    let command = Args::command().mut_subcommands(|command| command.mut_args(again));
    let mut command = command.long_version(version::long());
    let mut matches = command.try_get_matches_from_mut(env::args_os())?;
    Args::from_arg_matches_mut(&mut matches).map_err(|wrong| wrong.format(&mut command))
}

fn run(command: &Command) -> Result<Option<Exit>, Error> {
    match command {
        Command::Keygen(args) => keygen::run(args).map(|()| None),
        Command::Tag(args) => tag::run(args),
        Command::Check(args) => check::run(args),
        Command::Seal(args) => seal::run(args),
        Command::Audit(args) => audit::run(args),
        Command::Part(args) => part::run(args),
        Command::Combine(args) => combine::run(args),
        Command::Update(args) => update::run(args),
        Command::List(args) => list::run(args).map(|()| None),
        Command::Bounds(args) => bounds::run(args).map(|()| None),
        Command::Selftest => selftest::run(),
        Command::Completions(args) => completions::run(args).map(|()| None),
        Command::Man(args) => pages::man(args).map(|()| None),
    }
}

/// Says on one line what this program did not expect of itself.
fn internal(panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref().copied()).unwrap_or_default();
    let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let line = format!("tagmac: internal error{place}: {}\n", Escaped::text(text.as_bytes()));
    // Not by `diagnostic`: the bar could be what failed.
    let _ = stdio::Stderr.write_all(line.as_bytes());
}

/// Help is printed as it is. What is wrong with a command line is said on one line.
fn usage(wrong: &clap::Error) -> Result<Option<Exit>, Error> {
    let text = wrong.render();
    match wrong.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::write(text.to_string().as_bytes())?;
            return Ok(None);
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // Not by `eprint!`, which panics where standard error takes nothing.
            let _ = stdio::Stderr.write_all(text.to_string().as_bytes());
            return Ok(Some(Exit::Usage));
        }
        ErrorKind::InvalidSubcommand if is_help_of_help(env::args_os().skip(1)) => {
            output::write(Args::command().render_long_help().to_string().as_bytes())?;
            return Ok(None);
        }
        _ => {}
    }
    Err(Error::usage(one_line(&text.to_string())))
}

/// Whether the command line is `help --help`: clap's own `help` takes commands alone.
fn is_help_of_help(mut args: impl Iterator<Item = OsString>) -> bool {
    args.next().is_some_and(|first| first == "help")
        && args.next().is_some_and(|option| option == "--help" || option == "-h")
        && args.next().is_none()
}

/// Clap's message, and whose help to read.
fn one_line(text: &str) -> String {
    let mut facts = String::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("Usage: ") || line.starts_with("For more") {
            break;
        }
        // That an unknown option could also be a file's name helps nobody.
        if line.is_empty() || line.starts_with("tip: to pass ") {
            continue;
        }
        facts.push_str(match line {
            _ if facts.is_empty() => "",
            _ if line.starts_with("tip: ") => "; ",
            _ => " ",
        });
        facts.push_str(line);
    }
    let facts = facts.strip_prefix("error: ").unwrap_or(&facts);
    let first = env::args_os().nth(1).unwrap_or_default();
    let command = match Args::command().find_subcommand(first) {
        Some(command) => format!("tagmac {}", command.get_name()),
        None => "tagmac".into(),
    };
    // The file of a new key is an option's value.
    let hint = match facts.strip_prefix("unexpected argument '") {
        Some(found) if command == "tagmac keygen" && !found.starts_with('-') => "; use -o FILE",
        _ => "",
    };
    format!("{}{hint}; see '{command} --help'", Escaped::text(facts.as_bytes()))
}
