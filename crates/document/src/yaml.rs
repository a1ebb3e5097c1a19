//! YAML files to documents that know where each part of them was written.

mod comments;
mod error;
mod mapping;
mod places;
pub(crate) mod scalar;

use std::{borrow::Cow, collections::HashMap};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

pub use comments::{Comment, yaml_comments};
pub use error::{YamlError, YamlErrorKind};

use crate::{Arena, Decode, Number, Span, Spanned, SpannedNode, Value, Yaml};
use mapping::Mapping;
use places::{Places, end_of};
use scalar::{Resolved, resolve};

/// Decodes every document of a YAML stream; documents without content are skipped.
///
/// Scalars mean what they mean to kubectl, unless `limits` asks for YAML 1.2 (see [`Yaml`]). Numbers that JSON would write the same way keep their text. A value that is written as an alias has the place of
/// the alias, its parts the places of the parts of the anchor; a tag or an anchor is part of the place of its value.
///
/// # Errors
/// What is wrong, and where. A key that occurs twice in a mapping is an error unless `limits` says otherwise; keys
/// that come from a merge never are.
pub fn decode_yaml<'a>(bytes: &'a [u8], arena: &'a Arena, limits: &Decode) -> Result<Vec<Spanned<'a>>, YamlError> {
    decode_stream(bytes, arena, limits, FREE_NODES)
}

/// Decodes YAML that a document contains as a text, like [`decode_yaml`].
///
/// Aliases may not expand to more values than the text has bytes, so that a document with many such texts costs time and
/// memory linear in its size.
///
/// # Errors
/// What is wrong, and where.
pub fn decode_nested_yaml<'a>(text: &'a str, arena: &'a Arena, limits: &Decode) -> Result<Vec<Spanned<'a>>, YamlError> {
    decode_stream(text.as_bytes(), arena, limits, 0)
}

fn decode_stream<'a>(
    bytes: &'a [u8],
    arena: &'a Arena,
    limits: &Decode,
    free_nodes: usize,
) -> Result<Vec<Spanned<'a>>, YamlError> {
    // Places have 32 bits.
    let limit = limits.max_bytes.min(u32::MAX as usize - 1);
    if bytes.len() > limit {
        let kind = YamlErrorKind::TooLarge { limit, actual: bytes.len() };
        return refuse(kind, end_of(""));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            return refuse(YamlErrorKind::InvalidUtf8, end_of(&before));
        }
    };
    if let Some((offset, character)) = text.char_indices().find(|(_, character)| !is_allowed(*character)) {
        return refuse(YamlErrorKind::ControlCharacter { character }, end_of(&text[..offset]));
    }
    let mut builder = Builder {
        text,
        arena,
        limits: limits.clamped(),
        places: Places::new(text),
        node_limit: bytes.len().saturating_add(free_nodes),
        nodes: 0,
        anchors: HashMap::new(),
        open: Vec::new(),
        documents: Vec::new(),
    };
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => builder.event(event, span)?,
            Err(error) => return Err(builder.syntax(&error)),
        }
    }
    Ok(builder.documents)
}

/// No document has more values than bytes before aliases and merges repeat them; so many repeated ones are harmless.
const FREE_NODES: usize = 100_000;

/// A longer text counts as several values: repeated by aliases it is as large as they are once it is encoded.
const TEXT_OF_ONE_NODE: usize = 8;

/// Whether YAML allows the character outside of escapes.
fn is_allowed(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' => true,
        '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => character > '\u{9f}',
    }
}

struct Builder<'a> {
    text: &'a str,
    arena: &'a Arena,
    limits: Decode,
    places: Places<'a>,
    node_limit: usize,
    /// How many values there are so far, each counted as often as aliases repeat it, and long texts as several.
    nodes: usize,
    /// What the current document has finished, by the parser's number for the anchor.
    anchors: HashMap<usize, Built<'a>>,
    open: Vec<Open<'a>>,
    documents: Vec<Spanned<'a>>,
}

/// A finished value.
#[derive(Clone, Copy)]
struct Built<'a> {
    value: Spanned<'a>,
    /// How many values it consists of, itself included, aliases expanded and long texts counted as several.
    nodes: usize,
    /// How deep it nests, aliases expanded.
    height: u32,
}

/// A list or mapping whose end has not been seen.
struct Open<'a> {
    span: Span,
    anchor: usize,
    nodes_before: usize,
    height: u32,
    content: Content<'a>,
}

enum Content<'a> {
    List(Vec<Spanned<'a>>),
    Mapping(Mapping<'a>),
}

type Building<T> = Result<T, YamlError>;

#[cold]
fn refuse<T>(kind: YamlErrorKind, span: Span) -> Building<T> {
    Err(YamlError::new(kind, span))
}

impl<'a> Builder<'a> {
    fn event(&mut self, event: Event<'a>, span: saphyr_parser::Span) -> Building<()> {
        match event {
            Event::Nothing | Event::StreamStart | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.anchors.clear();
                Ok(())
            }
            Event::StreamEnd if span.start.index() == self.places.characters() => Ok(()),
            Event::StreamEnd => {
                // The parser counts bytes instead of characters here, so every place after it is wrong. Nothing
                // is lost: only directives that nobody knows can have such characters.
                let message = "a directive has characters outside of ASCII; remove it".to_owned();
                refuse(YamlErrorKind::Syntax { message }, self.places.at(&span.start))
            }
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::Scalar(text, style, anchor, tag) => self.scalar(&text, style, anchor, tag.as_deref(), span),
            Event::SequenceStart(anchor, tag) => self.start(Content::List(Vec::new()), anchor, tag.as_deref(), span),
            Event::MappingStart(anchor, tag) => {
                let content = Content::Mapping(Mapping::default());
                self.start(content, anchor, tag.as_deref(), span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
        }
    }

    #[cold]
    fn syntax(&self, error: &ScanError) -> YamlError {
        /// How deep the parser follows flow collections; it counts them in a byte.
        const FLOW_LIMIT: u32 = u8::MAX as u32;
        let kind = match error.info() {
            "recursion limit exceeded" => YamlErrorKind::TooDeep { limit: self.limits.max_depth.min(FLOW_LIMIT) },
            message => YamlErrorKind::Syntax { message: message.to_owned() },
        };
        YamlError::new(kind, self.places.at(error.marker()))
    }

    fn alias(&mut self, anchor: usize, span: saphyr_parser::Span) -> Building<()> {
        let place = self.places.scalar(span, ScalarStyle::Plain, false);
        let Some(mut built) = self.anchors.get(&anchor).copied() else {
            return refuse(YamlErrorKind::UnknownAnchor, place);
        };
        self.check_depth(self.open.len() + built.height as usize, place)?;
        self.count(built.nodes, place)?;
        built.value.span = place;
        self.add(built)
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: saphyr_parser::Span,
    ) -> Building<()> {
        let is_left_out = text.is_empty() && style == ScalarStyle::Plain && anchor == 0 && tag.is_none();
        let place = self.places.scalar(span, style, is_left_out);
        if is_left_out && self.open.is_empty() {
            return Ok(());
        }
        let tag = tag.map(tag_name);
        let nodes = 1 + text.len() / TEXT_OF_ONE_NODE;
        self.count(nodes, place)?;
        let is_merge = text == "<<" && style == ScalarStyle::Plain && matches!(tag.as_deref(), None | Some("!!merge"));
        if is_merge && let Some(mapping) = self.mapping_that_awaits_key() {
            mapping.add_merge_key();
            return Ok(());
        }
        let is_written_key = self.limits.yaml == Yaml::Core && style == ScalarStyle::Plain && !text.is_empty();
        let value = match tag {
            None if is_written_key && self.mapping_that_awaits_key().is_some() => {
                Value::string(self.keep(text.into(), place))
            }
            tag => self.value(text, style, tag, place)?,
        };
        let built = Built { value: Spanned { span: place, node: SpannedNode::Scalar(value) }, nodes, height: 0 };
        self.finish(built, anchor)
    }

    /// The meaning of a scalar with its tag, if it has one.
    fn value(&self, text: &str, style: ScalarStyle, tag: Option<String>, place: Span) -> Building<Value<'a>> {
        match tag.as_deref() {
            None if style == ScalarStyle::Plain => {}
            None | Some("!" | "!!str") => return Ok(Value::string(self.keep(text.into(), place))),
            Some("!!null" | "!!bool" | "!!int" | "!!float") => {}
            Some(_) => {
                let kind = YamlErrorKind::UnsupportedTag { tag: tag.unwrap_or_default() };
                return refuse(kind, place);
            }
        }
        match (resolve(text, self.limits.yaml), tag.as_deref()) {
            (Resolved::NotFinite, None | Some("!!float")) => {
                let text = text.to_owned();
                refuse(YamlErrorKind::NotFinite { text }, place)
            }
            (Resolved::Null, None | Some("!!null")) => Ok(Value::Null),
            (Resolved::Bool(value), None | Some("!!bool")) => Ok(Value::Bool(value)),
            (Resolved::Integer(number), None | Some("!!int" | "!!float"))
            | (Resolved::Float(number), None | Some("!!float")) => {
                Ok(Value::Number(Number::scanned(self.keep(number, place))))
            }
            (Resolved::String, None) => Ok(Value::string(self.keep(text.into(), place))),
            _ => {
                let kind = YamlErrorKind::MismatchedTag { tag: tag.unwrap_or_default(), text: text.to_owned() };
                refuse(kind, place)
            }
        }
    }

    /// Text that lives as long as the document: from the source if it is written there as it is.
    fn keep(&self, text: Cow<'_, str>, place: Span) -> &'a str {
        let source: &'a str = self.text;
        match source.get(place.start as usize..place.end as usize) {
            Some(written) if written == text => written,
            _ => self.arena.text(&text),
        }
    }

    fn start(
        &mut self,
        content: Content<'a>,
        anchor: usize,
        tag: Option<&Tag>,
        span: saphyr_parser::Span,
    ) -> Building<()> {
        let place = self.places.at(&span.start);
        if self.mapping_that_awaits_key().is_some() {
            let found = match content {
                Content::List(_) => "array",
                Content::Mapping(_) => "object",
            };
            return refuse(YamlErrorKind::UnsupportedKey { found }, place);
        }
        let own_tag = match content {
            Content::List(_) => "!!seq",
            Content::Mapping(_) => "!!map",
        };
        if let Some(tag) = tag.map(tag_name).filter(|tag| tag != "!" && tag != own_tag) {
            return refuse(YamlErrorKind::UnsupportedTag { tag }, place);
        }
        self.check_depth(self.open.len() + 1, place)?;
        let nodes_before = self.nodes;
        self.count(1, place)?;
        self.open.push(Open { span: place, anchor, nodes_before, height: 1, content });
        Ok(())
    }

    fn end(&mut self, span: saphyr_parser::Span) -> Building<()> {
        // The parser closes only what it has opened.
        let Some(mut open) = self.open.pop() else {
            return Ok(());
        };
        if let Some(end) = self.places.closing_bracket(span) {
            open.span.end = end;
        }
        let node = match open.content {
            Content::List(items) => SpannedNode::Array(self.arena.slice(&items)),
            Content::Mapping(mapping) => SpannedNode::Object(mapping.finish(self.limits.duplicate_keys, self.arena)?),
        };
        let value = Spanned { span: open.span, node };
        self.finish(Built { value, nodes: self.nodes - open.nodes_before, height: open.height }, open.anchor)
    }

    fn finish(&mut self, built: Built<'a>, anchor: usize) -> Building<()> {
        if anchor > 0 {
            self.anchors.insert(anchor, built);
        }
        self.add(built)
    }

    /// Puts a finished value where it belongs.
    fn add(&mut self, built: Built<'a>) -> Building<()> {
        let value = built.value;
        let Some(open) = self.open.last_mut() else {
            self.documents.push(value);
            return Ok(());
        };
        open.height = open.height.max(built.height + 1);
        open.span.end = open.span.end.max(value.span.end);
        match &mut open.content {
            Content::List(items) => items.push(value),
            Content::Mapping(mapping) => mapping.add(value, self.arena)?,
        }
        Ok(())
    }

    /// The innermost mapping, if what comes next is a key of it.
    fn mapping_that_awaits_key(&mut self) -> Option<&mut Mapping<'a>> {
        match &mut self.open.last_mut()?.content {
            Content::Mapping(mapping) if mapping.awaits_key() => Some(mapping),
            _ => None,
        }
    }

    fn count(&mut self, nodes: usize, place: Span) -> Building<()> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > self.node_limit {
            return refuse(YamlErrorKind::TooManyNodes { limit: self.node_limit }, place);
        }
        Ok(())
    }

    fn check_depth(&self, depth: usize, place: Span) -> Building<()> {
        if depth > self.limits.max_depth as usize {
            return refuse(YamlErrorKind::TooDeep { limit: self.limits.max_depth }, place);
        }
        Ok(())
    }
}

/// What the tags of YAML itself start with; they are written with `!!` for it.
const CORE: &str = "tag:yaml.org,2002:";

/// A tag as people write it.
fn tag_name(tag: &Tag) -> String {
    let whole = format!("{}{}", tag.handle, tag.suffix);
    match whole.strip_prefix(CORE) {
        Some(name) => format!("!!{name}"),
        None => whole,
    }
}
