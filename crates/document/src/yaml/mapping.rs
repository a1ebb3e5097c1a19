//! Keys and values of a mapping, until it is known which of them count.

use std::{
    borrow::Cow,
    collections::{HashMap, hash_map::Entry},
};

use super::{Building, YamlErrorKind, refuse, scalar::key_text};
use crate::{Arena, DuplicateKeys, Span, Spanned, SpannedEntry, SpannedNode};

/// A mapping whose end has not been seen.
#[derive(Default)]
pub(super) struct Mapping<'a> {
    drafts: Vec<Draft<'a>>,
    key: Option<Key<'a>>,
}

/// A key that waits for its value.
enum Key<'a> {
    Field(&'a str, Span),
    Merge,
}

/// An entry before it is known to be the only one of its key.
struct Draft<'a> {
    entry: SpannedEntry<'a>,
    /// Where this mapping has the key, unless it is there because of a merge only.
    written: Option<Span>,
}

impl<'a> Mapping<'a> {
    /// Whether what comes next is a key.
    pub(super) fn awaits_key(&self) -> bool {
        self.key.is_none()
    }

    /// The key that comes next asks for the entries of its value.
    pub(super) fn add_merge_key(&mut self) {
        self.key = Some(Key::Merge);
    }

    /// Takes the next key or value.
    pub(super) fn add(&mut self, value: Spanned<'a>, arena: &'a Arena) -> Building<()> {
        match self.key.take() {
            None => {
                let name = match value.as_scalar().and_then(key_text) {
                    Some(Cow::Borrowed(name)) => name,
                    Some(Cow::Owned(name)) => arena.text(&name),
                    None => {
                        let found = value.kind_name();
                        return refuse(YamlErrorKind::UnsupportedKey { found }, value.span);
                    }
                };
                self.key = Some(Key::Field(name, value.span));
            }
            Some(Key::Field(key, key_span)) => {
                let entry = SpannedEntry { key, key_span, value };
                self.drafts.push(Draft { entry, written: Some(key_span) });
            }
            Some(Key::Merge) => self.merge(value)?,
        }
        Ok(())
    }

    /// Takes over the entries of a mapping, or of a list of mappings where those before count more than those behind.
    fn merge(&mut self, source: Spanned<'a>) -> Building<()> {
        let mappings = match &source.node {
            SpannedNode::Array(items) => items,
            _ => std::slice::from_ref(&source),
        };
        for mapping in mappings.iter().rev() {
            let SpannedNode::Object(entries) = mapping.node else {
                return refuse(YamlErrorKind::InvalidMerge, mapping.span);
            };
            let drafts = entries.iter().map(|entry| Draft { entry: *entry, written: None });
            self.drafts.extend(drafts);
        }
        Ok(())
    }

    /// Entries with unique keys. As in kubectl, what comes later counts, be it written or merged.
    pub(super) fn finish(self, duplicate_keys: DuplicateKeys, arena: &'a Arena) -> Building<&'a [SpannedEntry<'a>]> {
        let mut positions = HashMap::with_capacity(self.drafts.len());
        let mut kept: Vec<Draft<'a>> = Vec::with_capacity(self.drafts.len());
        for draft in self.drafts {
            match positions.entry(draft.entry.key) {
                Entry::Vacant(position) => {
                    position.insert(kept.len());
                    kept.push(draft);
                }
                Entry::Occupied(position) => {
                    let before = &mut kept[*position.get()];
                    if duplicate_keys == DuplicateKeys::Refuse
                        && let (Some(first), Some(again)) = (before.written, draft.written)
                    {
                        let key = draft.entry.key.to_owned();
                        return refuse(YamlErrorKind::DuplicateKey { key, first }, again);
                    }
                    let written = draft.written.or(before.written);
                    *before = Draft { written, ..draft };
                }
            }
        }
        Ok(arena.slice_from(kept.iter().map(|draft| draft.entry)))
    }
}
