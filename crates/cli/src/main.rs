//! The command `tagmac`, which tags files with a key and checks the tags.
//!
//! `main` parses the command line and runs the subcommand. Each subcommand has its own file.

mod allowance;
mod args;
mod audit;
mod bounds;
mod check;
mod combine;
mod completions;
mod diagnostic;
mod exit;
mod files_from;
mod given;
mod harden;
mod help;
mod json;
mod key;
mod keygen;
mod list;
mod listed;
mod mac;
mod manifest;
mod mount;
mod named_reader;
mod names;
mod number;
mod objects;
mod output;
mod pages;
mod part;
mod progress;
mod read;
mod record;
mod rekey;
mod rekey_list;
mod repair;
mod say;
mod seal;
mod selftest;
#[cfg(unix)]
mod stdio;
#[cfg(windows)]
#[path = "stdio_windows.rs"]
mod stdio;
mod table;
mod tag;
mod tag_line;
mod update;
mod version;

use std::env;
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
    // Rust ignores SIGPIPE, but SIGPIPE should end a filter, like SIGINT.
    sigpipe::reset();
    harden::forbid_cores();
    // Out of memory aborts; report it as exit code 4. If the handler cannot be registered, the
    // signal itself tells.
    let always = Arc::new(AtomicBool::new(true));
    let _ = register_conditional_shutdown(SIGABRT, Exit::Io as i32, always);
    panic::set_hook(Box::new(internal));
    tagmac_files::diagnostic::set_sink(|message| diagnostic(message));
    let exit = panic::catch_unwind(|| match parse() {
        Ok(args) => run(&args.command),
        Err(wrong) => usage(&wrong),
    });
    let exit = settled(exit.unwrap_or(Ok(Some(Exit::Io))));
    // Lets a test inspect the process here, such as its memory.
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

/// Combines the result of a run with that of flushing its output. Lost output turns success into
/// exit code 4, and changes no other exit code.
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

/// Parses the command line.
///
/// A flag may be repeated, because an alias may already contain it. An option with a value may not,
/// because one of two keys, nonces or files would be ignored silently; for the options about
/// reading, the last one counts. The long version is set here and not in `Args`, because the manual
/// pages must not depend on the machine that made them.
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
        Command::Manifest(args) => manifest::run(args),
        Command::Read(args) => read::run(args).map(|()| None),
        Command::Mount(args) => mount::run(args).map(|()| None),
        Command::Repair(args) => repair::run(args).map(|()| None),
        Command::Rekey(args) => rekey::run(args),
        Command::Part(args) => part::run(args),
        Command::Combine(args) => combine::run(args),
        Command::Update(args) => update::run(args),
        Command::List(args) => list::run(args).map(|()| None),
        Command::Bounds(args) => bounds::run(args).map(|()| None),
        Command::Selftest => selftest::run(),
        Command::Completions(args) => completions::run(args).map(|()| None),
        Command::Man(args) => pages::man(args).map(|()| None),
        Command::Help(args) => pages::help(args).map(|()| None),
    }
}

/// Reports a panic on one line.
fn internal(panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref().copied()).unwrap_or_default();
    let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let line = format!("tagmac: internal error{place}: {}\n", Escaped::text(text.as_bytes()));
    // `diagnostic` would use the bar, which may be what failed.
    let _ = stdio::Stderr.write_all(line.as_bytes());
}

/// Prints help as clap formats it, and turns any other parse error into a one-line error.
fn usage(wrong: &clap::Error) -> Result<Option<Exit>, Error> {
    let text = wrong.render();
    match wrong.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::write(text.to_string().as_bytes())?;
            return Ok(None);
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // `eprint!` panics if standard error cannot be written to.
            let _ = stdio::Stderr.write_all(text.to_string().as_bytes());
            return Ok(Some(Exit::Usage));
        }
        _ => {}
    }
    Err(Error::usage(one_line(&text.to_string())))
}

/// Joins clap's message into one line, and names the help to read.
fn one_line(text: &str) -> String {
    let mut facts = String::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("Usage: ") || line.starts_with("For more") {
            break;
        }
        // Omit clap's tip that an unknown option could be a file name.
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
    // `keygen` has no operands: its file is the value of -o.
    let hint = match facts.strip_prefix("unexpected argument '") {
        Some(found) if command == "tagmac keygen" && !found.starts_with('-') => "; use -o FILE",
        _ => "",
    };
    format!("{}{hint}; see '{command} --help'", Escaped::text(facts.as_bytes()))
}
