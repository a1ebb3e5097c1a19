//! The Kubernetes dialect over HTTP.

mod client;
mod compare;
mod differences;
mod exchange;
mod replay;
mod support;
