//! Checks that the code on the library's page is in a program that runs.

const PAGE: &str = include_str!("../../docs/guide/library.md");
const PROGRAM: &str = include_str!("../../examples/library.rs");

/// Ignores white space.
#[test]
fn what_the_page_shows_is_in_the_program() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let program = words(PROGRAM);
    let blocks: Vec<&str> = PAGE.split("```rust\n").skip(1).collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        let shown = words(block.split_once("```").expect("an end").0);
        assert!(program.contains(&shown), "not in the example: {shown}");
    }
}
