//! What can be asked of a resource, as both versions of OpenAPI describe it.

use wheelwright_document::Value;

use super::{
    Dialect,
    schema::{group_version_kind, meta, name_of},
};
use crate::kubernetes::{json::Json, resource::Resource};

/// The paths of a resource, with what can be done there.
pub(super) fn paths<'a>(resource: &Resource, dialect: Dialect, json: Json<'a>) -> Vec<(&'a str, Value<'a>)> {
    let (definition, version) = (resource.definition(), resource.version());
    let base = format!("/apis/{}/{}", definition.group, version.name);
    let scoped = if definition.is_namespaced { "/namespaces/{namespace}" } else { "" };
    let collection = format!("{base}{scoped}/{}", definition.plural);
    let named = format!("{collection}/{{name}}");
    let own = name_of(resource, &definition.kind);
    let scale = "io.k8s.api.autoscaling.v1.Scale".to_owned();
    let mut described: Vec<(String, Vec<Operation>)> = vec![
        (collection, of_collection(resource, &own)),
        (named.clone(), [of_document("", &own), vec![deletion()]].concat()),
    ];
    if definition.is_namespaced {
        let everywhere = listing(resource, "ForAllNamespaces");
        described.push((format!("{base}/{}", definition.plural), vec![everywhere]));
    }
    if version.has_status {
        described.push((format!("{named}/status"), of_document("Status", &own)));
    }
    if version.scale.is_some() {
        described.push((format!("{named}/scale"), of_document("Scale", &scale)));
    }
    let described = described.iter().map(|(path, operations)| {
        let operations =
            operations.iter().map(|operation| (operation.method, operation.describe(resource, dialect, json)));
        let in_path = ["name", "namespace"].into_iter().filter(|name| path.contains(&format!("{{{name}}}")));
        let in_path = in_path.map(|name| dialect.parameter(&Parameter { name, kind: "string", about: "" }, true, json));
        let parameters = json.list(in_path.collect::<Vec<_>>());
        (json.0.text(path) as &str, json.object(operations.chain([("parameters", parameters)]).collect::<Vec<_>>()))
    });
    described.collect()
}

/// Something that can be done at a path.
#[derive(Clone)]
struct Operation {
    method: &'static str,
    /// What Kubernetes calls it.
    action: &'static str,
    /// Its own name: what is done, then what it is done to.
    verb: &'static str,
    infix: &'static str,
    suffix: &'static str,
    about: &'static str,
    parameters: Vec<Parameter>,
    body: Body,
    /// The statuses of success, each with what is answered.
    answers: &'static [(&'static str, &'static str)],
    answer: String,
}

/// What is sent.
#[derive(Clone)]
enum Body {
    Nothing,
    Document(String),
    Options(String),
    Patch,
}

/// A parameter in the query or in the path.
#[derive(Clone, Copy)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) about: &'static str,
}

const fn text(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, kind: "string", about }
}

const DRY_RUN: Parameter = text("dryRun", "All, if nothing is to be stored.");
const RESOURCE_VERSION: Parameter = text("resourceVersion", "The moment that is to be shown at least.");
const OF_WRITES: [Parameter; 3] = [
    DRY_RUN,
    text("fieldManager", "Who writes."),
    text(
        "fieldValidation",
        "What becomes of fields that nobody knows or that are written twice: Ignore, Warn or Strict.",
    ),
];
const OF_LISTS: [Parameter; 10] = [
    Parameter {
        name: "allowWatchBookmarks",
        kind: "boolean",
        about: "Whether a watch tells where it is now and then.",
    },
    text("continue", "Where the list goes on, as the page before it says."),
    text("fieldSelector", "Which documents, by their fields."),
    text("labelSelector", "Which documents, by their labels."),
    Parameter { name: "limit", kind: "integer", about: "The most documents of a page." },
    RESOURCE_VERSION,
    text("resourceVersionMatch", "How resourceVersion is meant: NotOlderThan or Exact."),
    Parameter { name: "sendInitialEvents", kind: "boolean", about: "Whether a watch begins with what is there." },
    Parameter { name: "timeoutSeconds", kind: "integer", about: "How long a watch goes on." },
    Parameter { name: "watch", kind: "boolean", about: "What happens from now on instead of what is there." },
];
const OF_DELETION: [Parameter; 4] = [
    DRY_RUN,
    Parameter { name: "gracePeriodSeconds", kind: "integer", about: "Has no meaning for documents." },
    Parameter { name: "orphanDependents", kind: "boolean", about: "The older way to say propagationPolicy." },
    text("propagationPolicy", "What becomes of documents that this one owns: Orphan, Background or Foreground."),
];

const OK: (&str, &str) = ("200", "OK");
const CREATED: (&str, &str) = ("201", "Created");

/// What can be done to a document, or to a part of it.
fn of_document(suffix: &'static str, schema: &str) -> Vec<Operation> {
    let read = Operation {
        method: "get",
        action: "get",
        verb: "read",
        infix: "",
        suffix,
        about: "Shows it.",
        parameters: vec![RESOURCE_VERSION],
        body: Body::Nothing,
        answers: &[OK],
        answer: schema.to_owned(),
    };
    let replace = Operation {
        method: "put",
        action: "put",
        verb: "replace",
        about: "Writes it as a whole.",
        parameters: OF_WRITES.to_vec(),
        body: Body::Document(schema.to_owned()),
        answers: &[OK, CREATED],
        ..read.clone()
    };
    let patch = Operation {
        method: "patch",
        action: "patch",
        verb: "patch",
        about: "Changes a part of it.",
        body: Body::Patch,
        answers: &[OK],
        ..replace.clone()
    };
    vec![read, replace, patch]
}

fn deletion() -> Operation {
    Operation {
        method: "delete",
        action: "delete",
        verb: "delete",
        infix: "",
        suffix: "",
        about: "Deletes it, once nobody objects.",
        parameters: OF_DELETION.to_vec(),
        body: Body::Options(meta("DeleteOptions")),
        answers: &[OK, ("202", "Accepted")],
        answer: String::new(),
    }
}

fn of_collection(resource: &Resource, schema: &str) -> Vec<Operation> {
    let list = listing(resource, "");
    let create = Operation {
        method: "post",
        action: "post",
        verb: "create",
        infix: "",
        suffix: "",
        about: "Creates one.",
        parameters: OF_WRITES.to_vec(),
        body: Body::Document(schema.to_owned()),
        answers: &[OK, CREATED, ("202", "Accepted")],
        answer: schema.to_owned(),
    };
    let delete = Operation {
        method: "delete",
        action: "deletecollection",
        verb: "delete",
        infix: "Collection",
        about: "Deletes all that are selected.",
        parameters: [&OF_LISTS[..], &OF_DELETION[..]].concat(),
        body: Body::Options(meta("DeleteOptions")),
        ..list.clone()
    };
    vec![list, create, delete]
}

fn listing(resource: &Resource, suffix: &'static str) -> Operation {
    Operation {
        method: "get",
        action: "list",
        verb: "list",
        infix: "",
        suffix,
        about: "Lists or watches them.",
        parameters: OF_LISTS.to_vec(),
        body: Body::Nothing,
        answers: &[OK],
        answer: name_of(resource, &resource.definition().list_kind),
    }
}

impl Operation {
    fn describe<'a>(&self, resource: &Resource, dialect: Dialect, json: Json<'a>) -> Value<'a> {
        let (definition, version) = (resource.definition(), resource.version());
        let group: String = definition.group.split(['.', '-']).map(capital).collect();
        let is_in_one = definition.is_namespaced && self.suffix != "ForAllNamespaces";
        let scope = if is_in_one { "Namespaced" } else { "" };
        let Self { verb, infix, suffix, .. } = self;
        let id = format!("{verb}{group}{}{infix}{scope}{}{suffix}", capital(&version.name), definition.kind);
        let tag = format!(
            "{}{}_{}",
            group[..group.len().min(1)].to_lowercase(),
            group.get(1..).unwrap_or_default(),
            version.name
        );
        let parameters = self.parameters.iter().map(|parameter| dialect.parameter(parameter, false, json));
        let mut parameters: Vec<Value<'a>> = parameters.collect();
        let mut fields =
            vec![("tags", json.texts([tag])), ("description", json.text(self.about)), ("operationId", json.text(&id))];
        match dialect {
            Dialect::V2 => {
                parameters.extend(self.body_parameter(json));
                let consumed = self.consumed();
                fields.push(("consumes", json.texts(if consumed.is_empty() { &MEDIA_TYPES } else { consumed })));
                fields.push(("produces", json.texts(MEDIA_TYPES)));
            }
            Dialect::V3 => fields.extend(self.request_body(json).map(|body| ("requestBody", body))),
        }
        fields.push(("parameters", json.list(parameters)));
        let succeeded = self.answers.iter().map(|(status, about)| (*status, *about, self.answer.as_str()));
        let failed = meta("Status");
        let answers = succeeded.chain([("default", "Not done.", failed.as_str())]);
        let answers = answers.map(|(status, about, schema)| (status, dialect.answer(about, schema, json)));
        fields.push(("responses", json.object(answers.collect::<Vec<_>>())));
        fields.push(("x-kubernetes-action", json.text(self.action)));
        fields.push(("x-kubernetes-group-version-kind", group_version_kind(resource, &definition.kind, json)));
        json.object(fields)
    }

    /// In which languages the body may be.
    fn consumed(&self) -> &'static [&'static str] {
        match self.body {
            Body::Nothing => &[],
            Body::Document(_) | Body::Options(_) => &MEDIA_TYPES,
            Body::Patch => &PATCHES,
        }
    }

    fn body_schema(&self) -> String {
        match &self.body {
            Body::Nothing => String::new(),
            Body::Document(schema) | Body::Options(schema) => schema.clone(),
            Body::Patch => meta("Patch"),
        }
    }

    fn request_body<'a>(&self, json: Json<'a>) -> Option<Value<'a>> {
        let media_types = self.consumed();
        let schema = json.object([("schema", json.object([Dialect::V3.reference(&self.body_schema(), json)]))]);
        let content = json.object(media_types.iter().map(|media_type| (*media_type, schema)));
        let is_required = !matches!(self.body, Body::Options(_));
        (!media_types.is_empty()).then(|| json.object([("content", content), ("required", Value::Bool(is_required))]))
    }

    fn body_parameter<'a>(&self, json: Json<'a>) -> Option<Value<'a>> {
        let schema = json.object([Dialect::V2.reference(&self.body_schema(), json)]);
        let is_required = !matches!(self.body, Body::Options(_));
        (!self.consumed().is_empty()).then(|| {
            json.object([
                ("name", json.text("body")),
                ("in", json.text("body")),
                ("required", Value::Bool(is_required)),
                ("schema", schema),
            ])
        })
    }
}

const MEDIA_TYPES: [&str; 2] = ["application/json", "application/yaml"];
const PATCHES: [&str; 2] = ["application/json-patch+json", "application/merge-patch+json"];

impl Dialect {
    fn parameter<'a>(self, parameter: &Parameter, is_in_path: bool, json: Json<'a>) -> Value<'a> {
        let kind = [("type", json.text(parameter.kind))];
        let place = if is_in_path { "path" } else { "query" };
        let common = [
            ("name", Some(json.text(parameter.name))),
            ("in", Some(json.text(place))),
            ("description", (!parameter.about.is_empty()).then(|| json.text(parameter.about))),
            ("required", is_in_path.then_some(Value::Bool(true))),
        ];
        let [(key, value)] = match self {
            Self::V2 => kind,
            Self::V3 => [("schema", json.object(kind))],
        };
        json.some(common.into_iter().chain([(key, Some(value))]))
    }

    fn answer<'a>(self, about: &'a str, schema: &str, json: Json<'a>) -> Value<'a> {
        // A document that waits for somebody to agree, or that it is gone: no one schema says so.
        let schema = match schema {
            "" => json.object([("type", json.text("object"))]),
            schema => json.object([self.reference(schema, json)]),
        };
        let described = ("description", json.text(about));
        match self {
            Self::V2 => json.object([described, ("schema", schema)]),
            Self::V3 => {
                let content = MEDIA_TYPES.map(|media_type| (media_type, json.object([("schema", schema)])));
                json.object([described, ("content", json.object(content))])
            }
        }
    }
}

/// A word with a capital at its beginning.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
