//! What writes through older versions set back.

use std::iter::successors;

use super::{
    compile::{Compiler, Policy},
    plan::{Reset, Scope, SlotPlan},
};
use crate::{FieldId, NodeIndex, OlderWrite, Step, VersionIndex};

impl Compiler<'_> {
    /// The fields that go back to their defaults when a version is written through: those that are newer than it and that it
    /// cannot say, unless a policy lets them be, or something in them.
    pub(super) fn resets(&self, scope: usize, plan: &Scope, version: VersionIndex, policy: &Policy<'_>) -> Vec<Reset> {
        let has = |id: FieldId| self.history.version(version).node_of(id).is_some();
        let is_unsaid = |field: &SlotPlan| {
            let has_it = |index: &VersionIndex| self.history.version(*index).node_of(field.id).is_some();
            let is_newer = self.history.indexes().find(has_it).is_some_and(|oldest| oldest > version);
            is_newer && !self.spellings.is_said_by(&has, field.id)
        };
        if plan.slots.iter().all(|field| policy(version, field.id) == OlderWrite::Preserve) {
            return Vec::new();
        }
        let unsaid = plan.slots.iter().enumerate().filter(|(_, field)| is_unsaid(field));
        let (preserved, others): (Vec<_>, Vec<_>) =
            unsaid.partition(|(_, field)| policy(version, field.id) == OlderWrite::Preserve);
        let holds_preserved = |id: FieldId| preserved.iter().any(|(_, field)| self.is_in(field.id, id));
        let reset = |(slot, field): (usize, &SlotPlan)| {
            let reader = self.history.field(field.id).first;
            let part = (scope == 0).then(|| self.root_field(reader, field.id)).flatten();
            let refuses = policy(version, field.id) == OlderWrite::Reject;
            let path = self.history.versions.iter().rev().find_map(|version| version.path_of(field.id));
            let path = path.map(|path| path.to_string()).unwrap_or_default().into();
            Reset { slot, path, refuses, reader: reader.position(), part }
        };
        others.into_iter().filter(|(_, field)| !holds_preserved(field.id)).map(reset).collect()
    }

    /// Whether a field is in another one, in some version.
    fn is_in(&self, field: FieldId, object: FieldId) -> bool {
        self.history.versions.iter().any(|version| {
            let parent = |node: &NodeIndex| version.structure.node(*node).parent;
            let above = version.node_of(field).as_ref().and_then(parent);
            successors(above, parent).any(|node| version.id(node) == Some(object))
        })
    }

    /// The field at the root of the document that a field is in.
    fn root_field(&self, version: VersionIndex, id: FieldId) -> Option<Box<str>> {
        match self.history.version(version).path_of(id)?.steps().first()? {
            Step::Field(name) => Some(name.clone()),
            _ => None,
        }
    }
}
