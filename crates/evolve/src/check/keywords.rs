//! Keywords that no rule compares one by one: rules in CEL, alternatives, kinds of lists and embedded resources. Whether a
//! change of these refuses more is found by documents.

use wheelwright_schema::{Root, Schema, model::Additional};

use super::{Incompatibility, What, refusals::Refusals, side::Side};
use crate::{Fingerprint, NodeIndex, Shape};

/// A field with keywords that may refuse more than in the version before.
pub(crate) struct Changed {
    nodes: (NodeIndex, NodeIndex),
    keywords: Vec<&'static str>,
}

impl Changed {
    /// The field in both versions.
    pub(crate) fn nodes(&self) -> (NodeIndex, NodeIndex) {
        self.nodes
    }
}

/// The fields of both versions whose keywords may refuse more in `after`.
pub(crate) fn changed(before: &Side<'_>, after: &Side<'_>) -> Vec<Changed> {
    let pair = |new: NodeIndex| {
        let old = before.version.counterpart(after.version, new)?;
        let keywords = differing(before.schema(old)?, after.schema(new)?);
        (!keywords.is_empty()).then_some(Changed { nodes: (old, new), keywords })
    };
    after.version.structure.indexes().filter_map(pair).collect()
}

/// A finding for each of the fields: with a document that is refused, where one is found.
pub(crate) fn refusing(
    before: &Side<'_>,
    after: &Side<'_>,
    changed: &[Changed],
    refusals: &mut Refusals<'_>,
) -> Vec<Incompatibility> {
    let finding = |Changed { nodes: (old, new), keywords }: &Changed| {
        let what = What::MayRefuseMore { keywords: keywords.clone() };
        let field = after.version.structure.selector(*new);
        Incompatibility::new(&after.version.name, Some(&before.version.name), field, what)
            .at(after.place(*new, keywords[0]), before.place(*old, keywords[0]))
            .proven_by(refusals.find((Some(*old), *new), keywords))
    };
    changed.iter().map(finding).collect()
}

/// Objects that keep undeclared fields in one version only. Those that keep them now are reported if a rule refuses a
/// document for that.
pub(crate) fn undeclared(before: &Side<'_>, after: &Side<'_>, refusals: &mut Refusals<'_>) -> Vec<Incompatibility> {
    let keyword = "x-kubernetes-preserve-unknown-fields";
    let mut findings = Vec::new();
    for new in after.version.structure.indexes() {
        let Some(old) = before.version.counterpart(after.version, new) else {
            findings.extend(newly_declared(before, after, new, refusals));
            continue;
        };
        let (was, is) = (before.version.structure.node(old), after.version.structure.node(new));
        let (what, example) = match (was.keeps_unknown, is.keeps_unknown) {
            _ if was.shape != is.shape => continue,
            (true, false) => (What::UnknownFieldsDropped, None),
            (false, true) => match refusals.find((Some(old), new), &[keyword]) {
                Some(example) => (What::MayRefuseMore { keywords: vec![keyword] }, Some(example)),
                None => continue,
            },
            _ => continue,
        };
        let field = after.version.structure.selector(new);
        let found = Incompatibility::new(&after.version.name, Some(&before.version.name), field, what);
        findings.push(found.at(after.place(new, keyword), before.place(old, keyword)).proven_by(example));
    }
    findings
}

/// A field that the version before keeps without declaring it, where documents have other values in it.
fn newly_declared(
    before: &Side<'_>,
    after: &Side<'_>,
    new: NodeIndex,
    refusals: &mut Refusals<'_>,
) -> Option<Incompatibility> {
    let object = before.version.counterpart(after.version, after.parent(new)?)?;
    if !after.version.structure.is_field(new) || !before.version.structure.node(object).keeps_unknown {
        return None;
    }
    let node = after.version.structure.node(new);
    let find = |what| {
        let field = after.version.structure.selector(new);
        Incompatibility::new(&after.version.name, Some(&before.version.name), field, what)
            .at(after.place(new, ""), before.place(object, ""))
    };
    match refusals.find((None, new), &[]) {
        Some(example) => Some(find(What::MayRefuseMore { keywords: vec!["properties"] }).proven_by(Some(example))),
        None => (node.shape == Shape::Object && !node.keeps_unknown).then(|| find(What::UnknownFieldsDropped)),
    }
}

/// Fields that are derived or converted into, where a document shows that what they get is refused or missing.
pub(crate) fn computed(before: &Side<'_>, after: &Side<'_>, refusals: &mut Refusals<'_>) -> Vec<Incompatibility> {
    let mut findings = Vec::new();
    for new in after.version.structure.indexes() {
        let Some(expression) = after.derivation_from(before, new) else { continue };
        refusals.look_for((None, new), &[]);
        let Some(example) = refusals.find_reading(None, new, expression) else { continue };
        // That it may be absent where it is required is found with the requirement.
        if example.refusal.as_ref().is_some_and(|refusal| refusal.ends_with("is required")) {
            continue;
        }
        let what = What::MayRefuseMore { keywords: vec!["derived"] };
        let field = after.version.structure.selector(new);
        let found = Incompatibility::new(&after.version.name, Some(&before.version.name), field, what);
        findings.push(found.at(after.place(new, ""), Default::default()).proven_by(Some(example)));
    }
    findings
}

/// The keywords of one node that may refuse more than before.
fn differing(before: &Schema, after: &Schema) -> Vec<&'static str> {
    let sum = |schema: &Schema| Fingerprint::of(schema, Root::Value);
    let sums = |schemas: &[Schema]| schemas.iter().map(sum).collect::<Vec<_>>();
    let rules = |schema: &Schema| -> Vec<String> {
        let rules = schema.extensions.validations.iter();
        rules.map(|rule| rule.rule.text.to_string()).collect()
    };
    let mut found = Vec::new();
    let old_rules = rules(before);
    if rules(after).iter().any(|rule| !old_rules.contains(rule)) {
        found.push("x-kubernetes-validations");
    }
    let old_branches = sums(&before.all_of);
    if sums(&after.all_of).iter().any(|branch| !old_branches.contains(branch)) {
        found.push("allOf");
    }
    for (keyword, old, new) in [("anyOf", &before.any_of, &after.any_of), ("oneOf", &before.one_of, &after.one_of)] {
        if !new.is_empty() && sums(old) != sums(new) {
            found.push(keyword);
        }
    }
    if after.not.is_some() && before.not.as_deref().map(sum) != after.not.as_deref().map(sum) {
        found.push("not");
    }
    let list_type = |schema: &Schema| schema.extensions.list_type.as_ref().map(|name| name.name().to_owned());
    if list_type(after).is_some_and(|name| name != "atomic") && list_type(before) != list_type(after) {
        found.push("x-kubernetes-list-type");
    }
    if after.checks.unique_items && !before.checks.unique_items {
        found.push("uniqueItems");
    }
    let is_closed = |schema: &Schema| matches!(schema.additional_properties, Some(Additional::Allowed(false)));
    if is_closed(after) && !is_closed(before) {
        found.push("additionalProperties");
    }
    if after.extensions.embedded_resource && !before.extensions.embedded_resource {
        found.push("x-kubernetes-embedded-resource");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::schema;

    fn found(before: &str, after: &str) -> Vec<&'static str> {
        differing(&schema(before), &schema(after))
    }

    #[test]
    fn keywords_that_may_refuse_more_are_found() {
        let plain = "{type: string}";
        let rule = "{type: string, x-kubernetes-validations: [{rule: self != 'x'}]}";
        assert_eq!(found(plain, rule), ["x-kubernetes-validations"]);
        assert_eq!(found(rule, plain), [""; 0]);
        assert_eq!(found(plain, "{type: string, not: {enum: [x]}}"), ["not"]);
        assert_eq!(found(plain, "{type: string, allOf: [{maxLength: 3}]}"), ["allOf"]);
        assert_eq!(found(plain, "{type: string, oneOf: [{maxLength: 3}]}"), ["oneOf"]);
        let list = |of: &str| format!("{{type: array, items: {{type: string}}{of}}}");
        assert_eq!(found(&list(""), &list(", x-kubernetes-list-type: set")), ["x-kubernetes-list-type"]);
        assert_eq!(found(&list(", x-kubernetes-list-type: set"), &list("")), [""; 0]);
        assert_eq!(found(&list(""), &list(", uniqueItems: true")), ["uniqueItems"]);
        assert_eq!(found("{type: object}", "{type: object, additionalProperties: false}"), ["additionalProperties"]);
    }
}
