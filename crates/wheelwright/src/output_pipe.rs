//! Output streams whose reader may close them early, as `head` does, without changing the exit code.

use std::io;

/// A writer that discards output once its reader has closed the pipe.
///
/// The command runs to its end all the same: a check still has its verdict, and `store put` still stores every document.
#[derive(Debug)]
pub(crate) struct OutputPipe<W> {
    inner: W,
    is_closed: bool,
    /// Whether a closed pipe is an error: for a command that has nothing to do but write.
    reports_closing: bool,
}

impl<W: io::Write> OutputPipe<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, is_closed: false, reports_closing: false }
    }

    /// Fails with [`io::ErrorKind::BrokenPipe`] once the reader has closed the pipe.
    pub(crate) fn reporting_closing(self, reports_closing: bool) -> Self {
        Self { reports_closing, ..self }
    }

    fn attempt<T>(&mut self, discarded: T, write: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.is_closed && !self.reports_closing {
            return Ok(discarded);
        }
        let result = write(&mut self.inner);
        self.is_closed |= is_closed_pipe(&result);
        if self.is_closed && !self.reports_closing { Ok(discarded) } else { result }
    }
}

impl<W: io::Write> io::Write for OutputPipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(bytes.len(), |inner| inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), W::flush)
    }
}

/// Whether a write failed because the reader has closed the pipe.
pub(crate) fn is_closed_pipe<T>(result: &io::Result<T>) -> bool {
    result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
