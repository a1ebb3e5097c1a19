//! The walk: one pass over a document that prunes, frees of nulls, coerces metadata, defaults and validates.

use std::{error::Error, fmt};

use wheelwright_document::{Arena, Entry, FieldPath, Path, Value};

use crate::{
    ValidationError,
    error::{ErrorLog, TextLimit},
    model::is_implied,
    program::{FieldSet, Fields, Meta, Node, NodeId, Program},
    rules::evaluate_rules,
    validate::{
        MetadataError, Tally, check_embedded, check_field_count, check_junctors, check_required_declared,
        check_required_undeclared, check_shallow, check_unique, coerce_metadata, coerce_metadata_dropping,
        is_object_meta_field, refuse_additional,
    },
};

/// What a walk does. Kubernetes does these one after the other, in this order; one walk gives the same result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stages {
    /// Removes fields that the schema does not know.
    pub(crate) prune: bool,
    /// Removes nulls where null is neither allowed nor replaced by a default, coerces metadata, and fills in defaults.
    pub(crate) default: bool,
    /// Checks every value.
    pub(crate) validate: bool,
    /// Evaluates rules, after everything else and only if that found nothing that makes them meaningless.
    rules: bool,
    /// Drops metadata of the wrong type instead of refusing the document.
    drop_invalid_metadata: bool,
    /// Fills in defaults but leaves nulls and metadata alone.
    fill_only: bool,
}

impl Stages {
    /// Everything that a write goes through.
    pub const ADMIT: Self = Self {
        prune: true,
        default: true,
        validate: true,
        rules: true,
        drop_invalid_metadata: false,
        fill_only: false,
    };
    /// Pruning alone.
    pub const PRUNE: Self = Self { default: false, validate: false, rules: false, ..Self::ADMIT };
    /// Everything up to defaulting.
    pub const DEFAULT: Self = Self { validate: false, rules: false, ..Self::ADMIT };
    /// Validation alone.
    pub const VALIDATE: Self = Self { prune: false, default: false, ..Self::ADMIT };
    /// The rules of `x-kubernetes-validations` alone, of a document that has passed all the rest.
    pub const RULES: Self = Self { validate: false, ..Self::VALIDATE };
    /// How a default value itself is completed: neither pruned nor freed of nulls.
    pub(crate) const FILL: Self = Self { prune: false, fill_only: true, ..Self::ADMIT };

    /// The same, but without the rules of `x-kubernetes-validations`.
    #[must_use]
    pub const fn without_rules(self) -> Self {
        Self { rules: false, ..self }
    }

    /// The same, but metadata of the wrong type is dropped instead of refused, as is done with stored documents.
    #[must_use]
    pub const fn dropping_invalid_metadata(self) -> Self {
        Self { drop_invalid_metadata: true, ..self }
    }
}

/// What came out of a walk.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Admitted<'a> {
    /// The document.
    pub value: Value<'a>,
    /// Fields that the schema does not know, in the order of the document.
    pub unknown: Vec<FieldPath>,
    /// Fields of metadata that do not exist and were dropped when it was read; Kubernetes calls them unknown, too.
    pub unknown_metadata: Vec<FieldPath>,
    /// What is wrong with it.
    pub errors: Vec<ValidationError>,
    /// There may be more of either: several megabytes of text were written down, and then nobody looked on.
    pub truncated: bool,
}

/// A document that cannot be taken through a walk at all.
#[derive(Clone, Debug)]
pub struct AdmitError {
    kind: AdmitErrorKind,
    path: FieldPath,
    message: String,
}

/// Why not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AdmitErrorKind {
    /// Metadata, apiVersion or kind have the wrong type; Kubernetes refuses to decode such a document.
    Coercion,
    /// The defaults of the schema would make the document too large.
    TooLarge,
}

impl AdmitError {
    /// Why the document is refused.
    pub fn kind(&self) -> AdmitErrorKind {
        self.kind
    }

    /// The field that has the wrong type, or the first whose default is too much.
    pub fn path(&self) -> &FieldPath {
        &self.path
    }

    /// What is wrong with it.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for AdmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl Error for AdmitError {}

impl Program {
    /// Takes a document through the stages of a write: pruned, free of nulls, defaulted and validated.
    ///
    /// # Errors
    /// Metadata, apiVersion or kind have the wrong type, or defaults make the document too large.
    pub fn admit<'a>(&'a self, document: Value<'a>, arena: &'a Arena) -> Result<Admitted<'a>, AdmitError> {
        self.run(document, arena, Stages::ADMIT)
    }

    /// Takes a document through some stages.
    ///
    /// # Errors
    /// Metadata, apiVersion or kind have the wrong type, or defaults make the document too large, where the stages look
    /// at either.
    pub fn run<'a>(
        &'a self,
        document: Value<'a>,
        arena: &'a Arena,
        stages: Stages,
    ) -> Result<Admitted<'a>, AdmitError> {
        let mut walk = Walk::new(self, arena, stages);
        let walks = stages.prune || stages.default || stages.validate;
        let value = if walks { walk.from(self.root, document) } else { document };
        if stages.rules && self.rules.is_some() {
            let value = &arena.slice(&[value])[0];
            evaluate_rules(self, value, None, arena, &mut walk.errors);
        }
        match walk.refusal {
            Some(error) => Err(error),
            None => {
                let truncated = walk.errors.is_full() || walk.unknown_limit.is_reached();
                Ok(Admitted {
                    value,
                    unknown: walk.unknown,
                    unknown_metadata: walk.unknown_metadata,
                    errors: walk.errors.errors,
                    truncated,
                })
            }
        }
    }
}

/// A walk over one document.
pub(crate) struct Walk<'a> {
    program: &'a Program,
    arena: &'a Arena,
    stages: Stages,
    /// Entries and items of the objects and lists that are open; each takes its own from the end when it closes.
    entries: Vec<Entry<'a>>,
    items: Vec<Value<'a>>,
    unknown: Vec<FieldPath>,
    unknown_metadata: Vec<FieldPath>,
    unknown_limit: TextLimit,
    errors: ErrorLog,
    refusal: Option<AdmitError>,
    /// How many values defaults may still add. Defaults can nest, so a small schema could ask for any number.
    default_budget: usize,
}

/// How many values the defaults of a schema may add to a document, besides some for every object in it.
const DEFAULT_BUDGET: usize = 1 << 20;
const DEFAULT_BUDGET_PER_OBJECT: usize = 32;

impl<'a> Walk<'a> {
    pub(crate) fn new(program: &'a Program, arena: &'a Arena, stages: Stages) -> Self {
        Self {
            program,
            arena,
            stages,
            entries: Vec::with_capacity(64),
            items: Vec::with_capacity(32),
            unknown: Vec::new(),
            unknown_metadata: Vec::new(),
            unknown_limit: TextLimit::default(),
            errors: ErrorLog::default(),
            refusal: None,
            default_budget: DEFAULT_BUDGET,
        }
    }

    pub(crate) fn with_default_budget(mut self, values: usize) -> Self {
        self.default_budget = values;
        self
    }

    pub(crate) fn default_budget(&self) -> usize {
        self.default_budget
    }

    /// Whether the budget sufficed.
    pub(crate) fn added_all_defaults(&self) -> bool {
        self.refusal.is_none()
    }

    /// Walks a value that belongs to some node, as if it were a whole document.
    pub(crate) fn from(&mut self, id: NodeId, value: Value<'a>) -> Value<'a> {
        self.value(self.program.node(id), value, &Path::Root)
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.errors.errors.is_empty()
    }

    /// Unknown fields and errors.
    pub(crate) fn finish(self) -> (Vec<FieldPath>, Vec<ValidationError>) {
        (self.unknown, self.errors.errors)
    }

    fn value(&mut self, node: &'a Node, value: Value<'a>, path: &Path<'_>) -> Value<'a> {
        let result = match value {
            _ if node.untouched => return value,
            Value::Object(entries) => Value::Object(self.object(node, entries, path)),
            Value::Array(items) => Value::Array(self.list(node, items, path)),
            scalar => scalar,
        };
        if self.validates() {
            self.check(node, result, path);
        }
        result
    }

    /// Whether values are checked, and what is found is still written down.
    #[inline]
    fn validates(&self) -> bool {
        self.stages.validate && !self.errors.is_full()
    }

    #[inline]
    fn check(&mut self, node: &'a Node, value: Value<'a>, path: &Path<'_>) {
        let mut tally = Tally::into(&mut self.errors);
        check_shallow(node, value, path, &mut tally);
        if let Some(junctors) = &node.junctors
            && !value.is_null()
            && junctors.matter(node, value)
        {
            check_junctors(self.program, junctors, value, path, &mut tally);
        }
    }

    fn list(&mut self, node: &'a Node, items: &'a [Value<'a>], path: &Path<'_>) -> &'a [Value<'a>] {
        let Some(item_node) = node.items else { return items };
        let item_node = self.program.node(item_node);
        let mark = self.items.len();
        let mut changed = false;
        for (index, item) in items.iter().enumerate() {
            let path = Path::Index(path, index);
            let default = match item {
                Value::Null if self.stages.default && !item_node.nullable => self.default_of(item_node, &path),
                _ => None,
            };
            let result = match default {
                Some(default) => default,
                None => self.value(item_node, *item, &path),
            };
            changed |= !is_same(result, *item);
            self.items.push(result);
        }
        let result = if changed { self.arena.slice(&self.items[mark..]) } else { items };
        self.items.truncate(mark);
        if self.validates()
            && let Some(rule) = &node.list
        {
            check_unique(rule, result, path, &mut Tally::into(&mut self.errors));
        }
        result
    }

    /// The default of a node, complete and, if it needs that, checked.
    #[inline]
    fn default_of(&mut self, node: &'a Node, path: &Path<'_>) -> Option<Value<'a>> {
        let default = node.default.as_ref()?;
        if default.size > self.default_budget {
            self.refuse_default(path);
            return None;
        }
        self.default_budget -= default.size;
        let value = default.value.share(self.arena);
        Some(if default.ready { value } else { self.complete(node, value, path) })
    }

    /// A document that its defaults make this large is refused, and gets no more of them.
    #[cold]
    fn refuse_default(&mut self, path: &Path<'_>) {
        self.default_budget = 0;
        self.refusal.get_or_insert_with(|| AdmitError {
            kind: AdmitErrorKind::TooLarge,
            path: path.to_dotted_field_path(),
            message: "the defaults of the schema would make the document too large".to_owned(),
        });
    }

    /// Defaults are neither pruned nor freed of nulls nor coerced.
    #[cold]
    fn complete(&mut self, node: &'a Node, default: Value<'a>, path: &Path<'_>) -> Value<'a> {
        let validate = self.stages.validate;
        let stages = std::mem::replace(&mut self.stages, Stages { validate, ..Stages::FILL });
        let value = self.value(node, default, path);
        self.stages = stages;
        value
    }

    fn object(&mut self, node: &'a Node, entries: &'a [Entry<'a>], path: &Path<'_>) -> &'a [Entry<'a>] {
        let mark = self.entries.len();
        let mut seen = FieldSet::new(node.fields.list.len());
        let mut changed = false;
        for entry in entries {
            let position = node.fields.position(entry.key);
            let child = match (position, node.additional) {
                (Some(position), _) => node.fields.list[position].node,
                (None, Some(additional)) => additional,
                (None, None) => {
                    if self.stages.prune && !node.keeps(entry.key) {
                        self.report_unknown(&Path::Child(path, entry.key));
                        changed = true;
                        continue;
                    }
                    NodeId::UNTOUCHED
                }
            };
            let path = match position.is_none() && node.additional.is_some() {
                true => Path::Key(path, entry.key),
                false => Path::Child(path, entry.key),
            };
            let Some(value) = self.field(node, self.program.node(child), entry, &path) else {
                changed = true;
                continue;
            };
            if let Some(position) = position {
                seen.insert(position);
            }
            changed |= !is_same(value, entry.value);
            self.entries.push(Entry { key: entry.key, value });
        }
        if self.stages.default {
            if !self.stages.fill_only && self.refusal.is_none() {
                self.default_budget = self.default_budget.saturating_add(DEFAULT_BUDGET_PER_OBJECT);
            }
            changed |= self.add_defaults(&node.fields, &seen, path);
            seen.add(&node.fields.defaulted);
        }
        let result = if changed { self.arena.slice(&self.entries[mark..]) } else { entries };
        self.entries.truncate(mark);
        if self.validates() {
            self.check_fields(node, result, &seen, path);
        }
        result
    }

    #[cold]
    fn report_unknown(&mut self, path: &Path<'_>) {
        if let Some(path) = self.room_for_unknown(path) {
            self.unknown.push(path);
        }
    }

    /// The path of an unknown field, if it can still be written down.
    fn room_for_unknown(&mut self, path: &Path<'_>) -> Option<FieldPath> {
        if self.unknown_limit.is_reached() {
            return None;
        }
        let path = path.to_dotted_field_path();
        self.unknown_limit.count(path.as_str());
        Some(path)
    }

    /// What becomes of a field that stays.
    #[inline]
    fn field(&mut self, node: &'a Node, child: &'a Node, entry: &Entry<'a>, path: &Path<'_>) -> Option<Value<'a>> {
        if node.meta != Meta::None && is_implied(entry.key) {
            return self.implied_field(node.meta, child, entry, path);
        }
        self.ordinary_field(child, entry.value, path)
    }

    /// Null gives way to a default or goes; the rest is walked.
    #[inline]
    fn ordinary_field(&mut self, child: &'a Node, value: Value<'a>, path: &Path<'_>) -> Option<Value<'a>> {
        if self.stages.default && value.is_null() && !child.nullable {
            let default = self.default_of(child, path);
            if default.is_some() || !self.stages.fill_only {
                return default;
            }
        }
        Some(self.value(child, value, path))
    }

    /// apiVersion, kind and metadata are coerced, and never pruned, not even where `additionalProperties` describes them.
    #[cold]
    fn implied_field(&mut self, meta: Meta, child: &'a Node, entry: &Entry<'a>, path: &Path<'_>) -> Option<Value<'a>> {
        let coerced = match self.stages.default && !self.stages.fill_only {
            true => self.coerced(meta, child, entry, path)?,
            false => entry.value,
        };
        let prune = std::mem::replace(&mut self.stages.prune, false);
        let value = self.ordinary_field(child, coerced, path);
        self.stages.prune = prune;
        value
    }

    /// apiVersion, kind or metadata as it is read; `None` if a wrong type makes it go away.
    fn coerced(&mut self, meta: Meta, child: &'a Node, entry: &Entry<'a>, path: &Path<'_>) -> Option<Value<'a>> {
        let mut value = entry.value;
        if meta == Meta::Embedded {
            // Nulls are dropped before metadata is read, and replaced by a default after that.
            if value.is_null() && !child.nullable && child.default.is_none() {
                return Some(value);
            }
            value = self.free_of_nulls(child, value);
        }
        if entry.key == "metadata" {
            self.report_unknown_metadata(value, path);
            let coerced = match self.stages.drop_invalid_metadata {
                true => Ok(coerce_metadata_dropping(value, self.arena)),
                false => coerce_metadata(value, self.arena),
            };
            return Some(coerced.unwrap_or_else(|error| {
                self.refuse(path, &error);
                value
            }));
        }
        if value.as_str().is_none() {
            if self.stages.drop_invalid_metadata {
                return None;
            }
            self.refusal.get_or_insert_with(|| AdmitError {
                kind: AdmitErrorKind::Coercion,
                path: path.to_field_path(),
                message: format!("expected a string, found {}", value.kind_name()),
            });
        }
        Some(value)
    }

    fn report_unknown_metadata(&mut self, metadata: Value<'a>, path: &Path<'_>) {
        let strangers =
            metadata.as_object().unwrap_or_default().iter().filter(|entry| !is_object_meta_field(entry.key));
        for entry in strangers {
            if let Some(path) = self.room_for_unknown(&Path::Child(path, entry.key)) {
                self.unknown_metadata.push(path);
            }
        }
    }

    /// Drops the nulls that no schema allows and no default replaces.
    fn free_of_nulls(&self, node: &'a Node, value: Value<'a>) -> Value<'a> {
        match value {
            Value::Object(entries) => {
                let mut kept = Vec::with_capacity(entries.len());
                for Entry { key, value } in entries.iter().copied() {
                    let child = node.fields.get(key).or(node.additional).unwrap_or(NodeId::UNTOUCHED);
                    let child = self.program.node(child);
                    if !value.is_null() || child.nullable || child.default.is_some() {
                        kept.push(Entry { key, value: self.free_of_nulls(child, value) });
                    }
                }
                Value::Object(self.arena.slice(&kept))
            }
            Value::Array(items) => {
                let item = self.program.node(node.items.unwrap_or(NodeId::UNTOUCHED));
                Value::Array(self.arena.slice_from(items.iter().map(|value| self.free_of_nulls(item, *value))))
            }
            scalar => scalar,
        }
    }

    #[cold]
    fn refuse(&mut self, path: &Path<'_>, error: &MetadataError) {
        self.refusal.get_or_insert_with(|| AdmitError {
            kind: AdmitErrorKind::Coercion,
            path: error.field().map_or_else(|| path.to_field_path(), |field| Path::Child(path, field).to_field_path()),
            message: error.message(),
        });
    }

    /// Adds the fields that are absent and have a default; says whether there were any.
    #[inline]
    fn add_defaults(&mut self, fields: &'a Fields, seen: &FieldSet, path: &Path<'_>) -> bool {
        let before = self.entries.len();
        fields.defaulted.each_missing(seen, |position| {
            let field = &fields.list[position];
            let node = self.program.node(field.node);
            if let Some(value) = self.default_of(node, &Path::Child(path, &field.name)) {
                self.entries.push(Entry { key: &field.name, value });
            }
        });
        self.entries.len() > before
    }

    #[inline]
    fn check_fields(&mut self, node: &'a Node, entries: &'a [Entry<'a>], seen: &FieldSet, path: &Path<'_>) {
        let mut tally = Tally::into(&mut self.errors);
        check_field_count(node, entries.len(), path, &mut tally);
        let fields = &node.fields;
        check_required_declared(node, seen, path, &mut tally);
        if !fields.required_undeclared.is_empty() {
            check_required_undeclared(node, entries, path, &mut tally);
        }
        if node.refuses_additional {
            let strangers = entries.iter().filter(|entry| fields.position(entry.key).is_none());
            strangers.for_each(|entry| refuse_additional(entry.key, path, &mut tally));
        }
        if matches!(node.meta, Meta::Embedded | Meta::EmbeddedRoot) {
            check_embedded(entries, path, &mut tally);
        }
    }
}

impl Node {
    /// Whether a field that nothing describes stays all the same.
    fn keeps(&self, key: &str) -> bool {
        self.keeps_unknown || self.meta != Meta::None && is_implied(key)
    }
}

/// Whether the walk returned what it was given; of scalars it replaces none but null.
#[inline]
fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => std::ptr::eq(a, b),
        (Value::Array(a), Value::Array(b)) => std::ptr::eq(a, b),
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => false,
        (a, b) => a.is_null() == b.is_null(),
    }
}
