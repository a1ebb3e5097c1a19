//! How much of the room for annotations a document takes.

use std::{error::Error, fmt};

use wheelwright_document::Value;

use super::{CARRY_PREFIX, annotations};

/// How many bytes the names and values of all annotations of an object may take in Kubernetes: 256 KiB.
pub const ANNOTATION_LIMIT: usize = 256 << 10;

/// How many bytes the annotations of a document take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct CarrySize {
    /// Those that carry something.
    pub carried: usize,
    /// All of them.
    pub total: usize,
}

/// A document that carries more than an API server takes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CarryTooLarge {
    /// How many bytes the annotations take.
    pub size: CarrySize,
    /// The annotation that takes most of them, of those that carry something if there are any.
    pub largest: Box<str>,
    /// How many bytes it takes.
    pub largest_bytes: usize,
}

impl fmt::Display for CarryTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "annotations take {} bytes, {} of them for what the version cannot say, and may take {ANNOTATION_LIMIT}; the \
             largest, {}, takes {}: serve the object at a version that can say it",
            self.size.total, self.size.carried, self.largest, self.largest_bytes
        )
    }
}

impl Error for CarryTooLarge {}

/// How many bytes the annotations of a document take.
///
/// # Errors
/// They take more than an API server accepts.
pub fn carry_size(document: Value<'_>) -> Result<CarrySize, CarryTooLarge> {
    let mut size = CarrySize::default();
    let mut largest = (false, 0, "");
    for annotation in annotations(document.as_object().unwrap_or_default()) {
        let bytes = annotation.key.len() + annotation.value.as_str().map_or(0, str::len);
        let carries = annotation.key.starts_with(CARRY_PREFIX);
        size.total += bytes;
        size.carried += if carries { bytes } else { 0 };
        largest = largest.max((carries, bytes, annotation.key));
    }
    match size.total <= ANNOTATION_LIMIT {
        true => Ok(size),
        false => Err(CarryTooLarge { size, largest: largest.2.into(), largest_bytes: largest.1 }),
    }
}
