//! Places where a write through one version can take along what it does not see: lists whose items nothing identifies, and
//! objects that are shown empty.

use super::{Addition, Incompatibility, What, side::Side};
use crate::{FieldId, History, Lenses, NodeIndex, OlderWrite, Scalar, Shape, VersionIndex, lens::Envelope};

/// Names that fields which identify an item mostly have.
const IDENTIFYING: [&str; 6] = ["name", "id", "key", "type", "path", "uid"];

/// What writes can take along unseen, with documents stored in the shape of `hub`.
pub(crate) fn hidden(history: &History, hub: VersionIndex, sides: &[Side<'_>]) -> Vec<Incompatibility> {
    let lenses = Lenses::compile(history, hub, Envelope::None, &|_, _| OlderWrite::Preserve);
    let mut findings = unkeyed_lists(history, &lenses, sides);
    findings.extend(empty_objects(&lenses, sides));
    findings
}

/// Lists without keys whose items hide fields from a version.
fn unkeyed_lists(history: &History, lenses: &Lenses, sides: &[Side<'_>]) -> Vec<Incompatibility> {
    let declared: Vec<&Side<'_>> = sides.iter().filter(|side| side.version.declared).collect();
    let mut findings = Vec::new();
    for list in history.ids() {
        let having: Vec<(&Side<'_>, NodeIndex)> =
            declared.iter().filter_map(|side| Some((*side, side.version.node_of(list)?))).collect();
        let Some((newest, node)) = having.last() else { continue };
        if newest.version.structure.node(*node).shape != Shape::List {
            continue;
        }
        let blind = having.iter().filter_map(|(side, _)| {
            let is_unkeyed = lenses.keys(side.index, list).is_empty();
            let hidden = is_unkeyed.then(|| hidden_field(lenses, side, &having)).flatten()?;
            Some((side.version.name.clone(), hidden))
        });
        let blind: Vec<_> = blind.collect();
        let Some((_, hidden)) = blind.first() else { continue };
        let what = What::ItemsNotIdentified {
            hidden: hidden.clone(),
            from: blind.iter().map(|(version, _)| version.clone()).collect(),
        };
        let field = newest.version.structure.selector(*node);
        let mut finding = Incompatibility::new(&newest.version.name, None, field.clone(), what)
            .at(newest.place(*node, "items"), Default::default());
        if let Some(key) = identifying_field(list, &having) {
            finding = finding.add(Addition::Keys(field, vec![key]));
        }
        findings.push(finding);
    }
    findings
}

/// A field of the items of a list that a version lacks and another has, as the other calls it.
fn hidden_field(lenses: &Lenses, side: &Side<'_>, having: &[(&Side<'_>, NodeIndex)]) -> Option<String> {
    having.iter().find_map(|(other, node)| {
        let item = other.version.structure.element(*node)?;
        let fields = other.version.structure.below(item).into_iter().skip(1);
        let lacking = fields.filter_map(|field| Some((field, other.version.id(field)?)));
        let mut lacking = lacking.filter(|(_, id)| !lenses.says_in_any_spelling(side.index, *id));
        lacking.next().map(|(field, _)| other.version.structure.selector(field).to_string())
    })
}

/// A required scalar that the items have in every version, by the name it has in the newest one.
fn identifying_field(list: FieldId, having: &[(&Side<'_>, NodeIndex)]) -> Option<Box<str>> {
    let (newest, node) = having.last()?;
    let structure = &newest.version.structure;
    let item = structure.element(*node)?;
    let is_everywhere = |id: FieldId| {
        having.iter().all(|(side, _)| {
            let item = side.version.node_of(list).and_then(|node| side.version.structure.element(node));
            side.version
                .node_of(id)
                .is_some_and(|field| side.version.structure.node(field).parent == item && side.is_required(field))
        })
    };
    let is_key = |field: &NodeIndex| {
        let is_scalar = matches!(
            structure.node(*field).shape,
            Shape::Scalar(Scalar::String | Scalar::Integer | Scalar::IntOrString)
        );
        is_scalar && newest.version.id(*field).is_some_and(is_everywhere)
    };
    let fields = structure.node(item).children.iter().copied().filter(is_key);
    let names: Vec<&str> = fields.filter_map(|field| structure.node(field).name()).collect();
    let known = IDENTIFYING.iter().find(|known| names.contains(known)).copied();
    known.or_else(|| names.first().copied()).map(Box::from)
}

/// Objects that a version may show as `{}` while they hold fields of other versions: leaving such an object out removes it
/// with all of them.
fn empty_objects(lenses: &Lenses, sides: &[Side<'_>]) -> Vec<Incompatibility> {
    let declared: Vec<&Side<'_>> = sides.iter().filter(|side| side.version.declared).collect();
    let mut findings = Vec::new();
    for side in &declared {
        let objects: Vec<NodeIndex> =
            side.version.structure.fields().filter(|node| hides(lenses, side, *node, &declared)).collect();
        let Some(first) = objects.first() else { continue };
        let selectors: Vec<_> = objects.iter().map(|node| side.version.structure.selector(*node)).collect();
        let what = What::EmptyObjectsHide { objects: selectors.clone() };
        let finding = Incompatibility::new(&side.version.name, None, selectors[0].clone(), what);
        findings.push(finding.at(side.place(*first, "properties"), Default::default()));
    }
    findings
}

/// Whether an object is optional, `{}` is valid in its place, and another version has fields in it that this one cannot
/// express. Objects at the root (spec, status) are hardly ever left out as a whole, and would be named for every kind.
fn hides(lenses: &Lenses, side: &Side<'_>, object: NodeIndex, declared: &[&Side<'_>]) -> bool {
    let node = side.version.structure.node(object);
    let is_below_root = side.parent(object).is_some_and(|parent| parent != side.version.structure.root());
    let is_open = node.shape == Shape::Object
        && is_below_root
        && !side.version.refuses_empty(object)
        && !side.is_required(object);
    is_open
        && declared.iter().any(|other| {
            let Some(counterpart) = other.version.counterpart(side.version, object) else { return false };
            let mut fields = other.version.structure.node(counterpart).children.iter();
            let is_hidden = |id: FieldId| !lenses.says_in_any_spelling(side.index, id);
            fields.any(|field| other.version.id(*field).is_some_and(is_hidden))
        })
}
