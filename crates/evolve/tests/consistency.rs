//! All ways to a document agree on every default of the definitions that are recorded, if those are there.

use std::{env, fs, path::Path};

use wheelwright_document::{Arena, Decode, decode_yaml};
use wheelwright_evolve::{Declaration, DeclaredVersion, Kind, VersionName};
use wheelwright_schema::{Root, lower_definition};

#[test]
fn no_recorded_definition_is_broken() {
    let shared = env::var_os("WHEELWRIGHT_SHARED").unwrap_or_else(|| "../../../shared".into());
    let files = fs::read_dir(Path::new(&shared).join("conformance/crds")).into_iter().flatten().flatten();
    for file in files.map(|file| file.path()) {
        let bytes = fs::read(&file).unwrap();
        for kind in kinds(&bytes) {
            let consistency = kind.consistency().unwrap();
            assert!(consistency.broken.is_empty(), "{}: {:?}", file.display(), consistency.broken);
            let fields = consistency.agreements + consistency.on_purpose.len();
            assert!(fields > 0 || kind.history().fields.is_empty(), "{}", file.display());
        }
    }
}

fn kinds(bytes: &[u8]) -> Vec<Kind> {
    let arena = Arena::new();
    let decode = Decode { max_bytes: 64 << 20, ..Decode::default() };
    let documents = decode_yaml(bytes, &arena, &decode).expect("recorded definitions are YAML");
    let definitions = documents.iter().filter_map(|document| lower_definition(document).ok());
    let kinds = definitions.filter_map(|definition| {
        let mut declaration = Declaration::new(&*definition.item.group.text, &*definition.item.kind.text);
        for version in definition.item.versions {
            let name = VersionName::new(version.name.text);
            let schema = version.schema?;
            declaration.versions.push(DeclaredVersion::new(name, schema, Root::Resource, Default::default()));
        }
        Kind::compile(&declaration, None).0
    });
    kinds.collect()
}
