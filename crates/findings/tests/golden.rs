//! What people and programs see, compared with files; `UPDATE_GOLDEN=1` writes them anew.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

use std::{env, fs, path::Path};

use wheelwright_document::{Arena, FieldPath, Path as Field, Span, decode};
use wheelwright_findings::{
    Date, Finding, Findings, Level, Place, Sources, Suppression, render_github, render_json, render_sarif, render_text,
    rules,
};

const DEFINITION: &str = "\
schema:
  openAPIV3Schema:
    type: object
    properties:
      spec:
        properties:
          replicas:
            type: integer
            default: three
          nickname:
            type: string
            defualt: Bob
          backup:
            type: object
            properties:
              interval:
                type: string
                default: 24h
      status:
        description: no type either
";

#[test]
fn text() {
    compare("definition.txt", &text_of(&definition_findings(), &definition_sources(), false));
}

#[test]
fn text_in_colour() {
    compare("definition.colour.txt", &text_of(&definition_findings(), &definition_sources(), true));
}

#[test]
fn json() {
    let json = json_of(&definition_findings());
    compare("definition.jsonl", &json);
    for line in json.lines() {
        let arena = Arena::new();
        let finding = decode(line.as_bytes(), &arena).unwrap();
        let rule = rules::find(finding.get("rule").unwrap().as_str().unwrap()).unwrap();
        assert_eq!(finding.get("name").unwrap().as_str(), Some(rule.name));
        assert!(finding.get("related").unwrap().as_array().is_some());
    }
}

#[test]
fn sarif() {
    let sarif = sarif_of(&definition_findings(), &definition_sources());
    compare("definition.sarif", &sarif);
    let arena = Arena::new();
    let document = decode(sarif.as_bytes(), &arena).unwrap();
    let run = document.get("runs").unwrap().as_array().unwrap()[0];
    let rules = run.get("tool").unwrap().get("driver").unwrap().get("rules").unwrap().as_array().unwrap();
    let results = run.get("results").unwrap().as_array().unwrap();
    assert_eq!(results.len(), 5);
    for result in results {
        let index: usize = result.get("ruleIndex").unwrap().as_number().unwrap().as_str().parse().unwrap();
        assert_eq!(rules[index].get("id"), result.get("ruleId"));
    }
}

#[test]
fn sarif_regions_count_characters() {
    let text = "größe: [漢字,\n  😀😀]\n";
    let sources = Sources::from_iter([("ä b.yaml", text)]);
    let finding = |needle: &str, length| {
        let place = place("ä b.yaml", text, needle, length);
        Finding::new(&rules::INVALID_VALUE, "x", field(&["a"])).at(place)
    };
    let sarif = sarif_of(&Findings::from_iter([finding("漢字", 6), finding("[", 20)]), &sources);
    for region in [
        r#"{"artifactLocation":{"uri":"%C3%A4%20b.yaml"},"region":{"startLine":1,"startColumn":9,"endLine":1,"endColumn":11}}"#,
        r#"{"artifactLocation":{"uri":"%C3%A4%20b.yaml"},"region":{"startLine":1,"startColumn":8,"endLine":2,"endColumn":6}}"#,
    ] {
        assert!(sarif.contains(region), "{region} in {sarif}");
    }
}

#[test]
fn github() {
    let mut out = Vec::new();
    render_github(&definition_findings(), &definition_sources(), &mut out).unwrap();
    compare("definition.github.txt", &String::from_utf8(out).unwrap());
}

/// The second finding is let pass.
#[test]
fn let_pass() {
    let suppression = Suppression {
        reason: "until the next version".to_owned(),
        until: Date::parse("2027-03-01"),
        place: place("crd.yaml", DEFINITION, "schema", 6),
    };
    let mut findings = definition_findings();
    findings.iter_mut().nth(1).unwrap().suppressed = Some(suppression);
    compare("suppressed.txt", &text_of(&findings, &definition_sources(), false));
    compare("suppressed.colour.txt", &text_of(&findings, &definition_sources(), true));
    compare("suppressed.jsonl", &json_of(&findings));
    let sarif = sarif_of(&findings, &definition_sources());
    let justification = r#""justification":"until the next version (until 2027-03-01)""#;
    assert_eq!(sarif.matches(justification).count(), 1);
    let mut github = Vec::new();
    render_github(&findings, &definition_sources(), &mut github).unwrap();
    assert_eq!(String::from_utf8(github).unwrap().lines().count(), 4);
}

#[test]
fn nothing_found() {
    let sources = Sources::from_iter([("a.yaml", "")]);
    assert_eq!(text_of(&Findings::new(), &sources, false), "");
    assert_eq!(json_of(&Findings::new()), "");
    let sarif = sarif_of(&Findings::new(), &sources);
    assert!(sarif.ends_with(
        r#""results":[]}]}
"#
    ));
}

#[test]
fn places_far_apart_and_in_other_files() {
    let far = format!("first: 1\n{}first: 2\n", "# filler, and more of it\n".repeat(1000));
    let sources = Sources::from_iter([("far.yaml", far.as_str()), ("other.yaml", "first:\r\n  type: integer\r\n")]);
    let findings = Findings::from_iter([
        Finding::new(&rules::DUPLICATE_KEY, "the key `first` occurs twice", field(&["first"]))
            .at(place("far.yaml", &far, "first: 2", 5))
            .with_related("first here", place("far.yaml", &far, "first: 1", 5))
            .with_related("declared here", place("other.yaml", "first:\r\n  type: integer\r\n", "type", 4))
            .with_related("not at hand", Place::new("gone.yaml", Span { start: 5, end: 9, line: 2, column: 3 })),
        Finding::new(&rules::UNREADABLE, "the file is not at hand", FieldPath::root())
            .at(Place::new("gone.yaml", Span { start: 0, end: 9, line: 1, column: 1 })),
        Finding::new(&rules::INVALID_VALUE, "a finding without a place", field(&["spec", "x"])),
    ]);
    compare("far.txt", &text_of(&findings, &sources, false));
}

#[test]
fn a_long_line_shows_only_a_part_with_its_true_column() {
    let entry = r#"{"name":"größe","value":true},"#;
    let minified = format!(r#"{{"items":[{}{{"name":7}}]}}"#, entry.repeat(40_000));
    let sources = Sources::from_iter([("minified.json", minified.as_str())]);
    let findings = Findings::from_iter([
        Finding::new(&rules::INVALID_VALUE, "must be a string, but is an integer", field(&["items", "name"]))
            .at(place("minified.json", &minified, "7}", 1))
            .with_related("the list starts here", place("minified.json", &minified, "[{", 1)),
        Finding::new(&rules::INVALID_VALUE, "must not be there at all", FieldPath::root()).at(place(
            "minified.json",
            &minified,
            "{",
            minified.len(),
        )),
    ]);
    let text = text_of(&findings, &sources, false);
    assert!(text.len() < 3000, "{}", text.len());
    compare("minified.txt", &text);
}

#[test]
fn tabs_wide_characters_and_controls() {
    let odd = "{\r\n\t\"漢字\": \"größe 😀\",\r\n\t\"evil\": \"\u{1b}[31m\u{9b}31m\u{202e}\"\r\n}\r\n";
    let sources = Sources::from_iter([("odd\u{1b}.json", odd)]);
    let findings =
        Findings::from_iter([
            Finding::new(&rules::UNKNOWN_FIELD, "`漢字` is not declared", field(&["漢字"]))
                .at(place("odd\u{1b}.json", odd, "\"漢字\"", "\"漢字\"".len()))
                .with_related("its value", place("odd\u{1b}.json", odd, "\"größe", "\"größe 😀\"".len())),
            Finding::new(&rules::INVALID_VALUE, "`\u{1b}[31m\u{9b}31m` is refused", field(&["evil\u{1b}[0m"]))
                .at(place("odd\u{1b}.json", odd, "\u{1b}", "\u{1b}[31m\u{9b}31m\u{202e}".len())),
        ]);
    compare("odd.txt", &text_of(&findings, &sources, false));
}

fn definition_sources() -> Sources {
    Sources::from_iter([("crd.yaml", DEFINITION), ("clean.yaml", "type: object\n")])
}

fn definition_findings() -> Findings {
    let at = |needle: &str, length| place("crd.yaml", DEFINITION, needle, length);
    Findings::from_iter([
        Finding::new(&rules::TYPE_REQUIRED, "type is required", field(&["properties", "status"]))
            .at(at("status:", 6))
            .with_error_type("FieldValueRequired")
            .with_mend("add `type: object`"),
        Finding::new(&rules::TYPE_REQUIRED, "type is required", field(&["properties", "spec"]))
            .at(at("spec:", 4))
            .with_error_type("FieldValueRequired")
            .with_mend("add `type: object`"),
        Finding::new(&rules::INVALID_DEFAULT, "`three` is not an integer", field(&["properties", "spec", "default"]))
            .at(at("three", 5))
            .with_error_type("FieldValueTypeInvalid")
            .with_related("must be an integer", at("type: integer", 13))
            .lowered_to(Level::Note),
        Finding::new(&rules::UNKNOWN_KEYWORD, "unknown keyword `defualt`", field(&["properties", "spec", "defualt"]))
            .at(at("defualt", 7))
            .with_mend("did you mean `default`?"),
        Finding::new(&rules::UNREACHABLE_DEFAULT, "applies only where `backup` is written", field(&["interval"]))
            .at(at("default: 24h", 12))
            .with_related("absent unless written", at("backup:", 200))
            .with_mend("add this line below `backup`:\n  default: {}"),
    ])
}

/// A place found by its text, as the decoders count it.
fn place(file: &str, text: &str, needle: &str, length: usize) -> Place {
    let start = text.find(needle).unwrap();
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let span = Span {
        start: start as u32,
        end: (start + length) as u32,
        line: text[..start].matches('\n').count() as u32 + 1,
        column: text[line_start..start].chars().count() as u32 + 1,
    };
    Place::new(file, span)
}

fn field(names: &[&str]) -> FieldPath {
    fn extend(parent: &Field<'_>, names: &[&str]) -> FieldPath {
        match names {
            [] => parent.to_field_path(),
            [name, rest @ ..] => extend(&Field::Child(parent, name), rest),
        }
    }
    extend(&Field::Root, names)
}

fn text_of(findings: &Findings, sources: &Sources, colour: bool) -> String {
    let mut out = Vec::new();
    render_text(findings, sources, colour, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn json_of(findings: &Findings) -> String {
    let mut out = Vec::new();
    render_json(findings, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn sarif_of(findings: &Findings, sources: &Sources) -> String {
    let mut out = Vec::new();
    render_sarif(findings, sources, true, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn compare(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{name} differs; run with UPDATE_GOLDEN=1 to accept:\n{actual}");
}
