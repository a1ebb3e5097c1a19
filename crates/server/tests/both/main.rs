//! One kind in both dialects, over HTTP: an object of Kubernetes that is a resource of Azure's resource manager, too.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod errors;
mod grants;
mod laws;
mod media_types;
mod methods;
mod objects;
mod removals;
mod support;
