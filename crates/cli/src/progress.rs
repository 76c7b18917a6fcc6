//! Progress on standard error: a bar with the rate and the remaining time, or lines of JSON for
//! programs.

use std::env;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{
    HumanBytes, HumanDuration, HumanFloatCount, ProgressBar, ProgressDrawTarget, ProgressState,
    ProgressStyle, TermLike,
};
use serde::Serialize;
use tagmac_files::progress::{self, Total};
use tagmac_files::rate::RateLimit;

use crate::diagnostic::set_bar;
use crate::json;
use crate::stdio::{self, Stderr};

/// Below this size, and below MANY files, the work ends before a bar could be read.
const LARGE: u64 = 64 << 20;
const MANY: u64 = 10_000;
/// If files are smaller on average, the remaining time depends on their number, not on their bytes.
const SMALL: u64 = 4096;
const HERTZ: u8 = 10;
/// Time between two lines if standard error is not a terminal.
const PAUSE: Duration = Duration::from_secs(1);
/// Columns of a line if standard error is not a terminal, or does not report its columns.
const PLAIN_COLUMNS: usize = 80;
/// Columns of the bar itself.
const BAR_COLUMNS: usize = 24;
/// Time between two lines of JSON.
const PERIOD: Duration = Duration::from_millis(500);

/// When to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// If standard error is a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
    /// Always, as lines of JSON.
    Json,
}

/// The kind of progress to show, and the limit on the rate of reading. Readers report each piece, and
/// then wait until the rate allows it.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    shown: Shown,
    /// Bytes per second.
    rate: Option<u64>,
}

/// The kind of progress to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// No progress.
    Silent,
    /// A bar, if there is much to do.
    Bar,
    /// Lines of JSON.
    Json,
}

impl Progress {
    /// Returns the way for the options, which may depend on standard error.
    /// `rate` limits the bytes per second.
    pub fn new(when: When, rate: Option<u64>) -> Progress {
        let shown = match when {
            When::Auto if io::stderr().is_terminal() => Shown::Bar,
            When::Always => Shown::Bar,
            When::Auto | When::Never => Shown::Silent,
            When::Json => Shown::Json,
        };
        Progress { shown, rate }
    }

    /// Returns whether the caller should compute totals.
    pub fn is_shown(self) -> bool {
        self.shown != Shown::Silent
    }

    /// Starts a phase. `phase` is a word for the work, such as `tagging`. Phases do not overlap.
    pub fn start(self, phase: &'static str, total: Total) -> Bar {
        let counts = Arc::new(Counts::default());
        let little = total.bytes.is_some_and(|bytes| bytes < LARGE)
            && total.files.is_some_and(|files| files < MANY);
        let way = match self.shown {
            Shown::Bar if !little => Way::Bar(draw(phase, total, &counts)),
            Shown::Json => Way::Json { phase, total, due: Mutex::default() },
            _ => Way::Silent,
        };
        Bar { counts, start: Instant::now(), way, limit: self.rate.map(RateLimit::new) }
    }
}

/// The progress of a phase. It ends when dropped.
pub struct Bar {
    counts: Arc<Counts>,
    start: Instant,
    way: Way,
    limit: Option<RateLimit>,
}

enum Way {
    Silent,
    Bar(Drawn),
    Json {
        phase: &'static str,
        total: Total,
        /// Time of the next line, in milliseconds from the start. Locked while a line is written,
        /// so that no line has older figures than the previous one.
        due: Mutex<u64>,
    },
}

/// A bar, and whether it counts files.
struct Drawn {
    bar: ProgressBar,
    by_files: bool,
}

#[derive(Default)]
struct Counts {
    files: AtomicU64,
    bytes: AtomicU64,
}

/// A line of `--progress json`.
#[derive(Serialize)]
struct Line {
    phase: &'static str,
    files: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_files: Option<u64>,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_bytes: Option<u64>,
    seconds: f64,
}

impl progress::Phases for Progress {
    fn start(&self, phase: &'static str, total: Total) -> Box<dyn progress::Progress> {
        Box::new(Progress::start(*self, phase, total))
    }
}

impl progress::Progress for Bar {
    fn add(&self, bytes: usize) {
        self.count(&self.counts.bytes, bytes as u64, false);
        if let Some(limit) = &self.limit {
            limit.wait(bytes);
        }
    }

    fn skip(&self, bytes: u64) {
        self.count(&self.counts.bytes, bytes, false);
        if let Way::Bar(drawn) = &self.way {
            drawn.bar.reset_eta();
        }
    }

    fn file(&self) {
        self.count(&self.counts.files, 1, true);
    }
}

impl Bar {
    fn count(&self, what: &AtomicU64, more: u64, files: bool) {
        what.fetch_add(more, Ordering::Relaxed);
        match &self.way {
            Way::Bar(drawn) if drawn.by_files == files => drawn.bar.inc(more),
            Way::Json { due, .. } => {
                let now = self.start.elapsed().as_millis() as u64;
                // Only one thread writes the line; the others do not wait.
                if let Ok(mut due) = due.try_lock()
                    && now >= *due
                {
                    *due = now + PERIOD.as_millis() as u64;
                    self.line();
                }
            }
            Way::Bar(_) | Way::Silent => {}
        }
    }

    fn line(&self) {
        let Way::Json { phase, total, .. } = self.way else { return };
        let [files, bytes] =
            [&self.counts.files, &self.counts.bytes].map(|count| count.load(Ordering::Relaxed));
        let seconds = self.start.elapsed().as_millis() as f64 / 1000.0;
        let Total { files: total_files, bytes: total_bytes } = total;
        let line = Line { phase, files, total_files, bytes, total_bytes, seconds };
        // Progress is optional, so an error is ignored.
        let _ = Stderr.write_all(&json::line(&line));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        match &self.way {
            Way::Bar(drawn) => {
                set_bar(None);
                drawn.bar.finish_and_clear();
            }
            // Writes the totals, however short the phase was.
            Way::Json { .. } => self.line(),
            Way::Silent => {}
        }
    }
}

fn draw(phase: &'static str, total: Total, counts: &Arc<Counts>) -> Drawn {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(HERTZ)
    } else {
        ProgressDrawTarget::term_like_with_hz(Box::<Plain>::default(), HERTZ)
    };
    let Total { files, bytes } = total;
    let by_files = files.zip(bytes).is_some_and(|(files, bytes)| bytes / SMALL < files);
    let length = if by_files { files } else { bytes };
    let (counts, look) = (counts.clone(), Look::new());
    let line = move |state: &ProgressState, out: &mut dyn fmt::Write| {
        let done = counts.files.load(Ordering::Relaxed);
        let (position, rate) = (state.pos(), state.per_sec());
        let numbers = Numbers {
            phase,
            files: files.map_or(format!("{done}"), |files| format!("{done}/{files}")),
            bytes: match (by_files, length) {
                (true, _) => None,
                (false, Some(all)) => Some(format!("{}/{}", HumanBytes(position), HumanBytes(all))),
                (false, None) => Some(HumanBytes(position).to_string()),
            },
            rate: match by_files {
                true => format!("{}/s", HumanFloatCount(rate)),
                false => format!("{}/s", HumanBytes(rate as u64)),
            },
            rest: length.map(|_| (state.fraction(), format!("{:#}", HumanDuration(state.eta())))),
        };
        let _ = out.write_str(&look.line(&numbers, columns()));
    };
    let style = ProgressStyle::with_template("{line}").expect("a template of ours");
    let bar =
        ProgressBar::with_draw_target(length, target).with_style(style.with_key("line", line));
    set_bar(Some(bar.clone()));
    Drawn { bar, by_files }
}

/// Returns the columns of the terminal on standard error.
fn columns() -> usize {
    stdio::columns().map_or(PLAIN_COLUMNS, usize::from)
}

/// The characters of a bar.
#[derive(Clone, Copy)]
struct Look {
    done: &'static str,
    rest: &'static str,
}

/// The texts of a line.
struct Numbers {
    phase: &'static str,
    /// Number of finished files, and the total if it is known.
    files: String,
    /// The same for bytes, if the bar counts bytes.
    bytes: Option<String>,
    rate: String,
    /// The finished share and the remaining time, if the total is known.
    rest: Option<(f32, String)>,
}

impl Look {
    /// Returns the characters that terminals of the locale can show.
    fn new() -> Look {
        let named = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(env::var_os);
        let locale =
            named.filter(|value| !value.is_empty()).map(|value| value.into_encoded_bytes());
        Look::of(&locale.into_iter().next().unwrap_or_default())
    }

    fn of(locale: &[u8]) -> Look {
        let name = locale.to_ascii_lowercase();
        let is_utf8 = [&b"utf-8"[..], b"utf8"]
            .iter()
            .any(|end| name.split(|byte| b".@".contains(byte)).any(|part| part == *end));
        if is_utf8 {
            Look { done: "\u{2588}", rest: "\u{2591}" }
        } else {
            Look { done: "#", rest: "." }
        }
    }

    /// Returns as much of a line as fits in `columns` columns.
    fn line(&self, numbers: &Numbers, columns: usize) -> String {
        let Numbers { phase, files, bytes, rate, rest } = numbers;
        let bytes = bytes.as_ref().map_or(String::new(), |bytes| format!("{bytes} "));
        let Some((share, eta)) = rest else {
            return fitting(
                [format!("{phase} {files} {bytes}{rate}"), format!("{phase} {files}")],
                columns,
            );
        };
        let filled = (share * BAR_COLUMNS as f32) as usize;
        let bar = self.done.repeat(filled) + &self.rest.repeat(BAR_COLUMNS.saturating_sub(filled));
        let percent = (share * 100.0) as u32;
        let lines = [
            format!("{phase} {files} {bar} {bytes}{rate}, {eta} to go"),
            format!("{phase} {files} {bytes}{rate}, {eta} to go"),
            format!("{phase} {percent}%, {eta} to go"),
            format!("{phase} {percent}%"),
            format!("{percent}%"),
        ];
        fitting(lines, columns)
    }
}

/// Returns the first line that leaves the last column free: some terminals wrap after it.
fn fitting<const N: usize>(lines: [String; N], columns: usize) -> String {
    lines.into_iter().find(|line| line.chars().count() < columns).unwrap_or_default()
}

/// Standard error that is not a terminal, for `--progress always`. It gets a line every [`PAUSE`].
#[derive(Debug, Default)]
struct Plain {
    last: Mutex<Option<Instant>>,
}

impl Plain {
    fn put(&self, text: &str) -> io::Result<()> {
        let text = text.trim_end();
        let mut last = self.last.lock().expect("no writer panics");
        if text.is_empty() || last.is_some_and(|last| last.elapsed() < PAUSE) {
            return Ok(());
        }
        *last = Some(Instant::now());
        Stderr.write_all(format!("{text}\n").as_bytes())
    }
}

impl TermLike for Plain {
    fn width(&self) -> u16 {
        PLAIN_COLUMNS as u16
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.put(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.put(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_what_fits() {
        let look = Look::of(b"C");
        let mut numbers = Numbers {
            phase: "tagging",
            files: "3/9".into(),
            bytes: Some("1 MiB/4 MiB".into()),
            rate: "9 MiB/s".into(),
            rest: Some((0.25, "7s".into())),
        };
        let whole = "tagging 3/9 ######.................. 1 MiB/4 MiB 9 MiB/s, 7s to go";
        for (columns, expected) in [
            (200, whole),
            (67, whole),
            (66, "tagging 3/9 1 MiB/4 MiB 9 MiB/s, 7s to go"),
            (42, "tagging 3/9 1 MiB/4 MiB 9 MiB/s, 7s to go"),
            (41, "tagging 25%, 7s to go"),
            (20, "tagging 25%"),
            (11, "25%"),
            (3, ""),
            (1, ""),
        ] {
            assert_eq!(look.line(&numbers, columns), expected, "{columns}");
        }
        (numbers.bytes, numbers.rate) = (None, "9/s".into());
        assert!(look.line(&numbers, 80).ends_with(".. 9/s, 7s to go"));
        numbers.rest = None;
        assert_eq!(look.line(&numbers, 80), "tagging 3/9 9/s");
        assert_eq!(look.line(&numbers, 12), "tagging 3/9");
        numbers.rest = Some((1.0, "0s".into()));
        assert!(look.line(&numbers, 80).contains(&"#".repeat(BAR_COLUMNS)));
    }

    #[test]
    fn blocks_are_for_utf8() {
        for (locale, blocks) in [
            ("", false),
            ("C", false),
            ("POSIX", false),
            ("de_DE", false),
            ("de_DE.ISO-8859-15@euro", false),
            ("C.UTF-8", true),
            ("en_US.utf8", true),
            ("UTF-8", true),
        ] {
            assert_eq!(Look::of(locale.as_bytes()).done == "\u{2588}", blocks, "{locale}");
        }
    }
}
