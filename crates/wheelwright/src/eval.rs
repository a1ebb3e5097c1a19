//! `schema eval`: JSON lines in and out, for scripts and conformance. What it answers is what Kubernetes answers.

use wheelwright_catalog::json_text;
use wheelwright_document::{
    Arena, Decode, Entry, FieldPath, Span, Spanned, Value, decode, decode_json_spanned, encode, encode_into,
};
use wheelwright_findings::rules;
use wheelwright_schema::{
    AdmitErrorKind, Problem, Program, Root, Schema, Stages, UpdateErrors, ValidationError, check, is_convertible,
    lower_definition, lower_schema,
};

use crate::MAX_BYTES;

/// Evaluates one line and appends the answer, without a line end. A line that cannot be evaluated is answered with
/// `{"id", "error"}`.
pub fn eval_line(line: &[u8], out: &mut Vec<u8>) {
    let line = json_text::without_byte_order_mark(line);
    let arena = Arena::new();
    // A line holds a schema and two documents, so it may be longer than either.
    let limits = Decode { max_bytes: MAX_BYTES, ..Decode::default() };
    match decode_json_spanned(line, &arena, &limits) {
        Ok(request) => {
            let id = request.get("id").map_or(Value::Null, |id| id.to_value(&arena));
            match Evaluation::of(&request, &arena) {
                Ok(evaluation) => evaluation.write(id, &arena, out),
                Err(error) => write_error(id, &error, out),
            }
        }
        Err(error) => refuse_line(line, &error.to_string(), out),
    }
}

/// Answers a line that cannot be decoded, with its id if the line begins with that.
pub(crate) fn refuse_line(line: &[u8], error: &str, out: &mut Vec<u8>) {
    let arena = Arena::new();
    let id = first_id(line).and_then(|id| decode(id, &arena).ok());
    write_error(id.unwrap_or(Value::Null), error, out);
}

/// The text of the id, if it is a scalar and comes first in an object.
fn first_id(line: &[u8]) -> Option<&[u8]> {
    let mut rest = json_text::without_byte_order_mark(line);
    for token in [&b"{"[..], b"\"id\"", b":"] {
        rest = rest.trim_ascii_start().strip_prefix(token)?;
    }
    let id = rest.trim_ascii_start();
    let length = match id.first()? {
        b'"' => json_text::string_length(id)?,
        b'{' | b'[' => return None,
        // Without an end, there may have been more of it.
        _ => id.iter().position(|byte| json_text::is_space(*byte) || matches!(byte, b',' | b'}'))?,
    };
    Some(&id[..length])
}

fn write_error(id: Value<'_>, error: &str, out: &mut Vec<u8>) {
    let entries = [Entry { key: "id", value: id }, Entry { key: "error", value: Value::string(error) }];
    encode_into(Value::Object(&entries), out);
}

/// What is said of a schema and a document.
struct Evaluation {
    schema: Schema,
    root: Root,
    object: Option<Vec<u8>>,
    old: Option<Vec<u8>>,
    drop_invalid_metadata: bool,
}

type Pairs = Vec<(&'static str, String)>;

impl Evaluation {
    fn of(request: &Spanned<'_>, arena: &Arena) -> Result<Self, String> {
        if request.as_object().is_none() {
            return Err("a line must be an object".to_owned());
        }
        let flag = |key| match request.get(key).map(|value| (value.as_scalar(), value)) {
            None | Some((Some(Value::Null), _)) => Ok(false),
            Some((Some(Value::Bool(flag)), _)) => Ok(flag),
            Some((_, other)) => Err(format!("{key} must be true or false, not {}", other.kind_name())),
        };
        let root = if flag("root")? { Root::Resource } else { Root::Value };
        let drop_invalid_metadata = flag("dropInvalidMetadata")?;
        let document = |key| request.get(key).map(|document| encode(document.to_value(arena)));
        let (object, old) = (document("object"), document("old").or_else(|| document("oldObject")));
        Ok(Self { schema: schema_of(request)?, root, object, old, drop_invalid_metadata })
    }

    fn write(&self, id: Value<'_>, arena: &Arena, out: &mut Vec<u8>) {
        let mut entries = vec![Entry { key: "id", value: id }];
        if !is_convertible(&self.schema) {
            let errors = vec![("NewStructural", String::new())];
            entries.push(Entry { key: "structural_errors", value: pairs(&errors, arena) });
            entries.push(Entry { key: "default_errors", value: Value::Array(&[]) });
            return encode_into(Value::Object(&entries), out);
        }
        let structural = problem_pairs(check::check_structural(&self.schema));
        let defaults = problem_pairs(check::check_defaults(&self.schema, self.root));
        entries.push(Entry { key: "structural_errors", value: pairs(&structural, arena) });
        entries.push(Entry { key: "default_errors", value: pairs(&defaults, arena) });
        let program = Program::compile(&self.schema, self.root);
        let scratch = Arena::new();
        self.write_object(&program, entries, &scratch, out);
    }

    fn write_object<'a>(
        &'a self,
        program: &'a Program,
        mut entries: Vec<Entry<'a>>,
        arena: &'a Arena,
        out: &mut Vec<u8>,
    ) {
        if let Some(object) = decoded(self.object.as_deref(), arena) {
            // Pruning alone never refuses a document.
            if let Ok(pruned) = program.run(object, arena, Stages::PRUNE) {
                let mut unknown: Vec<&str> = pruned.unknown.iter().map(FieldPath::as_str).collect();
                unknown.sort_unstable();
                let unknown = unknown.iter().map(|path| Value::string(arena.text(path)));
                entries.push(Entry { key: "pruned", value: pruned.value });
                entries.push(Entry { key: "unknown", value: Value::Array(arena.slice_from(unknown)) });
            }
            match program.run(object, arena, self.stages(Stages::ADMIT)) {
                Ok(admitted) => {
                    entries.push(Entry { key: "defaulted", value: admitted.value });
                    let (rule_errors, errors): (Vec<_>, Vec<_>) =
                        admitted.errors.iter().partition(|error| error.is_from_rule());
                    entries.push(Entry { key: "errors", value: pairs(&error_pairs(&errors), arena) });
                    entries.push(Entry { key: "rule_errors", value: pairs(&error_pairs(&rule_errors), arena) });
                    let mut truncated = admitted.truncated;
                    if let Some(update) = self.update(program, admitted.value, arena) {
                        let errors: Vec<_> = update.errors.iter().collect();
                        entries.push(Entry { key: "update_errors", value: pairs(&error_pairs(&errors), arena) });
                        truncated |= update.truncated;
                    }
                    if truncated {
                        entries.push(Entry { key: "truncated", value: Value::Bool(true) });
                    }
                }
                Err(error) => {
                    entries.push(Entry { key: "errors", value: Value::Array(&[]) });
                    entries.push(Entry { key: "rule_errors", value: Value::Array(&[]) });
                    let key = if error.kind() == AdmitErrorKind::Coercion { "coerce_error" } else { "error" };
                    entries.push(Entry { key, value: Value::string(arena.text(&error.to_string())) });
                }
            }
        }
        encode_into(Value::Object(&entries), out);
    }

    /// What is wrong with the new object as an update of the old one, if there is one that can be read.
    fn update<'a>(&'a self, program: &'a Program, new: Value<'a>, arena: &'a Arena) -> Option<UpdateErrors> {
        let old = decoded(self.old.as_deref(), arena)?;
        let old = program.run(old, arena, self.stages(Stages::DEFAULT)).ok()?;
        Some(program.validate_update(new, old.value, arena))
    }

    fn stages(&self, stages: Stages) -> Stages {
        if self.drop_invalid_metadata { stages.dropping_invalid_metadata() } else { stages }
    }
}

/// A document of the line, which was decoded before.
fn decoded<'a>(bytes: Option<&'a [u8]>, arena: &'a Arena) -> Option<Value<'a>> {
    let limits = Decode { max_bytes: usize::MAX, ..Decode::default() };
    Some(limits.decode(bytes?, arena).ok()?.value)
}

fn schema_of(request: &Spanned<'_>) -> Result<Schema, String> {
    if let Some(schema) = request.get("schema") {
        let lowered = lower_schema(schema);
        refuse_malformed(&lowered.problems)?;
        return Ok(lowered.item);
    }
    let definition = request.get("crd").ok_or("neither schema nor crd is given")?;
    let lowered = lower_definition(definition).map_err(|problem| problem.message)?;
    refuse_malformed(&lowered.problems)?;
    let version = request.get("version").and_then(Spanned::as_str).ok_or("crd needs a version")?;
    let found = lowered.item.versions.into_iter().find(|candidate| *candidate.name.text == *version);
    let found = found.ok_or_else(|| format!("the definition has no version {version:?}"))?;
    found.schema.ok_or_else(|| format!("the version {version:?} has no schema"))
}

fn refuse_malformed(problems: &[Problem]) -> Result<(), String> {
    match problems.iter().find(|problem| std::ptr::eq(problem.rule, &rules::MALFORMED_SCHEMA)) {
        Some(problem) => {
            let Span { line, column, .. } = problem.span;
            Err(format!("{}: {} at line {line}, column {column}", problem.path, problem.message))
        }
        None => Ok(()),
    }
}

fn problem_pairs(problems: Vec<Problem>) -> Pairs {
    let pairs = problems.into_iter().filter_map(|problem| Some((problem.kind?.name(), problem.path.to_string())));
    sorted(pairs.collect())
}

fn error_pairs(errors: &[&ValidationError]) -> Pairs {
    sorted(errors.iter().map(|error| (error.kind().name(), error.kubernetes_path().to_string())).collect())
}

/// Errors are a set: Kubernetes reports them in no particular order.
fn sorted(mut pairs: Pairs) -> Pairs {
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn pairs<'a>(pairs: &Pairs, arena: &'a Arena) -> Value<'a> {
    let items = pairs.iter().map(|(kind, path)| {
        Value::Array(arena.slice(&[Value::string(arena.text(kind)), Value::string(arena.text(path))]))
    });
    Value::Array(arena.slice_from(items))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(line: impl AsRef<[u8]>) -> String {
        let mut out = Vec::new();
        eval_line(line.as_ref(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_that_cannot_be_decoded_keeps_its_id() {
        let keeps = |line: &[u8], id: &str| {
            let answer = eval(line);
            assert!(answer.starts_with(&format!(r#"{{"id":{id},"error":"#)), "{answer}");
        };
        keeps(br#"{"id": "a\"b", "object": {"x": 1, "x": 2}}"#, r#""a\"b""#);
        keeps(br#" { "id" : 12 , "schema": {"#, "12");
        keeps(format!(r#"{{"id": true, "object": {}"#, "[".repeat(600)).as_bytes(), "true");
        keeps(b"{\"id\": null, \"object\": \"\xff\"}", "null");
        keeps(b"\xef\xbb\xbf{\"id\": -1.50, ", "-1.50");
        // What may have been cut, comes later or is no scalar is not guessed at.
        keeps(br#"{"id": 12"#, "null");
        keeps(br#"{"id": "12"#, "null");
        keeps(b"{\"id\": \"\xff\"}", "null");
        keeps(br#"{"object": 1, "id": 2"#, "null");
        keeps(br#"{"id": {"a": 1}, "#, "null");
        keeps(br#"["id": 1"#, "null");
    }

    #[test]
    fn lines_of_the_wrong_shape_are_refused() {
        assert_eq!(eval("[1]"), r#"{"id":null,"error":"a line must be an object"}"#);
        assert_eq!(eval(r#"{"id": 1, "root": "yes"}"#), r#"{"id":1,"error":"root must be true or false, not string"}"#);
        let answer = eval(r#"{"id": 1, "schema": {}, "dropInvalidMetadata": {}}"#);
        assert_eq!(answer, r#"{"id":1,"error":"dropInvalidMetadata must be true or false, not object"}"#);
        let answer = eval(r#"{"id": 1, "root": null, "schema": {"type": "object"}}"#);
        assert_eq!(answer, r#"{"id":1,"structural_errors":[],"default_errors":[]}"#);
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        let answer = eval("\u{feff}{\"id\": 1, \"schema\": {\"type\": \"object\"}}");
        assert_eq!(answer, r#"{"id":1,"structural_errors":[],"default_errors":[]}"#);
    }
}
