//! Leaves out the figures of replaced code. A record has the day on which it was made; this file
//! has the day of the last change to each call that made most of its figures differ.

use crate::record::Record;

/// A call whose code changed after some records were made.
struct Change {
    experiment: &'static str,
    /// The beginning of its cases' names.
    case: &'static str,
    /// The beginnings of the names of the engines whose code changed; empty if all did.
    engines: &'static [&'static str],
    /// The first day with records of the present code.
    since: &'static str,
    /// The call in words.
    call: &'static str,
}

const CHANGES: [Change; 13] = [
    // Keys are made where they stay.
    Change {
        experiment: "keys",
        case: "new key",
        engines: &[],
        since: "2026-11-30",
        call: "new keys",
    },
    Change {
        experiment: "verify",
        case: "raw key",
        engines: &[],
        since: "2026-11-30",
        call: "new keys",
    },
    Change {
        experiment: "batch",
        case: "a key each",
        engines: &[],
        since: "2026-11-30",
        call: "new keys",
    },
    // One message per lane.
    Change { experiment: "batch", case: "", engines: &[], since: "2026-11-23", call: "batches" },
    // A meter counts with two subtractions, without a lock where it need not, and mostly inline.
    Change { experiment: "session", case: "", engines: &[], since: "2026-11-30", call: "sessions" },
    // Batches of longer messages.
    Change {
        experiment: "batch",
        case: "",
        engines: &["LIGHTMAC-"],
        since: "2026-11-29",
        call: "LightMAC's batches",
    },
    Change {
        experiment: "batch",
        case: "",
        engines: &["POLY1305-AES"],
        since: "2026-11-29",
        call: "Poly1305-AES's batches",
    },
    Change {
        experiment: "batch",
        case: "",
        engines: &["UMAC-"],
        since: "2026-11-29",
        call: "UMAC's batches",
    },
    // Chains of different lengths end together.
    Change {
        experiment: "batch",
        case: "mixed lengths",
        engines: &["CMAC"],
        since: "2026-11-30",
        call: "mixed batches",
    },
    // Short messages among long ones go one by one, and EliMAC's share subkeys.
    Change {
        experiment: "batch",
        case: "mixed lengths",
        engines: &["PMAC-", "LIGHTMAC-", "ELIMAC-", "UMAC-", "POLY1305-AES"],
        since: "2026-12-01",
        call: "mixed batches",
    },
    Change {
        experiment: "batch",
        case: "",
        engines: &["PMAC-PRESENT80"],
        since: "2026-12-01",
        call: "PMAC-PRESENT80's batches",
    },
    // The end of a message in one masked vector, and keys of POLY-128 only for long messages.
    Change {
        experiment: "lengths",
        case: "",
        engines: &["UMAC-"],
        since: "2026-11-30",
        call: "UMAC by length",
    },
    // Few lanes come before the vectors of a rest.
    Change {
        experiment: "lengths",
        case: "",
        engines: &["LIGHTMAC-"],
        since: "2026-11-30",
        call: "LightMAC by length",
    },
];

/// The records of one machine, without figures of replaced code.
pub struct Present {
    pub records: Vec<Record>,
    /// The calls that were left out, in words.
    pub left_out: Vec<&'static str>,
}

impl Present {
    /// Leaves out the figures of replaced code, and other libraries' figures next to them.
    pub fn new(records: &[Record]) -> Present {
        let mut present = Present { records: records.to_vec(), left_out: Vec::new() };
        for Change { experiment, case, engines, since, call } in CHANGES {
            let record = present.records.iter_mut().find(|record| {
                record.experiment == experiment && record.machine.date.as_str() < since
            });
            let Some(record) = record else { continue };
            let before = record.series.len();
            record.series.retain(|series| {
                let is_of_call = series.case.as_deref().unwrap_or_default().starts_with(case);
                let has_changed = |engine: &&str| series.name.starts_with(engine);
                !is_of_call || !engines.is_empty() && !engines.iter().any(has_changed)
            });
            if record.series.len() < before && !present.left_out.contains(&call) {
                present.left_out.push(call);
            }
        }
        present.records.retain(|record| !record.series.is_empty());
        present
    }
}

/// Returns a sentence on the calls whose figures are left out, from each machine's title and calls.
pub fn not_counted<'a>(left_out: impl IntoIterator<Item = (String, &'a [&'a str])>) -> String {
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for (title, calls) in left_out.into_iter().filter(|(_, calls)| !calls.is_empty()) {
        let calls = calls.join(", ");
        match parts.iter_mut().find(|part| part.0 == calls) {
            Some((_, titles)) => titles.push(title),
            None => parts.push((calls, vec![title])),
        }
    }
    if parts.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(calls, titles)| format!("{calls} ({})", titles.join(", ")))
        .collect();
    format!("\nNot counted, because the code is newer than the record: {}.", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn figures_of_earlier_code_are_left_out() {
        let of = |case| [("PMAC-AES128", "PMAC-AES128", case, 10.0)];
        let mut keys = sample::record("keys", &of("new key"), &of("key ready"));
        let mut batch = sample::record("batch", &of("in one call"), &of("one by one"));
        let short = sample::record("short", &of("chained"), &[]);
        let of_day = |record: &mut Record, day: &str| record.machine.date = day.into();
        of_day(&mut keys, "2026-11-22");
        of_day(&mut batch, "2026-11-22");
        let present = Present::new(&[keys.clone(), batch.clone(), short.clone()]);
        assert_eq!(present.left_out, ["new keys", "batches"]);
        let left: Vec<_> = present.records.iter().map(|record| &*record.experiment).collect();
        assert_eq!(left, ["keys", "short"]);
        assert_eq!(present.records[0].series.len(), 1, "those with the key ready");
        of_day(&mut keys, "2026-11-30");
        let present = Present::new(&[keys.clone()]);
        assert!(present.records == [keys] && present.left_out.is_empty());
        // Only some engines' code changed.
        let of = |name| (name, name, "in one call", 10.0);
        let all = [of("UMAC-64"), of("PMAC-AES128")];
        let mut batch = sample::record("batch", &all, &[]);
        of_day(&mut batch, "2026-11-28");
        let present = Present::new(&[batch]);
        assert_eq!(present.left_out, ["UMAC's batches"]);
        let left: Vec<_> = present.records[0].series.iter().map(|series| &*series.name).collect();
        assert_eq!(left, ["PMAC-AES128"]);
    }

    #[test]
    fn machines_that_lack_the_same_calls_share_a_part_of_the_sentence() {
        fn of<'a>(title: &str, calls: &'a [&'a str]) -> (String, &'a [&'a str]) {
            (title.to_string(), calls)
        }
        let (few, more) = (&["new keys"], &["new keys", "batches"]);
        assert_eq!(not_counted([of("first", &[])]), "");
        assert_eq!(
            not_counted([of("first", few), of("second", more), of("third", few)]),
            "\nNot counted, because the code is newer than the record: new keys (first, third); \
             new keys, batches (second)."
        );
    }
}
