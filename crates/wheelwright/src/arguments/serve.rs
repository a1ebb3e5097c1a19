//! What `serve` is given.

use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};

use crate::memory_limit::{body, memory, size_or_zero};
// The groups of options in the help text.
const CATALOG_AND_STORE: &str = "Catalog and store";
const ADDRESS_AND_TLS: &str = "Address and TLS";
const ACCESS: &str = "Access";
const LIMITS: &str = "Limits";
const LOGS_AND_AUDIT: &str = "Logs and audit";
const LIFECYCLE: &str = "Lifecycle";

#[derive(Args)]
pub(crate) struct Serve {
    /// A wheelwright.yaml, a folder that has one, or files with CustomResourceDefinitions or OpenAPI documents; may be
    /// repeated.
    #[arg(long, help_heading = CATALOG_AND_STORE, value_name = "PATH", default_value = ".")]
    pub(crate) catalog: Vec<PathBuf>,
    /// The store: sqlite:PATH or postgres://USER@HOST/DATABASE. A file that is not there is made.
    #[arg(long, help_heading = CATALOG_AND_STORE, value_name = "ADDRESS", default_value = "sqlite:wheelwright.db")]
    pub(crate) store: String,
    /// A system that owns fields of documents, by the name that the catalog gives it; it is asked for them with GET
    /// URL/KIND/NAME. May be repeated.
    #[arg(long, help_heading = CATALOG_AND_STORE, value_name = "NAME=URL")]
    pub(crate) source: Vec<String>,
    /// Where to listen; port 0 is one that is free.
    #[arg(long, help_heading = ADDRESS_AND_TLS, value_name = "ADDRESS", default_value = "127.0.0.1:8080", value_parser = address)]
    pub(crate) listen: SocketAddr,
    /// Serve /livez, /healthz, /readyz and /metrics at this address, too, without TLS: for kubelets and Prometheus.
    #[arg(long, help_heading = ADDRESS_AND_TLS, value_name = "ADDRESS", value_parser = address)]
    pub(crate) probe_listen: Option<SocketAddr>,
    /// The certificate of the server in PEM; it is read again when it changes.
    #[arg(long, help_heading = ADDRESS_AND_TLS, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate in PEM.
    #[arg(long, help_heading = ADDRESS_AND_TLS, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// The authorities of clients' certificates in PEM.
    #[arg(long, help_heading = ADDRESS_AND_TLS, value_name = "FILE", requires = "tls_cert")]
    pub(crate) client_ca: Option<PathBuf>,
    /// The revocation lists of those authorities in PEM; they are read again when they change.
    #[arg(long, help_heading = ADDRESS_AND_TLS, value_name = "FILE", requires = "client_ca")]
    pub(crate) client_crl: Option<PathBuf>,
    /// What links in answers begin with, where clients reach the server through a proxy: https://api.example.com.
    #[arg(long, help_heading = ADDRESS_AND_TLS, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Listen where others can reach the server although nothing is encrypted.
    #[arg(long, help_heading = ADDRESS_AND_TLS)]
    pub(crate) allow_plain: bool,
    /// The file that says who there is and what they may do; it is read again when it changes. Without it, everybody may do
    /// everything.
    #[arg(long, help_heading = ACCESS, value_name = "FILE")]
    pub(crate) access: Option<PathBuf>,
    /// Listen where others can reach the server although nobody is asked who they are.
    #[arg(long, help_heading = ACCESS)]
    pub(crate) allow_anonymous: bool,
    /// Answer requests for this host, too, where clients are not authenticated; may be repeated. Without it, requests must be
    /// for localhost, the address that the server listens at, or the host of --public-url: web pages of other names are refused.
    #[arg(long, help_heading = ACCESS, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// The most requests that are answered at once.
    #[arg(long, help_heading = LIMITS, value_name = "NUMBER", default_value = "512", value_parser = at_least_one)]
    pub(crate) max_requests: NonZeroU32,
    /// The most connections.
    #[arg(long, help_heading = LIMITS, value_name = "NUMBER", default_value = "16384", value_parser = at_least_one)]
    pub(crate) max_connections: NonZeroU32,
    /// The most watches.
    #[arg(long, help_heading = LIMITS, value_name = "NUMBER", default_value = "4096", value_parser = at_least_one)]
    pub(crate) max_watches: NonZeroU32,
    /// The longest body of a request, such as 1MiB. By default 3 MiB, or less if --memory is less than 512 MiB.
    #[arg(long, help_heading = LIMITS, value_name = "SIZE", value_parser = body)]
    pub(crate) max_body: Option<usize>,
    /// The most memory that the process uses, such as 1GiB, and at least 256MiB: resident memory, without the buffers of
    /// sockets and cached files. How much connections, requests, answers and the store may use follows from it. By default 512
    /// MiB, or half of the limit of the control group (cgroup) if that is less.
    #[arg(long, help_heading = LIMITS, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<usize>,
    /// How much of what was read is kept, to be answered again while it is the same; 0 keeps nothing.
    #[arg(long, help_heading = LIMITS, value_name = "SIZE", default_value = "16MiB", value_parser = size_or_zero)]
    pub(crate) max_kept: usize,
    /// Write a JSON line for every write and every refusal to FILE, or to standard output (-). SIGHUP opens FILE again.
    #[arg(long, help_heading = LOGS_AND_AUDIT, value_name = "FILE")]
    pub(crate) audit_log: Option<PathBuf>,
    /// Refuse writes that cannot be recorded in the audit log.
    #[arg(long, help_heading = LOGS_AND_AUDIT, requires = "audit_log")]
    pub(crate) audit_strict: bool,
    /// What is logged to standard error: `debug` has every request.
    #[arg(long, help_heading = LOGS_AND_AUDIT, value_enum, default_value = "info")]
    pub(crate) log: LogLevel,
    /// How it is logged.
    #[arg(long, help_heading = LOGS_AND_AUDIT, value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
    /// How long requests are served as ever once the server is asked to end, while /readyz says that it will: for load
    /// balancers. At most a day.
    #[arg(long, help_heading = LIFECYCLE, value_name = "SECONDS", default_value = "0", value_parser = clap::value_parser!(u32).range(..=86_400))]
    pub(crate) shutdown_delay: u32,
    /// How long after a scrub the next one begins, such as 24h, 30m or 90s; `off` for none. A scrub reads all records slowly, to
    /// find damaged ones.
    #[arg(long, help_heading = LIFECYCLE, value_name = "DURATION", default_value = "24h", value_parser = interval)]
    pub(crate) scrub: Duration,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "expected an IP address with a port, such as 127.0.0.1:8080 or [::1]:8080")
}

/// Reads a number that is not 0.
fn at_least_one(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| format!("expected a number of at least 1 and at most {}", u32::MAX))
}

/// Reads a duration: `24h`, `30m` or `90s`; zero for `off`.
fn interval(text: &str) -> Result<Duration, &'static str> {
    if text == "off" {
        return Ok(Duration::ZERO);
    }
    let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
    let parsed = units.iter().find_map(|(unit, seconds)| {
        let number: u32 = text.strip_suffix(unit)?.parse().ok()?;
        Some(Duration::from_secs(u64::from(number) * seconds))
    });
    match parsed {
        Some(Duration::ZERO) => Err("scrubs need a pause between them; give off for no scrub"),
        Some(duration) => Ok(duration),
        None => Err("expected a duration, such as 24h, 30m or 90s, or off"),
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_at_least_one() {
        assert_eq!(at_least_one("1"), Ok(NonZeroU32::MIN));
        for text in ["0", "-1", "", "x", "4294967296"] {
            let why = at_least_one(text).unwrap_err();
            assert_eq!(why, "expected a number of at least 1 and at most 4294967295", "{text}");
        }
    }

    #[test]
    fn intervals_have_units() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), ("24h", 86_400), ("7d", 604_800), ("off", 0)] {
            assert_eq!(interval(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "h", "0", "0s", "00h", "24", "-1h", "1.5h", "on", "1h30m"] {
            assert!(interval(text).is_err(), "{text}");
        }
    }
}
