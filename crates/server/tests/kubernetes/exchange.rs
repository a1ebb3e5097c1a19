//! Exchanges as they were recorded.

use std::{fs, path::Path};

use serde_json::{Value, json};

/// A request and what a real server answered.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    /// The topic and the line, as in `create 65`.
    pub(crate) id: String,
    pub(crate) cause: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) request: Value,
    pub(crate) response: Value,
    pub(crate) is_setup: bool,
    /// What was done while a watch was open.
    pub(crate) during: Vec<Exchange>,
}

impl Exchange {
    /// The exchanges of a topic.
    pub(crate) fn of_topic(folder: &Path, topic: &str) -> Vec<Self> {
        let text = fs::read_to_string(folder.join(format!("{topic}.jsonl"))).expect("the recordings of a topic");
        let lines = text.lines().enumerate();
        lines.map(|(line, text)| Self::of(&format!("{topic} {line}"), &serde_json::from_str(text).unwrap())).collect()
    }

    fn of(id: &str, recorded: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let request = &recorded["request"];
        let headers = request["headers"].as_object().into_iter().flatten();
        let during = recorded["during"].as_array().into_iter().flatten();
        Self {
            id: id.to_owned(),
            cause: text(&recorded["cause"]),
            method: text(&request["method"]),
            path: text(&request["path"]),
            headers: headers.map(|(name, value)| (name.clone(), text(value))).collect(),
            request: request.clone(),
            response: recorded["response"].clone(),
            is_setup: recorded["setup"] == true,
            during: during.enumerate().map(|(index, one)| Self::of(&format!("{id} during {index}"), one)).collect(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn status(&self) -> Option<u16> {
        self.response["status"].as_u64().map(|status| status as u16)
    }

    pub(crate) fn is_apply(&self) -> bool {
        self.header("content-type").starts_with("application/apply-patch")
    }

    pub(crate) fn is_watch(&self) -> bool {
        let is_stream = !self.response["events"].is_null() || self.response["body"]["type"] == "ADDED";
        let query = self.path.split_once('?').map_or("", |(_, query)| query);
        let is_asked =
            query.split('&').any(|pair| pair.starts_with("watch=") && !matches!(pair, "watch=false" | "watch=0"));
        let is_named = self.path.split('?').next().is_some_and(|path| path.matches('/').count() > 7);
        self.status() == Some(200) && !is_named && (is_stream || is_asked)
    }

    /// The events of a watch.
    pub(crate) fn events(&self) -> Vec<Value> {
        if let Some(events) = self.response["events"].as_array() {
            return events.clone();
        }
        match (&self.response["body"], self.response["bodyText"].as_str()) {
            (_, Some(text)) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
            (body, None) => vec![body.clone()],
        }
    }

    /// The body of the request, as it was sent.
    pub(crate) fn body(&self) -> Option<Vec<u8>> {
        if let Some(generator) = self.request["bodyGenerator"].as_str() {
            return Some(self.generated(generator));
        }
        match (self.request["bodyText"].as_str(), &self.request["body"]) {
            // What is no UTF-8 was written down as Latin-1.
            (Some(text), _) if self.cause.contains("UTF-8") || self.header("content-type").ends_with("cbor") => {
                Some(text.chars().map(|character| character as u8).collect())
            }
            (Some(text), _) => Some(text.as_bytes().to_vec()),
            (None, Value::Null) if self.request.get("body").is_none() => None,
            (None, body) => Some(serde_json::to_vec(body).unwrap()),
        }
    }

    /// A body that is too large to be written down.
    fn generated(&self, how: &str) -> Vec<u8> {
        let count =
            how.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).max().unwrap_or(0);
        let name = self.response["body"]["details"]["name"].as_str().unwrap_or("large");
        let widget = |metadata: Value, note: Value| json!({"apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": metadata, "spec": {"size": "small", "note": note}});
        let text = || "x".repeat(count);
        let body = match how {
            _ if how.starts_with("metadata.annotations") => {
                widget(json!({"name": name, "annotations": {"a": text()}}), json!("n"))
            }
            _ if how.starts_with("spec.note") => widget(json!({"name": name}), json!(text())),
            _ if how.starts_with("merge patch") => json!({"spec": {"note": text()}}),
            _ if how.starts_with("'x'") => return text().into_bytes(),
            _ if how.starts_with("spec.any") => {
                let any = format!("{}{}", "[".repeat(count), "]".repeat(count));
                let object = r#"{"apiVersion":"infra.example.com/v1alpha1","kind":"ClusterThing","metadata":{"name":"deep"},"spec":{"any":"#;
                return format!("{object}{any}}}}}").into_bytes();
            }
            _ => Value::Array(vec![json!({"op": "test", "path": "/spec/size", "value": "small"}); count]),
        };
        serde_json::to_vec(&body).unwrap()
    }
}
