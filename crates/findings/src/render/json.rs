//! Findings for programs: one JSON object a line.

use std::io;

use wheelwright_document::{Arena, Entry, Number, Value, encode_into};

use crate::{Finding, Findings, Place, Suppression};

/// Writes a JSON object a line for each finding, in the order of [`Findings::sorted`].
///
/// Every object has the same keys, `null` where there is nothing to say: `rule`, `name`, `fingerprint` (see
/// [`Findings::identified`]), `level`, `message`, `type` (Kubernetes' name for the sort of error), `field`, `kind` (with its
/// group) and `version` where it is about versions of a kind, `file`, `line` and `column` (from 1, in characters), `offset` and
/// `endOffset` (from 0, in bytes), `related` (a list of `label` and the same keys of a place), `mend` (that of the rule
/// where the finding has none of its own), `suppressed` (`reason` and `until`, where it is let pass).
pub fn render_json(findings: &Findings, out: &mut dyn io::Write) -> io::Result<()> {
    let mut line = Vec::new();
    for (finding, fingerprint) in findings.identified() {
        line.clear();
        encode_into(object(finding, &fingerprint, &Arena::new()), &mut line);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

fn object<'a>(finding: &'a Finding, fingerprint: &'a str, arena: &'a Arena) -> Value<'a> {
    let related = finding.related.iter().map(|related| {
        let mut entries = vec![Entry { key: "label", value: Value::string(&related.label) }];
        entries.extend(place_entries(Some(&related.place), arena));
        Value::Object(arena.slice(&entries))
    });
    let mut entries = vec![
        Entry { key: "rule", value: Value::string(finding.rule.id) },
        Entry { key: "name", value: Value::string(finding.rule.name) },
        Entry { key: "fingerprint", value: Value::string(fingerprint) },
        Entry { key: "level", value: Value::string(finding.level.as_str()) },
        Entry { key: "message", value: Value::string(&finding.message) },
        Entry { key: "type", value: text_or_null(finding.error_type) },
        Entry { key: "field", value: Value::string(finding.field.as_str()) },
        Entry { key: "kind", value: text_or_null(finding.kind.as_deref()) },
        Entry { key: "version", value: text_or_null(finding.version.as_deref()) },
    ];
    entries.extend(place_entries(finding.place.as_ref(), arena));
    entries.push(Entry { key: "related", value: Value::Array(arena.slice_from(related)) });
    entries.push(Entry { key: "mend", value: Value::string(finding.mend.as_deref().unwrap_or(finding.rule.mend)) });
    entries.push(Entry { key: "suppressed", value: suppressed(finding.suppressed.as_ref(), arena) });
    Value::Object(arena.slice(&entries))
}

fn suppressed<'a>(suppression: Option<&'a Suppression>, arena: &'a Arena) -> Value<'a> {
    suppression.map_or(Value::Null, |suppression| {
        let until = suppression.until.map(|until| arena.text(&until.to_string()));
        Value::Object(arena.slice(&[
            Entry { key: "reason", value: Value::string(&suppression.reason) },
            Entry { key: "until", value: text_or_null(until) },
        ]))
    })
}

fn place_entries<'a>(place: Option<&'a Place>, arena: &'a Arena) -> [Entry<'a>; 5] {
    let number = |value: Option<u32>| {
        value.and_then(|value| Number::new(arena.text(&value.to_string()))).map_or(Value::Null, Value::Number)
    };
    let span = place.map(|place| place.span);
    [
        Entry { key: "file", value: text_or_null(place.map(|place| place.file.as_str())) },
        Entry { key: "line", value: number(span.map(|span| span.line)) },
        Entry { key: "column", value: number(span.map(|span| span.column)) },
        Entry { key: "offset", value: number(span.map(|span| span.start)) },
        Entry { key: "endOffset", value: number(span.map(|span| span.end)) },
    ]
}

fn text_or_null(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Null, Value::string)
}
