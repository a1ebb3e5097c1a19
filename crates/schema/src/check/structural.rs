//! Structurality: what makes pruning and defaulting well defined.

use wheelwright_document::Path;
use wheelwright_findings::rules;

use super::patterns::check_patterns;
use crate::{
    ErrorType::{Forbidden, Invalid, Required},
    Problem, Schema,
    model::{Properties, Type},
    problem::Problems,
};

/// Checks that a schema is structural, with Kubernetes' error types and paths.
pub fn check_structural(schema: &Schema) -> Vec<Problem> {
    let mut problems = Problems::default();
    check_node(schema, Level::Root, &Path::Root, &mut problems);
    check_declared(schema, schema, &Path::Root, &mut problems);
    let mut problems = problems.into_list();
    problems.extend(check_patterns(schema));
    for problem in &mut problems {
        problem.structural = problem.kind.is_some();
    }
    problems
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

fn check_node(schema: &Schema, level: Level, path: &Path<'_>, problems: &mut Problems) {
    if problems.is_full() {
        return;
    }
    if schema.r#type == Some(Type::Array) && schema.items.is_none() {
        problems.push(
            Problem::new(
                &rules::ITEMS_REQUIRED,
                Required,
                &Path::Child(path, "items"),
                schema.place_of("type"),
                "an array needs items",
            )
            .mend("add items with the schema of one item, for instance items: {type: string}"),
        );
    }
    if let Some(items) = &schema.items {
        check_node(items, Level::Item, &Path::Child(path, "items"), problems);
    }
    let properties = Path::Child(path, "properties");
    for property in &schema.properties {
        check_node(&property.schema, Level::Field, &Path::Key(&properties, &property.name), problems);
    }
    let additional = Path::Child(path, "additionalProperties");
    if schema.additional_properties.is_some() && level == Level::Root {
        problems.push(Problem::new(
            &rules::ADDITIONAL_PROPERTIES_CONFLICT,
            Forbidden,
            &additional,
            schema.place_of("additionalProperties"),
            "additionalProperties must not stand at the root",
        ));
    }
    if let Some(below) = schema.additional_schema() {
        check_node(below, Level::Field, &additional, problems);
    }
    check_extensions(schema, path, problems);
    check_branches(schema, path, problems);
    check_type(schema, level, path, problems);
    check_implied_fields(schema, level, path, problems);
}

fn check_extensions(schema: &Schema, path: &Path<'_>, problems: &mut Problems) {
    let extensions = &schema.extensions;
    let conflicts = [
        ("x-kubernetes-preserve-unknown-fields", schema.preserves_unknown_fields()),
        ("x-kubernetes-embedded-resource", extensions.embedded_resource),
    ];
    for (keyword, set) in conflicts {
        if extensions.int_or_string && set {
            problems.push(
                Problem::new(
                    &rules::INT_OR_STRING_CONFLICT,
                    Invalid,
                    &Path::Child(path, keyword),
                    schema.place_of(keyword),
                    format!("{keyword} cannot go with x-kubernetes-int-or-string"),
                )
                .related(schema.place_of("x-kubernetes-int-or-string"), "an integer or a string here"),
            );
        }
    }
}

fn check_type(schema: &Schema, level: Level, path: &Path<'_>, problems: &mut Problems) {
    let type_path = Path::Child(path, "type");
    let embedded = schema.extensions.embedded_resource;
    let is_object = schema.r#type == Some(Type::Object);
    if embedded && !is_object {
        let kind = if schema.r#type.is_none() { Required } else { Invalid };
        let place = schema.place_of(if schema.has("type") { "type" } else { "x-kubernetes-embedded-resource" });
        problems.push(
            Problem::new(&rules::EMBEDDED_RESOURCE, kind, &type_path, place, "an embedded resource must be an object")
                .mend("write type: object"),
        );
    } else if schema.r#type.is_none() && !schema.extensions.int_or_string && !schema.preserves_unknown_fields() {
        let of_what = match level {
            Level::Root => "at the root",
            Level::Item => "for the items of a list",
            Level::Field => "for a field",
        };
        problems.push(
            Problem::new(
                &rules::TYPE_REQUIRED,
                Required,
                &type_path,
                schema.span,
                format!("type is required {of_what}"),
            )
            .mend(if schema.properties.is_empty() {
                "add a type, for instance type: string"
            } else {
                "add type: object"
            }),
        );
    }
    if embedded && schema.additional_properties.is_some() {
        problems.push(Problem::new(
            &rules::ADDITIONAL_PROPERTIES_CONFLICT,
            Forbidden,
            &Path::Child(path, "additionalProperties"),
            schema.place_of("additionalProperties"),
            "additionalProperties cannot go with x-kubernetes-embedded-resource",
        ));
    }
    if level == Level::Root && schema.r#type.is_some() && !is_object {
        problems.push(
            Problem::new(
                &rules::ROOT_NOT_OBJECT,
                Invalid,
                &type_path,
                schema.place_of("type"),
                "the root must be an object",
            )
            .mend("write type: object"),
        );
    }
    if embedded && !schema.preserves_unknown_fields() && schema.properties.is_empty() {
        problems.push(
            Problem::new(
                &rules::EMBEDDED_RESOURCE,
                Required,
                &Path::Child(path, "properties"),
                schema.place_of("x-kubernetes-embedded-resource"),
                "an embedded resource needs properties, or x-kubernetes-preserve-unknown-fields: true",
            )
            .mend("add x-kubernetes-preserve-unknown-fields: true to accept any resource"),
        );
    }
}

/// apiVersion, kind and metadata are implied at the root and in embedded resources, so little may be said of them.
fn check_implied_fields(schema: &Schema, level: Level, path: &Path<'_>, problems: &mut Problems) {
    let implied = level == Level::Root || schema.extensions.embedded_resource;
    let properties = Path::Child(path, "properties");
    for name in ["kind", "apiVersion"] {
        if let Some(field) = schema.property(name)
            && implied
            && field.r#type != Some(Type::String)
        {
            problems.push(
                Problem::new(
                    &rules::TYPE_META_NOT_STRING,
                    Invalid,
                    &Path::Child(&Path::Key(&properties, name), "type"),
                    field.place_of("type"),
                    format!("{name} must be a string"),
                )
                .mend("write type: string"),
            );
        }
    }
    let Some(metadata) = schema.property("metadata") else {
        return;
    };
    let metadata_path = Path::Key(&properties, "metadata");
    if implied && metadata.r#type != Some(Type::Object) {
        problems.push(
            Problem::new(
                &rules::RESTRICTED_METADATA,
                Invalid,
                &Path::Child(&metadata_path, "type"),
                metadata.place_of("type"),
                "metadata must be an object",
            )
            .mend("write metadata: {type: object}"),
        );
    }
    if level == Level::Root && says_more_than_names(metadata) {
        problems.push(
            Problem::new(
                &rules::RESTRICTED_METADATA,
                Forbidden,
                &metadata_path,
                metadata.span,
                "only name and generateName of the metadata may be restricted",
            )
            .mend("leave metadata: {type: object}, with properties for name and generateName at most"),
        );
    }
}

/// Whether a schema of the root's metadata has anything but a type, a default (which is refused elsewhere) and
/// restrictions of name and generateName.
fn says_more_than_names(metadata: &Schema) -> bool {
    let names_only =
        |properties: &Properties| properties.iter().all(|property| matches!(&*property.name, "name" | "generateName"));
    if !names_only(&metadata.properties) {
        return true;
    }
    metadata.keywords.iter().any(|(keyword, _)| match &**keyword {
        "type" | "default" | "properties" | "example" => false,
        "nullable" => metadata.nullable,
        "description" => metadata.description.is_some(),
        "title" => metadata.title.is_some(),
        "uniqueItems" => metadata.checks.unique_items,
        "exclusiveMinimum" => metadata.checks.exclusive_minimum,
        "exclusiveMaximum" => metadata.checks.exclusive_maximum,
        "required" => !metadata.checks.required.is_empty(),
        "enum" => !metadata.checks.r#enum.is_empty(),
        "allOf" => !metadata.all_of.is_empty(),
        "anyOf" => !metadata.any_of.is_empty(),
        "oneOf" => !metadata.one_of.is_empty(),
        "pattern" => metadata.checks.pattern.is_some(),
        "format" => metadata.checks.format.is_some(),
        "x-kubernetes-int-or-string" => metadata.extensions.int_or_string,
        "x-kubernetes-embedded-resource" => metadata.extensions.embedded_resource,
        "x-kubernetes-list-map-keys" => !metadata.extensions.list_map_keys.is_empty(),
        keyword => crate::lower::is_keyword(keyword),
    })
}

/// Junctors may validate but not describe; the two spellings of int-or-string are the one exception.
fn check_branches(schema: &Schema, path: &Path<'_>, problems: &mut Problems) {
    let skip_any_of = schema.is_int_or_string_any_of();
    let skip_in_first_all_of = schema.all_of.first().is_some_and(Schema::is_int_or_string_any_of);
    check_value_validation(schema, skip_any_of, skip_in_first_all_of, path, problems);
}

fn check_value_validation(
    schema: &Schema,
    skip_any_of: bool,
    skip_in_first_all_of: bool,
    path: &Path<'_>,
    problems: &mut Problems,
) {
    let junctors = [("anyOf", &schema.any_of), ("allOf", &schema.all_of), ("oneOf", &schema.one_of)];
    for (name, branches) in junctors {
        if name == "anyOf" && skip_any_of {
            continue;
        }
        let junctor = Path::Child(path, name);
        for (index, branch) in branches.iter().enumerate() {
            let skip = name == "allOf" && index == 0 && skip_in_first_all_of;
            check_branch(branch, skip, &Path::Index(&junctor, index), problems);
        }
    }
    if let Some(not) = &schema.not {
        check_branch(not, false, &Path::Child(path, "not"), problems);
    }
}

fn check_branch(branch: &Schema, skip_any_of: bool, path: &Path<'_>, problems: &mut Problems) {
    if problems.is_full() {
        return;
    }
    check_value_validation(branch, skip_any_of, false, path, problems);
    if let Some(items) = &branch.items {
        check_branch(items, false, &Path::Child(path, "items"), problems);
    }
    let properties = Path::Child(path, "properties");
    for property in &branch.properties {
        check_branch(&property.schema, false, &Path::Key(&properties, &property.name), problems);
    }
    let extensions = &branch.extensions;
    let forbidden = [
        ("type", branch.r#type.is_some()),
        ("additionalProperties", branch.additional_properties.is_some()),
        ("default", branch.default.is_some()),
        ("title", branch.title.is_some()),
        ("description", branch.description.is_some()),
        ("nullable", branch.nullable),
        ("externalDocs", branch.external_docs),
        ("x-kubernetes-preserve-unknown-fields", branch.preserves_unknown_fields()),
        ("x-kubernetes-embedded-resource", extensions.embedded_resource),
        ("x-kubernetes-int-or-string", extensions.int_or_string),
        ("x-kubernetes-list-map-keys", !extensions.list_map_keys.is_empty()),
        ("x-kubernetes-list-type", extensions.list_type.is_some()),
        ("x-kubernetes-map-type", extensions.map_type.is_some()),
        ("x-kubernetes-validations", !extensions.validations.is_empty()),
    ];
    for (keyword, _) in forbidden.iter().filter(|(_, written)| *written) {
        problems.push(
            Problem::new(
                &rules::NESTED_STRUCTURE,
                Forbidden,
                &Path::Child(path, keyword),
                branch.place_of(keyword),
                format!("{keyword} must not stand inside allOf, anyOf, oneOf or not"),
            )
            .mend(format!("move {keyword} to the declaration of the field, outside of the junctor")),
        );
    }
    if let Some(metadata) = branch.property("metadata") {
        problems.push(Problem::new(
            &rules::NESTED_STRUCTURE,
            Forbidden,
            &Path::Key(&properties, "metadata"),
            metadata.span,
            "metadata must not be restricted inside allOf, anyOf, oneOf or not",
        ));
    }
}

/// Everything that a junctor speaks of must be declared outside of it. Only the root's junctors are looked at from the
/// root; the reference does the same.
fn check_declared(branch: &Schema, structure: &Schema, path: &Path<'_>, problems: &mut Problems) {
    let branches = [&branch.all_of, &branch.any_of, &branch.one_of].into_iter().flatten();
    for below in branches.chain(branch.not.as_deref()) {
        check_branch_declared(below, Some(structure), path, problems);
    }
}

fn check_branch_declared(branch: &Schema, structure: Option<&Schema>, path: &Path<'_>, problems: &mut Problems) {
    if problems.is_full() {
        return;
    }
    let Some(structure) = structure else {
        problems.push(undeclared(branch, path));
        return;
    };
    check_declared(branch, structure, path, problems);
    if let Some(items) = &branch.items {
        check_branch_declared(items, structure.items.as_deref(), &Path::Child(path, "items"), problems);
    }
    let properties = Path::Child(path, "properties");
    for property in &branch.properties {
        let field = structure.property(&property.name);
        check_branch_declared(&property.schema, field, &Path::Key(&properties, &property.name), problems);
    }
}

fn undeclared(branch: &Schema, path: &Path<'_>) -> Problem {
    Problem::new(
        &rules::UNDECLARED_NESTED_FIELD,
        Required,
        path,
        branch.span,
        format!("{path} is restricted here, but not declared outside of the junctor"),
    )
    .mend(format!("declare {path} with its type"))
}
