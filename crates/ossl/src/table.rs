//! The tables of functions that OpenSSL uses, and the functions of the provider itself.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::LazyLock;

use tagmac_border::guard;

use crate::core::{
    Algorithm, Constant, Core, Dispatch, Item, OP_KEYMGMT, OP_MAC, OP_SIGNATURE, REASONS, dispatch,
    id,
};
use crate::names::{ENTRIES, Entry, ROW};
use crate::param::{self, Param, each_mut};
use crate::{keymgmt, mac, signature};

/// The functions that each entry needs separately, because OpenSSL does not pass the algorithm:
/// `newctx` and `get_params` of MACs, `new` and `gen_init` of keys.
type Own = [*const c_void; 4];

macro_rules! row {
    ($high:literal) => {
        row!($high: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($high:literal: $($low:literal)*) => {
        [$([
            mac::newctx::<$high, $low> as *const c_void,
            mac::get_params::<$high, $low> as *const c_void,
            keymgmt::new::<$high, $low> as *const c_void,
            keymgmt::gen_init::<$high, $low> as *const c_void,
        ]),*]
    };
}

/// Functions for up to 128 entries. A test checks that this is enough.
static PLACES: Constant<[[Own; ROW]; 8]> =
    Constant([row!(0), row!(1), row!(2), row!(3), row!(4), row!(5), row!(6), row!(7)]);

/// Returns a C string that is never freed.
fn text(text: &str) -> *const c_char {
    CString::new(text).expect("a name has no NUL").into_raw()
}

fn algorithm(entry: &Entry, functions: &'static [Dispatch]) -> Algorithm {
    Algorithm {
        names: text(&entry.names.join(":")),
        properties: c"provider=tagmac".as_ptr(),
        functions: functions.as_ptr(),
        description: text(&match entry.only() {
            Some(algorithm) => format!("tagmac {algorithm}"),
            None => format!("tagmac {}, selected by the parameter cipher", entry.names[0]),
        }),
    }
}

/// Builds the table of all entries; `functions` returns the functions of one.
fn algorithms(functions: fn(&Own) -> &'static [Dispatch]) -> Constant<Vec<Algorithm>> {
    let null = std::ptr::null();
    let end =
        Algorithm { names: null, properties: null, functions: std::ptr::null(), description: null };
    let all = ENTRIES.iter().zip(PLACES.0.as_flattened());
    Constant(all.map(|(entry, own)| algorithm(entry, functions(own))).chain([end]).collect())
}

static MACS: LazyLock<Constant<Vec<Algorithm>>> =
    LazyLock::new(|| algorithms(|own| mac::functions(own[0], own[1])));
static KEYS: LazyLock<Constant<Vec<Algorithm>>> =
    LazyLock::new(|| algorithms(|own| keymgmt::functions(own[2], own[3])));
static SIGNATURES: LazyLock<Constant<Vec<Algorithm>>> =
    LazyLock::new(|| algorithms(|_| signature::functions()));

unsafe extern "C" fn query(
    _provider: *mut c_void,
    operation: c_int,
    no_cache: *mut c_int,
) -> *const Algorithm {
    let found = guard(|| {
        if !no_cache.is_null() {
            // SAFETY: OpenSSL passes its output.
            unsafe { *no_cache = 0 };
        }
        Ok(match operation {
            OP_MAC => MACS.0.as_ptr(),
            OP_KEYMGMT => KEYS.0.as_ptr(),
            OP_SIGNATURE => SIGNATURES.0.as_ptr(),
            _ => std::ptr::null(),
        })
    });
    found.unwrap_or(std::ptr::null())
}

unsafe extern "C" fn teardown(core: *mut c_void) {
    // SAFETY: the box of `OSSL_provider_init`, which OpenSSL does not use again.
    drop(unsafe { Box::from_raw(core.cast::<Core>()) });
}

extern "C" fn gettable_of_provider(_provider: *mut c_void) -> *const Param {
    param::OF_PROVIDER.0.as_ptr()
}

extern "C" fn reasons(_provider: *mut c_void) -> *const Item {
    REASONS.0.as_ptr()
}

unsafe extern "C" fn params_of_provider(_provider: *mut c_void, params: *mut Param) -> c_int {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no NUL"),
        };
    let done = guard(|| {
        // SAFETY: OpenSSL passes its list.
        for param in unsafe { each_mut(params) } {
            match param.name() {
                "name" => param.set_text(c"tagmac: parallel MACs")?,
                "version" | "buildinfo" => param.set_text(VERSION)?,
                "status" => param.set_number(1)?,
                _ => {}
            }
        }
        Ok(())
    });
    done.is_ok().into()
}

/// Returns the provider's own functions.
pub fn provider() -> *const Dispatch {
    static PROVIDER: LazyLock<Constant<&'static [Dispatch]>> = LazyLock::new(|| {
        Constant(dispatch(&[
            (id::PROVIDER_TEARDOWN, teardown as *const c_void),
            (id::PROVIDER_GETTABLE_PARAMS, gettable_of_provider as *const c_void),
            (id::PROVIDER_GET_PARAMS, params_of_provider as *const c_void),
            (id::PROVIDER_QUERY_OPERATION, query as *const c_void),
            (id::PROVIDER_GET_REASON_STRINGS, reasons as *const c_void),
        ]))
    });
    PROVIDER.0.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_places_for_all() {
        assert!(ENTRIES.len() <= PLACES.0.as_flattened().len());
    }
}
