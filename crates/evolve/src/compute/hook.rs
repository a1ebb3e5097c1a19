//! Rust for what expressions cannot say.

#[cfg(feature = "serde")]
mod typed;

use std::{collections::HashMap, error::Error, fmt, sync::Arc};

use wheelwright_document::{Arena, Value};
use wheelwright_findings::rules;
use wheelwright_schema::Problem;

use super::{Exchange, Failed, Side, fit::Fit, unfit};
use crate::{Direction, Located, Respelled, Selector, problem::problem_at};

/// Hooks by the names that changes files call them by.
#[derive(Clone, Default)]
pub struct Hooks {
    by_name: HashMap<Box<str>, Arc<dyn Hook>>,
}

/// Converts fields of one version to fields of the next and back. Whatever a hook makes of the fields, nothing is lost:
/// where converting back would not give what a client wrote, that is kept beside it.
pub trait Hook: Send + Sync {
    /// From the fields of the version before to those of the new one.
    ///
    /// # Errors
    /// The fields have no counterpart: the new version does not show any, and the reason is reported.
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError>;

    /// From the fields of the new version to those of the version before.
    ///
    /// # Errors
    /// As of [`up`](Self::up).
    fn down(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError>;

    /// Looks at the paths that a changes file declares the hook for, when the catalog is built.
    ///
    /// # Errors
    /// The hook is not for these fields.
    fn check(&self, _from: &[Box<str>], _to: &[Box<str>]) -> Result<(), HookError> {
        Ok(())
    }
}

/// Why a hook has no result.
pub type HookError = Box<dyn Error + Send + Sync>;

/// What a hook works on. Fields have the paths that the changes file gives them.
pub struct HookCall<'e, 'a> {
    sources: Fields<'e, 'a>,
    old: Option<Fields<'e, 'a>>,
    paths: &'e [Box<str>],
    results: &'e mut [Option<Value<'a>>],
    entry: &'e mut Option<Value<'a>>,
    metadata: Option<Value<'a>>,
    arena: &'a Arena,
}

#[derive(Clone, Copy)]
struct Fields<'e, 'a> {
    paths: &'e [Box<str>],
    values: &'e [Option<Value<'a>>],
}

impl Hooks {
    /// No hooks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a hook; one that was registered under the name before is replaced.
    #[must_use]
    pub fn register(mut self, name: &str, hook: impl Hook + 'static) -> Self {
        self.by_name.insert(name.into(), Arc::new(hook));
        self
    }
}

impl<'a> HookCall<'_, 'a> {
    /// The value of a field that is read; `None` if it is absent, or not one that the change declares.
    pub fn get(&self, path: &str) -> Option<Value<'a>> {
        self.sources.get(path)
    }

    /// What the value of a field that is written was before the document changed.
    pub fn old(&self, path: &str) -> Option<Value<'a>> {
        self.old.and_then(|old| old.get(path))
    }

    /// Gives a field that is written its value; without one it stays absent.
    ///
    /// # Errors
    /// The change declares no such field on this side.
    pub fn set(&mut self, path: &str, value: Value<'a>) -> Result<(), HookError> {
        match self.paths.iter().position(|known| **known == *path) {
            Some(position) => {
                self.results[position] = Some(value);
                Ok(())
            }
            None => Err(format!("{path} is no field that this hook writes; there is {}", self.paths.join(", ")).into()),
        }
    }

    /// What this hook keeps beside the document, where no version shows it.
    pub fn entry(&self) -> Option<Value<'a>> {
        *self.entry
    }

    /// Replaces what this hook keeps; nothing is kept of `None`.
    pub fn set_entry(&mut self, entry: Option<Value<'a>>) {
        *self.entry = entry;
    }

    /// The metadata of the document.
    pub fn metadata(&self) -> Option<Value<'a>> {
        self.metadata
    }

    /// Where new values are made.
    pub fn arena(&self) -> &'a Arena {
        self.arena
    }
}

impl<'a> Fields<'_, 'a> {
    fn get(&self, path: &str) -> Option<Value<'a>> {
        self.paths.iter().position(|known| **known == *path).and_then(|position| self.values[position])
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}

impl fmt::Debug for HookCall<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookCall").field("reads", &self.sources.paths).field("writes", &self.paths).finish()
    }
}

/// A hook with the fields that it is declared for.
pub(super) struct Declared {
    hook: Arc<dyn Hook>,
    from: FieldsOf,
    to: FieldsOf,
}

#[derive(Debug)]
struct FieldsOf {
    paths: Box<[Box<str>]>,
    fits: Box<[Fit]>,
}

impl Declared {
    pub(super) fn compile(
        respelled: &Respelled,
        name: &str,
        hooks: &Hooks,
        from: Side<'_>,
        to: Side<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let Some(hook) = hooks.by_name.get(name) else {
            let message = format!("no hook is registered as {name}");
            return Err(vec![problem_at(&rules::HOOK_NOT_REGISTERED, respelled.with.span, message)]);
        };
        let fields = |paths: &[Located<Selector>], side: Side<'_>| FieldsOf {
            paths: paths.iter().map(|path| path.item.to_string().into()).collect(),
            fits: side.fields.iter().map(|field| Fit::of(side.structure, *field)).collect(),
        };
        let (from, to) = (fields(&respelled.from, from), fields(&respelled.to, to));
        hook.check(&from.paths, &to.paths).map_err(|error| unfit(respelled, &error.to_string()))?;
        Ok(Self { hook: hook.clone(), from, to })
    }

    pub(super) fn convert<'a>(
        &'a self,
        direction: Direction,
        exchange: &mut Exchange<'_, 'a>,
        results: &mut Vec<Option<Value<'a>>>,
    ) -> Result<(), Failed> {
        let (read, written) = match direction {
            Direction::Up => (&self.from, &self.to),
            Direction::Down => (&self.to, &self.from),
        };
        let start = results.len();
        results.resize(start + written.paths.len(), None);
        let mut entry = exchange.entry;
        let mut call = HookCall {
            sources: Fields { paths: &read.paths, values: exchange.sources },
            old: exchange.old.map(|(_, values)| Fields { paths: &written.paths, values }),
            paths: &written.paths,
            results: &mut results[start..],
            entry: &mut entry,
            metadata: exchange.metadata,
            arena: exchange.arena,
        };
        let answer = match direction {
            Direction::Up => self.hook.up(&mut call),
            Direction::Down => self.hook.down(&mut call),
        };
        answer.map_err(|error| Failed(error.to_string()))?;
        for ((result, fit), path) in results[start..].iter().zip(&written.fits).zip(&written.paths) {
            if let Some(value) = result {
                fit.check(*value).map_err(|failed| failed.under(path))?;
            }
        }
        exchange.entry = entry;
        Ok(())
    }
}

impl fmt::Debug for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Declared").field("from", &self.from).field("to", &self.to).finish()
    }
}
