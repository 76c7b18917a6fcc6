//! Keys as EVP_PKEY: the functions of OSSL_OP_KEYMGMT.

use std::ffi::{CStr, CString, c_int, c_void};

use tagmac_border::{Failure, guard};

use crate::core::{Core, Dispatch, dispatch, id};
use crate::held::Held;
use crate::key::{Draft, Key};
use crate::names::{ENTRIES, ROW};
use crate::param::{self, Param, each, each_mut};

/// OSSL_KEYMGMT_SELECT_PRIVATE_KEY and OSSL_KEYMGMT_SELECT_PUBLIC_KEY. A MAC has no public key.
const PRIVATE: c_int = 1;
const PUBLIC: c_int = 2;

/// OSSL_CALLBACK.
type Take = unsafe extern "C" fn(*const Param, *mut c_void) -> c_int;

/// A key with access to the error queue. Threads share it.
pub struct Shared {
    core: Core,
    /// The key.
    pub key: Key,
}

impl Shared {
    fn pointer(core: Core, key: Key) -> *mut c_void {
        Box::into_raw(Box::new(Shared { core, key })).cast()
    }

    /// Returns the key that a pointer refers to, unless the pointer is null.
    ///
    /// # Safety
    ///
    /// `key` is null or made by this file, and outlives `'a`.
    pub unsafe fn at<'a>(key: *const c_void) -> Option<&'a Shared> {
        // SAFETY: guaranteed by the caller.
        unsafe { key.cast::<Shared>().as_ref() }
    }

    /// Runs a call. Returns 1, or 0 with an error on the queue.
    fn call(&self, name: &CStr, body: impl FnOnce(&Key) -> Result<(), Failure>) -> c_int {
        self.core.answer(name, guard(|| body(&self.key)))
    }
}

/// OSSL_FUNC_KEYMGMT_NEW of the entry at index `ROW * HIGH + LOW`.
pub unsafe extern "C" fn new<const HIGH: usize, const LOW: usize>(
    core: *mut c_void,
) -> *mut c_void {
    // SAFETY: OpenSSL passes the provider's context.
    unsafe { new_at(core, ROW * HIGH + LOW) }
}

unsafe fn new_at(core: *mut c_void, at: usize) -> *mut c_void {
    let made = guard(|| {
        // SAFETY: the context that `OSSL_provider_init` made.
        let core = unsafe { *core.cast::<Core>() };
        Ok(Shared::pointer(core, Key::new(&ENTRIES[at])))
    });
    made.unwrap_or(std::ptr::null_mut())
}

/// OSSL_FUNC_KEYMGMT_GEN_INIT of the entry at index `ROW * HIGH + LOW`.
pub unsafe extern "C" fn gen_init<const HIGH: usize, const LOW: usize>(
    core: *mut c_void,
    _selection: c_int,
    params: *mut Param,
) -> *mut c_void {
    // SAFETY: OpenSSL passes the provider's context and its list.
    unsafe { gen_init_at(core, ROW * HIGH + LOW, params) }
}

unsafe fn gen_init_at(core: *mut c_void, at: usize, params: *mut Param) -> *mut c_void {
    // SAFETY: OpenSSL passes the provider's context and its list; the draft is made here.
    unsafe {
        let draft = Held::make(core, || Draft::new(&ENTRIES[at]));
        if gen_set_params(draft, params) == 1 {
            return draft;
        }
        gen_cleanup(draft);
    }
    std::ptr::null_mut()
}

unsafe extern "C" fn gen_set_params(draft: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes our draft and its list, which is only read.
    unsafe { Held::change(c"gen_set_params", draft, |draft: &mut Draft| draft.set(each(params))) }
}

extern "C" fn gen_settable(_draft: *mut c_void, _provider: *mut c_void) -> *const Param {
    param::OF_KEY.0.as_ptr()
}

unsafe extern "C" fn generate(
    draft: *mut c_void,
    _progress: *mut c_void,
    _argument: *mut c_void,
) -> *mut c_void {
    // SAFETY: OpenSSL passes our draft.
    unsafe { Held::give(c"gen", draft, Shared::pointer, |draft: &Draft| draft.key()) }
}

unsafe extern "C" fn gen_cleanup(draft: *mut c_void) {
    // SAFETY: OpenSSL passes our draft and does not use it again.
    unsafe { Held::<Draft>::free(draft) }
}

unsafe extern "C" fn free(key: *mut c_void) {
    if !key.is_null() {
        // SAFETY: OpenSSL passes our key and does not use it again.
        drop(unsafe { Box::from_raw(key.cast::<Shared>()) });
    }
}

unsafe extern "C" fn has(key: *const c_void, selection: c_int) -> c_int {
    // SAFETY: OpenSSL passes our key.
    let has = unsafe { Shared::at(key) }.is_some_and(|shared| {
        selection & PUBLIC == 0 && (selection & PRIVATE == 0 || shared.key.material().is_ok())
    });
    has.into()
}

unsafe extern "C" fn matches(one: *const c_void, two: *const c_void, _selection: c_int) -> c_int {
    // SAFETY: OpenSSL passes our keys.
    let both = unsafe { Shared::at(one).zip(Shared::at(two)) };
    both.is_some_and(|(one, two)| one.key.matches(&two.key)).into()
}

unsafe extern "C" fn import(key: *mut c_void, _selection: c_int, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes our key.
    let Some(shared) = (unsafe { Shared::at(key) }) else { return 0 };
    // SAFETY: OpenSSL passes its list, which is only read.
    shared.call(c"import", |key| key.import(unsafe { each(params) }))
}

unsafe extern "C" fn export(
    key: *mut c_void,
    selection: c_int,
    take: Take,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: OpenSSL passes our key.
    let Some(shared) = (unsafe { Shared::at(key) }) else { return 0 };
    if selection & PRIVATE == 0 {
        return 0;
    }
    let mut taken = 0;
    shared.call(c"export", |key| {
        let material = key.material()?;
        // A NUL ends the string, as OpenSSL's readers expect; the size leaves it out.
        let cipher = key.entry().cipher_of(material.algorithm).map(CString::new).transpose()?;
        let list = param::exported(&material.bytes, cipher.as_deref());
        // SAFETY: OpenSSL passes its function and argument; the list outlives the call.
        taken = unsafe { take(list.as_ptr(), argument) };
        Ok(())
    });
    taken
}

extern "C" fn types(_selection: c_int) -> *const Param {
    param::OF_KEY.0.as_ptr()
}

unsafe extern "C" fn duplicate(key: *const c_void, _selection: c_int) -> *mut c_void {
    // SAFETY: OpenSSL passes our key.
    let Some(shared) = (unsafe { Shared::at(key) }) else { return std::ptr::null_mut() };
    let mut copy = std::ptr::null_mut();
    shared.call(c"dup", |key| {
        copy = Shared::pointer(shared.core, key.duplicate());
        Ok(())
    });
    copy
}

unsafe extern "C" fn get_params(key: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes our key.
    let Some(shared) = (unsafe { Shared::at(key) }) else { return 0 };
    // SAFETY: OpenSSL passes its list.
    shared.call(c"get_params", |key| key.get(unsafe { each_mut(params) }))
}

extern "C" fn gettable(_provider: *mut c_void) -> *const Param {
    param::SAID_OF_KEY.0.as_ptr()
}

/// Returns the functions for keys of an entry. Each entry has its own `new` and `gen_init`.
pub fn functions(new: *const c_void, gen_init: *const c_void) -> &'static [Dispatch] {
    dispatch(&[
        (id::KEYMGMT_NEW, new),
        (id::KEYMGMT_GEN_INIT, gen_init),
        (id::KEYMGMT_GEN_SET_PARAMS, gen_set_params as *const c_void),
        (id::KEYMGMT_GEN_SETTABLE_PARAMS, gen_settable as *const c_void),
        (id::KEYMGMT_GEN, generate as *const c_void),
        (id::KEYMGMT_GEN_CLEANUP, gen_cleanup as *const c_void),
        (id::KEYMGMT_FREE, free as *const c_void),
        (id::KEYMGMT_GET_PARAMS, get_params as *const c_void),
        (id::KEYMGMT_GETTABLE_PARAMS, gettable as *const c_void),
        (id::KEYMGMT_HAS, has as *const c_void),
        (id::KEYMGMT_MATCH, matches as *const c_void),
        (id::KEYMGMT_IMPORT, import as *const c_void),
        (id::KEYMGMT_IMPORT_TYPES, types as *const c_void),
        (id::KEYMGMT_EXPORT, export as *const c_void),
        (id::KEYMGMT_EXPORT_TYPES, types as *const c_void),
        (id::KEYMGMT_DUP, duplicate as *const c_void),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::tests::{Pointer, core, while_read};

    #[test]
    fn keys_are_generated_at_once() {
        let mut core = core();
        let mut draft = Draft::new(&ENTRIES[0]);
        let list = param::exported(&[7; 16], None);
        // SAFETY: a local list; a draft of a core without errors, made and freed here.
        unsafe {
            draft.set(each(list.as_ptr())).expect("a key's bytes");
            let held = Pointer(Held::make((&raw mut core).cast(), || draft));
            while_read::<Draft>(held, |held| {
                let Pointer(held) = held;
                let none = std::ptr::null_mut();
                let keys = [generate(held, none, none), generate(held, none, none)];
                assert_eq!(matches(keys[0], keys[1], PRIVATE), 1);
                for key in keys {
                    free(key);
                }
            });
            gen_cleanup(held.0);
        }
    }
}
