//! Compares each of tagmac's engines with all peers of its kind, call by call.
//!
//! An application chooses between kinds: MACs without a nonce, MACs with a nonce, and MACs with one
//! message per key. AEGIS may use one nonce for all messages, so it counts as both of the first
//! two.

use super::call_tables::{BATCHES, SENDER};
use super::machine_tables::{Machine, filled};
use super::markdown::{head, table};
use super::wins::{is_mac, times};
use crate::measure::Figure;
use crate::record::Series;

/// A call: its heading, and the experiments, the cases of ours and of theirs, and the values of x.
struct Call {
    name: &'static str,
    at: Vec<(&'static str, [&'static str; 2], &'static [u64])>,
}

fn calls() -> [Call; 6] {
    let same = |experiment, case, xs| (experiment, [case; 2], xs);
    let short: &[u64] = &[16, 64];
    let checked: &[u64] = &[16, 64, 1536];
    let of_batch = |(_, many, each)| ("batch", [many, each], &[16, 64, 128, 256, 512][..]);
    [
        Call { name: "chained", at: vec![same("short", "chained", short)] },
        Call { name: "new key", at: vec![same("keys", "new key", &[16, 64, 256, 1536])] },
        Call { name: "session", at: vec![same("session", SENDER, &[16, 64, 256, 1024, 1536])] },
        Call {
            name: "verification",
            at: vec![
                same("verify", "key ready, good tag", checked),
                same("verify", "raw key, good tag", checked),
            ],
        },
        Call { name: "a batch", at: BATCHES.map(of_batch).into() },
        Call { name: "cold", at: vec![same("cold", "cold", checked)] },
    ]
}

/// A kind of MAC.
#[derive(PartialEq)]
enum Kind {
    NoNonce,
    Nonce,
    Both,
    OneMessage,
}

fn kind(series: &Series) -> Kind {
    let begins = |names: &[&str]| names.iter().any(|name| series.function.starts_with(name));
    match series.function.as_str() {
        "POLY1305" => Kind::OneMessage,
        _ if begins(&["AEGIS"]) => Kind::Both,
        // GHASH is the hash in GMAC.
        _ if begins(&["UMAC", "POLY1305-AES", "GMAC", "GHASH"]) => Kind::Nonce,
        _ => Kind::NoNonce,
    }
}

fn is_of_kind(ours: &Series, peer: &Series) -> bool {
    if !is_mac(peer) {
        return false;
    }
    let (ours, peer) = (kind(ours), kind(peer));
    ours == peer || peer == Kind::Both && ours != Kind::OneMessage
}

/// Counts, for each of ours, the peers of its kind that are faster, and names the fastest. Empty
/// for a record made before the experiment `session` existed.
pub fn of_machine(machine: &Machine) -> String {
    let Some(sessions) = machine.record("session") else { return String::new() };
    let calls = calls();
    let mut columns: Vec<String> = calls.iter().map(|call| call.name.into()).collect();
    columns.push("above all".into());
    let mut rows = vec![head("comparisons that peers win", columns)];
    let one_message = machine.record("short").into_iter().flat_map(|record| record.best());
    let one_message = one_message.filter(|series| kind(series) == Kind::OneMessage);
    let mut names: Vec<&str> = Vec::new();
    for series in sessions.best().chain(one_message).filter(|series| series.is_ours()) {
        if !names.contains(&&*series.name) {
            names.push(&series.name);
        }
    }
    for name in names {
        let mut row = vec![name.to_string()];
        let mut best: Option<(f64, String)> = None;
        for call in &calls {
            let found = compared(machine, name, call);
            let faster = found.iter().filter(|found| found.ratio > 1.0);
            row.push(match found.len() {
                0 => String::new(),
                all => format!("{} of {all}", faster.clone().count()),
            });
            for Compared { ratio, peer, x } in faster {
                if best.as_ref().is_none_or(|(most, _)| ratio > most) {
                    let text = format!("{peer} ({}, {}, {x} B)", times(*ratio), call.name);
                    best = Some((*ratio, text));
                }
            }
        }
        row.push(best.map_or(String::new(), |(_, text)| text));
        rows.extend(filled(row));
    }
    table(&rows)
}

/// A peer compared with one of ours.
struct Compared<'a> {
    /// The ratio of our cycles to the peer's.
    ratio: f64,
    peer: &'a str,
    x: u64,
}

/// Compares one of ours with all peers of its kind in one call.
fn compared<'a>(machine: &Machine<'a>, name: &str, call: &Call) -> Vec<Compared<'a>> {
    let mut all = Vec::new();
    for (experiment, [our_case, their_case], xs) in &call.at {
        let Some(ours) = machine.best(experiment, name, Some(our_case)) else { continue };
        let record = machine.record(experiment).into_iter().flat_map(|record| record.best());
        let peers: Vec<&Series> =
            record.filter(|series| !series.is_ours() && is_of_kind(ours, series)).collect();
        let of = |case| peers.iter().filter(move |peer| peer.case.as_deref() == Some(case));
        let has_our_case = |peer: &Series| of(our_case).any(|one| one.name == peer.name);
        for peer in of(our_case).chain(of(their_case).filter(|peer| !has_our_case(peer))) {
            for &x in *xs {
                let median = |series: &Series| series.at(x).map(|figure: Figure| figure.median);
                if let Some((ours, theirs)) = median(ours).zip(median(peer)) {
                    all.push(Compared { ratio: ours / theirs.max(1e-9), peer: &peer.name, x });
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn each_of_ours_meets_the_peers_of_its_kind() {
        let ours =
            [("PMAC-AES128", "PMAC-AES128", SENDER, 100.0), ("UMAC-64", "UMAC-64", SENDER, 70.0)];
        let theirs = [
            ("a hash", "SIPHASH-2-4", SENDER, 90.0),
            ("a slow hash", "BLAKE3", SENDER, 200.0),
            ("no MAC", "XXH3-128", SENDER, 1.0),
            ("another UMAC", "UMAC-64", SENDER, 60.0),
            ("an AEGIS", "AEGIS-128L-MAC", SENDER, 50.0),
        ];
        let records = [sample::record("session", &ours, &theirs)];
        let table = of_machine(&Machine::new("some-machine", &records));
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| PMAC-AES128 |  |  | 2 of 3 |  |  |  | an AEGIS (2.0, session, 64 B) |",
                "| UMAC-64 |  |  | 2 of 2 |  |  |  | an AEGIS (1.4, session, 64 B) |",
            ]
        );
        let records = [sample::record("short", &ours, &theirs)];
        assert_eq!(of_machine(&Machine::new("some-machine", &records)), "");
    }
}
