//! Whether the default values of a schema fit it. Those below `additionalProperties` are never looked at.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    Environment, Errors, Path, deep_equal, default_of, error, is_embedded_resource, metadata, properties, prune,
    structural, subschema, validate,
};

/// The errors of all defaults; `root` says that the schema is of a whole resource.
pub(crate) fn errors(environment: Environment, schema: &Value, root: bool) -> Errors {
    if !structural::is_readable(schema) {
        return Errors::new();
    }
    let mut schema = schema.clone();
    if root {
        schema["x-kubernetes-embedded-resource"] = json!(true);
    }
    let mut check = Check { environment, errors: Errors::new() };
    check.schema(&schema, &Path::root(), &Resource { schema: &schema, steps: Vec::new() }, false);
    check.errors
}

/// The resource around a schema, and the way from it to the schema.
#[derive(Clone)]
struct Resource<'s> {
    schema: &'s Value,
    steps: Vec<Step<'s>>,
}

#[derive(Clone)]
enum Step<'s> {
    Field(&'s str),
    Item,
}

impl<'s> Resource<'s> {
    fn then(&self, step: Step<'s>) -> Self {
        let mut next = self.clone();
        next.steps.push(step);
        next
    }

    /// An otherwise empty resource with `value` in its place.
    fn around(&self, value: &Value) -> Value {
        let wrapped = self.steps.iter().rev().fold(value.clone(), |value, step| match step {
            Step::Field(name) => json!({ *name: value }),
            Step::Item => json!([value]),
        });
        let Value::Object(mut fields) = wrapped else {
            return wrapped;
        };
        fields.insert("apiVersion".to_owned(), json!("validation/v1"));
        fields.insert("kind".to_owned(), json!("Validation"));
        Value::Object(fields)
    }
}

struct Check {
    environment: Environment,
    errors: Errors,
}

impl Check {
    fn schema(&mut self, schema: &Value, path: &Path, resource: &Resource<'_>, in_metadata: bool) {
        let embedded = is_embedded_resource(schema);
        let own = Resource { schema, steps: Vec::new() };
        let (resource, in_metadata) = if embedded { (&own, false) } else { (resource, in_metadata) };

        if let Some(value) = default_of(schema) {
            let path = path.child("default");
            let found = if in_metadata {
                self.inside_metadata(schema, value, &path, resource)
            } else {
                self.value(schema, value, &path, embedded)
            };
            self.errors.extend(found);
        }
        if let Some(items) = subschema(schema, "items") {
            self.schema(items, &path.child("items"), &resource.then(Step::Item), in_metadata);
        }
        for (name, child) in properties(schema) {
            let implied = embedded && matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
            let path = path.child("properties").key(name);
            let resource = resource.then(Step::Field(name));
            self.schema(child, &path, &resource, in_metadata || implied);
        }
    }

    /// A default must have no unknown fields; then the first of three checks that fails speaks.
    fn value(&self, schema: &Value, value: &Value, path: &Path, embedded: bool) -> Errors {
        let mut errors = Errors::new();
        let mut pruned = value.clone();
        prune::prune(&mut pruned, Some(schema), embedded, "", &mut BTreeSet::new());
        if !deep_equal(&pruned, value) {
            errors.insert(error("Invalid", path));
        }
        let mut coerced = value.clone();
        if let Err(wrong) = metadata::coerce(path, &mut coerced, Some(schema), embedded) {
            errors.insert(error("Invalid", &wrong));
            return errors;
        }
        let resource_errors = metadata::validate(path, &coerced, Some(schema), embedded);
        if resource_errors.is_empty() {
            errors.extend(validate::default_value(self.environment, schema, &coerced, path));
        } else {
            errors.extend(resource_errors);
        }
        errors
    }

    /// A default inside metadata must make valid metadata of an otherwise empty resource.
    fn inside_metadata(&self, schema: &Value, value: &Value, path: &Path, resource: &Resource<'_>) -> Errors {
        let mut object = resource.around(value);
        let readable = metadata::coerce(&Path::root(), &mut object, Some(resource.schema), true).is_ok();
        let errors = metadata::validate(&Path::root(), &object, Some(resource.schema), true);
        if readable && errors.is_empty() {
            validate::default_value(self.environment, schema, value, path)
        } else {
            Errors::from([error("Invalid", path)])
        }
    }
}
