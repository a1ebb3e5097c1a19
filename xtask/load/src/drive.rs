//! Requests from several clients at once, for some time, and what they took.

use std::{
    cell::{Cell, RefCell},
    fmt, io,
    net::SocketAddr,
    rc::Rc,
    time::{Duration, Instant},
};

use tokio::task::LocalSet;

use crate::client::Connection;

/// Clients that send requests.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) clients: usize,
    /// The most requests; a round ends with them or with its time.
    pub(crate) requests: usize,
    pub(crate) time: Duration,
}

/// What was measured.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
    pub(crate) took: Duration,
    /// Of every request, in order of size.
    latencies: Vec<Duration>,
}

impl Load {
    /// Sends requests, each made of its number, to be answered with a status.
    pub(crate) fn run(
        self,
        address: SocketAddr,
        expected: u16,
        request: impl Fn(usize) -> Rc<[u8]> + 'static,
    ) -> io::Result<Measured> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (next, bytes, latencies) =
            (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())));
        let request = Rc::new(request);
        let clients = async {
            let mut connections = Vec::new();
            for _ in 0..self.clients {
                connections.push(Connection::open(address).await?);
            }
            let began = Instant::now();
            let clients: Vec<_> = connections
                .into_iter()
                .map(|mut connection| {
                    let (next, bytes, latencies, request) =
                        (next.clone(), bytes.clone(), latencies.clone(), request.clone());
                    tokio::task::spawn_local(async move {
                        while next.get() < self.requests && began.elapsed() < self.time {
                            let request = request(next.replace(next.get() + 1));
                            let sent = Instant::now();
                            let answer = connection.exchange(&request, false).await?;
                            latencies.borrow_mut().push(sent.elapsed());
                            bytes.set(bytes.get() + answer.length);
                            if answer.status != expected {
                                let line = String::from_utf8_lossy(&request);
                                let line = line.lines().next().unwrap_or_default();
                                return Err(io::Error::other(format!(
                                    "{line}: {} instead of {expected}",
                                    answer.status
                                )));
                            }
                        }
                        Ok(())
                    })
                })
                .collect();
            for client in clients {
                client.await??;
            }
            Ok::<_, io::Error>(began.elapsed())
        };
        let took = LocalSet::new().block_on(&runtime, clients)?;
        let mut latencies = latencies.take();
        latencies.sort_unstable();
        Ok(Measured { count: latencies.len(), bytes: bytes.get(), took, latencies })
    }
}

impl Measured {
    /// Requests a second.
    pub(crate) fn rate(&self) -> f64 {
        self.count as f64 / self.took.as_secs_f64()
    }

    /// Bytes of bodies a second.
    pub(crate) fn bytes_rate(&self) -> f64 {
        self.bytes as f64 / self.took.as_secs_f64()
    }

    /// What so many of a hundred requests took at most.
    fn percentile(&self, percent: usize) -> Duration {
        let at = (self.latencies.len() * percent / 100).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(at).copied().unwrap_or_default()
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |percent| self.percentile(percent).as_secs_f64() * 1e3;
        let (rate, megabytes) = (self.rate(), self.bytes_rate() / 1e6);
        write!(
            f,
            "{rate:>9.0}/s {megabytes:>7.1} MB/s   p50 {:>7.2} ms   p99 {:>7.2} ms",
            milliseconds(50),
            milliseconds(99)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_requests_that_took_longest() {
        let latencies: Vec<_> = (1..=200).map(Duration::from_millis).collect();
        let measured = Measured { count: 200, bytes: 4_000, took: Duration::from_secs(2), latencies };
        assert_eq!((measured.rate(), measured.bytes_rate()), (100.0, 2_000.0));
        assert_eq!(measured.percentile(50), Duration::from_millis(101));
        assert_eq!(measured.percentile(99), Duration::from_millis(199));
        let none = Measured { count: 0, latencies: Vec::new(), ..measured };
        assert_eq!(none.percentile(99), Duration::ZERO);
    }
}
