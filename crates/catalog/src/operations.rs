//! What OpenAPI documents say of the requests about a resource: its type, which writes take long, and where it is listed.

use wheelwright_document::{Spanned, Value};
use wheelwright_schema::Dialect;

use crate::{NameRule, resources};

/// The requests about a resource in one version.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Operations {
    /// The writes that are done some time after they were answered.
    pub long_running: LongRunning,
    /// Where it is listed.
    pub listed: ListedBy,
    /// What its names are like, beside what goes for all.
    pub names: Option<NameRule>,
}

/// Which writes are done some time after they were answered (`x-ms-long-running-operation`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct LongRunning {
    /// PUT.
    pub put: bool,
    /// PATCH.
    pub patch: bool,
    /// DELETE.
    pub delete: bool,
}

/// What the resources are listed by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ListedBy {
    /// By subscription.
    pub subscription: bool,
    /// By resource group; a child, by its parent.
    pub collection: bool,
}

impl LongRunning {
    /// All writes, or none.
    pub fn all(is_long: bool) -> Self {
        Self { put: is_long, patch: is_long, delete: is_long }
    }
}

impl Operations {
    /// What goes for a resource of a type about which no document says anything: no write takes long, and it is listed
    /// where resources are.
    pub fn usual(resource_type: &str) -> Self {
        let is_child = resource_type.matches('/').count() > 1;
        let listed = ListedBy { subscription: !is_child, collection: true };
        Self { listed, ..Self::default() }
    }
}

/// The type of the resource whose PUT takes a definition, and the requests about it.
pub(crate) fn of_definition(
    document: &Spanned<'_>,
    dialect: Dialect,
    definition: &str,
) -> Option<(String, Operations)> {
    let written = resources::written(document, dialect);
    let (resource_type, path) =
        written.iter().filter(|(name, _)| name == definition).find_map(|(_, path)| Some((arm_type(path)?, *path)))?;
    let paths = document.get("paths").and_then(Spanned::as_object).unwrap_or_default();
    let item = paths.iter().find(|entry| entry.key == path).map(|entry| &entry.value);
    let is_long = |method: &str| {
        let operation = item.and_then(|item| item.get(method));
        let told = operation.and_then(|operation| operation.get("x-ms-long-running-operation"));
        told.and_then(Spanned::as_scalar) == Some(Value::Bool(true))
    };
    let long_running = LongRunning { put: is_long("put"), patch: is_long("patch"), delete: is_long("delete") };
    let is_read =
        |wanted: &dyn Fn(&str) -> bool| paths.iter().any(|entry| entry.value.get("get").is_some() && wanted(entry.key));
    let collection = path.rsplit_once('/').map_or(path, |(collection, _)| collection);
    let by_subscription = |path: &str| {
        let rest = path.strip_prefix("/subscriptions/").and_then(|rest| rest.split_once("/providers/"));
        rest.is_some_and(|(subscription, listed)| !subscription.contains('/') && *listed == *resource_type)
    };
    let listed =
        ListedBy { subscription: is_read(&by_subscription), collection: is_read(&|path: &str| path == collection) };
    let names = item.and_then(|item| NameRule::of(document, path, item));
    Some((resource_type, Operations { long_running, listed, names }))
}

/// The type of the resource at a path such as `/…/providers/Example.Shop/carts/{name}`: every other step after the provider.
pub(crate) fn arm_type(path: &str) -> Option<String> {
    let (_, resource) = path.rsplit_once("/providers/")?;
    let mut steps = resource.split('/');
    let provider = steps.next().filter(|provider| provider.contains('.'))?;
    let types: Vec<&str> = steps.step_by(2).collect();
    let is_type = |step: &&str| !step.is_empty() && !step.contains('{');
    (!types.is_empty() && types.iter().all(is_type)).then(|| format!("{provider}/{}", types.join("/")))
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, Decode, decode_json_spanned};

    use super::*;

    #[test]
    fn the_type_of_a_resource_is_every_other_step_after_its_provider() {
        let group = "/subscriptions/{id}/resourceGroups/{group}/providers";
        let told = |path: &str| arm_type(&format!("{group}/{path}"));
        assert_eq!(told("Example.Shop/carts/{cart}").as_deref(), Some("Example.Shop/carts"));
        assert_eq!(told("Example.Shop/carts/{cart}/lines/{line}").as_deref(), Some("Example.Shop/carts/lines"));
        assert_eq!(told("Example.Shop"), None);
        assert_eq!(told("{provider}/carts/{cart}"), None);
        assert_eq!(arm_type("/carts/{cart}"), None);
    }

    #[test]
    fn the_requests_about_a_resource_are_those_at_the_path_of_its_put() {
        let text = r##"{"swagger": "2.0", "definitions": {"Cart": {"type": "object"}, "Line": {"type": "object"}}, "paths": {
            "/subscriptions/{s}/providers/Example.Shop/carts": {"get": {}},
            "/subscriptions/{s}/resourceGroups/{g}/providers/Example.Shop/carts/{c}": {
                "put": {"x-ms-long-running-operation": true,
                        "parameters": [{"in": "body", "schema": {"$ref": "#/definitions/Cart"}}]},
                "delete": {"x-ms-long-running-operation": true}, "patch": {}},
            "/subscriptions/{s}/resourceGroups/{g}/providers/Example.Shop/carts/{c}/lines": {"get": {}},
            "/subscriptions/{s}/resourceGroups/{g}/providers/Example.Shop/carts/{c}/lines/{l}": {
                "put": {"parameters": [{"in": "body", "schema": {"$ref": "#/definitions/Line"}}]}}}}"##;
        let arena = Arena::new();
        let document = decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).unwrap();
        let of = |name| of_definition(&document, Dialect::Swagger2, name);
        let (carts, operations) = of("Cart").unwrap();
        assert_eq!(carts, "Example.Shop/carts");
        assert_eq!(operations.long_running, LongRunning { put: true, patch: false, delete: true });
        assert_eq!(operations.listed, ListedBy { subscription: true, collection: false });
        let (lines, operations) = of("Line").unwrap();
        assert_eq!(lines, "Example.Shop/carts/lines");
        assert_eq!(operations.long_running, LongRunning::default());
        assert_eq!(operations.listed, ListedBy { subscription: false, collection: true });
        assert_eq!(of("Basket"), None);
    }
}
