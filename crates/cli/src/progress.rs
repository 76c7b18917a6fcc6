//! The progress of a large file on standard error, with rate and time to go.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use crate::args::When;
use crate::error::Shown;

/// A file is done before a bar for less could be read.
const LARGE: u64 = 64 << 20;
const HERTZ: u8 = 10;
const PAUSE: Duration = Duration::from_secs(1);

/// Whether bars are shown, and how.
#[derive(Clone, Copy)]
pub struct Progress {
    shown: bool,
}

/// The bar of one file. It goes away when dropped.
pub struct Bar(Option<ProgressBar>);

impl Progress {
    /// As the command line says.
    pub fn new(when: When) -> Progress {
        Progress {
            shown: match when {
                When::Auto => io::stderr().is_terminal(),
                When::Always => true,
                When::Never => false,
            },
        }
    }

    /// A bar for a file; without a size there is no time to go.
    pub fn start(self, path: &Path, size: Option<u64>) -> Bar {
        if !self.shown || size.is_some_and(|size| size < LARGE) {
            return Bar(None);
        }
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(HERTZ)
        } else {
            ProgressDrawTarget::term_like_with_hz(Box::<Plain>::default(), HERTZ)
        };
        let template = match size {
            Some(_) => "{msg} {bar:24} {bytes}/{total_bytes} {bytes_per_sec}, {eta} to go",
            None => "{msg} {bytes} {bytes_per_sec}",
        };
        let style = ProgressStyle::with_template(template).expect("a template of ours");
        let bar = ProgressBar::with_draw_target(size, target).with_style(style);
        bar.set_message(Shown::name(path).to_string());
        Bar(Some(bar))
    }
}

impl Bar {
    /// So many more bytes are done.
    pub fn add(&self, bytes: usize) {
        if let Some(bar) = &self.0 {
            bar.inc(bytes as u64);
        }
    }
}

impl Bar {
    /// So many bytes were done before: they count for the place, not for the rate.
    pub fn skip(&self, bytes: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(bytes);
            bar.reset_eta();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
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
