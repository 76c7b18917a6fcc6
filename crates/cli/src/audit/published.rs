//! The files of `--report` and `--metrics`. Each appears when it is complete, also after an audit
//! that failed, so that an old one does not pass for the last audit.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tagmac_files::Error;
use tagmac_files::atomic::AtomicFile;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;
use tagmac_files::exclusion::Exclusion;
use tagmac_files::overwrite::Overwrite;
use tagmac_files::sys;

use crate::args::AuditArgs;
use crate::audit::facts::Facts;
use crate::audit::{html, metrics};
use crate::say;

/// The files that an audit writes at its end.
pub struct Published {
    report: Option<Draft>,
    metrics: Option<Draft>,
}

/// A file that has no name yet.
struct Draft {
    option: &'static str,
    path: PathBuf,
    file: AtomicFile,
}

impl Published {
    /// Creates the files that the command line names. Each replaces only an older one of its kind.
    pub fn open(args: &AuditArgs) -> Result<Published, Error> {
        let report = Overwrite::Kind("a report of 'tagmac audit'", |file| {
            begins(file, html::MAGIC.as_bytes())
        });
        let metrics = Overwrite::Kind("a file of 'tagmac audit --metrics'", |file| {
            begins(file, metrics::MAGIC.as_bytes())
        });
        Ok(Published {
            report: draft("--report", args.report.as_deref(), report)?,
            metrics: draft("--metrics", args.metrics.as_deref(), metrics)?,
        })
    }

    /// Returns the files that do not belong to the tree.
    pub fn exclusions(&self) -> io::Result<Vec<Exclusion>> {
        let drafts = [&self.report, &self.metrics].into_iter().flatten();
        let names = drafts.flat_map(|draft| [Some(&*draft.path), draft.file.draft()]);
        names.flatten().map(Exclusion::new).collect()
    }

    /// Writes the files. `failure` is the error that ended the audit.
    pub fn finish(self, facts: &Facts, failure: Option<&Error>) -> Result<(), Error> {
        if let Some(draft) = self.report {
            let failure = failure.map(say::line);
            draft.finish(&html::page(facts, failure.as_deref()), None)?;
        }
        match self.metrics {
            // Its reader is another user.
            Some(draft) => draft.finish(&metrics::text(facts), Some(0o644)),
            None => Ok(()),
        }
    }
}

impl Draft {
    fn finish(mut self, text: &str, mode: Option<u32>) -> Result<(), Error> {
        let write = || {
            self.file.write_all(text.as_bytes())?;
            if let Some(mode) = mode {
                sys::set_mode(self.file.file(), mode)?;
            }
            self.file.finish()
        };
        let (option, path) = (self.option, &self.path);
        write().map(drop).map_err(|error| failed(option, path, &error))
    }
}

fn draft(
    option: &'static str,
    path: Option<&Path>,
    over: Overwrite,
) -> Result<Option<Draft>, Error> {
    let Some(path) = path else { return Ok(None) };
    let file = AtomicFile::new(path, 0o666, over);
    let file = file.map_err(|error| failed(option, path, &error))?;
    Ok(Some(Draft { option, path: path.to_path_buf(), file }))
}

fn begins(file: File, magic: &[u8]) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(magic.len() as u64).read_to_end(&mut start)?;
    Ok(start == magic)
}

fn failed(option: &str, path: &Path, error: &io::Error) -> Error {
    Error::io(format_args!("{option}: {}: {}", Escaped::name(path), io_reason(error)))
}
