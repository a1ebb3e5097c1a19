//! Node pools: what no version may lose or make up, shown on `examples/openapi-defaults` and, where they are there, on the four
//! real documents of ARO-HCP.

mod shared;

use std::{collections::BTreeMap, fs, path::Path};

use shared::{aro_hcp, shared};
use wheelwright::{
    catalog::Catalog,
    document::{Arena, Value, canonical, decode},
    evolve::{Declaration, History, Kind, Lenses, Lock, Part, RefusedBecause, VersionIndex, Zeros, laws::Laws},
};

/// Pools in names that all versions of all catalogs share; `diskType` is not in the oldest ones.
const POOLS: [&str; 4] = [
    r#"{"name":"plain","properties":{"platform":{"vmSize":"D4s"}}}"#,
    r#"{"name":"zero","properties":{"replicas":0,"autoRepair":false,"platform":{"vmSize":"D4s","osDisk":{}}}}"#,
    r#"{"name":"fast","properties":{"platform":{"vmSize":"D8s","osDisk":{"diskType":"Ephemeral","sizeGiB":128}}}}"#,
    r#"{"name":"odd"}"#,
];
const ZERO: &str = POOLS[1];
const FAST: &str = POOLS[2];

#[test]
fn a_pool_created_at_any_version_reads_at_every_other_as_its_normal_form() {
    for pools in everywhere() {
        for (hub, lenses) in pools.hubs() {
            for (from, to, text) in pools.pairs(&POOLS) {
                let arena = Arena::new();
                let written = pools.normal(from, json(text, &arena), &arena);
                let stored = lenses.put(from, written, None, Part::Whole, &arena).unwrap();
                let shown = lenses.get(to, stored, &arena);
                let expected = pools.normal(to, written, &arena);
                let names = [hub, from, to].map(|version| pools.name(version));
                assert_eq!(spelled(shown), spelled(expected), "hub, from, to: {names:?}");
            }
        }
    }
}

#[test]
fn what_is_zero_survives_get_then_put_through_every_version() {
    for pools in everywhere() {
        for (_, lenses) in pools.hubs() {
            for (from, via, text) in pools.pairs(&[ZERO]) {
                let arena = Arena::new();
                let written = pools.normal(from, json(text, &arena), &arena);
                let stored = lenses.put(from, written, None, Part::Whole, &arena).unwrap();
                let shown = lenses.get(via, stored, &arena);
                let written = pools.kind.normal_update(via, shown, shown, &arena).unwrap();
                let after = lenses.put(via, written, Some(stored), Part::Whole, &arena).unwrap();
                assert_eq!(spelled(after), spelled(stored));
                for version in pools.kind.history().indexes() {
                    let pool = lenses.get(version, after, &arena);
                    assert_eq!(at(pool, "properties.autoRepair"), "false");
                    assert_eq!(at(pool, "properties.replicas"), "0");
                }
            }
        }
    }
}

#[test]
fn a_put_through_the_oldest_version_keeps_the_disk_type_that_it_cannot_say() {
    let edits = [
        r#"{"name":"fast","properties":{"replicas":5,"platform":{"vmSize":"D8s","osDisk":{"sizeGiB":128}}}}"#,
        r#"{"name":"fast","properties":{"replicas":5,"platform":{"vmSize":"D8s"}}}"#,
    ];
    for pools in everywhere() {
        for (_, lenses) in pools.hubs() {
            for (edit, size) in edits.into_iter().zip(["128", "64"]) {
                let arena = Arena::new();
                let written = pools.normal(pools.newest(), json(FAST, &arena), &arena);
                let stored = lenses.put(pools.newest(), written, None, Part::Whole, &arena).unwrap();
                let shown = lenses.get(pools.oldest(), stored, &arena);
                assert_eq!(at(shown, "properties.platform.osDisk.diskType"), "absent");
                let written = pools.kind.normal_update(pools.oldest(), json(edit, &arena), shown, &arena).unwrap();
                let stored = lenses.put(pools.oldest(), written, Some(stored), Part::Whole, &arena).unwrap();
                let pool = lenses.get(pools.newest(), stored, &arena);
                assert_eq!(at(pool, "properties.platform.osDisk.diskType"), "\"Ephemeral\"");
                assert_eq!(at(pool, "properties.platform.osDisk.sizeGiB"), size);
                assert_eq!(at(pool, "properties.replicas"), "5");
            }
        }
    }
}

#[test]
fn records_from_before_a_field_read_as_its_default_and_are_not_touched_by_reading() {
    for pools in everywhere() {
        let oldest = pools.name(pools.oldest()).to_owned();
        let lock = pools.locked(|version| version == oldest);
        let (before, _) = Kind::compile(&pools.only(|version| version == oldest), None);
        let before = before.expect("it has a version");
        let locked = lock.kind("", "NodePool").expect("it is locked");
        let (kind, problems) = Kind::compile(&pools.declaration, Some((locked.history(), locked.hub())));
        assert!(problems.is_empty(), "{problems:?}");
        let kind = kind.expect("it has versions");
        assert_eq!(kind.lenses().hub(), pools.oldest(), "a hub moves only when it is told to");
        let moved = kind.lenses_for(pools.newest());
        for text in POOLS.iter().filter(|text| text.contains("platform")) {
            let arena = Arena::new();
            let version = before.version(&oldest).expect("it is the only one");
            let written = before.normal(version, json(text, &arena), &arena).unwrap();
            let stored = before.put(version, written, None, Part::Whole, &arena).unwrap();
            for version in kind.history().indexes().skip(1) {
                let rehubbed = kind.lenses().rehub(stored, &moved, &arena);
                for shown in [kind.get(version, stored, &arena), moved.get(version, rehubbed, &arena)] {
                    assert_eq!(at(shown, "properties.platform.osDisk.diskType"), "\"Managed\"");
                    let written = kind.normal_update(version, shown, shown, &arena).unwrap();
                    let after = kind.put(version, written, Some(stored), Part::Whole, &arena).unwrap();
                    assert_eq!(spelled(after), spelled(stored));
                }
            }
        }
    }
}

#[test]
fn an_absent_disk_is_filled_by_the_declared_default_and_the_defaults_in_it() {
    for pools in everywhere() {
        for (_, lenses) in pools.hubs() {
            for version in pools.kind.history().indexes() {
                let arena = Arena::new();
                // Nobody has filled anything in, as in records that were written before the default was declared.
                let pool = lenses.get(version, json(POOLS[0], &arena), &arena);
                let disk_type = if version == pools.oldest() { "absent" } else { "\"Managed\"" };
                assert_eq!(at(pool, "properties.platform.osDisk.sizeGiB"), "64");
                assert_eq!(at(pool, "properties.platform.osDisk.diskType"), disk_type);
            }
        }
    }
}

#[test]
fn what_is_left_out_means_zero_to_writers_that_leave_out_zeros_and_knew_the_field() {
    let record = r#"{"name":"old","properties":{"platform":{"vmSize":"D4s","osDisk":{}}}}"#;
    for pools in everywhere() {
        let zeros = Zeros::new(&pools.declaration, pools.kind.history());
        for (_, lenses) in pools.hubs() {
            let arena = Arena::new();
            let stored = json(record, &arena);
            for (writer, auto_repair) in [(pools.oldest(), "false"), (pools.newest(), "true")] {
                let opened = zeros.restore(&lenses, stored, Some(writer), &arena);
                assert!(opened.refused.is_empty(), "{:?}", opened.refused);
                for version in pools.kind.history().indexes() {
                    let pool = lenses.get(version, opened.stored, &arena);
                    assert_eq!(at(pool, "properties.autoRepair"), auto_repair);
                    // 0 is no valid size, and an open enum names no "": these cannot have been left out.
                    assert_eq!(at(pool, "properties.platform.osDisk.sizeGiB"), "64");
                    assert!(!spelled(pool).contains("\"\""), "{}", spelled(pool));
                    let disk_type = if version == pools.oldest() { "absent" } else { "\"Managed\"" };
                    assert_eq!(at(pool, "properties.platform.osDisk.diskType"), disk_type);
                }
            }
            let opened = zeros.restore(&lenses, stored, None, &arena);
            assert_eq!(spelled(opened.stored), spelled(stored));
            let told: Vec<String> =
                opened.refused.iter().map(|refused| refused.message(pools.kind.history())).collect();
            let told = told.join("\n");
            assert!(
                told.contains("properties.autoRepair is absent, and it is not known which version wrote the record"),
                "{told}"
            );
            assert!(!told.contains("osDisk"), "{told}");
        }
    }
}

#[test]
fn a_default_is_refused_where_the_schema_that_would_tell_is_gone() {
    for pools in everywhere() {
        let lock = pools.locked(|_| true);
        let locked = lock.kind("", "NodePool").expect("it is locked");
        let oldest = pools.name(pools.oldest()).to_owned();
        let later = pools.only(|version| version != oldest);
        let (kind, problems) = Kind::compile(&later, Some((locked.history(), locked.hub())));
        assert!(problems.is_empty(), "{problems:?}");
        let kind = kind.expect("it has versions");
        let zeros = Zeros::new(&later, kind.history());
        let arena = Arena::new();
        let writer = kind.version(&oldest).expect("the lock remembers it");
        let opened = zeros.restore(kind.lenses(), json(POOLS[0], &arena), Some(writer), &arena);
        let refused = opened
            .refused
            .iter()
            .find(|refused| kind.history().field(refused.field).text.as_ref() == "properties.autoRepair");
        assert_eq!(refused.map(|refused| refused.reason), Some(RefusedBecause::SchemaGone { writer }));
    }
}

#[test]
fn the_laws_hold_over_every_kind_and_reach_all_of_it() {
    let catalogs = [Some(ours()), real("laws")];
    for kind in catalogs.iter().flatten().flat_map(Catalog::kinds) {
        let (compiled, problems) = Kind::compile(&kind.declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        let compiled = compiled.expect("it has versions");
        let report = Laws { cases: 300, seed: 4 }.run(&compiled, &kind.declaration, &mut |_| {});
        assert!(report.is_success(), "{report:#?}");
        assert_eq!(report.covered.nodes, report.covered.of);
    }
}

/// What is asked for once is answered by every version as the service answered, but for what the service adds itself.
#[test]
fn real_answers_are_those_of_the_service() {
    let Some(folder) = shared().map(|shared| shared.join("real-apis/aro-hcp/version-compliance/NodePool")) else {
        return;
    };
    let Some(catalog) = real("answers") else { return };
    let pools = Pools::of(&catalog);
    let folder = folder.join("basic-nodepool");
    let request = fs::read_to_string(folder.join("request.json")).unwrap();
    for version in pools.kind.history().indexes() {
        let arena = Arena::new();
        let shown = pools.kind.convert(pools.oldest(), version, json(&request, &arena), &arena).unwrap();
        let answer = fs::read_to_string(folder.join(format!("expected/get/{}.json", pools.name(version)))).unwrap();
        let (ours, theirs) = (leaves(shown), leaves(json(&answer, &arena)));
        let differ: Vec<_> = ours.iter().filter(|(path, value)| theirs.get(*path) != Some(value)).collect();
        assert!(differ.is_empty(), "{}: {differ:?}", pools.name(version));
        let mut added: Vec<&str> = theirs.keys().map(String::as_str).filter(|path| !ours.contains_key(*path)).collect();
        added.retain(|path| !path.starts_with("systemData."));
        assert_eq!(added, ["id", "location", "properties.platform.subnetId", "properties.provisioningState"]);
    }
}

/// The kind of node pools of a catalog.
struct Pools {
    declaration: Declaration,
    kind: Kind,
}

impl Pools {
    fn of(catalog: &Catalog) -> Self {
        assert!(catalog.findings().is_empty(), "{:?}", catalog.findings());
        let declared = catalog.kinds().iter().find(|kind| *kind.declaration.kind == *"NodePool");
        let declaration = declared.expect("the catalog has node pools").declaration.clone();
        let (kind, problems) = Kind::compile(&declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        Self { declaration, kind: kind.expect("it has versions") }
    }

    fn oldest(&self) -> VersionIndex {
        self.kind.history().indexes().next().expect("it has versions")
    }

    fn newest(&self) -> VersionIndex {
        self.kind.history().indexes().last().expect("it has versions")
    }

    fn name(&self, version: VersionIndex) -> &str {
        self.kind.history().version(version).name.as_str()
    }

    /// The lenses for every hub.
    fn hubs(&self) -> impl Iterator<Item = (VersionIndex, Lenses)> {
        self.kind.history().indexes().map(|hub| (hub, self.kind.lenses_for(hub)))
    }

    /// Every version with every version, and each of the documents.
    fn pairs<'t>(&self, texts: &[&'t str]) -> Vec<(VersionIndex, VersionIndex, &'t str)> {
        let versions = || self.kind.history().indexes();
        let pairs = versions().flat_map(|from| versions().map(move |to| (from, to)));
        pairs.flat_map(|(from, to)| texts.iter().map(move |text| (from, to, *text))).collect()
    }

    fn normal<'a>(&'a self, version: VersionIndex, document: Value<'a>, arena: &'a Arena) -> Value<'a> {
        self.kind.normal(version, document, arena).expect("it can be decoded")
    }

    /// The kind with some of its versions only.
    fn only(&self, is_there: impl Fn(&str) -> bool) -> Declaration {
        let mut declaration = self.declaration.clone();
        declaration.versions.retain(|version| is_there(version.name.as_str()));
        declaration.steps.retain(|step| is_there(step.version.item.as_str()));
        declaration
    }

    /// The lock of the kind with some of its versions, written and read again.
    fn locked(&self, is_there: impl Fn(&str) -> bool) -> Lock {
        let declaration = self.only(is_there);
        let (history, problems) = History::derive(&declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        let lock = Lock::default().grow(&declaration, &history, None).expect("an empty lock contradicts nothing");
        let (lock, problems) = Lock::parse(&lock.to_string());
        assert!(problems.is_empty(), "{problems:?}");
        lock
    }
}

/// The node pools of the repository, and the real ones if they are there.
fn everywhere() -> impl Iterator<Item = Pools> {
    let name = std::thread::current().name().unwrap_or("main").to_owned();
    [Some(ours()), real(&name)].into_iter().flatten().map(|catalog| Pools::of(&catalog))
}

fn ours() -> Catalog {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/openapi-defaults");
    Catalog::load(&[folder]).expect("the example can be read")
}

/// The catalog of the real documents.
fn real(name: &str) -> Option<Catalog> {
    let folder = aro_hcp(&format!("nodepool-{name}"))?;
    Some(Catalog::load(&[folder]).expect("the real documents can be read"))
}

fn json<'a>(text: &str, arena: &'a Arena) -> Value<'a> {
    decode(arena.text(text).as_bytes(), arena).expect("it is JSON")
}

fn spelled(value: Value<'_>) -> String {
    String::from_utf8(canonical(value)).expect("JSON is text")
}

/// The value at a path, or `absent`.
fn at(document: Value<'_>, path: &str) -> String {
    path.split('.').try_fold(document, |value, field| value.get(field)).map_or_else(|| "absent".to_owned(), spelled)
}

/// What is not an object, by path.
fn leaves(document: Value<'_>) -> BTreeMap<String, String> {
    fn add(value: Value<'_>, path: &str, leaves: &mut BTreeMap<String, String>) {
        let Some(entries) = value.as_object() else {
            leaves.insert(path.to_owned(), spelled(value));
            return;
        };
        for entry in entries {
            let separator = if path.is_empty() { "" } else { "." };
            add(entry.value, &format!("{path}{separator}{}", entry.key), leaves);
        }
    }
    let mut leaves = BTreeMap::new();
    add(document, "", &mut leaves);
    leaves
}
