//! What a check puts right beside a sound log: the digest, the buckets and the two tables of the trail.
//!
//! None of it is needed to read or write documents. It is written anew once the table log, its indexes, the head and the digest
//! are known to agree. A table of which PostgreSQL cannot read a page cannot be emptied by DELETE; its owner can truncate it.

use tokio_postgres::{Client, Error, types::Type};

use super::{
    connection::Parameters,
    failure, parts,
    rows::{self, Head},
    tables::{self, Statements},
    trail::Step,
};
use crate::buckets::Buckets;

/// What is kept of the rows up to `compacted`.
pub(super) struct Kept {
    pub(super) digest: i64,
    pub(super) buckets: Buckets,
}

/// What is to be written anew.
pub(super) struct Mending<'k> {
    /// The digest and the buckets.
    pub(super) kept: Option<&'k Kept>,
    /// Which tables of the trail are damaged.
    pub(super) trails: [bool; 2],
    /// Up to where the log was forgotten when it was read.
    pub(super) compacted: u64,
}

impl Mending<'_> {
    pub(super) fn is_needed(&self) -> bool {
        self.kept.is_some() || self.trails.contains(&true)
    }

    /// Writes what is wrong anew. If this fails for a reason that passes, the next check tries again.
    ///
    /// # Errors
    /// A table is damaged in a way that this user may not repair.
    pub(super) async fn run(&self, client: &Client, statements: &Statements) -> Result<(), Error> {
        for empty in ["DELETE FROM", "TRUNCATE"] {
            match self.write(client, statements, empty).await {
                Err(error) if failure::is_damage(&error) || failure::is_right_missing(&error) => {
                    if client.batch_execute("ROLLBACK").await.is_err() {
                        return Ok(());
                    }
                    if empty == "TRUNCATE" {
                        return Err(error);
                    }
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    async fn write(&self, client: &Client, statements: &Statements, empty: &str) -> Result<(), Error> {
        client.batch_execute(tables::BEGIN).await?;
        client.batch_execute("SET LOCAL lock_timeout = 2000").await?;
        let locked = client.query_typed(&statements.lock_head, &[]).await?;
        let Some(head) = rows::head(&locked).ok().filter(|head| head.compacted == self.compacted) else {
            return client.batch_execute("ROLLBACK").await;
        };
        if let Some(kept) = self.kept {
            let number = self.compacted as i64;
            let parameters: &Parameters<'_> = &[(&kept.digest, Type::INT8), (&number, Type::INT8)];
            client.execute_typed(&statements.set_digest, parameters).await?;
            if statements.has_buckets {
                client.batch_execute(&format!("{empty} {}", statements.buckets)).await?;
                parts::write(client, &statements.insert_buckets, &kept.buckets, self.compacted).await?;
            }
        }
        let [first, second] = &statements.trails;
        for (trail, other, is_damaged) in [(first, second, self.trails[0]), (second, first, self.trails[1])] {
            if is_damaged {
                let rows = match self.trails {
                    // Nothing shows the keys of the revisions so far any more, but the trail shows where the log ends.
                    [true, true] => end(head),
                    _ => format!("SELECT first, compacted, traces, sum FROM {other}"),
                };
                let sql = format!("{empty} {trail}; INSERT INTO {trail} (first, compacted, traces, sum) {rows}");
                client.batch_execute(&sql).await?;
            }
        }
        client.batch_execute("COMMIT").await
    }
}

/// The row of a trail that shows a head and no keys.
fn end(Head { revision, compacted }: Head) -> String {
    let step = Step::new(revision + 1, compacted, std::iter::empty());
    format!("VALUES ({}, {compacted}, ''::bytea, {})", step.first, step.sum())
}
