//! JSON patches of what a version shows, applied one operation after the other to a document of which every list item
//! says which one it was.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::generate::Tape;

/// Which list items of a patched document continue which, as far as operations went into their lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins {
    fields: BTreeMap<String, Origins>,
    items: Option<Vec<(Option<usize>, Origins)>>,
}

impl Origins {
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        self.fields.get(name).filter(|below| below.has_lists())
    }

    /// The old position of every item.
    pub(crate) fn items(&self) -> Option<Vec<Option<usize>>> {
        self.items.as_ref().map(|items| items.iter().map(|(origin, _)| *origin).collect())
    }

    pub(crate) fn item(&self, at: usize) -> Option<&Self> {
        self.items.as_ref()?.get(at).map(|(_, below)| below).filter(|below| below.has_lists())
    }

    fn has_lists(&self) -> bool {
        self.items.is_some() || self.fields.values().any(Self::has_lists)
    }
}

/// A random patch, and what becomes of the document.
pub(crate) struct Patched {
    pub(crate) patch: Json,
    pub(crate) document: Json,
    pub(crate) origins: Origins,
}

/// A value of which list items are labelled.
#[derive(Clone)]
enum Labelled {
    Scalar(Json),
    Object(BTreeMap<String, Labelled>),
    /// With the old position of each item, and whether the list is the old one.
    List(Vec<(Option<usize>, Labelled)>, bool),
}

impl Labelled {
    /// A value that was there, or one that a patch brings.
    fn of(value: &Json, is_old: bool) -> Self {
        match value {
            Json::Object(fields) => {
                Self::Object(fields.iter().map(|(name, value)| (name.clone(), Self::of(value, is_old))).collect())
            }
            Json::Array(items) => {
                let items = items.iter().enumerate();
                Self::List(
                    items.map(|(at, item)| (Some(at).filter(|_| is_old), Self::of(item, is_old))).collect(),
                    is_old,
                )
            }
            scalar => Self::Scalar(scalar.clone()),
        }
    }

    fn value(&self) -> Json {
        match self {
            Self::Scalar(scalar) => scalar.clone(),
            Self::Object(fields) => {
                Json::Object(fields.iter().map(|(name, field)| (name.clone(), field.value())).collect::<Map<_, _>>())
            }
            Self::List(items, _) => items.iter().map(|(_, item)| item.value()).collect(),
        }
    }

    fn origins(&self) -> Origins {
        match self {
            Self::Scalar(_) => Origins::default(),
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, field)| (name.clone(), field.origins())).collect();
                Origins { fields, items: None }
            }
            Self::List(items, is_old) => {
                let items = items.iter().map(|(origin, item)| (*origin, item.origins())).collect();
                Origins { fields: BTreeMap::new(), items: Some(items).filter(|_| *is_old) }
            }
        }
    }

    fn at(&mut self, path: &[String]) -> &mut Self {
        path.iter().fold(self, |value, step| match value {
            Self::Object(fields) => fields.get_mut(step).expect("paths are of what is there"),
            Self::List(items, _) => &mut items[step.parse::<usize>().expect("a position")].1,
            Self::Scalar(_) => unreachable!("paths are of what is there"),
        })
    }

    fn list(&mut self, path: &[String]) -> &mut Vec<(Option<usize>, Self)> {
        match self.at(path) {
            Self::List(items, _) => items,
            _ => unreachable!("it is a list"),
        }
    }
}

/// A random patch of lists; none if a document has no lists.
pub(crate) fn patched(document: &Json, tape: &mut Tape<'_>) -> Option<Patched> {
    let mut labelled = Labelled::of(document, true);
    let mut operations = Vec::new();
    for _ in 0..1 + tape.pick(3) {
        operations.push(operation(&mut labelled, tape)?);
    }
    Some(Patched { patch: Json::Array(operations), document: labelled.value(), origins: labelled.origins() })
}

fn operation(document: &mut Labelled, tape: &mut Tape<'_>) -> Option<Json> {
    let value = document.value();
    let mut lists = Vec::new();
    collect_lists(&value, &mut Vec::new(), &mut lists);
    let path = lists.get(tape.pick(lists.len()))?.clone();
    let list = document.list(&path);
    let count = list.len();
    let place = |at: usize| format!("{}/{at}", pointer(&path));
    let (from, to) = (tape.pick(count), tape.pick(count));
    let brought = |item: Json| (None, Labelled::of(&item, false));
    let edited = |tape: &mut Tape<'_>| match (from < count).then(|| list[from].1.value()) {
        Some(Json::Object(mut fields)) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            if let Some(name) = names.get(tape.pick(names.len())) {
                fields.remove(name);
            }
            Json::Object(fields)
        }
        Some(item) => item,
        None => json!({}),
    };
    Some(match tape.pick(if count == 0 { 1 } else { 8 }) {
        0 => {
            let (item, to) = (edited(tape), tape.pick(count + 1));
            document.list(&path).insert(to, brought(item.clone()));
            json!({"op": "add", "path": place(to), "value": item})
        }
        1 | 2 => {
            list.remove(from);
            json!({"op": "remove", "path": place(from)})
        }
        3 | 4 => {
            let item = list.remove(from);
            list.insert(to, item);
            json!({"op": "move", "from": place(from), "path": place(to)})
        }
        5 => {
            let item = list[from].1.value();
            list.insert(to, brought(item));
            json!({"op": "copy", "from": place(from), "path": place(to)})
        }
        6 => {
            let item = edited(tape);
            document.list(&path)[from].1 = Labelled::of(&item, false);
            json!({"op": "replace", "path": place(from), "value": item})
        }
        _ => {
            // Lists of the same field: elsewhere, an item could be of the wrong type.
            let field = |path: &Vec<String>| -> Vec<Option<String>> {
                path.iter().map(|step| Some(step.clone()).filter(|step| step.parse::<usize>().is_err())).collect()
            };
            let is_other = |other: &&Vec<String>| **other != path && field(other) == field(&path);
            let others: Vec<&Vec<String>> = lists.iter().filter(is_other).collect();
            match others.get(tape.pick(others.len())) {
                // An item of another list continues none here.
                Some(other) => {
                    let (_, item) = list.remove(from);
                    document.list(other).push(brought(item.value()));
                    json!({"op": "move", "from": place(from), "path": format!("{}/-", pointer(other))})
                }
                None => json!({"op": "test", "path": place(from), "value": list[from].1.value()}),
            }
        }
    })
}

fn collect_lists(value: &Json, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let mut below = |step: String, value: &Json, path: &mut Vec<String>| {
        path.push(step);
        collect_lists(value, path, found);
        path.pop();
    };
    match value {
        Json::Object(fields) => fields.iter().for_each(|(name, value)| below(name.clone(), value, path)),
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| below(at.to_string(), item, path));
            found.push(path.clone());
        }
        _ => {}
    }
}

fn pointer(path: &[String]) -> String {
    path.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect()
}
