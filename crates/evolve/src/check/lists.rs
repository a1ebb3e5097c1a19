//! Lists whose items are told apart in another way, and objects whose members exclude each other in one version only.

use wheelwright_findings::Level;

use super::{
    Addition, Change, Difference, Incompatibility, What,
    example::{Wanted, document},
    refusals::Refusals,
    side::Side,
};
use crate::{FieldId, NodeIndex, Union};

/// Keys of lists that changed, that are gone, or that one version cannot say.
pub(crate) fn keys(
    before: &Side<'_>,
    after: &Side<'_>,
    differences: &[Difference],
    refusals: &mut Refusals<'_>,
) -> Vec<Incompatibility> {
    let mut findings = Vec::new();
    for difference in differences {
        let (Change::Keys { before: old_names, after: new_names }, (Some(was), Some(is))) =
            (&difference.change, difference.nodes)
        else {
            continue;
        };
        let Some(field) = &difference.after else { continue };
        let (old, new) = (before.keys(was), after.keys(is));
        let unsaid_before = new.iter().filter(|(id, _)| lacks(before, *id)).map(|(_, name)| (name, before));
        let unsaid_after = old.iter().filter(|(id, _)| lacks(after, *id)).map(|(_, name)| (name, after));
        let what = match unsaid_before.chain(unsaid_after).next() {
            Some((key, side)) => What::KeyUnsaid { key: key.clone(), by: side.version.name.clone() },
            // Keys are the same if the fields are, whatever they are called.
            None if old.iter().map(|(id, _)| id).eq(new.iter().map(|(id, _)| id)) => continue,
            None => What::KeysChanged { before: old_names.clone(), after: new_names.clone() },
        };
        let keyword = "x-kubernetes-list-map-keys";
        let mut finding = Incompatibility::new(&after.version.name, Some(&before.version.name), field.clone(), what)
            .at(after.place(is, keyword), before.place(was, keyword));
        finding = match finding.what {
            What::KeysChanged { .. } => finding.proven_by(refusals.find((Some(was), is), &[keyword])),
            _ => finding,
        };
        let name_now = |id: &Option<FieldId>| {
            let node = after.version.node_of((*id)?)?;
            after.version.structure.node(node).name().map(Box::from)
        };
        let kept: Option<Vec<Box<str>>> = old.iter().map(|(id, _)| name_now(id)).collect();
        if let Some(kept) = kept.filter(|kept| new.is_empty() && !kept.is_empty()) {
            finding = finding.add(Addition::Keys(field.clone(), kept));
        }
        findings.push(finding);
    }
    findings
}

fn lacks(side: &Side<'_>, id: Option<FieldId>) -> bool {
    id.is_none_or(|id| side.version.node_of(id).is_none())
}

/// Members that exclude each other in one of two versions, although both have them.
pub(crate) fn unions(
    before: &Side<'_>,
    after: &Side<'_>,
    differences: &[Difference],
    refusals: &mut Refusals<'_>,
) -> Vec<Incompatibility> {
    let mut findings = Vec::new();
    for difference in differences {
        let (Change::Union { before: old, after: new }, (Some(was), Some(is))) = (&difference.change, difference.nodes)
        else {
            continue;
        };
        let Some(field) = &difference.after else { continue };
        let (old_ids, new_ids) = (members(before, was, old.as_ref()), members(after, is, new.as_ref()));
        let left = old_ids.iter().filter(|id| after.version.node_of(**id).is_some() && !new_ids.contains(id)).count();
        let joined =
            new_ids.iter().filter(|id| before.version.node_of(**id).is_some() && !old_ids.contains(id)).count();
        // Those that came or went with the version are the ordinary growth of a union.
        if left == 0 && joined == 0 {
            continue;
        }
        let what = What::UnionChanged { before: old.clone(), after: new.clone() };
        let mut finding = Incompatibility::new(&after.version.name, Some(&before.version.name), field.clone(), what)
            .at(after.place(is, "oneOf"), before.place(was, "oneOf"))
            .proven_by(refusals.find((Some(was), is), &["oneOf"]));
        if !finding.is_proven() && joined > 0 && may_be_together(before, after, (&old_ids, &new_ids)) {
            // Nothing is refused, and a write of one takes the others away.
            finding = finding.with_level(Level::Error);
        }
        if new.is_none() && left > 1 {
            let named = |id: &FieldId| after.version.structure.node(after.version.node_of(*id)?).name().map(Box::from);
            finding = finding.add(Addition::Union(field.clone(), old_ids.iter().filter_map(named).collect()));
        }
        findings.push(finding);
    }
    findings
}

/// Pairs of members that are tried.
const PAIRS: usize = 64;

/// Whether documents of a version may have two fields that exclude each other only later.
fn may_be_together(before: &Side<'_>, after: &Side<'_>, (old, new): (&[FieldId], &[FieldId])) -> bool {
    let node = |id: &FieldId| before.version.node_of(*id).filter(|_| after.version.node_of(*id).is_some());
    let was_alone = |one: &FieldId, other: &FieldId| !(old.contains(one) && old.contains(other));
    let pairs = new.iter().enumerate().flat_map(|(at, one)| new[..at].iter().map(move |other| (one, other)));
    let pairs = pairs.filter(|(one, other)| was_alone(one, other)).take(PAIRS);
    pairs.filter_map(|(one, other)| Some([node(one)?, node(other)?])).any(|pair| {
        let both = document(before, &pair.map(|node| (node, Wanted::Present)).into());
        both.is_some_and(|both| before.refusal(&both).is_none())
    })
}

fn members(side: &Side<'_>, object: NodeIndex, union: Option<&Union>) -> Vec<FieldId> {
    let members = union.iter().flat_map(|union| &union.members);
    members.filter_map(|name| side.version.id(side.version.structure.child(object, name)?)).collect()
}
