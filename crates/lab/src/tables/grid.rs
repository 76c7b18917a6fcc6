//! A table of a paper with ours: cells, and two text formats.

use std::fmt::Write;

use crate::speeds::{Call, Speeds, digits};

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text as printed in the paper.
    Printed(String),
    /// Text that the paper has and our copy lost.
    Lost,
    /// Nothing in the paper, or nothing of ours.
    Empty,
    /// Our value, measured or computed.
    Ours(String),
    /// A value that no record has; the command that measures it.
    Unmeasured(&'static str),
}

impl Cell {
    /// Returns the cell's text.
    pub fn text(&self) -> String {
        match self {
            Cell::Printed(text) | Cell::Ours(text) => text.clone(),
            Cell::Lost => "cell lost in our copy".into(),
            Cell::Empty => String::new(),
            Cell::Unmeasured(command) => format!("not measured: {command}"),
        }
    }
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The subject of the row.
    pub label: String,
    /// Its cells.
    pub cells: Vec<Cell>,
}

impl Row {
    /// Returns true if a cell is ours.
    pub fn is_ours(&self) -> bool {
        self.cells.iter().any(|cell| matches!(cell, Cell::Ours(_) | Cell::Unmeasured(_)))
    }
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// The heads of the columns; the first is the labels'.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
    /// The notes below the table.
    pub notes: Vec<String>,
}

/// The unit of a speed.
#[derive(Clone, Copy, PartialEq)]
pub enum Unit {
    /// Cycles per byte.
    PerByte,
    /// Cycles per message.
    PerMessage,
}

impl Grid {
    /// Returns the table made from the record that leaves the fewest cells empty. All figures of a
    /// table are from one machine.
    ///
    /// # Panics
    ///
    /// Panics without a record.
    pub fn fullest(all: &[Speeds], make: impl Fn(&Speeds) -> Grid) -> Grid {
        let missing = |grid: &Grid| {
            let cells = grid.rows.iter().flat_map(|row| &row.cells);
            cells.filter(|cell| matches!(cell, Cell::Unmeasured(_))).count()
        };
        all.iter().map(make).min_by_key(missing).expect("a record")
    }

    /// Makes an empty table with a head.
    pub fn new<'a>(head: impl IntoIterator<Item = &'a str>) -> Grid {
        Grid { head: head.into_iter().map(String::from).collect(), ..Grid::default() }
    }

    /// Adds a row as printed in the paper.
    pub fn printed<'a>(&mut self, label: &str, cells: impl IntoIterator<Item = &'a str>) {
        let cells = cells.into_iter().map(|text| Cell::Printed(text.into())).collect();
        self.row(label, cells);
    }

    /// Adds a row.
    pub fn row(&mut self, label: &str, cells: Vec<Cell>) {
        assert_eq!(cells.len() + 1, self.head.len(), "{label}");
        self.rows.push(Row { label: label.into(), cells });
    }

    /// Adds a row of measured figures, a cell for each length.
    pub fn measured(
        &mut self,
        label: &str,
        speeds: &Speeds,
        (call, name): (Call, &str),
        lengths: &[u64],
        unit: Unit,
    ) {
        let cell = |&bytes: &u64| match (speeds.cycles(call, name, bytes), unit) {
            (Some(cycles), Unit::PerByte) => Cell::Ours(digits(cycles / bytes as f64)),
            (Some(cycles), Unit::PerMessage) => Cell::Ours(format!("{cycles:.0}")),
            (None, _) => Cell::Unmeasured(call.command()),
        };
        let label = format!("{label}, ours, {}", speeds.cpu());
        self.row(&label, lengths.iter().map(cell).collect());
    }

    /// Adds a note below the table.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Adds a note about the source of the speeds.
    pub fn machine(&mut self, speeds: &Speeds) {
        self.note(format!("Ours: {}.", speeds.about()));
    }

    fn lines(&self) -> impl Iterator<Item = Vec<String>> {
        let row = |row: &Row| {
            let cells = row.cells.iter().map(Cell::text);
            [row.label.clone()].into_iter().chain(cells).collect()
        };
        [self.head.clone()].into_iter().chain(self.rows.iter().map(row))
    }

    /// Formats the table in columns for a terminal.
    pub fn columns(&self) -> String {
        let lines: Vec<_> = self.lines().collect();
        let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max();
        let widths: Vec<_> = (0..self.head.len()).map(|at| width(at).unwrap_or(0)).collect();
        let mut text = String::new();
        for line in &lines {
            let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        for note in &self.notes {
            let _ = write!(text, "\n{note}");
        }
        text.trim_end().to_string() + "\n"
    }

    /// Formats the table in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for (at, line) in self.lines().enumerate() {
            let cells: Vec<_> = line.iter().map(|cell| cell.replace('|', "\\|")).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
            if at == 0 {
                let _ = writeln!(text, "|{}", "---|".repeat(line.len()));
            }
        }
        for note in &self.notes {
            let _ = write!(text, "\n{note}\n");
        }
        text.trim_end().into()
    }
}
