//! Computed changes, found in the versions that they are about: which fields of which versions they tie together.

use wheelwright_findings::rules;
use wheelwright_schema::Problem;

use crate::{
    Conversion, Derived, Direction, History, Located, NodeIndex, Renamed, Respelled, Selector, Shape, Step, Structure,
    VersionHistory, VersionIndex, VersionStep,
    compute::{Converter, Deriver, Hooks, Side},
    declaration::is_on_one_side,
    history::find,
    problem::problem_at,
};

/// A respelled fact, and the fields of both sides.
#[derive(Debug)]
pub(crate) struct Link {
    /// The version that was stepped into, which has the fields of `to`.
    pub(crate) version: VersionIndex,
    /// The version before, which has the fields of `from`.
    pub(crate) before: VersionIndex,
    pub(crate) from: Vec<NodeIndex>,
    pub(crate) to: Vec<NodeIndex>,
    pub(crate) converter: Converter,
    /// What was declared.
    pub(crate) respelled: Respelled,
}

impl Link {
    /// Whether what it gives may depend on metadata.
    pub(crate) fn reads_metadata(&self) -> bool {
        self.converter.reads_metadata()
    }
}

/// A derived field, and the version that it is computed from.
#[derive(Debug)]
pub(crate) struct Derivation {
    /// The version that was stepped into.
    pub(crate) version: VersionIndex,
    /// The version that is read.
    pub(crate) source: VersionIndex,
    /// The version that has the field.
    pub(crate) target: VersionIndex,
    /// The field.
    pub(crate) field: NodeIndex,
    pub(crate) deriver: Deriver,
    /// What was declared.
    pub(crate) derived: Derived,
}

/// All that is computed between the versions of a kind.
#[derive(Debug, Default)]
pub(crate) struct Computations {
    pub(crate) links: Vec<Link>,
    pub(crate) derivations: Vec<Derivation>,
}

impl Computations {
    /// Whether something may be computed of metadata.
    pub(crate) fn read_metadata(&self) -> bool {
        self.derivations.iter().any(|derivation| derivation.deriver.reads_metadata())
            || self.links.iter().any(Link::reads_metadata)
    }

    /// Finds and compiles what the versions of a history declare. What is wrong is left out.
    pub(crate) fn of(history: &History, hooks: &Hooks) -> (Self, Vec<Problem>) {
        let mut found = Self::default();
        let mut problems = Vec::new();
        for index in history.indexes() {
            let version = history.version(index);
            let Some(before) = version.from else {
                let spans = version.respelled.iter().map(|respelled| respelled.with.span);
                let spans = spans.chain(version.derived.iter().map(|derived| derived.at.span));
                problems.extend(spans.map(|span| {
                    let message =
                        format!("{} is the first version: nothing can be computed from another", version.name);
                    problem_at(&rules::UNKNOWN_CHANGE_PATH, span, message)
                }));
                continue;
            };
            for respelled in &version.respelled {
                found.links.extend(link(history, index, before, respelled, hooks, &mut problems));
            }
            for derived in &version.derived {
                found.derivations.extend(derivation(history, index, before, derived, &mut problems));
            }
        }
        (found, problems)
    }
}

fn link(
    history: &History,
    index: VersionIndex,
    before: VersionIndex,
    respelled: &Respelled,
    hooks: &Hooks,
    problems: &mut Vec<Problem>,
) -> Option<Link> {
    let (old, new) = (history.version(before), history.version(index));
    let word = respelled.with.item.word();
    let from = fields(old, &respelled.from, word, problems);
    let to = fields(new, &respelled.to, word, problems);
    let (from, to) = (from?, to?);
    let first = &respelled.from[0];
    let scope = old.element_of(from[0]);
    let elsewhere = from.iter().map(|node| old.element_of(*node)).chain(to.iter().map(|node| new.element_of(*node)));
    let other_side = |at: &&Located<Selector>| !is_on_one_side(&first.item, &at.item);
    if let Some(at) = respelled.from.iter().chain(&respelled.to).find(other_side) {
        let message = format!("{} and {} are not both in the status", first.item, at.item);
        problems.push(problem_at(&rules::RENAME_LEAVES_ITS_PLACE, at.span, message));
        return None;
    }
    if let Some((at, _)) = respelled.from.iter().chain(&respelled.to).zip(elsewhere).find(|(_, other)| *other != scope)
    {
        let message = format!("{} and {} are not in the same items or values", first.item, at.item);
        problems.push(problem_at(&rules::RENAME_LEAVES_ITS_PLACE, at.span, message));
        return None;
    }
    let sides = (Side { structure: &old.structure, fields: &from }, Side { structure: &new.structure, fields: &to });
    match Converter::compile(respelled, sides.0, sides.1, hooks) {
        Ok(converter) => Some(Link { version: index, before, from, to, converter, respelled: respelled.clone() }),
        Err(found) => {
            problems.extend(found);
            None
        }
    }
}

/// The fields of a side, none of which is in another.
fn fields(
    version: &VersionHistory,
    paths: &[Located<Selector>],
    word: &str,
    problems: &mut Vec<Problem>,
) -> Option<Vec<NodeIndex>> {
    let found: Vec<Option<NodeIndex>> = paths.iter().map(|at| field(version, at, word, problems)).collect();
    let found: Vec<NodeIndex> = found.into_iter().collect::<Option<_>>()?;
    for (position, node) in found.iter().enumerate() {
        let above = std::iter::successors(Some(*node), |at| version.structure.node(*at).parent).skip(1);
        if let Some(outer) = above.into_iter().find_map(|above| found.iter().position(|other| *other == above)) {
            let message =
                format!("{} is in {}, which is converted as a whole", paths[position].item, paths[outer].item);
            problems.push(problem_at(&rules::RENAME_COLLISION, paths[position].span, message));
            return None;
        }
    }
    Some(found)
}

/// The field that a path leads to, whatever items or values of it are meant.
fn field(
    version: &VersionHistory,
    at: &Located<Selector>,
    word: &str,
    problems: &mut Vec<Problem>,
) -> Option<NodeIndex> {
    find(&version.structure, at, &version.name, word, problems)?;
    let found = version.structure.find_field(&at.item);
    if found.is_none() {
        let message = "the document itself cannot be converted, only fields of it";
        problems.push(problem_at(&rules::UNKNOWN_CHANGE_PATH, at.span, message));
    }
    found
}

fn derivation(
    history: &History,
    index: VersionIndex,
    before: VersionIndex,
    derived: &Derived,
    problems: &mut Vec<Problem>,
) -> Option<Derivation> {
    let (source, target) = match derived.direction {
        Direction::Up => (before, index),
        Direction::Down => (index, before),
    };
    let (from, to) = (history.version(source), history.version(target));
    let field = find(&to.structure, &derived.at, &to.name, "derived", problems)?;
    let shape = to.structure.node(field).shape;
    if !to.structure.is_field(field) || shape == Shape::Object {
        let what =
            if shape == Shape::Object { "an object: derive its fields" } else { "no field, but items or values" };
        let message = format!("{} is {what}", derived.at.item);
        problems.push(problem_at(&rules::UNKNOWN_CHANGE_PATH, derived.at.span, message));
        return None;
    }
    let own = to.structure.scope_of(field);
    let Some(own) = from.counterpart(to, own) else {
        let message = format!("{} is in items or values that {} does not have", derived.at.item, from.name);
        problems.push(problem_at(&rules::RENAME_LEAVES_ITS_PLACE, derived.at.span, message));
        return None;
    };
    // A field that both versions have would be computed from itself, or over what was written.
    if to.id(field).is_some_and(|id| from.node_of(id).is_some()) {
        let message = format!("{} is in {} as well, so that nothing is to be derived", derived.at.item, from.name);
        let mut problem = problem_at(&rules::RENAME_COLLISION, derived.at.span, message);
        problem.mend = Some("derive a field that only one of the versions has, or leave this one out".to_owned());
        problems.push(problem);
        return None;
    }
    match Deriver::compile(derived, &from.structure, own, (&to.structure, field)) {
        Ok(deriver) if crosses(&deriver, &derived.at.item, &from.structure, own) => {
            let message = format!("{} and what it is derived from are not both in the status", derived.at.item);
            problems.push(problem_at(&rules::RENAME_LEAVES_ITS_PLACE, derived.expression.span, message));
            None
        }
        Ok(deriver) => Some(Derivation { version: index, source, target, field, deriver, derived: derived.clone() }),
        Err(found) => {
            problems.extend(found);
            None
        }
    }
}

/// Whether an expression over the document reads from the status what is not for it, or the other way round: each is
/// written without the other.
fn crosses(deriver: &Deriver, target: &Selector, source: &Structure, own: NodeIndex) -> bool {
    let is_status = |name: &str| name == "status";
    let is_for_status = matches!(target.steps().first(), Some(Step::Field(name)) if is_status(name));
    if own != source.root() {
        return false;
    }
    match deriver.reads() {
        Some(paths) => paths.iter().any(|path| is_status(&path[0]) != is_for_status),
        None => source.child(own, "status").is_some(),
    }
}

impl Structure {
    /// The object that makes a scope and has a field in it: the document, or the items or values of a list or map.
    pub(crate) fn scope_of(&self, field: NodeIndex) -> NodeIndex {
        let mut at = field;
        while self.is_field(at) {
            match self.node(at).parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        at
    }
}

/// A step in which a scalar that became a field of an object, or the other way round, is said to be renamed: that is what
/// it is.
pub(crate) fn with_renames(step: &VersionStep, before: Option<&Structure>) -> VersionStep {
    let mut step = step.clone();
    let mut renamed = Vec::new();
    step.respelled.retain(|respelled| {
        let (Conversion::ObjectWithKey(key), [from], [to]) =
            (&respelled.with.item, &respelled.from[..], &respelled.to[..])
        else {
            return true;
        };
        let below = |at: &Located<Selector>| {
            let steps = at.item.steps().iter().cloned().chain([Step::Field(key.clone())]).collect();
            Located { item: Selector::from_steps(steps), span: respelled.with.span }
        };
        let was_object = before.and_then(|structure| Some(structure.node(structure.find(&from.item)?).shape));
        renamed.push(match was_object {
            Some(Shape::Object) => Renamed { from: below(from), to: to.clone() },
            _ => Renamed { from: from.clone(), to: below(to) },
        });
        false
    });
    step.renamed.extend(renamed);
    step
}
