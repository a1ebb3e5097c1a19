//! The catalog of `examples/cluster-api`, and documents of its kinds.

use std::{
    env, fs, iter,
    path::{Path, PathBuf},
    slice,
};

use wheelwright::{
    Console, Kinds,
    catalog::OnDisk,
    document::{Arena, Entry, Value, canonical},
    evolve::{
        Declaration, Kind, Part, VersionIndex,
        laws::{Generator, Random},
    },
    schema::{Root, Schema, Stages, ValidationError},
};

/// The catalog of the example, with the definitions where they are.
pub(crate) struct Catalog {
    pub(crate) folder: PathBuf,
    pub(crate) shared: PathBuf,
    pub(crate) kinds: Kinds,
}

impl Catalog {
    #[expect(clippy::print_stdout, reason = "says that they were skipped")]
    pub(crate) fn find(name: &str) -> Option<Self> {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let named = env::var_os("WHEELWRIGHT_SHARED").map(PathBuf::from);
        let shared = named.unwrap_or_else(|| repository.join("../shared")).canonicalize().ok();
        let Some(shared) = shared.filter(|shared| shared.join("real-apis/cluster-api").is_dir()) else {
            println!("Cluster API, {name}: SKIPPED, as there is no real-apis/cluster-api in the shared folder");
            return None;
        };
        let example = repository.join("examples/cluster-api").canonicalize().expect("the example is there");
        let text = fs::read_to_string(example.join("wheelwright.yaml")).expect("it has a catalog");
        let text = text.replace("../../../shared/", &format!("{}/", shared.display()));
        let text = text.replace("changes: ", &format!("changes: {}/", example.display()));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cluster-api").join(name);
        fs::create_dir_all(&folder).expect("a folder of our own");
        fs::write(folder.join("wheelwright.yaml"), text).expect("a folder of our own");
        // An earlier run may have locked other changes.
        let _ = fs::remove_file(folder.join("wheelwright.lock"));
        let (mut data, mut conversation) = (Vec::new(), Vec::new());
        let mut console = Console::plain(&mut data, &mut conversation);
        let kinds =
            Kinds::load(&OnDisk::default(), slice::from_ref(&folder), &mut console).expect("a console of our own");
        let kinds = kinds.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&conversation)));
        Some(Self { folder, shared, kinds })
    }

    pub(crate) fn kind(&self, name: &str) -> &Kind {
        self.kinds.iter().find(|kind| kind.name().to_lowercase() == name).expect("all ten kinds are declared")
    }

    /// Calls a function with generated documents of every version of every kind that are valid there, and on request with
    /// each of them as controllers write it.
    pub(crate) fn for_every_document(&self, variants: Variants, mut call: impl FnMut(&Written<'_>)) {
        let cases = env::var("WHEELWRIGHT_LAW_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100);
        for (kind, declaration) in self.kinds.iter().zip(self.kinds.declarations()) {
            for version in kind.history().indexes() {
                let name = kind.history().version(version).name.as_str();
                let schema = &declaration.version(name).expect("it is declared").schema;
                let api_version = kind.api_version(version).expect("these are resources");
                let generator = Generator::new(schema, Root::Resource).of_kind(api_version, kind.name());
                let mut random = Random::new(11);
                for _ in 0..cases {
                    let arena = Arena::new();
                    let document = generator.generate(&mut random, &arena);
                    if !errors(kind, version, document).is_empty() {
                        continue;
                    }
                    let normal = kind.normal(version, document, &arena).expect("it is valid");
                    let variant = match variants {
                        Variants::Valid => None,
                        Variants::WithoutEmpty => without_empty(normal, schema, &arena),
                    };
                    for document in iter::once(document).chain(variant) {
                        let normal = kind.normal(version, document, &arena).expect("it is valid");
                        let stored = kind.put(version, normal, None, Part::Whole, &arena).expect("no policy refuses");
                        call(&Written { kind, declaration, version, stored, arena: &arena });
                    }
                }
            }
        }
    }
}

/// Which documents to generate.
#[derive(Clone, Copy)]
pub(crate) enum Variants {
    /// Valid ones.
    Valid,
    /// These, and the same without empty structs.
    WithoutEmpty,
}

/// A document that was written through one version of a kind.
pub(crate) struct Written<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) declaration: &'a Declaration,
    pub(crate) version: VersionIndex,
    pub(crate) stored: Value<'a>,
    pub(crate) arena: &'a Arena,
}

impl<'a> Written<'a> {
    /// Every other version of the kind, with its name and schema.
    pub(crate) fn others(&self) -> impl Iterator<Item = (VersionIndex, &'a str, &'a Schema)> {
        let (kind, declaration) = (self.kind, self.declaration);
        let others = kind.history().indexes().filter(move |other| *other != self.version);
        others.map(move |other| {
            let name = kind.history().version(other).name.as_str();
            (other, name, &declaration.version(name).expect("it is declared").schema)
        })
    }

    pub(crate) fn shown(&self, version: VersionIndex) -> Value<'a> {
        self.kind.get(version, self.stored, self.arena)
    }
}

/// A document as controllers of the project write it, whose encoders leave out every struct that is zero, even where the
/// schema requires it; `None` if that leaves out nothing.
fn without_empty<'a>(document: Value<'a>, schema: &Schema, arena: &'a Arena) -> Option<Value<'a>> {
    let left = without_empty_structs(document, schema, arena);
    (canonical(left) != canonical(document)).then_some(left)
}

fn without_empty_structs<'a>(value: Value<'a>, schema: &Schema, arena: &'a Arena) -> Value<'a> {
    match value {
        Value::Object(entries) => {
            let mut kept = Vec::new();
            for entry in entries {
                let declared = schema.property(entry.key);
                let below = declared.or_else(|| schema.additional_schema());
                let value = below.map_or(entry.value, |below| without_empty_structs(entry.value, below, arena));
                let is_struct = declared.is_some_and(|below| !below.properties.is_empty());
                if !(is_struct && matches!(value, Value::Object([]))) {
                    kept.push(Entry { key: entry.key, value });
                }
            }
            Value::Object(arena.slice(&kept))
        }
        Value::Array(items) => {
            let below = schema.items.as_deref();
            let item = |item: &Value<'a>| below.map_or(*item, |below| without_empty_structs(*item, below, arena));
            Value::Array(arena.slice_from(items.iter().map(item)))
        }
        scalar => scalar,
    }
}

/// Why a document is invalid in a version.
pub(crate) fn errors(kind: &Kind, version: VersionIndex, document: Value<'_>) -> Vec<ValidationError> {
    let arena = Arena::new();
    let admitted = kind.program(version).expect("it is declared").run(document, &arena, Stages::ADMIT);
    admitted.expect("its metadata is valid").errors
}
