//! Every version of a kind as a lawful view of one stored document.
//!
//! A kind is declared by its versions and by what changed between them ([`Declaration`]). Its [`History`] gives every
//! field one id through all versions and names; the [`Lock`] remembers it for good. For a *hub*, the version whose shape
//! is stored, a history is compiled to [`Lenses`]:
//!
//! - a *scope* is the document, or one list item or map value that is an object; no change moves a field out of its scope;
//! - in a scope every field id has one *slot*;
//! - the *layout* of the hub says where slots are stored, in its shape or in a *bag*, and a *view* where a version shows
//!   them. `get` and `put` go from one to the other by way of the slots.
//!
//! A [`Kind`] is all of it, ready for use. `docs/lens.md` in the repository has the rules.
//!
//! ```
//! use wheelwright_document::{Arena, Decode, Span, decode, decode_json_spanned, encode};
//! use wheelwright_evolve::{Declaration, DeclaredVersion, Kind, Part, VersionName, parse_changes};
//! use wheelwright_schema::{Root, lower_schema};
//!
//! let arena = Arena::new();
//! let read = |text: &'static str| decode_json_spanned(text.as_bytes(), &arena, &Decode::default());
//! let mut orders = Declaration::new("shop.example.com", "Order");
//! for (name, schema) in [
//!     ("v1", r#"{"type": "object", "properties": {"qty": {"type": "integer"}, "note": {"type": "string"}}}"#),
//!     ("v2", r#"{"type": "object", "properties": {"quantity": {"type": "integer"}}}"#),
//! ] {
//!     let schema = lower_schema(&read(schema)?).item;
//!     orders.versions.push(DeclaredVersion::new(VersionName::new(name), schema, Root::Value, Span::default()));
//! }
//! orders.steps = parse_changes(&read(r#"{"v2": {"renamed": {"qty": "quantity"}, "removed": ["note"]}}"#)?).0;
//!
//! let kind = Kind::compile(&orders, None).0.expect("there are versions");
//! let (v1, v2) = (kind.version("v1").expect("declared"), kind.version("v2").expect("declared"));
//! let written = kind.normal(v1, decode(br#"{"qty": 3, "note": "a gift"}"#, &arena)?, &arena)?;
//! let stored = kind.put(v1, written, None, Part::Whole, &arena)?;
//! assert_eq!(encode(kind.get(v2, stored, &arena)), br#"{"quantity":3}"#);
//!
//! // A client of v2, which cannot see the note, does not erase it.
//! let stored = kind.put(v2, decode(br#"{"quantity": 4}"#, &arena)?, Some(stored), Part::Whole, &arena)?;
//! assert_eq!(encode(kind.get(v1, stored, &arena)), br#"{"qty":4,"note":"a gift"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate does no IO.

mod carry;
mod change;
pub mod check;
mod comparison;
mod compute;
mod consistency;
mod convert;
mod declaration;
mod digest;
mod empty_objects;
mod explain;
mod fact;
mod history;
mod identify;
mod kind;
mod kind_name;
pub mod laws;
mod left_out;
mod lens;
mod link;
mod lock;
mod named;
mod omitempty;
mod only;
mod origin;
mod problem;
mod reader;
mod selector;
mod shared;
mod structure;
#[cfg(test)]
mod testing;
mod version;

pub use carry::{
    ANNOTATION_LIMIT, CARRY_PREFIX, Carry, CarryFate, CarryNote, CarrySize, CarryTooLarge, Loaded, NoAnnotations,
    carry_size,
};
pub use change::{
    Bounds, Clamped, Conversion, DeclaredUnion, Derived, Direction, DocumentFormat, FieldValue, Located, OLDER_WRITE,
    OlderWrite, Policies, Renamed, Respelled, Steps, VersionStep, Writers, parse_changes,
};
pub use compute::{FillIn, Hook, HookCall, HookError, Hooks};
pub use consistency::{Consistency, DefaultedBy, Disagreement};
pub use convert::ConvertError;
pub use declaration::{Declaration, DeclaredVersion, Part};
pub use explain::{Because, Explained, Kept};
pub use history::{FieldId, FieldRecord, History, VersionHistory, VersionIndex, overlaid_schema, unknown_policy_field};
pub use kind::Kind;
pub use kind_name::KindName;
pub use lens::{
    Envelope, Lenses, Provenance, PutError, PutReport, Source, Trail, Trouble, TypeMeta, UncertainRemoval,
    match_concealed, match_items, match_known,
};
pub use lock::{Fingerprint, HubMove, Lock, LockedKind};
pub use omitempty::{RefusedBecause, RefusedDefault, Restored, Zeros};
pub use only::{Only, OnlyIn};
pub use origin::{NoActingVersion, Origin, OriginError, OutsideSpec};
pub use reader::{Reader, quoted};
pub use selector::{Selector, SelectorError, Step};
pub use structure::{NodeIndex, Scalar, Shape, Structure, StructureNode, Union};
pub use version::{Maturity, VersionName};
