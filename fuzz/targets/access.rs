//! `cargo xtask fuzz access`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wheelwright_fuzz::access(input));
