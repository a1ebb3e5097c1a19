//! Bodies of answers, with what their requests hold until they are sent.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use prometheus_client::metrics::gauge::Gauge;

use crate::{answer::AnswerBody, connections::Busy, share::Share, stall::LEAST};

/// A place among the requests that are being answered.
#[derive(Debug)]
pub(crate) struct Permit {
    _place: Decrease,
    _share: Share,
}

/// Takes one off a gauge when it is dropped.
#[derive(Debug)]
pub(crate) struct Decrease(Gauge);

/// A body with what its request holds until it is sent.
pub(crate) struct Held {
    body: AnswerBody,
    /// Whether the client has other answers beside it on the connection: then it is given no more at a time than it has to
    /// take in time.
    is_multiplexed: bool,
    /// What is there and not given yet.
    rest: Bytes,
    /// For streams: done once they have to end, with what is sent last.
    cut: Option<EarlyEnd>,
    _permit: Option<Permit>,
    busy: Busy,
}

/// A future of the last bytes of a stream that ends early.
pub(crate) type EarlyEnd = Pin<Box<dyn Future<Output = Bytes> + Send>>;

impl Permit {
    pub(crate) fn new(place: Decrease, share: Share) -> Self {
        Self { _place: place, _share: share }
    }
}

impl Decrease {
    /// Adds one to a gauge, until this is dropped.
    pub(crate) fn of(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }

    /// Adds one to a gauge that is below `most`, until this is dropped. `None` if the gauge is not below it.
    pub(crate) fn below(gauge: &Gauge, most: usize) -> Option<Self> {
        let before = gauge.inc();
        let decrease = Self(gauge.clone());
        usize::try_from(before).is_ok_and(|before| before < most).then_some(decrease)
    }
}

impl Drop for Decrease {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Held {
    /// A body that ends at the latest when it is cut.
    pub(crate) fn new(
        body: AnswerBody,
        cut: Option<EarlyEnd>,
        permit: Option<Permit>,
        busy: Busy,
        is_multiplexed: bool,
    ) -> Self {
        if is_multiplexed {
            busy.progress().offer();
        }
        Self { body, is_multiplexed, rest: Bytes::new(), cut, _permit: permit, busy }
    }

    /// What is given next of what is there.
    fn next_part(&mut self) -> Bytes {
        if !self.is_multiplexed {
            return std::mem::take(&mut self.rest);
        }
        self.busy.progress().offer();
        self.rest.split_to(self.rest.len().min(LEAST))
    }
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.is_multiplexed {
            self.busy.progress().take();
        }
        // Before what comes next, since there may always be more; after a piece that has begun.
        if self.rest.is_empty()
            && let Some(Poll::Ready(last)) = self.cut.as_mut().map(|cut| cut.as_mut().poll(context))
        {
            self.cut = None;
            self.body = AnswerBody::Whole(Some(last).filter(|last| !last.is_empty()));
        }
        while self.rest.is_empty() {
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => self.rest = frame.into_data().unwrap_or_default(),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => break,
            }
        }
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(self.next_part()))));
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tokio::sync::mpsc;

    use super::*;
    use crate::{Limits, connections::Connections};

    async fn parts(body: AnswerBody, is_multiplexed: bool) -> Vec<usize> {
        let connection = Connections::new(&Limits::default()).enter().unwrap();
        let mut held = Held::new(body, None, None, connection.busy(is_multiplexed, None), is_multiplexed);
        let (hint, mut parts) = (held.size_hint().exact(), Vec::new());
        while let Some(Ok(frame)) = held.frame().await {
            parts.push(frame.into_data().unwrap().len());
        }
        assert!(hint.is_none_or(|hint| hint == parts.iter().sum::<usize>() as u64));
        parts
    }

    #[tokio::test]
    async fn who_has_other_answers_beside_one_is_given_it_in_parts_and_nothing_is_lost() {
        let whole = |length| AnswerBody::Whole(Some(Bytes::from(vec![1; length])));
        assert_eq!(parts(whole(LEAST + 1), false).await, [LEAST + 1]);
        assert_eq!(parts(whole(LEAST * 2 + 1), true).await, [LEAST, LEAST, 1]);
        for is_multiplexed in [false, true] {
            assert_eq!(parts(whole(0), is_multiplexed).await, [0; 0]);
            let (sender, pieces) = mpsc::unbounded_channel();
            for length in [3, 0, 2] {
                sender.send(Bytes::from(vec![1; length])).unwrap();
            }
            drop(sender);
            assert_eq!(parts(AnswerBody::Pieces(pieces), is_multiplexed).await, [3, 2]);
        }
    }
}
