//! `cargo xtask fuzz computed`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wheelwright_fuzz::computed(input));
