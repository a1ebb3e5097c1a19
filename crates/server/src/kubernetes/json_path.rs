//! The paths that columns of tables are found by: Kubernetes' JSONPath, as far as one value is meant.

use wheelwright_document::Value;

/// A path, such as `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct JsonPath(Vec<Step>);

#[derive(Clone, PartialEq, Debug)]
enum Step {
    /// `.name` or `['name']`.
    Field(Box<str>),
    /// `[2]`; negative ones count from the end.
    Item(i64),
    /// `.*` or `[*]`.
    Every,
    /// `[?(@.name=="value")]`.
    Filter(Filter),
}

#[derive(Clone, PartialEq, Debug)]
struct Filter {
    left: JsonPath,
    test: Test,
}

#[derive(Clone, PartialEq, Debug)]
enum Test {
    Exists,
    Equal(Literal),
    Unequal(Literal),
}

#[derive(Clone, PartialEq, Debug)]
enum Literal {
    Text(Box<str>),
    Number(f64),
    Bool(bool),
}

impl JsonPath {
    /// Reads a path; none if it is not understood.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
        let text = text.strip_prefix('$').unwrap_or(text);
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(inner) => bracketed(inner)?,
                // What begins without a dot is taken for a field, as Kubernetes does.
                None => dotted(rest.strip_prefix('.').unwrap_or(rest))?,
            };
            steps.extend(step);
            rest = after;
        }
        Some(Self(steps))
    }

    /// The first value at the path.
    pub(crate) fn find<'a>(&self, document: Value<'a>) -> Option<Value<'a>> {
        found(&self.0, document)
    }
}

/// Goes depth first, so that a path costs at most as much as the document is large, for every step of it.
fn found<'a>(steps: &[Step], value: Value<'a>) -> Option<Value<'a>> {
    let Some((step, rest)) = steps.split_first() else { return Some(value) };
    match step {
        Step::Field(name) => found(rest, value.get(name)?),
        Step::Item(position) => {
            let items = value.as_array()?;
            let position = if *position < 0 { items.len() as i64 + position } else { *position };
            found(rest, *items.get(usize::try_from(position).ok()?)?)
        }
        Step::Every => match value {
            Value::Array(items) => items.iter().find_map(|item| found(rest, *item)),
            Value::Object(entries) => entries.iter().find_map(|entry| found(rest, entry.value)),
            _ => None,
        },
        Step::Filter(filter) => {
            let items = value.as_array()?;
            items.iter().filter(|item| filter.holds(**item)).find_map(|item| found(rest, *item))
        }
    }
}

impl Filter {
    fn holds(&self, item: Value<'_>) -> bool {
        let left = self.left.find(item);
        match &self.test {
            Test::Exists => left.is_some(),
            Test::Equal(right) => left.is_some_and(|left| right.is(left)),
            Test::Unequal(right) => left.is_some_and(|left| !right.is(left)),
        }
    }
}

impl Literal {
    fn is(&self, value: Value<'_>) -> bool {
        match (self, value) {
            (Self::Text(text), Value::String(value)) => **text == *value.as_str(),
            (Self::Number(number), Value::Number(value)) => value.as_str().parse() == Ok(*number),
            (Self::Bool(flag), Value::Bool(value)) => *flag == value,
            _ => false,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        for quote in ['"', '\''] {
            if let Some(inner) = text.strip_prefix(quote) {
                return inner.strip_suffix(quote).map(|inner| Self::Text(inner.into()));
            }
        }
        match text {
            "true" => Some(Self::Bool(true)),
            "false" => Some(Self::Bool(false)),
            _ => text.parse().ok().map(Self::Number),
        }
    }
}

/// The step after a dot, if there is one, and what follows it. A dot in a name is written `\.`.
fn dotted(text: &str) -> Option<(Option<Step>, &str)> {
    let mut name = String::new();
    let mut letters = text.char_indices();
    let mut end = text.len();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.extend(letters.next().map(|(_, escaped)| escaped)),
            '.' | '[' => {
                end = at;
                break;
            }
            _ => name.push(letter),
        }
    }
    let rest = &text[end..];
    match name.as_str() {
        // `.` alone is the document, and `.[0]` the same as `[0]`; two dots would be every depth, which is not one value.
        "" => (!rest.starts_with('.')).then_some((None, rest)),
        "*" => Some((Some(Step::Every), rest)),
        name => Some((Some(Step::Field(name.into())), rest)),
    }
}

/// The step in brackets, and what follows it.
fn bracketed(text: &str) -> Option<(Option<Step>, &str)> {
    if let Some(filter) = text.strip_prefix("?(") {
        let end = outside_quotes(filter, ")]")?;
        return Some((Some(Step::Filter(filter_of(&filter[..end])?)), &filter[end + 2..]));
    }
    let end = outside_quotes(text, "]")?;
    let (inner, rest) = (text[..end].trim(), &text[end + 1..]);
    let step = match (inner, Literal::parse(inner)) {
        ("*", _) => Step::Every,
        (_, Some(Literal::Text(name))) => Step::Field(name),
        _ => Step::Item(inner.parse().ok()?),
    };
    Some((Some(step), rest))
}

fn filter_of(text: &str) -> Option<Filter> {
    let (left, test) = match (outside_quotes(text, "=="), outside_quotes(text, "!=")) {
        (Some(at), _) => (&text[..at], Test::Equal(Literal::parse(&text[at + 2..])?)),
        (None, Some(at)) => (&text[..at], Test::Unequal(Literal::parse(&text[at + 2..])?)),
        (None, None) => (text, Test::Exists),
    };
    Some(Filter { left: JsonPath::parse(left.trim().strip_prefix('@')?)?, test })
}

/// Where a text stands in another for the first time, outside of quotes.
fn outside_quotes(text: &str, sought: &str) -> Option<usize> {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match quote {
            Some(open) if open == letter => quote = None,
            Some(_) => {}
            None if text[at..].starts_with(sought) => return Some(at),
            None if letter == '"' || letter == '\'' => quote = Some(letter),
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, decode, encode};

    use super::*;

    fn find(path: &str) -> Option<String> {
        let arena = Arena::new();
        let document = br#"{"a":{"b.c":1,"d":[{"type":"X","status":"no"},{"type":"Ready","status":"yes","n":3},{"type":"a)]"}]},"e":null}"#;
        let document = decode(document, &arena).unwrap();
        let value = JsonPath::parse(path)?.find(document)?;
        Some(String::from_utf8(encode(value)).unwrap())
    }

    #[test]
    fn paths_find_the_first_value_that_is_meant() {
        for (path, value) in [
            (r".a.b\.c", "1"),
            (".a['b.c']", "1"),
            ("{.a.d[0].status}", r#""no""#),
            (".a.d[-2].status", r#""yes""#),
            (".a.d[*].n", "3"),
            (".a.d.[0].type", r#""X""#),
            (r#".a.d[?(@.type=="Ready")].status"#, r#""yes""#),
            (r#".a.d[?(@.type == 'Ready')].status"#, r#""yes""#),
            (r#".a.d[?(@.type!="X")].type"#, r#""Ready""#),
            (r#".a.d[?(@.type=="a)]")].type"#, r#""a)]""#),
            (".a.d[?(@.n)].type", r#""Ready""#),
            (".a.d[?(@.n==3.0)].type", r#""Ready""#),
            (".e", "null"),
            ("a.d[0].type", r#""X""#),
        ] {
            assert_eq!(find(path).as_deref(), Some(value), "{path}");
        }
        for path in [".nothing", ".a.d[7]", ".a.d[-9]", ".a.x.y", ".e.f"] {
            assert_eq!(find(path), None, "{path}");
        }
    }

    #[test]
    fn what_means_many_values_or_nothing_is_not_understood() {
        for path in ["..a", ".a[", ".a[?(@.b==)]", ".a[?(b)]", ".a[1:2]", ".a[x]"] {
            assert_eq!(JsonPath::parse(path), None, "{path}");
        }
    }
}
