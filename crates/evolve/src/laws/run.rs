//! Running the laws over generated documents, in states that several writes through several versions lead to.

use std::fmt::Write as _;

use wheelwright_document::{Arena, Entry, Number, Value, encode};
use wheelwright_schema::Stages;

use super::{
    Generator, Law, Random,
    law::{Broken, Hubs},
    schemes::{Make, Plan, Schemes, with_items_prepended},
    shrink_all,
    spelling::convertible,
};
use crate::{Declaration, Kind, VersionIndex, overlaid_schema};

/// How the laws are run.
#[derive(Clone, Copy, Debug)]
pub struct Laws {
    /// How many cases.
    pub cases: usize,
    /// Where the documents come from: the same number gives the same documents.
    pub seed: u64,
}

/// What came of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The kind.
    pub kind: String,
    /// Its versions, oldest first.
    pub versions: Vec<String>,
    /// How many cases were run.
    pub cases: usize,
    /// What the documents reached.
    pub covered: Covered,
    /// Every law.
    pub laws: Vec<LawReport>,
    /// How many of the documents that were written satisfied the rules of their version, and how many were held against
    /// rules at all.
    pub rules_passed: (usize, usize),
}

/// What documents reached, so that laws over trivial documents cannot pass for laws.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Covered {
    /// Fields, items and values of any version that a document had.
    pub nodes: usize,
    /// All of them.
    pub of: usize,
    /// Those that no document had: the version and the path.
    pub missed: Vec<(String, String)>,
    /// Writes after which a bag held something.
    pub bags: Column,
    /// Writes that gave an item with hidden data another position.
    pub reorders: Column,
    /// Writes after which something was kept as it was written, with a guard.
    pub guards: Column,
    /// Writes that switched a union away from a member that its version could not see.
    pub unions: Column,
}

/// A number, and whether it could be other than zero for the kind at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Column {
    /// How often.
    pub count: usize,
    /// Whether the kind has such a thing.
    pub applies: bool,
}

/// How often a law held.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LawReport {
    /// The law.
    pub law: Law,
    /// How often it held.
    pub held: usize,
    /// How often it was broken.
    pub broken: usize,
    /// The first failure, as small as it could be made.
    pub example: Option<Failure>,
}

/// A law that was broken, with all that is needed to see it again.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The version whose shape was stored.
    pub hub: String,
    /// The writes that led there: version and document, as JSON.
    pub writes: Vec<(String, String)>,
    /// The version that was read or written through in the end.
    pub version: String,
    /// What should have been, as JSON.
    pub expected: String,
    /// What was.
    pub found: String,
}

impl Column {
    /// Whether laws were held against nothing of the sort although there is such a thing.
    pub fn is_missed(self) -> bool {
        self.applies && self.count == 0
    }
}

impl Report {
    /// Whether every law held, over documents that met everything of which there is a [`Column`].
    pub fn is_success(&self) -> bool {
        let columns = [self.covered.bags, self.covered.reorders, self.covered.guards, self.covered.unions];
        self.laws.iter().all(|law| law.broken == 0) && !columns.into_iter().any(Column::is_missed)
    }

    /// Whether documents had every field, item and value of every version.
    pub fn is_complete(&self) -> bool {
        self.covered.nodes == self.covered.of
    }
}

impl Failure {
    /// The failure in words, a line each.
    pub fn explain(&self, law: Law) -> String {
        let mut text = format!("{}: {}\n", law.name(), law.says());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "stored in the shape of {}", self.hub);
        for (version, document) in &self.writes {
            let _ = writeln!(text, "written through {version}: {document}");
        }
        let _ = writeln!(text, "then, through {}", self.version);
        let _ = writeln!(text, "  expected {}\n  found    {}", self.expected, self.found);
        text
    }
}

impl Laws {
    /// Holds every version and every hub of a kind against the laws. `progress` is told how many cases are done.
    pub fn run(self, kind: &Kind, declaration: &Declaration, progress: &mut dyn FnMut(usize)) -> Report {
        let mut run = Run::new(kind, declaration, self.seed);
        for case in 0..self.cases {
            run.case(self.cases - case);
            progress(case + 1);
        }
        run.report(self.cases)
    }
}

struct Run<'k> {
    hubs: Hubs<'k>,
    /// A generator for every version that is declared, with the nodes that were reached.
    versions: Vec<(VersionIndex, Generator, Vec<bool>)>,
    schemes: Schemes,
    random: Random,
    covered: Covered,
    held: [usize; Law::ALL.len()],
    broken: [usize; Law::ALL.len()],
    examples: [Option<Failure>; Law::ALL.len()],
    rules_passed: (usize, usize),
}

/// How many documents are written one after the other, at most.
const MOST_WRITES: usize = 4;

impl<'k> Run<'k> {
    fn new(kind: &'k Kind, declaration: &Declaration, seed: u64) -> Self {
        let hubs = Hubs::of(kind);
        let mut versions = Vec::new();
        for index in kind.history().indexes() {
            let version = kind.history().version(index);
            let Some(declared) = declaration.version(version.name.as_str()) else { continue };
            let step = declaration.steps.iter().find(|step| step.version.item == version.name);
            let generator = match step {
                Some(step) => Generator::new(&overlaid_schema(&declared.schema, step), declared.root),
                None => Generator::new(&declared.schema, declared.root),
            };
            let generator = generator.of_kind(&declaration.api_version(&version.name), kind.name_in(index));
            let generator = generator.knowing(convertible(kind.computations(), kind.history(), index));
            let generator = generator.varying_metadata(kind.computations().read_metadata());
            let reached = vec![false; generator.nodes().len()];
            versions.push((index, generator, reached));
        }
        let schemes = Schemes::of(&hubs, &versions);
        let column = |applies| Column { count: 0, applies };
        let covered = Covered {
            bags: column(hubs.lenses.iter().any(|lenses| lenses.may_have_bags())),
            reorders: column(!schemes.reorders.is_empty()),
            guards: column(hubs.lenses.iter().any(|lenses| lenses.may_have_guards())),
            unions: column(!schemes.switches.is_empty()),
            ..Covered::default()
        };
        Self {
            hubs,
            versions,
            schemes,
            random: Random::new(seed),
            covered,
            held: Default::default(),
            broken: Default::default(),
            examples: Default::default(),
            rules_passed: (0, 0),
        }
    }

    /// One case, of so many that are left: a few writes through some versions, with some hub.
    fn case(&mut self, left: usize) {
        let arena = Arena::new();
        let Some(hub) = self.any_version() else { return };
        let plan = self.plan();
        let mut writes: Vec<(VersionIndex, Value<'_>)> = Vec::new();
        let mut stored = None;
        let hubs = &self.hubs;
        let last = plan.len() - 1;
        let versions = self.versions.len();
        for (position, Plan { writer, make }) in plan.into_iter().enumerate() {
            let (version, generator, reached) = &mut self.versions[writer];
            let version = *version;
            let shown = stored.map(|stored| hubs.lenses(hub).get(version, stored, &arena));
            let document = match (make, shown) {
                (Make::Edit, Some(shown)) => generator.mutate(shown, &mut self.random, &arena),
                (Make::Prepend, Some(shown)) => with_items_prepended(shown, &arena),
                (Make::Reach(node), _) => generator.generate_reaching(&[node], &mut self.random, &arena),
                _ => {
                    let unreached: Vec<usize> = (0..reached.len()).filter(|node| !reached[*node]).collect();
                    let start = self.random.below(unreached.len());
                    match &spread(&unreached, start, left.div_ceil(versions))[..] {
                        [] => generator.generate(&mut self.random, &arena),
                        nodes => generator.generate_reaching(nodes, &mut self.random, &arena),
                    }
                }
            };
            // Shrinking and showing need a copy of what the generator lent.
            let document = own(document, &arena);
            let Some(result) = hubs.write(hub, version, document, stored, &arena) else { continue };
            writes.push((version, document));
            let is_new = stored.is_none();
            let before = stored;
            // A union that was switched away from what its writer cannot see is meant to lose it.
            let switched;
            match result {
                Err(broken) => {
                    Self::fail(hubs, &mut self.broken, &mut self.examples, hub, &writes, broken, &arena);
                    break;
                }
                Ok(written) => {
                    self.held[Law::PutGet as usize] += usize::from(!is_new);
                    self.held[Law::CreateGet as usize] += usize::from(is_new);
                    self.held[Law::Normal as usize] += usize::from(is_new);
                    generator.visit(written.normal, |node| reached[node] = true);
                    self.covered.bags.count += usize::from(hubs.lenses(hub).bag_entries(written.stored) > 0);
                    self.covered.guards.count += usize::from(hubs.lenses(hub).guards(written.stored) > 0);
                    self.covered.reorders.count += written.tally.reorders;
                    self.covered.unions.count += written.tally.switches;
                    switched = written.tally.switches > 0;
                    if let Some(program) = hubs.kind.program(version)
                        && program.has_rules()
                        && self.random.one_in(8)
                    {
                        let errors = program.run(written.normal, &arena, Stages::RULES);
                        self.rules_passed.0 += usize::from(errors.is_ok_and(|admitted| admitted.errors.is_empty()));
                        self.rules_passed.1 += 1;
                    }
                    stored = Some(written.stored);
                }
            }
            let Some(stored) = stored.filter(|_| position == last || self.random.one_in(3)) else { continue };
            let versions = hubs.kind.history().versions.len();
            let reader = VersionIndex(self.random.below(versions) as u32);
            let other = VersionIndex(self.random.below(versions) as u32);
            let result = hubs
                .read(hub, reader, other, stored, &arena)
                .and_then(|()| hubs.agree(hub, version, reader, stored, &arena))
                .and_then(|()| match before.filter(|_| !switched) {
                    Some(before) => hubs.keeps(hub, (version, reader), (before, stored), &arena),
                    None => Ok(()),
                });
            match result {
                Ok(()) => {
                    for law in [Law::GetPut, Law::ReHub, Law::Chain, Law::Agreement, Law::Keeping] {
                        self.held[law as usize] += 1;
                    }
                }
                Err(broken) => {
                    Self::fail(hubs, &mut self.broken, &mut self.examples, hub, &writes, broken, &arena);
                    break;
                }
            }
        }
    }

    /// The writes of a case: some at random, or a scheme for what chance meets too rarely.
    fn plan(&mut self) -> Vec<Plan> {
        let columns = [self.covered.reorders, self.covered.unions, self.covered.guards];
        let wanted = if columns.into_iter().any(Column::is_missed) { 2 } else { 8 };
        if self.random.one_in(wanted) {
            let all = self.schemes.reorders.iter().chain(&self.schemes.switches).chain(&self.schemes.respellings);
            let schemes: Vec<&[Plan; 2]> = all.collect();
            if let Some(scheme) = self.random.pick(&schemes) {
                return scheme.to_vec();
            }
        }
        let writes = 1 + self.random.below(MOST_WRITES);
        (0..writes)
            .map(|_| {
                let writer = self.random.below(self.versions.len());
                Plan { writer, make: if self.random.one_in(4) { Make::New } else { Make::Edit } }
            })
            .collect()
    }

    fn any_version(&mut self) -> Option<VersionIndex> {
        if self.versions.is_empty() {
            return None;
        }
        Some(VersionIndex(self.random.below(self.hubs.kind.history().versions.len()) as u32))
    }

    fn fail(
        hubs: &Hubs<'_>,
        counts: &mut [usize; Law::ALL.len()],
        examples: &mut [Option<Failure>; Law::ALL.len()],
        hub: VersionIndex,
        writes: &[(VersionIndex, Value<'_>)],
        broken: Broken<'_>,
        arena: &Arena,
    ) {
        let law = broken.law as usize;
        counts[law] += 1;
        if examples[law].is_none() {
            examples[law] = Some(shrunk(hubs, hub, writes, broken, arena));
        }
    }

    fn report(mut self, cases: usize) -> Report {
        let kind = self.hubs.kind;
        let name = |index: VersionIndex| kind.history().version(index).name.to_string();
        for (version, generator, reached) in &self.versions {
            self.covered.of += reached.len();
            self.covered.nodes += reached.iter().filter(|reached| **reached).count();
            let missed = generator.nodes().zip(reached).filter(|(_, reached)| !**reached);
            self.covered.missed.extend(missed.map(|(selector, _)| (name(*version), selector.to_string())));
        }
        let laws = Law::ALL.into_iter().zip(self.examples).map(|(law, example)| LawReport {
            law,
            held: self.held[law as usize],
            broken: self.broken[law as usize],
            example,
        });
        Report {
            kind: kind.name().to_owned(),
            versions: kind.history().indexes().map(name).collect(),
            cases,
            covered: self.covered,
            laws: laws.collect(),
            rules_passed: self.rules_passed,
        }
    }
}

/// So many of the nodes that no document has reached that all are reached by as many documents as are left, from all over
/// the schema: neighbours often exclude one another.
fn spread(unreached: &[usize], start: usize, documents: usize) -> Vec<usize> {
    let count = unreached.len().div_ceil(documents.max(1));
    (0..count).map(|at| unreached[(start + at * unreached.len() / count) % unreached.len()]).collect()
}

/// A copy in the arena.
fn own<'a>(value: Value<'_>, arena: &'a Arena) -> Value<'a> {
    match value {
        Value::Null => Value::Null,
        Value::Bool(value) => Value::Bool(value),
        Value::Number(number) => Number::new(arena.text(number.as_str())).map_or(Value::Null, Value::Number),
        Value::String(text) => Value::string(arena.text(text.as_str())),
        Value::Array(items) => Value::Array(arena.slice_from(items.iter().map(|item| own(*item, arena)))),
        Value::Object(entries) => Value::Object(arena.slice_from(
            entries.iter().map(|entry| Entry { key: arena.text(entry.key), value: own(entry.value, arena) }),
        )),
    }
}

/// The failure with as few and as small writes as still break the same law.
fn shrunk(
    hubs: &Hubs<'_>,
    hub: VersionIndex,
    writes: &[(VersionIndex, Value<'_>)],
    broken: Broken<'_>,
    arena: &Arena,
) -> Failure {
    let versions: Vec<VersionIndex> = writes.iter().map(|(version, _)| *version).collect();
    // A write is shrunk as a document with its version beside it, so that it can be dropped as one.
    let numbers: Vec<String> = versions.iter().map(|version| version.0.to_string()).collect();
    let wrapped: Vec<Value<'_>> = writes
        .iter()
        .zip(&numbers)
        .map(|((_, document), number)| {
            let entries = [
                Entry { key: "version", value: Value::string(arena.text(number)) },
                Entry { key: "document", value: own(*document, arena) },
            ];
            Value::Object(arena.slice(&entries))
        })
        .collect();
    let fails = |writes: &[Value<'_>]| replay(hubs, hub, writes, broken.law).is_some();
    let smallest = shrink_all(&wrapped, fails, arena);
    let name = |index: VersionIndex| hubs.kind.history().version(index).name.to_string();
    let json = |value: Value<'_>| String::from_utf8_lossy(&encode(value)).into_owned();
    let (version, expected, found) = replay(hubs, hub, &smallest, broken.law)
        .unwrap_or_else(|| (broken.version, json(broken.expected), json(broken.found)));
    let writes = smallest.iter().filter_map(|write| unwrapped(hubs, *write));
    Failure {
        hub: name(hub),
        writes: writes.map(|(version, document)| (name(version), json(document))).collect(),
        version: name(version),
        expected,
        found,
    }
}

fn unwrapped<'a>(hubs: &Hubs<'_>, write: Value<'a>) -> Option<(VersionIndex, Value<'a>)> {
    let position: u32 = write.get("version")?.as_str()?.parse().ok()?;
    let known = (position as usize) < hubs.kind.history().versions.len();
    known.then_some((VersionIndex(position), write.get("document")?))
}

/// Makes the writes again; how the law was broken, if it was.
fn replay(
    hubs: &Hubs<'_>,
    hub: VersionIndex,
    writes: &[Value<'_>],
    law: Law,
) -> Option<(VersionIndex, String, String)> {
    let arena = Arena::new();
    let json = |value: Value<'_>| String::from_utf8_lossy(&encode(value)).into_owned();
    let told =
        |broken: Broken<'_>| (broken.law == law).then(|| (broken.version, json(broken.expected), json(broken.found)));
    let mut stored = None;
    for write in writes {
        let (writer, document) = unwrapped(hubs, own(*write, &arena))?;
        let before = stored;
        let switched = match hubs.write(hub, writer, document, stored, &arena)? {
            Err(broken) => return told(broken),
            Ok(written) => {
                stored = Some(written.stored);
                written.tally.switches > 0
            }
        };
        for version in hubs.kind.history().indexes() {
            for other in hubs.kind.history().indexes() {
                let now = stored?;
                let read = hubs.read(hub, version, other, now, &arena);
                if let Err(broken) = read.and_then(|()| hubs.agree(hub, version, other, now, &arena)) {
                    return told(broken);
                }
            }
            if let Some(before) = before.filter(|_| !switched)
                && let Err(broken) = hubs.keeps(hub, (writer, version), (before, stored?), &arena)
            {
                return told(broken);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::declaration;

    #[test]
    fn guards_are_met_where_a_kind_has_conversions_and_only_there() {
        let guards = |v2: &str, changes: &str| {
            let v1 = "{type: object, properties: {timeout: {type: string}}}";
            let declaration = declaration(&[("v1", v1), ("v2", v2)], changes);
            let kind = Kind::compile(&declaration, None).0.unwrap();
            Laws { cases: 50, seed: 0 }.run(&kind, &declaration, &mut |_| {}).covered.guards
        };
        let seconds = "{type: object, properties: {seconds: {type: integer}}}";
        let converted = guards(seconds, "v2: {converted: {timeout: {to: seconds, with: durationSeconds}}}");
        assert!(converted.applies && converted.count > 0, "{converted:?}");
        assert_eq!(guards(seconds, "v2: {removed: [timeout]}"), Column::default());
    }

    /// Chance alone leaves about a sixth of these fields out.
    #[test]
    fn every_field_of_a_large_kind_is_reached_in_few_cases() {
        let fields: Vec<String> = (0..900).map(|field| format!("f{field}: {{type: string}}")).collect();
        let parts = fields
            .chunks(100)
            .enumerate()
            .map(|(part, fields)| format!("p{part}: {{type: object, properties: {{{}}}}}", fields.join(", ")));
        let schema = format!("{{type: object, properties: {{{}}}}}", parts.collect::<Vec<_>>().join(", "));
        let declaration = declaration(&[("v1", &schema), ("v2", &schema)], "");
        let kind = Kind::compile(&declaration, None).0.unwrap();
        for cases in [20, 100, 200] {
            let report = Laws { cases, seed: 0 }.run(&kind, &declaration, &mut |_| {});
            assert!(report.is_success() && report.is_complete(), "{cases}: {:?}", report.covered);
        }
    }
}
