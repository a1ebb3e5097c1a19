//! What a dialect answers.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

use crate::{refusal::Refusal, request_id::Ids};

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: AnswerBody,
    /// Why the server refused the request, for logs; none if its dialect did.
    pub(crate) reason: Option<Box<str>>,
    /// The error that the request failed with, for the log alone.
    pub(crate) cause: Option<Box<str>>,
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum AnswerBody {
    /// All of it.
    Whole(Option<Bytes>),
    /// It comes piece by piece, [as fast as the client takes it](crate::pieces).
    Pieces(mpsc::UnboundedReceiver<Bytes>),
}

/// The most bytes of warnings; what is beyond is left out.
const MOST_WARNING_BYTES: usize = 4096;

impl Answer {
    /// An answer without a body.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: AnswerBody::Whole(None), reason: None, cause: None }
    }

    /// An answer in JSON.
    pub(crate) fn json(status: StatusCode, json: impl Into<Bytes>) -> Self {
        let body = AnswerBody::Whole(Some(json.into()));
        Self { body, ..Self::empty(status) }.with(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
    }

    /// An answer in plain text.
    pub(crate) fn text(status: StatusCode, text: impl Into<String>) -> Self {
        let body = AnswerBody::Whole(Some(text.into().into()));
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        Self { body, ..Self::empty(status) }.with(header::CONTENT_TYPE, plain)
    }

    /// The same, with a header instead of what it was. What cannot be a header is left out.
    #[must_use]
    pub(crate) fn with(mut self, name: HeaderName, value: impl TryInto<HeaderValue>) -> Self {
        if let Ok(value) = value.try_into() {
            self.headers.insert(name, value);
        }
        self
    }

    /// Adds the ids of the request to the headers.
    #[must_use]
    pub(crate) fn with_ids(mut self, ids: Ids) -> Self {
        for (name, id) in ids.0 {
            self.headers.insert(name, id);
        }
        self
    }

    /// The same, with one more header.
    #[must_use]
    pub(crate) fn and(mut self, name: HeaderName, value: impl TryInto<HeaderValue>) -> Self {
        if let Ok(value) = value.try_into() {
            self.headers.append(name, value);
        }
        self
    }

    /// The same, with warnings, each in a header of its own.
    #[must_use]
    pub(crate) fn warned(mut self, warnings: impl Iterator<Item = String>) -> Self {
        let mut room = MOST_WARNING_BYTES;
        for warning in warnings {
            let mut quoted = String::new();
            for character in warning.chars().filter(|character| !character.is_control()) {
                if matches!(character, '"' | '\\') {
                    quoted.push('\\');
                }
                quoted.push(character);
            }
            let value = format!("299 - \"{quoted}\"");
            if value.len() > room {
                break;
            }
            room -= value.len();
            if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
                self = self.and(header::WARNING, value);
            }
        }
        self
    }

    /// The same, with the reason for which the server refused the request.
    #[must_use]
    pub(crate) fn refusing(self, refusal: &Refusal) -> Self {
        Self { reason: Some(refusal.message().into()), ..self }
    }

    pub(crate) fn into_response(self) -> http::Response<AnswerBody> {
        let mut response = http::Response::new(self.body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Pieces(pieces) => pieces.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}
