//! Listening to `get`: where each field of its result comes from.

use std::{fmt, sync::Arc};

use super::{
    computed::{FieldPlan, Needed},
    plan::Scope,
    resolve::same_slot,
    state::{Slot, Slots},
};
use crate::FieldId;

/// Where the value of a field comes from. Changes are told by their position among those of the kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// It is stored, in the shape of the hub or in a bag.
    Stored,
    /// It is stored in another spelling, and computed from that by a conversion.
    Converted(usize),
    /// It is kept in a bag as it was written, since a conversion would not give it from the spelling of the hub.
    Original(usize),
    /// Nobody wrote it, and it is computed from other fields by a derivation.
    Derived(usize),
    /// It is absent, and readers fill it in.
    Frozen,
    /// Nobody wrote the object; it holds fields that another version has elsewhere.
    Implied,
}

/// Someone who wants to know where values come from. `()` does not, and costs nothing.
pub(crate) trait Recorder {
    /// Whether anybody wants to know.
    const LISTENS: bool = true;
    /// What follows is about a field, until [`leave`](Self::leave).
    fn enter(&mut self, name: &str);
    /// What follows is about an item.
    fn enter_index(&mut self, index: usize);
    /// What follows is about a value of a map.
    fn enter_key(&mut self, key: &str);
    /// The field, item or value is done.
    fn leave(&mut self);
    /// The field that was entered last has a value.
    fn source(&mut self, id: FieldId, source: Source);
    /// A field that nobody declares has a value.
    fn unknown(&mut self, name: &str);
}

impl Recorder for () {
    const LISTENS: bool = false;

    #[inline]
    fn enter(&mut self, _: &str) {}
    #[inline]
    fn enter_index(&mut self, _: usize) {}
    #[inline]
    fn enter_key(&mut self, _: &str) {}
    #[inline]
    fn leave(&mut self) {}
    #[inline]
    fn source(&mut self, _: FieldId, _: Source) {}
    #[inline]
    fn unknown(&mut self, _: &str) {}
}

/// Which slots of a scope were computed for a reader, once they were: `stored` is what they held before, `derived` are those
/// that only derivations filled.
pub(crate) fn computed_sources(
    scope: &Scope,
    needed: &Needed,
    stored: &[Slot<'_>],
    derived: impl Iterator<Item = usize>,
    slots: &Slots<'_>,
) -> Vec<(usize, Source)> {
    let computed = &scope.computed;
    let mut sources: Vec<(usize, Source)> = Vec::new();
    for slot in derived {
        let derivation = computed.derivations.iter().find(|plan| plan.field.slot == slot);
        let is_spelling = |fields: &[FieldPlan]| fields.iter().any(|field| field.slots.contains(&slot));
        let link = computed.links.iter().find(|plan| is_spelling(&plan.from.fields) || is_spelling(&plan.to.fields));
        let source = derivation.map(|plan| Source::Derived(plan.derivation));
        sources.extend(source.or(link.map(|plan| Source::Converted(plan.link))).map(|source| (slot, source)));
    }
    for way in &needed.links {
        let plan = &computed.links[way.link];
        for slot in &way.slots {
            let is_known = scope.layout.is_shown[*slot] || sources.iter().any(|(known, _)| known == slot);
            let source = match (stored[*slot], slots.values[*slot]) {
                _ if is_known => continue,
                (Slot::Absent | Slot::Tombstone, _) => Source::Converted(plan.link),
                (was, is) if same_slot(was, is) => Source::Original(plan.link),
                _ => Source::Converted(plan.link),
            };
            sources.push((*slot, source));
        }
    }
    sources
}

/// Where one field of a result comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Provenance {
    /// The path of the field in the result.
    pub path: Trail,
    /// The field; `None` for one that nobody declares.
    pub id: Option<FieldId>,
    /// Where it comes from.
    pub source: Source,
}

/// A path in a document, written `spec.ports[0].name`, and `spec.labels[a.b]` in maps. Paths share what they begin with:
/// written out, all of them can be as long as the square of the document.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trail(pub(crate) Option<Arc<Link>>);

/// The last step of a path, and the path before it.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Link {
    pub(crate) above: Trail,
    pub(crate) step: TrailStep,
}

#[derive(PartialEq, Eq, Debug)]
pub(crate) enum TrailStep {
    Field(Box<str>),
    Item(usize),
    Value(Box<str>),
}

impl Trail {
    pub(crate) fn with(&self, step: TrailStep) -> Self {
        Self(Some(Arc::new(Link { above: self.clone(), step })))
    }
}

impl fmt::Display for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let links = std::iter::successors(self.0.as_deref(), |link| link.above.0.as_deref());
        let links: Vec<&Link> = links.collect();
        for (position, link) in links.iter().rev().enumerate() {
            match &link.step {
                TrailStep::Field(name) if position == 0 => f.write_str(name)?,
                TrailStep::Field(name) => write!(f, ".{name}")?,
                TrailStep::Item(index) => write!(f, "[{index}]")?,
                TrailStep::Value(key) => write!(f, "[{key}]")?,
            }
        }
        Ok(())
    }
}

/// Writes down every field.
#[derive(Default)]
pub(crate) struct Notes {
    /// What was entered, the innermost last.
    entered: Vec<Trail>,
    pub(crate) found: Vec<Provenance>,
}

impl Notes {
    fn below(&self, step: TrailStep) -> Trail {
        self.entered.last().unwrap_or(&Trail::default()).with(step)
    }
}

impl Recorder for Notes {
    fn enter(&mut self, name: &str) {
        self.entered.push(self.below(TrailStep::Field(name.into())));
    }

    fn enter_index(&mut self, index: usize) {
        self.entered.push(self.below(TrailStep::Item(index)));
    }

    fn enter_key(&mut self, key: &str) {
        self.entered.push(self.below(TrailStep::Value(key.into())));
    }

    fn leave(&mut self) {
        self.entered.pop();
    }

    fn source(&mut self, id: FieldId, source: Source) {
        let path = self.entered.last().cloned().unwrap_or_default();
        self.found.push(Provenance { path, id: Some(id), source });
    }

    fn unknown(&mut self, name: &str) {
        let path = self.below(TrailStep::Field(name.into()));
        self.found.push(Provenance { path, id: None, source: Source::Stored });
    }
}
