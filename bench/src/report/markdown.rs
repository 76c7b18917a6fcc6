//! Makes tables in Markdown.

use crate::measure::Figure;

/// Returns a cell, with a mark if its figure is noisy.
pub fn flagged(cell: String, figure: Figure) -> String {
    if figure.is_noisy() { cell + "~" } else { cell }
}

/// Returns the head of a table.
pub fn head(first: &str, columns: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut row = vec![first.to_string()];
    row.extend(columns);
    row
}

/// Removes the columns that have nothing below their heading.
pub fn filled_columns(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let is_filled = |at: usize| {
        at == 0 || rows[1..].iter().any(|row| row.get(at).is_some_and(|cell| !cell.is_empty()))
    };
    let of_row = |row: &Vec<String>| {
        let cells = row.iter().enumerate().filter(|(at, _)| is_filled(*at));
        cells.map(|(_, cell)| cell.clone()).collect()
    };
    rows.iter().map(of_row).collect()
}

/// Returns rows as a table. The first row is the head.
pub fn table(rows: &[Vec<String>]) -> String {
    let mut lines = Vec::new();
    for row in rows {
        lines.push(format!("| {} |", row.join(" | ")));
        if lines.len() == 1 {
            lines.push(format!("|{}", "---|".repeat(row.len())));
        }
    }
    lines.join("\n")
}
