//! The steps that lead every request to its dialect and back.

use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use tokio::sync::Semaphore;

use super::{Service, streams::Stream};
use crate::{
    access::{Access, Verb},
    answer::{Answer, AnswerBody},
    arm,
    audit::{NotRecorded, Origin, Trail},
    auth::Credential,
    body::{self, RequestBody},
    browsers::Browsers,
    budget::{self, Allowance, Charge, Exceeded, PROCESSING_FACTOR, Purpose},
    caller::Caller,
    connections::Busy,
    held::{Decrease, EarlyEnd, Held, Permit},
    kubernetes,
    log::Line,
    own,
    path::Segments,
    peer::Peer,
    query::Query,
    refusal::Refusal,
    request::{Head, Request},
    share::{Place, Share, Shares},
    work,
};

/// Whose words a request is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dialect {
    Arm,
    Kubernetes,
}

/// Bytes of memory that reading a byte of a record takes, while the request waits to be worked on.
const READING_FACTOR: usize = 2;

/// The same, and that the next record takes until it is written.
const WRITING_FACTOR: usize = 4;

/// Longer values of `Host` are checked again with each request.
const MOST_HOST_BYTES: usize = 255;

/// Shorter answers are not charged: the number of requests, or the memory for connections, bounds them.
const CHARGED_ANSWER: usize = 16 << 10;

/// What a request is about, in its dialect.
enum Route<'k> {
    Arm(arm::Route<'k>),
    Kubernetes(kubernetes::Route),
}

impl Service {
    /// Answers a request, and counts it.
    pub(crate) async fn respond<B: RequestBody>(
        self: Arc<Self>,
        request: http::Request<B>,
        peer: Arc<Peer>,
        busy: Busy,
    ) -> http::Response<Held> {
        let began = Instant::now();
        let (head, body) = request.into_parts();
        let is_multiplexed = head.version == http::Version::HTTP_2;
        let (dialect, path) = (Dialect::of(head.uri.path()), head.uri.clone());
        let is_head = head.method == http::Method::HEAD;
        let ids = dialect.ids(&head.headers);
        let mut permit = None;
        let is_ending = self.is_leaving.load(Ordering::Relaxed);
        let is_probe = own::is_probe(head.uri.path());
        let credential = self.guard.as_ref().map(|_| Credential::of(&head.headers, peer.certificate.as_deref()));
        let caller = self.caller(credential.as_ref().filter(|_| !is_probe));
        let audited = self.audit.as_ref().filter(|_| !is_probe);
        let trail = Trail::begin(audited, || self.origin(&head, &ids, dialect, &peer, caller.as_deref().ok()));
        let sender = caller.as_ref().ok().cloned();
        let head = caller.and_then(|caller| self.head(head, &peer, caller, trail.clone()));
        let parts = (&self.metrics, &self.readiness, self.audit.as_ref());
        let damaged = is_probe.then(|| self.damaged_records(credential.as_ref())).flatten();
        let allowance = match sender.as_ref().and_then(|caller| caller.shares.clone()) {
            Some(shares) => Arc::new(Allowance { budget: self.budget.clone(), shares }),
            None => peer.allowance.clone(),
        };
        let (access, answer) = match head {
            Ok(head) => match own::answer(&head, parts, damaged, is_ending).await {
                Some(answer) => (None, answer),
                None => self.routed(dialect, head, body, &allowance, &mut permit).await,
            },
            Err(refusal) => (None, self.refuse(dialect, &refusal)),
        };
        let answer = match self.charge(answer, access.as_ref(), &allowance) {
            Ok(answer) => answer,
            Err(refusal) => self.refuse(dialect, &refusal),
        };
        let answer = match trail.done(&answer, began).await {
            Err(NotRecorded) if answer.status.is_success() => self.refuse(dialect, &Refusal::OutcomeNotRecorded),
            _ => answer,
        };
        let answer = match (dialect, access.as_ref().and_then(|access| access.version.as_deref())) {
            (Dialect::Arm, Some(version)) => arm::served(answer, version),
            _ => answer,
        };
        let took = began.elapsed();
        // Whoever only looks after the server asks for nothing, and what is wrong is said where it is found.
        if !is_probe {
            self.metrics.count(dialect.name(), access.as_ref(), answer.status, took);
        }
        let line = Line {
            dialect: dialect.name(),
            path: path.path(),
            access: access.as_ref(),
            caller: sender.as_deref(),
            peer: &peer,
            ids: &ids,
            status: answer.status,
            reason: answer.reason.as_deref(),
            error: answer.cause.as_deref(),
            took,
        };
        line.write(is_probe, &self.denials);
        let answer = answer.with_all(ids);
        let is_watch = access.as_ref().is_some_and(|access| access.verb == Verb::Watch);
        let stream = access.filter(|_| matches!(answer.body, AnswerBody::Pieces(_))).map(|access| Stream {
            access,
            credential: credential.and_then(Result::ok),
            peer,
            caller: sender.map(|caller| caller.name.clone()),
            trail,
        });
        let cut = stream.map(|stream| Box::pin(self.until_cut(stream)) as EarlyEnd);
        let busy = if is_watch { busy.for_long() } else { busy };
        answer.into_response().map(|body| {
            let body = if is_head { AnswerBody::Whole(None) } else { body };
            Held::new(body, cut, permit, busy, is_multiplexed)
        })
    }

    /// The caller that sends a request; anonymous if it need not prove who it is.
    fn caller(&self, credential: Option<&Result<Credential, Refusal>>) -> Result<Arc<Caller>, Refusal> {
        match self.guard.as_ref().zip(credential) {
            Some((guard, credential)) => guard.caller(credential.as_ref().map_err(Clone::clone)?),
            None => Ok(self.anonymous.clone()),
        }
    }

    /// How many damaged records there are, named for those who may read everything.
    fn damaged_records(&self, credential: Option<&Result<Credential, Refusal>>) -> Option<String> {
        let may_read = || self.caller(credential).is_ok_and(|caller| caller.check(&own::everything()).is_ok());
        self.damaged.summary(may_read)
    }

    /// Where a request comes from, for the audit log.
    fn origin(
        &self,
        head: &http::request::Parts,
        ids: &HeaderMap,
        dialect: Dialect,
        peer: &Peer,
        caller: Option<&Caller>,
    ) -> Origin {
        let (request, correlation) = Origin::ids(ids);
        Origin {
            request,
            correlation,
            client: peer.address,
            caller: caller.map(|caller| caller.name.clone()),
            credential: match &self.guard {
                Some(_) if head.headers.contains_key(header::AUTHORIZATION) => "token",
                Some(_) if peer.certificate.is_some() => "certificate",
                _ => "none",
            },
            certificate: peer.certificate.clone(),
            dialect: dialect.name(),
            method: head.method.clone(),
            path: head.uri.path().to_owned(),
        }
    }

    fn head(
        &self,
        head: http::request::Parts,
        peer: &Peer,
        caller: Arc<Caller>,
        trail: Trail,
    ) -> Result<Head, Refusal> {
        let browsers = head.extensions.get::<Arc<Browsers>>().map_or(&self.browsers, |own| &**own);
        let counted = |(reason, refusal)| {
            self.metrics.count_refused(reason);
            refusal
        };
        // First, because a target such as `livez` is read as a host without a path.
        let path = Segments::of(head.uri.path()).map_err(Refusal::Path)?;
        let host = only_host(&head);
        if host.is_none_or(|host| peer.host.get().is_none_or(|checked| **checked != *host)) {
            if !names_its_host(&head) {
                return Err(Refusal::Host);
            }
            browsers.check_host(&head).map_err(counted)?;
            if let Some(host) = host.filter(|host| host.len() <= MOST_HOST_BYTES) {
                let _ = peer.host.set(host.into());
            }
        }
        browsers.check_origin(&head).map_err(counted)?;
        Ok(Head {
            path,
            query: Query::of(head.uri.query()),
            uri: head.uri,
            method: head.method,
            headers: head.headers,
            server: self.reached.clone(),
            caller,
            trail,
        })
    }

    /// Leads a request to its dialect, if its sender may make it and there is room.
    async fn routed<B: RequestBody>(
        &self,
        dialect: Dialect,
        head: Head,
        body: B,
        allowance: &Arc<Allowance>,
        permit: &mut Option<Permit>,
    ) -> (Option<Access>, Answer) {
        let route = match dialect {
            Dialect::Arm => self.arm.route(&head).map(Route::Arm),
            Dialect::Kubernetes => self.kubernetes.route(&head).map(Route::Kubernetes),
        };
        let route = match route {
            Ok(route) => route,
            Err(answer) => return (None, *answer),
        };
        let access = route.access().clone();
        let trail = head.trail.clone();
        trail.about(&access, || route.name());
        let answered = async {
            head.caller.check(&access)?;
            let shares = &allowance.shares;
            work::set_caller(shares);
            let (body, _charge) = self.body(body, allowance, &head.headers).await?;
            let (room, gauge, place, all) = match access.verb {
                Verb::Watch => (&self.watches, &self.metrics.watches, Place::Watch, self.limits.watches),
                _ => (&self.requests, &self.metrics.in_flight, Place::Request, self.limits.requests),
            };
            let share = self.share(shares, place, all, room)?;
            let Ok(place) = room.clone().try_acquire_owned() else {
                self.metrics.count_refused("requests");
                return Err(Refusal::TooMany(Duration::from_secs(1)));
            };
            *permit = Some(Permit::new(place, share, gauge));
            let _processing = self.processing(&body, allowance).await?;
            if access.verb.is_write() {
                if body.is_empty() {
                    allowance.has_room().map_err(|exceeded| self.out_of_memory(exceeded))?;
                }
                // The name of a new object is known when its body has been read: it is recorded then.
                if !matches!((&route, access.verb), (Route::Kubernetes(_), Verb::Create)) {
                    trail.intend().await.map_err(|NotRecorded| Refusal::NotRecorded)?;
                }
            }
            let request = Request { head, body, allowance: allowance.clone() };
            let answer = async {
                work::step(request.body.len()).await;
                match &route {
                    Route::Arm(route) => self.arm.answer(route, &request).await,
                    Route::Kubernetes(route) => self.kubernetes.answer(route, &request).await,
                }
            };
            let answer = pin!(tokio::time::timeout(self.limits.request_time, answer));
            // Lists and watches charge what they read by themselves.
            let factor = match access.verb {
                Verb::List | Verb::Watch | Verb::DeleteCollection => 0,
                verb if verb.is_read() => READING_FACTOR,
                _ => WRITING_FACTOR,
            };
            let answer = allowance.reading(factor, answer).await.map_err(|exceeded| self.out_of_memory(exceeded))?;
            // A client that is told when to try again would repeat a write that may have been done.
            answer.map_err(|_| Refusal::OutOfTime(access.verb.is_read().then_some(Duration::from_secs(1))))
        };
        let answer = answered.await.unwrap_or_else(|refusal| self.refuse(dialect, &refusal));
        (Some(access), answer)
    }

    /// The body of a request, if it is not too long and does not take too long.
    async fn body(
        &self,
        body: impl RequestBody,
        allowance: &Allowance,
        headers: &HeaderMap,
    ) -> Result<(Bytes, Option<Charge>), Refusal> {
        if body.is_end_stream() {
            return Ok((Bytes::new(), None));
        }
        let _share = self.share(&allowance.shares, Place::Body, self.limits.requests, &self.bodies)?;
        // Whoever sends slowly keeps only others from sending.
        let Ok(_place) = self.bodies.try_acquire() else {
            self.metrics.count_refused("bodies");
            return Err(Refusal::TooMany(Duration::from_secs(1)));
        };
        let _open = Decrease::of(&self.metrics.bodies);
        // Read in any case: a client that is still sending would not see the answer.
        let mut charge = allowance.try_hold(Purpose::Requests, 0).map_err(|exceeded| self.out_of_memory(exceeded))?;
        let body = body::read(body, &self.limits, headers.contains_key(header::EXPECT), &mut charge).await;
        if let Err(Refusal::OutOfMemory(exceeded)) = body {
            self.out_of_memory(exceeded);
        }
        let body = body?;
        let is_plain = |encoding: &HeaderValue| encoding.as_bytes().eq_ignore_ascii_case(b"identity");
        match headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
            true => Ok((body, Some(charge))),
            false => Err(Refusal::Packed),
        }
    }

    /// Charges the processing of a body, once there is memory for it; none if the body is empty.
    async fn processing(&self, body: &Bytes, allowance: &Allowance) -> Result<Option<Charge>, Refusal> {
        if body.is_empty() {
            return Ok(None);
        }
        let charge = allowance.process(body.len() * PROCESSING_FACTOR);
        match tokio::time::timeout(budget::PATIENCE, charge).await {
            Ok(charge) => Ok(Some(charge)),
            Err(_) => Err(self.out_of_memory(Exceeded::All)),
        }
    }

    /// Charges an answer to its caller until it is sent. Fails for a read if there is no memory for its answer.
    fn charge(&self, answer: Answer, access: Option<&Access>, allowance: &Allowance) -> Result<Answer, Refusal> {
        let AnswerBody::Whole(Some(bytes)) = &answer.body else { return Ok(answer) };
        if bytes.len() < CHARGED_ANSWER {
            return Ok(answer);
        }
        let charge = match allowance.try_hold(Purpose::Answers, bytes.len()) {
            Ok(charge) => charge,
            Err(exceeded) if access.is_none_or(|access| access.verb.is_read()) => {
                return Err(self.out_of_memory(exceeded));
            }
            // A write that has been stored is not refused.
            Err(_) => allowance.hold(Purpose::Answers, bytes.len()),
        };
        let body = AnswerBody::Whole(Some(charge.attach(bytes.clone())));
        Ok(Answer { body, ..answer })
    }

    /// Refuses something for which there is no memory, and counts it.
    fn out_of_memory(&self, exceeded: Exceeded) -> Refusal {
        self.metrics.count_refused(match exceeded {
            Exceeded::All => "memory",
            Exceeded::Caller => "caller_memory",
        });
        Refusal::OutOfMemory(exceeded)
    }

    /// A place for a caller that has less than half of all. The last quarter is kept for callers with less than a sixteenth,
    /// so that a few callers do not lock out the others.
    fn share(&self, shares: &Arc<Shares>, place: Place, all: usize, room: &Semaphore) -> Result<Share, Refusal> {
        let share = shares.take(place, all).ok_or_else(|| {
            self.metrics.count_refused("caller");
            Refusal::TooManyOfOne(Duration::from_secs(1))
        })?;
        if room.available_permits() <= all / 16 * 4 && shares.has_many(place, all) {
            self.metrics.count_refused(if place == Place::Body { "bodies" } else { "requests" });
            return Err(Refusal::TooMany(Duration::from_secs(1)));
        }
        Ok(share)
    }

    fn refuse(&self, dialect: Dialect, refusal: &Refusal) -> Answer {
        let answer = match dialect {
            Dialect::Arm => self.arm.refuse(refusal),
            Dialect::Kubernetes => self.kubernetes.refuse(refusal),
        };
        let answer = answer.refusing(refusal);
        let answer = match refusal {
            // What is left of the body is not read.
            Refusal::TooLarge(_) | Refusal::TooSlow(_) | Refusal::CutShort => {
                answer.with(header::CONNECTION, HeaderValue::from_static("close"))
            }
            _ => answer,
        };
        let answer = match refusal {
            Refusal::Unknown(_) => answer.with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            _ => answer,
        };
        match refusal.retry_after() {
            Some(after) => answer.with(header::RETRY_AFTER, after.as_secs().max(1)),
            None => answer,
        }
    }
}

/// The value of `Host`, if nothing else in a request names a host.
fn only_host(head: &http::request::Parts) -> Option<&[u8]> {
    let mut hosts = head.headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next(), head.uri.authority()) {
        (Some(host), None, None) => Some(host.as_bytes()),
        _ => None,
    }
}

/// Whether a request of HTTP/1.1 names the one host that it is for, as it must: links are made of it, and somebody before us
/// may go by another one.
fn names_its_host(head: &http::request::Parts) -> bool {
    let mut hosts = head.headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => head.version != http::Version::HTTP_11,
        (Some(_), Some(_)) => false,
        (Some(host), None) => {
            let is_host = |host: &str| host.parse::<http::uri::Authority>().is_ok() && !host.contains('@');
            host.to_str().is_ok_and(|host| host.is_empty() || is_host(host))
        }
    }
}

impl Dialect {
    fn of(path: &str) -> Self {
        let first = path.split('/').find(|segment| !segment.is_empty()).unwrap_or_default();
        match ["subscriptions", "providers"].iter().any(|own| first.eq_ignore_ascii_case(own)) {
            true => Self::Arm,
            false => Self::Kubernetes,
        }
    }

    /// The ids of a request, for its answer and the log.
    fn ids(self, request: &HeaderMap) -> HeaderMap {
        match self {
            Self::Arm => arm::ids(request),
            Self::Kubernetes => kubernetes::ids(request),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Arm => "arm",
            Self::Kubernetes => "kubernetes",
        }
    }
}

impl Route<'_> {
    fn access(&self) -> &Access {
        match self {
            Self::Arm(route) => route.access(),
            Self::Kubernetes(route) => route.access(),
        }
    }

    /// The name of the object that the path names.
    fn name(&self) -> Option<String> {
        match self {
            Self::Arm(route) => route.name(),
            Self::Kubernetes(route) => route.name(),
        }
    }
}
