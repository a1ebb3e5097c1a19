//! PostgreSQL does what every store does, also when watches only poll.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use wheelwright_store::{
    Answer, Postgres, PostgresOptions, Store, conformance::Subject, conformance_tests, testing::PostgresServer,
};

struct Schema {
    address: String,
    options: PostgresOptions,
}

impl Subject for Schema {
    fn open(&self) -> Answer<'_, Arc<dyn Store>> {
        Box::pin(async {
            let store = Postgres::connect(&self.address, self.options.clone()).await?;
            Ok(Arc::new(store) as Arc<dyn Store>)
        })
    }

    fn compact(&self) -> Answer<'_, bool> {
        Box::pin(async {
            Postgres::connect(&self.address, self.options.clone()).await?.compact().await?;
            Ok(true)
        })
    }

    fn too_large(&self) -> Option<usize> {
        Some(self.options.max_value_bytes + 1)
    }
}

/// A schema that no other test has.
fn schema(options: PostgresOptions) -> Schema {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("conformance_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    Schema { address: PostgresServer::shared().address(&name), options }
}

conformance_tests!(async || schema(PostgresOptions::default()));

mod without_hints {
    use super::*;

    conformance_tests!(async || {
        schema(PostgresOptions { hints: false, poll_interval: Duration::from_millis(5), ..PostgresOptions::default() })
    });
}
