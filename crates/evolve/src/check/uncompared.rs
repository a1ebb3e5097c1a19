//! Keywords that no rule compares one by one, in two schemas of one version: rules in CEL, junctors and kinds of lists.

use wheelwright_schema::{Root, Schema};

use crate::{Fingerprint, Selector, Step};

/// The fields that have other such keywords in `after` than in `before`, with the keyword, where that may refuse more.
pub fn uncompared(before: &Schema, after: &Schema) -> Vec<(Selector, &'static str)> {
    let mut found = Vec::new();
    walk(before, after, &mut Vec::new(), &mut found);
    found
}

fn walk(before: &Schema, after: &Schema, path: &mut Vec<Step>, found: &mut Vec<(Selector, &'static str)>) {
    let keywords = differing(before, after).into_iter();
    found.extend(keywords.map(|keyword| (Selector::from_steps(path.clone()), keyword)));
    let mut below = |before: Option<&Schema>, after: Option<&Schema>, step: Step| {
        if let (Some(before), Some(after)) = (before, after) {
            path.push(step);
            walk(before, after, path, found);
            path.pop();
        }
    };
    for property in after.properties.iter() {
        let name = &*property.name;
        below(before.property(name), Some(&property.schema), Step::Field(name.into()));
    }
    below(before.items.as_deref(), after.items.as_deref(), Step::Items);
    below(before.additional_schema(), after.additional_schema(), Step::Values);
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
    if after.extensions.embedded_resource && !before.extensions.embedded_resource {
        found.push("x-kubernetes-embedded-resource");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::schema;

    fn found(before: &str, after: &str) -> Vec<String> {
        let of = |text: &str| schema(&format!("{{type: object, properties: {{a: {text}}}}}"));
        let found = uncompared(&of(before), &of(after));
        found.into_iter().map(|(field, keyword)| format!("{field} {keyword}")).collect()
    }

    #[test]
    fn keywords_that_may_refuse_more_are_found_where_they_are() {
        let plain = "{type: string}";
        let rule = "{type: string, x-kubernetes-validations: [{rule: self != 'x'}]}";
        assert_eq!(found(plain, rule), ["a x-kubernetes-validations"]);
        assert_eq!(found(rule, plain), [""; 0]);
        assert_eq!(found(plain, "{type: string, not: {enum: [x]}}"), ["a not"]);
        assert_eq!(found(plain, "{type: string, allOf: [{maxLength: 3}]}"), ["a allOf"]);
        assert_eq!(found(plain, "{type: string, oneOf: [{maxLength: 3}]}"), ["a oneOf"]);
        let list = |of: &str| format!("{{type: array, items: {{type: string}}{of}}}");
        assert_eq!(found(&list(""), &list(", x-kubernetes-list-type: set")), ["a x-kubernetes-list-type"]);
        assert_eq!(found(&list(", x-kubernetes-list-type: set"), &list("")), [""; 0]);
        let items = |item: &str| format!("{{type: array, items: {item}}}");
        assert_eq!(found(&items(plain), &items(rule)), ["a[] x-kubernetes-validations"]);
    }
}
