//! Parameters, OSSL_PARAM: names with values in C's memory, the last one without a name.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use tagmac_border::{Failure, bytes, ensure};

use crate::core::Constant;

const INTEGER: c_uint = 1;
const UNSIGNED: c_uint = 2;
const TEXT: c_uint = 4;
const OCTETS: c_uint = 5;
const TEXT_POINTER: c_uint = 6;

/// OSSL_PARAM.
#[repr(C)]
pub struct Param {
    key: *const c_char,
    kind: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

const fn of(key: &'static CStr, kind: c_uint, data_size: usize) -> Param {
    Param { key: key.as_ptr(), kind, data: std::ptr::null_mut(), data_size, return_size: 0 }
}

const END: Param = Param {
    key: std::ptr::null(),
    kind: 0,
    data: std::ptr::null_mut(),
    data_size: 0,
    return_size: 0,
};

/// What can be set in a context.
pub static SETTABLE: Constant<[Param; 6]> = Constant([
    of(c"key", OCTETS, 0),
    of(c"iv", OCTETS, 0),
    of(c"size", UNSIGNED, size_of::<usize>()),
    of(c"cipher", TEXT, 0),
    of(c"xof", INTEGER, size_of::<c_int>()),
    END,
]);

/// What a context, or an algorithm, says of itself.
pub static GETTABLE: Constant<[Param; 3]> = Constant([
    of(c"size", UNSIGNED, size_of::<usize>()),
    of(c"block-size", UNSIGNED, size_of::<usize>()),
    END,
]);

/// What can be set where the key is there already: for a message.
pub static OF_MESSAGE: Constant<[Param; 3]> =
    Constant([of(c"iv", OCTETS, 0), of(c"size", UNSIGNED, size_of::<usize>()), END]);

/// What a key is made of.
pub static OF_KEY: Constant<[Param; 3]> =
    Constant([of(c"priv", OCTETS, 0), of(c"cipher", TEXT, 0), END]);

/// What a key says of itself.
pub static SAID_OF_KEY: Constant<[Param; 3]> = Constant([
    of(c"bits", INTEGER, size_of::<c_int>()),
    of(c"max-size", INTEGER, size_of::<c_int>()),
    END,
]);

/// A key, with the cipher that chose its MAC if one did. The list points to both, and is to be read.
pub fn exported(key: &[u8], cipher: Option<&CStr>) -> [Param; 3] {
    let value = |name, kind, data: &[u8]| Param {
        data: data.as_ptr().cast_mut().cast(),
        data_size: data.len(),
        ..of(name, kind, 0)
    };
    let cipher = cipher.map_or(END, |cipher| value(c"cipher", TEXT, cipher.to_bytes()));
    [value(c"priv", OCTETS, key), cipher, END]
}

/// What the provider says of itself.
pub static OF_PROVIDER: Constant<[Param; 5]> = Constant([
    of(c"name", TEXT_POINTER, 0),
    of(c"version", TEXT_POINTER, 0),
    of(c"buildinfo", TEXT_POINTER, 0),
    of(c"status", INTEGER, size_of::<c_int>()),
    END,
]);

/// The parameters of a list that is read. It may be a constant, which several threads use at once.
///
/// # Safety
///
/// `list` is null or ends with a parameter without a name, and nobody changes it during `'a`.
pub unsafe fn each<'a>(mut list: *const Param) -> impl Iterator<Item = &'a Param> {
    std::iter::from_fn(move || {
        // SAFETY: null, or within the list, whose end is never passed.
        let param = unsafe { list.as_ref() }.filter(|param| !param.key.is_null())?;
        list = list.wrapping_add(1);
        Some(param)
    })
}

/// The parameters of a list that is filled in.
///
/// # Safety
///
/// As for [`each`], and nobody else uses it during `'a`.
pub unsafe fn each_mut<'a>(mut list: *mut Param) -> impl Iterator<Item = &'a mut Param> {
    std::iter::from_fn(move || {
        // SAFETY: null, or within the list, whose end is never passed.
        let param = unsafe { list.as_mut() }.filter(|param| !param.key.is_null())?;
        list = list.wrapping_add(1);
        Some(param)
    })
}

impl Param {
    /// The name.
    pub fn name(&self) -> &str {
        // SAFETY: a C string in the list that `each` had the caller's word for.
        unsafe { CStr::from_ptr(self.key) }.to_str().unwrap_or("")
    }

    fn wrong(&self, expected: &str) -> Failure {
        let (name, kind) = (self.name(), self.kind);
        format!("expected the parameter '{name}' to be {expected}, found one of type {kind}").into()
    }

    /// The value, of any type, as it stands in memory.
    fn data(&self) -> Result<&[u8], Failure> {
        // SAFETY: the list's maker says that the data has this size.
        unsafe { bytes(self.name(), self.data.cast_const().cast(), self.data_size) }
    }

    /// The value as bytes.
    ///
    /// # Errors
    ///
    /// For another type.
    pub fn octets(&self) -> Result<&[u8], Failure> {
        if self.kind == OCTETS { self.data() } else { Err(self.wrong("octets")) }
    }

    /// The value as text.
    ///
    /// # Errors
    ///
    /// For another type, and for what is no text.
    pub fn text(&self) -> Result<&str, Failure> {
        ensure_kind(self.kind == TEXT, || self.wrong("text"))?;
        let data = self.data()?;
        let end = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
        std::str::from_utf8(&data[..end]).map_err(|_| self.wrong("text"))
    }

    /// The value as a number that is not negative.
    ///
    /// # Errors
    ///
    /// For another type, and for what fits no `u64`.
    pub fn number(&self) -> Result<u64, Failure> {
        ensure_kind(matches!(self.kind, INTEGER | UNSIGNED), || self.wrong("a number"))?;
        let data = self.data()?;
        // The lowest first.
        let byte = |i: usize| {
            data.get(if cfg!(target_endian = "big") { data.len().wrapping_sub(i + 1) } else { i })
        };
        let top = data.len().checked_sub(1).and_then(byte);
        let negative = self.kind == INTEGER && top.is_some_and(|&top| top >= 0x80);
        let long = (8..data.len()).any(|i| byte(i) != Some(&0));
        ensure(
            !negative && !long && top.is_some(),
            format_args!("expected the parameter '{}' to be 0 to 2^64 - 1", self.name()),
        )?;
        Ok(u64::from_le_bytes(std::array::from_fn(|i| byte(i).copied().unwrap_or(0))))
    }

    /// Answers with a number.
    ///
    /// # Errors
    ///
    /// If there is no room for a number of 4 or 8 bytes, or it is too large.
    pub fn set_number(&mut self, number: usize) -> Result<(), Failure> {
        ensure_kind(matches!(self.kind, INTEGER | UNSIGNED), || self.wrong("a number"))?;
        let number = number as u64;
        if self.data.is_null() {
            self.return_size = size_of_val(&number);
            return Ok(());
        }
        let (wide, narrow) = (number.to_ne_bytes(), u32::try_from(number).map(u32::to_ne_bytes));
        let value = match (self.data_size, &narrow) {
            (8, _) => &wide[..],
            (4, Ok(narrow)) => &narrow[..],
            _ => return Err(self.wrong("a number of 4 or 8 bytes")),
        };
        // SAFETY: the list's maker says that the data has this size, and it is not null.
        unsafe { value.as_ptr().copy_to_nonoverlapping(self.data.cast(), value.len()) };
        self.return_size = value.len();
        Ok(())
    }

    /// Answers with a text that is never freed.
    ///
    /// # Errors
    ///
    /// For another type.
    pub fn set_text(&mut self, text: &'static CStr) -> Result<(), Failure> {
        ensure_kind(self.kind == TEXT_POINTER, || self.wrong("a pointer to text"))?;
        self.return_size = text.count_bytes();
        if !self.data.is_null() {
            // SAFETY: for this type the data is a pointer to a string.
            unsafe { self.data.cast::<*const c_char>().write_unaligned(text.as_ptr()) };
        }
        Ok(())
    }
}

fn ensure_kind(right: bool, wrong: impl FnOnce() -> Failure) -> Result<(), Failure> {
    if right { Ok(()) } else { Err(wrong()) }
}

/// A parameter with bytes.
#[cfg(test)]
pub fn octets(name: &'static CStr, bytes: &[u8]) -> Param {
    let data = bytes.as_ptr().cast_mut().cast();
    Param { data, ..of(name, OCTETS, bytes.len()) }
}

/// A list that asks for a number.
#[cfg(test)]
pub fn asked(name: &'static CStr, found: &mut usize) -> [Param; 2] {
    let asked = of(name, UNSIGNED, size_of::<usize>());
    [Param { data: std::ptr::from_mut(found).cast(), ..asked }, END]
}
