//! Ratcheting: an update is not refused for what the stored definition got wrong already.

use std::{borrow::Cow, collections::HashSet};

use wheelwright_findings::rules;

use crate::{Problem, Schema};

/// The problems of a new schema, told apart by what an update does with them.
#[derive(Debug)]
pub struct Ratcheted {
    /// The update is refused for these.
    pub refused: Vec<Problem>,
    /// These are forgiven, because the previous schema had one of the same sort.
    pub forgiven: Vec<Problem>,
}

/// Tells which problems of a schema would make Kubernetes refuse it as an update of one that had the `previous` ones.
/// Only some rules ratchet; an invalid default, for one, is refused every time. A schema that was not structural need not
/// become so, unless it has defaults or extensions.
pub fn ratchet(problems: Vec<Problem>, previous: &[Problem]) -> Ratcheted {
    let counts = |before: &&Problem| before.ratchets || before.structural;
    let had_before: HashSet<Cow<'_, str>> = previous.iter().filter(counts).map(sort).collect();
    let is_forgiven = |problem: &Problem| problem.ratchets && had_before.contains(&sort(problem));
    let (forgiven, refused) = problems.into_iter().partition(is_forgiven);
    Ratcheted { refused, forgiven }
}

/// What Kubernetes forgives together: to it, a schema is structural or it is not. The cost of a rule is forgiven only as
/// long as it stays the same.
fn sort(problem: &Problem) -> Cow<'static, str> {
    if problem.structural {
        "structural".into()
    } else if std::ptr::eq(problem.rule, &rules::COSTLY_RULE) {
        format!("{}: {}", problem.path, problem.message).into()
    } else {
        problem.rule.id.into()
    }
}

/// Whether a schema uses what works with structural schemas only; then it must be one, whatever it was before.
pub(super) fn demands_structure(schema: &Schema) -> bool {
    let extensions = &schema.extensions;
    schema.default.is_some()
        || extensions.embedded_resource
        || extensions.preserve_unknown_fields.is_some()
        || extensions.int_or_string
        || !extensions.list_map_keys.is_empty()
        || extensions.list_type.is_some()
        || !extensions.validations.is_empty()
        || schema.below().any(demands_structure)
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, Decode, decode_json_spanned};

    use super::{super::check_definition, *};
    use crate::lower_definition;

    /// The paths of what an update of one definition to another is refused for; a definition is given by its versions.
    fn refused(new: &str, old: &str) -> Vec<String> {
        let problems = |versions: &str| {
            let arena = Arena::new();
            let text = format!(
                r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                    "metadata": {{"name": "shops.example.com"}}, "spec": {{"group": "example.com",
                    "names": {{"plural": "shops", "kind": "Shop"}}, "scope": "Namespaced", "versions": [{versions}]}}}}"#
            );
            let source = decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).unwrap();
            check_definition(&lower_definition(&source).unwrap().item)
        };
        let refused = ratchet(problems(new), &problems(old)).refused;
        refused.into_iter().filter(|problem| problem.kind.is_some()).map(|problem| problem.path.to_string()).collect()
    }

    fn version(name: &str, field: &str) -> String {
        let schema = format!(r#"{{"openAPIV3Schema": {{"type": "object", "properties": {{"a": {field}}}}}}}"#);
        format!(r#"{{"name": "{name}", "served": true, "storage": {}, "schema": {schema}}}"#, name == "v1")
    }

    const UNTYPED: &str = "spec.versions[0].schema.openAPIV3Schema.properties[a].type";

    #[test]
    fn a_schema_that_was_not_structural_need_not_become_so() {
        let (good, untyped) = (version("v1", r#"{"type": "string"}"#), version("v1", "{}"));
        assert_eq!(refused(&untyped, &good), [UNTYPED]);
        assert_eq!(refused(&untyped, &untyped), [""; 0]);
        let other = version("v1", r#"{"type": "array"}"#);
        assert_eq!(refused(&untyped, &other), [""; 0]);
    }

    #[test]
    fn defaults_and_extensions_anywhere_need_a_structural_schema() {
        let untyped = version("v1", "{}");
        for field in [r#"{"type": "string", "default": "x"}"#, r#"{"x-kubernetes-int-or-string": true}"#] {
            let new = [untyped.clone(), version("v2", field)].join(",");
            assert_eq!(refused(&new, &untyped), [UNTYPED], "{field}");
        }
        let previous = version("v1", r#"{"x-kubernetes-preserve-unknown-fields": true, "properties": {"b": {}}}"#);
        assert_eq!(refused(&untyped, &previous), [""; 0]);
    }

    #[test]
    fn what_a_rule_costs_is_forgiven_as_long_as_it_stays_so() {
        let rule = |limit: usize| {
            version(
                "v1",
                &format!(
                    r#"{{"type": "array", "maxItems": {limit}, "items": {{"type": "integer"}}, "x-kubernetes-validations": [
                        {{"rule": "self.all(x, self.exists_one(y, x == y))"}}]}}"#
                ),
            )
        };
        let costly = "spec.versions[0].schema.openAPIV3Schema.properties[a].x-kubernetes-validations[0].rule";
        let (small, large, larger) = (rule(2), rule(2_000), rule(3_000));
        assert_eq!(refused(&large, &small), [costly]);
        assert_eq!(refused(&large, &large), [""; 0]);
        assert_eq!(refused(&larger, &large), [costly]);
        assert_eq!(refused(&small, &large), [""; 0]);
    }

    #[test]
    fn a_version_without_a_schema_may_stay_without_unless_it_is_served() {
        let typed = version("v1", r#"{"type": "string"}"#);
        let bare = |served: bool| format!(r#"{{"name": "v1", "served": {served}, "storage": true}}"#);
        assert_eq!(refused(&bare(false), &typed), ["spec.versions[0].schema.openAPIV3Schema"]);
        assert_eq!(refused(&bare(false), &bare(false)), [""; 0]);
        assert_eq!(refused(&bare(true), &bare(true)), ["spec.versions[0].schema.openAPIV3Schema"]);
    }
}
