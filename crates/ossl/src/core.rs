//! The declarations that this provider needs from OpenSSL's core.h and core_dispatch.h, and access
//! to OpenSSL's error queue.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

use tagmac_border::Failure;

/// OSSL_OP_MAC.
pub const OP_MAC: c_int = 3;
/// OSSL_OP_KEYMGMT.
pub const OP_KEYMGMT: c_int = 10;
/// OSSL_OP_SIGNATURE.
pub const OP_SIGNATURE: c_int = 12;

/// Function numbers in dispatch tables.
pub mod id {
    use std::ffi::c_int;

    pub const CORE_NEW_ERROR: c_int = 5;
    pub const CORE_SET_ERROR_DEBUG: c_int = 6;
    pub const CORE_VSET_ERROR: c_int = 7;

    pub const PROVIDER_TEARDOWN: c_int = 1024;
    pub const PROVIDER_GETTABLE_PARAMS: c_int = 1025;
    pub const PROVIDER_GET_PARAMS: c_int = 1026;
    pub const PROVIDER_QUERY_OPERATION: c_int = 1027;
    pub const PROVIDER_GET_REASON_STRINGS: c_int = 1029;

    pub const MAC_NEWCTX: c_int = 1;
    pub const MAC_DUPCTX: c_int = 2;
    pub const MAC_FREECTX: c_int = 3;
    pub const MAC_INIT: c_int = 4;
    pub const MAC_UPDATE: c_int = 5;
    pub const MAC_FINAL: c_int = 6;
    pub const MAC_GET_PARAMS: c_int = 7;
    pub const MAC_GET_CTX_PARAMS: c_int = 8;
    pub const MAC_SET_CTX_PARAMS: c_int = 9;
    pub const MAC_GETTABLE_PARAMS: c_int = 10;
    pub const MAC_GETTABLE_CTX_PARAMS: c_int = 11;
    pub const MAC_SETTABLE_CTX_PARAMS: c_int = 12;

    pub const KEYMGMT_NEW: c_int = 1;
    pub const KEYMGMT_GEN_INIT: c_int = 2;
    pub const KEYMGMT_GEN_SET_PARAMS: c_int = 4;
    pub const KEYMGMT_GEN_SETTABLE_PARAMS: c_int = 5;
    pub const KEYMGMT_GEN: c_int = 6;
    pub const KEYMGMT_GEN_CLEANUP: c_int = 7;
    pub const KEYMGMT_FREE: c_int = 10;
    pub const KEYMGMT_GET_PARAMS: c_int = 11;
    pub const KEYMGMT_GETTABLE_PARAMS: c_int = 12;
    pub const KEYMGMT_HAS: c_int = 21;
    pub const KEYMGMT_MATCH: c_int = 23;
    pub const KEYMGMT_IMPORT: c_int = 40;
    pub const KEYMGMT_IMPORT_TYPES: c_int = 41;
    pub const KEYMGMT_EXPORT: c_int = 42;
    pub const KEYMGMT_EXPORT_TYPES: c_int = 43;
    pub const KEYMGMT_DUP: c_int = 44;

    pub const SIGNATURE_NEWCTX: c_int = 1;
    pub const SIGNATURE_DIGEST_SIGN_INIT: c_int = 8;
    pub const SIGNATURE_DIGEST_SIGN_UPDATE: c_int = 9;
    pub const SIGNATURE_DIGEST_SIGN_FINAL: c_int = 10;
    pub const SIGNATURE_DIGEST_VERIFY_INIT: c_int = 12;
    pub const SIGNATURE_DIGEST_VERIFY_UPDATE: c_int = 13;
    pub const SIGNATURE_DIGEST_VERIFY_FINAL: c_int = 14;
    pub const SIGNATURE_FREECTX: c_int = 16;
    pub const SIGNATURE_DUPCTX: c_int = 17;
    pub const SIGNATURE_GET_CTX_PARAMS: c_int = 18;
    pub const SIGNATURE_GETTABLE_CTX_PARAMS: c_int = 19;
    pub const SIGNATURE_SET_CTX_PARAMS: c_int = 20;
    pub const SIGNATURE_SETTABLE_CTX_PARAMS: c_int = 21;
}

/// OSSL_DISPATCH: a function and its number. The last entry of a table has the number 0.
#[repr(C)]
pub struct Dispatch {
    pub id: c_int,
    pub function: *const c_void,
}

impl Dispatch {
    pub const END: Dispatch = Dispatch { id: 0, function: std::ptr::null() };
}

/// Builds a table that is never freed.
pub fn dispatch(list: &[(c_int, *const c_void)]) -> &'static [Dispatch] {
    let table = list.iter().map(|&(id, function)| Dispatch { id, function });
    Vec::leak(table.chain([Dispatch::END]).collect())
}

/// OSSL_ALGORITHM: an algorithm and its functions. The last entry of a table has no name.
#[repr(C)]
pub struct Algorithm {
    pub names: *const c_char,
    pub properties: *const c_char,
    pub functions: *const Dispatch,
    pub description: *const c_char,
}

/// OSSL_ITEM: a number and its text. The last entry of a table has no text.
#[repr(C)]
pub struct Item {
    pub id: c_uint,
    pub text: *const c_char,
}

/// A table of pointers that never changes.
pub struct Constant<T>(pub T);

// SAFETY: nothing that it points to is ever written or freed.
unsafe impl<T> Send for Constant<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Constant<T> {}

type NewError = unsafe extern "C" fn(*const c_void);
type SetErrorDebug = unsafe extern "C" fn(*const c_void, *const c_char, c_int, *const c_char);
/// The last argument is a `va_list`.
type VsetError = unsafe extern "C" fn(*const c_void, u32, *const c_char, *mut c_void);

/// The core side: OpenSSL's handle for this provider, and OpenSSL's functions.
#[derive(Clone, Copy)]
pub struct Core {
    handle: *const c_void,
    new_error: Option<NewError>,
    set_error_debug: Option<SetErrorDebug>,
    vset_error: Option<VsetError>,
}

// SAFETY: the handle is only passed back, to functions that accept it on any thread.
unsafe impl Send for Core {}
// SAFETY: as above.
unsafe impl Sync for Core {}

/// The only reason code of this provider's errors; the message has the details.
const REASON: c_uint = 1;

/// OSSL_FUNC_PROVIDER_GET_REASON_STRINGS.
pub static REASONS: Constant<[Item; 2]> = Constant([
    Item { id: REASON, text: c"request refused".as_ptr() },
    Item { id: 0, text: std::ptr::null() },
]);

impl Core {
    /// Finds the functions in OpenSSL's table.
    ///
    /// # Safety
    ///
    /// `table` is the table that OpenSSL passed.
    pub unsafe fn new(handle: *const c_void, mut table: *const Dispatch) -> Core {
        let mut core = Core { handle, new_error: None, set_error_debug: None, vset_error: None };
        // SAFETY: the table ends with the number 0, and each number determines the type of its
        // function.
        unsafe {
            while (*table).id != 0 {
                let function = (*table).function;
                match (*table).id {
                    id::CORE_NEW_ERROR => {
                        core.new_error =
                            std::mem::transmute::<*const c_void, Option<NewError>>(function);
                    }
                    id::CORE_SET_ERROR_DEBUG => {
                        core.set_error_debug =
                            std::mem::transmute::<*const c_void, Option<SetErrorDebug>>(function);
                    }
                    id::CORE_VSET_ERROR => {
                        core.vset_error =
                            std::mem::transmute::<*const c_void, Option<VsetError>>(function);
                    }
                    _ => {}
                }
                table = table.add(1);
            }
        }
        core
    }

    /// Returns the result of a call: 1, or 0 with the failure on OpenSSL's error queue.
    pub fn answer(&self, call: &CStr, done: Result<(), Failure>) -> c_int {
        match done {
            Ok(()) => 1,
            Err(failure) => {
                self.raise(call, failure);
                0
            }
        }
    }

    fn raise(&self, call: &CStr, failure: Failure) {
        let (Some(new_error), Some(vset_error)) = (self.new_error, self.vset_error) else { return };
        // The line is passed as the format, with `%` escaped, so that no argument is read.
        let line = failure.into_c().into_bytes();
        let format = line.into_iter().flat_map(|byte| match byte {
            b'%' => vec![b'%'; 2],
            byte => vec![byte],
        });
        let format = CString::new(format.collect::<Vec<_>>()).expect("no NUL was there");
        // Room for a `va_list`, which is an array on x86-64 and a struct of 32 bytes on aarch64: C
        // passes the address of either.
        let mut no_arguments = [0u64; 8];
        // SAFETY: the functions have these types, and the strings outlive the calls.
        unsafe {
            new_error(self.handle);
            if let Some(set_error_debug) = self.set_error_debug {
                set_error_debug(self.handle, c"tagmac".as_ptr(), 0, call.as_ptr());
            }
            let arguments = no_arguments.as_mut_ptr().cast();
            vset_error(self.handle, REASON, format.as_ptr(), arguments);
        }
    }
}
