//! The laws, and what it takes to hold a lens against them.

use wheelwright_document::{Arena, Value};

use super::{
    project::{continued, disagreement, is_gone, may_be_filled_in, said, told},
    spelling::contradiction,
};
use crate::{Kind, Lenses, Part, VersionIndex, lens::same};

/// What every version of every kind keeps, whatever the hub.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Law {
    /// What was written is read: `get_v(put_v(d, h)) == d`.
    PutGet,
    /// The same of a new document: `get_v(put_v(d, none)) == d`.
    CreateGet,
    /// Writing back what was read changes nothing: `put_v(get_v(h), h) == h`, and as a server would write it.
    GetPut,
    /// Another hub shows the same, and the way there and back is the identity.
    ReHub,
    /// Going from version to version shows what going directly shows, and so does converting without storing.
    Chain,
    /// The normal form is one: `N_v(N_v(d)) == N_v(d)`.
    Normal,
    /// What one version says, every other reads that can say it; in another spelling, what it is converted to, or what is
    /// converted to it.
    Agreement,
    /// What a version cannot say, in no spelling, survives what is written through it, as long as the object is there that
    /// it belongs to. What is derived may follow what it is derived from, and what is stored of it is not removed by that.
    Keeping,
}

impl Law {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::PutGet,
        Self::CreateGet,
        Self::GetPut,
        Self::ReHub,
        Self::Chain,
        Self::Normal,
        Self::Agreement,
        Self::Keeping,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::PutGet => "put-get",
            Self::CreateGet => "create-get",
            Self::GetPut => "get-put",
            Self::ReHub => "re-hub",
            Self::Chain => "chain",
            Self::Normal => "normal",
            Self::Agreement => "agreement",
            Self::Keeping => "keeping",
        }
    }

    /// What it says, in a sentence.
    pub fn says(self) -> &'static str {
        match self {
            Self::PutGet => "what is written through a version is what it reads",
            Self::CreateGet => "what is created through a version is what it reads",
            Self::GetPut => "writing back what was read changes nothing",
            Self::ReHub => "every hub shows the same, and the way to another and back loses nothing",
            Self::Chain => "converting from version to version shows what converting directly shows",
            Self::Normal => "normalising twice is normalising once",
            Self::Agreement => "what one version says, every other reads that can say it",
            Self::Keeping => "what a version cannot say survives what is written through it",
        }
    }
}

/// How a law was broken: what should have been, and what was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken<'a> {
    pub(crate) law: Law,
    /// The version that was read or written through.
    pub(crate) version: VersionIndex,
    pub(crate) expected: Value<'a>,
    pub(crate) found: Value<'a>,
}

/// A kind with its lenses for every hub.
pub(crate) struct Hubs<'k> {
    pub(crate) kind: &'k Kind,
    pub(crate) lenses: Vec<Lenses>,
}

impl<'k> Hubs<'k> {
    pub(crate) fn of(kind: &'k Kind) -> Self {
        let lenses = kind.history().indexes().map(|hub| kind.lenses_preserving(hub)).collect();
        Self { kind, lenses }
    }

    pub(crate) fn lenses(&self, hub: VersionIndex) -> &Lenses {
        &self.lenses[hub.position()]
    }

    /// Writes a document as a server would, and holds it against the laws of writing. What is stored then, or how a law
    /// was broken; nothing if the document cannot be decoded as its version.
    pub(crate) fn write<'a>(
        &'a self,
        hub: VersionIndex,
        version: VersionIndex,
        document: Value<'a>,
        old: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> Option<Result<Written<'a>, Broken<'a>>> {
        let lenses = self.lenses(hub);
        let normal = match old {
            None => self.kind.normal(version, document, arena).ok()?,
            Some(old) => {
                let shown = lenses.get(version, old, arena);
                self.kind.normal_update(version, document, shown, arena).ok()?
            }
        };
        if old.is_none() {
            let again = self.kind.normal(version, normal, arena).ok()?;
            if !same(again, normal) {
                return Some(Err(Broken { law: Law::Normal, version, expected: normal, found: again }));
            }
        }
        let (stored, tally) = lenses.put_counting(version, normal, old, arena);
        let found = lenses.get(version, stored, arena);
        if !same(found, normal) {
            let law = if old.is_none() { Law::CreateGet } else { Law::PutGet };
            return Some(Err(Broken { law, version, expected: normal, found }));
        }
        if old.is_none() {
            for to in self.kind.history().indexes() {
                let expected = lenses.get(to, stored, arena);
                // Nothing refuses a new document.
                let found = lenses.convert(version, to, normal, arena).unwrap_or(Value::Null);
                if !same(found, expected) {
                    return Some(Err(Broken { law: Law::Chain, version: to, expected, found }));
                }
            }
        }
        Some(Ok(Written { normal, stored, tally }))
    }

    /// Holds what is stored against the laws of reading, through one version and with one other hub.
    pub(crate) fn read<'a>(
        &'a self,
        hub: VersionIndex,
        version: VersionIndex,
        other_hub: VersionIndex,
        stored: Value<'a>,
        arena: &'a Arena,
    ) -> Result<(), Broken<'a>> {
        let (lenses, other) = (self.lenses(hub), self.lenses(other_hub));
        let shown = lenses.get(version, stored, arena);
        let unchanged = |document| lenses.put(version, document, Some(stored), Part::Whole, arena);
        let normal = self.kind.normal_update(version, shown, shown, arena).unwrap_or(shown);
        for document in [shown, normal] {
            if let Ok(found) = unchanged(document)
                && !same(found, stored)
            {
                return Err(Broken { law: Law::GetPut, version, expected: stored, found });
            }
        }
        let moved = lenses.rehub(stored, other, arena);
        let found = other.get(version, moved, arena);
        if !same(found, shown) {
            return Err(Broken { law: Law::ReHub, version, expected: shown, found });
        }
        let back = other.rehub(moved, lenses, arena);
        if !same(back, stored) {
            return Err(Broken { law: Law::ReHub, version, expected: stored, found: back });
        }
        let found = self.chained(hub, version, stored, arena);
        if !same(found, shown) {
            return Err(Broken { law: Law::Chain, version, expected: shown, found });
        }
        Ok(())
    }

    /// Holds what two versions show against each other: what both can say, both say.
    pub(crate) fn agree<'a>(
        &'a self,
        hub: VersionIndex,
        version: VersionIndex,
        other: VersionIndex,
        stored: Value<'a>,
        arena: &'a Arena,
    ) -> Result<(), Broken<'a>> {
        let (history, lenses) = (self.kind.history(), self.lenses(hub));
        let shown = |version| (version, lenses.get(version, stored, arena));
        let (one, another) = (shown(version), shown(other));
        let broken = |id, expected, found| {
            let name = &history.field(id).text;
            let found = Value::string(arena.text(&format!("{} of {name}", told(found))));
            Err(Broken { law: Law::Agreement, version: other, expected, found })
        };
        if let Some((id, expected, found)) = disagreement(lenses, history, one, another) {
            return broken(id, expected, found);
        }
        match contradiction(lenses, history, one, another, arena) {
            Some(it) => broken(it.field, Value::string(arena.text(&told(it.expected))), it.found),
            None => Ok(()),
        }
    }

    /// Holds what another version shows after a write against what it showed before: of what the writer cannot say, nothing is
    /// gone. In lists and maps that is held against items and values that the writer left as they were, wherever they are now.
    pub(crate) fn keeps<'a>(
        &'a self,
        hub: VersionIndex,
        (writer, reader): (VersionIndex, VersionIndex),
        (before, after): (Value<'a>, Value<'a>),
        arena: &'a Arena,
    ) -> Result<(), Broken<'a>> {
        let history = self.kind.history();
        let shown = |version, stored| self.lenses(hub).get(version, stored, arena);
        let (writer_history, reader_history) = (history.version(writer), history.version(reader));
        let (seen_before, seen_after) = (shown(writer, before), shown(writer, after));
        let now = said(reader_history, shown(reader, after));
        let lenses = self.lenses(hub);
        for ((elements, id), expected) in said(reader_history, shown(reader, before)) {
            let is_filled = may_be_filled_in(history, id, expected);
            if is_filled || lenses.says_in_any_spelling(writer, id) {
                continue;
            }
            let is_derived = lenses.may_be_derived(id);
            if is_derived && !(elements.is_empty() && lenses.holds(before, id, arena)) {
                continue;
            }
            let seen = (writer, writer_history, seen_before, seen_after);
            let Some(elements) = continued(lenses, seen, elements) else { continue };
            let found = now.get(&(elements, id)).copied();
            // The writer may have one of the objects in another, which it removed.
            let above = reader_history.objects_above(id);
            let mut above =
                above.flat_map(|object| std::iter::once(object).chain(writer_history.objects_above(object)));
            let is_kept = found.is_some_and(|found| is_derived || same(found, expected));
            if !is_kept && !above.any(|object| is_gone(writer_history, object, seen_before, seen_after)) {
                let name = &history.field(id).text;
                let found = Value::string(arena.text(&format!("{} of {name}", told(found))));
                return Err(Broken { law: Law::Keeping, version: reader, expected, found });
            }
        }
        Ok(())
    }

    /// What a version shows if its shape is reached by storing in the shape of every version on the way, one after the
    /// other.
    fn chained<'a>(&'a self, hub: VersionIndex, to: VersionIndex, stored: Value<'a>, arena: &'a Arena) -> Value<'a> {
        let mut at = hub;
        let mut stored = stored;
        while at != to {
            let step = if at < to { at.0 + 1 } else { at.0 - 1 };
            let next = VersionIndex(step);
            stored = self.lenses(at).rehub(stored, self.lenses(next), arena);
            at = next;
        }
        self.lenses(to).get(to, stored, arena)
    }
}

/// A document that was written.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(crate) normal: Value<'a>,
    pub(crate) stored: Value<'a>,
    pub(crate) tally: crate::lens::Tally,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document, kind};

    #[test]
    fn what_is_in_an_object_that_the_writer_removed_or_replaced_need_not_be_kept() {
        let v1 = "{type: object, properties: {range: {type: string}, template: {type: object, properties: \
                  {uid: {type: string}}}, note: {type: string}}}";
        let v2 = "{type: object, properties: {remediation: {type: object, properties: {range: {type: string}, \
                  template: {type: object, required: [kind], properties: {kind: {type: string}}}}}}}";
        let changes =
            "v2: {renamed: {range: remediation.range, template: remediation.template}, removed: [template.uid, note]}";
        for hub in ["v1", "v2"] {
            let kind = kind(&[("v1", v1), ("v2", v2)], changes, hub);
            let (v1, v2) = (kind.version("v1").unwrap(), kind.version("v2").unwrap());
            let (hubs, arena) = (Hubs::of(&kind), Arena::new());
            let hub = kind.version(hub).unwrap();
            let write = |version, json: &str, old| {
                let Some(Ok(written)) = hubs.write(hub, version, document(json, &arena), old, &arena) else {
                    panic!("{json} holds the laws of writing");
                };
                written.stored
            };
            let before = write(v1, r#"{"range":"1","note":"n","template":{"uid":"u"}}"#, None);
            // v2 sees nothing in the template, and does not show it.
            for json in ["{}", r#"{"remediation":{"range":"1","template":[]}}"#, r#"{"remediation":{"range":"2"}}"#] {
                let after = write(v2, json, Some(before));
                assert!(hubs.keeps(hub, (v2, v1), (before, after), &arena).is_ok(), "{json}");
            }
            let kept = write(v2, r#"{"remediation":{"range":"2"}}"#, Some(before));
            for json in [r#"{"range":"2","note":"n"}"#, r#"{"range":"2","template":{"uid":"u"}}"#] {
                let after = write(v1, json, Some(kept));
                assert!(hubs.keeps(hub, (v2, v1), (before, after), &arena).is_err(), "v2 did not remove it: {json}");
            }
        }
    }
}
