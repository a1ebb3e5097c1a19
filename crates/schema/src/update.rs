//! Ratcheting: an update is not refused for what was wrong before and has not changed.

use wheelwright_document::{Arena, Entry, Path, Value};

use crate::{
    AdmitError, Admitted, Stages, ValidationError,
    correlate::Correlated,
    error::ErrorLog,
    program::{Meta, Node, NodeId, Program},
    rules::evaluate_rules,
    validate::{
        Tally, check_embedded, check_field_count, check_junctors, check_required, check_shallow, check_unique,
        evaluate, refuse_additional,
    },
};

/// What is wrong with an update.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UpdateErrors {
    /// What is wrong with it.
    pub errors: Vec<ValidationError>,
    /// There may be more: several megabytes of text were written down, and then nobody looked on.
    pub truncated: bool,
}

impl Program {
    /// Validates a document as an update of an old one. Both must be pruned and defaulted; see
    /// [`admit_update`](Self::admit_update) for all of it.
    ///
    /// What the schema finds wrong is forgiven where the value and the old one in its place are the same. Repeated items
    /// of sets and map lists are forgiven everywhere if the old document has any. The metadata of embedded resources is
    /// never forgiven. Rules are forgiven where nothing has changed, unless they are about the change.
    pub fn validate_update<'a>(&'a self, new: Value<'a>, old: Value<'a>, arena: &'a Arena) -> UpdateErrors {
        let correlated = &arena.slice(&[Correlated::new(self, self.root, new, old, arena)])[0];
        let mut ratchet = Ratchet { program: self, errors: ErrorLog::default() };
        ratchet.value(self.root, new, Some(correlated), &Path::Root);
        let mut tally = Tally::into(&mut ratchet.errors);
        self.each_described(self.root, new, &Path::Root, &mut |node, value, path| {
            if let Value::Object(entries) = value
                && matches!(node.meta, Meta::Embedded | Meta::EmbeddedRoot)
            {
                check_embedded(entries, path, &mut tally);
            }
        });
        if !self.repeats_items(old) {
            self.check_lists(new, &mut tally);
        }
        evaluate_rules(self, &arena.slice(&[new])[0], Some(correlated), arena, &mut ratchet.errors);
        UpdateErrors { truncated: ratchet.errors.is_full(), errors: ratchet.errors.errors }
    }

    /// What the rules alone say of a document, and of it as an update if there is an old one: for those who forgive what else
    /// is wrong with it. Both must be pruned and defaulted.
    pub fn validate_rules<'a>(
        &'a self,
        new: Value<'a>,
        old: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> Vec<ValidationError> {
        let mut errors = ErrorLog::default();
        let correlated = old.map(|old| &arena.slice(&[Correlated::new(self, self.root, new, old, arena)])[0]);
        evaluate_rules(self, &arena.slice(&[new])[0], correlated, arena, &mut errors);
        errors.errors
    }

    /// Takes a document through the stages of a write that replaces an old document, as [`admit`](Self::admit) does for
    /// one that is new. The old document is read as stored ones are: pruned, defaulted, and without metadata of the wrong
    /// type.
    ///
    /// # Errors
    /// Metadata, apiVersion or kind have the wrong type, or defaults make either document too large.
    pub fn admit_update<'a>(
        &'a self,
        new: Value<'a>,
        old: Value<'a>,
        arena: &'a Arena,
    ) -> Result<Admitted<'a>, AdmitError> {
        let old = self.run(old, arena, Stages::DEFAULT.dropping_invalid_metadata())?;
        let mut admitted = self.run(new, arena, Stages::DEFAULT)?;
        let update = self.validate_update(admitted.value, old.value, arena);
        admitted.errors = update.errors;
        admitted.truncated |= update.truncated;
        Ok(admitted)
    }

    fn repeats_items(&self, document: Value<'_>) -> bool {
        let mut tally = Tally::quiet();
        self.check_lists(document, &mut tally);
        tally.failures > 0
    }

    fn check_lists(&self, document: Value<'_>, tally: &mut Tally<'_>) {
        self.each_described(self.root, document, &Path::Root, &mut |node, value, path| {
            if let (Value::Array(items), Some(rule)) = (value, &node.list) {
                check_unique(rule, items, path, tally);
            }
        });
    }

    /// Calls `visit` for every value that a schema describes.
    fn each_described(
        &self,
        id: NodeId,
        value: Value<'_>,
        path: &Path<'_>,
        visit: &mut dyn FnMut(&Node, Value<'_>, &Path<'_>),
    ) {
        let node = self.node(id);
        match value {
            Value::Object(entries) => {
                for entry in entries {
                    if let Some(field) = node.described(entry.key) {
                        self.each_described(field, entry.value, &path_of(node, entry.key, path), visit);
                    }
                }
            }
            Value::Array(items) => {
                if let Some(item_node) = node.items.filter(|item| item.is_specified()) {
                    for (index, item) in items.iter().enumerate() {
                        self.each_described(item_node, *item, &Path::Index(path, index), visit);
                    }
                }
            }
            _ => {}
        }
        visit(node, value, path);
    }
}

fn path_of<'p>(node: &Node, key: &'p str, path: &'p Path<'p>) -> Path<'p> {
    match node.fields.get(key) {
        Some(_) => Path::Child(path, key),
        None => Path::Key(path, key),
    }
}

/// A walk over what has changed.
struct Ratchet<'p> {
    program: &'p Program,
    errors: ErrorLog,
}

impl Ratchet<'_> {
    /// Whatever is not correlated is validated as if there were no old document, and so is everything in a junctor.
    fn value(&mut self, id: NodeId, value: Value<'_>, correlated: Option<&Correlated<'_>>, path: &Path<'_>) {
        if self.errors.is_full() {
            return;
        }
        let mut tally = Tally::into(&mut self.errors);
        let Some(correlated) = correlated else {
            evaluate(self.program, id, value, path, &mut tally);
            return;
        };
        if correlated.unchanged {
            return;
        }
        let node = self.program.node(id);
        check_shallow(node, value, path, &mut tally);
        if let Some(junctors) = &node.junctors
            && !value.is_null()
        {
            check_junctors(self.program, junctors, value, path, &mut tally);
        }
        match value {
            Value::Array(items) => {
                let Some(item_node) = node.items else { return };
                for (index, item) in items.iter().enumerate() {
                    self.value(item_node, *item, correlated.below(index), &Path::Index(path, index));
                }
            }
            Value::Object(entries) => self.object(node, entries, correlated, path),
            _ => {}
        }
    }

    fn object(&mut self, node: &Node, entries: &[Entry<'_>], correlated: &Correlated<'_>, path: &Path<'_>) {
        let mut tally = Tally::into(&mut self.errors);
        check_field_count(node, entries.len(), path, &mut tally);
        check_required(node, entries, path, &mut tally);
        if node.refuses_additional {
            let strangers = entries.iter().filter(|entry| node.fields.get(entry.key).is_none());
            strangers.for_each(|entry| refuse_additional(entry.key, path, &mut tally));
        }
        for (position, entry) in entries.iter().enumerate() {
            let Some(field) = node.described(entry.key) else { continue };
            // The version of a resource changes without its apiVersion showing it: both documents were converted.
            let is_type = matches!(path, Path::Root) && matches!(entry.key, "apiVersion" | "kind");
            let correlated = if is_type { None } else { correlated.below(position) };
            self.value(field, entry.value, correlated, &path_of(node, entry.key, path));
        }
    }
}
