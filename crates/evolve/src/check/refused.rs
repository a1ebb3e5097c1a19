//! Valid values of one version that are no values of the other once they are converted: found by converting some.

use wheelwright_document::{Arena, Owned, Value};
use wheelwright_findings::{Level, shortened};
use wheelwright_schema::Program;

use super::{
    Incompatibility, What,
    candidates::{Fields, candidates},
    diff::{known, spelled, spellings},
    example::{number, string},
    sample::{documents, spelled_all, steps_below, values_at},
    side::{Side, pruned, refusal},
};
use crate::{
    Conversion, Direction, NodeIndex, Scalar, Selector, Shape,
    change::clamped_by,
    compute::{self, Converter, Exchange, Hooks},
    link::Link,
};

/// What is wrong with the values that a change makes, on either way.
pub(crate) fn refused(link: &Link, before: &Side<'_>, after: &Side<'_>) -> Vec<Incompatibility> {
    let unlisted = unlisted(link, before, after);
    if !unlisted.is_empty() || matches!(link.respelled.with.item, Conversion::Hook(_)) {
        return unlisted;
    }
    let metadata = metadata(link, before);
    let metadata = metadata.as_ref();
    let clamped = clamped(link, before, after);
    let clamped = clamped.as_ref();
    let (source, target) = ((before, &link.from[..]), (after, &link.to[..]));
    let up = Way { direction: Direction::Up, source, target, link, clamped, metadata };
    let down = Way { direction: Direction::Down, source: up.target, target: up.source, ..up };
    [up, down].iter().filter_map(Way::refused).collect()
}

/// The same conversion with its numbers clamped, if they are not, and can be.
fn clamped(link: &Link, before: &Side<'_>, after: &Side<'_>) -> Option<Converter> {
    let respelled = clamped_by(&link.respelled, [before.whole(), after.whole()])?;
    let from = compute::Side { structure: &before.version.structure, fields: &link.from };
    let to = compute::Side { structure: &after.version.structure, fields: &link.to };
    Converter::compile(&respelled, from, to, &Hooks::default()).ok()
}

/// What a document has as metadata, where a change may look at it.
fn metadata(link: &Link, side: &Side<'_>) -> Option<Owned> {
    side.type_meta.as_ref().filter(|_| link.reads_metadata())?;
    let arena = Arena::new();
    documents(side, &Selector::root()).first()?.share(&arena).get("metadata").map(Owned::from)
}

/// Values that a change names and the schema of their field does not.
fn unlisted(link: &Link, before: &Side<'_>, after: &Side<'_>) -> Vec<Incompatibility> {
    let Conversion::Values(pairs) = link.respelled.with.item.unclamped() else { return Vec::new() };
    let mut findings = Vec::new();
    let (old, new): (Vec<&str>, Vec<&str>) = pairs.iter().map(|(old, new)| (&**old, &**new)).unzip();
    for (side, paths, values) in [(before, &link.respelled.from, old), (after, &link.respelled.to, new)] {
        let field = &paths[0].item;
        let Some(node) = side.version.structure.find(field) else { continue };
        let Some(schema) = side.schema(node) else { continue };
        let is_open = schema.checks.r#enum.is_empty();
        let listed = if is_open { known(schema) } else { &schema.checks.r#enum };
        let texts = spellings(listed);
        let is_text = side.version.structure.node(node).shape == Shape::Scalar(Scalar::String);
        // Numbers and booleans are named by their spelling.
        let is_listed = |text: &str| texts.contains(&spelled(&string(text))) || !is_text && texts.contains(text);
        for text in values.into_iter().filter(|text| !listed.is_empty() && !is_listed(text)) {
            let what = What::ValueNotListed { value: text.into(), listed: listed.to_vec() };
            let found = Incompatibility::new(&side.version.name, None, field.clone(), what)
                .at(link.respelled.with.span, Default::default());
            // An open enum does not list all values that there are.
            let level = if is_open { found.level.min(Level::Note) } else { found.level };
            findings.push(Incompatibility { level, ..found });
        }
    }
    findings
}

/// Larger numbers are such as hardly anybody writes.
const MOST_ORDINARY: f64 = 1e9;

/// One way of a change.
#[derive(Clone, Copy)]
struct Way<'w> {
    direction: Direction,
    source: Fields<'w>,
    target: Fields<'w>,
    link: &'w Link,
    clamped: Option<&'w Converter>,
    metadata: Option<&'w Owned>,
}

/// What is to be said of values.
struct Judged {
    /// The field that is refused, among those of its side.
    position: usize,
    what: What,
    /// It is refused only for being empty.
    is_empty: bool,
}

/// The values of all fields of a side, and whether somebody may well write them.
type Sample = (Vec<Option<Owned>>, bool);

impl Way<'_> {
    /// A value that is refused: the first for which that is grave, or else the first.
    fn refused(&self) -> Option<Incompatibility> {
        let programs = |(side, nodes): Fields<'_>| -> Option<Vec<Program>> {
            let compiled = |node: &NodeIndex| Some(Program::compile(side.schema(*node)?, side.value_root()));
            nodes.iter().map(compiled).collect()
        };
        let (sources, targets) = (programs(self.source)?, programs(self.target)?);
        let is_valid = |values: &[Option<Owned>]| {
            let mut fields = values.iter().zip(&sources);
            fields.all(|(value, program)| value.as_ref().is_none_or(|value| refusal(program, value).is_none()))
        };
        // What the version does not have would be gone before it is converted.
        let pruned = |(values, is_ordinary): Sample| {
            let values = values.into_iter().zip(&sources).map(|(value, program)| Some(pruned(program, &value?)));
            (values.collect::<Vec<_>>(), is_ordinary)
        };
        let valid = self.samples().into_iter().map(pruned).filter(|(values, _)| is_valid(values));
        let mut first = None;
        for (values, is_ordinary) in valid {
            let Some(Judged { position, what, is_empty }) = self.judged(&values, &targets) else { continue };
            // Where one word keeps every value, no value is too odd to matter.
            let is_kept_by_clamping = matches!(what, What::Refused { can_be_clamped: true, .. });
            // What only the newer version can say is what it is there for.
            let is_grave = (is_ordinary || is_kept_by_clamping) && !is_empty && self.direction == Direction::Up;
            if is_grave || first.is_none() {
                first = Some((position, what, is_grave));
            }
            if is_grave {
                break;
            }
        }
        let (position, what, is_grave) = first?;
        let ((target, nodes), (source, _)) = (self.target, self.source);
        let field = target.version.structure.selector(nodes[position]);
        let found = Incompatibility::new(&target.version.name, Some(&source.version.name), field, what)
            .at(self.link.respelled.with.span, source.place(self.source.1[0], ""));
        // A value that cannot be converted is merely not shown, and a text that a template takes apart can be any text.
        let is_lenient = matches!(found.what, What::Refused { becomes: None, .. })
            || matches!(self.link.respelled.with.item, Conversion::Template { .. });
        let most = if is_lenient { Level::Warning } else { Level::Error };
        let level = found.gravest().min(if is_grave { most } else { Level::Note });
        Some(found.with_level(level))
    }

    /// What becomes of values, if that is nothing or is refused.
    fn judged(&self, values: &[Option<Owned>], targets: &[Program]) -> Option<Judged> {
        let arena = Arena::new();
        let sources: Vec<Option<Value<'_>>> =
            values.iter().map(|value| value.as_ref().map(|value| value.share(&arena))).collect();
        let metadata = self.metadata.map(|metadata| metadata.share(&arena));
        let mut exchange = Exchange { sources: &sources, old: None, metadata, entry: None, arena: &arena };
        let mut results = Vec::new();
        let (side, nodes) = self.source;
        let from: Vec<Selector> = nodes.iter().map(|node| side.version.structure.selector(*node)).collect();
        let value = shortened(&spelled_all(&sources)).into_owned();
        if let Err(failed) = self.link.converter.convert(self.direction, &mut exchange, &mut results) {
            let can_be_clamped = self.can_be_clamped(&sources, targets, &arena);
            let what = What::Refused { from, value, becomes: None, reason: failed.0, can_be_clamped };
            return self.is_telling().then_some(Judged { position: 0, what, is_empty: false });
        }
        results.iter().zip(targets).enumerate().find_map(|(position, (result, program))| {
            let result = Owned::from((*result)?);
            let reason = refusal(program, &result)?;
            let becomes = Some(shortened(&spelled(&result)).into_owned());
            let is_empty = ["\"\"", "[]", "{}"].contains(&&*spelled(&result));
            let can_be_clamped = self.can_be_clamped(&sources, targets, &arena);
            let what = What::Refused { from: from.clone(), value: value.clone(), becomes, reason, can_be_clamped };
            Some(Judged { position, what, is_empty })
        })
    }

    /// Whether the other side accepts the nearest number that it can hold.
    fn can_be_clamped<'a>(&'a self, sources: &[Option<Value<'a>>], targets: &[Program], arena: &'a Arena) -> bool {
        let Some(clamped) = self.clamped else { return false };
        let metadata = self.metadata.map(|metadata| metadata.share(arena));
        let mut exchange = Exchange { sources, old: None, metadata, entry: None, arena };
        let mut results = Vec::new();
        let is_done = clamped.convert(self.direction, &mut exchange, &mut results).is_ok();
        let is_accepted = |(result, program): (&Option<Value<'_>>, &Program)| {
            result.is_none_or(|result| refusal(program, &Owned::from(result)).is_none())
        };
        is_done && results.iter().zip(targets).all(is_accepted)
    }

    /// Whether a failure says something: expressions and patterns are made for some texts and some metadata, and who knows
    /// for which.
    fn is_telling(&self) -> bool {
        let (side, nodes) = self.source;
        let is_told = |node: &NodeIndex| match side.version.structure.node(*node).shape {
            Shape::Scalar(Scalar::Integer | Scalar::Number | Scalar::Boolean) => true,
            _ => side.schema(*node).is_some_and(|schema| !schema.checks.r#enum.is_empty()),
        };
        match self.link.respelled.with.item.unclamped() {
            Conversion::Expression { .. } | Conversion::Expressions { .. } => {
                !self.link.reads_metadata() && nodes.iter().all(is_told)
            }
            Conversion::Template { .. } => false,
            _ => true,
        }
    }

    /// Values that become numbers just beyond what the one field of the other side can hold, but for those that hardly
    /// anybody writes.
    fn beyond_bounds(&self) -> Vec<Owned> {
        let (side, [field]) = self.target else { return Vec::new() };
        let Some(schema) = side.schema(*field) else { return Vec::new() };
        let (least, most) = (schema.checks.minimum, schema.checks.maximum);
        // An exclusive bound is itself beyond what is taken.
        let (below, above) = (least.map(|least| [least, least - 1.0]), most.map(|most| [most, most + 1.0]));
        let beyond = below.into_iter().chain(above).flatten();
        let opposite = match self.direction {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        };
        let source_of = |value: f64| {
            let arena = Arena::new();
            let value = number(value);
            let metadata = self.metadata.map(|metadata| metadata.share(&arena));
            let sources = [Some(value.share(&arena))];
            let mut exchange = Exchange { sources: &sources, old: None, metadata, entry: None, arena: &arena };
            let mut results = Vec::new();
            self.link.converter.convert(opposite, &mut exchange, &mut results).ok()?;
            results.first().copied().flatten().map(Owned::from)
        };
        beyond.filter(|value| value.abs() < MOST_ORDINARY).filter_map(source_of).collect()
    }

    /// Values to try: those that a converter is made for, else what documents of the version have.
    fn samples(&self) -> Vec<Sample> {
        if let Some(found) = candidates(self.source, self.target, &self.link.respelled, self.direction) {
            let beyond = self.beyond_bounds().into_iter().map(|value| (vec![Some(value)], true));
            let found = found.into_iter().map(|found| (vec![Some(found.value)], found.is_ordinary));
            let mut samples: Vec<Sample> = found.chain(beyond).collect();
            samples.sort_by_key(|(_, is_ordinary)| !is_ordinary);
            return samples;
        }
        let (side, nodes) = self.source;
        let structure = &side.version.structure;
        let scope = structure.scope_of(nodes[0]);
        let above = structure.selector(scope);
        let below: Vec<_> = nodes.iter().map(|field| steps_below(structure, scope, *field)).collect();
        let mut found = Vec::new();
        for document in documents(side, &structure.selector(nodes[0])) {
            let arena = Arena::new();
            for object in values_at(document.share(&arena), above.steps()) {
                let value = |steps: &Vec<_>| values_at(object, steps).first().map(|value| Owned::from(*value));
                let values: Vec<Option<Owned>> = below.iter().map(value).collect();
                let text: String = values.iter().flatten().map(spelled).collect();
                // Nobody means an empty key.
                found.push((text.clone(), (values, !text.contains("\"\":"))));
            }
        }
        // Of those that show something, the shortest that can be read.
        let is_readable = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        found.sort_by_key(|(text, _)| (!is_readable(text), text.len()));
        found.into_iter().map(|(_, sample)| sample).collect()
    }
}
