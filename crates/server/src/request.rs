//! A request as dialects see it.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Uri, header};

use crate::{audit::Trail, budget::Allowance, caller::Caller, path::Segments, query::Query};

/// What is known of a request before its body is read.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) method: Method,
    /// As it was sent.
    pub(crate) uri: Uri,
    pub(crate) path: Segments,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    pub(crate) server: Arc<Reached>,
    pub(crate) caller: Arc<Caller>,
    /// What the request leaves in the audit log.
    pub(crate) trail: Trail,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) head: Head,
    pub(crate) body: Bytes,
    /// The memory that its caller may have.
    pub(crate) allowance: Arc<Allowance>,
}

/// How the server is reached.
#[derive(Debug)]
pub(crate) struct Reached {
    pub(crate) scheme: &'static str,
    /// Where it listens.
    pub(crate) address: Box<str>,
    /// What links begin with, if that was said.
    pub(crate) public_url: Option<Box<str>>,
}

impl Head {
    /// The path as it was sent, without the query.
    pub(crate) fn raw_path(&self) -> &str {
        self.uri.path()
    }

    /// How whoever sent the request reaches the server, to make links of: `http://127.0.0.1:8080`.
    pub(crate) fn base(&self) -> String {
        let Reached { scheme, address, public_url } = &*self.server;
        if let Some(url) = public_url {
            return url.to_string();
        }
        let host = self.header(header::HOST).or(self.uri.authority().map(http::uri::Authority::as_str));
        format!("{scheme}://{}", host.unwrap_or(address))
    }

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
