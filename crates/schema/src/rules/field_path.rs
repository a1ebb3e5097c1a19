//! The `fieldPath` of a rule: a path below its node, in a small part of JSONPath.

use crate::Schema;

/// The path as errors show it, or why it leads nowhere: `.a.b['c']` is `a.b.c`, and in a map `a[c]`.
pub(crate) fn normalized(path: &str, schema: &Schema) -> Result<String, String> {
    let (mut rest, mut schema) = (path, schema);
    let mut result = String::new();
    while !rest.is_empty() {
        let name: String;
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[', ']']).unwrap_or(after.len());
            if end == 0 {
                return Err("a name must follow `.`".to_owned());
            }
            name = after[..end].to_owned();
            rest = &after[end..];
        } else if let Some(after) = rest.strip_prefix('[') {
            (name, rest) = quoted(after)?;
        } else {
            return Err(format!("it must begin with `.` or `[`, not `{}`", rest.chars().next().unwrap_or_default()));
        }
        let lost = || format!("the schema has no field `{name}` there");
        if !schema.properties.is_empty() {
            schema = schema.property(&name).ok_or_else(lost)?;
            if !result.is_empty() {
                result.push('.');
            }
            result.push_str(&name);
        } else {
            schema = schema.additional_schema().ok_or_else(lost)?;
            result.push_str(&format!("[{name}]"));
        }
    }
    Ok(result)
}

/// A name in single quotes up to the bracket that closes, and what follows.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let unclosed = || "a name in brackets must be in single quotes and end with `']`".to_owned();
    let mut letters = text.strip_prefix('\'').ok_or_else(unclosed)?.char_indices();
    let mut name = String::new();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\'' => {
                let rest = text[at + 2..].strip_prefix(']').ok_or_else(unclosed)?;
                return Ok((name, rest));
            }
            '\\' => name.push(match letters.next().map(|(_, letter)| letter) {
                Some('a') => '\u{07}',
                Some('b') => '\u{08}',
                Some('f') => '\u{0c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('v') => '\u{0b}',
                Some(letter @ ('\'' | '\\')) => letter,
                _ => return Err("there is no such escape".to_owned()),
            }),
            letter => name.push(letter),
        }
    }
    Err(unclosed())
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, Decode, decode_json_spanned};

    use super::normalized;
    use crate::lower_schema;

    #[test]
    fn paths_follow_the_schema() {
        let arena = Arena::new();
        let source = br#"{"type": "object", "properties": {
            "a": {"type": "object", "properties": {"b.c": {"type": "string"}, "d": {"type": "object",
                "additionalProperties": {"type": "object", "properties": {"e": {"type": "string"}}}}}}}}"#;
        let schema = lower_schema(&decode_json_spanned(source, &arena, &Decode::default()).unwrap()).item;
        let is = |path: &str, expected: Option<&str>| {
            assert_eq!(normalized(path, &schema).ok().as_deref(), expected, "{path}");
        };
        is(".a", Some("a"));
        is("['a']", Some("a"));
        is(".a['b.c']", Some("a.b.c"));
        is(".a.d['x y'].e", Some("a.d[x y].e"));
        is(".a.d.key", Some("a.d[key]"));
        is("", Some(""));
        for wrong in ["a", ".", ".x", ".a.", ".a[0]", ".a['b.c'", ".a['b.c]", ".a['\\q']", ".a.b", "[", "]", ".a]"] {
            is(wrong, None);
        }
    }
}
