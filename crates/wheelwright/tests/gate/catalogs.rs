//! Changes of catalogs, changes files and locks, seeded into a kind of two locked versions.
//!
//! What they do is documented, so that no document has to decide it: a rename that becomes a removal takes values away from
//! older clients, another prefix does not find the records that are there.

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::Random;

use super::{
    repository::{Files, Level, Repository},
    subjects::Subject,
    tally::Tally,
};

/// The files of a repository by what they are.
const CRD: &str = "crd.json";
const CATALOG: &str = "wheelwright.json";
const CHANGES: &str = "changes.json";
const LOCK: &str = "wheelwright.lock";

/// How many fields are tried until one can be renamed.
const ATTEMPTS: usize = 8;

/// A kind with the locked versions `v1` and `v2`, between which one field of `spec` was renamed.
struct Locked {
    subject: Subject,
    catalog: Json,
    changes: Json,
    /// The renamed field of `spec`, as `v1` calls it.
    field: String,
    lock: String,
    repository: Repository,
}

/// What a class does to the files.
struct Seeded {
    files: Files,
    /// The lock is written again by the command, as who wants to hide something would.
    is_locked_again: bool,
    harm: Option<&'static str>,
}

type Seed = fn(&Locked, &mut Random) -> Option<Seeded>;

const CLASSES: &[(&str, Seed)] = &[
    ("lock: a rename becomes a removal", rename_becomes_removal),
    ("lock: deleted", lock_deleted),
    ("lock: a line cut", lock_line_cut),
    ("lock: a line edited", lock_line_edited),
    ("lock: written again without a version", lock_without_version),
    ("catalog: another prefix", another_prefix),
    ("catalog: older writes reset", older_writes_reset),
    ("catalog: older writes refused", older_writes_refused),
    ("catalog: null refused", null_refused),
    ("catalog: written otherwise", written_otherwise),
    ("changes: a rename is gone", rename_gone),
    ("changes: a required field removed", required_removed),
    ("changes: a conversion reads nothing", conversion_reads_nothing),
    ("changes: a converted value refused", converted_refused),
    ("changes: a rename to a field that exists", rename_taken),
    ("changes: another storage default", another_storage_default),
    ("changes: a field moved to a stricter object", moved_to_a_stricter_object),
    ("changes: a union of published fields", union_of_published),
    ("changes: a version with everything declared", declared_version),
];

/// Seeds every class into a kind.
pub(crate) fn subject(subject: &Subject, seed: u64) -> Tally {
    let mut tally = Tally::default();
    let mut random = Random::new(seed.wrapping_mul(0x2545_F491).wrapping_add(subject.name.len() as u64));
    let Some(locked) = (0..ATTEMPTS).find_map(|_| Locked::new(subject, seed, &mut random)) else { return tally };
    let base = locked.repository.check(&["--against", "git:HEAD"]);
    for (class, seed) in CLASSES {
        let Some(seeded) = seed(&locked, &mut random) else { continue };
        locked.repository.write(&seeded.files);
        if seeded.is_locked_again && !locked.repository.lock() {
            // The lock refuses it.
            tally.count(class, seeded.harm, true, Level::Error, &locked.subject.name);
            continue;
        }
        let checked = locked.repository.check(&["--against", "git:HEAD"]);
        let news: Vec<String> = checked
            .findings
            .difference(&base.findings)
            .map(|(rule, level, what)| format!("{rule} {level} {what}"))
            .collect();
        let what = format!("{} spec.{} {news:?}", locked.subject.name, locked.field);
        tally.count(class, seeded.harm, true, checked.level_since(&base), &what);
    }
    tally
}

impl Locked {
    fn new(subject: &Subject, seed: u64, random: &mut Random) -> Option<Self> {
        let stable = subject.stable();
        let schema = stable.schema(stable.versions().first()?)?.clone();
        let spec = schema.get("properties")?.get("spec")?;
        let names: Vec<String> = spec.get("properties")?.as_object()?.keys().cloned().collect();
        let field = random.pick(&names)?.clone();
        let mut definition = stable.definition.clone();
        let served = stable.definition["spec"]["versions"].as_array()?.first()?.clone();
        let version = |name: &str, schema: &Json| {
            let mut version = served.clone();
            version["name"] = json!(name);
            version["served"] = json!(true);
            version["storage"] = json!(name == "v2");
            version["schema"]["openAPIV3Schema"] = schema.clone();
            version
        };
        let renamed = renamed(&schema, &field, &format!("{field}Renamed"))?;
        definition["spec"]["versions"] = json!([version("v1", &schema), version("v2", &renamed)]);
        let subject = Subject { name: subject.name.clone(), definition };
        let path = |name: &str| format!("spec[\"{name}\"]");
        let changes = json!({"v2": {"renamed": {path(&field): path(&format!("{field}Renamed"))}}});
        let catalog = json!({"kinds": [{"crd": CRD, "changes": CHANGES}]});
        let files = files(&subject, &catalog, &changes, "");
        let repository = Repository::new(&format!("{}-{seed}-locked", subject.name), &files);
        if !repository.lock() {
            return None;
        }
        let lock = repository.read(LOCK);
        let checked = repository.check(&[]);
        if checked.findings.iter().any(|(_, level, _)| level == "error") {
            return None;
        }
        repository.commit();
        Some(Self { subject, catalog, changes, field, lock, repository })
    }

    fn files(&self) -> Files {
        files(&self.subject, &self.catalog, &self.changes, &self.lock)
    }

    fn with_changes(&self, changes: &Json) -> Files {
        files(&self.subject, &self.catalog, changes, &self.lock)
    }

    fn with_catalog(&self, change: impl FnOnce(&mut Json)) -> Files {
        let mut catalog = self.catalog.clone();
        change(&mut catalog);
        files(&self.subject, &catalog, &self.changes, &self.lock)
    }

    /// With a third version, whose schema is that of the second after an edit, and the changes of its step.
    fn with_next(&self, step: Json, edit: impl FnOnce(&mut Json) -> Option<()>) -> Option<Files> {
        let mut schema = self.subject.schema("v2")?.clone();
        edit(schema.get_mut("properties")?.get_mut("spec")?)?;
        let (next, name) = self.subject.with_next("v2")?;
        let mut changes = self.changes.clone();
        changes[&name] = step;
        Some(files(&next.with_schema(&name, schema), &self.catalog, &changes, &self.lock))
    }

    fn path(name: &str) -> String {
        format!("spec[\"{name}\"]")
    }

    /// A field of `spec` of a type, other than the renamed one, that nothing requires and no rule may be about.
    fn free_field(&self, r#type: &str, random: &mut Random) -> Option<String> {
        let spec = self.subject.schema("v2")?.get("properties")?.get("spec")?;
        let rules = spec.get("x-kubernetes-validations").map(Json::to_string).unwrap_or_default();
        let is_free = |(name, schema): &(&String, &Json)| {
            let keys = schema.as_object().map(|schema| schema.keys());
            let is_plain =
                keys.is_some_and(|mut keys| keys.all(|key| ["type", "description", "format"].contains(&&**key)));
            schema["type"] == r#type && is_plain && !is_required(spec, name) && !rules.contains(name.as_str())
        };
        let fields = spec.get("properties")?.as_object()?.iter().filter(is_free);
        random.pick(&fields.map(|(name, _)| name.clone()).collect::<Vec<_>>()).cloned()
    }
}

fn files(subject: &Subject, catalog: &Json, changes: &Json, lock: &str) -> Files {
    let mut files = Files::from([
        (CRD.to_owned(), subject.text()),
        (CATALOG.to_owned(), format!("{catalog:#}")),
        (CHANGES.to_owned(), format!("{changes:#}")),
    ]);
    if !lock.is_empty() {
        files.insert(LOCK.to_owned(), lock.to_owned());
    }
    files
}

fn is_required(node: &Json, name: &str) -> bool {
    node.get("required").and_then(Json::as_array).is_some_and(|names| names.iter().any(|required| required == name))
}

/// A schema with another name for a field of `spec`; `None` if a rule might read it.
fn renamed(schema: &Json, field: &str, to: &str) -> Option<Json> {
    let mut schema = schema.clone();
    let spec = schema.get_mut("properties")?.get_mut("spec")?;
    if spec
        .get("x-kubernetes-validations")
        .or(spec.get("oneOf"))
        .or(spec.get("anyOf"))
        .or(spec.get("default"))
        .is_some()
    {
        return None;
    }
    let moved = spec.get_mut("properties")?.as_object_mut()?.remove(field)?;
    spec["properties"][to] = moved;
    for name in spec.get_mut("required").and_then(Json::as_array_mut).into_iter().flatten() {
        if name == field {
            *name = json!(to);
        }
    }
    Some(schema)
}

fn harm(files: Files, harm: &'static str) -> Option<Seeded> {
    Some(Seeded { files, is_locked_again: false, harm: Some(harm) })
}

fn rename_becomes_removal(of: &Locked, _: &mut Random) -> Option<Seeded> {
    let changes = json!({"v2": {"removed": [Locked::path(&of.field)]}});
    let files = files(&of.subject, &of.catalog, &changes, "");
    Some(Seeded { files, is_locked_again: true, harm: Some("v1 does not read what is stored under the new name") })
}

fn lock_deleted(of: &Locked, _: &mut Random) -> Option<Seeded> {
    harm(files(&of.subject, &of.catalog, &of.changes, ""), "what was published is forgotten")
}

fn lock_line_cut(of: &Locked, random: &mut Random) -> Option<Seeded> {
    let lines: Vec<&str> = of.lock.lines().collect();
    let lines_of_fields: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("    ")).collect();
    let cut = *random.pick(&lines_of_fields)?;
    let kept = lines.iter().enumerate().filter(|(at, _)| *at != cut).map(|(_, line)| format!("{line}\n"));
    let mut files = of.files();
    files.insert(LOCK.to_owned(), kept.collect());
    harm(files, "what was published is forgotten")
}

fn lock_line_edited(of: &Locked, _: &mut Random) -> Option<Seeded> {
    let from = format!("-> spec.{}Renamed", of.field);
    let edited = of.lock.replace(&from, "-> spec.somethingElse");
    let mut files = of.files();
    files.insert(LOCK.to_owned(), edited.clone());
    if edited == of.lock { None } else { harm(files, "stored values are looked for under another name") }
}

fn lock_without_version(of: &Locked, _: &mut Random) -> Option<Seeded> {
    let mut definition = of.subject.definition.clone();
    definition["spec"]["versions"].as_array_mut()?.remove(0);
    let subject = Subject { definition, ..of.subject.clone() };
    let files = files(&subject, &of.catalog, &json!({}), "");
    Some(Seeded { files, is_locked_again: true, harm: Some("records of v1 cannot be read") })
}

fn another_prefix(of: &Locked, _: &mut Random) -> Option<Seeded> {
    let files = of.with_catalog(|catalog| catalog["kinds"][0]["adopt"] = json!({"prefix": "elsewhere"}));
    harm(files, "records are looked for under other keys")
}

fn older_writes_reset(of: &Locked, _: &mut Random) -> Option<Seeded> {
    let files = of.with_catalog(|catalog| catalog["kinds"][0]["olderWrite"] = json!("reset"));
    harm(files, "writes of older clients take away what they do not see")
}

fn written_otherwise(of: &Locked, _: &mut Random) -> Option<Seeded> {
    let mut files = of.files();
    files.insert(CATALOG.to_owned(), of.catalog.to_string());
    Some(Seeded { files, is_locked_again: false, harm: None })
}

fn older_writes_refused(of: &Locked, _: &mut Random) -> Option<Seeded> {
    let files = of.with_catalog(|catalog| catalog["kinds"][0]["policies"] = json!({"olderWrite": "reject"}));
    harm(files, "writes that were accepted are refused")
}

fn null_refused(of: &Locked, _: &mut Random) -> Option<Seeded> {
    let files = of.with_catalog(|catalog| catalog["kinds"][0]["policies"] = json!({"null": "reject"}));
    harm(files, "a null that took a field back to its default is refused")
}

/// The lock remembers what was declared.
fn rename_gone(of: &Locked, _: &mut Random) -> Option<Seeded> {
    Some(Seeded { files: of.with_changes(&json!({})), is_locked_again: false, harm: None })
}

fn required_removed(of: &Locked, random: &mut Random) -> Option<Seeded> {
    let spec = of.subject.schema("v2")?.get("properties")?.get("spec")?;
    let required = spec.get("required")?.as_array()?.iter().filter_map(Json::as_str);
    // An object in which nothing is left is not shown to versions that refuse it empty.
    spec.get("properties")?.as_object().filter(|fields| fields.len() > 1)?;
    let is_free = |name: &&str| spec["properties"][*name].get("default").is_none();
    let field = (*random.pick(&required.filter(is_free).collect::<Vec<_>>())?).to_owned();
    let files = of.with_next(json!({"removed": [Locked::path(&field)]}), |spec| {
        spec.get_mut("properties")?.as_object_mut()?.remove(&field)?;
        spec.get_mut("required")?.as_array_mut()?.retain(|name| name != &field);
        Some(())
    })?;
    harm(files, "documents of v3 are invalid in v2, which requires the field")
}

fn converted(of: &Locked, random: &mut Random, with: Json, to: &Json, because: &'static str) -> Option<Seeded> {
    let field = of.free_field("integer", random)?;
    let target = format!("{field}Converted");
    let mut with = with;
    with["to"] = json!(Locked::path(&target));
    let step = json!({"converted": {Locked::path(&field): with}});
    let files = of.with_next(step, |spec| {
        spec.get_mut("properties")?.as_object_mut()?.remove(&field)?;
        spec["properties"][&target] = to.clone();
        Some(())
    })?;
    harm(files, because)
}

fn conversion_reads_nothing(of: &Locked, random: &mut Random) -> Option<Seeded> {
    let with = json!({"up": "1", "down": "self"});
    converted(of, random, with, &json!({"type": "integer"}), "v3 shows 1 whatever v2 wrote")
}

fn converted_refused(of: &Locked, random: &mut Random) -> Option<Seeded> {
    let with = json!({"with": {"scale": 1000}});
    converted(of, random, with, &json!({"type": "integer", "maximum": 10}), "1 becomes 1000, which v3 refuses")
}

fn rename_taken(of: &Locked, random: &mut Random) -> Option<Seeded> {
    let field = of.free_field("string", random)?;
    let taken = of.free_field("string", random).filter(|taken| *taken != field)?;
    let step = json!({"renamed": {Locked::path(&field): Locked::path(&taken)}});
    let files = of.with_next(step, |spec| spec.get_mut("properties")?.as_object_mut()?.remove(&field).map(|_| ()))?;
    harm(files, "v3 has no place for the values of one of the fields")
}

fn another_storage_default(of: &Locked, random: &mut Random) -> Option<Seeded> {
    let field = of.free_field("string", random)?;
    let mut changes = of.changes.clone();
    changes["v1"] = json!({"storageDefault": {Locked::path(&field): "other"}});
    harm(of.with_changes(&changes), "records without the field read otherwise than when v1 was published")
}

fn moved_to_a_stricter_object(of: &Locked, random: &mut Random) -> Option<Seeded> {
    let field = of.free_field("string", random)?;
    let step = json!({"renamed": {Locked::path(&field): format!("spec.addedLater[\"{field}\"]")}});
    let files = of.with_next(step, |spec| {
        let properties = spec.get_mut("properties")?.as_object_mut()?;
        let moved = properties.remove(&field)?;
        let object = json!({"type": "object", "required": ["besides"], "properties": {field.as_str(): moved,
            "besides": {"type": "string"}}});
        properties.insert("addedLater".to_owned(), object);
        Some(())
    })?;
    harm(files, "v3 shows the field in an object that lacks what it requires")
}

fn union_of_published(of: &Locked, random: &mut Random) -> Option<Seeded> {
    let one = of.free_field("string", random)?;
    let other = of.free_field("string", random).filter(|other| *other != one)?;
    let mut changes = of.changes.clone();
    changes["v2"]["union"] = json!({"spec": [one, other]});
    harm(of.with_changes(&changes), "a write of one field takes the other away, which a document may have beside it")
}

fn declared_version(of: &Locked, _: &mut Random) -> Option<Seeded> {
    let files = of.with_next(json!({}), |spec| {
        spec.get_mut("properties")?.as_object_mut()?.insert("addedLater".to_owned(), json!({"type": "string"}));
        Some(())
    })?;
    Some(Seeded { files, is_locked_again: false, harm: None })
}
