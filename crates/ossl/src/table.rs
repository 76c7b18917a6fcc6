//! The functions that OpenSSL calls, and the tables in which it finds them.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{LazyLock, Mutex};

use tagmac_border::{Failure, Room, bytes, ensure, guard};

use crate::context::Context;
use crate::core::{Algorithm, Constant, Core, Dispatch, Item, OP_MAC, REASONS, id};
use crate::names::{ENTRIES, Entry};
use crate::param::{self, Param, each};

/// A context as OpenSSL has it: with the place for errors, and for one thread at a time.
struct Held {
    core: Core,
    context: Mutex<Context>,
}

/// Runs a call on a context: 1, or 0 with an error on the queue.
///
/// # Safety
///
/// `held` is a context that `newctx` or `dupctx` made.
unsafe fn call(
    name: &CStr,
    held: *mut c_void,
    body: impl FnOnce(&mut Context) -> Result<(), Failure>,
) -> c_int {
    // SAFETY: the caller's word.
    let Some(held) = (unsafe { held.cast::<Held>().as_ref() }) else { return 0 };
    let done = guard(|| {
        let context = held.context.try_lock();
        body(&mut *context.map_err(|_| "expected a context of one thread, found it in use")?)
    });
    match done {
        Ok(()) => 1,
        Err(failure) => {
            held.core.raise(name, failure);
            0
        }
    }
}

/// OSSL_FUNC_MAC_NEWCTX of the entry at that place. OpenSSL does not say which algorithm it is
/// for, so each has a function of its own.
unsafe extern "C" fn newctx<const HIGH: usize, const LOW: usize>(core: *mut c_void) -> *mut c_void {
    let made = guard(|| {
        let context = Mutex::new(Context::new(&ENTRIES[ROW * HIGH + LOW]));
        // SAFETY: the provider's context, which is that of `OSSL_provider_init`.
        let core = unsafe { *core.cast::<Core>() };
        Ok(Box::into_raw(Box::new(Held { core, context })).cast())
    });
    made.unwrap_or(std::ptr::null_mut())
}

/// OSSL_FUNC_MAC_GET_PARAMS of the entry at that place.
unsafe extern "C" fn get_params<const HIGH: usize, const LOW: usize>(params: *mut Param) -> c_int {
    let done = guard(|| {
        let context = Context::new(&ENTRIES[ROW * HIGH + LOW]);
        // SAFETY: a list of OpenSSL's.
        context.get(unsafe { each(params) })
    });
    done.is_ok().into()
}

unsafe extern "C" fn dupctx(from: *mut c_void) -> *mut c_void {
    let mut copy = std::ptr::null_mut();
    // SAFETY: a context of ours.
    unsafe {
        let core = from.cast::<Held>().as_ref().map(|held| held.core);
        call(c"dupctx", from, |context| {
            let context = Mutex::new(context.duplicate());
            let core = core.ok_or("expected a context, found none")?;
            copy = Box::into_raw(Box::new(Held { core, context })).cast();
            Ok(())
        });
    }
    copy
}

unsafe extern "C" fn freectx(held: *mut c_void) {
    if !held.is_null() {
        // SAFETY: a context of ours, which OpenSSL does not use again.
        let held = unsafe { Box::from_raw(held.cast::<Held>()) };
        let _ = guard(|| {
            drop(held);
            Ok(())
        });
    }
}

unsafe extern "C" fn init(
    held: *mut c_void,
    key: *const u8,
    key_size: usize,
    params: *mut Param,
) -> c_int {
    // SAFETY: a context of ours; the key and the list are OpenSSL's.
    unsafe {
        call(c"init", held, |context| {
            let given = (!key.is_null()).then(|| bytes("the key", key, key_size)).transpose()?;
            context.init(given, each(params))
        })
    }
}

unsafe extern "C" fn update(held: *mut c_void, data: *const u8, size: usize) -> c_int {
    // SAFETY: a context of ours; the data is OpenSSL's.
    unsafe { call(c"update", held, |context| context.update(bytes("the message", data, size)?)) }
}

unsafe extern "C" fn finish(
    held: *mut c_void,
    tag: *mut u8,
    tag_size: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: a context of ours; the places are OpenSSL's.
    unsafe {
        call(c"final", held, |context| {
            let size = context.size();
            ensure(!tag_size.is_null(), "expected a place for the tag's size, found none")?;
            if !tag.is_null() {
                ensure(
                    room >= size,
                    format_args!("expected room for a tag of {size} bytes, found {room}"),
                )?;
                let room = Room::new("a tag", tag, size, size)?;
                context.finish(|tag| room.fill(tag))?;
            }
            *tag_size = size;
            Ok(())
        })
    }
}

unsafe extern "C" fn get_ctx_params(held: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: a context of ours; a list of OpenSSL's.
    unsafe { call(c"get_ctx_params", held, |context| context.get(each(params))) }
}

unsafe extern "C" fn set_ctx_params(held: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: a context of ours; a list of OpenSSL's, which is read.
    unsafe { call(c"set_ctx_params", held, |context| context.set(each(params))) }
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

/// Entries of a row of `PLACES`.
const ROW: usize = 16;

/// The two functions that each entry has for itself: `newctx` and `get_params`.
type Own = [*const c_void; 2];

macro_rules! row {
    ($high:literal) => {
        row!($high: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($high:literal: $($low:literal)*) => {
        [$([newctx::<$high, $low> as *const c_void, get_params::<$high, $low> as *const c_void]),*]
    };
}

/// Places for entries, more than there are. A test says so in time.
static PLACES: Constant<[[Own; ROW]; 8]> =
    Constant([row!(0), row!(1), row!(2), row!(3), row!(4), row!(5), row!(6), row!(7)]);

fn functions([newctx, get_params]: Own) -> &'static [Dispatch] {
    let list = [
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
    ];
    dispatch(&list)
}

/// A table that is never freed.
fn dispatch(list: &[(c_int, *const c_void)]) -> &'static [Dispatch] {
    let table = list.iter().map(|&(id, function)| Dispatch { id, function });
    Vec::leak(table.chain([Dispatch::END]).collect())
}

/// A text that is never freed.
fn text(text: &str) -> *const c_char {
    CString::new(text).expect("a name has no NUL").into_raw()
}

fn algorithm((entry, own): (&Entry, &Own)) -> Algorithm {
    Algorithm {
        names: text(&entry.names.join(":")),
        properties: c"provider=tagmac".as_ptr(),
        functions: functions(*own).as_ptr(),
        description: text(&match entry.only() {
            Some(algorithm) => format!("tagmac {algorithm}"),
            None => format!("tagmac {}, the parameter cipher chooses", entry.names[0]),
        }),
    }
}

static ALGORITHMS: LazyLock<Constant<Vec<Algorithm>>> = LazyLock::new(|| {
    let null = std::ptr::null();
    let end =
        Algorithm { names: null, properties: null, functions: std::ptr::null(), description: null };
    Constant(ENTRIES.iter().zip(PLACES.0.as_flattened()).map(algorithm).chain([end]).collect())
});

unsafe extern "C" fn query(
    _provider: *mut c_void,
    operation: c_int,
    no_cache: *mut c_int,
) -> *const Algorithm {
    let found = guard(|| {
        if !no_cache.is_null() {
            // SAFETY: OpenSSL's place for the answer.
            unsafe { *no_cache = 0 };
        }
        Ok(if operation == OP_MAC { ALGORITHMS.0.as_ptr() } else { std::ptr::null() })
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
        // SAFETY: a list of OpenSSL's.
        for param in unsafe { each(params) } {
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

/// The provider's own functions.
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
