//! A request as dialects see it.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, header};

use crate::{caller::Caller, path::Segments, query::Query};

/// What is known of a request before its body is read.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) method: Method,
    /// As it was sent, without the query.
    pub(crate) raw_path: Box<str>,
    pub(crate) path: Segments,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    /// How this server is reached, to make links of: `http://127.0.0.1:8080`.
    pub(crate) base: Box<str>,
    pub(crate) caller: Arc<Caller>,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) head: Head,
    pub(crate) body: Bytes,
}

impl Head {
    /// The text of a header; none if it is not there, or is no text.
    pub(crate) fn header(&self, name: impl header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The type of the body, without its parameters, in lower case.
    pub(crate) fn content_type(&self) -> Option<String> {
        let text = self.header(header::CONTENT_TYPE)?;
        Some(text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }
}
