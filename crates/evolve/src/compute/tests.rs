//! What conversions make of values, both ways.

mod clamped;
mod documents;
mod expressions;
mod folded;
mod hooks;
mod laws;
mod maps;
mod problems;
mod scalars;
mod templates;

use wheelwright_document::{Arena, Value, encode};
use wheelwright_schema::{Problem, Root};

use super::{fit::Fit, *};
use crate::{
    Located, Selector, Step,
    testing::{document, schema},
};

/// A conversion between two versions, to be tried.
struct Trial {
    converter: Converter,
    /// What fits the fields of either side.
    fits: [Vec<Fit>; 2],
}

/// A conversion between fields of two versions, whose properties are given.
fn trial(old: &str, new: &str, from: &[&str], to: &[&str], with: Conversion) -> Trial {
    let fits = [(old, from), (new, to)].map(|(properties, paths)| {
        let structure = structure(properties);
        let paths: Vec<_> = paths.iter().map(|path| located(Selector::parse(path).unwrap())).collect();
        fields(&structure, &paths).into_iter().map(|field| Fit::of(&structure, field)).collect()
    });
    match compiled(old, new, from, to, with, &Hooks::new()) {
        Ok(converter) => Trial { converter, fits },
        Err(problems) => panic!("{problems:?}"),
    }
}

/// A conversion of field `a` of one schema to field `b` of another.
fn single(old: &str, new: &str, with: Conversion) -> Trial {
    trial(&format!("a: {old}"), &format!("b: {new}"), &["a"], &["b"], with)
}

fn compiled(
    old: &str,
    new: &str,
    from: &[&str],
    to: &[&str],
    with: Conversion,
    hooks: &Hooks,
) -> Result<Converter, Vec<Problem>> {
    let [old, new] = [old, new].map(structure);
    let [from, to] = [from, to].map(|paths| paths.iter().map(|path| located(Selector::parse(path).unwrap())).collect());
    let respelled = Respelled { from, to, with: located(with) };
    let (from_fields, to_fields) = (fields(&old, &respelled.from), fields(&new, &respelled.to));
    let side = |structure, fields| Side { structure, fields };
    Converter::compile(&respelled, side(&old, &from_fields), side(&new, &to_fields), hooks)
}

fn structure(properties: &str) -> Structure {
    Structure::of(&schema(&format!("{{type: object, properties: {{{properties}}}}}")), Root::Value)
}

fn located<T>(item: T) -> Located<T> {
    Located { item, span: Default::default() }
}

fn fields(structure: &Structure, paths: &[Located<Selector>]) -> Vec<NodeIndex> {
    let field = |path: &Located<Selector>| {
        let steps = path.item.steps();
        let end = steps.iter().rposition(|step| matches!(step, Step::Field(_))).unwrap() + 1;
        structure.find(&Selector::from_steps(steps[..end].to_vec())).unwrap()
    };
    paths.iter().map(field).collect()
}

/// Values of fields, as JSON with ` | ` between them; `-` is absent.
fn values<'a>(text: &str, arena: &'a Arena) -> Vec<Option<Value<'a>>> {
    text.split(" | ").map(|value| (value != "-").then(|| document(value, arena))).collect()
}

fn text(values: &[Option<Value<'_>>]) -> String {
    let one =
        |value: &Option<Value<'_>>| value.map_or("-".to_owned(), |value| String::from_utf8(encode(value)).unwrap());
    values.iter().map(one).collect::<Vec<_>>().join(" | ")
}

impl Trial {
    fn up(&self, sources: &str) -> String {
        self.convert(Direction::Up, sources, None)
    }

    fn down(&self, sources: &str) -> String {
        self.convert(Direction::Down, sources, None)
    }

    /// The result if the values on this side and the other were others before.
    fn convert(&self, direction: Direction, sources: &str, old: Option<(&str, &str)>) -> String {
        let arena = Arena::new();
        let sources = values(sources, &arena);
        let old = old.map(|(sources, results)| (values(sources, &arena), values(results, &arena)));
        let old = old.as_ref().map(|(sources, results)| (&sources[..], &results[..]));
        match self.run(direction, &sources, old, &arena) {
            Ok(results) => text(&results),
            Err(Failed(message)) => format!("failed: {message}"),
        }
    }

    fn run<'a>(
        &'a self,
        direction: Direction,
        sources: FieldValues<'_, 'a>,
        old: Option<(FieldValues<'_, 'a>, FieldValues<'_, 'a>)>,
        arena: &'a Arena,
    ) -> Result<Vec<Option<Value<'a>>>, Failed> {
        let mut results = Vec::new();
        let mut exchange = Exchange { sources, old, metadata: None, entry: None, arena };
        let done = self.converter.convert(direction, &mut exchange, &mut results);
        assert!(done.is_ok() || results.is_empty());
        done.map(|()| results)
    }

    /// What is converted up as said, and down again to the same.
    fn is_both_ways(&self, pairs: &[(&str, &str)]) {
        for (old, new) in pairs {
            assert_eq!(self.up(old), *new, "up {old}");
            assert_eq!(self.down(new), *old, "down {new}");
        }
    }

    fn is_up(&self, pairs: &[(&str, &str)]) {
        for (old, new) in pairs {
            assert_eq!(self.up(old), *new, "up {old}");
        }
    }

    fn is_down(&self, pairs: &[(&str, &str)]) {
        for (new, old) in pairs {
            assert_eq!(self.down(new), *old, "down {new}");
        }
    }
}
