//! The `wheelwright` command: arguments to functions of the library, and nothing else.

mod arguments;
mod audit_file;
mod catalog_files;
mod descriptors;
mod log_lines;
mod memory_limit;
mod output_pipe;
mod same_file;
mod serving;
mod signals;
mod storing;

use std::{
    env,
    ffi::OsStr,
    io::{self, BufWriter, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
    time::SystemTime,
};

use arguments::{Arguments, Color, Command, Convert, Diff, Documents, Init, Lock, StoreCommand, Test};
use clap::{CommandFactory, Parser};
use output_pipe::{OutputPipe, is_closed_pipe};
use wheelwright::{
    Choice, Console, Exit, Format, Kinds, ResultFormat, Schemas,
    catalog::{Disk, OnDisk, files},
    command::{
        self, CheckOptions, ConvertOptions, DiffOptions, DocumentOptions, InitOptions, LawsOptions, LineOptions,
        LockOptions, TestOptions, ValidateOptions, Versions, Way,
    },
    findings::{Date, Level},
    schema::Root,
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
        Command::Migrate(arguments) => storing::migrate(arguments, console),
        Command::Serve(arguments) => serving::serve(*arguments, console),
        Command::Retire(arguments) => storing::retire(arguments, console),
        Command::Store(arguments) => storing::store(arguments, console),
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
