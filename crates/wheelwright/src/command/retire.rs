//! `retire`: whether anything that is stored needs a version.

use std::io;

use wheelwright_document::{Arena, Entry, Number, Value};
use wheelwright_repository::{Accepted, Loss, Needs, Repository};

use super::stored::{Line, chosen, count, records, write_problems};
use crate::{Console, Exit, ResultFormat};

/// Says what a version is needed for: findings if it is for something that is not `accepted`.
///
/// # Errors
/// The console cannot be written to.
pub async fn retire(
    version: &str,
    kind: Option<&str>,
    repository: &Repository,
    accepted: &[Accepted],
    format: ResultFormat,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let collections = match chosen(repository, kind) {
        Ok(collections) => collections,
        Err(error) => {
            console.complain(error)?;
            return Ok(Exit::Usage);
        }
    };
    let [collection] = &collections[..] else {
        console.complain("the catalog has several kinds; choose with --kind")?;
        return Ok(Exit::Usage);
    };
    let name = collection.kind().kind().name();
    let needs = match collection.needs_accepting(version, accepted).await {
        Ok(needs) => needs,
        Err(error) => {
            console.complain(format_args!("{name}: {error}"))?;
            return Ok(Exit::Usage);
        }
    };
    match format {
        ResultFormat::Text => write_text(name, &needs, console.data)?,
        ResultFormat::Json => write_line(name, &needs, console.data)?,
    }
    console.data.flush()?;
    if needs.is_empty() {
        return Ok(Exit::Clean);
    }
    if needs.is_hub {
        console.say(format_args!("help: it is the hub; move that first: wheelwright lock --hub VERSION"))?;
    }
    if needs.stored > 0 {
        console.say("help: wheelwright migrate run stores records in the shape of the hub")?;
    }
    if needs.origins > 0 {
        console.say(format_args!("help: say in the catalog who speaks for it: successors: {{{version}: VERSION}}"))?;
    }
    let lost: Vec<&str> = open_losses(&needs).map(Loss::name).collect();
    if !lost.is_empty() {
        console.say(format_args!(
            "help: what only {version} shows stays stored, but no client sees it once {version} is removed; \
             to accept that: --accept {}",
            lost.join(",")
        ))?;
    }
    Ok(Exit::Findings)
}

/// What records lose that was not accepted.
fn open_losses(needs: &Needs) -> impl Iterator<Item = Loss> {
    Loss::ALL.into_iter().filter(|loss| {
        let mut fields = needs.fields.keys().filter(|(other, _)| other == loss);
        fields.any(|lost| !needs.is_accepted(lost))
    })
}

fn write_text(name: &str, needs: &Needs, out: &mut dyn io::Write) -> io::Result<()> {
    let (version, total) = (&needs.version, records(needs.total));
    if needs.is_empty() {
        writeln!(out, "{name}: none of {total} needs {version}")?;
        return write_losses(needs, out);
    }
    if needs.is_hub {
        writeln!(out, "{name}: {version} is the hub")?;
    }
    writeln!(out, "{name}: {version} is needed by {} of {total}", count(needs.records.count))?;
    let sorts = [
        (needs.stored, "stored in its shape"),
        (needs.origins, "with an owner who speaks it, while it has no successor"),
        (needs.unreadable, "that cannot be opened"),
    ];
    for (number, what) in sorts.into_iter().filter(|(number, _)| *number > 0) {
        writeln!(out, "  {:>9}  {what}", count(number))?;
    }
    write_losses(needs, out)?;
    write_problems(&needs.records, "in all", out)
}

/// Writes what records lose with the version, with the fields.
fn write_losses(needs: &Needs, out: &mut dyn io::Write) -> io::Result<()> {
    for loss in Loss::ALL.into_iter().filter(|loss| needs.count(*loss) > 0) {
        let what = match loss {
            Loss::Values => "with values that no other version shows",
            Loss::Notation => "with values that other versions show in another notation",
            Loss::Order => "with lists whose order no other version shows",
            _ => continue,
        };
        let fields = needs.fields.iter().filter(|((other, _), _)| *other == loss).map(|(lost, records)| {
            let accepted = if needs.is_accepted(lost) { ", accepted" } else { "" };
            format!("{} ({}{accepted})", lost.1, count(*records))
        });
        let fields = fields.collect::<Vec<_>>().join(", ");
        writeln!(out, "  {:>9}  {what}: {fields}", count(needs.count(loss)))?;
    }
    Ok(())
}

fn write_line(name: &str, needs: &Needs, out: &mut dyn io::Write) -> io::Result<()> {
    let mut line = Line::of_kind(name);
    line.text("version", needs.version.as_str());
    line.is("isHub", needs.is_hub);
    line.number("total", needs.total);
    line.number("stored", needs.stored);
    line.number("origins", needs.origins);
    line.number("hidden", needs.hidden);
    line.number("spelled", needs.spelled);
    line.number("ordered", needs.ordered);
    line.number("unreadable", needs.unreadable);
    let arena = Arena::new();
    let losses = Loss::ALL.into_iter().map(|loss| {
        let fields = needs.fields.iter().filter(|((other, _), _)| *other == loss).map(|((_, key), records)| {
            let number = Number::new(arena.text(&records.to_string()));
            Entry { key, value: number.map_or(Value::Null, Value::Number) }
        });
        Entry { key: loss.name(), value: Value::Object(arena.slice_from(fields.collect::<Vec<_>>())) }
    });
    line.value("fields", Value::Object(&losses.collect::<Vec<_>>()));
    let accepted: Vec<Value<'_>> = needs.accepted.iter().map(|accepted| Value::string(accepted.name())).collect();
    line.value("accepted", Value::Array(&accepted));
    line.problems("records", &needs.records);
    line.write(out)
}
