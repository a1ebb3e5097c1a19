//! The JSON Schemas of our own files, held against the examples in the documentation.
