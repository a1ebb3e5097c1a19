//! `cargo xtask fuzz lock`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wheelwright_fuzz::lock(input));
