//! Tables in Markdown.

use crate::measure::Figure;

/// A cell, with a mark if its figure is noisy.
pub fn flagged(cell: String, figure: Figure) -> String {
    if figure.is_noisy() { cell + "~" } else { cell }
}

/// The head of a table.
pub fn head(first: &str, columns: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut row = vec![first.to_string()];
    row.extend(columns);
    row
}

/// The rows as a table, the first one its head.
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
