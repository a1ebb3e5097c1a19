//! Who may write which fields: `readOnly` and `x-ms-mutability`.

use wheelwright_document::{Arena, Entry, ItemOrigins, Path, Value};
use wheelwright_evolve::{match_items, match_known};
use wheelwright_schema::{
    Schema,
    model::{Additional, Mutability},
};

use crate::{FieldError, FieldProblem};

/// The fields of a version that customers may not write, or not always.
#[derive(Debug, Default)]
pub(crate) struct Access {
    rule: Option<Rule>,
    fields: Vec<(Box<str>, Access)>,
    /// Of the items of a list, and the values of a map.
    element: Option<Box<Access>>,
    /// What tells the items of a list apart.
    keys: Vec<Box<str>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    /// Only the service writes it; what customers send is passed over, as it is what they have read.
    Service,
    /// Set when the document is created, and never changed.
    CreateOnly,
    /// Not there when the document is created.
    UpdateOnly,
}

impl Access {
    pub(crate) fn of(schema: &Schema) -> Self {
        let annotations = schema.annotations.as_deref();
        let rule = annotations.and_then(|annotations| match annotations.mutability {
            _ if annotations.read_only => Some(Rule::Service),
            Some(Mutability { create: false, update: false, .. }) => Some(Rule::Service),
            Some(Mutability { create: true, update: false, .. }) => Some(Rule::CreateOnly),
            Some(Mutability { create: false, update: true, .. }) => Some(Rule::UpdateOnly),
            _ => None,
        });
        let fields = schema.properties.iter().map(|field| (field.name.clone(), Self::of(&field.schema)));
        let values = schema.additional_properties.as_ref().and_then(|additional| match additional {
            Additional::Schema(schema) => Some(&**schema),
            Additional::Allowed(_) => None,
        });
        let element = schema.items.as_deref().or(values).map(Self::of).filter(|element| !element.is_free());
        let identifiers = annotations.and_then(|annotations| annotations.identifiers.clone());
        Self {
            rule,
            fields: fields.filter(|(_, access)| !access.is_free()).collect(),
            element: element.map(Box::new),
            keys: identifiers.unwrap_or_else(|| schema.extensions.list_map_keys.clone()),
        }
    }

    /// Whether customers may write everything here.
    fn is_free(&self) -> bool {
        self.rule.is_none() && self.fields.is_empty() && self.element.is_none()
    }

    /// What of a field is not a customer's to remove: else leaving out an object would be a way to remove what the service
    /// has written in it, and to set anew what may be set only once.
    fn fixed<'a>(&self, shown: Entry<'a>, arena: &'a Arena) -> Option<Entry<'a>> {
        if let Some(Rule::Service | Rule::CreateOnly) = self.rule {
            return Some(shown);
        }
        let of_name = |name: &str| self.fields.iter().find(|(field, _)| **field == *name).map(|(_, below)| below);
        let entries = shown.value.as_object()?.iter();
        let kept: Vec<Entry<'a>> = entries.filter_map(|entry| of_name(entry.key)?.fixed(*entry, arena)).collect();
        (!kept.is_empty()).then(|| Entry { key: shown.key, value: Value::Object(arena.slice(&kept)) })
    }

    /// A customer's document without what only the service writes, and with that as it was shown before. What may be set
    /// only once and is left out is as it was, too. And the fields that the customer may not write so.
    pub(crate) fn enforce<'a>(
        &self,
        written: Value<'a>,
        shown: Option<Value<'a>>,
        origins: Option<&ItemOrigins<'_>>,
        arena: &'a Arena,
    ) -> (Value<'a>, Vec<FieldError>) {
        let mut walk = Enforce { arena, refused: Vec::new(), is_create: shown.is_none() };
        let written = walk.value(self, written, (shown, origins), &Path::Root);
        (written, walk.refused)
    }

    /// Drops the item provenance of fields that [`enforce`](Self::enforce) takes from the old document.
    pub(crate) fn forget_fixed(&self, origins: &mut ItemOrigins<'_>) {
        origins.retain_fields(|name, origins| {
            let field = self.fields.iter().find(|(field, _)| **field == *name).map(|(_, below)| below);
            let Some(below) = field.or(self.element.as_deref()) else { return true };
            below.forget_fixed(origins);
            !matches!(below.rule, Some(Rule::Service | Rule::CreateOnly))
        });
        if let Some(element) = &self.element {
            origins.items_mut().for_each(|origins| element.forget_fixed(origins));
        }
    }
}

/// What was shown of a value, and the item provenance of what is written in its place.
type Was<'o, 'a> = (Option<Value<'a>>, Option<&'o ItemOrigins<'o>>);

struct Enforce<'a> {
    arena: &'a Arena,
    refused: Vec<FieldError>,
    is_create: bool,
}

impl<'a> Enforce<'a> {
    fn value(
        &mut self,
        access: &Access,
        written: Value<'a>,
        (shown, origins): Was<'_, 'a>,
        path: &Path<'_>,
    ) -> Value<'a> {
        if access.fields.is_empty() && access.element.is_none() {
            return written;
        }
        match written {
            Value::Object(entries) => self.object(access, entries, (shown.and_then(Value::as_object), origins), path),
            Value::Array(items) => {
                let Some(element) = &access.element else { return written };
                let old = shown.and_then(Value::as_array).unwrap_or_default();
                let known = || match_known(items, old, &access.keys, origins?.items()?);
                let matched = known().unwrap_or_else(|| match_items(items, old, &access.keys));
                let items = items.iter().zip(matched).enumerate().map(|(index, (item, old_item))| {
                    let origins = origins.and_then(|origins| origins.item_of(index, old_item));
                    let was = (old_item.map(|position| old[position]), origins);
                    self.value(element, *item, was, &Path::Index(path, index))
                });
                let items: Vec<Value<'a>> = items.collect();
                Value::Array(self.arena.slice(&items))
            }
            scalar => scalar,
        }
    }

    fn object(
        &mut self,
        access: &Access,
        written: &'a [Entry<'a>],
        (shown, origins): (Option<&'a [Entry<'a>]>, Option<&ItemOrigins<'_>>),
        path: &Path<'_>,
    ) -> Value<'a> {
        let was = |key: &str| shown.and_then(|shown| shown.iter().find(|entry| entry.key == key)).copied();
        let mut kept = Vec::with_capacity(written.len());
        for entry in written {
            let path = &Path::Child(path, entry.key);
            let below = access.fields.iter().find(|(name, _)| **name == *entry.key).map(|(_, below)| below);
            let below = below.or(access.element.as_deref());
            let Some(below) = below else {
                kept.push(*entry);
                continue;
            };
            let old = was(entry.key);
            match below.rule {
                Some(Rule::Service) => kept.extend(old),
                Some(Rule::CreateOnly) if shown.is_some() => match old {
                    Some(old) if agrees(entry.value, old.value) => kept.push(old),
                    _ => self.refused.push(FieldError::new(path.to_field_path(), FieldProblem::Fixed)),
                },
                Some(Rule::UpdateOnly) if self.is_create => {
                    let problem = FieldProblem::NotWritable("cannot be set when the document is created");
                    self.refused.push(FieldError::new(path.to_field_path(), problem));
                }
                _ if entry.value.is_null() => {
                    kept.push(old.and_then(|old| below.fixed(old, self.arena)).unwrap_or(*entry))
                }
                _ => {
                    let origins = origins.and_then(|origins| origins.field(entry.key));
                    let value = self.value(below, entry.value, (old.map(|old| old.value), origins), path);
                    kept.push(Entry { key: entry.key, value });
                }
            }
        }
        for (name, below) in &access.fields {
            if !written.iter().any(|entry| *entry.key == **name) {
                kept.extend(was(name).and_then(|old| below.fixed(old, self.arena)));
            }
        }
        Value::Object(self.arena.slice(&kept))
    }
}

/// Whether a value says nothing else than what was shown: in objects, what is left out is as it was.
fn agrees(written: Value<'_>, shown: Value<'_>) -> bool {
    match (written, shown) {
        (Value::Object(written), Value::Object(_)) => written
            .iter()
            .all(|entry| shown.get(entry.key).map_or(entry.value.is_null(), |shown| agrees(entry.value, shown))),
        (written, shown) => written.equivalent(shown),
    }
}
