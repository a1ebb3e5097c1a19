//! The classes of change that are seeded, one file a family.

mod defaults;
mod definitions;
mod fields;
mod junctors;
mod lists;
mod objects;
mod rules;
mod values;

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::Random;

use super::harm::Harm;

/// A class of change.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) seed: Seed,
}

/// Edits the schema of one node; `None` where the class does not apply.
pub(crate) type SchemaSeed = fn(&mut Json, &mut Random) -> Option<Seeded>;
/// Edits a definition, of which one version is named; `None` where the class does not apply.
pub(crate) type DefinitionSeed = fn(&mut Json, &str, &mut Random) -> Option<Fact>;

/// How a change of a class is made.
#[derive(Clone, Copy)]
pub(crate) enum Seed {
    /// By editing the schema of one node.
    Schema(SchemaSeed),
    /// By editing a definition, of which one version is named.
    Definition(DefinitionSeed),
}

/// A change that was made in a schema: what documents to try.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seeded {
    /// The field of the node that the change is about, if it is about one.
    pub(crate) field: Option<String>,
    /// Values to try at the place.
    pub(crate) values: Vec<Json>,
    /// Fields of the node to leave out.
    pub(crate) without: Vec<String>,
}

/// Whether a change of a definition does harm, as Kubernetes documents it.
pub(crate) enum Fact {
    Harm(Harm),
    Harmless,
}

/// Every class.
pub(crate) fn all() -> Vec<Class> {
    let families = [
        fields::CLASSES,
        values::CLASSES,
        lists::CLASSES,
        objects::CLASSES,
        rules::CLASSES,
        junctors::CLASSES,
        defaults::CLASSES,
    ];
    let schemas = families.into_iter().flatten();
    let schemas = schemas.map(|(name, seed)| Class { name, seed: Seed::Schema(*seed) });
    let definitions = definitions::CLASSES.iter();
    let definitions = definitions.map(|(name, seed)| Class { name, seed: Seed::Definition(*seed) });
    schemas.chain(definitions).collect()
}

/// The type that a node declares.
fn type_of(node: &Json) -> &str {
    if is_set(node, "x-kubernetes-int-or-string") { "int-or-string" } else { text(node, "type") }
}

fn text<'n>(node: &'n Json, keyword: &str) -> &'n str {
    node.get(keyword).and_then(Json::as_str).unwrap_or_default()
}

fn is_set(node: &Json, keyword: &str) -> bool {
    node.get(keyword).and_then(Json::as_bool) == Some(true)
}

/// The names of the fields of an object that are changed: those of every resource are not.
fn field_names(node: &Json) -> Vec<String> {
    let fields = node.get("properties").and_then(Json::as_object);
    let names = fields.into_iter().flat_map(|fields| fields.keys());
    names.filter(|name| !["apiVersion", "kind", "metadata"].contains(&name.as_str())).cloned().collect()
}

/// A field of an object, taken at random.
fn a_field(node: &Json, random: &mut Random) -> Option<String> {
    random.pick(&field_names(node)).cloned()
}

fn required(node: &Json) -> Vec<String> {
    let required = node.get("required").and_then(Json::as_array);
    required.into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}

fn set(node: &mut Json, keyword: &str, value: impl Into<Json>) {
    if let Some(node) = node.as_object_mut() {
        node.insert(keyword.to_owned(), value.into());
    }
}

fn unset(node: &mut Json, keyword: &str) -> Option<Json> {
    node.as_object_mut()?.remove(keyword)
}

fn push(node: &mut Json, keyword: &str, value: Json) {
    match node.get_mut(keyword).and_then(Json::as_array_mut) {
        Some(list) => list.push(value),
        None => set(node, keyword, json!([value])),
    }
}

/// A change that says which values to try.
fn trying(values: impl IntoIterator<Item = Json>) -> Option<Seeded> {
    Some(Seeded { values: values.into_iter().collect(), ..Seeded::default() })
}

/// A change about one field.
fn about(field: String) -> Option<Seeded> {
    Some(Seeded { field: Some(field), ..Seeded::default() })
}
