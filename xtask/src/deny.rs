//! Holds the packages of the workspace against `deny.toml`, whose format is that of cargo-deny: licenses, bans, duplicate versions
//! and sources. Building cargo-deny takes longer than all tests, so CI checks with this.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use toml_edit::{Document, Item, TableLike};

use crate::{
    cargo_command, output,
    packages::{self, Id, Package},
    root, say,
};

/// What `deny.toml` says.
#[derive(Debug, Default)]
struct Policy {
    /// The platforms whose packages are looked at.
    targets: Vec<String>,
    licenses: BTreeSet<String>,
    /// Names of packages that must not be in the tree, with reasons.
    denied: BTreeMap<String, String>,
    /// Versions, as in `syn@2`, that may be there beside others, with reasons.
    skipped: BTreeMap<String, String>,
}

/// Checks all packages; the error lists what is wrong.
pub(crate) fn check() -> Result<(), String> {
    // The fuzz targets are another workspace, whose Cargo.lock follows the dependencies of ours.
    output(cargo_command(["tree", "--manifest-path", "fuzz/Cargo.toml"]).current_dir(root()))?;
    let path = root().join("deny.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let policy = Policy::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let packages = packages::all(&policy.targets)?;
    let problems = policy.problems(&packages);
    say(&format!("xtask: {} packages against deny.toml: {} problems", packages.len(), problems.len()));
    match problems.is_empty() {
        true => Ok(()),
        false => Err(format!("deny.toml:\n  {}", problems.join("\n  "))),
    }
}

impl Policy {
    fn parse(text: &str) -> Result<Self, String> {
        let document = Document::parse(text).map_err(|error| error.to_string())?;
        // A rule that is not known here would not be checked.
        let known = [
            ("graph", &["targets", "all-features"][..]),
            ("licenses", &["allow"]),
            ("bans", &["multiple-versions", "multiple-versions-include-dev", "deny", "skip"]),
            ("sources", &["unknown-registry", "unknown-git"]),
        ];
        for (name, section) in document.iter() {
            let keys = known.iter().find(|(section, _)| *section == name).ok_or(format!("{name}: unknown section"))?.1;
            for (key, _) in section.as_table_like().into_iter().flat_map(TableLike::iter) {
                keys.iter().find(|known| **known == key).ok_or(format!("{name}.{key}: unknown key"))?;
            }
        }
        for (section, key) in
            [("bans", "multiple-versions"), ("sources", "unknown-registry"), ("sources", "unknown-git")]
        {
            if item(&document, section, key).and_then(Item::as_str) != Some("deny") {
                return Err(format!("{section}.{key}: must be \"deny\""));
            }
        }
        Ok(Self {
            targets: texts(item(&document, "graph", "targets")).collect(),
            licenses: texts(item(&document, "licenses", "allow")).collect(),
            denied: reasons(item(&document, "bans", "deny"))?,
            skipped: reasons(item(&document, "bans", "skip"))?,
        })
    }

    fn problems(&self, packages: &BTreeMap<Id, Package>) -> Vec<String> {
        let mut problems = Vec::new();
        for package in packages.values() {
            let id = format!("{} {}", package.name, package.version);
            if !is_allowed(&package.expression(), &self.licenses) {
                problems.push(format!("{id}: the license {:?} is not allowed", package.license));
            }
            if let Some(reason) = self.denied.get(&package.name) {
                problems.push(format!("{id}: banned: {reason}"));
            }
            if package.source.as_ref().is_some_and(|source| source.starts_with("git+")) {
                problems.push(format!("{id}: from a git repository"));
            }
        }
        let registries: BTreeSet<_> = packages.values().filter_map(|package| package.source.as_ref()).collect();
        if registries.len() > 1 {
            problems.push(format!("packages come from several sources: {registries:?}"));
        }
        problems.extend(self.duplicates(packages));
        problems
    }

    fn duplicates(&self, packages: &BTreeMap<Id, Package>) -> Vec<String> {
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, version) in packages.keys() {
            versions.entry(name).or_default().push(version);
        }
        let (mut problems, mut unused): (Vec<String>, BTreeSet<&String>) = (Vec::new(), self.skipped.keys().collect());
        for (name, versions) in versions.into_iter().filter(|(_, versions)| versions.len() > 1) {
            let skip = |version: &str| self.skipped.keys().find(|skip| matches(skip, name, version));
            let kept: Vec<&str> = versions.iter().copied().filter(|version| skip(version).is_none()).collect();
            if kept.len() > 1 {
                problems.push(format!(
                    "{name}: several versions: {}; remove one or skip it with a reason",
                    kept.join(", ")
                ));
            }
            for skip in versions.iter().filter_map(|version| skip(version)) {
                unused.remove(skip);
            }
        }
        problems.extend(unused.into_iter().map(|skip| format!("bans.skip: {skip} is not in the tree twice")));
        problems
    }
}

/// Whether `syn@2` names a version of a package.
fn matches(skip: &str, name: &str, version: &str) -> bool {
    skip.split_once('@').is_some_and(|(skipped, prefix)| {
        let rest = version.strip_prefix(prefix);
        skipped == name && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn item<'d>(document: &'d Document<impl AsRef<str>>, section: &str, key: &str) -> Option<&'d Item> {
    document.get(section)?.get(key)
}

fn texts(item: Option<&Item>) -> impl Iterator<Item = String> {
    item.and_then(Item::as_array).into_iter().flatten().filter_map(|value| Some(value.as_str()?.to_owned()))
}

/// A list of `{ crate = "…", reason = "…" }`.
fn reasons(item: Option<&Item>) -> Result<BTreeMap<String, String>, String> {
    let entries = item.and_then(Item::as_array).into_iter().flatten();
    let entry = |value: &toml_edit::Value| {
        let entry = value.as_inline_table()?;
        let text = |key| Some(entry.get(key)?.as_str()?.to_owned());
        Some((text("crate")?, text("reason").filter(|reason| !reason.is_empty())?))
    };
    let entries: Option<_> = entries.map(entry).collect();
    entries.ok_or_else(|| "bans.deny, bans.skip: expected a crate and a reason in each entry".to_owned())
}

/// Whether an SPDX expression can be met with the licenses of a set.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let is_met = any(&mut words, allowed);
    is_met && words.next().is_none()
}

type Words<'w> = std::iter::Peekable<std::str::SplitWhitespace<'w>>;

fn any(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut is_met = all(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        is_met |= all(words, allowed);
    }
    is_met
}

fn all(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut is_met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        is_met &= one(words, allowed);
    }
    is_met
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let is_met = any(words, allowed);
        return words.next_if_eq(&")").is_some() && is_met;
    }
    let mut license = words.next().unwrap_or_default().to_owned();
    if words.next_if_eq(&"WITH").is_some() {
        license = format!("{license} WITH {}", words.next().unwrap_or_default());
    }
    allowed.contains(&license)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str, license: &str, source: &str) -> (Id, Package) {
        let source = (!source.is_empty()).then(|| source.to_owned());
        let (name, version, license) = (name.to_owned(), version.to_owned(), license.to_owned());
        let package = Package { name, version, license, source, checksum: None, dependencies: BTreeSet::new() };
        (package.id(), package)
    }

    const POLICY: &str = "[graph]\ntargets = []\n[licenses]\nallow = [\"MIT\", \"ISC\"]\n\
        [bans]\nmultiple-versions = \"deny\"\ndeny = [{ crate = \"openssl\", reason = \"C\" }]\n\
        skip = [{ crate = \"syn@2\", reason = \"r\" }]\n\
        [sources]\nunknown-registry = \"deny\"\nunknown-git = \"deny\"\n";

    #[test]
    fn what_a_policy_forbids_is_found() {
        let policy = Policy::parse(POLICY).unwrap();
        let good = [
            package("a", "1.0.0", "MIT OR Apache-2.0", "registry+x"),
            package("syn", "2.0.1", "MIT/Apache-2.0", "registry+x"),
            package("syn", "3.0.0", "(MIT OR GPL-3.0) AND ISC", "registry+x"),
            package("own", "0.1.0", "MIT", ""),
        ];
        assert_eq!(policy.problems(&good.clone().into()), Vec::<String>::new());
        for (bad, expected) in [
            (package("b", "1.0.0", "GPL-3.0", "registry+x"), "b 1.0.0: the license \"GPL-3.0\" is not allowed"),
            (package("b", "1.0.0", "", "registry+x"), "b 1.0.0: the license \"\" is not allowed"),
            (package("b", "1.0.0", "MIT AND GPL-3.0", "registry+x"), "is not allowed"),
            (package("b", "1.0.0", "ISC WITH x", "registry+x"), "is not allowed"),
            (package("openssl", "1.0.0", "MIT", "registry+x"), "openssl 1.0.0: banned: C"),
            (package("b", "1.0.0", "MIT", "git+https://b"), "from a git repository"),
            (package("b", "1.0.0", "MIT", "registry+y"), "several sources"),
            (package("a", "2.0.0", "MIT", "registry+x"), "a: several versions: 1.0.0, 2.0.0"),
        ] {
            let packages: BTreeMap<_, _> = good.clone().into_iter().chain([bad]).collect();
            let problems = policy.problems(&packages).join("\n");
            assert!(problems.contains(expected), "{problems}");
        }
        let once: BTreeMap<_, _> = good.into_iter().filter(|(id, _)| id.1 != "3.0.0").collect();
        assert_eq!(policy.problems(&once), ["bans.skip: syn@2 is not in the tree twice"]);
    }

    #[test]
    fn a_policy_with_a_rule_that_is_not_checked_is_refused() {
        for (from, to, expected) in [
            ("[graph]", "[advisories]\nignore = []\n[graph]", "advisories: unknown section"),
            ("allow =", "copyleft = 1\nallow =", "licenses.copyleft: unknown key"),
            ("unknown-git = \"deny\"", "unknown-git = \"warn\"", "sources.unknown-git: must be \"deny\""),
            (", reason = \"C\"", "", "expected a crate and a reason"),
        ] {
            let error = Policy::parse(&POLICY.replace(from, to)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
