//! The history of a kind: its versions in order, with a field id for every field that any of them ever had.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use wheelwright_document::{Owned, Span};
use wheelwright_findings::rules;
use wheelwright_schema::{Problem, Schema, model::Additional};

use crate::{
    Declaration, DeclaredUnion, Derived, KindName, Located, Maturity, NodeIndex, Respelled, Selector, Shape, Step,
    Structure, VersionName, VersionStep, Writers,
    change::{find_bounds, settled, unfit_defaults},
    empty_objects::refusing_empty,
    identify::{Identify, identify},
    kind_name::once_each,
    link::with_renames,
    problem::problem_at,
};

/// The versions of a kind and the identity of their fields.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct History {
    /// The versions, oldest first.
    pub versions: Vec<VersionHistory>,
    /// Every field that any version ever had.
    pub fields: Vec<FieldRecord>,
}

/// The position of a version in a [`History`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VersionIndex(pub(crate) u32);

/// The stable identity of a field across versions and names: its position among [`History::fields`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FieldId(pub(crate) u32);

/// A version with the identity of its fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VersionHistory {
    /// Its name.
    pub name: VersionName,
    /// The names of the kind that it was published under, the one of today last.
    pub published_as: Vec<KindName>,
    /// The version that its changes are relative to; none for the first.
    pub from: Option<VersionIndex>,
    /// Its position in the order in which versions were locked.
    pub locked_as: usize,
    /// Its fields.
    pub structure: Structure,
    /// How those who wrote documents of it spelled zero values.
    pub writers: Writers,
    /// The facts that have another spelling than in the version before, as they were declared or locked.
    pub respelled: Vec<Respelled>,
    /// The fields of this version and the one before that are computed from those of the other.
    pub derived: Vec<Derived>,
    /// It is still declared, and not only remembered by the lock.
    pub declared: bool,
    /// The objects in whose place its schema refuses `{}`; none of a version that only the lock remembers.
    refusing_empty: HashSet<NodeIndex>,
    ids: Vec<Option<FieldId>>,
    nodes: HashMap<FieldId, NodeIndex>,
    /// The fields that it is locked with; none if it continues no lock.
    locked: Option<HashSet<FieldId>>,
}

/// What is known about a field for good.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct FieldRecord {
    /// How the id is written: the path of the field in the first version that had it.
    pub text: Box<str>,
    /// The first version that had it, in the order of locking.
    pub first: VersionIndex,
    /// What readers fill in where it is absent, in the spelling of the first version.
    pub frozen: Option<Owned>,
}

/// Two histories are equal if they say the same; how much of it was locked when it was derived is no part of that.
impl PartialEq for VersionHistory {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            name,
            published_as,
            from,
            locked_as,
            structure,
            writers,
            respelled,
            derived,
            declared,
            ids,
            nodes: _,
            locked: _,
            // The lock remembers no constraints.
            refusing_empty: _,
        } = self;
        (name, from, locked_as, structure) == (&other.name, &other.from, &other.locked_as, &other.structure)
            && (writers, declared, ids) == (&other.writers, &other.declared, &other.ids)
            && *published_as == other.published_as
            && (respelled, derived) == (&other.respelled, &other.derived)
    }
}

impl VersionIndex {
    /// As an index into [`History::versions`].
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

impl FieldId {
    /// As an index into [`History::fields`].
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

impl VersionHistory {
    /// A version none of whose fields has an identity yet.
    pub(crate) fn new(name: VersionName, from: Option<VersionIndex>, locked_as: usize, structure: Structure) -> Self {
        let ids = vec![None; structure.indexes().len()];
        Self {
            name,
            published_as: Vec::new(),
            from,
            locked_as,
            structure,
            writers: Writers::Exact,
            respelled: Vec::new(),
            derived: Vec::new(),
            declared: true,
            refusing_empty: HashSet::new(),
            ids,
            nodes: HashMap::new(),
            locked: None,
        }
    }

    /// Whether `{}` is invalid in the place of an object, even after defaulting.
    pub fn refuses_empty(&self, object: NodeIndex) -> bool {
        self.refusing_empty.contains(&object)
    }

    /// The id of a field; items, values and the document itself have none.
    pub fn id(&self, node: NodeIndex) -> Option<FieldId> {
        self.ids.get(node.position()).copied().flatten()
    }

    /// The field with an id, if the version has it.
    pub fn node_of(&self, id: FieldId) -> Option<NodeIndex> {
        self.nodes.get(&id).copied()
    }

    /// The path of the field with an id, if the version has it.
    pub fn path_of(&self, id: FieldId) -> Option<Selector> {
        Some(self.structure.selector(self.node_of(id)?))
    }

    /// The fields that are objects and have a field in them, at any depth.
    pub(crate) fn objects_above(&self, id: FieldId) -> impl Iterator<Item = FieldId> + '_ {
        let parent = |node: &NodeIndex| self.structure.node(*node).parent;
        let first = self.node_of(id).as_ref().and_then(parent);
        let objects =
            std::iter::successors(first, parent).filter(|node| self.structure.node(*node).shape == Shape::Object);
        objects.filter_map(|node| self.id(node))
    }

    pub(crate) fn set_id(&mut self, node: NodeIndex, id: FieldId) {
        self.ids.resize(self.structure.indexes().len(), None);
        self.ids[node.position()] = Some(id);
        self.nodes.insert(id, node);
    }

    /// Whether the version is declared, and locked already.
    pub(crate) fn continues_lock(&self) -> bool {
        self.locked.is_some()
    }

    /// Whether the version is declared, and locked already with a field.
    pub fn is_locked_with(&self, id: FieldId) -> bool {
        self.locked.as_ref().is_some_and(|locked| locked.contains(&id))
    }

    /// Remembers what the version is locked with.
    pub(crate) fn lock_ids_of(&mut self, before: &VersionHistory) {
        self.locked = Some(before.nodes.keys().copied().collect());
    }

    /// The nearest list or map that a node is inside of, and through how many levels of items or values: what
    /// distinguishes the items of a list of lists from the lists. `None` for what is in no list or map.
    pub(crate) fn element_of(&self, node: NodeIndex) -> Option<(FieldId, u32)> {
        let mut at = node;
        while self.structure.is_field(at) {
            at = self.structure.node(at).parent?;
        }
        self.element_level(at)
    }

    /// The list or map that a node is the items or values of, and through how many levels.
    pub(crate) fn element_level(&self, element: NodeIndex) -> Option<(FieldId, u32)> {
        let mut at = element;
        let mut levels = 0;
        while !self.structure.is_field(at) {
            at = self.structure.node(at).parent?;
            levels += 1;
        }
        Some((self.id(at)?, levels))
    }

    /// The node that corresponds to one of another version: the document itself, the field of the same id, or the items
    /// or values at the same level of it.
    pub(crate) fn counterpart(&self, other: &VersionHistory, node: NodeIndex) -> Option<NodeIndex> {
        if node == other.structure.root() {
            return Some(self.structure.root());
        }
        if let Some(id) = other.id(node) {
            return self.node_of(id);
        }
        let (container, levels) = other.element_level(node)?;
        (0..levels).try_fold(self.node_of(container)?, |node, _| self.structure.element(node))
    }
}

impl History {
    /// The history of a declared kind, continuing what a lock remembers of it.
    pub fn derive(declaration: &Declaration, locked: Option<&History>) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let order = order_of(declaration, locked, &mut problems);
        let index_of = |name: &VersionName| {
            order.iter().position(|candidate| candidate == name).map(|position| VersionIndex(position as u32))
        };
        let mut slots: Vec<Option<VersionHistory>> = vec![None; order.len()];
        let mut fields = Vec::new();
        if let Some(locked) = locked {
            fields = locked.fields.iter().map(|field| field.reindexed(locked, &index_of)).collect();
            for version in &locked.versions {
                let Some(index) = index_of(&version.name) else { continue };
                slots[index.position()] = Some(VersionHistory {
                    from: version.from.and_then(|from| index_of(&locked.versions[from.position()].name)),
                    declared: declaration.version(version.name.as_str()).is_some(),
                    ..version.clone()
                });
            }
        }
        let mut locked_as = locked.map_or(0, |locked| locked.versions.len());
        for (position, name) in order.iter().enumerate() {
            let Some(declared) = declaration.version(name.as_str()) else { continue };
            let silent = VersionStep::new(Located { item: name.clone(), span: declared.span });
            let step = declaration.steps.iter().find(|step| step.version.item == *name).unwrap_or(&silent);
            let before = slots[position].take();
            let from = match &before {
                Some(before) => before.from,
                None => from_of(step, position, &index_of, &mut problems),
            };
            let rank = before.as_ref().map_or(locked_as, |before| before.locked_as);
            locked_as += usize::from(before.is_none());
            let before_structure = from.and_then(|from| slots[from.position()].as_ref()).map(|from| &from.structure);
            let plain_renames = step.renamed.len();
            let mut step = with_renames(step, before_structure);
            let schema_of = |from: VersionIndex| Some(&declaration.version(order[from.position()].as_str())?.schema);
            find_bounds(&mut step, before.as_ref(), [from.and_then(schema_of), Some(&declared.schema)]);
            (step.respelled, step.derived) = settled(before.as_ref(), &step, &mut problems);
            let step = &step;
            let schema = overlaid_schema(&declared.schema, step);
            problems.extend(unfit_defaults(step, &schema, declared.root));
            let mut structure = Structure::of(&schema, declared.root);
            let refusing_empty = refusing_empty(&structure, &schema);
            overlay(&mut structure, step, name, &mut problems);
            let mut version = VersionHistory::new(name.clone(), from, rank, structure);
            version.refusing_empty = refusing_empty;
            let published_as = before.iter().flat_map(|before| before.published_as.iter().cloned());
            version.published_as = once_each(published_as.chain([declaration.name_in(name)]));
            version.writers = step.writers.as_ref().map_or(Writers::Exact, |writers| writers.item);
            (version.respelled, version.derived) = (step.respelled.clone(), step.derived.clone());
            let index = VersionIndex(position as u32);
            identify(
                Identify {
                    version: &mut version,
                    before,
                    index,
                    declared_at: declared.span,
                    step,
                    plain_renames,
                    others: &slots,
                    fields: &mut fields,
                },
                &mut problems,
            );
            slots[position] = Some(version);
        }
        let versions: Vec<VersionHistory> = slots.into_iter().flatten().collect();
        for (at, _) in &declaration.policies.older_write_of {
            problems.extend(unknown_policy_field(at, versions.iter().map(|version| &version.structure)));
        }
        (Self { versions, fields }, problems)
    }

    /// The version of a name.
    pub fn find(&self, name: &str) -> Option<VersionIndex> {
        let position = self.versions.iter().position(|version| version.name.as_str() == name)?;
        Some(VersionIndex(position as u32))
    }

    /// A version.
    pub fn version(&self, index: VersionIndex) -> &VersionHistory {
        &self.versions[index.position()]
    }

    /// The positions of all versions, oldest first.
    pub fn indexes(&self) -> impl ExactSizeIterator<Item = VersionIndex> + DoubleEndedIterator + use<> {
        (0..self.versions.len() as u32).map(VersionIndex)
    }

    /// What is known of a field.
    pub fn field(&self, id: FieldId) -> &FieldRecord {
        &self.fields[id.position()]
    }

    /// The ids of all fields.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = FieldId> + use<> {
        (0..self.fields.len() as u32).map(FieldId)
    }

    /// The version whose shape is stored unless a pin or lock says otherwise: the newest stable one that is declared,
    /// else the newest.
    pub fn natural_hub(&self) -> Option<VersionIndex> {
        let newest: Vec<VersionIndex> = self.indexes().rev().collect();
        let declared: Vec<VersionIndex> =
            newest.iter().copied().filter(|index| self.version(*index).declared).collect();
        let stable = |index: &&VersionIndex| self.version(**index).name.maturity() == Maturity::Stable;
        declared.iter().find(stable).or(declared.first()).or(newest.first()).copied()
    }
}

impl FieldRecord {
    /// The same field, where versions have other positions.
    fn reindexed(&self, history: &History, index_of: &dyn Fn(&VersionName) -> Option<VersionIndex>) -> Self {
        let first = index_of(&history.version(self.first).name).unwrap_or(self.first);
        Self { first, ..self.clone() }
    }
}

/// The versions that are declared or locked, oldest first: as declared, else by their names, else as they are written.
fn order_of(declaration: &Declaration, locked: Option<&History>, problems: &mut Vec<Problem>) -> Vec<VersionName> {
    let mut names: Vec<VersionName> = Vec::new();
    let locked = locked.into_iter().flat_map(|locked| locked.versions.iter().map(|version| &version.name));
    let declared = declaration.versions.iter().map(|version| &version.name);
    for name in locked.chain(declared) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    if let Some(order) = &declaration.order {
        let rank = |name: &VersionName| order.iter().position(|candidate| candidate == name);
        // What the order leaves out, the lock alone may know; it stays before what it precedes there.
        let mut ranked: Vec<(usize, VersionName)> = Vec::new();
        let mut next = order.len();
        for name in names.into_iter().rev() {
            next = rank(&name).unwrap_or(next);
            ranked.push((next, name));
        }
        ranked.reverse();
        ranked.sort_by_key(|(rank, _)| *rank);
        return ranked.into_iter().map(|(_, name)| name).collect();
    }
    let comparable = names.iter().all(|a| names.iter().all(|b| a.compare_age(b).is_some()));
    if comparable {
        names.sort_by(|a, b| a.compare_age(b).unwrap_or(std::cmp::Ordering::Equal));
    } else if names.len() > 1 {
        let spelled: Vec<_> = names.iter().map(VersionName::as_str).collect();
        let message = format!("the names of the versions do not say which came first: {}", spelled.join(", "));
        let mend = format!("add `order: [{}]` to the kind, oldest first", spelled.join(", "));
        problems.push(problem_at(&rules::NO_ORDER, Span::default(), message).mend(mend));
    }
    names
}

/// The version that the changes of a step are relative to.
fn from_of(
    step: &VersionStep,
    position: usize,
    index_of: &dyn Fn(&VersionName) -> Option<VersionIndex>,
    problems: &mut Vec<Problem>,
) -> Option<VersionIndex> {
    let preceding = position.checked_sub(1).map(|position| VersionIndex(position as u32));
    let Some(from) = &step.from else { return preceding };
    match index_of(&from.item) {
        Some(index) if index.position() < position => Some(index),
        found => {
            let version = &step.version.item;
            let message = match found {
                None => format!("{version} is said to come from {}, which is no version", from.item),
                Some(_) => format!("{version} is said to come from {}, which does not precede it", from.item),
            };
            problems.push(problem_at(&rules::UNKNOWN_FROM, from.span, message));
            preceding
        }
    }
}

/// A schema with the defaults that the changes add to it. Where they name nothing, [`History::derive`] says so.
pub fn overlaid_schema<'s>(schema: &'s Schema, step: &VersionStep) -> Cow<'s, Schema> {
    let mut overlaid = Cow::Borrowed(schema);
    for default in &step.defaults {
        let mut steps = default.at.item.steps().iter();
        let found = steps.try_fold(overlaid.to_mut(), |schema, step| match step {
            Step::Field(name) => schema.properties.get_mut(name),
            Step::Items => schema.items.as_deref_mut(),
            Step::Values => match &mut schema.additional_properties {
                Some(Additional::Schema(values)) => Some(&mut **values),
                _ => None,
            },
        });
        if let Some(schema) = found {
            schema.default = Some(default.value.clone()).filter(|value| *value != Owned::Null);
        }
    }
    overlaid
}

/// Puts into a structure what the changes say about it: keys and unions that its schema lacks.
fn overlay(structure: &mut Structure, step: &VersionStep, name: &VersionName, problems: &mut Vec<Problem>) {
    for (at, keys) in &step.keys {
        let Some(node) = find(structure, at, name, "keys", problems) else { continue };
        let item = structure.element(node).filter(|_| structure.node(node).shape == Shape::List);
        let Some(item) = item.filter(|item| structure.node(*item).shape == Shape::Object) else {
            let message = format!("`keys` names {}, which is no list of objects in {name}", at.item);
            problems.push(problem_at(&rules::UNKNOWN_CHANGE_PATH, at.span, message));
            continue;
        };
        let mut is_unknown = |key: &str| !is_field(structure, item, key, at, name, "keys", problems);
        if keys.iter().filter(|key| is_unknown(key)).count() == 0 {
            structure.node_mut(node).keys = keys.clone();
        }
    }
    for DeclaredUnion { at, members, discriminator } in &step.unions {
        let Some(node) = find(structure, at, name, "union", problems) else { continue };
        let mut is_unknown = |member: &str| !is_field(structure, node, member, at, name, "union", problems);
        if members.iter().chain(discriminator).filter(|member| is_unknown(member)).count() == 0 {
            let (members, discriminator) = (members.clone(), discriminator.clone());
            structure.node_mut(node).union = Some(crate::Union { members, discriminator });
        }
    }
    for default in &step.defaults {
        find(structure, &default.at, name, "default", problems);
    }
}

/// What is wrong with a policy for a field, if it is in none of the versions.
pub fn unknown_policy_field<'s>(
    at: &Located<Selector>,
    versions: impl Iterator<Item = &'s Structure> + Clone,
) -> Option<Problem> {
    if versions.clone().any(|structure| structure.find(&at.item).is_some()) {
        return None;
    }
    let message = format!("a policy is for {}, which no version has", at.item);
    let problem = problem_at(&rules::UNKNOWN_POLICY_FIELD, at.span, message);
    Some(match versions.filter_map(|structure| closest(structure, &at.item)).last() {
        Some(closest) => problem.mend(format!("did you mean {closest}?")),
        None => problem,
    })
}

/// Whether an object has a field that a change names; if it has not, that is a problem.
fn is_field(
    structure: &Structure,
    object: NodeIndex,
    field: &str,
    at: &Located<Selector>,
    version: &VersionName,
    change: &str,
    problems: &mut Vec<Problem>,
) -> bool {
    let is_field = structure.child(object, field).is_some();
    if !is_field {
        let message = format!("`{change}` of {} names {field}, which is no field there in {version}", at.item);
        let problem = problem_at(&rules::UNKNOWN_CHANGE_PATH, at.span, message);
        let names = structure.node(object).children.iter().filter_map(|child| structure.node(*child).name());
        problems.push(match wheelwright_schema::closest_of(names, field) {
            Some(closest) => problem.mend(format!("did you mean {closest}?")),
            None => problem,
        });
    }
    is_field
}

/// The node that a change names; if there is none, that is a problem.
pub(crate) fn find(
    structure: &Structure,
    at: &Located<Selector>,
    version: &VersionName,
    change: &str,
    problems: &mut Vec<Problem>,
) -> Option<NodeIndex> {
    let found = structure.find(&at.item);
    if found.is_none() {
        let message = format!("`{change}` names {}, which {version} does not have", at.item);
        let problem = problem_at(&rules::UNKNOWN_CHANGE_PATH, at.span, message);
        problems.push(match closest(structure, &at.item) {
            Some(closest) => problem.mend(format!("did you mean {closest}?")),
            None => problem,
        });
    }
    found
}

/// The field whose path is most like one that does not exist. The names that differ must be alike: a long path that both
/// begin with makes no name a typo of another.
fn closest(structure: &Structure, selector: &Selector) -> Option<String> {
    let is_alike = |field: &Selector| {
        let shared = field.steps().iter().zip(selector.steps()).take_while(|(one, other)| one == other).count();
        let names = |path: &Selector| {
            let names = path.steps()[shared..].iter().filter(|step| matches!(step, Step::Field(_)));
            Selector::from_steps(names.cloned().collect()).to_string()
        };
        wheelwright_schema::closest_of([&*names(field)].into_iter(), &names(selector)).is_some()
    };
    let fields = structure.fields().map(|field| structure.selector(field));
    let paths: Vec<String> = fields.filter(is_alike).map(|field| field.to_string()).collect();
    let text = selector.to_string();
    wheelwright_schema::closest_of(paths.iter().map(String::as_str), &text).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::declaration;

    #[test]
    fn keys_and_members_that_are_no_fields_are_problems() {
        let v1 = "{type: object, properties: {u: {type: object, properties: {git: {type: string}, http: {type: string}}}, \
                  l: {type: array, items: {type: object, properties: {name: {type: string}}}}}}";
        let told = |changes: &str| -> Vec<String> {
            let (history, problems) = History::derive(&declaration(&[("v1", v1)], changes), None);
            let mut nodes =
                history.versions[0].structure.indexes().map(|node| history.versions[0].structure.node(node));
            let is_overlaid = nodes.any(|node| node.union.is_some() || !node.keys.is_empty());
            assert_eq!(is_overlaid, problems.is_empty());
            problems.into_iter().map(|problem| problem.message).collect()
        };
        assert!(told("v1: {union: {u: [git, http]}, keys: {l: [name]}}").is_empty());
        assert_eq!(
            told("v1: {union: {u: [git, nothing]}}"),
            ["`union` of u names nothing, which is no field there in v1"]
        );
        assert_eq!(
            told("v1: {union: {u: {members: [git, http], discriminator: kind}}}"),
            ["`union` of u names kind, which is no field there in v1"]
        );
        assert_eq!(
            told("v1: {keys: {l: [x, y]}}"),
            ["x", "y"].map(|key| format!("`keys` of l names {key}, which is no field there in v1"))
        );
        assert_eq!(told("v1: {keys: {u: [git]}}"), ["`keys` names u, which is no list of objects in v1"]);
    }
}
