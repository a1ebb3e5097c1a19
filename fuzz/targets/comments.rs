//! `cargo xtask fuzz comments`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wheelwright_fuzz::comments(input));
