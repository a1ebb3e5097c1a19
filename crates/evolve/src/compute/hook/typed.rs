//! Hooks over types of the user's own.

use std::{collections::HashMap, marker::PhantomData};

use serde::{Serialize, de::DeserializeOwned};
use wheelwright_document::{Arena, Entry, Value, decode, encode};

use super::{Hook, HookCall, HookError, Hooks};
use crate::Selector;

impl Hooks {
    /// Adds a hook that converts one type to another. A type has the fields of its side by the last names of their
    /// paths, which therefore differ; what is absent is left out, and a field that is written as null is absent.
    #[must_use]
    pub fn register_typed<Old, New>(
        self,
        name: &str,
        up: impl Fn(Old) -> Result<New, HookError> + Send + Sync + 'static,
        down: impl Fn(New) -> Result<Old, HookError> + Send + Sync + 'static,
    ) -> Self
    where
        Old: Serialize + DeserializeOwned + 'static,
        New: Serialize + DeserializeOwned + 'static,
    {
        self.register_typed_with_call(name, move |old, _: &mut HookCall<'_, '_>| up(old), move |new, _| down(new))
    }

    /// The same for a hook that also wants the call: what it keeps beside the document
    /// ([`typed_entry`](HookCall::typed_entry)), what fields were before, the metadata.
    #[must_use]
    pub fn register_typed_with_call<Old, New>(
        self,
        name: &str,
        up: impl Fn(Old, &mut HookCall<'_, '_>) -> Result<New, HookError> + Send + Sync + 'static,
        down: impl Fn(New, &mut HookCall<'_, '_>) -> Result<Old, HookError> + Send + Sync + 'static,
    ) -> Self
    where
        Old: Serialize + DeserializeOwned + 'static,
        New: Serialize + DeserializeOwned + 'static,
    {
        self.register(name, Typed { up, down, types: PhantomData::<fn(Old) -> New> })
    }
}

impl HookCall<'_, '_> {
    /// What this hook keeps beside the document, as a type of its own.
    ///
    /// # Errors
    /// Something else is kept.
    pub fn typed_entry<T: DeserializeOwned>(&self) -> Result<Option<T>, HookError> {
        Ok(self.entry().map(|entry| serde_json::from_slice(&encode(entry))).transpose()?)
    }

    /// Replaces what this hook keeps; nothing is kept of `None`.
    ///
    /// # Errors
    /// The value cannot be written as JSON.
    pub fn set_typed_entry<T: Serialize>(&mut self, entry: Option<&T>) -> Result<(), HookError> {
        let entry = entry.map(|entry| json(entry, self.arena())).transpose()?;
        self.set_entry(entry);
        Ok(())
    }
}

struct Typed<Up, Down, Types> {
    up: Up,
    down: Down,
    types: PhantomData<Types>,
}

impl<Old, New, Up, Down> Hook for Typed<Up, Down, fn(Old) -> New>
where
    Old: Serialize + DeserializeOwned,
    New: Serialize + DeserializeOwned,
    Up: Fn(Old, &mut HookCall<'_, '_>) -> Result<New, HookError> + Send + Sync,
    Down: Fn(New, &mut HookCall<'_, '_>) -> Result<Old, HookError> + Send + Sync,
{
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let result = (self.up)(read(call)?, call)?;
        write(call, &result)
    }

    fn down(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let result = (self.down)(read(call)?, call)?;
        write(call, &result)
    }

    fn check(&self, from: &[Box<str>], to: &[Box<str>]) -> Result<(), HookError> {
        for paths in [from, to] {
            let mut names: HashMap<Box<str>, &str> = HashMap::new();
            for path in paths {
                if let Some(other) = names.insert(last_name(path), path) {
                    let name = last_name(path);
                    return Err(format!(
                        "a typed hook has fields by their last names, and {other} and {path} are both {name}; \
                         implement `Hook`, which has them by their paths"
                    )
                    .into());
                }
            }
        }
        Ok(())
    }
}

fn read<T: DeserializeOwned>(call: &HookCall<'_, '_>) -> Result<T, HookError> {
    let names: Vec<_> = call.sources.paths.iter().map(|path| last_name(path)).collect();
    let values = names.iter().zip(call.sources.values);
    let entries: Vec<_> = values.filter_map(|(key, value)| value.map(|value| Entry { key, value })).collect();
    Ok(serde_json::from_slice(&encode(Value::Object(&entries)))?)
}

fn write<T: Serialize>(call: &mut HookCall<'_, '_>, result: &T) -> Result<(), HookError> {
    let result = json(result, call.arena())?;
    for entry in result.as_object().ok_or("the result of a typed hook must have fields")? {
        if entry.value.is_null() {
            continue;
        }
        let paths = call.paths;
        let path = paths.iter().find(|path| *last_name(path) == *entry.key);
        let path = path.ok_or_else(|| format!("{} is no field that this hook writes", entry.key))?;
        call.set(path, entry.value)?;
    }
    Ok(())
}

fn json<'a>(value: &impl Serialize, arena: &'a Arena) -> Result<Value<'a>, HookError> {
    Ok(decode(arena.text(&serde_json::to_string(value)?).as_bytes(), arena)?)
}

/// The name at the end of a path, which is one because it was written from one.
fn last_name(path: &str) -> Box<str> {
    let selector = Selector::parse(path).unwrap_or_default();
    selector.last_name().unwrap_or_default().into()
}
