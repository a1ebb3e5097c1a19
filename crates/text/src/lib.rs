//! What Go and Kubernetes make of texts.
//!
//! Schema validation and the expression language ask the same questions of the same texts, so the answers are here:
//! does it match a [`Pattern`], is it of a [`Format`], is it one of the [`names`] that Kubernetes allows? Which time,
//! duration, quantity, version, address or URL is it, and how do they compare?
//!
//! ```
//! use wheelwright_text::{Cidr, Format, Ip, Pattern, Quantity, Timestamp, Zone, names};
//!
//! assert!(Pattern::from_go(r"^\d+$")?.is_match("42"));
//! assert!(Format::for_string("date").is_some_and(|format| format.accepts("2024-02-29")));
//! assert!(names::is_dns1123_label("my-name"));
//! assert!(Quantity::parse("1.5Gi") > Quantity::parse("1.5G"));
//! let (network, address) = (Cidr::parse("10.0.0.0/8").unwrap(), Ip::parse("10.1.2.3").unwrap());
//! assert!(network.contains_ip(address));
//! let time = Timestamp::parse("2024-02-29T23:30:00Z").unwrap();
//! assert_eq!(time.at(&Zone::parse("Europe/Berlin").unwrap()).month(), 2);
//! # Ok::<(), wheelwright_text::PatternError>(())
//! ```
//!
//! A text that is nothing of the kind is `None`; what is wrong with it is for the caller to say, who knows where it
//! stands. This crate does no IO, and reads any text in linear time.

pub mod base64;
mod cidr;
mod digits;
mod format;
mod ip;
mod named_format;
pub mod names;
mod pattern;
mod quantity;
mod semver;
mod time;
mod url;

pub use cidr::Cidr;
pub use format::Format;
pub use ip::Ip;
pub use named_format::NamedFormat;
pub use pattern::{Pattern, PatternError, Translated};
pub use quantity::Quantity;
pub use semver::SemanticVersion;
pub use time::{Civil, GoDuration, LONGEST_DURATION, Timestamp, Zone};
pub use url::Url;
