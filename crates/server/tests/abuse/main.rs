//! Clients that mean no good, or know no better: each is refused or contained, and the rest is served on.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod browsers;
mod crowds;
mod log;
mod paths;
mod resets;
mod sizes;
mod slow;
mod smuggling;
mod support;
mod tenants;
mod tls;
