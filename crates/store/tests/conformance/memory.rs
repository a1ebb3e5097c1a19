//! The store in memory does what every store does.

use std::sync::Arc;

use wheelwright_store::{Answer, Memory, Store, conformance::Subject, conformance_tests};

struct InMemory(Memory);

impl Subject for InMemory {
    fn open(&self) -> Answer<'_, Arc<dyn Store>> {
        Box::pin(async { Ok(Arc::new(self.0.clone()) as Arc<dyn Store>) })
    }

    fn compact(&self) -> Answer<'_, bool> {
        Box::pin(async {
            self.0.compact();
            Ok(true)
        })
    }
}

conformance_tests!(async || InMemory(Memory::new()));
