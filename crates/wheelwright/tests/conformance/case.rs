//! One recorded case: what goes in, and what has to come out.

use std::{collections::BTreeSet, fmt, fs, path::Path};

use wheelwright::{
    document::{Arena, Decode, DuplicateKeys, Entry, Value, encode},
    eval_line,
};

/// A line for `schema eval` and the answer that Kubernetes gives.
pub(crate) struct Case {
    pub(crate) id: String,
    request: Vec<u8>,
    expected: Vec<u8>,
}

/// A field of the answer that is not as recorded.
pub(crate) struct Mismatch {
    pub(crate) field: &'static str,
    expected: String,
    found: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:\n    expected {}\n    found    {}", self.field, self.expected, self.found)
    }
}

/// Metadata of the wrong type; compared by presence, since the wording is ours to choose.
const REFUSAL: &str = "coerce_error";
/// Compared as sets; the others as documents, with numbers by value.
const SETS: [&str; 6] = ["structural_errors", "default_errors", "unknown", "errors", RULES, "update_errors"];
/// What the rules of a schema add to the errors. Where they are recorded apart, they may be left out if there are none;
/// elsewhere they are among the errors.
const RULES: &str = "rule_errors";
const DOCUMENTS: [&str; 2] = ["pruned", "defaulted"];

impl Case {
    /// The cases of a file of JSON lines; a line may hold several documents for one schema.
    pub(crate) fn read(file: &Path, definitions: Option<&Path>) -> Vec<Case> {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        text.lines().filter(|line| !line.is_empty()).flat_map(|line| Self::from_line(line, definitions)).collect()
    }

    fn from_line(line: &str, definitions: Option<&Path>) -> Vec<Case> {
        let arena = Arena::new();
        let record = parse(line.as_bytes(), &arena);
        let id = record.get("id").and_then(Value::as_str).expect("a case has an id");
        let definition = record.get("crd").zip(definitions).map(|(name, folder)| {
            let file = folder.join(format!("{}.json", name.as_str().expect("a definition has a name")));
            fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        });
        let mut common = Vec::new();
        for key in ["schema", "version", "root", "dropInvalidMetadata"] {
            common.extend(record.get(key).map(|value| Entry { key, value }));
        }
        if let Some(bytes) = &definition {
            common.push(Entry { key: "crd", value: parse(bytes, &arena) });
        }
        let cases = record.get("cases").and_then(Value::as_array).unwrap_or(std::slice::from_ref(&record));
        let numbered = cases.iter().enumerate();
        numbered
            .map(|(number, case)| {
                let mut entries = vec![Entry { key: "id", value: Value::string(id) }];
                entries.extend(&common);
                entries.extend(case.get("object").map(|value| Entry { key: "object", value }));
                let old = case.get("old").or_else(|| case.get("oldObject"));
                entries.extend(old.map(|value| Entry { key: "old", value }));
                let mut expected: Vec<Entry<'_>> = Vec::new();
                for key in SETS.into_iter().chain(DOCUMENTS).chain([REFUSAL]) {
                    let value = case.get(key).or_else(|| record.get(key));
                    let value = value.or((key == RULES && record.get("cases").is_some()).then_some(Value::Array(&[])));
                    expected.extend(value.map(|value| Entry { key, value }));
                }
                Case {
                    id: if cases.len() > 1 { format!("{id} #{number}") } else { id.to_owned() },
                    request: encode(Value::Object(&entries)),
                    expected: encode(Value::Object(&expected)),
                }
            })
            .collect()
    }

    /// Runs the case and compares.
    pub(crate) fn mismatches(&self) -> Vec<Mismatch> {
        let mut answer = Vec::new();
        eval_line(&self.request, &mut answer);
        let arena = Arena::new();
        let (expected, found) = (parse(&self.expected, &arena), parse(&answer, &arena));
        // Where Kubernetes did not look at the document, there is nothing to compare.
        let looked = expected.get("pruned").is_some() || expected.get("update_errors").is_some();
        let mut mismatches = Vec::new();
        for field in SETS.into_iter().chain(DOCUMENTS) {
            let Some(wanted) = expected.get(field) else { continue };
            if !looked && !matches!(field, "structural_errors" | "default_errors") {
                continue;
            }
            let is_joined = field == "errors" && expected.get(RULES).is_none();
            let same = match found.get(field) {
                Some(errors) if is_joined => {
                    set(errors).union(&found.get(RULES).map(set).unwrap_or_default()).cloned().collect::<BTreeSet<_>>()
                        == set(wanted)
                }
                Some(found) if SETS.contains(&field) => set(found) == set(wanted),
                Some(found) => found.equivalent(wanted),
                None => false,
            };
            if !same {
                let found = found.get(field).map_or_else(|| format!("nothing in {}", text(found)), text);
                mismatches.push(Mismatch { field, expected: text(wanted), found });
            }
        }
        if looked && found.get(REFUSAL).is_some() != expected.get(REFUSAL).is_some() {
            let (expected, found) = (expected.get(REFUSAL), found.get(REFUSAL));
            mismatches.push(Mismatch {
                field: REFUSAL,
                expected: format!("{expected:?}"),
                found: format!("{found:?}"),
            });
        }
        mismatches
    }
}

fn set(list: Value<'_>) -> BTreeSet<String> {
    list.as_array().unwrap_or_default().iter().map(|item| text(*item)).collect()
}

fn text(value: Value<'_>) -> String {
    String::from_utf8(encode(value)).expect("JSON is text")
}

fn parse<'a>(bytes: &'a [u8], arena: &'a Arena) -> Value<'a> {
    let limits = Decode { max_bytes: usize::MAX, duplicate_keys: DuplicateKeys::KeepLast, ..Decode::default() };
    match limits.decode(bytes, arena) {
        Ok(decoded) => decoded.value,
        Err(error) => panic!("{error}: {}", String::from_utf8_lossy(bytes)),
    }
}
