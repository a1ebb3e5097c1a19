//! What is wrong with the versions of a kind: its changes, its lock, what they do to each other, and the laws.

use wheelwright_catalog::Kind;
use wheelwright_document::{Arena, FieldPath, Owned, encode};
use wheelwright_evolve::{
    self as evolve, Declaration, DeclaredUnion, DeclaredVersion, Disagreement, Fingerprint, History, Located, Selector,
    VersionName, VersionStep,
    check::{
        Incompatibility, What, changed_beyond_lock, changed_since_lock, check, check_edited, check_unconverted, diff,
        has_same_access,
    },
    laws::Laws,
};
use wheelwright_findings::{Finding, Level, rules};

use super::{
    first_contact::Contact,
    gone,
    versions::{Before, Loaded, State},
};
use crate::{
    locks::changed_lines,
    report::plural,
    subject::{Subject, full_name, is_unregistered_hook},
};

/// How many cases of the laws are a sample: enough to meet every change of a kind, and over in a moment.
const SAMPLE: Laws = Laws { cases: 100, seed: 0 };

/// What was found about a kind.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) findings: Vec<Finding>,
    /// What somebody is told who has not said anything about the versions yet.
    pub(super) contact: Option<Contact>,
}

/// Looks at everything about a kind but the schemas themselves. `is_gate` is whether findings are to be judged one by
/// one, rather than told to somebody who sees them for the first time.
pub(super) fn check_kind(kinds: &State, loaded: &Loaded, kind: &Kind, is_gate: bool, with_laws: bool) -> Checked {
    let (catalog, declaration) = (&loaded.catalog, &kind.declaration);
    let lock_file = kinds.locks.of(kind);
    let locked = kinds.locks.locked(kind);
    let is_untold = loaded.is_bare && declaration.steps.is_empty() && locked.is_none();
    if declaration.versions.is_empty() || is_untold && declaration.versions.len() < 2 {
        return Checked::default();
    }
    // Whatever is held against a lock that cannot be read would be found wrong.
    if lock_file.is_some_and(|lock| !lock.findings().is_empty()) {
        return Checked::default();
    }
    let subject = Subject { catalog, kind };
    let (history, mut problems) = History::derive(declaration, locked.map(|locked| locked.history()));
    let mut compiled = None;
    if !is_untold {
        // Of what is computed there are more.
        (compiled, problems) =
            evolve::Kind::compile(declaration, locked.map(|locked| (locked.history(), locked.hub())));
    }
    // Without the program that registers it, a hook does nothing, and breaks no law.
    let is_sound = problems.iter().all(is_unregistered_hook);
    let mut findings: Vec<Finding> = problems.into_iter().map(|problem| subject.problem(problem)).collect();
    let incompatibilities = match is_untold {
        true => check_unconverted(declaration, &history),
        false => check(declaration, &history, locked.map(|locked| locked.hub())),
    };
    let mut contact = None;
    if is_untold && !is_gate {
        contact = Contact::of(catalog, kind, &history);
        findings.extend(contact.iter().flat_map(|contact| contact.findings(catalog, kind)));
        let tells = |finding: &&Incompatibility| contact.as_ref().is_some_and(|contact| contact.tells(finding));
        // Versions that were published before anybody asked are no reason to fail.
        let others = incompatibilities.iter().filter(|finding| !tells(finding));
        findings.extend(others.map(|finding| subject.incompatibility(finding).lowered_to(Level::Warning)));
    } else {
        findings.extend(incompatibilities.iter().map(|finding| subject.incompatibility(finding)));
    }
    findings.extend(gone::since_lock(&subject, &history));
    // What follows of a locked version is what the lock remembers, which explains nothing else.
    let explaining = findings.len();
    if let Some(locked) = locked {
        let changed = changed_since_lock(declaration, &history, locked.history());
        findings.extend(changed.iter().map(|found| in_place(&found.version, subject.incompatibility(found))));
    }
    if let Some(lock_file) = lock_file.filter(|lock| lock.input.is_some() || !loaded.is_bare)
        && is_sound
    {
        match lock_file.lock.grow(declaration, &history, None) {
            Ok(grown) => {
                let (before, after) = (lock_file.lock.to_string(), grown.to_string());
                let news = changed_lines(&before, &after);
                findings.extend(unlocked(&subject, &lock_file.name(), &news));
                let is_explained =
                    |version: &str| findings[..explaining].iter().any(|finding| is_in_place(finding, version));
                let unexplained =
                    locked.map(|locked| changed_beyond_lock(declaration, &history, locked)).unwrap_or_default();
                let unexplained: Vec<&VersionName> =
                    unexplained.into_iter().filter(|version| !is_explained(version.as_str())).collect();
                findings
                    .extend(unexplained.iter().map(|version| schema_changed(&subject, version, "when it was locked")));
            }
            Err(problems) => {
                // That the hub is another is said already.
                let problems = problems.into_iter().filter(|problem| !std::ptr::eq(problem.rule, &rules::HUB_MOVED));
                findings.extend(problems.map(|problem| subject.problem(problem)));
            }
        }
    }
    if let Some(compiled) = compiled.filter(|_| is_sound) {
        findings.extend(disagreements(&subject, &compiled, &incompatibilities));
        if with_laws {
            findings.extend(broken_laws(&subject, &compiled));
        }
    }
    let name = full_name(declaration);
    for finding in &mut findings {
        finding.kind.get_or_insert_with(|| name.clone());
    }
    Checked { findings, contact }
}

/// What became of versions that were published at a revision: the same rules, between then and now.
pub(super) fn changed_in_place(before: &Before, state: &State, loaded: &Loaded, kind: &Kind) -> Vec<Finding> {
    let now = &kind.declaration;
    let Some((loaded_before, kind_before)) = before.kinds.find(now) else { return Vec::new() };
    let frozen_then = Frozen::of(&before.kinds, kind_before);
    let frozen_now = Frozen::of(state, kind);
    let mut findings = Vec::new();
    for version in &now.versions {
        let Some(then) = kind_before.declaration.version(version.name.as_str()) else { continue };
        let (unions_then, unions) = (unions_of(&kind_before.declaration, then), unions_of(now, version));
        let is_same_schema = Fingerprint::of(&then.schema, then.root) == Fingerprint::of(&version.schema, version.root);
        let is_same_union = unions_then.iter().map(members).eq(unions.iter().map(members));
        if is_same_schema && is_same_union && has_same_access(&then.schema, &version.schema) {
            continue;
        }
        let name_then = VersionName::new(format!("{} at {}", version.name, before.revision));
        let mut both = Declaration::new(now.group.clone(), now.kind.clone());
        both.order = Some(vec![name_then.clone(), version.name.clone()]);
        both.versions =
            vec![DeclaredVersion::new(name_then, then.schema.clone(), then.root, then.span), version.clone()];
        both.steps = [(&both.versions[0].name, unions_then), (&version.name, unions)]
            .map(|(name, unions)| {
                let name = Located { item: name.clone(), span: Default::default() };
                let mut step = VersionStep::new(name);
                step.unions = unions;
                step
            })
            .into();
        let (history, _) = History::derive(&both, None);
        let subject = Subject { catalog: &loaded.catalog, kind };
        let found_before = findings.len();
        // What both schemas have in common is no change.
        let is_beside = |what: &What| matches!(what, What::AccessChanged(_) | What::UnionChanged { .. });
        let is_meant = |found: &Incompatibility| !is_same_schema || is_beside(&found.what);
        for mut incompatibility in check_edited(&both, &history).into_iter().filter(is_meant) {
            let rewritten = frozen_now.correct(&mut incompatibility, &frozen_then);
            if matches!(incompatibility.what, What::DefaultChanged { before: Some(_), .. })
                && (loaded.is_bare || !incompatibility.is_filled_alike())
            {
                // Clients that left the field out wrote the default. Without a catalog, nothing fills in the frozen one.
                incompatibility = incompatibility.with_level(Level::Error);
            }
            let mut finding = subject.incompatibility(&incompatibility);
            if let Some(rewritten) = rewritten {
                finding.message = format!("{}: {rewritten}, unlike at {}", now.kind, before.revision);
            }
            finding.related.clear();
            let there = incompatibility.related.and_then(|span| loaded_before.catalog.place(span));
            if let Some(there) = there {
                finding = finding.with_related(format!("at {}", before.revision), there);
            }
            findings.push(in_place(&version.name, finding));
        }
        let is_known = |from, to| !diff(&both, &history, from, to).is_empty();
        let indexes: Vec<_> = history.indexes().collect();
        if !is_same_schema && findings.len() == found_before && !matches!(indexes[..], [from, to] if is_known(from, to))
        {
            findings.push(schema_changed(&subject, &version.name, &format!("at {}", before.revision)));
        }
    }
    findings
}

/// The unions that changes declare for a version, which its schema does not tell.
fn unions_of(declaration: &Declaration, version: &DeclaredVersion) -> Vec<DeclaredUnion> {
    let step = declaration.steps.iter().find(|step| step.version.item == version.name);
    step.map_or_else(Vec::new, |step| step.unions.clone())
}

fn members(union: &DeclaredUnion) -> (&Selector, &[Box<str>]) {
    (&union.at.item, &union.members)
}

/// The defaults that readers fill in, as the lock or else the first version of a field has them.
struct Frozen(History);

impl Frozen {
    fn of(state: &State, kind: &Kind) -> Self {
        let locked = state.locks.locked(kind).map(|locked| locked.history());
        Self(History::derive(&kind.declaration, locked).0)
    }

    fn value(&self, version: &VersionName, field: &Selector) -> Option<&Owned> {
        let version = self.0.version(self.0.find(version.as_str())?);
        let id = version.id(version.structure.find(field)?)?;
        self.0.field(id).frozen.as_ref()
    }

    /// Sets the value that readers fill in for a changed default, and says so if it is another one than before: a lock that
    /// is missing or was rewritten does not freeze it.
    fn correct(&self, found: &mut Incompatibility, then: &Self) -> Option<String> {
        let (version, field) = (&found.version, &found.field);
        let What::DefaultChanged { before, after, frozen, .. } = &mut found.what else { return None };
        let (now, then) = (self.value(version, field), then.value(version, field));
        *frozen = now.cloned();
        let spelled = |value: Option<&Owned>| {
            let arena = Arena::new();
            value.map_or_else(
                || "nothing".to_owned(),
                |value| String::from_utf8_lossy(&encode(value.share(&arena))).into_owned(),
            )
        };
        (now != then).then(|| {
            format!(
                "the default of {field} in {version} is {}, and was {}; records that leave it out read as {} now, and read as {} \
                 before",
                spelled(after.as_ref()),
                spelled(before.as_ref()),
                spelled(now),
                spelled(then)
            )
        })
    }
}

/// A finding about a published version that changed.
fn in_place(version: &VersionName, finding: Finding) -> Finding {
    let identity = finding.identity.as_deref().map(|identity| format!("{identity} in place"));
    let mend = format!("{version} is published: put back what it was, or publish another version");
    Finding { identity, mend: Some(mend), ..finding }
}

/// Whether a finding is about a published version that changed.
fn is_in_place(finding: &Finding, version: &str) -> bool {
    let is_in_place = finding.identity.as_deref().is_some_and(|identity| identity.ends_with(" in place"));
    is_in_place && finding.version.as_deref() == Some(version)
}

/// A version whose schema has another fingerprint, and no rule says why.
fn schema_changed(subject: &Subject<'_>, version: &VersionName, since: &str) -> Finding {
    let declaration = &subject.kind.declaration;
    let name = full_name(declaration);
    let message = format!(
        "{}: {version} has another schema than {since}: it accepts, refuses or fills in something else, and no rule says what",
        declaration.kind
    );
    let mut finding = Finding::new(&rules::LOCKED_SCHEMA_CHANGED, message, FieldPath::root())
        .with_identity(format!("{name} {version} in place"))
        .about(name, version.as_str());
    let declared = declaration.version(version.as_str());
    finding.place = subject.catalog.place(declared.map_or(subject.kind.named, |declared| declared.span));
    finding
}

/// The versions of which a lock lacks nothing but a fingerprint.
fn bare_amendments<'t>(news: &[(&str, Vec<(char, &'t str)>)]) -> Vec<&'t str> {
    let mut found = Vec::new();
    for (_, lines) in news {
        for (position, (_, line)) in lines.iter().enumerate() {
            let amended = line.strip_prefix("  amend ").and_then(|rest| rest.split(' ').next());
            let is_bare = lines.get(position + 1).is_none_or(|(_, next)| !next.starts_with("    "));
            found.extend(amended.filter(|_| is_bare));
        }
    }
    found
}

/// What a lock lacks, by the lines that would be added. Versions that only have another fingerprint are reported otherwise.
fn unlocked(subject: &Subject<'_>, lock: &str, news: &[(&str, Vec<(char, &str)>)]) -> Option<Finding> {
    let bare = bare_amendments(news);
    let named = |word: &str| {
        let lines = news.iter().flat_map(|(_, lines)| lines);
        let versions = lines.filter_map(|(_, line)| line.strip_prefix("  ")?.strip_prefix(word)?.split(' ').nth(1));
        let is_reported = |name: &&str| word == "amend" && bare.contains(name);
        let versions = versions.filter(|name| !is_reported(name));
        versions.map(str::to_owned).collect::<Vec<_>>().join(", ")
    };
    let (versions, gains) = (named("version"), named("amend"));
    let name = full_name(&subject.kind.declaration);
    let message = match (versions.is_empty(), gains.is_empty()) {
        (true, true) => return None,
        (false, true) => format!("{lock} lacks {versions} of {name}"),
        (true, false) => format!("{lock} lacks what became of {gains} of {name}"),
        (false, false) => format!("{lock} lacks {versions} of {name}, and what became of {gains}"),
    };
    let mut finding = Finding::new(&rules::NOT_LOCKED, message, FieldPath::root())
        .with_mend("run wheelwright lock, review what it adds, and commit it")
        .with_identity(name);
    finding.place = subject.catalog.place(subject.kind.named);
    Some(finding)
}

/// Defaults that not all ways to a document agree on. Those that versions changed are found as such.
fn disagreements(subject: &Subject<'_>, kind: &evolve::Kind, known: &[Incompatibility]) -> Vec<Finding> {
    // Defaults that make a document too large are found with the schemas.
    let Ok(consistency) = kind.consistency() else { return Vec::new() };
    let history = kind.history();
    let is_known = |one: &&Disagreement| {
        let is_default = |finding: &&Incompatibility| std::ptr::eq(finding.rule(), &rules::DEFAULT_CHANGED);
        known.iter().filter(is_default).any(|finding| {
            let version = history.find(finding.version.as_str()).map(|version| history.version(version));
            version.is_some_and(|version| {
                version.structure.find(&finding.field).and_then(|node| version.id(node)) == Some(one.id)
            })
        })
    };
    let finding = |one: &Disagreement| {
        let field = &history.field(one.id).text;
        let mut finding = Finding::new(&rules::DEFAULTS_DISAGREE, one.message(history), FieldPath::root().child(field))
            .with_identity(format!("{} {field}", full_name(&subject.kind.declaration)));
        finding.place = subject.catalog.place(subject.kind.named);
        finding
    };
    let on_purpose = consistency.differing(history).filter(|one| !is_known(one));
    let on_purpose = on_purpose.map(|one| {
        let meant = "leave it, if versions are to differ there; else give them, or the objects that they are in, the same default";
        finding(one).with_mend(meant).lowered_to(Level::Note)
    });
    consistency.broken.iter().map(finding).chain(on_purpose).collect()
}

/// The laws that a sample of documents breaks.
fn broken_laws(subject: &Subject<'_>, kind: &evolve::Kind) -> Vec<Finding> {
    let declaration = &subject.kind.declaration;
    let report = SAMPLE.run(kind, declaration, &mut |_| {});
    let broken = report.laws.iter().filter_map(|law| Some((law.law, law.broken, law.example.as_ref()?)));
    let finding = |(law, count, example): (evolve::laws::Law, usize, &evolve::laws::Failure)| {
        let of = plural(SAMPLE.cases, "case");
        let message = format!("{} is broken in {count} of {of}: {}", law.name(), law.says());
        let mut finding = Finding::new(&rules::LAW_BROKEN, message, FieldPath::root())
            .with_mend(format!("the smallest example:\n{}", example.explain(law)))
            .with_identity(format!("{} {}", full_name(declaration), law.name()));
        finding.place = subject.catalog.place(subject.kind.named);
        finding
    };
    broken.map(finding).collect()
}

/// Less than what a rule says, where nobody relies on a version yet.
pub(super) fn level(rule: Level, version: &VersionName) -> Level {
    rule.min(version.maturity().gravest())
}
