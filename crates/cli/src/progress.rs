//! The progress of a piece of work on standard error: a bar with rate and time to go, or lines of
//! JSON for programs.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use serde::Serialize;
use tagmac_files::progress::{self, Total};

use crate::diagnostic::set_bar;
use crate::json;

/// Less is done before a bar could be read, if there are no more files than the next.
const LARGE: u64 = 64 << 20;
const MANY: u64 = 10_000;
/// Of files that are smaller on average, their number tells the time to go, not their bytes.
const SMALL: u64 = 4096;
const HERTZ: u8 = 10;
/// Between two lines where there is no terminal.
const PAUSE: Duration = Duration::from_secs(1);
/// Between two lines of JSON.
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

/// Whether progress is shown, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not at all.
    Silent,
    /// As a bar, if there is much to do.
    Bar,
    /// As lines of JSON.
    Json,
}

impl Progress {
    /// As the command line says.
    pub fn new(when: When) -> Progress {
        match when {
            When::Auto if io::stderr().is_terminal() => Progress::Bar,
            When::Always => Progress::Bar,
            When::Auto | When::Never => Progress::Silent,
            When::Json => Progress::Json,
        }
    }

    /// Whether work is worth counting beforehand.
    pub fn is_shown(self) -> bool {
        self != Progress::Silent
    }

    /// Starts a phase, a word for what is done: `tagging`. There is one at a time.
    pub fn start(self, phase: &'static str, total: Total) -> Bar {
        let counts = Arc::new(Counts::default());
        let little = total.bytes.is_some_and(|bytes| bytes < LARGE)
            && total.files.is_some_and(|files| files < MANY);
        let way = match self {
            Progress::Bar if !little => Way::Bar(draw(phase, total, &counts)),
            Progress::Json => Way::Json { phase, total, due: AtomicU64::new(0) },
            _ => Way::Silent,
        };
        Bar { counts, start: Instant::now(), way }
    }
}

/// The progress of a phase. It ends when dropped.
pub struct Bar {
    counts: Arc<Counts>,
    start: Instant,
    way: Way,
}

enum Way {
    Silent,
    Bar(Drawn),
    Json {
        phase: &'static str,
        total: Total,
        /// When the next line is due, in milliseconds from the start.
        due: AtomicU64,
    },
}

/// A bar, and whether it goes by files.
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
                let (was, next) = (due.load(Ordering::Relaxed), now + PERIOD.as_millis() as u64);
                // Of several threads one writes.
                let exchange =
                    |was| due.compare_exchange(was, next, Ordering::Relaxed, Ordering::Relaxed);
                if now >= was && exchange(was).is_ok() {
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
        // If standard error takes nothing, nobody waits for it.
        let _ = io::stderr().write_all(&json::line(&line));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        match &self.way {
            Way::Bar(drawn) => {
                set_bar(None);
                drawn.bar.finish_and_clear();
            }
            // What was done in all, however short it was.
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
    let template = match (by_files, length) {
        (true, _) => "{prefix} {files} {bar:24} {per_sec}, {eta} to go",
        (false, Some(_)) => {
            "{prefix} {files} {bar:24} {bytes}/{total_bytes} {bytes_per_sec}, {eta} to go"
        }
        (false, None) => "{prefix} {files} {bytes} {bytes_per_sec}",
    };
    let counts = counts.clone();
    let show_files = move |_: &ProgressState, out: &mut dyn fmt::Write| {
        let done = counts.files.load(Ordering::Relaxed);
        let _ = match files {
            Some(files) => write!(out, "{done}/{files}"),
            None => write!(out, "{done}"),
        };
    };
    let style = ProgressStyle::with_template(template).expect("a template of ours");
    let bar = ProgressBar::with_draw_target(length, target)
        .with_style(style.with_key("files", show_files))
        .with_prefix(phase);
    set_bar(Some(bar.clone()));
    Drawn { bar, by_files }
}

/// Standard error that is no terminal, for `--progress always`: a line from time to time.
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
        io::stderr().write_all(format!("{text}\n").as_bytes())
    }
}

impl TermLike for Plain {
    fn width(&self) -> u16 {
        80
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
