//! Bodies of answers, with what their requests hold until they are sent.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::{answer::AnswerBody, connections::Busy};

/// A place among the requests that are being answered.
#[derive(Debug)]
pub(crate) struct Permit {
    _place: OwnedSemaphorePermit,
    _gauge: Decrease,
}

/// Takes one off a gauge when it is dropped.
#[derive(Debug)]
pub(crate) struct Decrease(Gauge);

/// A body with what its request holds until it is sent.
pub(crate) struct Held {
    body: AnswerBody,
    /// For watches: they end with the server.
    ending: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    _permit: Option<Permit>,
    _busy: Busy,
}

impl Permit {
    pub(crate) fn new(place: OwnedSemaphorePermit, gauge: &Gauge) -> Self {
        Self { _place: place, _gauge: Decrease::of(gauge) }
    }
}

impl Decrease {
    /// Adds one to a gauge, until this is dropped.
    pub(crate) fn of(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Decrease {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Held {
    /// A body that ends at the latest with the server, if it is told of that.
    pub(crate) fn new(
        body: AnswerBody,
        ending: Option<watch::Receiver<bool>>,
        permit: Option<Permit>,
        busy: Busy,
    ) -> Self {
        let ending = ending.map(|ending| Box::pin(ended(ending)) as Pin<Box<dyn Future<Output = ()> + Send>>);
        Self { body, ending, _permit: permit, _busy: busy }
    }
}

async fn ended(mut ending: watch::Receiver<bool>) {
    // There is nobody to end it any more if this fails.
    let _ = ending.wait_for(|is_ending| *is_ending).await;
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        match self.ending.as_mut().map(|ending| ending.as_mut().poll(context)) {
            Some(Poll::Ready(())) => Poll::Ready(None),
            _ => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
