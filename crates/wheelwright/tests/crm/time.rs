//! The example at every time of its story: what was declared and locked when a version was the newest.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    slice,
    sync::OnceLock,
};

use wheelwright::{
    Console, Exit,
    catalog::Catalog,
    command::{self, LockOptions},
    document::{Arena, Decode, Value, decode, decode_yaml, encode},
    evolve::{Declaration, Kind, Lock, Part, VersionIndex},
};

/// Every version that there ever was.
pub(crate) const VERSIONS: [&str; 15] = [
    "2011-01-01",
    "2012-02-02",
    "2013-03-03",
    "2014-04-04-preview",
    "2014-04-04",
    "2015-05-05",
    "2016-06-06",
    "2017-07-07",
    "2018-08-08",
    "2019-09-09",
    "2020-10-10",
    "2021-11-11",
    "2022-12-12",
    "2023-01-13",
    "2024-02-14",
];

/// The example when a version was the newest.
pub(crate) struct Time {
    pub(crate) newest: &'static str,
    folder: PathBuf,
    pub(crate) catalog: String,
    pub(crate) declaration: Declaration,
    pub(crate) kind: Kind,
}

impl Time {
    /// Writes what there was, and locks it with the newest stable version as the hub.
    fn begin(newest: usize, lock: Option<&str>) -> Self {
        let is_there = |version: &&&str| **version != "2011-01-01" || newest < position("2015-05-05");
        let versions: Vec<&str> = VERSIONS[..=newest].iter().filter(is_there).copied().collect();
        let newest = VERSIONS[newest];
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crm").join(newest);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("api")).expect("folders can be made");
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("files can be written");
        for version in &versions {
            let from = if *version == "2011-01-01" { "dropped" } else { "api" };
            write(&format!("api/{version}.yaml"), &text(&format!("{from}/{version}.yaml")));
        }
        let catalog = catalog_of(&versions);
        write("wheelwright.yaml", &catalog);
        write("changes.yaml", &changes_until(newest));
        lock.into_iter().for_each(|lock| write("wheelwright.lock", lock));
        let hub = versions.iter().rfind(|version| !version.ends_with("-preview")).map(|hub| (*hub).to_owned());
        let (mut data, mut conversation) = (Vec::new(), Vec::new());
        let mut console = Console::plain(&mut data, &mut conversation);
        let exit =
            command::lock(slice::from_ref(&folder), &LockOptions { hub, ..LockOptions::default() }, &mut console);
        assert_eq!(
            exit.expect("a console of our own"),
            Exit::Clean,
            "{newest}: {}",
            String::from_utf8_lossy(&conversation)
        );
        let loaded = Catalog::load(&[&folder]).expect("it can be read");
        let declaration = loaded.kinds()[0].declaration.clone();
        let (lock, problems) = Lock::parse(&read(&folder.join("wheelwright.lock")));
        assert!(problems.is_empty(), "{newest}: {problems:?}");
        let locked = lock.locked(&declaration).expect("it is locked");
        let (kind, problems) = Kind::compile(&declaration, Some((locked.history(), locked.hub())));
        assert!(problems.is_empty(), "{newest}: {problems:?}");
        Self { newest, folder, catalog, declaration, kind: kind.expect("it has versions") }
    }

    pub(crate) fn version(&self, name: &str) -> VersionIndex {
        self.kind.version(name).expect("it was published by then")
    }

    pub(crate) fn hub(&self) -> &str {
        self.kind.history().version(self.kind.lenses().hub()).name.as_str()
    }

    pub(crate) fn lock(&self) -> String {
        read(&self.folder.join("wheelwright.lock"))
    }

    /// What a version shows after some writes, each through a version. All but the first replace what theirs showed.
    pub(crate) fn told(&self, writes: &[(&str, &str)], read: &str) -> String {
        let (arena, kind) = (Arena::new(), &self.kind);
        let mut stored = None;
        for (version, text) in writes {
            let (version, document) = (self.version(version), json(text, &arena));
            let normal = match stored {
                None => kind.normal(version, document, &arena),
                Some(stored) => kind.normal_update(version, document, kind.get(version, stored, &arena), &arena),
            };
            let normal = normal.expect("it can be decoded");
            stored = Some(kind.put(version, normal, stored, Part::Whole, &arena).expect("nothing is refused"));
        }
        spelled(kind.get(self.version(read), stored.expect("something is written"), &arena))
    }

    /// An address is no business of those who cannot see it.
    pub(crate) fn keeps_the_address_of_holmes(&self) {
        let holmes = r#"{"id":"7","mailingAddress":{"street":"221B Baker Street","city":"London"}}"#;
        assert_eq!(self.told(&[(self.newest, holmes)], "2015-05-05"), r#"{"id":"7"}"#);
        let named = r#"{"id":"7","knownAs":"Sherlock"}"#;
        assert_eq!(
            self.told(&[(self.newest, holmes), ("2015-05-05", named)], self.newest),
            r#"{"id":"7","knownAs":"Sherlock","mailingAddress":{"street":"221B Baker Street","city":"London"}}"#
        );
    }

    /// The rules of what `check` finds, with field and version.
    pub(crate) fn check(&self, arguments: &[&str]) -> Vec<String> {
        let output = Command::new(env!("CARGO_BIN_EXE_wheelwright"))
            .current_dir(&self.folder)
            .args(["check", "--format", "json"])
            .args(arguments)
            .output()
            .expect("the command can be started");
        let arena = Arena::new();
        let lines = String::from_utf8(output.stdout).expect("JSON is text");
        let found = lines.lines().map(|line| {
            let finding = json(line, &arena);
            let told = ["rule", "version", "field"]
                .map(|key| finding.get(key).and_then(|value| value.as_str()).unwrap_or("-"));
            let is_let_pass = finding.get("suppressed").is_some_and(|reason| !reason.is_null());
            format!("{}{}", told.join(" "), if is_let_pass { " is allowed" } else { "" })
        });
        found.collect()
    }
}

pub(crate) fn time(newest: &str) -> &'static Time {
    &story()[position(newest)]
}

fn position(version: &str) -> usize {
    VERSIONS.iter().position(|name| *name == version).expect("it is of the story")
}

/// Every time of the story, each with the lock that the one before left.
pub(crate) fn story() -> &'static [Time] {
    static STORY: OnceLock<Vec<Time>> = OnceLock::new();
    STORY.get_or_init(|| {
        let mut story: Vec<Time> = Vec::new();
        for newest in 0..VERSIONS.len() {
            let lock = story.last().map(Time::lock);
            story.push(Time::begin(newest, lock.as_deref()));
        }
        story
    })
}

/// The catalog with some versions.
fn catalog_of(versions: &[&str]) -> String {
    let is_party = |version: &str| position(version) >= position("2020-10-10");
    let is_renamed = versions.iter().any(|version| is_party(version));
    let entry = |version: &&str| match is_renamed && !is_party(version) {
        true => format!("      {version}: {{ file: api/{version}.yaml, definition: Person }}\n"),
        false => format!("      {version}: api/{version}.yaml\n"),
    };
    let entries: String = versions.iter().map(entry).collect();
    let names = if is_renamed { "    definition: Party\n    was: [Person]\n" } else { "    definition: Person\n" };
    let is_dropped = !versions.contains(&"2011-01-01");
    let successors = if is_dropped { "    successors: { 2011-01-01: 2012-02-02 }\n" } else { "" };
    format!("kinds:\n  - openapi:\n{entries}{names}{successors}    changes: changes.yaml\n")
}

/// What the changes said when a version was the newest: its paragraphs begin with the version.
pub(crate) fn changes_until(newest: &str) -> String {
    let changes = text("changes.yaml");
    let is_known = |paragraph: &&str| {
        let version = paragraph.split(':').next().unwrap_or_default();
        VERSIONS[..=position(newest)].contains(&version) || paragraph.starts_with('#')
    };
    changes.split("\n\n").filter(is_known).collect::<Vec<_>>().join("\n\n")
}

pub(crate) fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crm")
}

pub(crate) fn text(name: &str) -> String {
    read(&example().join(name))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("it can be read")
}

/// The document that the example has for a version.
pub(crate) fn input<'a>(version: &str, arena: &'a Arena) -> Value<'a> {
    let text = text(&format!("tests/written-{version}/input.{version}.yaml"));
    let documents = decode_yaml(arena.text(&text).as_bytes(), arena, &Decode::default()).expect("it is YAML");
    documents.first().expect("it has a document").to_value(arena)
}

pub(crate) fn json<'a>(text: &str, arena: &'a Arena) -> Value<'a> {
    decode(arena.text(text).as_bytes(), arena).expect("it is JSON")
}

pub(crate) fn spelled(value: Value<'_>) -> String {
    String::from_utf8(encode(value)).expect("JSON is text")
}

/// A document of texts without one of its fields.
pub(crate) fn without(text: &str, field: &str) -> String {
    let arena = Arena::new();
    let entries = json(text, &arena).as_object().expect("it is an object");
    let kept: Vec<_> = entries.iter().filter(|entry| entry.key != field).copied().collect();
    spelled(Value::Object(&kept))
}
