//! `CustomResourceDefinition`, version `apiextensions.k8s.io/v1`.

use wheelwright_document::{Path, Span, Spanned};
use wheelwright_findings::rules;

use super::{KubernetesResource, Lowered};
use crate::{ErrorType, Problem, Schema, problem::Problems};

/// A kind with its versions, as a CustomResourceDefinition declares it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Definition {
    /// Where the definition was written.
    pub span: Span,
    /// `metadata.name`, and where.
    pub name: Named,
    /// `spec.group`.
    pub group: Named,
    /// `spec.names.kind`.
    pub kind: Named,
    /// `spec.names.plural`.
    pub plural: Named,
    /// `spec.scope`.
    pub scope: Named,
    /// `spec.versions`, in the order they were written.
    pub versions: Vec<DefinitionVersion>,
    /// Where `spec.versions` was written.
    pub versions_span: Span,
    /// How it is served.
    pub resource: KubernetesResource,
}

/// A text and where it was written; empty if it is absent.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// The text.
    pub text: Box<str>,
    /// Where it was written.
    pub span: Span,
}

/// One version of a kind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DefinitionVersion {
    /// `name`.
    pub name: Named,
    /// `served`.
    pub served: bool,
    /// `storage`.
    pub storage: bool,
    /// `deprecated`.
    pub deprecated: bool,
    /// `subresources.status` is there.
    pub status_subresource: bool,
    /// `schema.openAPIV3Schema`.
    pub schema: Option<Schema>,
}

impl Definition {
    /// The version of a name.
    pub fn version(&self, name: &str) -> Option<&DefinitionVersion> {
        self.versions.iter().find(|version| *version.name.text == *name)
    }
}

/// Whether a document is a CustomResourceDefinition, of any version.
pub fn is_definition(document: &Spanned<'_>) -> bool {
    document.get("kind").and_then(Spanned::as_str) == Some("CustomResourceDefinition")
}

/// Reads a CustomResourceDefinition.
///
/// # Errors
/// The document is not one of `apiextensions.k8s.io/v1`.
pub fn lower_definition(document: &Spanned<'_>) -> Result<Lowered<Definition>, Box<Problem>> {
    let api_version = document.get("apiVersion").and_then(Spanned::as_str);
    if !is_definition(document) || api_version != Some("apiextensions.k8s.io/v1") {
        let place = document.entry("apiVersion").map_or(document.span, |entry| entry.value.span);
        let problem = Problem::new(
            &rules::MALFORMED_SCHEMA,
            ErrorType::NotSupported,
            &Path::Child(&Path::Root, "apiVersion"),
            place,
            "expected a CustomResourceDefinition of apiextensions.k8s.io/v1",
        );
        return Err(Box::new(problem.mend("convert it to apiVersion: apiextensions.k8s.io/v1")));
    }
    let mut problems = Problems::default();
    let at = |path: &[&str]| path.iter().try_fold(document, |node, key| node.get(key));
    let texts: [&[&str]; 5] = [
        &["metadata", "name"],
        &["spec", "group"],
        &["spec", "names", "kind"],
        &["spec", "names", "plural"],
        &["spec", "scope"],
    ];
    for steps in texts {
        if let Some(value) = at(steps).filter(|value| value.as_str().is_none()) {
            problems.push(wrong_type(value, &Path::Child(&Path::Root, &steps.join(".")), "a string"));
        }
    }
    let named = |path: &[&str]| named(at(path), document.span);
    let spec = Path::Child(&Path::Root, "spec");
    let versions = at(&["spec", "versions"]);
    let versions_path = Path::Child(&spec, "versions");
    if let Some(value) = versions.filter(|value| value.as_array().is_none()) {
        problems.push(wrong_type(value, &versions_path, "a list"));
    }
    let items = versions.and_then(Spanned::as_array).unwrap_or_default();
    let definition = Definition {
        span: document.span,
        name: named(&["metadata", "name"]),
        group: named(&["spec", "group"]),
        kind: named(&["spec", "names", "kind"]),
        plural: named(&["spec", "names", "plural"]),
        scope: named(&["spec", "scope"]),
        versions: items
            .iter()
            .enumerate()
            .map(|(index, item)| version(item, &Path::Index(&versions_path, index), &mut problems))
            .collect(),
        versions_span: versions.map_or(document.span, |versions| versions.span),
        resource: KubernetesResource::read(document),
    };
    Ok(Lowered { item: definition, problems: problems.into_list() })
}

fn version(source: &Spanned<'_>, path: &Path<'_>, problems: &mut Problems) -> DefinitionVersion {
    let mut flag = |key| {
        let Some(value) = source.get(key) else { return false };
        let flag = value.as_scalar().and_then(|value| value.as_bool());
        if flag.is_none() {
            problems.push(wrong_type(value, &Path::Child(path, key), "true or false"));
        }
        flag == Some(true)
    };
    let (served, storage, deprecated) = (flag("served"), flag("storage"), flag("deprecated"));
    let schema = source.get("schema").and_then(|schema| schema.get("openAPIV3Schema"));
    let schema_path = Path::Child(path, "schema");
    DefinitionVersion {
        name: named(source.get("name"), source.span),
        served,
        storage,
        deprecated,
        status_subresource: source.get("subresources").and_then(|subresources| subresources.get("status")).is_some(),
        schema: schema.map(|schema| super::schema(schema, &Path::Child(&schema_path, "openAPIV3Schema"), problems)),
    }
}

fn wrong_type(value: &Spanned<'_>, path: &Path<'_>, expected: &str) -> Problem {
    let message = format!("{path} must be {expected}, found {}", value.kind_name());
    Problem::new(&rules::MALFORMED_SCHEMA, ErrorType::TypeInvalid, path, value.span, message)
}

fn named(value: Option<&Spanned<'_>>, otherwise: Span) -> Named {
    match value.and_then(|value| Some((value.as_str()?, value.span))) {
        Some((text, span)) => Named { text: text.into(), span },
        None => Named { text: "".into(), span: value.map_or(otherwise, |value| value.span) },
    }
}
