//! Small documents of our own, put together.

use wheelwright_document::{Arena, Entry, Value};

/// Makes values in an arena.
#[derive(Clone, Copy)]
pub(crate) struct Json<'a>(pub(crate) &'a Arena);

impl<'a> Json<'a> {
    /// An object of some fields.
    pub(crate) fn object(self, fields: impl IntoIterator<Item = (&'a str, Value<'a>)>) -> Value<'a> {
        let entries: Vec<Entry<'a>> = fields.into_iter().map(|(key, value)| Entry { key, value }).collect();
        Value::Object(self.0.slice(&entries))
    }

    /// An object of those fields that there are.
    pub(crate) fn some(self, fields: impl IntoIterator<Item = (&'a str, Option<Value<'a>>)>) -> Value<'a> {
        self.object(fields.into_iter().filter_map(|(key, value)| Some((key, value?))))
    }

    /// A list.
    pub(crate) fn list(self, items: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
        let items: Vec<Value<'a>> = items.into_iter().collect();
        Value::Array(self.0.slice(&items))
    }

    /// A list of texts.
    pub(crate) fn texts<T: AsRef<str>>(self, texts: impl IntoIterator<Item = T>) -> Value<'a> {
        self.list(texts.into_iter().map(|text| self.text(text.as_ref())))
    }

    /// A text.
    pub(crate) fn text(self, text: &str) -> Value<'a> {
        Value::string(self.0.text(text))
    }
}
