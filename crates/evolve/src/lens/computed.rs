//! What is computed in a scope, compiled: which slots are spellings of one fact, which are derived from which, and in
//! which order all of it is computed for a hub and for every version.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{
    get::says,
    plan::{Content, Scope, View},
    state::{Slot, Slots},
};
use crate::{Conversion, Direction, FieldId, History, VersionIndex, link::Computations};

/// What is computed in a scope.
#[derive(Debug, Default)]
pub(crate) struct Computed {
    pub(crate) links: Vec<LinkPlan>,
    pub(crate) derivations: Vec<DerivationPlan>,
    /// All that is computed to know every slot.
    pub(crate) all: Needed,
    /// What is computed to know the slots that a version can say, by version.
    pub(crate) shown: Vec<Needed>,
    /// What follows from a write through a version, in the order of the steps that lead away from it, by version.
    pub(crate) onward: Vec<Vec<Onward>>,
    /// The slots that may be derived, or are the other spelling of one that may.
    pub(crate) derivable: Vec<usize>,
    /// Those of them that a version can say, by version.
    pub(crate) derivable_said: Vec<Vec<Derivable>>,
    /// All that may be derived is stored as it is shown.
    pub(crate) derives_plainly: bool,
    /// Nothing has to be stored besides what the hub says, once it has said everything: it says nothing that may be derived,
    /// and there are no hooks, of which both sides are stored.
    pub(crate) is_told_by_hub: bool,
}

/// A slot that may be derived.
#[derive(Debug)]
pub(crate) struct Derivable {
    pub(crate) slot: usize,
    /// The objects that a version has it in, but for the scope's own.
    above: Vec<(usize, usize)>,
}

impl Derivable {
    /// Whether the version shows it if it holds something: nothing that is no object is in the place of one above it.
    pub(crate) fn is_open(&self, view: &View, slots: &Slots<'_>) -> bool {
        let is_object = |(object, position): &(usize, usize)| {
            !matches!(says(&view.objects[*object].fields.list[*position].1, slots), Slot::Value(_))
        };
        self.above.iter().all(is_object)
    }
}

/// What is computed, in this order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needed {
    /// The spellings that the hub does not store, from those nearest to it on.
    pub(crate) links: Vec<Way>,
    /// What is derived on the way up, from the oldest step on.
    pub(crate) up: Vec<Action>,
    /// What is derived on the way down, from the newest step on.
    pub(crate) down: Vec<Action>,
}

/// A link, the way it is taken, and the slots that are computed by that: each by one link only, and after those that it is
/// computed from.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) link: usize,
    pub(crate) direction: Direction,
    pub(crate) slots: Vec<usize>,
    /// Of all that leads away from a version: which of them give what this one is computed from.
    pub(crate) after: Vec<usize>,
    /// Something is computed from what it gives.
    pub(crate) leads_on: bool,
}

impl Way {
    /// The slots of a field that are computed.
    pub(crate) fn computed<'w>(&'w self, field: &'w FieldPlan) -> impl Iterator<Item = &'w usize> {
        field.slots.iter().filter(|slot| self.slots.contains(slot))
    }
}

/// One thing that is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// The other spelling of what was derived.
    Link(usize),
    /// A derived field.
    Derive(usize),
}

/// One thing that follows from a write.
#[derive(Clone, Debug)]
pub(crate) enum Onward {
    /// The other spelling of what was written.
    Link(Way),
    /// A derived field that a client wrote, and which followed its inputs so far.
    Derive(usize),
}

/// A fact in two spellings.
#[derive(Debug)]
pub(crate) struct LinkPlan {
    /// Its position among all links of the kind.
    pub(crate) link: usize,
    /// How its entries in a bag are called: as the first field of the newer side.
    pub(crate) key: Box<str>,
    pub(crate) from: SidePlan,
    pub(crate) to: SidePlan,
    /// One plain field becomes one other, which is most common and has the shortest way.
    pub(crate) is_simple: bool,
}

impl LinkPlan {
    /// The side that is left, and the one that is arrived at.
    pub(crate) fn sides(&self, direction: Direction) -> (&SidePlan, &SidePlan) {
        match direction {
            Direction::Up => (&self.from, &self.to),
            Direction::Down => (&self.to, &self.from),
        }
    }
}

/// The fields of one side.
#[derive(Debug)]
pub(crate) struct SidePlan {
    /// The version that shows them.
    pub(crate) version: VersionIndex,
    pub(crate) fields: Vec<FieldPlan>,
}

/// A field that is computed, or computed from.
#[derive(Debug)]
pub(crate) struct FieldPlan {
    /// The object and the position in it, in the view of the version.
    pub(crate) at: (usize, usize),
    pub(crate) slot: usize,
    /// The slot and those of all fields in it.
    pub(crate) slots: Vec<usize>,
    /// Its value is stored as it is shown.
    pub(crate) is_plain: bool,
    /// Its value has parts, in which something may be hidden.
    pub(crate) has_parts: bool,
    /// The objects that it is in, innermost first, but for the scope's own.
    pub(crate) above: Vec<(usize, usize)>,
}

/// A field that is derived.
#[derive(Debug)]
pub(crate) struct DerivationPlan {
    /// Its position among all derivations of the kind.
    pub(crate) derivation: usize,
    /// How it is called in what is carried: several steps may derive one field.
    pub(crate) key: Box<str>,
    /// The version that is read.
    pub(crate) source: VersionIndex,
    /// The version that has the field.
    pub(crate) target: VersionIndex,
    pub(crate) field: FieldPlan,
    /// The object that the field must be in for it to be shown; `None` where the value makes the object appear.
    pub(crate) only_in: Option<(usize, usize)>,
    /// What the expression reads of the scope's own object; `None` if it may read anything.
    pub(crate) inputs: Option<Vec<InputPlan>>,
    /// The slots that are read.
    reads: Vec<usize>,
}

/// A field that an expression reads.
#[derive(Debug)]
pub(crate) struct InputPlan {
    /// The object and the position in it, in the view of the version that is read.
    pub(crate) at: (usize, usize),
    /// Of an object: the fields of it that are read; all if there are none here.
    pub(crate) below: Vec<InputPlan>,
}

impl Computed {
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty() && self.derivations.is_empty()
    }
}

/// Which fields are spellings of one fact.
pub(crate) struct Spellings {
    /// The fact that a field is a spelling of, by field.
    fact: Vec<usize>,
    /// The fields that are spellings of a fact, by fact.
    fields: Vec<Vec<FieldId>>,
    /// Fields that may be there although nobody wrote the objects that they are in, or are such objects.
    pub(crate) may_imply: HashSet<FieldId>,
    /// Lists that are maps in another spelling, and the fields that are their keys there.
    keys: HashMap<FieldId, FieldId>,
}

impl Spellings {
    pub(crate) fn of(history: &History, computations: &Computations) -> Self {
        let mut fact: Vec<usize> = (0..history.fields.len()).collect();
        let mut fields: Vec<Vec<FieldId>> = history.ids().map(|id| vec![id]).collect();
        let mut may_imply = HashSet::new();
        let mut keys = HashMap::new();
        for link in &computations.links {
            let (before, after) = (history.version(link.before), history.version(link.version));
            let sides = link.from.iter().map(|node| (before, node)).chain(link.to.iter().map(|node| (after, node)));
            for (version, node) in sides.clone() {
                let below = version.structure.below(*node).into_iter();
                may_imply.extend(below.filter_map(|node| version.id(node)));
            }
            if let Conversion::KeyedList { key, .. } = &link.respelled.with.item {
                keys.extend(sides.clone().filter_map(|(version, node)| {
                    let item = version.structure.element(*node)?;
                    Some((version.id(*node)?, version.id(version.structure.child(item, key)?)?))
                }));
            }
            let ids: Vec<FieldId> = sides.filter_map(|(version, node)| version.id(*node)).collect();
            for pair in ids.windows(2) {
                let (kept, joined) = (fact[pair[0].position()], fact[pair[1].position()]);
                if kept != joined {
                    let moved = std::mem::take(&mut fields[joined]);
                    moved.iter().for_each(|id| fact[id.position()] = kept);
                    fields[kept].extend(moved);
                }
            }
        }
        for derivation in
            computations.derivations.iter().filter(|it| it.deriver.reads().is_none_or(|it| !it.is_empty()))
        {
            may_imply.extend(history.version(derivation.target).id(derivation.field));
        }
        Self { fact, fields, may_imply, keys }
    }

    /// The field that tells the items of a list apart which is a map in another spelling.
    pub(crate) fn key_of(&self, list: FieldId) -> Option<FieldId> {
        self.keys.get(&list).copied()
    }

    /// A field and all other spellings of the same fact.
    pub(crate) fn of_one_fact(&self, id: FieldId) -> &[FieldId] {
        &self.fields[self.fact[id.position()]]
    }
}

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
            Some(SidePlan { version, fields: fields.collect::<Option<_>>()? })
        };
        let (from, key) = (side(link.before, &from), history.field(to[0]).text.clone());
        let (Some(from), Some(to)) = (from, side(link.version, &to)) else { continue };
        let is_plain = |side: &SidePlan| side.fields.iter().all(|field| field.is_plain);
        let is_simple = link.converter.is_single() && is_plain(&from) && is_plain(&to);
        scopes[scope].computed.links.push(LinkPlan { link: position, key, from, to, is_simple });
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
        let plan = DerivationPlan { derivation: position, key, source, target, field, only_in, inputs, reads };
        scopes[scope].computed.derivations.push(plan);
    }
    let crossings: Vec<Vec<(VersionIndex, Direction)>> =
        history.indexes().map(|start| crossings(history, start)).collect();
    for scope in scopes.iter_mut().filter(|scope| !scope.computed.is_empty()) {
        order(scope, history, hub, computations, &crossings);
    }
}

/// Puts what is computed in a scope into order.
fn order(
    scope: &mut Scope,
    history: &History,
    hub: VersionIndex,
    computations: &Computations,
    crossings: &[Vec<(VersionIndex, Direction)>],
) {
    let computed = &scope.computed;
    let step_of = |plan: &LinkPlan| computations.links[plan.link].version;
    let links_of = |step: VersionIndex| {
        computed.links.iter().enumerate().filter(move |(_, plan)| step_of(plan) == step).map(|(at, _)| at)
    };
    let derivations_of = |step: VersionIndex, direction: Direction| {
        let is_of = move |plan: &DerivationPlan| {
            let derivation = &computations.derivations[plan.derivation];
            derivation.version == step && derivation.derived.direction == direction
        };
        computed.derivations.iter().enumerate().filter(move |(_, plan)| is_of(plan)).map(|(at, _)| at)
    };
    let ways = |start: VersionIndex| {
        let mut known = scope.views[start.position()].as_ref().map_or_else(Vec::new, |view| view.says.clone());
        known.resize(scope.slots.len(), false);
        let crossings = crossings[start.position()].iter();
        let ways = crossings.map(|(step, direction)| {
            let ways = links_of(*step).filter_map(|link| way(&computed.links[link], link, *direction, &mut known));
            (*step, *direction, ways.collect::<Vec<Way>>())
        });
        let mut ways = ways.collect::<Vec<_>>();
        connect(ways.iter_mut().flat_map(|(_, _, ways)| ways), &computed.links);
        ways
    };
    let links: Vec<Way> = ways(hub).into_iter().flat_map(|(_, _, ways)| ways).collect();
    let phase = |steps: Vec<VersionIndex>, direction: Direction| {
        let mut derivable: HashSet<usize> = HashSet::new();
        let mut actions = Vec::new();
        for step in steps {
            for link in links_of(step) {
                let (source, target) = computed.links[link].sides(direction);
                if source.fields.iter().any(|field| derivable.contains(&field.slot)) {
                    actions.push(Action::Link(link));
                    derivable.extend(target.fields.iter().flat_map(|field| &field.slots));
                }
            }
            for derivation in derivations_of(step, direction) {
                actions.push(Action::Derive(derivation));
                derivable.insert(computed.derivations[derivation].field.slot);
            }
        }
        (actions, derivable)
    };
    let (up, up_derivable) = phase(history.indexes().collect(), Direction::Up);
    let (down, down_derivable) = phase(history.indexes().rev().collect(), Direction::Down);
    let mut derivable: Vec<usize> = up_derivable.union(&down_derivable).copied().collect();
    derivable.sort_unstable();
    let is_plain = |side: &SidePlan| side.fields.iter().all(|field| field.is_plain);
    let derives_plainly = up.iter().chain(&down).all(|action| match action {
        Action::Derive(derivation) => computed.derivations[*derivation].field.is_plain,
        Action::Link(link) => is_plain(&computed.links[*link].from) && is_plain(&computed.links[*link].to),
    });
    let all = Needed { links, up, down };
    let shown = scope.views.iter().map(|view| match view {
        Some(view) => needed(computed, &all, &view.says),
        None => Needed::default(),
    });
    let shown = shown.collect();
    let onward = history.indexes().map(|start| {
        let at_step = |(step, direction, ways): (VersionIndex, Direction, Vec<Way>)| -> Vec<Onward> {
            let links = ways.into_iter().map(Onward::Link);
            links.chain(derivations_of(step, direction).map(Onward::Derive)).collect()
        };
        ways(start).into_iter().flat_map(at_step).collect()
    });
    let onward = onward.collect();
    let has_hooks = computed.links.iter().any(|plan| computations.links[plan.link].converter.is_hook());
    let hub_says = |slot: &usize| scope.views[hub.position()].as_ref().is_none_or(|view| view.says[*slot]);
    let is_told_by_hub = !has_hooks && !derivable.iter().any(hub_says);
    let derivable_said = history.indexes().map(|version| {
        let plans = derivable.iter().filter_map(|slot| field_plan(scope, version, *slot));
        plans.map(|plan| Derivable { slot: plan.slot, above: plan.above }).collect()
    });
    let derivable_said = derivable_said.collect();
    let computed = &mut scope.computed;
    computed.derivable_said = derivable_said;
    (computed.is_told_by_hub, computed.derives_plainly) = (is_told_by_hub, derives_plainly);
    (computed.all, computed.shown, computed.onward, computed.derivable) = (all, shown, onward, derivable);
}

/// How a link is taken where some slots are known: away from what is known, which is mostly away from where it is crossed
/// first; but a field that returned in a later version is known there, and not where it was before.
fn way(plan: &LinkPlan, link: usize, direction: Direction, known: &mut [bool]) -> Option<Way> {
    let unknown = |side: &SidePlan, known: &[bool]| -> Vec<usize> {
        side.fields.iter().flat_map(|field| &field.slots).copied().filter(|slot| !known[*slot]).collect()
    };
    let (source, target) = plan.sides(direction);
    let found = match (unknown(source, known), unknown(target, known)) {
        (sources, targets) if sources.is_empty() && targets.is_empty() => None,
        (sources, targets) if targets.is_empty() => Some((direction.back(), sources)),
        (_, slots) => Some((direction, slots)),
    };
    let found = found.map(|(direction, slots)| Way { link, direction, slots, after: Vec::new(), leads_on: false });
    for field in source.fields.iter().chain(&target.fields) {
        field.slots.iter().for_each(|slot| known[*slot] = true);
    }
    found
}

/// Says which ways follow which.
fn connect<'w>(ways: impl Iterator<Item = &'w mut Way>, links: &[LinkPlan]) {
    let mut ways: Vec<&mut Way> = ways.collect();
    let mut given: HashMap<usize, usize> = HashMap::new();
    for position in 0..ways.len() {
        let source = links[ways[position].link].sides(ways[position].direction).0;
        let mut after: Vec<usize> = source.fields.iter().filter_map(|field| given.get(&field.slot).copied()).collect();
        after.sort_unstable();
        after.dedup();
        after.iter().for_each(|before| ways[*before].leads_on = true);
        ways[position].after = after;
        given.extend(ways[position].slots.iter().map(|slot| (*slot, position)));
    }
}

/// What is to be computed so that some slots are known.
fn needed(computed: &Computed, all: &Needed, says: &[bool]) -> Needed {
    let mut wanted: HashSet<usize> = (0..says.len()).filter(|slot| says[*slot]).collect();
    let phase = |actions: &[Action], direction: Direction, wanted: &mut HashSet<usize>| {
        let mut kept = Vec::new();
        for action in actions.iter().rev() {
            let is_wanted = match action {
                Action::Link(link) => wants(wanted, computed.links[*link].sides(direction)),
                Action::Derive(derivation) => {
                    let plan = &computed.derivations[*derivation];
                    let is_wanted = wanted.contains(&plan.field.slot);
                    if is_wanted {
                        wanted.extend(&plan.reads);
                    }
                    is_wanted
                }
            };
            if is_wanted {
                kept.push(*action);
            }
        }
        kept.reverse();
        kept
    };
    // What is derived on one way is never read on the other, so that the two do not need each other.
    let up = phase(&all.up, Direction::Up, &mut wanted);
    let down = phase(&all.down, Direction::Down, &mut wanted);
    let mut links = all.links.clone();
    links.reverse();
    links.retain(|way| wants(&mut wanted, computed.links[way.link].sides(way.direction)));
    links.reverse();
    Needed { links, up, down }
}

/// Whether the fields of a link are wanted; then those that it is computed from are, too.
fn wants(wanted: &mut HashSet<usize>, (source, target): (&SidePlan, &SidePlan)) -> bool {
    let is_wanted = target.fields.iter().flat_map(|field| &field.slots).any(|slot| wanted.contains(slot));
    if is_wanted {
        wanted.extend(source.fields.iter().flat_map(|field| &field.slots));
    }
    is_wanted
}

/// The steps that lead from a version to all others, nearest first, each with the way it is taken.
fn crossings(history: &History, start: VersionIndex) -> Vec<(VersionIndex, Direction)> {
    let mut seen: HashSet<VersionIndex> = HashSet::from([start]);
    let mut waiting = VecDeque::from([start]);
    let mut found = Vec::new();
    while let Some(at) = waiting.pop_front() {
        let below = history.version(at).from.map(|from| (from, at, Direction::Down));
        let above = history.indexes().filter(|next| history.version(*next).from == Some(at));
        for (next, step, direction) in below.into_iter().chain(above.map(|next| (next, next, Direction::Up))) {
            if seen.insert(next) {
                found.push((step, direction));
                waiting.push_back(next);
            }
        }
    }
    found
}

fn field_plan(scope: &Scope, version: VersionIndex, slot: usize) -> Option<FieldPlan> {
    let view = scope.views[version.position()].as_ref()?;
    let mut fields = view.objects.iter().enumerate().flat_map(|(object, shown)| {
        shown.fields.list.iter().enumerate().map(move |(position, (_, field))| ((object, position), field))
    });
    let (at, field) = fields.find(|(_, field)| field.slot == slot)?;
    let slots = slots_below(view, slot, field.object);
    // A map whose values may be null is not always shown as it is stored.
    let is_plain = scope.slots[slot].content == Content::Opaque && !field.may_be_anything;
    let has_parts = field.object.is_some() || !field.levels.is_empty();
    let above = std::iter::successors(parent_of(view, at.0), |(object, _)| parent_of(view, *object)).collect();
    Some(FieldPlan { at, slot, slots, is_plain, has_parts, above })
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

/// Where a view has the field that an object is; `None` for the scope's own.
fn parent_of(view: &View, object: usize) -> Option<(usize, usize)> {
    let mut objects = view.objects.iter().enumerate();
    objects.find_map(|(parent, shown)| {
        let position = shown.fields.list.iter().position(|(_, field)| field.object == Some(object))?;
        Some((parent, position))
    })
}
