//! The report: one page with all records of a folder, and its pictures as files beside it.

mod bars;
mod docs;
mod draw;
mod lines;
mod page;
mod papers;
mod pictures;
mod roofline;

use std::fs;
use std::path::Path;

use crate::experiments;
use crate::lab::Failure;
use crate::record::Record;

/// Writes `report.html` and the pictures into the folder of the records.
pub fn write(folder: &Path) -> Result<(), Failure> {
    let records = read(folder)?;
    let mut pictures = Vec::new();
    for record in &records {
        let of_record = pictures::of(record, &memory(&records))?;
        for picture in &of_record {
            fs::write(folder.join(&picture.name).with_extension("svg"), &picture.svg)?;
        }
        pictures.push(of_record);
    }
    let page = folder.join("report.html");
    fs::write(&page, page::of(&records, &pictures))?;
    println!("wrote {}", page.display());
    Ok(())
}

/// The record that is kept with the source, and the documentation made from it.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/record/amd-epyc-zen4");
const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");

/// Writes `docs/PERFORMANCE.md` and its pictures.
pub fn write_docs() -> Result<(), Failure> {
    for (name, text) in docs_files(&read(Path::new(KEPT))?)? {
        let path = Path::new(DOCS).join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// The names and contents of the files that the documentation gets from a record.
fn docs_files(records: &[Record]) -> Result<Vec<(String, String)>, Failure> {
    let mut files = vec![("PERFORMANCE.md".to_string(), docs::page(records)?)];
    for record in records {
        for picture in pictures::of(record, &memory(records))? {
            if docs::PICTURES.contains(&&*picture.name) {
                files.push((format!("{}.svg", picture.name), picture.svg));
            }
        }
    }
    Ok(files)
}

/// The records of a folder, in the order of the experiments.
fn read(folder: &Path) -> Result<Vec<Record>, Failure> {
    let mut records = Vec::new();
    for experiment in experiments::all() {
        let record = Record::read(folder, experiment.name);
        let file = folder.join(experiment.name);
        records.extend(record.map_err(|error| format!("{}.json: {error}", file.display()))?);
    }
    match records.is_empty() {
        true => Err(format!("{}: expected records, found none", folder.display()).into()),
        false => Ok(records),
    }
}

/// What reading a byte costs, from each cache and from memory.
fn memory(records: &[Record]) -> Vec<(String, f64)> {
    let Some(record) = records.iter().find(|record| record.experiment == "ceilings") else {
        return Vec::new();
    };
    let points = record.series.first().map_or(&[][..], |series| &series.points);
    let caches = &record.machine.caches;
    // Within a cache, and far from its edge.
    let cost = |bytes: usize| {
        let within = points.iter().rev().find(|point| point.0 <= bytes as u64);
        within.map(|point| point.1 / point.0 as f64)
    };
    let from_cache = caches.iter().enumerate().skip(1);
    let mut all: Vec<(String, f64)> = from_cache
        .filter_map(|(at, bytes)| {
            Some((format!("reading from cache {}", at + 1), cost(bytes / 2)?))
        })
        .collect();
    all.extend(cost(usize::MAX).map(|cost| ("reading from memory".into(), cost)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_is_that_of_the_record() {
        let records = read(Path::new(KEPT)).expect("a record");
        let files = docs_files(&records).expect("all tables");
        assert_eq!(files.len(), 1 + docs::PICTURES.len());
        for (name, text) in files {
            let found = fs::read_to_string(Path::new(DOCS).join(&name)).expect("a file");
            assert!(found == text, "docs/{name}: run 'bench docs'");
        }
    }

    #[test]
    fn a_report_has_every_record_and_picture() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(write(folder.path()).is_err(), "no records");
        let records = read(Path::new(KEPT)).expect("a record");
        for record in &records {
            record.write(folder.path()).expect("a file");
        }
        assert!(read(folder.path()).expect("records") == records, "read back as written");
        write(folder.path()).expect("a report");
        let page = fs::read_to_string(folder.path().join("report.html")).expect("a page");
        for record in &records {
            assert!(page.contains(&format!("<h2 id=\"{}\">", record.experiment)));
            let csv = folder.path().join(&record.experiment).with_extension("csv");
            let lines = fs::read_to_string(csv).expect("a table").lines().count();
            let points: usize = record.series.iter().map(|series| series.points.len()).sum();
            assert_eq!(lines, 1 + points, "{}", record.experiment);
        }
        assert!(page.matches("<svg").count() >= 15, "pictures");
    }
}
