//! Locking more: new kinds, new versions, and what published versions gained. What is locked stays as it is.

use std::{collections::HashMap, fmt};

use wheelwright_document::{Owned, Span};
use wheelwright_findings::{Rule, rules};

use super::{
    fingerprint::Fingerprint,
    model::{Attributes, Description, Edit, Entry, Fault, Lock, LockedKind, Origin, full_name},
    replay::Replay,
};
use crate::{
    Declaration, FieldId, History, KindName, Located, NodeIndex, Structure, VersionHistory, VersionName, Writers,
    problem::problem_at,
};
use wheelwright_schema::Problem;

/// A hub that moved. How it is displayed says what has to happen before it is deployed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct HubMove {
    /// The kind, with its group.
    pub kind: String,
    /// The version whose shape was stored.
    pub from: VersionName,
    /// The version whose shape is stored from now on.
    pub to: VersionName,
}

impl fmt::Display for HubMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, from, to } = self;
        write!(
            f,
            "documents of {kind} are stored in the shape of {to} from now on, and no longer in that of {from}.\n\
             While releases are exchanged one by one, old and new ones read the same store. So, in this order:\n  \
             1. deploy everywhere a release whose lock has {to}, with the hub still at {from}: it can read both shapes\n  \
             2. once no release is left that does not know {to}, deploy this lock: what is written is stored as {to}\n  \
             3. sweep the store, so that nothing is left in the shape of {from}\n\
             A release that does not know {to} would refuse to write the documents that it meets between 2 and 3."
        )
    }
}

impl Lock {
    /// The lock with what a history has and it has not. The history must continue the one that is locked. The hub is
    /// the one that is asked for, else the locked one, and for a new kind the pinned one, else the newest stable one.
    ///
    /// # Errors
    /// What would change that is locked.
    pub fn grow(
        &self,
        declaration: &Declaration,
        history: &History,
        hub: Option<&VersionName>,
    ) -> Result<Self, Vec<Problem>> {
        let found = self.position_of(declaration);
        let locked = found.map(|position| &self.kinds[position]);
        let title = locked.map_or_else(|| declaration.name(), |locked| locked.title.clone());
        let mut growth = Growth {
            replay: Replay::new(title.clone()),
            entries: Vec::new(),
            problems: self.taken_name(declaration).into_iter().collect(),
        };
        if let Some(locked) = locked {
            growth.repeat(locked);
            growth.contradictions(locked, declaration, history);
        }
        for version in &history.versions {
            growth.version(version, declaration, history);
        }
        let before = locked.map(|locked| &locked.hub);
        let hub = growth.hub(before, declaration, history, hub);
        let (Some(hub), true) = (hub, growth.problems.is_empty()) else { return Err(growth.problems) };
        let grown = LockedKind::new(title, hub, growth.entries, growth.replay.history());
        let mut lock = self.clone();
        match found {
            Some(position) => lock.kinds[position] = grown,
            None => lock.insert(grown),
        }
        Ok(lock)
    }

    /// Moves the hub of a kind.
    ///
    /// # Errors
    /// The kind or the version is not locked.
    pub fn move_hub(&mut self, group: &str, kind: &str, to: &VersionName) -> Result<HubMove, Box<Problem>> {
        let name = full_name(&KindName::new(group, kind));
        let refused = |message: String| Box::new(problem_at(&rules::HUB_MOVED, Span::default(), message));
        let is_named = |locked: &&mut LockedKind| locked.is_named(group, kind);
        let found = self.kinds.iter_mut().find(is_named);
        let locked = found.ok_or_else(|| refused(format!("{name} is not locked")))?;
        if locked.history.find(to.as_str()).is_none() {
            let versions: Vec<_> = locked.history.versions.iter().map(|version| version.name.as_str()).collect();
            let message = format!("{name} has no version {to} that could be its hub");
            return Err(Box::new(refused(message).mend(format!("name one of {}", versions.join(", ")))));
        }
        let from = std::mem::replace(&mut locked.hub, to.clone());
        Ok(HubMove { kind: name, from, to: to.clone() })
    }
}

struct Growth {
    replay: Replay,
    entries: Vec<Entry>,
    problems: Vec<Problem>,
}

impl Growth {
    fn problem(&mut self, rule: &'static Rule, span: Span, message: String) {
        self.problems.push(problem_at(rule, span, message));
    }

    fn add(&mut self, entry: Entry) {
        match self.replay.build(&entry) {
            Ok(built) => {
                self.replay.settle_entry(built);
                self.entries.push(entry);
            }
            Err(fault) => self.fault(&entry.version, fault),
        }
    }

    fn fault(&mut self, version: &VersionName, fault: Fault) {
        self.problem(&rules::LOCKED_FACT_CHANGED, Span::default(), format!("{version}: {}", fault.message));
    }

    fn repeat(&mut self, locked: &LockedKind) {
        locked.entries.iter().for_each(|entry| self.add(entry.clone()));
    }

    /// What is declared now, and is locked otherwise.
    fn contradictions(&mut self, locked: &LockedKind, declaration: &Declaration, history: &History) {
        let name_of = |history: &History, index| history.version(index).name.clone();
        let fields: HashMap<&str, _> = history.fields.iter().map(|field| (&*field.text, field)).collect();
        for field in &locked.history.fields {
            let text = &field.text;
            let message = match fields.get(&**text) {
                None => format!("{text} is locked, and the versions do not know it any more"),
                Some(now) if now.frozen != field.frozen => {
                    format!("what {text} is filled in with is locked")
                }
                Some(now) if name_of(history, now.first) != name_of(&locked.history, field.first) => {
                    format!("{text} is locked as a field that {} brought", name_of(&locked.history, field.first))
                }
                Some(_) => continue,
            };
            self.problem(&rules::LOCKED_FACT_CHANGED, Span::default(), message);
        }
        let is_locked = |version: &&VersionHistory| locked.history.find(version.name.as_str()).is_some();
        let order = |history: &History| -> Vec<VersionName> {
            history.versions.iter().filter(is_locked).map(|version| version.name.clone()).collect()
        };
        let (before, now) = (order(&locked.history), order(history));
        if before.iter().filter(|name| now.contains(name)).ne(&now) {
            let spelled: Vec<_> = before.iter().map(VersionName::as_str).collect();
            let message = format!("the order of the versions is locked: {}", spelled.join(", "));
            self.problem(&rules::LOCKED_FACT_CHANGED, Span::default(), message);
        }
        for step in &declaration.steps {
            let version = locked.history.find(step.version.item.as_str()).map(|index| locked.history.version(index));
            let (Some(version), Some(from)) = (version, &step.from) else { continue };
            let before = version.from.map(|from| name_of(&locked.history, from));
            if before.as_ref() != Some(&from.item) {
                let from_what = before.map_or_else(|| "none".to_owned(), |before| before.to_string());
                let message = format!("{} is locked as coming from {from_what}, not {}", version.name, from.item);
                self.problem(&rules::LOCKED_FACT_CHANGED, from.span, message);
            }
        }
    }

    /// Locks a version, or what it gained.
    fn version(&mut self, version: &VersionHistory, declaration: &Declaration, history: &History) {
        let Some(declared) = declaration.version(version.name.as_str()) else { return };
        let fingerprint = Fingerprint::of(&declared.schema, declared.root);
        let locked = self.replay.version(&version.name);
        let from = version.from.map(|from| history.version(from).name.clone());
        let base = locked.or_else(|| from.as_ref().and_then(|from| self.replay.version(from)));
        let difference = Difference::new(&self.replay, base, version, history);
        let mut edits = difference.edits();
        let writers = locked.map_or(Writers::Exact, |locked| locked.writers);
        if writers != version.writers {
            edits.push(Edit::Writers(version.writers));
        }
        // What a version computes is locked with it, and never amended.
        if locked.is_none() {
            edits.extend(version.respelled.iter().cloned().map(Edit::Respelled));
            edits.extend(version.derived.iter().cloned().map(Edit::Derived));
        }
        let origin = match locked {
            Some(_) => Origin::Amended,
            None => Origin::New { from, before: self.next_locked(version, history) },
        };
        let known_as = locked.map_or(Some(self.replay.title()), |locked| locked.published_as.last());
        let published_as = version.published_as.last().filter(|name| Some(*name) != known_as).cloned();
        let mut entry = Entry { version: version.name.clone(), published_as, origin, fingerprint, edits };
        if entry.origin == Origin::Amended && self.refuses(&entry, declared.span) {
            return;
        }
        match self.replay.build(&entry) {
            Ok(built) => orders(&built.version.structure, &version.structure, &mut entry.edits),
            Err(fault) => return self.fault(&version.name, fault),
        }
        let earlier = self.entries.iter().rev().find(|earlier| earlier.version == version.name);
        let is_news = !entry.edits.is_empty()
            || entry.published_as.is_some()
            || earlier.is_none_or(|earlier| earlier.fingerprint != fingerprint);
        if is_news {
            self.add(entry);
        }
    }

    /// The version before which a new one is, if it is not the newest.
    fn next_locked(&self, version: &VersionHistory, history: &History) -> Option<VersionName> {
        let mut later = history.versions.iter().skip_while(|later| later.name != version.name);
        later.find(|later| self.replay.version(&later.name).is_some()).map(|later| later.name.clone())
    }

    /// A locked version may gain fields, and not lose any.
    fn refuses(&mut self, entry: &Entry, span: Span) -> bool {
        let before = self.problems.len();
        for edit in &entry.edits {
            let (Edit::Remove(at) | Edit::Move { from: at, .. }) = edit else { continue };
            let message = format!("{} is locked with {at}, and has it no more", entry.version);
            self.problems.push(problem_at(&rules::LOCKED_VERSION_CHANGED, span, message));
        }
        self.problems.len() > before
    }

    fn hub(
        &mut self,
        locked: Option<&VersionName>,
        declaration: &Declaration,
        history: &History,
        asked: Option<&VersionName>,
    ) -> Option<VersionName> {
        let pinned = declaration.hub.as_ref();
        let span = pinned.map_or(Span::default(), |pinned| pinned.span);
        let natural = || history.natural_hub().map(|hub| history.version(hub).name.clone());
        let pinned_or_natural = || pinned.map(|Located { item, .. }| item.clone()).or_else(natural);
        let name = full_name(&declaration.name());
        let Some(hub) = asked.or(locked).cloned().or_else(pinned_or_natural) else {
            self.problem(&rules::HUB_MOVED, span, format!("{name} has no version that could be its hub"));
            return None;
        };
        if self.replay.version(&hub).is_none() {
            let versions: Vec<_> = history.versions.iter().map(|version| version.name.as_str()).collect();
            let message = format!("{name} has no version {hub} that could be its hub");
            let mend = format!("name one of {}", versions.join(", "));
            self.problems.push(problem_at(&rules::HUB_MOVED, span, message).mend(mend));
        } else if let Some(Located { item: pinned, span }) = pinned.filter(|pinned| pinned.item != hub) {
            let message = format!("the hub of {name} is {hub}, and pinned to {pinned}");
            let mend = match asked {
                Some(_) => format!("pin it to {hub}, too"),
                None => format!("run `wheelwright lock --hub {pinned}`, which says what to deploy first"),
            };
            self.problems.push(problem_at(&rules::HUB_MOVED, *span, message).mend(mend));
        }
        Some(hub)
    }
}

/// What is different in a version, relative to one that is locked.
struct Difference<'h> {
    replay: &'h Replay,
    base: Option<&'h VersionHistory>,
    version: &'h VersionHistory,
    history: &'h History,
    /// For every node of the version, the same one in the base.
    same: Vec<Option<NodeIndex>>,
}

impl<'h> Difference<'h> {
    fn new(
        replay: &'h Replay,
        base: Option<&'h VersionHistory>,
        version: &'h VersionHistory,
        history: &'h History,
    ) -> Self {
        let mut difference = Self { replay, base, version, history, same: Vec::new() };
        for node in version.structure.indexes() {
            let same = difference.find_same(node);
            difference.same.push(same);
        }
        difference
    }

    fn find_same(&self, node: NodeIndex) -> Option<NodeIndex> {
        let base = self.base?;
        let Some(parent) = self.version.structure.node(node).parent else { return Some(base.structure.root()) };
        match self.version.id(node) {
            Some(id) => base.node_of(self.known(id)?),
            None => base.structure.element(self.same[parent.position()]?),
        }
    }

    /// The field of an id of the history, as the lock counts.
    fn known(&self, id: FieldId) -> Option<FieldId> {
        self.replay.field(&self.history.field(id).text)
    }

    fn edits(&self) -> Vec<Edit> {
        let mut edits = self.removed();
        for node in self.version.structure.indexes() {
            self.node(node, &mut edits);
        }
        edits
    }

    fn removed(&self) -> Vec<Edit> {
        let Some(base) = self.base else { return Vec::new() };
        let mut stays = vec![false; base.structure.indexes().len()];
        self.same.iter().flatten().for_each(|node| stays[node.position()] = true);
        // What is below something that is gone is gone with it.
        let is_above_there =
            |node: NodeIndex| base.structure.node(node).parent.is_some_and(|parent| stays[parent.position()]);
        let is_gone = |node: &NodeIndex| !stays[node.position()] && is_above_there(*node);
        base.structure.fields().filter(is_gone).map(|node| Edit::Remove(base.structure.selector(node))).collect()
    }

    fn node(&self, index: NodeIndex, edits: &mut Vec<Edit>) {
        let structure = &self.version.structure;
        let node = structure.node(index);
        let at = || structure.selector(index);
        let description = || Description::of(structure, index);
        let before = self.base.zip(self.same[index.position()]);
        let Some(id) = self.version.id(index) else {
            let plain = Attributes::default();
            let before = before.map_or(plain, |(base, same)| Attributes::of(base.structure.node(same)));
            if before != Attributes::of(node) {
                edits.push(Edit::Describe { at: at(), description: description() });
            }
            return;
        };
        let Some((base, same)) = before else {
            let at = at();
            let field = self.history.field(id);
            let is_frozen_otherwise = self.known(id).is_none() && field.frozen != node.default;
            let frozen = is_frozen_otherwise.then(|| field.frozen.clone().unwrap_or(Owned::Null));
            let id = Some(field.text.clone()).filter(|text| **text != *at.to_string());
            edits.push(Edit::Add { at, description: description(), id, frozen });
            return;
        };
        let old = base.structure.node(same);
        let parent = node.parent.and_then(|parent| self.same[parent.position()]);
        if old.parent != parent || old.name() != node.name() {
            edits.push(Edit::Move { from: base.structure.selector(same), to: at() });
        }
        let now = description();
        if Description::of(&base.structure, same) != now {
            edits.push(Edit::Describe { at: at(), description: now });
        }
    }
}

/// Adds what brings the fields of every object into the order that they have.
fn orders(built: &Structure, wanted: &Structure, edits: &mut Vec<Edit>) {
    let mut open = vec![(built.root(), wanted.root())];
    while let Some((in_built, in_wanted)) = open.pop() {
        let mut children: Vec<NodeIndex> = built.node(in_built).children.clone();
        let wanted_children = &wanted.node(in_wanted).children;
        let names = |structure: &Structure, children: &[NodeIndex]| -> Vec<Option<Box<str>>> {
            children.iter().map(|child| structure.node(*child).name().map(Into::into)).collect()
        };
        let wanted_names = names(wanted, wanted_children);
        if names(built, &children) != wanted_names {
            let by_name: HashMap<_, _> = names(built, &children).into_iter().zip(children.iter().copied()).collect();
            children = wanted_names.iter().filter_map(|name| by_name.get(name).copied()).collect();
            let names = wanted_names.into_iter().flatten().collect();
            edits.push(Edit::Order { at: wanted.selector(in_wanted), names });
        }
        open.extend(children.into_iter().zip(wanted_children.iter().copied()).rev());
    }
}
