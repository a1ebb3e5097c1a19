//! What the service knows of a document, put into what clients see and taken out of what they send.

use jiff::Timestamp;
use wheelwright_document::{Arena, Entry, FieldPath, Number, Owned, Path, Value};
use wheelwright_store::Revision;

use crate::{
    Metadata, Name,
    fields::{placed, with},
};

/// How documents show what the service knows of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Dress {
    /// In `metadata`, as Kubernetes does.
    Kubernetes,
    /// At the root and in `properties.provisioningState`, as Azure's resource manager does; with the type of the resource.
    Arm(Box<str>),
    /// Not at all.
    Plain,
}

/// What clients may say of what the service keeps; none where they do not say it.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) finalizers: Option<Vec<Box<str>>>,
    /// All of them; none if there are none any more.
    pub(crate) tags: Option<Option<Owned>>,
    /// Nothing but the state of its provisioning was in the properties.
    has_state_alone: bool,
    /// What cannot be kept so, and why not.
    pub(crate) wrong: Vec<(FieldPath, &'static str)>,
}

/// What customers call the field that the resource manager keeps their tags in.
pub(crate) const TAGS: &str = "tags";

/// Where customers see how far the service is with what they asked for.
pub(crate) const STATE_PATH: &str = "properties.provisioningState";
const PROPERTIES: &str = "properties";
const STATE: &str = "provisioningState";

impl Dress {
    /// A document without what the service keeps.
    pub(crate) fn undress<'a>(&self, document: Value<'a>, arena: &'a Arena) -> (Value<'a>, Taken) {
        let mut taken = Taken::default();
        let document = match self {
            Self::Plain => document,
            Self::Kubernetes => changed(document, "metadata", arena, |metadata| {
                let finalizers = metadata.get("finalizers").filter(|finalizers| !finalizers.is_null());
                let items = finalizers.and_then(Value::as_array).unwrap_or_default();
                let names: Vec<Box<str>> = items.iter().filter_map(|name| name.as_str().map(Box::from)).collect();
                if names.len() < items.len() || finalizers.is_some_and(|finalizers| finalizers.as_array().is_none()) {
                    let path = Path::Child(&Path::Child(&Path::Root, "metadata"), "finalizers").to_field_path();
                    taken.wrong.push((path, "must be a list of texts"));
                }
                taken.finalizers = Some(names);
                Some(without(metadata, is_of_server, arena))
            }),
            Self::Arm(_) => {
                let tags = document.get(TAGS).filter(|tags| !tags.is_null());
                let is_text = |entry: &Entry<'a>| entry.value.as_str().is_some();
                if tags.is_some_and(|tags| !tags.as_object().is_some_and(|tags| tags.iter().all(is_text))) {
                    taken.wrong.push((Path::Child(&Path::Root, TAGS).to_field_path(), "must be an object of texts"));
                }
                taken.tags = Some(tags.map(Owned::from));
                let properties = document.get(PROPERTIES).and_then(Value::as_object).unwrap_or_default();
                taken.has_state_alone = matches!(properties, [only] if only.key == STATE);
                changed(without(document, is_of_manager, arena), PROPERTIES, arena, |properties| {
                    Some(without(properties, is_state, arena))
                })
            }
        };
        (document, taken)
    }

    /// What a merge patch makes of a document, with the tags of the patch instead of merged ones: they are written as a
    /// whole, as Azure's resource manager does.
    pub(crate) fn retagged<'a>(&self, merged: Value<'a>, patch: Value<'a>, arena: &'a Arena) -> Value<'a> {
        match (self, patch.get(TAGS)) {
            (Self::Arm(_), Some(Value::Object(tags))) => {
                let tags: Vec<_> = tags.iter().filter(|tag| !tag.value.is_null()).copied().collect();
                with(merged, [(TAGS, Some(Value::Object(arena.slice(&tags))))], arena)
            }
            _ => merged,
        }
    }

    /// A document that is written in the place of another, without what only [`dress`](Self::dress) has put into it: so
    /// reading and writing back stores nothing new.
    pub(crate) fn stripped<'a>(
        &self,
        document: Value<'a>,
        taken: &Taken,
        before: Value<'a>,
        name: &Name,
        arena: &'a Arena,
    ) -> Value<'a> {
        match self {
            Self::Plain => document,
            Self::Kubernetes => unplaced(document, before, name, arena),
            Self::Arm(_) if taken.has_state_alone && before.get(PROPERTIES).is_none() => {
                without(document, |key| key == PROPERTIES, arena)
            }
            Self::Arm(_) => document,
        }
    }

    /// A document with its fields, and those of its metadata if it says the same, in the order that they had: clients write
    /// them in theirs, and an order is no change.
    pub(crate) fn reordered<'a>(&self, document: Value<'a>, before: Value<'a>, arena: &'a Arena) -> Value<'a> {
        let (Self::Kubernetes, Value::Object(new), Value::Object(old)) = (self, document, before) else {
            return document;
        };
        let place = |entry: &Entry<'a>| old.iter().position(|field| field.key == entry.key).unwrap_or(old.len());
        let mut entries = new.to_vec();
        entries.sort_by_key(place);
        for entry in entries.iter_mut().filter(|entry| entry.key == "metadata") {
            let old = before.get("metadata").filter(|old| old.equivalent(entry.value));
            entry.value = old.unwrap_or(entry.value);
        }
        Value::Object(arena.slice(&entries))
    }

    /// A document that is written in the place of another, with what that one says itself where clients see what the service
    /// keeps: nobody sees it there, so nobody can want it gone.
    pub(crate) fn with_covered<'a>(&self, document: Value<'a>, before: Value<'a>, arena: &'a Arena) -> Value<'a> {
        let (below, is_covered_below): (_, fn(&str) -> bool) = match self {
            Self::Plain => return document,
            Self::Kubernetes => ("metadata", is_of_server),
            Self::Arm(_) => (PROPERTIES, is_state),
        };
        let is_covered = |key: &str| matches!(self, Self::Arm(_)) && is_of_manager(key);
        let (covered, covered_below) =
            (fields_of(Some(before), is_covered), fields_of(before.get(below), is_covered_below));
        if covered.is_empty() && covered_below.is_empty() {
            return document;
        }
        let document = with(document, covered, arena);
        changed(document, below, arena, |object| Some(with(object, covered_below, arena)))
    }

    /// A document of a version as clients see it. What the service keeps is as it keeps it, whatever the document says;
    /// `declares` tells whether the version has a field at the root, or [`STATE`].
    pub(crate) fn dress<'a>(
        &'a self,
        document: Value<'a>,
        metadata: &'a Metadata,
        (name, revision): (&Name, &Revision),
        declares: impl Fn(&str) -> bool,
        arena: &'a Arena,
    ) -> Value<'a> {
        let text = |text: &str| Value::string(arena.text(text));
        match self {
            Self::Plain => document,
            Self::Kubernetes => {
                let seconds = |time: &Option<Timestamp>| {
                    time.map(|time| text(&Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()))
                };
                let finalizers: Vec<_> = metadata.finalizers.iter().map(|name| Value::string(name)).collect();
                let is_deleted = metadata.deleted_at.is_some();
                let generation = Number::new(arena.text(&metadata.generation.to_string())).map(Value::Number);
                let kept = [
                    ("uid", metadata.uid.as_deref().map(Value::string)),
                    ("resourceVersion", Some(text(revision.as_str())).filter(|_| !revision.as_str().is_empty())),
                    ("generation", generation.filter(|_| metadata.generation > 0)),
                    ("creationTimestamp", seconds(&metadata.created_at)),
                    ("deletionTimestamp", seconds(&metadata.deleted_at)),
                    ("deletionGracePeriodSeconds", Number::new("0").map(Value::Number).filter(|_| is_deleted)),
                    ("finalizers", (!finalizers.is_empty()).then(|| Value::Array(arena.slice(&finalizers)))),
                ];
                let own = document.get("metadata").unwrap_or(Value::Object(&[]));
                let own = without(own, is_of_server, arena);
                // What it is called and where it is, is what its key says, whatever whoever stored it wrote.
                let placed = [("name", Some(name.last())), ("namespace", name.scope())];
                let is_unsaid = |(key, placed): &(&str, Option<&str>)| {
                    placed.is_some() && own.get(key).and_then(Value::as_str) != *placed
                };
                let placed = placed.into_iter().filter(is_unsaid).map(|(key, placed)| (key, placed.map(text)));
                let kept = placed.chain(kept);
                with(document, [("metadata", Some(with(own, kept, arena)))], arena)
            }
            Self::Arm(resource_type) => {
                let state = metadata.provisioning_state.as_deref().filter(|_| declares(STATE_PATH)).map(Value::string);
                let document = match (document.get(PROPERTIES), state) {
                    (None, Some(_)) => placed(document, [PROPERTIES, STATE], state, arena),
                    _ => changed(document, PROPERTIES, arena, |properties| {
                        Some(with(properties, [(STATE, state)], arena))
                    }),
                };
                // The name of a record may be in lower case, and the id is as its owner wrote it.
                let own_name =
                    metadata.id.as_deref().and_then(|id| id.rsplit('/').next()).filter(|name| !name.is_empty());
                let etag = text(&format!("\"{}\"", revision.as_str()));
                let tags = metadata.tags.as_ref().map(|tags| tags.share(arena));
                let system_data = metadata.system_data.as_ref().map(|data| data.share(arena));
                let kept = [
                    ("id", metadata.id.as_deref().map(Value::string)),
                    ("name", Some(own_name.map_or_else(|| text(name.last()), Value::string))),
                    ("type", Some(Value::string(resource_type))),
                    ("systemData", system_data),
                    (TAGS, tags),
                    ("etag", Some(etag)),
                    ("eTag", Some(etag)),
                ];
                with(document, kept.into_iter().filter(|(key, _)| declares(key)), arena)
            }
        }
    }
}

/// A document that is written in the place of another, with the name and namespace that the other one has, or without, where
/// it says no more than what is shown.
fn unplaced<'a>(document: Value<'a>, before: Value<'a>, name: &Name, arena: &'a Arena) -> Value<'a> {
    let old = before.get("metadata");
    let shown = [("name", Some(name.last())), ("namespace", name.scope())];
    changed(document, "metadata", arena, |metadata| {
        let says = |(key, shown): &(&str, Option<&str>)| {
            shown.is_some() && metadata.get(key).and_then(Value::as_str) == *shown
        };
        let kept = shown.into_iter().filter(says).map(|(key, _)| (key, old.and_then(|old| old.get(key))));
        let metadata = with(metadata, kept, arena);
        let is_put_in = metadata.as_object().is_some_and(<[_]>::is_empty) && old.is_none();
        (!is_put_in).then_some(metadata)
    })
}

/// Whether the service keeps a field of a Kubernetes resource's metadata.
fn is_of_server(key: &str) -> bool {
    matches!(
        key,
        "uid"
            | "resourceVersion"
            | "generation"
            | "creationTimestamp"
            | "deletionTimestamp"
            | "deletionGracePeriodSeconds"
            | "selfLink"
            | "finalizers"
    )
}

/// Whether the service keeps a field of an ARM resource.
fn is_of_manager(key: &str) -> bool {
    matches!(key, "id" | "name" | "type" | "systemData" | "etag" | "eTag" | TAGS)
}

/// Whether the service keeps a field of an ARM resource's properties.
fn is_state(key: &str) -> bool {
    key == STATE
}

/// Some of the fields of a value, if it is an object.
fn fields_of<'a>(value: Option<Value<'a>>, wanted: impl Fn(&str) -> bool) -> Vec<(&'a str, Option<Value<'a>>)> {
    let entries = value.and_then(Value::as_object).unwrap_or_default().iter();
    entries.filter(|entry| wanted(entry.key)).map(|entry| (entry.key, Some(entry.value))).collect()
}

/// An object without some of its fields.
fn without<'a>(object: Value<'a>, leaves: impl Fn(&str) -> bool, arena: &'a Arena) -> Value<'a> {
    match object {
        Value::Object(entries) if entries.iter().any(|entry| leaves(entry.key)) => {
            let kept: Vec<_> = entries.iter().filter(|entry| !leaves(entry.key)).copied().collect();
            Value::Object(arena.slice(&kept))
        }
        other => other,
    }
}

/// An object of which one field that is an object was changed.
fn changed<'a>(
    object: Value<'a>,
    field: &'a str,
    arena: &'a Arena,
    change: impl FnOnce(Value<'a>) -> Option<Value<'a>>,
) -> Value<'a> {
    match object.get(field) {
        Some(value @ Value::Object(_)) => with(object, [(field, change(value))], arena),
        _ => object,
    }
}
