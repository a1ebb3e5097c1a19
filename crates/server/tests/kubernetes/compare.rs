//! Whether two answers mean the same, although uids, versions and times differ.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

/// What recorded values are called in the replay.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: HashMap<(&'static str, String), String>,
}

/// Who manages which field is not kept here, and what is left of a list is not counted.
const PASSED_OVER: [&str; 2] = ["managedFields", "remainingItemCount"];

impl Names {
    /// What a recorded value is called here.
    pub(crate) fn here(&self, sort: &'static str, recorded: &str) -> String {
        let known = self.known.get(&(sort, recorded.to_owned())).cloned();
        known.or_else(|| self.moment(sort, recorded)).unwrap_or_else(|| recorded.to_owned())
    }

    /// A version that no answer had, between two that some had: what was the newest then.
    fn moment(&self, sort: &str, recorded: &str) -> Option<String> {
        let recorded: u64 = recorded.parse().ok().filter(|_| sort == "version")?;
        let versions = self.known.iter().filter(|((sort, _), _)| *sort == "version");
        let versions = || versions.clone().filter_map(|((_, old), new)| Some((old.parse::<u64>().ok()?, new)));
        versions().find(|(old, _)| *old > recorded)?;
        versions().filter(|(old, _)| *old < recorded).max_by_key(|(old, _)| *old).map(|(_, new)| new.clone())
    }

    /// Notes what a recorded value is called here; says whether that fits what it was called before.
    pub(crate) fn note(&mut self, sort: &'static str, recorded: &str, here: &str) -> bool {
        let known = self.known.entry((sort, recorded.to_owned())).or_insert_with(|| here.to_owned());
        known == here
    }

    /// A recorded request, as it is sent here.
    pub(crate) fn request(&self, value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let fields = fields.iter().map(|(key, value)| {
                    let value = match (sort_of(key), value) {
                        (Some(sort), Value::String(text)) => Value::String(self.here(sort, text)),
                        _ => self.request(value),
                    };
                    (key.clone(), value)
                });
                Value::Object(fields.collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| self.request(item)).collect()),
            other => other.clone(),
        }
    }

    /// A recorded path, as it is asked for here.
    pub(crate) fn path(&self, path: &str) -> String {
        let Some((path, query)) = path.split_once('?') else { return path.to_owned() };
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((key, value)) => match sort_of(key) {
                Some(sort) => format!("{key}={}", self.here(sort, value)),
                None => pair.to_owned(),
            },
            None => pair.to_owned(),
        });
        format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"))
    }

    /// How what is answered here differs from what was recorded.
    pub(crate) fn compare(&mut self, recorded: &Value, here: &Value) -> Vec<String> {
        let mut comparison = Comparison { names: self, found: Vec::new() };
        comparison.value(recorded, here, "");
        comparison.found
    }

    /// Notes the names of an answer that is not compared.
    pub(crate) fn learn(&mut self, recorded: &Value, here: &Value) {
        drop(self.compare(recorded, here));
    }
}

fn sort_of(key: &str) -> Option<&'static str> {
    match key {
        "uid" => Some("uid"),
        "resourceVersion" => Some("version"),
        "continue" => Some("token"),
        _ => None,
    }
}

struct Comparison<'n> {
    names: &'n mut Names,
    found: Vec<String>,
}

impl Comparison<'_> {
    fn differs(&mut self, path: &str, recorded: &Value, here: &Value) {
        let short = |value: &Value| value.to_string().chars().take(300).collect::<String>();
        self.found.push(format!("{path}: {} was {}", short(here), short(recorded)));
    }

    fn value(&mut self, recorded: &Value, here: &Value, path: &str) {
        match (recorded, here) {
            (Value::Object(_), Value::Object(_)) if recorded["kind"] == "Status" => self.status(recorded, here, path),
            (Value::Object(_), Value::Object(_)) => self.object(recorded, here, path),
            (Value::Array(old), Value::Array(new)) => {
                if old.len() != new.len() {
                    self.found.push(format!("{path}: {} items, not {}", new.len(), old.len()));
                }
                for (index, (old, new)) in old.iter().zip(new).enumerate() {
                    self.value(old, new, &format!("{path}[{index}]"));
                }
            }
            (Value::Number(old), Value::Number(new)) if old.as_f64() == new.as_f64() => {}
            // Ages.
            (Value::String(old), Value::String(new)) if path.contains("cells") && is_age(old) && is_age(new) => {}
            // A list of nothing.
            (Value::Null, Value::Array(items)) if items.is_empty() => {}
            (old, new) if old == new => {}
            (old, new) => self.differs(path, old, new),
        }
    }

    fn object(&mut self, recorded: &Value, here: &Value, path: &str) {
        let [old, new] = [recorded, here].map(|value| value.as_object().cloned().unwrap_or_default());
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        // What a list or a table shows is of a moment, and that is not one of an object.
        let is_moment = old.contains_key("continue") || path.is_empty() || path.contains("BOOKMARK");
        for key in keys.into_iter().filter(|key| !PASSED_OVER.contains(&key.as_str())) {
            let below = format!("{path}.{key}");
            let (old, new) = match (old.get(key), new.get(key)) {
                (Some(old), Some(new)) => (old, new),
                (old, new) => {
                    if !(key == "metadata" && old.is_none_or(is_empty) && new.is_none_or(is_empty)) {
                        self.differs(&below, old.unwrap_or(&Value::Null), new.unwrap_or(&Value::Null));
                    }
                    continue;
                }
            };
            match (key.as_str(), old, new) {
                // People read these, in our own words.
                ("description", Value::String(_), Value::String(_)) if path.contains("columnDefinitions") => {}
                ("creationTimestamp" | "deletionTimestamp" | "time", Value::String(_), Value::String(_)) => {}
                ("resourceVersion", Value::String(old), Value::String(new)) => {
                    let fits = self.names.note("version", old, new);
                    if !fits && !is_moment && !recorded_is_list(recorded) {
                        self.differs(&below, &Value::from(old.as_str()), &Value::from(new.as_str()));
                    }
                }
                ("uid", Value::String(old), Value::String(new)) => {
                    if !self.names.note("uid", old, new) {
                        self.differs(&below, &Value::from(old.as_str()), &Value::from(new.as_str()));
                    }
                }
                ("continue", Value::String(old), Value::String(new)) => {
                    self.names.note("token", old, new);
                    if old.is_empty() != new.is_empty() {
                        self.differs(&below, &Value::from(old.as_str()), &Value::from(new.as_str()));
                    }
                }
                ("name", Value::String(old), Value::String(new)) if recorded.get("generateName").is_some() => {
                    if old.len() != new.len() || !self.names.note("name", old, new) {
                        self.differs(&below, &Value::from(old.as_str()), &Value::from(new.as_str()));
                    }
                }
                (_, old, new) => self.value(old, new, &below),
            }
        }
    }

    fn status(&mut self, recorded: &Value, here: &Value, path: &str) {
        for key in ["kind", "apiVersion", "status", "reason", "code"] {
            // Kubernetes gives no reason for what it does not expect itself.
            if recorded[key] != here[key] && !(key == "reason" && recorded["code"] == 500) {
                self.differs(&format!("{path}.{key}"), &recorded[key], &here[key]);
            }
        }
        self.value(&recorded["metadata"], &here["metadata"], &format!("{path}.metadata"));
        let [old, new] = [recorded, here].map(|status| status["details"].clone());
        for key in ["name", "group", "kind", "uid", "retryAfterSeconds"] {
            match (&old[key], &new[key]) {
                (Value::String(old), Value::String(new)) if key == "uid" && self.names.note("uid", old, new) => {}
                (Value::String(old), Value::String(new)) if key == "name" && is_made_up(old, new) => {}
                (old, new) if old == new => {}
                (old, new) => self.differs(&format!("{path}.details.{key}"), old, new),
            }
        }
        let [old, new] = [old, new].map(|details| causes(&details["causes"]));
        if old != new {
            let (old, new) =
                (Value::from(old.into_iter().collect::<Vec<_>>()), Value::from(new.into_iter().collect::<Vec<_>>()));
            self.differs(&format!("{path}.details.causes"), &old, &new);
        }
        let has_causes = recorded["details"]["causes"].is_array();
        let [old, new] = [recorded, here].map(|status| {
            let message = status["message"].as_str().unwrap_or_default();
            // What is wrong with fields is told in our own words.
            let end = message.find(" is invalid: ").filter(|_| has_causes).unwrap_or(message.len());
            message[..end].to_owned()
        });
        let old = self.renamed(&old);
        if without_numbers(&old) != without_numbers(&new) && !is_made_up(&old, &new) {
            self.differs(&format!("{path}.message"), &Value::from(old), &Value::from(new));
        }
    }

    /// A message with the uids that things have here.
    fn renamed(&self, message: &str) -> String {
        let uids = self.names.known.iter().filter(|((sort, _), _)| *sort == "uid");
        uids.fold(message.to_owned(), |message, ((_, old), new)| message.replace(old.as_str(), new))
    }
}

fn recorded_is_list(metadata: &Value) -> bool {
    metadata.get("name").is_none()
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// Whether two names were made up of the same beginning.
fn is_made_up(old: &str, new: &str) -> bool {
    old.len() == new.len() && old.len() > 5 && old.get(..4) == new.get(..4) && old.contains("Gen_")
}

/// Causes without their words, and in no order.
fn causes(causes: &Value) -> BTreeSet<String> {
    let causes = causes.as_array().into_iter().flatten();
    causes
        .map(|cause| format!("{} {}", cause["reason"].as_str().unwrap_or(""), cause["field"].as_str().unwrap_or("")))
        .collect()
}

/// Versions in messages are other ones here.
fn without_numbers(text: &str) -> String {
    let mut plain = String::new();
    for character in text.chars() {
        match character.is_ascii_digit() {
            true if plain.ends_with('#') => {}
            true => plain.push('#'),
            false => plain.push(character),
        }
    }
    plain
}

fn is_age(text: &str) -> bool {
    !text.is_empty() && text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with(['s', 'm', 'h', 'd', 'y'])
}
