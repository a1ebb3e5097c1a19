//! What is computed in a scope, compiled: which slots are spellings of one fact, which are derived from which, and in
//! which order all of it is computed for a hub and for every version.

mod compile;
mod order;
mod spellings;

pub(crate) use self::{compile::compile_computed, spellings::Spellings};
use super::{
    get::says,
    plan::View,
    state::{Slot, Slots},
};
use crate::{Direction, VersionIndex};

/// What is computed in a scope.
#[derive(Debug, Default)]
pub(crate) struct Computed {
    pub(crate) links: Vec<LinkPlan>,
    pub(crate) derivations: Vec<DerivationPlan>,
    /// All that is computed to know every slot.
    pub(crate) all: Needed,
    /// What is computed to know the slots that a version can say, by version.
    pub(crate) shown: Vec<Needed>,
    /// What follows from a write through a version, in the order of the steps that lead away from it, by version.
    pub(crate) onward: Vec<Vec<Onward>>,
    /// The slots that may be derived, or are the other spelling of one that may.
    pub(crate) derivable: Vec<usize>,
    /// Those of them that a version can say, by version.
    pub(crate) derivable_said: Vec<Vec<Derivable>>,
    /// All that may be derived is stored as it is shown.
    pub(crate) derives_plainly: bool,
    /// Nothing has to be stored besides what the hub says, once it has said everything: it says nothing that may be derived,
    /// and there are no hooks, of which both sides are stored.
    pub(crate) is_told_by_hub: bool,
}

/// A slot that may be derived.
#[derive(Debug)]
pub(crate) struct Derivable {
    pub(crate) slot: usize,
    /// The objects that a version has it in, but for the scope's own.
    above: Vec<(usize, usize)>,
}

impl Derivable {
    /// Whether the version shows it if it holds something: nothing that is no object is in the place of one above it.
    pub(crate) fn is_open(&self, view: &View, slots: &Slots<'_>) -> bool {
        let is_object = |(object, position): &(usize, usize)| {
            !matches!(says(&view.objects[*object].fields.list[*position].1, slots), Slot::Value(_))
        };
        self.above.iter().all(is_object)
    }
}

/// What is computed, in this order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needed {
    /// The spellings that the hub does not store, from those nearest to it on.
    pub(crate) links: Vec<Way>,
    /// What is derived on the way up, from the oldest step on.
    pub(crate) up: Vec<Action>,
    /// What is derived on the way down, from the newest step on.
    pub(crate) down: Vec<Action>,
}

/// A link, the way it is taken, and the slots that are computed by that: each by one link only, and after those that it is
/// computed from.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) link: usize,
    pub(crate) direction: Direction,
    pub(crate) slots: Vec<usize>,
    /// Of all that leads away from a version: which of them give what this one is computed from.
    pub(crate) after: Vec<usize>,
    /// Something is computed from what it gives.
    pub(crate) leads_on: bool,
    /// How short it is where nothing was there before.
    pub(crate) length: Length,
}

/// How short the way to a spelling is of which nothing was there before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Length {
    /// One plain field becomes one other, which is most common: all that has to be known of it is here.
    Plain {
        /// The slot that is read.
        from: usize,
        /// Null is a value of it.
        is_nullable: bool,
        /// The slot that is computed.
        to: usize,
        /// The position among all links of the kind.
        link: usize,
    },
    /// One field becomes one other, all of which is computed.
    Single,
    /// There is no short way.
    Full,
}

impl Way {
    /// The slots of a field that are computed.
    pub(crate) fn computed<'w>(&'w self, field: &'w FieldPlan) -> impl Iterator<Item = &'w usize> {
        field.slots.iter().filter(|slot| self.slots.contains(slot))
    }
}

/// One thing that is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// The other spelling of what was derived.
    Link(usize),
    /// A derived field.
    Derive(usize),
}

/// One thing that follows from a write.
#[derive(Clone, Debug)]
pub(crate) enum Onward {
    /// The other spelling of what was written.
    Link(Way),
    /// A derived field that a client wrote, and which followed its inputs so far.
    Derive(usize),
}

/// A fact in two spellings.
#[derive(Debug)]
pub(crate) struct LinkPlan {
    /// Its position among all links of the kind.
    pub(crate) link: usize,
    /// How its entries in a bag are called: as the first field of the newer side.
    pub(crate) key: Box<str>,
    pub(crate) from: SidePlan,
    pub(crate) to: SidePlan,
    /// One field becomes one other.
    is_single: bool,
}

impl LinkPlan {
    /// The side that is left, and the one that is arrived at.
    pub(crate) fn sides(&self, direction: Direction) -> (&SidePlan, &SidePlan) {
        match direction {
            Direction::Up => (&self.from, &self.to),
            Direction::Down => (&self.to, &self.from),
        }
    }
}

/// The fields of one side.
#[derive(Debug)]
pub(crate) struct SidePlan {
    /// The version that shows them.
    pub(crate) version: VersionIndex,
    pub(crate) fields: Vec<FieldPlan>,
    /// The slots that are read to know them.
    reads: Vec<usize>,
}

/// A field that is computed, or computed from.
#[derive(Debug)]
pub(crate) struct FieldPlan {
    /// The object and the position in it, in the view of the version.
    pub(crate) at: (usize, usize),
    pub(crate) slot: usize,
    /// The slot and those of all fields in it.
    pub(crate) slots: Vec<usize>,
    /// Its value is stored as it is shown.
    pub(crate) is_plain: bool,
    /// Its version can say null of it.
    pub(crate) is_nullable: bool,
    /// Its value has parts, in which something may be hidden.
    pub(crate) has_parts: bool,
    /// What is made of the other side is stored as it is made, without another look.
    pub(crate) passes: bool,
    /// It is, or holds, a union: who writes it may take away members that its version cannot say.
    pub(crate) has_union: bool,
    /// The objects that it is in, innermost first, but for the scope's own.
    pub(crate) above: Vec<(usize, usize)>,
}

/// A field that is derived.
#[derive(Debug)]
pub(crate) struct DerivationPlan {
    /// Its position among all derivations of the kind.
    pub(crate) derivation: usize,
    /// How it is called in what is carried: several steps may derive one field.
    pub(crate) key: Box<str>,
    /// The version that is read.
    pub(crate) source: VersionIndex,
    /// The version that has the field.
    pub(crate) target: VersionIndex,
    pub(crate) field: FieldPlan,
    /// The object that the field must be in for it to be shown; `None` where the value makes the object appear.
    pub(crate) only_in: Option<(usize, usize)>,
    /// What the expression reads of the scope's own object; `None` if it may read anything.
    pub(crate) inputs: Option<Vec<InputPlan>>,
    /// The slots that are read.
    reads: Vec<usize>,
    /// What is computed to know them.
    pub(crate) needed: Needed,
}

/// A field that an expression reads.
#[derive(Debug)]
pub(crate) struct InputPlan {
    /// The object and the position in it, in the view of the version that is read.
    pub(crate) at: (usize, usize),
    /// Of an object: the fields of it that are read; all if there are none here.
    pub(crate) below: Vec<InputPlan>,
}

impl Computed {
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty() && self.derivations.is_empty()
    }
}
