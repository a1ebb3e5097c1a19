//! The table of what CEL and Kubernetes' libraries do: every line of the files in this folder is a fact.
//!
//! A line is `expression => value`, `expression => fails: words` for what has no value, or `expression => refused: words`
//! for what cannot be compiled; the words must be in the message. Lines that begin with `#` are comments. What is in
//! `elsewhere.txt` Kubernetes does not have in rules; everything else it has.

mod docs;
mod document;
mod syntax;
mod text;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use document::Sample;
use wheelwright_document::Arena;
use wheelwright_expr::{Evaluator, Expression, Type, functions, parse};

/// A line of a table.
struct Case {
    place: String,
    expression: String,
    expected: String,
    is_elsewhere: bool,
}

#[test]
fn every_line_of_the_table_holds() {
    let sample = Sample::new();
    let wrong: Vec<_> = cases().iter().filter_map(|case| check(&sample, case).err()).collect();
    assert!(wrong.is_empty(), "{} lines do not hold:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn everything_that_expressions_can_use_is_in_the_table() {
    let sample = Sample::new();
    let mut seen = BTreeSet::new();
    for case in cases() {
        if case.expected.starts_with("refused:") {
            continue;
        }
        if let Ok(expr) = parse(&case.expression) {
            syntax::signatures(&expr, &case.expression, &mut seen);
        }
        if let Ok(expression) = compile(&sample, &case.expression) {
            seen.extend(expression.functions().map(|function| function.signature));
        }
    }
    let known: BTreeSet<_> = functions().into_iter().map(|function| function.signature).collect();
    let missing: Vec<_> = known.difference(&seen).map(String::as_str).collect();
    assert!(missing.is_empty(), "no line uses\n{}", missing.join("\n"));
    let unknown: Vec<_> = seen.difference(&known).map(String::as_str).collect();
    assert!(unknown.is_empty(), "`functions()` does not list\n{}", unknown.join("\n"));
}

fn check(sample: &Sample, case: &Case) -> Result<(), String> {
    let Case { place, expression, expected, .. } = case;
    let compiled = compile(sample, expression);
    if let Ok(compiled) = &compiled
        && compiled.foreign_functions().is_empty() == case.is_elsewhere
    {
        return Err(format!("{place}: `{expression}` uses {:?}", compiled.foreign_functions()));
    }
    let arena = Arena::new();
    let (actual, holds) = match (&compiled, expected.split_once(':').map(|(verb, words)| (verb, words.trim()))) {
        (Err(error), Some(("refused", words))) => (format!("refused: {error}"), error.contains(words)),
        (Err(error), _) => (format!("refused: {error}"), false),
        (Ok(compiled), said) => {
            let mut evaluator = Evaluator::new(&sample.shapes, &arena);
            evaluator.set_budget(1_000_000);
            let value = evaluator.read(&sample.value, sample.shape);
            match (compiled.evaluate(&mut evaluator, &[value]), said) {
                (Err(error), Some(("fails", words))) => (String::new(), error.message().contains(words)),
                (Err(error), _) => (format!("fails: {error}"), false),
                (Ok(value), _) => (text::of(value), text::of(value) == *expected),
            }
        }
    };
    holds.then_some(()).ok_or_else(|| format!("{place}: `{expression}` => {actual}, not {expected}"))
}

/// An expression with a value of any type; a rule must give a bool, which the lines of `rules.txt` show.
fn compile(sample: &Sample, source: &str) -> Result<Expression, String> {
    let (source, wanted) = match source.strip_prefix("rule ") {
        Some(rule) => (rule.to_owned(), Type::Bool),
        None => (format!("dyn({source})"), Type::Dyn),
    };
    Expression::compile(&source, &sample.shapes, &[sample.variable()], &wanted).map_err(|error| error.to_string())
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for file in tables() {
        let name = file.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let content = fs::read_to_string(&file).expect("a table can be read");
        for (line, number) in content.lines().zip(1..) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = format!("{name}:{number}");
            let (expression, expected) =
                line.split_once(" => ").unwrap_or_else(|| panic!("{place}: a line is `expression => what it gives`"));
            let (expression, expected) = (expression.trim().to_owned(), expected.trim().to_owned());
            cases.push(Case { place, expression, expected, is_elsewhere: name == "elsewhere.txt" });
        }
    }
    cases
}

fn tables() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let entries = fs::read_dir(folder).expect("the folder of tables can be read");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry of the folder").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files
}

/// What an expression over the sample gives, as text.
fn result_of(source: &str) -> String {
    let sample = Sample::new();
    let expression = compile(&sample, source).unwrap_or_else(|error| panic!("`{source}` is refused: {error}"));
    let arena = Arena::new();
    let mut evaluator = Evaluator::new(&sample.shapes, &arena);
    evaluator.set_budget(1_000_000);
    let value = evaluator.read(&sample.value, sample.shape);
    match expression.evaluate(&mut evaluator, &[value]) {
        Ok(value) => text::of(value),
        Err(error) => format!("fails: {error}"),
    }
}
