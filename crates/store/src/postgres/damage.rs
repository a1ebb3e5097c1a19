//! Tables with a damaged structure, and what can still be read of them.
//!
//! Nothing is looked up in an index again. The newest revision of each key is determined from all that can be read
//! ([`facts`](super::facts)), and values are read by the place of their row. A key whose newest row cannot be read has an empty
//! value, which no reader takes for a document. Nothing is written to such tables.

use std::ops::Bound;

use tokio_postgres::{Row, types::Type};

use super::{
    Shared,
    connection::Parameters,
    facts::{Facts, Newest, Unproven},
    known::Known,
    read,
    rows::{self, Head},
    scan::{Index, Scan},
    trail::Traces,
};
use crate::{
    ErrorKind, Key, Page, PageRequest, Prefix, StoreError, Stored, Unreadable,
    log::{self, PAGE_LIMIT},
    sum,
};

/// A page of a list ends when its values have more than this.
const PAGE_BYTES: usize = 1 << 20;

/// What is known of damaged tables at one moment.
#[derive(Debug)]
pub(super) struct Damage {
    /// The first thing that is wrong.
    what: String,
    facts: Facts,
    /// The head that PostgreSQL read at that moment, which may be damaged.
    seen: Option<Head>,
    /// PostgreSQL can plan statements, as it cannot without the first page of an index.
    has_indexes: bool,
    /// What the head is, as far as it is known.
    pub(super) head: Head,
}

impl Damage {
    /// Reads all that can be read of keys and revisions.
    pub(super) async fn of(shared: &Shared, what: String) -> Result<Self, StoreError> {
        let client = shared.connector.connect().await?;
        let scan = Scan::begin(&client, &shared.statements, false).await?;
        let known = Known::read(shared, &scan, Traces::Kept).await?;
        let (mut table, mut index) = (Vec::new(), Vec::new());
        let is_table_whole = scan.table(&mut |entry| table.push(entry)).await?;
        let is_index_whole = scan.index(Index::KeysAlone, &mut |entry| index.push(entry)).await?;
        let has_indexes = scan.has_indexes;
        scan.end().await;
        let (seen, are_whole) = (known.seen, is_table_whole && is_index_whole);
        // For a large log, this takes long.
        let facts = tokio::task::spawn_blocking(move || Facts::new(&known, &table, &index, are_whole)).await;
        let ended = |error| StoreError::new(ErrorKind::Unavailable, "the runtime ends").because(error);
        let facts = facts.map_err(ended)?;
        let head = facts.head;
        Ok(Self { what, facts, seen, head, has_indexes })
    }

    /// Whether nothing was written since, if PostgreSQL reads this head now.
    pub(super) fn is_of(&self, head: Option<Head>) -> bool {
        head.is_none() || self.seen == head
    }

    /// Whether it was read when the head was this one, or later.
    pub(super) fn is_after(&self, head: Option<Head>) -> bool {
        let is_after = |seen: Head, head: Head| seen.revision >= head.revision && seen.compacted >= head.compacted;
        self.seen.zip(head).is_none_or(|(seen, head)| is_after(seen, head))
    }

    /// The first thing that is wrong.
    pub(super) fn what(&self) -> &str {
        &self.what
    }

    /// The error of operations that damaged tables are not used for.
    pub(super) fn refusal(&self) -> StoreError {
        let message = "the tables are damaged: what is still readable can be read, and nothing is written; restore them from \
                       a backup, or rebuild the indexes (REINDEX) if only they are damaged, and start again";
        StoreError::new(ErrorKind::Corrupt, message).because(self.what.clone())
    }

    /// The value of a key: empty if it cannot be read.
    pub(super) async fn get(&self, shared: &Shared, key: &Key) -> Result<Option<Stored>, StoreError> {
        match self.facts.newest(key) {
            Ok(Some(newest)) => self.stored(shared, key, newest).await,
            Ok(None) => Ok(None),
            Err(Unproven) => Err(self.refusal()),
        }
    }

    /// The stored bytes of a key's newest revision, whether or not they match their checksum; empty if its row is lost. If it is not
    /// known which revision that is, those of the last known one.
    pub(super) async fn get_unverified(&self, shared: &Shared, key: &Key) -> Result<Option<Stored>, StoreError> {
        let (revision, place) = match self.facts.newest(key) {
            Ok(Some(Newest::Row(revision, place))) => (revision, place),
            Ok(Some(Newest::Unknown)) | Err(Unproven) => return read::get_unverified(shared, key).await,
            Ok(Some(newest @ Newest::Lost(_))) => return self.stored(shared, key, newest).await,
            Ok(Some(Newest::Removed(_)) | None) => return Ok(None),
        };
        let found = self.row(shared, key, revision, place).await?;
        let value = found.first().map_or(Ok(None), |row| rows::column::<Option<Vec<u8>>>(row, 2))?;
        Ok(value.map(|value| Stored { revision: log::revision(revision), value }))
    }

    /// A page of a list of now.
    pub(super) async fn page(
        &self,
        shared: &Shared,
        prefix: &Prefix,
        request: &PageRequest,
    ) -> Result<Page, StoreError> {
        let newest = self.facts.all().map_err(|Unproven| self.refusal())?;
        let limit = request.limit.unwrap_or(PAGE_LIMIT).clamp(1, PAGE_LIMIT);
        let after = match &request.after {
            Some(after) => log::continuation_parts(after, prefix, self.head.revision, self.head.compacted)?.1,
            None => prefix.as_str(),
        };
        let (mut items, mut bytes, mut next) = (Vec::new(), 0, None);
        let keys = newest.range::<str, _>((Bound::Excluded(after), Bound::Unbounded));
        for (key, newest) in keys.take_while(|(key, _)| prefix.is_of(key)) {
            if items.len() == limit || bytes > PAGE_BYTES {
                next = items.last().map(|(key, _)| log::continuation(self.head.revision, key));
                break;
            }
            if let Some(stored) = self.stored(shared, key, *newest).await? {
                bytes += stored.value.len();
                items.push((key.clone(), stored));
            }
        }
        Ok(Page { items, next, cursor: log::cursor(self.head.revision) })
    }

    /// The value of a row; none if the row is a removal.
    async fn stored(&self, shared: &Shared, key: &Key, newest: Newest) -> Result<Option<Stored>, StoreError> {
        let unreadable = |revision| Stored { revision: log::revision(revision), value: sum::UNREADABLE };
        let (revision, place) = match newest {
            Newest::Row(revision, place) => (revision, place),
            Newest::Lost(revision) => return Ok(Some(unreadable(revision))),
            Newest::Removed(_) => return Ok(None),
            Newest::Unknown => {
                let value = Unreadable::Uncertain.marker().to_vec();
                return Ok(Some(Stored { revision: log::revision(0), value }));
            }
        };
        match self.row(shared, key, revision, place).await {
            Ok(found) => match found.first().map(|row| rows::stored(key, row)) {
                Some(Ok(stored)) => Ok(stored),
                _ => Ok(Some(unreadable(revision))),
            },
            Err(error) if *error.kind() == ErrorKind::Corrupt => Ok(Some(unreadable(revision))),
            Err(error) => Err(error),
        }
    }

    /// The row of a key and a revision at a place.
    async fn row(
        &self,
        shared: &Shared,
        key: &Key,
        revision: u64,
        (page, number): (u32, u16),
    ) -> Result<Vec<Row>, StoreError> {
        let sql =
            format!("{} WHERE ctid = '({page},{number})'::tid AND key = $1 AND revision = $2", shared.statements.row);
        let bytes = key.as_str().as_bytes();
        self.query(shared, &sql, &[(&bytes, Type::BYTEA), (&(revision as i64), Type::INT8)]).await
    }

    async fn query(&self, shared: &Shared, sql: &str, parameters: &Parameters<'_>) -> Result<Vec<Row>, StoreError> {
        if self.has_indexes {
            return shared.readers.query(sql, parameters).await;
        }
        let client = shared.connector.connect().await?;
        let scan = Scan::begin(&client, &shared.statements, false).await?;
        let found = scan.query(sql, parameters).await;
        scan.end().await;
        found
    }
}
