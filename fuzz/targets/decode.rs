//! `cargo xtask fuzz decode`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wheelwright_fuzz::decode(input));
