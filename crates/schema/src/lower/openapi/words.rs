//! The keywords of OpenAPI and JSON Schema that need no reading.

/// What only tells people or other programs something.
pub(super) fn is_harmless(keyword: &str) -> bool {
    matches!(
        keyword,
        "$anchor"
            | "$comment"
            | "$defs"
            | "$id"
            | "$schema"
            | "$vocabulary"
            | "contentEncoding"
            | "contentMediaType"
            | "definitions"
            | "deprecated"
            | "example"
            | "examples"
            | "externalDocs"
            | "id"
            | "xml"
    )
}

/// What checks values, or shapes them, in ways that the model cannot express.
pub(super) fn is_inexpressible(keyword: &str) -> bool {
    shapes(keyword)
        || matches!(
            keyword,
            "contains" | "contentSchema" | "dependentRequired" | "maxContains" | "minContains" | "propertyNames"
        )
}

/// What may declare fields or items that the model does not see, so that nothing unknown may be removed.
pub(super) fn shapes(keyword: &str) -> bool {
    matches!(
        keyword,
        "$dynamicRef"
            | "$recursiveRef"
            | "additionalItems"
            | "dependencies"
            | "dependentSchemas"
            | "else"
            | "if"
            | "patternProperties"
            | "prefixItems"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties"
    )
}

/// What is known, for guessing what a typo was meant to be.
pub(super) const KNOWN: &[&str] = &[
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "default",
    "description",
    "discriminator",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "properties",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
    "writeOnly",
];
