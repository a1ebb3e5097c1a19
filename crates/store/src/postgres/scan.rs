//! All keys and revisions of the log, as the table has them and as each index has them.
//!
//! They are read in portions, so that a page that PostgreSQL cannot read costs only the rows of that page.

use std::time::Instant;

use tokio::time::sleep;
use tokio_postgres::{Client, Row};

use super::{connection::Parameters, failure, rows, tables::Statements};
use crate::{Key, MAX_KEY_BYTES, StoreError, log::Action};

/// Pages of the table that are read at once, and entries of an index.
const PAGES: usize = 256;
const ENTRIES: i64 = 5000;

impl Index {
    /// Whether an entry comes before the next one.
    pub(super) fn is_in_order(self, entry: &Entry, next: &Entry) -> bool {
        match self {
            Self::Revisions => entry.revision < next.revision,
            Self::Keys | Self::KeysAlone => (&entry.key, next.revision) < (&next.key, entry.revision),
        }
    }
}

/// A row, or the entry of an index for it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) revision: u64,
    /// None if it is damaged, or was not read.
    pub(super) action: Option<Action>,
    pub(super) sum: Option<i64>,
    /// Page and number in the page.
    pub(super) place: (u32, u16),
}

/// Reads the log of a schema within a transaction.
#[derive(Debug)]
pub(super) struct Scan<'c> {
    client: &'c Client,
    log: String,
    sum: &'static str,
    /// Rests as long as it works.
    is_paced: bool,
    /// The indexes of the log can be used.
    pub(super) has_indexes: bool,
}

/// An index, read in its order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Index {
    Keys,
    /// The same without the actions. PostgreSQL has no need to read the table for entries that it knows to be visible, and so
    /// may return entries whose rows are lost.
    KeysAlone,
    Revisions,
}

impl<'c> Scan<'c> {
    /// Begins a transaction that sees one moment. Fails as not possible in a database that is not PostgreSQL.
    pub(super) async fn begin(client: &'c Client, statements: &Statements, is_paced: bool) -> Result<Self, StoreError> {
        let sum = if statements.has_sums { "sum" } else { "NULL::int8" };
        let mut scan = Self { client, log: statements.log.clone(), sum, is_paced, has_indexes: true };
        let settings = "SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off; \
                        SET LOCAL max_parallel_workers_per_gather = 0";
        scan.execute(&format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {settings}")).await?;
        if scan.attempt(&statements.plan).await?.is_none() {
            // PostgreSQL reads the rows if it takes the indexes for dropped. They are there again after the transaction.
            scan.execute("ROLLBACK").await?;
            scan.execute(&format!("BEGIN ISOLATION LEVEL REPEATABLE READ; {settings}")).await?;
            scan.execute(&statements.drop_indexes).await?;
            scan.has_indexes = false;
        }
        Ok(scan)
    }

    /// Reads the log without its indexes. Returns whether all of it could be read.
    pub(super) async fn table(&self, each: &mut impl FnMut(Entry)) -> Result<bool, StoreError> {
        let mut are_rows = true;
        let columns = format!("revision, {}, action, {}, ctid::text", short("key", MAX_KEY_BYTES), self.sum);
        let mut add = |row: &Row| match entry(row) {
            Some(entry) => each(entry),
            None => are_rows = false,
        };
        let is_whole = self.pages(&self.log, &columns, &mut add).await?;
        Ok(is_whole && are_rows)
    }

    /// Reads columns of a table without its indexes. Returns whether all of it could be read.
    pub(super) async fn pages(
        &self,
        table: &str,
        columns: &str,
        each: &mut impl FnMut(&Row),
    ) -> Result<bool, StoreError> {
        self.set("seqscan", "indexscan").await?;
        let pages = format!("SELECT pg_relation_size('{table}'::regclass) / current_setting('block_size')::int8");
        let rows = self.query(&pages, &[]).await?;
        let pages = rows::revision(&rows[0], 0)?;
        let mut is_whole = true;
        let mut parts: Vec<_> =
            (0..pages).step_by(PAGES).map(|from| (from, (from + PAGES as u64).min(pages))).collect();
        while let Some((from, until)) = parts.pop() {
            let sql =
                format!("SELECT {columns} FROM {table} WHERE ctid >= '({from},0)'::tid AND ctid < '({until},0)'::tid");
            match self.attempt(&sql).await? {
                Some(rows) => rows.iter().for_each(&mut *each),
                None if until - from > 1 => {
                    let half = from.midpoint(until);
                    parts.extend([(half, until), (from, half)]);
                }
                None => is_whole = false,
            }
        }
        Ok(is_whole)
    }

    /// Reads an index from its beginning, as far as possible. Returns whether all of it could be read.
    pub(super) async fn index(&self, index: Index, each: &mut impl FnMut(Entry)) -> Result<bool, StoreError> {
        if !self.has_indexes {
            return Ok(false);
        }
        self.set("indexscan", "seqscan").await?;
        let is_alone = matches!(index, Index::KeysAlone);
        self.execute(&format!("SET LOCAL enable_indexonlyscan = {}", if is_alone { "on" } else { "off" })).await?;
        let columns = if is_alone { "NULL::int2, NULL::int8" } else { &format!("action, {}", self.sum) };
        let (mut is_whole, mut last) = (true, None::<Entry>);
        loop {
            let (after, order) = match (index, &last) {
                (Index::Revisions, last) => {
                    (format!("revision > {}", last.as_ref().map_or(-1, |last| last.revision as i64)), "revision")
                }
                (_, None) => ("key >= ''::bytea".to_owned(), "key, revision DESC"),
                (_, Some(Entry { revision, key, .. })) => {
                    let key: String = key.as_str().bytes().map(|byte| format!("{byte:02x}")).collect();
                    let key = format!("'\\x{key}'::bytea");
                    (format!("key >= {key} AND NOT (key = {key} AND revision >= {revision})"), "key, revision DESC")
                }
            };
            let sql = format!(
                "SELECT revision, key, {columns}, '(0,0)' FROM {} WHERE {after} ORDER BY {order} LIMIT {ENTRIES}",
                self.log
            );
            let Some(rows) = self.attempt(&sql).await? else { return Ok(false) };
            let entries: Vec<Entry> = rows.iter().filter_map(entry).collect();
            is_whole &= entries.len() == rows.len();
            let before = std::mem::replace(&mut last, entries.last().cloned());
            entries.into_iter().for_each(&mut *each);
            if (rows.len() as i64) < ENTRIES {
                return Ok(is_whole);
            }
            // An index out of order could begin again and again.
            let goes_on =
                last.as_ref().is_some_and(|last| before.is_none_or(|before| index.is_in_order(&before, last)));
            if !goes_on {
                return Ok(false);
            }
        }
    }

    /// The rows of one statement.
    pub(super) async fn query(&self, sql: &str, parameters: &Parameters<'_>) -> Result<Vec<Row>, StoreError> {
        self.client.query_typed(sql, parameters).await.map_err(|error| failure::of_read(&error))
    }

    pub(super) async fn end(self) {
        // The connection is closed if this fails.
        let _ = self.client.batch_execute("ROLLBACK").await;
    }

    /// The rows of a statement; none if PostgreSQL cannot read them.
    pub(super) async fn attempt(&self, sql: &str) -> Result<Option<Vec<Row>>, StoreError> {
        self.execute("SAVEPOINT part").await?;
        let began = Instant::now();
        let answer = self.client.query_typed(sql, &[]).await;
        if self.is_paced {
            sleep(began.elapsed()).await;
        }
        match answer {
            Ok(rows) => {
                self.execute("RELEASE SAVEPOINT part").await?;
                Ok(Some(rows))
            }
            Err(error) if failure::is_damage(&error) => {
                self.execute("ROLLBACK TO SAVEPOINT part").await?;
                Ok(None)
            }
            Err(error) => Err(failure::of_server(&error)),
        }
    }

    async fn set(&self, on: &str, off: &str) -> Result<(), StoreError> {
        self.execute(&format!("SET LOCAL enable_{on} = on; SET LOCAL enable_{off} = off")).await?;
        self.execute("SET LOCAL enable_indexonlyscan = off").await
    }

    async fn execute(&self, sql: &str) -> Result<(), StoreError> {
        self.client.batch_execute(sql).await.map_err(|error| failure::of_server(&error))
    }
}

/// A column, or null if it is longer than it can be: a damaged length is not read.
pub(super) fn short(column: &str, most: usize) -> String {
    format!("CASE WHEN octet_length({column}) <= {most} THEN {column} END")
}

/// A row of revision, key, action, checksum and place; none if it cannot be one.
fn entry(row: &Row) -> Option<Entry> {
    let key = Key::new(String::from_utf8(row.try_get(1).ok()?).ok()?).ok()?;
    let revision = u64::try_from(row.try_get::<_, i64>(0).ok()?).ok()?;
    let action: Option<i16> = row.try_get(2).ok()?;
    let place: String = row.try_get(4).ok()?;
    let (page, number) = place.trim_matches(['(', ')']).split_once(',')?;
    Some(Entry {
        key,
        revision,
        action: action.and_then(|action| Action::from_number(action.into())),
        sum: row.try_get(3).ok()?,
        place: (page.parse().ok()?, number.parse().ok()?),
    })
}
