//! What the MACs cost, beside what the machine could do at most.
//!
//! `cargo run --release -p bench --features peers -- quick` prints, for each MAC and rung, core cycles per byte of
//! the call that applications make, key ready, message in cache. Short messages are timed twice:
//! `chained`, where each begins with the tag before it, so that the whole latency shows, and back
//! to back, where they are independent. Every tag is checked against the portable rung's.

mod ceiling;
mod clock;
mod peers;
mod quick;

fn main() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("quick") => quick::run(&arguments.collect::<Vec<_>>()),
        _ => {
            eprintln!("usage: bench quick [LEVEL|MAC...]");
            std::process::exit(2);
        }
    }
}
