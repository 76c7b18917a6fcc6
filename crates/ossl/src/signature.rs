//! Tags with EVP_DigestSign and EVP_DigestVerify: the functions of OSSL_OP_SIGNATURE. They are the
//! same for all MACs, because the key determines the MAC.

use std::ffi::{c_char, c_int, c_void};
use std::sync::LazyLock;

use tagmac_border::{Failure, Quoted, bytes, ensure, text};

use crate::context::Context;
use crate::core::{Constant, Dispatch, dispatch, id};
use crate::held::Held;
use crate::keymgmt::Shared;
use crate::mac::{put, put_size};
use crate::param::{self, Param, each, each_mut};

/// A context, which is empty until it has a key.
type Signer = Option<Context>;

fn begun(signer: &mut Signer) -> Result<&mut Context, Failure> {
    signer.as_mut().ok_or_else(without_key)
}

fn without_key() -> Failure {
    "no key is set: call init with a key first".into()
}

unsafe extern "C" fn newctx(core: *mut c_void, _properties: *const c_char) -> *mut c_void {
    // SAFETY: OpenSSL passes the provider's context.
    unsafe { Held::make(core, || Signer::None) }
}

unsafe extern "C" fn dupctx(signer: *mut c_void) -> *mut c_void {
    // SAFETY: OpenSSL passes our context.
    unsafe { Held::duplicate(signer, |signer: &Signer| signer.as_ref().map(Context::duplicate)) }
}

unsafe extern "C" fn freectx(signer: *mut c_void) {
    // SAFETY: OpenSSL passes our context and does not use it again.
    unsafe { Held::<Signer>::free(signer) }
}

/// DIGEST_SIGN_INIT and DIGEST_VERIFY_INIT. Without a key the next message uses the previous key.
unsafe extern "C" fn init(
    signer: *mut c_void,
    digest: *const c_char,
    key: *const c_void,
    params: *mut Param,
) -> c_int {
    // SAFETY: OpenSSL passes our context and key, its text and its list.
    unsafe {
        Held::change(c"init", signer, |signer: &mut Signer| {
            if !digest.is_null() {
                // A signature needs a digest; a MAC does not.
                let name = text("the digest's name", digest)?;
                ensure(name.is_empty(), || {
                    format!("the digest must be empty, found {}", Quoted(name))
                })?;
            }
            let Some(shared) = Shared::at(key) else {
                return begun(signer)?.init(None, each(params));
            };
            let material = shared.key.material()?;
            let mut context = Context::with(shared.key.entry(), material.algorithm);
            context.init(Some(&material.bytes), each(params))?;
            *signer = Some(context);
            Ok(())
        })
    }
}

unsafe extern "C" fn update(signer: *mut c_void, data: *const u8, size: usize) -> c_int {
    // SAFETY: OpenSSL passes our context and the data.
    unsafe {
        Held::change(c"update", signer, |signer: &mut Signer| {
            begun(signer)?.update(bytes("the message", data, size)?)
        })
    }
}

unsafe extern "C" fn sign(
    signer: *mut c_void,
    tag: *mut u8,
    tag_size: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: OpenSSL passes our context and the outputs.
    unsafe {
        if tag.is_null() {
            return Held::read(c"sign", signer, |signer: &Signer| {
                put_size(signer.as_ref().ok_or_else(without_key)?, tag_size)
            });
        }
        Held::change(c"sign", signer, |signer: &mut Signer| {
            put(begun(signer)?, tag, tag_size, room)
        })
    }
}

unsafe extern "C" fn verify(signer: *mut c_void, tag: *const u8, size: usize) -> c_int {
    // SAFETY: OpenSSL passes our context and the tag.
    unsafe {
        Held::change(c"verify", signer, |signer: &mut Signer| {
            begun(signer)?.verify(bytes("the tag", tag, size)?)
        })
    }
}

unsafe extern "C" fn get_params(signer: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes our context and its list.
    unsafe {
        Held::read(c"get_ctx_params", signer, |signer: &Signer| {
            signer.as_ref().ok_or_else(without_key)?.get(each_mut(params))
        })
    }
}

unsafe extern "C" fn set_params(signer: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes our context and its list, which is only read.
    unsafe {
        Held::change(c"set_ctx_params", signer, |signer: &mut Signer| {
            begun(signer)?.set(each(params))
        })
    }
}

extern "C" fn gettable(_context: *mut c_void, _provider: *mut c_void) -> *const Param {
    param::GETTABLE.0.as_ptr()
}

extern "C" fn settable(_context: *mut c_void, _provider: *mut c_void) -> *const Param {
    param::OF_MESSAGE.0.as_ptr()
}

/// Returns the table of the functions.
pub fn functions() -> &'static [Dispatch] {
    static FUNCTIONS: LazyLock<Constant<&'static [Dispatch]>> = LazyLock::new(|| {
        Constant(dispatch(&[
            (id::SIGNATURE_NEWCTX, newctx as *const c_void),
            (id::SIGNATURE_DIGEST_SIGN_INIT, init as *const c_void),
            (id::SIGNATURE_DIGEST_SIGN_UPDATE, update as *const c_void),
            (id::SIGNATURE_DIGEST_SIGN_FINAL, sign as *const c_void),
            (id::SIGNATURE_DIGEST_VERIFY_INIT, init as *const c_void),
            (id::SIGNATURE_DIGEST_VERIFY_UPDATE, update as *const c_void),
            (id::SIGNATURE_DIGEST_VERIFY_FINAL, verify as *const c_void),
            (id::SIGNATURE_FREECTX, freectx as *const c_void),
            (id::SIGNATURE_DUPCTX, dupctx as *const c_void),
            (id::SIGNATURE_GET_CTX_PARAMS, get_params as *const c_void),
            (id::SIGNATURE_GETTABLE_CTX_PARAMS, gettable as *const c_void),
            (id::SIGNATURE_SET_CTX_PARAMS, set_params as *const c_void),
            (id::SIGNATURE_SETTABLE_CTX_PARAMS, settable as *const c_void),
        ]))
    });
    FUNCTIONS.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::tests::{Pointer, core, reads, while_read};

    #[test]
    fn calls_that_only_read_a_context_run_at_once() {
        let mut core = core();
        let mut context = Context::new(&crate::names::ENTRIES[0]);
        context.init(Some(&[7; 16]), std::iter::empty()).expect("a key of its length");
        // SAFETY: a context of a core without errors, made and freed here.
        unsafe {
            let held = Pointer(Held::make((&raw mut core).cast(), || Some(context)));
            while_read::<Signer>(held, |held| {
                reads(held, dupctx, freectx, get_params, sign);
            });
            freectx(held.0);
        }
    }
}
