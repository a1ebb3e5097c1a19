//! Hooks over types of the user's own.

use std::marker::PhantomData;

use serde::{Serialize, de::DeserializeOwned};
use wheelwright_document::{Entry, Value, decode, encode};

use super::{Hook, HookCall, HookError, Hooks};
use crate::{Selector, Step};

impl Hooks {
    /// Adds a hook that converts one type to another. A type has the fields of its side by the last names of their
    /// paths; what is absent is left out, and a field that is written as null is absent.
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
        self.register(name, Typed { up, down, types: PhantomData::<fn(Old) -> New> })
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
    Up: Fn(Old) -> Result<New, HookError> + Send + Sync,
    Down: Fn(New) -> Result<Old, HookError> + Send + Sync,
{
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let result = (self.up)(read(call)?)?;
        write(call, &result)
    }

    fn down(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let result = (self.down)(read(call)?)?;
        write(call, &result)
    }
}

fn read<T: DeserializeOwned>(call: &HookCall<'_, '_>) -> Result<T, HookError> {
    let names: Vec<_> = call.sources.paths.iter().map(|path| last_name(path)).collect();
    let values = names.iter().zip(call.sources.values);
    let entries: Vec<_> = values.filter_map(|(key, value)| value.map(|value| Entry { key, value })).collect();
    Ok(serde_json::from_slice(&encode(Value::Object(&entries)))?)
}

fn write<T: Serialize>(call: &mut HookCall<'_, '_>, result: &T) -> Result<(), HookError> {
    let arena = call.arena();
    let result = decode(arena.text(&serde_json::to_string(result)?).as_bytes(), arena)?;
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

/// The name at the end of a path, which is one because it was written from one.
fn last_name(path: &str) -> Box<str> {
    let selector = Selector::parse(path).unwrap_or_default();
    let name = selector.steps().iter().rev().find_map(|step| match step {
        Step::Field(name) => Some(name.clone()),
        _ => None,
    });
    name.unwrap_or_default()
}
