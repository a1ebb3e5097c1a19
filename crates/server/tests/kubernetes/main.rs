//! The Kubernetes dialect over HTTP.

mod client;
mod compare;
mod differences;
mod discovery;
mod exchange;
mod kubectl;
mod namespaces;
mod replay;
mod support;
