//! `diff`: what changed between two versions, for people.

use std::{
    io,
    path::{Path, PathBuf},
};

use wheelwright_catalog::{Catalog, Kind, OnDisk, Unreadable};
use wheelwright_document::{Arena, Owned, Value, encode};
use wheelwright_evolve::{
    Declaration, DeclaredVersion, Fingerprint, History, KindName, Selector, Union, VersionHistory, VersionName,
    check::{Change, Difference, describe_differences, diff as differences, has_same_access},
};

use crate::{
    Console, Exit, ResultFormat,
    locks::Locks,
    subject::{chosen, full_name},
};

/// What is compared, and how it is shown.
#[derive(Clone, Debug, Default)]
pub struct DiffOptions {
    /// The kind to look at; all of them without it.
    pub kind: Option<String>,
    /// How differences are written.
    pub format: ResultFormat,
}

/// Writes what changed from `a` to `b`: versions of the kinds at some paths, or two files. Of files, the newest versions
/// are compared, and those of one name that are not the same. That something changed is no finding.
///
/// # Errors
/// The console cannot be written to.
pub fn diff(
    a: &str,
    b: &str,
    catalog: &[PathBuf],
    options: &DiffOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let are_files = Path::new(a).is_file() && Path::new(b).is_file();
    if let Some(complaint) = no_pair(a, b).filter(|_| !are_files) {
        return console.complain(complaint).map(|()| Exit::Usage);
    }
    let found = if are_files { of_files(a, b, options) } else { of_versions(a, b, catalog, options) };
    let pairs = match found {
        Ok(pairs) => pairs,
        Err(problem) => return console.complain(problem).map(|()| Exit::Usage),
    };
    let mut is_first = true;
    for pair in &pairs {
        match options.format {
            ResultFormat::Json => pair.lines(console.data)?,
            ResultFormat::Text if pair.differences.is_empty() && pair.renamed.is_none() => {
                console.say(format_args!("{}: {} and {} do not differ", pair.kind, pair.a, pair.b))?;
            }
            ResultFormat::Text => {
                let Pair { kind, a, b, renamed, differences } = pair;
                let between = if std::mem::take(&mut is_first) { "" } else { "\n" };
                writeln!(console.data, "{between}{kind}: {a} → {b}")?;
                if let Some((was, is)) = renamed {
                    writeln!(console.data, "(the kind)\n  > {is}: was {was}")?;
                }
                write!(console.data, "{}", describe_differences(differences))?;
            }
        }
    }
    Ok(Exit::Clean)
}

/// Why two names are neither those of two files nor those of two versions, as far as can be told from the names.
fn no_pair(a: &str, b: &str) -> Option<String> {
    let looks_like_file = |name: &str| {
        let ends = [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
        ends || name.contains(std::path::is_separator) || Path::new(name).is_file()
    };
    let file = [a, b].into_iter().find(|name| looks_like_file(name))?;
    let missing = [a, b].into_iter().find(|name| looks_like_file(name) && !Path::new(name).exists());
    Some(match missing {
        Some(name) => format!("cannot read {name}: there is no such file"),
        None => format!(
            "{a} and {b} are not two files, and {file} is no version: name two files, or two versions and --catalog"
        ),
    })
}

/// Two versions of a kind.
struct Pair {
    kind: String,
    a: String,
    b: String,
    /// The names under which they are published, where these are not the same.
    renamed: Option<(KindName, KindName)>,
    differences: Vec<Difference>,
}

fn of_versions(a: &str, b: &str, catalog: &[PathBuf], options: &DiffOptions) -> Result<Vec<Pair>, String> {
    let told = |unreadable: Unreadable| unreadable.to_string();
    let catalog = Catalog::load(catalog).map_err(told)?;
    let locks = Locks::read(&OnDisk::default(), [&catalog]).map_err(told)?;
    let kinds = chosen(catalog.kinds(), options.kind.as_deref())?;
    let mut pairs = Vec::new();
    let mut there = Vec::new();
    for kind in kinds {
        let (history, _) = History::derive(&kind.declaration, locks.locked(kind).map(|locked| locked.history()));
        match (history.find(a), history.find(b)) {
            (Some(before), Some(after)) => pairs.push(Pair {
                kind: full_name(&kind.declaration),
                a: a.to_owned(),
                b: b.to_owned(),
                renamed: renamed(history.version(before), history.version(after)),
                differences: differences(&kind.declaration, &history, before, after),
            }),
            _ => there.extend(history.versions.iter().map(|version| version.name.to_string())),
        }
    }
    if pairs.is_empty() {
        there.sort_unstable();
        there.dedup();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        return Err(format!(
            "no kind has the versions {a} and {b}; there is {there}. To compare files, name two of them"
        ));
    }
    Ok(pairs)
}

fn renamed(before: &VersionHistory, after: &VersionHistory) -> Option<(KindName, KindName)> {
    let names = before.published_as.last().cloned().zip(after.published_as.last().cloned());
    names.filter(|(was, is)| was != is)
}

fn of_files(a: &str, b: &str, options: &DiffOptions) -> Result<Vec<Pair>, String> {
    let load = |file: &str| Catalog::load(&[file]).map_err(|unreadable| unreadable.to_string());
    let (before, after) = (load(a)?, load(b)?);
    let (before, after) =
        (chosen(before.kinds(), options.kind.as_deref())?, chosen(after.kinds(), options.kind.as_deref())?);
    let same = |kind: &Kind| before.iter().find(|other| other.declaration.is_same_kind(&kind.declaration)).copied();
    let pairs: Vec<Pair> = after
        .iter()
        .filter_map(|kind| Some((same(kind)?, *kind)))
        .flat_map(|(before, after)| of_declarations((a, &before.declaration), (b, &after.declaration)))
        .collect();
    let names = |kinds: &[&Kind]| {
        let names: Vec<_> = kinds.iter().map(|kind| full_name(&kind.declaration)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    if pairs.is_empty() {
        return Err(format!("no kind is in both files; {a} has {}, and {b} has {}", names(&before), names(&after)));
    }
    Ok(pairs)
}

/// The newest versions of two declarations, and those of one name that are not the same.
fn of_declarations((a, before): (&str, &Declaration), (b, after): (&str, &Declaration)) -> Vec<Pair> {
    let newest = |declaration: &Declaration| {
        let (history, _) = History::derive(declaration, None);
        let newest = history.versions.last().map(|version| version.name.clone());
        newest.and_then(|name| declaration.version(name.as_str()).cloned())
    };
    let print = |version: &DeclaredVersion| Fingerprint::of(&version.schema, version.root);
    let mut versions: Vec<(DeclaredVersion, DeclaredVersion)> = after
        .versions
        .iter()
        .filter_map(|version| Some((before.version(version.name.as_str())?.clone(), version.clone())))
        .filter(|(before, after)| print(before) != print(after) || !has_same_access(&before.schema, &after.schema))
        .collect();
    if let (Some(before), Some(after)) = (newest(before), newest(after))
        && (versions.is_empty() || before.name != after.name)
        && versions.iter().all(|(_, known)| known.name != after.name)
    {
        versions.push((before, after));
    }
    let pair = |(earlier, later): (DeclaredVersion, DeclaredVersion)| {
        let named = |version: &DeclaredVersion, file: &str| VersionName::new(format!("{} ({file})", version.name));
        let names = [named(&earlier, a), named(&later, b)];
        let mut both = Declaration::new(after.group.clone(), after.kind.clone());
        both.order = Some(names.to_vec());
        let versions = names.iter().zip([earlier, later]);
        both.versions = versions
            .map(|(name, version)| DeclaredVersion::new(name.clone(), version.schema, version.root, version.span))
            .collect();
        let (history, _) = History::derive(&both, None);
        let mut indexes = history.indexes();
        let (before, after) = (indexes.next()?, indexes.next()?);
        let differences = differences(&both, &history, before, after);
        let [a, b] = names.map(|name| name.to_string());
        Some(Pair { kind: full_name(&both), a, b, renamed: None, differences })
    };
    versions.into_iter().filter_map(pair).collect()
}

impl Pair {
    /// A JSON object a line and difference. Every object has `kind`, `from`, `to`, `change`, `before` and `after` (the paths
    /// in both versions, null where it is not there), `was` and `is` (what is different, null for nothing), `keyword`, and
    /// `with` (how a field is converted or derived).
    fn lines(&self, out: &mut dyn io::Write) -> io::Result<()> {
        if let Some((was, is)) = &self.renamed {
            let fact = ("kind", None, text(&was.to_string()), text(&is.to_string()));
            self.line(fact, [Owned::Null, Owned::Null], Owned::Null, out)?;
        }
        for difference in &self.differences {
            let path = |path: &Option<Selector>| path.as_ref().map_or(Owned::Null, |path| text(&path.to_string()));
            let with = with(&difference.change).map_or(Owned::Null, |how| text(&how));
            for fact in facts(&difference.change) {
                self.line(fact, [path(&difference.before), path(&difference.after)], with.clone(), out)?;
            }
        }
        Ok(())
    }

    fn line(
        &self,
        (change, keyword, was, is): Fact<'_>,
        [before, after]: [Owned; 2],
        with: Owned,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let entries = [
            ("kind", text(&self.kind)),
            ("from", text(&self.a)),
            ("to", text(&self.b)),
            ("change", text(change)),
            ("before", before),
            ("after", after),
            ("keyword", keyword.map_or(Owned::Null, text)),
            ("was", was),
            ("is", is),
            ("with", with),
        ];
        let object = Owned::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect());
        let mut line = encode(object.share(&Arena::new()));
        line.push(b'\n');
        out.write_all(&line)
    }
}

/// The name of a change, the keyword that it is about, what was and what is.
type Fact<'c> = (&'static str, Option<&'c str>, Owned, Owned);

fn facts(change: &Change) -> Vec<Fact<'_>> {
    let value = |value: &Option<Owned>| value.clone().unwrap_or(Owned::Null);
    let texts = |texts: &[Box<str>]| Owned::Array(texts.iter().map(|name| text(name)).collect());
    let members = |union: &Option<Union>| union.as_ref().map_or(Owned::Null, |union| texts(&union.members));
    let list = |words: Vec<&str>| Owned::Array(words.into_iter().map(text).collect());
    let spelled = |spelled: Option<&str>| spelled.map_or(Owned::Null, text);
    vec![match change {
        Change::Added { shape, .. } => ("added", None, Owned::Null, text(shape)),
        Change::Removed { shape, .. } => ("removed", None, text(shape), Owned::Null),
        Change::Converted { before, after, .. } => {
            let paths = |paths: &[Selector]| Owned::Array(paths.iter().map(|path| text(&path.to_string())).collect());
            ("converted", None, paths(before), paths(after))
        }
        Change::Moved => ("moved", None, Owned::Null, Owned::Null),
        Change::Replaced { before, after } => ("replaced", None, text(before), text(after)),
        Change::Widened { before, after, .. } => ("widened", None, text(before), text(after)),
        Change::Required(is) => ("required", Some("required"), Owned::Bool(!is), Owned::Bool(*is)),
        Change::Default { before, after } => ("default", Some("default"), value(before), value(after)),
        Change::Enum { before, after } => {
            let list = |values: &[Owned]| Owned::Array(values.into());
            ("values", Some("enum"), list(before), list(after))
        }
        Change::Known { before, after } => {
            ("known", Some("enum"), Owned::Array(before.as_slice().into()), Owned::Array(after.as_slice().into()))
        }
        Change::Limits(limits) => {
            let limit = |limit: &Option<String>| spelled(limit.as_deref());
            return limits
                .iter()
                .map(|one| ("limit", Some(one.keyword), limit(&one.before), limit(&one.after)))
                .collect();
        }
        Change::Text { keyword, before, after } => {
            ("text", Some(*keyword), spelled(before.as_deref()), spelled(after.as_deref()))
        }
        Change::Nullable(is) => ("nullable", Some("nullable"), Owned::Bool(!is), Owned::Bool(*is)),
        Change::Keys { before, after } => ("keys", None, texts(before), texts(after)),
        Change::Union { before, after } => ("union", None, members(before), members(after)),
        Change::Access { before, after } => ("access", None, list(before.words()), list(after.words())),
        _ => ("other", None, Owned::Null, Owned::Null),
    }]
}

/// How a field is converted or derived.
fn with(change: &Change) -> Option<String> {
    match change {
        Change::Converted { with, .. } => Some(with.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        Change::Added { derived, .. } | Change::Removed { derived, .. } => derived.as_deref().map(str::to_owned),
        _ => None,
    }
}

fn text(text: &str) -> Owned {
    Owned::from(Value::string(text))
}
