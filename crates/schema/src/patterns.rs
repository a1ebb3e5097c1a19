//! The patterns of one schema: each is looked at once, and all of them together within bounds.

use std::{collections::HashMap, sync::Arc};

use wheelwright_text::{Pattern, PatternError, Translated};

use crate::Schema;

/// How much the patterns of one schema may take together: some twenty names of 253 letters of any script each.
const BUDGET: usize = 8_000_000;

/// What has become of every pattern of a schema.
#[derive(Debug, Default)]
pub(crate) struct Patterns<'s> {
    translated: HashMap<&'s str, Result<Translated, PatternError>>,
    compiled: HashMap<&'s str, Arc<Result<Pattern, PatternError>>>,
}

impl<'s> Patterns<'s> {
    /// Looks at every pattern of a schema, also in junctors. Whoever asks, the same ones fit.
    pub(crate) fn of(schema: &'s Schema) -> Self {
        let mut patterns = Self::default();
        let mut left = BUDGET;
        patterns.add(schema, &mut left);
        patterns
    }

    fn add(&mut self, schema: &'s Schema, left: &mut usize) {
        if let Some(go) = &schema.checks.pattern {
            self.translated.entry(go).or_insert_with(|| {
                let too_much =
                    || PatternError::too_large(go, "all patterns of the schema need too much memory together");
                if *left == 0 {
                    return Err(too_much());
                }
                let translated = Translated::from_go(go)?;
                *left = left.checked_sub(translated.size()).ok_or_else(too_much)?;
                Ok(translated)
            });
        }
        schema.below().for_each(|below| self.add(below, left));
    }

    /// Why a pattern cannot be used, if so.
    pub(crate) fn error(&self, go: &str) -> Option<&PatternError> {
        self.translated.get(go)?.as_ref().err()
    }

    /// A pattern, if the schema has it, compiled when it is asked for the first time: real schemas repeat a few all over.
    pub(crate) fn get(&mut self, go: &'s str) -> Option<Arc<Result<Pattern, PatternError>>> {
        let translated = self.translated.get(go)?;
        let compiled = self.compiled.entry(go).or_insert_with(|| {
            Arc::new(match translated {
                Ok(translated) => translated.compile(go),
                Err(error) => Err(error.clone()),
            })
        });
        Some(Arc::clone(compiled))
    }
}
