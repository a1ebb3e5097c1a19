//! What the answers of other systems make of a record when it is read, and what stays of a write to their fields.

use wheelwright_document::{Arena, FieldPath, Owned, Value, decode};
use wheelwright_evolve::{FieldId, Lenses, Source, VersionIndex};
use wheelwright_schema::{ErrorType, Stages};

use crate::{
    Name, ServedKind, Writer,
    external::{
        Answers, OwnedFields, SourceError, SourceProblem,
        owned::{field_path, leads_through_objects, value_at},
    },
    fields::placed,
    open::Opened,
};

/// A field that another system has otherwise than the store.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Divergence {
    /// The system that owns it.
    pub source: Box<str>,
    /// The field, in the names of the version in which the system answers.
    pub path: FieldPath,
    /// What readers would see without the system.
    pub stored: Option<Owned>,
    /// What they see: the system's value, or the default where it has none.
    pub external: Option<Owned>,
}

impl ServedKind {
    /// An opened record with the fields of other systems as these have them, and where that differs from the store.
    pub(crate) fn merged<'a>(
        &'a self,
        opened: Opened<'a>,
        answers: &'a Answers,
        name: &Name,
        arena: &'a Arena,
    ) -> Result<(Opened<'a>, Vec<Divergence>), SourceError> {
        let lenses = self.lenses_of(&opened);
        let (mut object, mut divergence) = (opened.object, Vec::new());
        for (owned, answer) in self.external.iter().zip(answers) {
            let malformed = |why: String| SourceError::new(&owned.source, SourceProblem::Malformed(name.clone(), why));
            let answer = match answer {
                None => Value::Object(&[]),
                Some(json) => decode(json, arena).map_err(|error| malformed(error.to_string()))?,
            };
            if answer.as_object().is_none() {
                return Err(malformed(format!("it is {}, not an object", answer.kind_name())));
            }
            let parts = self.parts(owned, answer, arena).map_err(malformed)?;
            let shown = lenses.get(owned.version, object, arena);
            let fields = owned.fields.iter();
            let document = fields
                .fold(shown, |document, field| placed(document, &field.names, value_at(parts, &field.names), arena));
            let merged = lenses.replaced(owned.version, document, object, arena);
            divergence.extend(divergence_of(owned, shown, lenses.get(owned.version, merged, arena)));
            object = merged;
        }
        Ok((Opened { object, ..opened }, divergence))
    }

    /// A document of nothing but the fields that a system owns, as it answers them: without what counts as missing, and
    /// without what the version does not know. Or why that cannot be a part of a document.
    fn parts<'a>(&'a self, owned: &'a OwnedFields, answer: Value<'a>, arena: &'a Arena) -> Result<Value<'a>, String> {
        if let Some((path, value)) = owned.fields.iter().find_map(|field| owned.in_the_way(field, answer)) {
            return Err(format!("{path}: must be an object, and is {}", value.kind_name()));
        }
        let structure = &self.kind.history().version(owned.version).structure;
        let parts = owned.fields.iter().fold(Value::Object(&[]), |parts, field| {
            placed(parts, &field.names, owned.present(field, answer, structure, arena), arena)
        });
        let Some(program) = self.kind.program(owned.version) else { return Ok(parts) };
        let pruned = program.run(parts, arena, Stages::PRUNE).map_err(|error| error.to_string())?.value;
        let checked =
            program.run(pruned, arena, Stages::VALIDATE.without_rules()).map_err(|error| error.to_string())?;
        // All else is the system's own affair, and so is what it lacks.
        let mut mistyped = checked.errors.iter().filter(|error| error.kind() == ErrorType::TypeInvalid);
        match mistyped.find(|error| owned.fields.iter().any(|field| is_at(error.path(), &field.names))) {
            Some(error) => Err(format!("{}: {}", error.path(), error.message())),
            None => Ok(pruned),
        }
    }

    /// A document that is written through a version, with the fields of other systems as they were shown; none of them in
    /// a new one. Where something else stands in the place of the object that such a field is in, it is left to validation.
    pub(crate) fn passed_over<'a>(
        &'a self,
        version: VersionIndex,
        written: Value<'a>,
        shown: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> Value<'a> {
        self.owned_names[version.position()].iter().fold(written, |written, names| {
            match leads_through_objects(written, names) {
                true => placed(written, names, shown.and_then(|shown| value_at(shown, names)), arena),
                false => written,
            }
        })
    }

    /// What is stored once a document was written on top of what other systems say: their fields stay in the store as they
    /// were, however a version spells them. What the service itself has changed of them is stored.
    pub(crate) fn kept<'a>(
        &'a self,
        written: Value<'a>,
        (stored, merged): (Option<Value<'a>>, Option<Value<'a>>),
        writer: Writer,
        arena: &'a Arena,
    ) -> Value<'a> {
        let lenses = self.kind.lenses();
        self.external.iter().fold(written, |written, owned| {
            let value = |document: Option<Value<'a>>, names: &[Box<str>]| document.and_then(|at| value_at(at, names));
            let show = |stored: Value<'a>| lenses.get(owned.version, stored, arena);
            let (shown, base) = (show(written), merged.map(show));
            let (said, said_before) =
                (said(lenses, owned, written, arena), stored.map(|stored| said(lenses, owned, stored, arena)));
            let is_kept = |names: &[Box<str>]| {
                let is_of_service = writer == Writer::Service && value(Some(shown), names) != value(base, names);
                !is_of_service && value(Some(said), names) != value(said_before, names)
            };
            let kept: Vec<_> = owned.fields.iter().filter(|field| is_kept(&field.names)).collect();
            if kept.is_empty() {
                return written;
            }
            let document = kept
                .into_iter()
                .fold(shown, |document, field| placed(document, &field.names, value(said_before, &field.names), arena));
            lenses.replaced(owned.version, document, written, arena)
        })
    }
}

/// What a document says of the fields that a system owns, without what is only filled in or computed for readers.
fn said<'a>(lenses: &'a Lenses, owned: &'a OwnedFields, stored: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let (shown, sources) = lenses.explain(owned.version, stored, arena);
    let unsaid = sources.iter().filter(|found| matches!(found.source, Source::Frozen | Source::Derived(_)));
    let unsaid: Vec<FieldId> = unsaid.filter_map(|found| found.id).collect();
    let within = owned.within.iter().filter(|(id, _)| unsaid.contains(id));
    within.fold(shown, |document, (_, names)| placed(document, names, None, arena))
}

fn divergence_of(owned: &OwnedFields, stored: Value<'_>, external: Value<'_>) -> Vec<Divergence> {
    let differing = owned.fields.iter().filter_map(|field| {
        let (stored, external) = (value_at(stored, &field.names), value_at(external, &field.names));
        let is_same = match (stored, external) {
            (Some(stored), Some(external)) => stored.equivalent(external),
            (None, None) => true,
            _ => false,
        };
        (!is_same).then(|| Divergence {
            source: owned.source.clone(),
            path: field_path(&field.names),
            stored: stored.map(Owned::from),
            external: external.map(Owned::from),
        })
    });
    differing.collect()
}

/// Whether a path is that of a field, or leads into it.
fn is_at(path: &FieldPath, names: &[Box<str>]) -> bool {
    let field = field_path(names);
    let rest = path.as_str().strip_prefix(field.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
