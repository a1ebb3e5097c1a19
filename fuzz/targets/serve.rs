//! `cargo xtask fuzz serve`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wheelwright_fuzz::serve(input));
