//! Measures MACs: tagmac's, those of other libraries, and the limits of the machine.
//!
//! Each experiment is a subcommand. It writes a CSV and a JSON file with the machine, its clock,
//! the compiler and the date; `report` makes a page with pictures from them. Every tag is checked
//! before it is timed.

mod ceiling;
mod cliffs;
mod clock;
mod counts;
mod engine;
mod experiments;
mod external_engines;
mod failure;
mod harness;
#[cfg(feature = "lab")]
mod lab_engines;
mod machine;
mod measure;
mod progress;
mod record;
mod report;
mod table;
mod tagmac_engines;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use failure::Failure;
use harness::Harness;
use record::Record;

fn main() -> ExitCode {
    match run(&command().get_matches()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("bench: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Command {
    let out = Arg::new("out")
        .long("out")
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .default_value("target/bench")
        .help("The folder of records and report");
    let quick = Arg::new("quick").long("quick").action(ArgAction::SetTrue);
    let quick = quick.help("Take fewer samples and lengths");
    let minutes = Arg::new("minutes").long("minutes").value_name("N");
    let minutes = minutes.value_parser(value_parser!(u64).range(1..=600)).default_value("30");
    let minutes = minutes.help("The time of all experiments together; each has its share");
    let passes = Arg::new("passes").long("passes").value_name("N");
    let passes = passes.value_parser(value_parser!(u64).range(1..=100)).default_value("1");
    let passes = passes.help(
        "Measure everything N times in the same total time, and keep the lowest median of each \
         figure: for a shared machine",
    );
    let names = Arg::new("names").value_name("LEVEL|NAME").num_args(0..);
    let names =
        names.help("Measure only these levels, and only engines whose names begin with NAME");
    let measured = |name: &'static str, about: &str| {
        let about = about.to_string();
        Command::new(name).about(about).args([&out, &quick, &minutes, &passes, &names])
    };
    let experiments = experiments::all();
    let bench = Command::new("bench")
        .about("Measures tagmac and other libraries")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(measured("all", "Run all experiments but the lab's, then make the report"))
        .subcommands(experiments.iter().map(|one| measured(one.name, one.about)))
        .subcommand(
            Command::new("report")
                .about("Make the page and the pictures from the records")
                .arg(&out),
        )
        .subcommand(keep(&out))
        .subcommand(Command::new("docs").about(
            "Make the documentation's pages, tables and pictures from \
                 bench/record",
        ))
        .subcommand(cliffs::command())
        .subcommand(counts::command());
    #[cfg(feature = "reads")]
    let bench = bench.subcommand(experiments::reads::serve_command());
    bench
}

fn keep(out: &Arg) -> Command {
    Command::new("keep")
        .about("Copy the records to bench/record, for the documentation")
        .arg(out)
        .arg(Arg::new("machine").value_name("MACHINE").required(true).help(
            "For example \
             amd-epyc-zen4",
        ))
}

fn run(args: &ArgMatches) -> Result<(), Failure> {
    let (name, args) = args.subcommand().expect("clap wants one");
    match name {
        "docs" => return report::write_docs(),
        cliffs::NAME => return cliffs::run(args),
        counts::NAME => return counts::run(args),
        #[cfg(feature = "reads")]
        experiments::reads::SERVE => return experiments::reads::serve(args),
        _ => {}
    }
    let out: &PathBuf = args.get_one("out").expect("it has a default");
    match name {
        "report" => return report::write(out),
        "keep" => {
            return report::keep(out, args.get_one::<String>("machine").expect("it is required"));
        }
        _ => {}
    }
    let minutes: u64 = *args.get_one("minutes").expect("it has a default");
    let names: Vec<String> = args.get_many("names").unwrap_or_default().cloned().collect();
    let mut harness = Harness::new(args.get_flag("quick"), &names)?;
    harness.write_into(out.clone());
    println!("{}", harness.machine.line());
    for missing in external_engines::missing() {
        println!("left out: {missing}");
    }
    let passes: u64 = *args.get_one("passes").expect("it has a default");
    for pass in 0..passes {
        for experiment in experiments::all() {
            if name == experiment.name || (name == "all" && experiment.is_in_all()) {
                let seconds = experiment.seconds * minutes / experiments::MINUTES / passes;
                measure(&experiment, &mut harness, Duration::from_secs(seconds), out, pass > 0)?;
            }
        }
    }
    if name == "all" { report::write(out) } else { Ok(()) }
}

/// Runs an experiment, shows its record and writes it; `again` merges it with the record of an
/// earlier pass.
fn measure(
    experiment: &experiments::Experiment,
    harness: &mut Harness,
    budget: Duration,
    out: &Path,
    again: bool,
) -> Result<(), Failure> {
    let start = Instant::now();
    let mut record = (experiment.run)(harness, budget)?;
    let in_folder = |error| format!("{}: {error}", out.display());
    if again && let Some(before) = Record::read(out, experiment.name).map_err(in_folder)? {
        record.keep_quieter(before);
    }
    print!("{}", table::of(&record));
    record.write(out).map_err(in_folder)?;
    let name = out.join(experiment.name);
    println!("wrote {}.{{json,csv}} after {} s", name.display(), start.elapsed().as_secs());
    Ok(())
}
