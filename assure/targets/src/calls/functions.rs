//! The functions of the C interface, as `tagmac.h` declares them.

use std::ffi::{c_char, c_int};

/// Any of the objects, initially zeros.
pub type Words = [usize; 4];

unsafe extern "C" {
    pub fn tagmac_error_string(line: *mut c_char, line_size: usize) -> *const c_char;
    pub fn tagmac_key_init(
        key: *mut Words,
        algorithm: *const c_char,
        bytes: *const u8,
        size: usize,
        bits: usize,
    ) -> c_int;
    pub fn tagmac_key_free(key: *mut Words) -> c_int;
    pub fn tagmac_key_algorithm(key: *const Words) -> *const c_char;
    pub fn tagmac_key_tag_size(key: *const Words) -> usize;
    pub fn tagmac_key_tag(
        key: *const Words,
        tag: *mut u8,
        tag_size: usize,
        nonce: *const u8,
        nonce_size: usize,
        message: *const u8,
        message_size: usize,
    ) -> c_int;
    pub fn tagmac_key_verify(
        key: *const Words,
        tag: *const u8,
        tag_size: usize,
        nonce: *const u8,
        nonce_size: usize,
        message: *const u8,
        message_size: usize,
    ) -> c_int;
    pub fn tagmac_stream_init(
        stream: *mut Words,
        key: *const Words,
        nonce: *const u8,
        nonce_size: usize,
    ) -> c_int;
    pub fn tagmac_stream_update(stream: *mut Words, data: *const u8, size: usize) -> c_int;
    pub fn tagmac_stream_final(stream: *mut Words, tag: *mut u8, tag_size: usize) -> c_int;
    pub fn tagmac_stream_verify(stream: *mut Words, tag: *const u8, tag_size: usize) -> c_int;
    pub fn tagmac_stream_next(stream: *mut Words, nonce: *const u8, nonce_size: usize) -> c_int;
    pub fn tagmac_stream_free(stream: *mut Words) -> c_int;
    pub fn tagmac_part_init(
        part: *mut Words,
        key: *const Words,
        start: u64,
        blocks: *const u8,
        size: usize,
    ) -> c_int;
    pub fn tagmac_part_join(left: *mut Words, right: *mut Words, key: *const Words) -> c_int;
    pub fn tagmac_part_finish(
        part: *mut Words,
        key: *const Words,
        tag: *mut u8,
        tag_size: usize,
        nonce: *const u8,
        nonce_size: usize,
        rest: *const u8,
        rest_size: usize,
    ) -> c_int;
    pub fn tagmac_part_range(part: *const Words, start: *mut u64, end: *mut u64) -> c_int;
    pub fn tagmac_part_free(part: *mut Words) -> c_int;
    pub fn tagmac_session_init(
        session: *mut Words,
        key: *const Words,
        next_nonce: *const u8,
        nonce_size: usize,
        max_message: u64,
        probability: f64,
    ) -> c_int;
    pub fn tagmac_session_restore(
        session: *mut Words,
        key: *const Words,
        saved: *const u8,
        saved_size: usize,
        max_message: u64,
        probability: f64,
    ) -> c_int;
    pub fn tagmac_session_tag(
        session: *mut Words,
        tag: *mut u8,
        tag_size: usize,
        nonce: *mut u8,
        nonce_size: usize,
        message: *const u8,
        message_size: usize,
    ) -> c_int;
    pub fn tagmac_session_verify(
        session: *mut Words,
        tag: *const u8,
        tag_size: usize,
        nonce: *const u8,
        nonce_size: usize,
        message: *const u8,
        message_size: usize,
        words: usize,
    ) -> c_int;
    pub fn tagmac_session_reserve(session: *mut Words, messages: u64) -> c_int;
    pub fn tagmac_session_save(session: *mut Words, saved: *mut u8, saved_size: usize) -> c_int;
    pub fn tagmac_session_counts(
        session: *const Words,
        used: *mut u64,
        left: *mut u64,
        reserved: *mut u64,
    ) -> c_int;
    pub fn tagmac_session_nonce_size(session: *const Words) -> usize;
    pub fn tagmac_session_free(session: *mut Words) -> c_int;
}
