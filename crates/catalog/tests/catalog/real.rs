//! Real definitions and documents, where the folder `shared` stands beside the repository or `WHEELWRIGHT_SHARED` names it.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};

use wheelwright_catalog::Catalog;
use wheelwright_findings::Level;

use crate::support::shown;

fn shared() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    env::var_os("WHEELWRIGHT_SHARED").map_or(beside, PathBuf::from)
}

#[test]
fn every_definition_is_a_kind() {
    let folder = shared().join("conformance/crds");
    let Ok(files) = fs::read_dir(&folder) else { return };
    let catalog = Catalog::load(&[&folder]).unwrap();
    assert!(catalog.findings().is_empty(), "{}", shown(&catalog));
    assert_eq!(catalog.kinds().len(), files.count());
    assert!(catalog.kinds().iter().all(|kind| !kind.declaration.versions.is_empty()));
}

#[test]
fn documents_of_several_versions_are_kinds_of_an_api() {
    let folder = shared().join("real-apis/aro-hcp/api/redhatopenshift/resource-manager/Microsoft.RedHatOpenShift");
    let Ok(versions) = fs::read_dir(folder.join("hcpopenshiftclusters/preview")) else { return };
    let mut files: Vec<_> = versions.map(|entry| entry.unwrap().path().join("openapi.json")).collect();
    files.sort();
    let catalog = Catalog::load(&files).unwrap();
    assert!(catalog.findings().is_empty(), "{}", shown(&catalog));
    assert!(catalog.schema_findings().iter().all(|finding| finding.level < Level::Error), "{}", shown(&catalog));
    let kind = |name: &str| catalog.kinds().iter().find(|kind| &*kind.declaration.kind == name).unwrap();
    let pool = &kind("NodePool").declaration;
    assert_eq!(pool.versions.len(), files.len());
    assert!(pool.order.is_none(), "dates tell the order");
    let names: BTreeSet<_> = catalog.kinds().iter().map(|kind| &*kind.declaration.kind).collect();
    assert!(!names.contains("NodePoolProperties") && !names.contains("NodePoolListResult"), "{names:?}");
}
