//! `cargo xtask fuzz locked`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wheelwright_fuzz::locked(input));
