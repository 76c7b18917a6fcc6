//! The report: a page with everything, `docs/design/lab.md` and `docs/guide/choosing-a-mac.md`.

mod choosing;
mod page;
pub mod results;
pub mod template;

use std::error::Error;

pub use results::{Outcome, attack_all};

use crate::figures::{Drawing, FIGURES};
use crate::speeds::Speeds;
use crate::tables::TABLES;

/// A file of the report.
pub struct File {
    /// The path in the folder.
    pub path: String,
    /// The content.
    pub text: String,
}

/// The templates of the pages.
const LAB: &str = include_str!("lab.md");
const PAPERS: &str = include_str!("papers.md");
const CHOOSING: &str = include_str!("choosing-a-mac.md");

/// Returns all files, the page first. Those in `docs` do not depend on when or where this runs.
///
/// # Errors
///
/// Returns one line about a figure that could not be drawn, or an unknown mark in a template.
pub fn files(speeds: &[Speeds], outcomes: &[Outcome]) -> Result<Vec<File>, Box<dyn Error>> {
    let mut drawings = Vec::new();
    for figure in FIGURES {
        drawings.push((figure, (figure.draw)(speeds)?));
    }
    let lab = template::fill(LAB, &|mark| match mark.split_once(' ') {
        None => match mark {
            "pmac-curve" => Some(results::pmac_curve()),
            "lightmac-curve" => Some(results::lightmac_curve()),
            _ => None,
        },
        Some(("figure", name)) => {
            let drawing = drawings.iter().find(|(figure, _)| figure.name == name);
            drawing.map(|(figure, drawing)| shown(figure.name, figure.title, drawing))
        }
        Some(("found", which)) => results::found(outcomes, which),
        Some(_) => None,
    })?;
    let papers = template::fill(PAPERS, &|mark| match mark {
        "tables" => Some(tables(speeds)),
        "comparators" => Some(results::comparators()),
        _ => None,
    })?;
    let choosing = template::fill(CHOOSING, &|mark| choosing::part(mark, speeds))?;
    let mut files =
        vec![File { path: "lab.html".into(), text: page::of(speeds, outcomes, &drawings) }];
    files.push(File { path: "crates/lab/papers.md".into(), text: papers });
    let mut add = |name: String, text| files.push(File { path: format!("docs/{name}"), text });
    add("design/lab.md".into(), lab);
    add("guide/choosing-a-mac.md".into(), choosing);
    for (figure, drawing) in drawings {
        add(format!("pictures/lab-{}.svg", figure.name), drawing.svg);
    }
    Ok(files)
}

/// Returns a picture in Markdown.
fn shown(name: &str, title: &str, drawing: &Drawing) -> String {
    format!("![{title}](../pictures/lab-{name}.svg)\n\n{}", drawing.alternative)
}

/// Returns all tables in Markdown.
fn tables(speeds: &[Speeds]) -> String {
    let one = |table: &crate::tables::Table| {
        let grid = table.fill(speeds).markdown();
        format!("## {}\n\n`{}`: {}.\n\n{grid}", table.title, table.name, table.source)
    };
    TABLES.iter().map(one).collect::<Vec<_>>().join("\n\n")
}
