//! `tagmac completions`: scripts that complete the command line, generated from its description.
//!
//! Anyone may have chosen a file's name, so it must only be inserted quoted. zsh and fish quote
//! what clap's scripts offer. Bash does not, see [`bash`].

mod bash;

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::Shell;
use tagmac_files::Error;

use crate::args::{Args, CompletionsArgs};
use crate::output;

/// Prints the script for a shell.
pub fn run(args: &CompletionsArgs) -> Result<(), Error> {
    output::write(&script(args.shell))
}

fn script(shell: Shell) -> Vec<u8> {
    let mut command = described();
    if shell == Shell::Bash {
        return bash::script(&command).into_bytes();
    }
    let mut text = Vec::new();
    let name = command.get_name().to_string();
    clap_complete::generate(shell, &mut command, name, &mut text);
    if shell == Shell::Fish {
        text.extend_from_slice(fish_operands(&command).as_bytes());
    }
    text
}

/// Returns the command line with a hint about the values of every argument.
fn described() -> Command {
    // Without a hint, shells offer files.
    let says = |arg: Arg| match arg.get_value_hint() {
        ValueHint::Unknown if arg.get_action().takes_values() => arg.value_hint(ValueHint::Other),
        _ => arg,
    };
    let mut command = Args::command().mut_subcommands(|command| command.mut_args(says));
    command.build();
    command
}

/// Returns what clap's script for fish omits: the words that commands accept as operands.
fn fish_operands(command: &Command) -> String {
    let mut text = String::new();
    for command in command.get_subcommands() {
        for words in command.get_positionals().filter_map(bash::words) {
            let (name, words) = (command.get_name(), words.join(" "));
            let mut when = format!("__fish_tagmac_using_subcommand {name}");
            if command.get_positionals().count() > 1 {
                // Names of files follow the word.
                write!(when, "; and not __fish_seen_subcommand_from {words}").expect("a String");
            }
            writeln!(text, "complete -c tagmac -n \"{when}\" -f -a \"{words}\"").expect("a String");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::builder::ValueParser;

    use super::*;

    #[test]
    fn each_argument_says_what_its_values_are() {
        let path = ValueParser::path_buf().type_id();
        for command in described().get_subcommands() {
            for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
                let name = format!("{} {}", command.get_name(), arg.get_id());
                let hint = arg.get_value_hint();
                let completed =
                    matches!(hint, ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath);
                // These accept paths, among other things.
                let mixed = ["update patch", "combine name"].contains(&&*name);
                let is_path = arg.get_value_parser().type_id() == path || mixed;
                assert!(completed == is_path && hint != ValueHint::Unknown, "{name}: {hint:?}");
            }
        }
    }
}
