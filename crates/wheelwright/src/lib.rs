//! Every version of your API, one stored truth, nothing lost.
//!
//! This crate is the facade of the libraries and the `wheelwright` command. Every command is a function of
//! [`command`], from [`Input`]s to a [`Console`]; files, streams and the process are left to the binary.
//!
//! ```
//! use wheelwright::{Console, Exit, Input, Schemas, command};
//!
//! let schema = Input::named("schema.yaml", "type: object\nproperties: {replicas: {type: integer, default: 3}}\n");
//! let document = Input::named("document.json", "{}");
//! let (mut data, mut conversation) = (Vec::new(), Vec::new());
//! let mut console = Console::plain(&mut data, &mut conversation);
//! let schemas = Schemas::read([Ok(schema)], None, &mut console)?.expect("the schema can be read");
//! let exit = command::default([Ok(document)], &schemas, &Default::default(), &mut console)?;
//! assert_eq!(exit, Exit::Clean);
//! assert_eq!(data, b"{\n  \"replicas\": 3\n}\n");
//! # Ok::<(), std::io::Error>(())
//! ```

pub use wheelwright_catalog as catalog;
pub use wheelwright_document as document;
pub use wheelwright_evolve as evolve;
pub use wheelwright_findings as findings;
pub use wheelwright_repository as repository;
pub use wheelwright_schema as schema;
pub use wheelwright_server as server;
pub use wheelwright_store as store;

mod causes;
pub mod command;
mod console;
mod eval;
mod exit;
mod kinds;
mod lines;
mod locks;
mod openapi;
mod place;
mod pretty;
mod report;
mod scalar_place;
mod schemas;
mod subject;
mod words;

/// The program in docs/hooks.md.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/hooks.md")]
pub struct Hooks;

/// The programs in docs/repository.md.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/repository.md")]
pub struct RepositoryPage;

pub use console::Console;
pub use eval::eval_line;
pub use exit::Exit;
pub use kinds::{Kinds, Unlocked};
pub use report::{Format, ResultFormat};
pub use schemas::{Choice, Schemas};
pub use wheelwright_catalog::{Form, Input, MAX_BYTES, Origin, Unreadable};
