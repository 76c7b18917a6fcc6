//! Sends the warnings of `tagmac_files` about work that continues to the Python logger `tagmac`.

use std::fmt::Display;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;
use tagmac_files::diagnostic::set_sink;

/// From now on, logs the library's warnings through Python's logging.
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
                // Python may raise KeyboardInterrupt inside the logger too. Raise the signal again,
                // so that the work that logs the warning notices it and stops.
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
