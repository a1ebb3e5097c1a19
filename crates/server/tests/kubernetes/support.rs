//! A server of some kinds in a store in memory.

use std::{
    env,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::sync::oneshot;
use wheelwright_catalog::{Catalog, LOCK_FILE};
use wheelwright_evolve::{Hooks, Kind};
use wheelwright_repository::{Repository, ServedKind};
use wheelwright_server::{Limits, Server};
use wheelwright_store::{Memory, Store};

/// A server that ends when this is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) store: Memory,
    pub(crate) repository: Repository,
    _end: oneshot::Sender<()>,
}

impl Running {
    /// A server of the kinds of a catalog in a folder.
    pub(crate) async fn of(folder: &Path) -> Self {
        assert!(!folder.join(LOCK_FILE).exists(), "a catalog without a lock");
        let catalog = Catalog::load(&[folder]).expect("a catalog");
        let findings: Vec<_> = catalog.findings().iter().map(|finding| &finding.message).collect();
        assert!(findings.is_empty(), "{findings:?}");
        Self::of_catalog(&catalog).await
    }

    /// A server of the kinds of a catalog that has no lock.
    pub(crate) async fn of_catalog(catalog: &Catalog) -> Self {
        Self::with_hooks(catalog, &Hooks::default()).await
    }

    /// A server of the kinds of a catalog whose changes call hooks.
    pub(crate) async fn with_hooks(catalog: &Catalog, hooks: &Hooks) -> Self {
        let store = Memory::new();
        let repository = Repository::new(Arc::new(store.clone()) as Arc<dyn Store>, kinds(catalog, hooks));
        Self::serve(store, repository, Limits::default()).await
    }

    /// Another server of the same store.
    pub(crate) async fn beside(&self, limits: Limits) -> Self {
        Self::serve(self.store.clone(), self.repository.clone(), limits).await
    }

    async fn serve(store: Memory, repository: Repository, limits: Limits) -> Self {
        let server = Server::new(repository.clone()).with_limits(limits);
        let serving = server.bind(([127, 0, 0, 1], 0).into()).await.expect("a free port");
        let address = serving.address();
        let (end, ended) = oneshot::channel();
        tokio::spawn(serving.run(async move {
            let _ = ended.await;
        }));
        Self { address, store, repository, _end: end }
    }
}

fn kinds(catalog: &Catalog, hooks: &Hooks) -> Vec<ServedKind> {
    let kinds = catalog.kinds().iter().map(|declared| {
        let (kind, problems) = Kind::compile_with(&declared.declaration, None, hooks);
        assert!(problems.is_empty(), "{problems:?}");
        ServedKind::new(kind.expect("there are versions"), declared).expect("a name for keys")
    });
    kinds.collect()
}

/// What was recorded from a real API server; none if it is not there.
pub(crate) fn recordings() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = env::var_os("WHEELWRIGHT_SHARED").map_or(beside, PathBuf::from).join("conformance/http");
    folder.is_dir().then_some(folder)
}
