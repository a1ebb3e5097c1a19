//! `laws`: every version of every kind, held against the laws of lenses over generated documents.

use std::io;

use wheelwright_document::{Arena, Entry, Number, Value, decode, encode};
use wheelwright_evolve::laws::{Column, Failure, LawReport, Laws, Report};

use crate::{Console, Exit, Kinds, ResultFormat, kinds::few, report::plural};

/// How the laws are run, and how it is told.
#[derive(Clone, Debug)]
pub struct LawsOptions {
    /// How many cases a kind.
    pub cases: usize,
    /// Where documents come from: the same number gives the same documents.
    pub seed: u64,
    /// The kind, if only one is meant: `Order`, or with its group, `Order.shop.example.com`.
    pub kind: Option<String>,
    /// How results are written.
    pub format: ResultFormat,
}

/// Holds the kinds of a catalog against the laws, and writes what came of it. That is findings if a law was broken, and
/// also if a kind has bags, reorders, guards or unions and no document met one. Fields that no document had are only listed.
///
/// # Errors
/// The console cannot be written to.
pub fn laws(kinds: &Kinds, options: &LawsOptions, console: &mut Console<'_>) -> io::Result<Exit> {
    let chosen = match options.kind.as_deref().map(|name| kinds.named(name)).transpose() {
        Ok(chosen) => chosen,
        Err(complaint) => {
            console.complain(complaint)?;
            return Ok(Exit::Usage);
        }
    };
    let is_chosen = |kind| chosen.as_ref().is_none_or(|chosen| chosen.iter().any(|one| std::ptr::eq(*one, kind)));
    let (mut run, mut failed) = (0, 0);
    for (kind, declaration) in kinds.iter().zip(kinds.declarations()).filter(|(kind, _)| is_chosen(*kind)) {
        let laws = Laws { cases: options.cases, seed: options.seed };
        let step = (options.cases / 100).max(1);
        let mut told = Ok(());
        let report = laws.run(kind, declaration, &mut |done| {
            if done % step == 0 && told.is_ok() {
                told = console.progress(format_args!("{}: {done} of {} cases", kind.name(), options.cases));
            }
        });
        told.and_then(|()| console.end_progress())?;
        match options.format {
            ResultFormat::Json => write_line(&report, console.data)?,
            ResultFormat::Text => write_table(&report, console.data)?,
        }
        console.data.flush()?;
        run += 1;
        failed += usize::from(!report.is_success());
    }
    if let (0, Some([kind, ..])) = (run, chosen.as_deref()) {
        let name = kind.name();
        console.complain(format_args!(
            "only a lock remembers {name}: without its schemas, there are no documents of it"
        ))?;
        return Ok(Exit::Usage);
    }
    match failed {
        0 => console.say(format_args!("{}: every law held", plural(run, "kind")))?,
        _ => console.say(format_args!("{}: {failed} failed", plural(run, "kind")))?,
    }
    Ok(if failed == 0 { Exit::Clean } else { Exit::Findings })
}

fn columns(report: &Report) -> [(&'static str, Column); 4] {
    let covered = &report.covered;
    [("bags", covered.bags), ("reorders", covered.reorders), ("guards", covered.guards), ("unions", covered.unions)]
}

fn write_table(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{} ({}): {}", report.kind, report.versions.join(", "), plural(report.cases, "case"))?;
    writeln!(out, "  {:10}  {:>9}  {:>6}", "law", "held", "broken")?;
    for LawReport { law, held, broken, .. } in &report.laws {
        writeln!(out, "  {:10}  {held:>9}  {broken:>6}", law.name())?;
    }
    let covered = &report.covered;
    write!(out, "  covered: {} of {}", covered.nodes, plural(covered.of, "node"))?;
    for (name, column) in columns(report).into_iter().filter(|(_, column)| column.applies) {
        write!(out, ", {} {name}", column.count)?;
    }
    writeln!(out)?;
    let (passed, of) = report.rules_passed;
    if of > 0 {
        writeln!(out, "  rules: {passed} of {} passed those of their version", plural(of, "document"))?;
    }
    for (name, _) in columns(report).into_iter().filter(|(_, column)| column.is_missed()) {
        writeln!(out, "  failed: the kind has {name}, and no document met one: {}", more_cases(report))?;
    }
    for version in &report.versions {
        let missed = covered.missed.iter().filter(|(missed, _)| missed == version).map(|(_, path)| path);
        // Where there is no document, there is nothing in it either.
        match missed.clone().next().map(String::as_str) {
            None => {}
            Some("") => writeln!(out, "  not covered: there was no document of {version}")?,
            Some(_) => {
                writeln!(out, "  not covered: no document of {version} had {}", few(missed.cloned()))?;
            }
        }
    }
    if !report.is_complete() {
        writeln!(out, "  help: to cover all of it, {}", more_cases(report))?;
    }
    for law in &report.laws {
        if let Some(failure) = &law.example {
            let mut lines = failure.explain(law.law).lines().map(str::to_owned).collect::<Vec<_>>().into_iter();
            writeln!(out, "  broken: {}", lines.next().unwrap_or_default())?;
            lines.try_for_each(|line| writeln!(out, "    {line}"))?;
        }
    }
    writeln!(out)
}

/// What to do if documents did not reach something: most kinds need no more than two hundred cases.
fn more_cases(report: &Report) -> String {
    format!("try --cases {}", (report.cases * 2).max(200))
}

fn write_line(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let arena = Arena::new();
    let number = |number: usize| Number::new(arena.text(&number.to_string())).map_or(Value::Null, Value::Number);
    let object = |entries: &[_]| object_of(entries, &arena);
    let versions = report.versions.iter().map(|version| Value::string(version));
    let mut covered = vec![("nodes", number(report.covered.nodes)), ("of", number(report.covered.of))];
    covered.extend(columns(report).map(|(name, column)| (name, number(column.count))));
    let laws: Vec<_> = report
        .laws
        .iter()
        .map(|LawReport { law, held, broken, example, .. }| {
            let example = example.as_ref().map_or(Value::Null, |failure| example_of(failure, &arena));
            (law.name(), object(&[("held", number(*held)), ("broken", number(*broken)), ("example", example)]))
        })
        .collect();
    let line = object(&[
        ("kind", Value::string(&report.kind)),
        ("versions", Value::Array(arena.slice_from(versions))),
        ("cases", number(report.cases)),
        ("covered", object(&covered)),
        ("laws", object(&laws)),
    ]);
    let mut line = encode(line);
    line.push(b'\n');
    out.write_all(&line)
}

fn example_of<'a>(failure: &'a Failure, arena: &'a Arena) -> Value<'a> {
    // The parts of a failure are JSON; what cannot be decoded is shown as it is.
    let json = |text: &'a str| decode(text.as_bytes(), arena).unwrap_or(Value::string(text));
    let object = |entries: &[_]| object_of(entries, arena);
    let writes = failure
        .writes
        .iter()
        .map(|(version, document)| object(&[("version", Value::string(version)), ("document", json(document))]));
    object(&[
        ("hub", Value::string(&failure.hub)),
        ("writes", Value::Array(arena.slice_from(writes))),
        ("version", Value::string(&failure.version)),
        ("expected", json(&failure.expected)),
        ("found", json(&failure.found)),
    ])
}

fn object_of<'a>(entries: &[(&'static str, Value<'a>)], arena: &'a Arena) -> Value<'a> {
    Value::Object(arena.slice_from(entries.iter().map(|(key, value)| Entry { key, value: *value })))
}
