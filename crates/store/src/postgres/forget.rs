//! Forgetting what was superseded longer ago than the history that is wanted.

use std::collections::{HashMap, HashSet};

use tokio::time::timeout;
use tokio_postgres::{Client, Error, Row, types::Type};

use super::{
    connection::Parameters,
    failure, parts, rows, tables,
    writer::{Trouble, Writer, at_commit, before_commit, of_answer},
};
use crate::{StoreError, buckets::KeyHash, log::Action, sum};

/// The most rows that are forgotten at once: others wait for this long.
const FORGET_ROWS: i64 = 500;

impl Writer {
    /// Forgets a portion of what is older than the history that is wanted. Says whether there may be more.
    pub(super) async fn forget_old(&mut self) -> Result<bool, StoreError> {
        // A damaged index may hide rows of what is forgotten, which would be back then.
        if !self.shared.structure.is_sound() {
            return Ok(false);
        }
        // The database adds it to the time.
        let age = i64::try_from(self.shared.options.history.as_millis()).unwrap_or(i64::MAX).min(i64::MAX / 2);
        // Most of the time there is nothing to forget, and no reason to lock anything.
        let first: &Parameters<'_> = &[(&1_i64, Type::INT8), (&age, Type::INT8)];
        let found = self.shared.readers.query(&self.shared.statements.forgettable, first).await?;
        let is_due = count_old(&found).map_err(|error| failure::of_answer(&error))? > 0;
        Ok(is_due && self.forget(Some(age)).await?)
    }

    pub(super) async fn forget_all(&mut self) -> Result<(), StoreError> {
        self.shared.structure.check_sound()?;
        while self.forget(None).await? {}
        Ok(())
    }

    async fn forget(&mut self, age: Option<i64>) -> Result<bool, StoreError> {
        let client = self.client().await?;
        let done = timeout(self.shared.connector.patience, self.forget_portion(&client, age)).await;
        match done.unwrap_or_else(|_| Err(Trouble::Ended(failure::too_slow()))) {
            Ok(is_more) => {
                if !is_more {
                    self.clear_trails(&client).await;
                }
                Ok(is_more)
            }
            Err(Trouble::Lost(error) | Trouble::Ended(error)) => {
                self.client = None;
                Err(error)
            }
            Err(Trouble::Again(error) | Trouble::Refused(error)) => {
                self.undo(&client).await;
                Err(error)
            }
        }
    }

    /// Deletes what the trail has of revisions that are forgotten. If this fails, it is deleted the next time.
    async fn clear_trails(&mut self, client: &Client) {
        let statements = &self.shared.statements;
        if !statements.has_buckets {
            return;
        }
        let clear = async {
            for statement in &statements.clear_trails {
                client.batch_execute(statement).await?;
            }
            Ok::<_, Error>(())
        };
        if !matches!(timeout(self.shared.connector.patience, clear).await, Ok(Ok(()))) {
            self.client = None;
        }
    }

    /// What is forgotten and that it is forgotten is committed together, so that nobody reads a log with holes.
    async fn forget_portion(&self, client: &Client, age: Option<i64>) -> Result<bool, Trouble> {
        let statements = &self.shared.statements;
        let forgettable: &Parameters<'_> = &[(&FORGET_ROWS, Type::INT8), (&age, Type::INT8)];
        let (begun, head, found) = tokio::join!(
            biased;
            client.batch_execute(tables::BEGIN),
            client.query_typed(&statements.lock_head, &[]),
            client.query_typed(&statements.forgettable, forgettable),
        );
        begun.map_err(before_commit)?;
        let (head, found) = (head.map_err(before_commit)?, found.map_err(before_commit)?);
        tables::check_lock(&head).map_err(Trouble::Refused)?;
        let compacted: i64 = head[0].try_get(1).map_err(of_answer)?;
        let found = &found[..count_old(&found).map_err(of_answer)?];
        let Some(last) = found.last() else {
            client.batch_execute("ROLLBACK").await.map_err(before_commit)?;
            return Ok(false);
        };
        let upto: i64 = last.try_get(0).map_err(of_answer)?;
        let (mut garbage, mut newest) = (Vec::new(), HashMap::new());
        let mut deleted = HashSet::new();
        for row in found {
            let revision: i64 = row.try_get(0).map_err(of_answer)?;
            let key: &[u8] = row.try_get(1).map_err(of_answer)?;
            garbage.extend(newest.insert(key, revision));
            if rows::action(row, 2).map_err(Trouble::Refused)? == Action::Deleted {
                garbage.push(revision);
                deleted.insert(revision);
            }
        }
        // The digest of the rows that are kept: with those that are from now on, and without those of before that are deleted.
        let added: Vec<(&[u8], i64)> = newest
            .iter()
            .filter(|(_, revision)| !deleted.contains(*revision))
            .map(|(key, revision)| (*key, *revision))
            .collect();
        let mut digest = added.iter().fold(0, |digest, (key, revision)| digest ^ sum::digest(*revision, key));
        // Of what was forgotten before, a key has kept one row. All are asked for: one that stayed when a removal is
        // forgotten would bring back what was removed.
        let keys: Vec<&[u8]> = newest.into_keys().collect();
        let kept: &Parameters<'_> = &[(&keys, Type::BYTEA_ARRAY), (&compacted, Type::INT8)];
        let parts = async {
            match statements.has_buckets {
                true => client.query_typed(&statements.read_buckets, &[]).await,
                false => Ok(Vec::new()),
            }
        };
        let (superseded, parts) = tokio::join!(biased; client.query_typed(&statements.up_to, kept), parts);
        let mut buckets = parts::buckets(&parts.map_err(before_commit)?, compacted as u64);
        for (key, revision) in &added {
            buckets.toggle((KeyHash::of_bytes(key), *revision as u64));
        }
        for row in superseded.map_err(before_commit)? {
            let (revision, key): (i64, &[u8]) =
                (row.try_get(0).map_err(of_answer)?, row.try_get(1).map_err(of_answer)?);
            digest ^= sum::digest(revision, key);
            buckets.toggle((KeyHash::of_bytes(key), revision as u64));
            garbage.push(revision);
        }
        let garbage: &Parameters<'_> = &[(&garbage, Type::INT8_ARRAY)];
        let mark: &Parameters<'_> = &[(&upto, Type::INT8), (&digest, Type::INT8)];
        let mark = &mark[..if statements.has_sums { 2 } else { 1 }];
        let kept = async {
            match buckets.are_known() {
                true => parts::write(client, &statements.update_buckets, &buckets, upto as u64).await,
                // The next check computes them.
                false => Ok(()),
            }
        };
        let (forgotten, kept, marked, committed) = tokio::join!(
            biased;
            client.execute_typed(&statements.forget, garbage),
            kept,
            client.execute_typed(&statements.mark_forgotten, mark),
            client.batch_execute("COMMIT"),
        );
        forgotten.map_err(at_commit)?;
        kept.map_err(at_commit)?;
        marked.map_err(at_commit)?;
        committed.map_err(at_commit)?;
        Ok(found.len() as i64 == FORGET_ROWS)
    }
}

/// How many of the rows that come first are old. One that is not keeps those after it, although a clock that was wrong may
/// say that they are older: the log is forgotten up to a revision.
fn count_old(found: &[Row]) -> Result<usize, Error> {
    for (count, row) in found.iter().enumerate() {
        if row.try_get(3)? {
            return Ok(count);
        }
    }
    Ok(found.len())
}
