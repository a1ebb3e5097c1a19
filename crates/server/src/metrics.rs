//! What a server tells of itself: who asks for what, in which version, and how long it takes.

use std::{
    collections::HashMap,
    fmt::{self, Write as _},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use foldhash::fast::RandomState;
use http::StatusCode;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeLabelSet, EncodeLabelValue, EncodeMetric, LabelValueEncoder, text::encode},
    metrics::{
        MetricType,
        counter::{ConstCounter, Counter},
        family::Family,
        gauge::{ConstGauge, Gauge},
        histogram::Histogram,
    },
    registry::Registry,
};
use wheelwright_repository::{Repository, SourceCounts};

use crate::{
    access::Access, audit::AuditLog, budget::Budget, damaged_records::DamagedRecords, own::StoreState, scrub::Scrub,
};

/// The metrics of a server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<DurationLabels, Histogram, fn() -> Histogram>,
    /// The metrics of each sort of request so far. Families are slower: each hashes its labels in a way that is safe for labels
    /// that clients choose.
    known: RwLock<HashMap<RequestLabels, Known, RandomState>>,
    refused: Family<RefusedLabels, Counter>,
    store: Family<StoreLabels, Gauge>,
    pub(crate) in_flight: Gauge,
    pub(crate) bodies: Gauge,
    pub(crate) watches: Gauge,
    pub(crate) connections: Gauge,
    pub(crate) queued: Gauge,
}

/// The counter of requests, and of those that are no watches how long they took.
type Known = (Counter, Option<Histogram>);

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct RequestLabels {
    dialect: &'static str,
    kind: Label,
    version: Label,
    verb: &'static str,
    code: u16,
}

/// What many requests have in common, shared by them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Label(Option<Arc<str>>);

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct DurationLabels {
    dialect: &'static str,
    verb: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct RefusedLabels {
    reason: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct StoreLabels {
    state: &'static str,
}

impl Metrics {
    pub(crate) fn new(
        repository: Repository,
        budget: Arc<Budget>,
        audit: Option<&AuditLog>,
        damaged: &DamagedRecords,
        scrub: Option<&Scrub>,
    ) -> Self {
        let buckets = || Histogram::new([0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]);
        let mut metrics = Self {
            registry: Registry::with_prefix("wheelwright"),
            requests: Family::default(),
            durations: Family::new_with_constructor(buckets as fn() -> Histogram),
            known: RwLock::default(),
            refused: Family::default(),
            store: Family::default(),
            in_flight: Gauge::default(),
            bodies: Gauge::default(),
            watches: Gauge::default(),
            connections: Gauge::default(),
            queued: Gauge::default(),
        };
        let Self {
            registry, requests, durations, refused, store, in_flight, bodies, watches, connections, queued, ..
        } = &mut metrics;
        registry.register("requests", "Requests that were answered, by kind, version and verb", requests.clone());
        registry.register("request_seconds", "How long requests took, watches aside", durations.clone());
        registry.register("refused", "Connections and requests that were refused unread", refused.clone());
        registry.register("store_state", "Whether the store can be used: 1 for its state, 0 for others", store.clone());
        registry.register("requests_in_flight", "Requests that are being answered", in_flight.clone());
        registry.register("bodies_in_flight", "Requests whose bodies are being read", bodies.clone());
        registry.register("watches", "Watches that are open", watches.clone());
        registry.register("connections", "Connections that are open", connections.clone());
        registry.register("work_queued", "Requests and watches that wait for the work pool", queued.clone());
        registry.register_collector(Box::new(Memory(budget)));
        registry.register_collector(Box::new(Disk(repository.clone())));
        if let Some(audit) = audit {
            registry.register("audit_lost", "Lines of the audit log that could not be written", audit.lost().clone());
        }
        damaged.register(registry);
        if let Some(scrub) = scrub {
            scrub.register(registry);
        }
        if repository.source_counts().next().is_some() {
            registry.register_collector(Box::new(Sources(repository)));
        }
        metrics
    }

    /// Counts a request that was answered. Only what is served is named, so that nobody can make up names.
    pub(crate) fn count(&self, dialect: &'static str, access: Option<&Access>, code: StatusCode, took: Duration) {
        let verb = access.map_or("none", |access| access.verb.name());
        let labels = RequestLabels {
            dialect,
            kind: Label(access.and_then(|access| access.kind.clone())),
            version: Label(access.and_then(|access| access.version.clone())),
            verb,
            code: code.as_u16(),
        };
        let count = |(counter, durations): &Known| {
            counter.inc();
            durations.iter().for_each(|durations| durations.observe(took.as_secs_f64()));
        };
        if let Some(known) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&labels) {
            return count(known);
        }
        let durations = || self.durations.get_or_create_owned(&DurationLabels { dialect, verb });
        let known = (self.requests.get_or_create_owned(&labels), (verb != "watch").then(durations));
        count(&known);
        self.known.write().unwrap_or_else(PoisonError::into_inner).insert(labels, known);
    }

    /// Counts what was refused, and why.
    pub(crate) fn count_refused(&self, reason: &'static str) {
        self.refused.get_or_create(&RefusedLabels { reason }).inc();
    }

    /// All of it with the state of the store, in the format that Prometheus reads.
    pub(crate) fn text(&self, store: StoreState) -> String {
        for state in StoreState::ALL {
            let labels = StoreLabels { state: state.name() };
            self.store.get_or_create(&labels).set(i64::from(state == store));
        }
        let mut text = String::new();
        // Writing into a text does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// The room that is left for the store, where it can tell.
#[derive(Debug)]
struct Disk(Repository);

impl Collector for Disk {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(space) = self.0.disk() else { return Ok(()) };
        let gauges = [
            ("store_free_bytes", "Bytes by which the files of the store can grow", space.free_bytes),
            ("store_reserve_bytes", "Bytes of the disk that are kept back for deletes", space.reserve_bytes),
        ];
        for (name, help, bytes) in gauges {
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            ConstGauge::new(i64::try_from(bytes).unwrap_or(i64::MAX)).encode(metric)?;
        }
        let help = "Changes that were forgotten earlier than the history is long, to make room";
        let metric = encoder.encode_descriptor("store_forgotten_early", help, None, MetricType::Counter)?;
        ConstCounter::new(space.forgotten_early).encode(metric)
    }
}

/// Memory that is charged to clients, by its use, and how much the process may use.
#[derive(Debug)]
struct Memory(Arc<Budget>);

impl Collector for Memory {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Bytes of memory that clients make the server use";
        let mut metric = encoder.encode_descriptor("memory_charged_bytes", help, None, MetricType::Gauge)?;
        for (purpose, bytes) in self.0.used() {
            ConstGauge::new(bytes as i64).encode(metric.encode_family(&[("purpose", purpose)])?)?;
        }
        let help = "The most memory that the process may use, in bytes";
        let limit = encoder.encode_descriptor("memory_limit_bytes", help, None, MetricType::Gauge)?;
        ConstGauge::new(self.0.most() as i64).encode(limit)
    }
}

/// What happened with the systems that own fields. The repository counts it, whoever asks.
struct Sources(Repository);

/// A metric of sources: what it is called, what it counts, and where that is.
type OfSource = (&'static str, &'static str, fn(SourceCounts) -> u64);

const OF_SOURCES: [OfSource; 3] = [
    ("source_documents", "Documents that an external source was asked for", |counts| counts.asked),
    ("source_failures", "Documents that could not be read because of an external source", |counts| counts.failed),
    (
        "source_divergences",
        "Fields that an external source had otherwise than the store when they were read",
        |counts| counts.diverged,
    ),
];

impl Collector for Sources {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (name, help, of) in OF_SOURCES {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (source, counts) in self.0.source_counts() {
                let labels = [("source", source)];
                ConstCounter::new(of(counts)).encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sources").finish_non_exhaustive()
    }
}

impl EncodeLabelValue for Label {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        encoder.write_str(self.0.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Limits,
        access::{Scope, Verb},
    };

    #[test]
    fn metrics_show_who_still_uses_a_version_and_the_state_of_the_store() {
        let store = Arc::new(wheelwright_store::Memory::new());
        let metrics = Metrics::new(
            Repository::new(store, []),
            Budget::new(&Limits::default()),
            None,
            &DamagedRecords::default(),
            None,
        );
        let access = Access {
            verb: Verb::Get,
            kind: Some("Order.shop.example.com".into()),
            version: Some("v1".into()),
            scope: Scope::All,
        };
        metrics.count("kubernetes", Some(&access), StatusCode::OK, Duration::from_millis(2));
        metrics.count("kubernetes", Some(&access), StatusCode::OK, Duration::from_millis(2));
        let line = r#"wheelwright_requests_total{dialect="kubernetes",kind="Order.shop.example.com",version="v1",verb="get",code="200"} 2"#;
        let text = metrics.text(StoreState::Full);
        assert!(text.contains(line), "{text}");
        for (state, value) in [("ok", 0), ("full", 1), ("damaged", 0), ("unavailable", 0)] {
            let line = format!("wheelwright_store_state{{state=\"{state}\"}} {value}\n");
            assert!(text.contains(&line), "{text}");
        }
        assert!(text.contains(r#"wheelwright_request_seconds_count{dialect="kubernetes",verb="get"} 2"#), "{text}");
    }
}
