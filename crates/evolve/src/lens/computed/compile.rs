//! Compiles what is computed: where the fields are that it is computed of.

use super::{
    DerivationPlan, FieldPlan, InputPlan, LinkPlan, Needed, SidePlan,
    order::{crossings, order},
};
use crate::{
    Direction, FieldId, History, VersionIndex,
    lens::plan::{Content, Scope, View},
    link::Computations,
};

/// Where the fields of a history are: scope and slot.
pub(crate) type SlotOf<'p> = dyn Fn(FieldId) -> (usize, usize) + 'p;

/// Compiles what is computed in every scope.
pub(crate) fn compile_computed(
    history: &History,
    hub: VersionIndex,
    computations: &Computations,
    scopes: &mut [Scope],
    slot_of: &SlotOf<'_>,
) {
    for (position, link) in computations.links.iter().enumerate() {
        let ids = |version: VersionIndex, nodes: &[crate::NodeIndex]| -> Option<Vec<FieldId>> {
            nodes.iter().map(|node| history.version(version).id(*node)).collect()
        };
        let (from, to) = (ids(link.before, &link.from), ids(link.version, &link.to));
        let (Some(from), Some(to)) = (from, to) else { continue };
        let scope = slot_of(from[0]).0;
        let side = |version: VersionIndex, ids: &[FieldId]| {
            let fields = ids.iter().map(|id| field_plan(&scopes[scope], version, slot_of(*id).1));
            side_plan(&scopes[scope], version, fields.collect::<Option<_>>()?)
        };
        let (from, key) = (side(link.before, &from), history.field(to[0]).text.clone());
        let (Some(from), Some(to)) = (from, side(link.version, &to)) else { continue };
        let is_single = link.converter.is_single();
        scopes[scope].computed.links.push(LinkPlan { link: position, key, from, to, is_single });
    }
    for (position, derivation) in computations.derivations.iter().enumerate() {
        let Some(id) = history.version(derivation.target).id(derivation.field) else { continue };
        let (scope, slot) = slot_of(id);
        let Some(field) = field_plan(&scopes[scope], derivation.target, slot) else { continue };
        let Some(source) = scopes[scope].views[derivation.source.position()].as_ref() else { continue };
        let Some(target) = scopes[scope].views[derivation.target.position()].as_ref() else { continue };
        let inputs = derivation.deriver.reads().map(|paths| {
            let mut inputs = Vec::new();
            paths.iter().for_each(|path| add_input(source, 0, path, &mut inputs));
            inputs
        });
        let mut reads = Vec::new();
        match &inputs {
            Some(inputs) => inputs.iter().for_each(|input| input.add_slots(source, &mut reads)),
            None => reads.extend((0..source.says.len()).filter(|slot| source.says[*slot])),
        }
        let is_constant = derivation.deriver.reads().is_some_and(<[_]>::is_empty);
        let only_in = is_constant.then(|| parent_of(target, field.at.0)).flatten();
        // Whether the object is shown is up to what is in it.
        if let Some((object, position)) = only_in {
            let shown = &target.objects[object].fields.list[position].1;
            reads.extend(slots_below(target, shown.slot, shown.object));
        }
        let (source, target) = (derivation.source, derivation.target);
        let names = [source, target].map(|version| &history.version(version).name);
        let key = format!("{} {}>{}", history.field(id).text, names[0], names[1]).into();
        let plan = DerivationPlan {
            derivation: position,
            key,
            source,
            target,
            field,
            only_in,
            inputs,
            reads,
            needed: Needed::default(),
        };
        scopes[scope].computed.derivations.push(plan);
    }
    let crossings: Vec<Vec<(VersionIndex, Direction)>> =
        history.indexes().map(|start| crossings(history, start)).collect();
    for scope in scopes.iter_mut().filter(|scope| !scope.computed.is_empty()) {
        order(scope, history, hub, computations, &crossings);
    }
}

fn side_plan(scope: &Scope, version: VersionIndex, fields: Vec<FieldPlan>) -> Option<SidePlan> {
    let view = scope.views[version.position()].as_ref()?;
    let mut reads: Vec<usize> = fields.iter().flat_map(|field| &field.slots).copied().collect();
    // Beside one that is there, others are filled in where the objects that they are in are shown.
    if fields.len() > 1 {
        for (object, position) in fields.iter().flat_map(|field| &field.above) {
            let above = &view.objects[*object].fields.list[*position].1;
            reads.push(above.slot);
            reads.extend(above.implied_by.iter().map(|below| below.slot));
        }
    }
    Some(SidePlan { version, fields, reads })
}

pub(super) fn field_plan(scope: &Scope, version: VersionIndex, slot: usize) -> Option<FieldPlan> {
    let view = scope.views[version.position()].as_ref()?;
    let mut fields = view.objects.iter().enumerate().flat_map(|(object, shown)| {
        shown.fields.list.iter().enumerate().map(move |(position, (_, field))| ((object, position), field))
    });
    let (at, field) = fields.find(|(_, field)| field.slot == slot)?;
    let slots = slots_below(view, slot, field.object);
    // A map whose values may be null is not always shown as it is stored.
    let is_plain = scope.slots[slot].content == Content::Opaque && !field.may_be_anything;
    // Of a value that all versions show alike, nothing can be hidden.
    let has_parts = scope.slots[slot].content != Content::Opaque;
    let above = std::iter::successors(parent_of(view, at.0), |(object, _)| parent_of(view, *object)).collect();
    let has_union = has_union(view, field.object);
    let is_nullable = field.nullable;
    Some(FieldPlan { at, slot, slots, is_plain, is_nullable, has_parts, passes: false, has_union, above })
}

/// Adds what a path from an object leads to.
fn add_input(view: &View, object: usize, path: &[Box<str>], inputs: &mut Vec<InputPlan>) {
    let Some((name, rest)) = path.split_first() else { return };
    let Some(position) = view.objects[object].fields.list.iter().position(|(field, _)| field == name) else { return };
    let at = (object, position);
    let known = inputs.iter().position(|input| input.at == at).unwrap_or_else(|| {
        inputs.push(InputPlan { at, below: Vec::new() });
        inputs.len() - 1
    });
    if let Some(object) = view.objects[object].fields.list[position].1.object {
        add_input(view, object, rest, &mut inputs[known].below);
    }
}

impl InputPlan {
    fn add_slots(&self, view: &View, slots: &mut Vec<usize>) {
        let field = &view.objects[self.at.0].fields.list[self.at.1].1;
        if self.below.is_empty() {
            slots.extend(slots_below(view, field.slot, field.object));
        } else {
            slots.push(field.slot);
            // What is filled in below it is there if it is shown, which it may be for something else.
            slots.extend(field.implied_by.iter().map(|below| below.slot));
            self.below.iter().for_each(|below| below.add_slots(view, slots));
        }
    }
}

/// A slot and those of all fields in it.
fn slots_below(view: &View, slot: usize, object: Option<usize>) -> Vec<usize> {
    let mut slots = vec![slot];
    if let Some(object) = object {
        let below = view.objects[object].fields.list.iter();
        slots.extend(below.flat_map(|(_, field)| slots_below(view, field.slot, field.object)));
    }
    slots
}

/// Whether an object, or one in it, is a union with members that the version cannot say.
fn has_union(view: &View, object: Option<usize>) -> bool {
    let Some(object) = object.map(|object| &view.objects[object]) else { return false };
    object.union.is_some() || object.fields.list.iter().any(|(_, field)| has_union(view, field.object))
}

/// Where a view has the field that an object is; `None` for the scope's own.
fn parent_of(view: &View, object: usize) -> Option<(usize, usize)> {
    let mut objects = view.objects.iter().enumerate();
    objects.find_map(|(parent, shown)| {
        let position = shown.fields.list.iter().position(|(_, field)| field.object == Some(object))?;
        Some((parent, position))
    })
}
