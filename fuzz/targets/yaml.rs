//! `cargo xtask fuzz yaml`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wheelwright_fuzz::yaml(input));
