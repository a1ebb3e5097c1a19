//! One schema of a document, keyword by keyword.

use std::mem;

use wheelwright_document::{FieldPath, Owned, Path, Span, Spanned, SpannedEntry};
use wheelwright_findings::rules;
use wheelwright_text::Translated;

use super::{
    Dialect, Said, complete,
    files::Files,
    merge::{self, Joint},
    reference::{Resolver, Target},
    simple::{Pending, simple_keyword},
    words,
};
use crate::{
    ErrorType, Problem, Schema,
    lower::{closest_of, keyword::Reader},
    model::{Additional, Discriminator, Property, Type},
};

/// How much of what a definition refers to is put in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Everything, to hold documents against.
    Whole,
    /// What the definition is composed of, and what its defaults are checked by. The schemas of its fields are
    /// definitions of their own, so that checking all of them is linear.
    Own,
}

/// The schemas that one definition may expand to, however little is written.
pub(super) const MOST_NODES: usize = 50_000;

/// The same for a document: what is written at length may be as large as it likes.
pub(super) fn most_nodes(files: &Files<'_, '_>) -> usize {
    MOST_NODES.max(files.bytes() / 8)
}

/// How deep schemas may nest when references are put in. Walks over them are recursive.
const DEEPEST: usize = 200;

pub(super) struct Lowering<'l, 't, 'a> {
    files: &'l mut Files<'t, 'a>,
    resolver: &'l mut Resolver<'a>,
    extent: Extent,
    pub(super) said: Said,
    /// The targets that are being put in, from the outermost.
    open: Vec<&'a Spanned<'a>>,
    /// How many of them were open when a field or item was last entered: further ones mean the same value.
    same_value_from: usize,
    /// References are put in here even if the extent is small: the value is composed of them, or has a default.
    expands: bool,
    below_default: bool,
    depth: usize,
    pub(super) nodes: usize,
    /// References that were not put in.
    pub(super) edges: Vec<Edge<'a>>,
}

/// A reference that was not put in.
pub(super) struct Edge<'a> {
    pub(super) target: Target<'a>,
    pub(super) span: Span,
    pub(super) path: FieldPath,
}

/// A schema in a file.
#[derive(Clone, Copy)]
struct At<'p, 'a> {
    file: usize,
    source: &'a Spanned<'a>,
    path: &'p Path<'p>,
}

impl<'l, 't, 'a> Lowering<'l, 't, 'a> {
    pub(super) fn new(files: &'l mut Files<'t, 'a>, resolver: &'l mut Resolver<'a>, extent: Extent) -> Self {
        Self {
            files,
            resolver,
            extent,
            said: Said::default(),
            open: Vec::new(),
            same_value_from: 0,
            expands: true,
            below_default: false,
            depth: 0,
            nodes: 0,
            edges: Vec::new(),
        }
    }

    pub(super) fn definition(&mut self, target: &Target<'a>) -> Schema {
        let mut schema = Schema::default();
        let (root, path) = (Path::Root, Path::Child(&Path::Root, &target.path));
        let path = if target.path.is_empty() { &root } else { &path };
        self.open.push(target.source);
        self.schema(&mut schema, At { file: target.file, source: target.source, path });
        self.open.pop();
        let is_api = self.files.get(target.file).dialect.describes_api();
        complete::complete(&mut schema, is_api);
        schema
    }

    /// What is wrong, each thing once.
    pub(super) fn finish(self) -> Vec<Problem> {
        let mut said = Said::default();
        self.said.into_list().into_iter().for_each(|problem| said.push(problem));
        said.into_list()
    }

    /// Reads a schema to where it will stay: schemas are large, and on the stack those of all levels would add up.
    fn schema(&mut self, out: &mut Schema, at: At<'_, 'a>) {
        out.span = at.source.span;
        self.nodes += 1;
        if self.nodes > most_nodes(self.files) || self.depth == DEEPEST {
            self.too_large(at);
            return free(out);
        }
        self.depth += 1;
        match at.source.as_object() {
            Some(entries) => self.object(out, entries, at),
            None => self.boolean(out, at),
        }
        self.depth -= 1;
    }

    fn too_large(&mut self, at: At<'_, 'a>) {
        let root = self.open.first().map_or(at.source.span, |source| source.span);
        let what = match self.depth == DEEPEST {
            true => format!("more than {DEEPEST} levels deep"),
            false => format!("more than {} schemas", most_nodes(self.files)),
        };
        let message = format!("with its references put in, the definition is {what}; what lies beyond is not checked");
        self.said.push(Problem::ours(&rules::SCHEMA_TOO_LARGE, at.path, root, message));
    }

    /// `true` and `false` are schemas in JSON Schema: of anything, and of nothing.
    fn boolean(&mut self, out: &mut Schema, at: At<'_, 'a>) {
        let flag = at.source.as_scalar().and_then(|value| value.as_bool());
        match flag.filter(|_| self.dialect(at).is_json_schema()) {
            Some(true) => free(out),
            Some(false) => {
                let mut anything = Box::<Schema>::default();
                anything.span = at.source.span;
                out.not = Some(anything);
            }
            None => {
                let message = format!("expected a schema, which is an object, found {}", at.source.kind_name());
                let rule = &rules::MALFORMED_SCHEMA;
                self.said.push(Problem::new(rule, ErrorType::TypeInvalid, at.path, at.source.span, message));
                free(out);
            }
        }
    }

    fn object(&mut self, out: &mut Schema, entries: &'a [SpannedEntry<'a>], at: At<'_, 'a>) {
        let dialect = self.dialect(at);
        let has_default = entries.iter().any(|entry| entry.key == "default");
        let (below_default, expands) = (self.below_default, self.expands);
        self.below_default |= has_default;
        self.expands |= has_default;
        let reference = entries.iter().find(|entry| entry.key == "$ref");
        match reference {
            Some(entry) if !dialect.applies_siblings() => {
                self.follow(out, entry, at);
                self.beside_reference(out, entries, at);
            }
            _ => {
                self.keywords(out, entries, at);
                if let Some(entry) = reference {
                    let mut part = Box::<Schema>::default();
                    self.follow(&mut part, entry, at);
                    let discriminator =
                        part.annotations.as_mut().and_then(|annotations| annotations.discriminator.take());
                    self.join(out, *part, at);
                    if let Some(discriminator) = discriminator {
                        out.annotate().discriminator.get_or_insert(discriminator);
                    }
                }
                self.all_of(out, entries, at);
            }
        }
        (self.below_default, self.expands) = (below_default, expands);
    }

    /// Puts in what a reference leads to.
    fn follow(&mut self, out: &mut Schema, entry: &'a SpannedEntry<'a>, at: At<'_, 'a>) {
        out.span = at.source.span;
        if entry.value.as_str().is_none() {
            let path = Path::Child(at.path, "$ref");
            let message = format!("$ref must be a string, found {}", entry.value.kind_name());
            let rule = &rules::MALFORMED_SCHEMA;
            self.said.push(Problem::new(rule, ErrorType::TypeInvalid, &path, entry.value.span, message));
            return free(out);
        }
        let path = Path::Child(at.path, "$ref");
        let target = match self.resolver.resolve(self.files, at.file, &entry.value, &path) {
            Ok(target) => target,
            Err(problem) => {
                self.said.push(*problem);
                return free(out);
            }
        };
        if let Some(position) = self.open.iter().position(|open| std::ptr::eq(*open, target.source)) {
            let shown = entry.value.as_str().unwrap_or_default();
            let problem = if position >= self.same_value_from {
                let message =
                    format!("{shown:?} leads back to where it comes from, so it never says what the value is");
                Problem::ours(&rules::REFERENCE_CYCLE, &path, entry.value.span, message)
            } else {
                recursive(shown, &path, entry.value.span)
            };
            self.said.push(problem.related(target.source.span, "leads back to here"));
            return free(out);
        }
        if self.extent == Extent::Own && !self.expands {
            self.edges.push(Edge { target, span: entry.value.span, path: path.to_field_path() });
            return free(out);
        }
        self.open.push(target.source);
        let path = Path::Child(&Path::Root, &target.path);
        self.schema(out, At { file: target.file, source: target.source, path: &path });
        self.open.pop();
    }

    /// What stands beside a `$ref` that stands for everything: annotations count, as people mean them to and Azure's
    /// tools read them; the rest does not.
    fn beside_reference(&mut self, out: &mut Schema, entries: &'a [SpannedEntry<'a>], at: At<'_, 'a>) {
        let dialect = self.dialect(at);
        let mut ignored: Vec<&SpannedEntry<'_>> = Vec::new();
        for entry in entries {
            match entry.key {
                "$ref" | "summary" => {}
                "description" | "title" | "readOnly" | "writeOnly" => {
                    self.keyword(out, &mut Pending::default(), entry, at);
                }
                extension if extension.starts_with("x-ms-") && extension != "x-ms-enum" => {
                    self.keyword(out, &mut Pending::default(), entry, at);
                }
                "x-nullable" => out.nullable = entry.value.as_scalar().and_then(|value| value.as_bool()) == Some(true),
                harmless if harmless.starts_with("x-") || words::is_harmless(harmless) => {}
                _ => ignored.push(entry),
            }
        }
        if let Some(first) = ignored.first() {
            let names: Vec<_> = ignored.iter().map(|entry| entry.key).collect();
            let verb = if names.len() == 1 { "does" } else { "do" };
            let message = format!("{} beside $ref {verb} not count in {}", names.join(", "), dialect.name());
            let problem = Problem::ours(&rules::REFERENCE_SIBLINGS, at.path, first.key_span, message);
            self.said.push(problem.mend("put the reference into allOf, and the keywords beside that"));
        }
    }

    fn all_of(&mut self, out: &mut Schema, entries: &'a [SpannedEntry<'a>], at: At<'_, 'a>) {
        let Some(entry) = entries.iter().find(|entry| entry.key == "allOf") else { return };
        let path = Path::Child(at.path, "allOf");
        let parts = self.list(entry, &path);
        let mut joined: Vec<Schema> = Vec::with_capacity(parts.len());
        for (index, source) in parts.iter().enumerate() {
            joined.push(Schema::default());
            let part = &mut joined[index];
            self.schema(part, At { file: at.file, source, path: &Path::Index(&path, index) });
            if let Some(annotations) = &mut part.annotations {
                // The one who inherits is no base of others for that.
                annotations.discriminator = None;
                annotations.discriminator_value = None;
            }
        }
        // In pairs, since each time the fields of both are looked through.
        while joined.len() > 1 {
            let mut parts = joined.into_iter();
            joined = Vec::with_capacity(parts.len().div_ceil(2));
            while let Some(mut part) = parts.next() {
                if let Some(other) = parts.next() {
                    self.join(&mut part, other, at);
                }
                joined.push(part);
            }
        }
        if let Some(part) = joined.pop() {
            self.join(out, part, at);
        }
    }

    fn join(&mut self, out: &mut Schema, part: Schema, at: At<'_, 'a>) {
        merge::join(out, part, &mut Joint { said: &mut self.said, path: at.path });
    }

    /// Reads a field or an item, which is another value than the one it is in.
    fn below(&mut self, out: &mut Schema, at: At<'_, 'a>) {
        let same_value_from = mem::replace(&mut self.same_value_from, self.open.len());
        let expands = mem::replace(&mut self.expands, self.below_default);
        self.schema(out, at);
        (self.same_value_from, self.expands) = (same_value_from, expands);
    }

    fn keywords(&mut self, out: &mut Schema, entries: &'a [SpannedEntry<'a>], at: At<'_, 'a>) {
        let mut pending = Pending::default();
        for entry in entries {
            // As good as absent, but for a value.
            let is_null = entry.value.as_scalar().is_some_and(|value| value.is_null());
            if !is_null || entry.key == "const" {
                out.keywords.push((entry.key.into(), entry.key_span));
                self.keyword(out, &mut pending, entry, at);
            }
        }
        let dialect = self.dialect(at);
        if let Some(allowed) = pending.allows_null {
            // In JSON Schema every keyword counts, so null must be among the values too.
            let is_listed = || out.checks.r#enum.is_empty() || out.checks.r#enum.contains(&Owned::Null);
            out.nullable = allowed && (!dialect.is_json_schema() || is_listed());
        }
        if pending.is_open_enum {
            out.annotate().known_values = mem::take(&mut out.checks.r#enum);
        }
        if let Some(bound) = pending.exclusive_minimum {
            merge::raise_minimum(&mut out.checks, bound, true);
        }
        if let Some(bound) = pending.exclusive_maximum {
            merge::lower_maximum(&mut out.checks, bound, true);
        }
        if pending.has_prefix_items {
            // Then `items` is about the rest, and cannot be told from the first ones.
            out.items = None;
        }
        if pending.has_pattern_properties {
            // Then this is about fields that match no pattern, and would refuse or reshape those that do.
            out.additional_properties = None;
        }
        self.alternatives_with_null(out, at);
    }

    /// `anyOf` or `oneOf` of null and one other schema is how JSON Schema says that a value may be null.
    fn alternatives_with_null(&mut self, out: &mut Schema, at: At<'_, 'a>) {
        for one_of in [false, true] {
            let branches = if one_of { &mut out.one_of } else { &mut out.any_of };
            let before = branches.len();
            branches.retain(|branch| !complete::is_null(branch));
            if branches.len() == before {
                continue;
            }
            if branches.len() == 1
                && let Some(mut branch) = branches.pop()
            {
                branch.nullable = true;
                out.nullable |= out.r#type.is_none();
                self.join(out, branch, at);
            } else {
                out.nullable = true;
            }
        }
    }

    fn keyword(&mut self, out: &mut Schema, pending: &mut Pending, entry: &'a SpannedEntry<'a>, at: At<'_, 'a>) {
        let path = Path::Child(at.path, entry.key);
        let dialect = self.dialect(at);
        match entry.key {
            "$ref" | "allOf" => {}
            "properties" => self.properties(out, entry, at.file, &path),
            "items" if entry.value.as_array().is_some() => {
                pending.has_prefix_items = true;
                self.inexpressible(out, entry, &path);
            }
            "items" => {
                let items = out.items.insert(Box::default());
                self.below(items, At { file: at.file, source: &entry.value, path: &path });
            }
            "additionalProperties" => {
                if let Some(allowed) = entry.value.as_scalar().and_then(|value| value.as_bool()) {
                    out.additional_properties = Some(Additional::Allowed(allowed));
                    return;
                }
                let mut schema = Box::<Schema>::default();
                self.below(&mut schema, At { file: at.file, source: &entry.value, path: &path });
                out.additional_properties = Some(Additional::Schema(schema));
            }
            "anyOf" => out.any_of = self.branches(entry, at.file, &path),
            "oneOf" => out.one_of = self.branches(entry, at.file, &path),
            "not" => {
                let not = out.not.insert(Box::default());
                self.schema(not, At { file: at.file, source: &entry.value, path: &path });
            }
            "type" => self.types(out, pending, entry, dialect, &path),
            "pattern" => self.pattern(out, entry, &path),
            "discriminator" => self.discriminator(out, entry, at, &path),
            keyword if words::is_inexpressible(keyword) => {
                pending.has_prefix_items |= keyword == "prefixItems";
                pending.has_pattern_properties |= keyword == "patternProperties";
                self.inexpressible(out, entry, &path);
            }
            "$id" | "id" if !std::ptr::eq(at.source, self.files.get(at.file).document) && dialect.is_json_schema() => {
                self.inexpressible(out, entry, &path);
            }
            keyword if words::is_harmless(keyword) => {}
            _ => {
                let problems = &mut self.said.problems;
                let mut reader = Reader { keyword: entry.key, value: &entry.value, path: &path, problems };
                if !simple_keyword(out, pending, &mut reader, dialect) {
                    self.unknown(entry, dialect, &path);
                }
            }
        }
    }

    fn properties(&mut self, out: &mut Schema, entry: &'a SpannedEntry<'a>, file: usize, path: &Path<'_>) {
        let Some(entries) = entry.value.as_object() else { return self.malformed(entry, "an object", path) };
        let empty = entries.iter().map(|entry| Property { name: entry.key.into(), schema: Schema::default() });
        let mut properties: Vec<Property> = empty.collect();
        for (property, entry) in properties.iter_mut().zip(entries) {
            self.below(&mut property.schema, At { file, source: &entry.value, path: &Path::Key(path, entry.key) });
        }
        out.properties = properties.into_iter().collect();
    }

    fn branches(&mut self, entry: &'a SpannedEntry<'a>, file: usize, path: &Path<'_>) -> Vec<Schema> {
        let items = self.list(entry, path);
        let mut schemas: Vec<Schema> = items.iter().map(|_| Schema::default()).collect();
        for (index, (schema, source)) in schemas.iter_mut().zip(items).enumerate() {
            self.schema(schema, At { file, source, path: &Path::Index(path, index) });
            if let Some(span) = complete::first_default(schema) {
                let message =
                    "a default in an alternative is not filled in, since which alternative holds is not known before";
                let problem = Problem::ours(&rules::DEFAULT_IN_ALTERNATIVE, path, span, message);
                self.said.push(problem);
            }
        }
        schemas
    }

    fn list(&mut self, entry: &'a SpannedEntry<'a>, path: &Path<'_>) -> &'a [Spanned<'a>] {
        entry.value.as_array().unwrap_or_else(|| {
            self.malformed(entry, "a list", path);
            &[]
        })
    }

    fn types(
        &mut self,
        out: &mut Schema,
        pending: &mut Pending,
        entry: &SpannedEntry<'_>,
        dialect: Dialect,
        path: &Path<'_>,
    ) {
        if let Some(name) = entry.value.as_str() {
            let is_null = name == "null" && dialect.is_json_schema();
            if is_null {
                pending.allows_null = Some(true);
            } else if name == "file" && dialect == Dialect::Swagger2 {
                // The body of a response, which is no value that has a schema.
                return;
            } else if let Type::Unknown(name) = Type::from_name(name) {
                let message = format!("{name:?} is no type of {}", dialect.name());
                self.said.push(Problem::ours(&rules::TYPE_UNKNOWN, path, entry.value.span, message));
                return;
            }
            out.r#type = Some(Type::from_name(name));
            return;
        }
        let items = entry.value.as_array().filter(|_| dialect.is_json_schema());
        let Some(items) = items else {
            let expected = if dialect.is_json_schema() { "a string or a list of strings" } else { "a string" };
            return self.malformed(entry, expected, path);
        };
        let mut types = Vec::new();
        for item in items {
            match item.as_str() {
                Some("null") => pending.allows_null = Some(true),
                Some(name) if !matches!(Type::from_name(name), Type::Unknown(_)) => types.push(Type::from_name(name)),
                _ => self.malformed_value(item, "type must be a list of types", path),
            }
        }
        if types.contains(&Type::Number) {
            types.retain(|kind| *kind != Type::Integer);
        }
        let mut known = Vec::new();
        types.retain(|kind| {
            !known.contains(kind) && {
                known.push(kind.clone());
                true
            }
        });
        match &types[..] {
            [] => out.r#type = Some(Type::Unknown("null".into())),
            [one] => out.r#type = Some(one.clone()),
            [Type::Integer, Type::String] | [Type::String, Type::Integer] => out.extensions.int_or_string = true,
            _ => {
                let span = entry.value.span;
                let keywords = vec![("type".into(), entry.key_span)];
                let of_type =
                    |kind| Schema { span, keywords: keywords.clone(), r#type: Some(kind), ..Schema::default() };
                let mut any_of = Schema { span, ..Schema::default() };
                any_of.any_of = types.into_iter().map(of_type).collect();
                out.all_of.push(any_of);
            }
        }
    }

    fn pattern(&mut self, out: &mut Schema, entry: &SpannedEntry<'_>, path: &Path<'_>) {
        let Some(pattern) = entry.value.as_str() else { return self.malformed(entry, "a string", path) };
        match Translated::from_go(pattern) {
            _ if pattern.is_empty() => {}
            Ok(_) => out.checks.pattern = Some(pattern.into()),
            Err(error) => {
                let message = format!("the pattern is not checked: {error}");
                self.said.push(Problem::ours(&rules::PATTERN_NOT_CHECKED, path, entry.value.span, message));
            }
        }
    }

    fn discriminator(&mut self, out: &mut Schema, entry: &'a SpannedEntry<'a>, at: At<'_, 'a>, path: &Path<'_>) {
        let property = entry.value.as_str().or_else(|| entry.value.get("propertyName")?.as_str());
        let Some(property) = property else { return self.malformed(entry, "the name of a property", path) };
        let entries = entry.value.get("mapping").and_then(Spanned::as_object).unwrap_or_default();
        let mut mapping = Vec::with_capacity(entries.len());
        for entry in entries {
            let parent = Path::Child(path, "mapping");
            let path = Path::Key(&parent, entry.key);
            let Some(choice) = entry.value.as_str() else {
                self.malformed(entry, "the name of a definition or a reference", &path);
                continue;
            };
            if let Err(problem) = self.resolver.check_choice(self.files, at.file, &entry.value, &path) {
                self.said.push(*problem);
            }
            mapping.push((entry.key.into(), choice.into()));
        }
        out.annotate().discriminator = Some(Discriminator { property: property.into(), mapping });
        let has_alternatives = ["oneOf", "anyOf"].iter().any(|key| at.source.get(key).is_some());
        if !has_alternatives {
            let message = format!(
                "{property} chooses among definitions that are not listed here: their fields are kept, and not checked"
            );
            let problem = Problem::ours(&rules::SUBTYPES_NOT_CHECKED, path, entry.key_span, message);
            self.said.push(problem.mend("list the definitions under oneOf to have them checked"));
        }
    }

    fn inexpressible(&mut self, out: &mut Schema, entry: &SpannedEntry<'_>, path: &Path<'_>) {
        let keeps = words::shapes(entry.key) || entry.key == "items";
        if keeps {
            out.extensions.preserve_unknown_fields = Some(true);
        }
        let consequence = if keeps { "; what it may describe is kept as it is" } else { "" };
        let message = format!("{} is not supported, and so not checked{consequence}", entry.key);
        self.said.push(Problem::ours(&rules::KEYWORD_NOT_CHECKED, path, entry.key_span, message));
    }

    fn unknown(&mut self, entry: &SpannedEntry<'_>, dialect: Dialect, path: &Path<'_>) {
        if self.said.is_full() {
            return;
        }
        let message = format!("{:?} is no keyword of {}, and is ignored", entry.key, dialect.name());
        let mut problem = Problem::ours(&rules::UNKNOWN_KEYWORD, path, entry.key_span, message);
        // So many typos are none, and looking for what was meant is slow.
        if self.said.problems.len() < 100 {
            let meant = closest_of(words::known(), entry.key);
            problem.mend = meant.map(|keyword| format!("write {keyword}, if that is what is meant"));
        }
        self.said.push(problem);
    }

    fn malformed(&mut self, entry: &SpannedEntry<'_>, expected: &str, path: &Path<'_>) {
        self.malformed_value(&entry.value, &format!("{} must be {expected}", entry.key), path);
    }

    fn malformed_value(&mut self, value: &Spanned<'_>, expected: &str, path: &Path<'_>) {
        let message = format!("{expected}, found {}", value.kind_name());
        self.said.push(Problem::new(&rules::MALFORMED_SCHEMA, ErrorType::TypeInvalid, path, value.span, message));
    }

    fn dialect(&self, at: At<'_, 'a>) -> Dialect {
        self.files.get(at.file).dialect
    }
}

/// A reference to a definition that contains it, by way of a field.
pub(super) fn recursive(shown: &str, path: &Path<'_>, span: Span) -> Problem {
    let message = format!("{shown:?} is recursive; from its second level on, values are kept and not checked");
    Problem::ours(&rules::RECURSIVE_SCHEMA, path, span, message)
}

/// Makes a schema of anything, which is neither pruned nor checked.
pub(super) fn free(out: &mut Schema) {
    let span = out.span;
    *out = Schema { span, nullable: true, ..Schema::default() };
    out.extensions.preserve_unknown_fields = Some(true);
}
