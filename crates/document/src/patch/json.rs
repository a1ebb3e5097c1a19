//! JSON patches (RFC 6902).

use std::{borrow::Cow, error::Error, fmt};

use super::{
    list::Item,
    origins::ItemOrigins,
    pointer::{Pointer, position},
    tree::{Content, Node, no_container, no_item},
};
use crate::{Arena, Decode, Value, decode::shortened};

/// A list of operations on a document: add, remove, replace, move, copy and test.
///
/// ```
/// use wheelwright_document::{Arena, JsonPatch, decode, encode};
///
/// let arena = Arena::new();
/// let document = decode(br#"{"replicas":1,"ports":[80]}"#, &arena)?;
/// let patch = br#"[{"op":"test","path":"/replicas","value":1.0},{"op":"add","path":"/ports/-","value":443}]"#;
/// let patched = JsonPatch::parse(decode(patch, &arena)?)?.apply(document, &arena)?;
/// assert_eq!(encode(patched), br#"{"replicas":1,"ports":[80,443]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct JsonPatch<'a>(Vec<Operation<'a>>);

impl<'a> JsonPatch<'a> {
    /// The largest number of operations in a patch, as Kubernetes has it.
    pub const MAX_OPERATIONS: usize = 10_000;

    /// The patch that a document describes. Members that RFC 6902 does not know are ignored, as it demands.
    ///
    /// # Errors
    /// The first operation that is none.
    pub fn parse(patch: Value<'a>) -> Result<Self, PatchError> {
        let whole = |kind, problem| PatchError { operation: None, pointer: String::new(), kind, problem };
        let Value::Array(operations) = patch else {
            let problem = format!("a patch is a list of operations, not {}", patch.kind_name());
            return Err(whole(PatchErrorKind::Malformed, problem.into()));
        };
        if operations.len() > Self::MAX_OPERATIONS {
            let (count, limit) = (operations.len(), Self::MAX_OPERATIONS);
            let problem = format!("{count} operations are more than the limit of {limit}; send several patches");
            return Err(whole(PatchErrorKind::LimitExceeded, problem.into()));
        }
        let parse = |(index, operation): (usize, &Value<'a>)| {
            let pointer = operation.get("path").and_then(Value::as_str).unwrap_or_default();
            Operation::parse(*operation).map_err(|problem| problem.of(index, pointer))
        };
        operations.iter().enumerate().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// The most bytes that a patch, as JSON, looks at and copies in a document of so many bytes, as far as can be known before it
    /// is decoded: each copy may double the document, and each move or test may be of all of it.
    pub fn most_bytes(patch: &[u8], document: usize) -> usize {
        // The least bytes of an operation with two pointers, or with a pointer and a value.
        const LEAST_BYTES: usize = 32;
        let whole = document + patch.len();
        let Ok(text) = std::str::from_utf8(patch) else { return whole };
        let (mut copies, mut others) = (0, 0);
        for part in text.split('"') {
            match part {
                "copy" => copies += 1,
                "move" | "test" => others += 1,
                _ => {}
            }
        }
        // The names of operations may be escaped.
        if text.contains('\\') && text.contains("\\u") {
            copies = patch.len() / LEAST_BYTES;
        }
        let most = Decode::default().max_bytes.max(whole);
        let longest = whole.saturating_mul(1 << copies.min(32)).min(most);
        longest.saturating_mul(1 + others).min(most)
    }

    /// The document with all operations applied, one after the other, or with none of them. `test` compares by
    /// [`Value::equivalent`]. Parts that no operation touches are shared with `target`.
    ///
    /// # Errors
    /// The first operation that fails, or that would go beyond a limit: nesting ([`Decode::max_depth`]), the size of
    /// all that is copied together ([`Decode::max_bytes`]), and the work that comparing and moving large values takes.
    pub fn apply(&self, target: Value<'a>, arena: &'a Arena) -> Result<Value<'a>, PatchError> {
        Ok(self.applied(target, arena)?.to_value(arena))
    }

    /// As [`apply`](Self::apply), and which old list items the items of the result continue.
    ///
    /// `replace` of an item, or of a part of it, continues the item. `move` within one list keeps the item, with its parts.
    /// Items that `add`, `copy` or a `move` from elsewhere put into a list are new. A list that is replaced as a whole
    /// has no origins.
    ///
    /// # Errors
    /// As for [`apply`](Self::apply).
    pub fn apply_tracked(
        &self,
        target: Value<'a>,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, Option<ItemOrigins<'a>>), PatchError> {
        let root = self.applied(target, arena)?;
        Ok((root.to_value(arena), root.origins()))
    }

    fn applied(&self, target: Value<'a>, arena: &'a Arena) -> Result<Node<'a>, PatchError> {
        let limits = Decode::default();
        let mut document = Document {
            root: Node::shared(target),
            arena,
            max_depth: limits.max_depth as usize,
            copy_budget: limits.max_bytes,
            work_budget: limits.max_bytes.saturating_mul(WORK_PER_BYTE),
        };
        for (index, operation) in self.0.iter().enumerate() {
            document.apply(operation).map_err(|problem| problem.of(index, operation.path.as_str()))?;
        }
        Ok(document.root)
    }
}

/// A patch that is none, or that does not fit the document.
#[derive(Clone, Debug)]
pub struct PatchError {
    operation: Option<usize>,
    pointer: String,
    kind: PatchErrorKind,
    problem: Cow<'static, str>,
}

/// What is wrong with a patch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PatchErrorKind {
    /// It is not written as RFC 6902 says, so it fits no document.
    Malformed,
    /// A place it names is not there, or cannot be.
    NotFound,
    /// A value is not the one it tests for.
    TestFailed,
    /// The result, or the work to get there, would be too large.
    LimitExceeded,
}

impl PatchError {
    /// What is wrong.
    pub fn kind(&self) -> PatchErrorKind {
        self.kind
    }

    /// The operation that is wrong, counted from 0; `None` if the whole patch is.
    pub fn operation(&self) -> Option<usize> {
        self.operation
    }

    /// The `path` of that operation as the patch has it; empty if it has none.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation {
            Some(index) => write!(f, "operation {index}, path {:?}: ", shortened(&self.pointer))?,
            None => f.write_str("patch: ")?,
        }
        f.write_str(&self.problem)
    }
}

impl Error for PatchError {}

/// How many values and bytes of text a patch may look at in the values that it tests and moves deeper, for each byte of
/// the largest document. All else is linear in patch and document, but ten thousand tests of the longest number, or
/// moves of the largest list, would take minutes.
const WORK_PER_BYTE: usize = 8;

#[derive(Clone, Debug)]
struct Operation<'a> {
    path: Pointer<'a>,
    action: Action<'a>,
}

#[derive(Clone, Debug)]
enum Action<'a> {
    Add(Value<'a>),
    Remove,
    Replace(Value<'a>),
    Move { from: Pointer<'a> },
    Copy { from: Pointer<'a> },
    Test(Value<'a>),
}

/// What is wrong with an operation, before it is known which one it is.
struct Problem(PatchErrorKind, Cow<'static, str>);

impl Problem {
    fn of(self, operation: usize, pointer: &str) -> PatchError {
        let Self(kind, problem) = self;
        PatchError { operation: Some(operation), pointer: pointer.to_owned(), kind, problem }
    }

    fn malformed(problem: impl Into<Cow<'static, str>>) -> Self {
        Self(PatchErrorKind::Malformed, problem.into())
    }

    /// Nothing is where the first `tokens` of the pointer lead.
    fn not_found(pointer: &Pointer<'_>, tokens: usize, why: &str) -> Self {
        let problem = format!("{:?} is not there: {why}", shortened(pointer.prefix(tokens)));
        Self(PatchErrorKind::NotFound, problem.into())
    }
}

impl<'a> Operation<'a> {
    fn parse(operation: Value<'a>) -> Result<Self, Problem> {
        if operation.as_object().is_none() {
            let problem = format!("an operation is an object, not {}", operation.kind_name());
            return Err(Problem::malformed(problem));
        }
        let text = |member: &str| {
            let text = operation.get(member).and_then(Value::as_str);
            text.ok_or_else(|| Problem::malformed(format!("the operation needs {member:?}, which is a string")))
        };
        let pointer = |member: &str| {
            let parsed = Pointer::parse(text(member)?);
            parsed.map_err(|rule| Problem::malformed(format!("{member:?} is no pointer: {rule}")))
        };
        let value = || operation.get("value").ok_or_else(|| Problem::malformed("the operation needs a \"value\""));
        let action = match text("op")? {
            "add" => Action::Add(value()?),
            "remove" => Action::Remove,
            "replace" => Action::Replace(value()?),
            "move" => Action::Move { from: pointer("from")? },
            "copy" => Action::Copy { from: pointer("from")? },
            "test" => Action::Test(value()?),
            _ => {
                return Err(Problem::malformed("\"op\" is one of add, remove, replace, move, copy and test"));
            }
        };
        Ok(Self { path: pointer("path")?, action })
    }
}

/// The document that a patch is being applied to, and what the patch may still cost.
struct Document<'a> {
    root: Node<'a>,
    arena: &'a Arena,
    max_depth: usize,
    /// How many bytes may still be copied within the document, which is what makes it larger than it and the patch.
    copy_budget: usize,
    /// How many values and bytes of text may still be looked at.
    work_budget: usize,
}

impl<'a> Document<'a> {
    fn apply(&mut self, operation: &Operation<'a>) -> Result<(), Problem> {
        let path = &operation.path;
        match &operation.action {
            Action::Add(value) => {
                let node = Node::foreign(*value);
                let fits = self.check_depth(path, &node);
                self.add(path, node, None, fits)
            }
            Action::Remove => self.remove(path).map(drop),
            Action::Replace(value) => {
                let node = Node::foreign(*value);
                let fits = self.check_depth(path, &node);
                let place = self.find(path)?;
                fits?;
                *place = node;
                Ok(())
            }
            Action::Move { from } if path.is_inside(from) => {
                Err(Problem::malformed("a value cannot be moved into itself; copy it, or move its parts"))
            }
            Action::Move { from } if path.tokens() == from.tokens() => self.find(from).map(drop),
            Action::Move { from } => {
                let (mut node, origin) = self.remove(from)?;
                let is_same_list = path.parent() == from.parent() && origin.is_some();
                if !is_same_list {
                    node.detach();
                }
                // A value cannot become too deep where it was as deep before.
                let is_deeper = path.tokens().len() > from.tokens().len();
                let fits = if is_deeper { self.check_depth(path, &node) } else { Ok(()) };
                self.add(path, node, origin.filter(|_| is_same_list), fits)
            }
            Action::Copy { from } => {
                let arena = self.arena;
                let value = self.find(from)?.to_value(arena);
                if !spend_size(value, &mut self.copy_budget) {
                    let problem = "the patch copies too much; split it, or add what should be there";
                    return Err(Problem(PatchErrorKind::LimitExceeded, problem.into()));
                }
                let node = Node::foreign(value);
                let fits = self.check_depth(path, &node);
                self.add(path, node, None, fits)
            }
            Action::Test(expected) => {
                let mut seen = 0;
                let is_expected = self.find(path)?.equivalent(*expected, &mut seen);
                self.spend_work(seen)?;
                if is_expected {
                    return Ok(());
                }
                Err(Problem(PatchErrorKind::TestFailed, "the value is not the one that the patch tests for".into()))
            }
        }
    }

    fn find(&mut self, pointer: &Pointer<'_>) -> Result<&mut Node<'a>, Problem> {
        self.find_first(pointer, pointer.tokens().len())
    }

    /// What the first `tokens` of the pointer lead to.
    fn find_first(&mut self, pointer: &Pointer<'_>, tokens: usize) -> Result<&mut Node<'a>, Problem> {
        let mut node = &mut self.root;
        for (position, token) in pointer.tokens()[..tokens].iter().enumerate() {
            node = node.child(token).map_err(|why| Problem::not_found(pointer, position + 1, &why))?;
        }
        Ok(node)
    }

    /// Adds a value; in a list, as an item that continues the old one at `origin`. `fits` says whether the value is not
    /// nested too deep there.
    fn add(
        &mut self,
        pointer: &Pointer<'a>,
        value: Node<'a>,
        origin: Option<usize>,
        fits: Result<(), Problem>,
    ) -> Result<(), Problem> {
        let Some((token, parents)) = pointer.tokens().split_last() else {
            fits?;
            self.root = value;
            return Ok(());
        };
        let arena = self.arena;
        let not_found = |why: String| Problem::not_found(pointer, parents.len() + 1, &why);
        // That the parent is not there says more than that the value would be too deep in it.
        let parent = self.find_first(pointer, parents.len())?.opened();
        fits?;
        match parent {
            Content::Array(list) => {
                let end = list.len();
                let place = if token == "-" { Some(end) } else { position(token).filter(|place| *place <= end) };
                let place = place.ok_or_else(|| not_found(no_item(token, end)))?;
                list.insert(place, Item { node: value, origin });
            }
            Content::Object(fields) => match fields.get_mut(token) {
                Some(field) => *field = value,
                None => {
                    let key = match token {
                        Cow::Borrowed(key) => key,
                        Cow::Owned(key) => arena.text(key),
                    };
                    fields.push(key, value);
                }
            },
            Content::Value(parent) => return Err(not_found(no_container(*parent))),
        }
        Ok(())
    }

    /// Removes a value; of a list item, which old one it continued.
    fn remove(&mut self, pointer: &Pointer<'_>) -> Result<(Node<'a>, Option<usize>), Problem> {
        let Some((token, parents)) = pointer.tokens().split_last() else {
            return Err(Problem::malformed("the whole document cannot be removed; replace it"));
        };
        // Reports what is not there, and opens the parent.
        self.find(pointer)?;
        let removed = match self.find_first(pointer, parents.len())?.opened() {
            Content::Array(list) => {
                let item = position(token).and_then(|place| list.remove(place));
                item.map(|item| (item.node, item.origin))
            }
            Content::Object(fields) => fields.remove(token).map(|node| (node, None)),
            Content::Value(_) => None,
        };
        removed.ok_or_else(|| Problem::not_found(pointer, parents.len() + 1, "there is no such field"))
    }

    /// Every walk over a document relies on its depth.
    fn check_depth(&mut self, pointer: &Pointer<'_>, value: &Node<'_>) -> Result<(), Problem> {
        let mut seen = 0;
        if pointer.tokens().len() + value.depth(&mut seen) > self.max_depth {
            let problem = format!("the result would be nested deeper than the limit of {}", self.max_depth);
            return Err(Problem(PatchErrorKind::LimitExceeded, problem.into()));
        }
        self.spend_work(seen)
    }

    fn spend_work(&mut self, items: usize) -> Result<(), Problem> {
        self.work_budget = self.work_budget.checked_sub(items).ok_or_else(|| {
            let problem = "the patch moves or compares too much; split it, or replace large values as a whole";
            Problem(PatchErrorKind::LimitExceeded, problem.into())
        })?;
        Ok(())
    }
}

/// Takes about as many bytes as the value would be encoded to from the budget; `false` if it has not enough.
fn spend_size(value: Value<'_>, budget: &mut usize) -> bool {
    let mut spend = |bytes: usize| match budget.checked_sub(bytes) {
        Some(rest) => {
            *budget = rest;
            true
        }
        None => false,
    };
    match value {
        Value::Null | Value::Bool(_) => spend(4),
        Value::Number(number) => spend(number.as_str().len()),
        Value::String(text) => spend(text.as_str().len() + 2),
        Value::Array(items) => spend(items.len() + 2) && items.iter().all(|item| spend_size(*item, budget)),
        Value::Object(entries) => {
            let keys = entries.iter().map(|entry| entry.key.len() + 4).sum::<usize>();
            spend(keys + 2) && entries.iter().all(|entry| spend_size(entry.value, budget))
        }
    }
}
