//! The Kubernetes dialect over HTTP.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod client;
mod compare;
mod differences;
mod discovery;
mod exchange;
mod kubectl;
mod objects;
mod replay;
mod support;
