//! Documents that one version accepts and another refuses: generated, converted as readers see them, and validated.
//!
//! A refused document is proof: a finding that has one is never a false alarm. The search is directed at one field at a
//! time. It looks for *witnesses*, values that the field's old schema accepts and its new schema refuses, and puts them into
//! small documents; then it generates documents that reach the field.

mod bases;
mod cause;
mod named;
mod places;
mod texts;
mod witnesses;

use std::collections::HashSet;

use wheelwright_document::{Arena, Owned, Value};
use wheelwright_schema::{Program, Schema, Stages, ValidationError};

pub(super) use self::places::placed;
use self::{
    bases::{bases, laid_over},
    cause::Cause,
    named::Named,
    places::{has, node_at, without},
    witnesses::{valid_values, witnesses},
};
use super::{
    Example,
    constraints::as_seen_by,
    example::{Wanted, document, number, string, value_for},
    side::Side,
};
use crate::{
    History, Lenses, NodeIndex, OlderWrite, Part, Selector,
    kind::envelope_of,
    laws::{Generator, Random, shrink_within_tries},
};

/// How the documents of one version reach another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Between {
    /// They are stored, and read as the other version.
    Versions,
    /// The same, but nothing converts them yet: clients of both versions send the same documents.
    Unconverted,
    /// Both are one version, before and after it was edited: clients send the same documents.
    Edits,
}

/// Rounds of generated documents for a field; a field with many parts gets up to three times as many.
const ROUNDS: usize = 24;
/// Values of a field that updates exchange.
const UPDATES: usize = 4;
/// Fields that expressions read, which documents are to reach.
const READ: usize = 8;
/// Witnesses that are put into documents.
const WITNESSES: usize = 8;
/// Attempts at making a generated document smaller.
const SHRINKING: usize = 200;
/// Fields that are searched for in one version, since each search takes a moment.
const SEARCHED: usize = 256;

/// The search for documents of one version that another refuses.
pub(crate) struct Refusals<'s> {
    before: &'s Side<'s>,
    after: &'s Side<'s>,
    /// Converts documents; `None` where clients send the same ones.
    lenses: Option<Lenses>,
    generator: Option<Generator>,
    /// The fields that have a search of their own.
    targets: HashSet<NodeIndex>,
    has_transition_rules: bool,
    /// Clients of both versions send the same documents.
    is_unconverted: bool,
    /// `after` without its rules for new documents, which do not apply to those that are stored.
    after_stored: Option<Program>,
    random: Random,
    searched: usize,
    /// Documents that `before` accepts; made when they are needed first.
    bases: Option<Vec<Owned>>,
    /// The change that is to be shown.
    cause: Cause<'s>,
}

impl<'s> Refusals<'s> {
    /// Prepares a search; `targets` are the fields of `after` that differ.
    pub(crate) fn new(
        history: &History,
        (before, after): (&'s Side<'s>, &'s Side<'s>),
        between: Between,
        targets: HashSet<NodeIndex>,
    ) -> Self {
        let envelope = envelope_of(history, before.type_meta.is_some());
        let lenses = (between != Between::Edits)
            .then(|| Lenses::compile(history, before.index, envelope, &|_, _| OlderWrite::Preserve));
        Self {
            before,
            after,
            lenses,
            generator: before.generator().filter(|_| after.whole().is_some()),
            has_transition_rules: after.whole().is_some_and(looks_back),
            after_stored: (between != Between::Edits).then(|| after.program_for_stored()).flatten(),
            targets,
            is_unconverted: between == Between::Unconverted,
            random: Random::new(0),
            searched: 0,
            bases: None,
            cause: Cause::new((before, after), (None, after.version.structure.root()), &[]),
        }
    }

    /// A document that `after` refuses for the sake of its field `new`; `old` is the same field in `before`, if it has it.
    /// If `keywords` of the field changed, these are what refuses it.
    pub(crate) fn find(
        &mut self,
        (old, new): (Option<NodeIndex>, NodeIndex),
        keywords: &[&'static str],
    ) -> Option<Example> {
        self.look_for((old, new), keywords);
        let rules = self.after.schema(new).map_or_else(String::new, |schema| {
            let before = old.and_then(|old| self.before.schema(old));
            let rules = before.into_iter().chain([schema]).flat_map(|schema| &schema.extensions.validations);
            rules.map(|rule| format!("{} ", rule.rule.text)).collect()
        });
        self.find_reading(old, new, &rules)
    }

    /// Says which change of a field the documents that are searched for next have to show.
    pub(crate) fn look_for(&mut self, fields: (Option<NodeIndex>, NodeIndex), keywords: &[&'static str]) {
        if !self.cause.is_about(fields.1, keywords) {
            self.cause = Cause::new((self.before, self.after), fields, keywords);
        }
    }

    /// The same where `expressions` decide: the fields that they name get the values that they compare with.
    pub(crate) fn find_reading(
        &mut self,
        old: Option<NodeIndex>,
        new: NodeIndex,
        expressions: &str,
    ) -> Option<Example> {
        let generator = self.generator.take()?;
        self.searched += 1;
        let named = Named::of_expressions(expressions);
        let found = if self.searched <= SEARCHED { self.search(&generator, old, new, &named) } else { None };
        self.generator = Some(generator);
        found
    }

    /// A document with a field of `before` that `after` refuses for the sake of the object that it becomes a part of, or of
    /// the value that it is converted to.
    pub(crate) fn received(&mut self, field: NodeIndex, object: NodeIndex) -> Option<Example> {
        let generator = self.generator.take()?;
        self.searched += 1;
        self.look_for((None, object), &[]);
        let found = if self.searched <= SEARCHED { self.search_receiver(&generator, field, object) } else { None };
        self.generator = Some(generator);
        found
    }

    fn search_receiver(&mut self, generator: &Generator, field: NodeIndex, object: NodeIndex) -> Option<Example> {
        let (before, after) = (self.before, self.after);
        let rules = after.schema(object).map(|schema| &schema.extensions.validations[..]).unwrap_or_default();
        let named = Named::of_expressions(&rules.iter().map(|rule| format!("{} ", rule.rule.text)).collect::<String>());
        let values = valid_values(before.schema(field)?, before.value_root(), UPDATES, &mut self.random);
        let place = before.version.structure.selector(field);
        let tried: Vec<Option<Owned>> = values.iter().cloned().map(Some).collect();
        let small = |value| self.refused_document(&self.small(field, value)?, object);
        tried
            .iter()
            .find_map(small)
            .or_else(|| self.on_bases(generator, (field, &place, object), &tried))
            .or_else(|| self.generated(generator, (&place, object, false), &values, &named))
    }

    /// A small document, if `after` refuses it for the sake of a field.
    pub(crate) fn refused_document(&self, document: &Owned, new: NodeIndex) -> Option<Example> {
        let arena = Arena::new();
        self.refused(document.share(&arena), new, &arena)
    }

    fn search(
        &mut self,
        generator: &Generator,
        old: Option<NodeIndex>,
        new: NodeIndex,
        named: &Named,
    ) -> Option<Example> {
        let (before, after) = (self.before, self.after);
        let parent = || after.parent(new).and_then(|parent| before.version.counterpart(after.version, parent));
        let old_or_parent = old.or_else(parent)?;
        let is_whole = old_or_parent == before.version.structure.root();
        let schemas = old.filter(|_| !is_whole).and_then(|old| before.schema(old).zip(after.schema(new)));
        let values = match schemas {
            Some((was, is)) => witnesses(was, is, before.value_root(), WITNESSES, &mut self.random),
            None if old.is_none() => self.undeclared(old_or_parent, new),
            None => Vec::new(),
        };
        let place = before.version.structure.selector(old_or_parent);
        let field = old.filter(|_| !is_whole);
        // The field is left out, too, where it is one.
        let tried: Vec<Option<Owned>> = values.iter().cloned().map(Some).chain(field.map(|_| None)).collect();
        let small = |value| self.refused_document(&self.small(old_or_parent, value)?, new);
        tried
            .iter()
            .find_map(small)
            .or_else(|| self.on_bases(generator, (old_or_parent, &place, new), &tried))
            .or_else(|| self.updated(generator, field?, (&place, new)))
            .or_else(|| self.generated(generator, (&place, new, field.is_some()), &values, named))
    }

    /// A small document in which a field has a value, or is left out.
    fn small(&self, field: NodeIndex, value: &Option<Owned>) -> Option<Owned> {
        let wanted = value.clone().map_or(Wanted::Absent, Wanted::Is);
        document(self.before, &[(field, wanted)].into())
    }

    /// Tries values, or that a field is left out, in documents that satisfy the rules about other fields.
    fn on_bases(
        &mut self,
        generator: &Generator,
        (field, place, new): (NodeIndex, &Selector, NodeIndex),
        values: &[Option<Owned>],
    ) -> Option<Example> {
        self.make_bases(generator);
        let bases = self.bases.as_ref()?;
        let mut tried = values.iter().flat_map(|value| bases.iter().map(move |base| (value, base)));
        tried.find_map(|(value, base)| {
            let arena = Arena::new();
            let small = self.small(field, value)?;
            let laid = laid_over(base, &small);
            let laid = laid.share(&arena);
            let changed = match value {
                Some(value) => placed(laid, place.steps(), value, &arena)?,
                None => without(laid, place.steps(), &arena),
            };
            self.smallest(changed, new, &arena)
        })
    }

    /// Tries updates that give a field another value, where a rule of its own compares the two.
    fn updated(
        &mut self,
        generator: &Generator,
        field: NodeIndex,
        (place, new): (&Selector, NodeIndex),
    ) -> Option<Example> {
        let schema = self.before.schema(field)?;
        if !self.after.schema(new).is_some_and(looks_back) {
            return None;
        }
        let values = valid_values(schema, self.before.value_root(), UPDATES, &mut self.random);
        self.make_bases(generator);
        let small = self.small(field, &values.first().cloned())?;
        let bases = self.bases.iter().flatten().map(|base| laid_over(base, &small));
        let documents: Vec<Owned> = std::iter::once(small.clone()).chain(bases).collect();
        let pairs = || values.iter().flat_map(|old| values.iter().map(move |new| (old, new)));
        documents.iter().find_map(|document| {
            pairs().find_map(|(was, is)| {
                let arena = Arena::new();
                let [was, is] = [was, is].map(|value| placed(document.share(&arena), place.steps(), value, &arena));
                self.refused_update(was?, is?, new, &arena)
            })
        })
    }

    fn make_bases(&mut self, generator: &Generator) {
        if self.bases.is_none() {
            let before = self.before;
            self.bases = Some(bases(generator, |document| before.refusal(document).is_none(), &mut self.random));
        }
    }

    /// Objects with values of several types under the name of a field that they keep without declaring it.
    fn undeclared(&self, object: NodeIndex, new: NodeIndex) -> Vec<Owned> {
        let name = self.after.version.structure.node(new).name();
        let keeps_unknown = self.before.version.structure.node(object).keeps_unknown;
        let Some(name) = name.filter(|_| keeps_unknown) else { return Vec::new() };
        let made = self.before.schema(object).and_then(|schema| value_for(schema, self.before.value_root()));
        let Some(Owned::Object(fields)) = made else { return Vec::new() };
        let values = [Owned::Bool(true), number(1), string("a"), Owned::Object([].into()), Owned::Array([].into())];
        let with = |value| Owned::Object(fields.iter().cloned().chain([(name.into(), value)]).collect());
        values.map(with).to_vec()
    }

    /// Tries generated documents that reach a field: as they are, without it, with a witness in it, and as updates.
    fn generated(
        &mut self,
        generator: &Generator,
        (place, new, is_field): (&Selector, NodeIndex, bool),
        values: &[Owned],
        named: &Named,
    ) -> Option<Example> {
        let depth = place.steps().len();
        let is_below = |node: &Selector| node.steps().len() == depth + 1 && node.steps().starts_with(place.steps());
        let at = generator.nodes().position(|node| node == place);
        let is_read = |node: &Selector| named.reads(node) && (is_below(node) || node.steps().len() <= depth + 4);
        let read: Vec<usize> = generator
            .nodes()
            .enumerate()
            .filter(|(_, node)| is_read(node))
            .map(|(position, _)| position)
            .take(READ)
            .collect();
        let parts: Vec<usize> =
            generator.nodes().enumerate().filter(|(_, node)| is_below(node)).map(|(position, _)| position).collect();
        let rounds = ROUNDS + 2 * parts.len().min(ROUNDS) + if read.is_empty() { 0 } else { 4 * ROUNDS };
        for round in 0..rounds {
            let arena = Arena::new();
            // Rules and alternatives of an object are about one or two of its fields at a time.
            let mut focus: Vec<usize> = at.into_iter().collect();
            let pool = if round % 4 == 3 || read.is_empty() { &parts } else { &read };
            focus.extend((0..round % 3).filter_map(|_| self.random.pick(pool)));
            focus.extend(read.iter().filter(|_| round % 4 == 2));
            let generated = generator.generate_reaching(&focus, &mut self.random, &arena);
            let seasoned = named.seasoned(generated, &mut self.random);
            let document = if round % 2 == 0 { generated } else { seasoned.share(&arena) };
            let found = self.smallest(document, new, &arena).or_else(|| {
                let edited = generator.mutate(document, &mut self.random, &arena);
                self.refused_update(document, edited, new, &arena)
            });
            let found = found.or_else(|| {
                let lacks = is_field.then(|| without(document, place.steps(), &arena))?;
                self.smallest(lacks, new, &arena)
            });
            let found = found.or_else(|| {
                let witness = values.get(round % values.len().max(1))?;
                let changed = placed(document, place.steps(), witness, &arena)?;
                let found = self.smallest(changed, new, &arena);
                found.or_else(|| self.refused_update(document, changed, new, &arena))
            });
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// A generated document, made small, if it is refused.
    fn smallest(&self, document: Value<'_>, new: NodeIndex, arena: &Arena) -> Option<Example> {
        self.refused(document, new, arena)?;
        let is_refused = |candidate| self.refused(candidate, new, &Arena::new()).is_some();
        self.refused(shrink_within_tries(document, SHRINKING, is_refused, arena), new, arena)
    }

    /// The document as an example, if `before` accepts it, and `after` refuses it for the sake of the field.
    fn refused(&self, document: Value<'_>, new: NodeIndex, arena: &Arena) -> Option<Example> {
        let (before, after) = self.before.program().zip(self.after.program()).filter(|_| !has_odd_numbers(document))?;
        let admitted = before.run(document, arena, Stages::ADMIT).ok()?;
        if !admitted.errors.is_empty() {
            return None;
        }
        let after = self.after_stored.as_ref().unwrap_or(after);
        let refused = |view: Owned| {
            let view = view.share(arena);
            let errors = after.run(view, arena, Stages::ADMIT).ok()?.errors;
            self.example(document, &errors, (new, view, None), "", arena)
        };
        // Without changes, clients of both versions send the same documents.
        let sent = || refused(self.sent(document)).filter(|_| self.is_unconverted);
        self.view(before, document, arena).and_then(refused).or_else(sent)
    }

    /// An update that `before` accepts, and `after` refuses for the sake of the field.
    fn refused_update(&self, old: Value<'_>, new: Value<'_>, field: NodeIndex, arena: &Arena) -> Option<Example> {
        let (before, after) = self.before.program().zip(self.after.program()).filter(|_| self.has_transition_rules)?;
        let is_valid = before.run(old, arena, Stages::ADMIT).is_ok_and(|admitted| admitted.errors.is_empty());
        if !is_valid
            || has_odd_numbers(old)
            || has_odd_numbers(new)
            || !before.admit_update(new, old, arena).ok()?.errors.is_empty()
        {
            return None;
        }
        let (old_view, view) = (self.view(before, old, arena)?, self.view(before, new, arena)?);
        // A value that the update adds is as new as a document that is created.
        let place = self.after.version.structure.selector(field);
        let is_new = !has(old_view.share(arena), place.steps());
        let after = self.after_stored.as_ref().filter(|_| is_new).unwrap_or(after);
        let (view, old_view) = (view.share(arena), old_view.share(arena));
        let errors = after.admit_update(view, old_view, arena).ok()?.errors;
        self.example(new, &errors, (field, view, Some(old_view)), "as an update, ", arena)
    }

    fn example(
        &self,
        document: Value<'_>,
        errors: &[ValidationError],
        (new, view, replaced): (NodeIndex, Value<'_>, Option<Value<'_>>),
        how: &str,
        arena: &Arena,
    ) -> Option<Example> {
        let error = errors.iter().find(|error| {
            !error.is_about_skipped_rules()
                && self.is_about(error, new)
                && self.cause.is_of(error, view, replaced, arena)
        })?;
        let reason = if error.path().is_root() { error.message().to_owned() } else { error.to_string() };
        let version = self.before.version.name.clone();
        Some(Example { version, document: document.into(), refusal: Some(format!("{how}{reason}")) })
    }

    /// Whether an error is about a field, about a part of it, or about what a rule above says of it; not about a place that
    /// has a search of its own.
    fn is_about(&self, error: &ValidationError, field: NodeIndex) -> bool {
        let node = node_at(&self.after.version.structure, error.path());
        let is_above =
            |node| std::iter::successors(self.after.parent(field), |at| self.after.parent(*at)).any(|at| at == node);
        let is_near = self.after.parent(node) == Some(field) || error.is_from_rule() && is_above(node);
        node == field || is_near && !self.targets.contains(&node)
    }

    /// A document as `after` shows it.
    fn view(&self, before: &Program, document: Value<'_>, arena: &Arena) -> Option<Owned> {
        let Some(lenses) = &self.lenses else { return Some(self.sent(document)) };
        let normal = before.run(document, arena, Stages::DEFAULT).ok()?.value;
        let stored = lenses.put(self.before.index, normal, None, Part::Whole, arena).ok()?;
        let shown = Owned::from(lenses.get(self.after.index, stored, arena));
        Some(as_seen_by(self.after, &shown))
    }

    /// A document that a client sends to `after` as it is.
    fn sent(&self, document: Value<'_>) -> Owned {
        as_seen_by(self.after, &document.into())
    }
}

/// Whether a document has a whole number that is written as hardly anybody writes it, such as `1e3`: Kubernetes refuses
/// these wherever a rule reads them, which says nothing about the rule.
fn has_odd_numbers(value: Value<'_>) -> bool {
    match value {
        Value::Number(number) => number.as_str().contains(['e', 'E']) || number.as_str().ends_with(".0"),
        Value::Array(items) => items.iter().any(|item| has_odd_numbers(*item)),
        Value::Object(entries) => entries.iter().any(|entry| has_odd_numbers(entry.value)),
        _ => false,
    }
}

/// Whether a rule of a schema compares values with those before an update.
fn looks_back(schema: &Schema) -> bool {
    schema.extensions.validations.iter().any(|rule| rule.rule.text.contains("oldSelf"))
        || schema.properties.iter().any(|property| looks_back(&property.schema))
        || schema.items.as_deref().is_some_and(looks_back)
        || schema.additional_schema().is_some_and(looks_back)
}
