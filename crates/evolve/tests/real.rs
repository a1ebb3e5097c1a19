//! The versions of real CustomResourceDefinitions, locked one after the other, are read back from the lock as they are.
//!
//! They are in the folder that `WHEELWRIGHT_SHARED` names, or in `shared` beside the repository.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use wheelwright_document::{Arena, Decode, Owned, Span, Value, decode_json_spanned};
use wheelwright_evolve::{Declaration, DeclaredVersion, History, Lock, VersionName, check::check_unconverted};
use wheelwright_findings::Level;
use wheelwright_schema::{Program, Root, lower_definition};

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

/// Fields that are gone or of another shape are facts; everything else that is an error has to come with a document, which
/// the schemas alone judge here.
#[test]
#[expect(clippy::print_stdout, reason = "says how many there were, or that they were skipped")]
fn errors_between_real_versions_are_shown_by_documents() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = env::var_os("WHEELWRIGHT_SHARED").map_or(beside, PathBuf::from).join("conformance/crds");
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("errors between real versions: SKIPPED");
        return;
    };
    let (mut kinds, mut facts, mut shown) = (0, 0, 0);
    for entry in entries {
        let bytes = fs::read(entry.expect("a readable folder").path()).expect("a readable file");
        let arena = Arena::new();
        let source = decode_json_spanned(&bytes, &arena, &Decode::default()).expect("a definition is JSON");
        let definition = lower_definition(&source).expect("a definition").item;
        let mut declaration = Declaration::new(definition.group.text.clone(), definition.kind.text.clone());
        let mut versions = definition.versions;
        if versions.len() < 2 {
            continue;
        }
        kinds += 1;
        versions.sort_by_key(|version| VersionName::new(version.name.text.clone()));
        // As stable versions, so that nothing is lowered.
        for (position, version) in versions.into_iter().enumerate() {
            let name = VersionName::new(format!("v{}", position + 1));
            let schema = version.schema.unwrap_or_default();
            declaration.versions.push(DeclaredVersion::new(name, schema, Root::Resource, Span::default()));
        }
        let (history, _) = History::derive(&declaration, None);
        for found in check_unconverted(&declaration, &history).iter().filter(|found| found.level == Level::Error) {
            if ["WW150", "WW151", "WW152"].contains(&found.rule().id) {
                facts += 1;
                continue;
            }
            let message = format!("{}: {} {}", declaration.kind, found.rule().id, found.message());
            let example = found.example.as_ref().filter(|_| found.is_proven()).expect(&message);
            let other = found.other.as_ref().expect(&message);
            let accepting = if example.version == found.version { &found.version } else { other };
            let refusing = if example.version == found.version { other } else { &found.version };
            let admit = |version: &VersionName, arena: &Arena| {
                let declared = declaration.version(version.as_str()).expect(&message);
                let program = Program::compile(&declared.schema, Root::Resource);
                let document = with_api_version(&example.document, &declaration.api_version(version));
                program.admit(document.share(arena), arena).is_ok_and(|admitted| admitted.errors.is_empty())
            };
            // What readers fill in is refused where it is filled in.
            if found.rule().id == "WW161" {
                assert!(!admit(&example.version, &Arena::new()), "{message}");
                shown += 1;
                continue;
            }
            assert!(admit(accepting, &Arena::new()), "{message}");
            let is_update = example.refusal.as_ref().is_some_and(|refusal| refusal.starts_with("as an update"));
            assert!(is_update || !admit(refusing, &Arena::new()), "{message}");
            shown += 1;
        }
    }
    println!("errors between the versions of {kinds} real kinds: {facts} fields gone, {shown} shown by documents");
}

fn with_api_version(document: &Owned, api_version: &str) -> Owned {
    let Owned::Object(fields) = document else { return document.clone() };
    let text = Value::string(api_version);
    let field = |(name, value): &(Box<str>, Owned)| match &**name {
        "apiVersion" => (name.clone(), Owned::from(text)),
        _ => (name.clone(), value.clone()),
    };
    Owned::Object(fields.iter().map(field).collect())
}
