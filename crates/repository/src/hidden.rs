//! What customers may write and never see: `writeOnly`, `x-ms-secret`, and `x-ms-mutability` without `read`.
//!
//! Views of a version leave it out. So a document that was read and is written back does not have it, and must not remove it:
//! where the object around it is written, it stays, unless it is said to be null.

use wheelwright_document::{Arena, Entry, ItemOrigins, Path, Value};
use wheelwright_evolve::{UncertainRemoval, match_concealed, match_known};
use wheelwright_schema::{Schema, model::Additional};

/// The fields of a version, from one of its values on, that are not shown.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// The value itself is not shown.
    is_whole: bool,
    fields: Vec<(Box<str>, Hidden)>,
    /// Of the items of a list, and of the values of a map that are not fields.
    element: Option<Box<Hidden>>,
    /// The fields of an object that is a map, too.
    declared: Vec<Box<str>>,
    /// What tells the items of a list apart.
    keys: Vec<Box<str>>,
}

/// What becomes of what is hidden, and is not in an object that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unsaid {
    /// It stays: whoever wrote the object could not see it.
    Stays,
    /// It is as the object says: the object was there with it, and was changed.
    IsGone,
}

impl Hidden {
    /// None if all is shown.
    pub(crate) fn of(schema: &Schema) -> Option<Self> {
        let hidden = Self::of_all(schema);
        (hidden.is_whole || !hidden.fields.is_empty() || hidden.element.is_some()).then_some(hidden)
    }

    fn of_all(schema: &Schema) -> Self {
        let annotations = schema.annotations.as_deref();
        let is_hidden = annotations.is_some_and(|annotations| {
            annotations.write_only || annotations.secret || annotations.mutability.is_some_and(|access| !access.read)
        });
        let fields = schema.properties.iter().filter_map(|field| Some((field.name.clone(), Self::of(&field.schema)?)));
        let values = schema.additional_properties.as_ref().and_then(|additional| match additional {
            Additional::Schema(schema) => Some(&**schema),
            Additional::Allowed(_) => None,
        });
        let element = schema.items.as_deref().or(values).and_then(Self::of).map(Box::new);
        // How many secrets there are, and what they are called, is nothing to tell either.
        let is_of_secrets = schema.properties.is_empty() && element.as_ref().is_some_and(|element| element.is_whole);
        let identifiers = annotations.and_then(|annotations| annotations.identifiers.clone());
        let mut hidden = Self {
            is_whole: is_hidden || is_of_secrets,
            fields: fields.collect(),
            element,
            declared: schema.properties.iter().map(|field| field.name.clone()).collect(),
            keys: identifiers.unwrap_or_else(|| schema.extensions.list_map_keys.clone()),
        };
        // What one of several schemas hides is hidden, whichever it is.
        let alternatives = schema.all_of.iter().chain(&schema.any_of).chain(&schema.one_of);
        alternatives.for_each(|schema| hidden.join(Self::of_all(schema)));
        hidden
    }

    /// Hides what another hides, too.
    fn join(&mut self, other: Self) {
        self.is_whole |= other.is_whole;
        for (name, below) in other.fields {
            match self.fields.iter_mut().find(|(own, _)| *own == name) {
                Some((_, own)) => own.join(below),
                None => self.fields.push((name, below)),
            }
        }
        if let Some(other) = other.element {
            self.element.get_or_insert_default().join(*other);
        }
        self.declared.extend(other.declared);
        if self.keys.is_empty() {
            self.keys = other.keys;
        }
    }

    /// What is hidden of a field.
    fn below(&self, name: &str) -> Option<&Self> {
        let field = self.fields.iter().find(|(field, _)| **field == *name).map(|(_, below)| below);
        field.or_else(|| self.element.as_deref().filter(|_| !self.declared.iter().any(|own| **own == *name)))
    }

    /// A document as customers see it.
    pub(crate) fn concealed<'a>(&self, document: Value<'a>, arena: &'a Arena) -> Value<'a> {
        match document {
            Value::Object(entries) => {
                let seen = entries.iter().filter_map(|entry| match self.below(entry.key) {
                    None => Some(*entry),
                    Some(below) if below.is_whole => None,
                    Some(below) => Some(Entry { key: entry.key, value: below.concealed(entry.value, arena) }),
                });
                Value::Object(arena.slice(&seen.collect::<Vec<_>>()))
            }
            Value::Array(items) => match &self.element {
                Some(element) => {
                    let items: Vec<_> = items.iter().map(|item| element.concealed(*item, arena)).collect();
                    Value::Array(arena.slice(&items))
                }
                None => document,
            },
            scalar => scalar,
        }
    }

    /// A customer's document with what they could not see of the stored one. Items of lists are always written as a whole,
    /// whatever the objects are that they are in. Writing what is hidden as a whole replaces all of it.
    pub(crate) fn kept<'a>(
        &self,
        written: Value<'a>,
        there: Value<'a>,
        origins: Option<&ItemOrigins<'_>>,
        unsaid: Unsaid,
        arena: &'a Arena,
    ) -> (Value<'a>, Removals<'a>) {
        let mut keep = Keep { arena, removals: Removals::default() };
        let kept = keep.value(self, (written, there), origins, unsaid, &Path::Root);
        (kept, keep.removals)
    }
}

/// Removals among list items of which clients cannot see what differs, each with the list that was replaced.
#[derive(Debug, Default)]
pub(crate) struct Removals<'a>(Vec<(UncertainRemoval, &'a [Value<'a>])>);

impl Removals<'_> {
    /// All uncertain removals of a write: those in fields that it writes, and those among items that hide different fields of
    /// other versions.
    ///
    /// Where both are in one list, the latter decided which of the items with equal secrets were removed.
    pub(crate) fn joined(
        self,
        others: Vec<UncertainRemoval>,
        is_written: impl Fn(&str) -> bool,
    ) -> Vec<UncertainRemoval> {
        let Self(mut own) = self;
        own.retain(|(removal, _)| removal.list.as_str().split(['.', '[']).next().is_none_or(&is_written));
        let mut joined = Vec::new();
        for other in others {
            let equal_to_other = |items: &[Value<'_>], at: usize| {
                let first = other.removed.first().and_then(|first| items.get(*first));
                first.is_some_and(|first| items[at].equivalent(*first))
            };
            let wider = own.iter_mut().find(|(removal, items)| {
                removal.list == other.list && removal.removed.iter().any(|at| equal_to_other(items, *at))
            });
            match wider {
                Some((removal, items)) => {
                    removal.removed.retain(|at| !equal_to_other(items, *at));
                    removal.removed.extend(other.removed);
                    removal.removed.sort_unstable();
                }
                None => joined.push(other),
            }
        }
        joined.extend(own.into_iter().map(|(removal, _)| removal));
        joined.truncate(UncertainRemoval::LIMIT);
        joined
    }
}

/// Puts back what customers cannot see.
struct Keep<'a> {
    arena: &'a Arena,
    removals: Removals<'a>,
}

impl<'a> Keep<'a> {
    /// The written value with what is hidden of the stored one, which is at `path`.
    fn value(
        &mut self,
        hidden: &Hidden,
        (written, there): (Value<'a>, Value<'a>),
        origins: Option<&ItemOrigins<'_>>,
        unsaid: Unsaid,
        path: &Path<'_>,
    ) -> Value<'a> {
        match (written, there) {
            (Value::Object(entries), Value::Object(there)) => {
                let was = |key: &str| there.iter().find(|entry| entry.key == key);
                let is_whole = |entry: &&Entry<'a>| hidden.below(entry.key).is_some_and(|below| below.is_whole);
                let mut entries = entries.to_vec();
                for entry in &mut entries {
                    let below = hidden.below(entry.key).filter(|below| !below.is_whole);
                    if let Some((below, was)) = below.zip(was(entry.key)) {
                        let origins = origins.and_then(|origins| origins.field(entry.key));
                        let path = &Path::Child(path, entry.key);
                        entry.value = self.value(below, (entry.value, was.value), origins, unsaid, path);
                    }
                }
                if unsaid == Unsaid::Stays {
                    let unseen = there.iter().filter(is_whole);
                    entries.extend(unseen.filter(|entry| written.get(entry.key).is_none()));
                }
                Value::Object(self.arena.slice(&entries))
            }
            (Value::Array(items), Value::Array(old)) => self.list(hidden, (written, items), old, origins, path),
            _ => written,
        }
    }

    fn list(
        &mut self,
        hidden: &Hidden,
        (written, items): (Value<'a>, &'a [Value<'a>]),
        old: &'a [Value<'a>],
        origins: Option<&ItemOrigins<'_>>,
        path: &Path<'_>,
    ) -> Value<'a> {
        let Some(element) = &hidden.element else { return written };
        // Items are known by what customers see of them.
        let seen: Vec<_> = old.iter().map(|item| element.concealed(*item, self.arena)).collect();
        let shown: Vec<_> = items.iter().map(|item| element.concealed(*item, self.arena)).collect();
        let known = || match_known(&shown, &seen, &hidden.keys, origins?.items()?);
        let matched = known().unwrap_or_else(|| {
            let (matched, removals) = match_concealed(&shown, (old, &seen), &hidden.keys, path);
            self.removals.0.extend(removals.into_iter().map(|removal| (removal, old)));
            matched
        });
        let items = items.iter().zip(matched).enumerate().map(|(index, (item, position))| match position {
            Some(position) => {
                let origins = origins.and_then(|origins| origins.item_of(index, Some(position)));
                let path = &Path::Index(path, position);
                self.value(element, (*item, old[position]), origins, Unsaid::Stays, path)
            }
            None => *item,
        });
        let items: Vec<_> = items.collect();
        Value::Array(self.arena.slice(&items))
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{decode, encode};

    use super::*;

    fn whole() -> Hidden {
        Hidden { is_whole: true, ..Hidden::default() }
    }

    /// A value of which one field is hidden.
    fn with(field: &str) -> Hidden {
        Hidden { fields: vec![(field.into(), whole())], ..Hidden::default() }
    }

    fn of_elements(element: Hidden, keys: &[&str]) -> Hidden {
        let keys = keys.iter().map(|key| Box::from(*key)).collect();
        Hidden { element: Some(Box::new(element)), keys, ..Hidden::default() }
    }

    /// What is seen of a document, and what becomes of it when something is written in its place.
    fn seen_and_kept(hidden: &Hidden, there: &str, written: Option<&str>) -> (String, String) {
        let arena = Arena::new();
        let there = decode(there.as_bytes(), &arena).unwrap();
        let seen = hidden.concealed(there, &arena);
        let written = written.map_or(seen, |written| decode(written.as_bytes(), &arena).unwrap());
        let text = |value| String::from_utf8(encode(value)).unwrap();
        (text(seen), text(hidden.kept(written, there, None, Unsaid::Stays, &arena).0))
    }

    #[test]
    fn what_is_seen_and_written_back_changes_nothing_but_the_order() {
        for (hidden, there, seen, kept) in [
            (with("s"), r#"{"s":1,"a":2}"#, r#"{"a":2}"#, r#"{"a":2,"s":1}"#),
            (with("s"), r#"{"a":2}"#, r#"{"a":2}"#, r#"{"a":2}"#),
            (of_elements(with("s"), &[]), r#"[{"s":1},{"s":2}]"#, "[{},{}]", r#"[{"s":1},{"s":2}]"#),
            (of_elements(with("s"), &[]), r#"{"k":{"s":1}}"#, r#"{"k":{}}"#, r#"{"k":{"s":1}}"#),
            (with("s"), "7", "7", "7"),
        ] {
            assert_eq!(seen_and_kept(&hidden, there, None), (seen.to_owned(), kept.to_owned()));
        }
    }

    #[test]
    fn an_item_keeps_its_own_wherever_it_goes() {
        let (items, there) = (of_elements(with("s"), &["k"]), r#"[{"k":"a","s":1},{"k":"b","s":2}]"#);
        let (seen, kept) = seen_and_kept(&items, there, Some(r#"[{"k":"c"},{"k":"b"},{"k":"a","s":3}]"#));
        assert_eq!(seen, r#"[{"k":"a"},{"k":"b"}]"#);
        assert_eq!(kept, r#"[{"k":"c"},{"k":"b","s":2},{"k":"a","s":3}]"#);
        let unkeyed = of_elements(with("s"), &[]);
        let (_, kept) = seen_and_kept(&unkeyed, there, Some(r#"[{"k":"b"},{"k":"a"}]"#));
        assert_eq!(kept, r#"[{"k":"b","s":2},{"k":"a","s":1}]"#, "known by what is seen of it");
    }

    #[test]
    fn null_and_leaving_out_what_is_around_it_remove() {
        let nested = Hidden { fields: vec![("o".into(), with("s"))], ..Hidden::default() };
        for (written, kept) in [
            (r#"{"o":{"s":null}}"#, r#"{"o":{"s":null}}"#),
            (r#"{"o":{}}"#, r#"{"o":{"s":1}}"#),
            (r#"{"o":null}"#, r#"{"o":null}"#),
            ("{}", "{}"),
        ] {
            assert_eq!(seen_and_kept(&nested, r#"{"o":{"s":1}}"#, Some(written)).1, kept);
        }
    }
}
