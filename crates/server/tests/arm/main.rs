//! The dialect of Azure's resource manager, over HTTP.

mod catalogs;
mod client;
mod defaults;
mod documentation;
mod golden;
mod laws;
mod lists;
mod operations;
mod refused;
mod scenarios;
mod secrets;
