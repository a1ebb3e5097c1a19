//! The buckets of the rows up to `compacted`, in the table that has them in parts.

use tokio_postgres::{Client, Error, Row, types::Type};

use super::{connection::Parameters, rows};
use crate::buckets::{Buckets, PARTS};

/// The buckets of rows of part and bytes, as far as they are intact and of a revision.
pub(super) fn buckets(rows: &[Row], revision: u64) -> Buckets {
    let mut buckets = Buckets::unknown();
    for (part, bytes) in rows.iter().filter_map(part) {
        buckets.set_part(part, revision, bytes);
    }
    buckets
}

/// A part and its bytes.
pub(super) fn part(row: &Row) -> Option<(usize, &[u8])> {
    Some((usize::try_from(rows::column::<i16>(row, 0).ok()?).ok()?, rows::column(row, 1).ok()?))
}

/// Writes all parts with a statement that takes their numbers and their bytes.
pub(super) async fn write(client: &Client, statement: &str, buckets: &Buckets, revision: u64) -> Result<(), Error> {
    let (numbers, parts) = of(buckets, revision);
    let parameters: &Parameters<'_> = &[(&numbers, Type::INT2_ARRAY), (&parts, Type::BYTEA_ARRAY)];
    client.execute_typed(statement, parameters).await.map(drop)
}

fn of(buckets: &Buckets, revision: u64) -> (Vec<i16>, Vec<Vec<u8>>) {
    (0..PARTS).map(|number| (number as i16, buckets.part(number, revision))).unzip()
}
