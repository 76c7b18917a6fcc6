//! Completions for bash.
//!
//! clap's own script offers file names as words, and bash inserts words without quoting them: a
//! file called `x;reboot` would become two commands. It also splits names at blanks, expands names
//! that look like patterns, and offers folders without their slash.
//!
//! So this script offers no file names. Where one is expected it offers nothing, and `-o default`
//! makes readline complete the name itself. Readline knows what has been quoted so far and quotes
//! the rest.

use std::fmt::Write as _;

use clap::{Arg, Command, ValueHint};

/// The script.
///
/// `kinds` has the kinds of the values that the option before the cursor still needs. `kind` is the
/// kind of the word at the cursor: `files`, `folders`, `nothing`, or the words themselves.
const SCRIPT: &str = include_str!("template.bash");

/// Returns the script for a command line.
pub fn script(command: &Command) -> String {
    let (mut options, mut values, mut operands) = (String::new(), String::new(), String::new());
    describe(command, "", &mut options, &mut values, &mut operands);
    for command in command.get_subcommands() {
        let names = command.get_name_and_visible_aliases();
        for name in names.into_iter().chain(command.get_aliases()) {
            describe(command, name, &mut options, &mut values, &mut operands);
        }
    }
    let script = SCRIPT.replace("OPTIONS", &options).replace("VALUES", &values);
    script.replace("OPERANDS", &operands)
}

/// Adds the lines of one command. `name` is its name or an alias.
fn describe(
    command: &Command,
    name: &str,
    options: &mut String,
    values: &mut String,
    operands: &mut String,
) {
    let mut all = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_positional()) {
        let short = arg.get_short().map(|short| format!("-{short}"));
        let long = arg.get_long().map(|long| format!("--{long}"));
        let names: Vec<String> = short.into_iter().chain(long).collect();
        if arg.get_action().takes_values() {
            let patterns: Vec<String> =
                names.iter().map(|option| format!("'{name} {option}'")).collect();
            let count = arg.get_num_args().map_or(1, |count| count.min_values());
            let kinds = vec![format!("'{}'", kind(arg)); count].join(" ");
            line(values, format_args!("{}) kinds=({kinds}) ;;", patterns.join(" | ")));
        }
        all.extend(names);
    }
    line(options, format_args!("'{name}') kind='{}' ;;", checked(all.join(" "))));
    let subcommands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    if !subcommands.is_empty() {
        let kind = checked(subcommands.join(" "));
        line(operands, format_args!("'{name} 0') kind='{kind}' ;;"));
    }
    for (place, arg) in command.get_positionals().enumerate() {
        let many = arg.get_num_args().is_some_and(|count| count.max_values() > 1);
        let place = if many { "*".into() } else { format!("{place}") };
        line(operands, format_args!("'{name} '{place}) kind='{}' ;;", kind(arg)));
    }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "    {line}").expect("a String takes all");
}

/// Returns the words that an argument accepts, if it accepts only certain words.
pub fn words(arg: &Arg) -> Option<Vec<String>> {
    let words = arg.get_value_parser().possible_values()?;
    Some(words.map(|word| word.get_name().into()).collect())
}

/// Returns the kind of an argument's values.
fn kind(arg: &Arg) -> String {
    match (words(arg), arg.get_value_hint()) {
        (Some(words), _) => checked(words.join(" ")),
        (None, ValueHint::AnyPath | ValueHint::FilePath) => "files".into(),
        (None, ValueHint::DirPath) => "folders".into(),
        (None, _) => "nothing".into(),
    }
}

/// Asserts that bash has nothing to expand in the words: the script does not quote them.
fn checked(words: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_. ".contains(c);
    assert!(words.chars().all(plain), "expected plain words, found {words}");
    words
}
