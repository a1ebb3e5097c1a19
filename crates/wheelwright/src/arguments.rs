//! What can be written on the command line. The comments here are what `--help` shows.

mod documents;
mod serve;
mod store;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use wheelwright::findings::Date;

pub(crate) use self::documents::{Convert, Documents, Transform, Validate};
pub(crate) use self::serve::{LogFormat, LogLevel, Serve};
pub(crate) use self::store::{Migrate, MigrateRun, Place, Retire, StoreCommand};

const EXIT_CODES: &str = "\
Exit codes: 0 clean, 1 findings, 2 usage or environment.
What a script would read goes to standard output, everything else to standard error.";

/// Every version of your API, one stored truth, nothing lost.
///
/// Treats documents and schemas exactly as Kubernetes does.
#[derive(Parser)]
#[command(name = "wheelwright", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Whether findings are coloured; auto colours them on terminals, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, alias = "colour")]
    pub(crate) color: Color,
    /// The day on which allowances are looked at, instead of today.
    #[arg(long, global = true, value_name = "DATE", hide = true, value_parser = date)]
    pub(crate) today: Option<Date>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Find what is wrong with CustomResourceDefinitions, OpenAPI documents, schemas and catalogs, and what the versions of a
    /// kind do to each other.
    ///
    /// Of a kind with several versions and nothing said about them, it shows what would be lost between them. Findings go to standard output, a summary to standard error. The exit code is 1 if any of them is an error.
    #[command(after_help = "\
Examples:
  wheelwright check crd.yaml
  wheelwright check config/crds --level error
  wheelwright check openapi.json
  wheelwright check crd.yaml --previous crd-v1.yaml   # what an update would be refused for
  wheelwright check specs/v1/openapi.json specs/v2/openapi.json   # what old records lack
  wheelwright check --against git:main                # in CI: what this branch breaks
  wheelwright check . --format json | jq .message
  wheelwright check . --format sarif > wheelwright.sarif")]
    Check(Check),
    /// Make a catalog for the definitions and OpenAPI documents that are there, and propose what changed between versions.
    ///
    /// Writes wheelwright.yaml, and for each kind with something open a file in changes/, in which all is proposed in
    /// comments: take away the `# ` before what is right. Nothing that is there is replaced.
    #[command(after_help = "\
Examples:
  wheelwright init
  wheelwright init config/crd/bases --into api
  wheelwright init specs --dry-run
  wheelwright init specs/2024-06-10.json specs/2025-01-01.json --definition Cart")]
    Init(Init),
    /// Write documents as Kubernetes would store them: pruned, and with their defaults filled in.
    ///
    /// YAML comes out as YAML and JSON as JSON. Unknown fields are warned about. Values are not validated: `validate`
    /// does that.
    #[command(after_help = "\
Examples:
  wheelwright default --schema crd.yaml webapp.yaml
  kubectl get webapp shop -o json | wheelwright default --schema crd.yaml
  wheelwright default --schema schema.yaml --root webapp.json --compact")]
    Default(Transform),
    /// Write documents without the fields that their schemas do not know.
    ///
    /// YAML comes out as YAML and JSON as JSON. Unknown fields are warned about.
    #[command(after_help = "\
Examples:
  wheelwright prune --schema crd.yaml webapp.yaml
  wheelwright prune --schema crd.yaml --strict webapp.yaml   # exit code 1 if anything was pruned
  wheelwright prune --schema crd.yaml --kind WebApp --version v1 - < spec.json")]
    Prune(Transform),
    /// Say what Kubernetes would say to documents, and where they are wrong.
    ///
    /// Findings go to standard error as text, or to standard output in the other formats.
    #[command(after_help = "\
Examples:
  wheelwright validate --schema crd.yaml webapp.yaml
  wheelwright validate --schema crd.yaml --strict manifests/*.yaml
  wheelwright validate --schema crd.yaml --old before.yaml after.yaml   # as an update
  wheelwright validate --schema openapi.json --kind NodePool pool.json
  wheelwright validate --schema crd.yaml --format json webapp.yaml | jq .message")]
    Validate(Validate),
    /// Write documents of one version as another version shows them.
    ///
    /// YAML comes out as YAML and JSON as JSON. Documents are pruned and get their defaults first, as when they are
    /// written to a server; to their own version, that is all. Unknown fields are warned about.
    #[command(after_help = "\
Examples:
  wheelwright convert order.yaml --to v2
  wheelwright convert order.yaml --to v2 --explain   # where each value came from
  kubectl get order shop -o json | wheelwright convert --catalog crds/orders.yaml --to v1
  wheelwright convert --lines --from v1 --via v2 < orders.jsonl   # what a client of v2 would leave")]
    Convert(Convert),
    /// Hold example documents against what the versions of their kind show of them.
    ///
    /// An example is a folder with a document, input.VERSION.yaml, and beside it what other versions show of it,
    /// VERSION.yaml each. Every document must also come back unchanged from a way through every other version. The exit
    /// code is 1 if something differs.
    #[command(after_help = "\
Examples:
  wheelwright test
  wheelwright test tests/gift --catalog api
  wheelwright test --update                  # write what versions show now
  wheelwright test --update --all-versions   # also for versions that have no file yet
  wheelwright test --format json | jq 'select(.result == \"different\")'")]
    Test(Test),
    /// Hold every version of the kinds of a catalog against the laws, over generated documents.
    ///
    /// The exit code is 1 if a law is broken, or if a kind can hide data in one of four ways (bags, reorders, guards, unions) and
    /// no document did. Fields that no document had are listed, with the number of cases to try.
    #[command(after_help = "\
Examples:
  wheelwright laws
  wheelwright laws --catalog crds/orders.yaml --cases 10000
  wheelwright laws --format json | jq .covered")]
    Laws(Laws),
    /// Record new kinds, versions and fields in wheelwright.lock, beside the catalog or the definitions.
    ///
    /// The lines that came go to standard output. What is locked never changes: something that contradicts it is a finding,
    /// and nothing is written then. Neither is something that `check` calls an error, nor a version that leaves open what
    /// became of a field, unless it is accepted. A second run changes nothing. Run `check` before: it also runs the laws over
    /// kinds with changes, which `lock` does not.
    #[command(after_help = "\
Examples:
  wheelwright lock
  wheelwright lock --catalog crds/orders.yaml
  wheelwright lock --accept                 # although `check` has errors
  wheelwright lock --check                  # in CI: exit code 1 if something is not locked
  wheelwright lock --hub v2 --kind Order    # store documents as v2; says what to deploy first")]
    Lock(Lock),
    /// Show what changed between two versions of a kind, or between two files.
    #[command(after_help = "\
Examples:
  wheelwright diff v1 v2
  wheelwright diff v1beta1 v1 --catalog crds --kind Order
  wheelwright diff old/crd.yaml new/crd.yaml
  wheelwright diff v1 v2 --format json | jq 'select(.change == \"removed\").before'")]
    Diff(Diff),
    /// Bring the records of a store to the hub of today.
    #[command(subcommand)]
    Migrate(Migrate),
    /// Say whether anything that is stored needs a version, and what does.
    ///
    /// Records that are stored in its shape, owners who speak it while it has no successor, and what only it shows: values,
    /// the notation of values, the order of list items. The exit code is 0 if there is nothing of the kind, or all that only it
    /// shows is accepted: then the version can be removed from the catalog.
    #[command(after_help = "\
Examples:
  wheelwright retire v1 --store sqlite:orders.db
  wheelwright retire v1 --store sqlite:orders.db --accept notation,order,spec.coupon
  wheelwright retire v1 --kind Order --store sqlite:orders.db --format json | jq .stored")]
    Retire(Retire),
    /// Serve every version of every kind over HTTP, for kubectl and for clients of Azure's resource manager.
    ///
    /// A line of JSON on standard output tells where, once it serves. Loopback alone is listened to unless there are TLS and
    /// an access file.
    #[command(after_help = "\
Examples:
  wheelwright serve --catalog examples/node-pools
  wheelwright serve --catalog crds --store sqlite:orders.db --listen 127.0.0.1:8080
  kubectl --server http://127.0.0.1:8080 get orders")]
    Serve(Box<Serve>),
    /// Put documents into a store, and see what is in it.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Evaluate schemas for scripts and conformance.
    #[command(subcommand)]
    Schema(Schema),
    /// Explain a rule: what it means, why it matters and how to mend it.
    ///
    /// Without a rule, all of them are listed.
    #[command(after_help = "\
Examples:
  wheelwright explain WW005
  wheelwright explain type-required
  wheelwright explain | grep default")]
    Explain {
        /// The id or name of a rule.
        rule: Option<String>,
    },
    /// Write a script that teaches a shell this command.
    #[command(after_help = "\
Examples:
  wheelwright completions bash > ~/.local/share/bash-completion/completions/wheelwright
  wheelwright completions fish > ~/.config/fish/completions/wheelwright.fish")]
    Completions {
        /// The shell.
        shell: Shell,
    },
}

#[derive(Subcommand)]
pub(crate) enum Schema {
    /// Answer JSON lines with JSON lines: what Kubernetes makes of a schema and an object.
    ///
    /// A line has `id`, `schema` (an openAPIV3Schema) or `crd` and `version`, `root` (whether the schema describes a
    /// whole resource), `object`, `old` (what the object replaces) and `dropInvalidMetadata` (whether metadata of the wrong
    /// type is dropped, as when Kubernetes reads what it has stored). The answer has `id`, `structural_errors`,
    /// `default_errors`, `pruned`, `unknown`, `defaulted`, `errors` (without rules), `rule_errors` and, with `old`,
    /// `update_errors` (of both); without `object`, it ends with `default_errors`.
    ///
    /// Metadata of the wrong type is answered with `coerce_error`, no `defaulted` and empty `errors`. If there are more
    /// errors than can be written down, `truncated` is true. A line that cannot be read is answered with `id` and
    /// `error`. Empty lines are passed over. The exit code is 0 even if lines had errors.
    #[command(after_help = "\
Examples:
  wheelwright schema eval cases.jsonl
  echo '{\"id\": 1, \"schema\": {\"type\": \"object\"}, \"object\": {\"a\": 1}}' | wheelwright schema eval")]
    Eval {
        /// Files to read, `-` for standard input, which is also read if there are none.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

#[derive(Args)]
pub(crate) struct Check {
    /// Files, or folders to look through for *.yaml, *.yml and *.json; `-` for standard input. Without any, and without
    /// --catalog, the current folder.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// A wheelwright.yaml, a folder that has one, or files with CustomResourceDefinitions or OpenAPI documents; may be
    /// repeated. All that it declares is checked; with paths, what it declares there.
    #[arg(long, value_name = "PATH")]
    pub(crate) catalog: Vec<PathBuf>,
    /// The same definitions before an update; what Kubernetes forgives in the update is only noted.
    #[arg(long, value_name = "FILE")]
    pub(crate) previous: Vec<PathBuf>,
    /// The least level to show. Without it everything is, and of versions that nobody has said anything about yet only
    /// errors have pictures.
    #[arg(long, value_enum)]
    pub(crate) level: Option<Level>,
    /// The folder that references to other files may not leave; without it, the outermost of the folder that is named,
    /// the repository, and the folder with Azure's common-types.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
    /// A schema without a definition describes a whole resource, with apiVersion, kind and metadata.
    #[arg(long)]
    pub(crate) root: bool,
    /// Compare with a revision in git and show only what is new: git:main, git:HEAD~1. Published versions are held against
    /// what they were.
    #[arg(long, value_name = "git:REV")]
    pub(crate) against: Option<String>,
    /// Show every finding with its picture; with --against, what the revision has, too.
    #[arg(long)]
    pub(crate) all: bool,
    /// Run no laws over kinds with changes or a lock; `wheelwright laws` runs more than the sample that is run here.
    #[arg(long)]
    pub(crate) no_laws: bool,
}

#[derive(Args)]
pub(crate) struct Init {
    /// Files with CustomResourceDefinitions or OpenAPI documents, or folders to look through. Of OpenAPI documents in
    /// folders, those count that have a PUT.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,
    /// A definition in OpenAPI documents that is a kind; may be repeated. Without any, those that are put.
    #[arg(long, value_name = "NAME")]
    pub(crate) definition: Vec<String>,
    /// The folder for the catalog.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) into: PathBuf,
    /// Replace files that are there already.
    #[arg(long)]
    pub(crate) force: bool,
    /// Write nothing, and show what would be written.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args)]
pub(crate) struct Test {
    /// Examples, or folders to look through for them; the folder of the catalog without any.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// A wheelwright.yaml, a folder that has one, or files with CustomResourceDefinitions or OpenAPI documents; may be
    /// repeated.
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) catalog: Vec<PathBuf>,
    /// The kind of the documents, whatever they say; else that of documents that do not say it is the one that a folder
    /// above them is named by.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Write what versions show into the files that have something else.
    #[arg(long)]
    pub(crate) update: bool,
    /// With --update, also write files for versions that have none.
    #[arg(long, requires = "update")]
    pub(crate) all_versions: bool,
    /// How to write results.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ResultFormat,
}

#[derive(Args)]
pub(crate) struct Laws {
    /// A wheelwright.yaml, a folder that has one, or files with CustomResourceDefinitions or OpenAPI documents; may be
    /// repeated.
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) catalog: Vec<PathBuf>,
    /// Only kinds of this name.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// How many cases a kind; a case is a few writes through some versions.
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pub(crate) cases: usize,
    /// Where the documents come from: the same number gives the same documents.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u64,
    /// How to write the results.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ResultFormat,
}

#[derive(Args)]
pub(crate) struct Lock {
    /// A wheelwright.yaml, a folder that has one, or files with CustomResourceDefinitions or OpenAPI documents; may be
    /// repeated.
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) catalog: Vec<PathBuf>,
    /// Store documents in the shape of this version from now on.
    #[arg(long, value_name = "VERSION")]
    pub(crate) hub: Option<String>,
    /// The kind whose hub moves, if there are several; with its group if several have the name.
    #[arg(long, requires = "hub")]
    pub(crate) kind: Option<String>,
    /// Write nothing, and say whether something is not locked.
    #[arg(long)]
    pub(crate) check: bool,
    /// Lock in spite of errors of `check`, and fields of which nobody said what became of them as fields of their own.
    #[arg(long)]
    pub(crate) accept: bool,
}

#[derive(Args)]
pub(crate) struct Diff {
    /// A version, or a file with definitions or an OpenAPI document.
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// Another one of the same sort.
    #[arg(value_name = "B")]
    pub(crate) b: String,
    /// A wheelwright.yaml, a folder that has one, or files with CustomResourceDefinitions or OpenAPI documents; may be
    /// repeated.
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) catalog: Vec<PathBuf>,
    /// The kind to look at; all of them without it.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// How to write differences.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ResultFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ResultFormat {
    /// Tables, for people.
    #[default]
    Text,
    /// A JSON object a line, for programs.
    Json,
}

#[derive(Args)]
pub(crate) struct Output {
    /// How to write findings.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Show what is let pass by allowances in the files, too.
    #[arg(long)]
    pub(crate) show_suppressed: bool,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum Format {
    /// Pictures of the source, for people.
    #[default]
    Text,
    /// A JSON object a line, for programs.
    Json,
    /// One SARIF 2.1.0 document, for code scanning.
    Sarif,
    /// Workflow commands, which GitHub shows beside the lines of a change.
    Github,
}

fn date(text: &str) -> Result<Date, String> {
    Date::parse(text).ok_or_else(|| "a date is written as 2027-03-01".to_owned())
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum Level {
    #[default]
    Note,
    Warning,
    Error,
}
