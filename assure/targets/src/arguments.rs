//! The command line, parsed but not run, with zero bytes between arguments; and the numbers in it.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use args_as_rust::args::Args;
use args_as_rust::number;
use clap::{Command, CommandFactory, FromArgMatches};

thread_local! {
    // Made once, because that takes longest.
    static COMMAND: RefCell<Command> = RefCell::new(Args::command());
}

pub fn run(data: &[u8]) {
    if let Ok(text) = str::from_utf8(data) {
        numbers(text);
    }
    let arguments = data.split(|&byte| byte == 0).map(OsStr::from_bytes);
    let arguments = [OsStr::new("tagmac")].into_iter().chain(arguments);
    let parsed = COMMAND.with_borrow_mut(|command| command.try_get_matches_from_mut(arguments));
    match parsed {
        Ok(matches) => {
            let args = Args::from_arg_matches(&matches);
            assert!(args.is_ok(), "valid arguments must make a command");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn numbers(text: &str) {
    let (size, count) = (number::size(text), number::count(text));
    if let (Ok(size), Ok(count)) = (&size, &count) {
        assert_eq!(u128::from(*size), *count, "both ways must parse the same number");
    }
    if let Ok(size) = size {
        assert!(text.bytes().next().is_some_and(|byte| byte.is_ascii_digit()));
        assert_eq!(number::size(&size.to_string()), Ok(size));
    }
    if let Ok(count) = count {
        assert_eq!(number::count(&count.to_string()), Ok(count));
        assert!(!number::show_count(count).is_empty());
    }
    let _ = (number::bits(text), number::probability(text));
}

pub fn seeds() -> Vec<Vec<u8>> {
    [
        "tag -k key -a pmac-aes128 --tag-bits 64 file",
        "check --key-fd 3 --strict list",
        "seal -k key -o manifest --sealed mode dir",
        "audit -k key manifest dir",
        "part -k key --object o --start 4KiB --length 2^20 -o out file",
        "combine -k key --last a b",
        "update -k key --patch 5 file",
        "bounds -a UMAC-64 --messages 2^40 --probability 2^-32",
        "keygen -a lightmac-aes128-s32 -o key",
        "list",
        "2^40",
        "4KiB",
    ]
    .map(|text| text.replace(' ', "\0").into_bytes())
    .to_vec()
}
