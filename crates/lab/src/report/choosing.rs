//! The computed and measured parts of the page on choosing a MAC.

use crate::choice::{ACCEPTED, CHOICES, LENGTHS, PACKET, a_day, count, duration};
use crate::speeds::{Call, Speeds};
use crate::tables::{Cell, Grid};

/// Other records call the library's HMAC so: it is RustCrypto's.
const RUSTCRYPTO: &str = "RustCrypto HMAC-SHA256";

/// A mark of the page.
pub fn part(mark: &str, speeds: &[Speeds]) -> Option<String> {
    Some(match mark {
        "table" => Grid::fullest(speeds, table).markdown(),
        "limits" => limits(),
        "keys" => keys(),
        "day" => count(a_day(PACKET) as u128),
        _ => return None,
    })
}

/// The ten rows.
fn table(speeds: &Speeds) -> Grid {
    let mut head =
        ["MAC", "block, bits", "nonce", "after a repeat", "one key at 10 Gb/s, counter nonces"]
            .to_vec();
    let costs = ["64 B, cycles", "1.5 KiB, cycles", "16 KiB, cycles"];
    head.extend(costs);
    head.push("use it for");
    let mut grid = Grid::new(head);
    for choice in &CHOICES {
        let nonce = if choice.algorithm().takes_nonce() { "**yes**" } else { "no" };
        let repeats = if nonce == "no" { "-" } else { choice.nonce };
        let block = match choice.block {
            0 => "no cipher".into(),
            bits => bits.to_string(),
        };
        let life = choice.seconds(PACKET).map_or("no bound in the library".into(), duration);
        let mut cells: Vec<_> =
            [block, nonce.into(), repeats.into(), life].map(Cell::Ours).to_vec();
        for bytes in LENGTHS {
            let cycles = |name| speeds.cycles(Call::Ready, name, bytes);
            cells.push(
                match cycles(choice.name)
                    .or_else(|| cycles(RUSTCRYPTO).filter(|_| choice.name == "HMAC-SHA256"))
                {
                    Some(cycles) => Cell::Ours(format!("{cycles:.0}")),
                    None => Cell::Unmeasured("bench sizes"),
                },
            );
        }
        cells.push(Cell::Ours(choice.advice.into()));
        grid.row(&format!("`{}`", choice.name), cells);
    }
    grid.note(format!(
        "Costs are core cycles per call, with the key ready and calls that overlap in the CPU; fewer are better. For \
         the latency of single calls the order differs ([PERFORMANCE.md](../PERFORMANCE.md#how-to-read-the-tables)). \
         Measured on {}.",
        speeds.about()
    ));
    grid
}

/// Messages and failed attempts.
fn limits() -> String {
    let mut grid = Grid::new([
        "MAC",
        "messages of 64 B",
        "of 1.5 KiB",
        "of 16 KiB",
        "failed attempts (1.5 KiB)",
    ]);
    for choice in CHOICES.iter().filter(|choice| choice.messages(PACKET).is_some()) {
        let messages = LENGTHS.map(|bytes| choice.messages(bytes));
        let all = messages.into_iter().chain([choice.guesses(PACKET)]);
        grid.row(&format!("`{}`", choice.name), all.map(cell).collect());
        let Some(drawn) = choice.drawn() else { continue };
        let messages = LENGTHS.map(|bytes| drawn.messages(bytes, ACCEPTED).ok());
        let all = messages.into_iter().chain([drawn.guesses(PACKET, ACCEPTED).ok()]);
        grid.row(&format!("`{}`, random nonces", choice.name), all.map(cell).collect());
    }
    grid.markdown()
}

fn cell(number: Option<u128>) -> Cell {
    Cell::Ours(number.map_or("-".into(), count))
}

/// Messages of each of several keys.
fn keys() -> String {
    let mut grid = Grid::new(["MAC", "one key", "each of 2^10", "each of 2^20", "each of 2^30"]);
    for choice in CHOICES.iter().filter(|choice| choice.messages(PACKET).is_some()) {
        let messages = [0, 10, 20, 30].map(|log2| choice.messages_of_keys(PACKET, 1 << log2));
        grid.row(&format!("`{}`", choice.name), messages.map(cell).to_vec());
    }
    grid.markdown()
}
