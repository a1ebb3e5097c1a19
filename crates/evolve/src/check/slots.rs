//! Whether every field of every version has exactly one place in stored documents: told from the history alone, so that
//! it holds the lenses to account.

use std::collections::HashMap;

use super::{Incompatibility, What};
use crate::{FieldId, History, NodeIndex, Shape, VersionHistory, VersionIndex};

/// The fields that have no place in documents stored in the shape of `hub`, or two. There is none unless a history was
/// put together wrongly, as from a lock that somebody edited.
pub fn every_id_has_one_slot(history: &History, hub: VersionIndex) -> Vec<Incompatibility> {
    let hub = history.version(hub);
    let mut contexts: HashMap<FieldId, Context<'_>> = HashMap::new();
    let mut findings = Vec::new();
    for version in &history.versions {
        let mut seen: HashMap<FieldId, NodeIndex> = HashMap::new();
        for node in version.structure.fields() {
            let place = place_of(history, hub, version, node, &mut seen, &mut contexts);
            if let Err(reason) = place {
                let field = version.structure.selector(node);
                let what = What::NoSlot { reason };
                let mut finding = Incompatibility::new(&version.name, None, field, what);
                finding.level = finding.rule().level;
                findings.push(finding);
            }
        }
    }
    findings
}

/// What must be the same for a field wherever it is: the list or map that it is in, and the version that said so first.
struct Context<'h> {
    version: &'h VersionHistory,
    node: NodeIndex,
    element: Option<(FieldId, u32)>,
}

fn place_of<'h>(
    history: &History,
    hub: &VersionHistory,
    version: &'h VersionHistory,
    node: NodeIndex,
    seen: &mut HashMap<FieldId, NodeIndex>,
    contexts: &mut HashMap<FieldId, Context<'h>>,
) -> Result<(), String> {
    let structure = &version.structure;
    let id = version.id(node).ok_or("it has no id")?;
    if id.position() >= history.fields.len() {
        return Err("nothing is known of its id".to_owned());
    }
    let text = &history.field(id).text;
    if let Some(twin) = seen.insert(id, node) {
        return Err(format!("{} has the same id, {text}", structure.selector(twin)));
    }
    if version.node_of(id) != Some(node) {
        return Err(format!("its id, {text}, leads to another field"));
    }
    let element = version.element_of(node);
    let context = contexts.entry(id).or_insert(Context { version, node, element });
    if context.element != element {
        return Err(format!("it is in other items or values than in {}", context.version.name));
    }
    let (earlier, first) = (&context.version.structure, context.node);
    if !earlier.keeps_shape(first, structure, node) && !structure.keeps_shape(node, earlier, first) {
        let (is, was) = (structure.shape_name(node), earlier.shape_name(first));
        return Err(format!("it is {is}, and {was} in {}", context.version.name));
    }
    if hub.node_of(id).is_some() { Ok(()) } else { leads_to_hub(hub, version, node) }
}

/// A hidden field is kept by the nearest object that the hub has, so one of those above it must be one.
fn leads_to_hub(hub: &VersionHistory, version: &VersionHistory, node: NodeIndex) -> Result<(), String> {
    let mut above = version.structure.node(node).parent;
    while let Some(node) = above {
        if let Some(counterpart) = hub.counterpart(version, node) {
            let (is, was) = (version.structure.node(node).shape, hub.structure.node(counterpart).shape);
            let name = version.structure.selector(node);
            return match (is, was) {
                (Shape::Object, Shape::Object) => Ok(()),
                // What is hidden in whole items or values is hidden with them.
                (Shape::List, Shape::List) | (Shape::Map, Shape::Map) => {
                    Err(format!("{name} is in {}, and its items or values are not", hub.name))
                }
                _ => Err(format!("{name} is {} in {}, and holds it in {}", was.name(), hub.name, version.name)),
            };
        }
        above = version.structure.node(node).parent;
    }
    Err(format!("nothing above it leads to {}", hub.name))
}
