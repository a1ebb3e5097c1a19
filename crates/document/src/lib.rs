//! The one representation of a document.
//!
//! A [`Value`] is `Copy`, immutable and borrowed: from the input bytes where that is possible, from an [`Arena`]
//! where it is not. "Changing" a value makes new slices in the arena and shares every subtree that stays. Numbers
//! keep their text. Absent, null and a value are three things: an absent field has no [`Entry`].
//!
//! ```
//! use wheelwright_document::{Arena, decode, encode};
//!
//! let arena = Arena::new();
//! let document = decode(br#"{"replicas": 1.0, "paused": null}"#, &arena)?;
//! assert_eq!(encode(document), br#"{"replicas":1.0,"paused":null}"#);
//! assert!(document.get("name").is_none());
//! # Ok::<(), wheelwright_document::DecodeError>(())
//! ```
//!
//! This crate does no IO.

mod arena;
mod canonical;
mod decode;
mod encode;
mod extent;
mod json_spans;
mod number;
mod owned;
mod patch;
mod path;
mod spanned;
mod value;
mod yaml;
mod yaml_write;

pub use arena::Arena;
pub use canonical::canonical;
pub use decode::{
    Decode, DecodeError, DecodeErrorKind, Decoded, DuplicateKeys, MAX_DOCUMENT_BYTES, Yaml, decode, decode_trusted,
};
pub use encode::{encode, encode_into};
pub use extent::Extent;
pub use json_spans::decode_json_spanned;
pub use number::Number;
pub use owned::{Owned, OwnedText};
pub use patch::{ItemOrigins, JsonPatch, PatchError, PatchErrorKind, merge_patch};
pub use path::{FieldPath, Path};
pub use spanned::{Span, Spanned, SpannedEntry, SpannedNode};
pub use value::{Entry, Text, Value};
pub use yaml::{Comment, YamlError, YamlErrorKind, decode_nested_yaml, decode_yaml, yaml_comments};
pub use yaml_write::write_yaml;
