//! The report: a page with everything, `docs/lab.md` and `docs/choosing-a-mac.md`.

mod choosing;
mod page;
mod results;
mod template;

use std::error::Error;

pub use results::{Outcome, attack_all};

use crate::figures::{Drawing, FIGURES};
use crate::speeds::Speeds;
use crate::tables::TABLES;

/// A file of the report.
pub struct File {
    /// Its path in the folder.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// The pages' texts around what is made here.
const LAB: &str = include_str!("lab.md");
const CHOOSING: &str = include_str!("choosing-a-mac.md");

/// All files, the page first. Of those in `docs` nothing depends on when or where it runs.
///
/// # Errors
///
/// One line: what could not be drawn, or which mark of a page means nothing.
pub fn files(speeds: &[Speeds], outcomes: &[Outcome]) -> Result<Vec<File>, Box<dyn Error>> {
    let mut drawings = Vec::new();
    for figure in FIGURES {
        drawings.push((figure, (figure.draw)(speeds)?));
    }
    let lab = template::fill(LAB, &|mark| match mark.split_once(' ') {
        None => match mark {
            "tables" => Some(tables(speeds)),
            "comparators" => Some(results::comparators()),
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
    let choosing = template::fill(CHOOSING, &|mark| choosing::part(mark, speeds))?;
    let mut files =
        vec![File { path: "lab.html".into(), text: page::of(speeds, outcomes, &drawings) }];
    let mut add = |name: String, text| files.push(File { path: format!("docs/{name}"), text });
    add("lab.md".into(), lab);
    add("choosing-a-mac.md".into(), choosing);
    for (figure, drawing) in drawings {
        add(format!("lab-{}.svg", figure.name), drawing.svg);
    }
    Ok(files)
}

/// A picture in Markdown.
fn shown(name: &str, title: &str, drawing: &Drawing) -> String {
    format!("![{title}](lab-{name}.svg)\n\n{}", drawing.alternative)
}

/// All tables in Markdown.
fn tables(speeds: &[Speeds]) -> String {
    let one = |table: &crate::tables::Table| {
        let grid = table.fill(speeds).markdown();
        format!("### {}\n\n`{}`: {}.\n\n{grid}", table.title, table.name, table.source)
    };
    TABLES.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::attacks::{ATTACKS, Finding, Role};
    use crate::comparators::COMPARATORS;

    /// Each attack wins as often as it should, its control resists, and the repository's pages are
    /// what the command writes.
    #[test]
    fn all_attacks_and_the_pages() {
        let outcomes = attack_all(|_| ());
        for Outcome { attack, findings, .. } in &outcomes {
            for role in [Role::Attack, Role::Control] {
                assert!(findings.iter().any(|one| one.role == role), "{}: {role:?}", attack.name);
            }
            for finding in findings {
                assert!(Finding::holds(finding), "{}: {finding}", attack.name);
            }
        }
        let speeds = crate::speeds::kept().expect("the kept records");
        let files = files(&speeds, &outcomes).expect("all files");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for File { path, text } in &files[1..] {
            let kept = fs::read_to_string(root.join(path)).unwrap_or_default();
            assert!(
                kept == *text,
                "{path}: run 'cargo run --release -p tagmac-lab -- report -o .'"
            );
        }
        let page = &files[0].text;
        let names = ATTACKS.iter().map(|one| one.name);
        let names = names.chain(TABLES.iter().map(|one| one.name));
        for name in names.chain(FIGURES.iter().map(|one| one.name)) {
            assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
        }
        assert_eq!(page.matches("<svg ").count(), FIGURES.len());
        assert!(
            COMPARATORS
                .iter()
                .all(|one| page.contains(&format!("<th scope=\"row\">{}<", one.name)))
        );
        assert!(!page.contains("<script") && !page.contains("http://www.w3.org/1999/xhtml"));
    }
}
