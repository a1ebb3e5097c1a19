//! Bytes to values, within limits.

mod error;

pub use error::{DecodeError, DecodeErrorKind};

pub(crate) use error::shortened;
use error::{Step, written};

use crate::{Arena, Entry, FieldPath, Number, Text, Value, encode::special_bytes, number};

/// Decodes JSON with the usual limits; a key that occurs twice is an error.
///
/// # Errors
/// What is wrong, with its offset and the path of the value it is in.
pub fn decode<'a>(bytes: &'a [u8], arena: &'a Arena) -> Result<Value<'a>, DecodeError> {
    Ok(Decode::default().decode(bytes, arena)?.value)
}

/// Decodes JSON that this program encoded, of any size: what was accepted once can be shown.
///
/// It may nest deeper than what is accepted, because versions may move fields down.
///
/// # Errors
/// Malformed JSON, with the offset and the path of the value.
pub fn decode_trusted<'a>(bytes: &'a [u8], arena: &'a Arena) -> Result<Value<'a>, DecodeError> {
    let options = Decode { max_bytes: usize::MAX, max_depth: MAX_TRUSTED_DEPTH, ..Decode::default() };
    Ok(options.run(bytes, arena)?.value)
}

/// The largest document, in bytes, unless other limits are set: 3 MiB, as in Kubernetes.
pub const MAX_DOCUMENT_BYTES: usize = 3 << 20;

/// How to decode: the limits that keep bytes from outside harmless, what to do with duplicate keys, and which YAML it is.
#[derive(Clone, Copy, Debug)]
pub struct Decode {
    /// The largest document, in bytes: [`MAX_DOCUMENT_BYTES`] unless set.
    pub max_bytes: usize,
    /// How deep lists and objects may nest: 512 unless set, and at most 512; more is cut to that, because every walk
    /// over a document recurses and counts on its stack being large enough for it.
    pub max_depth: u32,
    /// What a key means that occurs twice in one object.
    pub duplicate_keys: DuplicateKeys,
    /// What words and numbers without quotes mean in YAML; to JSON it does not matter.
    pub yaml: Yaml,
}

/// What a key means that occurs twice in one object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DuplicateKeys {
    /// The document is refused.
    Refuse,
    /// The last value counts, in the place of the first, and the caller is told.
    KeepLast,
}

/// What words and numbers without quotes mean in YAML.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Yaml {
    /// What they mean to kubectl, which reads YAML 1.1: `yes` is a boolean and `0755` an octal number, and keys become
    /// the text of what they mean, so that `y` is the key `true`. For Kubernetes' documents and definitions.
    AsKubectl,
    /// What they mean in the core schema of YAML 1.2: `yes` is a text and `0755` a decimal number, and keys are the text
    /// that is written. For OpenAPI and JSON Schema.
    Core,
}

/// What came out of decoding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Decoded<'a> {
    /// The document.
    pub value: Value<'a>,
    /// The paths of keys that occurred more than once, with [`DuplicateKeys::KeepLast`]: the first hundred of them,
    /// very long keys shortened, because all of them could take far more memory than the document.
    pub duplicates: Vec<FieldPath>,
}

const MAX_DEPTH: u32 = 512;
/// How deep documents of our own may nest: every walk recurses, and its stack must be large enough.
const MAX_TRUSTED_DEPTH: u32 = 640;

impl Default for Decode {
    fn default() -> Self {
        Self {
            max_bytes: MAX_DOCUMENT_BYTES,
            max_depth: MAX_DEPTH,
            duplicate_keys: DuplicateKeys::Refuse,
            yaml: Yaml::AsKubectl,
        }
    }
}

impl Decode {
    /// Decodes one JSON document.
    ///
    /// # Errors
    /// What is wrong, with its offset and the path of the value it is in.
    pub fn decode<'a>(&self, bytes: &'a [u8], arena: &'a Arena) -> Result<Decoded<'a>, DecodeError> {
        self.clamped().run(bytes, arena)
    }

    fn run<'a>(self, bytes: &'a [u8], arena: &'a Arena) -> Result<Decoded<'a>, DecodeError> {
        if bytes.len() > self.max_bytes {
            let kind = DecodeErrorKind::TooLarge { limit: self.max_bytes, actual: bytes.len() };
            return Err(*DecodeError::at(kind, 0));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|error| DecodeError::at(DecodeErrorKind::InvalidUtf8, error.valid_up_to()).located(bytes))?;
        let mut decoder = Decoder {
            options: self,
            text,
            bytes,
            at: 0,
            depth: 0,
            arena,
            items: Vec::with_capacity(32),
            entries: Vec::with_capacity(64),
            duplicates: Vec::new(),
        };
        let value = decoder.document().map_err(|error| error.located(bytes))?;
        let duplicates = decoder.duplicates.iter().map(|steps| written(steps)).collect();
        Ok(Decoded { value, duplicates })
    }

    /// The options that are in force.
    pub(crate) fn clamped(self) -> Self {
        Self { max_depth: self.max_depth.min(MAX_DEPTH), ..self }
    }
}

struct Decoder<'a> {
    options: Decode,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: u32,
    arena: &'a Arena,
    /// Items and entries of the lists and objects that are open; each takes its own from the end when it closes.
    items: Vec<Value<'a>>,
    entries: Vec<Entry<'a>>,
    duplicates: Vec<Vec<Step>>,
}

/// As many as Kubernetes reports.
const MAX_REPORTED_DUPLICATES: usize = 100;

type Decoding<T> = Result<T, Box<DecodeError>>;

impl<'a> Decoder<'a> {
    fn document(&mut self) -> Decoding<Value<'a>> {
        let value = self.value()?;
        self.skip_space();
        if self.at == self.bytes.len() { Ok(value) } else { self.expected("the end of the document") }
    }

    #[cold]
    fn expected<T>(&self, expected: &'static str) -> Decoding<T> {
        Err(DecodeError::at(DecodeErrorKind::Syntax { expected }, self.at))
    }

    /// The next byte, or zero at the end, which is no valid byte anywhere in JSON.
    #[inline(always)]
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Decoding<Value<'a>> {
        self.skip_space();
        match self.peek() {
            b'"' => Ok(Value::String(self.string()?)),
            b'{' => self.object(),
            b'[' => self.array(),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.expected("a value"),
        }
    }

    fn word(&mut self, word: &'static str, value: Value<'a>) -> Decoding<Value<'a>> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            self.expected("a value")
        }
    }

    fn number(&mut self) -> Decoding<Value<'a>> {
        let Some(length) = number::scan(&self.bytes[self.at..]) else {
            return self.expected("a number");
        };
        let text = &self.text[self.at..self.at + length];
        self.at += length;
        Ok(Value::Number(Number::scanned(text)))
    }

    #[inline]
    fn string(&mut self) -> Decoding<Text<'a>> {
        self.at += 1;
        let start = self.at;
        self.skip_plain();
        match self.bytes.get(self.at) {
            Some(b'"') => {
                let text = &self.text[start..self.at];
                self.at += 1;
                Ok(Text::known(text, true))
            }
            Some(b'\\') => self.escaped(start),
            Some(_) => self.expected("no control character in a string"),
            None => self.expected("the end of the string"),
        }
    }

    /// Goes on to the next quote, backslash or control character, or to the end.
    #[inline]
    fn skip_plain(&mut self) {
        while let Some(word) = self.bytes[self.at..].first_chunk::<8>() {
            let special = special_bytes(u64::from_le_bytes(*word));
            if special != 0 {
                self.at += (special.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
        while self.at < self.bytes.len() && !matches!(self.bytes[self.at], b'"' | b'\\' | 0..=0x1f) {
            self.at += 1;
        }
    }

    #[cold]
    fn escaped(&mut self, start: usize) -> Decoding<Text<'a>> {
        let mut text = self.text[start..self.at].to_owned();
        loop {
            let plain = self.at;
            self.skip_plain();
            text.push_str(&self.text[plain..self.at]);
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Text::new(self.arena.text(&text)));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return self.expected("no control character in a string"),
                None => return self.expected("the end of the string"),
            }
        }
    }

    fn escape(&mut self) -> Decoding<char> {
        self.at += 1;
        let letter = self.peek();
        self.at += 1;
        Ok(match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.hex()?;
                if (0xd800..0xdc00).contains(&code) && self.bytes[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.hex()?;
                    if !(0xdc00..0xe000).contains(&low) {
                        return self.expected("the second half of a surrogate pair");
                    }
                    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                }
                match char::from_u32(code) {
                    Some(letter) => letter,
                    None => return self.expected("a whole surrogate pair"),
                }
            }
            _ => {
                self.at -= 1;
                return self.expected("one of \" \\ / b f n r t u after a backslash");
            }
        })
    }

    fn hex(&mut self) -> Decoding<u32> {
        let digits = self.bytes[self.at..].first_chunk::<4>();
        let code = digits.and_then(|digits| {
            digits.iter().try_fold(0, |code, digit| Some(code * 16 + char::from(*digit).to_digit(16)?))
        });
        let Some(code) = code else {
            return self.expected("four hexadecimal digits");
        };
        self.at += 4;
        Ok(code)
    }

    fn enter(&mut self) -> Decoding<()> {
        self.depth += 1;
        if self.depth > self.options.max_depth {
            return Err(DecodeError::at(DecodeErrorKind::TooDeep { limit: self.options.max_depth }, self.at));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn array(&mut self) -> Decoding<Value<'a>> {
        self.enter()?;
        let mark = self.items.len();
        if self.peek() == b']' {
            self.at += 1;
        } else {
            loop {
                let known = self.duplicates.len();
                let position = self.items.len() - mark;
                let value = self.value().map_err(|error| error.inside(Step::Index(position)))?;
                if self.duplicates.len() > known {
                    self.duplicates_are_inside(known, Step::Index(position));
                }
                self.items.push(value);
                self.skip_space();
                match self.peek() {
                    b',' => self.at += 1,
                    b']' => {
                        self.at += 1;
                        break;
                    }
                    _ => return self.expected("a comma or the end of the list"),
                }
            }
        }
        self.depth -= 1;
        let items = self.arena.slice(&self.items[mark..]);
        self.items.truncate(mark);
        Ok(Value::Array(items))
    }

    fn object(&mut self) -> Decoding<Value<'a>> {
        let start = self.at;
        self.enter()?;
        let mark = self.entries.len();
        if self.peek() == b'}' {
            self.at += 1;
        } else {
            loop {
                if self.peek() != b'"' {
                    return self.expected("a key in quotes");
                }
                let key = self.string()?.as_str();
                self.skip_space();
                if self.peek() != b':' {
                    return self.expected("a colon after the key");
                }
                self.at += 1;
                let known = self.duplicates.len();
                let value = self.value().map_err(|error| error.inside(Step::Key(key.to_owned())))?;
                if self.duplicates.len() > known {
                    self.duplicates_are_inside(known, Step::Key(shortened(key).into_owned()));
                }
                self.entries.push(Entry { key, value });
                self.skip_space();
                match self.peek() {
                    b',' => {
                        self.at += 1;
                        self.skip_space();
                    }
                    b'}' => {
                        self.at += 1;
                        break;
                    }
                    _ => return self.expected("a comma or the end of the object"),
                }
            }
        }
        self.depth -= 1;
        if has_duplicates(&self.entries[mark..]) {
            self.resolve_duplicates(mark, start)?;
        }
        let entries = self.arena.slice(&self.entries[mark..]);
        self.entries.truncate(mark);
        Ok(Value::Object(entries))
    }

    #[cold]
    fn duplicates_are_inside(&mut self, known: usize, step: Step) {
        for duplicate in &mut self.duplicates[known..] {
            duplicate.push(step.clone());
        }
    }

    /// Refuses the object that opened at `start`, or keeps the last value of every key in the place of its first.
    #[cold]
    fn resolve_duplicates(&mut self, mark: usize, start: usize) -> Decoding<()> {
        let mut first = std::collections::HashMap::new();
        let mut kept: Vec<Entry<'a>> = Vec::new();
        let mut reported = std::collections::HashSet::new();
        for entry in &self.entries[mark..] {
            match first.entry(entry.key) {
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(kept.len());
                    kept.push(*entry);
                }
                std::collections::hash_map::Entry::Occupied(place) => {
                    if self.options.duplicate_keys == DuplicateKeys::Refuse {
                        let kind = DecodeErrorKind::DuplicateKey { key: entry.key.to_owned() };
                        return Err(DecodeError::at(kind, start));
                    }
                    kept[*place.get()] = *entry;
                    if self.duplicates.len() < MAX_REPORTED_DUPLICATES && reported.insert(entry.key) {
                        self.duplicates.push(vec![Step::Key(shortened(entry.key).into_owned())]);
                    }
                }
            }
        }
        self.entries.truncate(mark);
        self.entries.extend_from_slice(&kept);
        Ok(())
    }
}

/// Whether two entries have the same key. Few keys are compared pairwise, lengths first, which is faster than any
/// table; many are sorted.
fn has_duplicates(entries: &[Entry<'_>]) -> bool {
    if entries.len() <= 24 {
        entries
            .iter()
            .enumerate()
            .any(|(position, entry)| entries[..position].iter().any(|before| before.key == entry.key))
    } else {
        let mut keys: Vec<&str> = entries.iter().map(|entry| entry.key).collect();
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair[0] == pair[1])
    }
}
