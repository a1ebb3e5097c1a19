//! A history to lenses: scopes with their slots, the layout of the hub, and a view for every version.

use std::{
    collections::{HashMap, HashSet},
    iter::successors,
};

use super::{
    computed::{Spellings, compile_computed},
    matching::defaults_of_items,
    plan::{
        Content, Implied, Layout, Level, Scope, SlotPlan, StoredField, StoredObject, UnionPlan, View, ViewField,
        ViewObject,
    },
    state::is_like_bag,
};
use crate::{
    FieldId, History, NodeIndex, OlderWrite, Scalar, Shape, VersionHistory, VersionIndex, link::Computations,
    named::Named,
};

/// What a write through a version does to a field that the version cannot say.
pub(crate) type Policy<'p> = dyn Fn(VersionIndex, FieldId) -> OlderWrite + 'p;

/// Compiles all scopes of a history for a hub.
pub(crate) fn compile(
    history: &History,
    hub: VersionIndex,
    policy: &Policy<'_>,
    computations: &Computations,
) -> Vec<Scope> {
    let places = Places::of(history);
    let mut scopes: Vec<Scope> = (0..places.scopes).map(|_| Scope::default()).collect();
    for id in history.ids() {
        let content = places.content[id.position()].clone();
        scopes[places.of[id.position()].0].slots.push(SlotPlan { id, content });
    }
    let compiler = Compiler { history, places: &places, hub, spellings: &Spellings::of(history, computations) };
    for (index, scope) in scopes.iter_mut().enumerate() {
        let parents = compiler.stored_parents(scope);
        scope.moved = compiler.moved(scope);
        scope.may_be_implied = compiler.may_be_implied(scope, &parents);
        scope.layout = compiler.layout(index, scope, &parents);
        scope.views = history.indexes().map(|version| compiler.view(index, scope, version, policy)).collect();
    }
    compile_computed(history, hub, computations, &mut scopes, &|id| places.of[id.position()]);
    scopes
}

/// Where every field is: its scope and slot, and what its values are made of. The same for every hub.
struct Places {
    /// How many scopes there are.
    scopes: usize,
    /// Scope and slot of a field.
    of: Vec<(usize, usize)>,
    content: Vec<Content>,
    /// The scopes of items and values, by the list or map and through how many levels.
    by_element: HashMap<(FieldId, u32), usize>,
    /// The same by scope; none for the document.
    elements: Vec<Option<(FieldId, u32)>>,
}

impl Places {
    fn of(history: &History) -> Self {
        let mut places =
            Self { scopes: 1, of: Vec::new(), content: Vec::new(), by_element: HashMap::new(), elements: vec![None] };
        // A field that no version has any more would be one of a damaged lock; it is as good as a value at the root.
        let homes: Vec<Option<(&VersionHistory, NodeIndex)>> = history
            .ids()
            .map(|id| history.versions.iter().find_map(|version| Some((version, version.node_of(id)?))))
            .collect();
        for (id, home) in history.ids().zip(&homes) {
            let content = home.map_or(Content::Opaque, |(version, node)| places.content_of(version, id, node, 1));
            places.content.push(if content.is_uniform(history, id, 0) { Content::Opaque } else { content });
        }
        let mut filled = vec![0; places.scopes];
        for home in &homes {
            let element = home.and_then(|(version, node)| version.element_of(node));
            let scope = element.and_then(|element| places.by_element.get(&element)).copied().unwrap_or(0);
            places.of.push((scope, filled[scope]));
            filled[scope] += 1;
        }
        places
    }

    fn content_of(&mut self, version: &VersionHistory, id: FieldId, node: NodeIndex, level: u32) -> Content {
        let structure = &version.structure;
        let element = structure.element(node).map(|element| match structure.node(element).shape {
            Shape::Object => {
                let next = self.scopes;
                let scope = *self.by_element.entry((id, level)).or_insert(next);
                if scope == next {
                    self.scopes += 1;
                    self.elements.push(Some((id, level)));
                }
                Content::Scope(scope)
            }
            _ => self.content_of(version, id, element, level + 1),
        });
        match (structure.node(node).shape, element) {
            (Shape::Object, _) => Content::Fields,
            (Shape::List, Some(element)) => Content::List(Box::new(element)),
            (Shape::Map, Some(element)) => Content::Map(Box::new(element)),
            _ => Content::Opaque,
        }
    }
}

impl Content {
    /// Whether no version shows any part of a value differently, so that nobody has to look into it.
    fn is_uniform(&self, history: &History, id: FieldId, level: usize) -> bool {
        match self {
            Self::List(element) => element.is_uniform(history, id, level + 1),
            // Nulls among the values are shown or not.
            Self::Map(element) => {
                let nullable = history.versions.iter().filter_map(|version| {
                    let element =
                        (0..=level).try_fold(version.node_of(id)?, |node, _| version.structure.element(node))?;
                    Some(version.structure.node(element).nullable)
                });
                element.is_uniform(history, id, level + 1) && nullable.collect::<HashSet<_>>().len() < 2
            }
            Self::Opaque => true,
            Self::Fields | Self::Scope(_) => false,
        }
    }
}

pub(super) struct Compiler<'h> {
    pub(super) history: &'h History,
    places: &'h Places,
    hub: VersionIndex,
    pub(super) spellings: &'h Spellings,
}

impl Compiler<'_> {
    fn slot_of(&self, id: FieldId) -> usize {
        self.places.of[id.position()].1
    }

    /// The slot of the object that a field is in, in some version; `None` for the scope's own.
    fn parent_slot(&self, version: &VersionHistory, id: FieldId) -> Option<usize> {
        let parent = version.structure.node(version.node_of(id)?).parent?;
        Some(self.slot_of(version.id(parent)?))
    }

    /// The slot of the object that each field is stored in: where the hub has it, else where its first version had it.
    fn stored_parents(&self, plan: &Scope) -> Vec<Option<usize>> {
        let hub = self.history.version(self.hub);
        let parent = |slot: &SlotPlan| {
            let first = self.history.version(self.history.field(slot.id).first);
            self.parent_slot(if hub.node_of(slot.id).is_some() { hub } else { first }, slot.id)
        };
        plan.slots.iter().map(parent).collect()
    }

    /// Which fields are in one object in one version and in another in another, or are facts of which a part is.
    fn moved(&self, plan: &Scope) -> Vec<bool> {
        // Another spelling of a fact is the fact in another place.
        let is_moved = |slot: &SlotPlan| {
            let spellings = self.spellings.of_one_fact(slot.id);
            let parents = spellings.iter().flat_map(|id| {
                let versions = self.history.versions.iter().filter(|version| version.node_of(*id).is_some());
                versions.map(|version| self.parent_slot(version, *id))
            });
            let parents: HashSet<Option<usize>> = parents.collect();
            let object = parents.iter().next().copied().flatten().map(|parent| plan.slots[parent].id);
            let is_scattered = || object.is_some_and(|object| self.is_scattered(spellings, object));
            parents.len() > 1 || spellings.len() > 1 && is_scattered()
        };
        plan.slots.iter().map(is_moved).collect()
    }

    /// Whether some version has a part of a fact outside of the object that the spellings of the fact are in, or a part is, in
    /// one spelling or another, in different objects, so that it stays when an object goes.
    fn is_scattered(&self, spellings: &[FieldId], object: FieldId) -> bool {
        let mut parts = spellings.to_vec();
        let mut seen = HashSet::new();
        while let Some(part) = parts.pop() {
            if seen.contains(&part) {
                continue;
            }
            let mut parents = HashSet::new();
            for spelling in self.spellings.of_one_fact(part) {
                seen.insert(*spelling);
                for version in &self.history.versions {
                    let Some(node) = version.node_of(*spelling) else { continue };
                    let mut above = successors(Some(node), |node| version.structure.node(*node).parent);
                    if !above.any(|node| version.id(node) == Some(object)) {
                        return true;
                    }
                    let parent = version.structure.node(node).parent;
                    parents.insert(parent.and_then(|parent| version.id(parent)));
                    if parents.len() > 1 {
                        return true;
                    }
                    parts.extend(version.structure.below(node).into_iter().filter_map(|node| version.id(node)));
                }
            }
        }
        false
    }

    /// Which objects may hold something although nobody has written them: those that hold, in some version or as they are
    /// stored, a field that another version has elsewhere; and those that are elsewhere in another version, with all that is in
    /// them, since whoever writes an object around them that was in the way of them has not seen what they leave out.
    fn may_be_implied(&self, plan: &Scope, stored_parents: &[Option<usize>]) -> Vec<bool> {
        let mut implied = vec![false; plan.slots.len()];
        let computed = |id: FieldId| self.spellings.may_imply.contains(&id);
        for (slot, _) in plan.slots.iter().enumerate().filter(|(_, field)| field.content == Content::Fields) {
            implied[slot] = successors(Some(slot), |slot| stored_parents[*slot]).any(|slot| plan.moved[slot]);
        }
        let fields = plan.slots.iter().enumerate();
        for (slot, field) in fields.filter(|(slot, field)| plan.moved[*slot] || computed(field.id)) {
            // What is computed may not be stored, while something in it is.
            implied[slot] |= computed(field.id) && field.content == Content::Fields;
            let mut above = stored_parents[slot];
            while let Some(parent) = above {
                implied[parent] = true;
                above = stored_parents[parent];
            }
            for version in &self.history.versions {
                let mut above = self.parent_slot(version, field.id);
                while let Some(parent) = above {
                    implied[parent] = true;
                    above = self.parent_slot(version, plan.slots[parent].id);
                }
            }
        }
        implied
    }

    fn layout(&self, scope: usize, plan: &Scope, parents: &[Option<usize>]) -> Layout {
        let hub = self.history.version(self.hub);
        let texts = plan.slots.iter().map(|slot| self.history.field(slot.id).text.clone()).collect();
        let is_shown = plan.slots.iter().map(|slot| hub.node_of(slot.id).is_some()).collect();
        let mut layout = Layout {
            object_of: vec![None; plan.slots.len()],
            home: vec![0; plan.slots.len()],
            texts,
            is_shown,
            ..Layout::default()
        };
        let own = self.own_node(hub, scope);
        let keeps_unknown = own.is_some_and(|node| hub.structure.node(node).keeps_unknown);
        layout.objects.push(StoredObject { keeps_unknown, is_hidden: own.is_none(), ..StoredObject::default() });
        for (slot, field) in plan.slots.iter().enumerate().filter(|(_, field)| field.content == Content::Fields) {
            let keeps_unknown = hub.node_of(field.id).is_some_and(|node| hub.structure.node(node).keeps_unknown);
            layout.object_of[slot] = Some(layout.objects.len());
            let is_hidden = hub.node_of(field.id).is_none();
            layout.objects.push(StoredObject { keeps_unknown, is_hidden, ..StoredObject::default() });
        }
        for slot in self.hub_order(scope, plan) {
            let id = plan.slots[slot].id;
            let object = layout.object_of[slot];
            let stored = StoredField { slot, object };
            layout.by_id.insert(layout.texts[slot].clone(), stored.clone());
            let parent = parents[slot].and_then(|parent| layout.object_of[parent]).unwrap_or(0);
            layout.home[slot] = parent;
            let parent = &mut layout.objects[parent];
            match hub.node_of(id).and_then(|node| hub.structure.node(node).name()) {
                Some(name) => parent.fields.push(stored_name(name), stored),
                None if parent.is_hidden => parent.fields.push(layout.texts[slot].clone(), stored),
                None => parent.hidden.push(stored),
            }
        }
        let own = (0, self.adopted(plan, |version| self.own_node(version, scope)));
        let below = plan.slots.iter().enumerate().filter_map(|(slot, field)| {
            Some((layout.object_of[slot]?, self.adopted(plan, |version| version.node_of(field.id))))
        });
        for (object, adopted) in [own].into_iter().chain(below.collect::<Vec<_>>()) {
            let stored = |slot: usize| StoredField { slot, object: layout.object_of[slot] };
            let fields: Vec<_> = adopted.into_iter().map(|(name, slot)| (name, stored(slot))).collect();
            for (name, field) in fields {
                layout.objects[object].adopted.push(name, field);
            }
        }
        for (slot, object) in layout.object_of.iter().enumerate() {
            if let Some(object) = object {
                layout.objects[*object].may_be_implied = plan.may_be_implied[slot];
            }
        }
        layout
    }

    /// The fields of an object that mean the same in every version that keeps undeclared fields there.
    fn adopted(&self, plan: &Scope, node_in: impl Fn(&VersionHistory) -> Option<NodeIndex>) -> Vec<(Box<str>, usize)> {
        let versions = self.history.versions.iter().filter_map(|version| Some((version, node_in(version)?)));
        let keeping: Vec<_> = versions.filter(|(version, node)| version.structure.node(*node).keeps_unknown).collect();
        let Some((first, node)) = keeping.first() else { return Vec::new() };
        let fields = first.structure.node(*node).children.iter().filter_map(|child| {
            let (name, id) = (first.structure.node(*child).name()?, first.id(*child)?);
            let same = |(version, node): &(&VersionHistory, NodeIndex)| {
                version.structure.child(*node, name).and_then(|child| version.id(child)) == Some(id)
            };
            keeping.iter().all(same).then(|| (name.into(), self.slot_of(id)))
        });
        fields.filter(|(_, slot)| *slot < plan.slots.len()).collect()
    }

    /// The slots of a scope in the order in which the hub declares its fields; those that it has not come last.
    fn hub_order(&self, scope: usize, plan: &Scope) -> Vec<usize> {
        let hub = self.history.version(self.hub);
        let shown = hub.structure.fields().filter_map(|node| hub.id(node));
        let shown = shown.filter(|id| self.places.of[id.position()].0 == scope).map(|id| self.slot_of(id));
        let hidden = (0..plan.slots.len()).filter(|slot| hub.node_of(plan.slots[*slot].id).is_none());
        shown.chain(hidden).collect()
    }

    /// The node of a version that is the scope's own object, if the version has it.
    fn own_node(&self, version: &VersionHistory, scope: usize) -> Option<NodeIndex> {
        if scope == 0 {
            return Some(version.structure.root());
        }
        let (container, levels) = self.element(scope)?;
        (0..levels).try_fold(version.node_of(container)?, |node, _| version.structure.element(node))
    }

    fn element(&self, scope: usize) -> Option<(FieldId, u32)> {
        self.places.elements.get(scope).copied().flatten()
    }

    fn view(&self, scope: usize, plan: &Scope, version: VersionIndex, policy: &Policy<'_>) -> Option<View> {
        let own = self.own_node(self.history.version(version), scope)?;
        let says = vec![false; plan.slots.len()];
        let mut view = View { objects: Vec::new(), says, resets: Vec::new(), alike: None };
        let mut nodes = Vec::new();
        self.view_object(&mut view, plan, version, own, &mut nodes);
        // What a version cannot say is known only once all of it was seen.
        for (object, node) in nodes {
            let fields = &view.objects[object].fields;
            view.objects[object].union = self.union(fields, plan, self.history.version(version), node, &view.says);
        }
        view.resets = self.resets(scope, plan, version, policy);
        Some(view)
    }

    /// Adds an object to a view, and to `nodes` what it and those below it are; its position.
    fn view_object(
        &self,
        view: &mut View,
        plan: &Scope,
        version: VersionIndex,
        node: NodeIndex,
        nodes: &mut Vec<(usize, NodeIndex)>,
    ) -> usize {
        let history = self.history.version(version);
        let structure = &history.structure;
        let position = view.objects.len();
        view.objects.push(ViewObject::default());
        let mut fields = Named::default();
        for child in &structure.node(node).children {
            let (Some(id), Some(name)) = (history.id(*child), structure.node(*child).name()) else { continue };
            let slot = self.slot_of(id);
            view.says[slot] = true;
            let is_object = plan.slots[slot].content == Content::Fields;
            let object = is_object.then(|| self.view_object(view, plan, version, *child, nodes));
            let refuses_empty = object.is_some() && history.refuses_empty(*child);
            let implied = object.filter(|_| plan.may_be_implied[slot] || refuses_empty);
            let field = ViewField {
                slot,
                object,
                nullable: structure.node(*child).nullable,
                implied_by: implied.map(|object| implied_by(&view.objects[object])).unwrap_or_default(),
                may_be_implied: plan.may_be_implied[slot],
                refuses_empty,
                levels: self.levels(version, id, *child),
                may_be_anything: self.may_be_anything(history, id, *child),
                frozen: None,
                fills_inside: false,
                is_alike: false,
            };
            fields.push(name.into(), field);
        }
        let keeps_unknown = structure.node(node).keeps_unknown;
        view.objects[position] = ViewObject { fields, keeps_unknown, union: None };
        nodes.push((position, node));
        position
    }

    /// Whether a version declares a field, of a type that pruning knows, which another keeps without declaring it.
    fn may_be_anything(&self, version: &VersionHistory, id: FieldId, field: NodeIndex) -> bool {
        let keeps =
            |version: &VersionHistory| version.node_of(id).is_some_and(|node| version.structure.node(node).is_adopted);
        let innermost = successors(Some(field), |node| version.structure.element(*node)).last();
        let is_typed = innermost.is_some_and(|node| version.structure.node(node).shape != Shape::Scalar(Scalar::Any));
        is_typed && !keeps(version) && self.history.versions.iter().any(keeps)
    }

    /// What a version says of a list or map, level by level.
    fn levels(&self, version: VersionIndex, id: FieldId, container: NodeIndex) -> Vec<Level> {
        let history = self.history.version(version);
        let mut levels = Vec::new();
        let mut at = container;
        while let Some(element) = history.structure.element(at) {
            let keys = self.keys(version, id, levels.len(), at);
            let is_nullable = |version: &VersionHistory| {
                let counterpart = version.counterpart(history, element);
                counterpart.is_some_and(|element| version.structure.node(element).nullable)
            };
            let nullable = is_nullable(history) || !self.history.versions.iter().any(is_nullable);
            let is_map = history.structure.node(at).shape == Shape::Map;
            let is_alike = !is_map && keys.is_empty();
            let defaults = if is_alike { defaults_of_items(self.history, version, element) } else { Box::default() };
            levels.push(Level { is_map, nullable, keys, defaults });
            at = element;
        }
        levels
    }

    /// The keys of a list that a version can say: its own, else those of the newest version that has any which it can say.
    fn keys(&self, version: VersionIndex, id: FieldId, level: usize, list: NodeIndex) -> Vec<Box<str>> {
        let history = self.history.version(version);
        let own = &history.structure.node(list).keys;
        if !own.is_empty() {
            return own.clone();
        }
        let keys_of = |other: VersionIndex| {
            let other = self.history.version(other);
            let node = (0..level).try_fold(other.node_of(id)?, |node, _| other.structure.element(node))?;
            let item = other.structure.element(node)?;
            let ids = other.structure.node(node).keys.iter().filter_map(|key| {
                let key = other.structure.child(item, key)?;
                history.node_of(other.id(key)?)
            });
            let element = history.structure.element(list)?;
            let is_direct = |key: &NodeIndex| history.structure.node(*key).parent == Some(element);
            let names = ids.filter(is_direct).filter_map(|key| history.structure.node(key).name().map(Into::into));
            Some(names.collect::<Vec<Box<str>>>()).filter(|names| !names.is_empty())
        };
        let declared = || {
            self.spellings.key_of(id).filter(|_| level == 0).and_then(|key| {
                let key = history.structure.node(history.node_of(key)?);
                (key.parent == history.structure.element(list)).then(|| vec![key.name().unwrap_or_default().into()])
            })
        };
        self.history.indexes().rev().find_map(keys_of).or_else(declared).unwrap_or_default()
    }

    /// The union that an object is in any version, as this one sees it.
    fn union(
        &self,
        fields: &Named<ViewField>,
        plan: &Scope,
        history: &VersionHistory,
        node: NodeIndex,
        says: &[bool],
    ) -> Option<UnionPlan> {
        let mut members = HashSet::new();
        let mut discriminators = HashSet::new();
        for other in &self.history.versions {
            let Some(counterpart) = other.counterpart(history, node) else { continue };
            let Some(union) = &other.structure.node(counterpart).union else { continue };
            let id_of = |name: &str| other.structure.child(counterpart, name).and_then(|child| other.id(child));
            members.extend(union.members.iter().filter_map(|name| id_of(name)));
            discriminators.extend(union.discriminator.iter().filter_map(|name| id_of(name)));
        }
        let position = |id: FieldId| fields.list.iter().position(|(_, field)| plan.slots[field.slot].id == id);
        // A member that the version can say in another spelling is not hidden from it.
        let is_said = |id: &FieldId| self.spellings.of_one_fact(*id).iter().any(|id| says[self.slot_of(*id)]);
        let hidden = members.iter().filter(|id| !is_said(id)).flat_map(|id| self.spellings.of_one_fact(*id));
        let mut hidden: Vec<usize> = hidden.map(|id| self.slot_of(*id)).collect();
        hidden.sort_unstable();
        hidden.dedup();
        let mut told: Vec<usize> = discriminators.iter().filter_map(|id| position(*id)).collect();
        told.sort_unstable();
        (!hidden.is_empty()).then(|| UnionPlan {
            members: members.iter().filter_map(|id| position(*id)).collect(),
            discriminators: told,
            hidden,
        })
    }
}

/// A name of the hub as it is stored: what could be taken for a bag is escaped.
fn stored_name(name: &str) -> Box<str> {
    if is_like_bag(name) { format!("${name}").into() } else { name.into() }
}

/// What an object is shown for.
fn implied_by(object: &ViewObject) -> Vec<Implied> {
    let mut below = Vec::new();
    for (_, field) in &object.fields.list {
        below.push(Implied { slot: field.slot, nullable: field.nullable, refuses_empty: field.refuses_empty });
        below.extend_from_slice(&field.implied_by);
    }
    below
}
