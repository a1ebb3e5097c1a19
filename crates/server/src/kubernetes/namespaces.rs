//! Namespaces, as far as clients need them: they are only names here, so every one is there that could have documents.

use std::collections::BTreeSet;

use http::{StatusCode, header};
use jiff::Timestamp;
use wheelwright_document::{Arena, Value, encode};
use wheelwright_repository::{Collection, Repository};

use super::{
    accept::{Accepted, Form, MEDIA_TYPES},
    columns::Columns,
    json::Json,
    show::in_language,
    status::{Details, Status},
    table::{IncludeObject, Table, partial},
};
use crate::{
    access::{Access, Scope, Verb},
    answer::Answer,
    request::Head,
};

/// What they are called in grants.
pub(crate) const KIND: &str = "Namespace";

/// Namespaces of a repository.
#[derive(Debug)]
pub(crate) struct Namespaces {
    repository: Repository,
    columns: Columns,
}

/// The one that is there without any documents.
const DEFAULT: &str = "default";

impl Namespaces {
    pub(crate) fn new(repository: Repository) -> Self {
        Self { repository, columns: Columns::of_namespaces() }
    }

    /// Shows a namespace: it is there if it can be.
    pub(crate) fn get(&self, name: &str, head: &Head) -> Answer {
        if is_name(name) {
            return self.shown(vec![namespace(name)], false, head);
        }
        let details = Details { name: name.into(), kind: "namespaces".into(), ..Details::default() };
        let missing = Status::new(StatusCode::NOT_FOUND, "NotFound", format!("namespaces {name:?} not found"));
        Status { details: Some(Box::new(details)), ..missing }.answer()
    }

    /// Lists those that have documents, and the default one.
    pub(crate) async fn list(&self, head: &Head) -> Answer {
        let mut names = BTreeSet::from([DEFAULT.to_owned()]);
        let is_namespaced = |collection: &Collection| {
            collection.kind().kubernetes().last().is_some_and(|resource| resource.is_namespaced)
        };
        for collection in self.repository.kinds().filter(is_namespaced) {
            match collection.scopes().await {
                Ok(scopes) => names.extend(scopes),
                Err(error) => return Status::internal(error.to_string()).answer(),
            }
        }
        self.shown(names.iter().filter(|name| is_name(name)).map(|name| namespace(name)).collect(), true, head)
    }

    fn shown(&self, documents: Vec<Vec<u8>>, is_list: bool, head: &Head) -> Answer {
        let Some(accepted) = Accepted::of_documents(head.header(header::ACCEPT)) else {
            return Status::not_acceptable(MEDIA_TYPES).answer();
        };
        let json = match accepted.form {
            Form::Table(version) => {
                let include = match IncludeObject::of(head.query.get("includeObject")) {
                    Ok(include) => include,
                    Err(message) => return Status::bad_request(message).answer(),
                };
                let table = Table { columns: &self.columns, version, include, now: Timestamp::default() };
                let rows = documents.iter().filter_map(|document| table.row(document).ok());
                let begin = table.begin(Value::Object(&[]), true);
                [begin, rows.collect::<Vec<_>>().join(&b","[..]), b"]}".to_vec()].concat()
            }
            Form::Partial(version) | Form::PartialList(version) => {
                let partial = documents.iter().filter_map(|document| partial(document, version).ok()).collect();
                listed(partial, is_list, "PartialObjectMetadataList", version.api_version())
            }
            Form::Plain | Form::AggregatedDiscovery => listed(documents, is_list, "NamespaceList", "v1"),
        };
        in_language(Answer::json(StatusCode::OK, json), accepted.is_yaml)
    }
}

/// What is asked of roles: which namespaces are used is not for everybody to know. That one could be is.
pub(crate) fn access(name: Option<&str>) -> Access {
    match name {
        Some(_) => Access::discover(),
        None => Access { verb: Verb::List, kind: Some(KIND.into()), version: Some("v1".into()), scope: Scope::All },
    }
}

/// Documents as a list, or the only one of them.
fn listed(documents: Vec<Vec<u8>>, is_list: bool, kind: &str, api_version: &str) -> Vec<u8> {
    let items = documents.join(&b","[..]);
    if !is_list {
        return items;
    }
    let begin = format!(r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{{}},"items":["#);
    [begin.as_bytes(), &items, b"]}"].concat()
}

fn namespace(name: &str) -> Vec<u8> {
    let arena = Arena::new();
    let json = Json(&arena);
    let labels = json.object([("kubernetes.io/metadata.name", json.text(name))]);
    encode(json.object([
        ("kind", json.text("Namespace")),
        ("apiVersion", json.text("v1")),
        ("metadata", json.object([("name", json.text(name)), ("labels", labels)])),
        ("spec", json.object([])),
        ("status", json.object([("phase", json.text("Active"))])),
    ]))
}

/// Whether a name can be that of a namespace: a label of a DNS name.
pub(crate) fn is_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte == b'-' || byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !name.is_empty() && name.len() <= 63 && name.bytes().all(is_inner) && !name.starts_with('-') && !name.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_labels_of_dns_names() {
        for name in ["default", "a", "a-1", "0"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "-a", "a-", "A", "a.b", "a_b", &"a".repeat(64)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
