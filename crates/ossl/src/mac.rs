//! Contexts of EVP_MAC: the functions of OSSL_OP_MAC.

use std::ffi::{c_int, c_void};

use tagmac_border::{Failure, Room, bytes, ensure, guard};

use crate::context::Context;
use crate::core::{Dispatch, dispatch, id};
use crate::held::Held;
use crate::names::{ENTRIES, ROW};
use crate::param::{self, Param, each, each_mut};

/// OSSL_FUNC_MAC_NEWCTX of the entry at index `ROW * HIGH + LOW`. OpenSSL does not pass the
/// algorithm, so each needs a separate function.
pub unsafe extern "C" fn newctx<const HIGH: usize, const LOW: usize>(
    core: *mut c_void,
) -> *mut c_void {
    // SAFETY: OpenSSL passes the provider's context.
    unsafe { Held::make(core, || Context::new(&ENTRIES[ROW * HIGH + LOW])) }
}

/// OSSL_FUNC_MAC_GET_PARAMS of the entry at index `ROW * HIGH + LOW`.
pub unsafe extern "C" fn get_params<const HIGH: usize, const LOW: usize>(
    params: *mut Param,
) -> c_int {
    let done = guard(|| {
        let context = Context::new(&ENTRIES[ROW * HIGH + LOW]);
        // SAFETY: OpenSSL passes its list.
        context.get(unsafe { each_mut(params) })
    });
    done.is_ok().into()
}

unsafe extern "C" fn dupctx(from: *mut c_void) -> *mut c_void {
    // SAFETY: OpenSSL passes our context.
    unsafe { Held::duplicate(from, Context::duplicate) }
}

unsafe extern "C" fn freectx(held: *mut c_void) {
    // SAFETY: OpenSSL passes our context and does not use it again.
    unsafe { Held::<Context>::free(held) }
}

unsafe extern "C" fn init(
    held: *mut c_void,
    key: *const u8,
    key_size: usize,
    params: *mut Param,
) -> c_int {
    // SAFETY: OpenSSL passes our context, the key and its list.
    unsafe {
        Held::change(c"init", held, |context: &mut Context| {
            let given = (!key.is_null()).then(|| bytes("the key", key, key_size)).transpose()?;
            context.init(given, each(params))
        })
    }
}

unsafe extern "C" fn update(held: *mut c_void, data: *const u8, size: usize) -> c_int {
    // SAFETY: OpenSSL passes our context and the data.
    unsafe {
        Held::change(c"update", held, |context: &mut Context| {
            context.update(bytes("the message", data, size)?)
        })
    }
}

/// Writes the length of a tag to `tag_size`.
///
/// # Safety
///
/// `tag_size` is null or an output of OpenSSL.
pub unsafe fn put_size(context: &Context, tag_size: *mut usize) -> Result<(), Failure> {
    ensure(!tag_size.is_null(), || "the pointer for the tag's size is null")?;
    // SAFETY: not null; guaranteed by the caller.
    unsafe { *tag_size = context.size() };
    Ok(())
}

/// Writes a tag and its length.
///
/// # Safety
///
/// The outputs are OpenSSL's, and `tag` has room for `room` bytes.
pub unsafe fn put(
    context: &mut Context,
    tag: *mut u8,
    tag_size: *mut usize,
    room: usize,
) -> Result<(), Failure> {
    let size = context.size();
    ensure(!tag_size.is_null(), || "the pointer for the tag's size is null")?;
    ensure(room >= size, || {
        format!("expected a buffer of {size} bytes or more for the tag, found {room}")
    })?;
    // SAFETY: guaranteed by the caller.
    let room = unsafe { Room::new("the tag", tag, size, size) }?;
    context.finish(|tag| room.fill(tag))?;
    // SAFETY: guaranteed by the caller.
    unsafe { put_size(context, tag_size) }
}

unsafe extern "C" fn finish(
    held: *mut c_void,
    tag: *mut u8,
    tag_size: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: OpenSSL passes our context and the outputs.
    unsafe {
        if tag.is_null() {
            return Held::read(c"final", held, |context: &Context| put_size(context, tag_size));
        }
        Held::change(c"final", held, |context: &mut Context| put(context, tag, tag_size, room))
    }
}

unsafe extern "C" fn get_ctx_params(held: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes our context and its list.
    unsafe {
        Held::read(c"get_ctx_params", held, |context: &Context| context.get(each_mut(params)))
    }
}

unsafe extern "C" fn set_ctx_params(held: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes our context and its list, which is only read.
    unsafe {
        Held::change(c"set_ctx_params", held, |context: &mut Context| context.set(each(params)))
    }
}

extern "C" fn gettable(_provider: *mut c_void) -> *const Param {
    param::GETTABLE.0.as_ptr()
}

extern "C" fn gettable_ctx(_context: *mut c_void, _provider: *mut c_void) -> *const Param {
    param::GETTABLE.0.as_ptr()
}

extern "C" fn settable_ctx(_context: *mut c_void, _provider: *mut c_void) -> *const Param {
    param::SETTABLE.0.as_ptr()
}

/// Returns the functions of an entry. Each entry has its own `newctx` and `get_params`.
pub fn functions(newctx: *const c_void, get_params: *const c_void) -> &'static [Dispatch] {
    dispatch(&[
        (id::MAC_NEWCTX, newctx),
        (id::MAC_DUPCTX, dupctx as *const c_void),
        (id::MAC_FREECTX, freectx as *const c_void),
        (id::MAC_INIT, init as *const c_void),
        (id::MAC_UPDATE, update as *const c_void),
        (id::MAC_FINAL, finish as *const c_void),
        (id::MAC_GET_PARAMS, get_params),
        (id::MAC_GET_CTX_PARAMS, get_ctx_params as *const c_void),
        (id::MAC_SET_CTX_PARAMS, set_ctx_params as *const c_void),
        (id::MAC_GETTABLE_PARAMS, gettable as *const c_void),
        (id::MAC_GETTABLE_CTX_PARAMS, gettable_ctx as *const c_void),
        (id::MAC_SETTABLE_CTX_PARAMS, settable_ctx as *const c_void),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::tests::{Pointer, core, reads, while_read};

    #[test]
    fn calls_that_only_read_a_context_run_at_once() {
        let mut core = core();
        // SAFETY: a context of a core without errors, made and freed here.
        unsafe {
            let held = Pointer(newctx::<0, 0>((&raw mut core).cast()));
            assert_eq!(init(held.0, [7; 16].as_ptr(), 16, std::ptr::null_mut()), 1);
            let read_all = |held: Pointer| {
                reads(held, dupctx, freectx, get_ctx_params, finish);
            };
            while_read::<Context>(held, read_all);
            // During a message too.
            assert_eq!(update(held.0, [7; 100].as_ptr(), 100), 1);
            while_read::<Context>(held, read_all);
            freectx(held.0);
        }
    }
}
