//! How much a server does at once, and for whom.

use std::time::Duration;

use crate::budget;

/// How much a server does at once. What is beyond is refused with a clear answer, and the rest is served on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The most connections. Whoever comes then takes the place of an idle one, whose time is up first.
    pub connections: usize,
    /// The most requests that are being answered; whoever comes then is told to try again. Watches do not count. One caller
    /// has at most half of them.
    pub requests: usize,
    /// The most watches; one caller has at most half of them.
    pub watches: usize,
    /// The longest body of a request, in bytes.
    pub body_bytes: usize,
    /// The longest head of a request, in bytes.
    pub head_bytes: usize,
    /// How long the head of a request may take to come.
    pub head_time: Duration,
    /// How long the body of a request may take to come.
    pub body_time: Duration,
    /// How long a request may take to be answered; watches and long lists may take longer.
    pub request_time: Duration,
    /// How long an answer may take to be sent, watches aside: whoever takes it drop by drop is given up.
    pub answer_time: Duration,
    /// How long a client may take for 16 KiB of what it asked for, or for all that is there of it, before it is given up.
    pub stall_time: Duration,
    /// How long a connection may be idle; one that has not made a request yet no longer than a head may take to come.
    pub idle_time: Duration,
    /// The most documents of a page of a list.
    pub page: usize,
    /// The most memory of the process, in bytes: how much of it requests, answers, watches and connections may use follows
    /// from it.
    pub memory_bytes: usize,
    /// How many bytes of what was shown are kept, to be shown again while it is the same.
    pub kept_bytes: usize,
    /// How long requests are served as ever once the server is asked to end, while `/readyz` says that it will: whoever
    /// spreads requests over servers sees it and sends no more.
    pub shutdown_delay: Duration,
    /// How long requests may go on then.
    pub grace: Duration,
}

impl Default for Limits {
    /// Limits for a process of 512 MiB.
    fn default() -> Self {
        Self {
            connections: 16_384,
            requests: 512,
            watches: 4_096,
            body_bytes: 3 << 20,
            head_bytes: 64 << 10,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(30),
            request_time: Duration::from_secs(60),
            answer_time: Duration::from_secs(300),
            stall_time: Duration::from_secs(30),
            idle_time: Duration::from_secs(180),
            page: 500,
            memory_bytes: 512 << 20,
            kept_bytes: 16 << 20,
            shutdown_delay: Duration::ZERO,
            grace: Duration::from_secs(20),
        }
    }
}

impl Limits {
    /// The least memory that a server can keep to.
    pub const LEAST_MEMORY: usize = 256 << 20;

    /// The default limits for a process that may use so much memory: with less than 512 MiB, bodies have to be shorter.
    pub fn for_memory(bytes: usize) -> Self {
        let limits = Self { memory_bytes: bytes, ..Self::default() };
        Self { body_bytes: limits.body_bytes.min(limits.most_body_bytes()), ..limits }
    }

    /// The longest body that can be processed with this memory.
    pub fn most_body_bytes(&self) -> usize {
        budget::step_bytes(self.memory_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_shorter_with_little_memory() {
        let body = |mib: usize| Limits::for_memory(mib << 20).body_bytes;
        assert_eq!([256, 512, 4096].map(body), [3 << 19, 3 << 20, 3 << 20]);
        assert_eq!(Limits::default(), Limits::for_memory(512 << 20));
    }
}
