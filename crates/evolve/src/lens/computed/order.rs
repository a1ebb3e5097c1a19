//! The order in which all of it is computed, for a hub and for every version.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{
    Action, Computed, Derivable, DerivationPlan, Length, LinkPlan, Needed, Onward, SidePlan, Way, compile::field_plan,
};
use crate::{Direction, History, VersionIndex, lens::plan::Scope, link::Computations};

/// Puts what is computed in a scope into order.
pub(super) fn order(
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
    let read = computed.derivations.iter().map(|plan| {
        let mut reads = vec![false; scope.slots.len()];
        plan.reads.iter().for_each(|slot| reads[*slot] = true);
        needed(computed, &all, &reads)
    });
    let read: Vec<Needed> = read.collect();
    let computed = &mut scope.computed;
    for (plan, needed) in computed.derivations.iter_mut().zip(read) {
        plan.needed = needed;
    }
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
    let found = found.map(|(direction, slots)| {
        let length = length(plan, direction, &slots);
        Way { link, direction, slots, after: Vec::new(), leads_on: false, length }
    });
    for field in source.fields.iter().chain(&target.fields) {
        field.slots.iter().for_each(|slot| known[*slot] = true);
    }
    found
}

/// How short the way to some slots is where nothing was there before.
fn length(plan: &LinkPlan, direction: Direction, slots: &[usize]) -> Length {
    let (near, far) = plan.sides(direction);
    match (&near.fields[..], &far.fields[..]) {
        ([near], [far]) if plan.is_single && near.is_plain && far.is_plain => {
            Length::Plain { from: near.slot, is_nullable: near.is_nullable, to: far.slot, link: plan.link }
        }
        ([_], [far]) if plan.is_single && far.slots.len() == slots.len() => Length::Single,
        _ => Length::Full,
    }
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
        wanted.extend(&source.reads);
    }
    is_wanted
}

/// The steps that lead from a version to all others, nearest first, each with the way it is taken.
pub(super) fn crossings(history: &History, start: VersionIndex) -> Vec<(VersionIndex, Direction)> {
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
