//! What Kubernetes demands of the metadata, `apiVersion` and `kind` of a resource.

use std::sync::LazyLock;

use regex::Regex;
use wheelwright_document::{Arena, Entry, FieldPath, Path, Value};
use wheelwright_text::names::{
    group_and_version, is_dns1035_label, is_dns1123_label, is_dns1123_subdomain, is_label_value, is_path_segment_name,
    is_path_segment_prefix, is_qualified_name,
};

use super::coerce_metadata;
use crate::error::{ErrorType, Source, ValidationError};

/// All annotations of an object together, keys and values.
const MOST_ANNOTATION_BYTES: usize = 256 << 10;
const LONGEST_MANAGER: usize = 128;
const LONGEST_SUBRESOURCE: usize = 256;

/// Takes the errors that are found.
type Report<'r> = dyn FnMut(ErrorType, FieldPath, String) + 'r;

/// Checks metadata; `path` is where the metadata itself is.
pub(crate) fn validate_metadata(metadata: Value<'_>, path: &Path<'_>, report: &mut Report<'_>) {
    validate_fields(metadata, path, |_| true, report);
}

fn validate_fields(metadata: Value<'_>, path: &Path<'_>, counts: fn(&str) -> bool, report: &mut Report<'_>) {
    let arena = Arena::new();
    let metadata = match coerce_metadata(metadata, &arena) {
        Ok(metadata) => metadata,
        Err(error) => return report(ErrorType::Invalid, path.to_field_path(), error.to_string()),
    };
    for entry in metadata.as_object().unwrap_or_default().iter().filter(|entry| counts(entry.key)) {
        validate_field(entry, &Path::Child(path, entry.key), report);
    }
}

/// Checks the metadata of a whole resource, which the API server does apart from its schema: it must have a name, or one
/// to be generated, and the name must be a DNS subdomain, as for all custom resources.
pub fn validate_resource_metadata(resource: Value<'_>) -> Vec<ValidationError> {
    let mut errors = Vec::new();
    let mut report =
        |kind, path, message| errors.push(ValidationError { kind, path, message, source: Source::Metadata });
    let path = Path::Child(&Path::Root, "metadata");
    let metadata = resource.get("metadata").unwrap_or(Value::Object(&[]));
    let text = |key| metadata.get(key).and_then(Value::as_str).unwrap_or_default();
    let (name, prefix) = (text("name"), text("generateName"));
    let name_path = Path::Child(&path, "name").to_field_path();
    if name.is_empty() && prefix.is_empty() {
        report(ErrorType::Required, name_path, "name or generateName is required".to_owned());
    } else if !name.is_empty() && !is_dns1123_subdomain(name) {
        report(ErrorType::Invalid, name_path, NAME_DEMAND.to_owned());
    }
    // What is generated goes on after the prefix, so it may end in a dash.
    if !prefix.is_empty() && !is_dns1123_subdomain(&format!("{}a", prefix.trim_end_matches('-'))) {
        report(ErrorType::Invalid, Path::Child(&path, "generateName").to_field_path(), NAME_DEMAND.to_owned());
    }
    validate_metadata(metadata, &path, &mut report);
    errors
}

/// Checks the metadata of a whole resource that replaces an old one: what identifies it has to stay, and what it is called
/// is not looked at again. That an update needs a `resourceVersion` is left to whoever has one.
pub fn validate_resource_metadata_update(resource: Value<'_>, old: Value<'_>) -> Vec<ValidationError> {
    let mut errors = Vec::new();
    let mut report =
        |kind, path, message| errors.push(ValidationError { kind, path, message, source: Source::Metadata });
    let path = Path::Child(&Path::Root, "metadata");
    let [metadata, old] = [resource, old].map(|resource| resource.get("metadata").unwrap_or(Value::Object(&[])));
    let text = |metadata: Value<'_>, key| metadata.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    for key in ["name", "namespace", "uid", "creationTimestamp"] {
        let (new, old) = (text(metadata, key), text(old, key));
        // All but the name are filled in by the server where they are missing.
        if new != old && (key == "name" || !new.is_empty() && !old.is_empty()) {
            let message = format!("cannot be changed in an update; it was {old:?}");
            report(ErrorType::Invalid, Path::Child(&path, key).to_field_path(), message);
        }
    }
    let counts = |field: &str| matches!(field, "labels" | "annotations" | "ownerReferences" | "managedFields");
    validate_fields(metadata, &path, counts, &mut report);
    errors
}

const NAME_DEMAND: &str = "must be lower-case letters, digits, `-` and `.`, and start and end with a letter or digit";

/// Checks the `apiVersion` and `kind` of a resource; `path` is where the resource is.
pub(crate) fn validate_type_meta(
    api_version: Option<Value<'_>>,
    kind: Option<Value<'_>>,
    path: &Path<'_>,
    report: &mut Report<'_>,
) {
    let mut check = |name, value: Option<Value<'_>>, rule: fn(&str) -> bool, demand: &str| {
        let (error, message) = match value {
            None => (ErrorType::Required, "is required"),
            Some(Value::String(text)) if text.as_str().is_empty() => (ErrorType::Required, "must not be empty"),
            Some(Value::String(text)) if rule(text.as_str()) => return,
            Some(Value::String(_)) => (ErrorType::Invalid, demand),
            Some(_) => (ErrorType::Invalid, "must be a string"),
        };
        report(error, Path::Child(path, name).to_field_path(), message.to_owned());
    };
    let is_api_version = |text: &str| group_and_version(text).is_some();
    check(
        "apiVersion",
        api_version,
        is_api_version,
        "must be a version, or a group and a version with `/` between them",
    );
    let is_kind = |text: &str| is_dns1035_label(&lower_case(text));
    check("kind", kind, is_kind, "must be up to 63 letters, digits and `-`, start with a letter and not end with `-`");
}

/// Checks a field of well-formed metadata.
fn validate_field(entry: &Entry<'_>, path: &Path<'_>, report: &mut Report<'_>) {
    let text = entry.value.as_str().unwrap_or_default();
    match entry.key {
        "name" if !is_path_segment_name(text) => {
            invalid(report, path, "must not be `.` or `..`, nor contain `/` or `%`")
        }
        "generateName" if !is_path_segment_prefix(text) => invalid(report, path, "must not contain `/` or `%`"),
        "namespace" if !is_dns1123_label(text) => {
            invalid(report, path, "must be up to 63 lower-case letters, digits and `-`, with no `-` at its ends");
        }
        "generation" if entry.value.as_number().and_then(|number| number.as_i64()).is_some_and(i64::is_negative) => {
            invalid(report, path, "must not be negative");
        }
        "labels" => validate_labels(fields(entry.value), path, report),
        "annotations" => validate_annotations(fields(entry.value), path, report),
        "ownerReferences" => validate_owners(items(entry.value), path, report),
        "finalizers" => validate_finalizers(items(entry.value), path, report),
        "managedFields" => {
            for (index, managed) in items(entry.value).iter().enumerate() {
                validate_managed_fields(*managed, &Path::Index(path, index), report);
            }
        }
        _ => {}
    }
}

fn validate_labels(labels: &[Entry<'_>], path: &Path<'_>, report: &mut Report<'_>) {
    for label in labels {
        if !is_qualified_name(label.key) {
            invalid(report, path, &format!("{:?} is no valid key; {QUALIFIED_NAME}", label.key));
        }
        if !is_label_value(label.value.as_str().unwrap_or_default()) {
            let demand = "must be empty or up to 63 letters and digits, with `-`, `_` and `.` between them";
            invalid(report, path, &format!("the value of {:?} {demand}", label.key));
        }
    }
}

fn validate_annotations(annotations: &[Entry<'_>], path: &Path<'_>, report: &mut Report<'_>) {
    for annotation in annotations {
        // Letter case does not count in the keys of annotations.
        if !is_qualified_name(annotation.key) && !is_qualified_name(&lower_case(annotation.key)) {
            invalid(report, path, &format!("{:?} is no valid key; {QUALIFIED_NAME}", annotation.key));
        }
    }
    let size = |annotation: &Entry<'_>| annotation.key.len() + annotation.value.as_str().map_or(0, str::len);
    if annotations.iter().map(size).sum::<usize>() > MOST_ANNOTATION_BYTES {
        too_long(report, path, MOST_ANNOTATION_BYTES);
    }
}

fn validate_owners(owners: &[Value<'_>], path: &Path<'_>, report: &mut Report<'_>) {
    let mut controllers = 0;
    for owner in owners {
        let text = |name| owner.get(name).and_then(Value::as_str).unwrap_or_default();
        let (group, version) = group_and_version(text("apiVersion")).unwrap_or_default();
        if version.is_empty() {
            invalid(report, &Path::Child(path, "apiVersion"), "must name a version");
        }
        for name in ["kind", "name", "uid"].into_iter().filter(|name| text(name).is_empty()) {
            invalid(report, &Path::Child(path, name), "must not be empty");
        }
        if (group, version, text("kind")) == ("", "v1", "Event") {
            invalid(report, path, "an event must not be an owner");
        }
        controllers += usize::from(owner.get("controller") == Some(Value::Bool(true)));
    }
    if controllers > 1 {
        invalid(report, path, "only one owner may be the controller");
    }
}

fn validate_finalizers(finalizers: &[Value<'_>], path: &Path<'_>, report: &mut Report<'_>) {
    let names = || finalizers.iter().filter_map(|finalizer| finalizer.as_str());
    for name in names().filter(|name| !is_qualified_name(name)) {
        invalid(report, path, &format!("{name:?} is no valid name; {QUALIFIED_NAME}"));
    }
    if names().any(|name| name == "orphan") && names().any(|name| name == "foregroundDeletion") {
        invalid(report, path, "`orphan` and `foregroundDeletion` must not be set together");
    }
}

fn validate_managed_fields(managed: Value<'_>, path: &Path<'_>, report: &mut Report<'_>) {
    let text = |name| managed.get(name).and_then(Value::as_str).unwrap_or_default();
    if !matches!(text("operation"), "Apply" | "Update") {
        invalid(report, &Path::Child(path, "operation"), "must be `Apply` or `Update`");
    }
    if !matches!(text("fieldsType"), "" | "FieldsV1") {
        invalid(report, &Path::Child(path, "fieldsType"), "must be `FieldsV1`");
    }
    let manager = Path::Child(path, "manager");
    if text("manager").len() > LONGEST_MANAGER {
        too_long(report, &manager, LONGEST_MANAGER);
    }
    if !is_printable(text("manager")) {
        invalid(report, &manager, "must consist of printable characters");
    }
    if text("subresource").len() > LONGEST_SUBRESOURCE {
        too_long(report, &Path::Child(path, "subresource"), LONGEST_SUBRESOURCE);
    }
}

const QUALIFIED_NAME: &str = "it must be up to 63 letters and digits, with `-`, `_` and `.` between them, after an \
                              optional DNS subdomain and `/`";

#[cold]
fn invalid(report: &mut Report<'_>, path: &Path<'_>, message: &str) {
    report(ErrorType::Invalid, path.to_field_path(), message.to_owned());
}

#[cold]
fn too_long(report: &mut Report<'_>, path: &Path<'_>, most: usize) {
    report(ErrorType::TooLong, path.to_field_path(), format!("may not be longer than {most} bytes"));
}

fn fields<'a>(value: Value<'a>) -> &'a [Entry<'a>] {
    value.as_object().unwrap_or_default()
}

fn items<'a>(value: Value<'a>) -> &'a [Value<'a>] {
    value.as_array().unwrap_or_default()
}

/// Lower case character by character, as Go does it: never more characters than before.
fn lower_case(text: &str) -> String {
    text.chars().filter_map(|c| c.to_lowercase().next()).collect()
}

/// Letters, marks, numbers, punctuation, symbols and the space of ASCII.
fn is_printable(text: &str) -> bool {
    static UNPRINTABLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[^\p{L}\p{M}\p{N}\p{P}\p{S} ]").ok());
    text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        || UNPRINTABLE.as_ref().is_none_or(|unprintable| !unprintable.is_match(text))
}

#[cfg(test)]
mod tests {
    use wheelwright_document::decode;

    use super::*;

    fn errors_of(metadata: &str) -> Vec<(ErrorType, String)> {
        let arena = Arena::new();
        let metadata = decode(metadata.as_bytes(), &arena).unwrap();
        let mut errors = Vec::new();
        validate_metadata(metadata, &Path::Child(&Path::Root, "metadata"), &mut |kind, path, _| {
            errors.push((kind, path.to_string()));
        });
        errors.dedup();
        errors
    }

    #[test]
    fn good_metadata() {
        let good = [
            "null",
            "{}",
            r#"{"name":"","namespace":"","generateName":"x-"}"#,
            r#"{"name":"A b","namespace":"default","generation":3,"labels":{"example.com/A":"","b":"B.c"}}"#,
            r#"{"annotations":{"Example.com/A":"anything at all","k8s.io/x":"é","KELVIN\u212a.io/y":"1"}}"#,
            r#"{"finalizers":["example.com/a","orphan"]}"#,
            r#"{"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u","controller":true},
                {"apiVersion":"events.k8s.io/v1","kind":"Event","name":"n","uid":"u","controller":false}]}"#,
            r#"{"managedFields":[{"operation":"Apply","fieldsType":"FieldsV1","manager":"é m"},{"operation":"Update"}]}"#,
        ];
        for metadata in good {
            assert_eq!(errors_of(metadata), [], "{metadata}");
        }
    }

    #[test]
    fn what_an_update_may_do_to_metadata() {
        let update = |new: &str, old: &str| {
            let (arena, texts) = (Arena::new(), [new, old].map(|metadata| format!(r#"{{"metadata":{metadata}}}"#)));
            let [new, old] = [0, 1].map(|at| decode(texts[at].as_bytes(), &arena).unwrap());
            let errors = validate_resource_metadata_update(new, old);
            errors.iter().map(|error| error.path().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(update(r#"{"name":"Not_A_Name"}"#, r#"{"name":"Not_A_Name","namespace":"n","uid":"u"}"#), [""; 0]);
        assert_eq!(update(r#"{"name":"a"}"#, r#"{"name":"b"}"#), ["metadata.name"]);
        assert_eq!(update("{}", r#"{"name":"b"}"#), ["metadata.name"]);
        assert_eq!(update(r#"{"namespace":"a","uid":"1"}"#, r#"{"namespace":"b","uid":"1"}"#), ["metadata.namespace"]);
        assert_eq!(update(r#"{"labels":{"-":"x"}}"#, r#"{"labels":{"-":"x"}}"#), ["metadata.labels"]);
    }

    #[test]
    fn bad_metadata() {
        let owner = |fields: &str| format!(r#"{{"ownerReferences":[{{{fields}}}]}}"#);
        let long = "m".repeat(300);
        let cases = [
            ("5".to_owned(), "metadata"),
            (r#"{"name":5}"#.to_owned(), "metadata"),
            (r#"{"name":".."}"#.to_owned(), "metadata.name"),
            (r#"{"name":"a/b"}"#.to_owned(), "metadata.name"),
            (r#"{"generateName":"%"}"#.to_owned(), "metadata.generateName"),
            (r#"{"namespace":"A"}"#.to_owned(), "metadata.namespace"),
            (r#"{"namespace":"a.b"}"#.to_owned(), "metadata.namespace"),
            (r#"{"generation":-1}"#.to_owned(), "metadata.generation"),
            (r#"{"labels":{"-":"x"}}"#.to_owned(), "metadata.labels"),
            (r#"{"labels":{"Example.com/a":"x"}}"#.to_owned(), "metadata.labels"),
            (r#"{"labels":{"a":"b c"}}"#.to_owned(), "metadata.labels"),
            (r#"{"annotations":{"a/b/c":""}}"#.to_owned(), "metadata.annotations"),
            (r#"{"finalizers":[""]}"#.to_owned(), "metadata.finalizers"),
            (r#"{"finalizers":["orphan","foregroundDeletion"]}"#.to_owned(), "metadata.finalizers"),
            (owner(r#""kind":"K","name":"n","uid":"u""#), "metadata.ownerReferences.apiVersion"),
            (owner(r#""apiVersion":"a/b/c","kind":"K","name":"n","uid":"u""#), "metadata.ownerReferences.apiVersion"),
            (owner(r#""apiVersion":"a/","kind":"K","name":"n","uid":"u""#), "metadata.ownerReferences.apiVersion"),
            (owner(r#""apiVersion":"v1","name":"n","uid":"u""#), "metadata.ownerReferences.kind"),
            (owner(r#""apiVersion":"v1","kind":"K","uid":"u""#), "metadata.ownerReferences.name"),
            (owner(r#""apiVersion":"v1","kind":"K","name":"n""#), "metadata.ownerReferences.uid"),
            (owner(r#""apiVersion":"v1","kind":"Event","name":"n","uid":"u""#), "metadata.ownerReferences"),
            (
                owner(&[r#""apiVersion":"v1","kind":"K","name":"n","uid":"u","controller":true"#; 2].join("},{")),
                "metadata.ownerReferences",
            ),
            (r#"{"managedFields":[{}]}"#.to_owned(), "metadata.managedFields[0].operation"),
            (
                r#"{"managedFields":[{"operation":"Apply","fieldsType":"x"}]}"#.to_owned(),
                "metadata.managedFields[0].fieldsType",
            ),
            (
                r#"{"managedFields":[{"operation":"Apply","manager":"a\u00a0"}]}"#.to_owned(),
                "metadata.managedFields[0].manager",
            ),
        ];
        for (metadata, path) in cases {
            assert_eq!(errors_of(&metadata), [(ErrorType::Invalid, path.to_owned())], "{metadata}");
        }
        let managed =
            format!(r#"{{"managedFields":[{{"operation":"Apply","manager":"{long}","subresource":"{long}"}}]}}"#);
        let expected = ["metadata.managedFields[0].manager", "metadata.managedFields[0].subresource"];
        assert_eq!(errors_of(&managed), expected.map(|path| (ErrorType::TooLong, path.to_owned())));
    }

    #[test]
    fn annotations_have_a_limit() {
        let annotations = |bytes: usize| format!(r#"{{"annotations":{{"a":"{}"}}}}"#, "x".repeat(bytes));
        assert_eq!(errors_of(&annotations((256 << 10) - 1)), []);
        assert_eq!(errors_of(&annotations(256 << 10)), [(ErrorType::TooLong, "metadata.annotations".to_owned())]);
    }

    #[test]
    fn types() {
        let errors_of = |api_version: Option<&'static str>, kind: Option<&'static str>| {
            let mut errors = Vec::new();
            let path = Path::Child(&Path::Root, "spec");
            validate_type_meta(api_version.map(Value::string), kind.map(Value::string), &path, &mut |kind, path, _| {
                errors.push((kind, path.to_string()));
            });
            errors
        };
        for (api_version, kind) in [("v1", "Pod"), ("apps/v1", "D-1"), ("/", "aB"), ("a b/é", "K")] {
            assert_eq!(errors_of(Some(api_version), Some(kind)), [], "{api_version} {kind}");
        }
        let version = |kind| [(kind, "spec.apiVersion".to_owned())];
        let kind = |kind| [(kind, "spec.kind".to_owned())];
        assert_eq!(errors_of(None, Some("K")), version(ErrorType::Required));
        assert_eq!(errors_of(Some(""), Some("K")), version(ErrorType::Required));
        assert_eq!(errors_of(Some("a/b/c"), Some("K")), version(ErrorType::Invalid));
        assert_eq!(errors_of(Some("v1"), None), kind(ErrorType::Required));
        assert_eq!(errors_of(Some("v1"), Some("")), kind(ErrorType::Required));
        for bad in ["1K", "K_", "K.", "é", "K-"] {
            assert_eq!(errors_of(Some("v1"), Some(bad)), kind(ErrorType::Invalid), "{bad}");
        }
        let mut errors = Vec::new();
        validate_type_meta(Some(Value::Null), Some(Value::Bool(true)), &Path::Root, &mut |kind, path, _| {
            errors.push((kind, path.to_string()));
        });
        assert_eq!(errors, [(ErrorType::Invalid, "apiVersion".to_owned()), (ErrorType::Invalid, "kind".to_owned())]);
    }
}
