//! What becomes of documents between two versions of which nobody has said anything yet: what Kubernetes would lose, and
//! what old records would lack.

use std::collections::HashMap;

use wheelwright_document::{Arena, Owned, Span, Value};
use wheelwright_schema::Stages;

use super::{
    Addition, Change, Proposal, What,
    constraints::as_seen_by,
    diff::compare,
    example::{Wanted, document},
    removals::removals,
    side::{Schemas, Side},
};
use crate::{Declaration, History, NodeIndex, Selector, Shape, Structure, VersionIndex, VersionName};

/// What is lost between two versions under `strategy: None`.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Loss {
    /// Of documents of the one version.
    pub there: Lost,
    /// Of documents of the other.
    pub back: Lost,
    /// The later of the two versions.
    pub step: VersionName,
    /// What to add to its changes, so that every field of the earlier one is accounted for, but for those that are proposed
    /// to be converted.
    pub additions: Vec<Addition>,
    /// Fields of the earlier version that probably have another form in the later one.
    pub proposals: Vec<Proposal>,
}

/// What is lost when documents of one version pass through another under `strategy: None`.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Lost {
    /// The version that documents are of.
    pub version: VersionName,
    /// The version that they pass through.
    pub through: VersionName,
    /// The fields that the other version removes; what is below them goes with them.
    pub fields: Vec<LostField>,
    /// A small document that shows some of them.
    pub shown: Option<RoundTrip>,
}

/// A field that is lost.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct LostField {
    /// Its path.
    pub field: Selector,
    /// What sort of value it has.
    pub shape: String,
    /// Where in the schema of its version it was written.
    pub span: Span,
}

/// A document, and what is left of it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct RoundTrip {
    /// What somebody wrote.
    pub before: Owned,
    /// What they read after somebody else wrote it back through the other version.
    pub after: Owned,
    /// Why the other version refuses what is written back, unless the client mends it.
    pub refusal: Option<String>,
}

/// A field that records written by an older version do not have.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Lacking {
    /// Its path in the newer version.
    pub field: Selector,
    /// What sort of value it has.
    pub shape: String,
    /// What it reads as; without it the field is absent.
    pub reads_as: Option<Owned>,
    /// The object that it is a part of, if old records need not have that either.
    pub within: Option<Selector>,
    /// The newer version asks for it.
    pub required: bool,
    /// The field of the older version that it probably is, under another name.
    pub probably: Option<Selector>,
    /// The expression that computes it from what old records have.
    pub derived: Option<Box<str>>,
    /// Where in the schema of the newer version it was written.
    pub span: Span,
}

/// A document that shows more than this is not small.
const MOST_SHOWN: usize = 3;

/// Fields for which a document is looked for, until enough are shown.
const MOST_TRIED: usize = 12;

/// What is lost under `strategy: None` between two versions. Nothing is said of versions that are not declared.
pub fn lost_under_none(declaration: &Declaration, history: &History, a: VersionIndex, b: VersionIndex) -> Loss {
    let schemas = Schemas::of(declaration, history);
    let (one, other) = (schemas.side(a), schemas.side(b));
    let (earlier, later) = if a < b { (&one, &other) } else { (&other, &one) };
    let (mut additions, mut proposals) = (Vec::new(), Vec::new());
    for unsaid in removals(earlier, later, &compare(earlier, later)) {
        match unsaid.proposal {
            Some(proposal) => proposals.push(proposal),
            None => additions.extend(unsaid.additions),
        }
    }
    Loss { there: lost(&one, &other), back: lost(&other, &one), step: later.version.name.clone(), additions, proposals }
}

/// The fields of the version `b` that records of the version `a` lack, and what they read as.
pub fn lacking_in_old_records(
    declaration: &Declaration,
    history: &History,
    a: VersionIndex,
    b: VersionIndex,
) -> Vec<Lacking> {
    let schemas = Schemas::of(declaration, history);
    let (before, after) = (schemas.side(a), schemas.side(b));
    let differences = compare(&before, &after);
    let mut renames: HashMap<Selector, Selector> = HashMap::new();
    for finding in removals(&before, &after, &differences) {
        if let What::ProbablyRenamed { to, .. } = finding.what {
            renames.insert(to, finding.field);
        }
    }
    let came = differences.iter().filter(|one| matches!(one.change, Change::Added { .. } | Change::Replaced { .. }));
    let lacking = came.filter_map(|difference| {
        let node = difference.nodes.1?;
        let field = difference.after.clone()?;
        Some(Lacking {
            probably: renames.get(&field).cloned(),
            field,
            shape: after.shape_name(node),
            reads_as: after.version.id(node).and_then(|id| history.field(id).frozen.clone()),
            within: object_that_may_lack(history, &after, node),
            required: after.is_required(node),
            derived: after.derivation_from(&before, node).map(Into::into),
            span: after.place(node, ""),
        })
    });
    lacking.collect()
}

/// The object of a field, if it or something above it is optional and not filled in.
pub(crate) fn object_that_may_lack(history: &History, side: &Side<'_>, node: NodeIndex) -> Option<Selector> {
    let is_sure = |node: NodeIndex| {
        let frozen = side.version.id(node).and_then(|id| history.field(id).frozen.as_ref());
        !side.version.structure.is_field(node) || side.is_required(node) || frozen.is_some()
    };
    let object = side.parent(node)?;
    let mut above = std::iter::successors(Some(object), |node| side.parent(*node));
    (!above.all(is_sure)).then(|| side.version.structure.selector(object))
}

fn lost(side: &Side<'_>, through: &Side<'_>) -> Lost {
    let nodes = pruned(side, through);
    let structure = &side.version.structure;
    let field = |node: &NodeIndex| LostField {
        field: structure.selector(*node),
        shape: structure.shape_name(*node),
        span: side.place(*node, ""),
    };
    Lost {
        version: side.version.name.clone(),
        through: through.version.name.clone(),
        fields: nodes.iter().map(field).collect(),
        shown: shown(side, &nodes).and_then(|document| round_trip(side, through, document)),
    }
}

/// The uppermost fields of one version that the other one removes: found by removing them from a document that has all.
fn pruned(side: &Side<'_>, through: &Side<'_>) -> Vec<NodeIndex> {
    let (Some(program), Some(_)) = (through.program(), side.whole()) else { return Vec::new() };
    let structure = &side.version.structure;
    let everything = full(structure, structure.root());
    let arena = Arena::new();
    let mut lost = Vec::new();
    if let Ok(left) = program.run(everything.share(&arena), &arena, Stages::PRUNE) {
        missing(structure, structure.root(), left.value, &mut lost);
    }
    lost
}

/// A value of a node with every field, item and value; of the wrong types, which is nothing to pruning.
fn full(structure: &Structure, node: NodeIndex) -> Owned {
    match structure.node(node).shape {
        Shape::Object => {
            let children = structure.node(node).children.iter();
            let field = |child: &NodeIndex| Some((structure.node(*child).name()?.into(), full(structure, *child)));
            Owned::Object(children.filter_map(field).collect())
        }
        Shape::List => Owned::Array(structure.element(node).iter().map(|element| full(structure, *element)).collect()),
        Shape::Map => {
            let value = |element: &NodeIndex| ("example".into(), full(structure, *element));
            Owned::Object(structure.element(node).iter().map(value).collect())
        }
        Shape::Scalar(_) => Owned::Bool(true),
    }
}

fn missing(structure: &Structure, node: NodeIndex, left: Value<'_>, lost: &mut Vec<NodeIndex>) {
    match (structure.node(node).shape, left) {
        (Shape::Object, Value::Object(entries)) => {
            let entries: HashMap<&str, Value<'_>> = entries.iter().map(|entry| (entry.key, entry.value)).collect();
            for child in &structure.node(node).children {
                match structure.node(*child).name().and_then(|name| entries.get(name)) {
                    Some(value) => missing(structure, *child, *value, lost),
                    None => lost.push(*child),
                }
            }
        }
        (Shape::List, Value::Array([item])) => {
            structure.element(node).iter().for_each(|element| missing(structure, *element, *item, lost));
        }
        (Shape::Map, Value::Object([entry])) => {
            structure.element(node).iter().for_each(|element| missing(structure, *element, entry.value, lost));
        }
        (Shape::Map, Value::Object([])) => lost.push(node),
        _ => {}
    }
}

/// A small document that has some of the fields and that its version accepts.
fn shown(side: &Side<'_>, fields: &[NodeIndex]) -> Option<Owned> {
    let mut chosen: Vec<NodeIndex> = Vec::new();
    let mut best = None;
    for node in fields.iter().take(MOST_TRIED) {
        let wanted = chosen.iter().chain([node]).map(|node| (*node, Wanted::Present)).collect();
        let Some(document) = document(side, &wanted).filter(|document| side.refusal(document).is_none()) else {
            continue;
        };
        best = Some(document);
        chosen.push(*node);
        if chosen.len() == MOST_SHOWN {
            break;
        }
    }
    best
}

/// Written as one version, which fills in what that version fills in; read and written back through the other; and read
/// as the first again.
fn round_trip(side: &Side<'_>, through: &Side<'_>, document: Owned) -> Option<RoundTrip> {
    let decoded = |side: &Side<'_>, document: &Owned| {
        let arena = Arena::new();
        let document = as_seen_by(side, document);
        let result = side.program()?.run(document.share(&arena), &arena, Stages::DEFAULT).ok()?;
        Some(Owned::from(result.value))
    };
    let stored = decoded(side, &document)?;
    let written_back = decoded(through, &stored)?;
    let after = decoded(side, &written_back)?;
    Some(RoundTrip { before: document, after, refusal: through.refusal(&written_back) })
}
