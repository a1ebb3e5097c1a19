//! What commands that look into a store are given.

use std::{num::NonZeroU32, path::PathBuf};

use clap::{Args, Subcommand};

use super::ResultFormat;

#[derive(Subcommand)]
pub(crate) enum Migrate {
    /// Say what there is to do, and write nothing.
    ///
    /// The exit code is 1 if something cannot be converted.
    #[command(after_help = "\
Examples:
  wheelwright migrate plan --store sqlite:orders.db
  wheelwright migrate plan --store sqlite:orders.db --format json | jq .atOthers")]
    Plan(Stored),
    /// Store every record in the shape of the hub, while others go on reading and writing.
    ///
    /// A run that was left is gone on with, and several at once share the work. What cannot be converted is listed with why,
    /// and the run goes on; the exit code is 1 then. To an older hub than that of
    /// the newest run, it goes with --back alone.
    #[command(after_help = "\
Examples:
  wheelwright migrate run --store sqlite:orders.db
  wheelwright migrate run --store sqlite:orders.db --rate 100   # no more than 100 writes a second
  wheelwright migrate run --store sqlite:orders.db --back       # to an older hub than before
  wheelwright migrate run --store sqlite:orders.db --dry-run    # the same as plan")]
    Run(MigrateRun),
    /// Say how far the newest run is.
    ///
    /// The exit code is 1 if it is not done, or something could not be converted.
    #[command(after_help = "\
Examples:
  wheelwright migrate status --store sqlite:orders.db")]
    Status(Stored),
    /// Hold every record against what a run promises.
    ///
    /// It can be opened, is at the hub, would be stored with the same bytes, and comes back from every other hub as it was.
    /// The exit code is 1 if one is not so.
    #[command(after_help = "\
Examples:
  wheelwright migrate verify --store sqlite:orders.db")]
    Verify(Stored),
}

#[derive(Args)]
pub(crate) struct MigrateRun {
    #[command(flatten)]
    pub(crate) stored: Stored,
    /// How many records are written in a second at the most; those that stay as they are do not count.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) rate: Option<NonZeroU32>,
    /// How many records are written at the same time.
    #[arg(long, value_name = "NUMBER", default_value = "64")]
    pub(crate) concurrency: NonZeroU32,
    /// Go to an older hub than that of the newest run.
    #[arg(long)]
    pub(crate) back: bool,
    /// Say what there is to do, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args)]
pub(crate) struct Retire {
    /// The version.
    #[arg(value_name = "VERSION")]
    pub(crate) version: String,
    #[command(flatten)]
    pub(crate) stored: Stored,
    /// What may be lost with the version, separated by commas: `values` that no other version shows, the `notation` of values
    /// that others show in another representation, the `order` of list items, or the name of a field, as this command prints it.
    #[arg(long, value_name = "LOSS", value_delimiter = ',')]
    pub(crate) accept: Vec<String>,
}

/// Which records are meant.
#[derive(Args)]
pub(crate) struct Stored {
    #[command(flatten)]
    pub(crate) place: Place,
    /// The kind, if only one is meant; with its group if several have the name: Order.shop.example.com.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// How to write results.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ResultFormat,
}

/// Where records are.
#[derive(Args)]
pub(crate) struct Place {
    /// The store: sqlite:PATH or postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) store: String,
    /// A wheelwright.yaml, a folder that has one, or files with CustomResourceDefinitions or OpenAPI documents; may be
    /// repeated.
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) catalog: Vec<PathBuf>,
}

#[derive(Subcommand)]
pub(crate) enum StoreCommand {
    /// Store documents, in the place of what is there.
    ///
    /// Their names, which are written to standard output, are those in their metadata. One that has a resourceVersion (or,
    /// for ARM, an etag) is stored only in the place of that one. Those that are refused are listed, and
    /// the others are stored; the exit code is 1 then.
    #[command(after_help = "\
Examples:
  wheelwright store put order.yaml --store sqlite:orders.db
  wheelwright store put pool.json --kind NodePool --from 2026-09-01 --name one/two --store sqlite:pools.db")]
    Put {
        /// Documents in YAML or JSON, `-` for standard input, which is also read if there are none.
        #[arg(value_name = "DOCUMENT")]
        documents: Vec<PathBuf>,
        #[command(flatten)]
        place: Place,
        /// The kind of the documents, whatever they say.
        #[arg(long)]
        kind: Option<String>,
        /// The version of documents that do not say it in an apiVersion.
        #[arg(long, value_name = "VERSION")]
        from: Option<String>,
        /// What the document is called, instead of what its metadata says.
        #[arg(long)]
        name: Option<String>,
    },
    /// Write a document as a version shows it.
    #[command(after_help = "\
Examples:
  wheelwright store get shop/books --as v3 --store sqlite:orders.db
  wheelwright store get shop/books --raw --store sqlite:orders.db | jq .metadata")]
    Get {
        /// What it is called.
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        place: Place,
        /// Its kind.
        #[arg(long)]
        kind: Option<String>,
        /// The version; without it, the one that the document's owner speaks.
        #[arg(long = "as", value_name = "VERSION")]
        version: Option<String>,
        /// Write the bytes of the record as they are stored, also if they are damaged.
        #[arg(long, conflicts_with = "version")]
        raw: bool,
    },
    /// Write the kinds and names of all documents, each with the version that its owner speaks.
    #[command(after_help = "\
Examples:
  wheelwright store list --store sqlite:orders.db")]
    List {
        #[command(flatten)]
        place: Place,
        /// Only documents of this kind.
        #[arg(long)]
        kind: Option<String>,
    },
    /// Delete a document, and write its name.
    ///
    /// One with finalizers is marked, and is deleted once it has none any more.
    #[command(after_help = "\
Examples:
  wheelwright store delete shop/books --store sqlite:orders.db
  wheelwright store delete shop/books --force --store sqlite:orders.db   # also a damaged one")]
    Delete {
        /// What it is called.
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        place: Place,
        /// Its kind.
        #[arg(long)]
        kind: Option<String>,
        /// Delete whatever is stored under the name, at once: what is damaged, what has finalizers, what only a newer
        /// program may write.
        #[arg(long)]
        force: bool,
    },
    /// Copy a store as it is now to a new file, while others write to it.
    ///
    /// Of a store in SQLite: PostgreSQL has pg_dump.
    #[command(after_help = "\
Examples:
  wheelwright store backup orders-monday.db --store sqlite:orders.db")]
    Backup {
        /// The new file. What is there is not replaced.
        #[arg(value_name = "FILE", value_parser = sqlite_file)]
        file: PathBuf,
        /// The store: sqlite:PATH.
        #[arg(long, value_name = "ADDRESS")]
        store: String,
    },
    /// List damaged records with their good copies, and put those back.
    ///
    /// Good copies are in the store's log, for as long as its history goes back, and in a backup. A copy of the damaged revision
    /// itself is best, then the newest one in the log. The exit code is 1 if a damaged record is left.
    ///
    /// With --to, copy what is certain of a SQLite file with a damaged structure or write-ahead log to a new file, and list what
    /// is lost. The exit code is 1 if something is.
    #[command(after_help = "\
Examples:
  wheelwright store repair --store sqlite:orders.db
  wheelwright store repair --store sqlite:orders.db --from sqlite:orders-monday.db
  wheelwright store repair --store sqlite:orders.db --from sqlite:orders-monday.db --write
  wheelwright store repair --store sqlite:orders.db --to orders-new.db")]
    Repair {
        #[command(flatten)]
        place: Place,
        /// Look for good copies in this backup, too: sqlite:PATH or postgres://USER@HOST/DATABASE.
        #[arg(long, value_name = "ADDRESS")]
        from: Option<String>,
        /// Put the best copy of each damaged record in its place, as a new revision.
        #[arg(long)]
        write: bool,
        /// Save damaged bytes in this folder, as NAME.REVISION.damaged; by default beside the SQLite file, otherwise in the
        /// current folder.
        #[arg(long, value_name = "FOLDER", requires = "write")]
        keep: Option<PathBuf>,
        /// Copy all documents whose newest revision is certain to this new file, with their revisions. The damaged file is not
        /// changed; end all processes that have it open.
        #[arg(long, value_name = "FILE", value_parser = sqlite_file, conflicts_with_all = ["from", "write", "keep"])]
        to: Option<PathBuf>,
    },
}

/// Reads the path of a SQLite file; `sqlite:PATH`, as for `--store`, is the same.
fn sqlite_file(text: &str) -> Result<PathBuf, String> {
    let path = text.strip_prefix("sqlite:").unwrap_or(text);
    if path.is_empty() {
        return Err("expected the path of a file, such as orders.db or sqlite:orders.db".to_owned());
    }
    // As for --store: two slashes are how the addresses of servers begin.
    if text != path && path.starts_with("//") && !path.starts_with("///") {
        let file = path.trim_start_matches('/');
        return Err(format!("write sqlite:{file}, or sqlite:/{file} for a file in the root folder"));
    }
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return Err("expected the path of a SQLite file, not the address of a server".to_owned());
    }
    Ok(path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_have_the_prefix_of_a_store() {
        for (text, path) in [("new.db", "new.db"), ("sqlite:new.db", "new.db"), ("sqlite:/srv/new.db", "/srv/new.db")] {
            assert_eq!(sqlite_file(text), Ok(path.into()), "{text}");
        }
        for text in ["", "sqlite:", "sqlite://new.db", "postgres://localhost/shop"] {
            assert!(sqlite_file(text).is_err(), "{text}");
        }
    }
}
