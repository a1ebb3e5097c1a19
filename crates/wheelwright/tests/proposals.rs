//! Proposals of `init` for kinds whose renames and moves are known, and for all kinds at hand with several versions:
//! accepted mechanically, they give kinds that load, hold the laws, and hide no required field.

#![expect(clippy::print_stdout, reason = "the counts are the result of the test")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use wheelwright::{
    Console, Exit,
    catalog::Catalog,
    command::{InitOptions, init},
    evolve::{Declaration, Kind, check, laws::Laws},
    findings::{Level, rules},
};

/// Histories that were written for this test, with what happened to their fields.
const HISTORIES: [(&str, &[(&str, &str)]); 10] = [
    (
        "certificates",
        &[
            ("spec.keyAlgorithm", "spec.privateKey.algorithm"),
            ("spec.keyEncoding", "spec.privateKey.encoding"),
            ("spec.keySize", "spec.privateKey.size"),
            ("spec.organization", "spec.subject.organizations"),
        ],
    ),
    (
        "workloads",
        &[("spec.queueName", "spec.localQueueName"), ("spec.priorityClassName", "spec.priorityClassRef.name")],
    ),
    (
        "collectors",
        &[("spec.minReplicas", "spec.autoscaler.minReplicas"), ("spec.maxReplicas", "spec.autoscaler.maxReplicas")],
    ),
    ("databases", &[("spec.instances", "spec.replicas")]),
    (
        "routes",
        &[
            ("spec.backend", "spec.defaultBackend"),
            ("spec.backend.serviceName", "spec.defaultBackend.service.name"),
            ("spec.backend.servicePort", "spec.defaultBackend.service.port"),
        ],
    ),
    (
        "backups",
        &[
            ("spec.schedule", "spec.cron"),
            ("spec.snapshotVolumes", "spec.volumes.snapshots"),
            ("spec.storageLocation", "spec.storageLocationRef.name"),
        ],
    ),
    ("firewallrules", &[("spec.cidr", "spec.cidrs"), ("spec.ports[].proto", "spec.ports[].protocol")]),
    ("brokers", &[("spec.topicOperator", "spec.entityOperator.topicOperator")]),
    (
        "monitors",
        &[
            ("spec.logFormat", "spec.logging.format"),
            ("spec.logLevel", "spec.logging.level"),
            ("spec.podSelector", "spec.podMonitorSelector"),
        ],
    ),
    (
        "snapshots",
        &[
            ("spec.snapshotClassName", "spec.volumeSnapshotClassName"),
            ("spec.snapshotContentName", "spec.source.volumeSnapshotContentName"),
            ("spec.claimName", "spec.source.persistentVolumeClaimName"),
        ],
    ),
];

#[test]
fn known_renames_and_moves_are_proposed_as_such() {
    let (mut whole, mut pairs, mut all) = (0, 0, 0);
    for (name, known) in HISTORIES {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/histories/{name}.yaml"));
        let folder = Folder::new(name);
        let accepted = Accepted::of(&[file], &folder.0);
        let found = known.iter().filter(|(from, to)| accepted.text.contains(&format!("    {from}: {to}  # "))).count();
        for (from, _) in known {
            let removed = format!("    - {from}  # likely");
            assert!(!accepted.text.contains(&removed), "{name}: {from} is called likely removed\n{}", accepted.text);
        }
        whole += usize::from(found == known.len());
        pairs += found;
        all += known.len();
        accepted.assert_holds();
    }
    println!("histories: {whole} of {} proposed as they happened; {pairs} of {all} renames and moves", HISTORIES.len());
    assert!(whole >= 8, "{whole} histories");
}

/// Definitions of others, where they are at hand.
#[test]
fn proposals_for_every_kind_with_several_versions_hold() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = || here.join("../../../shared");
    let shared = std::env::var_os("WHEELWRIGHT_SHARED").map_or_else(beside, PathBuf::from);
    let own = here.join("tests/histories");
    let sources =
        [("own", own), ("crds", shared.join("conformance/crds")), ("documents", shared.join("real-apis/aro-hcp/api"))];
    for (name, path) in sources.into_iter().filter(|(_, path)| path.exists()) {
        let folder = Folder::new(&format!("every-{name}"));
        let accepted = Accepted::of(&[path], &folder.0);
        let counted = |section: &str, confidence: &str| {
            accepted
                .lines
                .iter()
                .filter(|(own, line)| own == section && line.contains(&format!("  # {confidence}: ")))
                .count()
        };
        for section in ["renamed", "converted", "reshaped", "removed"] {
            println!(
                "{name}: {section}: {} likely, {} possible",
                counted(section, "likely"),
                counted(section, "possible")
            );
        }
        assert!(!accepted.lines.is_empty(), "{name}");
        accepted.assert_holds();
    }
}

/// A catalog in which every proposal is accepted.
struct Accepted {
    folder: PathBuf,
    text: String,
    /// The lines that are active, each with its section.
    lines: Vec<(String, String)>,
    /// The fields that are asked about instead.
    open: usize,
}

impl Accepted {
    fn of(paths: &[PathBuf], into: &Path) -> Self {
        let options = InitOptions { into: into.to_owned(), ..InitOptions::default() };
        let (mut data, mut conversation) = (Vec::new(), Vec::new());
        let exit = init(paths, &options, &mut Console::plain(&mut data, &mut conversation))
            .expect("a folder for tests can be read and written");
        assert_eq!(exit, Exit::Clean, "{}", String::from_utf8_lossy(&conversation));
        let (mut text, mut lines) = (String::new(), Vec::new());
        for file in fs::read_dir(into.join("changes")).expect("something is proposed") {
            let path = file.expect("a folder for tests can be read and written").path();
            let proposed = fs::read_to_string(&path).expect("a folder for tests can be read and written");
            let mut section = String::new();
            for line in proposed.lines().filter_map(|line| line.strip_prefix("# ")) {
                if let Some(name) = line.strip_prefix("  ").filter(|name| !name.starts_with([' ', '#'])) {
                    section = name.trim_end_matches(':').to_owned();
                } else if line.starts_with("    ") && !line.trim_start().starts_with('#') {
                    lines.push((section.clone(), line.to_owned()));
                }
            }
            let accepted: Vec<&str> = proposed.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).collect();
            text.push_str(&accepted.join("\n"));
            fs::write(&path, accepted.join("\n")).expect("a folder for tests can be read and written");
        }
        let open =
            text.lines().filter(|line| line.trim_start().starts_with('#') && line.contains(" is open: ")).count();
        Self { folder: into.to_owned(), text, lines, open }
    }

    /// The catalog loads, the laws hold, no line hides a required field, and every field that disappears is declared.
    fn assert_holds(&self) {
        for (section, line) in &self.lines {
            let is_plain = section != "removed" || line.contains("clients will not see it");
            assert!(is_plain, "a removal that does not name its effect: {line}");
            let is_one = line.contains("  # likely: ") || line.contains("  # possible: ");
            assert!(is_one, "{section}: {line}");
        }
        let catalog = Catalog::load(&[&self.folder]).expect("a folder for tests can be read and written");
        let wrong: Vec<_> = catalog.findings().iter().filter(|finding| finding.level == Level::Error).collect();
        assert!(wrong.is_empty(), "{wrong:#?}\n{}", self.text);
        let mut asked = 0;
        for own in catalog.kinds() {
            let declaration = &own.declaration;
            let (kind, problems) = Kind::compile(declaration, None);
            let wrong: Vec<_> = problems.iter().filter(|problem| problem.rule.level == Level::Error).collect();
            assert!(wrong.is_empty(), "{}: {wrong:#?}", declaration.kind);
            let kind = kind.expect("there are versions");
            assert_hides_nothing_required(declaration);
            let found = check::check(declaration, kind.history(), None);
            let undeclared = [&rules::REMOVAL_NOT_ASSESSED, &rules::PROBABLE_RENAME, &rules::SHAPE_CHANGED];
            let silent = found.iter().filter(|found| undeclared.iter().any(|rule| std::ptr::eq(found.rule(), *rule)));
            asked += silent.clone().count();
            let messages: Vec<String> = silent.map(|found| found.message()).collect();
            assert!(asked <= self.open, "{}: {messages:#?}\n{}", declaration.kind, self.text);
            if declaration.versions.len() > 1 {
                let report = Laws { cases: 40, seed: 20 }.run(&kind, declaration, &mut |_| {});
                for law in &report.laws {
                    assert!(law.broken == 0, "{}: {:#?}", declaration.kind, law.example);
                }
            }
        }
    }
}

/// No field that a step declares as removed is required in the version before, told by its schema alone.
fn assert_hides_nothing_required(declaration: &Declaration) {
    for step in &declaration.steps {
        let position = declaration.versions.iter().position(|version| version.name == step.version.item);
        let before = position.and_then(|position| position.checked_sub(1)).map(|before| &declaration.versions[before]);
        for removed in &step.removed {
            let path = removed.item.to_string();
            let (parent, name) = path.rsplit_once('.').unwrap_or(("", &path));
            let schema = parent.split('.').filter(|part| !part.is_empty()).try_fold(
                before.map(|before| &before.schema),
                |schema, part| {
                    let depth = part.matches("[]").count() + part.matches("{}").count();
                    let named = schema?.property(part.trim_end_matches(['[', ']', '{', '}']))?;
                    (0..depth)
                        .try_fold(named, |schema, _| schema.items.as_deref().or(schema.additional_schema()))
                        .map(Some)
                },
            );
            let is_required =
                schema.flatten().is_some_and(|schema| schema.checks.required.iter().any(|field| **field == *name));
            assert!(!is_required, "{}: {path} is required, and declared as removed", declaration.kind);
        }
    }
}

/// A folder that exists as long as a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("proposals-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for tests can be read and written");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
