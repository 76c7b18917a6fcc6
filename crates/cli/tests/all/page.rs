//! The console blocks of the command's page match real runs.

use std::env;
use std::path::Path;

use crate::common::Place;

const COMMAND: &str = include_str!("../../docs/guide/command.md");
const KEY_FILE: &str = include_str!("../../docs/formats/key-file.md");

/// Returns the first block of a kind after a text.
fn block<'a>(page: &'a str, after: &str, kind: &str) -> &'a str {
    let (_, rest) = page.split_once(after).unwrap_or_else(|| panic!("no {after}"));
    let (_, rest) = rest.split_once(&format!("```{kind}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

/// Runs the commands in a section of docs/guide/command.md, with the page's key.
fn runs(section: &str) {
    let shown = block(COMMAND, &format!("\n## {section}\n"), "console");
    let place = Place::bare();
    place.file("my.key", block(KEY_FILE, "# The key file", "text"));
    place.shell("chmod 600 my.key").exits(0);
    let commands = Path::new(env!("CARGO_BIN_EXE_tagmac")).parent().unwrap();
    let path = format!("{}:{}", commands.display(), env::var("PATH").unwrap());
    let mut found = String::new();
    for command in shown.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let line = format!("PATH='{path}'; {{ {command}\n}} 2>&1");
        found += &format!("$ {command}\n{}", place.shell(&line).out);
    }
    assert_eq!(found, shown);
}

#[test]
fn seal_a_tree() {
    runs("Seal a tree");
}

#[test]
fn tag_parts_anywhere() {
    runs("Tag parts anywhere");
}

#[test]
#[cfg(target_os = "linux")]
fn resume() {
    runs("Resume");
}

#[test]
fn follow_an_edit() {
    runs("Follow an edit");
}
