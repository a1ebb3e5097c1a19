//! Documents with lists along a path, whose items hide tags.

use std::collections::HashMap;

use serde_json::{Map, Value as Json, json};
use wheelwright_evolve::laws::Random;

use crate::{
    schemas::{Leaf, Scalar, Step},
    subjects::{List, Subject},
    tags::tag,
};

/// What the items of a list have in common.
#[derive(Clone, Copy, PartialEq)]
enum Looks {
    /// All of them look equal.
    Alike,
    /// Every field has one of two values.
    Few,
    /// Some fields are unique.
    Distinct,
}

/// Makes documents, and items that no document has.
pub(crate) struct Maker<'m> {
    subject: &'m Subject,
    pub(crate) random: &'m mut Random,
    /// How the items of a list look, and the fields that they have.
    styles: HashMap<usize, (Looks, Vec<Leaf>)>,
    used: u64,
}

impl<'m> Maker<'m> {
    pub(crate) fn new(subject: &'m Subject, random: &'m mut Random) -> Self {
        Self { subject, random, styles: HashMap::new(), used: 0 }
    }

    /// A document of the rich version with a list and those that it is in.
    pub(crate) fn document(&mut self, list: &List) -> Json {
        let mut document = self.value(&list.path, 0);
        document["apiVersion"] = json!(self.subject.kind.api_version(self.subject.rich));
        document["kind"] = json!(self.subject.kind.name());
        document["metadata"] = json!({"name": "one"});
        document
    }

    /// What is at the first steps of a path.
    fn value(&mut self, path: &[Step], position: usize) -> Json {
        let list = self.subject.lists.iter().position(|list| list.path == path[..position]);
        let Some(step) = path.get(position) else {
            let count = 1 + self.random.below(6);
            return (0..count).map(|_| list.map_or_else(|| json!({}), |list| self.item(list))).collect();
        };
        match step {
            Step::Field(name) => json!({name: self.value(path, position + 1)}),
            Step::Values => ["one", "two"][self.random.below(2)..]
                .iter()
                .map(|key| ((*key).to_owned(), self.value(path, position + 1)))
                .collect(),
            Step::Items => (0..1 + self.random.below(3))
                .map(|_| {
                    let mut item = list.map_or_else(|| json!({}), |list| self.item(list));
                    let inner = self.value(path, position + 1);
                    match inner {
                        Json::Object(inner) => merge(item.as_object_mut().expect("items are objects"), inner),
                        inner => item = inner,
                    }
                    item
                })
                .collect(),
        }
    }

    /// An item, which mostly hides a tag.
    fn item(&mut self, list: usize) -> Json {
        let hidden = self.subject.lists[list].hidden.clone();
        let mut item = self.visible(list, None);
        if !self.random.one_in(7) {
            let number = self.unique();
            set(&mut item, &hidden.names, tag(hidden.scalar, number));
        }
        item
    }

    /// An item that hides nothing.
    pub(crate) fn plain(&mut self, list: usize) -> Json {
        let looks = if self.random.one_in(2) { Looks::Distinct } else { Looks::Few };
        self.visible(list, Some(looks))
    }

    fn visible(&mut self, list: usize, looks: Option<Looks>) -> Json {
        let (usual, leaves) = self.style(list);
        let looks = looks.unwrap_or(usual);
        let mut item = json!({});
        for leaf in &leaves {
            let value = match looks {
                Looks::Alike => 0,
                Looks::Few => self.random.below(2) as u64,
                Looks::Distinct if self.random.one_in(3) => 1,
                Looks::Distinct => 10 + self.unique(),
            };
            set(&mut item, &leaf.names, scalar(leaf.scalar, value));
        }
        item
    }

    fn style(&mut self, list: usize) -> (Looks, Vec<Leaf>) {
        if let Some(style) = self.styles.get(&list) {
            return style.clone();
        }
        let List { keys, visible, .. } = &self.subject.lists[list];
        let is_key = |leaf: &Leaf| leaf.names.len() == 1 && keys.contains(&leaf.names[0]);
        let (key_leaves, mut others): (Vec<Leaf>, Vec<Leaf>) = visible.iter().cloned().partition(is_key);
        self.random.shuffle(&mut others);
        others.truncate(self.random.below(4));
        let looks = [Looks::Alike, Looks::Few, Looks::Few, Looks::Distinct][self.random.below(4)];
        let style = (looks, key_leaves.into_iter().chain(others).collect());
        self.styles.insert(list, style.clone());
        style
    }

    /// Changes a field of an item to a value that nothing has; whether the item has a field for that.
    pub(crate) fn freshen(&mut self, list: usize, item: &mut Json) -> Option<(Leaf, Json)> {
        let List { keys, visible, .. } = &self.subject.lists[list];
        let is_key = |leaf: &Leaf| leaf.names.len() == 1 && keys.contains(&leaf.names[0]);
        let fields: Vec<&Leaf> = visible.iter().filter(|leaf| leaf.scalar != Scalar::Flag && !is_key(leaf)).collect();
        // Mostly a field that items have.
        let present: Vec<&Leaf> = fields.iter().copied().filter(|leaf| get(item, &leaf.names).is_some()).collect();
        let from = if present.is_empty() || self.random.one_in(3) { fields } else { present };
        let leaf = (*self.random.pick(&from)?).clone();
        let value = scalar(leaf.scalar, 1000 + self.unique());
        set(item, &leaf.names, value.clone());
        Some((leaf, value))
    }

    fn unique(&mut self) -> u64 {
        self.used += 1;
        self.used
    }
}

fn scalar(scalar: Scalar, number: u64) -> Json {
    match scalar {
        Scalar::Text => json!(format!("value-{number}")),
        Scalar::Number => json!(number),
        Scalar::Flag => json!(number % 2 == 1),
    }
}

fn get<'j>(item: &'j Json, names: &[String]) -> Option<&'j Json> {
    names.iter().try_fold(item, |value, name| value.get(name))
}

pub(crate) fn set(item: &mut Json, names: &[String], value: Json) {
    let field = names.iter().fold(item, |value, name| {
        if !value.is_object() {
            *value = json!({});
        }
        &mut value[name]
    });
    *field = value;
}

fn merge(into: &mut Map<String, Json>, from: Map<String, Json>) {
    for (name, value) in from {
        match (into.get_mut(&name), value) {
            (Some(Json::Object(into)), Json::Object(from)) => merge(into, from),
            (_, value) => drop(into.insert(name, value)),
        }
    }
}

/// The JSON pointers of all lists at a path of a document.
pub(crate) fn instances(document: &Json, path: &[Step]) -> Vec<String> {
    let mut found = vec![String::new()];
    for step in path {
        let below = |pointer: &String| -> Vec<String> {
            let value = document.pointer(pointer).expect("it was found");
            match (step, value) {
                (Step::Field(name), Json::Object(fields)) if fields.contains_key(name) => vec![name.clone()],
                (Step::Values, Json::Object(entries)) => entries.keys().cloned().collect(),
                (Step::Items, Json::Array(items)) => (0..items.len()).map(|at| at.to_string()).collect(),
                _ => Vec::new(),
            }
            .into_iter()
            .map(|name| format!("{pointer}/{name}"))
            .collect()
        };
        found = found.iter().flat_map(below).collect();
    }
    found
}
