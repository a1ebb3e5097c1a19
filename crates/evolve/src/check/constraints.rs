//! Values of one version that the next one does not accept, and values that the one before cannot say.

use std::collections::HashMap;

use wheelwright_document::Owned;

use super::{
    Addition, Change, Difference, Example, Incompatibility, Limit, What,
    diff::{spelled, spellings},
    example::{self, Wanted, document, value_for},
    refusals::Refusals,
    sample::Samples,
    side::Side,
};
use crate::{History, NodeIndex};

/// Messages of conditions have up to 32,768 characters; longer texts are not made for the sake of a limit.
const LONGEST_TEXT: f64 = 65_537.0;

/// Making an example takes as long as the schema is large, so that not every finding has one.
pub(crate) const MOST_EXAMPLES: usize = 256;

/// What documents of one version lack or have that the next one does not accept.
pub(crate) fn constraints(
    history: &History,
    (before, after): (&Side<'_>, &Side<'_>),
    differences: &[Difference],
    samples: &Samples<'_>,
    refusals: &mut Refusals<'_>,
) -> Vec<Incompatibility> {
    let mut findings = Vec::new();
    let mut examples = 0;
    for difference in differences {
        let (Some(field), Some(node)) = (&difference.after, difference.nodes.1) else { continue };
        if let Change::Nullable(true) | Change::Default { .. } = difference.change {
            findings.extend(reaching_rules(before, after, difference, refusals));
            continue;
        }
        let Some((what, keyword, witness)) = judge(history, before, after, difference, node) else { continue };
        let is_derived = matches!(what, What::NewlyRequired { derived: Some(_), .. });
        let underived = is_derived.then(|| samples.underived(before, after, node));
        if underived == Some(None) {
            continue;
        }
        let old = difference.nodes.0;
        let span = match keyword {
            "required" => after.parent(node).map_or_else(Default::default, |parent| after.place(parent, keyword)),
            keyword => after.place(node, keyword),
        };
        let related = old.map_or_else(Default::default, |old| before.place(old, keyword));
        let mut finding = Incompatibility::new(&after.version.name, Some(&before.version.name), field.clone(), what)
            .at(span, related);
        match finding.what {
            What::NewlyRequired { settled: false, derived: None, .. } => {
                finding.additions.extend(acceptable(after, node).map(|value| Addition::Default(field.clone(), value)));
            }
            What::NewlyRequired { settled: true, derived: None, .. } => {
                finding.additions.extend(filled_in_when_empty(history, after, node));
            }
            _ => {}
        }
        if matches!(finding.what, What::ValuesUnlisted { .. }) {
            finding.level = finding.level.min(finding.gravest());
        } else if let Some(document) = underived.flatten() {
            finding.example = Some(Example { version: before.version.name.clone(), document, refusal: None });
        } else {
            let target = old.or_else(|| counterpart_of_parent(before, after, node));
            let keywords = match &finding.what {
                What::Tightened(limits) => limits.iter().map(|limit| limit.keyword).collect(),
                _ => vec![keyword],
            };
            refusals.look_for((old, node), &keywords);
            let is_searched = examples < MOST_EXAMPLES;
            let small = witness.zip(target).filter(|_| is_searched).and_then(|(witness, target)| {
                refused_example(before, refusals, (target, old.is_some()), witness, node)
            });
            let example = small.or_else(|| is_searched.then(|| refusals.find((old, node), &keywords)).flatten());
            finding = finding.proven_by(example);
            examples += 1;
        }
        findings.push(finding);
    }
    findings
}

/// Nulls that are kept now, and defaults that are others, where a document shows that a requirement or a rule refuses them.
fn reaching_rules(
    before: &Side<'_>,
    after: &Side<'_>,
    difference: &Difference,
    refusals: &mut Refusals<'_>,
) -> Option<Incompatibility> {
    let (Some(old), Some(new)) = difference.nodes else { return None };
    let keyword = if matches!(difference.change, Change::Default { .. }) { "default" } else { "nullable" };
    let example = refusals.find((Some(old), new), &[keyword])?;
    let what = What::MayRefuseMore { keywords: vec![keyword] };
    let found = Incompatibility::new(&after.version.name, Some(&before.version.name), difference.after.clone()?, what);
    Some(found.at(after.place(new, keyword), before.place(old, keyword)).proven_by(Some(example)))
}

/// Whether a version is the first that has a field, so that a default is what readers fill in for good. One that it has
/// without being that came too late.
fn is_new(history: &History, side: &Side<'_>, node: NodeIndex) -> bool {
    let first = side.version.id(node).map(|id| &history.version(history.field(id).first).name);
    first == Some(&side.version.name) && side.version.structure.node(node).default.is_none()
}

/// The line that lets readers fill in an empty object or list, where the version that introduced the field is not locked.
fn filled_in_when_empty(history: &History, after: &Side<'_>, node: NodeIndex) -> Option<Addition> {
    let value = acceptable(after, node).filter(|value| ["{}", "[]"].contains(&&*spelled(value)))?;
    let id = after.version.id(node)?;
    let first = history.version(history.field(id).first);
    let field = first.structure.selector(first.node_of(id)?);
    let is_open = first.declared && !first.is_locked_with(id);
    is_open.then(|| Addition::StorageDefault { version: first.name.clone(), field, value })
}

/// A value that a field accepts.
pub(super) fn acceptable(side: &Side<'_>, node: NodeIndex) -> Option<Owned> {
    let value = value_for(side.schema(node)?, side.value_root())?;
    side.refusal_of_value(node, &value).is_none().then_some(value)
}

/// What is wrong with a difference, the keyword that says so, and what a document has to have at the field to show it.
fn judge(
    history: &History,
    before: &Side<'_>,
    after: &Side<'_>,
    difference: &Difference,
    node: NodeIndex,
) -> Option<(What, &'static str, Option<Wanted>)> {
    let was = before;
    // A default of the version alone is for new documents: nobody fills it in for old ones.
    let is_filled = || after.version.id(node).is_some_and(|id| history.field(id).frozen.is_some());
    let newly_required = |existed| {
        let derived = after.derivation_from(before, node).map(Into::into);
        What::NewlyRequired { existed, settled: !is_new(history, after, node), derived }
    };
    match &difference.change {
        Change::Widened { before, after, narrower } => {
            let what = What::Widened { before: before.clone(), after: after.clone(), narrower: *narrower };
            Some((what, "type", None))
        }
        Change::Added { required: true, .. } if !is_filled() => {
            Some((newly_required(false), "required", Some(Wanted::Absent)))
        }
        Change::Replaced { .. } if after.is_required(node) && !is_filled() => {
            Some((newly_required(false), "required", None))
        }
        Change::Required(true) if !is_filled() => Some((newly_required(true), "required", Some(Wanted::Absent))),
        Change::Enum { before, after } if !after.is_empty() => {
            // An enum may list what its schema refuses for another reason, such as null.
            let was_taken =
                |value: &Owned| difference.nodes.0.is_none_or(|old| was.refusal_of_value(old, value).is_none());
            let removed: Vec<Owned> = unlisted(before, after).into_iter().filter(was_taken).collect();
            if removed.is_empty() && !before.is_empty() {
                return None;
            }
            let witness = removed.first().cloned().unwrap_or_else(|| example::string("something-else"));
            Some((What::ValuesRefused { removed, listed: after.clone() }, "enum", Some(Wanted::Is(witness))))
        }
        Change::Known { before, after } => {
            let removed = unlisted(before, after);
            (!removed.is_empty()).then_some((What::ValuesUnlisted { removed }, "enum", None))
        }
        Change::Limits(limits) => {
            let tightened: Vec<Limit> = limits.iter().filter(|limit| limit.tightened).cloned().collect();
            let first = tightened.first()?;
            let (keyword, witness) = (first.keyword, beyond(first));
            Some((What::Tightened(tightened), keyword, witness.map(Wanted::Is)))
        }
        Change::Text { keyword, before, after } if after.is_some() => {
            Some((What::TextChanged { keyword, before: before.clone(), after: after.clone() }, keyword, None))
        }
        Change::Nullable(false) => {
            // An enum without null refuses it all the same.
            let old = difference.nodes.0?;
            let was_valid = before.refusal_of_value(old, &Owned::Null).is_none();
            was_valid.then_some((What::NullRefused, "nullable", None))
        }
        _ => None,
    }
}

/// The values that are not listed any more.
fn unlisted(before: &[Owned], after: &[Owned]) -> Vec<Owned> {
    let listed = spellings(after);
    before.iter().filter(|member| !listed.contains(&spelled(member))).cloned().collect()
}

/// A value that the old limit allows and the new one does not.
fn beyond(limit: &Limit) -> Option<Owned> {
    let bound = |text: &Option<String>| text.as_ref()?.split(' ').next()?.parse::<f64>().ok();
    let (before, after) = (bound(&limit.before), bound(&limit.after)?);
    let text =
        |length: f64| (0.0..=LONGEST_TEXT).contains(&length).then(|| example::string(&"a".repeat(length as usize)));
    match limit.keyword {
        "maxLength" => text(before.unwrap_or(after + 1.0)),
        "minLength" => text(before.unwrap_or(after - 1.0)),
        "maximum" => Some(example::number(before.unwrap_or(after + 1.0))),
        "minimum" => Some(example::number(before.unwrap_or(after - 1.0))),
        _ => None,
    }
}

fn counterpart_of_parent(before: &Side<'_>, after: &Side<'_>, node: NodeIndex) -> Option<NodeIndex> {
    after.parent(node).and_then(|parent| before.version.counterpart(after.version, parent))
}

/// A document of one version that the next one refuses for the sake of a field, if this is one.
fn refused_example(
    before: &Side<'_>,
    refusals: &Refusals<'_>,
    (target, is_field): (NodeIndex, bool),
    witness: Wanted,
    node: NodeIndex,
) -> Option<Example> {
    let wanted = match witness {
        Wanted::Absent if target == before.version.structure.root() => HashMap::new(),
        // The object that lacks the field has to be there.
        Wanted::Absent if !is_field => HashMap::from([(target, Wanted::Present)]),
        witness => HashMap::from([(target, witness)]),
    };
    refusals.refused_document(&document(before, &wanted)?, node)
}

/// The same document with the name of another version.
pub(crate) fn as_seen_by(side: &Side<'_>, document: &Owned) -> Owned {
    match (document, &side.type_meta) {
        (Owned::Object(fields), Some((api_version, _))) => Owned::Object(
            fields
                .iter()
                .map(|(name, value)| match &**name {
                    "apiVersion" => (name.clone(), example::string(api_version)),
                    _ => (name.clone(), value.clone()),
                })
                .collect(),
        ),
        _ => document.clone(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Declaration, History, check::check, testing::declaration};
    use wheelwright_findings::Level;

    /// A kind with versions of a field that lists values, as an open enum.
    fn findings(versions: &[(&str, &str)]) -> Vec<(Level, String)> {
        let texts: Vec<String> = versions
            .iter()
            .map(|(_, values)| format!("{{type: object, properties: {{mode: {{type: string, enum: {values}}}}}}}"))
            .collect();
        let versions: Vec<(&str, &str)> =
            versions.iter().zip(&texts).map(|((name, _), text)| (*name, &**text)).collect();
        let mut kind: Declaration = declaration(&versions, "{}");
        for version in &mut kind.versions {
            let mode = version.schema.properties.get_mut("mode").unwrap();
            mode.annotations.get_or_insert_default().known_values = std::mem::take(&mut mode.checks.r#enum);
        }
        let history = History::derive(&kind, None).0;
        check(&kind, &history, None).iter().map(|finding| (finding.level, finding.message())).collect()
    }

    #[test]
    fn what_an_open_enum_does_not_list_any_more_is_at_most_a_warning() {
        let told = "mode does not list \"B\" any more in v2, an open enum".to_owned();
        assert_eq!(findings(&[("v1", "[A, B]"), ("v2", "[A, C]")]), [(Level::Warning, told)]);
        let told = "mode does not list \"B\" any more in v2alpha1, an open enum".to_owned();
        assert_eq!(findings(&[("v1", "[A, B]"), ("v2alpha1", "[A]")]), [(Level::Warning, told)]);
        assert_eq!(findings(&[("v1", "[A]"), ("v2", "[A, B]")]), []);
    }
}
