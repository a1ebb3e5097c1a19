//! Going through all records of a kind, page by page, for as long as it takes.

use std::sync::{Mutex, PoisonError};

use wheelwright_store::{Continuation, ErrorKind, Key, Page, PageRequest, Prefix, Store, StoreError, Stored};

use super::patience::patiently;
use crate::{Collection, Repository, RepositoryError};

/// All keys with a prefix. Every page shows the store as it is when it is asked for, so that no moment gets too old and
/// little changes between reading a record and writing it.
#[derive(Debug)]
pub(super) struct Walk<'s> {
    store: &'s dyn Store,
    prefix: &'s Prefix,
    /// After which key the last list goes on, and where: for stores that can begin lists only at their beginning.
    left_off: Mutex<Option<(Key, Continuation)>>,
}

impl<'s> Walk<'s> {
    pub(super) fn new(store: &'s dyn Store, prefix: &'s Prefix) -> Self {
        Self { store, prefix, left_off: Mutex::default() }
    }

    /// The page after a key, or the first one. It is empty only if nothing comes after it.
    pub(super) async fn page(&self, after: Option<&Key>) -> Result<Page, StoreError> {
        loop {
            let continuation = match after {
                Some(key) => self.continuation(key).await?,
                None => None,
            };
            match self.list(continuation).await {
                Err(error) if *error.kind() == ErrorKind::TooOld => self.leave_off(None),
                Ok(page) => return self.beyond(after, page).await,
                Err(error) => return Err(error),
            }
        }
    }

    /// Looks at all values.
    async fn all(&self, mut see: impl FnMut(&Key, &Stored)) -> Result<(), StoreError> {
        let mut after: Option<Key> = None;
        loop {
            let page = self.page(after.as_ref()).await?;
            for (key, stored) in &page.items {
                see(key, stored);
            }
            match (page.items.into_iter().next_back(), page.next) {
                (Some((last, _)), Some(_)) => after = Some(last),
                _ => return Ok(()),
            }
        }
    }

    async fn continuation(&self, after: &Key) -> Result<Option<Continuation>, StoreError> {
        if let Some(continuation) = patiently(|| self.store.list_after(after)).await? {
            return Ok(Some(continuation));
        }
        let left_off = self.left_off.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(left_off.as_ref().filter(|(key, _)| key == after).map(|(_, continuation)| continuation.clone()))
    }

    /// Passes over what is not after a key.
    async fn beyond(&self, after: Option<&Key>, mut page: Page) -> Result<Page, StoreError> {
        loop {
            page.items.retain(|(key, _)| after.is_none_or(|after| key > after));
            match page.next.take() {
                Some(next) if page.items.is_empty() => page = self.list(Some(next)).await?,
                next => {
                    page.next = next;
                    self.leave_off(page.items.last().map(|(key, _)| key.clone()).zip(page.next.clone()));
                    return Ok(page);
                }
            }
        }
    }

    async fn list(&self, after: Option<Continuation>) -> Result<Page, StoreError> {
        patiently(|| self.store.list(self.prefix, PageRequest { limit: None, after: after.clone() })).await
    }

    fn leave_off(&self, at: Option<(Key, Continuation)>) {
        *self.left_off.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }
}

impl Repository {
    /// How many records have keys with a prefix, whatever they are.
    ///
    /// # Errors
    /// The store fails and does not recover within half a minute.
    pub async fn count_records(&self, prefix: &Prefix) -> Result<u64, RepositoryError> {
        let mut total = 0;
        Walk::new(&**self.store(), prefix).all(|_, _| total += 1).await?;
        Ok(total)
    }
}

impl Collection {
    /// Looks at every record.
    pub(crate) async fn walk(&self, see: impl FnMut(&Key, &Stored)) -> Result<(), RepositoryError> {
        Ok(Walk::new(self.store(), self.kind.prefix()).all(see).await?)
    }

    /// What a key is called in messages.
    pub(crate) fn called<'k>(&self, key: &'k Key) -> &'k str {
        key.as_str().strip_prefix(self.kind.prefix().as_str()).unwrap_or(key.as_str())
    }
}
