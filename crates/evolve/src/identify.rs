//! Which field of a version is which field of the others.

use std::collections::{HashMap, HashSet};

use wheelwright_document::{Arena, Owned, Span};
use wheelwright_findings::rules;

use crate::{
    Conversion, Direction, FieldId, FieldRecord, Located, NodeIndex, Selector, Structure, VersionHistory, VersionIndex,
    VersionName, VersionStep,
    compute::{Converter, Exchange, Hooks, Side},
    declaration::is_on_one_side,
    history::find,
    problem::problem_at,
    structure::StructureNode,
};
use wheelwright_schema::Problem;

/// A version whose fields are to be identified, and what is known already.
pub(crate) struct Identify<'h> {
    /// The version, without ids.
    pub(crate) version: &'h mut VersionHistory,
    /// The same version, as it is locked.
    pub(crate) before: Option<VersionHistory>,
    /// Its position among `others`.
    pub(crate) index: VersionIndex,
    /// Where it was declared.
    pub(crate) declared_at: Span,
    /// What its changes say.
    pub(crate) step: &'h VersionStep,
    /// How many of its renames are written as such; those that follow are written as conversions.
    pub(crate) plain_renames: usize,
    /// The versions that are identified already.
    pub(crate) others: &'h [Option<VersionHistory>],
    /// Every field that is known, to be extended.
    pub(crate) fields: &'h mut Vec<FieldRecord>,
}

/// Gives every field of a version its id: the one it was renamed from, the one it has in the version before or in
/// another, or a new one. Fields above come first, since a field is found again below the same parent.
pub(crate) fn identify(task: Identify<'_>, problems: &mut Vec<Problem>) {
    let Identify { version, before, index, declared_at, step, plain_renames, others, fields } = task;
    let from = version.from.and_then(|from| others[from.position()].as_ref());
    let mut renames = Renames::resolve(version, from, (step, plain_renames), problems);
    if let (Some(from), Some(before)) = (from, &before) {
        renames.hold_against_lock(version, from, before, problems);
    }
    let mut is_new: HashSet<NodeIndex> =
        step.new.iter().filter_map(|at| find(&version.structure, at, &step.version.item, "new", problems)).collect();
    // Another spelling is another field, even where neither path nor shape changed.
    let respelled = step.respelled.iter();
    is_new.extend(respelled.clone().flat_map(|it| &it.to).filter_map(|at| version.structure.find_field(&at.item)));
    if let Some(from) = from {
        let gone = respelled.flat_map(|it| &it.from).filter_map(|at| from.structure.find_field(&at.item));
        renames.claimed.extend(gone.filter_map(|node| from.id(node)));
    }
    for at in &step.new {
        let before = before.as_ref().and_then(|before| before.id(before.structure.find(&at.item)?));
        if let Some(field) = before.map(|id| &fields[id.position()]).filter(|field| field.first != index) {
            let lock_says = format!("with {} as the field {} of earlier versions", at.item, field.text);
            problems.push(contradiction(at.span, &version.name, &lock_says, "new"));
        }
    }
    if let Some(from) = from {
        for at in &step.removed {
            let id = find(&from.structure, at, &from.name, "removed", problems).and_then(|gone| from.id(gone));
            if let Some(path) = before.as_ref().zip(id).and_then(|(before, id)| before.path_of(id)) {
                let lock_says = format!("with {} of {} as {path}", at.item, from.name);
                problems.push(contradiction(at.span, &version.name, &lock_says, "removed"));
            }
        }
    }
    // The version that changes are relative to comes before all others.
    let first = version.from.map(|from| &others[from.position()]);
    let nearest: Vec<&VersionHistory> = first.into_iter().chain(nearest_first(index, others)).flatten().collect();
    let mut texts: HashSet<Box<str>> = fields.iter().map(|field| field.text.clone()).collect();
    let nodes: Vec<NodeIndex> = version.structure.fields().collect();
    for node in nodes {
        let locked = before.as_ref().and_then(|before| same_as_locked(before, version, node));
        let known = locked.or_else(|| renames.of(version, from, node, problems)).or_else(|| {
            let name = version.structure.node(node).name()?;
            let parent = version.structure.node(node).parent?;
            nearest.iter().filter(|_| !is_new.contains(&node)).find_map(|other| {
                let found = other.structure.child(other.counterpart(version, parent)?, name)?;
                let id = other.id(found)?;
                let locked = before.as_ref().is_some_and(|before| before.node_of(id).is_some());
                let free = version.node_of(id).is_none() && !renames.claims(id) && !locked;
                (free && other.structure.keeps_shape(found, &version.structure, node)).then_some(id)
            })
        });
        let id = known.unwrap_or_else(|| {
            let text = new_text(&version.structure, node, &mut texts);
            let frozen = version.structure.node(node).default.clone();
            fields.push(FieldRecord { text, first: index, frozen });
            FieldId(fields.len() as u32 - 1)
        });
        version.set_id(node, id);
    }
    if let Some(from) = from.filter(|_| before.is_none()) {
        still_there(version, from, step, problems);
    }
    if let Some(before) = &before {
        version.lock_ids_of(before);
        restore_lost_fields(before, version, declared_at, problems);
    }
    if let Some(from) = from {
        inherit_frozen_defaults(version, before.as_ref(), from, index, step, fields);
    }
    freeze_declared_defaults(version, before.as_ref(), index, step, fields, problems);
}

/// Fields that are said to be removed, and are where they were: nothing would come of it.
fn still_there(version: &VersionHistory, from: &VersionHistory, step: &VersionStep, problems: &mut Vec<Problem>) {
    for at in &step.removed {
        let id = from.structure.find(&at.item).and_then(|node| from.id(node));
        if let Some(path) = id.and_then(|id| version.path_of(id)) {
            let message = format!("{} is removed, and {} has it as {path}", at.item, version.name);
            problems.push(
                problem_at(&rules::UNKNOWN_CHANGE_PATH, at.span, message)
                    .mend(format!("delete the line; if {path} is another field than before, add `new: [{path}]`")),
            );
        }
    }
}

/// A fact in another spelling is filled in with what it was filled in with before, in the new spelling: it was published,
/// so that is settled. What cannot be converted is filled in with nothing: one absent fact must not be two values.
fn inherit_frozen_defaults(
    version: &VersionHistory,
    before: Option<&VersionHistory>,
    from: &VersionHistory,
    index: VersionIndex,
    step: &VersionStep,
    fields: &mut [FieldRecord],
) {
    for respelled in &step.respelled {
        let nodes = |structure: &Structure, paths: &[Located<Selector>]| -> Option<Vec<NodeIndex>> {
            paths.iter().map(|at| structure.find_field(&at.item)).collect()
        };
        let (old, new) = (nodes(&from.structure, &respelled.from), nodes(&version.structure, &respelled.to));
        let (Some(old), Some(new)) = (old, new) else { continue };
        let side = |structure, fields| Side { structure, fields };
        let sides = (side(&from.structure, &old[..]), side(&version.structure, &new[..]));
        // What is wrong with it is said where it is compiled for use. A hook may give something else tomorrow, and so has
        // no say in what is settled.
        let converter = Converter::compile(respelled, sides.0, sides.1, &Hooks::default()).ok();
        let arena = Arena::new();
        let frozen = |node: &NodeIndex| Some(fields[from.id(*node)?.position()].frozen.as_ref()?.share(&arena));
        let sources: Vec<_> = old.iter().map(frozen).collect();
        let mut exchange = Exchange { sources: &sources, old: None, metadata: None, entry: None, arena: &arena };
        let mut converted = Vec::new();
        // Where only some of the parts have a default, there is none of the whole: nobody has said the others.
        let is_known = match respelled.with.item {
            Conversion::Entries(_) | Conversion::Folded(_) => sources.iter().any(Option::is_some),
            _ => sources.iter().all(Option::is_some),
        };
        let is_converted = is_known
            && converter.as_ref().is_some_and(|it| it.convert(Direction::Up, &mut exchange, &mut converted).is_ok());
        if !is_converted {
            converted = vec![None; new.len()];
        }
        let frozen: Vec<Option<Owned>> = converted.into_iter().map(|value| value.map(Owned::from)).collect();
        for (node, frozen) in new.iter().zip(frozen) {
            let is_locked = |id: &FieldId| before.is_some_and(|before| before.node_of(*id).is_some());
            let field = version.id(*node).filter(|id| !is_locked(id)).map(|id| &mut fields[id.position()]);
            if let Some(field) = field.filter(|field| field.first == index) {
                field.frozen = frozen;
            }
        }
    }
}

/// The other versions from the nearest on: those before, then those after.
pub(crate) fn nearest_first<V>(index: VersionIndex, others: &[V]) -> impl Iterator<Item = &V> {
    let (earlier, later) = others.split_at(index.position());
    earlier.iter().rev().chain(later)
}

/// The id that a field of a locked version has, if it is still of a shape that it can be.
fn same_as_locked(before: &VersionHistory, version: &VersionHistory, node: NodeIndex) -> Option<FieldId> {
    let found = before.structure.find(&version.structure.selector(node))?;
    before.structure.keeps_shape(found, &version.structure, node).then(|| before.id(found)).flatten()
}

/// A change of a locked version that is not what the lock says.
pub(crate) fn contradiction(span: Span, version: &VersionName, lock_says: &str, change: &str) -> Problem {
    let message = format!("{version} is locked {lock_says}: `{change}` comes too late");
    problem_at(&rules::CHANGE_CONTRADICTS_LOCK, span, message).mend(format!(
        "delete the line, and make the change in a new version, whose step can be `from` the version before {version}; if \
         {version} is in the lock but not committed yet, run `git checkout -- wheelwright.lock`, and `wheelwright lock` again"
    ))
}

/// The path of a new field, with a number if another field had that path before.
fn new_text(structure: &Structure, node: NodeIndex, texts: &mut HashSet<Box<str>>) -> Box<str> {
    let path = structure.selector(node).to_string();
    let numbered = (2..).map(|number| format!("{path}#{number}"));
    let free = [path.clone()].into_iter().chain(numbered).find(|text| !texts.contains(text.as_str()));
    let text: Box<str> = free.unwrap_or(path).into();
    texts.insert(text.clone());
    text
}

/// A locked version keeps the fields that it was locked with, whatever its schema says now: documents have them.
fn restore_lost_fields(
    before: &VersionHistory,
    version: &mut VersionHistory,
    declared_at: Span,
    problems: &mut Vec<Problem>,
) {
    for lost in before.structure.fields() {
        if before.id(lost).is_none_or(|id| version.node_of(id).is_some()) {
            continue;
        }
        let (path, shape) = (before.structure.selector(lost), before.structure.shape_name(lost));
        let parent = before.structure.node(lost).parent.and_then(|parent| version.counterpart(before, parent));
        let name = before.structure.node(lost).name();
        let instead = parent.zip(name).and_then(|(parent, name)| version.structure.child(parent, name));
        let message = match instead.map(|instead| version.structure.shape_name(instead)) {
            Some(now) => format!("{} is locked with {path} ({shape}), which is {now} in its schema now", before.name),
            None => {
                format!("{} is locked with {path} ({shape}), which its schema does not have any more", before.name)
            }
        };
        problems.push(problem_at(&rules::LOCKED_VERSION_CHANGED, declared_at, message));
        // Where a field of another shape has taken the name, the old one stays out of sight, in the bag.
        if let (Some(parent), Some(name)) = (parent, name)
            && version.structure.child(parent, name).is_none()
        {
            let pairs = copy_below(&before.structure, lost, &mut version.structure, parent);
            for (old, new) in pairs {
                if let Some(id) = before.id(old).filter(|id| version.node_of(*id).is_none()) {
                    version.set_id(new, id);
                }
            }
        }
    }
}

/// Copies a node and all below it into another structure; every node with its copy.
fn copy_below(from: &Structure, node: NodeIndex, to: &mut Structure, parent: NodeIndex) -> Vec<(NodeIndex, NodeIndex)> {
    let original = from.node(node);
    let copy = to.push(StructureNode { parent: Some(parent), children: Vec::new(), ..original.clone() });
    let mut pairs = vec![(node, copy)];
    for child in &original.children {
        pairs.extend(copy_below(from, *child, to, copy));
    }
    pairs
}

/// Storage defaults that changes declare, for the fields that their step introduces.
fn freeze_declared_defaults(
    version: &VersionHistory,
    before: Option<&VersionHistory>,
    index: VersionIndex,
    step: &VersionStep,
    fields: &mut [FieldRecord],
    problems: &mut Vec<Problem>,
) {
    for declared in &step.storage_defaults {
        let Some(node) = find(&version.structure, &declared.at, &version.name, "storageDefault", problems) else {
            continue;
        };
        let Some(id) = version.id(node) else {
            let message = format!("{} is no field, but the items or values of one", declared.at.item);
            problems.push(problem_at(&rules::UNKNOWN_CHANGE_PATH, declared.at.span, message));
            continue;
        };
        let field = &mut fields[id.position()];
        let frozen = Some(declared.value.clone()).filter(|value| *value != Owned::Null);
        let is_locked = before.is_some_and(|before| before.node_of(id).is_some());
        if field.frozen == frozen {
            continue;
        }
        if field.first == index && !is_locked {
            field.frozen = frozen;
        } else {
            let message = format!("{} was published before; what it is filled in with is settled", declared.at.item);
            problems.push(problem_at(&rules::STORAGE_DEFAULT_FROZEN, declared.at.span, message));
        }
    }
}

/// The renames of a step, by the field that they lead to.
struct Renames<'s> {
    step: &'s VersionStep,
    /// The field of the version before, and which rename says so.
    sources: HashMap<NodeIndex, (NodeIndex, usize)>,
    claimed: HashSet<FieldId>,
}

impl<'s> Renames<'s> {
    fn resolve(
        version: &VersionHistory,
        from: Option<&VersionHistory>,
        (step, plain_renames): (&'s VersionStep, usize),
        problems: &mut Vec<Problem>,
    ) -> Self {
        let mut renames = Self { step, sources: HashMap::new(), claimed: HashSet::new() };
        let Some(from) = from else {
            for renamed in &step.renamed {
                let message = format!("{} is the first version: nothing can have been renamed", version.name);
                problems.push(problem_at(&rules::UNKNOWN_CHANGE_PATH, renamed.from.span, message));
            }
            return renames;
        };
        for (position, renamed) in step.renamed.iter().enumerate() {
            let word = if position < plain_renames { "renamed" } else { "converted" };
            let source = find(&from.structure, &renamed.from, &from.name, word, problems);
            let target = find(&version.structure, &renamed.to, &version.name, word, problems);
            let (Some(source), Some(target)) = (source, target) else { continue };
            if !version.structure.is_field(target) || !from.structure.is_field(source) {
                let message = format!("{} is no field, but the items or values of one", renamed.from.item);
                problems.push(problem_at(&rules::UNKNOWN_CHANGE_PATH, renamed.from.span, message));
                continue;
            }
            if !is_on_one_side(&renamed.from.item, &renamed.to.item) {
                let message = format!("{} and {} are not both in the status", renamed.from.item, renamed.to.item);
                problems.push(problem_at(&rules::RENAME_LEAVES_ITS_PLACE, renamed.from.span, message));
                continue;
            }
            if !from.structure.keeps_shape(source, &version.structure, target) {
                let (before, after) = (from.structure.shape_name(source), version.structure.shape_name(target));
                let message = format!("{} is {before}, and {} is {after}", renamed.from.item, renamed.to.item);
                problems.push(problem_at(&rules::RENAME_CHANGES_SHAPE, renamed.to.span, message));
                continue;
            }
            let Some(id) = from.id(source) else { continue };
            let is_first = renames.claimed.insert(id);
            if !is_first || renames.sources.contains_key(&target) {
                let twice = if is_first { &renamed.to } else { &renamed.from };
                let message = format!("{} is renamed twice", twice.item);
                problems.push(problem_at(&rules::RENAME_COLLISION, twice.span, message));
                continue;
            }
            renames.sources.insert(target, (source, position));
        }
        renames
    }

    /// Drops the renames of a locked version that it was not locked with.
    fn hold_against_lock(
        &mut self,
        version: &VersionHistory,
        from: &VersionHistory,
        before: &VersionHistory,
        problems: &mut Vec<Problem>,
    ) {
        let mut contradicted: Vec<(usize, NodeIndex, Problem)> = Vec::new();
        for (target, (source, position)) in &self.sources {
            let Some(id) = from.id(*source) else { continue };
            let renamed = &self.step.renamed[*position];
            let other = same_as_locked(before, version, *target).filter(|locked| *locked != id);
            let elsewhere = before.path_of(id).filter(|path| *path != renamed.to.item);
            let (old, new) = (&renamed.from.item, &renamed.to.item);
            let lock_says = match (elsewhere, other) {
                (Some(path), _) => format!("with {old} of {} as {path}", from.name),
                (None, Some(_)) => format!("with {old} of {} and {new} as two fields", from.name),
                (None, None) => continue,
            };
            let problem = contradiction(renamed.from.span, &version.name, &lock_says, "renamed");
            self.claimed.remove(&id);
            contradicted.push((*position, *target, problem));
        }
        contradicted.sort_by_key(|(position, ..)| *position);
        for (_, target, problem) in contradicted {
            self.sources.remove(&target);
            problems.push(problem);
        }
    }

    fn claims(&self, id: FieldId) -> bool {
        self.claimed.contains(&id)
    }

    /// The id that a field was renamed from. Only now it is known which list or map it is in.
    fn of(
        &self,
        version: &VersionHistory,
        from: Option<&VersionHistory>,
        node: NodeIndex,
        problems: &mut Vec<Problem>,
    ) -> Option<FieldId> {
        let (source, position) = *self.sources.get(&node)?;
        let from = from?;
        if from.element_of(source) != version.element_of(node) {
            let renamed = &self.step.renamed[position];
            let message = format!("{} and {} are not in the same items or values", renamed.from.item, renamed.to.item);
            problems.push(problem_at(&rules::RENAME_LEAVES_ITS_PLACE, renamed.from.span, message));
            return None;
        }
        from.id(source).filter(|id| version.node_of(*id).is_none())
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, encode};

    use crate::{
        History,
        testing::{declaration, history, problems_of},
    };

    /// The ids of a version's fields, as `path=id` where they differ.
    fn ids(versions: &[(&str, &str)], changes: &str, version: &str) -> Vec<String> {
        let history = history(versions, changes);
        let version = history.version(history.find(version).unwrap());
        let fields = version.structure.fields().map(|node| {
            let (path, id) = (version.structure.selector(node).to_string(), version.id(node).unwrap());
            let text = &history.field(id).text;
            if *path == **text { path } else { format!("{path}={text}") }
        });
        fields.collect()
    }

    const STRINGS: &str = "{type: object, properties: {a: {type: string}, b: {type: string}}}";

    #[test]
    fn a_field_keeps_its_id_while_path_and_shape_stay() {
        let wider = "{type: object, properties: {a: {x-kubernetes-int-or-string: true}, b: {type: integer}}}";
        assert_eq!(ids(&[("v1", STRINGS), ("v2", wider)], "", "v2"), ["a", "b=b#2"]);
    }

    #[test]
    fn a_renamed_object_takes_its_fields_along() {
        let before =
            "{type: object, properties: {a: {type: object, properties: {x: {type: string}, y: {type: string}}}}}";
        let after =
            "{type: object, properties: {c: {type: object, properties: {x: {type: string}}}, y: {type: string}}}";
        let changes = "v2: {renamed: {a: c, a.y: y}}";
        assert_eq!(ids(&[("v1", before), ("v2", after)], changes, "v2"), ["c=a", "c.x=a.x", "y=a.y"]);
    }

    #[test]
    fn names_can_be_swapped_and_taken_again() {
        let swap = "v2: {renamed: {a: b, b: a}}";
        assert_eq!(ids(&[("v1", STRINGS), ("v2", STRINGS)], swap, "v2"), ["a=b", "b=a"]);
        let only_c = "{type: object, properties: {a: {type: string}, c: {type: string}}}";
        assert_eq!(ids(&[("v1", STRINGS), ("v2", only_c)], "v2: {renamed: {a: c}}", "v2"), ["a=a#2", "c=a"]);
    }

    #[test]
    fn a_field_that_returns_has_its_old_id_again_unless_its_shape_is_another_or_it_is_new() {
        let without = "{type: object, properties: {b: {type: string}}}";
        let number = "{type: object, properties: {a: {type: number}, b: {type: string}}}";
        let versions = |last| [("v1", STRINGS), ("v2", without), ("v3", without), ("v4", last)];
        assert_eq!(ids(&versions(STRINGS), "", "v4"), ["a", "b"]);
        assert_eq!(ids(&versions(number), "", "v4"), ["a=a#2", "b"]);
        assert_eq!(ids(&versions(STRINGS), "v4: {new: [a]}", "v4"), ["a=a#2", "b"]);
    }

    #[test]
    fn a_fact_in_another_spelling_is_filled_in_as_before_or_not_at_all() {
        let old = "{type: object, properties: {a: {type: string, default: 1m}}}";
        let new = "{type: object, properties: {b: {type: integer, default: 7}}}";
        for (change, frozen) in [
            ("converted: {a: {to: b, with: durationSeconds}}", Some("60")),
            ("converted: {a: {to: b, with: quantity}}", Some("1")),
            ("converted: {a: {to: b, with: text}}", None),
            ("hook: [{name: own, from: [a], to: [b]}]", None),
            ("removed: [a]", Some("7")),
        ] {
            let history = history(&[("v1", old), ("v2", new)], &format!("v2: {{{change}}}"));
            let version = history.version(history.find("v2").unwrap());
            let id = version.id(version.structure.fields().next().unwrap()).unwrap();
            let found = history.field(id).frozen.clone();
            let arena = Arena::new();
            let found = found.map(|value| String::from_utf8(encode(value.share(&arena))).unwrap());
            assert_eq!(found.as_deref(), frozen, "{change}");
        }
    }

    #[test]
    fn changes_are_relative_to_the_version_that_from_names() {
        let preview = "{type: object, properties: {temporary: {type: string}}}";
        let last = "{type: object, properties: {c: {type: string}, temporary: {type: string}}}";
        let versions = [("v1", STRINGS), ("v2alpha1", preview), ("v2", last)];
        let changes = "v2: {from: v1, renamed: {a: c}}";
        assert_eq!(ids(&versions, changes, "v2"), ["c=a", "temporary"]);
    }

    #[test]
    fn a_key_that_is_not_there_is_told_as_it_is_written() {
        let object =
            "{type: object, properties: {a: {type: object, properties: {name: {type: string}}}, b: {type: string}}}";
        let changes = "v2:\n  converted:\n    a:\n      with: {key: nme}";
        let versions = [("v1", STRINGS), ("v2", object)];
        let problems = problems_of(&versions, changes);
        let told: Vec<_> = problems.iter().map(|problem| (&*problem.message, problem.span.line)).collect();
        assert_eq!(told, [("`converted` names a.nme, which v2 does not have", 4)]);
    }

    #[test]
    fn renames_that_cannot_be_followed_are_refused_with_their_place() {
        let list = "{type: object, properties: {a: {type: string}, l: {type: array, items: {type: object, properties: \
                    {i: {type: string}}}}, status: {type: object, properties: {s: {type: string}}}}}";
        let versions = [("v1", list), ("v2", list)];
        for (changes, rule, line) in [
            ("v2:\n  renamed: {x: a}", "WW130", 2),
            ("v2:\n  renamed:\n    a: l", "WW132", 3),
            ("v2:\n  renamed: {a: \"l[].i\"}", "WW133", 2),
            ("v2:\n  renamed: {a: status.s}", "WW133", 2),
            ("v2:\n  removed:\n  - nothing", "WW130", 3),
            ("v2:\n  removed:\n  - a", "WW130", 3),
            ("v1:\n  renamed: {a: b}", "WW130", 2),
            ("v2:\n  from: v2", "WW137", 2),
            ("v2:\n  storageDefault: {a: x}", "WW134", 2),
        ] {
            let problems = problems_of(&versions, changes);
            assert_eq!(problems.len(), 1, "{changes}: {problems:?}");
            assert_eq!((problems[0].rule.id, problems[0].span.line), (rule, line), "{changes}: {problems:?}");
        }
    }

    #[test]
    fn what_is_locked_and_what_changes_say_of_it_later_must_agree() {
        let after = "{type: object, properties: {b: {type: string}, c: {type: string}}}";
        let versions = [("v1", STRINGS), ("v2", after)];
        let told = |locked: &str, now: &str| {
            let (locked, _) = History::derive(&declaration(&versions, locked), None);
            let (_, problems) = History::derive(&declaration(&versions, now), Some(&locked));
            problems
                .iter()
                .map(|problem| (problem.rule.id, problem.span.line, problem.message.clone()))
                .collect::<Vec<_>>()
        };
        for (locked, now) in [
            ("v2: {renamed: {a: c}}", "v2: {renamed: {a: c}}"),
            ("v2: {renamed: {a: c}}", ""),
            ("", "v2: {removed: [a], new: [c]}"),
            ("v2: {new: [b]}", "v2: {new: [b], removed: [b]}"),
        ] {
            assert_eq!(told(locked, now), [], "{locked} {now}");
        }
        for (locked, now, lock_says, change) in [
            ("", "v2:\n  renamed: {a: c}", "with a of v1 and c as two fields", "renamed"),
            ("v2: {renamed: {a: c}}", "v2:\n  renamed: {b: c}", "with b of v1 as b", "renamed"),
            ("v2: {renamed: {a: c}}", "v2:\n  removed: [a]", "with a of v1 as c", "removed"),
            ("v2: {renamed: {a: c}}", "v2:\n  new: [c]", "with c as the field a of earlier versions", "new"),
            ("", "v2:\n  new: [b]", "with b as the field b of earlier versions", "new"),
        ] {
            let message = format!("v2 is locked {lock_says}: `{change}` comes too late");
            assert_eq!(told(locked, now), [("WW138", 2, message)], "{locked} {now}");
        }
    }

    #[test]
    fn a_policy_is_for_a_field_that_a_version_has() {
        let mut declaration = declaration(&[("v1", STRINGS)], "");
        for (field, rule) in [("a", None), ("x", Some("WW139"))] {
            let at = crate::Located { item: crate::Selector::parse(field).unwrap(), span: Default::default() };
            declaration.policies.older_write_of = vec![(at, crate::OlderWrite::Reject)];
            let (_, problems) = History::derive(&declaration, None);
            assert_eq!(problems.first().map(|problem| problem.rule.id), rule, "{field}");
        }
    }

    #[test]
    fn a_field_is_renamed_once_and_to_a_field_of_its_own() {
        let three = "{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}}";
        let mut declaration = declaration(&[("v1", three), ("v2", three)], "v2: {renamed: {a: c, b: a}}");
        // No file can say so, but those who declare kinds by other means can.
        let renamed = &mut declaration.steps[0].renamed;
        renamed[1].to = renamed[0].to.clone();
        let (_, problems) = History::derive(&declaration, None);
        assert_eq!(problems.iter().map(|problem| problem.rule.id).collect::<Vec<_>>(), ["WW131"]);
    }
}
