//! Files that are only in memory, and folders that are gone afterwards.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use wheelwright_catalog::{Catalog, Source, files};
use wheelwright_findings::{Findings, render_text};
use wheelwright_schema::{Refused, Tree};

/// The definition of a kind `Cart` with two versions.
pub(crate) const CARTS: &str = include_str!("files/carts.yaml");

/// Swagger documents of a kind `Cart` in two versions, and what they refer to.
pub(crate) const SPECS: [(&str, &str); 3] = [
    ("specs/2024-06-10.json", include_str!("files/2024-06-10.json")),
    ("specs/2025-01-01.json", include_str!("files/2025-01-01.json")),
    ("specs/common.json", include_str!("files/common.json")),
];

/// Files by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(BTreeMap<PathBuf, Vec<u8>>);

impl Memory {
    pub(crate) fn new<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Self {
        Self(files.into_iter().map(|(name, text)| (name.into(), text.into())).collect())
    }

    /// Everything that examples refer to, and some more files.
    pub(crate) fn shop<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Self {
        let [persons, parties] = [("Person", "v1"), ("Party", "v2")].map(|(kind, version)| definition(kind, version));
        let mut shop = Self::new([("crds/carts.yaml", CARTS), ("changes/carts.yaml", "v2: {}\n")]);
        shop.0.extend(Self::new([("crds/persons.yaml", &*persons), ("crds/parties.yaml", &*parties)]).0);
        shop.0.extend(Self::new([("changes/parties.yaml", "v2: {}\n")]).0);
        shop.0.extend(Self::new(SPECS).0);
        shop.0.extend(Self::new(files).0);
        shop
    }

    pub(crate) fn load(&self, path: &str) -> Catalog {
        Catalog::load_from(self, &[path]).unwrap()
    }
}

impl Source for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.as_os_str().is_empty() || self.0.keys().any(|file| file.starts_with(path) && file != path)
    }

    fn files(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(self.0.keys().filter(|file| file.starts_with(folder)).cloned().collect())
    }

    fn tree(&self, _file: &Path) -> Box<dyn Tree + '_> {
        struct Everything<'m>(&'m Memory);
        impl Tree for Everything<'_> {
            fn locate(&self, from: &str, reference: &str) -> Result<String, Refused> {
                let folder = Path::new(from).parent().unwrap_or(Path::new(""));
                Ok(folder.join(reference).to_string_lossy().into_owned())
            }

            fn read(&self, name: &str) -> Result<Vec<u8>, String> {
                self.0.read(Path::new(name)).map_err(|_| "there is no such file".to_owned())
            }
        }
        Box::new(Everything(self))
    }

    fn display(&self, path: &Path) -> String {
        files::display(path)
    }
}

/// The definition of a kind with one version.
pub(crate) fn definition(kind: &str, version: &str) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.crm.example.com}}\n\
         spec:\n  group: crm.example.com\n  names: {{kind: {kind}, plural: {plural}}}\n  scope: Cluster\n  versions:\n  \
         - {{name: {version}, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}\n"
    )
}

/// What is wrong with a catalog without a lock, as people see it.
pub(crate) fn shown(catalog: &Catalog) -> String {
    let findings: Findings = all_findings(catalog).into_iter().collect();
    let mut text = Vec::new();
    render_text(&findings, &catalog.sources(), false, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The rules that a catalog without a lock breaks.
pub(crate) fn broken(catalog: &Catalog) -> Vec<&'static str> {
    all_findings(catalog).iter().map(|finding| finding.rule.id).collect()
}

fn all_findings(catalog: &Catalog) -> Vec<wheelwright_findings::Finding> {
    let unknown = catalog.unknown_versions(|_, _| false).into_iter().chain(catalog.unknown_names(|_, _| false));
    catalog.findings().iter().chain(catalog.schema_findings()).cloned().chain(unknown).collect()
}

/// A folder of its own that is gone afterwards.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("wheelwright-catalog-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
