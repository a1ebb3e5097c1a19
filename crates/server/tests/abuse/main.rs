//! Clients that mean no good, or know no better: each is refused or contained, and the rest is served on.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod browsers;
#[cfg(target_os = "linux")]
mod client;
mod crowds;
#[cfg(target_os = "linux")]
mod floods;
#[cfg(target_os = "linux")]
mod heads;
mod log;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod onlooker;
mod paths;
#[cfg(target_os = "linux")]
mod postgres;
mod probes;
#[cfg(target_os = "linux")]
mod process;
mod resets;
#[cfg(target_os = "linux")]
mod resumed;
mod revoked;
mod sizes;
mod slow;
mod smuggling;
mod support;
mod tenants;
mod tls;
#[cfg(target_os = "linux")]
mod work;

/// As in the command, so that memory that is free again is measured as such.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
