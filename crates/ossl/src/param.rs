//! Parameters, OSSL_PARAM: lists of names with values in C's memory. The last entry has no name.

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

/// The parameters that can be set in a context.
pub static SETTABLE: Constant<[Param; 6]> = Constant([
    of(c"key", OCTETS, 0),
    of(c"iv", OCTETS, 0),
    of(c"size", UNSIGNED, size_of::<usize>()),
    of(c"cipher", TEXT, 0),
    of(c"xof", INTEGER, size_of::<c_int>()),
    END,
]);

/// The parameters that a context or an algorithm reports.
pub static GETTABLE: Constant<[Param; 3]> = Constant([
    of(c"size", UNSIGNED, size_of::<usize>()),
    of(c"block-size", UNSIGNED, size_of::<usize>()),
    END,
]);

/// The parameters that can be set for a message, after the key.
pub static OF_MESSAGE: Constant<[Param; 3]> =
    Constant([of(c"iv", OCTETS, 0), of(c"size", UNSIGNED, size_of::<usize>()), END]);

/// The parameters that a key is made from.
pub static OF_KEY: Constant<[Param; 3]> =
    Constant([of(c"priv", OCTETS, 0), of(c"cipher", TEXT, 0), END]);

/// The parameters that a key reports.
pub static SAID_OF_KEY: Constant<[Param; 3]> = Constant([
    of(c"bits", INTEGER, size_of::<c_int>()),
    of(c"max-size", INTEGER, size_of::<c_int>()),
    END,
]);

/// Builds a list with a key, and with the cipher that selected its MAC, if any. The list points to
/// both and must only be read.
pub fn exported(key: &[u8], cipher: Option<&CStr>) -> [Param; 3] {
    let value = |name, kind, data: &[u8]| Param {
        data: data.as_ptr().cast_mut().cast(),
        data_size: data.len(),
        ..of(name, kind, 0)
    };
    let cipher = cipher.map_or(END, |cipher| value(c"cipher", TEXT, cipher.to_bytes()));
    [value(c"priv", OCTETS, key), cipher, END]
}

/// The parameters that the provider reports.
pub static OF_PROVIDER: Constant<[Param; 5]> = Constant([
    of(c"name", TEXT_POINTER, 0),
    of(c"version", TEXT_POINTER, 0),
    of(c"buildinfo", TEXT_POINTER, 0),
    of(c"status", INTEGER, size_of::<c_int>()),
    END,
]);

/// Iterates over a list that is only read. It may be a constant that several threads use.
///
/// # Safety
///
/// `list` is null or ends with a parameter without a name. It does not change during `'a`.
pub unsafe fn each<'a>(mut list: *const Param) -> impl Iterator<Item = &'a Param> {
    std::iter::from_fn(move || {
        // SAFETY: null or within the list, because the iterator stops at its end.
        let param = unsafe { list.as_ref() }.filter(|param| !param.key.is_null())?;
        list = list.wrapping_add(1);
        Some(param)
    })
}

/// Iterates over a list to fill in.
///
/// # Safety
///
/// As for [`each`], and the list is not used elsewhere during `'a`.
pub unsafe fn each_mut<'a>(mut list: *mut Param) -> impl Iterator<Item = &'a mut Param> {
    std::iter::from_fn(move || {
        // SAFETY: null or within the list, because the iterator stops at its end.
        let param = unsafe { list.as_mut() }.filter(|param| !param.key.is_null())?;
        list = list.wrapping_add(1);
        Some(param)
    })
}

impl Param {
    /// Returns the name.
    pub fn name(&self) -> &str {
        // SAFETY: the caller of `each` guaranteed a list of C strings.
        unsafe { CStr::from_ptr(self.key) }.to_str().unwrap_or("")
    }

    fn wrong(&self, expected: &str) -> Failure {
        let (name, kind) = (self.name(), self.kind);
        format!("the parameter '{name}' must be {expected}; its type is {kind}").into()
    }

    /// Returns the raw bytes of the value, which may have any type.
    fn data(&self) -> Result<&[u8], Failure> {
        // SAFETY: the creator of the list guarantees the size of the data.
        unsafe { bytes(self.name(), self.data.cast_const().cast(), self.data_size) }
    }

    /// Returns the value as bytes.
    ///
    /// # Errors
    ///
    /// If it has another type.
    pub fn octets(&self) -> Result<&[u8], Failure> {
        if self.kind == OCTETS { self.data() } else { Err(self.wrong("octets")) }
    }

    /// Returns the value as text.
    ///
    /// # Errors
    ///
    /// If it has another type or is not UTF-8.
    pub fn text(&self) -> Result<&str, Failure> {
        ensure(self.kind == TEXT, || self.wrong("text"))?;
        let data = self.data()?;
        let end = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
        std::str::from_utf8(&data[..end]).map_err(|_| self.wrong("text"))
    }

    /// Returns the value as a number.
    ///
    /// # Errors
    ///
    /// If it has another type, is negative, or does not fit into a `u64`.
    pub fn number(&self) -> Result<u64, Failure> {
        ensure(matches!(self.kind, INTEGER | UNSIGNED), || self.wrong("a number"))?;
        let data = self.data()?;
        // Byte `i`, counted from the lowest.
        let byte = |i: usize| {
            data.get(if cfg!(target_endian = "big") { data.len().wrapping_sub(i + 1) } else { i })
        };
        let top = data.len().checked_sub(1).and_then(byte);
        let negative = self.kind == INTEGER && top.is_some_and(|&top| top >= 0x80);
        let long = (8..data.len()).any(|i| byte(i) != Some(&0));
        ensure(!negative && !long && top.is_some(), || {
            format!("the parameter '{}' must be from 0 to 2^64 - 1", self.name())
        })?;
        Ok(u64::from_le_bytes(std::array::from_fn(|i| byte(i).copied().unwrap_or(0))))
    }

    /// Sets the value to a number.
    ///
    /// # Errors
    ///
    /// If the value does not have 4 or 8 bytes, or the number is too large for it.
    pub fn set_number(&mut self, number: usize) -> Result<(), Failure> {
        ensure(matches!(self.kind, INTEGER | UNSIGNED), || self.wrong("a number"))?;
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
        // SAFETY: the data is not null, and the creator of the list guarantees its size.
        unsafe { value.as_ptr().copy_to_nonoverlapping(self.data.cast(), value.len()) };
        self.return_size = value.len();
        Ok(())
    }

    /// Sets the value to a text that is never freed.
    ///
    /// # Errors
    ///
    /// If it has another type.
    pub fn set_text(&mut self, text: &'static CStr) -> Result<(), Failure> {
        ensure(self.kind == TEXT_POINTER, || self.wrong("a pointer to text"))?;
        self.return_size = text.count_bytes();
        if !self.data.is_null() {
            // SAFETY: for this type the data is a pointer to a string.
            unsafe { self.data.cast::<*const c_char>().write_unaligned(text.as_ptr()) };
        }
        Ok(())
    }
}

/// Makes a parameter with bytes.
#[cfg(test)]
pub fn octets(name: &'static CStr, bytes: &[u8]) -> Param {
    let data = bytes.as_ptr().cast_mut().cast();
    Param { data, ..of(name, OCTETS, bytes.len()) }
}

/// Makes a list that asks for a number.
#[cfg(test)]
pub fn asked(name: &'static CStr, found: &mut usize) -> [Param; 2] {
    let asked = of(name, UNSIGNED, size_of::<usize>());
    [Param { data: std::ptr::from_mut(found).cast(), ..asked }, END]
}
