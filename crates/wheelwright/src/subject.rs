//! What commands say about a kind of a catalog: its name, and findings at the places of its files.

use wheelwright_catalog::{Catalog, Kind};
use wheelwright_document::{FieldPath, Span};
use wheelwright_evolve::{Declaration, VersionName, check::Incompatibility};
use wheelwright_findings::{Finding, Level, Place, rules};
use wheelwright_schema::Problem;

use crate::scalar_place::place_of_part;

/// A kind, and the catalog that knows the places in its files.
pub(crate) struct Subject<'k> {
    pub(crate) catalog: &'k Catalog,
    pub(crate) kind: &'k Kind,
}

impl Subject<'_> {
    /// A problem with the changes or the lock, where it was written or else where the kind is.
    pub(crate) fn problem(&self, problem: Problem) -> Finding {
        let is_hook = is_unregistered_hook(&problem);
        let finding = self.problem_of_a_program(problem);
        match is_hook {
            // Programs register hooks; the command line has none, and whoever uses it can do nothing about it.
            true => finding
                .with_mend(
                    "leave it, if your program registers the hook: without it, its fields are not converted here",
                )
                .lowered_to(Level::Note),
            false => finding,
        }
    }

    /// The same for a program that registers hooks.
    pub(crate) fn problem_of_a_program(&self, mut problem: Problem) -> Finding {
        if problem.span == Span::default() {
            problem.span = self.kind.named;
        }
        let part = problem.part.take();
        let mut finding = self.catalog.finding(problem);
        if let (Some(part), Some(place)) = (part, &mut finding.place)
            && let Some(input) = self.catalog.inputs().find(|input| input.name == place.file)
        {
            place.span = place_of_part(&input.bytes, place.span, &part).unwrap_or(place.span);
        }
        finding
    }

    /// What a version does to another, where its schema says so.
    pub(crate) fn incompatibility(&self, found: &Incompatibility) -> Finding {
        let field = match found.field.steps() {
            [] => FieldPath::root(),
            _ => FieldPath::root().child(&found.field.to_string()),
        };
        let identity = format!("{} {} {}", full_name(&self.kind.declaration), found.version, found.field);
        let message = format!("{}: {}", self.kind.declaration.kind, found.message());
        let mut finding = Finding::new(found.rule(), message, field)
            .about(full_name(&self.kind.declaration), found.version.as_str())
            .with_mend(found.mend().trim_end())
            .with_identity(identity);
        finding.is_minor = found.refuses_only_empty();
        finding.level = self.kind.gate.level(found.level, found.gravest(), found.version.maturity());
        finding.place = self.catalog.place(found.span).or_else(|| self.place_of(&found.version));
        let other = found.other.as_ref().map_or("the version before", VersionName::as_str);
        match found.related.and_then(|span| self.catalog.place(span)) {
            Some(place) => finding.with_related(format!("in {other}"), place),
            None => finding,
        }
    }

    fn place_of(&self, version: &VersionName) -> Option<Place> {
        let declared = self.kind.declaration.version(version.as_str());
        self.catalog.place(declared.map_or(self.kind.named, |declared| declared.span))
    }
}

/// Whether a problem is only that a hook is not known here: programs register them.
pub(crate) fn is_unregistered_hook(problem: &Problem) -> bool {
    std::ptr::eq(problem.rule, &rules::HOOK_NOT_REGISTERED)
}

/// The group and the name of a kind.
pub(crate) fn full_name(declaration: &Declaration) -> String {
    declaration.name().to_string()
}

/// The kinds of a name, which may have its group behind it; all of them without a name.
///
/// # Errors
/// There is none, and what there is.
pub(crate) fn chosen<'k>(
    kinds: impl IntoIterator<Item = &'k Kind>,
    name: Option<&str>,
) -> Result<Vec<&'k Kind>, String> {
    let all: Vec<&Kind> = kinds.into_iter().collect();
    let Some(name) = name else { return Ok(all) };
    let found: Vec<&Kind> = all.iter().filter(|kind| kind.declaration.is_meant_by(name)).copied().collect();
    if found.is_empty() {
        let names: Vec<String> = all.iter().map(|kind| full_name(&kind.declaration)).collect();
        return Err(format!("no kind {name} in the catalog; there is {}", names.join(", ")));
    }
    Ok(found)
}
