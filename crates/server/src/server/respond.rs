//! The steps that lead every request to its dialect and back.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, atomic::Ordering},
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use prometheus_client::metrics::gauge::Gauge;
use wheelwright_repository::LIGHT_BYTES;

use super::{
    Service,
    dialect::{Dialect, Route},
    streams::Stream,
};
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
    log::Line,
    own,
    path::Segments,
    peer::Peer,
    query::Query,
    refusal::Refusal,
    request::{Head, Request},
    request_id::Ids,
    share::{Place, Share, Shares},
    work,
};

/// Bytes of memory that reading a byte of a record takes, while the request waits to be worked on.
const READING_FACTOR: usize = 2;

/// The same, and that the next record takes until it is written.
const WRITING_FACTOR: usize = 4;

/// Reading a byte of a query takes as long as reading so many of a document.
const QUERY_FACTOR: usize = 16;

/// Longer values of `Host` are checked again with each request.
const MOST_HOST_BYTES: usize = 255;

/// Shorter answers are not charged: the number of requests, or the memory for connections, bounds them.
const CHARGED_ANSWER: usize = 16 << 10;

impl Service {
    /// Answers a request, and counts it.
    ///
    /// No `async fn`, whose future has room for each argument twice.
    pub(crate) fn respond<B: RequestBody>(
        self: Arc<Self>,
        request: http::Request<B>,
        peer: Arc<Peer>,
        busy: Busy,
    ) -> impl Future<Output = http::Response<Held>> {
        let (head, body) = request.into_parts();
        async move {
            let began = busy.began();
            let is_multiplexed = head.version == http::Version::HTTP_2;
            let dialect = Dialect::of(head.uri.path());
            let is_head = head.method == http::Method::HEAD;
            let ids = dialect.ids(&head.headers);
            let mut permit = None;
            let is_ending = self.is_leaving.load(Ordering::Relaxed);
            let is_probe = own::is_probe(head.uri.path());
            let credential = self.guard.as_ref().map(|_| Credential::of(&head.headers, peer.certificate.as_deref()));
            let caller = self.caller(credential.as_ref().filter(|_| !is_probe));
            let is_known = caller.is_ok();
            let audited = self.audit.as_ref().filter(|_| !is_probe);
            let trail = Trail::begin(audited, || self.origin(&head, &ids, dialect, &peer, caller.as_deref().ok()));
            // A query can have thousands of parameters.
            let query_bytes = head.uri.query().map_or(0, str::len) * QUERY_FACTOR;
            if query_bytes >= LIGHT_BYTES {
                Box::pin(work::step(query_bytes)).await;
            }
            let (head, refused) = self.head(head, &peer, caller, trail);
            let allowance = match &head.caller.shares {
                Some(shares) => Arc::new(Allowance { budget: self.budget.clone(), shares: shares.clone() }),
                None => peer.allowance.clone(),
            };
            let mut body = Some(body);
            let mut request = Request { head, body: Bytes::new(), allowance };
            let (access, mut answer) = match refused {
                Some(refusal) => (None, self.refuse(dialect, &refusal)),
                None if own::is_own(request.head.raw_path()) => {
                    let parts = (&self.metrics, &self.readiness, self.audit.as_ref());
                    let damaged = is_probe.then(|| self.damaged_records(credential.as_ref())).flatten();
                    (None, Box::pin(own::answer(&request.head, parts, damaged, is_ending)).await)
                }
                None => self.routed(dialect, &mut request, &mut body, &mut permit).await,
            };
            if let Err(refusal) = self.charge(&mut answer, access.as_ref(), &request.allowance) {
                answer = self.refuse(dialect, &refusal);
            }
            let Request { head: Head { uri, caller, trail, .. }, .. } = &request;
            if let Err(NotRecorded) = trail.done(&answer, began).await
                && answer.status.is_success()
            {
                answer = self.refuse(dialect, &Refusal::OutcomeNotRecorded);
            }
            if let (Dialect::Arm, Some(version)) =
                (dialect, access.as_ref().and_then(|access| access.version.as_deref()))
            {
                answer = arm::served(answer, version);
            }
            let took = began.elapsed();
            // Probes are not requests of clients; the server logs what they report when it finds it.
            if !is_probe {
                self.metrics.count(dialect.name(), access.as_ref(), answer.status, took);
            }
            let caller = Some(caller).filter(|_| is_known);
            let line = Line {
                dialect: dialect.name(),
                path: uri.path(),
                access: access.as_ref(),
                caller: caller.map(|caller| &**caller),
                peer: &peer,
                ids: &ids,
                status: answer.status,
                reason: answer.reason.as_deref(),
                error: answer.cause.as_deref(),
                took,
            };
            line.write(is_probe, &self.denials);
            if let Some(body) = body.take().filter(|body| !body.is_end_stream()) {
                let waits = request.head.headers.contains_key(header::EXPECT);
                Box::pin(body::pass(body, &self.limits, waits)).await;
            }
            let is_watch = access.as_ref().is_some_and(|access| access.verb == Verb::Watch);
            let stream = access.filter(|_| matches!(answer.body, AnswerBody::Pieces(_))).map(|access| Stream {
                access,
                credential: credential.and_then(Result::ok),
                peer,
                caller: caller.map(|caller| caller.name.clone()),
                trail: trail.clone(),
            });
            let cut = stream.map(|stream| Box::pin(self.until_cut(stream)) as EarlyEnd);
            let busy = if is_watch { busy.for_long() } else { busy };
            answer.with_ids(ids).into_response().map(|body| {
                let body = if is_head { AnswerBody::Whole(None) } else { body };
                Held::new(body, cut, permit, busy, is_multiplexed)
            })
        }
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
        ids: &Ids,
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

    /// The head of a request as dialects see it, and why it is refused, if it is.
    fn head(
        &self,
        head: http::request::Parts,
        peer: &Peer,
        caller: Result<Arc<Caller>, Refusal>,
        trail: Trail,
    ) -> (Head, Option<Refusal>) {
        let path = Segments::of(head.uri.path());
        let (caller, unknown) = match caller {
            Ok(caller) => (caller, None),
            Err(refusal) => (self.anonymous.clone(), Some(refusal)),
        };
        // The path first, because a target such as `livez` is read as a host without one.
        let wrong_path = || path.as_ref().err().map(|bad| Refusal::Path(*bad));
        let refused = unknown.or_else(wrong_path).or_else(|| self.check_sender(&head, peer).err());
        let head = Head {
            path: path.unwrap_or_default(),
            query: Query::of(head.uri.query()),
            uri: head.uri,
            method: head.method,
            headers: head.headers,
            server: self.reached.clone(),
            caller,
            trail,
        };
        (head, refused)
    }

    /// Refuses a request for a foreign host, or from a foreign page.
    fn check_sender(&self, head: &http::request::Parts, peer: &Peer) -> Result<(), Refusal> {
        let browsers = head.extensions.get::<Arc<Browsers>>().map_or(&self.browsers, |own| &**own);
        let counted = |(reason, refusal)| {
            self.metrics.count_refused(reason);
            refusal
        };
        let host = only_host(head);
        if host.is_none_or(|host| peer.host.get().is_none_or(|checked| **checked != *host)) {
            if !names_its_host(head) {
                return Err(Refusal::Host);
            }
            browsers.check_host(head).map_err(counted)?;
            if let Some(host) = host.filter(|host| host.len() <= MOST_HOST_BYTES) {
                let _ = peer.host.set(host.into());
            }
        }
        browsers.check_origin(head).map_err(counted)
    }

    /// Leads a request to its dialect, if its sender may make it and there is room.
    async fn routed<B: RequestBody>(
        &self,
        dialect: Dialect,
        request: &mut Request,
        body: &mut Option<B>,
        permit: &mut Option<Permit>,
    ) -> (Option<Access>, Answer) {
        let route = match dialect {
            Dialect::Arm => self.arm.route(&request.head).map(Route::Arm),
            Dialect::Kubernetes => self.kubernetes.route(&request.head).map(Route::Kubernetes),
        };
        let route = match route {
            Ok(route) => route,
            Err(answer) => return (None, *answer),
        };
        request.head.trail.about(route.access(), || route.name());
        let answered = self.permitted(&route, request, body, permit).await;
        // It is charged no longer.
        request.body = Bytes::new();
        let answer = answered.unwrap_or_else(|refusal| self.refuse(dialect, &refusal));
        (Some(route.into_access()), answer)
    }

    /// Answers a request that was routed, if its sender may make it and there is room.
    ///
    /// What only requests with a body wait for is in boxes, so that the future of the others is small.
    async fn permitted<B: RequestBody>(
        &self,
        route: &Route<'_>,
        request: &mut Request,
        body: &mut Option<B>,
        permit: &mut Option<Permit>,
    ) -> Result<Answer, Refusal> {
        let access = route.access();
        request.head.caller.check(access)?;
        let allowance = request.allowance.clone();
        work::set_caller(&allowance.shares);
        let mut _charge = None;
        if body.as_ref().is_some_and(|body| !body.is_end_stream()) {
            (request.body, _charge) = Box::pin(self.body(body, &allowance, &request.head.headers)).await?;
        }
        let (gauge, place, all) = match access.verb {
            Verb::Watch => (&self.metrics.watches, Place::Watch, self.limits.watches),
            _ => (&self.metrics.in_flight, Place::Request, self.limits.requests),
        };
        let share = self.share(&allowance.shares, place, all, gauge)?;
        let Some(counted) = Decrease::below(gauge, all) else {
            self.metrics.count_refused("requests");
            return Err(Refusal::TooMany(Duration::from_secs(1)));
        };
        *permit = Some(Permit::new(counted, share));
        let mut _processing = None;
        if !request.body.is_empty() {
            _processing = Some(Box::pin(self.processing(&request.body, &allowance)).await?);
        }
        if access.verb.is_write() {
            if request.body.is_empty() {
                allowance.has_room().map_err(|exceeded| self.out_of_memory(exceeded))?;
            }
            // The name of a new object is known when its body has been read: it is recorded then.
            if !matches!((&route, access.verb), (Route::Kubernetes(_), Verb::Create)) {
                request.head.trail.intend().await.map_err(|NotRecorded| Refusal::NotRecorded)?;
            }
        }
        let request = &*request;
        let answer = async {
            let shares = &allowance.shares;
            if access.verb.is_read()
                && shares.has_many_reads(place)
                && let Some(turn) = Box::pin(shares.read_turn()).await
            {
                work::set_turn(turn);
            }
            work::step(request.body.len()).await;
            let answer = pin!(async {
                match route {
                    Route::Arm(route) => self.arm.answer(route, request).await,
                    Route::Kubernetes(route) => self.kubernetes.answer(route, request).await,
                }
            });
            match access.verb.is_read() {
                true => work::in_turn(shares, answer).await,
                // Long ones wait for the work pool, where callers take turns anyway.
                false => answer.await,
            }
        };
        let answer = pin!(in_time(self.limits.request_time, answer));
        // Lists and watches charge what they read by themselves.
        let factor = match access.verb {
            Verb::List | Verb::Watch | Verb::DeleteCollection => 0,
            verb if verb.is_read() => READING_FACTOR,
            _ => WRITING_FACTOR,
        };
        let answer = allowance.reading(factor, answer).await.map_err(|exceeded| self.out_of_memory(exceeded))?;
        // A client that is told when to try again would repeat a write that may have been done.
        answer.ok_or_else(|| Refusal::OutOfTime(access.verb.is_read().then_some(Duration::from_secs(1))))
    }

    /// The body of a request, if it is not too long and does not take too long. One that is refused unread is left.
    async fn body<B: RequestBody>(
        &self,
        body: &mut Option<B>,
        allowance: &Allowance,
        headers: &HeaderMap,
    ) -> Result<(Bytes, Option<Charge>), Refusal> {
        let (gauge, all) = (&self.metrics.bodies, self.limits.requests);
        let _share = self.share(&allowance.shares, Place::Body, all, gauge)?;
        // Whoever sends slowly keeps only others from sending.
        let Some(_place) = Decrease::below(gauge, all) else {
            self.metrics.count_refused("bodies");
            return Err(Refusal::TooMany(Duration::from_secs(1)));
        };
        let mut charge = allowance.try_hold(Purpose::Requests, 0).map_err(|exceeded| self.out_of_memory(exceeded))?;
        let Some(body) = body.take() else { return Ok((Bytes::new(), None)) };
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

    /// Charges the processing of a body, once there is memory for it.
    async fn processing(&self, body: &Bytes, allowance: &Allowance) -> Result<Charge, Refusal> {
        let charge = allowance.process(body.len() * PROCESSING_FACTOR);
        let charge = tokio::time::timeout(budget::PATIENCE, charge).await;
        charge.map_err(|_| self.out_of_memory(Exceeded::All))
    }

    /// Charges an answer to its caller until it is sent. Fails for a read if there is no memory for its answer.
    fn charge(&self, answer: &mut Answer, access: Option<&Access>, allowance: &Allowance) -> Result<(), Refusal> {
        let AnswerBody::Whole(Some(bytes)) = &mut answer.body else { return Ok(()) };
        if bytes.len() < CHARGED_ANSWER {
            return Ok(());
        }
        let charge = match allowance.try_hold(Purpose::Answers, bytes.len()) {
            Ok(charge) => charge,
            Err(exceeded) if access.is_none_or(|access| access.verb.is_read()) => {
                return Err(self.out_of_memory(exceeded));
            }
            // A write that has been stored is not refused.
            Err(_) => allowance.hold(Purpose::Answers, bytes.len()),
        };
        *bytes = charge.attach(std::mem::take(bytes));
        Ok(())
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
    fn share(&self, shares: &Arc<Shares>, place: Place, all: usize, taken: &Gauge) -> Result<Share, Refusal> {
        let share = shares.take(place, all).ok_or_else(|| {
            self.metrics.count_refused("caller");
            Refusal::TooManyOfOne(Duration::from_secs(1))
        })?;
        let left = all.saturating_sub(usize::try_from(taken.get()).unwrap_or_default());
        if left <= all / 16 * 4 && shares.has_many(place, all) {
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

/// The outcome of something, if it takes no longer than a time. What is done at once needs no timer.
async fn in_time<T>(most: Duration, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    match poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => tokio::time::timeout(most, future).await.ok(),
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
