//! The lens as its rules are written, without plans, sharing or a hub: a document is a tree keyed by field ids.
//!
//! Where the rules leave something open, this model decides:
//! - An object that is null or of the wrong type is shown so, even if it has fields that another version wrote elsewhere.
//! - Who changes anything below an object writes the object.
//! - Unknown fields belong to their object by name. A version shows them where it keeps unknown fields and does not
//!   declare the name itself; they imply their object as declared fields do.
//! - A hidden field belongs to the objects that were above it in the first version that had it.
//! - The default of an object counts as a whole: once anything below the object is set, it does not speak any more.
//! - Creating stores everything that the document says, defaults too.
//! - An object is one union of all members that any version says.
//! - Keys of lists are those of the version that writes, else of the newest version whose keys it has.
//! - Below a new object, everything starts absent.

use std::{cell::Cell, collections::BTreeMap};

use serde_json::{Map, Value as Json};
use wheelwright_document::{Arena, encode};
use wheelwright_evolve::{FieldId, History, NodeIndex, Shape, VersionHistory, VersionIndex};

/// The document, or one item or value that is an object: what is set, by field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scope {
    fields: BTreeMap<FieldId, Content>,
    /// By object, `None` for the scope itself.
    unknown: BTreeMap<Option<FieldId>, Map<String, Json>>,
}

/// What a field, item or value is set to.
#[derive(Clone, Debug, PartialEq)]
enum Content {
    /// An object that is a field: its own fields are in the same scope.
    Present,
    Scope(Scope),
    List(Vec<Content>),
    Map(BTreeMap<String, Content>),
    /// A scalar, null, or a value of the wrong type.
    Raw(Json),
}

/// The model of a kind.
pub(crate) struct Model<'h> {
    pub(crate) history: &'h History,
    /// A write had to decide what versions disagree about: which object a hidden field belongs to, what the keys of a
    /// list are, or whether a member of a union that is shown in another object is still a member.
    pub(crate) ambiguous: Cell<bool>,
}

/// One version of the model.
#[derive(Clone, Copy)]
struct View<'h> {
    history: &'h History,
    ambiguous: &'h Cell<bool>,
    version: &'h VersionHistory,
}

impl Model<'_> {
    /// The document as a version shows it.
    pub(crate) fn get(&self, version: VersionIndex, scope: &Scope) -> Json {
        let view = self.view(version);
        Json::Object(view.object(view.version.structure.root(), scope))
    }

    /// What is set once a document of a version is written.
    pub(crate) fn put(&self, version: VersionIndex, document: &Json, old: Option<&Scope>) -> Scope {
        let view = self.view(version);
        view.put_scope(view.version.structure.root(), object_of(document), old)
    }

    /// The document with the frozen defaults of what is absent.
    pub(crate) fn fill(&self, version: VersionIndex, document: &Json) -> Json {
        let view = self.view(version);
        view.fill(view.version.structure.root(), document)
    }

    fn view(&self, version: VersionIndex) -> View<'_> {
        View { history: self.history, ambiguous: &self.ambiguous, version: self.history.version(version) }
    }
}

fn object_of(value: &Json) -> &Map<String, Json> {
    value.as_object().expect("documents are objects")
}

/// Get.
impl View<'_> {
    /// The object of a node, which is shown, with everything below it.
    fn object(self, node: NodeIndex, scope: &Scope) -> Map<String, Json> {
        let mut shown = self.shown_unknown(node, scope);
        for child in self.children(node) {
            if let Some(value) = self.field(child, scope).or_else(|| self.frozen(child)) {
                shown.insert(self.name(child), value);
            }
        }
        shown
    }

    /// A field as it is set.
    fn field(self, node: NodeIndex, scope: &Scope) -> Option<Json> {
        let implied = || self.shape(node) == Shape::Object && self.has_content(node, scope);
        match scope.fields.get(&self.id(node)) {
            Some(Content::Present) => Some(Json::Object(self.object(node, scope))),
            Some(content) => self.content(node, content),
            None => implied().then(|| Json::Object(self.object(node, scope))),
        }
    }

    /// What a field, item or value is set to, as this version spells it.
    fn content(self, node: NodeIndex, content: &Content) -> Option<Json> {
        let element = || self.version.structure.element(node).expect("the shape is that of the content");
        match content {
            Content::Raw(Json::Null) if !self.version.structure.node(node).nullable => None,
            Content::Raw(value) => Some(value.clone()),
            Content::Scope(scope) => Some(Json::Object(self.object(node, scope))),
            Content::List(items) => {
                Some(items.iter().map(|item| self.content(element(), item).unwrap_or(Json::Null)).collect())
            }
            Content::Map(values) => Some(Json::Object(
                values.iter().filter_map(|(key, value)| Some((key.clone(), self.content(element(), value)?))).collect(),
            )),
            Content::Present => unreachable!("objects that are fields are not shown on their own"),
        }
    }

    /// Whether anything below an object is set that this version shows.
    fn has_content(self, node: NodeIndex, scope: &Scope) -> bool {
        !self.shown_unknown(node, scope).is_empty()
            || self.children(node).any(|child| self.field(child, scope).is_some())
    }

    fn shown_unknown(self, node: NodeIndex, scope: &Scope) -> Map<String, Json> {
        let structure = &self.version.structure;
        let unknown = scope.unknown.get(&self.version.id(node)).filter(|_| structure.node(node).keeps_unknown);
        let unknown = unknown.into_iter().flatten().filter(|(name, _)| structure.child(node, name).is_none());
        unknown.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The frozen default of a field, as this version spells it.
    fn frozen(self, node: NodeIndex) -> Option<Json> {
        let record = self.history.field(self.id(node));
        let value: Json = {
            let arena = Arena::new();
            serde_json::from_slice(&encode(record.frozen.as_ref()?.share(&arena))).expect("what is encoded is JSON")
        };
        let first = View { version: self.history.version(record.first), ..self };
        let mut scope = Scope::default();
        let first_node = first.version.node_of(self.id(node)).expect("the first version has the field");
        first.write(first_node, &value, None, &mut scope);
        self.field(node, &scope)
    }

    fn children(self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        self.version.structure.node(node).children.clone().into_iter()
    }

    fn shape(self, node: NodeIndex) -> Shape {
        self.version.structure.node(node).shape
    }

    fn id(self, node: NodeIndex) -> FieldId {
        self.version.id(node).expect("fields have ids")
    }

    fn name(self, node: NodeIndex) -> String {
        self.version.structure.node(node).name().expect("fields have names").to_owned()
    }
}

/// Fill.
impl View<'_> {
    fn fill(self, node: NodeIndex, value: &Json) -> Json {
        let element = || self.version.structure.element(node);
        match (self.shape(node), value) {
            (Shape::Object, Json::Object(object)) => {
                let mut filled = object.clone();
                for child in self.children(node) {
                    let value = object.get(&self.name(child)).map(|value| self.fill(child, value));
                    if let Some(value) = value.or_else(|| self.frozen(child)) {
                        filled.insert(self.name(child), value);
                    }
                }
                Json::Object(filled)
            }
            (Shape::List, Json::Array(items)) => {
                items.iter().map(|item| element().map_or(item.clone(), |element| self.fill(element, item))).collect()
            }
            (Shape::Map, Json::Object(values)) => Json::Object(
                values
                    .iter()
                    .map(|(key, value)| {
                        (key.clone(), element().map_or(value.clone(), |element| self.fill(element, value)))
                    })
                    .collect(),
            ),
            _ => value.clone(),
        }
    }
}

/// Put.
impl View<'_> {
    fn put_scope(self, node: NodeIndex, document: &Map<String, Json>, old: Option<&Scope>) -> Scope {
        let mut scope = old.cloned().unwrap_or_default();
        let shown = old.map(|old| self.object(node, old)).unwrap_or_default();
        self.write_object(node, document, &shown, &mut scope);
        self.switch_unions(node, document, &shown, &mut scope);
        // Residual: what is still not shown as it was written is written again, until it is.
        for _ in 0..4 {
            let shown = self.object(node, &scope);
            if shown == *document {
                break;
            }
            self.write_object(node, document, &shown, &mut scope);
        }
        scope
    }

    /// Writes where a document differs from what was shown.
    fn write_object(self, node: NodeIndex, document: &Map<String, Json>, shown: &Map<String, Json>, scope: &mut Scope) {
        for child in self.children(node) {
            let name = self.name(child);
            match (document.get(&name), shown.get(&name)) {
                (None, None) => {}
                (None, Some(_)) => self.remove(child, scope),
                (Some(value), shown) if Some(value) == shown => {}
                (Some(value), shown) => self.write(child, value, shown, scope),
            }
        }
        let structure = &self.version.structure;
        if !structure.node(node).keeps_unknown {
            return;
        }
        let declared = |name: &String| structure.child(node, name).is_some();
        let unknown = scope.unknown.entry(self.version.id(node)).or_default();
        for name in shown.keys().filter(|name| !declared(name) && !document.contains_key(*name)) {
            unknown.remove(name);
        }
        for (name, value) in document.iter().filter(|(name, _)| !declared(name)) {
            unknown.insert(name.clone(), value.clone());
        }
    }

    /// Writes a field whose value differs from what was shown.
    fn write(self, node: NodeIndex, value: &Json, shown: Option<&Json>, scope: &mut Scope) {
        let id = self.id(node);
        match (self.shape(node), value) {
            (Shape::Object, Json::Object(document)) => {
                if !shown.is_some_and(Json::is_object) {
                    self.clear(node, scope);
                }
                scope.fields.insert(id, Content::Present);
                self.write_object(node, document, shown.and_then(Json::as_object).unwrap_or(&Map::new()), scope);
            }
            (Shape::Object, _) => {
                self.remove(node, scope);
                scope.fields.insert(id, Content::Raw(value.clone()));
            }
            _ => {
                let content = self.content_of(node, value, scope.fields.get(&id));
                scope.fields.insert(id, content);
            }
        }
    }

    /// Removes what is set below an object that was not shown: nulls that this version cannot say.
    fn clear(self, node: NodeIndex, scope: &mut Scope) {
        for child in self.children(node) {
            scope.fields.remove(&self.id(child));
            if self.shape(child) == Shape::Object {
                self.clear(child, scope);
            }
        }
    }

    /// What a field, item or value is set to once a value is written in the place of an old one.
    fn content_of(self, node: NodeIndex, value: &Json, old: Option<&Content>) -> Content {
        let element = || self.version.structure.element(node).expect("lists and maps have elements");
        match (self.shape(node), value) {
            (Shape::Object, Json::Object(document)) => {
                let old = match old {
                    Some(Content::Scope(scope)) => Some(scope),
                    _ => None,
                };
                Content::Scope(self.put_scope(node, document, old))
            }
            (Shape::List, Json::Array(items)) => {
                let old: &[Content] = match old {
                    Some(Content::List(items)) => items,
                    _ => &[],
                };
                let shown: Vec<Json> =
                    old.iter().map(|item| self.content(element(), item).unwrap_or(Json::Null)).collect();
                let keys = self.keys(node);
                let matches = if keys.is_empty() { by_likeness(items, &shown) } else { by_keys(items, &shown, &keys) };
                let contents = items.iter().zip(matches).map(|(item, matched)| match matched {
                    Some(position) if shown[position] == *item => old[position].clone(),
                    matched => self.content_of(element(), item, matched.map(|position| &old[position])),
                });
                Content::List(contents.collect())
            }
            (Shape::Map, Json::Object(values)) => {
                let mut contents = BTreeMap::new();
                let empty = BTreeMap::new();
                let old = match old {
                    Some(Content::Map(values)) => values,
                    _ => &empty,
                };
                for (key, value) in values {
                    let old = old.get(key);
                    let same = old.filter(|old| self.content(element(), old).as_ref() == Some(value));
                    let content = same.cloned().unwrap_or_else(|| self.content_of(element(), value, old));
                    contents.insert(key.clone(), content);
                }
                // A null that this version cannot say was not seen, and stays.
                for (key, hidden) in old {
                    if self.content(element(), hidden).is_none() {
                        contents.entry(key.clone()).or_insert_with(|| hidden.clone());
                    }
                }
                Content::Map(contents)
            }
            _ => Content::Raw(value.clone()),
        }
    }

    /// The keys of a list: as this version says, else as the newest version says whose keys it has.
    fn keys(self, list: NodeIndex) -> Vec<String> {
        let own = self.version;
        let keys_of = |other: &VersionHistory| {
            let counterpart = View { version: other, ..self }.counterpart(self, list)?;
            let (element, own_element) = (other.structure.element(counterpart)?, own.structure.element(list)?);
            let names = other.structure.node(counterpart).keys.iter().map(|key| {
                let found = own.node_of(other.id(other.structure.child(element, key)?)?)?;
                (own.structure.node(found).parent == Some(own_element)).then(|| self.name(found))
            });
            names.collect::<Option<Vec<String>>>().filter(|keys| !keys.is_empty())
        };
        keys_of(own).unwrap_or_else(|| {
            let others: Vec<Vec<String>> = self.history.versions.iter().rev().filter_map(keys_of).collect();
            if others.windows(2).any(|pair| pair[0] != pair[1]) {
                self.ambiguous.set(true);
            }
            others.into_iter().next().unwrap_or_default()
        })
    }

    /// Removes a field that was shown, all that was shown below it, and what is hidden and belongs to it.
    fn remove(self, node: NodeIndex, scope: &mut Scope) {
        let id = self.id(node);
        scope.fields.remove(&id);
        if self.shape(node) != Shape::Object {
            return;
        }
        scope.unknown.remove(&Some(id));
        for child in self.children(node) {
            self.remove(child, scope);
        }
        let hidden = |field: &FieldId| self.version.node_of(*field).is_none() && self.belongs_to(*field, id);
        scope.fields.retain(|field, _| !hidden(field));
        scope.unknown.retain(|object, _| !object.as_ref().is_some_and(hidden));
    }

    fn belongs_to(self, field: FieldId, object: FieldId) -> bool {
        let first = self.history.version(self.history.field(field).first);
        let belongs = is_below(first, field, object);
        if self.may_be_below(field, object) != self.is_always_below(field, object, 16) {
            self.ambiguous.set(true);
        }
        belongs
    }

    /// Whether a field is below an object in any version, or below a field that is.
    fn may_be_below(self, field: FieldId, object: FieldId) -> bool {
        let mut found = vec![field];
        let mut at = 0;
        while at < found.len() {
            let above: Vec<FieldId> = self.parents(found[at]).into_iter().flatten().collect();
            for above in above {
                if !found.contains(&above) {
                    found.push(above);
                }
            }
            at += 1;
        }
        found[1..].contains(&object)
    }

    /// Whether a field is below an object in all versions, or below fields that are. Objects that were put into each
    /// other both ways end at the depth.
    fn is_always_below(self, field: FieldId, object: FieldId, depth: usize) -> bool {
        depth > 0
            && self.parents(field).into_iter().all(|above| {
                above.is_some_and(|above| above == object || self.is_always_below(above, object, depth - 1))
            })
    }

    /// The objects that a field is in, by version that has it; `None` where it is right in its scope.
    fn parents(self, field: FieldId) -> Vec<Option<FieldId>> {
        let parents = self.history.versions.iter().filter_map(|version| {
            let above = version.structure.node(version.node_of(field)?).parent?;
            Some(version.id(above))
        });
        parents.collect()
    }

    /// A member of a union that newly appears removes those that this version does not show.
    fn switch_unions(
        self,
        node: NodeIndex,
        document: &Map<String, Json>,
        shown: &Map<String, Json>,
        scope: &mut Scope,
    ) {
        let (members, discriminators) = self.union(node);
        let visible = |id: &FieldId| {
            let found = self.version.node_of(*id)?;
            (self.version.structure.node(found).parent == Some(node)).then(|| self.name(found))
        };
        let appears = |name: String| document.contains_key(&name) && !shown.contains_key(&name);
        let changes = |name: String| document.get(&name) != shown.get(&name);
        let switched =
            members.iter().filter_map(visible).any(appears) || discriminators.iter().filter_map(visible).any(changes);
        let elsewhere = |id: &&FieldId| self.version.node_of(**id).is_some() && visible(id).is_none();
        if switched && members.iter().filter(elsewhere).any(|id| scope.fields.contains_key(id)) {
            self.ambiguous.set(true);
        }
        for hidden in members.iter().filter(|id| switched && self.version.node_of(**id).is_none()) {
            self.remove_hidden(*hidden, scope);
        }
        for child in self.children(node).filter(|child| self.shape(*child) == Shape::Object) {
            let name = self.name(child);
            if let Some(Json::Object(document)) = document.get(&name) {
                let empty = Map::new();
                let shown = shown.get(&name).and_then(Json::as_object).unwrap_or(&empty);
                self.switch_unions(child, document, shown, scope);
            }
        }
    }

    fn remove_hidden(self, field: FieldId, scope: &mut Scope) {
        let gone = |candidate: &FieldId| {
            *candidate == field || self.version.node_of(*candidate).is_none() && self.belongs_to(*candidate, field)
        };
        scope.fields.retain(|candidate, _| !gone(candidate));
        scope.unknown.retain(|object, _| !object.as_ref().is_some_and(gone));
    }

    /// The members and discriminators of the union that versions say an object is.
    fn union(self, node: NodeIndex) -> (Vec<FieldId>, Vec<FieldId>) {
        let (mut members, mut discriminators) = (Vec::new(), Vec::new());
        for other in &self.history.versions {
            let Some(counterpart) = View { version: other, ..self }.counterpart(self, node) else { continue };
            let Some(union) = &other.structure.node(counterpart).union else { continue };
            let id = |name: &str| other.id(other.structure.child(counterpart, name)?);
            members.extend(union.members.iter().filter_map(|name| id(name)));
            discriminators.extend(union.discriminator.iter().filter_map(|name| id(name)));
        }
        (members, discriminators)
    }

    /// The node that is the same as one of another version.
    fn counterpart(self, other: View<'_>, node: NodeIndex) -> Option<NodeIndex> {
        if node == other.version.structure.root() {
            return Some(self.version.structure.root());
        }
        match other.version.id(node) {
            Some(id) => self.version.node_of(id),
            None => {
                let container = other.version.structure.node(node).parent?;
                self.version.structure.element(self.counterpart(other, container)?)
            }
        }
    }
}

/// Whether a field is below an object in a version, in the same item or value.
fn is_below(version: &VersionHistory, field: FieldId, object: FieldId) -> bool {
    let mut at = version.node_of(field);
    while let Some(node) = at {
        at = version.structure.node(node).parent.filter(|parent| version.structure.is_field(*parent));
        if at.is_some_and(|above| version.id(above) == Some(object)) {
            return true;
        }
    }
    false
}

/// Which old item every new one continues: those of the same keys, n-th to n-th.
fn by_keys(items: &[Json], shown: &[Json], keys: &[String]) -> Vec<Option<usize>> {
    let key = |item: &Json| keys.iter().map(|key| item.get(key).cloned()).collect::<Vec<_>>();
    nth_to_nth(items, shown, |item, old| key(item) == key(old))
}

/// Which old item every new one continues: equal ones n-th to n-th, then the items between two that are neighbours of
/// gaps of the same length.
fn by_likeness(items: &[Json], shown: &[Json]) -> Vec<Option<usize>> {
    let mut matches = nth_to_nth(items, shown, |item, old| item == old);
    let anchors = matches.clone();
    let taken = |position: usize| anchors.contains(&Some(position));
    let mut start = 0;
    while start < items.len() {
        if anchors[start].is_some() {
            start += 1;
            continue;
        }
        let end = (start..items.len()).find(|at| anchors[*at].is_some()).unwrap_or(items.len());
        let old_start = if start == 0 { Some(0) } else { anchors[start - 1].map(|anchor| anchor + 1) };
        let old_end = if end == items.len() { Some(shown.len()) } else { anchors[end] };
        if let (Some(old_start), Some(old_end)) = (old_start, old_end)
            && old_start + (end - start) == old_end
            && (old_start..old_end).all(|position| !taken(position))
        {
            for (offset, matched) in matches[start..end].iter_mut().enumerate() {
                *matched = Some(old_start + offset);
            }
        }
        start = end;
    }
    matches
}

fn nth_to_nth(items: &[Json], shown: &[Json], same: impl Fn(&Json, &Json) -> bool) -> Vec<Option<usize>> {
    let mut taken = vec![false; shown.len()];
    let matches = items.iter().map(|item| {
        let found = (0..shown.len()).find(|position| !taken[*position] && same(item, &shown[*position]))?;
        taken[found] = true;
        Some(found)
    });
    matches.collect()
}
