//! The files that one document is spread over, and the places in them.
//!
//! Every file has a range of offsets of its own, one after the other, as if they were one long text: a [`Span`] then
//! says which file it is in, and neither the model nor any check has to carry that along. The document itself comes
//! first, so its spans are what they were when it was given.

use std::collections::HashMap;

use wheelwright_document::{
    Arena, Decode, DuplicateKeys, Span, Spanned, SpannedEntry, SpannedNode, Yaml, decode_json_spanned, decode_yaml,
};

use super::Dialect;

/// Where the files come from that a document refers to. This crate does no IO; who has files implements this.
pub trait Tree {
    /// The name of the file that a reference in the file `from` leads to. The same file always has the same name.
    ///
    /// # Errors
    /// The reference leads out of the tree.
    fn locate(&self, from: &str, reference: &str) -> Result<String, Refused>;

    /// What a file holds.
    ///
    /// # Errors
    /// Why it cannot be read: a lower-case fragment.
    fn read(&self, name: &str) -> Result<Vec<u8>, String>;
}

/// Why a reference is not followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// A lower-case fragment.
    pub message: String,
    /// What to write or do instead.
    pub mend: String,
}

/// No files at all: a document that refers to others is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTree;

impl Tree for NoTree {
    fn locate(&self, _from: &str, _reference: &str) -> Result<String, Refused> {
        Err(Refused {
            message: "the document stands alone and cannot refer to other files".to_owned(),
            mend: "name the document as a file".to_owned(),
        })
    }

    fn read(&self, _name: &str) -> Result<Vec<u8>, String> {
        Err("there are no files".to_owned())
    }
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct File<'a> {
    pub(super) name: String,
    /// The offset of its first byte in the text of all files together.
    base: u32,
    /// Its bytes; those of the document itself belong to the caller.
    pub(super) bytes: &'a [u8],
    pub(super) document: &'a Spanned<'a>,
    pub(super) dialect: Dialect,
    /// Whether it says itself what it is; a file of mere schemas does not.
    pub(super) is_declared: bool,
}

/// Why a file cannot be used.
pub(super) struct Unusable {
    pub(super) message: String,
    /// Where in the file, if it could be read at all.
    pub(super) span: Option<Span>,
}

pub(super) struct Files<'t, 'a> {
    tree: &'t dyn Tree,
    arena: &'a Arena,
    list: Vec<File<'a>>,
    /// Files that cannot be decoded: their bases and names, for the places of what is wrong with them.
    broken: Vec<(u32, String, &'a [u8])>,
    by_name: HashMap<String, Option<usize>>,
    next_base: u32,
}

const LIMITS: Decode =
    Decode { max_bytes: 64 << 20, max_depth: 512, duplicate_keys: DuplicateKeys::Refuse, yaml: Yaml::Core };

impl<'t, 'a> Files<'t, 'a> {
    pub(super) fn new(
        name: &str,
        document: &'a Spanned<'a>,
        base: u32,
        dialect: Dialect,
        tree: &'t dyn Tree,
        arena: &'a Arena,
    ) -> Self {
        let file = File { name: name.to_owned(), base, bytes: &[], document, dialect, is_declared: true };
        let by_name = HashMap::from([(name.to_owned(), Some(0))]);
        let next_base = document.span.end.saturating_add(1);
        Self { tree, arena, list: vec![file], broken: Vec::new(), by_name, next_base }
    }

    pub(super) fn get(&self, file: usize) -> &File<'a> {
        &self.list[file]
    }

    /// The name of the file that a reference leads to.
    pub(super) fn locate(&self, from: usize, reference: &str) -> Result<String, Refused> {
        self.tree.locate(&self.list[from].name, reference)
    }

    /// The file of a name, read when it is first asked for; `None` if it cannot be used, which has been said then.
    pub(super) fn open(&mut self, name: &str, dialect: Dialect) -> Result<Option<usize>, Unusable> {
        if let Some(known) = self.by_name.get(name) {
            return Ok(*known);
        }
        self.by_name.insert(name.to_owned(), None);
        let bytes = self.tree.read(name).map_err(|message| Unusable { message, span: None })?;
        let bytes = self.arena.slice(&bytes);
        let base = self.next_base;
        let end = u32::try_from(bytes.len()).ok().and_then(|length| base.checked_add(length)?.checked_add(1));
        let Some(end) = end else {
            return Err(Unusable { message: "all files together are too large".to_owned(), span: None });
        };
        self.next_base = end;
        let document = match decode(bytes, self.arena) {
            Ok(document) => document,
            Err((message, span)) => {
                self.broken.push((base, name.to_owned(), bytes));
                return Err(Unusable { message, span: Some(moved_span(span, base)) });
            }
        };
        let document = moved(&document, base, self.arena);
        let document = &self.arena.slice(&[document])[0];
        let own = Dialect::of(document);
        let file = File {
            name: name.to_owned(),
            base,
            bytes,
            document,
            dialect: own.unwrap_or(dialect),
            is_declared: own.is_some(),
        };
        self.list.push(file);
        let position = self.list.len() - 1;
        self.by_name.insert(name.to_owned(), Some(position));
        Ok(Some(position))
    }

    /// The file that a span is in, and the span in that file.
    pub(super) fn place(&self, span: Span) -> (&str, Span) {
        let files = self.list.iter().map(|file| (file.base, file.name.as_str()));
        let broken = self.broken.iter().map(|(base, name, _)| (*base, name.as_str()));
        let nearest = files.chain(broken).filter(|(base, _)| *base <= span.start).max_by_key(|(base, _)| *base);
        let (base, name) = nearest.unwrap_or((0, ""));
        (name, Span { start: span.start - base, end: span.end.saturating_sub(base), ..span })
    }

    /// Every file but the document itself: the offset of its first byte, its name and what it holds.
    pub(super) fn others(&self) -> impl Iterator<Item = (u32, &str, &'a [u8])> {
        let files = self.list.iter().skip(1).map(|file| (file.base, file.name.as_str(), file.bytes));
        files.chain(self.broken.iter().map(|(base, name, bytes)| (*base, name.as_str(), *bytes)))
    }

    /// How many bytes were read, the document's own included.
    pub(super) fn bytes(&self) -> usize {
        (self.next_base - self.list[0].base) as usize
    }
}

/// Decodes the first document of a file: JSON if it looks like it, else YAML.
fn decode<'a>(bytes: &'a [u8], arena: &'a Arena) -> Result<Spanned<'a>, (String, Span)> {
    let looks_like_json = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
    if looks_like_json && let Ok(document) = decode_json_spanned(bytes, arena, &LIMITS) {
        return Ok(document);
    }
    // Also for what is wrong with JSON, which is YAML: that decoder knows the places.
    match decode_yaml(bytes, arena, &LIMITS) {
        Ok(documents) => {
            documents.first().copied().ok_or_else(|| ("the file holds no document".to_owned(), Span::default()))
        }
        Err(error) => Err((error.kind().to_string(), error.span())),
    }
}

fn moved_span(span: Span, base: u32) -> Span {
    Span { start: span.start + base, end: span.end + base, ..span }
}

fn moved<'a>(value: &Spanned<'a>, base: u32, arena: &'a Arena) -> Spanned<'a> {
    let node = match value.node {
        SpannedNode::Scalar(scalar) => SpannedNode::Scalar(scalar),
        SpannedNode::Array(items) => {
            SpannedNode::Array(arena.slice_from(items.iter().map(|item| moved(item, base, arena))))
        }
        SpannedNode::Object(entries) => {
            SpannedNode::Object(arena.slice_from(entries.iter().map(|entry| SpannedEntry {
                key: entry.key,
                key_span: moved_span(entry.key_span, base),
                value: moved(&entry.value, base, arena),
            })))
        }
    };
    Spanned { span: moved_span(value.span, base), node }
}
