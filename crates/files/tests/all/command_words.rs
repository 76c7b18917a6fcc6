//! Messages of the library use no words of the command: neither options nor subcommands.

use std::fs;
use std::path::Path;

/// Callers in Python and other languages get these messages too, and they do not know the command's
/// options and subcommands.
#[test]
fn no_line_of_the_library_names_an_option_of_the_command() {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
                let named = lines.filter(|line| names_the_command(line));
                found.extend(named.map(|line| format!("{}: {}", path.display(), line.trim())));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Returns whether a line of code contains `'tagmac ` or an option.
fn names_the_command(line: &str) -> bool {
    let has_option = line.match_indices("--").any(|(at, _)| {
        let letter = |at: usize| line.as_bytes().get(at).is_some_and(u8::is_ascii_lowercase);
        letter(at + 2) && letter(at + 3)
    });
    has_option || line.contains("'tagmac ")
}

#[test]
fn options_are_told_from_other_text() {
    for (line, expected) in [
        ("\"--leaf: expected\"", true),
        ("made by 'tagmac seal', found", true),
        ("a -- b", false),
        ("--1", false),
        ("tagmac tree 3", false),
    ] {
        assert_eq!(names_the_command(line), expected, "{line}");
    }
}
