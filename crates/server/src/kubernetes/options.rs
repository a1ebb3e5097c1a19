//! What requests say beside their path and their object: options of writes, of lists and of watches.

use std::sync::Arc;

use wheelwright_document::{Arena, Value, decode_trusted};

use super::{
    resource::Resource,
    selector::Selector,
    status::{Cause, Status},
    token::Token,
};
use crate::{query::Query, request::Request};

/// What to do with fields that are unknown or there twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldValidation {
    Ignore,
    Warn,
    Strict,
}

/// How much work it is to read the options of a list or a watch, as that over so many bytes of a document.
pub(super) fn selection_bytes(request: &Request) -> usize {
    const FACTOR: usize = 16;
    request.head.uri.query().map_or(0, str::len) * FACTOR
}

/// The options of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WriteOptions {
    pub(super) is_dry_run: bool,
    pub(super) validation: FieldValidation,
}

/// The options of a removal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DeleteOptions {
    pub(super) is_dry_run: bool,
    pub(super) policy: Propagation,
    /// The object must have this uid.
    pub(super) uid: Option<String>,
    /// The object must have this version.
    pub(super) resource_version: Option<String>,
}

/// What becomes of what an object owns. There is nobody here who would remove it, so this is a matter of finalizers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Propagation {
    /// Nobody said.
    Default,
    Background,
    Foreground,
    Orphan,
}

/// The options of lists and watches.
#[derive(Clone, Debug)]
pub(super) struct ListOptions {
    pub(super) selector: Arc<Selector>,
    /// At most so many objects; none for all.
    pub(super) limit: Option<usize>,
    pub(super) token: Option<Token>,
    pub(super) moment: Moment,
    pub(super) has_bookmarks: bool,
    /// Whether a watch begins with what is there, if that was said.
    pub(super) initial_events: Option<bool>,
    /// After how many seconds a watch ends.
    pub(super) seconds: Option<u64>,
}

/// The moment that a list shows or a watch begins at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Moment {
    /// What is there.
    Now,
    /// Whatever is at hand, which is what is there.
    Any,
    /// What is there, if that is not before this.
    NotBefore(u64),
    /// What was there then.
    Exactly(u64),
}

const LONGEST_MANAGER: usize = 128;

impl WriteOptions {
    /// Reads the options of a write from a query; `kind` is what they are called.
    pub(super) fn of(query: &Query, kind: &str) -> Result<Self, Status> {
        let mut causes = Vec::new();
        let validation = query.get("fieldValidation").unwrap_or_default();
        let validation = match validation {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let supported = r#""", "Ignore", "Strict", "Warn""#;
                causes.push(unsupported("fieldValidation", &format!("{other:?}"), supported));
                FieldValidation::Warn
            }
        };
        let manager = query.get("fieldManager").unwrap_or_default();
        if manager.len() > LONGEST_MANAGER {
            let message = format!("Too long: may not be more than {LONGEST_MANAGER} bytes");
            causes.push(Cause::new("FieldValueTooLong", "fieldManager", message));
        }
        if let Some((at, character)) = manager.chars().enumerate().find(|(_, character)| character.is_control()) {
            let code = u32::from(character);
            let message = format!("Invalid value: {manager:?}: invalid character U+{code:04X} (at position {at})");
            causes.push(Cause::new("FieldValueInvalid", "fieldManager", message));
        }
        let dry_run: Vec<&str> = query.all("dryRun").collect();
        let is_dry_run = is_dry_run(&dry_run, &mut causes);
        if kind == "PatchOptions" && query.get("force").is_some_and(is_true) {
            let message = "Forbidden: may not be specified for non-apply patch";
            causes.push(Cause::new("FieldValueForbidden", "force", message.to_owned()));
        }
        match causes.is_empty() {
            true => Ok(Self { is_dry_run, validation }),
            false => Err(Status::invalid_options(kind, causes)),
        }
    }
}

impl DeleteOptions {
    /// Reads the options of a removal: from its body if there is one, else from its query.
    pub(super) fn of(query: &Query, body: Option<Value<'_>>) -> Result<Self, Status> {
        let mut causes = Vec::new();
        if let Some(seconds) = query.get("gracePeriodSeconds") {
            integer("gracePeriodSeconds", seconds)?;
        }
        let texts = |value: Value<'_>| {
            let items = value.as_array().unwrap_or_default().iter();
            items.filter_map(|item| item.as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let (dry_run, policy, orphan): (Vec<String>, Option<String>, Option<bool>) = match body {
            Some(body) => {
                let text = |key| body.get(key).and_then(Value::as_str).map(str::to_owned);
                let dry_run = body.get("dryRun").map(texts).unwrap_or_default();
                (dry_run, text("propagationPolicy"), body.get("orphanDependents").and_then(Value::as_bool))
            }
            None => {
                let dry_run = query.all("dryRun").map(str::to_owned).collect();
                let orphan = query.get("orphanDependents").map(is_true);
                (dry_run, query.get("propagationPolicy").map(str::to_owned), orphan)
            }
        };
        let dry_run: Vec<&str> = dry_run.iter().map(String::as_str).collect();
        let is_dry_run = is_dry_run(&dry_run, &mut causes);
        let policy = match (policy.as_deref().filter(|policy| !policy.is_empty()), orphan) {
            (Some(policy), Some(_)) => {
                let message =
                    format!("Invalid value: {policy:?}: orphanDependents and deletionPropagation cannot be both set");
                causes.push(Cause::new("FieldValueInvalid", "propagationPolicy", message));
                Propagation::Default
            }
            (Some("Background"), _) | (None, Some(false)) => Propagation::Background,
            (Some("Foreground"), _) => Propagation::Foreground,
            (Some("Orphan"), _) | (None, Some(true)) => Propagation::Orphan,
            (Some(other), _) => {
                let supported = r#""Foreground", "Background", "Orphan", "nil""#;
                causes.push(unsupported("propagationPolicy", &format!("{other:?}"), supported));
                Propagation::Default
            }
            (None, None) => Propagation::Default,
        };
        let preconditions = body.and_then(|body| body.get("preconditions"));
        let precondition = |key| preconditions.and_then(|all| all.get(key)?.as_str()).map(str::to_owned);
        match causes.is_empty() {
            true => {
                let (uid, resource_version) = (precondition("uid"), precondition("resourceVersion"));
                Ok(Self { is_dry_run, policy, uid, resource_version })
            }
            false => Err(Status::invalid_options("DeleteOptions", causes)),
        }
    }
}

impl ListOptions {
    /// Whether all objects are wanted, as they are now.
    pub(super) fn is_whole(&self) -> bool {
        let is_now = matches!(self.moment, Moment::Now | Moment::Any);
        is_now && self.selector.is_empty() && self.limit.is_none() && self.token.is_none()
    }

    /// About how many bytes [`selects`](Self::selects) has to look at.
    pub(super) fn selection_cost(&self, json: &[u8]) -> usize {
        if self.selector.is_empty() { 0 } else { json.len() + self.selector.size() }
    }

    /// Whether a document is one of those that are wanted.
    pub(super) fn selects(&self, json: &[u8]) -> Result<bool, Status> {
        if self.selector.is_empty() {
            return Ok(true);
        }
        let arena = Arena::for_input(json.len());
        let document = decode_trusted(json, &arena).map_err(|error| Status::internal(error.to_string()))?;
        Ok(self.selector.matches(document))
    }

    /// Reads the options of a list or a watch.
    pub(super) fn of(query: &Query, resource: &Resource, is_watch: bool) -> Result<Self, Status> {
        let filled = |name| query.get(name).filter(|text| !text.is_empty());
        let limit = filled("limit").map(|text| integer("limit", text)).transpose()?;
        let seconds = filled("timeoutSeconds").map(|text| integer("timeoutSeconds", text)).transpose()?;
        let selector = Selector::parse(query.get("labelSelector"), query.get("fieldSelector"), resource)?.into();
        let (version, matching) = (filled("resourceVersion"), filled("resourceVersionMatch"));
        let next = filled("continue");
        let initial_events = query.get("sendInitialEvents").map(is_true);
        let causes = match is_watch {
            true => wrong_for_watch(matching, next, initial_events),
            false => wrong_for_list(version, matching, next, initial_events),
        };
        if !causes.is_empty() {
            return Err(Status::invalid_options("ListOptions", causes));
        }
        let number = version.map(resource_version).transpose()?;
        if next.is_some() && number.is_some_and(|number| number > 0) {
            return Err(Status::bad_request("specifying resource version is not allowed when using continue"));
        }
        let moment = match number {
            None => Moment::Now,
            Some(0) => Moment::Any,
            Some(number) if matching == Some("Exact") => Moment::Exactly(number),
            Some(number) => Moment::NotBefore(number),
        };
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
        Ok(Self {
            selector,
            // Whoever takes whatever is at hand gets all of it, as from a cache.
            limit: limit.filter(|_| moment != Moment::Any),
            token: next.map(Token::parse).transpose()?,
            moment,
            has_bookmarks: query.get("allowWatchBookmarks").is_some_and(is_true),
            initial_events,
            seconds: seconds.and_then(|seconds| u64::try_from(seconds).ok()).filter(|seconds| *seconds > 0),
        })
    }
}

/// Whether a query asks for a watch.
pub(super) fn is_watch(query: &Query) -> bool {
    query.get("watch").is_some_and(is_true)
}

/// A version of a resource as a number.
pub(super) fn resource_version(text: &str) -> Result<u64, Status> {
    text.parse().map_err(|_| Status::bad_request(format!("invalid resource version: {text:?} is no whole number")))
}

/// Kubernetes takes everything for true that is not false.
fn is_true(text: &str) -> bool {
    text != "0" && !text.eq_ignore_ascii_case("false")
}

fn integer(name: &str, text: &str) -> Result<i64, Status> {
    text.parse().map_err(|_| Status::bad_request(format!("{name}: {text:?} is no whole number")))
}

fn is_dry_run(values: &[&str], causes: &mut Vec<Cause>) -> bool {
    if values.iter().any(|value| *value != "All") {
        causes.push(unsupported("dryRun", &format!("{values:?}"), r#""All""#));
    }
    !values.is_empty()
}

fn unsupported(field: &str, value: &str, supported: &str) -> Cause {
    Cause::new("FieldValueNotSupported", field, format!("Unsupported value: {value}: supported values: {supported}"))
}

fn forbidden(field: &str, why: &str) -> Cause {
    Cause::new("FieldValueForbidden", field, format!("Forbidden: {why}"))
}

const MATCH: &str = "resourceVersionMatch";

fn wrong_for_list(
    version: Option<&str>,
    matching: Option<&str>,
    next: Option<&str>,
    initial_events: Option<bool>,
) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let Some(matching) = matching {
        if version.is_none() {
            causes.push(forbidden(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
        }
        if next.is_some() {
            causes.push(forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
        }
        match matching {
            "Exact" if version == Some("0") => {
                let why = r#"resourceVersionMatch "exact" is forbidden for resourceVersion "0""#;
                causes.push(forbidden(MATCH, why));
            }
            "Exact" | "NotOlderThan" => {}
            other => causes.push(unsupported(MATCH, &format!("{other:?}"), r#""Exact", "NotOlderThan", """#)),
        }
    }
    if initial_events.is_some() {
        causes.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    causes
}

fn wrong_for_watch(matching: Option<&str>, next: Option<&str>, initial_events: Option<bool>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if initial_events.is_some() {
        if matching != Some("NotOlderThan") {
            causes.push(forbidden(MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
        }
        if let Some(other) = matching.filter(|matching| *matching != "NotOlderThan") {
            causes.push(unsupported(MATCH, &format!("{other:?}"), r#""NotOlderThan""#));
        }
    } else if matching.is_some() {
        let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        causes.push(forbidden(MATCH, why));
    }
    if next.is_some() {
        causes.push(forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
    }
    causes
}
