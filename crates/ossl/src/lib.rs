//! The MACs of tagmac as a provider for OpenSSL 3: `tagmac.so`.
//!
//! OpenSSL loads the module, calls [`OSSL_provider_init`] and asks for tables of functions. The
//! tables have one MAC for each entry of the registry, and one for each family, in which the
//! parameter `cipher` chooses. A new MAC needs no code here. Each MAC is available in three ways:
//! as an EVP_MAC, as a key type of EVP_PKEY, and through EVP_DigestSign with such a key.
//!
//! * [`core`]: OpenSSL's declarations and its error queue;
//! * [`param`]: the parameters, OSSL_PARAM;
//! * [`names`]: the names and aliases, from the registry;
//! * [`context`], [`key`]: a MAC in use and a key as an object, in safe code;
//! * [`held`]: the values that OpenSSL's pointers refer to;
//! * [`mac`], [`keymgmt`], [`signature`]: the functions that OpenSSL calls;
//! * [`table`]: the tables with these functions.

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

/// The entry point that OpenSSL looks up in a provider's module. Returns 1 if the provider is
/// ready.
///
/// # Safety
///
/// Only OpenSSL may call this. `from` is its table of functions; `out` and `provider` receive the
/// results.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    from: *const Dispatch,
    out: *mut *const Dispatch,
    provider: *mut *mut c_void,
) -> c_int {
    let made = tagmac_border::guard(|| {
        // SAFETY: OpenSSL passes its table.
        let core = unsafe { Core::new(handle, from) };
        let functions = table::provider();
        // SAFETY: OpenSSL passes both outputs. `teardown` takes the box back.
        unsafe {
            *provider = Box::into_raw(Box::new(core)).cast();
            *out = functions;
        }
        Ok(())
    });
    made.is_ok().into()
}
