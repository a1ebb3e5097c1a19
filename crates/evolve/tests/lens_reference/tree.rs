//! The fields of a version as the model sees them: those that it declares, and those that it keeps for other versions.

use std::collections::{BTreeSet, HashMap};

use wheelwright_evolve::{FieldId, History, NodeIndex, Selector, Shape, Step, VersionHistory};

/// The fields of a version.
#[derive(Clone)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    by_id: HashMap<FieldId, usize>,
}

/// A field, the items of a list, the values of a map, or the document itself.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) parent: Option<usize>,
    /// Of fields only.
    pub(crate) name: String,
    pub(crate) id: Option<FieldId>,
    pub(crate) shape: Shape,
    pub(crate) nullable: bool,
    pub(crate) keeps_unknown: bool,
    /// `{}` is invalid.
    pub(crate) refuses_empty: bool,
    pub(crate) keys: Vec<String>,
    /// The names of the members of a union, and of its discriminator.
    pub(crate) members: Vec<String>,
    pub(crate) discriminator: Option<String>,
    /// The version declares it, rather than keeping it for others.
    pub(crate) is_declared: bool,
    pub(crate) children: Vec<usize>,
}

/// The document itself.
pub(crate) const ROOT: usize = 0;

/// What every version declares.
pub(crate) fn declared(history: &History) -> Vec<Tree> {
    history.versions.iter().map(Tree::declared).collect()
}

/// What every version has. It adopts neither what is derived nor another spelling of what it has already.
pub(crate) fn with_adopted(declared: &[Tree], facts: &Facts) -> Vec<Tree> {
    let with_adopted = declared.iter().enumerate().map(|(position, own)| {
        let mut tree = own.clone();
        for other in (0..declared.len()).filter(|other| *other != position) {
            tree.adopt(ROOT, &declared[other], facts);
        }
        tree
    });
    with_adopted.collect()
}

/// Which fields are computed.
#[derive(Default)]
pub(crate) struct Facts {
    /// Fields that are spellings of one fact.
    pub(crate) one: Vec<BTreeSet<FieldId>>,
    pub(crate) derived: BTreeSet<FieldId>,
}

impl Facts {
    /// Says that fields are spellings of one fact.
    pub(crate) fn join(&mut self, ids: BTreeSet<FieldId>) {
        let (touched, mut others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.one).into_iter().partition(|fact| !fact.is_disjoint(&ids));
        others.push(touched.into_iter().flatten().chain(ids).collect());
        self.one = others;
    }

    /// A field with all other spellings of the fact.
    pub(crate) fn spellings(&self, id: FieldId) -> BTreeSet<FieldId> {
        self.one.iter().find(|fact| fact.contains(&id)).cloned().unwrap_or_else(|| BTreeSet::from([id]))
    }
}

impl Tree {
    pub(crate) fn node(&self, node: usize) -> &Node {
        &self.nodes[node]
    }

    pub(crate) fn node_of(&self, id: FieldId) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    pub(crate) fn child(&self, node: usize, name: &str) -> Option<usize> {
        let node = self.node(node);
        node.children.iter().copied().find(|child| node.shape == Shape::Object && self.node(*child).name == name)
    }

    /// The items of a list or values of a map.
    pub(crate) fn element(&self, node: usize) -> Option<usize> {
        let node = self.node(node);
        node.children.first().copied().filter(|_| matches!(node.shape, Shape::List | Shape::Map))
    }

    /// The field that a path leads to, whatever items or values of it are meant.
    pub(crate) fn find_field(&self, path: &Selector) -> Option<usize> {
        let found = path.steps().iter().try_fold(ROOT, |at, step| match step {
            Step::Field(name) => self.child(at, name),
            _ => self.element(at),
        });
        std::iter::successors(found, |at| self.node(*at).parent).find(|at| self.node(*at).id.is_some())
    }

    /// The document, item or value that a field is in.
    pub(crate) fn scope_of(&self, field: usize) -> usize {
        let mut above = std::iter::successors(Some(field), |at| self.node(*at).parent);
        above.find(|at| self.node(*at).id.is_none()).unwrap_or(ROOT)
    }

    /// The names that lead from there to a field.
    pub(crate) fn names_from_scope(&self, field: usize) -> Vec<String> {
        let above = std::iter::successors(Some(field), |at| self.node(*at).parent);
        let mut names: Vec<String> =
            above.take_while(|at| self.node(*at).id.is_some()).map(|at| self.node(at).name.clone()).collect();
        names.reverse();
        names
    }

    /// A field and all fields in it, as far as they are in the same scope.
    pub(crate) fn ids_below(&self, field: usize) -> Vec<FieldId> {
        let mut ids: Vec<FieldId> = self.node(field).id.into_iter().collect();
        if self.node(field).shape == Shape::Object {
            ids.extend(self.node(field).children.iter().flat_map(|child| self.ids_below(*child)));
        }
        ids
    }

    /// All fields of the scope that a node is the own object of.
    pub(crate) fn scope_ids(&self, own: usize) -> Vec<FieldId> {
        self.node(own).children.iter().flat_map(|child| self.ids_below(*child)).collect()
    }

    /// The node that is the same as one of another version.
    pub(crate) fn counterpart(&self, other: &Tree, node: usize) -> Option<usize> {
        match (other.node(node).id, other.node(node).parent) {
            (Some(id), _) => self.node_of(id),
            (None, Some(container)) => self.element(self.counterpart(other, container)?),
            (None, None) => Some(ROOT),
        }
    }

    fn declared(version: &VersionHistory) -> Self {
        let mut tree = Self { nodes: Vec::new(), by_id: HashMap::new() };
        tree.declare(version, version.structure.root(), None);
        tree
    }

    fn declare(&mut self, version: &VersionHistory, index: NodeIndex, parent: Option<usize>) {
        let node = version.structure.node(index);
        let texts = |names: &[Box<str>]| names.iter().map(|name| name.to_string()).collect();
        let declared = self.push(Node {
            parent,
            name: node.name().unwrap_or_default().to_owned(),
            id: version.id(index),
            shape: node.shape,
            nullable: node.nullable,
            keeps_unknown: node.keeps_unknown,
            refuses_empty: version.refuses_empty(index),
            keys: texts(&node.keys),
            members: node.union.as_ref().map_or_else(Vec::new, |union| texts(&union.members)),
            discriminator: node.union.as_ref().and_then(|union| Some(union.discriminator.as_ref()?.to_string())),
            is_declared: true,
            children: Vec::new(),
        });
        for child in &node.children {
            self.declare(version, *child, Some(declared));
        }
    }

    fn push(&mut self, node: Node) -> usize {
        let index = self.nodes.len();
        if let Some(parent) = node.parent {
            self.nodes[parent].children.push(index);
        }
        if let Some(id) = node.id {
            self.by_id.insert(id, index);
        }
        self.nodes.push(node);
        index
    }

    /// Adopts what another version declares at a node and below it, wherever this one keeps undeclared fields.
    fn adopt(&mut self, node: usize, other: &Tree, facts: &Facts) {
        if self.node(node).keeps_unknown
            && let Some(counterpart) = other.counterpart(self, node)
        {
            for child in &other.node(counterpart).children {
                let field = other.node(*child);
                let is_known = field.id.is_some_and(|id| {
                    facts.derived.contains(&id) || facts.spellings(id).iter().any(|id| self.node_of(*id).is_some())
                });
                if !is_known && self.child(node, &field.name).is_none() {
                    self.take(other, *child, node);
                }
            }
        }
        for child in self.node(node).children.clone() {
            self.adopt(child, other, facts);
        }
    }

    /// Takes over a field, with its items or values. Fields below are adopted in turn, since anything is kept there.
    fn take(&mut self, other: &Tree, node: usize, parent: usize) {
        let taken = other.node(node);
        let copy = self.push(Node {
            parent: Some(parent),
            nullable: true,
            keeps_unknown: taken.shape == Shape::Object,
            refuses_empty: false,
            members: Vec::new(),
            discriminator: None,
            is_declared: false,
            children: Vec::new(),
            ..taken.clone()
        });
        if let Some(element) = other.element(node) {
            self.take(other, element, copy);
        }
    }
}
