//! One entry of the carry: what it says, how an annotation spells it, and what the annotation is called.

use wheelwright_document::{Arena, Entry, Number, Value, decode, encode};

use super::items::Items;
use crate::{
    digest::stable_hash,
    lens::{by_key, state::Extras},
};

/// Something that a version cannot say, and the way to the scope that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Carried<'a> {
    pub(crate) way: Vec<Leg<'a>>,
    pub(crate) body: Body<'a>,
}

/// A step on the way to a scope.
#[derive(Clone, Debug)]
pub(crate) enum Leg<'a> {
    /// Into a list or map, by its id.
    Field(&'a str),
    /// To the n-th item whose key fields have these values, or are absent.
    Keys { fields: Vec<(&'a str, Option<Value<'a>>)>, nth: usize },
    /// To an item without keys: where it was, and the n-th of those that look like it.
    Item { position: usize, hash: u64, nth: usize },
    /// To the value of a map.
    Name(&'a str),
}

/// What an entry says.
#[derive(Clone, Debug)]
pub(crate) enum Body<'a> {
    /// The stored value of a field; of an object field, `{}` says that it is there.
    Field { id: &'a str, value: Value<'a>, place: Place<'a> },
    /// Something that an object holds besides fields, and the place of that object; no object is the scope's own.
    Extra { object: Option<&'a str>, sort: ExtraSort, key: &'a str, value: Value<'a>, place: Place<'a> },
    /// The stored value of a field of which only what pruning leaves is shown; as long as that has this hash.
    Whole { id: &'a str, value: Value<'a>, hash: u64 },
    /// Nobody wrote an object that is shown; as long as it looks like this.
    Implicit { id: &'a str },
    /// Of a fact in several spellings, by the key of its link: what is known of it besides their values.
    Link(LinkEntry<'a>),
    /// A field is absent although it could be derived: somebody said so.
    Absent { id: &'a str, place: Place<'a> },
    /// Of derived fields: which are merely shown, as long as they look like this, or are objects; and the derivations of
    /// those that a client wrote as they would be derived, so that they follow what they are derived from.
    Derived { shown: Vec<(&'a str, Option<u64>)>, following: Vec<&'a str> },
    /// Of a value of a map: it is null.
    Null,
    /// Of a list: what its items looked like.
    Items(Items<'a>),
}

/// What is known of a fact in several spellings besides their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkEntry<'a> {
    pub(crate) key: &'a str,
    /// What this side of it was when it was served.
    pub(crate) guard: Option<Value<'a>>,
    /// The fields of the other side that are absent, although converting this one gives something.
    pub(crate) gone: Vec<&'a str>,
    /// What a hook keeps.
    pub(crate) kept: Option<Value<'a>>,
}

/// What was around a field that is not shown. By it a reader knows whether a client took the field away.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place<'a> {
    pub(crate) within: Within<'a>,
    /// Nothing is said of the object that it is in. Otherwise, and if the version cannot say that object, it is there, and
    /// so are those above it that the version cannot say.
    pub(crate) alone: bool,
    /// The unions of which it is a member, or is in one, as far as anything is set in them.
    pub(crate) beside: Vec<Beside<'a>>,
}

/// What was shown of the objects above a field, or of the field itself if it is an object that the version can say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Within<'a> {
    /// All that the version can say.
    #[default]
    Nearest,
    /// Down to this one.
    Object(&'a str),
    /// Down to this one, and something else was in its place: null, or what has this hash.
    Behind(&'a str, Option<u64>),
    /// None of them.
    Nothing,
}

/// What an object holds besides fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ExtraSort {
    /// A field that the version keeps and no version declares.
    Unknown,
    /// An entry of the bag that nobody understands.
    Stray,
    /// A field that nobody understands and the version would prune.
    Foreign,
}

/// What was set in a union. Once a client sets something else, its hidden members go.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside<'a> {
    /// The object that is the union; none is the scope's own.
    pub(crate) union: Option<&'a str>,
    pub(crate) members: Vec<&'a str>,
    /// The fields that say which member is set, by their names.
    pub(crate) told: Vec<(&'a str, Value<'a>)>,
}

impl<'a> Beside<'a> {
    /// Whether nothing at all was set.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.told.is_empty()
    }

    /// Whether nothing else was set since, and nothing else was said to be set.
    pub(crate) fn is_kept_by(&self, now: &Self) -> bool {
        let has = |(name, value): &(&str, Value<'a>)| {
            self.told.iter().any(|(before, told)| before == name && told.equivalent(*value))
        };
        let is_told_the_same = self.told.len() == now.told.len() && now.told.iter().all(has);
        is_told_the_same && now.members.iter().all(|member| self.members.contains(member))
    }

    fn to_value(&self, arena: &'a Arena) -> Value<'a> {
        let mut fields = Vec::new();
        fields.extend(self.union.map(|union| ("union", Value::string(union))));
        if !self.members.is_empty() {
            let members = self.members.iter().map(|name| Value::string(name));
            fields.push(("members", Value::Array(arena.slice_from(members))));
        }
        if !self.told.is_empty() {
            fields.push(("told", object(&self.told, arena)));
        }
        object(&fields, arena)
    }

    fn from_value(value: Value<'a>) -> Option<Self> {
        let union = match value.get("union") {
            Some(union) => Some(union.as_str()?),
            None => None,
        };
        let members = match value.get("members") {
            Some(members) => members.as_array()?.iter().map(|name| name.as_str()).collect::<Option<_>>()?,
            None => Vec::new(),
        };
        let told = match value.get("told") {
            Some(told) => told.as_object()?.iter().map(|entry| (entry.key, entry.value)).collect(),
            None => Vec::new(),
        };
        Some(Self { union, members, told })
    }
}

impl<'a> Within<'a> {
    /// Down to this one, and this is in its place.
    pub(crate) fn behind(id: &'a str, value: Value<'_>) -> Self {
        Self::Behind(id, (!value.is_null()).then(|| stable_hash(value)))
    }
}

impl<'a> Place<'a> {
    fn write(&self, fields: &mut Vec<(&'a str, Value<'a>)>, arena: &'a Arena) {
        match self.within {
            Within::Nearest => {}
            Within::Object(id) => fields.push(("within", Value::string(id))),
            Within::Nothing => fields.push(("within", Value::Null)),
            Within::Behind(id, hash) => {
                fields.push(("behind", Value::string(id)));
                fields.extend(hash.map(|hash| ("hash", hash_value(hash, arena))));
            }
        }
        if self.alone {
            fields.push(("alone", Value::Bool(true)));
        }
        if !self.beside.is_empty() {
            let beside = self.beside.iter().map(|beside| beside.to_value(arena));
            fields.push(("beside", Value::Array(arena.slice_from(beside))));
        }
    }

    fn read(value: Value<'a>) -> Option<Self> {
        let within = match (value.get("within"), value.get("behind")) {
            (None, None) => Within::Nearest,
            (Some(Value::Null), None) => Within::Nothing,
            (Some(id), None) => Within::Object(id.as_str()?),
            (None, Some(id)) => {
                let hash = value.get("hash").map(|hash| hash_from(hash.as_str()?));
                if hash == Some(None) {
                    return None;
                }
                Within::Behind(id.as_str()?, hash.flatten())
            }
            (Some(_), Some(_)) => return None,
        };
        let alone = match value.get("alone") {
            None => false,
            Some(Value::Bool(alone)) => alone,
            Some(_) => return None,
        };
        let beside = match value.get("beside") {
            Some(unions) => unions.as_array()?.iter().map(|union| Beside::from_value(*union)).collect::<Option<_>>()?,
            None => Vec::new(),
        };
        Some(Self { within, alone, beside })
    }
}

/// How deep a document may nest; what an entry holds may not lead beyond that.
const MAX_DEPTH: usize = 512;
/// How long the name of an annotation may be after its prefix.
const MAX_NAME: usize = 63;
/// Stands between the readable part of a name and its hash, and in no name that is readable as a whole.
const HASH_MARK: &str = "_-";

impl<'a> Carried<'a> {
    /// The value of the annotation.
    pub(crate) fn encode(&self, arena: &'a Arena) -> &'a str {
        let mut fields = Vec::new();
        if !self.way.is_empty() {
            fields.push(("at", Value::Array(arena.slice_from(self.way.iter().map(|leg| leg.to_value(arena))))));
        }
        match &self.body {
            Body::Field { id, value, place } => {
                fields.extend([("id", Value::string(id)), ("value", sorted(*value, arena))]);
                place.write(&mut fields, arena);
            }
            Body::Extra { object, sort, key, value, place } => {
                fields.extend(object.map(|object| ("object", Value::string(object))));
                fields.extend([(sort.word(), Value::string(key)), ("value", sorted(*value, arena))]);
                place.write(&mut fields, arena);
            }
            Body::Whole { id, value, hash } => {
                fields.extend([
                    ("whole", Value::string(id)),
                    ("value", sorted(*value, arena)),
                    ("hash", hash_value(*hash, arena)),
                ]);
            }
            Body::Implicit { id } => fields.push(("implicit", Value::string(id))),
            Body::Link(LinkEntry { key, guard, gone, kept }) => {
                fields.push(("link", Value::string(key)));
                fields.extend(guard.map(|guard| ("guard", sorted(guard, arena))));
                if !gone.is_empty() {
                    fields.push(("gone", texts(gone, arena)));
                }
                fields.extend(kept.map(|kept| ("kept", sorted(kept, arena))));
            }
            Body::Absent { id, place } => {
                fields.push(("absent", Value::string(id)));
                place.write(&mut fields, arena);
            }
            Body::Derived { shown, following } => {
                let look = |hash: &Option<u64>| hash.map_or(Value::Object(&[]), |hash| hash_value(hash, arena));
                let shown: Vec<_> = shown.iter().map(|(id, hash)| (*id, look(hash))).collect();
                fields.push(("shown", object(&shown, arena)));
                if !following.is_empty() {
                    fields.push(("following", texts(following, arena)));
                }
            }
            Body::Null => fields.push(("value", Value::Null)),
            Body::Items(items) => items.write(&mut fields, arena),
        }
        arena.text(&String::from_utf8_lossy(&encode(object(&fields, arena))))
    }

    /// What an annotation says; `None` if this release cannot tell.
    pub(crate) fn decode(text: &'a str, arena: &'a Arena) -> Option<Self> {
        let value = decode(text.as_bytes(), arena).ok()?;
        let way: Vec<Leg<'a>> = match value.get("at") {
            Some(way) => way.as_array()?.iter().map(|leg| Leg::from_value(*leg)).collect::<Option<_>>()?,
            None => Vec::new(),
        };
        let text_of = |key: &str| value.get(key).and_then(Value::as_str);
        let extra = ExtraSort::ALL.iter().find_map(|sort| Some((*sort, text_of(sort.word())?)));
        let body = if let Some(id) = text_of("id") {
            Body::Field { id, value: value.get("value")?, place: Place::read(value)? }
        } else if let Some((sort, key)) = extra {
            let (object, held) = (text_of("object"), value.get("value")?);
            Body::Extra { object, sort, key, value: held, place: Place::read(value)? }
        } else if let Some(id) = text_of("whole") {
            Body::Whole { id, value: value.get("value")?, hash: hash_from(text_of("hash")?)? }
        } else if let Some(id) = text_of("implicit") {
            Body::Implicit { id }
        } else if text_of("items").is_some() {
            Body::Items(Items::read(value)?)
        } else if let Some(key) = text_of("link") {
            let gone = value.get("gone").map_or(Some(Vec::new()), texts_from)?;
            Body::Link(LinkEntry { key, guard: value.get("guard"), gone, kept: value.get("kept") })
        } else if let Some(id) = text_of("absent") {
            Body::Absent { id, place: Place::read(value)? }
        } else if let Some(shown) = value.get("shown") {
            let look = |entry: &Entry<'a>| match entry.value {
                Value::Object(_) => Some((entry.key, None)),
                hash => Some((entry.key, Some(hash_from(hash.as_str()?)?))),
            };
            let following = value.get("following").map_or(Some(Vec::new()), texts_from)?;
            Body::Derived { shown: shown.as_object()?.iter().map(look).collect::<Option<_>>()?, following }
        } else if value.get("value")?.is_null() && !way.is_empty() {
            Body::Null
        } else {
            return None;
        };
        let held = ["value", "guard", "kept"].iter().filter_map(|key| value.get(key)).map(depth).max();
        (way.len() + held.unwrap_or_default() < MAX_DEPTH).then_some(Self { way, body })
    }

    /// The name of the annotation after its prefix. It says nothing that the value does not say; `salt` tells names apart
    /// that would be the same.
    pub(crate) fn name(&self, salt: u32, arena: &'a Arena) -> String {
        let (sort, text) = match &self.body {
            Body::Field { id, .. } => ("id", *id),
            Body::Extra { sort, key, .. } => (sort.word(), *key),
            Body::Whole { id, .. } => ("whole", *id),
            Body::Implicit { id } => ("implicit", *id),
            Body::Link(LinkEntry { key, .. }) => ("link", *key),
            Body::Absent { id, .. } => ("absent", *id),
            Body::Derived { .. } => ("derived", "derived"),
            Body::Null | Body::Items(_) => ("items", self.way.iter().rev().find_map(Leg::text).unwrap_or_default()),
        };
        let is_whole = self.way.is_empty() && sort == "id" && salt == 0;
        if is_whole && text.len() <= MAX_NAME && readable(text) == text && !text.contains(HASH_MARK) {
            return text.to_owned();
        }
        let object = match &self.body {
            Body::Extra { object: Some(object), .. } => Value::string(object),
            _ => Value::Null,
        };
        let way = Value::Array(arena.slice_from(self.way.iter().map(|leg| leg.identity(arena))));
        let salt = Value::string(arena.text(&salt.to_string()));
        let identity = [way, Value::string(sort), Value::string(text), object, salt];
        let hash = stable_hash(Value::Array(&identity));
        let words = readable(text);
        let room = words.len().min(MAX_NAME - HASH_MARK.len() - 16);
        let words = words[..room].trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let words = if words.is_empty() { "entry" } else { words };
        format!("{words}{HASH_MARK}{hash:016x}")
    }
}

impl ExtraSort {
    const ALL: [Self; 3] = [Self::Unknown, Self::Stray, Self::Foreign];

    fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Stray => "stray",
            Self::Foreign => "foreign",
        }
    }

    /// What an object holds of this sort.
    pub(crate) fn of<'e, 'a>(self, extras: &'e mut Extras<'a>) -> &'e mut Vec<Entry<'a>> {
        match self {
            Self::Unknown => &mut extras.unknown,
            Self::Stray => &mut extras.strays,
            Self::Foreign => &mut extras.foreign,
        }
    }
}

impl<'a> Leg<'a> {
    pub(crate) fn to_value(&self, arena: &'a Arena) -> Value<'a> {
        let mut fields = Vec::new();
        let nth = match self {
            Self::Field(id) => return Value::string(id),
            Self::Name(name) => return object(&[("name", Value::string(name))], arena),
            Self::Keys { fields: keys, nth } => {
                let key = |(name, value): &(&'a str, Option<Value<'a>>)| match value {
                    Some(value) => Value::Array(arena.slice(&[Value::string(name), *value])),
                    None => Value::Array(arena.slice(&[Value::string(name)])),
                };
                fields.push(("keys", Value::Array(arena.slice_from(keys.iter().map(key)))));
                *nth
            }
            Self::Item { position, hash, nth } => {
                fields.extend([("index", count_value(*position, arena)), ("hash", hash_value(*hash, arena))]);
                *nth
            }
        };
        if nth > 0 {
            fields.push(("nth", count_value(nth, arena)));
        }
        object(&fields, arena)
    }

    fn from_value(value: Value<'a>) -> Option<Self> {
        if let Some(id) = value.as_str() {
            return Some(Self::Field(id));
        }
        if let Some(name) = value.get("name") {
            return Some(Self::Name(name.as_str()?));
        }
        let nth = value.get("nth").map_or(Some(0), count_from)?;
        if let Some(keys) = value.get("keys") {
            let key = |key: &Value<'a>| match key.as_array()? {
                [name] => Some((name.as_str()?, None)),
                [name, value] => Some((name.as_str()?, Some(*value))),
                _ => None,
            };
            return Some(Self::Keys { fields: keys.as_array()?.iter().map(key).collect::<Option<_>>()?, nth });
        }
        let hash = hash_from(value.get("hash")?.as_str()?)?;
        Some(Self::Item { position: count_from(value.get("index")?)?, hash, nth })
    }

    /// What tells the step apart from others, however the item looks.
    fn identity(&self, arena: &'a Arena) -> Value<'a> {
        match self {
            Self::Item { position, .. } => count_value(*position, arena),
            leg => leg.to_value(arena),
        }
    }

    fn text(&self) -> Option<&'a str> {
        match self {
            Self::Field(text) | Self::Name(text) => Some(text),
            _ => None,
        }
    }
}

/// What of a text can be in the name of an annotation.
fn readable(text: &str) -> String {
    let is_allowed = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let allowed: String = text.chars().filter(is_allowed).collect();
    allowed.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()).to_owned()
}

fn object<'a>(fields: &[(&'a str, Value<'a>)], arena: &'a Arena) -> Value<'a> {
    Value::Object(arena.slice_from(fields.iter().map(|(key, value)| Entry { key, value: *value })))
}

/// A value with the keys of all objects in one order, so that what means the same is written the same.
fn sorted<'a>(value: Value<'a>, arena: &'a Arena) -> Value<'a> {
    match value {
        Value::Array(items) => Value::Array(arena.slice_from(items.iter().map(|item| sorted(*item, arena)))),
        Value::Object(entries) => {
            let entries = by_key(entries).into_iter();
            let entries = entries.map(|entry| Entry { key: entry.key, value: sorted(entry.value, arena) });
            Value::Object(arena.slice(&entries.collect::<Vec<_>>()))
        }
        scalar => scalar,
    }
}

pub(super) fn texts<'a>(texts: &[&'a str], arena: &'a Arena) -> Value<'a> {
    Value::Array(arena.slice_from(texts.iter().map(|text| Value::string(text))))
}

pub(super) fn texts_from<'a>(value: Value<'a>) -> Option<Vec<&'a str>> {
    value.as_array()?.iter().map(|text| text.as_str()).collect()
}

fn hash_value<'a>(hash: u64, arena: &'a Arena) -> Value<'a> {
    Value::string(arena.text(&format!("{hash:016x}")))
}

pub(super) fn hash_from(text: &str) -> Option<u64> {
    let is_hash = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

fn count_value<'a>(count: usize, arena: &'a Arena) -> Value<'a> {
    Number::new(arena.text(&count.to_string())).map_or(Value::Null, Value::Number)
}

fn count_from(value: Value<'_>) -> Option<usize> {
    usize::try_from(value.as_number()?.as_i64()?).ok()
}

fn depth(value: Value<'_>) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(|item| depth(*item)).max().unwrap_or_default(),
        Value::Object(entries) => 1 + entries.iter().map(|entry| depth(entry.value)).max().unwrap_or_default(),
        _ => 0,
    }
}
