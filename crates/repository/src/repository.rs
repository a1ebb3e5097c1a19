//! The repository: kinds and a store, and nothing between a client and its document but these.

use std::{fmt, sync::Arc, time::SystemTime};

use jiff::Timestamp;
use wheelwright_document::{Arena, Value, encode};
use wheelwright_evolve::{Origin, VersionName};
use wheelwright_store::{
    Continuation, Cursor, Health, Key, KeyRange, Mark, Page, PageRequest, Prefix, Revision, Store, StoreError, Stored,
};

use crate::{
    Body, Document, ExternalSource, Name, Notes, RepositoryError, ServedKind, SourceCounts, SourceError, View, Write,
    error::WriteError,
    external::{Answers, Sources},
    record::Metadata,
    watch::DocumentWatch,
    write::{Sealed, Stamp},
};

/// Kinds in a store. Clones are the same repository.
#[derive(Clone)]
pub struct Repository {
    kinds: Arc<[Arc<ServedKind>]>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    sources: Sources,
}

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

/// A part of a list.
#[derive(Debug)]
#[non_exhaustive]
pub struct Listed {
    /// The documents; those that cannot be opened, with the reason.
    pub items: Vec<Result<Document, RepositoryError>>,
    /// Where the list goes on; none at its end.
    pub next: Option<Continuation>,
    /// The moment that the list shows, to watch from.
    pub cursor: Cursor,
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

/// A part of a list of which nothing is opened yet.
#[derive(Debug)]
#[non_exhaustive]
pub struct Unopened {
    collection: Collection,
    names: Vec<Name>,
    stored: Vec<Stored>,
    answers: Vec<Answers>,
    /// Where the list goes on; none at its end.
    pub next: Option<Continuation>,
    /// The moment that the list shows, to watch from.
    pub cursor: Cursor,
}

impl Unopened {
    /// The documents as a view shows them; those that cannot be opened, with the reason.
    pub fn open(self, view: View<'_>) -> Vec<Result<Document, RepositoryError>> {
        let Self { collection, names, stored, answers, .. } = self;
        let documents = names.iter().zip(stored).zip(&answers);
        documents.map(|((name, stored), answers)| collection.shown(name, stored, view, answers)).collect()
    }

    /// Appends the documents as a view shows them to JSON, with commas between them: as [`open`](Self::open), for whoever
    /// wants no more of them than their bytes.
    ///
    /// # Errors
    /// One of them cannot be opened.
    pub fn write(&self, view: View<'_>, json: &mut Vec<u8>) -> Result<(), RepositoryError> {
        let Collection { kind, repository } = &self.collection;
        json.reserve(self.stored.iter().map(|stored| stored.value.len()).sum());
        let mut arena = Arena::new();
        for (position, ((name, stored), answers)) in self.names.iter().zip(&self.stored).zip(&self.answers).enumerate()
        {
            if position > 0 {
                json.push(b',');
            }
            arena.reset();
            let called = (name, &stored.revision);
            let shown = kind.show_into(json, &stored.value, called, view, answers, &arena);
            match shown.map_err(RepositoryError::view(name)) {
                Ok(shown) => repository.sources.count(&shown.divergence),
                Err(error) => {
                    if let RepositoryError::Source(error) = &error {
                        repository.sources.count_failed(error);
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The last of the documents; none if there is none.
    pub fn last(&self) -> Option<&Name> {
        self.names.last()
    }
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Repository {
    /// Kinds in a store, none of which would take records of another for its own.
    ///
    /// # Errors
    /// Two of them have keys that begin alike.
    pub fn try_new(
        store: Arc<dyn Store>,
        kinds: impl IntoIterator<Item = ServedKind>,
    ) -> Result<Self, RepositoryError> {
        let repository = Self::new(store, kinds);
        ServedKind::check_keys(repository.kinds.iter().map(|kind| &**kind))?;
        Ok(repository)
    }

    /// Kinds in a store, of which no two have [keys that begin alike](ServedKind::check_keys): such kinds can be neither
    /// [had](Self::kind) nor swept.
    pub fn new(store: Arc<dyn Store>, kinds: impl IntoIterator<Item = ServedKind>) -> Self {
        let kinds = kinds.into_iter().map(Arc::new).collect();
        Self { kinds, store, clock: Arc::new(now), sources: Sources::default() }
    }

    /// The same, with another clock.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// The same, with the systems that own fields of its kinds, by the names that the catalog gives them. Without them,
    /// such documents can be swept but not read.
    ///
    /// # Errors
    /// One that the catalog names is missing, or the catalog does not name one.
    pub fn with_sources<'n>(
        self,
        sources: impl IntoIterator<Item = (&'n str, Arc<dyn ExternalSource>)>,
    ) -> Result<Self, SourceError> {
        let sources = Sources::new(sources.into_iter().map(|(name, source)| (name.into(), source)));
        sources.check(self.kinds.iter().map(|kind| &**kind))?;
        Ok(Self { sources, ..self })
    }

    /// What happened with each external source so far.
    pub fn source_counts(&self) -> impl Iterator<Item = (&str, SourceCounts)> {
        self.sources.counts()
    }

    /// The documents of a kind, by a name that people call it by: with or without its group, also one that it had.
    ///
    /// # Errors
    /// There is no such kind, or another one has keys that begin alike.
    pub fn kind(&self, name: &str) -> Result<Collection, RepositoryError> {
        let is_meant = |kind: &&Arc<ServedKind>| kind.kind().names().iter().any(|own| own.is_meant_by(name));
        let kind = self.kinds.iter().find(is_meant).ok_or_else(|| RepositoryError::UnknownKind(name.into()))?;
        for other in self.kinds.iter().filter(|other| !Arc::ptr_eq(other, kind)) {
            ServedKind::check_keys([&**kind, other])?;
        }
        Ok(Collection { kind: kind.clone(), repository: self.clone() })
    }

    /// The documents of all kinds.
    pub fn kinds(&self) -> impl Iterator<Item = Collection> + '_ {
        self.kinds.iter().map(|kind| Collection { kind: kind.clone(), repository: self.clone() })
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Whether the store can be read and written, by trying it.
    ///
    /// # Errors
    /// It cannot.
    pub async fn health(&self) -> Result<Health, RepositoryError> {
        Ok(self.store.health().await?)
    }

    /// The position of now: a watch from it on tells what is written later.
    ///
    /// # Errors
    /// The store fails.
    pub async fn cursor(&self) -> Result<Cursor, RepositoryError> {
        Ok(self.store.now().await?)
    }

    /// Where the [mark](Store::mark) is that every write to the store moves: what was read at the same mark holds. None if
    /// the store cannot tell. Of what other systems own it says nothing.
    pub fn mark(&self) -> Option<Mark> {
        self.store.mark()
    }

    /// What its clock says.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { now: self.now(), uid: uuid::Uuid::new_v4().to_string().into() }
    }
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
        let Some(stored) = self.store().get(&key).await? else { return Ok(Reread::Missing) };
        if known == Some(&stored.revision) && self.kind.is_ours() {
            return Ok(Reread::Same);
        }
        let answers = self.answers(name).await?;
        Ok(Reread::Document(Box::new(self.shown(name, stored, view, &answers)?)))
    }

    /// The bytes of a record as they are stored, whatever they are; none if there is none. For looking at what cannot be
    /// opened: everybody else reads documents.
    ///
    /// # Errors
    /// The store fails, or the name is too long.
    pub async fn get_record(&self, name: &Name) -> Result<Option<Stored>, RepositoryError> {
        Ok(self.store().get(&self.kind.key(name)?).await?)
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
        Ok(Listed { items: unopened.open(view), next, cursor })
    }

    /// As [`list`](Self::list), with documents that are yet to be opened: that takes longer than reading them, and another
    /// thread can do it while this one reads on.
    ///
    /// # Errors
    /// The store or an external source fails.
    pub async fn list_unopened(&self, scope: Option<&Name>, page: PageRequest) -> Result<Unopened, RepositoryError> {
        let prefix = self.prefix(scope)?;
        let Page { items, next, cursor } = self.store().list(&prefix, page).await?;
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
        let sealed = self.kind.create(&write, &self.repository.stamp()).map_err(RepositoryError::write(name))?;
        self.check_answers(name, &sealed, &answers)?;
        let revision = match write.is_dry_run {
            true if self.store().get(&key).await?.is_some() => return Err(StoreError::exists(&key).into()),
            // It has none yet.
            true => Revision::new(""),
            false => self.store().create(&key, sealed.bytes.clone()).await?,
        };
        self.written(name, sealed, revision, &write, &answers)
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
            let stored = self.store().get(&key).await?;
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
        let sealed = self.kind.rekept(&stored.value, change, &self.repository.stamp());
        let sealed = sealed.map_err(RepositoryError::write(name))?;
        self.check_answers(name, &sealed, &answers)?;
        let revision = self.store_sealed(&key, &stored.revision, &sealed).await?;
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
        let normal = normal.map_err(|error| RepositoryError::Write(WriteError::Admit(error)))?;
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
        let shown = self.kind.document(&value, name, revision, view, answers).map_err(RepositoryError::view(name));
        match &shown {
            Ok(document) => self.repository.sources.count(&document.divergence),
            Err(RepositoryError::Source(error)) => self.repository.sources.count_failed(error),
            Err(_) => {}
        }
        shown
    }

    /// What is under a key, if it has a revision.
    pub(crate) async fn expected(&self, key: &Key, expected: &Revision) -> Result<Stored, RepositoryError> {
        match self.store().get(key).await? {
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
        let sealed = self.kind.update(&stored.value, called, &write, &answers, &self.repository.stamp());
        let sealed = sealed.map_err(RepositoryError::write(name))?;
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
        self.written(name, sealed, revision, &write, &answers)
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
        Ok(self.store().replace(key, expected, sealed.bytes.clone()).await?)
    }

    fn written(
        &self,
        name: &Name,
        sealed: Sealed,
        revision: Revision,
        write: &Write<'_>,
        answers: &Answers,
    ) -> Result<Written, RepositoryError> {
        let Sealed { bytes, notes, is_released, .. } = sealed;
        let document = self.shown(name, Stored { revision, value: bytes }, write.view(), answers)?;
        Ok(Written { document, notes, is_changed: true, is_removed: is_released })
    }
}

/// In whole milliseconds, as times are written.
fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let milliseconds = i64::try_from(since_1970.as_millis()).ok();
    milliseconds.and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok()).unwrap_or_default()
}
