//! Damage to the rows of a PostgreSQL store, by statements.

use tokio_postgres::Client;
use wheelwright_evolve::laws::Random;

use crate::strike::Damage;

impl Damage {
    /// Damages rows, and returns the revisions of the rows that were damaged.
    pub(crate) async fn strike_rows(self, client: &Client, schema: &str, random: &mut Random) -> Vec<u64> {
        let sql = format!("SELECT revision, key FROM {schema}.log ORDER BY revision");
        let rows = client.query(&sql, &[]).await.unwrap();
        let mut rows: Vec<(i64, Vec<u8>)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let mut struck = Vec::new();
        for _ in 0..1 + random.below(4) {
            let one = rows[random.below(rows.len())].clone();
            if self == Self::NewestRemoved {
                let newest = rows.iter().rposition(|row| row.1 == one.1).unwrap();
                let revision = rows.remove(newest).0;
                client.batch_execute(&format!("DELETE FROM {schema}.log WHERE revision = {revision}")).await.unwrap();
                struck.push(revision as u64);
                continue;
            }
            let is_other =
                |other: &&(i64, Vec<u8>)| other.0 != one.0 && (self != Self::ValuesOfOneKeySwapped || other.1 == one.1);
            let others: Vec<_> = rows.iter().filter(is_other).collect();
            if others.is_empty() {
                continue;
            }
            let (one, other) = (one.0, others[random.below(others.len())].0);
            let sql = match self {
                Self::RevisionsSwapped => format!(
                    "UPDATE {schema}.log SET revision = -1 WHERE revision = {one};
                     UPDATE {schema}.log SET revision = {one} WHERE revision = {other};
                     UPDATE {schema}.log SET revision = {other} WHERE revision = -1"
                ),
                _ => format!(
                    "UPDATE {schema}.log l SET value = o.value FROM {schema}.log o
                     WHERE (l.revision, o.revision) IN (({one}, {other}), ({other}, {one}))"
                ),
            };
            client.batch_execute(&sql).await.unwrap();
            struck.extend([one as u64, other as u64]);
        }
        struck
    }
}
