//! Which scopes have documents: the first segments of their names.

use std::collections::BTreeSet;

use wheelwright_store::{Key, PageRequest};

use crate::{Collection, RepositoryError};

impl Collection {
    /// The first segments of the names that have more than one, such as namespaces. From one of them, the store is asked for
    /// what comes after all of its documents, so that this takes as many steps as there are segments.
    ///
    /// # Errors
    /// The store fails.
    pub async fn scopes(&self) -> Result<BTreeSet<String>, RepositoryError> {
        let (store, mut scopes) = (self.store(), BTreeSet::new());
        let mut page = PageRequest::first(1);
        loop {
            let found = store.list(self.kind.prefix(), page).await?;
            let mut last = None;
            for (key, _) in &found.items {
                let name = self.kind.name(key);
                let scope = name.as_ref().and_then(|name| name.as_str().split_once('/')).map(|(first, _)| first);
                scopes.extend(scope.map(str::to_owned));
                last = scope.map(str::to_owned).or(last);
            }
            let Some(next) = found.next else { return Ok(scopes) };
            // What comes after the slash sorts before this: a digit is the next character after it.
            let end = last.and_then(|last| Key::new(format!("{}{last}0", self.kind.prefix())).ok());
            let skipped = match &end {
                Some(end) => store.list_after(end).await?,
                None => None,
            };
            page = PageRequest { limit: Some(if skipped.is_some() { 1 } else { 500 }), after: skipped.or(Some(next)) };
        }
    }
}
