//! What every driver must do, with hints and without.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use wheelwright_store::{Answer, Postgres, PostgresOptions, Store, conformance::Subject, testing::PostgresServer};

use crate::support::polls_only;

const MAX_VALUE_BYTES: usize = 1 << 20;

/// An empty schema.
struct Schema {
    address: String,
    options: PostgresOptions,
}

impl Schema {
    fn new(options: PostgresOptions) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("conformance_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        // Many tests share one server.
        let options = PostgresOptions { max_value_bytes: MAX_VALUE_BYTES, read_connections: 1, ..options };
        Self { address: PostgresServer::shared().address(&name), options }
    }
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
        Some(MAX_VALUE_BYTES + 1)
    }
}

mod with_hints {
    use super::{PostgresOptions, Schema};

    wheelwright_store::conformance_tests!(async || Schema::new(PostgresOptions::default()));
}

mod without_hints {
    use super::{Schema, polls_only};

    wheelwright_store::conformance_tests!(async || Schema::new(polls_only()));
}
