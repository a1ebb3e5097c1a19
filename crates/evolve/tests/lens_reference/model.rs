//! The lens as its rules are written, without plans, sharing or a hub: a document is a tree keyed by field ids.
//!
//! The rules, where the text of the design leaves something open:
//! - Of a value that another version keeps without declaring its field, a version that declares it shows what pruning
//!   leaves.
//! - A key that a version keeps without declaring it is the field of that name that another version declares in the same
//!   object (of several, the one that was locked first), unless the version has that field elsewhere. What is adopted
//!   may be null, keeps everything in it, and gets no frozen default. All other undeclared keys are unknown fields.
//! - Unknown fields belong to their object by name. A version shows them where it keeps unknown fields and has no field
//!   of that name itself. Who writes one writes the object.
//! - Presence of an object is written where the object was not shown, or would not be shown any more without it. An
//!   object that nobody wrote is shown if a field in it is. Null that a version cannot say is as good as absent.
//! - An object that is null or of the wrong type is shown so where the version can say it, even if it has fields that
//!   another version wrote elsewhere. Writing such a value removes all that the version has below the object.
//! - Null where the version cannot say it is stored as it is when written; so is any value of the wrong type. Items of
//!   lists that are null are always shown; so are values of maps where no version can say null.
//! - A hidden field belongs to the object that all versions which have the field have it right in. It leaves with that
//!   object when a client removes it, and so does what belongs to the field in turn. A field that versions have in
//!   different objects stays, and all that belongs to it.
//! - What is neither shown nor written stays, also below an object that is new to its writer.
//! - An object in whose place a version refuses `{}` is shown there only if a field in it is set, or if a client of such a
//!   version wrote it without any since it is there.
//! - The default of an object counts as a whole: once anything below the object is set, it does not speak any more, and
//!   where it is changed, all of it is written. Creating stores everything that the document says, defaults too.
//! - An object is one union of all members that any version says, with the discriminators of all. A member that was not
//!   shown and is written, or a discriminator that differs, removes the members that the version has nowhere; an object
//!   that is new counts as one that showed nothing.
//! - Another spelling of a fact is the fact in another place: a member of a union that the version can say in another
//!   spelling is not hidden, and a field belongs to an object if all its spellings do, no version has a part of them
//!   outside of it, and no part is in different objects in different versions or spellings. A version adopts neither what is derived nor another spelling of what it has.
//! - Keys of lists are those of the version that writes, else those of the newest version that has any which the writer
//!   has in its items. An adopted list has the keys of the version that it is adopted from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};
use wheelwright_document::{Arena, encode};
use wheelwright_evolve::{FieldId, History, Part, Shape, VersionIndex};

use crate::{
    computed::Computed,
    generate::Generated,
    matching::{by_keys, by_likeness, by_origins, defaults_of_items},
    patching::Origins,
    seen,
    tree::{Facts, ROOT, Tree, declared, with_adopted},
};

/// The document, or one item or value that is an object: what is set, by field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scope {
    pub(crate) fields: BTreeMap<FieldId, Content>,
    /// Fields that are not there although they could be derived.
    pub(crate) gone: BTreeSet<FieldId>,
    /// Objects that were written empty through a version that refuses that.
    pub(crate) empty: BTreeSet<FieldId>,
    /// What hooks keep, by the positions of links.
    pub(crate) kept: BTreeMap<usize, Json>,
    unknown: Map<String, Json>,
}

impl Scope {
    /// Takes a field away, and all that was said of it.
    fn remove(&mut self, id: FieldId) {
        self.fields.remove(&id);
        self.gone.remove(&id);
        self.empty.remove(&id);
    }
}

/// What a field, item or value is set to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// An object that is a field, with its unknown fields: its own fields are in the same scope.
    Present(Map<String, Json>),
    Scope(Scope),
    List(Vec<Content>),
    Map(BTreeMap<String, Content>),
    /// A scalar, null, or a value of the wrong type.
    Raw(Json),
}

/// The model of a kind.
pub(crate) struct Model<'h> {
    pub(crate) history: &'h History,
    pub(crate) trees: Vec<Tree>,
    pub(crate) computed: Computed,
    facts: Facts,
}

/// One version of the model.
#[derive(Clone, Copy)]
pub(crate) struct View<'m> {
    pub(crate) model: &'m Model<'m>,
    pub(crate) tree: &'m Tree,
    pub(crate) version: usize,
    /// What is written is computed, and no client wrote it.
    pub(crate) is_computing: bool,
    /// Which items of what is written continue which, where a JSON patch said so.
    pub(crate) origins: Option<&'m Origins>,
    /// What is written is in a list.
    pub(crate) is_in_list: bool,
}

impl<'h> Model<'h> {
    pub(crate) fn new(history: &'h History, generated: &Generated) -> Self {
        let declared = declared(history);
        let computed = Computed::of(generated, history, &declared);
        let facts = computed.facts(&declared);
        Self { history, trees: with_adopted(&declared, &facts), computed, facts }
    }

    /// The document as a version shows it.
    pub(crate) fn get(&self, version: VersionIndex, scope: &Scope) -> Json {
        Json::Object(self.view(version).scope(ROOT, scope))
    }

    /// What is set once a document of a version is written.
    pub(crate) fn put(&self, version: VersionIndex, document: &Json, old: Option<&Scope>, part: Part) -> Scope {
        self.put_patched(version, document, old, part, None)
    }

    /// The same of a document that a JSON patch made of the one that the version showed.
    pub(crate) fn put_patched(
        &self,
        version: VersionIndex,
        document: &Json,
        old: Option<&Scope>,
        part: Part,
        origins: Option<&Origins>,
    ) -> Scope {
        let document = document.as_object().expect("documents are objects");
        View { origins, ..self.view(version) }.put_scope(ROOT, document, old, part)
    }

    /// The document with the frozen defaults of what is absent.
    pub(crate) fn fill(&self, version: VersionIndex, document: &Json) -> Json {
        self.view(version).fill(ROOT, document)
    }

    /// The document without nulls that the version cannot say.
    pub(crate) fn without_nulls(&self, version: VersionIndex, document: &Json) -> Json {
        self.view(version).without_nulls(ROOT, document)
    }

    fn view(&self, version: VersionIndex) -> View<'_> {
        self.view_at(version.position(), false)
    }

    pub(crate) fn view_at(&self, version: usize, is_computing: bool) -> View<'_> {
        View { model: self, tree: &self.trees[version], version, is_computing, origins: None, is_in_list: false }
    }
}

/// What pruning leaves of a value in the wrong place: no fields.
fn pruned(value: &Json) -> Json {
    match value {
        Json::Object(_) => Json::Object(Map::new()),
        Json::Array(items) => items.iter().map(pruned).collect(),
        scalar => scalar.clone(),
    }
}

/// The number of values in a value, itself included.
fn size(value: &Json) -> u32 {
    1 + match value {
        Json::Array(items) => items.iter().map(size).sum(),
        Json::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// Get.
impl View<'_> {
    /// The document, item or value of a node, with all that is derived in it.
    fn scope(self, node: usize, scope: &Scope) -> Map<String, Json> {
        self.object(node, &self.here(node).derived(scope).0)
    }

    /// The object of a node, which is shown, with everything below it.
    pub(crate) fn object(self, node: usize, scope: &Scope) -> Map<String, Json> {
        let mut shown = Map::new();
        if self.tree.node(node).keeps_unknown {
            let unknown = self.unknown(node, scope).into_iter();
            shown.extend(unknown.filter(|(name, _)| self.tree.child(node, name).is_none()));
        }
        for child in &self.tree.node(node).children {
            if let Some(value) = self.field(*child, scope).or_else(|| self.frozen(*child)) {
                shown.insert(self.tree.node(*child).name.clone(), value);
            }
        }
        shown
    }

    /// A field as it is set.
    pub(crate) fn field(self, node: usize, scope: &Scope) -> Option<Json> {
        let object = || Json::Object(self.object(node, scope));
        match scope.fields.get(&self.id(node)) {
            Some(Content::Present(_)) => {
                let is_hidden = self.tree.node(node).refuses_empty
                    && !scope.empty.contains(&self.id(node))
                    && !self.has_fields(node, scope);
                (!is_hidden).then(object)
            }
            None | Some(Content::Raw(Json::Null)) if !self.is_null(node, scope) => {
                let is_implied = self.shape(node) == Shape::Object && self.has_fields(node, scope);
                is_implied.then(object)
            }
            content => Some(self.content(node, content?)),
        }
    }

    /// Whether a field of an object is set.
    fn has_fields(self, node: usize, scope: &Scope) -> bool {
        self.tree.node(node).children.iter().any(|child| self.field(*child, scope).is_some())
    }

    /// Whether a field is null, and the version can say so.
    fn is_null(self, node: usize, scope: &Scope) -> bool {
        self.tree.node(node).nullable && scope.fields.get(&self.id(node)) == Some(&Content::Raw(Json::Null))
    }

    /// Whether the version declares what another keeps without declaring it.
    fn may_be_anything(self, node: usize) -> bool {
        let is_kept = |tree: &Tree| tree.counterpart(self.tree, node).is_some_and(|node| !tree.node(node).is_declared);
        self.tree.node(node).is_declared && self.model.trees.iter().any(is_kept)
    }

    /// What a field, item or value is set to, as this version spells it.
    fn content(self, node: usize, content: &Content) -> Json {
        let element = || self.tree.element(node).expect("the shape is that of the content");
        match content {
            Content::Raw(value) if self.may_be_anything(node) => pruned(value),
            Content::Raw(value) => value.clone(),
            Content::Scope(scope) => Json::Object(self.scope(node, scope)),
            Content::List(items) => items.iter().map(|item| self.content(element(), item)).collect(),
            Content::Map(values) => {
                let shown = values.iter().filter(|(_, value)| !self.hides(element(), value));
                Json::Object(shown.map(|(key, value)| (key.clone(), self.content(element(), value))).collect())
            }
            Content::Present(_) => unreachable!("objects that are fields are not shown on their own"),
        }
    }

    /// Whether a value of a map is not shown: it is null, which another version can say and this one cannot.
    fn hides(self, node: usize, value: &Content) -> bool {
        let is_nullable = |tree: &Tree| tree.counterpart(self.tree, node).is_some_and(|node| tree.node(node).nullable);
        *value == Content::Raw(Json::Null) && !is_nullable(self.tree) && self.model.trees.iter().any(is_nullable)
    }

    /// Whether something can be in a value that this version does not show: objects have fields, and null among the values
    /// of a map is shown by some versions and not by others.
    pub(crate) fn may_hide(self, node: usize) -> bool {
        let is_nullable = |element: usize| {
            let counterparts =
                self.model.trees.iter().filter_map(move |tree| Some((tree, tree.counterpart(self.tree, element)?)));
            counterparts.map(|(tree, node)| tree.node(node).nullable).collect::<BTreeSet<_>>().len() > 1
        };
        match (self.shape(node), self.tree.element(node)) {
            (Shape::Object, _) => true,
            (Shape::Map, Some(element)) => is_nullable(element) || self.may_hide(element),
            (_, Some(element)) => self.may_hide(element),
            _ => false,
        }
    }

    /// The unknown fields of an object.
    fn unknown(self, node: usize, scope: &Scope) -> Map<String, Json> {
        match self.tree.node(node).id.map(|id| scope.fields.get(&id)) {
            None => scope.unknown.clone(),
            Some(Some(Content::Present(unknown))) => unknown.clone(),
            Some(_) => Map::new(),
        }
    }

    /// The frozen default of a field, as this version spells it.
    fn frozen(self, node: usize) -> Option<Json> {
        let record = self.model.history.field(self.id(node));
        let frozen = record.frozen.as_ref().filter(|_| self.tree.node(node).is_declared)?;
        let arena = Arena::new();
        let value: Json = serde_json::from_slice(&encode(frozen.share(&arena))).expect("what is encoded is JSON");
        let first = self.model.view(record.first);
        let mut scope = Scope::default();
        first.write(first.tree.node_of(self.id(node))?, Some(&value), None, true, &mut scope);
        self.field(node, &scope)
    }

    fn shape(self, node: usize) -> Shape {
        self.tree.node(node).shape
    }

    pub(crate) fn id(self, node: usize) -> FieldId {
        self.tree.node(node).id.expect("fields have ids")
    }
}

/// The normal form.
impl View<'_> {
    fn fill(self, node: usize, value: &Json) -> Json {
        let mut filled = self.each(node, value, &|node, value| Some(self.fill(node, value)));
        if let (Shape::Object, Json::Object(object)) = (self.shape(node), &mut filled) {
            for child in &self.tree.node(node).children {
                let name = &self.tree.node(*child).name;
                if let Some(default) = self.frozen(*child).filter(|_| !object.contains_key(name)) {
                    object.insert(name.clone(), default);
                }
            }
        }
        filled
    }

    fn without_nulls(self, node: usize, value: &Json) -> Json {
        self.each(node, value, &|child, value| {
            let is_lost = match self.shape(node) {
                Shape::Object => value.is_null() && !self.tree.node(child).nullable,
                Shape::Map => self.hides(child, &Content::Raw(value.clone())),
                _ => false,
            };
            (!is_lost).then(|| self.without_nulls(child, value))
        })
    }

    /// A value with something done to everything right in it that this version has.
    fn each(self, node: usize, value: &Json, done: &dyn Fn(usize, &Json) -> Option<Json>) -> Json {
        match (self.shape(node), value) {
            (Shape::Object | Shape::Map, Json::Object(entries)) => {
                let child = |name: &str| self.tree.element(node).or_else(|| self.tree.child(node, name));
                let done = entries.iter().filter_map(|(name, value)| {
                    Some((name.clone(), child(name).map_or_else(|| Some(value.clone()), |child| done(child, value))?))
                });
                Json::Object(done.collect())
            }
            (Shape::List, Json::Array(items)) => {
                let element = self.tree.element(node).expect("lists have items");
                items.iter().filter_map(|item| done(element, item)).collect()
            }
            _ => value.clone(),
        }
    }
}

/// Put.
impl View<'_> {
    fn put_scope(self, node: usize, document: &Map<String, Json>, old: Option<&Scope>, part: Part) -> Scope {
        let (mut scope, placed) = old.map(|old| self.here(node).derived(old)).unwrap_or_default();
        let shown = old.map(|_| self.object(node, &scope));
        self.write_object(node, document, shown.as_ref(), &mut scope, part);
        self.here(node).settle(old, &placed, &mut scope);
        scope
    }

    /// Writes where an object differs from what was shown; all of it if nothing was.
    fn write_object(
        self,
        node: usize,
        document: &Map<String, Json>,
        shown: Option<&Map<String, Json>>,
        scope: &mut Scope,
        part: Part,
    ) {
        for child in &self.tree.node(node).children {
            let name = &self.tree.node(*child).name;
            if part.includes(name) {
                let view = View { origins: self.origins.and_then(|origins| origins.field(name)), ..self };
                view.write(*child, document.get(name), shown.and_then(|shown| shown.get(name)), shown.is_none(), scope);
            }
        }
        self.switch_union(node, document, shown.unwrap_or(&Map::new()), scope);
        if self.tree.node(node).keeps_unknown {
            self.write_unknown(node, document, scope, part);
        }
    }

    fn write_unknown(self, node: usize, document: &Map<String, Json>, scope: &mut Scope, part: Part) {
        let old = self.unknown(node, scope);
        let is_field = |name: &String| self.tree.child(node, name).is_some();
        let mut unknown: Map<String, Json> = old.clone();
        unknown.retain(|name, _| is_field(name) || !part.includes(name));
        let written = document.iter().filter(|(name, _)| !is_field(name) && part.includes(name));
        unknown.extend(written.map(|(name, value)| (name.clone(), value.clone())));
        match self.tree.node(node).id {
            None => scope.unknown = unknown,
            Some(id) if unknown != old => {
                scope.fields.insert(id, Content::Present(unknown));
            }
            Some(_) => {}
        }
    }

    /// Writes a field where it differs from what was shown, or in any case if its object is new.
    pub(crate) fn write(self, node: usize, new: Option<&Json>, shown: Option<&Json>, is_new: bool, scope: &mut Scope) {
        let id = self.id(node);
        // What is shown and not set is a default.
        let is_present = matches!(scope.fields.get(&id), Some(Content::Present(_)));
        let is_set = self.field(node, scope).is_some();
        // Items that look equal may have changed places.
        if new == shown && !is_new && !(self.origins.is_some() && is_set) {
            return;
        }
        match (self.shape(node), new) {
            (_, None) if is_set || self.is_computing && is_present => self.remove(node, scope, !is_new),
            (_, None) => {}
            (Shape::Object, Some(Json::Object(document))) => {
                let shown = shown.and_then(Json::as_object).filter(|_| is_set);
                self.write_object(node, document, shown, scope, Part::Whole);
                let is_present = matches!(scope.fields.get(&id), Some(Content::Present(_)));
                if !is_present && (shown.is_none() || self.field(node, scope).is_none()) {
                    scope.fields.insert(id, Content::Present(Map::new()));
                }
                if !self.is_computing && self.field(node, scope).is_none() {
                    scope.empty.insert(id);
                }
            }
            // A value of the wrong type that stays removes nothing that another version has below it.
            (Shape::Object, Some(_)) if new == shown && !is_new => {}
            (Shape::Object, Some(value)) => {
                self.remove(node, scope, true);
                scope.fields.insert(id, Content::Raw(value.clone()));
            }
            (_, Some(value)) => {
                let content = self.content_of(node, value, scope.fields.get(&id).filter(|_| shown.is_some()));
                scope.fields.insert(id, content);
            }
        }
    }

    /// What a field, item or value is set to once a value is written in the place of an old one.
    fn content_of(self, node: usize, value: &Json, old: Option<&Content>) -> Content {
        let element = || self.tree.element(node).expect("lists and maps have elements");
        match (self.shape(node), value, old) {
            (Shape::Object, Json::Object(document), old) => {
                let old = match old {
                    Some(Content::Scope(scope)) => Some(scope),
                    _ => None,
                };
                Content::Scope(self.put_scope(node, document, old, Part::Whole))
            }
            (Shape::List, Json::Array(items), old) => {
                let old: &[Content] = match old {
                    Some(Content::List(items)) => items,
                    _ => &[],
                };
                let shown: Vec<Json> = old.iter().map(|item| self.content(element(), item)).collect();
                let keys = self.keys(node);
                let known = self.origins.and_then(Origins::items).filter(|_| !old.is_empty());
                if !self.is_computing {
                    seen::list(&keys, (&shown, items), old, self.is_in_list, known.is_some());
                }
                let matches = match keys.is_empty() {
                    _ if let Some(known) = &known => by_origins(items, &shown, &keys, known),
                    true => {
                        let defaults = defaults_of_items(self, node);
                        by_likeness(items, &shown, &defaults, &|at| self.size_in_other_versions(element(), &old[at]))
                    }
                    false => by_keys(items, &shown, &keys),
                };
                let contents = items.iter().zip(matches).enumerate().map(|(at, (item, matched))| {
                    // An item that continues another one than the patch says has another key now.
                    let is_known = known.as_ref().is_some_and(|known| known[at] == matched);
                    let origins = self.origins.and_then(|origins| origins.item(at)).filter(|_| is_known);
                    let view = View { origins, is_in_list: true, ..self };
                    match matched {
                        Some(position) if shown[position] == *item && origins.is_none() => old[position].clone(),
                        matched => view.content_of(element(), item, matched.map(|position| &old[position])),
                    }
                });
                Content::List(contents.collect())
            }
            (Shape::Map, Json::Object(values), old) => {
                let empty = BTreeMap::new();
                let old = match old {
                    Some(Content::Map(values)) => values,
                    _ => &empty,
                };
                let mut contents = old.clone();
                contents.retain(|_, value| self.hides(element(), value));
                for (key, value) in values {
                    let old = old.get(key).filter(|old| !self.hides(element(), old));
                    let origins = self.origins.and_then(|origins| origins.field(key));
                    let same = old.filter(|old| origins.is_none() && self.content(element(), old) == *value);
                    let view = View { origins, ..self };
                    let content = same.cloned().unwrap_or_else(|| view.content_of(element(), value, old));
                    contents.insert(key.clone(), content);
                }
                Content::Map(contents)
            }
            _ => Content::Raw(value.clone()),
        }
    }

    /// How many values other versions show of an item that is an object.
    fn size_in_other_versions(self, item: usize, content: &Content) -> u32 {
        let Content::Scope(scope) = content else { return 0 };
        let others = self.model.history.indexes().map(|version| self.model.view(version));
        let others = others.filter(|other| other.version != self.version);
        others
            .filter_map(|other| Some(size(&Json::Object(other.scope(other.tree.counterpart(self.tree, item)?, scope)))))
            .sum()
    }

    /// Says that an object is there, and all objects of a value in it.
    pub(crate) fn say_present(self, node: usize, value: &Json, scope: &mut Scope) {
        if let (Shape::Object, Json::Object(object)) = (self.shape(node), value) {
            if !matches!(scope.fields.get(&self.id(node)), Some(Content::Present(_))) {
                scope.fields.insert(self.id(node), Content::Present(Map::new()));
            }
            for (name, value) in object {
                if let Some(child) = self.tree.child(node, name) {
                    self.say_present(child, value, scope);
                }
            }
        }
    }

    /// Writes a list of which it is known which old item every new one continues.
    pub(crate) fn write_items(self, node: usize, items: &[Json], aligned: &[Option<usize>], scope: &mut Scope) {
        let element = self.tree.element(node).expect("lists have items");
        let old = match scope.fields.get(&self.id(node)) {
            Some(Content::List(old)) => old.clone(),
            _ => Vec::new(),
        };
        let contents = items.iter().zip(aligned).map(|(item, at)| match at.and_then(|at| old.get(at)) {
            Some(old) if self.content(element, old) == *item => old.clone(),
            old => self.content_of(element, item, old),
        });
        let contents = contents.collect();
        scope.fields.insert(self.id(node), Content::List(contents));
    }

    /// The keys of a list: as this version says, else as the newest version says that has any which this one has, else as a
    /// change says.
    fn keys(self, list: usize) -> Vec<String> {
        let keys_of = |other: &Tree| {
            let counterpart = other.counterpart(self.tree, list)?;
            let element = other.element(counterpart)?;
            let names = other.node(counterpart).keys.iter().filter_map(|key| {
                let found = self.tree.node_of(other.node(other.child(element, key)?).id?)?;
                let is_in_item = self.tree.node(found).parent == self.tree.element(list);
                is_in_item.then(|| self.tree.node(found).name.clone())
            });
            Some(names.collect::<Vec<String>>()).filter(|keys| !keys.is_empty())
        };
        // A list that is a map in another spelling has the key of that map.
        let declared = || {
            let keys = self.tree.node(list).id.map(|id| self.model.computed.keys_of_map(&self.model.trees, id));
            let key = self.tree.node_of(keys.into_iter().flatten().next()?)?;
            let is_in_item = self.tree.node(key).parent == self.tree.element(list);
            is_in_item.then(|| vec![self.tree.node(key).name.clone()])
        };
        let said = keys_of(self.tree).or_else(|| self.model.trees.iter().rev().find_map(keys_of));
        said.or_else(declared).unwrap_or_default()
    }

    /// Removes a field with all that the version has below it, and what is hidden and belongs to it.
    fn remove(self, node: usize, scope: &mut Scope, hidden_too: bool) {
        let id = self.id(node);
        scope.remove(id);
        if self.shape(node) != Shape::Object {
            return;
        }
        for child in &self.tree.node(node).children {
            self.remove(*child, scope, hidden_too);
        }
        if hidden_too {
            self.remove_hidden(id, scope);
        }
    }

    /// Removes what belongs to an object and is nowhere in this version.
    fn remove_hidden(self, object: FieldId, scope: &mut Scope) {
        let stays = |field: &FieldId| self.tree.node_of(*field).is_some() || !self.belongs_to(*field, object);
        scope.fields.retain(|field, _| stays(field));
        scope.gone.retain(stays);
        scope.empty.retain(stays);
    }

    /// Whether all versions have a field right in one object, and that is the one or belongs to it.
    fn belongs_to(self, field: FieldId, object: FieldId) -> bool {
        let spellings = self.model.facts.spellings(field);
        let parents = spellings.iter().flat_map(|spelling| {
            self.model.trees.iter().filter_map(|tree| {
                let parent = tree.node(tree.node_of(*spelling)?).parent?;
                Some(tree.node(parent).id)
            })
        });
        let parents: Vec<Option<FieldId>> = parents.collect();
        parents.windows(2).all(|pair| pair[0] == pair[1])
            && parents[0].is_some_and(|parent| {
                let is_whole = spellings.len() == 1 || self.are_within(spellings, parent);
                is_whole && (parent == object || self.belongs_to(parent, object))
            })
    }

    /// Whether fields, what is in them, and all other spellings of that are in an object wherever a version has them, each
    /// fact right in the same one.
    fn are_within(self, fields: BTreeSet<FieldId>, object: FieldId) -> bool {
        let mut parts = fields;
        loop {
            let found = self.model.trees.iter().flat_map(|tree| {
                let nodes = parts.iter().filter_map(|part| tree.node_of(*part));
                nodes.flat_map(|node| tree.ids_below(node))
            });
            let found = found.flat_map(|id| self.model.facts.spellings(id)).collect::<BTreeSet<_>>();
            if found.is_subset(&parts) {
                break;
            }
            parts.extend(found);
        }
        let is_within = |tree: &Tree, node: usize| {
            std::iter::successors(Some(node), |node| tree.node(*node).parent)
                .any(|node| tree.node(node).id == Some(object))
        };
        let mut nodes = self.model.trees.iter().flat_map(|tree| {
            let nodes = parts.iter().filter_map(|part| tree.node_of(*part));
            nodes.map(move |node| (tree, node))
        });
        let is_right_in_one = |part: &FieldId| {
            let spellings = self.model.facts.spellings(*part);
            let nodes = self.model.trees.iter().flat_map(|tree| {
                let nodes = spellings.iter().filter_map(|spelling| tree.node_of(*spelling)).collect::<Vec<_>>();
                nodes.into_iter().map(move |node| (tree, node))
            });
            let parents = nodes.map(|(tree, node)| tree.node(node).parent.and_then(|parent| tree.node(parent).id));
            parents.collect::<BTreeSet<_>>().len() <= 1
        };
        nodes.all(|(tree, node)| is_within(tree, node)) && parts.iter().all(is_right_in_one)
    }

    /// A member of a union that newly appears removes those that this version has nowhere.
    fn switch_union(self, node: usize, document: &Map<String, Json>, shown: &Map<String, Json>, scope: &mut Scope) {
        let (members, discriminators) = self.union(node);
        let names = |ids: &[FieldId]| -> Vec<String> {
            let found = ids.iter().filter_map(|id| self.tree.node_of(*id));
            let right_here = found.filter(|found| self.tree.node(*found).parent == Some(node));
            right_here.map(|found| self.tree.node(found).name.clone()).collect()
        };
        let appears = |name: &String| document.contains_key(name) && !shown.contains_key(name);
        let differs = |name: &String| document.get(name) != shown.get(name);
        if names(&members).iter().any(appears) || names(&discriminators).iter().any(differs) {
            let spells =
                |id: &FieldId| self.model.facts.spellings(*id).iter().any(|id| self.tree.node_of(*id).is_some());
            let hidden = members.iter().filter(|id| !spells(id)).flat_map(|id| self.model.facts.spellings(*id));
            for hidden in hidden {
                scope.remove(hidden);
                self.remove_hidden(hidden, scope);
            }
        }
    }

    /// The members and discriminators of the union that versions say an object is.
    fn union(self, node: usize) -> (Vec<FieldId>, Vec<FieldId>) {
        let (mut members, mut discriminators) = (Vec::new(), Vec::new());
        for other in &self.model.trees {
            let Some(counterpart) = other.counterpart(self.tree, node) else { continue };
            let union = other.node(counterpart);
            let id = |name: &String| other.node(other.child(counterpart, name)?).id;
            members.extend(union.members.iter().filter_map(id));
            discriminators.extend(union.discriminator.iter().filter_map(id));
        }
        (members, discriminators)
    }
}
