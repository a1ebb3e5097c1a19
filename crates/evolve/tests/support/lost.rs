//! What a conversion loses, found by converting the result back, and whether `Kind::left_out` names exactly that.

use wheelwright_document::{Arena, Path, Value, encode};
use wheelwright_evolve::{Kind, NodeIndex, Shape, VersionHistory, VersionIndex};

/// How many warnings and losses were compared.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Compared {
    pub(crate) conversions: usize,
    pub(crate) warnings: usize,
    pub(crate) losses: usize,
}

/// A value of a document that has no parts.
struct Leaf {
    path: String,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// It came back.
    Kept,
    /// It came back as other text, which may be another notation of the same value; or `{}` that its own version refuses.
    Rewritten,
    /// It did not come back.
    Lost,
}

impl Compared {
    /// Compares the warnings about the conversion of one document with what is really lost.
    pub(crate) fn add(
        &mut self,
        kind: &Kind,
        (from, to): (VersionIndex, VersionIndex),
        document: Value<'_>,
    ) -> Result<(), String> {
        let arena = Arena::new();
        let Ok(own) = kind.convert(from, from, document, &arena) else { return Ok(()) };
        let Ok((shown, troubles)) = kind.convert_telling(from, to, document, &arena) else { return Ok(()) };
        let Ok((back, others)) = kind.convert_telling(to, from, shown, &arena) else { return Ok(()) };
        let version = kind.history().version(from);
        let mut leaves = Vec::new();
        // What the schema of the version does not know is reported by itself, and null is not a value to lose.
        compare((version, Some(version.structure.root())), own, Some(document), Some(back), &Path::Root, &mut leaves);
        let warned = kind.left_out(from, to, document, (shown, &troubles), &arena);
        self.conversions += 1;
        self.warnings += warned.len();
        let mut wrong = Vec::new();
        for path in warned.iter().map(|path| path.as_str()) {
            let below: Vec<&Leaf> = leaves.iter().filter(|leaf| is_within(&leaf.path, path)).collect();
            if !below.is_empty() && below.iter().all(|leaf| leaf.fate == Fate::Kept) {
                wrong.push(format!("warned of {path}, which is read back"));
            }
        }
        for leaf in leaves.iter().filter(|leaf| leaf.fate == Fate::Lost) {
            self.losses += 1;
            let is_warned = warned.iter().any(|path| is_within(&leaf.path, path.as_str()));
            if !is_warned && troubles.is_empty() && others.is_empty() {
                wrong.push(format!("not warned of {}, which is lost", leaf.path));
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let name = |version: VersionIndex| &kind.history().version(version).name;
        let text = |value| String::from_utf8_lossy(&encode(value)).into_owned();
        Err(format!(
            "{} to {}: {}\n  document {}\n  shown    {}\n  back     {}",
            name(from),
            name(to),
            wrong.join("; "),
            text(document),
            text(shown),
            text(back)
        ))
    }
}

fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Collects the leaves of a value that the document contains itself, and what became of them.
fn compare(
    (version, node): (&VersionHistory, Option<NodeIndex>),
    own: Value<'_>,
    document: Option<Value<'_>>,
    back: Option<Value<'_>>,
    path: &Path<'_>,
    leaves: &mut Vec<Leaf>,
) {
    let structure = &version.structure;
    let Some(document) = document.filter(|document| !document.is_null()) else { return };
    let is_object = node.is_some_and(|node| structure.node(node).shape == Shape::Object);
    let element = node.and_then(|node| structure.element(node));
    let is_empty = |value: Value<'_>| matches!(value, Value::Object([]) | Value::Array([]));
    match own {
        Value::Object(entries) if !entries.is_empty() && !is_empty(document) => {
            for entry in entries {
                let child = node.and_then(|node| structure.child(node, entry.key)).or(element);
                let path = if is_object { Path::Child(path, entry.key) } else { Path::Key(path, entry.key) };
                let back = back.and_then(|back| back.get(entry.key));
                if !matches!((&path, entry.key), (Path::Child(Path::Root, _), "apiVersion" | "kind")) {
                    compare((version, child), entry.value, document.get(entry.key), back, &path, leaves);
                }
            }
        }
        Value::Array(items) if !items.is_empty() && !is_empty(document) => {
            let others = back.and_then(Value::as_array).unwrap_or_default();
            let documents = document.as_array().unwrap_or_default();
            let first = leaves.len();
            let positions = counterparts((version, element), items, others);
            for (at, (item, position)) in items.iter().zip(positions).enumerate() {
                let back = position.map(|position| others[position]);
                let path = Path::Index(path, at);
                compare((version, element), *item, documents.get(at).copied(), back, &path, leaves);
            }
            // A list with more items is another one, though it has the same among them.
            if others.len() > items.len() {
                let kept = leaves[first..].iter_mut().filter(|leaf| leaf.fate == Fate::Kept);
                kept.for_each(|leaf| leaf.fate = Fate::Rewritten);
            }
        }
        // Where its own version refuses `{}`, it is invalid, and a reader of its version is not shown it.
        Value::Object(_) if back.is_none() && node.is_some_and(|node| version.refuses_empty(node)) => {
            leaves.push(Leaf { path: path.to_string(), fate: Fate::Rewritten });
        }
        own => leaves.push(Leaf { path: path.to_string(), fate: fate(own, back) }),
    }
}

fn fate(own: Value<'_>, back: Option<Value<'_>>) -> Fate {
    let is_text = |value: &Value<'_>| matches!(value, Value::String(_));
    let is_scalar = |value: &Value<'_>| matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_));
    match (own, back) {
        (Value::Object(_), Some(Value::Object(_))) | (Value::Array(_), Some(Value::Array([]))) => Fate::Kept,
        // An empty list for which readers find items.
        (Value::Array(_), Some(Value::Array(_))) => Fate::Rewritten,
        (Value::Null, None) => Fate::Kept,
        (own, Some(back)) if same(own, back) => Fate::Kept,
        (own, Some(back)) if is_scalar(&own) && is_scalar(&back) && (is_text(&own) || is_text(&back)) => {
            Fate::Rewritten
        }
        _ => Fate::Lost,
    }
}

fn same(one: Value<'_>, other: Value<'_>) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (one, other) => encode(one) == encode(other),
    }
}

/// The item that came back of every item: an equal one, or else the one that has most of its values.
fn counterparts(
    at: (&VersionHistory, Option<NodeIndex>),
    items: &[Value<'_>],
    others: &[Value<'_>],
) -> Vec<Option<usize>> {
    let mut found = vec![None; items.len()];
    let mut is_left = vec![true; others.len()];
    let kept = |item: Value<'_>, other: usize| {
        let mut leaves = Vec::new();
        compare(at, item, Some(item), Some(others[other]), &Path::Root, &mut leaves);
        leaves.iter().filter(|leaf| leaf.fate == Fate::Kept).count()
    };
    let is_equal = |item: usize, other: usize| encode(items[item]) == encode(others[other]);
    let is_alike = |least: usize| move |item: usize, other: usize| kept(items[item], other) >= least;
    let mut take = |is_meant: &dyn Fn(usize, usize) -> bool| {
        for (item, found) in found.iter_mut().enumerate().filter(|(_, found)| found.is_none()) {
            let mut places = [item].into_iter().chain(0..others.len()).filter(|other| *other < others.len());
            *found = places.find(|other| is_left[*other] && is_meant(item, *other));
            if let Some(other) = found {
                is_left[*other] = false;
            }
        }
    };
    take(&|item, other| item == other && is_equal(item, other));
    take(&is_equal);
    (0..8).rev().for_each(|least| take(&is_alike(least)));
    found
}
