//! The report: one page with all records of a folder, and its pictures as files in the same folder.

mod age;
mod call_tables;
mod docs;
mod jvm;
mod kinds;
mod machine_tables;
mod markdown;
mod memory;
mod overview;
mod page;
mod papers;
mod pictures;
mod readme;
mod summary;
mod thresholds;
mod wins;

use std::fs;
use std::path::Path;

use age::Present;
use machine_tables::Machine;

use crate::experiments;
use crate::failure::Failure;
use crate::record::{LAB, Record};

/// Writes `report.html` and the pictures into the folder of the records.
pub fn write(folder: &Path) -> Result<(), Failure> {
    let records = read(folder)?;
    let mut pictures = Vec::new();
    for record in &records {
        let of_record = pictures::of(record, &memory::costs(&records))?;
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

/// The folder of the records that the documentation is made from; each machine has a folder in it.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/record");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// The first machine of the documentation.
const FIRST: &str = "amd-epyc-zen4";

/// Writes `docs/PERFORMANCE.md`, its pictures, each machine's tables, and README's figures.
pub fn write_docs() -> Result<(), Failure> {
    for (name, text) in docs_files(&read_all()?)? {
        let path = Path::new(REPOSITORY).join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Copies the records of a folder to those of a machine, and makes the documentation again.
pub fn keep(folder: &Path, machine: &str) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if machine.is_empty() || !machine.chars().all(is_plain) {
        return Err(format!("{machine}: use only letters, digits and '-', as in {FIRST}").into());
    }
    let records = read(folder)?;
    of_one_machine(machine, &records)?;
    let kept = Path::new(KEPT).join(machine);
    fs::create_dir_all(&kept)?;
    for record in &records {
        record.write_json(&kept)?;
        println!("kept {}.json", kept.join(&record.experiment).display());
    }
    write_docs()
}

/// Reads the kept records, machine by machine, except the lab's: its MACs are not a choice for
/// users.
fn read_all() -> Result<Vec<(String, Vec<Record>)>, Failure> {
    let mut ids = Vec::new();
    for folder in fs::read_dir(KEPT).map_err(|error| format!("{KEPT}: {error}"))? {
        ids.push(folder?.file_name().to_string_lossy().into_owned());
    }
    ids.sort_by_key(|id| (id != FIRST, id.clone()));
    let mut all = Vec::new();
    for id in ids {
        let mut records = read(&Path::new(KEPT).join(&id))?;
        of_one_machine(&id, &records)?;
        records.retain(|record| record.experiment != LAB);
        if !records.is_empty() {
            all.push((id, records));
        }
    }
    Ok(all)
}

/// Rejects records of several machines.
fn of_one_machine(id: &str, records: &[Record]) -> Result<(), Failure> {
    let first = &records[0].machine;
    let other = records.iter().find(|record| {
        (&record.machine.cpu, &record.machine.levels) != (&first.cpu, &first.levels)
    });
    match other {
        None => Ok(()),
        Some(other) => Err(format!(
            "{id}: the records are of two machines: {} in {} and {} in {}",
            first.cpu, records[0].experiment, other.machine.cpu, other.experiment
        )
        .into()),
    }
}

/// Returns the names and contents of the documentation's generated files.
fn docs_files(all: &[(String, Vec<Record>)]) -> Result<Vec<(String, String)>, Failure> {
    let all: Vec<(&str, Present)> =
        all.iter().map(|(id, records)| (&**id, Present::new(records))).collect();
    let machines: Vec<Machine> =
        all.iter().map(|(id, present)| Machine::present(id, present)).collect();
    let readme = Path::new(REPOSITORY).join("README.md");
    let readme = fs::read_to_string(readme).map_err(|error| format!("README.md: {error}"))?;
    let readme = readme::with_blocks(&readme, &machines)?;
    let mut files = vec![
        ("README.md".to_string(), readme),
        ("docs/PERFORMANCE.md".to_string(), docs::page(&machines)?),
    ];
    if let Some(first) = machines.first() {
        let drawn = overview::pictures(first)?;
        let named = overview::FILES.map(|name| format!("docs/pictures/{name}.svg"));
        files.extend(named.into_iter().zip(drawn));
    }
    for (at, (machine, (id, present))) in machines.iter().zip(&all).enumerate() {
        files.push((format!("bench/record/{id}/tables.md"), docs::tables(machine, at == 0)?));
        let wanted = docs::pictures_of(machine, at == 0);
        for record in &present.records {
            for picture in pictures::of(record, &memory::costs(&present.records))? {
                if let Some((_, file)) = wanted.iter().find(|(name, _)| *name == picture.name) {
                    files.push((format!("docs/pictures/{file}.svg"), picture.svg));
                }
            }
        }
    }
    Ok(files)
}

/// Reads the records of a folder, in the order of the experiments.
fn read(folder: &Path) -> Result<Vec<Record>, Failure> {
    let mut records = Vec::new();
    let all = experiments::all();
    let names = all.iter().map(|one| one.name).filter(|name| *name != LAB);
    for name in names.chain([LAB]) {
        let record = Record::read(folder, name);
        let file = folder.join(name);
        records.extend(record.map_err(|error| format!("{}.json: {error}", file.display()))?);
    }
    match records.is_empty() {
        true => Err(format!("{}: no records; run 'bench all' first", folder.display()).into()),
        false => Ok(records),
    }
}

/// Small records for tests of tables.
#[cfg(test)]
mod sample {
    use super::*;
    use crate::record::{Point, Series};

    /// A series: its name, its function, its case, and its median at 64.
    pub type One = (&'static str, &'static str, &'static str, f64);

    /// Makes a record of the first machine with some engines of ours and some of others.
    pub fn record(experiment: &str, ours: &[One], theirs: &[One]) -> Record {
        let series = |library: &'static str| {
            move |&(name, function, case, at): &One| Series {
                name: name.into(),
                library: library.into(),
                level: None,
                case: Some(case.into()),
                ceiling: None,
                function: function.into(),
                call: String::new(),
                points: vec![Point(64, at, at, at)],
            }
        };
        let mut record = read_all().expect("records").remove(0).1.remove(0);
        record.experiment = experiment.into();
        record.series = ours.iter().map(series("tagmac 0.1.0")).collect();
        record.series.extend(theirs.iter().map(series("another 1.0")));
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_is_that_of_the_records() {
        let all = read_all().expect("records");
        assert_eq!(all[0].0, FIRST);
        let files = docs_files(&all).expect("all tables");
        let others = (all.len() - 1) * docs::PICTURES_OF_OTHERS.len();
        assert_eq!(
            files.len(),
            2 + overview::FILES.len() + all.len() + docs::PICTURES.len() + others
        );
        for (name, text) in files {
            let found = fs::read_to_string(Path::new(REPOSITORY).join(&name)).expect("a file");
            assert!(found == text, "{name}: run 'bench docs'");
        }
    }

    #[test]
    fn records_of_two_machines_are_not_mixed() {
        let all = read_all().expect("records");
        let mut mixed = all[0].1.clone();
        mixed[1].machine.cpu = "another".into();
        let error = of_one_machine("here", &mixed).expect_err("two CPUs").to_string();
        assert!(error.starts_with("here: the records are of two machines"), "{error}");
    }

    #[test]
    fn a_report_has_every_record_and_picture() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(write(folder.path()).is_err(), "no records");
        let records = read(&Path::new(KEPT).join(FIRST)).expect("a record");
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
        // The page lists each omission once, in one table.
        let missing: Vec<_> = records.iter().flat_map(|record| &record.missing).collect();
        assert!(!missing.is_empty(), "the first machine's record lacks something");
        let (_, rest) = page.split_once("id=\"left-out\"").expect("a table");
        let (table, _) = rest.split_once("</table>").expect("its end");
        assert!(missing.iter().all(|missing| page.matches(missing.as_str()).count() == 1));
        assert!(missing.iter().all(|missing| table.contains(missing.as_str())));
    }
}
