//! Remarks of `tagmac_files` on work that goes on all the same: warnings of the logger `tagmac`.

use std::fmt::Display;

use pyo3::exceptions::PyKeyboardInterrupt;
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
            match warn() {
                Ok(_) => {}
                // Python hears of Ctrl-C in any of its own code, so in the logger's too. The work
                // that makes the remark looks after signals and ends.
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                    let again = py.import(intern!(py, "_thread"));
                    let again = again.and_then(|thread| thread.call_method0("interrupt_main"));
                    if let Err(error) = again {
                        error.write_unraisable(py, None);
                    }
                }
                Err(error) => error.write_unraisable(py, None),
            }
        });
    });
}
