//! The report: one page with all records of a folder, and its pictures as files beside it.

mod bars;
mod draw;
mod lines;
mod page;
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
