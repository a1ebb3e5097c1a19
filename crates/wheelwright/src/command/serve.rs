//! `serve`: every version of every kind over HTTP.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use wheelwright_document::{Entry, Value, encode};
use wheelwright_repository::{ExternalSource, Repository, ServedKind};
use wheelwright_server::{AuditLog, HttpSource, Limits, Listener, Server, Serving, TlsFiles};
use wheelwright_store::{Memory, Store, StoreError};

use crate::{Console, Exit};

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The address.
    pub listen: SocketAddr,
    /// The address of probes and metrics alone.
    pub probe_listen: Option<SocketAddr>,
    /// The files for TLS.
    pub tls: Option<TlsFiles>,
    /// The file that says who may do what.
    pub access: Option<PathBuf>,
    /// Systems that own fields, as `NAME=URL`.
    pub sources: Vec<String>,
    /// What links in answers begin with.
    pub public_url: Option<String>,
    /// Hosts that unauthenticated requests may name beside the server's own.
    pub allow_host: Vec<String>,
    /// Serve others than this machine without TLS, although everybody on the way can read and change what is said.
    pub allow_plain: bool,
    /// Serve others than this machine without asking who they are.
    pub allow_anonymous: bool,
    /// How much is done at once.
    pub limits: Limits,
    /// How long after a scrub the next one begins; none if damaged records are not looked for.
    pub scrub: Option<Duration>,
    /// Show people what to try; without it, one event of the log says what is served.
    pub hints: bool,
}

/// Serves kinds until a future is done. Once it does, a line of JSON tells where.
///
/// The audit log and the store are opened last, so that a server which does not start creates no file.
///
/// # Errors
/// The console cannot be written to.
pub async fn serve(
    kinds: Vec<ServedKind>,
    (store, audit): (
        impl Future<Output = Result<Box<dyn Store>, StoreError>>,
        impl FnOnce() -> Result<Option<AuditLog>, String>,
    ),
    options: ServeOptions,
    until: impl Future<Output = ()>,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let ServeOptions {
        listen,
        probe_listen,
        tls,
        access,
        sources,
        public_url,
        allow_host,
        allow_plain,
        allow_anonymous,
        limits,
        scrub,
        hints,
    } = options;
    if !listen.ip().is_loopback() {
        let missing = [
            (tls.is_none() && !allow_plain, "--tls-cert and --tls-key", "--allow-plain"),
            (access.is_none() && !allow_anonymous, "--access", "--allow-anonymous"),
        ];
        let mut is_refused = false;
        for (_, wanted, allowance) in missing.into_iter().filter(|(is_missing, ..)| *is_missing) {
            is_refused = true;
            console.complain(format_args!(
                "others than this machine can reach {listen}: give {wanted}, or {allowance} if it is meant so"
            ))?;
        }
        if is_refused {
            return Ok(Exit::Usage);
        }
    }
    let repository = Repository::new(Arc::new(Memory::new()), kinds);
    let repository = match with_sources(repository, &sources) {
        Ok(repository) => repository,
        Err(problem) => return refuse(problem, console),
    };
    let host_advice = match (&access, listen.ip().is_unspecified()) {
        (Some(_), _) if !allow_host.is_empty() => {
            Some("--allow-host has no effect with --access: authenticated clients may use any host name")
        }
        (None, true) if allow_host.is_empty() && public_url.is_none() => {
            Some("requests by a host name get 403, except localhost: allow each name with --allow-host NAME")
        }
        _ => None,
    };
    let server = Server::new(repository).with_limits(limits).with_allowed_hosts(&allow_host);
    let mut server = match server {
        Ok(server) => server,
        Err(problem) => return refuse(format_args!("--allow-host {problem}"), console),
    };
    if let Some(url) = public_url {
        server = match server.with_public_url(&url) {
            Ok(server) => server,
            Err(problem) => return refuse(format_args!("--public-url {problem}"), console),
        };
    }
    if let Some(files) = tls {
        server = match server.with_tls(files) {
            Ok(server) => server,
            Err(error) => return refuse(error, console),
        };
    }
    if let Some(file) = access {
        server = match server.with_access(&file) {
            Ok(server) => server,
            Err(error) => {
                error.problems().try_for_each(|problem| console.complain(problem))?;
                return Ok(Exit::Usage);
            }
        };
    }
    if let Some(every) = scrub {
        server = server.with_scrub(every);
    }
    let listener = match Listener::bind(listen).await {
        Ok(listener) => listener,
        Err(error) => {
            let advice = "choose another address with --listen; port 0 is any free port";
            return refuse(format_args!("{error}; {advice}"), console);
        }
    };
    let probes = match probe_listen {
        Some(address) => match Listener::bind(address).await {
            Ok(listener) => Some(listener),
            Err(error) => return refuse(format_args!("--probe-listen: {error}"), console),
        },
        None => None,
    };
    let audit = match audit() {
        Ok(audit) => audit,
        Err(error) => return refuse(format_args!("--audit-log: {error}"), console),
    };
    let store = match store.await {
        Ok(store) => store,
        Err(error) => {
            audit.iter().for_each(AuditLog::discard);
            return refuse(error, console);
        }
    };
    if let Some(log) = audit {
        server = server.with_audit(log);
    }
    let serving = server.with_store(store.into()).listen(listener);
    if let Some(advice) = host_advice {
        console.say(advice)?;
    }
    let serving = probes.into_iter().fold(serving, Serving::with_probes);
    let url = serving.url();
    let probe_url = serving.probe_address().map(|address| format!("http://{address}"));
    let entry = |key, url| Entry { key, value: Value::string(url) };
    let entries = [Some(entry("listening", &url)), probe_url.as_deref().map(|url| entry("probes", url))];
    let mut line = encode(Value::Object(&entries.into_iter().flatten().collect::<Vec<_>>()));
    line.push(b'\n');
    console.data.write_all(&line)?;
    console.data.flush()?;
    match hints {
        true => serving.hints().into_iter().try_for_each(|hint| console.say(hint))?,
        false => serving.log(),
    }
    // The log does not wait for more.
    console.conversation.flush()?;
    serving.run(until).await;
    Ok(Exit::Clean)
}

/// Says that a server was asked twice to end.
///
/// # Errors
/// The console cannot be written to.
pub fn serve_interrupted(console: &mut Console<'_>) -> io::Result<Exit> {
    console.say("asked twice to end: requests that were open are cut off")?;
    Ok(Exit::Interrupted)
}

/// A repository that asks other systems for the fields that they own.
fn with_sources(repository: Repository, sources: &[String]) -> Result<Repository, String> {
    let mut named: Vec<(&str, Arc<dyn ExternalSource>)> = Vec::new();
    for source in sources {
        let (name, url) = source.split_once('=').ok_or_else(|| format!("--source {source}: expected NAME=URL"))?;
        named.push((name, Arc::new(HttpSource::new(url)?)));
    }
    repository.with_sources(named).map_err(|error| format!("{error}; --source NAME=URL says where a system is"))
}

fn refuse(error: impl std::fmt::Display, console: &mut Console<'_>) -> io::Result<Exit> {
    console.complain(error)?;
    Ok(Exit::Usage)
}
