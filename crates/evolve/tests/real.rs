//! The versions of real CustomResourceDefinitions, locked one after the other, are read back from the lock as they are.
//!
//! They are in the folder that `WHEELWRIGHT_SHARED` names, or in `shared` beside the repository.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use wheelwright_document::{Arena, Decode, Span, decode_json_spanned};
use wheelwright_evolve::{Declaration, DeclaredVersion, History, Lock, VersionName};
use wheelwright_schema::{Root, lower_definition};

#[test]
#[expect(clippy::print_stdout, reason = "says how many there were, or that they were skipped")]
fn real_definitions_are_locked_and_read_back() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = env::var_os("WHEELWRIGHT_SHARED").map_or(beside, PathBuf::from).join("conformance/crds");
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("locked definitions: SKIPPED");
        return;
    };
    let mut lock = Lock::default();
    for entry in entries {
        let bytes = fs::read(entry.expect("a readable folder").path()).expect("a readable file");
        let arena = Arena::new();
        let source = decode_json_spanned(&bytes, &arena, &Decode::default()).expect("a definition is JSON");
        let definition = lower_definition(&source).expect("a definition").item;
        let (group, kind) = (definition.group.text.clone(), definition.kind.text.clone());
        let mut declaration = Declaration::new(group.clone(), kind.clone());
        for version in definition.versions {
            let name = VersionName::new(version.name.text);
            let schema = version.schema.unwrap_or_default();
            declaration.versions.push(DeclaredVersion::new(name, schema, Root::Resource, Span::default()));
            let (history, problems) = History::derive(&declaration, lock.history(&group, &kind).as_ref());
            assert!(problems.is_empty(), "{kind}: {problems:?}");
            lock = lock.grow(&declaration, &history, None).expect("new versions are no contradiction");
            let mut read = lock.history(&group, &kind).expect("it is locked");
            read.versions.iter_mut().for_each(|version| version.declared = true);
            assert!(read == history, "{kind} is read back as something else");
        }
    }
    let text = lock.to_string();
    let (read, problems) = Lock::parse(&text);
    assert!(problems.is_empty(), "{problems:?}");
    assert!(read == lock);
    println!("locked definitions: {} in {} lines", lock.kinds().len(), text.lines().count());
}
