//! Where a file allows something, and how much of it each allowance reaches.

use std::ops::RangeInclusive;

use wheelwright_document::{Comment, FieldPath, Span, Spanned, SpannedNode};

use super::{
    Date,
    parse::{self, Reach, Words},
};
use crate::{Finding, Place, Rule, rules};

/// The annotation of a resource that allows something in all of it.
const ANNOTATION: &str = "wheelwright-allow";
/// The key of a schema that allows something in it and below it.
pub const ALLOWANCE_KEYWORD: &str = "x-wheelwright-allow";

/// What a file says about findings that are to be let pass.
#[derive(Clone, Debug)]
pub struct Allowances {
    pub(super) file: String,
    pub(super) items: Vec<Allowance>,
    /// What was meant as an allowance and is none.
    pub(super) malformed: Vec<Finding>,
}

/// Findings of some rules, in some part of a file, that are to be let pass.
#[derive(Clone, Debug)]
pub(super) struct Allowance {
    pub(super) rules: Vec<&'static Rule>,
    pub(super) until: Option<Date>,
    pub(super) reason: String,
    pub(super) place: Place,
    /// The bytes where findings must start for it to reach them.
    pub(super) range: RangeInclusive<u32>,
}

/// What a file holds, which decides where allowances may be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// Definitions and schemas.
    Schemas,
    /// Documents, in which every key is a field.
    Documents,
}

impl Allowances {
    /// Reads what a file allows: in comments, in the annotation `wheelwright-allow` of a resource, and in schemas in
    /// the key `x-wheelwright-allow`.
    pub fn read(file: &str, comments: &[Comment<'_>], documents: &[Spanned<'_>], holds: Holds) -> Self {
        let mut allowances = Self { file: file.to_owned(), items: Vec::new(), malformed: Vec::new() };
        allowances.read_comments(comments, documents);
        for document in documents {
            let items = document.get("items").and_then(Spanned::as_array).unwrap_or_default();
            for resource in std::iter::once(document).chain(items) {
                allowances.read_annotation(resource);
            }
            if holds == Holds::Schemas {
                allowances.read_extensions(document, document.span, Keys::OfSchema);
            }
        }
        allowances
    }

    /// Whether there is nothing in it to use or to complain about.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.malformed.is_empty()
    }

    fn read_comments(&mut self, comments: &[Comment<'_>], documents: &[Spanned<'_>]) {
        let said = comments.iter().filter_map(|comment| Some((comment, parse::comment(comment.text)?)));
        let said: Vec<_> = said.collect();
        if said.is_empty() {
            return;
        }
        let mut nodes = Vec::new();
        for document in documents {
            collect_nodes(document, &mut nodes);
        }
        // What an alias repeats has the place of its anchor, and comes after it: the sort keeps their order.
        nodes.sort_by_key(|node| node.start);
        for (comment, said) in said {
            let form = "# wheelwright: allow WW005 until 2027-03-01 -- why this is all right";
            match said {
                Ok((Reach::File, words)) => self.add(words, comment.span, 0..=u32::MAX),
                Ok((Reach::Here, words)) => self.add(words, comment.span, reach(comment, &nodes)),
                Err(why) => self.complain(&why, form, comment.span, comment.text.trim()),
            }
        }
    }

    fn read_annotation(&mut self, resource: &Spanned<'_>) {
        let annotations = resource.get("metadata").and_then(|metadata| metadata.get("annotations"));
        if let Some(value) = annotations.and_then(|annotations| annotations.get(ANNOTATION)) {
            self.read_value(value, resource.span);
        }
    }

    fn read_extensions(&mut self, value: &Spanned<'_>, whole: Span, keys: Keys) {
        match value.node {
            SpannedNode::Scalar(_) => {}
            SpannedNode::Array(items) => items.iter().for_each(|item| self.read_extensions(item, item.span, keys)),
            SpannedNode::Object(entries) => {
                for entry in entries {
                    if keys == Keys::OfSchema && entry.key == ALLOWANCE_KEYWORD {
                        self.read_value(&entry.value, whole);
                    } else if let Some(below) = keys.below(entry.key) {
                        let whole = Span { end: entry.value.span.end, ..entry.key_span };
                        self.read_extensions(&entry.value, whole, below);
                    }
                }
            }
        }
    }

    /// Reads a text, each line of which allows something, or a list of such texts.
    fn read_value(&mut self, value: &Spanned<'_>, whole: Span) {
        let form = "\"WW005 until 2027-03-01 -- why this is all right\"";
        if let Some(items) = value.as_array() {
            return items.iter().for_each(|item| self.read_value(item, whole));
        }
        let Some(text) = value.as_str() else {
            return self.complain("it is no text", form, value.span, "");
        };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match parse::words(line) {
                Ok(words) => self.add(words, value.span, whole.start..=whole.end),
                Err(why) => self.complain(&why, form, value.span, line),
            }
        }
    }

    fn add(&mut self, words: Words, span: Span, range: RangeInclusive<u32>) {
        let Words { rules, until, reason } = words;
        self.items.push(Allowance { rules, until, reason, place: Place::new(&self.file, span), range });
    }

    fn complain(&mut self, why: &str, form: &str, span: Span, text: &str) {
        let message = format!("this allows nothing: {why}");
        self.malformed.push(
            Finding::new(&rules::SUPPRESSION_MALFORMED, message, FieldPath::root())
                .at(Place::new(&self.file, span))
                .with_mend(format!("write {form}"))
                .with_identity(text),
        );
    }
}

/// What the keys of an object are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// Keywords.
    OfSchema,
    /// Names that somebody chose.
    Chosen,
}

impl Keys {
    /// What the keys below a key are; nothing where there are values that only look like schemas.
    fn below(self, key: &str) -> Option<Self> {
        match (self, key) {
            (Self::OfSchema, "properties" | "patternProperties" | "definitions" | "$defs" | "schemas") => {
                Some(Self::Chosen)
            }
            (Self::OfSchema, "default" | "example" | "examples" | "enum" | "const") => None,
            _ => Some(Self::OfSchema),
        }
    }
}

/// A part of a document that a comment can stand at.
struct Node {
    start: u32,
    end: u32,
    line: u32,
    is_entry: bool,
}

/// Every entry and item, and every value that has a line of its own; what holds others comes before them.
fn collect_nodes(value: &Spanned<'_>, nodes: &mut Vec<Node>) {
    let node = |span: Span| Node { start: span.start, end: span.end, line: span.line, is_entry: false };
    match value.node {
        SpannedNode::Scalar(_) => {}
        SpannedNode::Array(items) => {
            for item in items {
                nodes.push(node(item.span));
                collect_nodes(item, nodes);
            }
        }
        SpannedNode::Object(entries) => {
            for entry in entries {
                let (key, value) = (entry.key_span, entry.value.span);
                nodes.push(Node { end: value.end.max(key.end), is_entry: true, ..node(key) });
                if value.line != key.line && !begins_with_a_part(&entry.value) {
                    nodes.push(node(value));
                }
                collect_nodes(&entry.value, nodes);
            }
        }
    }
}

/// Whether a value is a block, where a comment stands at the first entry or item rather than at all of them.
fn begins_with_a_part(value: &Spanned<'_>) -> bool {
    match value.node {
        SpannedNode::Object([first, ..]) => first.key_span.start == value.span.start,
        SpannedNode::Array([_, ..]) => true,
        _ => false,
    }
}

/// What a comment stands at: alone on its line, the entry or item that follows; else the entry on its line, or the item
/// if there is none. Either with all that is in it.
fn reach(comment: &Comment<'_>, nodes: &[Node]) -> RangeInclusive<u32> {
    let behind = nodes.partition_point(|node| node.start <= comment.span.start);
    let node = if comment.is_alone {
        nodes.get(behind)
    } else {
        let line = nodes.partition_point(|node| node.line < comment.span.line);
        let on_line = nodes.get(line..behind).unwrap_or_default();
        on_line.iter().find(|node| node.is_entry).or(on_line.first())
    };
    node.map_or(comment.span.start..=comment.span.start, |node| node.start..=node.end)
}
