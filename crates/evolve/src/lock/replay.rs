//! The history that the entries of a lock amount to.

use std::collections::{HashMap, HashSet};

use wheelwright_document::Owned;

use super::model::{Attributes, Description, Edit, Entry, Fault, Origin};
use crate::{
    Derived, Direction, FieldId, FieldRecord, History, KindName, Located, NodeIndex, Respelled, Selector, Shape, Step,
    Structure, StructureNode, VersionHistory, VersionIndex, VersionName, kind_name::once_each,
};

/// How deep fields may nest; what a schema can say is less than half as deep.
const MAX_DEPTH: usize = 512;

/// How many versions a kind may have.
const MAX_VERSIONS: usize = 4096;

/// What the entries of a kind have come to so far.
pub(super) struct Replay {
    /// The name of the kind where no entry says another.
    title: KindName,
    /// In the order of locking; so are the positions in `from` and `first`.
    versions: Vec<VersionHistory>,
    /// The versions, oldest first.
    order: Vec<usize>,
    by_name: HashMap<VersionName, usize>,
    fields: Vec<Field>,
    by_text: HashMap<Box<str>, FieldId>,
}

/// A field, with what every version that has it must agree on.
struct Field {
    record: FieldRecord,
    shapes: Vec<Shape>,
    /// The list or map whose items or values it is in, and at which level.
    scope: Option<(FieldId, u32)>,
}

/// A version that an entry makes, before it is settled.
pub(super) struct Built {
    pub(super) version: VersionHistory,
    fields: Vec<Field>,
    /// Where it is among the versions, oldest first.
    place: usize,
}

impl Replay {
    /// No entries of a kind so far.
    pub(super) fn new(title: KindName) -> Self {
        let (versions, order, fields) = (Vec::new(), Vec::new(), Vec::new());
        Self { title, versions, order, by_name: HashMap::new(), fields, by_text: HashMap::new() }
    }

    /// The name of the kind where no entry says another.
    pub(super) fn title(&self) -> &KindName {
        &self.title
    }

    /// The version of a name.
    pub(super) fn version(&self, name: &VersionName) -> Option<&VersionHistory> {
        self.by_name.get(name).map(|position| &self.versions[*position])
    }

    /// The field of an id as it is written.
    pub(super) fn field(&self, text: &str) -> Option<FieldId> {
        self.by_text.get(text).copied()
    }

    /// How many nodes the entry is about: what it costs.
    pub(super) fn cost(&self, entry: &Entry) -> usize {
        let base = match &entry.origin {
            Origin::New { from, .. } => from.as_ref(),
            Origin::Amended => Some(&entry.version),
        };
        let base = base.and_then(|name| self.version(name)).map_or(0, |version| version.structure.indexes().len());
        base + entry.edits.len()
    }

    /// The version that an entry makes.
    pub(super) fn build(&self, entry: &Entry) -> Result<Built, Fault> {
        let name = &entry.version;
        let known = |name: &VersionName| match self.by_name.get(name) {
            Some(position) => Ok(*position),
            None => Err(Fault::new(None, format!("{name} is no version that was locked before"))),
        };
        let (base, from, rank, place) = match &entry.origin {
            Origin::Amended => {
                let rank = known(name)?;
                (Some(rank), self.versions[rank].from, rank, 0)
            }
            Origin::New { .. } if self.by_name.contains_key(name) => {
                return Err(Fault::new(None, format!("{name} is locked twice")));
            }
            Origin::New { .. } if self.versions.len() == MAX_VERSIONS => {
                return Err(Fault::new(None, format!("a kind has at most {MAX_VERSIONS} versions")));
            }
            Origin::New { from, before } => {
                let base = from.as_ref().map(known).transpose()?;
                let before = before.as_ref().map(known).transpose()?;
                let place = self.order.iter().position(|rank| Some(*rank) == before).unwrap_or(self.order.len());
                let from = base.map(|rank| VersionIndex(rank as u32));
                (base, from, self.versions.len(), place)
            }
        };
        if entry.origin == Origin::Amended {
            only_gains(entry)?;
        }
        let base = base.map(|rank| &self.versions[rank]);
        let amended = base.filter(|_| entry.origin == Origin::Amended);
        let mut draft = Draft::of(base);
        draft.has_computed(&entry.edits, Direction::Down)?;
        let fields = self.draw(entry, VersionIndex(rank as u32), &mut draft)?;
        draft.has_computed(&entry.edits, Direction::Up)?;
        let (structure, ids) = self.settle(&draft, &fields)?;
        let mut version = VersionHistory::new(name.clone(), from, rank, structure);
        version.declared = false;
        version.published_as = self.published_as(entry, amended);
        if let Some(amended) = amended {
            version.writers = amended.writers;
            version.respelled.clone_from(&amended.respelled);
            version.derived.clone_from(&amended.derived);
        }
        for edit in &entry.edits {
            match edit {
                Edit::Writers(writers) => version.writers = *writers,
                Edit::Respelled(respelled) => version.respelled.push(respelled.clone()),
                Edit::Derived(derived) => version.derived.push(derived.clone()),
                _ => {}
            }
        }
        for (node, id) in ids {
            version.set_id(node, id);
        }
        Ok(Built { version, fields, place })
    }

    fn published_as(&self, entry: &Entry, amended: Option<&VersionHistory>) -> Vec<KindName> {
        let before = amended.map_or(&[][..], |amended| &amended.published_as);
        let first = before.is_empty().then_some(&self.title);
        let name = entry.published_as.as_ref().or(first);
        once_each(before.iter().chain(name).cloned())
    }

    /// Settles what was built.
    pub(super) fn settle_entry(&mut self, built: Built) {
        for field in built.fields {
            self.by_text.insert(field.record.text.clone(), FieldId(self.fields.len() as u32));
            self.fields.push(field);
        }
        let rank = built.version.locked_as;
        if rank == self.versions.len() {
            self.by_name.insert(built.version.name.clone(), rank);
            self.order.insert(built.place, rank);
            self.versions.push(built.version);
        } else {
            self.versions[rank] = built.version;
        }
    }

    /// The history so far.
    pub(super) fn history(&self) -> History {
        let mut places = vec![VersionIndex(0); self.versions.len()];
        for (place, rank) in self.order.iter().enumerate() {
            places[*rank] = VersionIndex(place as u32);
        }
        let moved = |index: VersionIndex| places[index.position()];
        let version = |rank: &usize| {
            let mut version = self.versions[*rank].clone();
            version.from = version.from.map(moved);
            version
        };
        let record = |field: &Field| FieldRecord { first: moved(field.record.first), ..field.record.clone() };
        History { versions: self.order.iter().map(version).collect(), fields: self.fields.iter().map(record).collect() }
    }

    /// Draws the edits of an entry, and gives back the fields that are new to the kind.
    fn draw(&self, entry: &Entry, version: VersionIndex, draft: &mut Draft) -> Result<Vec<Field>, Fault> {
        draft.detach(&entry.edits)?;
        let mut new: Vec<Field> = Vec::new();
        let mut new_by_text: HashMap<Box<str>, FieldId> = HashMap::new();
        for (edit_position, edit) in entry.edits.iter().enumerate() {
            let fault = |message: String| Fault::new(Some(edit_position), message);
            match edit {
                Edit::Remove(_) | Edit::Order { .. } => {}
                Edit::Writers(_) | Edit::Respelled(_) | Edit::Derived(_) => {}
                Edit::Move { from, to } => {
                    let node = draft.sources[from];
                    draft.attach(node, to).map_err(fault)?;
                    draft.nodes[node].edit = Some(edit_position);
                }
                Edit::Add { at, description, id, frozen } => {
                    let text = id.clone().unwrap_or_else(|| at.to_string().into());
                    let known = self.by_text.get(&text).or_else(|| new_by_text.get(&text)).copied();
                    let id = known.unwrap_or(FieldId((self.fields.len() + new.len()) as u32));
                    let node = draft.add(description, id, edit_position);
                    draft.attach(node, at).map_err(fault)?;
                    if known.is_none() {
                        let frozen = frozen.clone().or(description.attributes.default.clone());
                        let frozen = frozen.filter(|value| *value != Owned::Null);
                        new_by_text.insert(text.clone(), id);
                        let record = FieldRecord { text, first: version, frozen };
                        let scope = draft.scope_of(node);
                        new.push(Field { record, shapes: description.shapes.clone(), scope });
                    }
                }
                Edit::Describe { at, description } => draft.describe(at, description).map_err(fault)?,
            }
        }
        draft.arrange(&entry.edits)?;
        Ok(new)
    }

    /// The structure that was drawn, with the ids of its fields, if it agrees with the other versions.
    fn settle(&self, draft: &Draft, new: &[Field]) -> Result<(Structure, Vec<(NodeIndex, FieldId)>), Fault> {
        let field = |id: FieldId| match id.position().checked_sub(self.fields.len()) {
            Some(position) => &new[position],
            None => &self.fields[id.position()],
        };
        let mut structure = Structure::empty();
        let mut ids = Vec::new();
        let mut seen: HashMap<FieldId, usize> = HashMap::new();
        let mut open = vec![(0, None, 0, None)];
        while let Some((at, parent, depth, scope)) = open.pop() {
            let drawn = &draft.nodes[at];
            let fault = |message: String| Fault::new(drawn.edit, message);
            if depth > MAX_DEPTH {
                return Err(fault(format!("fields nest at most {MAX_DEPTH} deep")));
            }
            let index = match parent {
                None => structure.root(),
                Some(_) => structure.push(StructureNode::new(parent, drawn.step.clone(), drawn.shape)),
            };
            drawn.attributes.clone().give_to(structure.node_mut(index));
            let mut below = scope;
            if let Some(id) = drawn.id {
                let Field { record, shapes, scope: of_field } = field(id);
                let earlier = seen.insert(id, at);
                if let Some(earlier) = earlier {
                    let edit = drawn.edit.max(draft.nodes[earlier].edit);
                    return Err(Fault::new(edit, format!("{} is the id of two fields", record.text)));
                }
                if *of_field != scope {
                    return Err(fault(format!("{} has left its list or map", record.text)));
                }
                if !keeps(shapes, &draft.shapes_from(at)) {
                    return Err(fault(format!("{} has another shape in other versions", record.text)));
                }
                ids.push((index, id));
                if matches!(drawn.shape, Shape::List | Shape::Map) {
                    below = Some((id, 1));
                }
            } else if parent.is_some() && matches!(drawn.shape, Shape::List | Shape::Map) {
                below = scope.map(|(id, level)| (id, level + 1));
            }
            let children = drawn.children.iter().rev().map(|child| (*child, Some(index), depth + 1, below));
            open.extend(children);
        }
        Ok((structure, ids))
    }
}

/// A locked version keeps all its fields where they are, so that a field is in its first version as long as there is a
/// lock, and in an object that is no younger than itself: storing every field where its first version has it needs that,
/// else two objects could each be in the other.
fn only_gains(entry: &Entry) -> Result<(), Fault> {
    let version = &entry.version;
    for (position, edit) in entry.edits.iter().enumerate() {
        let message = match edit {
            Edit::Remove(_) | Edit::Move { .. } => {
                format!("{version} is locked, and can only gain fields: it neither loses nor moves any")
            }
            Edit::Respelled(_) | Edit::Derived(_) => format!("{version} is locked, and what it computes with it"),
            _ => continue,
        };
        return Err(Fault::new(Some(position), message));
    }
    Ok(())
}

/// The fields of the new version (`Up`) or the one before (`Down`) that an edit computes.
fn computed(edit: &Edit, side: Direction) -> &[Located<Selector>] {
    match edit {
        Edit::Respelled(Respelled { from, to, .. }) => {
            if side == Direction::Up {
                to
            } else {
                from
            }
        }
        Edit::Derived(Derived { direction, at, .. }) if *direction == side => std::slice::from_ref(at),
        _ => &[],
    }
}

/// Whether a field that first had these shapes, of itself and of what is in it, can have those.
fn keeps(first: &[Shape], later: &[Shape]) -> bool {
    first.len() == later.len()
        && first.iter().zip(later).all(|pair| match pair {
            (Shape::Scalar(first), Shape::Scalar(later)) => first == later || first.widens_to(*later),
            (first, later) => first == later,
        })
}

/// A path in a message.
fn shown(at: &Selector) -> String {
    if at.steps().is_empty() { "the document".to_owned() } else { at.to_string() }
}

/// A version while its entry is drawn.
struct Draft {
    /// The first is the document.
    nodes: Vec<Drawn>,
    /// What is below a node, by the step that leads there.
    places: HashMap<(usize, Step), usize>,
    /// What is removed or moved away, by its path before.
    sources: HashMap<Selector, usize>,
}

struct Drawn {
    parent: Option<usize>,
    step: Step,
    shape: Shape,
    attributes: Attributes,
    id: Option<FieldId>,
    children: Vec<usize>,
    /// Its fields were in the order of their names, and new ones take their place among them.
    is_sorted: bool,
    /// The edit that added or moved it.
    edit: Option<usize>,
}

impl Draft {
    fn of(base: Option<&VersionHistory>) -> Self {
        let empty = VersionHistory::new(VersionName::new(""), None, 0, Structure::empty());
        let base = base.unwrap_or(&empty);
        let structure = &base.structure;
        let mut places = HashMap::new();
        let nodes = structure.indexes().map(|index| {
            let node = structure.node(index);
            if let Some(parent) = node.parent {
                places.insert((parent.position(), node.step.clone()), index.position());
            }
            Drawn {
                parent: node.parent.map(NodeIndex::position),
                step: node.step.clone(),
                shape: node.shape,
                attributes: Attributes::of(node),
                id: base.id(index),
                children: node.children.iter().map(|child| child.position()).collect(),
                is_sorted: node.children.len() > 1
                    && node.children.is_sorted_by_key(|child| structure.node(*child).name()),
                edit: None,
            }
        });
        Self { nodes: nodes.collect(), places, sources: HashMap::new() }
    }

    fn find(&self, steps: &[Step]) -> Option<usize> {
        steps.iter().try_fold(0, |node, step| self.places.get(&(node, step.clone())).copied())
    }

    /// Whether the fields that edits compute are there.
    fn has_computed(&self, edits: &[Edit], side: Direction) -> Result<(), Fault> {
        for (position, edit) in edits.iter().enumerate() {
            if let Some(at) = computed(edit, side).iter().find(|at| self.find(at.item.steps()).is_none()) {
                return Err(Fault::new(Some(position), format!("{} is computed, and not there", shown(&at.item))));
            }
        }
        Ok(())
    }

    /// Takes out what is removed or moves. All paths are those of the version before, so none is taken out before all
    /// are found.
    fn detach(&mut self, edits: &[Edit]) -> Result<(), Fault> {
        let mut taken = Vec::new();
        for (position, edit) in edits.iter().enumerate() {
            let (Edit::Remove(from) | Edit::Move { from, .. }) = edit else { continue };
            let fault = |message: String| Fault::new(Some(position), message);
            let found = self.find(from.steps()).filter(|node| self.nodes[*node].id.is_some());
            let node = found.ok_or_else(|| fault(format!("{from} is no field of the version before")))?;
            if self.sources.insert(from.clone(), node).is_some() {
                return Err(fault(format!("{from} is removed or moved twice")));
            }
            taken.push(node);
        }
        for node in taken {
            let Drawn { parent, step, .. } = &mut self.nodes[node];
            if let Some(parent) = parent.take() {
                self.places.remove(&(parent, step.clone()));
            }
        }
        Ok(())
    }

    /// Adds a field that is nowhere yet, with its items or values.
    fn add(&mut self, description: &Description, id: FieldId, edit: usize) -> usize {
        let first = self.nodes.len();
        for (level, shape) in description.shapes.iter().enumerate() {
            let at = first + level;
            let container = level.checked_sub(1).map(|above| description.shapes[above]);
            let step = if container == Some(Shape::Map) { Step::Values } else { Step::Items };
            let parent = container.map(|_| at - 1);
            if let Some(parent) = parent {
                self.places.insert((parent, step.clone()), at);
                self.nodes[parent].children.push(at);
            }
            let (attributes, id) = match level {
                0 => (description.attributes.clone(), Some(id)),
                _ => (Attributes::default(), None),
            };
            let edit = Some(edit);
            let shape = *shape;
            self.nodes.push(Drawn {
                parent,
                step,
                shape,
                attributes,
                id,
                children: Vec::new(),
                is_sorted: false,
                edit,
            });
        }
        first
    }

    /// Puts a field where it belongs.
    fn attach(&mut self, node: usize, at: &Selector) -> Result<(), String> {
        let Some((step @ Step::Field(_), above)) = at.steps().split_last() else {
            return Err(format!("{} is no field", shown(at)));
        };
        let parent = self.find(above).filter(|parent| self.nodes[*parent].shape == Shape::Object);
        let parent = parent.ok_or_else(|| format!("{at} is in no object that is there"))?;
        if self.places.insert((parent, step.clone()), node).is_some() {
            return Err(format!("{at} is there already"));
        }
        self.nodes[node].step = step.clone();
        self.nodes[node].parent = Some(parent);
        self.nodes[parent].children.push(node);
        Ok(())
    }

    /// Says something else of a node.
    fn describe(&mut self, at: &Selector, description: &Description) -> Result<(), String> {
        let node = self.find(at.steps()).ok_or_else(|| format!("{} is not there", shown(at)))?;
        // Which scalars may take the place of which, all versions have a say in.
        let is_scalar = |shape: &Shape| matches!(shape, Shape::Scalar(_));
        let before = self.shapes_from(node);
        let mut pairs = before.iter().zip(&description.shapes);
        if before.len() != description.shapes.len()
            || !pairs.all(|(before, after)| before == after || is_scalar(before) && is_scalar(after))
        {
            return Err(format!("{} cannot have another shape", shown(at)));
        }
        self.nodes[node].attributes = description.attributes.clone();
        let mut at = node;
        for shape in &description.shapes {
            self.nodes[at].shape = *shape;
            at = self.nodes[at].children.first().copied().unwrap_or(at);
        }
        Ok(())
    }

    /// The shapes of a node and of its items or values, and so on.
    fn shapes_from(&self, node: usize) -> Vec<Shape> {
        let element = |at: &usize| {
            let is_container = matches!(self.nodes[*at].shape, Shape::List | Shape::Map);
            self.nodes[*at].children.first().copied().filter(|_| is_container)
        };
        std::iter::successors(Some(node), element).map(|at| self.nodes[at].shape).collect()
    }

    /// The list or map that a field is in the items or values of, and at which level.
    fn scope_of(&self, node: usize) -> Option<(FieldId, u32)> {
        let mut at = self.nodes[node].parent?;
        let mut level = 0;
        loop {
            let Drawn { parent, step, id, .. } = &self.nodes[at];
            match (id, step) {
                (Some(id), _) if level > 0 => return Some((*id, level)),
                (None, Step::Items | Step::Values) => level += 1,
                _ => {}
            }
            at = (*parent)?;
        }
    }

    /// Brings the fields of all objects into their order, and leaves out what is somewhere else now.
    fn arrange(&mut self, edits: &[Edit]) -> Result<(), Fault> {
        for at in 0..self.nodes.len() {
            let mut children = std::mem::take(&mut self.nodes[at].children);
            let mut seen = HashSet::new();
            children.retain(|child| self.nodes[*child].parent == Some(at) && seen.insert(*child));
            if self.nodes[at].is_sorted {
                children.sort_by(|a, b| self.nodes[*a].step.cmp(&self.nodes[*b].step));
            }
            self.nodes[at].children = children;
        }
        for (position, edit) in edits.iter().enumerate() {
            let Edit::Order { at, names } = edit else { continue };
            let fault = || Fault::new(Some(position), format!("{} has not exactly these fields", shown(at)));
            let node = self.find(at.steps()).ok_or_else(fault)?;
            let mut seen = HashSet::new();
            let fields = names.iter().map(|name| (node, Step::Field(name.clone())));
            let named: Option<Vec<usize>> = fields.map(|field| self.places.get(&field).copied()).collect();
            let named = named.filter(|named| named.iter().all(|child| seen.insert(*child))).ok_or_else(fault)?;
            if named.len() != self.nodes[node].children.len() {
                return Err(fault());
            }
            self.nodes[node].children = named;
        }
        Ok(())
    }
}
