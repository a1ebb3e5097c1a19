//! Value validation: types, bounds, formats, enumerations and junctors.

use serde_json::{Map, Value};

use super::numbers::{self, Complaint, is_integral, truncate};
use super::update::{counterpart_of_field, counterpart_of_item, is_unchanged};
use super::verdict::Verdict;
use super::{Environment, Errors, GoNumber, Path, deep_equal, flag, list, properties, property, subschema, text};

/// The errors of a document.
pub(crate) fn document(environment: Environment, schema: &Value, object: &Value) -> Errors {
    let validator = Validator { environment, for_default: false };
    validator.check(schema, "", object, None).located(&Path::root())
}

/// The errors of a document that replaces an old one.
pub(crate) fn update(environment: Environment, schema: &Value, object: &Value, old: &Value) -> Errors {
    let validator = Validator { environment, for_default: false };
    validator.check(schema, "", object, Some(old)).located(&Path::root())
}

/// The errors of a default value, whose own place is `path`.
pub(crate) fn default_value(environment: Environment, schema: &Value, value: &Value, path: &Path) -> Errors {
    let validator = Validator { environment, for_default: true };
    validator.check(schema, "", value, None).located(path)
}

struct Validator {
    environment: Environment,
    for_default: bool,
}

impl Validator {
    /// Checks a value, which may have an old counterpart: then nothing is said if nothing has changed.
    fn check(&self, schema: &Value, path: &str, value: &Value, old: Option<&Value>) -> Verdict {
        let verdict = self.check_regardless(schema, path, value, old);
        match old {
            Some(old) if is_unchanged(schema, value, old) => Verdict::default(),
            _ => verdict,
        }
    }

    fn check_regardless(&self, schema: &Value, path: &str, value: &Value, old: Option<&Value>) -> Verdict {
        let types = self.types(schema);
        let format = self.format(schema, &types);
        let mut verdict = Verdict::default();
        if value.is_null() {
            verdict.merge(check_type(schema, &types, format, path, value));
            verdict.merge(check_enum(schema, path, value));
            return verdict;
        }
        let mut apply = |part: Verdict| {
            verdict.merge(part);
            verdict.matches += 1;
        };
        if !types.is_empty() || !format.is_empty() {
            apply(check_type(schema, &types, format, path, value));
        }
        apply(self.check_junctors(schema, path, value));
        match value {
            Value::String(text) => {
                apply(self.check_text(schema, path, text));
                if let Some(accepted) = (self.environment.format_accepts)(format, text) {
                    apply(if accepted { Verdict::default() } else { Verdict::failed("TypeInvalid", path) });
                }
            }
            Value::Number(number) => {
                let mut verdict = Verdict::passed();
                for complaint in numbers::check(schema, &types, format, GoNumber::of(number)) {
                    match complaint {
                        Complaint::Range => verdict.complain(),
                        Complaint::Bound => verdict.report("Invalid", path),
                    }
                }
                apply(verdict);
            }
            Value::Array(items) => apply(self.check_array(schema, path, items, old)),
            _ => {}
        }
        apply(check_enum(schema, path, value));
        if let Value::Object(fields) = value {
            apply(self.check_object(schema, path, fields, old));
        }
        verdict.matches += 1;
        verdict
    }

    /// The types that count. Integer-or-string is a pair of types for documents, and no type at all for defaults.
    fn types<'s>(&self, schema: &'s Value) -> Vec<&'s str> {
        if flag(schema, "x-kubernetes-int-or-string") && !self.for_default {
            return vec!["integer", "string"];
        }
        Some(text(schema, "type")).into_iter().filter(|name| !name.is_empty()).collect()
    }

    /// The format that counts. Documents are validated without the formats that Kubernetes does not support for
    /// their type; defaults are validated with all of them.
    fn format<'s>(&self, schema: &'s Value, types: &[&str]) -> &'s str {
        let format = text(schema, "format");
        let supported = match types {
            _ if self.for_default => true,
            ["integer"] => matches!(format, "int32" | "int64"),
            ["number"] => matches!(format, "float" | "double"),
            [] | ["string"] | [_, _] => (self.environment.format_accepts)(format, "").is_some(),
            _ => false,
        };
        if supported { format } else { "" }
    }

    fn check_junctors(&self, schema: &Value, path: &str, value: &Value) -> Verdict {
        let mut verdict = Verdict::default();
        let check = |branch: &Value| self.check(branch, path, value, None);

        let any_of = list(schema, "anyOf");
        if !any_of.is_empty() {
            let mut best: Option<Verdict> = None;
            for branch in any_of.iter().map(check) {
                let success = branch.is_valid();
                if success || best.as_ref().is_none_or(|best| branch.matches > best.matches) {
                    best = Some(branch);
                }
                if success {
                    break;
                }
            }
            let best = best.unwrap_or_default();
            if !best.is_valid() {
                verdict.complain();
            }
            verdict.merge(best);
        }

        let one_of = list(schema, "oneOf");
        if !one_of.is_empty() {
            let (mut valid, mut invalid): (Vec<_>, Vec<_>) = one_of.iter().map(check).partition(Verdict::is_valid);
            match valid.len() {
                0 => {
                    verdict.complain();
                    // Among equals the first one speaks, and `max_by_key` takes the last.
                    invalid.reverse();
                    verdict.merge(invalid.into_iter().max_by_key(|branch| branch.matches).unwrap_or_default());
                }
                1 => verdict.merge(valid.remove(0)),
                _ => verdict.complain(),
            }
        }

        for branch in list(schema, "allOf").iter().map(check) {
            if !branch.is_valid() {
                verdict.complain();
            }
            verdict.merge(branch);
        }

        if subschema(schema, "not").is_some_and(|branch| check(branch).is_valid()) {
            verdict.complain();
        }
        verdict.matches += 1;
        verdict
    }

    /// Stops at the first failure.
    fn check_text(&self, schema: &Value, path: &str, value: &str) -> Verdict {
        let length = value.chars().count() as u64;
        let pattern = text(schema, "pattern");
        if schema["maxLength"].as_u64().is_some_and(|limit| length > limit) {
            Verdict::failed("TooLong", path)
        } else if schema["minLength"].as_u64().is_some_and(|limit| length < limit)
            || (!pattern.is_empty() && !(self.environment.pattern_matches)(pattern, value))
        {
            Verdict::failed("Invalid", path)
        } else {
            Verdict::default()
        }
    }

    fn check_array(&self, schema: &Value, path: &str, items: &[Value], old: Option<&Value>) -> Verdict {
        let mut verdict = Verdict::passed();
        if let Some(item_schema) = subschema(schema, "items") {
            for (index, item) in items.iter().enumerate() {
                let old = old.and_then(|old| counterpart_of_item(schema, old, item));
                verdict.merge(self.check(item_schema, &format!("{path}[{index}]"), item, old));
            }
        }
        let length = items.len() as u64;
        if schema["minItems"].as_u64().is_some_and(|limit| length < limit) {
            verdict.report("Invalid", path);
        }
        if schema["maxItems"].as_u64().is_some_and(|limit| length > limit) {
            verdict.report("TooMany", path);
        }
        let repeats = |(index, item)| items[..index].iter().any(|earlier| deep_equal(earlier, item));
        if flag(schema, "uniqueItems") && items.iter().enumerate().any(repeats) {
            verdict.report("Invalid", path);
        }
        verdict
    }

    fn check_object(&self, schema: &Value, path: &str, fields: &Map<String, Value>, old: Option<&Value>) -> Verdict {
        let mut verdict = Verdict::default();
        let is_type = |name: &str| path.is_empty() && matches!(name, "apiVersion" | "kind");
        let old_field = |name: &str| old.filter(|_| !is_type(name)).and_then(|old| counterpart_of_field(old, name));
        let size = fields.len() as u64;
        if schema["minProperties"].as_u64().is_some_and(|limit| size < limit) {
            verdict.report("Invalid", path);
        }
        if schema["maxProperties"].as_u64().is_some_and(|limit| size > limit) {
            verdict.report("TooMany", path);
        }
        for (name, field) in fields.iter().filter(|(name, _)| property(schema, name).is_none()) {
            if schema["additionalProperties"] == false {
                verdict.report("Invalid", path);
            } else if let Some(schema) = subschema(schema, "additionalProperties") {
                verdict.merge(self.check(schema, &format!("{path}.{name}"), field, old_field(name)));
            }
        }
        for (name, schema) in properties(schema) {
            if let Some(field) = fields.get(name) {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                verdict.merge(self.check(schema, &path, field, old_field(name)));
            }
        }
        for name in list(schema, "required").iter().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                verdict.report("Required", &format!("{path}.{name}"));
            }
        }
        verdict
    }
}

fn check_type(schema: &Value, types: &[&str], format: &str, path: &str, value: &Value) -> Verdict {
    let allows = |name: &str| types.contains(&name);
    let fits = match value {
        Value::Null => types.is_empty() || allows("null") || flag(schema, "nullable"),
        Value::Bool(_) => allows("boolean"),
        Value::String(_) => allows("string"),
        Value::Array(_) => allows("array"),
        Value::Object(_) => allows("object"),
        Value::Number(number) => match GoNumber::of(number) {
            GoNumber::Integer(_) => allows("integer") || allows("number"),
            GoNumber::Float(float) => allows("number") || (allows("integer") && is_integral(float)),
        },
    };
    // A format takes strings from the type's hands, and lists with them, of which it is never asked.
    let left_to_format =
        !format.is_empty() && (value.is_string() || value.is_array()) && !(allows("integer") || allows("number"));
    if fits || left_to_format { Verdict::passed() } else { Verdict::failed("TypeInvalid", path) }
}

/// Go's conversion decides: the value is made to be of the type of the allowed one.
fn check_enum(schema: &Value, path: &str, value: &Value) -> Verdict {
    let allowed = list(schema, "enum");
    if allowed.is_empty() || allowed.iter().any(|allowed| is_allowed(allowed, value)) {
        Verdict::default()
    } else {
        Verdict::failed("NotSupported", path)
    }
}

fn is_allowed(allowed: &Value, value: &Value) -> bool {
    match (allowed, value) {
        (Value::Null, _) => false,
        (Value::Number(allowed), Value::Number(value)) => {
            let value = GoNumber::of(value);
            match (GoNumber::of(allowed), value) {
                (GoNumber::Integer(allowed), GoNumber::Integer(value)) => allowed == value,
                (GoNumber::Integer(allowed), GoNumber::Float(value)) => allowed == truncate(value),
                (GoNumber::Float(allowed), value) => allowed == value.as_float(),
            }
        }
        // An integer becomes the character with that code.
        (Value::String(allowed), Value::Number(value)) => match GoNumber::of(value) {
            GoNumber::Integer(code) => {
                let code = u32::try_from(code).ok().and_then(char::from_u32);
                *allowed == code.unwrap_or(char::REPLACEMENT_CHARACTER).to_string()
            }
            GoNumber::Float(_) => false,
        },
        _ => deep_equal(allowed, value),
    }
}
