//! Tables of algorithms. LightMACs that differ only in their counters share a row.

use tagmac_any::Algorithm;

/// Returns whether both are LightMACs that differ only in their counters.
pub fn same_family(a: Algorithm, b: Algorithm) -> bool {
    a.counter_bits().is_some() && a.stem() == b.stem()
}

/// Returns the name of a row for the algorithms from `first` to `last`, which are of one family.
pub fn name(first: Algorithm, last: Algorithm) -> String {
    match last.counter_bits() {
        Some(counter) if first != last => format!("{}..S{counter}", first.name()),
        _ => first.name().into(),
    }
}

/// Joins two cells.
pub fn span(first: String, last: String) -> String {
    if first == last { first } else { format!("{first}..{last}") }
}

/// Formats the rows with aligned columns.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
