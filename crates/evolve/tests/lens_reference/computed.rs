//! Computed fields as their rules are written: a scope has every spelling of every fact, and what is derived is known only
//! when somebody looks.
//!
//! - A write that changes how its version spells a fact spells it anew for all others, step by step away from that
//!   version, each spelling from its neighbour; those that the version itself says stay as it says them. Those beyond
//!   one that comes out as it was are spelled anew, too, for the fact has changed; of lists and maps whose items are
//!   converted one by one, only what is made of items that changed. A spelling that returned in a later version is known there, and what
//!   it was respelled as before is spelled anew from there.
//! - What is the first item of a list in another spelling is that item, whatever the items look like, and the others are
//!   the others.
//! - A derived field is shown where nothing is stored and nobody said that nothing is there. What is derived on the way up
//!   is read on the way up, what is derived on the way down on the way down, and where both give something, up wins.
//!   A constant is shown only where the object that it is in is shown.
//! - A derived field that is stored, and which the writer cannot see, follows what it is derived from if it was what that
//!   gave before, and unless it would be gone. What it is derived from is what the writer saw, and what it wrote, stored or
//!   not.
//! - After a write the version shows what was written: what would be derived otherwise is stored, or said to be absent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value as Json;
use wheelwright_evolve::{Conversion, Direction, FieldId, History, Selector, Shape, VersionIndex};

use crate::{
    convert::{Before, Converter, Fields, fits},
    expression::Expression,
    generate::{Change, Generated},
    model::{Content, Model, Scope, View},
    tree::{Facts, Tree},
};

/// All that is computed between the versions of a kind.
pub(crate) struct Computed {
    links: Vec<Link>,
    derivations: Vec<Derivation>,
}

/// A fact in two spellings: the version that was stepped into, and the sides.
struct Link {
    /// Its position among all links.
    id: usize,
    step: usize,
    from: Side,
    to: Side,
    converter: Converter,
}

struct Side {
    version: usize,
    nodes: Vec<usize>,
}

impl Computed {
    /// The fields that are the keys of a list where it is a map.
    pub(crate) fn keys_of_map(&self, trees: &[Tree], list: FieldId) -> Vec<FieldId> {
        let sides = self.links.iter().flat_map(|link| [(link, &link.from), (link, &link.to)]);
        let keys = sides.filter_map(|(link, side)| {
            let Conversion::KeyedList { key, .. } = &link.converter.with else { return None };
            let tree = &trees[side.version];
            let node = side.nodes.iter().find(|node| tree.node(**node).id == Some(list))?;
            tree.node(tree.child(tree.element(*node)?, key)?).id
        });
        keys.collect()
    }
}

struct Derivation {
    step: usize,
    direction: Direction,
    source: usize,
    target: usize,
    node: usize,
    expression: Expression,
}

impl Link {
    fn sides(&self, direction: Direction) -> (&Side, &Side) {
        match direction {
            Direction::Up => (&self.from, &self.to),
            Direction::Down => (&self.to, &self.from),
        }
    }
}

impl Computed {
    pub(crate) fn of(generated: &Generated, history: &History, trees: &[Tree]) -> Self {
        let (mut links, mut derivations) = (Vec::new(), Vec::new());
        for (step, changes) in generated.changes.iter().enumerate() {
            let Some(before) = history.versions[step].from.map(VersionIndex::position) else { continue };
            let nodes = |version: usize, paths: &[Selector]| {
                let nodes = paths.iter().map(|path| trees[version].find_field(path).expect("declared paths are there"));
                Side { version, nodes: nodes.collect() }
            };
            for change in changes {
                match change {
                    Change::Respelled { from, to, levels, with, expressions, bounds } => {
                        let (with, bounds) = match with {
                            Conversion::Clamped(clamped) => (clamped.with.as_deref().unwrap_or(with), *bounds),
                            with => (with, [None, None]),
                        };
                        let (with, expressions, levels) = (with.clone(), expressions.clone(), *levels);
                        let converter = Converter { with, expressions, levels, bounds };
                        let id = links.len();
                        links.push(Link { id, step, from: nodes(before, from), to: nodes(step, to), converter });
                    }
                    // It is the same field in another place.
                    Change::Keyed { .. } => {}
                    Change::Derived { direction, at, expression } => {
                        let (source, target) =
                            if *direction == Direction::Up { (before, step) } else { (step, before) };
                        let node = nodes(target, std::slice::from_ref(at)).nodes[0];
                        let (direction, expression) = (*direction, expression.clone());
                        derivations.push(Derivation { step, direction, source, target, node, expression });
                    }
                }
            }
        }
        Self { links, derivations }
    }

    /// Which fields are computed.
    pub(crate) fn facts(&self, trees: &[Tree]) -> Facts {
        let mut facts = Facts::default();
        let id = |version: usize, node: usize| trees[version].node(node).id.expect("fields have ids");
        for Link { from, to, .. } in &self.links {
            let sides = [from, to].into_iter().flat_map(|side| side.nodes.iter().map(|node| id(side.version, *node)));
            facts.join(sides.collect());
        }
        facts.derived = self.derivations.iter().map(|derivation| id(derivation.target, derivation.node)).collect();
        facts
    }
}

/// A spelling that was spelled anew in a write.
struct Anew {
    /// What it was; with something else in the place of what is the same as before although the fact has changed.
    was: Option<Json>,
    /// There is nothing, and nothing can be told from that: nothing could be made of the fact, or nothing was there before.
    is_lost: bool,
}

/// What a version says of every field in a scope that it can say.
type Wanted = BTreeMap<FieldId, Option<Content>>;

/// One scope of a version, in which things are computed.
#[derive(Clone, Copy)]
pub(crate) struct Here<'m> {
    view: View<'m>,
    node: usize,
}

impl<'m> View<'m> {
    /// The scope that a node is the own object of.
    pub(crate) fn here(self, node: usize) -> Here<'m> {
        Here { view: View { origins: None, ..self }, node }
    }
}

impl<'m> Here<'m> {
    fn model(self) -> &'m Model<'m> {
        self.view.model
    }

    /// Whether a field of a version is in this scope.
    fn has(self, version: usize, field: usize) -> bool {
        let tree = &self.model().trees[version];
        tree.counterpart(self.view.tree, self.node) == Some(tree.scope_of(field))
    }

    fn links(self, step: usize) -> impl Iterator<Item = &'m Link> {
        let links = self.model().computed.links.iter();
        links.filter(move |link| link.step == step && self.has(link.from.version, link.from.nodes[0]))
    }

    fn derivations(self, step: usize, direction: Direction) -> impl Iterator<Item = &'m Derivation> {
        let derivations = self.model().computed.derivations.iter();
        derivations.filter(move |it| (it.step, it.direction) == (step, direction) && self.has(it.target, it.node))
    }

    /// The scope with all that is derived, and the fields that are.
    pub(crate) fn derived(self, scope: &Scope) -> (Scope, BTreeMap<FieldId, Content>) {
        let mut all = BTreeMap::new();
        for direction in [Direction::Down, Direction::Up] {
            let mut with = scope.clone();
            let placed = self.phase(direction, &mut with);
            all.extend(placed.into_iter().filter_map(|id| Some((id, with.fields.get(&id)?.clone()))));
        }
        let mut derived = scope.clone();
        derived.fields.extend(all.clone());
        (derived, all)
    }

    /// Derives on one way; which fields have a value by that.
    fn phase(self, direction: Direction, scope: &mut Scope) -> BTreeSet<FieldId> {
        let versions = self.model().trees.len();
        let mut placed = BTreeSet::new();
        for position in 0..versions {
            let step = if direction == Direction::Up { position } else { versions - 1 - position };
            for link in self.links(step) {
                let (source, target) = link.sides(direction);
                let is_placed = |node: &usize| placed.contains(&self.view_of(source).id(*node));
                let mut below = target.nodes.iter().flat_map(|node| self.view_of(target).tree.ids_below(*node));
                if source.nodes.iter().any(is_placed)
                    && !below.any(|id| scope.fields.contains_key(&id) || scope.gone.contains(&id))
                {
                    let (results, _) = self.convert(link, direction, scope, None);
                    let results = results.unwrap_or_default();
                    for (node, result) in target.nodes.iter().zip(results).filter(|(_, result)| result.is_some()) {
                        self.view_of(target).write(*node, result.as_ref(), None, true, scope);
                        let below = self.view_of(target).tree.ids_below(*node);
                        placed.extend(below.into_iter().filter(|id| scope.fields.contains_key(id)));
                    }
                }
            }
            for derivation in self.derivations(step, direction) {
                let target = self.model().at(derivation.target);
                let id = target.id(derivation.node);
                if !scope.fields.contains_key(&id)
                    && !scope.gone.contains(&id)
                    && let Some(value) = self.value_of(derivation, scope)
                {
                    target.write(derivation.node, Some(&value), None, true, scope);
                    placed.insert(id);
                }
            }
        }
        placed
    }

    /// What a field is derived as from what is in the scope.
    fn value_of(self, derivation: &Derivation, scope: &Scope) -> Option<Json> {
        let target = self.model().at(derivation.target);
        if let Expression::Constant(_) = derivation.expression
            && let Some(parent) = target.tree.node(derivation.node).parent
            && parent != target.tree.scope_of(derivation.node)
            && !target.field(parent, scope).is_some_and(|object| object.is_object())
        {
            return None;
        }
        let source = self.model().at(derivation.source);
        let own = source.tree.counterpart(self.view.tree, self.node)?;
        let own = Json::Object(source.object(own, scope));
        derivation.expression.value(&own).ok()?.filter(|value| fits(target.tree, derivation.node, value))
    }

    /// What follows from a write: `before` is what was there, `shown` that with what was derived, `scope` what is there
    /// once the version was written over what was shown.
    pub(crate) fn settle(self, before: Option<&Scope>, placed: &BTreeMap<FieldId, Content>, scope: &mut Scope) {
        // Below what is no object nothing is shown, and nothing is said.
        let is_open = |id: &FieldId, scope: &Scope| {
            let tree = self.view.tree;
            let above = std::iter::successors(tree.node_of(*id), |node| tree.node(*node).parent).skip(1);
            let mut above = above.take_while(|node| *node != self.node);
            above.all(|node| self.view.field(node, scope).is_none_or(|object| object.is_object()))
        };
        let own = self.view.tree.scope_ids(self.node).into_iter().filter(|id| is_open(id, scope)).collect::<Vec<_>>();
        let seen = before.map(|before| {
            let mut seen = before.clone();
            for id in own.iter().filter(|id| is_open(id, before) && !before.fields.contains_key(id)) {
                match placed.get(id) {
                    Some(shown) => drop(seen.fields.insert(*id, shown.clone())),
                    None => drop(seen.gone.insert(*id)),
                }
            }
            seen
        });
        let past = before.zip(seen.as_ref());
        let wanted: Wanted = own.into_iter().map(|id| (id, scope.fields.get(&id).cloned())).collect();
        let is_new = |id: &FieldId| wanted.contains_key(id) && before.is_some_and(|before| !is_open(id, before));
        scope.fields.retain(|id, content| is_new(id) || placed.get(id) != Some(content));
        scope.gone.retain(|id| !scope.fields.contains_key(id));
        let mut start = scope.clone();
        self.propagate(past, &wanted, scope);
        loop {
            let (now, _) = self.derived(scope);
            let differing: Vec<_> =
                wanted.iter().filter(|(id, wanted)| now.fields.get(id) != wanted.as_ref()).collect();
            if differing.is_empty() {
                return;
            }
            for (id, wanted) in differing {
                match wanted {
                    Some(wanted) => drop(start.fields.insert(*id, wanted.clone())),
                    None => {
                        start.fields.remove(id);
                        start.gone.insert(*id);
                    }
                }
            }
            // From the beginning: what follows is said of what was there before.
            scope.clone_from(&start);
            self.propagate(past, &wanted, scope);
        }
    }

    /// `past` is what was there before, and that as the version saw it.
    fn propagate(self, past: Option<(&Scope, &Scope)>, wanted: &Wanted, scope: &mut Scope) {
        let before = past.map(|(before, _)| before);
        let mut known: BTreeSet<FieldId> = self.view.tree.scope_ids(self.node).into_iter().collect();
        let (mut anew, mut back) = (BTreeMap::new(), BTreeSet::new());
        for (step, direction) in self.model().ways_from(self.view.version) {
            for link in self.links(step) {
                let ids = |side: &Side| -> BTreeSet<FieldId> {
                    side.nodes.iter().flat_map(|node| self.view_of(side).tree.ids_below(*node)).collect()
                };
                let (source, target) = link.sides(direction);
                let (sources, targets) = (ids(source), ids(target));
                match (sources.is_subset(&known), targets.is_subset(&known)) {
                    (true, true) => {}
                    (sources, targets) => {
                        let is_up = (direction == Direction::Up) != (!sources && targets);
                        self.respell(link, is_up, &known, before, (&mut anew, &mut back), scope);
                    }
                }
                known.extend(sources.into_iter().chain(targets));
            }
            for derivation in self.derivations(step, direction) {
                self.follow(derivation, past, wanted, scope);
            }
        }
    }

    /// Spells a fact anew on the other side, as far as nothing is known of that.
    fn respell(
        self,
        link: &Link,
        is_up: bool,
        known: &BTreeSet<FieldId>,
        before: Option<&Scope>,
        (anew, back): (&mut BTreeMap<FieldId, Anew>, &mut BTreeSet<FieldId>),
        scope: &mut Scope,
    ) {
        let direction = if is_up { Direction::Up } else { Direction::Down };
        let (source, target) = link.sides(direction);
        let now = self.read(source, scope);
        let view = self.view_of(target);
        // What is known of a side that is known in part is what it is now.
        let mut old = before.map(|before| {
            let mut was = before.clone();
            for id in target.nodes.iter().flat_map(|node| view.tree.ids_below(*node)).filter(|id| known.contains(id)) {
                was.fields.remove(&id);
                was.fields.extend(scope.fields.get(&id).map(|content| (id, content.clone())));
            }
            (self.read(source, before), self.read(target, &was))
        });
        let nothing = vec![None; now.len()];
        let ids: Vec<FieldId> = source.nodes.iter().map(|node| self.view_of(source).id(*node)).collect();
        let mut parts = source.nodes.iter().flat_map(|node| self.view_of(source).tree.ids_below(*node));
        let is_anew = ids.iter().any(|id| anew.contains_key(id)) || parts.any(|id| back.contains(&id));
        if now == *old.as_ref().map_or(&nothing, |(sources, _)| sources) && !is_anew {
            return;
        }
        if let Some((sources, _)) = &mut old {
            for (source, anew) in sources.iter_mut().zip(&ids).filter_map(|(source, id)| Some((source, anew.get(id)?)))
            {
                *source = anew.was.clone().or(source.take());
            }
        }
        let old = old.as_ref().map(|(sources, results)| (&sources[..], &results[..]));
        // What went with its object is not there to leave anything.
        let is_absent = |values: &[Option<Json>]| values.iter().all(Option::is_none);
        let is_gone = is_absent(&now) && is_absent(&self.read(target, scope));
        let is_lost = is_absent(&now) && ids.iter().filter_map(|id| anew.get(id)).any(|anew| anew.is_lost);
        let (results, kept) = match is_lost {
            true => (None, None),
            false => self.convert(link, direction, scope, old.filter(|_| !is_gone)),
        };
        // Where it fails, what has parts stays as it was, if somebody has hidden something in them.
        let stays = |(position, node): (usize, &usize)| {
            let Some(before) = before.filter(|_| results.is_none() && view.may_hide(*node)) else { return false };
            let computed = self.convert(link, direction, before, None).0.and_then(|results| results[position].clone());
            let mut alone = Scope::default();
            if computed.is_some() {
                view.write(*node, computed.as_ref(), None, true, &mut alone);
            }
            let unknown = view.tree.ids_below(*node).into_iter().filter(|id| !known.contains(id));
            unknown.into_iter().any(|id| before.fields.get(&id) != alone.fields.get(&id))
        };
        let aligned = old.and_then(|old| link.converter.aligned(old, results.as_ref()?));
        let written: Vec<bool> = target.nodes.iter().enumerate().map(|field| !stays(field)).collect();
        // What a hook keeps of a fact goes with it.
        match kept.filter(|_| !is_absent(&now)) {
            Some(kept) => drop(scope.kept.insert(link.id, kept)),
            None if is_lost && written.contains(&false) => {}
            None => drop(scope.kept.remove(&link.id)),
        }
        let has_failed = results.is_none();
        let results = results.unwrap_or_else(|| vec![None; target.nodes.len()]);
        if let Some((old_sources, old)) = old {
            for (position, node) in target.nodes.iter().enumerate().filter(|(position, _)| written[*position]) {
                let (id, new, old) = (view.id(*node), &results[position], &old[position]);
                let was = old.as_ref().zip(new.as_ref());
                let was = was.map(|(old, new)| link.converter.told_apart((old_sources, old), (&now, new)));
                let is_lost = new.is_none() && (has_failed || old.is_none());
                // What has parts, all of which are what they were, is what it was.
                if !known.contains(&id) && (was.is_none() || was != *new) {
                    anew.insert(id, Anew { was, is_lost });
                }
            }
        }
        let results = target.nodes.iter().zip(results).zip(written).filter(|(_, is_written)| *is_written);
        for ((node, result), _) in results {
            // Of an object that is known in part, nothing goes but what is not known of it.
            let earlier = scope.clone();
            let (known, unknown): (Vec<FieldId>, Vec<FieldId>) =
                view.tree.ids_below(*node).into_iter().partition(|id| known.contains(id));
            let shown = view.field(*node, scope);
            // Null that the version cannot say is no less out of date.
            if shown.is_none() && scope.fields.get(&view.id(*node)) == Some(&Content::Raw(Json::Null)) {
                scope.fields.remove(&view.id(*node));
            }
            // So is somebody's word that there is nothing.
            if view.tree.node(*node).shape != Shape::Object {
                scope.gone.remove(&view.id(*node));
            }
            match (&aligned, &result) {
                (Some(aligned), Some(Json::Array(items))) if shown != result => {
                    view.write_items(*node, items, aligned, scope);
                }
                _ => view.write(*node, result.as_ref(), shown.as_ref(), shown.is_none(), scope),
            }
            // Objects that were there only for what is in them are there now.
            if let Some(result) = &result {
                view.say_present(*node, result, scope);
            }
            if !known.is_empty() {
                let computed = std::mem::replace(scope, earlier.clone());
                for id in &unknown {
                    scope.fields.remove(id);
                    scope.fields.extend(computed.fields.get(id).map(|content| (*id, content.clone())));
                }
            }
            // What went with what a client took away is back with a fact that it is a part of.
            let is_back = |id: &FieldId| !earlier.fields.contains_key(id) && scope.fields.contains_key(id);
            if before.is_some() {
                back.extend(unknown.into_iter().filter(is_back));
            }
        }
        scope.gone.retain(|id| !scope.fields.contains_key(id));
    }

    fn follow(self, derivation: &Derivation, past: Option<(&Scope, &Scope)>, wanted: &Wanted, scope: &mut Scope) {
        let target = self.model().at(derivation.target);
        let id = target.id(derivation.node);
        let Some((before, seen)) = past.filter(|(before, _)| before.fields.contains_key(&id)) else { return };
        if self.view.tree.node_of(id).is_some() || before.fields.get(&id) != scope.fields.get(&id) {
            return;
        }
        let mut written = scope.clone();
        for (id, wanted) in wanted {
            match wanted {
                Some(content) => drop(written.fields.insert(*id, content.clone())),
                None => {
                    written.fields.remove(id);
                    written.gone.insert(*id);
                }
            }
        }
        let gave = |scope: &Scope| self.value_of(derivation, &self.derived(scope).0);
        let (old, new, shown) = (gave(seen), gave(&written), target.field(derivation.node, scope));
        if new.is_some() && old == shown && old != new {
            target.write(derivation.node, new.as_ref(), shown.as_ref(), shown.is_none(), scope);
        }
    }

    /// The values of the other side, unless it fails, and what a hook keeps then.
    fn convert(
        self,
        link: &Link,
        direction: Direction,
        scope: &Scope,
        before: Before<'_>,
    ) -> (Option<Vec<Option<Json>>>, Option<Json>) {
        let (source, target) = link.sides(direction);
        let sources = self.read(source, scope);
        let fields = |side: &Side| (self.view_of(side).tree, side.nodes.clone());
        let ((source_tree, source_nodes), (target_tree, target_nodes)) = (fields(source), fields(target));
        let source = Fields { tree: source_tree, nodes: &source_nodes };
        let target = Fields { tree: target_tree, nodes: &target_nodes };
        let mut kept = scope.kept.get(&link.id).cloned();
        (link.converter.convert(direction, &sources, before, (source, target), &mut kept), kept)
    }

    /// The fields of a side. Where one of several is there, the others are what the version shows, filled in or not; what is
    /// only filled in is not there.
    fn read(self, side: &Side, scope: &Scope) -> Vec<Option<Json>> {
        let view = self.view_of(side);
        let there: Vec<Option<Json>> = side.nodes.iter().map(|node| view.field(*node, scope)).collect();
        let own = view.tree.counterpart(self.view.tree, self.node);
        let (Some(own), true) = (own, there.len() > 1 && there.iter().any(Option::is_some)) else { return there };
        let own = Json::Object(view.object(own, scope));
        let shown = |node: &usize| {
            let names = view.tree.names_from_scope(*node);
            names.iter().try_fold(&own, |at, name| at.get(name)).cloned()
        };
        side.nodes.iter().map(shown).collect()
    }

    fn view_of(self, side: &Side) -> View<'m> {
        self.model().at(side.version)
    }
}

impl Model<'_> {
    fn at(&self, version: usize) -> View<'_> {
        self.view_at(version, true)
    }

    /// The steps that lead from a version to all others, nearest first, each with the way it is taken.
    fn ways_from(&self, version: usize) -> Vec<(usize, Direction)> {
        let from = |version: usize| self.history.versions[version].from.map(VersionIndex::position);
        let mut seen = BTreeSet::from([version]);
        let mut waiting = VecDeque::from([version]);
        let mut ways = Vec::new();
        while let Some(at) = waiting.pop_front() {
            let down = from(at).map(|next| (next, at, Direction::Down));
            let up =
                (0..self.trees.len()).filter(|next| from(*next) == Some(at)).map(|next| (next, next, Direction::Up));
            for (next, step, direction) in down.into_iter().chain(up) {
                if seen.insert(next) {
                    ways.push((step, direction));
                    waiting.push_back(next);
                }
            }
        }
        ways
    }
}
