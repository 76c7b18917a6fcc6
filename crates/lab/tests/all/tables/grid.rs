//! A table as columns and as Markdown.

use tagmac_lab::tables::{Cell, Grid};

#[test]
fn columns_and_markdown() {
    let mut grid = Grid::new(["a", "b", "c"]);
    grid.printed("one", ["1|2", "3"]);
    grid.row("two", vec![Cell::Lost, Cell::Unmeasured("bench x")]);
    grid.note("A note.");
    let columns = "a    b                      c\none  1|2                    3\n\
                   two  cell lost in our copy  not measured: bench x\n\nA note.\n";
    assert_eq!(grid.columns(), columns);
    let markdown = "| a | b | c |\n|---|---|---|\n| one | 1\\|2 | 3 |\n\
                    | two | cell lost in our copy | not measured: bench x |\n\nA note.";
    assert_eq!(grid.markdown(), markdown);
    assert!(!grid.rows[0].is_ours() && grid.rows[1].is_ours());
}
