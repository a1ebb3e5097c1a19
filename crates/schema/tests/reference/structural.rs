//! Whether a schema is structural.

use serde_json::{Value, json};

use super::{
    Environment, Errors, Path, default_of, error, flag, has_additional_properties, is_embedded_resource, list,
    properties, property, subschema, text,
};

/// Keywords that keep a schema from being read at all.
const UNSUPPORTED: [&str; 7] =
    ["id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"];

/// The errors of `schema`. One that cannot be read has the single error `NewStructural`.
pub(crate) fn errors(environment: Environment, schema: &Value) -> Errors {
    if !is_readable(schema) {
        return Errors::from([("NewStructural".to_owned(), String::new())]);
    }
    let mut check = Check { environment, errors: Errors::new() };
    check.schema(schema, true, &Path::root());
    check.completeness(schema, schema, &Path::root());
    check.errors
}

/// Whether Kubernetes can read the schema as structural at all.
pub(crate) fn is_readable(schema: &Value) -> bool {
    let junctors = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|name| list(schema, name));
    let children =
        ["items", "additionalProperties", "not"].into_iter().filter_map(|keyword| subschema(schema, keyword));
    schema["x-kubernetes-preserve-unknown-fields"] != false
        && !schema["items"].is_array()
        && !UNSUPPORTED.iter().any(|keyword| is_said(schema, keyword))
        && properties(schema).map(|(_, child)| child).chain(junctors).chain(children).all(is_readable)
}

/// Whether a keyword has a value that is not its zero value.
fn is_said(schema: &Value, keyword: &str) -> bool {
    match &schema[keyword] {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => keyword == "additionalItems" || !fields.is_empty(),
        _ => true,
    }
}

struct Check {
    environment: Environment,
    errors: Errors,
}

impl Check {
    fn report(&mut self, kind: &str, path: &Path) {
        self.errors.insert(error(kind, path));
    }

    fn schema(&mut self, schema: &Value, root: bool, path: &Path) {
        let kind = text(schema, "type");
        let embedded = is_embedded_resource(schema);
        let int_or_string = flag(schema, "x-kubernetes-int-or-string");
        let preserves = flag(schema, "x-kubernetes-preserve-unknown-fields");

        match subschema(schema, "items") {
            Some(items) => self.schema(items, false, &path.child("items")),
            None if kind == "array" => self.report("Required", &path.child("items")),
            None => {}
        }
        for (name, child) in properties(schema) {
            self.schema(child, false, &path.child("properties").key(name));
        }
        if has_additional_properties(schema) {
            let path = path.child("additionalProperties");
            if root || embedded {
                self.report("Forbidden", &path);
            }
            if let Some(values) = subschema(schema, "additionalProperties") {
                self.schema(values, false, &path);
            }
        }
        if int_or_string && preserves {
            self.report("Invalid", &path.child("x-kubernetes-preserve-unknown-fields"));
        }
        if int_or_string && embedded {
            self.report("Invalid", &path.child("x-kubernetes-embedded-resource"));
        }
        self.junctors(schema, is_integer_or_string(schema), true, path);

        let wrong_type = if embedded && kind != "object" {
            Some(if kind.is_empty() { "Required" } else { "Invalid" })
        } else if kind.is_empty() && !int_or_string && !preserves {
            Some("Required")
        } else {
            None
        };
        if let Some(wrong) = wrong_type {
            self.report(wrong, &path.child("type"));
        }
        if root && !kind.is_empty() && kind != "object" {
            self.report("Invalid", &path.child("type"));
        }
        self.metadata(schema, root, embedded, path);
        if embedded && !preserves && properties(schema).next().is_none() {
            self.report("Required", &path.child("properties"));
        }
    }

    fn metadata(&mut self, schema: &Value, root: bool, embedded: bool, path: &Path) {
        for (name, wanted) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
            let wrong = property(schema, name).is_some_and(|field| text(field, "type") != wanted);
            if (root || embedded) && wrong {
                self.report("Invalid", &path.child("properties").key(name).child("type"));
            }
        }
        if let Some(metadata) = property(schema, "metadata").filter(|_| root) {
            let names_only = properties(metadata).all(|(name, _)| matches!(name.as_str(), "name" | "generateName"));
            let says_more = metadata.as_object().into_iter().flatten().any(|(keyword, _)| {
                !matches!(keyword.as_str(), "type" | "default" | "properties") && is_said(metadata, keyword)
            });
            if !names_only || says_more || has_additional_properties(metadata) {
                self.report("Forbidden", &path.child("properties").key("metadata"));
            }
        }
    }

    /// `types_allowed` excuses `anyOf` from the ban on types; `outermost` excuses that of the first `allOf` too.
    fn junctors(&mut self, schema: &Value, types_allowed: bool, outermost: bool, path: &Path) {
        for keyword in ["anyOf", "allOf", "oneOf"] {
            for (index, branch) in list(schema, keyword).iter().enumerate() {
                if keyword == "anyOf" && types_allowed {
                    continue;
                }
                let excused = outermost && keyword == "allOf" && index == 0 && is_integer_or_string(branch);
                self.branch(branch, excused, &path.child(keyword).index(index));
            }
        }
        if let Some(branch) = subschema(schema, "not") {
            self.branch(branch, false, &path.child("not"));
        }
        let pattern = text(schema, "pattern");
        if !pattern.is_empty() && !(self.environment.pattern_is_valid)(pattern) {
            self.report("Invalid", &path.child("pattern"));
        }
    }

    /// What a branch of a junctor must not say.
    fn branch(&mut self, branch: &Value, types_allowed: bool, path: &Path) {
        self.junctors(branch, types_allowed, false, path);
        if let Some(items) = subschema(branch, "items") {
            self.branch(items, false, &path.child("items"));
        }
        for (name, child) in properties(branch) {
            let path = path.child("properties").key(name);
            self.branch(child, false, &path);
            if name == "metadata" {
                self.report("Forbidden", &path);
            }
        }
        let forbidden = [
            "type",
            "title",
            "description",
            "nullable",
            "externalDocs",
            "x-kubernetes-preserve-unknown-fields",
            "x-kubernetes-embedded-resource",
            "x-kubernetes-int-or-string",
            "x-kubernetes-list-map-keys",
            "x-kubernetes-list-type",
            "x-kubernetes-map-type",
            "x-kubernetes-validations",
        ];
        for keyword in forbidden.into_iter().filter(|keyword| is_said(branch, keyword)) {
            self.report("Forbidden", &path.child(keyword));
        }
        if default_of(branch).is_some() {
            self.report("Forbidden", &path.child("default"));
        }
        if has_additional_properties(branch) {
            self.report("Forbidden", &path.child("additionalProperties"));
        }
    }

    /// Every field that a junctor of the root speaks of must be specified outside it as well. Junctors further down
    /// are not looked at.
    fn completeness(&mut self, said: &Value, schema: &Value, path: &Path) {
        let branches = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|name| list(said, name));
        for branch in branches.chain(subschema(said, "not")) {
            self.branch_completeness(branch, schema, path);
        }
    }

    fn branch_completeness(&mut self, branch: &Value, schema: &Value, path: &Path) {
        self.completeness(branch, schema, path);
        if let Some(items) = subschema(branch, "items") {
            let path = path.child("items");
            match subschema(schema, "items") {
                Some(schema) => self.branch_completeness(items, schema, &path),
                None => self.report("Required", &path),
            }
        }
        for (name, field) in properties(branch) {
            let path = path.child("properties").key(name);
            match property(schema, name) {
                Some(schema) => self.branch_completeness(field, schema, &path),
                None => self.report("Required", &path),
            }
        }
    }
}

/// The one place where types may stand in a junctor.
fn is_integer_or_string(schema: &Value) -> bool {
    schema["anyOf"] == json!([{"type": "integer"}, {"type": "string"}])
}
