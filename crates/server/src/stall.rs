//! A stream that fails once the other side takes too little for too long: whoever asks and does not read must not hold
//! what they asked for for ever.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// So many bytes are taken at least in the time that there is for it, or all that is there.
pub(crate) const LEAST: usize = 16 << 10;

/// A stream of which writes must get on within some time.
#[derive(Debug)]
pub(crate) struct Stalling<S, F> {
    stream: S,
    cut: F,
    most: Duration,
    /// Running while the other side has yet to take something, with how much it took meanwhile.
    stalled: Option<(Pin<Box<Sleep>>, usize)>,
}

impl<S, F: Fn()> Stalling<S, F> {
    /// A stream for which `cut` is called when its other side has taken too little for too long.
    pub(crate) fn new(stream: S, most: Duration, cut: F) -> Self {
        Self { stream, cut, most, stalled: None }
    }

    /// What a write of so many bytes came to, or that it has waited for too long.
    fn judge_write(
        &mut self,
        written: Poll<io::Result<usize>>,
        all: usize,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match (&written, &mut self.stalled) {
            (Poll::Ready(Ok(count)), Some((_, taken))) if *count < all && *taken + count < LEAST => {
                *taken += count;
                written
            }
            (Poll::Ready(_), _) => {
                self.stalled = None;
                written
            }
            (Poll::Pending, _) => self.wait(context),
        }
    }

    /// What something came to that writes all there is, or that it has waited for too long.
    fn judge(&mut self, done: Poll<io::Result<()>>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if done.is_pending() {
            return self.wait(context);
        }
        self.stalled = None;
        done
    }

    fn wait<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        let (stalled, _) = self.stalled.get_or_insert_with(|| (Box::pin(sleep(self.most)), 0));
        let timed_out = stalled.as_mut().poll(context);
        timed_out.map(|()| {
            (self.cut)();
            Err(io::ErrorKind::TimedOut.into())
        })
    }
}

impl<S: AsyncRead + Unpin, F: Unpin> AsyncRead for Stalling<S, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin, F: Fn() + Unpin> AsyncWrite for Stalling<S, F> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge_write(written, bytes.len(), context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.judge_write(written, slices.iter().map(|slice| slice.len()).sum(), context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(shut, context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Writes to somebody who takes some bytes every second.
    async fn written_to(a_second: usize, all: usize) -> io::Result<()> {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut ours = Stalling::new(ours, Duration::from_secs(30), || {});
        let reading = tokio::spawn(async move {
            let mut bytes = vec![0; a_second];
            while a_second > 0 && theirs.read_exact(&mut bytes).await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
            std::future::pending::<()>().await;
        });
        let written = ours.write_all(&vec![1; all]).await;
        reading.abort();
        written
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_too_little_is_given_up_and_whoever_is_slow_is_not() {
        for a_second in [0, 1, 500] {
            let error = written_to(a_second, 4 * LEAST).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{a_second}");
        }
        written_to(600, 4 * LEAST).await.unwrap();
        written_to(1, 80).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_has_taken_all_may_wait_for_more() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut ours = Stalling::new(ours, Duration::from_secs(30), || {});
        for _ in 0..5 {
            let writing = async {
                ours.write_all(&[1; 80]).await.unwrap();
                ours.flush().await.unwrap();
            };
            let mut bytes = [0; 80];
            let reading = async {
                sleep(Duration::from_secs(20)).await;
                theirs.read_exact(&mut bytes).await.unwrap();
            };
            tokio::join!(writing, reading);
            sleep(Duration::from_secs(60)).await;
        }
    }
}
