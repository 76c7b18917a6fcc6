//! A table of a paper with ours beside it: cells, and the two ways to write them as text.

use std::fmt::Write;

use crate::speeds::{Call, Speeds, digits};

/// What a table has in it.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// As the paper prints it.
    Printed(String),
    /// The paper has it, and our copy of its text does not.
    Lost,
    /// The paper has nothing here, or we do not.
    Empty,
    /// Ours: measured, or computed.
    Ours(String),
    /// No record has it: the command that measures it.
    Unmeasured(&'static str),
}

impl Cell {
    /// Its text.
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
    /// What the row is about.
    pub label: String,
    /// Its cells.
    pub cells: Vec<Cell>,
}

impl Row {
    /// Whether it has anything of ours.
    pub fn is_ours(&self) -> bool {
        self.cells.iter().any(|cell| matches!(cell, Cell::Ours(_) | Cell::Unmeasured(_)))
    }
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// The heads of the columns, that of the labels first.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
    /// What is said below.
    pub notes: Vec<String>,
}

/// What a speed is given in.
#[derive(Clone, Copy, PartialEq)]
pub enum Unit {
    /// Cycles per byte.
    PerByte,
    /// Cycles per message.
    PerMessage,
}

impl Grid {
    /// The table by the record that leaves the fewest cells without a figure; all of a table's figures
    /// are of one machine.
    ///
    /// # Panics
    ///
    /// Without a record.
    pub fn fullest(all: &[Speeds], make: impl Fn(&Speeds) -> Grid) -> Grid {
        let missing = |grid: &Grid| {
            let cells = grid.rows.iter().flat_map(|row| &row.cells);
            cells.filter(|cell| matches!(cell, Cell::Unmeasured(_))).count()
        };
        all.iter().map(make).min_by_key(missing).expect("a record")
    }

    /// An empty table with a head.
    pub fn new<'a>(head: impl IntoIterator<Item = &'a str>) -> Grid {
        Grid { head: head.into_iter().map(String::from).collect(), ..Grid::default() }
    }

    /// A row as the paper prints it.
    pub fn printed<'a>(&mut self, label: &str, cells: impl IntoIterator<Item = &'a str>) {
        let cells = cells.into_iter().map(|text| Cell::Printed(text.into())).collect();
        self.row(label, cells);
    }

    /// A row.
    pub fn row(&mut self, label: &str, cells: Vec<Cell>) {
        assert_eq!(cells.len() + 1, self.head.len(), "{label}");
        self.rows.push(Row { label: label.into(), cells });
    }

    /// A row of measured figures, a cell for each length.
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

    /// What stands below the table.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Where the speeds are from, below the table.
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

    /// In columns, for a terminal.
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

    /// In Markdown.
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
