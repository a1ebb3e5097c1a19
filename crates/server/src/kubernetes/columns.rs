//! The columns of a table of documents, and the cells that a document has in them.

use bytes::Bytes;
use jiff::Timestamp;
use wheelwright_catalog::{Column, KubernetesVersion};
use wheelwright_document::{Arena, Number, Value, encode};

use super::{json::Json, json_path::JsonPath};

/// The columns of a table, the name first.
#[derive(Debug)]
pub(crate) struct Columns {
    columns: Vec<Compiled>,
    /// `columnDefinitions`.
    definitions: Bytes,
}

#[derive(Debug)]
struct Compiled {
    kind: Kind,
    /// None if it is not understood: then its cells are empty.
    path: Option<JsonPath>,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Integer,
    Number,
    Boolean,
    /// How long ago it was.
    Date,
    String,
}

/// A column as it is described.
struct Described<'c> {
    name: &'c str,
    kind: &'c str,
    format: &'c str,
    description: &'c str,
    priority: i32,
    path: &'c str,
}

const NAME: Described<'_> = Described {
    name: "Name",
    kind: "string",
    format: "name",
    description: "What it is called within its namespace.",
    priority: 0,
    path: ".metadata.name",
};
const AGE: Described<'_> = Described {
    name: "Age",
    kind: "date",
    format: "",
    description: "How long ago it was created.",
    priority: 0,
    path: ".metadata.creationTimestamp",
};

impl Columns {
    /// The columns that a version declares, or how old documents are if it declares none.
    pub(crate) fn of(version: &KubernetesVersion) -> Self {
        match &version.columns[..] {
            [] => Self::new([AGE]),
            columns => Self::new(columns.iter().map(Described::of)),
        }
    }

    /// The columns of the number of replicas that a document has.
    pub(crate) fn of_scale() -> Self {
        let count =
            |name, description, path| Described { name, kind: "integer", format: "", description, priority: 0, path };
        let desired = count("Desired", "How many replicas are asked for.", ".spec.replicas");
        let available = count("Available", "How many replicas there are.", ".status.replicas");
        Self::new([desired, available, AGE])
    }

    /// The columns of namespaces.
    pub(crate) fn of_namespaces() -> Self {
        let status = Described {
            name: "Status",
            kind: "string",
            format: "",
            description: "Whether it can be used.",
            priority: 0,
            path: ".status.phase",
        };
        Self::new([status])
    }

    fn new<'c>(columns: impl IntoIterator<Item = Described<'c>>) -> Self {
        let columns: Vec<Described<'c>> = [NAME].into_iter().chain(columns).collect();
        let arena = Arena::new();
        let json = Json(&arena);
        let definitions = encode(json.list(columns.iter().map(|column| column.definition(json)))).into();
        let columns =
            columns.iter().map(|column| Compiled { kind: Kind::of(column.kind), path: JsonPath::parse(column.path) });
        Self { columns: columns.collect(), definitions }
    }

    /// The columns, described, as a list in JSON.
    pub(crate) fn definitions(&self) -> &Bytes {
        &self.definitions
    }

    /// The cells of a document.
    pub(crate) fn cells<'a>(&'a self, document: Value<'a>, now: Timestamp, json: Json<'a>) -> Value<'a> {
        let mut cells = self.columns.iter().map(|column| {
            let found = column.path.as_ref().and_then(|path| path.find(document));
            found.map_or(Value::Null, |value| column.kind.cell(value, now, json))
        });
        // What has no name has an empty one.
        let name = cells.next().filter(|name| !name.is_null()).unwrap_or_else(|| json.text(""));
        json.list([name].into_iter().chain(cells))
    }
}

impl<'c> Described<'c> {
    fn of(column: &'c Column) -> Self {
        let Column { name, kind, format, description, priority, json_path, .. } = column;
        Self { name, kind, format, description, priority: *priority, path: json_path }
    }

    fn definition<'a>(&self, json: Json<'a>) -> Value<'a> {
        let description = match self.description {
            "" => format!("The value at {}.", self.path),
            description => description.to_owned(),
        };
        let priority = json.0.text(&self.priority.to_string());
        json.object([
            ("name", json.text(self.name)),
            ("type", json.text(self.kind)),
            ("format", json.text(self.format)),
            ("description", json.text(&description)),
            ("priority", Number::new(priority).map_or(Value::Null, Value::Number)),
        ])
    }
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "date" => Self::Date,
            _ => Self::String,
        }
    }

    /// The cell of a value; nothing if the value is of another type.
    fn cell<'a>(self, value: Value<'a>, now: Timestamp, json: Json<'a>) -> Value<'a> {
        match (self, value) {
            (_, Value::Null) => Value::Null,
            (Self::Integer, Value::Number(number)) => whole(number, json),
            (Self::Number, Value::Number(_)) | (Self::Boolean, Value::Bool(_)) | (Self::String, Value::String(_)) => {
                value
            }
            (Self::Date, Value::String(time)) => json.text(&age(time.as_str(), now)),
            (Self::String, value) => json.text(&String::from_utf8_lossy(&encode(value))),
            _ => Value::Null,
        }
    }
}

/// A number without what is behind its point.
fn whole<'a>(number: Number<'a>, json: Json<'a>) -> Value<'a> {
    let text = number.as_str();
    if text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) {
        return Value::Number(number);
    }
    let whole = text.parse::<f64>().ok().map(|value| json.0.text(&(value as i64).to_string()) as &str);
    whole.and_then(Number::new).map_or(Value::Null, Value::Number)
}

/// How long ago a moment was, in at most two units.
fn age(time: &str, now: Timestamp) -> String {
    let Ok(then) = time.parse::<Timestamp>() else { return "<invalid>".to_owned() };
    let seconds = now.as_second() - then.as_second();
    match seconds {
        // Clocks of two machines may differ a little.
        ..=-2 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        _ => duration(seconds),
    }
}

/// Below a number of seconds, a duration is told in one unit, or in that one and the next smaller: the numbers grow with
/// the units, so that it is told about as precisely everywhere.
fn duration(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    let scales = [
        (2 * MINUTE, (1, "s"), None),
        (10 * MINUTE, (MINUTE, "m"), Some((1, "s"))),
        (3 * HOUR, (MINUTE, "m"), None),
        (8 * HOUR, (HOUR, "h"), Some((MINUTE, "m"))),
        (2 * DAY, (HOUR, "h"), None),
        (8 * DAY, (DAY, "d"), Some((HOUR, "h"))),
        (2 * YEAR, (DAY, "d"), None),
        (8 * YEAR, (YEAR, "y"), Some((DAY, "d"))),
    ];
    let scale = scales.into_iter().find(|(below, ..)| seconds < *below);
    let (_, (unit, name), smaller) = scale.unwrap_or((i64::MAX, (YEAR, "y"), None));
    let rest = smaller.map(|(smaller, name)| (seconds % unit / smaller, name)).filter(|(rest, _)| *rest > 0);
    match rest {
        Some((rest, smaller)) => format!("{}{name}{rest}{smaller}", seconds / unit),
        None => format!("{}{name}", seconds / unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_at_most_two_units() {
        for (seconds, text) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (301, "5m1s"),
            (10 * 60, "10m"),
            (3 * 3600 - 1, "179m"),
            (3 * 3600, "3h"),
            (7 * 3600 + 120, "7h2m"),
            (47 * 3600, "47h"),
            (50 * 3600, "2d2h"),
            (9 * 86_400, "9d"),
            (2 * 365 * 86_400 + 86_400, "2y1d"),
            (9 * 365 * 86_400, "9y"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        let now: Timestamp = "2026-11-15T20:26:14Z".parse().unwrap();
        assert_eq!(age("2020-01-01T00:00:00Z", now), "6y320d");
        assert_eq!(age("2026-11-15T20:26:15Z", now), "0s");
        assert_eq!(age("2026-11-15T20:30:15Z", now), "<invalid>");
        assert_eq!(age("yesterday", now), "<invalid>");
    }

    #[test]
    fn cells_are_of_the_type_of_their_column_or_empty() {
        let arena = Arena::new();
        let json = Json(&arena);
        let cell = |kind: &str, value: &str| {
            let value = wheelwright_document::decode(value.as_bytes(), &arena).unwrap();
            String::from_utf8(encode(Kind::of(kind).cell(value, Timestamp::default(), json))).unwrap()
        };
        for (kind, value, expected) in [
            ("integer", "3", "3"),
            ("integer", "2.5", "2"),
            ("integer", "1e3", "1000"),
            ("integer", "\"3\"", "null"),
            ("number", "2.5", "2.5"),
            ("boolean", "true", "true"),
            ("boolean", "1", "null"),
            ("string", r#"["x","y"]"#, r#""[\"x\",\"y\"]""#),
            ("string", "7", r#""7""#),
            ("date", "7", "null"),
            ("string", "null", "null"),
        ] {
            assert_eq!(cell(kind, value), expected, "{kind} {value}");
        }
    }
}
