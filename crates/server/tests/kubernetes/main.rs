//! The Kubernetes dialect over HTTP.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]
#![expect(clippy::print_stdout, reason = "every run says what was compared, and what was not")]

mod at_the_limit;
mod client;
mod cluster_scoped;
mod compare;
mod differences;
mod discovery;
mod empty;
mod exchange;
mod kept;
mod kubectl;
mod laws;
mod namespaces;
mod not_displayed;
mod objects;
mod replay;
mod support;
