//! `cargo xtask fuzz cel`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wheelwright_fuzz::cel(input));
