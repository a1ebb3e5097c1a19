//! How much a list item hides.

use wheelwright_document::{Arena, Value};

use super::{Lenses, get::Get, plan::Content};
use crate::VersionIndex;

impl Lenses {
    /// How many values the other versions show of a list item: of items that look equal to the writer, one that others see
    /// more of hides more. Versions are asked, and not the stored form, so that every hub gives the same answer.
    pub(crate) fn size_in_other_versions<'a>(
        &'a self,
        version: VersionIndex,
        element: &'a Content,
        stored: Value<'a>,
        metadata: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> u32 {
        let shown = self.in_other_versions(version, element, stored, metadata, arena);
        shown.map(size).fold(0, u32::saturating_add)
    }

    /// What each of the other versions shows of a list item.
    pub(super) fn in_other_versions<'a>(
        &'a self,
        version: VersionIndex,
        element: &'a Content,
        stored: Value<'a>,
        metadata: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> impl Iterator<Item = Value<'a>> {
        let item = match (element, stored) {
            (Content::Scope(scope), Value::Object(stored)) => Some((*scope, stored)),
            _ => None,
        };
        item.into_iter().flat_map(move |(scope, stored)| {
            let views = self.scopes[scope].views.iter().enumerate();
            let others = views.filter(move |(other, view)| view.is_some() && *other != version.position());
            others.map(move |(other, _)| {
                let mut get = Get::new(self, VersionIndex(other as u32), arena, ());
                get.metadata = metadata;
                Value::Object(get.scope(scope, stored))
            })
        })
    }
}

/// The number of values in a value, itself included.
pub(super) fn size(value: Value<'_>) -> u32 {
    let parts: u32 = match value {
        Value::Array(items) => items.iter().map(|item| size(*item)).fold(0, u32::saturating_add),
        Value::Object(entries) => entries.iter().map(|entry| size(entry.value)).fold(0, u32::saturating_add),
        _ => 0,
    };
    parts.saturating_add(1)
}
