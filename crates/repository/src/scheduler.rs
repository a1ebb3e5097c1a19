//! Where long CPU-bound steps run.

use std::{
    fmt,
    task::{Context, Poll},
};

/// Steps over fewer bytes run at once, without asking a [`Scheduler`].
pub const LIGHT_BYTES: usize = 64 << 10;

/// Decides when a long CPU-bound step may run, and on which thread.
///
/// Decoding, converting and encoding a large document takes milliseconds in which a thread does nothing else. A
/// [repository](crate::Repository::with_scheduler) with a scheduler asks it before each step over [`LIGHT_BYTES`] or more;
/// without one, steps run on the thread that polls them.
pub trait Scheduler: fmt::Debug + Send + Sync {
    /// Ready once the step over so many bytes may run on the current thread. Until then, the step is polled by another thread
    /// or again.
    fn poll_step(&self, bytes: usize, context: &mut Context<'_>) -> Poll<()>;
}
