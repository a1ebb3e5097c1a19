//! How many files and connections a process may have open.

/// Raises the number as far as it may be; gives it, if it is known.
#[cfg(unix)]
pub(crate) fn raise() -> Option<usize> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let before = limit.current;
    limit.current = limit.maximum;
    let now = match setrlimit(Resource::Nofile, limit) {
        Ok(()) => limit.maximum,
        // Without it there are fewer connections, and no fewer answers.
        Err(_) => before,
    };
    now.and_then(|most| usize::try_from(most).ok())
}

/// Nothing limits it here.
#[cfg(not(unix))]
pub(crate) fn raise() -> Option<usize> {
    None
}
