//! Findings for people: pictures of the source with reasons and remedies.

use std::{collections::HashSet, io};

use annotate_snippets::{
    AnnotationKind, Element, Level as Heading, Message, Origin, Renderer, Snippet, normalize_untrusted_str,
};

use super::excerpt::Excerpt;
use crate::{Finding, Findings, Level, Place, Sources, Suppression};

/// The most characters of any one text that are shown; a message may quote a value of any size.
const LONGEST_TEXT: usize = 1000;

/// Stands for a location while a picture is drawn, and is replaced afterwards: drawn from an excerpt, the column of a
/// place in a long line would be wrong. Nothing else that is drawn has control characters in it.
const LOCATION: &str = "\u{1}";

/// Writes each finding with a picture of where it is, why it matters and how to mend it, in the order of
/// [`Findings::sorted`]. What is said of a rule in general is said once.
pub fn render_text(findings: &Findings, sources: &Sources, colour: bool, out: &mut dyn io::Write) -> io::Result<()> {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut explained = HashSet::new();
    for finding in findings.sorted() {
        let first_of_rule = finding.suppressed.is_none() && explained.insert(finding.rule.id);
        writeln!(out, "{}\n", draw(finding, first_of_rule, sources, &renderer))?;
    }
    Ok(())
}

fn draw(finding: &Finding, first_of_rule: bool, sources: &Sources, renderer: &Renderer) -> String {
    let heading = match finding.level {
        Level::Error => Heading::ERROR,
        Level::Warning => Heading::WARNING,
        Level::Note => Heading::NOTE,
    };
    let heading = match finding.suppressed {
        Some(_) => Heading::NOTE.with_name(format!("suppressed {}", finding.level)),
        None => heading,
    };
    let marks = marks(finding, sources);
    let mut pictures: Vec<&[Mark<'_>]> = marks.chunk_by(Mark::is_near).collect();
    pictures.sort_by_key(|picture| !picture.iter().any(Mark::is_primary));
    let report = [heading
        .primary_title(printable(&finding.message))
        .id(finding.rule.id)
        .elements(pictures.iter().map(|picture| element(picture)))
        .elements(footer(finding, first_of_rule))];
    put_in_locations(&renderer.render(&report), &pictures)
}

/// A place of a finding, with its source if that is known.
struct Mark<'f> {
    place: &'f Place,
    /// Why it is shown; the place of the finding itself needs no label.
    label: Option<&'f str>,
    source: Option<(&'f str, Excerpt)>,
}

impl Mark<'_> {
    fn is_primary(&self) -> bool {
        self.label.is_none()
    }

    fn is_near(&self, later: &Mark<'_>) -> bool {
        match (&self.source, &later.source) {
            (Some((_, excerpt)), Some((_, later_excerpt))) => {
                self.place.file == later.place.file && excerpt.is_near(later_excerpt)
            }
            _ => false,
        }
    }
}

/// The places of a finding in the order of the files and of the text in them.
fn marks<'f>(finding: &'f Finding, sources: &'f Sources) -> Vec<Mark<'f>> {
    let related = finding.related.iter().map(|related| (&related.place, Some(related.label.as_str())));
    let places = finding.place.iter().map(|place| (place, None)).chain(related);
    let mut marks: Vec<_> = places
        .map(|(place, label)| {
            let source = sources.get(&place.file).map(|text| (text, Excerpt::new(text, place.span)));
            Mark { place, label, source }
        })
        .collect();
    marks.sort_by_key(|mark| mark.place);
    marks
}

/// Draws marks of one file that are near to each other; without the source, only where they are.
fn element<'f>(picture: &[Mark<'f>]) -> Element<'f> {
    if let [first, ..] = picture
        && let [.., last] = picture
        && let Some((text, first_excerpt)) = &first.source
        && let Some((_, last_excerpt)) = &last.source
    {
        let annotations = picture.iter().filter_map(|mark| {
            let (_, excerpt) = mark.source.as_ref()?;
            let kind = if mark.is_primary() { AnnotationKind::Primary } else { AnnotationKind::Context };
            Some(kind.span(excerpt.marked_from(first_excerpt)).label(mark.label.map(printable)))
        });
        Snippet::source(without_c1_controls(first_excerpt.text_to(last_excerpt, text)))
            .line_start(first.place.span.line as usize)
            .path(LOCATION)
            .annotations(annotations)
            .into()
    } else {
        Origin::path(LOCATION).into()
    }
}

/// Replaces each stand-in, and the line and column that were drawn after it, with what is true.
fn put_in_locations(drawn: &str, pictures: &[&[Mark<'_>]]) -> String {
    let mut parts = drawn.split(LOCATION);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for (part, picture) in parts.zip(pictures) {
        if let Some(mark) = picture.iter().find(|mark| mark.is_primary()).or(picture.first()) {
            let Place { file, span } = mark.place;
            whole += &format!("{}:{}:{}", printable(file), span.line, span.column);
            if let (None, Some(label)) = (&mark.source, mark.label) {
                whole += &format!(": {}", printable(label));
            }
        }
        whole += part.trim_start_matches(|character: char| character == ':' || character.is_ascii_digit());
    }
    whole
}

fn footer(finding: &Finding, first_of_rule: bool) -> Vec<Message<'static>> {
    let rule = finding.rule;
    let line = |name: &'static str, text: &str| Heading::NOTE.with_name(name).message(printable(text));
    let mut lines = Vec::new();
    if !finding.field.is_root() {
        lines.push(line("field", finding.field.as_str()));
    }
    if let Some(Suppression { reason, until, .. }) = &finding.suppressed {
        lines.push(match until {
            Some(until) => line("allowed", &format!("until {until}: {reason}")),
            None => line("allowed", reason),
        });
        return lines;
    }
    if first_of_rule {
        lines.push(line("why", rule.why));
    }
    match &finding.mend {
        Some(mend) => lines.push(line("mend", mend)),
        None if first_of_rule => lines.push(line("mend", rule.mend)),
        None => {}
    }
    if first_of_rule {
        lines.push(line("help", &format!("wheelwright explain {}", rule.id)));
    }
    lines
}

/// The text as it may be shown: without anything a terminal would obey, and not too long.
fn printable(text: &str) -> String {
    let shown = match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    without_c1_controls(&normalize_untrusted_str(&shown))
}

/// Replaces the control characters that [`normalize_untrusted_str`] leaves, one of which starts an escape sequence,
/// with a dot that has as many bytes, so that spans stay right.
fn without_c1_controls(text: &str) -> String {
    text.replace(|character| matches!(character, '\u{80}'..='\u{9f}'), "·")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wheelwright_document::{FieldPath, Span};

    use super::*;
    use crate::rules;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn no_text_and_no_span_can_break_it(
            text in "([a-z:{}\"\t ]{0,12}|\r\n|\n|\r|[éß😀漢\u{feff}\u{1}\u{1b}\u{9b}\u{200d}]|(x{150})){0,12}",
            spans in prop::collection::vec((0u32..220, 0u32..220, 0u32..9, 0u32..9), 1..5),
            message in any::<String>(),
            colour: bool,
        ) {
            let place = |(start, end, line, column)| Place::new("a.yaml", Span { start, end, line, column });
            let mut finding = Finding::new(&rules::TYPE_REQUIRED, &message, FieldPath::root()).at(place(spans[0]));
            for span in &spans[1..] {
                finding = finding.with_related(&message, place(*span));
            }
            let mut out = Vec::new();
            let sources = Sources::from_iter([("a.yaml", text)]);
            render_text(&Findings::from_iter([finding]), &sources, colour, &mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            let obeyed = |character| matches!(character, '\u{1}' | '\u{9b}' | '\r') || (!colour && character == '\u{1b}');
            prop_assert_eq!(out.find(obeyed), None);
        }
    }
}
