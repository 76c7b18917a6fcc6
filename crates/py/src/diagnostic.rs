//! Remarks of `tagmac_files` on work that goes on all the same: warnings of the logger `tagmac`.

use std::fmt::Display;

use pyo3::intern;
use pyo3::prelude::*;
use tagmac_files::diagnostic::set_sink;

/// Hands remarks to Python's logging from now on.
pub fn log_remarks() {
    set_sink(|remark: &dyn Display| {
        let remark = remark.to_string();
        Python::attach(|py| {
            let warn = || {
                let logging = py.import(intern!(py, "logging"))?;
                let logger = logging.call_method1(intern!(py, "getLogger"), ("tagmac",))?;
                logger.call_method1(intern!(py, "warning"), ("%s", &remark))
            };
            if let Err(error) = warn() {
                error.write_unraisable(py, None);
            }
        });
    });
}
