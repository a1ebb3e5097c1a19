//! `serve`: its arguments as options of the server, its log and its audit log.

use std::{io, time::Duration};

use tracing_subscriber::{layer::SubscriberExt, util::SubscriberInitExt};
use wheelwright::{
    Console, Exit,
    command::{self, ServeOptions},
    server::{Limits, TlsFiles},
};

use crate::{
    arguments::{LogFormat, LogLevel, Place, Serve},
    audit_file, catalog_files, descriptors,
    log_lines::LogLines,
    memory_limit,
    signals::{AskedToEnd, reopen_on_hangup},
    storing::{Access, in_runtime, load},
};

pub(crate) fn serve(arguments: Serve, console: &mut Console<'_>) -> io::Result<Exit> {
    log(arguments.log, arguments.log_format, console.colour_conversation);
    let mut lines = LogLines::default();
    let console = &mut match arguments.log_format {
        LogFormat::Text => Console { conversation: &mut *console.conversation, data: &mut *console.data, ..*console },
        LogFormat::Json => {
            let (colour_conversation, is_watched) = (false, false);
            Console { conversation: &mut lines, data: &mut *console.data, colour_conversation, is_watched, ..*console }
        }
    };
    let tls = arguments.tls_cert.zip(arguments.tls_key).map(|(certificate, key)| TlsFiles {
        certificate,
        key,
        client_authorities: arguments.client_ca,
        client_revocations: arguments.client_crl,
    });
    let memory = match arguments.memory {
        Some(memory) => {
            memory_limit::warn_above_limit(memory);
            memory
        }
        None => memory_limit::default_memory(),
    };
    let mut limits = Limits::for_memory(memory);
    if let Some(bytes) = arguments.max_body {
        let most = limits.most_body_bytes();
        if bytes > most {
            let message = "error: --max-body: the longest body that can be processed in";
            let [memory, most] = [memory, most].map(memory_limit::in_mib);
            writeln!(console.conversation, "{message} {memory} MiB of memory has {most} MiB: raise --memory")?;
            return Ok(Exit::Usage);
        }
        limits.body_bytes = bytes;
    }
    limits.requests = arguments.max_requests.get() as usize;
    limits.connections = arguments.max_connections.get() as usize;
    limits.watches = arguments.max_watches.get() as usize;
    limits.kept_bytes = arguments.max_kept;
    limits.shutdown_delay = Duration::from_secs(arguments.shutdown_delay.into());
    if let Some(most) = descriptors::raise() {
        // Some are for the store and for files that are read again.
        limits.connections = limits.connections.min(most.saturating_sub(256).max(16));
    }
    let options = ServeOptions {
        listen: arguments.listen,
        probe_listen: arguments.probe_listen,
        tls,
        access: arguments.access,
        sources: arguments.source,
        public_url: arguments.public_url,
        allow_host: arguments.allow_host,
        allow_plain: arguments.allow_plain,
        allow_anonymous: arguments.allow_anonymous,
        limits,
        scrub: (!arguments.scrub.is_zero()).then_some(arguments.scrub),
        hints: arguments.log_format == LogFormat::Text,
    };
    let place = Place { store: arguments.store, catalog: arguments.catalog };
    let kinds = match load(&place, Access::Serve, console)? {
        Ok(kinds) => kinds,
        Err(exit) => return Ok(exit),
    };
    if let Err(problem) = catalog_files::check_written(&kinds, &place, arguments.audit_log.as_deref()) {
        writeln!(console.conversation, "error: {problem}")?;
        return Ok(Exit::Usage);
    }
    in_runtime(kinds, console, async |kinds, console| {
        // Opened once the address is bound, and so not by a server that does not start.
        let audit = || {
            let Some(file) = &arguments.audit_log else { return Ok(None) };
            let log = audit_file::open(file, arguments.audit_strict, &place.store)?;
            if log.is_file() {
                reopen_on_hangup(log.clone()).map_err(|error| error.to_string())?;
            }
            Ok(Some(log))
        };
        let asked = AskedToEnd::listen()?;
        let store = wheelwright::store::open_to_serve(&place.store, memory);
        tokio::select! {
            exit = command::serve(kinds, (store, audit), options, asked.times(1), console) => return exit,
            () = asked.times(2) => {}
        }
        command::serve_interrupted(console)
    })
}

/// Logs to standard error from now on.
fn log(level: LogLevel, format: LogFormat, colour: bool) {
    let level = match level {
        LogLevel::Error => tracing::Level::ERROR,
        LogLevel::Warn => tracing::Level::WARN,
        LogLevel::Info => tracing::Level::INFO,
        LogLevel::Debug => tracing::Level::DEBUG,
    };
    let only_ours = tracing_subscriber::filter::Targets::new().with_target("wheelwright", level);
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(colour);
    // Its own complaint about a closed standard error would panic, on standard error.
    let lines = lines.log_internal_errors(false);
    let registry = tracing_subscriber::registry().with(only_ours);
    match format {
        LogFormat::Text => registry.with(lines).init(),
        LogFormat::Json => registry.with(lines.json().flatten_event(true)).init(),
    }
}
