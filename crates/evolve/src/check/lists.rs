//! Lists whose items are told apart in another way, and objects whose members exclude each other in one version only.

use super::{Addition, Change, Difference, Incompatibility, What, side::Side};
use crate::{FieldId, NodeIndex, Union};

/// Keys of lists that changed, that are gone, or that one version cannot say.
pub(crate) fn keys(before: &Side<'_>, after: &Side<'_>, differences: &[Difference]) -> Vec<Incompatibility> {
    let mut findings = Vec::new();
    for difference in differences {
        let (Change::Keys { .. }, (Some(was), Some(is))) = (&difference.change, difference.nodes) else { continue };
        let Some(field) = &difference.after else { continue };
        let (old, new) = (before.keys(was), after.keys(is));
        let names = |keys: &[(Box<str>, Option<FieldId>)]| -> Vec<Box<str>> {
            keys.iter().map(|(name, _)| name.clone()).collect()
        };
        let finding = |what: What| {
            let keyword = "x-kubernetes-list-map-keys";
            Incompatibility::new(&after.version.name, Some(&before.version.name), field.clone(), what)
                .at(after.place(is, keyword), before.place(was, keyword))
        };
        let unsaid_before = new.iter().filter(|(_, id)| lacks(before, *id)).map(|(name, _)| (name, before));
        let unsaid_after = old.iter().filter(|(_, id)| lacks(after, *id)).map(|(name, _)| (name, after));
        let unsaid: Vec<_> = unsaid_before.chain(unsaid_after).collect();
        // Keys are the same if the fields are, whatever they are called.
        let ids =
            |keys: &[(Box<str>, Option<FieldId>)]| -> Vec<Option<FieldId>> { keys.iter().map(|(_, id)| *id).collect() };
        if ids(&old) == ids(&new) && unsaid.is_empty() {
            continue;
        }
        if let Some((key, side)) = unsaid.first() {
            findings.push(finding(What::KeyUnsaid { key: (*key).clone(), by: side.version.name.clone() }));
        } else {
            let mut changed = finding(What::KeysChanged { before: names(&old), after: names(&new) });
            let still_there = old.iter().map(|(_, id)| id.and_then(|id| after.version.node_of(id)));
            let kept: Option<Vec<Box<str>>> =
                still_there.map(|node| after.version.structure.node(node?).name().map(Box::from)).collect();
            if let Some(kept) = kept.filter(|kept| new.is_empty() && !kept.is_empty()) {
                changed = changed.add(Addition::Keys(field.clone(), kept));
            }
            findings.push(changed);
        }
    }
    findings
}

fn lacks(side: &Side<'_>, id: Option<FieldId>) -> bool {
    id.is_none_or(|id| side.version.node_of(id).is_none())
}

/// Members that exclude each other in one of two versions, although both have them.
pub(crate) fn unions(before: &Side<'_>, after: &Side<'_>, differences: &[Difference]) -> Vec<Incompatibility> {
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
            .at(after.place(is, "oneOf"), before.place(was, "oneOf"));
        if new.is_none() && left > 1 {
            let named = |id: &FieldId| after.version.structure.node(after.version.node_of(*id)?).name().map(Box::from);
            finding = finding.add(Addition::Union(field.clone(), old_ids.iter().filter_map(named).collect()));
        }
        findings.push(finding);
    }
    findings
}

fn members(side: &Side<'_>, object: NodeIndex, union: Option<&Union>) -> Vec<FieldId> {
    let members = union.iter().flat_map(|union| &union.members);
    members.filter_map(|name| side.version.id(side.version.structure.child(object, name)?)).collect()
}
