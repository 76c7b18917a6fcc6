//! Runs without faults, and checks of a command's results.

use assure::process::history::{Files, History};
use assure::process::place::Place;
use assure::process::trace::{self, Trace};

use super::case::{Case, Proof, Records};
use super::examples::Bench;

/// A run without faults, and its results.
pub struct Baseline {
    pub trace: Trace,
    pub out: String,
    /// The files that a proof compares byte by byte.
    pub made: Files,
}

impl Bench {
    /// Runs without faults. The result must be correct, also after a power cut.
    pub fn baseline(&self, case: &Case) -> Result<Baseline, String> {
        self.place.restore(&self.files);
        let program = self.place.program(&case.args, &case.stdin);
        let trace = trace::run(&program, None).map_err(|error| error.to_string())?;
        let out = String::from_utf8_lossy(&trace.out).into_owned();
        if trace.status.code() != Some(case.expect) {
            let err = String::from_utf8_lossy(&trace.err);
            return Err(format!("{}: without faults: {}: {out} {err}", case.name, trace.status));
        }
        let made = match case.proof {
            Proof::Report(name) => {
                self.place.read(name).map(|bytes| (name.to_string(), bytes)).into_iter().collect()
            }
            Proof::Pages(_) => {
                let mut files = self.place.files();
                files.retain(|name, _| case.may_make(name));
                files
            }
            _ => Files::new(),
        };
        let baseline = Baseline { trace, out, made };
        let history = History::new(self.place.path(), &self.files, &baseline.trace.calls)?;
        self.place.restore(&history.power_cut());
        self.is_right(case, &baseline, &baseline.out).map_err(|what| {
            format!("{}: without faults, after the power is cut: {what}", case.name)
        })?;
        Ok(baseline)
    }

    /// Checks that the folder and the output are as expected.
    pub fn is_right(&self, case: &Case, baseline: &Baseline, out: &str) -> Result<(), String> {
        let place = &self.place;
        let prints = |out: &str, expected: &str| match out == expected {
            true => Ok(()),
            false => Err(format!("expected the output {expected:?}, found {out:?}")),
        };
        match &case.proof {
            Proof::Output => {}
            Proof::Key => {
                if out.lines().count() != 1 {
                    return Err(format!("expected a line with the key's id, found {out:?}"));
                }
                place.must(&["tag", "-k", "new", "g"])?;
                return Ok(());
            }
            Proof::Manifest(name) => {
                place.must(&["audit", "-k", "k", name, "t"])?;
            }
            Proof::Records(records) => self.records_hold(records, true)?,
            Proof::Partial => {
                prints(&place.must(&["combine", "-k", "k", "new", "p2"])?, &self.line)?
            }
            Proof::Report(name) => {
                if place.read(name).as_ref() != baseline.made.get(*name) {
                    return Err(format!("{name} differs from its bytes without a fault"));
                }
            }
            Proof::Pages(folder) => {
                let mut found = place.files();
                found.retain(|name, _| case.may_make(name));
                if found != baseline.made {
                    return Err(format!("{folder} differs from its pages without a fault"));
                }
                let page =
                    found.get(&format!("{folder}/tagmac-tag.1")).cloned().unwrap_or_default();
                prints(&String::from_utf8_lossy(&page), &place.must(&["man", "tag"])?)?;
            }
            Proof::Updated(name, bytes) => {
                if place.read(name).as_ref() != Some(bytes) {
                    return Err(format!("{name} does not have the expected bytes"));
                }
                let key = match case.name {
                    "update --truncate" => "s cut",
                    "update --undo" => "sp undone",
                    _ => name,
                };
                let line = self.lines.get(key).expect("each has one");
                prints(&place.must(&["update", "-k", "k", name])?, line)?;
                // A patch with the current bytes verifies each leaf against its sum.
                let ran = place.run(&["update", "-k", "k", "--patch", "0", "-", name], bytes);
                if ran.code != Some(0) || ran.out != *line {
                    return Err(format!(
                        "the sums in the sidecar of {name} do not match it: {ran:?}"
                    ));
                }
            }
        }
        prints(out, &baseline.out)
    }

    /// Checks that an audit accepts the ledger and the pin, and that the pin has seen no later
    /// ledger. After a run that succeeded, it has seen the manifest and the ledger.
    pub fn records_hold(&self, records: &Records, succeeded: bool) -> Result<(), String> {
        let (place, Records { manifest, ledger, pin }) = (&self.place, *records);
        let seen = Seen::of(place, records);
        let (pinned, saved) = (seen.pinned_ledger, seen.ledger);
        if pinned > saved {
            return Err(format!("{pin} has seen save {pinned} of {ledger}, which has {saved}"));
        }
        if succeeded && (seen.pinned != seen.manifest || pinned != saved) {
            return Err(format!("{pin} has not seen {manifest} and {ledger}: {seen:?}"));
        }
        place.must(&["audit", "-k", "k", "--ledger", ledger, "--pin", pin, manifest, "t"])?;
        Ok(())
    }
}

/// The numbers in a manifest and its records; 0 for a missing file.
#[derive(Debug)]
struct Seen {
    /// The number of the manifest, and that in the pin.
    manifest: u64,
    pinned: u64,
    /// The number of saves of the ledger, and that in the pin.
    ledger: u64,
    pinned_ledger: u64,
}

impl Seen {
    fn of(place: &Place, records: &Records) -> Seen {
        let number = |file: &str, label: &str| {
            let text = String::from_utf8_lossy(&place.read(file).unwrap_or_default()).into_owned();
            let line = text.lines().find_map(|line| line.strip_prefix(label));
            line.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0)
        };
        Seen {
            manifest: number(records.manifest, "sequence: "),
            pinned: number(records.pin, "sequence: "),
            ledger: number(records.ledger, "sequence: "),
            pinned_ledger: number(records.pin, "ledger: "),
        }
    }
}
