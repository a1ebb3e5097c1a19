//! The kinds whose cells are tried: catalogs of the examples, of the tests, and real ones where they are there.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value as Json;
use wheelwright_catalog::{Catalog, OnDisk, read_lock};
use wheelwright_evolve::{
    Direction, FieldId, History, Kind, Lock, NodeIndex, Selector, Shape, VersionHistory, VersionIndex,
};
use wheelwright_repository::{Collection, Repository, ServedKind};
use wheelwright_schema::Schema;
use wheelwright_store::Memory;

use crate::{
    hooks::hooks,
    json::{Segment, json_of, place_of},
    oracle::Field,
    shared::copy,
};

/// The policies of a run, as a catalog spells them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Policies {
    pub(crate) older_write: &'static str,
    pub(crate) null: &'static str,
}

/// Every policy, with the usual one of the other sort.
pub(crate) const POLICIES: [Policies; 6] = [
    Policies { older_write: "preserve", null: "reset" },
    Policies { older_write: "preserve", null: "reject" },
    Policies { older_write: "preserve", null: "clear" },
    Policies { older_write: "preserve", null: "zero" },
    Policies { older_write: "reset", null: "reset" },
    Policies { older_write: "reject", null: "reset" },
];

/// A kind in an empty store, and what the tests know of it without asking its lenses.
pub(crate) struct Subject {
    pub(crate) policies: Policies,
    pub(crate) collection: Collection,
    pub(crate) store: Memory,
    /// The schemas by version.
    pub(crate) schemas: Vec<Option<Schema>>,
    pub(crate) is_arm: bool,
    /// The fields that are written in cells, by version.
    pub(crate) fields: Vec<Vec<Field>>,
    /// Their frozen defaults, by id.
    frozen: Vec<Option<Json>>,
    /// The fields that a field is in, in any version, by id.
    above: Vec<Vec<FieldId>>,
    /// What every step spells otherwise: the fields of either side, and all that is in them.
    conversions: Vec<[Side; 2]>,
    /// Fields that are derived, and the fields that they are derived from.
    derived: Vec<(FieldId, HashSet<FieldId>)>,
}

/// One side of what a step spells otherwise.
struct Side {
    fields: Vec<FieldId>,
    /// Those, and all that is in them.
    all: HashSet<FieldId>,
}

/// A kind of a folder with a catalog, with policies. `name` tells the copies of the folder apart.
pub(crate) fn subject(folder: &Path, kind: &str, policies: Policies) -> Subject {
    let name = folder.file_name().unwrap_or_default();
    let copied = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cells").join(name);
    let copied = copied.join(format!("{kind}-{}-{}", policies.older_write, policies.null));
    copy(folder, &copied).expect("a catalog can be copied");
    let file = copied.join("wheelwright.yaml");
    let Policies { older_write, null } = policies;
    let text = fs::read_to_string(&file).expect("a catalog");
    let text = format!("{text}policies: {{ olderWrite: {older_write}, null: {null} }}\n");
    fs::write(&file, text).expect("the copy can be written");
    load(&copied, kind, policies)
}

fn load(folder: &Path, kind: &str, policies: Policies) -> Subject {
    let catalog = Catalog::load(&[folder]).expect("a catalog");
    assert!(catalog.findings().is_empty(), "{:?}", catalog.findings());
    let lock = read_lock(&OnDisk::default(), folder).expect("a lock or none");
    let lock = lock.map(|input| Lock::parse(&input.text()).0);
    let declared = catalog.kinds().iter().find(|declared| &*declared.declaration.kind == kind).expect("a kind");
    let locked = lock.as_ref().and_then(|lock| lock.locked(&declared.declaration));
    let locked = locked.map(|locked| (locked.history(), locked.hub()));
    let (compiled, problems) = Kind::compile_with(&declared.declaration, locked, &hooks());
    assert!(problems.is_empty(), "{problems:?}");
    let compiled = compiled.expect("a kind");
    let schemas = compiled.history().versions.iter();
    let schemas =
        schemas.map(|version| Some(declared.declaration.version(version.name.as_str())?.schema.clone())).collect();
    let history = compiled.history();
    let (conversions, derived) = (conversions(history), derived(history));
    let is_arm = declared.is_of_resource_manager();
    let served = ServedKind::new(compiled, declared).expect("a kind that can be served");
    let store = Memory::new();
    let repository = Repository::new(Arc::new(store.clone()), [served]);
    let collection = repository.kinds().next().expect("the kind");
    let (fields, frozen, above) = (Vec::new(), Vec::new(), Vec::new());
    let mut subject =
        Subject { policies, collection, store, schemas, is_arm, fields, frozen, above, conversions, derived };
    subject.fields = subject.history().indexes().map(|version| subject.fields_of(version)).collect();
    subject.frozen = subject.history().fields.iter().map(|field| field.frozen.as_ref().map(json_of)).collect();
    subject.above = subject.history().ids().map(|id| subject.above_of(id)).collect();
    subject
}

impl Subject {
    pub(crate) fn kind(&self) -> &Kind {
        self.collection.kind().kind()
    }

    pub(crate) fn history(&self) -> &History {
        self.kind().history()
    }

    pub(crate) fn version(&self, index: VersionIndex) -> &VersionHistory {
        self.history().version(index)
    }

    pub(crate) fn version_name(&self, index: VersionIndex) -> &str {
        self.version(index).name.as_str()
    }

    /// The versions that can be written, oldest first.
    pub(crate) fn versions(&self) -> impl Iterator<Item = VersionIndex> + '_ {
        self.history().indexes().filter(|version| self.schemas[version.position()].is_some())
    }

    pub(crate) fn schema(&self, version: VersionIndex) -> &Schema {
        self.schemas[version.position()].as_ref().expect("a version that can be written")
    }

    /// A frozen default of a field.
    pub(crate) fn frozen(&self, id: FieldId) -> Option<&Json> {
        self.frozen[id.position()].as_ref()
    }

    /// The fields that a field is in, in any version.
    pub(crate) fn above(&self, id: FieldId) -> &[FieldId] {
        &self.above[id.position()]
    }

    fn fields_of(&self, version: VersionIndex) -> Vec<Field> {
        let history = self.version(version);
        let field = |node: NodeIndex| {
            let place = place_of(&history.structure.selector(node));
            let (shape, is_leaf) = (history.structure.node(node).shape, self.is_leaf(version, node));
            Some(Field { id: history.id(node)?, node, place, shape, is_leaf })
        };
        let fields = history.structure.fields().filter_map(field);
        fields.filter(|field| !self.is_kept_outside(&field.place)).collect()
    }

    fn above_of(&self, id: FieldId) -> Vec<FieldId> {
        let of_version = |version: VersionIndex| {
            let version = self.version(version);
            let parent = |node: &NodeIndex| version.structure.node(*node).parent;
            let first = version.node_of(id).as_ref().and_then(parent);
            let ids: Vec<FieldId> = std::iter::successors(first, parent).filter_map(|node| version.id(node)).collect();
            ids
        };
        let above: HashSet<FieldId> = self.history().indexes().flat_map(of_version).collect();
        above.into_iter().collect()
    }

    /// Whether a field is compared as a whole: a scalar, or a list or map of them.
    fn is_leaf(&self, version: VersionIndex, node: NodeIndex) -> bool {
        let structure = &self.version(version).structure;
        match structure.node(node).shape {
            Shape::Scalar(_) => true,
            Shape::Object => false,
            Shape::List | Shape::Map => structure.element(node).is_none_or(|element| self.is_leaf(version, element)),
        }
    }

    /// The place of a field in the documents of a version that has it.
    pub(crate) fn place(&self, version: VersionIndex, id: FieldId) -> Option<&[Segment]> {
        let fields = &self.fields[version.position()];
        fields.iter().find(|field| field.id == id).map(|field| &*field.place)
    }

    /// The fields of a version by which it says one that it does not have: what that is converted to, itself or with all that it
    /// is in, and what this is converted to in turn.
    pub(crate) fn said_by(&self, version: VersionIndex, id: FieldId) -> HashSet<FieldId> {
        let has = |id: &FieldId| self.version(version).node_of(*id).is_some();
        // By every way that takes no step twice: the steps that were taken, and where they led to.
        let mut said = HashSet::new();
        let mut ways = vec![(Vec::new(), id)];
        while let Some((taken, at)) = ways.pop() {
            for (step, sides) in self.conversions.iter().enumerate().filter(|(step, _)| !taken.contains(step)) {
                for (side, other) in [(&sides[0], &sides[1]), (&sides[1], &sides[0])] {
                    if side.all.contains(&at) {
                        said.extend(other.fields.iter().filter(|id| has(id)));
                        ways.extend(other.fields.iter().map(|id| ([&taken[..], &[step]].concat(), *id)));
                    }
                }
            }
        }
        said
    }

    /// Whether some step converts a field, itself or with all that it is in.
    pub(crate) fn is_converted(&self, id: FieldId) -> bool {
        self.conversions.iter().flatten().any(|side| side.all.contains(&id))
    }

    /// Whether a step converts a field together with one that a version cannot say.
    pub(crate) fn is_converted_with_unsaid(&self, version: VersionIndex, id: FieldId) -> bool {
        let is_unsaid =
            |id: &FieldId| self.version(version).node_of(*id).is_none() && self.said_by(version, *id).is_empty();
        let mut known = HashSet::from([id]);
        loop {
            let sides = self.conversions.iter().filter(|sides| sides.iter().any(|side| !side.all.is_disjoint(&known)));
            let next: HashSet<FieldId> = sides.flatten().flat_map(|side| side.all.iter().copied()).collect();
            if next.is_subset(&known) {
                return known.iter().any(is_unsaid);
            }
            known.extend(next);
        }
    }

    /// Whether a field may be derived from others.
    pub(crate) fn is_derived(&self, id: FieldId) -> bool {
        self.derived.iter().any(|(derived, _)| *derived == id)
    }

    /// Whether what is derived of some fields, directly or not, may be this one.
    pub(crate) fn follows(&self, id: FieldId, inputs: &HashSet<FieldId>) -> bool {
        let mut known = inputs.clone();
        loop {
            let next = self.derived.iter().filter(|(_, from)| !from.is_disjoint(&known)).map(|(derived, _)| *derived);
            let next: Vec<FieldId> = next.filter(|derived| !known.contains(derived)).collect();
            if next.is_empty() {
                return known.contains(&id) && !inputs.contains(&id);
            }
            known.extend(next);
        }
    }
}

/// The field at a path, or the one whose items or values are there.
fn field_at(version: &VersionHistory, selector: &Selector) -> FieldId {
    let mut node = version.structure.find(selector).expect("a field of the version");
    while version.id(node).is_none() {
        node = version.structure.node(node).parent.expect("a field");
    }
    version.id(node).expect("a field")
}

fn conversions(history: &History) -> Vec<[Side; 2]> {
    let mut found = Vec::new();
    for version in &history.versions {
        let Some(before) = version.from.map(|before| history.version(before)) else { continue };
        for respelled in &version.respelled {
            found.push([(before, &respelled.from), (version, &respelled.to)].map(|(version, paths)| {
                let fields: Vec<FieldId> = paths.iter().map(|at| field_at(version, &at.item)).collect();
                let parent = |node: &NodeIndex| version.structure.node(*node).parent;
                let is_in_it = |node: &NodeIndex| {
                    let mut above = std::iter::successors(Some(*node), parent).filter_map(|node| version.id(node));
                    above.any(|id| fields.contains(&id))
                };
                let all = version.structure.fields().filter(is_in_it).filter_map(|node| version.id(node)).collect();
                Side { fields, all }
            }));
        }
    }
    found
}

fn derived(history: &History) -> Vec<(FieldId, HashSet<FieldId>)> {
    let mut found = Vec::new();
    for version in &history.versions {
        let Some(before) = version.from.map(|before| history.version(before)) else { continue };
        for derived in &version.derived {
            let (of, from) = match derived.direction {
                Direction::Up => (version, before),
                Direction::Down => (before, version),
            };
            let expression = &*derived.expression.item;
            let is_read = |node: &NodeIndex| {
                let selector = from.structure.selector(*node);
                match selector.steps().last() {
                    Some(wheelwright_evolve::Step::Field(name)) => expression.contains(&**name),
                    _ => false,
                }
            };
            let inputs = from.structure.fields().filter(is_read).filter_map(|node| from.id(node)).collect();
            found.push((field_at(of, &derived.at.item), inputs));
        }
    }
    found
}

/// The folder of an example.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// The folder of a catalog of the tests.
pub(crate) fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogs").join(name)
}
