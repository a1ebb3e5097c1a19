//! The keywords of OpenAPI and JSON Schema that need no reading.

use crate::lower::KEYWORDS;

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

/// What is known, for guessing what a typo was meant to be: what Kubernetes knows, and some more.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    const OTHERS: [&str; 4] = ["const", "discriminator", "readOnly", "writeOnly"];
    KEYWORDS.iter().copied().chain(OTHERS)
}
