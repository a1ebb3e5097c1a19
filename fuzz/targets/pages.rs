//! `cargo xtask fuzz pages`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wheelwright_fuzz::pages(input));
