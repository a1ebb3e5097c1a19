//! Schemas of definitions as JSON: their lists, and the fields of list items.

use serde_json::Value as Json;

/// A step from a value to a part of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Field(String),
    Items,
    Values,
}

/// The sort of a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scalar {
    Text,
    Number,
    Flag,
}

/// A scalar field of an object, below any number of objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Leaf {
    pub(crate) names: Vec<String>,
    pub(crate) scalar: Scalar,
}

/// The paths of the items of all lists of objects, from the root of a document on.
pub(crate) fn lists(schema: &Json) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found);
    found
}

fn collect(schema: &Json, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    let mut below = |schema: &Json, step: Step, path: &mut Vec<Step>| {
        path.push(step);
        collect(schema, path, found);
        path.pop();
    };
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        if !(path.is_empty() && ["apiVersion", "kind", "metadata"].contains(&name.as_str())) {
            below(field, Step::Field(name.clone()), path);
        }
    }
    if schema["additionalProperties"].is_object() {
        below(&schema["additionalProperties"], Step::Values, path);
    }
    if schema["items"].is_object() {
        below(&schema["items"], Step::Items, path);
        if schema["items"]["properties"].is_object() {
            found.push(path.iter().cloned().chain([Step::Items]).collect());
        }
    }
}

/// The schema at a path.
pub(crate) fn at<'s>(schema: &'s Json, path: &[Step]) -> Option<&'s Json> {
    path.iter().try_fold(schema, |schema, step| match step {
        Step::Field(name) => schema["properties"].get(name),
        Step::Items => schema.get("items"),
        Step::Values => schema.get("additionalProperties").filter(|values| values.is_object()),
    })
}

pub(crate) fn at_mut<'s>(schema: &'s mut Json, path: &[Step]) -> Option<&'s mut Json> {
    path.iter().try_fold(schema, |schema, step| match step {
        Step::Field(name) => schema.get_mut("properties")?.get_mut(name),
        Step::Items => schema.get_mut("items"),
        Step::Values => schema.get_mut("additionalProperties").filter(|values| values.is_object()),
    })
}

/// The keys that a list declares.
pub(crate) fn keys(list: &Json) -> Vec<String> {
    let keys = list["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
    keys.filter_map(|key| key.as_str().map(str::to_owned)).collect()
}

/// The scalar fields of an object and of the objects in it. Unions, and objects that keep undeclared fields, are left out: setting one member of a union removes others, and undeclared fields are shown.
pub(crate) fn leaves(object: &Json) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect_leaves(object, &mut Vec::new(), &mut found);
    found
}

fn collect_leaves(object: &Json, names: &mut Vec<String>, found: &mut Vec<Leaf>) {
    let is_plain = ["oneOf", "anyOf", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"]
        .iter()
        .all(|keyword| object.get(keyword).is_none());
    if !is_plain || names.len() > 3 {
        return;
    }
    for (name, field) in object["properties"].as_object().into_iter().flatten() {
        if is_of_union(object, name, field) {
            continue;
        }
        names.push(name.clone());
        let scalar = match field["type"].as_str() {
            Some("string") => Some(Scalar::Text),
            Some("integer" | "number") => Some(Scalar::Number),
            Some("boolean") => Some(Scalar::Flag),
            Some("object") => {
                collect_leaves(field, names, found);
                None
            }
            _ => (field["x-kubernetes-int-or-string"] == true).then_some(Scalar::Text),
        };
        found.extend(scalar.map(|scalar| Leaf { names: names.clone(), scalar }));
        names.pop();
    }
}

/// Whether a field says which member of a union is set, or is such a member.
fn is_of_union(object: &Json, name: &str, field: &Json) -> bool {
    let says = |field: &Json, name: &str| {
        let values = field["enum"].as_array().into_iter().flatten().filter_map(Json::as_str);
        values.into_iter().any(|value| value.eq_ignore_ascii_case(name))
    };
    let others = || object["properties"].as_object().into_iter().flatten();
    others().any(|(other, _)| says(field, other)) || others().any(|(_, other)| says(other, name))
}

/// Removes a field of an object, and its name from those that are required.
pub(crate) fn remove(object: &mut Json, names: &[String]) {
    let [parents @ .., name] = names else { return };
    let parent = parents.iter().try_fold(object, |object, name| object.get_mut("properties")?.get_mut(name));
    let Some(parent) = parent else { return };
    parent["properties"].as_object_mut().unwrap().remove(name);
    if let Some(required) = parent.get_mut("required").and_then(Json::as_array_mut) {
        required.retain(|required| required != name);
    }
}

/// A path as changes files write it.
pub(crate) fn selector(path: &[Step]) -> String {
    path.iter().fold(String::new(), |text, step| match step {
        Step::Field(name) if text.is_empty() => name.clone(),
        Step::Field(name) => format!("{text}.{name}"),
        Step::Items => format!("{text}[]"),
        Step::Values => format!("{text}{{}}"),
    })
}
