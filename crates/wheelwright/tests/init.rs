//! What `init` writes is a catalog that can be read, whether its proposals are accepted or not.

use std::{
    fs,
    path::{Path, PathBuf},
};

use wheelwright::{
    Console, Exit,
    catalog::Catalog,
    command::{InitOptions, init},
    evolve::Kind,
    findings::Level,
};

#[test]
fn proposals_are_a_changes_file_once_they_are_accepted() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/init.in");
    let folder = Folder::new("accepted");
    let proposed = accept_all(&[here.join("crds"), here.join("specs")], &folder.0);
    assert_eq!(proposed, 8);
}

/// Definitions of others, where they are at hand.
#[test]
fn proposals_for_definitions_of_others_are_changes_files() {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("WHEELWRIGHT_SHARED").map_or_else(beside, PathBuf::from);
    for (name, path) in [("crds", "conformance/crds"), ("documents", "real-apis/aro-hcp/api")] {
        let path = shared.join(path);
        if path.exists() {
            let proposed = accept_all(&[path], &Folder::new(name).0);
            assert!(proposed > 0, "{name}");
        }
    }
}

#[test]
fn a_folder_never_gets_a_second_catalog() {
    let crds = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/init.in/crds");
    for name in ["wheelwright.yml", "wheelwright.json"] {
        let folder = Folder::new(name);
        folder.write(name, "{}");
        let options = InitOptions { into: folder.0.clone(), force: true, ..InitOptions::default() };
        let (exit, told) = run(std::slice::from_ref(&crds), &options);
        assert_eq!(exit, Exit::Usage);
        assert!(told.contains(&format!("{name} is there already, and a folder has one catalog")), "{told}");
        assert_eq!(fs::read_dir(&folder.0).expect("a folder for tests can be read and written").count(), 1);
    }
}

#[test]
fn kinds_whose_names_differ_only_in_case_have_changes_files_of_their_own() {
    let folder = Folder::new("case");
    for (version, field) in [("1.0", "qty"), ("2.0", "quantity")] {
        let schema = format!(r#"{{"type": "object", "properties": {{"{field}": {{"type": "integer"}}}}}}"#);
        let definitions = ["Cart", "cart", "CART", "cart-2"].map(|name| format!(r#""{name}": {schema}"#)).join(", ");
        let info = format!(r#""info": {{"title": "Shop", "version": "{version}"}}"#);
        let document = format!(r#"{{"swagger": "2.0", {info}, "paths": {{}}, "definitions": {{{definitions}}}}}"#);
        folder.write(&format!("{version}.json"), &document);
    }
    let definitions = ["Cart", "cart", "CART", "cart-2"].map(str::to_owned).to_vec();
    let options = InitOptions { into: folder.0.clone(), definitions, ..InitOptions::default() };
    let (exit, told) = run(&["1.0.json", "2.0.json"].map(|name| folder.0.join(name)), &options);
    assert_eq!(exit, Exit::Clean, "{told}");
    let changes = fs::read_dir(folder.0.join("changes")).expect("something is proposed").count();
    assert_eq!(changes, 4, "{told}");
    assert_holds(&folder.0);
}

/// Makes a catalog; how it ended, and what was said.
fn run(paths: &[PathBuf], options: &InitOptions) -> (Exit, String) {
    let (mut data, mut conversation) = (Vec::new(), Vec::new());
    let exit = init(paths, options, &mut Console::plain(&mut data, &mut conversation))
        .expect("a folder for tests can be read and written");
    (exit, String::from_utf8_lossy(&conversation).into_owned())
}

/// Makes a catalog, accepts all that is proposed, and says how many lines these are. Nothing is wrong with what is said
/// before or after.
fn accept_all(paths: &[PathBuf], into: &Path) -> usize {
    let options = InitOptions { into: into.to_owned(), ..InitOptions::default() };
    let (exit, told) = run(paths, &options);
    assert_eq!(exit, Exit::Clean, "{told}");
    assert_holds(into);
    let mut proposed = 0;
    for file in fs::read_dir(into.join("changes")).expect("something is proposed") {
        let path = file.expect("a folder for tests can be read and written").path();
        let text = fs::read_to_string(&path).expect("a folder for tests can be read and written");
        proposed +=
            text.lines().filter(|line| line.contains("  # likely: ") || line.contains("  # possible: ")).count();
        let accepted: Vec<&str> = text.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).collect();
        fs::write(&path, accepted.join("\n")).expect("a folder for tests can be read and written");
    }
    assert_holds(into);
    proposed
}

fn assert_holds(folder: &Path) {
    let catalog = Catalog::load(&[folder]).expect("a folder for tests can be read and written");
    let is_error = |level: Level| level == Level::Error;
    let wrong: Vec<_> = catalog.findings().iter().filter(|finding| is_error(finding.level)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for kind in catalog.kinds() {
        let (_, problems) = Kind::compile(&kind.declaration, None);
        let wrong: Vec<_> = problems.iter().filter(|problem| is_error(problem.rule.level)).collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", kind.declaration.kind);
    }
}

/// A folder that is there as long as a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("init-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for tests can be read and written");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("a folder for tests can be read and written");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
