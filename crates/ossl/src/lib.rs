//! The MACs of tagmac as a provider for OpenSSL 3: `tagmac.so`.
//!
//! OpenSSL loads the module, calls [`OSSL_provider_init`] and asks for tables of functions. There is
//! a MAC for each line of the registry, and one for each family of them in which the parameter
//! `cipher` chooses: a new MAC needs nothing here. Each is there three times: as EVP_MAC, as a kind of
//! key for EVP_PKEY, and as what EVP_DigestSign does with such a key.
//!
//! * [`core`]: what OpenSSL's headers declare, and its queue of errors;
//! * [`param`]: the parameters, OSSL_PARAM;
//! * [`names`]: the names and aliases, from the registry;
//! * [`context`], [`key`]: a MAC in use and a key by itself, in safe code;
//! * [`held`]: what is behind OpenSSL's pointers;
//! * [`mac`], [`keymgmt`], [`signature`]: the functions that OpenSSL calls;
//! * [`table`]: the tables in which it finds them.

mod context;
mod core;
mod held;
mod key;
mod keymgmt;
mod mac;
mod names;
mod param;
mod signature;
mod table;

use std::ffi::{c_int, c_void};

use crate::core::{Core, Dispatch};

/// The entry that OpenSSL looks for in a provider's module. 1 if the provider is ready.
///
/// # Safety
///
/// To be called by OpenSSL: `from` is its table of functions, `out` and `provider` are places for
/// the answers.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    from: *const Dispatch,
    out: *mut *const Dispatch,
    provider: *mut *mut c_void,
) -> c_int {
    let made = tagmac_border::guard(|| {
        // SAFETY: OpenSSL's own table.
        let core = unsafe { Core::new(handle, from) };
        let functions = table::provider();
        // SAFETY: OpenSSL gives both places. `teardown` takes the box back.
        unsafe {
            *provider = Box::into_raw(Box::new(core)).cast();
            *out = functions;
        }
        Ok(())
    });
    made.is_ok().into()
}
