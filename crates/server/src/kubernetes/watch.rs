//! Watches: what is there, then what happens to it, until the time is up or nobody listens any more.

use std::{pin::pin, sync::Arc, time::Duration};

use http::StatusCode;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout};
use wheelwright_document::{Arena, Entry, Value, decode_trusted, encode};
use wheelwright_repository::{Cursor, ErrorKind, Revision};
use wheelwright_repository::{DocumentChange, DocumentEvent, DocumentWatch, RepositoryError};

use super::{
    json::Json,
    list::Lister,
    options::{ListOptions, Moment, selection_bytes},
    refused::About,
    resource::Resource,
    route::Target,
    shape::{Count, Shape},
    status::Status,
};
use crate::{
    answer::{Answer, AnswerBody},
    budget::{Charge, Purpose},
    pieces::{PieceSender, SendError, pieces},
    request::Request,
    share::Shares,
    work,
};

/// How long a watch lasts if nobody says.
const USUAL_TIME: Duration = Duration::from_secs(45 * 60);
/// How long a watch lasts at most: what is far beyond it is no moment that a clock can tell.
const LONGEST_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// How often a watch says where it is although nothing happens.
const BOOKMARK_TIME: Duration = Duration::from_secs(60);
/// Bytes of events that may be unsent before a watch waits for its client.
const WINDOW: usize = 64 << 10;
/// Memory that a watch takes besides its selector and its events.
const WATCH_BYTES: usize = 16 << 10;
/// How long a watch that waits for its client keeps its place in the store, and whatever was read there.
const KEPT_WAITING: Duration = Duration::from_secs(1);
/// Memory that an event takes until it is sent, for each byte that is stored.
const EVENT_FACTOR: usize = 4;
/// Bytes of a line beside the object.
const AROUND_OBJECT: usize = 64;
/// Says that all that was there has been told.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

impl Target {
    /// Watches objects.
    pub(super) async fn watch(&self, request: &Request) -> Result<Answer, Status> {
        work::step(selection_bytes(request)).await;
        let options = ListOptions::of(&request.head.query, &self.resource, true)?;
        let shape = Shape::of(self, request, Count::Events)?;
        let charge = request.allowance.watch(WATCH_BYTES + options.selector.bytes());
        let charge = charge.map_err(Status::out_of_memory)?;
        let collection = &self.resource.collection;
        let now = collection.repository().cursor().await;
        let about = About::new(&self.resource, "");
        let now = now.map_err(|error| about.status(error))?;
        let wanted = match options.moment {
            Moment::NotBefore(moment) | Moment::Exactly(moment) => Some(moment),
            Moment::Now | Moment::Any => None,
        };
        let is_ahead = wanted.is_some_and(|wanted| now.as_str().parse().is_ok_and(|now: u64| now < wanted));
        let has_initial = options.initial_events.unwrap_or(wanted.is_none());
        if is_ahead && has_initial {
            let wanted = wanted.unwrap_or_default().to_string();
            return Ok(ended(&Status::too_large_version(&wanted, now.as_str())));
        }
        let begin = match (has_initial, wanted) {
            (true, _) => {
                let list = ListOptions { moment: Moment::Now, limit: None, token: None, ..options.clone() };
                Begin::List(Box::new(Lister::begin(self, list, &request.allowance).await?))
            }
            (false, Some(wanted)) if !is_ahead => {
                let from = Cursor::new(wanted.to_string());
                match collection.watch(self.scope()?.as_ref(), &from).await {
                    Err(error) if matches!(error.store(), Some(ErrorKind::TooOld)) => {
                        let message = format!("too old resource version: {wanted} ({now})");
                        return Ok(ended(&Status::expired(message)));
                    }
                    watch => Begin::Watch(watch.map_err(|error| about.status(error))?),
                }
            }
            (false, _) => {
                let watch = collection.watch(self.scope()?.as_ref(), &now).await;
                Begin::Watch(watch.map_err(|error| about.status(error))?)
            }
        };
        let (sender, pieces) = pieces(&request.allowance, Purpose::Watches, WINDOW);
        let seconds = options.seconds.map_or(USUAL_TIME, Duration::from_secs).min(LONGEST_TIME);
        // What happens up to a moment that is yet to come is not told.
        let silent_until = wanted.filter(|_| is_ahead);
        let (target, sender) = (self.clone(), Arc::new(sender));
        let shares = request.allowance.shares.clone();
        let watching = Watching {
            target,
            options,
            shape,
            has_told: false,
            sender,
            room: None,
            silent_until,
            shares,
            _charge: charge,
        };
        work::spawn(watching.run(begin, Instant::now() + seconds));
        Ok(Answer { body: AnswerBody::Pieces(pieces), ..Answer::json(StatusCode::OK, Vec::new()) })
    }
}

/// A watch that ends as soon as it has begun.
fn ended(status: &Status) -> Answer {
    Answer::json(StatusCode::OK, line("ERROR", &status.json()))
}

/// How a watch begins.
enum Begin {
    /// With all that is there.
    List(Box<Lister>),
    /// With what happens.
    Watch(DocumentWatch),
}

struct Watching {
    target: Target,
    options: ListOptions,
    shape: Shape,
    /// Whether something was told already.
    has_told: bool,
    sender: Arc<PieceSender>,
    /// Memory for the next event.
    room: Option<Charge>,
    silent_until: Option<u64>,
    shares: Arc<Shares>,
    /// For the watch itself and its selector.
    _charge: Charge,
}

/// Why a watch ends.
enum End {
    /// The client has left, or there is no memory for it.
    Send(SendError),
    /// Something is wrong, and this is said.
    Failed(Status),
}

impl From<SendError> for End {
    fn from(error: SendError) -> Self {
        Self::Send(error)
    }
}

impl From<Status> for End {
    fn from(status: Status) -> Self {
        Self::Failed(status)
    }
}

impl Watching {
    async fn run(mut self, begin: Begin, until: Instant) {
        let sender = self.sender.clone();
        let ended = tokio::select! {
            ended = self.tell(begin) => ended,
            () = sleep_until(until) => return,
            () = sender.closed() => return,
        };
        match ended {
            Err(End::Failed(status)) => {
                status.log("a watch was broken off");
                let line = line("ERROR", &status.json());
                let _ = sender.send(line, sender.nothing());
            }
            Err(End::Send(error)) => error.report(),
            Ok(()) => {}
        }
    }

    async fn tell(&mut self, begin: Begin) -> Result<(), End> {
        let watch = match begin {
            Begin::Watch(watch) => watch,
            Begin::List(lister) => {
                let shares = self.shares.clone();
                let from = work::in_turn(&shares, pin!(self.tell_initial(*lister))).await?;
                self.begin(&from).await?
            }
        };
        self.tell_changes(watch).await
    }

    async fn begin(&self, from: &Cursor) -> Result<DocumentWatch, End> {
        let watch = self.target.resource.collection.watch(self.target.scope()?.as_ref(), from).await;
        watch.map_err(|error| self.failed(error))
    }

    /// Tells all that is there, and says at which moment.
    async fn tell_initial(&mut self, mut lister: Lister) -> Result<Cursor, End> {
        while !lister.is_done() {
            let (documents, mut charge) = lister.portion().await?;
            charge.resize(documents.iter().map(|document| document.json.len() + AROUND_OBJECT).sum());
            for document in documents {
                self.sender.ready().await?;
                self.room = Some(charge.split(document.json.len() + AROUND_OBJECT));
                self.send("ADDED", &document.json).await?;
            }
        }
        let from = Cursor::new(lister.moment());
        if self.options.has_bookmarks {
            self.bookmark(from.as_str(), true).await?;
        }
        Ok(from)
    }

    async fn tell_changes(&mut self, mut watch: DocumentWatch) -> Result<(), End> {
        let mut bookmarks = interval_at(Instant::now() + BOOKMARK_TIME, BOOKMARK_TIME);
        bookmarks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (target, shares) = (self.target.clone(), self.shares.clone());
        loop {
            if timeout(KEPT_WAITING, self.sender.ready()).await.is_err() {
                let from = watch.cursor();
                drop(watch);
                self.sender.ready().await?;
                watch = self.begin(&from).await?;
            }
            let from = watch.cursor();
            let bytes = tokio::select! {
                bytes = work::wait_in_turns(&shares, watch.peek()) => bytes.map_err(|error| self.failed(error))?,
                _ = bookmarks.tick(), if self.options.has_bookmarks => {
                    self.bookmark(watch.cursor().as_str(), false).await?;
                    continue;
                }
            };
            if self.room.is_none() {
                let bytes = bytes * EVENT_FACTOR + AROUND_OBJECT;
                let Ok(room) = self.sender.try_room(bytes) else {
                    // It is read again once there is memory for it.
                    drop(watch);
                    self.room = Some(self.sender.room(bytes).await?);
                    watch = self.begin(&from).await?;
                    continue;
                };
                self.room = Some(room);
            }
            let event = watch.next(target.view()).await.map_err(|error| self.failed(error))?;
            self.tell_change(event).await?;
            self.room = None;
        }
    }

    async fn tell_change(&mut self, event: DocumentEvent) -> Result<(), End> {
        let document = event.document.map_err(|error| {
            let behind = format!("{error}; a watch from resourceVersion {} goes on behind it", event.cursor.as_str());
            Status::internal(behind)
        })?;
        if let Some(until) = self.silent_until
            && document.revision.as_str().parse().is_ok_and(|revision: u64| revision <= until)
        {
            return Ok(());
        }
        let kind = match event.change {
            DocumentChange::Created => "ADDED",
            DocumentChange::Changed => "MODIFIED",
            DocumentChange::Deleted => "DELETED",
        };
        if self.options.selector.is_empty() {
            return self.send(kind, &document.json).await;
        }
        work::step(self.options.selection_cost(&document.json)).await;
        let is_selected = self.options.selects(&document.json)?;
        if event.change != DocumentChange::Changed || self.options.selector.is_about_names() {
            return if is_selected { self.send(kind, &document.json).await } else { Ok(()) };
        }
        let collection = self.target.resource.collection.clone();
        let before = match collection.before(&document.name, &document.revision, self.target.view()).await {
            Ok(before) => before,
            // Nobody knows what it was, or it cannot be displayed. A client can pass over an event too many, and cannot know
            // of one too few.
            Err(error) if matches!(error.store(), Some(ErrorKind::TooOld)) || error.document().is_some() => {
                return self.send(if is_selected { "MODIFIED" } else { "DELETED" }, &document.json).await;
            }
            Err(error) => return Err(self.failed(error)),
        };
        let Some(before) = before else {
            return if is_selected { self.send("ADDED", &document.json).await } else { Ok(()) };
        };
        work::step(self.options.selection_cost(&before.json)).await;
        match (self.options.selects(&before.json)?, is_selected) {
            (true, true) => self.send("MODIFIED", &document.json).await,
            (false, true) => self.send("ADDED", &document.json).await,
            // It is gone for whoever watches, as it was when they last saw it.
            (true, false) => {
                let last = at_revision(&before.json, &document.revision)?;
                self.send("DELETED", &last).await
            }
            (false, false) => Ok(()),
        }
    }

    async fn send(&mut self, kind: &str, json: &[u8]) -> Result<(), End> {
        work::step(json.len()).await;
        let line = line(kind, &self.shape.one(json.to_vec(), !self.has_told)?);
        let mut charge = self.room.take().unwrap_or_else(|| self.sender.nothing());
        charge.resize(line.len());
        self.has_told = true;
        self.sender.send(line, charge).map_err(End::Send)
    }

    /// Says where the watch is, so that another one can go on from there.
    async fn bookmark(&mut self, moment: &str, is_initial_end: bool) -> Result<(), End> {
        let bookmark = bookmark(&self.target.resource, moment, is_initial_end);
        self.send("BOOKMARK", &bookmark).await
    }

    fn failed(&self, error: RepositoryError) -> End {
        let about = About::new(&self.target.resource, "");
        let status = match error.store() {
            Some(ErrorKind::TooOld) => Status::expired(format!("too old resource version: {error}")),
            _ => about.status(error),
        };
        End::Failed(status)
    }
}

/// What is no object, and only says where a watch is.
fn bookmark(resource: &Resource, moment: &str, is_initial_end: bool) -> Vec<u8> {
    let arena = Arena::new();
    let json = Json(&arena);
    let annotations = is_initial_end.then(|| json.object([(INITIAL_EVENTS_END, Value::string("true"))]));
    let metadata = json.some([("annotations", annotations), ("resourceVersion", Some(Value::string(moment)))]);
    let bookmark = json.object([
        ("apiVersion", json.text(&resource.api_version())),
        ("kind", json.text(&resource.definition().kind)),
        ("metadata", metadata),
    ]);
    encode(bookmark)
}

/// An event on a line of its own.
pub(super) fn line(kind: &str, json: &[u8]) -> Vec<u8> {
    let mut line = format!(r#"{{"type":"{kind}","object":"#).into_bytes();
    line.extend_from_slice(json);
    line.extend_from_slice(b"}\n");
    line
}

/// An object as it was, with the version of what made it leave.
fn at_revision(json: &[u8], revision: &Revision) -> Result<Vec<u8>, Status> {
    let arena = Arena::for_input(json.len());
    let document = decode_trusted(json, &arena).map_err(|error| Status::internal(error.to_string()))?;
    let metadata = document.get("metadata").and_then(Value::as_object).unwrap_or_default();
    let metadata = metadata.iter().map(|entry| match entry.key {
        "resourceVersion" => Entry { value: Value::string(revision.as_str()), ..*entry },
        _ => *entry,
    });
    let metadata = Value::Object(arena.slice_from(metadata.collect::<Vec<_>>()));
    let entries = document.as_object().unwrap_or_default().iter().map(|entry| match entry.key {
        "metadata" => Entry { value: metadata, ..*entry },
        _ => *entry,
    });
    Ok(encode(Value::Object(arena.slice_from(entries.collect::<Vec<_>>()))))
}
