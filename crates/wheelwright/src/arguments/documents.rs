//! The arguments of commands about documents: `default`, `prune`, `validate` and `convert`.

use std::path::PathBuf;

use clap::Args;

use super::{Output, ResultFormat};

#[derive(Args)]
pub(crate) struct Documents {
    /// Documents in YAML or JSON, `-` for standard input, which is also read if there are none.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<PathBuf>,
    /// A file with CustomResourceDefinitions, an OpenAPI or JSON Schema document, or an openAPIV3Schema alone, in YAML or
    /// JSON; or a wheelwright.yaml or a folder; may be repeated. Without any, the current folder.
    #[arg(long, visible_alias = "catalog", value_name = "PATH")]
    pub(crate) schema: Vec<PathBuf>,
    /// The version to use instead of the one in the document's apiVersion; `info.version` of an OpenAPI document.
    #[arg(long, visible_alias = "from", value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// The kind to use instead of the document's own; the name of a definition in an OpenAPI document.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Documents are whole resources, with apiVersion, kind and metadata; the default with a definition.
    #[arg(long, conflicts_with = "value")]
    pub(crate) root: bool,
    /// Documents are plain values; the default with a schema that stands alone.
    #[arg(long)]
    pub(crate) value: bool,
    /// Unknown fields are errors.
    #[arg(long)]
    pub(crate) strict: bool,
    /// The folder that references to other files may not leave; without it, the outermost of the folder that is named,
    /// the repository, and the folder with Azure's common-types.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Transform {
    #[command(flatten)]
    pub(crate) documents: Documents,
    /// Write JSON on one line; YAML stays as it is.
    #[arg(long)]
    pub(crate) compact: bool,
}

#[derive(Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) documents: Documents,
    /// What the document replaces: what was wrong before and has not changed is forgiven, as in an update.
    #[arg(long, value_name = "FILE")]
    pub(crate) old: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct Convert {
    /// Documents in YAML or JSON, `-` for standard input, which is also read if there are none.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<PathBuf>,
    /// The version to convert to.
    #[arg(long, value_name = "VERSION", required_unless_present = "via")]
    pub(crate) to: Option<String>,
    /// A wheelwright.yaml, a folder that has one, or files with CustomResourceDefinitions or OpenAPI documents; may be
    /// repeated.
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) catalog: Vec<PathBuf>,
    /// The kind of the documents, whatever they say; with its group if several have the name: Order.shop.example.com.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// The version of documents that do not say it in an apiVersion.
    #[arg(long, value_name = "VERSION")]
    pub(crate) from: Option<String>,
    /// Instead of documents, write where each of their values came from.
    #[arg(long)]
    pub(crate) explain: bool,
    /// How to write explanations.
    #[arg(long, value_enum, default_value_t, requires = "explain")]
    pub(crate) format: ResultFormat,
    /// Write JSON on one line; YAML stays as it is.
    #[arg(long)]
    pub(crate) compact: bool,
    /// Read a JSON document a line and write one a line; one that cannot be converted is answered with {"error": ...},
    /// and the exit code is 1.
    #[arg(long, conflicts_with_all = ["explain", "compact"])]
    pub(crate) lines: bool,
    /// Instead of converting, write what is left of a document when a client of this version reads it and writes it
    /// back unchanged; needs --lines.
    #[arg(long, value_name = "VERSION", requires = "lines", conflicts_with = "to")]
    pub(crate) via: Option<String>,
}
