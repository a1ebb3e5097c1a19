//! The documents of one kind in a store: get, list, create, update, patch and watch.

use std::sync::{Arc, atomic::Ordering};

use wheelwright_document::{Arena, Value, encode};
use wheelwright_evolve::{Origin, VersionName};
use wheelwright_store::{
    Continuation, Cursor, Key, KeyRange, Page, PageRequest, Prefix, Revision, Store, StoreError, Stored,
};

use crate::{
    Body, Document, Listed, ListedOrigins, Name, Notes, Repository, RepositoryError, ServedKind, Unopened, View, Write,
    error::WriteError, external::Answers, keep::SizeCheck, record::Metadata, watch::DocumentWatch, write::Sealed,
};

/// The documents of one kind.
#[derive(Clone, Debug)]
pub struct Collection {
    pub(crate) kind: Arc<ServedKind>,
    pub(crate) repository: Repository,
}

/// A document that was written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Written {
    /// As the version shows it that was written.
    pub document: Document,
    /// What its writer should hear.
    pub notes: Notes,
    /// Whether something was stored: what changes nothing is not.
    pub is_changed: bool,
    /// Whether it is gone with this write: it was to be removed, and nobody had to agree any more.
    pub is_removed: bool,
}

/// What became of a document that somebody knows.
#[derive(Debug)]
pub enum Reread {
    /// There is none.
    Missing,
    /// It is what it was.
    Same,
    /// It is this.
    Document(Box<Document>),
}

impl Collection {
    /// The repository that it is a part of.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The kind.
    pub fn kind(&self) -> &ServedKind {
        &self.kind
    }

    /// The version whose shape is stored today.
    pub fn hub(&self) -> &VersionName {
        self.kind.version_name(self.kind.kind().lenses().hub())
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.repository.store
    }

    /// A document; none if there is none.
    ///
    /// # Errors
    /// The store or an external source fails, the record cannot be opened, or there is no such version.
    pub async fn get(&self, name: &Name, view: View<'_>) -> Result<Option<Document>, RepositoryError> {
        Ok(match self.get_unless(name, view, None).await? {
            Reread::Missing | Reread::Same => None,
            Reread::Document(document) => Some(*document),
        })
    }

    /// A document, unless it has the revision that somebody knows it by: then nothing is opened. Documents of which other
    /// systems own fields are never the same for sure.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub async fn get_unless(
        &self,
        name: &Name,
        view: View<'_>,
        known: Option<&Revision>,
    ) -> Result<Reread, RepositoryError> {
        self.check_view(view)?;
        let key = self.kind.key(name)?;
        let Some(stored) = self.repository.read(&key).await? else { return Ok(Reread::Missing) };
        if known == Some(&stored.revision) && self.kind.is_ours() {
            return Ok(Reread::Same);
        }
        let answers = self.answers(name).await?;
        self.repository.step(stored.value.len()).await;
        Ok(Reread::Document(Box::new(self.shown(name, stored, view, &answers)?)))
    }

    /// Whether the record of a document was long when it was last read or written, so that reading it is much work.
    ///
    /// # Errors
    /// The name is too long.
    pub fn is_long(&self, name: &Name) -> Result<bool, RepositoryError> {
        Ok(self.repository.is_long(&self.kind.key(name)?))
    }

    /// Whether a document still has a revision, without reading its record. False for documents of which other systems own
    /// fields: they are never the same for sure.
    ///
    /// # Errors
    /// The store fails, or the name is too long.
    pub async fn has_revision(&self, name: &Name, revision: &Revision) -> Result<bool, RepositoryError> {
        Ok(self.kind.is_ours() && self.store().has_revision(&self.kind.key(name)?, revision).await?)
    }

    /// The bytes of a record as they are stored, whatever they are; none if there is none. For looking at what cannot be
    /// opened: everybody else reads documents.
    ///
    /// # Errors
    /// The store fails, or the name is too long.
    pub async fn get_record(&self, name: &Name) -> Result<Option<Stored>, RepositoryError> {
        Ok(self.store().get(&self.kind.key(name)?).await?)
    }

    /// As [`get_record`](Self::get_record) but, of a value that the store does not return because it is damaged, the bytes that are
    /// stored: for saving them, since they may be those of an older revision or of another record. Empty if there are none.
    ///
    /// # Errors
    /// As for [`get_record`](Self::get_record).
    pub async fn get_unverified_record(&self, name: &Name) -> Result<Option<Stored>, RepositoryError> {
        Ok(self.store().get_unverified(&self.kind.key(name)?).await?)
    }

    /// Removes a record with a revision, whatever it is: nobody is asked to agree, and it need not be one that can be opened.
    ///
    /// # Errors
    /// The store fails, as for [`update`](Self::update).
    pub async fn delete_record(&self, name: &Name, expected: &Revision) -> Result<(), RepositoryError> {
        self.store().delete(&self.kind.key(name)?, expected).await?;
        Ok(())
    }

    /// The documents whose names begin with some segments, page by page; all of them for none.
    ///
    /// # Errors
    /// The store or an external source fails, or there is no such version.
    pub async fn list(
        &self,
        scope: Option<&Name>,
        page: PageRequest,
        view: View<'_>,
    ) -> Result<Listed, RepositoryError> {
        self.check_view(view)?;
        let unopened = self.list_unopened(scope, page).await?;
        let (next, cursor) = (unopened.next.clone(), unopened.cursor.clone());
        self.repository.step(unopened.bytes()).await;
        Ok(Listed { items: unopened.open(view), next, cursor })
    }

    /// The names of documents, each with the versions that it was written with, or why it cannot be opened. Nothing that
    /// external sources own is part of that, and they are not asked.
    ///
    /// # Errors
    /// The store fails.
    pub async fn list_origins(&self, page: PageRequest) -> Result<ListedOrigins, RepositoryError> {
        let Page { items, next, .. } = self.store().list(&self.prefix(None)?, page).await?;
        self.repository.step(items.iter().map(|(_, stored)| stored.value.len()).sum()).await;
        let named = items.into_iter().filter_map(|(key, stored)| Some((self.kind.name(&key)?, stored)));
        let origin_of = |(name, stored): (Name, Stored)| {
            let arena = Arena::for_input(stored.value.len());
            let opened = self.kind.open(&stored.value, self.kind.place(&name), &arena);
            let origin = opened.map(|opened| opened.envelope.origin);
            origin.map(|origin| (name.clone(), origin)).map_err(|error| RepositoryError::Record(name, error))
        };
        Ok(ListedOrigins { items: named.map(origin_of).collect(), next })
    }

    /// As [`list`](Self::list), with documents that are yet to be opened: that takes longer than reading them, and another
    /// thread can do it while this one reads on.
    ///
    /// # Errors
    /// The store or an external source fails.
    pub async fn list_unopened(&self, scope: Option<&Name>, page: PageRequest) -> Result<Unopened, RepositoryError> {
        let prefix = self.prefix(scope)?;
        // Reading is work, too: a page is about as long as the one before.
        self.repository.step(self.kind.last_page.load(Ordering::Relaxed)).await;
        let Page { items, next, cursor } = self.store().list(&prefix, page).await?;
        self.kind.last_page.store(items.iter().map(|(_, stored)| stored.value.len()).sum(), Ordering::Relaxed);
        let named = items.into_iter().filter_map(|(key, stored)| Some((self.kind.name(&key)?, stored)));
        let (names, stored): (Vec<Name>, Vec<Stored>) = named.unzip();
        let answers = self.repository.sources.ask(&self.kind, &names).await?;
        Ok(Unopened { collection: self.clone(), names, stored, answers, next, cursor })
    }

    /// Creates a document.
    ///
    /// # Errors
    /// The store fails (with [`Exists`](wheelwright_store::ErrorKind::Exists), if there is one of that name), or the
    /// write is refused.
    pub async fn create(&self, name: &Name, write: Write<'_>) -> Result<Written, RepositoryError> {
        let key = self.kind.key(name)?;
        let answers = self.answers(name).await?;
        self.repository.step(self.kind.write_bytes(write.bytes())).await;
        let sealed = self.kind.create(name, &write, &self.repository.stamp());
        let sealed = sealed.map_err(|error| self.write_error(name, error))?;
        self.check_answers(name, &sealed, &answers)?;
        // A scheduler may give up here, but not after the write.
        self.repository.step(sealed.bytes.len()).await;
        let revision = match write.is_dry_run {
            true if self.store().get(&key).await?.is_some() => return Err(StoreError::exists(&key).into()),
            // It has none yet.
            true => Revision::new(""),
            false => self.store().create(&key, sealed.bytes.clone()).await?,
        };
        self.repository.has_written(&key, sealed.bytes.len());
        self.written(name, sealed, revision, &write, &answers).await
    }

    /// Writes a document, whole or patched, in the place of the one with a revision.
    ///
    /// # Errors
    /// The store fails (with [`Conflict`](wheelwright_store::ErrorKind::Conflict), if somebody else has written it, and
    /// with [`Missing`](wheelwright_store::ErrorKind::Missing), if there is none), or the write is refused.
    pub async fn update(&self, name: &Name, expected: &Revision, write: Write<'_>) -> Result<Written, RepositoryError> {
        let key = self.kind.key(name)?;
        let stored = self.expected(&key, expected).await?;
        self.updated(name, &key, stored, write).await
    }

    /// Patches a document, whatever its revision is. Whoever writes at the same time is waited for: the patch is applied to
    /// what they leave.
    ///
    /// # Errors
    /// As for [`update`](Self::update), but that a conflict is tried again, up to a hundred times. A whole document is
    /// refused: it would undo what its writer has not seen.
    pub async fn patch(&self, name: &Name, write: Write<'_>) -> Result<Written, RepositoryError> {
        if let Body::Document(_) = write.body {
            return Err(RepositoryError::Write(WriteError::Unconditional));
        }
        let key = self.kind.key(name)?;
        let mut tries = 100;
        loop {
            let stored = self.repository.read(&key).await?;
            let stored = stored.ok_or_else(|| StoreError::missing(&key))?;
            match self.updated(name, &key, stored, write).await {
                Err(RepositoryError::Store(error))
                    if tries > 0 && matches!(error.kind(), wheelwright_store::ErrorKind::Conflict(_)) =>
                {
                    tries -= 1;
                }
                outcome => return outcome,
            }
        }
    }

    /// Changes what the service keeps of a document. That is no change of its spec, and of no version.
    ///
    /// # Errors
    /// As for [`update`](Self::update).
    pub async fn update_metadata(
        &self,
        name: &Name,
        expected: &Revision,
        change: impl FnOnce(&mut Metadata, &mut Origin),
    ) -> Result<Document, RepositoryError> {
        let key = self.kind.key(name)?;
        let stored = self.expected(&key, expected).await?;
        let answers = self.answers(name).await?;
        self.repository.step(stored.value.len()).await;
        let sealed = self.kind.with_metadata(name, SizeCheck::Yes, &stored.value, change, &self.repository.stamp());
        let sealed = sealed.map_err(|error| self.write_error(name, error))?;
        self.check_answers(name, &sealed, &answers)?;
        let revision = self.store_sealed(&key, &stored.revision, &sealed).await?;
        self.repository.step(sealed.bytes.len()).await;
        self.shown(name, Stored { revision, value: sealed.bytes }, View::Hub, &answers)
    }

    /// Whether nothing has happened since a moment to the documents whose names begin with some segments and are after one
    /// name and not after another: then whoever has them may keep them. False also if the store cannot tell, and if other
    /// systems own fields of them, which they may change without a word.
    ///
    /// # Errors
    /// The store fails, or a name is too long.
    pub async fn is_unchanged(
        &self,
        scope: Option<&Name>,
        (after, until): (Option<&Name>, Option<&Name>),
        since: &Cursor,
    ) -> Result<bool, RepositoryError> {
        if !self.kind.is_ours() {
            return Ok(false);
        }
        let key = |name: Option<&Name>| name.map(|name| self.kind.key(name)).transpose();
        let range = KeyRange { prefix: self.prefix(scope)?, after: key(after)?, until: key(until)? };
        Ok(self.store().is_unchanged(&range, since).await?)
    }

    /// Where a list goes on after a name, or begins without one: at an earlier moment, or now without one. None if the
    /// store cannot tell.
    ///
    /// # Errors
    /// The store fails, or the name is none.
    pub async fn position(
        &self,
        scope: Option<&Name>,
        moment: Option<&Cursor>,
        after: Option<&Name>,
    ) -> Result<Option<Continuation>, RepositoryError> {
        let after = after.map(|name| self.kind.key(name)).transpose()?;
        match (moment, &after) {
            (Some(moment), after) => Ok(self.store().list_at(moment, &self.prefix(scope)?, after.as_ref()).await?),
            (None, Some(after)) => Ok(self.store().list_after(after).await?),
            (None, None) => Ok(None),
        }
    }

    /// A document as it was right before a revision of it; none if there was none.
    ///
    /// # Errors
    /// As for [`get`](Self::get); with [`TooOld`](wheelwright_store::ErrorKind::TooOld) if the store has forgotten it.
    pub async fn before(
        &self,
        name: &Name,
        revision: &Revision,
        view: View<'_>,
    ) -> Result<Option<Document>, RepositoryError> {
        self.check_view(view)?;
        let Some(stored) = self.store().before(&self.kind.key(name)?, revision).await? else { return Ok(None) };
        self.repository.step(stored.value.len()).await;
        self.shown(name, stored, view, &Answers::new()).map(Some)
    }

    /// What happens to the documents whose names begin with some segments, from a cursor on.
    ///
    /// # Errors
    /// The store fails, or has forgotten what happened since.
    pub async fn watch(&self, scope: Option<&Name>, from: &Cursor) -> Result<DocumentWatch, RepositoryError> {
        let watch = self.store().watch(&self.prefix(scope)?, from).await?;
        Ok(DocumentWatch::new(self.clone(), watch))
    }

    /// A new document with all defaults of a version, to begin with.
    ///
    /// # Errors
    /// There is no such version, or its defaults are too large.
    pub fn new_document(&self, version: &str) -> Result<Vec<u8>, RepositoryError> {
        let unknown = || RepositoryError::UnknownVersion(VersionName::new(version));
        let (kind, arena) = (self.kind.kind(), Arena::new());
        let index = kind.version(version).ok_or_else(unknown)?;
        let text = |text| Value::string(text);
        let type_meta = kind
            .api_version(index)
            .map(|api_version| [("apiVersion", Some(text(api_version))), ("kind", Some(text(kind.name_in(index))))]);
        let empty = crate::fields::with(Value::Object(&[]), type_meta.into_iter().flatten(), &arena);
        let normal = kind.normal(index, empty, &arena);
        let normal = normal.map_err(|error| RepositoryError::Write(WriteError::admit(error)))?;
        Ok(encode(self.kind.dress.undress(normal, &arena).0))
    }

    fn prefix(&self, scope: Option<&Name>) -> Result<Prefix, RepositoryError> {
        match scope {
            None => Ok(self.kind.prefix().clone()),
            Some(scope) => Ok(Prefix::new(self.kind.key(scope)?.as_str())?),
        }
    }

    /// Makes sure that a record can be read with what other systems answered, before it is stored: whoever is told of an
    /// error must not find it done.
    fn check_answers(&self, name: &Name, sealed: &Sealed, answers: &Answers) -> Result<(), RepositoryError> {
        if answers.is_empty() {
            return Ok(());
        }
        let stored = Stored { revision: Revision::new(""), value: sealed.bytes.clone() };
        self.shown(name, stored, View::Hub, answers).map(drop)
    }

    /// Refuses a version that the kind does not have, before anything is asked.
    pub(crate) fn check_view(&self, view: View<'_>) -> Result<(), RepositoryError> {
        match view {
            View::Version(name) | View::Whole(name) if self.kind.kind.version(name).is_none() => {
                Err(RepositoryError::UnknownVersion(VersionName::new(name)))
            }
            _ => Ok(()),
        }
    }

    /// What other systems have of a document.
    pub(crate) async fn answers(&self, name: &Name) -> Result<Answers, RepositoryError> {
        if self.kind.external.is_empty() {
            return Ok(Answers::new());
        }
        let asked = self.repository.sources.ask(&self.kind, std::slice::from_ref(name)).await?;
        Ok(asked.into_iter().next().unwrap_or_default())
    }

    pub(crate) fn shown(
        &self,
        name: &Name,
        stored: Stored,
        view: View<'_>,
        answers: &Answers,
    ) -> Result<Document, RepositoryError> {
        let Stored { revision, value } = stored;
        let shown = self.kind.document(&value, name, revision, view, answers);
        let shown = shown.map_err(|error| self.view_error(name, error));
        match &shown {
            Ok(document) => self.repository.sources.count(&document.divergence),
            Err(RepositoryError::Source(error)) => self.repository.sources.count_failed(error),
            Err(_) => {}
        }
        shown
    }

    /// What is under a key, if it has a revision.
    pub(crate) async fn expected(&self, key: &Key, expected: &Revision) -> Result<Stored, RepositoryError> {
        match self.repository.read(key).await? {
            None => Err(StoreError::missing(key).into()),
            Some(stored) if stored.revision == *expected => Ok(stored),
            Some(stored) => Err(StoreError::conflict(key, expected, stored.revision).into()),
        }
    }

    async fn updated(
        &self,
        name: &Name,
        key: &Key,
        stored: Stored,
        write: Write<'_>,
    ) -> Result<Written, RepositoryError> {
        let called = (name, &stored.revision);
        let answers = self.answers(name).await?;
        self.repository.step(self.kind.write_bytes(write.bytes_with(stored.value.len()))).await;
        let sealed = self.kind.update(&stored.value, called, &write, &answers, &self.repository.stamp());
        let sealed = sealed.map_err(|error| self.write_error(name, error))?;
        if sealed.is_same {
            let (notes, revision) = (sealed.notes, stored.revision.clone());
            let stored = Stored { revision, ..stored };
            let document = self.shown(name, stored, write.view(), &answers)?;
            return Ok(Written { document, notes, is_changed: false, is_removed: false });
        }
        let revision = match write.is_dry_run {
            true => stored.revision,
            false => self.store_sealed(key, &stored.revision, &sealed).await?,
        };
        self.written(name, sealed, revision, &write, &answers).await
    }

    /// Stores a record in the place of another, or removes it if it is to go.
    pub(crate) async fn store_sealed(
        &self,
        key: &Key,
        expected: &Revision,
        sealed: &Sealed,
    ) -> Result<Revision, RepositoryError> {
        if sealed.is_same {
            return Ok(expected.clone());
        }
        if sealed.is_released {
            self.store().delete(key, expected).await?;
            return Ok(expected.clone());
        }
        // A scheduler may give up here, but not after the write.
        self.repository.step(sealed.bytes.len()).await;
        let (store, bytes) = (self.store(), sealed.bytes.clone());
        let revision = match sealed.advances_deletion {
            true => store.replace_to_delete(key, expected, bytes).await?,
            false => store.replace(key, expected, bytes).await?,
        };
        self.repository.has_written(key, sealed.bytes.len());
        Ok(revision)
    }

    async fn written(
        &self,
        name: &Name,
        sealed: Sealed,
        revision: Revision,
        write: &Write<'_>,
        answers: &Answers,
    ) -> Result<Written, RepositoryError> {
        let Sealed { bytes, notes, is_released, .. } = sealed;
        self.repository.step(bytes.len()).await;
        let document = self.shown(name, Stored { revision, value: bytes }, write.view(), answers)?;
        Ok(Written { document, notes, is_changed: true, is_removed: is_released })
    }
}
