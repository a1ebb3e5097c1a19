//! Where every value of a converted document comes from.

#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::Arc};

use wheelwright_document::{Arena, Entry, Value};

use crate::{
    Conversion, ConvertError, FieldId, Kind, NodeIndex, Part, Provenance, Shape, Source, Step, Trail, VersionHistory,
    VersionIndex, fact::Spellings, lens::record::TrailStep,
};

/// A value of a converted document, and why it is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explained<'a> {
    /// Its path.
    pub path: Trail,
    /// The value.
    pub value: Value<'a>,
    /// Why it is there.
    pub because: Because,
}

/// Why a value is in a converted document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Because {
    /// The document that was converted says so.
    Written {
        /// The path there, which is another one if the field was renamed or moved.
        at: Trail,
        /// How it is stored.
        kept: Kept,
    },
    /// The document says the same fact in another spelling.
    Converted {
        /// The paths there.
        at: Vec<Trail>,
        /// The steps that it was converted on, each by the version that was stepped into, and how.
        by: Vec<(VersionIndex, Conversion)>,
    },
    /// Nobody said, and it follows from other fields.
    Derived {
        /// The version whose changes say so.
        step: VersionIndex,
        /// The version that was read for it.
        source: VersionIndex,
        /// What was computed.
        expression: Box<str>,
    },
    /// The document did not say, and the schema of its version has a default.
    Default {
        /// The path there.
        at: Trail,
    },
    /// Nobody said, and every reader of every version sees the same default for good.
    Frozen {
        /// The version that the field first was in, whose default it is.
        first: VersionIndex,
    },
    /// Nobody wrote the object; fields are in it that the document has elsewhere.
    Implied,
    /// It names the version that the document was converted to, or is how that version names the kind.
    Asked,
}

/// How a value of a document is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// In the shape of the hub.
    InShape,
    /// In a bag: the hub has no such field.
    InBag,
    /// In the spelling of the hub, from which it is computed again.
    Respelled,
    /// In a bag, as it was written: the hub has another spelling, from which it would not come back so.
    Original,
}

impl Kept {
    /// Whether it is in a bag.
    pub fn is_in_bag(self) -> bool {
        matches!(self, Self::InBag | Self::Original)
    }
}

impl Kind {
    /// As [`convert`](Self::convert), and why every value is there: every one that has no parts, and every object that
    /// nobody wrote.
    ///
    /// # Errors
    /// The document cannot be written through its version.
    pub fn explain<'a>(
        &'a self,
        from: VersionIndex,
        to: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, Vec<Explained<'a>>), ConvertError> {
        if document.as_object().is_none() {
            return Err(ConvertError::NoObject(document.kind_name()));
        }
        let defaulted = self.defaulted(from, document, arena)?;
        let filled = self.lenses().fill(from, defaulted, arena);
        let stored = self.put(from, filled, None, Part::Whole, arena)?;
        let (shown, provenance) = self.lenses().explain(to, stored, arena);
        let history = self.history();
        let mut said = Said::default();
        said.add(document, Stage::Written);
        said.add(defaulted, Stage::Defaulted);
        let mut walk = Walk {
            kind: self,
            from: history.version(from),
            to: history.version(to),
            said,
            sources: Sources::of(&provenance),
            spellings: self.facts().between((from, history.version(from)), (to, history.version(to))),
            elements: Vec::new(),
            path: Trail::default(),
            source_at: 0,
            found: Vec::new(),
        };
        walk.object(walk.to.structure.root(), shown.as_object().unwrap_or_default());
        Ok((shown, walk.found))
    }
}

/// Walks over a converted document.
struct Walk<'a, 'p> {
    kind: &'a Kind,
    from: &'a VersionHistory,
    to: &'a VersionHistory,
    said: Said<'a>,
    sources: Sources<'p>,
    /// The facts that the two versions spell differently.
    spellings: Vec<Spellings<'a>>,
    /// What the items and values that the walk is inside of are in the document that was converted, the innermost last.
    /// No change moves a field out of them, so they are the same in every version.
    elements: Vec<Origin>,
    path: Trail,
    /// Where the walk is among the sources.
    source_at: usize,
    found: Vec<Explained<'a>>,
}

/// An item of a list, or a value of a map.
#[derive(Clone, Copy)]
enum Element<'a> {
    Item(usize),
    Value(&'a str),
}

/// A value of the document that was converted.
#[derive(Clone)]
struct Origin {
    /// Its path, for people.
    path: Trail,
    /// Its place among what the document says.
    place: Option<usize>,
    /// The field that it is, or is in; `None` if nobody declares it.
    field: Option<FieldId>,
    kept: Kept,
}

impl<'a> Walk<'a, '_> {
    fn object(&mut self, node: NodeIndex, entries: &'a [Entry<'a>]) {
        let has_envelope = node == self.to.structure.root() && self.kind.is_resource();
        for Entry { key, value } in entries.iter().copied() {
            let outside = self.enter(TrailStep::Field(key.into()), Token::Name(key));
            match self.to.structure.child(node, key) {
                _ if has_envelope && matches!(key, "apiVersion" | "kind") => self.push(value, Because::Asked),
                _ if has_envelope && key == "metadata" => {
                    self.value(value, &self.child(&Origin::document(), key));
                }
                Some(child) => self.field(child, value),
                None => {
                    let origin = Origin { field: None, ..self.child(&self.origin_of(node), key) };
                    self.value(value, &origin);
                }
            }
            self.leave(outside);
        }
    }

    fn field(&mut self, node: NodeIndex, value: Value<'a>) {
        let source = self.sources.source(self.source_at);
        let computed = match source {
            Some(Source::Frozen) => return self.value(value, &Origin::nowhere(self.to.id(node))),
            Some(Source::Derived(derivation)) => Some(self.derived(derivation)),
            _ => self.converted(node, source),
        };
        if let Some(because) = computed {
            return self.computed(Some(node), value, &because);
        }
        let kept = match source {
            Some(Source::Converted(_)) => Kept::Respelled,
            Some(Source::Original(_)) => Kept::Original,
            _ => self.kept(node),
        };
        if source == Some(Source::Implied) {
            self.push(value, Because::Implied);
        }
        self.content(node, value, &Origin { kept, ..self.origin_of(node) });
    }

    /// How a field is stored that nothing is computed of.
    fn kept(&self, node: NodeIndex) -> Kept {
        let hub = self.kind.history().version(self.kind.lenses().hub());
        match self.to.id(node) {
            Some(id) if hub.node_of(id).is_none() => Kept::InBag,
            _ => Kept::InShape,
        }
    }

    fn derived(&self, derivation: usize) -> Because {
        let derivation = &self.kind.lenses().computations.derivations[derivation];
        let (step, source) = (derivation.version, derivation.source);
        Because::Derived { step, source, expression: derivation.derived.expression.item.clone() }
    }

    /// What a field was converted from, if the document does not have it but says it otherwise.
    fn converted(&self, node: NodeIndex, source: Option<Source>) -> Option<Because> {
        if self.from.counterpart(self.to, node).is_some() {
            return None;
        }
        let id = self.to.id(node)?;
        let Some(fact) = self.spellings.iter().find(|fact| fact.after.contains(&id)) else {
            // It is the spelling of something that was derived on the way.
            let Some(Source::Converted(link)) = source else { return None };
            let link = &self.kind.lenses().computations.links[link];
            return Some(Because::Converted {
                at: Vec::new(),
                by: vec![(link.version, link.respelled.with.item.clone())],
            });
        };
        let origins = fact.before.iter().filter_map(|id| Some(self.origin_in_document(self.from.node_of(*id)?)));
        let said = origins.filter(|origin| self.said.is_null(origin.place, Stage::Defaulted) == Some(false));
        let at: Vec<Trail> = said.map(|origin| origin.path).collect();
        let by = fact.changes.iter().map(|change| (change.version, change.respelled.with.item.clone())).collect();
        (!at.is_empty()).then_some(Because::Converted { at, by })
    }

    /// A computed value, down to its leaves; what is only filled in there is told as such. `node` is what it is of, if that is
    /// declared.
    fn computed(&mut self, node: Option<NodeIndex>, value: Value<'a>, because: &Because) {
        let structure = &self.to.structure;
        let element = node.and_then(|node| structure.element(node));
        match value {
            Value::Object(entries) if !entries.is_empty() => {
                for entry in entries {
                    let below = node.and_then(|node| structure.child(node, entry.key)).or(element);
                    let outside = self.enter(TrailStep::Field(entry.key.into()), Token::Name(entry.key));
                    match self.sources.source(self.source_at) {
                        Some(Source::Frozen) => {
                            self.value(entry.value, &Origin::nowhere(below.and_then(|node| self.to.id(node))));
                        }
                        _ => self.computed(below, entry.value, because),
                    }
                    self.leave(outside);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    let place = Element::Item(index);
                    let outside = self.enter(place.step(), place.token());
                    self.computed(element, *item, because);
                    self.leave(outside);
                }
            }
            _ => self.push(value, because.clone()),
        }
    }

    /// A value that the version describes.
    fn content(&mut self, node: NodeIndex, value: Value<'a>, origin: &Origin) {
        let structure = &self.to.structure;
        match (structure.node(node).shape, structure.element(node), value) {
            (Shape::Object, _, Value::Object(entries)) if !entries.is_empty() => self.object(node, entries),
            (Shape::List, Some(element), Value::Array(items)) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    self.element(element, Element::Item(index), *item, origin);
                }
            }
            (Shape::Map, Some(element), Value::Object(entries)) if !entries.is_empty() => {
                for entry in entries {
                    self.element(element, Element::Value(entry.key), entry.value, origin);
                }
            }
            _ => self.value(value, origin),
        }
    }

    fn element(&mut self, node: NodeIndex, element: Element<'a>, value: Value<'a>, container: &Origin) {
        let outside = self.enter(element.step(), element.token());
        let origin = self.origin_of_element(container, element);
        self.elements.push(origin.clone());
        self.content(node, value, &origin);
        self.elements.pop();
        self.leave(outside);
    }

    /// A value that no version describes.
    fn value(&mut self, value: Value<'a>, origin: &Origin) {
        match value {
            Value::Object(entries) if !entries.is_empty() => {
                for entry in entries {
                    let outside = self.enter(TrailStep::Field(entry.key.into()), Token::Name(entry.key));
                    self.value(entry.value, &self.child(origin, entry.key));
                    self.leave(outside);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    let element = Element::Item(index);
                    let outside = self.enter(element.step(), element.token());
                    self.value(*item, &self.origin_of_element(origin, element));
                    self.leave(outside);
                }
            }
            _ => self.push(value, self.because(value, origin)),
        }
    }

    /// Goes a step down, and gives back where the walk was.
    fn enter(&mut self, step: TrailStep, token: Token<'_>) -> (Trail, usize) {
        let path = self.path.with(step);
        let source_at = self.sources.below(self.source_at, token);
        (std::mem::replace(&mut self.path, path), std::mem::replace(&mut self.source_at, source_at))
    }

    fn leave(&mut self, outside: (Trail, usize)) {
        (self.path, self.source_at) = outside;
    }

    fn push(&mut self, value: Value<'a>, because: Because) {
        self.found.push(Explained { path: self.path.clone(), value, because });
    }

    /// Why a value without parts is there.
    fn because(&self, value: Value<'a>, origin: &Origin) -> Because {
        // Null mostly means that a default is asked for.
        let says = |stage| self.said.is_null(origin.place, stage) == Some(value.is_null());
        let at = || origin.path.clone();
        let history = self.kind.history();
        match origin.field {
            Some(id) if !says(Stage::Written) => match says(Stage::Defaulted) {
                true => Because::Default { at: at() },
                false => Because::Frozen { first: history.field(id).first },
            },
            _ => Because::Written { at: at(), kept: origin.kept },
        }
    }

    /// What a node is in the document that was converted.
    fn origin_of(&self, node: NodeIndex) -> Origin {
        let field = self.to.id(node);
        match self.from.counterpart(self.to, node) {
            Some(node) => Origin { field, ..self.origin_in_document(node) },
            None => Origin::nowhere(field),
        }
    }

    /// Where the document that was converted has a node.
    fn origin_in_document(&self, node: NodeIndex) -> Origin {
        let selector = self.from.structure.selector(node);
        let inside = |step: &Step| matches!(step, Step::Field(_));
        let start = selector.steps().iter().rposition(|step| !inside(step)).map_or(0, |position| position + 1);
        let element = self.elements.last().filter(|_| start > 0).cloned().unwrap_or_else(Origin::document);
        selector.steps()[start..].iter().fold(element, |origin, step| match step {
            Step::Field(name) => self.child(&origin, name),
            Step::Items | Step::Values => origin,
        })
    }

    fn child(&self, origin: &Origin, name: &str) -> Origin {
        let path = origin.path.with(TrailStep::Field(name.into()));
        Origin { path, place: self.said.below(origin.place, Token::Name(name)), ..*origin }
    }

    fn origin_of_element(&self, origin: &Origin, element: Element<'_>) -> Origin {
        let path = origin.path.with(element.step());
        Origin { path, place: self.said.below(origin.place, element.token()), ..*origin }
    }
}

impl Origin {
    fn document() -> Self {
        Self { path: Trail::default(), place: Some(0), field: None, kept: Kept::InShape }
    }

    /// What the document cannot say.
    fn nowhere(field: Option<FieldId>) -> Self {
        Self { path: Trail::default(), place: None, field, kept: Kept::InShape }
    }
}

impl<'a> Element<'a> {
    fn step(self) -> TrailStep {
        match self {
            Self::Item(index) => TrailStep::Item(index),
            Self::Value(key) => TrailStep::Value(key.into()),
        }
    }

    fn token(self) -> Token<'a> {
        match self {
            Self::Item(index) => Token::Index(index),
            Self::Value(key) => Token::Name(key),
        }
    }
}

/// A step in a document, whatever a schema calls it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Token<'a> {
    Name(&'a str),
    Index(usize),
}

/// A document as it was written, and once it has the defaults of its version.
#[derive(Clone, Copy)]
enum Stage {
    Written,
    Defaulted,
}

/// What a document says, by places that have numbers; it is the first itself.
#[derive(Default)]
struct Said<'a> {
    below: HashMap<(usize, Token<'a>), usize>,
    /// Whether there is null, by stage; nothing if there is nothing.
    is_null: Vec<[Option<bool>; 2]>,
}

impl<'a> Said<'a> {
    fn add(&mut self, document: Value<'a>, stage: Stage) {
        let place = self.add_at((usize::MAX, Token::Index(0)));
        self.add_value(document, place, stage);
    }

    fn add_at(&mut self, at: (usize, Token<'a>)) -> usize {
        let place = *self.below.entry(at).or_insert(self.is_null.len());
        if place == self.is_null.len() {
            self.is_null.push([None; 2]);
        }
        place
    }

    fn add_value(&mut self, value: Value<'a>, place: usize, stage: Stage) {
        self.is_null[place][stage as usize] = Some(value.is_null());
        let mut below = |token, value| {
            let place = self.add_at((place, token));
            self.add_value(value, place, stage);
        };
        match value {
            Value::Object(entries) => entries.iter().for_each(|entry| below(Token::Name(entry.key), entry.value)),
            Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| below(Token::Index(index), *item)),
            _ => {}
        }
    }

    fn below(&self, place: Option<usize>, token: Token<'_>) -> Option<usize> {
        self.below.get(&(place?, token)).copied()
    }

    fn is_null(&self, place: Option<usize>, stage: Stage) -> Option<bool> {
        self.is_null[place?][stage as usize]
    }
}

/// Where fields come from, by where their paths are in memory; the document is at 0.
struct Sources<'p> {
    below: HashMap<(usize, Token<'p>), usize>,
    sources: HashMap<usize, Source>,
}

impl<'p> Sources<'p> {
    fn of(provenance: &'p [Provenance]) -> Self {
        let mut found = Self { below: HashMap::new(), sources: HashMap::new() };
        for Provenance { path, source, .. } in provenance {
            found.sources.insert(address(path), *source);
            let mut path = path;
            while let Some(link) = &path.0 {
                let token = match &link.step {
                    TrailStep::Field(name) | TrailStep::Value(name) => Token::Name(name),
                    TrailStep::Item(index) => Token::Index(*index),
                };
                if found.below.insert((address(&link.above), token), address(path)).is_some() {
                    break;
                }
                path = &link.above;
            }
        }
        found
    }

    fn below(&self, at: usize, token: Token<'_>) -> usize {
        self.below.get(&(at, token)).copied().unwrap_or(usize::MAX)
    }

    fn source(&self, at: usize) -> Option<Source> {
        self.sources.get(&at).copied()
    }
}

fn address(path: &Trail) -> usize {
    path.0.as_ref().map_or(0, |link| Arc::as_ptr(link).addr())
}
