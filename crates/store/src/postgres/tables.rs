//! The tables, and every statement that is ever sent.
//!
//! Only plain SQL is used, which the databases that speak PostgreSQL's protocol understand too: no advisory locks, no
//! transaction ids, no stored functions. Indexes say `ASC` because YugabyteDB would hash their first column otherwise, and
//! the revision has an index instead of a primary key because only there it can be said. Keys are `bytea`: their order is
//! that of their bytes in every database, whatever its encoding and its collations.

use tokio_postgres::{Client, Row, types::Type};

use super::{PostgresOptions, failure, trail::Step};
use crate::{
    ErrorKind, StoreError,
    buckets::{Buckets, PARTS},
    log::FIRST_HEAD,
};

/// The format of the tables that this release reads and writes.
pub(super) const FORMAT: i32 = 1;

/// Formats from this one on are not written by any release to come.
const LAST_FORMAT: i32 = 1000;

/// What begins a transaction of the writer.
///
/// Each statement of it must see what was committed when that statement began, since the first one waits for a lock. A
/// writer that stands still with the lock, because its machine is gone or its process is stopped, loses it.
pub(super) const BEGIN: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 5000";

/// How often the tables are tried to be made while others make them.
const SETUP_ATTEMPTS: usize = 20;

/// The statements for one schema.
#[derive(Debug)]
pub(super) struct Statements {
    /// The newest row of a key (1): revision, action, value unless it is a removal or longer than so many bytes (2), checksum.
    pub(super) get: String,
    /// The same without the value.
    pub(super) get_no_value: String,
    /// The newest row of a key (1) before a revision (2), with its value unless it is a removal.
    pub(super) before: String,
    /// The value and the checksum of the row of a key (1) with a revision (2).
    pub(super) value: String,
    /// The head, and rows of keys after one (1) and before one (2), up to a moment (3): by key, newest first.
    ///
    /// No more than so many (4) rows are looked at, however long the history of a key is: whoever asks goes on after the
    /// last key. Only the first row of a key, which is its newest, has its value, and none has it after so many bytes (5).
    pub(super) list: String,
    /// The head, and those of the first so many (2) rows after a revision (1) whose keys are not before one (3) and are
    /// before one (4): in order with the lengths of their values, and no values after so many bytes (5) or longer than so
    /// many (6).
    pub(super) changes: String,
    /// The head, and whether none of the first so many (2) rows after a revision (1) has a key after one (3), before one (4)
    /// and up to one (5).
    pub(super) is_unchanged: String,
    /// The size of the table log in bytes.
    pub(super) size: String,
    /// The table log.
    pub(super) log: String,
    /// Every row of the log as [`get`](Self::get) returns it, for a condition to be added.
    pub(super) row: String,
    /// Fails if PostgreSQL cannot plan a statement, which it cannot without the first page of an index.
    pub(super) plan: String,
    /// Drops the indexes of the table log, in a transaction that is rolled back.
    pub(super) drop_indexes: String,
    /// The head, and the format.
    pub(super) head: String,
    /// The head, locked until the transaction ends.
    pub(super) lock_head: String,
    /// The newest rows of keys (1), without their values. One look into the index a key, however long its history is.
    pub(super) newest: String,
    /// Appends rows (1 revisions, 2 keys, 3 actions, 4 values). One without a value has that of an earlier row (5). With
    /// their checksums (6), if the table has such; that of a row without a value has that row's half of the value. And with a
    /// row of the trail (7 to 10), if there are such tables.
    pub(super) append: String,
    /// Appends a row with a value (1) that no reader ever sees, to find out whether there is room for it.
    pub(super) probe: String,
    /// Moves the head on (1).
    pub(super) advance: String,
    /// The first so many (1) rows that are not forgotten, each with whether it is not yet so many milliseconds (2) old.
    pub(super) forgettable: String,
    /// All rows of keys (1) up to a revision (2).
    pub(super) up_to: String,
    /// Deletes rows (1).
    pub(super) forget: String,
    /// Marks the log as forgotten up to a revision (1). If there are checksums, the digest of the rows that are kept up to
    /// there changes by some bits (2), unless it is unknown because an earlier release has deleted rows.
    pub(super) mark_forgotten: String,
    /// Tells everybody who listens that there is something new.
    pub(super) notify: String,
    /// Listens.
    pub(super) listen: String,
    /// The digest of the rows that are kept up to where the log is forgotten, and up to where it was when it was computed.
    pub(super) digest: String,
    /// Stores a digest (1) if the log is still forgotten up to the same revision (2).
    pub(super) set_digest: String,
    /// Whether rows have checksums: tables of earlier releases have none, and a user may lack the right to add them.
    pub(super) has_sums: bool,
    /// Whether there are buckets and a trail, as with checksums.
    pub(super) has_buckets: bool,
    /// The two tables of the trail.
    pub(super) trails: [String; 2],
    /// Deletes what the trail has of revisions before `compacted`, from each table.
    pub(super) clear_trails: [String; 2],
    /// The table of buckets.
    pub(super) buckets: String,
    /// The parts of the buckets.
    pub(super) read_buckets: String,
    /// Replaces parts (1) of the buckets by others (2).
    pub(super) update_buckets: String,
    /// Inserts parts (1) of the buckets (2).
    pub(super) insert_buckets: String,
    /// Fails unless the buckets and the trail can be used.
    use_buckets: String,
    create_buckets: String,
    /// What the trail and the buckets of a new store have.
    begin_buckets: String,
    /// Fails if the columns of checksums are missing.
    sums: String,
    /// The names of these columns, as the catalog of the database has them.
    sum_columns: String,
    /// Adds the columns of checksums to tables of earlier releases.
    add_sums: String,
    format: String,
    /// Gives a store of an earlier release in which nothing has happened the head of a new one.
    begin_head: String,
    create_schema: String,
    create_tables: String,
}

impl Statements {
    pub(super) fn new(schema: &str, has_sums: bool, has_buckets: bool) -> Self {
        let plain_schema = schema;
        let schema = format!("\"{}\"", schema.replace('"', "\"\""));
        let trails = ["trail", "trail_copy"].map(|name| format!("{schema}.{name}"));
        let buckets = format!("{schema}.buckets");
        let columns = "first, compacted, traces, sum";
        let trace = match has_buckets {
            true => format!(
                "WITH trail AS (INSERT INTO {} ({columns}) SELECT {step} RETURNING first), \
                 copy AS (INSERT INTO {} ({columns}) SELECT {step} RETURNING first) ",
                trails[0],
                trails[1],
                // A transaction that only finds out whether one can write leaves no trail. CockroachDB refuses an INSERT in a
                // WITH clause that returns nothing.
                step = "$7, $8, $9, $10 WHERE octet_length($9) > 0"
            ),
            false => String::new(),
        };
        let (log, head) = (format!("{schema}.log"), format!("{schema}.head"));
        // Planners that know nothing of the tables yet know at least that this is one row.
        let one_head = format!("(SELECT revision, compacted FROM {head} WHERE id = 1) h");
        // The clock of the server, so that all writers have the same; and not when the transaction began, which may have
        // waited long for those that come before it in the log.
        let sum = if has_sums { "sum" } else { "NULL::int8" };
        let get = |value: &str, condition: &str| {
            format!(
                "SELECT revision, action, {value}, {sum} FROM {log} \
                 WHERE key = $1 {condition} ORDER BY revision DESC LIMIT 1"
            )
        };
        let value = "CASE WHEN action <> 2 THEN value END";
        // A value and its half of the checksum are copied together.
        let (sum_column, new_sum, new_sums) = match has_sums {
            true => (
                ", sum",
                format!(
                    ", CASE WHEN n.value IS NULL \
                       THEN n.sum | ((SELECT o.sum FROM {log} o WHERE o.revision = n.earlier) & 4294967295) \
                       ELSE n.sum END"
                ),
                ("$1, $2, $3, $4, $5, $6", ", sum"),
            ),
            false => ("", String::new(), ("$1, $2, $3, $4, $5", "")),
        };
        let digest = match has_sums {
            true => ", digest = CASE WHEN digested = compacted THEN digest # $2 END, digested = $1",
            false => "",
        };
        let now = "(extract(epoch FROM clock_timestamp()) * 1000)::int8";
        Self {
            get: get("CASE WHEN action <> 2 AND octet_length(value) <= $2 THEN value END", ""),
            get_no_value: get("NULL::bytea", ""),
            before: get(value, "AND revision < $2"),
            value: format!("SELECT value, {sum} FROM {log} WHERE key = $1 AND revision = $2"),
            list: format!(
                "SELECT h.revision, h.compacted, l.revision, l.key, l.action, l.value, l.row_sum \
                 FROM {one_head} LEFT JOIN LATERAL ( \
                   SELECT revision, key, action, {sum} AS row_sum, \
                     CASE WHEN action <> 2 AND lag(key) OVER w IS DISTINCT FROM key AND {bytes_before} < $5 \
                       THEN value END AS value \
                   FROM (SELECT * FROM {log} \
                         WHERE key > $1 AND ($2::bytea IS NULL OR key < $2) AND revision <= $3 \
                         ORDER BY key, revision DESC LIMIT $4) r \
                   WINDOW w AS (ORDER BY key, revision DESC)) l ON true \
                 ORDER BY l.key, l.revision DESC",
                bytes_before = bytes_before("key, revision DESC"),
            ),
            changes: format!(
                "SELECT h.revision, h.compacted, l.revision, l.key, l.action, l.value, l.row_sum, l.bytes \
                 FROM {one_head} LEFT JOIN LATERAL ( \
                   SELECT revision, key, action, {sum} AS row_sum, octet_length(value) AS bytes, \
                     CASE WHEN {bytes_before} < $5 AND octet_length(value) <= $6 THEN value END AS value \
                   FROM (SELECT * FROM {log} \
                         WHERE revision > $1 ORDER BY revision LIMIT $2) r \
                   WHERE key >= $3 AND ($4::bytea IS NULL OR key < $4)) l ON true \
                 ORDER BY l.revision",
                bytes_before = bytes_before("revision"),
            ),
            is_unchanged: format!(
                "SELECT h.revision, h.compacted, NOT EXISTS ( \
                   SELECT 1 FROM (SELECT key FROM {log} WHERE revision > $1 ORDER BY revision LIMIT $2) r \
                   WHERE key > $3 AND ($4::bytea IS NULL OR key < $4) AND ($5::bytea IS NULL OR key <= $5)) \
                 FROM {one_head}"
            ),
            size: format!("SELECT pg_relation_size('{log}'::regclass)"),
            row: format!("SELECT revision, action, {value}, {sum} FROM {log}"),
            plan: format!("SELECT FROM {log} WHERE false"),
            drop_indexes: format!(
                "SET LOCAL lock_timeout = 2000; DROP INDEX {schema}.log_revision; DROP INDEX {schema}.log_key"
            ),
            head: format!("SELECT revision, compacted, format FROM {head}"),
            lock_head: format!("SELECT revision, compacted, format FROM {head} FOR UPDATE"),
            newest: format!(
                "SELECT k.key, l.revision, l.action FROM unnest($1) AS k(key), LATERAL ( \
                   SELECT revision, action FROM {log} WHERE log.key = k.key ORDER BY revision DESC LIMIT 1) l"
            ),
            append: format!(
                "{trace}INSERT INTO {log} (revision, key, action, value, at{sum_column}) \
                 SELECT n.revision, n.key, n.action, \
                   coalesce(n.value, (SELECT o.value FROM {log} o WHERE o.revision = n.earlier)), {now}{new_sum} \
                 FROM unnest({}) AS n(revision, key, action, value, earlier{})",
                new_sums.0, new_sums.1
            ),
            probe: format!("INSERT INTO {log} (revision, key, action, value, at) VALUES (-1, ''::bytea, 0, $1, 0)"),
            advance: format!("UPDATE {head} SET revision = $1"),
            // A row from the far future was written when the clock was wrong; it must not stop anything until then.
            forgettable: format!(
                "SELECT revision, key, action, coalesce(at > {now} - $2::int8 AND at <= {now} + $2::int8, false) \
                 FROM {log} WHERE revision > (SELECT compacted FROM {head} WHERE id = 1) ORDER BY revision LIMIT $1"
            ),
            // The order makes planners look into the index for each key.
            up_to: format!(
                "SELECT l.revision, k.key FROM unnest($1) AS k(key), LATERAL ( \
                   SELECT revision FROM {log} WHERE log.key = k.key AND revision <= $2 ORDER BY revision DESC) l"
            ),
            forget: format!("DELETE FROM {log} WHERE revision = ANY($1)"),
            mark_forgotten: format!("UPDATE {head} SET compacted = $1{digest}"),
            notify: format!("NOTIFY {schema}"),
            listen: format!("LISTEN {schema}"),
            digest: format!("SELECT digest, digested FROM {head}"),
            set_digest: format!("UPDATE {head} SET digest = $1, digested = $2 WHERE compacted = $2"),
            has_sums,
            has_buckets,
            clear_trails: trails.each_ref().map(|trail| {
                format!("DELETE FROM {trail} WHERE first + octet_length(traces) / 8 <= (SELECT compacted FROM {head})")
            }),
            read_buckets: format!("SELECT part, buckets FROM {buckets}"),
            update_buckets: format!(
                "UPDATE {buckets} b SET buckets = n.buckets FROM unnest($1, $2) AS n(part, buckets) WHERE b.part = n.part"
            ),
            insert_buckets: format!("INSERT INTO {buckets} (part, buckets) SELECT * FROM unnest($1, $2)"),
            // No row is read or written, but the rights are needed. A database that can only be read refuses the first INSERT
            // before it looks at them, so the right to read comes first.
            use_buckets: format!(
                "SELECT 1 FROM {trail}, {copy}, {buckets} WHERE false; \
                 INSERT INTO {trail} SELECT * FROM {trail} WHERE false; INSERT INTO {copy} SELECT * FROM {copy} WHERE false; \
                 DELETE FROM {trail} WHERE false; DELETE FROM {copy} WHERE false; \
                 INSERT INTO {buckets} SELECT * FROM {buckets} WHERE false; UPDATE {buckets} SET part = 0 WHERE false; \
                 DELETE FROM {buckets} WHERE false",
                trail = trails[0],
                copy = trails[1]
            ),
            create_buckets: format!(
                "CREATE TABLE {} ({trail_columns}); CREATE TABLE {} ({trail_columns}); \
                 CREATE TABLE {buckets} (part int2 NOT NULL, buckets bytea NOT NULL)",
                trails[0],
                trails[1],
                trail_columns =
                    "first int8 NOT NULL, compacted int8 NOT NULL, traces bytea NOT NULL, sum int8 NOT NULL"
            ),
            begin_buckets: begin_buckets(&trails, &buckets),
            trails,
            buckets,
            sum_columns: format!(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = '{}' \
                 AND (table_name, column_name) IN (('log', 'sum'), ('head', 'digest'), ('head', 'digested'))",
                plain_schema.replace('\'', "''")
            ),
            sums: format!("SELECT h.digest, h.digested, l.sum FROM {head} h, {log} l WHERE false"),
            add_sums: format!(
                "BEGIN; SET LOCAL lock_timeout = 2000; ALTER TABLE {log} ADD COLUMN sum int8; \
                 ALTER TABLE {head} ADD COLUMN digest int8; ALTER TABLE {head} ADD COLUMN digested int8; COMMIT"
            ),
            format: format!("SELECT format, revision FROM {head}"),
            begin_head: format!(
                "UPDATE {head} SET revision = {FIRST_HEAD}, compacted = {FIRST_HEAD} WHERE revision = 0"
            ),
            create_schema: format!("CREATE SCHEMA {schema}"),
            create_tables: format!(
                "CREATE TABLE {log} (revision int8 NOT NULL, key bytea NOT NULL, action int2 NOT NULL, \
                   value bytea NOT NULL, at int8 NOT NULL, sum int8); \
                 CREATE UNIQUE INDEX log_revision ON {log} (revision ASC); \
                 CREATE UNIQUE INDEX log_key ON {log} (key ASC, revision DESC); \
                 CREATE TABLE {head} (id int2 PRIMARY KEY CHECK (id = 1), format int4 NOT NULL, \
                   revision int8 NOT NULL, compacted int8 NOT NULL, digest int8, digested int8); \
                 INSERT INTO {head} (id, format, revision, compacted, digest, digested) \
                 VALUES (1, {FORMAT}, {FIRST_HEAD}, {FIRST_HEAD}, 0, {FIRST_HEAD})"
            ),
            log,
        }
    }

    /// The statements for tables that exist now, after creating them where they are missing.
    pub(super) async fn set_up(client: &Client, options: &PostgresOptions) -> Result<Self, StoreError> {
        let statements = Self::new(&options.schema, true, true);
        statements.create_missing(client, options).await?;
        let has_sums = statements.find_sums(client, options.create).await?;
        let has_buckets = has_sums && statements.find_buckets(client, options.create).await?;
        Ok(if has_buckets { statements } else { Self::new(&options.schema, has_sums, false) })
    }

    /// Whether there are buckets and a trail that this user may write, or read if the database can only be read; after adding them to tables of earlier releases where
    /// that is allowed. The trail begins with the next write, and the next check computes the buckets.
    async fn find_buckets(&self, client: &Client, may_add: bool) -> Result<bool, StoreError> {
        for is_second in [false, true] {
            match client.batch_execute(&self.use_buckets).await {
                Ok(()) => return Ok(true),
                // The right to write is not needed where every write is refused. The right to read was checked before.
                Err(error) if failure::is_read_only(&error) => return Ok(true),
                Err(error) if failure::is_table_missing(&error) && may_add && !is_second => {
                    // Another process may have added them, or this one may not: the next attempt finds out.
                    let create = format!("BEGIN; SET LOCAL lock_timeout = 2000; {}; COMMIT", self.create_buckets);
                    if client.batch_execute(&create).await.is_err() {
                        client.batch_execute("ROLLBACK").await.map_err(|error| failure::of_server(&error))?;
                    }
                }
                Err(error) if failure::is_lost(&error) => return Err(failure::of_server(&error)),
                // This release does without, as earlier ones do.
                Err(_) => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Whether rows have checksums, after adding the columns to tables of earlier releases where that is allowed. Those
    /// releases go on writing rows, without checksums.
    async fn find_sums(&self, client: &Client, may_add: bool) -> Result<bool, StoreError> {
        let mut may_add = may_add;
        loop {
            // The row of the head may be damaged.
            match client.query_typed(&self.sums, &[]).await {
                Ok(_) => return Ok(true),
                Err(error) if failure::is_column_missing(&error) && may_add => {
                    may_add = false;
                    // Another process may have added them, or this one may not: the next attempt finds out.
                    if client.batch_execute(&self.add_sums).await.is_err() {
                        client.batch_execute("ROLLBACK").await.map_err(|error| failure::of_server(&error))?;
                    }
                }
                Err(error) if failure::is_column_missing(&error) => return Ok(false),
                // Not even a statement that reads nothing can be planned if the first page of an index is lost.
                Err(error) if failure::is_damage(&error) => {
                    let found = client.query_typed(&self.sum_columns, &[]).await;
                    return found.map(|rows| rows.len() == 3).map_err(|error| failure::of_server(&error));
                }
                Err(error) => return Err(failure::of_server(&error)),
            }
        }
    }

    /// Makes the tables unless they are there, and sees that they are of a format that this release knows.
    ///
    /// Any number of processes may do this at once: all but one fail to make a table that another one made, and find it
    /// when they look again.
    async fn create_missing(&self, client: &Client, options: &PostgresOptions) -> Result<(), StoreError> {
        let schema = &*options.schema;
        let mut attempt = 1;
        loop {
            let found = match self.format(client).await {
                // A damaged head is found again when the structure is checked, which knows what else has its revision.
                Err(error) if *error.kind() == ErrorKind::Corrupt => return Ok(()),
                found => found?,
            };
            if let Some((format, revision)) = found {
                match check_format(format) {
                    // No release has written it: the head is damaged.
                    Err(error) if *error.kind() == ErrorKind::Corrupt => return Ok(()),
                    checked => checked?,
                }
                if revision == 0 {
                    // If this fails, as where the database can only be read, then lists are still right.
                    let _ = client.batch_execute(&self.begin_head).await;
                }
                return Ok(());
            }
            if !options.create {
                let message = format!("there is no store in the schema {schema}; is it the right one?");
                return Err(StoreError::new(ErrorKind::Setup, message));
            }
            match self.create(client, schema).await {
                Ok(()) => {}
                Err(error) if failure::is_made_by_another(&error) && attempt < SETUP_ATTEMPTS => attempt += 1,
                Err(error) => return Err(failure::of_setup(&error, schema)),
            }
        }
    }

    /// The format of the tables and the revision of the head; none if there are no tables.
    async fn format(&self, client: &Client) -> Result<Option<(i32, i64)>, StoreError> {
        match client.query_typed(&self.format, &[]).await {
            Ok(rows) => match rows.first() {
                Some(row) => {
                    let columns = row.try_get(0).and_then(|format| Ok((format, row.try_get(1)?)));
                    columns.map(Some).map_err(|error| failure::of_answer(&error))
                }
                None => Err(no_head()),
            },
            Err(error) if failure::is_table_missing(&error) => Ok(None),
            Err(error) => Err(failure::of_read(&error)),
        }
    }

    async fn create(&self, client: &Client, schema: &str) -> Result<(), tokio_postgres::Error> {
        // `IF NOT EXISTS` would ask for the right to create schemas although the schema is there.
        let known = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1";
        let is_known = !client.query_typed(known, &[(&schema, Type::TEXT)]).await?.is_empty();
        let create_schema = if is_known { "" } else { &self.create_schema };
        let Self { create_tables, create_buckets, begin_buckets, .. } = self;
        let whole = format!("BEGIN; {create_schema}; {create_tables}; {create_buckets}; {begin_buckets}; COMMIT");
        let created = client.batch_execute(&whole).await;
        if created.is_err() {
            client.batch_execute("ROLLBACK").await?;
        }
        created
    }
}

/// Gives the tables of a new store their first rows.
fn begin_buckets(trails: &[String; 2], buckets: &str) -> String {
    let hex = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let step = Step::new(FIRST_HEAD + 1, FIRST_HEAD, std::iter::empty());
    let step = format!("({}, {FIRST_HEAD}, '\\x'::bytea, {})", step.first, step.sum());
    let none = Buckets::of_none();
    let parts = (0..PARTS).map(|part| format!("({part}, '\\x{}'::bytea)", hex(none.part(part, FIRST_HEAD))));
    format!(
        "INSERT INTO {} VALUES {step}; INSERT INTO {} VALUES {step}; INSERT INTO {buckets} VALUES {}",
        trails[0],
        trails[1],
        parts.collect::<Vec<_>>().join(", ")
    )
}

/// That the one row is gone which everything depends on.
pub(super) fn no_head() -> StoreError {
    StoreError::new(ErrorKind::Corrupt, "the table head has no row: restore the schema from a backup")
}

/// Whether this release may use the tables whose head was locked: another one may have changed them.
pub(super) fn check_lock(head: &[Row]) -> Result<(), StoreError> {
    let head = head.first().ok_or_else(no_head)?;
    check_format(head.try_get(2).map_err(|error| failure::of_answer(&error))?)
}

/// Whether this release may use tables of a format. One that no release can have written is damage.
pub(super) fn check_format(format: i32) -> Result<(), StoreError> {
    if format == FORMAT {
        return Ok(());
    }
    let (kind, advice) = match (FORMAT..LAST_FORMAT).contains(&format) {
        true => (ErrorKind::Newer, "use the release that wrote them, or a later one"),
        false => (ErrorKind::Corrupt, "restore them from a backup"),
    };
    Err(StoreError::new(kind, format!("the tables are of format {format}, this release knows {FORMAT}: {advice}")))
}

/// The size of all values in the rows before one. Values that are stored beside their rows are not read for this.
fn bytes_before(order: &str) -> String {
    format!(
        "coalesce(sum(octet_length(value)) OVER (ORDER BY {order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)"
    )
}
