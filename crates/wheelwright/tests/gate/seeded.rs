//! Seeds changes of every class into one definition, and holds `check` against what documents show.

use serde_json::Value as Json;
use wheelwright_evolve::{Selector, Step, laws::Random};

use super::{
    classes::{self, Class, Fact, SchemaSeed, Seed},
    harm::{self, Between, Harm, Witnesses},
    repository::{Checked, Files, Repository},
    schemas::{self, Version},
    shown,
    subjects::{Subject, is_stable},
    tally::Tally,
};

/// How many documents are tried for each change; each of them also with every witness.
const DOCUMENTS: usize = 24;
/// How many changes of a class are tried until one makes a schema that Kubernetes takes.
const ATTEMPTS: usize = 12;

/// The name of the file with the definition.
const FILE: &str = "crd.json";

/// A change of every class, in every way that applies.
pub(crate) fn subject(subject: &Subject, seed: u64) -> Tally {
    let mut tally = Tally::default();
    let stable = subject.stable();
    let bare = Bare::new(&format!("{}-{seed}", subject.name), &stable);
    let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(subject.name.len() as u64));
    for class in classes::all() {
        bare.edit(&class, &mut random, &mut tally);
        bare.next(&class, &mut random, &mut tally);
    }
    let versions = subject.versions();
    if versions.iter().any(|version| !is_stable(version)) {
        let bare = Bare::new(&format!("{}-{seed}-unstable", subject.name), subject);
        for class in classes::all() {
            bare.edit(&class, &mut random, &mut tally);
        }
    }
    tally
}

/// A repository with one definition and nothing of ours.
struct Bare {
    subject: Subject,
    repository: Repository,
    base: Checked,
}

/// A schema with a change in it.
struct ChangedSchema {
    schema: Json,
    place: Selector,
    witnesses: Witnesses,
}

impl Bare {
    fn new(name: &str, subject: &Subject) -> Self {
        let files = Files::from([(FILE.to_owned(), subject.text())]);
        let repository = Repository::new(name, &files);
        repository.commit();
        let base = repository.check(&["--against", "git:HEAD", FILE]);
        Self { subject: subject.clone(), repository, base }
    }

    /// A published version is edited.
    fn edit(&self, class: &Class, random: &mut Random, tally: &mut Tally) {
        let versions = self.subject.versions();
        let Some(version) = random.pick(&versions) else { return };
        match class.seed {
            Seed::Schema(seed) => {
                self.seed_schema((class.name, seed), &self.subject, (version, version), random, tally);
            }
            Seed::Definition(seed) => {
                let mut definition = self.subject.definition.clone();
                let Some(fact) = seed(&mut definition, version, random) else { return };
                let changed = Subject { definition, ..self.subject.clone() };
                let Some(checked) = self.check(&changed) else { return };
                let harm = match fact {
                    Fact::Harm(Harm::Fact(because)) => Some(because),
                    _ => None,
                };
                let what = format!("{} {version}", self.subject.name);
                tally.count(class.name, harm, is_stable(version), checked.level_since(&self.base), &what);
            }
        }
    }

    /// A new version is published, with a change that nobody declares.
    fn next(&self, class: &Class, random: &mut Random, tally: &mut Tally) {
        let Seed::Schema(seed) = class.seed else { return };
        let versions = self.subject.versions();
        let Some(newest) = versions.last() else { return };
        let Some((with_next, next)) = self.subject.with_next(newest) else { return };
        self.seed_schema((class.name, seed), &with_next, (newest, &next), random, tally);
    }

    fn seed_schema(
        &self,
        (class, seed): (&'static str, SchemaSeed),
        subject: &Subject,
        (from, to): (&str, &str),
        random: &mut Random,
        tally: &mut Tally,
    ) {
        let Some(schema) = subject.schema(from) else { return };
        let api_version = subject.api_version(to);
        let Some(old) = Version::compile(schema, &api_version, subject.kind()) else { return };
        for _ in 0..ATTEMPTS {
            let Some(changed) = change(schema, &old, seed, random) else { return };
            let Some(new) = Version::compile(&changed.schema, &api_version, subject.kind()) else { continue };
            let Some(checked) = self.check(&subject.with_schema(to, changed.schema.clone())) else { continue };
            let between = if from == to { Between::Edits } else { Between::Versions };
            let place = (&changed.place, &changed.witnesses);
            let harm = harm::between((&old, &new), between, place, random, DOCUMENTS);
            let harm = harm.or_else(|| match between {
                Between::Edits => neighbours(subject, from, (&old, &new), place, random),
                Between::Versions => None,
            });
            let harm = harm.map(|harm| harm.to_string());
            let mode = if from == to { "edited" } else { "next" };
            let what = format!("{} {to} {mode} {}{}", subject.name, changed.place, self.news(&checked));
            tally.count(class, harm.as_deref(), is_stable(to), checked.level_since(&self.base), &what);
            return;
        }
    }

    /// The new findings, for people who look for what is wrong.
    fn news(&self, checked: &Checked) -> String {
        if shown() == 0 {
            return String::new();
        }
        let news = checked.findings.difference(&self.base.findings);
        news.map(|(rule, level, message)| format!(" [{rule} {level} {message}]")).collect()
    }

    /// What `check --against` says of a changed definition; `None` if Kubernetes refuses it.
    fn check(&self, subject: &Subject) -> Option<Checked> {
        self.repository.write(&Files::from([(FILE.to_owned(), subject.text())]));
        let checked = self.repository.check(&["--against", "git:HEAD", FILE]);
        (!checked.is_malformed_since(&self.base)).then_some(checked)
    }
}

/// A change at one of the nodes to which the class applies.
fn change(schema: &Json, old: &Version, seed: SchemaSeed, random: &mut Random) -> Option<ChangedSchema> {
    let mut nodes: Vec<&Selector> = old.generator.nodes().collect();
    random.shuffle(&mut nodes);
    for selector in nodes {
        let mut changed = schema.clone();
        let Some(node) = schemas::at(&mut changed, selector) else { continue };
        let Some(seeded) = seed(node, random) else { continue };
        if changed == *schema {
            continue;
        }
        let field = |name: &String| selector.then(Step::Field(name.as_str().into()));
        let place = seeded.field.as_ref().map_or_else(|| selector.clone(), field);
        let without = seeded.without.iter().map(field).collect();
        return Some(ChangedSchema { schema: changed, place, witnesses: Witnesses { values: seeded.values, without } });
    }
    None
}

/// A document that the versions beside an edited one lose or refuse since it was edited.
fn neighbours(
    subject: &Subject,
    version: &str,
    (old, new): (&Version, &Version),
    place: (&Selector, &Witnesses),
    random: &mut Random,
) -> Option<Harm> {
    let versions = subject.versions();
    let at = versions.iter().position(|there| there == version)?;
    let compiled = |at: usize| {
        let schema = subject.schema(versions.get(at)?)?;
        Version::compile(schema, &subject.api_version(version), subject.kind())
    };
    let mut since = |before: (&Version, &Version), after: (&Version, &Version)| {
        let harm = harm::between(after, Between::Versions, place, random, DOCUMENTS)?;
        let is_old = harm::repeats(before, Between::Versions, &harm, random)
            || harm::between(before, Between::Versions, place, random, DOCUMENTS).is_some();
        (!is_old).then_some(harm)
    };
    let later = compiled(at + 1);
    let harm = later.and_then(|later| since((old, &later), (new, &later)));
    harm.or_else(|| {
        let earlier = compiled(at.checked_sub(1)?)?;
        since((&earlier, old), (&earlier, new))
    })
}
