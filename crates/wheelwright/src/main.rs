//! The `wheelwright` command: arguments to functions of the library, and nothing else.

mod arguments;
mod descriptors;
mod log_lines;
mod memory_limit;
mod output_pipe;
mod signals;

use std::{
    env,
    ffi::OsStr,
    io::{self, BufWriter, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, SystemTime},
};

use arguments::{
    Arguments, Color, Command, Convert, Diff, Documents, Init, Lock, LogFormat, LogLevel, Migrate, MigrateRun, Place,
    Serve, StoreCommand, Test,
};
use clap::{CommandFactory, Parser};
use log_lines::LogLines;
use output_pipe::{OutputPipe, is_closed_pipe};
use signals::{AskedToEnd, reopen_on_hangup};
use tracing_subscriber::{layer::SubscriberExt, util::SubscriberInitExt};
use wheelwright::{
    Choice, Console, Exit, Format, Kinds, ResultFormat, Schemas, Unlocked,
    catalog::{Disk, OnDisk, files},
    command::{
        self, CheckOptions, ConvertOptions, DiffOptions, DocumentOptions, InitOptions, LawsOptions, LineOptions,
        LockOptions, MigrateOptions, RepairOptions, ServeOptions, StoreOptions, TestOptions, ValidateOptions, Versions,
        Way,
    },
    findings::{Date, Level},
    repository::{Accepted, Repository, ServedKind, SweepOptions},
    schema::Root,
    server::{AuditError, AuditLog, AuditLoss, Limits, TlsFiles},
    store::StoreError,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(message) => {
            // Help and version are data; nothing can be done if there is nobody to read them.
            let _ = message.print();
            return if message.use_stderr() { Exit::Usage } else { Exit::Clean }.into();
        }
    };
    // If it cannot be had, then such a write ends the process, and nothing else changes.
    let _ = signals::survive_file_size_limit();
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let colour = |is_terminal| match arguments.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && wants_colour(),
    };
    let (colour_data, colour_conversation) = (colour(stdout.is_terminal()), colour(stderr.is_terminal()));
    // `schema eval` reads until its reader leaves, which may be the only end that its input has.
    let is_endless = matches!(arguments.command, Command::Schema(_));
    let mut data = BufWriter::new(OutputPipe::new(stdout.lock()).reporting_closing(is_endless));
    let mut conversation = OutputPipe::new(&stderr);
    let mut console = Console {
        data: &mut data,
        is_watched: stderr.is_terminal(),
        width: terminal_size::terminal_size_of(&stderr).map(|(width, _)| usize::from(width.0)),
        conversation: &mut conversation,
        colour_data,
        colour_conversation,
        today: arguments.today.or_else(today),
    };
    let ended = run(arguments.command, &mut console);
    let flushed = console.data.flush();
    match if is_closed_pipe(&flushed) { ended } else { flushed.and(ended) } {
        Ok(exit) => exit.into(),
        Err(error) => {
            let _ = writeln!(console.conversation, "error: {error}");
            Exit::Usage.into()
        }
    }
}

/// What day it is, in UTC.
fn today() -> Option<Date> {
    const SECONDS_OF_DAY: u64 = 24 * 60 * 60;
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Date::from_days_since_1970(since_1970.as_secs() / SECONDS_OF_DAY)
}

/// Whether the environment agrees to colours: <https://no-color.org>.
fn wants_colour() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn run(command: Command, console: &mut Console<'_>) -> io::Result<Exit> {
    if files::standard_input_repeats(&paths(&command)) {
        writeln!(console.conversation, "error: standard input can be read only once; name a file instead")?;
        return Ok(Exit::Usage);
    }
    match command {
        Command::Check(arguments) => {
            let options = CheckOptions {
                format: format(arguments.output.format),
                show_suppressed: arguments.output.show_suppressed,
                level: arguments.level.map(level),
                root: if arguments.root { Root::Resource } else { Root::Value },
                all: arguments.all,
                laws: !arguments.no_laws,
            };
            let Some(tree) = tree(arguments.tree.as_deref(), console)? else { return Ok(Exit::Usage) };
            let disk = OnDisk { tree: tree.clone() };
            let paths = match (&arguments.paths[..], &arguments.catalog[..]) {
                ([], []) => vec![".".into()],
                (paths, _) => paths.to_vec(),
            };
            let versions = match Versions::load(&disk, &paths, &arguments.catalog, arguments.against.as_deref()) {
                Ok(versions) => versions,
                Err(error) => {
                    writeln!(console.conversation, "error: {error}")?;
                    return Ok(Exit::Usage);
                }
            };
            let previous = arguments.previous.into_iter().flat_map(|path| files::files(vec![path], None));
            let inputs = files::files_and_folders(versions.paths().to_vec(), tree);
            command::check(inputs, previous, versions, &options, console)
        }
        Command::Default(arguments) => {
            let (schemas, options) = match prepare(&arguments.documents, console)? {
                Ok(prepared) => prepared,
                Err(exit) => return Ok(exit),
            };
            let options = DocumentOptions { compact: arguments.compact, ..options };
            command::default(files::files(arguments.documents.documents, None), &schemas, &options, console)
        }
        Command::Prune(arguments) => {
            let (schemas, options) = match prepare(&arguments.documents, console)? {
                Ok(prepared) => prepared,
                Err(exit) => return Ok(exit),
            };
            let options = DocumentOptions { compact: arguments.compact, ..options };
            command::prune(files::files(arguments.documents.documents, None), &schemas, &options, console)
        }
        Command::Validate(arguments) => {
            let (schemas, documents) = match prepare(&arguments.documents, console)? {
                Ok(prepared) => prepared,
                Err(exit) => return Ok(exit),
            };
            let old = match arguments.old.map(|path| files::files(vec![path], None)).and_then(|mut files| files.next())
            {
                Some(Err(unreadable)) => {
                    writeln!(console.conversation, "error: {unreadable}")?;
                    return Ok(Exit::Usage);
                }
                Some(Ok(old)) => Some(old),
                None => None,
            };
            let options = ValidateOptions {
                documents,
                format: format(arguments.output.format),
                old,
                show_suppressed: arguments.output.show_suppressed,
            };
            command::validate(files::files(arguments.documents.documents, None), &schemas, &options, console)
        }
        Command::Convert(arguments) => convert(arguments, console),
        Command::Init(Init { paths, definition, into, force, dry_run }) => {
            let options = InitOptions { into, definitions: definition, force, dry_run };
            command::init(&paths, &options, console)
        }
        Command::Test(arguments) => test(arguments, console),
        Command::Laws(arguments) => match Kinds::load(&OnDisk::default(), &arguments.catalog, console)? {
            Ok(kinds) => {
                let arguments::Laws { kind, cases, seed, format, .. } = arguments;
                let options = LawsOptions { cases, seed, kind, format: result_format(format) };
                command::laws(&kinds, &options, console)
            }
            Err(exit) => Ok(exit),
        },
        Command::Lock(Lock { catalog, hub, kind, check, accept }) => {
            command::lock(&catalog, &LockOptions { hub, kind, check, accept }, console)
        }
        Command::Diff(Diff { a, b, catalog, kind, format }) => {
            let options = DiffOptions { kind, format: result_format(format) };
            command::diff(&a, &b, &catalog, &options, console)
        }
        Command::Migrate(arguments) => migrate(arguments, console),
        Command::Serve(arguments) => serve(*arguments, console),
        Command::Retire(arguments::Retire { version, stored, accept }) => {
            let format = result_format(stored.format);
            let accepted: Vec<Accepted> = accept.iter().map(|name| Accepted::named(name)).collect();
            in_store(&stored.place, Access::Read, console, async |repository, console| {
                command::retire(&version, stored.kind.as_deref(), &repository, &accepted, format, console).await
            })
        }
        Command::Store(arguments) => store(arguments, console),
        Command::Schema(arguments::Schema::Eval { files }) => eval(files, console),
        Command::Explain { rule } => command::explain(rule.as_deref(), console),
        Command::Completions { shell } => command::completions(shell, &mut Arguments::command(), console),
    }
}

/// Everything that a command reads.
fn paths(command: &Command) -> Vec<PathBuf> {
    let of_documents = |documents: &Documents| {
        [documents.schema.clone(), files::or_standard_input(documents.documents.clone())].concat()
    };
    match command {
        Command::Check(arguments) => [&arguments.paths[..], &arguments.catalog, &arguments.previous].concat(),
        Command::Default(arguments) | Command::Prune(arguments) => of_documents(&arguments.documents),
        Command::Validate(arguments) => {
            of_documents(&arguments.documents).into_iter().chain(arguments.old.clone()).collect()
        }
        Command::Convert(arguments) => files::or_standard_input(arguments.documents.clone()),
        Command::Schema(arguments::Schema::Eval { files }) => files.clone(),
        Command::Store(StoreCommand::Put { documents, .. }) => files::or_standard_input(documents.clone()),
        Command::Init(_)
        | Command::Test(_)
        | Command::Laws(_)
        | Command::Lock(_)
        | Command::Diff(_)
        | Command::Migrate(_)
        | Command::Retire(_)
        | Command::Serve(_)
        | Command::Store(_)
        | Command::Explain { .. }
        | Command::Completions { .. } => Vec::new(),
    }
}

/// The schemas to hold documents against, or how the command ends if they cannot be read, which has been said by then.
fn prepare(arguments: &Documents, console: &mut Console<'_>) -> io::Result<Result<(Schemas, DocumentOptions), Exit>> {
    let root = match (arguments.root, arguments.value) {
        (true, _) => Some(Root::Resource),
        (_, true) => Some(Root::Value),
        _ => None,
    };
    let Some(tree) = tree(arguments.tree.as_deref(), console)? else { return Ok(Err(Exit::Usage)) };
    let (catalogs, others): (Vec<PathBuf>, Vec<PathBuf>) = match &arguments.schema[..] {
        [] => (vec![".".into()], Vec::new()),
        named => named.iter().cloned().partition(|path| is_catalog(path)),
    };
    // Without any path, standard input would be read.
    let others = others.into_iter().flat_map(|path| files::files(vec![path], tree.clone()));
    let Some(mut schemas) = Schemas::read(others, root, console)? else { return Ok(Err(Exit::Usage)) };
    if !catalogs.is_empty() {
        match Kinds::load(&OnDisk { tree }, &catalogs, console)? {
            Ok(kinds) => schemas.add_kinds(&kinds, root),
            Err(exit) => {
                if arguments.schema.is_empty() {
                    writeln!(console.conversation, "help: --schema names what to hold documents against")?;
                }
                return Ok(Err(exit));
            }
        }
    }
    let choice = Choice { kind: arguments.kind.clone(), version: arguments.version.clone() };
    let options = DocumentOptions { choice, strict: arguments.strict, compact: false };
    Ok(Ok((schemas, options)))
}

/// Whether schemas are declared at a path by others than itself.
fn is_catalog(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    path.is_dir() || ["wheelwright.yaml", "wheelwright.yml", "wheelwright.json"].contains(&name)
}

/// The tree that is named, or none if none is; nothing if it cannot be used, which has been said by then.
fn tree(named: Option<&Path>, console: &mut Console<'_>) -> io::Result<Option<Option<Disk>>> {
    match named.map(|path| (path, Disk::below(path))) {
        None => Ok(Some(None)),
        Some((_, Ok(tree))) => Ok(Some(Some(tree))),
        Some((path, Err(error))) => {
            writeln!(console.conversation, "error: cannot use --tree {}: {error}", files::display(path))?;
            Ok(None)
        }
    }
}

fn convert(arguments: Convert, console: &mut Console<'_>) -> io::Result<Exit> {
    let Convert { documents, to, catalog, kind, from, explain, format, compact, lines, via } = arguments;
    // The parser of arguments does not ask for --lines where it sees another one that --lines excludes.
    if via.is_some() && !lines {
        writeln!(console.conversation, "error: --via needs --lines, which goes without --explain and --compact")?;
        return Ok(Exit::Usage);
    }
    let kinds = match Kinds::load(&OnDisk::default(), &catalog, console)? {
        Ok(kinds) => kinds,
        Err(exit) => return Ok(exit),
    };
    if !lines {
        let explain = explain.then(|| result_format(format));
        let options = ConvertOptions { to: to.unwrap_or_default(), kind, from, compact, explain };
        return command::convert(files::files(documents, None), &kinds, &options, console);
    }
    let way = via.map_or_else(|| Way::To(to.unwrap_or_default()), Way::Via);
    let options = LineOptions { way, kind, from };
    let mut exit = Exit::Clean;
    for path in files::or_standard_input(documents) {
        exit = exit.max(match files::open(&path) {
            Ok(lines) => command::convert_lines(lines, &kinds, &options, console)?,
            Err(unreadable) => {
                writeln!(console.conversation, "error: {unreadable}")?;
                Exit::Usage
            }
        });
    }
    Ok(exit)
}

fn test(arguments: Test, console: &mut Console<'_>) -> io::Result<Exit> {
    let Test { paths, catalog, kind, update, all_versions, format } = arguments;
    // Examples lie beside the catalog, unless they are named.
    let beside = |path: &PathBuf| match path.is_dir() {
        true => path.clone(),
        false => path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned(),
    };
    let paths = if paths.is_empty() { catalog.iter().map(beside).collect() } else { paths };
    match Kinds::load(&OnDisk::default(), &catalog, console)? {
        Ok(kinds) => {
            let options = TestOptions { kind, update, all_versions, format: result_format(format) };
            command::test(&paths, &kinds, &options, console)
        }
        Err(exit) => Ok(exit),
    }
}

fn migrate(arguments: Migrate, console: &mut Console<'_>) -> io::Result<Exit> {
    let mut sweep = SweepOptions::default();
    let (what, stored) = match arguments {
        Migrate::Plan(stored) => (command::Migrate::Plan, stored),
        Migrate::Status(stored) => (command::Migrate::Status, stored),
        Migrate::Verify(stored) => (command::Migrate::Verify, stored),
        Migrate::Run(MigrateRun { stored, rate, concurrency, back, dry_run }) => {
            sweep = SweepOptions { rate, concurrency: concurrency.get() as usize, back };
            (if dry_run { command::Migrate::Plan } else { command::Migrate::Run }, stored)
        }
    };
    let access = if what == command::Migrate::Run { Access::Write } else { Access::Read };
    let kinds = match load(&stored.place, access, console)? {
        Ok(kinds) => kinds,
        Err(exit) => return Ok(exit),
    };
    let remembered = kinds.remembered_prefixes();
    let options = MigrateOptions { kind: stored.kind, sweep, format: result_format(stored.format), remembered };
    with_store(kinds, &stored.place, access, console, async |repository, console| {
        if what != command::Migrate::Run {
            return command::migrate(what, &repository, &options, console).await;
        }
        tokio::select! {
            exit = command::migrate(what, &repository, &options, console) => return exit,
            _ = tokio::signal::ctrl_c() => {}
        }
        command::migrate_interrupted(console)
    })
}

fn serve(arguments: Serve, console: &mut Console<'_>) -> io::Result<Exit> {
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
    let mut limits = Limits::default();
    limits.requests = arguments.max_requests.get();
    limits.connections = arguments.max_connections.get();
    limits.watches = arguments.max_watches.get();
    limits.body_bytes = arguments.max_body.get();
    limits.kept_bytes = arguments.max_kept;
    limits.memory_bytes = arguments.memory.unwrap_or_else(memory_limit::default_memory);
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
        audit: None,
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
    let audit = arguments.audit_log.as_deref().map(|file| audit_log(file, arguments.audit_strict)).transpose();
    let audit = match audit {
        Ok(audit) => audit,
        Err(error) => {
            writeln!(console.conversation, "error: --audit-log: {error}")?;
            return Ok(Exit::Usage);
        }
    };
    in_runtime(kinds, console, async |kinds, console| {
        if let Some(log) = audit.clone().filter(AuditLog::is_file) {
            reopen_on_hangup(log)?;
        }
        let options = ServeOptions { audit, ..options };
        let asked = AskedToEnd::listen()?;
        let store = wheelwright::store::open_to_serve(&place.store);
        tokio::select! {
            exit = command::serve(kinds, store, options, asked.times(1), console) => return exit,
            () = asked.times(2) => {}
        }
        command::serve_interrupted(console)
    })
}

/// The audit log in a file, or on standard output for `-`.
fn audit_log(file: &Path, is_strict: bool) -> Result<AuditLog, AuditError> {
    let loss = if is_strict { AuditLoss::Refused } else { AuditLoss::Counted };
    match file == Path::new("-") {
        true => AuditLog::standard_output(loss),
        false => AuditLog::open(file, loss),
    }
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

fn store(arguments: StoreCommand, console: &mut Console<'_>) -> io::Result<Exit> {
    match arguments {
        StoreCommand::Put { documents, place, kind, from, name } => {
            let kinds = match load(&place, Access::Create, console)? {
                Ok(kinds) => kinds,
                Err(exit) => return Ok(exit),
            };
            let options = StoreOptions { kind, from, name };
            let documents = command::documents_to_store(files::files(documents, None), &kinds, &options, console)?;
            let Some(documents) = documents else { return Ok(Exit::Usage) };
            with_store(kinds, &place, Access::Create, console, async |repository, console| {
                command::store_put(&documents, &repository, console).await
            })
        }
        StoreCommand::Get { name, place, kind, version, raw } => {
            let (kind, version) = (kind.as_deref(), version.as_deref());
            in_store(&place, Access::Read, console, async |repository, console| match raw {
                true => command::store_get_raw(&name, kind, &repository, console).await,
                false => command::store_get(&name, kind, version, &repository, console).await,
            })
        }
        StoreCommand::List { place, kind } => in_store(&place, Access::Read, console, async |repository, console| {
            command::store_list(kind.as_deref(), &repository, console).await
        }),
        StoreCommand::Delete { name, place, kind, force } => {
            in_store(&place, Access::Write, console, async |repository, console| {
                command::store_delete(&name, kind.as_deref(), force, &repository, console).await
            })
        }
        StoreCommand::Backup { file, store } => match wheelwright::store::backup(&store, &file) {
            Ok(()) => Ok(Exit::Clean),
            Err(error) => {
                writeln!(console.conversation, "error: {error}")?;
                Ok(Exit::Usage)
            }
        },
        StoreCommand::Repair { place, from, write, keep } => repair(&place, from.as_deref(), write, keep, console),
    }
}

fn repair(
    place: &Place,
    from: Option<&str>,
    write: bool,
    keep: Option<PathBuf>,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let kinds = match load(place, if write { Access::Write } else { Access::Read }, console)? {
        Ok(kinds) => kinds,
        Err(exit) => return Ok(exit),
    };
    let beside = || place.store.strip_prefix("sqlite:").and_then(|file| Path::new(file).parent()).map(Path::to_owned);
    let options = RepairOptions { write, keep: keep.or_else(beside).unwrap_or_default() };
    in_runtime(kinds, console, async |kinds, console| {
        let opened = async {
            let store = wheelwright::store::open_to_repair(&place.store).await?;
            let backup = match from {
                Some(from) => Some(wheelwright::store::open_to_repair(from).await?),
                None => None,
            };
            Ok::<_, StoreError>((store, backup))
        };
        match opened.await {
            Ok((store, backup)) => {
                let repository = Repository::new(store.into(), kinds);
                command::store_repair(&repository, backup.as_deref(), &options, console).await
            }
            Err(error) => {
                writeln!(console.conversation, "error: {error}")?;
                Ok(Exit::Usage)
            }
        }
    })
}

/// What is done with a store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    /// It is written, and made if it is not there.
    Create,
    /// The same, also with what is not locked: whoever tries something out need not lock it first.
    Serve,
}

/// Does something with the kinds of a catalog in a store.
fn in_store(
    place: &Place,
    access: Access,
    console: &mut Console<'_>,
    act: impl AsyncFnOnce(Repository, &mut Console<'_>) -> io::Result<Exit>,
) -> io::Result<Exit> {
    match load(place, access, console)? {
        Ok(kinds) => with_store(kinds, place, access, console, act),
        Err(exit) => Ok(exit),
    }
}

/// The kinds of a catalog, which are locked if something is to be written; or how the command ends.
fn load(place: &Place, access: Access, console: &mut Console<'_>) -> io::Result<Result<Kinds, Exit>> {
    let kinds = match Kinds::load(&OnDisk::default(), &place.catalog, console)? {
        Ok(kinds) => kinds,
        Err(exit) => return Ok(Err(exit)),
    };
    if matches!(access, Access::Serve) {
        kinds.warn_of_what_clients_meet(console)?;
    }
    let unlocked = match access {
        Access::Read | Access::Serve => Unlocked::Warn,
        Access::Write | Access::Create => Unlocked::Refuse,
    };
    Ok(kinds.check_locked(unlocked, console)?.map(|()| kinds))
}

/// Does something with kinds in a store.
fn with_store(
    kinds: Kinds,
    place: &Place,
    access: Access,
    console: &mut Console<'_>,
    act: impl AsyncFnOnce(Repository, &mut Console<'_>) -> io::Result<Exit>,
) -> io::Result<Exit> {
    in_runtime(kinds, console, async |kinds, console| {
        let opened = match access {
            Access::Create | Access::Serve => wheelwright::store::open(&place.store).await,
            Access::Read | Access::Write => wheelwright::store::open_existing(&place.store).await,
        };
        match opened {
            Ok(store) => act(Repository::new(store.into(), kinds), console).await,
            Err(error) => {
                writeln!(console.conversation, "error: {error}")?;
                Ok(Exit::Usage)
            }
        }
    })
}

/// Does something with kinds that can be stored, in a runtime.
fn in_runtime(
    kinds: Kinds,
    console: &mut Console<'_>,
    act: impl AsyncFnOnce(Vec<ServedKind>, &mut Console<'_>) -> io::Result<Exit>,
) -> io::Result<Exit> {
    let kinds = match kinds.into_served() {
        Ok(kinds) => kinds,
        Err(error) => {
            writeln!(console.conversation, "error: the kinds of the catalog cannot be stored: {error}")?;
            return Ok(Exit::Usage);
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(act(kinds, console))
}

fn eval(paths: Vec<PathBuf>, console: &mut Console<'_>) -> io::Result<Exit> {
    let mut exit = Exit::Clean;
    for path in files::or_standard_input(paths) {
        match files::open(&path) {
            Ok(lines) => {
                let answered = command::schema_eval(lines, console.data);
                // The exit code does not depend on the lines that are left.
                if !is_closed_pipe(&answered) {
                    answered?;
                }
            }
            Err(unreadable) => {
                writeln!(console.conversation, "error: {unreadable}")?;
                exit = Exit::Usage;
            }
        }
    }
    Ok(exit)
}

fn format(format: arguments::Format) -> Format {
    match format {
        arguments::Format::Text => Format::Text,
        arguments::Format::Json => Format::Json,
        arguments::Format::Sarif => Format::Sarif,
        arguments::Format::Github => Format::Github,
    }
}

fn result_format(format: arguments::ResultFormat) -> ResultFormat {
    match format {
        arguments::ResultFormat::Text => ResultFormat::Text,
        arguments::ResultFormat::Json => ResultFormat::Json,
    }
}

fn level(level: arguments::Level) -> Level {
    match level {
        arguments::Level::Note => Level::Note,
        arguments::Level::Warning => Level::Warning,
        arguments::Level::Error => Level::Error,
    }
}
