//! Rules about single keywords that a definition must obey besides being structural.

use std::collections::HashSet;

use wheelwright_document::Path;
use wheelwright_findings::rules;

use crate::{
    ErrorType::{self, Forbidden, Invalid, NotSupported, Required},
    Problem, Root, Schema,
    model::{Additional, ListType, Type, is_implied},
    problem::Problems,
};

/// Checks every keyword of a schema, with Kubernetes' error types and paths.
pub fn check_keywords(schema: &Schema, root: Root) -> Vec<Problem> {
    let mut checker = Checker { problems: Problems::default() };
    checker.node(schema, &Path::Root, Place { at_root: root == Root::Resource, in_root_metadata: false });
    if schema.nullable {
        checker.problem(&rules::ROOT_NOT_OBJECT, Forbidden, schema, &Path::Root, "nullable", "the root cannot be null");
    }
    checker.problems.into_list()
}

/// Where in a resource a node is.
#[derive(Clone, Copy)]
struct Place {
    at_root: bool,
    in_root_metadata: bool,
}

struct Checker {
    problems: Problems,
}

impl Checker {
    fn node(&mut self, schema: &Schema, path: &Path<'_>, place: Place) {
        if self.problems.is_full() {
            return;
        }
        self.unsupported(schema, path);
        self.structure(schema, path, place);
        self.list_type(schema, path);
        self.map_type(schema, path);
        self.below(schema, path, place);
    }

    fn below(&mut self, schema: &Schema, path: &Path<'_>, place: Place) {
        let inside = Place { at_root: false, ..place };
        let properties = Path::Child(path, "properties");
        for property in &schema.properties {
            let implied = is_implied(&property.name);
            let place = Place { in_root_metadata: place.in_root_metadata || place.at_root && implied, ..inside };
            self.node(&property.schema, &Path::Key(&properties, &property.name), place);
        }
        if let Some(additional) = schema.additional_schema() {
            self.node(additional, &Path::Child(path, "additionalProperties"), inside);
        }
        if let Some(items) = &schema.items {
            self.node(items, &Path::Child(path, "items"), inside);
        }
        for (name, branches) in [("allOf", &schema.all_of), ("oneOf", &schema.one_of), ("anyOf", &schema.any_of)] {
            let junctor = Path::Child(path, name);
            for (index, branch) in branches.iter().enumerate() {
                self.node(branch, &Path::Index(&junctor, index), inside);
            }
        }
        if let Some(not) = &schema.not {
            self.node(not, &Path::Child(path, "not"), inside);
        }
    }

    fn problem(
        &mut self,
        rule: &'static wheelwright_findings::Rule,
        kind: ErrorType,
        schema: &Schema,
        path: &Path<'_>,
        keyword: &str,
        message: impl Into<String>,
    ) -> &mut Problem {
        let problem = Problem::new(rule, kind, &Path::Child(path, keyword), schema.place_of(keyword), message);
        self.problems.push(problem)
    }

    fn unsupported(&mut self, schema: &Schema, path: &Path<'_>) {
        for keyword in &schema.unsupported {
            let message = format!("{keyword} is not supported in a structural schema");
            self.problem(&rules::UNSUPPORTED_KEYWORD, Forbidden, schema, path, keyword, message);
        }
        if schema.checks.unique_items {
            let message = "uniqueItems cannot be true, since checking it costs too much";
            self.problem(&rules::UNSUPPORTED_KEYWORD, Forbidden, schema, path, "uniqueItems", message).mend =
                Some("write x-kubernetes-list-type: set instead".to_owned());
        }
        if schema.extensions.preserve_unknown_fields == Some(false) {
            let keyword = "x-kubernetes-preserve-unknown-fields";
            let message = format!("{keyword} must be true or absent");
            self.problem(&rules::PRESERVE_UNKNOWN_FIELDS_FALSE, Invalid, schema, path, keyword, message).mend =
                Some("remove the line: unknown fields are pruned anyway".to_owned());
        }
    }

    fn structure(&mut self, schema: &Schema, path: &Path<'_>, place: Place) {
        match &schema.r#type {
            Some(Type::Unknown(name)) if **name == *"null" => {
                self.problem(&rules::TYPE_UNKNOWN, Forbidden, schema, path, "type", "type cannot be null").mend =
                    Some("write the type of the value, and nullable: true".to_owned());
            }
            Some(Type::Unknown(name)) => {
                let message = format!("{name:?} is not one of array, boolean, integer, number, object, string");
                self.problem(&rules::TYPE_UNKNOWN, NotSupported, schema, path, "type", message).ratchets = true;
            }
            _ => {}
        }
        let restricts = !matches!(schema.additional_properties, None | Some(Additional::Allowed(true)));
        if restricts && !schema.properties.is_empty() {
            let message = "properties and additionalProperties exclude each other";
            let rule = &rules::ADDITIONAL_PROPERTIES_CONFLICT;
            let related = (schema.place_of("properties"), "the fields are listed here".to_owned());
            self.problem(rule, Forbidden, schema, path, "additionalProperties", message).related.push(related);
        }
        if place.in_root_metadata && schema.default.is_some() {
            let message = "apiVersion, kind and metadata of a resource cannot have defaults";
            self.problem(&rules::DEFAULT_NOT_ALLOWED_HERE, Forbidden, schema, path, "default", message);
        }
    }

    fn map_type(&mut self, schema: &Schema, path: &Path<'_>) {
        let Some(map_type) = &schema.extensions.map_type else {
            return;
        };
        self.type_must_be(schema, path, &Type::Object, &rules::MAP_TYPE, "x-kubernetes-map-type");
        if !matches!(&**map_type, "atomic" | "granular") {
            let message = format!("{map_type:?} is not one of atomic, granular");
            self.problem(&rules::MAP_TYPE, NotSupported, schema, path, "x-kubernetes-map-type", message);
        }
    }

    fn type_must_be(
        &mut self,
        schema: &Schema,
        path: &Path<'_>,
        wanted: &Type,
        rule: &'static wheelwright_findings::Rule,
        because: &str,
    ) {
        if schema.r#type.as_ref() == Some(wanted) {
            return;
        }
        let kind = if schema.r#type.is_none() { Required } else { Invalid };
        let message = format!("type must be {} where {because} is set", wanted.name());
        let related = (schema.place_of(because), "because of this".to_owned());
        self.problem(rule, kind, schema, path, "type", message).related.push(related);
    }

    fn list_type(&mut self, schema: &Schema, path: &Path<'_>) {
        let keys = &schema.extensions.list_map_keys;
        let keyword = "x-kubernetes-list-type";
        match &schema.extensions.list_type {
            None => {
                if !keys.is_empty() {
                    let message = "x-kubernetes-list-map-keys needs x-kubernetes-list-type: map";
                    self.problem(&rules::LIST_TYPE, Required, schema, path, keyword, message);
                }
                return;
            }
            Some(list_type) => {
                self.type_must_be(schema, path, &Type::Array, &rules::LIST_TYPE, keyword);
                if let ListType::Unknown(name) = list_type {
                    let message = format!("{name:?} is not one of atomic, map, set");
                    self.problem(&rules::LIST_TYPE, NotSupported, schema, path, keyword, message);
                }
                if *list_type != ListType::Map && !keys.is_empty() {
                    let message = "x-kubernetes-list-map-keys needs x-kubernetes-list-type: map";
                    self.problem(&rules::LIST_TYPE, Invalid, schema, path, keyword, message);
                }
                if *list_type == ListType::Map {
                    self.list_map(schema, path);
                }
            }
        }
        self.set_or_map_items(schema, path);
    }

    fn list_map(&mut self, schema: &Schema, path: &Path<'_>) {
        let keyword = "x-kubernetes-list-map-keys";
        if schema.extensions.list_map_keys.is_empty() {
            let message = "a list of type map needs the names of its key fields";
            self.problem(&rules::LIST_TYPE, Required, schema, path, keyword, message);
        }
        let Some(items) = &schema.items else {
            let message = "a list of type map needs the schema of its items";
            self.problem(&rules::LIST_TYPE, Required, schema, path, "items", message);
            return;
        };
        let items_path = Path::Child(path, "items");
        if items.r#type != Some(Type::Object) {
            let message = "the items of a list of type map must be objects";
            self.problem(&rules::LIST_TYPE, Invalid, items, &items_path, "type", message);
            return;
        }
        let mut seen = HashSet::new();
        for key in &schema.extensions.list_map_keys {
            if self.problems.is_full() {
                return;
            }
            match items.property(key) {
                Some(field) if matches!(field.r#type, Some(Type::Array | Type::Object)) => {
                    let properties = Path::Child(&items_path, "properties");
                    let message = format!("{key} is a key of the list and must be a scalar");
                    self.problem(&rules::LIST_MAP_KEY, Invalid, field, &Path::Key(&properties, key), "type", message);
                }
                Some(_) => {}
                None => {
                    let message = format!("{key:?} is not a field of the items");
                    self.problem(&rules::LIST_MAP_KEY, Invalid, schema, path, keyword, message);
                }
            }
            if !seen.insert(key) {
                let message = format!("{key:?} is listed twice");
                self.problem(&rules::LIST_MAP_KEY, Invalid, schema, path, keyword, message);
            }
        }
    }

    /// Rules that Kubernetes added later and therefore ratchets.
    fn set_or_map_items(&mut self, schema: &Schema, path: &Path<'_>) {
        let Some(items) = &schema.items else { return };
        let items_path = Path::Child(path, "items");
        let list_type = match &schema.extensions.list_type {
            Some(list_type @ (ListType::Set | ListType::Map)) => list_type,
            _ => return,
        };
        if items.nullable {
            let message = format!("the items of a list of type {} cannot be null", list_type.name());
            self.problem(&rules::LIST_MAP_KEY, Forbidden, items, &items_path, "nullable", message).ratchets = true;
        }
        match list_type {
            ListType::Set => self.set_items(items, &items_path),
            _ => self.map_keys(schema, items, &items_path),
        }
    }

    fn set_items(&mut self, items: &Schema, path: &Path<'_>) {
        let atomic_list = matches!(items.extensions.list_type, None | Some(ListType::Atomic));
        let atomic_map = items.extensions.map_type.as_deref() == Some("atomic");
        let (wrong, keyword) = match items.r#type {
            Some(Type::Array) => (!atomic_list, "x-kubernetes-list-type"),
            Some(Type::Object) => (!atomic_map, "x-kubernetes-map-type"),
            _ => return,
        };
        if wrong {
            let message = "the items of a set are compared as a whole and must be atomic";
            let problem = self.problem(&rules::LIST_TYPE, Invalid, items, path, keyword, message);
            problem.ratchets = true;
            problem.mend = Some(format!("write {keyword}: atomic"));
        }
    }

    fn map_keys(&mut self, schema: &Schema, items: &Schema, path: &Path<'_>) {
        let required: HashSet<&str> = items.checks.required.iter().map(|name| &**name).collect();
        let properties = Path::Child(path, "properties");
        for key in &schema.extensions.list_map_keys {
            let Some(field) = items.property(key).filter(|_| !self.problems.is_full()) else { continue };
            let field_path = Path::Key(&properties, key);
            if !required.contains(&**key) && field.default.is_none() {
                let message = format!("{key} is a key of the list and must be required or have a default");
                let problem = self.problem(&rules::LIST_MAP_KEY, Required, field, &field_path, "default", message);
                problem.ratchets = true;
                problem
                    .related
                    .push((schema.place_of("x-kubernetes-list-map-keys"), "the keys of the list".to_owned()));
                problem.mend = Some(format!("add {key} to required, or give it a default"));
            }
            if field.nullable {
                let message = format!("{key} is a key of the list and cannot be null");
                self.problem(&rules::LIST_MAP_KEY, Forbidden, field, &field_path, "nullable", message).ratchets = true;
            }
        }
    }
}
