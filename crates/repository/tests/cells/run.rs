//! Trying every cell of a kind, and holding what every version shows against the laws.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Debug,
};

use serde_json::Value as Json;
use wheelwright_evolve::{FieldId, NodeIndex, Shape, Step, VersionIndex};
use wheelwright_repository::{FieldProblem, Name, RepositoryError, View, Write, WriteError, Written};
use wheelwright_schema::{Schema, model::Additional};
use wheelwright_store::{Revision, Store};

use crate::{
    json::{Segment, at},
    oracle::{Because, Expected, Field, INPUTS, Input, Method, conceal},
    sample::{Author, Extent, Sample},
    subject::{Policies, Subject},
};

/// How many cells there were, in all and of a sort. A cell is what one version reads after one write.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) cells: usize,
    pub(crate) of: BTreeMap<String, usize>,
}

impl Counts {
    fn add(&mut self, cells: usize, sorts: &[String]) {
        self.cells += cells;
        for sort in sorts {
            *self.of.entry(sort.clone()).or_default() += cells;
        }
    }

    /// Counts one of a sort that is not a sort of cells.
    fn sort(&mut self, sort: &str) {
        *self.of.entry(sort.to_owned()).or_default() += 1;
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.cells += other.cells;
        for (sort, cells) in other.of {
            *self.of.entry(sort).or_default() += cells;
        }
    }
}

/// A record that was created through a version, and what every version shows of it.
struct Base {
    version: VersionIndex,
    bytes: Vec<u8>,
    shown: Vec<Json>,
}

/// A write that is tried.
#[derive(Clone, Copy)]
struct Cell<'c> {
    base: &'c Base,
    through: VersionIndex,
    field: &'c Field,
    method: Method,
    input: Input,
}

impl Subject {
    /// Tries every write of every field through every version to documents that some versions have created; and reads every
    /// version after each.
    pub(crate) async fn try_writes(&self, creators: &[VersionIndex], writes: &[(Method, Input)]) -> Counts {
        let mut counts = Counts::default();
        let mut number = 0;
        for version in creators.iter().copied() {
            for extent in [Extent::Full, Extent::Sparse] {
                let base = self.base(version, extent).await;
                for through in self.versions() {
                    for field in &self.fields[through.position()] {
                        for (method, input) in writes.iter().copied() {
                            let cell = Cell { base: &base, through, field, method, input };
                            number += 1;
                            // In one place with the bases, whose documents are written to it.
                            let name = Name::new(&format!("base/{number}")).expect("a name");
                            self.try_write(&cell, &name, &mut counts).await;
                        }
                    }
                }
            }
        }
        counts
    }

    /// Tries to create documents through every version with every input in every field, and reads every version after each.
    pub(crate) async fn try_creates(&self) -> Counts {
        let mut counts = Counts::default();
        for version in self.versions() {
            for field in &self.fields[version.position()] {
                for input in INPUTS {
                    self.try_create(version, field, input, &mut counts).await;
                }
            }
        }
        counts
    }

    async fn base(&self, version: VersionIndex, extent: Extent) -> Base {
        let mut document = self.document(version, Sample { extent, author: Author::Service, number: 1 });
        if self.kind().is_resource() {
            document["metadata"] = serde_json::json!({"name": "base", "labels": {"a": "b"}});
        }
        let name = Name::new(&format!("base/{}-{extent:?}", self.version_name(version))).expect("a name");
        let document = document.to_string();
        let write = Write::document(self.version_name(version), document.as_bytes()).by_service();
        let created = self.collection.create(&name, write).await;
        created.unwrap_or_else(|error| panic!("{}: {error}\n{document}", self.version_name(version)));
        let key = self.collection.kind().key(&name).expect("a key");
        let stored = self.store.get(&key).await.expect("a store").expect("it was created");
        let shown = self.shown(&name).await;
        Base { version, bytes: crate::unchecked::without_checksum(stored.value), shown }
    }

    /// A document with all that says what it is.
    fn document(&self, version: VersionIndex, sample: Sample) -> Json {
        let mut document = sample.value(self.schema(version));
        if let (Some(api_version), Json::Object(fields)) = (self.kind().api_version(version), &mut document) {
            fields.insert("apiVersion".to_owned(), api_version.into());
            fields.insert("kind".to_owned(), self.kind().name_in(version).into());
        }
        document
    }

    /// What every version shows, by position; null for those that only the lock remembers.
    async fn shown(&self, name: &Name) -> Vec<Json> {
        let mut shown = vec![Json::Null; self.history().versions.len()];
        for version in self.versions() {
            let read = self.collection.get(name, View::Version(self.version_name(version))).await;
            let read = read.expect("it can be read").expect("it is there");
            shown[version.position()] = serde_json::from_slice(&read.json).expect("JSON");
        }
        shown
    }

    /// A value for a field that is in no base document.
    fn value(&self, version: VersionIndex, field: &Field) -> Json {
        let selector = self.version(version).structure.selector(field.node);
        let schema = selector.steps().iter().try_fold(self.schema(version), |schema: &Schema, step| match step {
            Step::Field(name) => schema.property(name),
            Step::Items => schema.items.as_deref(),
            Step::Values => match schema.additional_properties.as_ref()? {
                Additional::Schema(values) => Some(&**values),
                Additional::Allowed(_) => None,
            },
        });
        let sample = Sample { extent: Extent::Full, author: Author::Customer, number: 4 };
        sample.value(schema.expect("a field of the version"))
    }

    async fn try_write(&self, cell: &Cell<'_>, name: &Name, counts: &mut Counts) {
        let Cell { base, through, field, method, input } = *cell;
        let mut dressed = base.shown[through.position()].clone();
        // A record is shown under the name that it lies under.
        if let Some(own) = dressed.pointer_mut("/metadata/name") {
            *own = name.last().into();
        }
        let value = self.value(through, field);
        let Some(attempt) = self.attempt(field, (method, input), &value, &dressed) else { return };
        let before = self.undressed(dressed);
        let expected = self.expected(through, field, &attempt, Some(&before));

        let key = self.collection.kind().key(name).expect("a key");
        let revision = self.store.create(&key, base.bytes.clone()).await.expect("a new key");
        let body = attempt.body.to_string();
        let version = self.version_name(through);
        let write = match method {
            Method::Put => Write::document(version, body.as_bytes()),
            Method::Merge => Write::merge_patch(version, body.as_bytes()),
            Method::JsonPatch => Write::json_patch(version, body.as_bytes()),
        };
        let outcome = self.collection.update(name, &revision, write).await;
        let told = format!("{cell:?} {} with {:?}\n{body}\nto {before}", self.called(), self.policies);

        let (shown, revision) = match (expected, outcome) {
            (Expected::Refused(because), Err(error)) => {
                assert!(is_refused(&error, because), "{told}\nmust be refused as {because:?}, not: {error}");
                self.count(cell, &format!("refused: {because:?}"), counts);
                return;
            }
            (Expected::Refused(because), Ok(written)) => {
                panic!("{told}\nmust be refused as {because:?}: {}", String::from_utf8_lossy(&written.document.json))
            }
            (Expected::Shown(_), Err(RepositoryError::Write(WriteError::Put(error)))) => {
                assert!(self.may_be_stale(cell), "{told}\nmust not be refused: {error}");
                self.count(cell, "refused: olderWrite", counts);
                return;
            }
            (Expected::Shown(shown), Err(error)) => panic!("{told}\nmust give {shown}: {error}"),
            (Expected::Shown(shown), Ok(written)) => {
                let is_sure = self.policies.older_write == "reject" && self.must_be_stale(cell, &shown);
                assert!(!is_sure, "{told}\nmust be refused: it would reset what the version cannot say");
                let seen = self.seen(through, shown.clone());
                assert_eq!(self.written(&written), seen, "{told}");
                // What is not seen may be there or not.
                if !self.is_unseen(through, field) {
                    self.metadata_moves(&written, shown != before, &told);
                }
                (seen, written.document.revision)
            }
        };
        let after = self.shown(name).await;
        assert_eq!(self.undressed(after[through.position()].clone()), shown, "{told}");
        for reader in self.versions() {
            self.agree(cell, reader, &after, &told, counts);
        }
        self.count_hooked((&base.shown, &after), through, &told, counts);
        if self.policies.older_write == "preserve" {
            self.nothing_changes_when_written_back((name, &revision), &after, &told).await;
        }
        self.count(cell, "done", counts);
    }

    async fn try_create(&self, version: VersionIndex, field: &Field, input: Input, counts: &mut Counts) {
        let sample = Sample { extent: Extent::Full, author: Author::Customer, number: 1 };
        let document = self.document(version, sample);
        let value = self.value(version, field);
        let Some(attempt) = self.attempt(field, (Method::Put, input), &value, &document) else { return };
        let expected = self.expected(version, field, &attempt, None);
        let name = Name::new(&format!("created/{}/{}/{input:?}", self.version_name(version), field.id.position()));
        let name = name.expect("a name");
        let body = attempt.body.to_string();
        let write = Write::document(self.version_name(version), body.as_bytes());
        let told = format!("create {} {} {:?} {input:?}\n{body}", self.called(), version.position(), field.place);
        let (shown, revision) = match (expected, self.collection.create(&name, write).await) {
            (Expected::Refused(because), Err(error)) => {
                assert!(is_refused(&error, because), "{told}\nmust be refused as {because:?}, not: {error}");
                counts.add(self.versions().count(), &["create refused".to_owned()]);
                return;
            }
            (Expected::Shown(shown), Ok(written)) => {
                let seen = self.seen(version, shown);
                assert_eq!(self.written(&written), seen, "{told}");
                (seen, written.document.revision)
            }
            (expected, outcome) => panic!("{told}\nmust be {expected:?}: {outcome:?}"),
        };
        let after = self.shown(&name).await;
        for reader in self.versions() {
            for read in self.leaves(reader) {
                if let Some(place) = self.place(version, read.id) {
                    let said = at(&shown, place);
                    let read_as = at(&after[reader.position()], &read.place);
                    assert!(
                        self.is_agreed(read.id, read_as, said),
                        "{told}\n{:?} read through {} is {read_as:?}, not {said:?}",
                        read.place,
                        self.version_name(reader)
                    );
                }
            }
        }
        self.nothing_changes_when_written_back((&name, &revision), &after, &told).await;
        counts.add(self.versions().count(), &[format!("create {input:?}"), format!("{:?}", field.shape)]);
    }

    /// A document as customers see it.
    fn seen(&self, version: VersionIndex, mut document: Json) -> Json {
        conceal(self.schema(version), &mut document);
        document
    }

    /// Whether customers never see a field.
    fn is_unseen(&self, version: VersionIndex, field: &Field) -> bool {
        let sample = Sample { extent: Extent::Full, author: Author::Service, number: 1 };
        let document = sample.value(self.schema(version));
        at(&document, &field.place).is_some() && at(&self.seen(version, document.clone()), &field.place).is_none()
    }

    fn written(&self, written: &Written) -> Json {
        self.undressed(serde_json::from_slice(&written.document.json).expect("JSON"))
    }

    fn metadata_moves(&self, written: &Written, is_changed: bool, told: &str) {
        let is_reset = self.policies.older_write == "reset";
        assert!(is_reset || written.is_changed == is_changed, "{told}\nis_changed: {}", written.is_changed);
        let generation = written.document.metadata.generation;
        if !written.is_changed {
            assert_eq!(generation, 1, "{told}");
        }
    }

    /// What another version reads after a write.
    fn agree(&self, cell: &Cell<'_>, reader: VersionIndex, after: &[Json], told: &str, counts: &mut Counts) {
        let is_reset = self.policies.older_write == "reset";
        let (through, before) = (cell.through, &cell.base.shown);
        for read in self.leaves(reader) {
            let now = at(&after[reader.position()], &read.place);
            let was = at(&before[reader.position()], &read.place);
            let said = self.place(through, read.id);
            let problem = || {
                let reader = self.version_name(reader);
                format!("{told}\n{:?} read through {reader} was {was:?} and is {now:?}", read.place)
            };
            let in_writer = |documents: &[Json], place: &[Segment]| at(&documents[through.position()], place).cloned();
            if let Some(place) = said {
                let said = in_writer(after, place);
                assert!(self.is_agreed(read.id, now, said.as_ref()), "{}\nbut was written as {said:?}", problem());
            } else if let by = self.said_by(through, read.id)
                && !by.is_empty()
            {
                // Where nothing changes of what says it, it stays as it was; but something that is converted with it may have
                // been set back.
                let mut places = by.iter().filter_map(|id| self.place(through, *id));
                let is_same = places.all(|place| in_writer(before, place) == in_writer(after, place));
                let may_be_reset = is_reset && self.is_converted_with_unsaid(through, read.id);
                let is_let = !is_same || may_be_reset || !self.is_kept(cell, read.id, after);
                assert!(is_let || now == was, "{}", problem());
                if is_reset && is_same && was.is_some() && now == was {
                    counts.sort("reset: what is said otherwise stays");
                }
            } else if self.is_newer(through, read.id) && is_reset {
                let is_reset = now.is_none() || now == self.frozen(read.id) || self.is_derived(read.id);
                assert!(is_reset, "{}\nbut must be reset", problem());
                if was.is_some() && now.is_none() && self.is_converted(read.id) {
                    counts.sort("reset: of a part that came later");
                }
            } else {
                let is_filled_in = |value: Option<&Json>| value.is_none() || value == self.frozen(read.id);
                let goes = || is_filled_in(now) && (is_filled_in(was) || !self.is_kept(cell, read.id, after));
                let follows = || self.follows(read.id, &HashSet::from([cell.field.id]));
                assert!(now == was || goes() || follows(), "{}\nbut nobody wrote it", problem());
            }
        }
    }

    /// Whether two versions say the same of a field. What is merely filled in is so where its object is shown, and what one
    /// version has as null another may not be able to say.
    fn is_agreed(&self, id: FieldId, one: Option<&Json>, other: Option<&Json>) -> bool {
        let (one, other) = (one.filter(|value| !value.is_null()), other.filter(|value| !value.is_null()));
        match (one, other) {
            (Some(one), Some(other)) => one == other,
            (None, None) => true,
            (Some(only), None) | (None, Some(only)) => Some(only) == self.frozen(id),
        }
    }

    /// Whether the objects and items that a field is in are those that were there before a write, as far as its version can
    /// tell.
    fn is_kept(&self, cell: &Cell<'_>, id: FieldId, after: &[Json]) -> bool {
        let (before, after) = (&cell.base.shown[cell.through.position()], &after[cell.through.position()]);
        let stays = |place: &[Segment]| {
            let is_there = |document: &Json| at(document, place).is_some_and(|value| !value.is_null());
            is_there(before) == is_there(after)
        };
        self.above(id).iter().all(|above| match self.place(cell.through, *above) {
            Some(place) => stays(place) && !self.moves_items(cell, *above),
            // Whoever removes another spelling of an object removes the object.
            None => {
                let by = self.said_by(cell.through, *above);
                by.into_iter().filter_map(|id| self.place(cell.through, id)).all(stays)
            }
        })
    }

    /// Whether a write may put other items into a list or map.
    fn moves_items(&self, cell: &Cell<'_>, container: FieldId) -> bool {
        let through = self.version(cell.through);
        let Some(node) = through.node_of(container) else { return false };
        let is_above = through.node_of(cell.field.id).is_some_and(|field| self.is_below(cell.through, node, field));
        let is_container = matches!(through.structure.node(node).shape, Shape::List | Shape::Map);
        // A key of the list, or of another version's list.
        let is_key = cell.field.place.last().is_some_and(|last| {
            let keys = |version: VersionIndex| {
                let version = self.version(version);
                version.node_of(container).map(|node| version.structure.node(node).keys.clone()).unwrap_or_default()
            };
            let mut keys = self.history().indexes().flat_map(keys);
            keys.any(|key| *last == Segment::Key(key))
        });
        is_container && (is_above || is_key)
    }

    /// Whether a node is another, or below it.
    fn is_below(&self, version: VersionIndex, node: NodeIndex, above: NodeIndex) -> bool {
        let structure = &self.version(version).structure;
        std::iter::successors(Some(node), |node| structure.node(*node).parent).any(|node| node == above)
    }

    /// Whether a field is newer than a version, which has no other spelling of it or of anything that it is in.
    fn is_newer(&self, version: VersionIndex, id: FieldId) -> bool {
        let oldest = self.history().indexes().find(|index| self.version(*index).node_of(id).is_some());
        oldest.is_some_and(|oldest| oldest > version) && self.said_by(version, id).is_empty()
    }

    /// Whether something that the version of a write cannot say has a value that a reset would change, and that the write
    /// cannot have removed.
    fn must_be_stale(&self, cell: &Cell<'_>, shown: &Json) -> bool {
        let mut after = vec![Json::Null; self.history().versions.len()];
        after[cell.through.position()] = shown.clone();
        self.stale(cell).any(|id| self.is_kept(cell, id, &after))
    }

    fn may_be_stale(&self, cell: &Cell<'_>) -> bool {
        self.policies.older_write == "reject" && self.stale(cell).next().is_some()
    }

    fn stale<'s>(&'s self, cell: &'s Cell<'_>) -> impl Iterator<Item = FieldId> + 's {
        let is_stale = |id: &FieldId| {
            let is_written = !self.is_derived(*id) || self.version(cell.base.version).node_of(*id).is_some();
            is_written
                && self.is_newer(cell.through, *id)
                && self.versions().any(|reader| {
                    let field = self.fields[reader.position()].iter().find(|field| field.id == *id);
                    let shown =
                        field.and_then(|field| Some((field, at(&cell.base.shown[reader.position()], &field.place)?)));
                    // What is in an object is looked at by itself; what is left is that an empty one is there.
                    shown.is_some_and(|(field, shown)| {
                        (field.is_leaf || is_empty(shown)) && Some(shown) != self.frozen(*id)
                    })
                })
        };
        self.history().ids().filter(move |id| is_stale(id))
    }

    async fn nothing_changes_when_written_back(
        &self,
        (name, revision): (&Name, &Revision),
        shown: &[Json],
        told: &str,
    ) {
        // Each version has its turn: a write back is of all that it shows, whichever field was written before.
        let turn = told.len() % self.versions().count();
        let version = self.versions().nth(turn).expect("a version");
        let body = shown[version.position()].to_string();
        let version = self.version_name(version);
        let back = self.collection.update(name, revision, Write::document(version, body.as_bytes())).await;
        let back = back.unwrap_or_else(|error| panic!("{told}\nwritten back through {version}: {error}\n{body}"));
        assert!(!back.is_changed, "{told}\nreading and writing back through {version} changes it");
    }

    /// The fields that are compared as a whole.
    fn leaves(&self, version: VersionIndex) -> impl Iterator<Item = &Field> {
        self.fields[version.position()].iter().filter(|field| field.is_leaf)
    }

    fn called(&self) -> &str {
        self.kind().name()
    }

    fn count(&self, cell: &Cell<'_>, outcome: &str, counts: &mut Counts) {
        let Policies { older_write, null } = self.policies;
        let mut sorts = vec![
            format!("{:?} {:?}", cell.method, cell.input),
            format!("{:?}", cell.field.shape),
            format!("olderWrite {older_write}: {outcome}"),
        ];
        if cell.method == Method::JsonPatch {
            sorts.push(format!("JsonPatch, olderWrite {older_write}: {outcome}"));
        }
        match (cell.method, cell.input) {
            (Method::Merge, Input::Null) => sorts.push(format!("null {null}: {outcome}")),
            (Method::JsonPatch, Input::Null) => sorts.push(format!("JsonPatch, null {null}: {outcome}")),
            _ => {}
        }
        counts.add(self.versions().count(), &sorts);
    }
}

impl Debug for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { base, through, field, method, input } = self;
        let (created, through) = (base.version.position(), through.position());
        write!(f, "created through {created}, {method:?} through {through} of {:?}: {input:?}", field.place)
    }
}

fn is_empty(value: &Json) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

fn is_refused(error: &RepositoryError, because: Because) -> bool {
    let RepositoryError::Write(WriteError::Fields(fields)) = error else { return false };
    let is_so = |problem: &FieldProblem| match because {
        Because::NotWritable => matches!(problem, FieldProblem::NotWritable(_) | FieldProblem::Fixed),
        Because::NullRefused => matches!(problem, FieldProblem::NullRefused),
        Because::WouldRefill => matches!(problem, FieldProblem::WouldRefill),
        Because::Invalid => matches!(problem, FieldProblem::Invalid(_)),
    };
    !fields.is_empty() && fields.iter().all(|field| is_so(&field.problem))
}
