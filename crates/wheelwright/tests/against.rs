//! `check --against git:REV`: what a branch breaks, in repositories that are made for it.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A definition of a kind with versions, each with the properties of its spec.
fn definition(kind: &str, versions: &[(&str, &str)]) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    let mut text = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.shop.example.com}}\nspec:\n  group: shop.example.com\n  scope: Namespaced\n  names: {{kind: {kind}, listKind: {kind}List, plural: {plural}, singular: {}}}\n  versions:\n",
        kind.to_lowercase()
    );
    for (position, (name, properties)) in versions.iter().enumerate() {
        let storage = position + 1 == versions.len();
        text += &format!(
            "    - name: {name}\n      served: true\n      storage: {storage}\n      schema:\n        openAPIV3Schema:\n          type: object\n          properties:\n            spec:\n              type: object\n              properties: {{{properties}}}\n"
        );
    }
    text
}

const NOTE: &str = "note: {type: string}";
const BOTH: &str = "note: {type: string}, size: {type: integer}";

/// A repository that is gone when the test is over.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("against-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("folders can be made");
        let repository = Self(folder);
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        repository
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "a commit"]);
    }

    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .arg("-C")
            .arg(&self.0)
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.com"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdout(Stdio::null())
            .status();
        assert!(status.expect("git is there").success(), "git {arguments:?}");
    }

    /// The rules of findings with their levels and fields, the exit code, and what was said.
    fn check(&self, arguments: &[&str]) -> (Vec<String>, Option<i32>, String) {
        self.check_text("", arguments)
    }

    /// The same with a text on standard input.
    fn check_text(&self, text: &str, arguments: &[&str]) -> (Vec<String>, Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wheelwright"))
            .current_dir(&self.0)
            .args(["check", "--format", "json"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command can be started");
        let mut input = command.stdin.take().expect("standard input is a pipe");
        // A command that reads nothing may be over.
        let _ = input.write_all(text.as_bytes());
        drop(input);
        let output = command.wait_with_output().expect("the command ends");
        let text = |key: &str, line: &str| {
            let rest = line.split_once(&format!("\"{key}\":\"")).map_or("", |(_, rest)| rest);
            rest.split('"').next().unwrap_or_default().to_owned()
        };
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        let found =
            found.lines().map(|line| format!("{} {} {}", text("rule", line), text("level", line), text("field", line)));
        (found.collect(), output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_version_or_kind_that_is_gone_is_found() {
    let repository = Repository::new("gone");
    repository.write("order.yaml", &definition("Order", &[("v1beta1", BOTH), ("v1", BOTH), ("v2", BOTH)]));
    repository.write("bill.yaml", &definition("Bill", &[("v1", BOTH)]));
    repository.commit();
    repository.write("order.yaml", &definition("Order", &[("v2", BOTH)]));
    fs::remove_file(repository.0.join("bill.yaml")).expect("a file can be removed");
    let (mut found, exit, said) = repository.check(&["--against", "git:HEAD", "."]);
    found.sort();
    let rules: Vec<_> = found.iter().map(|found| found.rsplit_once(' ').map_or("", |(rule, _)| rule)).collect();
    assert_eq!((rules, exit), (vec!["WW175 error", "WW175 warning", "WW176 error"], Some(1)), "{found:?} {said}");
}

#[test]
fn a_kind_that_has_another_name_now_is_not_gone_and_keeps_its_versions() {
    let repository = Repository::new("renamed");
    repository.write("old.yaml", &definition("Order", &[("v1", BOTH), ("v2", BOTH)]));
    repository.write("wheelwright.yaml", "kinds: [{crd: old.yaml}]");
    repository.commit();
    let check = || repository.check(&["--against", "git:HEAD", "wheelwright.yaml"]);
    repository.write("new.yaml", &definition("Purchase", &[("v3", BOTH)]));
    repository.write("wheelwright.yaml", "kinds: [{crd: [new.yaml, old.yaml], was: [Order]}]");
    let (found, exit, said) = check();
    assert!(exit == Some(0) && found.iter().all(|found| found.starts_with("WW147 note")), "{found:?} {said}");
    repository.write("old.yaml", &definition("Order", &[("v2", NOTE)]));
    let (found, exit, said) = check();
    let count = |wanted: &str| found.iter().filter(|found| found.starts_with(wanted)).count();
    assert_eq!((count("WW175 error"), count("WW176"), exit), (1, 0, Some(1)), "{found:?} {said}");
    assert!(count("WW150 error spec.size") > 0, "{found:?}");
}

#[test]
fn a_published_version_is_held_against_what_it_was() {
    let repository = Repository::new("published");
    repository.write("crds/order.yaml", &definition("Order", &[("v1beta1", BOTH), ("v1", BOTH)]));
    repository.commit();
    assert_eq!(repository.check(&["--against", "git:main"]).0, [""; 0]);
    let tighter = "note: {type: string, maxLength: 9}";
    repository.write("crds/order.yaml", &definition("Order", &[("v1beta1", BOTH), ("v1", tighter)]));
    let (found, exit, _) = repository.check(&["--against", "git:main", "crds"]);
    let in_place = ["WW150 error spec.size", "WW156 error spec.note"];
    // The field is gone from the version, and from the one before it.
    assert_eq!(found.iter().filter(|found| **found == in_place[0]).count(), 2, "{found:?}");
    assert_eq!(found.iter().filter(|found| **found == in_place[1]).count(), 2, "{found:?}");
    assert_eq!(exit, Some(1));
    // An alpha or beta version may change.
    repository.write("crds/order.yaml", &definition("Order", &[("v1beta1", NOTE), ("v1", BOTH)]));
    let (found, exit, _) = repository.check(&["--against", "git:main", "crds/order.yaml"]);
    assert_eq!((&found[..], exit), (&["WW150 warning spec.size".to_owned()][..], Some(0)));
}

#[test]
fn only_what_is_new_is_shown() {
    let repository = Repository::new("new");
    let before = [("v1", BOTH), ("v2", NOTE)];
    repository.write("order.yaml", &definition("Order", &before));
    repository.commit();
    let after = [("v1", BOTH), ("v2", NOTE), ("v3", "size: {type: integer}")];
    repository.write("order.yaml", &definition("Order", &after));
    repository.write("parcel.yaml", &definition("Parcel", &[("v1", NOTE), ("v2", "")]));
    let (found, exit, said) = repository.check(&["--against", "git:HEAD"]);
    // The version that is stored now lacks the field.
    assert_eq!(found, ["WW201 error <nil>", "WW150 error spec.note", "WW150 error spec.note"]);
    assert_eq!(exit, Some(1));
    assert!(said.contains("not shown: 1 finding of HEAD; --all shows everything"), "{said}");
    let (found, _, _) = repository.check(&["--against", "git:HEAD", "--all"]);
    assert_eq!(found.len(), 4, "{found:?}");
    // Without a revision, nobody has asked: what was published is no reason to fail.
    assert_eq!(repository.check(&[]).1, Some(0));
}

#[test]
fn a_catalog_at_a_revision_is_its_own() {
    let repository = Repository::new("catalog");
    repository.write("wheelwright.yaml", "kinds: [{crd: crds/order.yaml, changes: changes.yaml}]\n");
    repository.write("changes.yaml", "v2: {removed: [spec.size, spec.lost]}\n");
    repository.write("crds/order.yaml", &definition("Order", &[("v1", BOTH), ("v2", NOTE)]));
    repository.commit();
    let (found, exit, _) = repository.check(&["--against", "git:HEAD"]);
    assert_eq!((&found[..], exit), (&[][..], Some(0)), "what is wrong already is known");
    repository.write("changes.yaml", "v2: {removed: [spec.lost]}\n");
    let (found, exit, _) = repository.check(&["--against", "git:HEAD"]);
    assert_eq!((&found[..], exit), (&["WW150 error spec.size".to_owned()][..], Some(1)));
}

#[test]
fn a_shallow_clone_says_what_it_lacks_and_hides_nothing() {
    let repository = Repository::new("shallow");
    for properties in [NOTE, ""] {
        repository.write("order.yaml", &definition("Order", &[("v1", NOTE), ("v2", properties)]));
        repository.commit();
    }
    let clone = Repository::new("clone");
    let from = format!("file://{}", repository.0.display());
    clone.git(&["-c", "protocol.file.allow=always", "fetch", "--quiet", "--depth", "1", &from, "main"]);
    clone.git(&["reset", "--quiet", "--hard", "FETCH_HEAD"]);
    let (found, exit, said) = clone.check(&["--against", "git:HEAD~1"]);
    assert_eq!((&found[..], exit), (&["WW150 error spec.note".to_owned()][..], Some(1)));
    assert!(said.contains("in this clone, which is shallow"), "{said}");
    assert!(said.contains("held against the lock alone"), "{said}");
}

/// Runs `wheelwright lock` in a folder.
fn lock(folder: &Path) {
    let output = Command::new(env!("CARGO_BIN_EXE_wheelwright"))
        .current_dir(folder)
        .arg("lock")
        .output()
        .expect("the command can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_schema_that_cannot_be_read_is_not_locked() {
    let repository = Repository::new("unread");
    let lock = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_wheelwright"))
            .current_dir(&repository.0)
            .arg("lock")
            .args(arguments)
            .output()
            .expect("the command can be started");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let unreadable = "box: {type: object, required: {a: true}, properties: {a: {type: string}}}";
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml}]\n");
    repository.write("order.yaml", &definition("Order", &[("v1", unreadable)]));
    for arguments in [&[][..], &["--check"]] {
        let (exit, said) = lock(arguments);
        assert!(exit == Some(1) && said.contains("error[WW002]") && said.contains("nothing is locked"), "{said}");
        assert!(!repository.0.join("wheelwright.lock").exists(), "{said}");
    }
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml}]\nrules: {WW002: warning}\n");
    assert!(!lock(&["--check"]).1.contains("WW002"));
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml}]\n");
    let (exit, said) = lock(&["--accept"]);
    assert!(exit == Some(0) && said.contains("locked in spite of 1 error"), "{said}");
    // What is locked already is not in question.
    for arguments in [&[][..], &["--check"]] {
        assert_eq!(lock(arguments).0, Some(0), "{arguments:?}");
    }
    // Nor is it for another kind.
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml}, {crd: bill.yaml}]\n");
    repository.write("bill.yaml", &definition("Bill", &[("v1", BOTH)]));
    let (exit, said) = lock(&[]);
    assert_eq!(exit, Some(0), "{said}");
    repository.write("order.yaml", &definition("Order", &[("v1", unreadable), ("v2", unreadable)]));
    assert_eq!(lock(&[]).0, Some(1));
}

#[test]
fn a_lock_that_was_regenerated_cut_or_edited_is_an_error() {
    let repository = Repository::new("regenerated");
    repository.write("crds/order.yaml", &definition("Order", &[("v1", NOTE), ("v2", "remark: {type: string}")]));
    repository.write("wheelwright.yaml", "kinds: [{crd: crds/order.yaml, changes: changes.yaml}]\n");
    repository.write("changes.yaml", "v2: {renamed: {spec.note: spec.remark}}\n");
    lock(&repository.0);
    repository.commit();
    let rewritten = |expected: usize| {
        let (found, exit, said) = repository.check(&["--against", "git:HEAD"]);
        let count = found.iter().filter(|found| found.starts_with("WW200 error")).count();
        assert_eq!((count > 0, exit), (expected > 0, Some(i32::from(expected > 0))), "{found:?} {said}");
    };
    rewritten(0);
    let path = repository.0.join("wheelwright.lock");
    let text = fs::read_to_string(&path).expect("there is a lock");
    // Regenerated after the rename became a removal: the sum is right.
    fs::remove_file(&path).expect("a file can be removed");
    repository.write("changes.yaml", "v2: {removed: [spec.note]}\n");
    lock(&repository.0);
    rewritten(1);
    repository.write("changes.yaml", "v2: {renamed: {spec.note: spec.remark}}\n");
    repository.write("wheelwright.lock", &text.replace("    + spec.note string\n", ""));
    rewritten(1);
    fs::remove_file(&path).expect("a file can be removed");
    rewritten(1);
    repository.write("wheelwright.lock", &text);
    rewritten(0);
}

#[test]
fn a_lock_that_moves_with_its_catalog_is_still_held_against_history() {
    let repository = Repository::new("moved");
    repository.write("old/order.yaml", &definition("Order", &[("v1", NOTE), ("v2", "remark: {type: string}")]));
    repository.write("old/wheelwright.yaml", "kinds: [{crd: order.yaml, changes: changes.yaml}]\n");
    repository.write("old/changes.yaml", "v2: {renamed: {spec.note: spec.remark}}\n");
    let lock_in = |folder: &str| lock(&repository.0.join(folder));
    lock_in("old");
    repository.commit();
    fs::rename(repository.0.join("old"), repository.0.join("new")).expect("a folder can be renamed");
    let rewritten = |paths: &[&str]| {
        let (found, _, said) = repository.check(&[&["--against", "git:HEAD"], paths].concat());
        assert!(!said.contains("error:"), "{said}");
        found.iter().filter(|found| found.starts_with("WW200 error")).count()
    };
    assert_eq!((rewritten(&[]), rewritten(&["new"])), (0, 0));
    fs::remove_file(repository.0.join("new/wheelwright.lock")).expect("a file can be removed");
    repository.write("new/changes.yaml", "v2: {removed: [spec.note]}\n");
    lock_in("new");
    assert!(rewritten(&[]) > 0 && rewritten(&["new"]) > 0);
}

#[test]
fn another_scope_plural_or_subresource_is_an_error() {
    let repository = Repository::new("endpoints");
    let base = definition("Order", &[("v1", NOTE)]).replace(
        "      schema:\n",
        "      subresources: {status: {}}\n      selectableFields: [{jsonPath: .spec.note}]\n      schema:\n",
    );
    repository.write("order.yaml", &base);
    repository.commit();
    for (from, to) in [
        ("scope: Namespaced", "scope: Cluster"),
        ("subresources: {status: {}}", "subresources: {}"),
        ("selectableFields: [{jsonPath: .spec.note}]", "selectableFields: []"),
    ] {
        repository.write("order.yaml", &base.replace(from, to));
        let (found, exit, said) = repository.check(&["--against", "git:HEAD", "order.yaml"]);
        let count = found.iter().filter(|found| found.starts_with("WW201 error")).count();
        assert_eq!((count, exit), (1, Some(1)), "{to}: {found:?} {said}");
    }
    repository.write("order.yaml", &base.replace("orders", "orderz"));
    let (found, _, said) = repository.check(&["--against", "git:HEAD", "order.yaml"]);
    assert_eq!(found.iter().filter(|found| found.starts_with("WW201 error")).count(), 1, "{found:?} {said}");
}

#[test]
fn another_prefix_and_other_policies_are_errors() {
    let repository = Repository::new("promises");
    repository.write("order.yaml", &definition("Order", &[("v1", NOTE), ("v2", BOTH)]));
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml, adopt: {prefix: orders, version: v1}}]\n");
    lock(&repository.0);
    repository.commit();
    for (catalog, rule) in [
        ("kinds: [{crd: order.yaml, adopt: {prefix: bills, version: v1}}]\n", "WW202"),
        ("kinds: [{crd: order.yaml, adopt: {prefix: orders, version: v1}, policies: {olderWrite: reset}}]\n", "WW203"),
        ("kinds: [{crd: order.yaml, adopt: {prefix: orders, version: v1}, changes: reset.yaml}]\n", "WW203"),
        ("kinds: [{crd: order.yaml, adopt: {prefix: orders, version: v1}, policies: {olderWrite: reject}}]\n", "WW208"),
        (
            "kinds: [{crd: order.yaml, adopt: {prefix: orders, version: v1}, policies: {null: {fields: {spec.note: clear}}}}]\n",
            "WW208",
        ),
        ("kinds: [{crd: order.yaml, adopt: {prefix: orders, version: v1}, policies: {null: reject}}]\n", "WW208"),
        ("kinds: [{crd: order.yaml, adopt: {prefix: orders, version: v2}}]\n", "WW208"),
        ("kinds: [{crd: order.yaml, adopt: {prefix: orders}}]\n", "WW208"),
    ] {
        repository.write("reset.yaml", "v1: {olderWrite: reset}\n");
        repository.write("wheelwright.yaml", catalog);
        let (found, exit, said) = repository.check(&["--against", "git:HEAD"]);
        let count = found.iter().filter(|found| found.starts_with(&format!("{rule} error"))).count();
        assert_eq!((count, exit), (1, Some(1)), "{catalog}: {found:?} {said}");
    }
}

#[test]
fn only_policies_that_clients_can_depend_on_are_held_against_a_revision() {
    let repository = Repository::new("policies");
    let found = |then: &str, now: &str| {
        let catalog = |policies: &str| format!("kinds: [{{crd: order.yaml, policies: {policies}}}]\n");
        repository.write("order.yaml", &definition("Order", &[("v1", NOTE), ("v2", BOTH)]));
        repository.write("wheelwright.yaml", &catalog(then));
        lock(&repository.0);
        repository.commit();
        let v3 = format!("{BOTH}, extra: {{type: string}}");
        repository.write("order.yaml", &definition("Order", &[("v1", NOTE), ("v2", BOTH), ("v3", &v3)]));
        repository.write("wheelwright.yaml", &catalog(now));
        let (found, _, _) = repository.check(&["--against", "git:HEAD"]);
        let rules = found.into_iter().filter(|found| found.starts_with("WW208") || found.starts_with("WW203"));
        rules.map(|found| found[..5].to_owned()).collect::<Vec<_>>()
    };
    // What is refused less is no harm, and neither is what came since.
    assert_eq!(found("{olderWrite: reject}", "{olderWrite: {versions: {v1: reject}}}"), [""; 0]);
    let new = "{null: {fields: {spec.extra: reject}, versions: {v3: reject}}, olderWrite: {versions: {v3: reject}}}";
    assert_eq!(found("{}", new), [""; 0]);
    // An exception that is gone is.
    assert_eq!(found("{olderWrite: {default: reject, versions: {v1: preserve}}}", "{olderWrite: reject}"), ["WW208"]);
    assert_eq!(found("{olderWrite: {default: reset, versions: {v1: preserve}}}", "{olderWrite: reset}"), ["WW203"]);
    assert_eq!(found("{null: {default: reject, fields: {spec.note: reset}}}", "{null: reject}"), ["WW208"]);
}

#[test]
fn a_union_of_published_fields_is_an_error() {
    let repository = Repository::new("union");
    repository.write("order.yaml", &definition("Order", &[("v1", NOTE), ("v2", BOTH)]));
    repository.write("changes.yaml", "v2: {}\n");
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml, changes: changes.yaml}]\n");
    lock(&repository.0);
    repository.commit();
    repository.write("changes.yaml", "v2: {union: {spec: [note, size]}}\n");
    let (found, exit, said) = repository.check(&["--against", "git:HEAD"]);
    let count = found.iter().filter(|found| found.starts_with("WW165 error")).count();
    assert_eq!((count, exit), (1, Some(1)), "{found:?} {said}");
}

#[test]
fn a_catalog_sets_the_levels_of_findings() {
    let repository = Repository::new("levels");
    repository.write("order.yaml", &definition("Order", &[("v1alpha1", NOTE), ("v1beta1", "remark: {type: string}")]));
    let levels = |settings: &str| {
        repository.write("wheelwright.yaml", &format!("kinds: [{{crd: order.yaml}}]\n{settings}"));
        let (found, exit, said) = repository.check(&["--no-laws"]);
        let of_rule = found.iter().filter(|found| found.starts_with("WW150") || found.starts_with("WW151"));
        (of_rule.map(|found| found.split(' ').nth(1).unwrap_or_default().to_owned()).collect::<Vec<_>>(), exit, said)
    };
    for (settings, level, exit) in [
        ("", Some("warning"), 0),
        ("gate: {beta: error}\n", Some("error"), 1),
        ("gate: {alpha: error}\n", Some("warning"), 0),
        ("gate: {beta: note}\n", Some("note"), 0),
        ("rules: {WW151: error, WW150: error}\n", Some("error"), 1),
        ("rules: {WW151: off, WW150: off}\n", None, 0),
        ("gate: {beta: error}\nrules: {probable-rename: note, WW150: note}\n", Some("note"), 0),
    ] {
        let (found, ended, said) = levels(settings);
        assert_eq!((found.first().map(String::as_str), ended), (level, Some(exit)), "{settings}: {found:?} {said}");
    }
    for (settings, message) in [
        ("rules: {WW999: off}\n", "there is no rule \"WW999\""),
        ("rules: {WW150: never}\n", "expected error or warning or note or off"),
        ("rules: {WW110: off}\n", "WW110 cannot be off"),
        ("gate: {ga: error}\n", "nobody knows the key \"ga\""),
    ] {
        repository.write("wheelwright.yaml", &format!("kinds: [{{crd: order.yaml}}]\n{settings}"));
        let output = Command::new(env!("CARGO_BIN_EXE_wheelwright"))
            .current_dir(&repository.0)
            .args(["check", "--no-laws"])
            .output()
            .expect("the command can be started");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(message) && output.status.code() == Some(1), "{settings}: {said}");
    }
}

#[test]
fn a_locked_version_that_changed_is_found_without_a_revision() {
    let repository = Repository::new("in-place");
    const BASE: &str = "size: {type: integer, default: 3}, note: {type: string, nullable: true, maxLength: 9}, any: {type: object, \
                        x-kubernetes-preserve-unknown-fields: true}, list: {type: array, x-kubernetes-list-type: map, \
                        x-kubernetes-list-map-keys: [a], items: {type: object, required: [a, b], properties: {a: {type: string}, \
                        b: {type: string}}}}";
    repository.write("order.yaml", &definition("Order", &[("v1", BASE)]));
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml}]\n");
    lock(&repository.0);
    repository.commit();
    let found = |from: &str, to: &str, arguments: &[&str]| {
        repository.write("order.yaml", &definition("Order", &[("v1", &BASE.replace(from, to))]));
        let (found, exit, said) = repository.check(&[&["--no-laws"], arguments].concat());
        let is_meant = |found: &&String| !found.starts_with("WW147") && !found.starts_with("WW03");
        (found.into_iter().filter(|found| is_meant(&found)).collect::<Vec<_>>(), exit, said)
    };
    for (from, to, expected, exit) in [
        ("size", "size", None, 0),
        ("default: 3", "default: 5", Some("WW160 error spec.size"), 1),
        ("nullable: true, ", "", Some("WW158 error spec.note"), 1),
        ("keys: [a]", "keys: [b]", Some("WW163 error spec.list"), 1),
        ("keys: [a]", "keys: [a, b]", Some("WW163 warning spec.list"), 0),
        ("x-kubernetes-preserve-unknown-fields: true", "properties: {}", Some("WW241 error spec.any"), 1),
        ("maxLength: 9", "maxLength: 8", Some("WW204 warning <nil>"), 0),
        ("maxLength: 9", "pattern: a", Some("WW204 warning <nil>"), 0),
        // What the lock remembers explains these; a field that came explains no other change.
        ("note:", "more: {type: string}, note:", None, 0),
        ("size: {", "size: {nullable: true, ", None, 0),
        ("note:", "more: {type: object, properties: {deep: {type: integer, default: 1}}}, note:", None, 0),
        ("properties: {a:", "properties: {more: {type: string}, a:", None, 0),
        ("maxLength: 9}", "maxLength: 8}, more: {type: string}", Some("WW204 warning <nil>"), 0),
        ("maxLength: 9}", "enum: [x]}, more: {type: string}", Some("WW204 warning <nil>"), 0),
    ] {
        let (found, ended, said) = found(from, to, &[]);
        assert_eq!((found.first().map(String::as_str), ended), (expected, Some(exit)), "{to}: {found:?} {said}");
    }
    // `lock` amends the fingerprint, and does not hide that.
    repository.write(
        "order.yaml",
        &definition("Order", &[("v1", &BASE.replace("maxLength: 9}", "maxLength: 8}, more: {type: string}"))]),
    );
    let output = Command::new(env!("CARGO_BIN_EXE_wheelwright")).current_dir(&repository.0).arg("lock").output();
    let said = String::from_utf8_lossy(&output.expect("the command can be started").stderr).into_owned();
    assert!(said.contains("v1 of Order.shop.example.com: the schema changed since it was locked"), "{said}");
    repository.git(&["checkout", "--quiet", "wheelwright.lock"]);
    // Compared with the revision, it is found once, and by its own rule where there is one.
    let (found, exit, said) = found("default: 3", "default: 5", &["--against", "git:HEAD"]);
    assert_eq!((&found[..], exit), (&["WW160 error spec.size".to_owned()][..], Some(1)), "{said}");
}

#[test]
fn a_published_field_that_clients_cannot_write_or_read_any_more_is_an_error() {
    let repository = Repository::new("access");
    let write = |version: &str, field: &str| {
        let text = format!(
            "swagger: '2.0'\ninfo: {{title: Boats, version: '{version}'}}\npaths: {{}}\ndefinitions:\n  Boat:\n    type: object\n    \
             properties: {{name: {{type: string}}, token: {{type: string{field}}}}}\n"
        );
        repository.write(&format!("{version}.yaml"), &text);
    };
    repository.write(
        "wheelwright.yaml",
        "kinds: [{definition: Boat, openapi: {'2024-01-01': 2024-01-01.yaml, '2025-01-01': 2025-01-01.yaml}}]\n",
    );
    let check = |before: [&str; 2], after: [&str; 2], arguments: &[&str]| {
        let both = |[first, second]: [&str; 2]| {
            write("2024-01-01", first);
            write("2025-01-01", second);
        };
        both(before);
        lock(&repository.0);
        repository.git(&["add", "--all"]);
        repository.git(&["commit", "--quiet", "--allow-empty", "--message", "a commit"]);
        both(after);
        let (found, exit, said) = repository.check(&[&["--no-laws"], arguments].concat());
        let _ = fs::remove_file(repository.0.join("wheelwright.lock"));
        assert!(!said.contains("error:"), "{said}");
        (found.into_iter().filter(|found| found.starts_with("WW2")).collect::<Vec<_>>(), exit)
    };
    let against = ["--against", "git:HEAD"];
    for (was, is, expected) in [
        ("", ", readOnly: true", true),
        ("", ", x-ms-mutability: [read, create]", true),
        ("", ", x-ms-secret: true", true),
        (", x-ms-secret: true", "", true),
        (", writeOnly: true", "", true),
        (", readOnly: true", "", false),
        (", x-ms-mutability: [read]", ", readOnly: true", false),
    ] {
        let expected = if expected { vec!["WW209 error token"; 2] } else { Vec::new() };
        let found = check([was, was], [is, is], &against);
        let exit = Some(i32::from(!expected.is_empty()));
        assert_eq!(found, (expected.iter().map(ToString::to_string).collect(), exit), "{was} → {is}");
    }
    let (found, exit) = check(["", ""], ["", ", readOnly: true"], &[]);
    assert_eq!((&found[..], exit), (&["WW209 error token".to_owned()][..], Some(1)));
    let (found, exit) = check(["", ""], ["", ", x-ms-secret: true"], &[]);
    assert_eq!((&found[..], exit), (&["WW209 warning token".to_owned()][..], Some(0)));
}

/// The text that `check` shows to people, with its exit code.
fn text_of(folder: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_wheelwright"))
        .current_dir(folder)
        .args(["check", "--no-laws"])
        .args(arguments)
        .output()
        .expect("the command can be started");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

#[test]
fn an_edited_lock_names_the_line() {
    let repository = Repository::new("edited-line");
    repository.write("order.yaml", &definition("Order", &[("v1", BOTH)]));
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml}]\n");
    lock(&repository.0);
    repository.commit();
    let path = repository.0.join("wheelwright.lock");
    let text = fs::read_to_string(&path).expect("there is a lock");
    repository.write("wheelwright.lock", &text.replace("+ spec.note string", "+ spec.note integer"));
    let named = "`+ spec.note string` of `kind Order group shop.example.com`, was replaced by `+ spec.note integer`";
    for is_committed in [false, true] {
        if is_committed {
            repository.commit();
        }
        let (shown, exit) = text_of(&repository.0, &[]);
        assert!(shown.contains("error[WW141]") && shown.contains(named) && exit == Some(1), "{shown}");
    }
}

#[test]
fn a_default_after_a_rewritten_lock_says_what_old_records_read_as() {
    let repository = Repository::new("rewritten-default");
    repository.write("order.yaml", &definition("Order", &[("v1", "size: {type: integer, default: 3}")]));
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml}]\n");
    lock(&repository.0);
    repository.commit();
    repository.write("order.yaml", &definition("Order", &[("v1", "size: {type: integer, default: 5}")]));
    let (shown, _) = text_of(&repository.0, &["--against", "git:HEAD"]);
    assert!(shown.contains("readers of old records keep filling in 3"), "{shown}");
    fs::remove_file(repository.0.join("wheelwright.lock")).expect("a file can be removed");
    lock(&repository.0);
    let (shown, exit) = text_of(&repository.0, &["--against", "git:HEAD"]);
    let message = "records that leave it out read as 5 now, and read as 3 before, unlike at HEAD";
    assert!(shown.contains(message) && shown.contains("WW200") && exit == Some(1), "{shown}");
}

#[test]
fn a_catalog_cannot_lower_levels_unseen() {
    let repository = Repository::new("lowered");
    repository.write("order.yaml", &definition("Order", &[("v1", NOTE), ("v2", BOTH)]));
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml}]\nrules: {WW160: error}\n");
    lock(&repository.0);
    repository.commit();
    for (settings, expected) in [
        ("rules: {WW160: error}", 0),
        ("rules: {WW160: error, WW150: error, WW147: warning}", 0),
        ("", 1),
        ("rules: {WW160: warning}", 1),
        ("rules: {WW160: error, WW150: note}", 1),
        ("rules: {WW160: off}\ngate: {stable: warning}", 2),
    ] {
        repository.write("wheelwright.yaml", &format!("kinds: [{{crd: order.yaml}}]\n{settings}\n"));
        let (found, _, said) = repository.check(&["--no-laws", "--against", "git:HEAD"]);
        let count = found.iter().filter(|found| found.starts_with("WW207 warning")).count();
        assert_eq!(count, expected, "{settings}: {found:?} {said}");
    }
    // A mistake behind which nothing is compared cannot be lowered.
    repository.write(
        "wheelwright.yaml",
        "kinds: [{crd: order.yaml, changes: c.yaml}]\nrules: {WW111: warning, WW114: note}\n",
    );
    repository.write("c.yaml", "v2: {renmed: {spec.a: spec.b}}\n");
    assert_eq!(repository.check(&["--no-laws"]).1, Some(1));
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml}]\nrules: {WW200: off}\n");
    let (shown, exit) = text_of(&repository.0, &["--against", "git:HEAD"]);
    assert!(shown.contains("WW200 cannot be off") && exit == Some(1), "{shown}");
}

#[test]
fn what_refuses_documents_is_an_error_with_a_document() {
    let repository = Repository::new("keywords");
    const BASE: &str = "note: {type: string}, tags: {type: array, items: {type: string, maxLength: 9}}";
    repository.write("order.yaml", &definition("Order", &[("v1", BASE)]));
    repository.commit();
    for (from, to, named) in [
        (
            "note: {",
            "note: {x-kubernetes-validations: [{rule: self.size() < 99}], ",
            "x-kubernetes-validations of spec.note refuses more",
        ),
        ("note: {", "size: {type: integer}, note: {not: {enum: [lost]}, ", r#"{"spec":{"note":"lost"}}"#),
        ("tags: {", "tags: {x-kubernetes-list-type: set, ", "spec.tags[1]: repeats an earlier item"),
    ] {
        repository.write("order.yaml", &definition("Order", &[("v1", &BASE.replace(from, to))]));
        let (shown, exit) = text_of(&repository.0, &["--against", "git:HEAD", "order.yaml"]);
        assert!(shown.contains("error[WW240]") && shown.contains(named) && exit == Some(1), "{to}: {shown}");
    }
    // Nothing is refused, which no search can prove.
    let all = BASE.replace("note: {", "note: {x-kubernetes-validations: [{rule: self == self}], ");
    repository.write("order.yaml", &definition("Order", &[("v1", &all)]));
    let (shown, exit) = text_of(&repository.0, &["--against", "git:HEAD", "order.yaml"]);
    assert!(shown.contains("warning[WW240]") && exit == Some(0), "{shown}");
}

#[test]
fn a_definition_that_moved_is_compared_with_what_it_was() {
    let repository = Repository::new("moved-file");
    let other = definition("Bill", &[("v1", BOTH)]);
    repository.write("a/crd.yaml", &format!("{}---\n{other}", definition("Order", &[("v1", BOTH)])));
    repository.commit();
    let lost = definition("Order", &[("v1", NOTE)]);
    let expected = ["WW150 error spec.size".to_owned()];
    let check = |path: &str| {
        let (found, exit, said) = repository.check(&["--against", "git:HEAD", path]);
        assert!(!said.contains("note:") && !said.contains("error:"), "{path}: {said}");
        (found, exit)
    };
    // A file that is copied is compared with the other one.
    repository.write("copy.yaml", &lost);
    assert_eq!(check("copy.yaml"), (expected.to_vec(), Some(1)));
    fs::remove_file(repository.0.join("a/crd.yaml")).expect("a file can be removed");
    repository.write("a/moved.yaml", &format!("{lost}---\n{other}"));
    repository.write("b/moved.yaml", &lost);
    for path in ["a/moved.yaml", "b/moved.yaml", "a", "b"] {
        assert_eq!(check(path), (expected.to_vec(), Some(1)), "{path}");
    }
    // The whole repository is searched, from wherever.
    let (shown, exit) = text_of(&repository.0.join("b"), &["--against", "git:HEAD", "."]);
    assert!(shown.contains("error[WW150]") && shown.contains("HEAD:../a/crd.yaml") && exit == Some(1), "{shown}");
    let (found, exit, said) = repository.check_text(&lost, &["--against", "git:HEAD", "-"]);
    assert_eq!((found, exit), (expected.to_vec(), Some(1)), "{said}");
    // Nothing is found twice, and a kind that moved is not gone.
    let (found, exit, said) = repository.check(&["--against", "git:HEAD", "a", "b"]);
    assert_eq!((found.iter().filter(|found| expected.contains(found)).count(), exit), (1, Some(1)), "{found:?} {said}");
    assert!(!found.iter().any(|found| found.starts_with("WW176")), "{found:?}");
}

#[test]
fn what_was_wrong_before_a_move_is_known() {
    let repository = Repository::new("moved-known");
    repository.write("a/order.yaml", &definition("Order", &[("v1", BOTH), ("v2", NOTE)]));
    repository.write("a/wheelwright.yaml", "kinds: [{crd: order.yaml}]\n");
    repository.commit();
    repository.git(&["mv", "a", "b"]);
    for path in ["b", "b/order.yaml", "."] {
        let (found, exit, said) = repository.check(&["--against", "git:HEAD", path]);
        assert_eq!((found, exit), (vec![], Some(0)), "{path}: {said}");
        assert!(said.contains("of HEAD; --all shows everything") && !said.contains("note:"), "{path}: {said}");
    }
}

#[test]
fn a_kind_that_nothing_is_compared_with_is_named() {
    let repository = Repository::new("uncompared");
    repository.write("order.yaml", &definition("Order", &[("v1", BOTH)]));
    repository.commit();
    let new = definition("Parcel", &[("v1", BOTH)]);
    repository.write("crds/parcel.yaml", &new);
    let note = "note: found no definition of Parcel.shop.example.com at HEAD: nothing is compared for it\n";
    for path in [".", "crds", "crds/parcel.yaml"] {
        let (found, exit, said) = repository.check(&["--against", "git:HEAD", path]);
        assert_eq!((found.len(), exit, said.matches(note).count()), (0, Some(0), 1), "{path}: {found:?} {said}");
    }
    let (_, exit, said) = repository.check_text(&new, &["--against", "git:HEAD", "-"]);
    assert_eq!((exit, said.matches(note).count()), (Some(0), 1), "{said}");
    repository.write("crds/parcel.yaml", &definition("Order", &[("v1", BOTH)]));
    let (_, _, said) = repository.check(&["--against", "git:HEAD", "order.yaml"]);
    assert!(!said.contains("note:"), "{said}");
}

/// An OpenAPI document of a version with resources of some definitions.
fn service(version: &str, kinds: &[&str], properties: &str) -> String {
    let mut text = format!("swagger: '2.0'\ninfo: {{title: Service, version: '{version}'}}\npaths:\n");
    for kind in kinds {
        let plural = format!("{}s", kind.to_lowercase());
        text += &format!(
            "  /subscriptions/{{subscriptionId}}/resourceGroups/{{resourceGroupName}}/providers/Example.Shop/{plural}/{{name}}:\n    put:\n      parameters: [{{name: body, in: body, required: true, schema: {{$ref: '#/definitions/{kind}'}}}}]\n      responses: {{'200': {{description: done, schema: {{$ref: '#/definitions/{kind}'}}}}}}\n"
        );
    }
    text += "definitions:\n";
    for kind in kinds {
        text += &format!("  {kind}: {{type: object, properties: {{{properties}}}}}\n");
    }
    text
}

#[test]
fn an_openapi_kind_is_not_compared_with_one_of_the_same_name_elsewhere() {
    let repository = Repository::new("openapi-names");
    repository.write("a/one.yaml", &service("2024-01-01", &["Item"], BOTH));
    repository.commit();
    repository.write("c/three.yaml", &service("2025-01-01", &["Item"], NOTE));
    let (found, exit, said) = repository.check(&["--against", "git:HEAD", "c/three.yaml"]);
    assert!(!found.iter().any(|found| found.contains("error")) && exit == Some(0), "{found:?} {said}");
    let note = "note: found no definition of Item at HEAD: nothing is compared for it\n";
    assert!(said.contains(note), "{said}");
    // A document that moved is the same service's.
    fs::remove_file(repository.0.join("a/one.yaml")).expect("a file can be removed");
    let (found, exit, said) = repository.check(&["--against", "git:HEAD", "c/three.yaml"]);
    assert!(found.iter().any(|found| found.starts_with("WW175 error")) && exit == Some(1), "{found:?} {said}");
}

#[test]
fn many_kinds_that_nothing_is_compared_with_are_named_on_one_line() {
    let repository = Repository::new("uncompared-many");
    repository.write("other.txt", "");
    repository.commit();
    for (kinds, expected) in [
        (&["A", "B"][..], "2 kinds at HEAD: nothing is compared for them: A and B\n"),
        (&["A", "B", "C"], "3 kinds at HEAD: nothing is compared for them: A, B and C\n"),
        (&["A", "B", "C", "D", "E"], "5 kinds at HEAD: nothing is compared for them: A, B, C and 2 more\n"),
    ] {
        repository.write("service.yaml", &service("2025-01-01", kinds, NOTE));
        let (_, exit, said) = repository.check(&["--against", "git:HEAD", "service.yaml"]);
        assert_eq!((exit, said.matches("note: ").count()), (Some(0), 1), "{said}");
        assert!(said.contains(&format!("note: found no definition of {expected}")), "{said}");
    }
}

#[test]
fn a_revision_that_cannot_be_searched_is_an_error() {
    let origin = Repository::new("unsearched-origin");
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.write("order.yaml", &definition("Order", &[("v1", BOTH)]));
    origin.commit();
    origin.git(&["rm", "--quiet", "order.yaml"]);
    origin.write("other.txt", "");
    origin.commit();
    let folder = Repository::new("unsearched");
    let source = format!("file://{}", origin.0.display());
    folder.git(&["clone", "--quiet", "--filter=blob:none", &source, "clone"]);
    let clone = Repository(folder.0.join("clone"));
    clone.write("parcel.yaml", &definition("Parcel", &[("v1", BOTH)]));
    let (_, exit, said) = clone.check(&["--against", "git:HEAD~1", "parcel.yaml"]);
    assert!(said.contains("order.yaml': unable to read") && exit == Some(2), "{said}");
    assert!(!said.contains("nothing is compared"), "{said}");
}

#[test]
fn a_status_subresource_takes_away_only_a_status_that_was_there() {
    let repository = Repository::new("status");
    let plain = definition("Order", &[("v1", NOTE)]);
    let with_status = plain.replace(
        "          properties:\n",
        "          properties:\n            status: {type: object, properties: {phase: {type: string}}}\n",
    );
    let open = plain.replace(
        "          type: object\n          properties:\n",
        "          type: object\n          x-kubernetes-preserve-unknown-fields: true\n          properties:\n",
    );
    let now = with_status.replace("      schema:\n", "      subresources: {status: {}}\n      schema:\n");
    for (before, expected) in [(plain, 0), (with_status, 1), (open, 1)] {
        repository.write("order.yaml", &before);
        repository.commit();
        repository.write("order.yaml", &now);
        let (found, _, said) = repository.check(&["--against", "git:HEAD", "order.yaml"]);
        let count = found.iter().filter(|found| found.starts_with("WW201 error")).count();
        assert_eq!(count, expected, "{found:?} {said}");
    }
}

/// A definition whose versions a webhook converts.
fn converted(text: &str) -> String {
    text.replace("  scope:", &format!("{WEBHOOK}  scope:"))
}

const WEBHOOK: &str = "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: \
                       \"https://shop.example.com\"}}}\n";

#[test]
fn fields_that_no_webhook_keeps_any_more_are_an_error() {
    let repository = Repository::new("webhook");
    const OTHER_SHAPE: &str = "note: {type: string}, size: {type: string}";
    for (versions, expected) in [
        ([("v1", BOTH), ("v2", NOTE)], Some("WW201 error")),
        ([("v1", NOTE), ("v2", BOTH)], Some("WW201 error")),
        ([("v1", BOTH), ("v2", OTHER_SHAPE)], Some("WW201 error")),
        ([("v1beta1", BOTH), ("v1beta2", NOTE)], Some("WW201 warning")),
        ([("v1", BOTH), ("v2", BOTH)], None),
    ] {
        let text = converted(&definition("Order", &versions));
        repository.write("order.yaml", &text);
        repository.commit();
        for instead in ["", "  conversion: {strategy: None}\n"] {
            repository.write("order.yaml", &text.replace(WEBHOOK, instead));
            let (found, exit, said) = repository.check(&["--against", "git:HEAD", "order.yaml"]);
            let found: Vec<_> = found.iter().filter(|found| found.starts_with("WW201")).map(|found| &**found).collect();
            let is_error = expected.is_some_and(|expected| expected.ends_with("error"));
            assert_eq!(exit, Some(i32::from(is_error)), "{versions:?}: {found:?} {said}");
            assert_eq!(found.len(), usize::from(expected.is_some()), "{versions:?}: {found:?} {said}");
            assert!(expected.is_none_or(|expected| found[0].starts_with(expected)), "{versions:?}: {found:?}");
        }
    }
    repository.write("order.yaml", &converted(&definition("Order", &[("v1", BOTH), ("v2", NOTE)])));
    repository.write("wheelwright.yaml", "kinds: [{crd: order.yaml}]\n");
    repository.commit();
    repository.write("order.yaml", &definition("Order", &[("v1", BOTH), ("v2", NOTE)]));
    // The store of a catalog keeps the field.
    let (found, exit, said) = repository.check(&["--no-laws", "--against", "git:HEAD", "order.yaml"]);
    assert!(found.iter().any(|found| found.starts_with("WW201 warning")) && exit == Some(0), "{found:?} {said}");
    repository.write("wheelwright.yaml", "");
    let (shown, _) = text_of(&repository.0, &["--against", "git:HEAD", "order.yaml"]);
    let message = "its conversion strategy is None, not Webhook: v2 drops spec.size of v1, unlike at HEAD";
    assert!(shown.contains(message), "{shown}");
}

#[test]
fn a_stored_version_that_lacks_a_field_of_the_one_before_is_an_error() {
    let repository = Repository::new("storage");
    // Of two versions the last one is stored; before, the first one was.
    let before = |storing: &str| {
        let moved = storing.replace("storage: true", "storage: was").replace("storage: false", "storage: true");
        moved.replace("storage: was", "storage: false")
    };
    let narrower = definition("Order", &[("v1", BOTH), ("v2", NOTE)]);
    let preview = definition("Order", &[("v1beta1", BOTH), ("v1beta2", NOTE)]);
    let wider = definition("Order", &[("v1", NOTE), ("v2", BOTH)]);
    for (text, catalog, expected) in [
        (&narrower, "", Some(("WW201 error", 1))),
        (&preview, "", Some(("WW201 warning", 0))),
        (&wider, "", None),
        (&converted(&narrower), "", None),
        // The store of a catalog keeps the field.
        (&narrower, "kinds: [{crd: order.yaml}]\n", Some(("WW201 warning", 0))),
    ] {
        repository.write("wheelwright.yaml", catalog);
        repository.write("order.yaml", &before(text));
        repository.commit();
        repository.write("order.yaml", text);
        let (found, exit, said) = repository.check(&["--no-laws", "--against", "git:HEAD", "order.yaml"]);
        let found: Vec<_> = found.iter().filter(|found| found.starts_with("WW201")).collect();
        assert_eq!(found.len(), usize::from(expected.is_some()), "{text} {found:?} {said}");
        let (level, expected_exit) = expected.unwrap_or(("", 0));
        assert!(found.iter().all(|found| found.starts_with(level)), "{text} {found:?}");
        assert_eq!(exit, Some(expected_exit), "{text} {found:?} {said}");
    }
    repository.write("wheelwright.yaml", "");
    let (shown, _) = text_of(&repository.0, &["--against", "git:HEAD", "order.yaml"]);
    let message = "v2 is stored, not v1, and lacks spec.size: without a webhook, every write drops it, unlike at HEAD";
    assert!(shown.contains(message), "{shown}");
}
