//! Checks that the code on the page about objects is in an example that compiles.

const PAGE: &str = include_str!("../../docs/guide/objects.md");
const MODULE: &str = include_str!("../../src/verified/mod.rs");

#[test]
fn what_the_page_shows_is_in_the_example() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let module = words(&MODULE.replace("///", ""));
    let blocks: Vec<&str> = PAGE.split("```rust\n").skip(1).collect();
    assert_eq!(blocks.len(), 1);
    for block in blocks {
        let shown = words(block.split_once("```").expect("an end").0);
        assert!(module.contains(&shown), "not in the example: {shown}");
    }
}
