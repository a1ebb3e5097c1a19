//! Which definitions of an OpenAPI document are resources, where no catalog says so.

use std::collections::{BTreeSet, HashSet};

use wheelwright_document::{Spanned, SpannedEntry, SpannedNode};
use wheelwright_schema::Dialect;

/// The definitions that clients write: those that the body of a PUT refers to. In a document without such operations,
/// those that no other definition refers to. In the order they were written.
pub(crate) fn resources(document: &Spanned<'_>, dialect: Dialect) -> Vec<String> {
    let definitions = definitions(document, dialect);
    let written: HashSet<String> = written(document, dialect).into_iter().map(|(name, _)| name).collect();
    let is_resource: Box<dyn Fn(&str) -> bool> = if written.is_empty() {
        let mut referred = BTreeSet::new();
        for definition in definitions {
            let mut references = Vec::new();
            collect_references(&definition.value, &mut references);
            let names = references.into_iter().filter_map(|reference| name_of(reference, dialect));
            referred.extend(names.filter(|name| name != definition.key));
        }
        Box::new(move |name| !referred.contains(name))
    } else {
        Box::new(move |name| written.contains(name))
    };
    definitions.iter().map(|entry| entry.key).filter(|name| is_resource(name)).map(str::to_owned).collect()
}

/// The definitions that the body of a PUT refers to, with the path of the operation.
pub(crate) fn written<'a>(document: &'a Spanned<'a>, dialect: Dialect) -> Vec<(String, &'a str)> {
    let named =
        |(path, schema): (&'a str, &Spanned<'a>)| Some((name_of(schema.get("$ref")?.as_str()?, dialect)?, path));
    bodies(document).filter_map(named).collect()
}

/// The definitions of a document.
pub(crate) fn definitions<'a>(document: &Spanned<'a>, dialect: Dialect) -> &'a [SpannedEntry<'a>] {
    let found = match dialect {
        Dialect::Swagger2 => document.get("definitions"),
        Dialect::OpenApi30 | Dialect::OpenApi31 => document.get("components").and_then(|node| node.get("schemas")),
        _ => None,
    };
    found.and_then(Spanned::as_object).unwrap_or_default()
}

/// The definition that a reference names.
fn name_of(reference: &str, dialect: Dialect) -> Option<String> {
    let prefix = if dialect == Dialect::Swagger2 { "#/definitions/" } else { "#/components/schemas/" };
    reference.strip_prefix(prefix).map(unescaped)
}

/// The schemas of what is put, with the paths where.
fn bodies<'a>(document: &'a Spanned<'a>) -> impl Iterator<Item = (&'a str, &'a Spanned<'a>)> {
    let paths = document.get("paths").and_then(Spanned::as_object).unwrap_or_default();
    let puts = paths.iter().filter_map(|path| path.value.get("put").map(|put| (path, put)));
    puts.flat_map(move |(path, put)| {
        let parameters = [put, &path.value].into_iter().filter_map(|node| node.get("parameters")?.as_array()).flatten();
        let parameters = parameters.map(move |parameter| followed(document, parameter));
        let in_body = |parameter: &&Spanned<'_>| parameter.get("in").and_then(Spanned::as_str) == Some("body");
        let of_swagger = parameters.filter(in_body).filter_map(|parameter| parameter.get("schema"));
        let body = put.get("requestBody").map(|body| followed(document, body));
        let content = body.and_then(|body| body.get("content")?.as_object()).unwrap_or_default();
        let schemas = of_swagger.chain(content.iter().filter_map(|entry| entry.value.get("schema")));
        schemas.map(move |schema| (path.key, schema))
    })
}

/// What a reference within the document leads to, one step far.
pub(crate) fn followed<'a>(document: &'a Spanned<'a>, node: &'a Spanned<'a>) -> &'a Spanned<'a> {
    let reference = node.get("$ref").and_then(Spanned::as_str).and_then(|reference| reference.strip_prefix("#/"));
    let target = reference.and_then(|path| path.split('/').try_fold(document, |node, step| node.get(&unescaped(step))));
    target.unwrap_or(node)
}

fn collect_references<'a>(value: &Spanned<'a>, references: &mut Vec<&'a str>) {
    match value.node {
        SpannedNode::Scalar(_) => {}
        SpannedNode::Array(items) => items.iter().for_each(|item| collect_references(item, references)),
        SpannedNode::Object(entries) => {
            for entry in entries {
                match (entry.key, entry.value.as_str()) {
                    ("$ref", Some(reference)) => references.push(reference),
                    _ => collect_references(&entry.value, references),
                }
            }
        }
    }
}

/// A step of a JSON pointer.
fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}
