//! A stream whose connection is charged for what it has read of a request that is not complete.
//!
//! Heads come before anyone is asked who they are, and the buffers that they are read into stay with the connection. One
//! that needs more memory than there is waits, and the connection with the longest unfinished head has to leave.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use crate::{budget::Charge, connections::Connection, frames::Frames};

/// How long a connection waits until it asks for memory again.
const PAUSE: Duration = Duration::from_millis(100);

/// A stream whose reads are charged.
#[derive(Debug)]
pub(crate) struct Metered<S> {
    stream: S,
    connection: Arc<Connection>,
    /// What the connection takes without what it reads.
    base: usize,
    charge: Charge,
    frames: Frames,
    /// Running while there is no memory for what was read.
    pause: Option<Pin<Box<Sleep>>>,
}

impl<S> Metered<S> {
    /// A stream of a connection with the charge that it has so far.
    pub(crate) fn new(stream: S, connection: Arc<Connection>, charge: Charge) -> Self {
        Self { stream, connection, base: charge.bytes(), charge, frames: Frames::new(), pause: None }
    }

    /// Charges the connection for what it has read; false if there is no memory. Only HTTP/2 gives buffers back while the
    /// connection lasts.
    fn grow(&mut self, buffered: usize) -> bool {
        let bytes = self.base + buffered;
        if matches!(self.frames, Frames::Http2(_)) && bytes < self.charge.bytes() {
            self.charge.resize(bytes);
        }
        if bytes <= self.charge.bytes() || self.charge.try_grow(bytes).is_ok() {
            return true;
        }
        self.connection.dismiss_longest_head();
        false
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
            let buffered = self.connection.buffered();
            let is_over = self.grow(buffered);
            self.pause = (!is_over).then(|| Box::pin(sleep(PAUSE)));
        }
        let filled = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let bytes = buffer.filled().len() - filled;
        if bytes > 0 {
            let head = self.frames.read(&buffer.filled()[filled..]);
            let buffered = self.connection.has_read(bytes, head);
            if !self.grow(buffered) {
                self.pause = Some(Box::pin(sleep(PAUSE)));
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
