//! Catalogs from files: what they declare, what is found wrong with them, and how people are told.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod examples;
mod git;
mod golden;
mod load;
mod lock;
mod names;
mod real;
mod schemas;
mod service;
mod support;
