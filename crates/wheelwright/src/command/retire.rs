//! `retire`: whether anything that is stored needs a version.

use std::io;

use wheelwright_repository::{Needs, Repository};

use super::stored::{Line, chosen, count, records, write_problems};
use crate::{Console, Exit, ResultFormat};

/// Says what a version is needed for: findings if it is for something.
///
/// # Errors
/// The console cannot be written to.
pub async fn retire(
    version: &str,
    kind: Option<&str>,
    repository: &Repository,
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
    let needs = match collection.needs(version).await {
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
    if needs.hidden + needs.spelled > 0 {
        console
            .say(format_args!("help: what only {version} shows stays stored, and nobody sees it once it is gone"))?;
    }
    Ok(Exit::Findings)
}

fn write_text(name: &str, needs: &Needs, out: &mut dyn io::Write) -> io::Result<()> {
    let (version, total) = (&needs.version, records(needs.total));
    if needs.is_empty() {
        return writeln!(out, "{name}: none of {total} needs {version}");
    }
    if needs.is_hub {
        writeln!(out, "{name}: {version} is the hub")?;
    }
    writeln!(out, "{name}: {version} is needed by {} of {total}", count(needs.records.count))?;
    let sorts = [
        (needs.stored, "stored in its shape"),
        (needs.origins, "with an owner who speaks it, while it has no successor"),
        (needs.hidden, "with something that no other version shows"),
        (needs.spelled, "with something that was spelled in it"),
        (needs.unreadable, "that cannot be opened"),
    ];
    for (number, what) in sorts.into_iter().filter(|(number, _)| *number > 0) {
        writeln!(out, "  {:>9}  {what}", count(number))?;
    }
    write_problems(&needs.records, "in all", out)
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
    line.number("unreadable", needs.unreadable);
    line.problems("records", &needs.records);
    line.write(out)
}
