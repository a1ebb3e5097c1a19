//! ARO-HCP whole: three kinds over four versions, what their changes say, and what no change can say without making up
//! values. The documents are real, and looked at where they are there.

mod shared;

use std::{fs, path::Path, process::Command};

use shared::{aro_hcp, shared};
use wheelwright::{
    catalog::Catalog,
    document::{Arena, Value, canonical, decode, encode},
    evolve::{Kind, laws::Laws},
};

const VERSIONS: [&str; 4] = ["2024-06-10-preview", "2025-12-23-preview", "2026-06-30-preview", "2026-09-01-preview"];

#[test]
fn check_lists_what_cannot_be_right_without_values_that_nobody_wrote_and_nothing_else() {
    let Some(folder) = aro_hcp("check") else { return };
    let output = Command::new(env!("CARGO_BIN_EXE_wheelwright"))
        .current_dir(folder)
        .args(["check", "--format", "json", "--no-laws"])
        .output()
        .expect("the command can be started");
    let arena = Arena::new();
    let lines = String::from_utf8(output.stdout).unwrap();
    let found = lines.lines().map(|line| {
        let finding = json(line, &arena);
        let told = |key| finding.get(key).and_then(|value| value.as_str()).unwrap_or("-");
        ["rule", "kind", "version", "field"].map(told).join(" ")
    });
    let (about_kinds, about_documents): (Vec<String>, Vec<String>) =
        found.partition(|finding| !finding.contains(" - "));
    assert_eq!(
        about_kinds,
        [
            // Left out by those who wrote false or "", or by those who meant the default: no reader can know.
            "WW162 NodePool 2024-06-10-preview properties.autoRepair",
            "WW162 NodePool 2024-06-10-preview properties.version.channelGroup",
            // Shown as {} by the first version, which has none of its fields: leaving it out there removes it.
            "WW231 NodePool 2024-06-10-preview properties.platform.osDisk",
            // Required, and older documents need not have it.
            "WW154 NodePool 2025-12-23-preview properties.version.id",
            "WW154 HcpOpenShiftCluster 2025-12-23-preview properties.platform.vnetIntegrationSubnetId",
            // The service shows a version without an id, which newer schemas require.
            "WW161 HcpOpenShiftCluster 2025-12-23-preview properties.version",
            "WW154 HcpOpenShiftCluster 2025-12-23-preview properties.version.id",
            // Neither the default nor a value any more, and older documents have it.
            "WW160 HcpOpenShiftCluster 2026-06-30-preview properties.etcd.dataEncryption.keyManagementMode",
            "WW155 HcpOpenShiftCluster 2026-06-30-preview properties.etcd.dataEncryption.keyManagementMode",
            // Older disks may be larger.
            "WW156 NodePool 2026-06-30-preview properties.platform.osDisk.sizeGiB",
            "WW161 HcpOpenShiftCluster 2026-06-30-preview properties.version",
            "WW161 HcpOpenShiftCluster 2026-09-01-preview properties.version",
            // A 0 beside autoScaling says nothing to the first version; whoever wrote it keeps it.
            "WW221 NodePool 2025-12-23-preview properties.replicas",
        ]
    );
    // The rest is about the documents alone, that nothing is locked, and (WW183) that a new cluster without etcd is
    // PlatformManaged in the versions that list this mode.
    let rules: Vec<&str> = about_documents.iter().map(|finding| &finding[..5]).collect();
    assert_eq!(rules, ["WW044", "WW044", "WW046", "WW046", "WW147", "WW147", "WW183", "WW147"]);
}

#[test]
fn the_changes_of_three_kinds_take_forty_nine_lines() {
    let changes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/aro-hcp/changes");
    let files = fs::read_dir(changes).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let lines: usize = files.map(|text| text.lines().filter(|line| !line.trim_start().starts_with('#')).count()).sum();
    assert_eq!(lines, 49, "README.md says how many");
}

#[test]
fn the_vault_of_a_key_is_one_field_in_two_places() {
    let Some(clusters) = kind("vault", "HcpOpenShiftCluster") else { return };
    let kms = |kms: &str| {
        format!(
            r#"{{"properties":{{"etcd":{{"dataEncryption":{{"keyManagementMode":"CustomerManaged","customerManaged":{{"kms":{kms}}}}}}}}}}}"#
        )
    };
    let old = kms(r#"{"activeKey":{"vaultName":"vault","name":"key","version":"1"}}"#);
    let new = kms(r#"{"vaultName":"vault","activeKey":{"name":"key","version":"1"}}"#);
    let at_kms = |from: &str, to: &str, text: &str| {
        let arena = Arena::new();
        let [from, to] = [from, to].map(|name| clusters.version(name).unwrap());
        let shown = clusters.convert(from, to, json(text, &arena), &arena).unwrap();
        let path = ["properties", "etcd", "dataEncryption", "customerManaged", "kms"];
        let kms = path.into_iter().try_fold(shown, |value, name| value.get(name));
        String::from_utf8(encode(kms.expect("it is there"))).unwrap()
    };
    for newer in &VERSIONS[1..] {
        assert_eq!(
            at_kms(VERSIONS[0], newer, &old),
            r#"{"vaultName":"vault","visibility":"Public","activeKey":{"name":"key","version":"1"}}"#
        );
        assert_eq!(
            at_kms(newer, VERSIONS[0], &new),
            r#"{"activeKey":{"vaultName":"vault","name":"key","version":"1"}}"#
        );
    }
}

/// What the service answered for one pool, in each version.
#[test]
fn real_pools_come_back_from_every_other_version() {
    let Some(pools) = kind("pools", "NodePool") else { return };
    let folder = shared().map(|shared| shared.join("real-apis/aro-hcp/version-compliance/NodePool/basic-nodepool"));
    let Some(answers) = folder.map(|folder| folder.join("expected/get")).filter(|answers| answers.exists()) else {
        return;
    };
    for (from, via) in VERSIONS.iter().flat_map(|from| VERSIONS.map(|via| (from, via))) {
        let arena = Arena::new();
        let text = fs::read_to_string(answers.join(format!("{from}.json"))).unwrap();
        let [from, via] = [*from, via].map(|name| pools.version(name).unwrap());
        let normal = pools.normal(from, json(&text, &arena), &arena).unwrap();
        let back = pools.round_trip(from, via, json(&text, &arena), &arena).unwrap();
        assert_eq!(canonical(back), canonical(normal));
    }
}

#[test]
fn the_laws_hold_for_all_three_kinds() {
    let Some(folder) = aro_hcp("laws") else { return };
    let catalog = Catalog::load(&[folder]).expect("it can be read");
    assert_eq!(catalog.kinds().len(), 3);
    for declared in catalog.kinds() {
        let (kind, problems) = Kind::compile(&declared.declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        let kind = kind.expect("it has versions");
        let report = Laws { cases: 200, seed: 7 }.run(&kind, &declared.declaration, &mut |_| {});
        assert!(report.is_success(), "{report:#?}");
        assert_eq!(report.covered.nodes, report.covered.of, "{:?}", report.covered.missed);
    }
}

fn kind(test: &str, name: &str) -> Option<Kind> {
    let catalog = Catalog::load(&[aro_hcp(test)?]).expect("it can be read");
    let declared = catalog.kinds().iter().find(|kind| *kind.declaration.kind == *name).expect("it is declared");
    let (kind, problems) = Kind::compile(&declared.declaration, None);
    assert!(problems.is_empty(), "{problems:?}");
    kind
}

fn json<'a>(text: &str, arena: &'a Arena) -> Value<'a> {
    decode(arena.text(text).as_bytes(), arena).expect("it is JSON")
}
