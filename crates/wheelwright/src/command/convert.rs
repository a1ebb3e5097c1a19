//! `convert`: documents of one version as another version shows them.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    io::{self, Read},
};

use wheelwright_catalog::json_text;
use wheelwright_document::{Arena, Decode, Entry, FieldPath, Span, Spanned, Value, decode, encode_into};
use wheelwright_evolve::{ConvertError, Kind, VersionIndex};
use wheelwright_findings::{Finding, Holds, rules};
use wheelwright_schema::Stages;

use super::{
    documents::{Writer, treat},
    explained::{Conversion, Explainer},
    troubles::{Troubles, Whence},
};
use crate::{
    Console, Exit, Input, Kinds, ResultFormat, Unreadable,
    kinds::{Names, few, version},
    lines::{Line, answer_lines},
    report::{Manner, Report, plural},
    words,
};

/// What documents are converted to, and how they are written.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// The version to convert to.
    pub to: String,
    /// The kind of the documents, whatever they say: `Order`, or with its group, `Order.shop.example.com`.
    pub kind: Option<String>,
    /// The version of documents that have no apiVersion. No other may have another one.
    pub from: Option<String>,
    /// JSON is written on one line.
    pub compact: bool,
    /// Instead of documents, write where each of their values came from.
    pub explain: Option<ResultFormat>,
}

/// Writes every document as another version shows it, in the form it came in, and warns of unknown fields and of those
/// that the other version cannot say. Each item of a list is a document.
///
/// # Errors
/// The console cannot be written to.
pub fn convert(
    documents: impl IntoIterator<Item = Result<Input, Unreadable>>,
    kinds: &Kinds,
    options: &ConvertOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    if let Err(complaint) = known(kinds, options.kind.as_deref(), &options.to) {
        console.complain(complaint)?;
        return Ok(Exit::Usage);
    }
    let mut report = Report::new(Holds::Documents);
    let mut writer = Writer::new(options.compact);
    let mut explainer = options.explain.map(Explainer::new);
    let mut troubles = Troubles::default();
    let mut exit = Exit::Clean;
    for input in documents {
        let input = match input {
            Ok(input) => input,
            Err(unreadable) => {
                console.complain(unreadable)?;
                exit = Exit::Usage;
                continue;
            }
        };
        let (explainer, troubles) = (explainer.as_mut(), &mut troubles);
        let mut run =
            Run { input: &input, kinds, options, explainer, troubles, findings: Vec::new(), exit: Exit::Clean };
        run.all(&mut writer, console)?;
        exit = exit.max(run.exit);
        let findings = run.findings;
        report.add(&input, findings);
    }
    console.data.flush()?;
    troubles.report(kinds, &mut report);
    let found = report.finish(console.today, exit);
    found.write(Manner::text(console.colour_conversation), console.conversation)?;
    Ok(found.exit())
}

/// One input.
struct Run<'r> {
    input: &'r Input,
    kinds: &'r Kinds,
    options: &'r ConvertOptions,
    /// Who takes converted documents instead of the writer.
    explainer: Option<&'r mut Explainer>,
    troubles: &'r mut Troubles,
    findings: Vec<Finding>,
    exit: Exit,
}

impl<'r> Run<'r> {
    fn all(&mut self, writer: &mut Writer, console: &mut Console<'_>) -> io::Result<()> {
        let arena = Arena::for_input(self.input.bytes.len());
        let (form, documents) = match self.input.documents(&arena) {
            Ok(read) => read,
            Err(finding) => {
                self.findings.push(*finding);
                return Ok(());
            }
        };
        if documents.is_empty() {
            console.complain(format_args!("{}: holds no document", self.input.name))?;
            self.exit = Exit::Usage;
        }
        for document in &documents {
            self.findings.extend(words::findings(self.input, document, &rules::DOCUMENT_WORD_READ_AS_BOOLEAN));
            let scratch = Arena::new();
            let converted = self.document(document, &scratch, console)?;
            if let Some(value) = converted.filter(|_| self.explainer.is_none()) {
                writer.write(form, value, console.data)?;
            }
        }
        Ok(())
    }

    /// What comes of a document; nothing does if it cannot be converted, which has been said or found by then.
    fn document<'a>(
        &mut self,
        document: &Spanned<'a>,
        arena: &'a Arena,
        console: &mut Console<'_>,
    ) -> io::Result<Option<Value<'a>>>
    where
        'r: 'a,
    {
        let options = self.options;
        let names = Names {
            chosen_kind: options.kind.as_deref(),
            from: options.from.as_deref(),
            other_api_version: document.get("apiVersion").map(|other| other.kind_name()),
            ..Names::of(|key| document.get(key).and_then(Spanned::as_str))
        };
        if document.as_object().is_none() {
            let error = ConvertError::NoObject(document.kind_name());
            return self.complain(document, error.to_string(), console);
        }
        if let Some(items) = self.kinds.items(document) {
            return self.list(document, items, names, arena, console);
        }
        let conversion = self
            .kinds
            .of(names)
            .and_then(|(kind, from)| Ok(Conversion { kind, from, to: version(kind, &options.to)? }));
        let conversion = match conversion {
            Ok(conversion) => conversion,
            Err(complaint) => return self.complain(document, complaint, console),
        };
        let Conversion { kind, from, to } = conversion;
        if let Some(program) = kind.program(from) {
            let (admitted, findings) = treat(self.input, document, program, Stages::DEFAULT, None, arena);
            self.findings.extend(findings);
            if admitted.is_none() {
                return Ok(None);
            }
        }
        let value = document.to_value(arena);
        let (shown, troubles) = match kind.convert_telling(from, to, value, arena) {
            Ok(converted) => converted,
            Err(error) => return self.complain(document, error.to_string(), console),
        };
        let place = self.input.place(document.span);
        if let (Some(explainer), Ok((_, explained))) = (&mut self.explainer, kind.explain(from, to, value, arena)) {
            explainer.write(&conversion, shown, &explained, &place, console.data)?;
        }
        let left_out = kind.left_out(from, to, value, (shown, &troubles), arena);
        self.troubles.add(self.kinds, kind, troubles, Whence::Place(place));
        if !left_out.is_empty() {
            let Span { line, column, .. } = document.span;
            let fields = few(left_out.iter().map(ToString::to_string));
            let (file, to) = (&self.input.name, &options.to);
            console.say(format_args!("warning: {file}:{line}:{column}: {to} cannot say {fields}: left out"))?;
        }
        Ok(Some(shown))
    }

    fn complain<T>(
        &mut self,
        document: &Spanned<'_>,
        complaint: String,
        console: &mut Console<'_>,
    ) -> io::Result<Option<T>> {
        let Span { line, column, .. } = document.span;
        console.complain(format_args!("{}:{line}:{column}: {complaint}", self.input.name))?;
        self.exit = Exit::Usage;
        Ok(None)
    }

    /// A list with each of its items converted. Of a list with an item that cannot be converted, nothing comes: without
    /// the item, it would be another list.
    fn list<'a>(
        &mut self,
        list: &Spanned<'a>,
        items: &[Spanned<'a>],
        names: Names<'_>,
        arena: &'a Arena,
        console: &mut Console<'_>,
    ) -> io::Result<Option<Value<'a>>>
    where
        'r: 'a,
    {
        let mut converted = Vec::with_capacity(items.len());
        for item in items {
            converted.extend(self.document(item, arena, console)?);
        }
        if converted.len() < items.len() {
            return Ok(None);
        }
        // `OrderList` names the version of its items, `List` does not.
        let of_kind = names.kind.and_then(|kind| kind.strip_suffix("List"));
        let kind = of_kind.and_then(|kind| self.kinds.of(Names { kind: Some(kind), ..names }).ok());
        let to = kind.and_then(|(kind, _)| {
            let to = kind.version(&self.options.to)?;
            Some((kind.api_version(to)?, format!("{}List", kind.name_in(to))))
        });
        let entries = list.as_object().unwrap_or_default().iter().map(|entry| {
            let value = match (entry.key, &to) {
                ("items", _) => Value::Array(arena.slice(&converted)),
                ("apiVersion", Some((api_version, _))) => Value::string(arena.text(api_version)),
                ("kind", Some((_, kind))) => Value::string(arena.text(kind)),
                _ => entry.value.to_value(arena),
            };
            Entry { key: entry.key, value }
        });
        Ok(Some(Value::Object(arena.slice_from(entries))))
    }
}

/// Which way the document of a line goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// To a version.
    To(String),
    /// Through a version and back: a client of it reads the document and writes it back unchanged.
    Via(String),
}

/// What becomes of the documents of lines.
#[derive(Clone, Debug)]
pub struct LineOptions {
    /// Which way they go.
    pub way: Way,
    /// Their kind, whatever they say.
    pub kind: Option<String>,
    /// The version of documents that have no apiVersion. No other may have another one.
    pub from: Option<String>,
}

/// Converts a document a line, and writes one a line; empty lines are passed over. A document that cannot be converted
/// is answered with `{"error": …}`, and the command ends with findings. A line has at most 3 MiB, which is what
/// Kubernetes takes for a document. No more than one is held at a time.
/// What documents had and answers have not is summed up on the conversation at the end.
///
/// # Errors
/// The lines cannot be read, or the console cannot be written to.
pub fn convert_lines(
    lines: impl Read,
    kinds: &Kinds,
    options: &LineOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let (Way::To(other) | Way::Via(other)) = &options.way;
    let versions = options.from.iter().chain([other]);
    if let Some(complaint) =
        versions.map(|version| known(kinds, options.kind.as_deref(), version)).find_map(Result::err)
    {
        console.complain(complaint)?;
        return Ok(Exit::Usage);
    }
    let limit = Decode::default().max_bytes;
    let mut exit = Exit::Clean;
    let mut left_out = LeftOut::default();
    let mut troubles = Troubles::default();
    answer_lines(lines, limit, console.data, |number, line, answer| {
        let converted = match line {
            Line::Whole(line) => convert_line((number, line), kinds, options, answer, &mut left_out, &mut troubles),
            Line::TooLong(_) => Err(format!("the line is longer than the limit of {} MiB", limit >> 20)),
        };
        if let Err(error) = converted {
            encode_into(Value::Object(&[Entry { key: "error", value: Value::string(&error) }]), answer);
            exit = Exit::Findings;
        }
    })?;
    left_out.say(&options.way, console)?;
    troubles.say(kinds, console)?;
    Ok(exit)
}

fn convert_line(
    (number, line): (usize, &[u8]),
    kinds: &Kinds,
    options: &LineOptions,
    answer: &mut Vec<u8>,
    left_out: &mut LeftOut,
    troubles: &mut Troubles,
) -> Result<(), String> {
    let line = json_text::without_byte_order_mark(line);
    let arena = Arena::for_input(line.len());
    let document = decode(line, &arena).map_err(|error| error.to_string())?;
    let (kind, from) = kinds.of(Names {
        chosen_kind: options.kind.as_deref(),
        from: options.from.as_deref(),
        other_api_version: document.get("apiVersion").map(Value::kind_name),
        ..Names::of(|key| document.get(key).and_then(Value::as_str))
    })?;
    let converted = match &options.way {
        Way::To(to) => kind.convert_telling(from, version(kind, to)?, document, &arena),
        Way::Via(via) => kind.round_trip_telling(from, version(kind, via)?, document, &arena),
    };
    let (converted, untold) = converted.map_err(|error: ConvertError| error.to_string())?;
    encode_into(converted, answer);
    if let Way::To(to) = &options.way {
        left_out.unsaid.add(&kind.left_out(from, version(kind, to)?, document, (converted, &untold), &arena));
    }
    match kind.program(from).map(|program| program.run(document, &arena, Stages::PRUNE)) {
        Some(Ok(pruned)) => {
            left_out.unknown.add(&pruned.unknown);
            left_out.unknown.add(&pruned.unknown_metadata);
        }
        // On the way to another version, it is among what that cannot say.
        None if matches!(options.way, Way::Via(_)) => {
            left_out.unknown.add(&kind.left_out(from, from, document, (converted, &untold), &arena));
        }
        _ => {}
    }
    troubles.add(kinds, kind, untold, Whence::Line(number));
    Ok(())
}

/// What the documents of all lines had and the answers have not.
#[derive(Default)]
struct LeftOut {
    /// What the other version cannot say.
    unsaid: Tally,
    /// What their own version does not know.
    unknown: Tally,
}

impl LeftOut {
    fn say(&self, way: &Way, console: &mut Console<'_>) -> io::Result<()> {
        let (Way::To(other) | Way::Via(other)) = way;
        if let Some(fields) = self.unsaid.spelled() {
            console.say(format_args!("warning: {other} cannot say {fields}: left out"))?;
        }
        match self.unknown.spelled() {
            Some(fields) => console.say(format_args!("warning: unknown fields: {fields}: left out")),
            None => Ok(()),
        }
    }
}

/// How often each field was met, whatever the items and keys on the way to it.
#[derive(Default)]
struct Tally(BTreeMap<String, usize>);

impl Tally {
    /// There may be as many fields as lines, and more names than this are not kept.
    const MOST: usize = 1000;
    const LONGEST: usize = 200;

    fn add(&mut self, fields: &[FieldPath]) {
        for field in fields {
            let (mut depth, mut is_position) = (0_usize, true);
            let mut name = String::new();
            for letter in field.as_str().chars().take(Self::LONGEST) {
                match (letter, depth) {
                    ('[', 0) => is_position = true,
                    (']', 1) => name.push_str(if is_position { "[]" } else { "{}" }),
                    (letter, 0) => name.push(letter),
                    (letter, _) => is_position &= letter.is_ascii_digit(),
                }
                match letter {
                    '[' => depth += 1,
                    ']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            if self.0.len() >= Self::MOST && !self.0.contains_key(&name) {
                name = "others".to_owned();
            }
            *self.0.entry(name).or_default() += 1;
        }
    }

    /// The most frequent ones; none if there are none.
    fn spelled(&self) -> Option<String> {
        let mut fields: Vec<_> = self.0.iter().collect();
        fields.sort_by_key(|(_, count)| Reverse(**count));
        let times = |(field, count): (&String, &usize)| format!("{field} ({})", plural(*count, "time"));
        (!fields.is_empty()).then(|| few(fields.into_iter().map(times)))
    }
}

/// Whether one of the kinds that documents may be of has a version, or what to complain of.
fn known(kinds: &Kinds, kind: Option<&str>, name: &str) -> Result<(), String> {
    let candidates: Vec<&Kind> = match kind {
        Some(kind) => kinds.named(kind)?,
        None => kinds.iter().collect(),
    };
    let find = |kind: &&Kind| -> Result<VersionIndex, String> { version(kind, name) };
    match &candidates[..] {
        _ if kind.is_none() && kinds.remembered().iter().any(|kind| find(&kind).is_ok()) => Ok(()),
        [kind] => find(kind).map(drop),
        several if several.iter().any(|kind| find(kind).is_ok()) => Ok(()),
        _ => Err(format!("no kind in the catalog has a version {name}")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use wheelwright_catalog::OnDisk;

    use super::*;

    fn converted(lines: impl Read, way: Way) -> (Exit, Vec<String>) {
        let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders");
        let (mut data, mut conversation) = (Vec::new(), Vec::new());
        let mut console = Console::plain(&mut data, &mut conversation);
        let kinds = Kinds::load(&OnDisk::default(), &[orders], &mut console).unwrap().unwrap();
        let options = LineOptions { way, kind: Some("Order".to_owned()), from: Some("v1".to_owned()) };
        let exit = convert_lines(lines, &kinds, &options, &mut console).unwrap();
        (exit, String::from_utf8(data).unwrap().lines().map(str::to_owned).collect())
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_and_passed_over() {
        let long = io::repeat(b' ').take(10).chain(io::repeat(b'x').take(4 << 20));
        let (exit, answers) = converted(long.chain(&b"\n{\"spec\": {\"qty\": 2}}"[..]), Way::To("v2".to_owned()));
        assert_eq!(exit, Exit::Findings);
        assert_eq!(answers[0], r#"{"error":"the line is longer than the limit of 3 MiB"}"#);
        assert_eq!(answers[1..], [r#"{"spec":{"quantity":2,"priority":"normal"}}"#]);
    }

    #[test]
    fn a_client_that_knows_nothing_leaves_the_normal_form() {
        let line = br#"{"spec": {"coupon": "A", "city": "", "lines": [{}, {"sku": null, "gift": true}], "other": 1}}"#;
        let normal = converted(&line[..], Way::To("v1".to_owned()));
        for via in ["v1", "v2", "v3"] {
            assert_eq!(converted(&line[..], Way::Via(via.to_owned())), normal, "{via}");
        }
        let expected = r#"{"spec":{"qty":1,"city":"","coupon":"A","lines":[{"gift":false},{"gift":true}]}}"#;
        assert_eq!(normal, (Exit::Clean, vec![expected.to_owned()]));
    }

    #[test]
    fn fields_are_counted_whatever_the_items_on_the_way_to_them() {
        let path = |index: usize| {
            use wheelwright_document::Path;
            Path::Child(&Path::Index(&Path::Child(&Path::Root, "lines"), index), "gift").to_field_path()
        };
        let mut tally = Tally::default();
        tally.add(&[path(0), path(1), FieldPath::root().child("coupon")]);
        assert_eq!(tally.spelled().as_deref(), Some("lines[].gift (2 times), coupon (1 time)"));
        let mut maps = Tally::default();
        maps.add(&["a.b", "c"].map(|key| {
            use wheelwright_document::Path;
            Path::Child(&Path::Key(&Path::Child(&Path::Root, "limits"), key), "cpu").to_field_path()
        }));
        assert_eq!(maps.spelled().as_deref(), Some("limits{}.cpu (2 times)"));
        tally.add(&(0..2 * Tally::MOST).map(|at| FieldPath::root().child(&format!("f{at}"))).collect::<Vec<_>>());
        assert_eq!((tally.0.len(), tally.0["others"]), (Tally::MOST + 1, Tally::MOST + 2));
        assert_eq!(Tally::default().spelled(), None);
    }

    #[test]
    fn bytes_of_any_sort_have_an_answer_each() {
        let deep = [b"[".repeat(600), b"\n".to_vec()].concat();
        let lines = [&b"\xff\n\x00\n\xef\xbb\xbf{}\n{\"spec\":{},\"spec\":{}}\n"[..], &deep, b"{"].concat();
        let (exit, answers) = converted(&lines[..], Way::To("v3".to_owned()));
        assert_eq!(exit, Exit::Findings);
        let is_error = |answer: &String| answer.starts_with(r#"{"error":"#);
        assert_eq!(
            answers.iter().map(is_error).collect::<Vec<_>>(),
            [true, true, false, true, true, true],
            "{answers:?}"
        );
    }
}
