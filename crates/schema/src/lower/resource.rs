//! What a CustomResourceDefinition says of how its kind is served: names for commands and paths, subresources, columns.

use wheelwright_document::{Owned, Spanned, Value};

/// How a kind is served by a Kubernetes API server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KubernetesResource {
    /// `spec.group`.
    pub group: Box<str>,
    /// `spec.names.kind`.
    pub kind: Box<str>,
    /// `spec.names.plural`, as paths have it.
    pub plural: Box<str>,
    /// `spec.names.singular`, or the kind in lower case.
    pub singular: Box<str>,
    /// `spec.names.listKind`, or the kind with `List` after it.
    pub list_kind: Box<str>,
    /// `spec.names.shortNames`.
    pub short_names: Vec<Box<str>>,
    /// `spec.names.categories`.
    pub categories: Vec<Box<str>>,
    /// Whether its documents are in namespaces.
    pub is_namespaced: bool,
    /// `spec.conversion.strategy` is `Webhook`; otherwise Kubernetes changes nothing but the apiVersion.
    pub has_webhook: bool,
    /// Its versions, in the order they were written.
    pub versions: Vec<KubernetesVersion>,
}

/// How a version of a kind is served by a Kubernetes API server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KubernetesVersion {
    /// `name`.
    pub name: Box<str>,
    /// `served`.
    pub is_served: bool,
    /// `storage`.
    pub is_storage: bool,
    /// `deprecated`.
    pub is_deprecated: bool,
    /// `deprecationWarning`: what is said instead of the usual.
    pub deprecation_warning: Option<Box<str>>,
    /// `subresources.status` is there.
    pub has_status: bool,
    /// `subresources.scale`.
    pub scale: Option<Scale>,
    /// `additionalPrinterColumns`.
    pub columns: Vec<Column>,
    /// The paths of `selectableFields`, such as `.spec.color`.
    pub selectable_fields: Vec<Box<str>>,
    /// `schema.openAPIV3Schema`, as it was written.
    pub schema: Owned,
}

/// Where a version has its number of replicas.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Scale {
    /// `specReplicasPath`.
    pub spec_path: Box<str>,
    /// `statusReplicasPath`.
    pub status_path: Box<str>,
    /// `labelSelectorPath`.
    pub label_selector_path: Option<Box<str>>,
}

/// A column of a table of documents.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Column {
    /// `name`.
    pub name: Box<str>,
    /// `type`.
    pub kind: Box<str>,
    /// `format`.
    pub format: Box<str>,
    /// `description`.
    pub description: Box<str>,
    /// `priority`: 0 is always shown.
    pub priority: i32,
    /// `jsonPath`.
    pub json_path: Box<str>,
}

impl KubernetesResource {
    /// Reads what a definition says; what is missing or of another type is empty, for that is checked elsewhere.
    pub(super) fn read(document: &Spanned<'_>) -> Self {
        let spec = document.get("spec");
        let names = spec.and_then(|spec| spec.get("names"));
        let kind = text(names, "kind");
        let versions = list(spec, "versions").iter().map(KubernetesVersion::read);
        Self {
            group: text(spec, "group"),
            plural: text(names, "plural"),
            singular: filled(text(names, "singular")).unwrap_or_else(|| kind.to_lowercase().into()),
            list_kind: filled(text(names, "listKind")).unwrap_or_else(|| format!("{kind}List").into()),
            short_names: texts(names, "shortNames"),
            categories: texts(names, "categories"),
            is_namespaced: *text(spec, "scope") == *"Namespaced",
            has_webhook: *text(spec.and_then(|spec| spec.get("conversion")), "strategy") == *"Webhook",
            versions: versions.collect(),
            kind,
        }
    }
}

impl KubernetesVersion {
    fn read(version: &Spanned<'_>) -> Self {
        let subresources = version.get("subresources");
        let version = Some(version);
        let schema = version.and_then(|version| version.get("schema")?.get("openAPIV3Schema"));
        let fields = list(version, "selectableFields").iter();
        Self {
            name: text(version, "name"),
            is_served: flag(version, "served"),
            is_storage: flag(version, "storage"),
            is_deprecated: flag(version, "deprecated"),
            deprecation_warning: filled(text(version, "deprecationWarning")),
            has_status: subresources.and_then(|subresources| subresources.get("status")).is_some(),
            scale: subresources.and_then(|subresources| subresources.get("scale")).map(Scale::read),
            columns: list(version, "additionalPrinterColumns").iter().map(Column::read).collect(),
            selectable_fields: fields.map(|field| text(Some(field), "jsonPath")).collect(),
            schema: schema.map_or(Owned::Object([].into()), Owned::from),
        }
    }
}

impl Scale {
    fn read(scale: &Spanned<'_>) -> Self {
        Self {
            spec_path: text(Some(scale), "specReplicasPath"),
            status_path: text(Some(scale), "statusReplicasPath"),
            label_selector_path: filled(text(Some(scale), "labelSelectorPath")),
        }
    }
}

impl Column {
    fn read(column: &Spanned<'_>) -> Self {
        let text = |key| text(Some(column), key);
        let priority = column.get("priority").and_then(Spanned::as_scalar).and_then(|value| match value {
            Value::Number(number) => number.as_str().parse().ok(),
            _ => None,
        });
        Self {
            name: text("name"),
            kind: text("type"),
            format: text("format"),
            description: text("description"),
            priority: priority.unwrap_or(0),
            json_path: text("jsonPath"),
        }
    }
}

fn text(node: Option<&Spanned<'_>>, key: &str) -> Box<str> {
    node.and_then(|node| node.get(key)?.as_str()).unwrap_or_default().into()
}

fn texts(node: Option<&Spanned<'_>>, key: &str) -> Vec<Box<str>> {
    list(node, key).iter().filter_map(Spanned::as_str).map(Box::from).collect()
}

fn list<'a>(node: Option<&Spanned<'a>>, key: &str) -> &'a [Spanned<'a>] {
    node.and_then(|node| node.get(key)?.as_array()).unwrap_or_default()
}

fn flag(node: Option<&Spanned<'_>>, key: &str) -> bool {
    node.and_then(|node| node.get(key)?.as_scalar()?.as_bool()).unwrap_or_default()
}

fn filled(text: Box<str>) -> Option<Box<str>> {
    (!text.is_empty()).then_some(text)
}
