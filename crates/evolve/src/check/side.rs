//! A version as it is compared with another: its fields with their ids, and the schema that each was declared by.

use std::{
    borrow::Cow,
    cell::OnceCell,
    collections::{BTreeSet, HashSet},
};

use wheelwright_document::{Arena, Owned, Span};
use wheelwright_schema::{Program, Root, Schema, Stages, ValidationError, model::Additional};

use crate::{
    Declaration, Direction, FieldId, History, NodeIndex, Step, VersionHistory, VersionIndex, VersionStep, fact::Facts,
    laws::Generator, overlaid_schema,
};

/// The schemas of all versions of a history, with the defaults that changes add; none for those that only the lock knows.
pub(crate) struct Schemas<'d> {
    declaration: &'d Declaration,
    history: &'d History,
    pub(crate) facts: Facts,
    list: Vec<Option<Cow<'d, Schema>>>,
}

/// A version as it is compared with another.
pub(crate) struct Side<'s> {
    pub(crate) index: VersionIndex,
    pub(crate) version: &'s VersionHistory,
    /// What the changes of all versions say of fields.
    pub(crate) facts: &'s Facts,
    /// What its changes say.
    pub(crate) step: Option<&'s VersionStep>,
    /// What a document of it calls its version and kind; nothing for those that are no resources.
    pub(crate) type_meta: Option<(String, Box<str>)>,
    whole: Option<&'s Schema>,
    root: Root,
    /// By the position of nodes.
    schemas: Vec<Option<&'s Schema>>,
    /// The fields that must be there wherever their object is.
    required: HashSet<NodeIndex>,
    program: OnceCell<Program>,
}

impl<'d> Schemas<'d> {
    pub(crate) fn of(declaration: &'d Declaration, history: &'d History) -> Self {
        let list = history.versions.iter().map(|version| {
            let declared = declaration.version(version.name.as_str())?;
            Some(match step_of(declaration, version) {
                Some(step) => overlaid_schema(&declared.schema, step),
                None => Cow::Borrowed(&declared.schema),
            })
        });
        Self { declaration, history, facts: Facts::of(history), list: list.collect() }
    }

    pub(crate) fn side(&self, index: VersionIndex) -> Side<'_> {
        let version = self.history.version(index);
        let whole = self.list[index.position()].as_deref();
        let root = self.declaration.version(version.name.as_str()).map_or(Root::Value, |declared| declared.root);
        let type_meta = (root == Root::Resource)
            .then(|| (self.declaration.api_version(&version.name), self.declaration.name_in(&version.name).kind));
        let mut schemas: Vec<Option<&Schema>> = Vec::with_capacity(version.structure.indexes().len());
        for node in version.structure.indexes() {
            let node = version.structure.node(node);
            schemas.push(match (node.parent, &node.step) {
                (None, _) => whole,
                (Some(parent), step) => schemas[parent.position()].and_then(|parent| below(parent, step)),
            });
        }
        let step = step_of(self.declaration, version);
        let required = required(version, &schemas);
        let facts = &self.facts;
        Side { index, version, facts, step, type_meta, whole, root, schemas, required, program: OnceCell::new() }
    }

    pub(crate) fn sides(&self) -> Vec<Side<'_>> {
        self.history.indexes().map(|index| self.side(index)).collect()
    }
}

fn step_of<'d>(declaration: &'d Declaration, version: &VersionHistory) -> Option<&'d VersionStep> {
    declaration.steps.iter().find(|step| step.version.item == version.name)
}

fn required(version: &VersionHistory, schemas: &[Option<&Schema>]) -> HashSet<NodeIndex> {
    let structure = &version.structure;
    let of_object = |object: NodeIndex| {
        let names: HashSet<&str> =
            schemas[object.position()].iter().flat_map(|schema| &schema.checks.required).map(|name| &**name).collect();
        let children = structure.node(object).children.iter().copied();
        children.filter(move |child| structure.node(*child).name().is_some_and(|name| names.contains(name)))
    };
    structure.indexes().flat_map(of_object).collect()
}

pub(crate) fn below<'s>(schema: &'s Schema, step: &Step) -> Option<&'s Schema> {
    match step {
        Step::Field(name) => schema.property(name),
        Step::Items => schema.items.as_deref(),
        Step::Values => schema.additional_schema(),
    }
}

impl Side<'_> {
    /// The schema of a node; none for what only the lock knows, and for what every embedded resource has.
    pub(crate) fn schema(&self, node: NodeIndex) -> Option<&Schema> {
        self.schemas[node.position()]
    }

    /// The schema of the whole version.
    pub(crate) fn whole(&self) -> Option<&Schema> {
        self.whole
    }

    pub(crate) fn shape_name(&self, node: NodeIndex) -> String {
        self.version.structure.shape_name(node)
    }

    pub(crate) fn parent(&self, node: NodeIndex) -> Option<NodeIndex> {
        self.version.structure.node(node).parent
    }

    /// Whether a field must be there wherever its object is.
    pub(crate) fn is_required(&self, node: NodeIndex) -> bool {
        self.required.contains(&node)
    }

    /// The fields that say otherwise what the version before said in other fields.
    pub(crate) fn new_spellings(&self) -> HashSet<NodeIndex> {
        let fields = self.version.respelled.iter().flat_map(|respelled| &respelled.to);
        fields.filter_map(|field| self.version.structure.find_field(&field.item)).collect()
    }

    /// The expression that a field is derived by from another version, if it is.
    pub(crate) fn derivation_from(&self, other: &Side<'_>, node: NodeIndex) -> Option<&str> {
        let direction = if other.index < self.index { Direction::Up } else { Direction::Down };
        self.facts.derivation(self.version.id(node)?, direction)
    }

    /// Where a keyword of a node was written, or the node, or what it is a part of.
    pub(crate) fn place(&self, node: NodeIndex, keyword: &str) -> Span {
        let mut at = Some(node);
        let found = std::iter::from_fn(|| {
            let node = at?;
            at = self.parent(node);
            Some(self.schema(node))
        });
        found.flatten().next().map_or_else(Span::default, |schema| schema.place_of(keyword))
    }

    /// Where the default of a node was written: in the changes, or in the schema.
    pub(crate) fn place_of_default(&self, node: NodeIndex) -> Span {
        let field = self.version.structure.selector(node);
        let declared = self.step.and_then(|step| step.defaults.iter().find(|declared| declared.at.item == field));
        declared.map_or_else(|| self.place(node, "default"), |declared| declared.at.span)
    }

    /// The ids of the fields by which the items of a list are told apart, with their names; their order says nothing.
    pub(crate) fn keys(&self, list: NodeIndex) -> BTreeSet<(Option<FieldId>, Box<str>)> {
        let structure = &self.version.structure;
        let id = |key: &str| structure.child(structure.element(list)?, key).and_then(|field| self.version.id(field));
        structure.node(list).keys.iter().map(|key| (id(key), key.clone())).collect()
    }

    /// The compiled schema of the whole version.
    pub(crate) fn program(&self) -> Option<&Program> {
        let whole = self.whole?;
        Some(self.program.get_or_init(|| self.compile(whole)))
    }

    /// What validates documents of the version by another schema.
    pub(crate) fn compile(&self, whole: &Schema) -> Program {
        Program::compile(whole, self.root)
    }

    /// What validates stored documents: `program` without the rules that are for new ones, too (`optionalOldSelf`). `None` if
    /// there are no such rules.
    pub(crate) fn program_for_stored(&self) -> Option<Program> {
        let mut whole = self.whole?.clone();
        take_rules_for_new(&mut whole).then(|| self.compile(&whole))
    }

    /// What makes documents of the version.
    pub(crate) fn generator(&self) -> Option<Generator> {
        let generator = Generator::new(self.whole?, self.root);
        Some(match &self.type_meta {
            Some((api_version, kind)) => generator.of_kind(api_version, kind),
            None => generator,
        })
    }

    /// Why a document of the version is refused, if it is.
    pub(crate) fn refusal(&self, document: &Owned) -> Option<String> {
        self.program().and_then(|program| refusal(program, document))
    }

    /// Why a document of the version is refused for the sake of a field, if it is.
    pub(crate) fn refusal_at(&self, node: NodeIndex, document: &Owned) -> Option<String> {
        let fields = std::iter::successors(Some(node), |node| self.parent(*node));
        let name = fields.into_iter().find_map(|node| self.version.structure.node(node).name())?;
        let errors = refusals(self.program()?, document);
        errors.into_iter().find(|error| error.split(':').next().is_some_and(|path| path.contains(name)))
    }

    /// Why a value of a node is refused, if it is.
    pub(crate) fn refusal_of_value(&self, node: NodeIndex, value: &Owned) -> Option<String> {
        self.schema(node).and_then(|schema| refusal(&Program::compile(schema, self.value_root()), value))
    }

    /// What a part of the schema describes.
    pub(crate) fn value_root(&self) -> Root {
        if self.root == Root::Definition { Root::Definition } else { Root::Value }
    }
}

/// Takes the rules with `optionalOldSelf` out of a schema. Returns whether there were any.
fn take_rules_for_new(schema: &mut Schema) -> bool {
    let rules = &mut schema.extensions.validations;
    let count = rules.len();
    rules.retain(|rule| rule.optional_old_self != Some(true));
    let mut is_taken = rules.len() < count;
    let properties = std::mem::take(&mut schema.properties).into_iter();
    let properties = properties.map(|mut property| {
        is_taken |= take_rules_for_new(&mut property.schema);
        property
    });
    schema.properties = properties.collect();
    if let Some(items) = &mut schema.items {
        is_taken |= take_rules_for_new(items);
    }
    if let Some(Additional::Schema(values)) = &mut schema.additional_properties {
        is_taken |= take_rules_for_new(values);
    }
    is_taken
}

/// Why a document is refused, if it is.
pub(crate) fn refusal(program: &Program, document: &Owned) -> Option<String> {
    refusals(program, document).into_iter().next()
}

/// A value without what its schema does not have; as it was if that is too much.
pub(crate) fn pruned(program: &Program, value: &Owned) -> Owned {
    let arena = Arena::new();
    let pruned = program.run(value.share(&arena), &arena, Stages::PRUNE);
    pruned.map_or_else(|_| value.clone(), |pruned| pruned.value.into())
}

fn refusals(program: &Program, document: &Owned) -> Vec<String> {
    let arena = Arena::new();
    match program.run(document.share(&arena), &arena, Stages::ADMIT) {
        Ok(admitted) => admitted.errors.iter().map(spelled).collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// What is wrong and where, unless it is the value as a whole.
fn spelled(error: &ValidationError) -> String {
    if error.path().is_root() { error.message().to_owned() } else { error.to_string() }
}
