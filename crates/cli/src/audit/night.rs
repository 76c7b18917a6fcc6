//! Messages on the part that one audit reads.

use tagmac_files::day::Day;
use tagmac_files::night::{Night, NightOptions, Proof};
use tagmac_files::proof::CHANGED;
use tagmac_files::selection::Request;

use crate::args::NightArgs;
use crate::audit::report::plural;
use crate::diagnostic::diagnostic;

/// Returns the options of a command line.
pub fn options(args: &NightArgs) -> NightOptions<'_> {
    let request = args.subset.map(|(number, of)| Request::Subset { number, of });
    let request = request
        .or(args.sample.map(Request::Sample))
        .or(args.sample_leaves.map(Request::SampleLeaves))
        .or(args.max_bytes.map(Request::MaxBytes))
        .unwrap_or(Request::All);
    NightOptions {
        request,
        quick: args.quick,
        oldest_first: args.oldest_first,
        ledger: args.ledger.as_deref(),
        pin: args.pin.as_deref(),
        expect: args.expect.as_deref(),
    }
}

/// Reports what was read and what that proves.
pub fn tell(args: &NightArgs, night: &Night<'_>, proof: &Proof, is_bucket: bool) {
    let Proof { files, read, bytes, leaves, missed, oldest, .. } = *proof;
    if let Some(selection) = &night.selection {
        let bytes = plural(bytes, "byte", "bytes");
        match leaves {
            Some((read, of)) => diagnostic(format_args!(
                "read {read} of {} ({bytes}), {selection}: damage to {CHANGED} leaves was missed \
                 with probability {missed:.2}",
                plural(of, "leaf", "leaves"),
            )),
            None => diagnostic(format_args!(
                "read {read} of {} ({bytes}), {selection}: a change of {CHANGED} files was missed \
                 with probability {missed:.2}",
                plural(files, "file", "files"),
            )),
        }
        let too_large = selection.too_large.entries;
        if too_large > 0 {
            diagnostic(format_args!(
                "{}: not read, as they exceed --max-bytes",
                plural(too_large, "file", "files")
            ));
        }
    }
    if args.quick {
        diagnostic(match is_bucket {
            true => "read no object: a change that keeps size and ETag is not seen",
            false => "read no file: a change that keeps size and times is not seen",
        });
    }
    if let (true, Some(oldest)) = (args.ledger.is_some(), oldest) {
        let days = i64::from(Day::today().days()) - i64::from(oldest.days());
        let days = plural(days.max(0) as u64, "day", "days");
        diagnostic(format_args!("each file was last read on {oldest} or later: {days} ago"));
    }
}
