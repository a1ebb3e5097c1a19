//! A kind that is served, with documents that its versions display at the limit.

use std::time::Duration;

use serde_json::{Value, json};
use wheelwright_catalog::{Catalog, Kind};
use wheelwright_document::{Arena, decode_trusted};
use wheelwright_evolve::laws::Random;
use wheelwright_repository::{Collection, Name, PageRequest, RepositoryError, View, Write, WriteError};

use super::{
    BASES, BODY, LIMIT, TABLE,
    growth::{candidates, generated, with, written_texts},
};
use crate::{
    client::{Answered, begin},
    support::Running,
};

/// A kind that is served.
pub(super) struct Subject<'r> {
    pub(super) running: &'r Running,
    pub(super) catalog: &'r Catalog,
    pub(super) kind: &'r Kind,
}

impl Subject<'_> {
    fn name(&self) -> String {
        self.kind.declaration.name().to_string()
    }

    fn is_kubernetes(&self) -> bool {
        !self.kind.kubernetes.is_empty()
    }

    /// The versions that are served, oldest first.
    pub(super) fn versions(&self) -> Vec<String> {
        match self.kind.kubernetes.last() {
            Some(resource) => {
                let served = resource.versions.iter().filter(|version| version.is_served);
                served.map(|version| version.name.to_string()).collect()
            }
            None => self.kind.declaration.versions.iter().map(|version| version.name.to_string()).collect(),
        }
    }

    /// Where its objects are to Kubernetes.
    pub(super) fn objects(&self, version: &str) -> String {
        let resource = self.kind.kubernetes.last().expect("a resource of Kubernetes");
        let scope = if resource.is_namespaced { "/namespaces/here" } else { "" };
        format!("/apis/{}/{version}{scope}/{}", resource.group, resource.plural)
    }

    /// Where its resources are to Azure's resource manager, if it serves them.
    fn resources(&self) -> Option<String> {
        let (provider, types) = self.kind.arm.as_deref()?.split_once('/')?;
        let subscription = self.kind.arm_subscription.as_deref().unwrap_or("s");
        let types = types.replace('/', "/parent/");
        Some(format!("/subscriptions/{subscription}/resourceGroups/here/providers/{provider}/{types}"))
    }

    /// Its documents, if no dialect serves it.
    fn documents(&self) -> Option<Collection> {
        let is_served = self.is_kubernetes() || self.kind.arm.is_some();
        (!is_served).then(|| self.running.repository.kind(&self.name()).expect("a kind"))
    }

    async fn create(&self, version: &str, name: &str, mut document: Value) -> Answered {
        if let Some(documents) = self.documents() {
            let name = Name::new(name).unwrap();
            let json = document.to_string();
            let created = documents.create(&name, Write::document(version, json.as_bytes())).await;
            let error =
                |code, error: String| json!({"error": {"code": code, "message": error}}).to_string().into_bytes();
            let (status, body) = match created {
                Ok(written) => (201, written.document.json),
                Err(RepositoryError::Write(too_large @ WriteError::TooLarge(_))) => {
                    (413, error("RequestEntityTooLarge", too_large.to_string()))
                }
                Err(other) => (400, error("BadRequest", other.to_string())),
            };
            return Answered { status, headers: Vec::new(), body };
        }
        if !self.is_kubernetes() {
            let path = format!("{}/{name}?api-version={version}", self.resources().expect("a type"));
            return self.running.send("PUT", &path, Some(document)).await;
        }
        let resource = self.kind.kubernetes.last().expect("a resource");
        document["apiVersion"] = json!(format!("{}/{version}", resource.group));
        document["kind"] = json!(&*resource.kind);
        document["metadata"] = json!({"name": name, "labels": {"size": "large"}});
        self.running.send("POST", &self.objects(version), Some(document)).await
    }

    async fn delete(&self, version: &str, name: &str) {
        if let Some(documents) = self.documents() {
            let name = Name::new(name).unwrap();
            let found = documents.get(&name, View::Hub).await.unwrap().expect("a document");
            documents.delete(&name, &found.revision).await.unwrap();
            return;
        }
        let path = match self.is_kubernetes() {
            true => format!("{}/{name}", self.objects(version)),
            false => format!("{}/{name}?api-version={version}", self.resources().expect("a type")),
        };
        assert!(self.running.send("DELETE", &path, None).await.status < 300, "{path}");
    }

    /// Creates documents at the limit, and reads them in every form. Returns their names.
    pub(super) async fn hold(&self) -> Vec<&'static str> {
        let versions = self.versions();
        let version = versions.last().expect("a version");
        self.create_parents(version).await;
        let declared = self.kind.declaration.version(version).expect("a version");
        let mut random = Random::new(7);
        let mut names = Vec::new();
        // Not every document has what a field is in.
        for _ in 0..BASES {
            let base = self.accepted(version, &mut random).await;
            let (mut texts, mut lists) = (Vec::new(), Vec::new());
            candidates(&declared.schema, &mut Vec::new(), &mut texts, &mut lists);
            written_texts(&base, &mut Vec::new(), &mut texts);
            let text = |count: usize| json!("x".repeat(count));
            let items = |count: usize| Value::Array(vec![json!({}); count]);
            if let Some(path) = self.usable(version, &base, &texts, &text).await {
                names.push("a-text");
                self.grow(version, "a-text", &|count| with(base.clone(), &path, text(count))).await;
                if let Some(path) = self.usable(version, &base, &lists, &items).await {
                    names.push("many-items");
                    self.grow(version, "many-items", &|count| with(base.clone(), &path, items(count))).await;
                }
                break;
            }
        }
        if self.is_kubernetes() && names.contains(&"a-text") {
            self.add_metadata(version, "a-text").await;
        }
        for version in &versions {
            if self.is_kubernetes() {
                self.read_objects(version, &names).await;
            }
            if let Some(documents) = self.documents() {
                let listed = documents.list(None, PageRequest::default(), View::Version(version)).await.unwrap();
                assert_eq!(listed.items.into_iter().filter(Result::is_ok).count(), names.len());
            }
            if self.resources().is_some() {
                self.read_resources(version, &names).await;
            }
        }
        if self.is_kubernetes() {
            let removed = self.running.send("DELETE", &self.objects(version), None).await;
            assert_eq!(removed.status, 200, "{}", self.name());
        }
        names
    }

    /// Creates what resources of the type belong to.
    async fn create_parents(&self, version: &str) {
        let Some(above) = self.resources().filter(|path| !self.is_kubernetes() && path.contains("/parent/")) else {
            return;
        };
        let (above, _) = above.rsplit_once('/').expect("a parent");
        let of_type = self.kind.arm.as_deref().and_then(|own| own.rsplit_once('/')).expect("a type").0;
        let parent = self.catalog.kinds().iter().find(|kind| kind.arm.as_deref() == Some(of_type)).expect("its kind");
        let declared = parent.declaration.version(version).expect("the same versions");
        let mut random = Random::new(7);
        for _ in 0..400 {
            let document = generated(&declared.schema, declared.root, &mut random);
            let path = format!("{above}?api-version={version}");
            if self.running.send("PUT", &path, Some(document)).await.status < 300 {
                return;
            }
        }
        panic!("no parent for {}", self.name());
    }

    /// A small document that is accepted.
    async fn accepted(&self, version: &str, random: &mut Random) -> Value {
        let declared = self.kind.declaration.version(version).expect("a version");
        for _ in 0..400 {
            let document = generated(&declared.schema, declared.root, random);
            if self.create(version, "probe", document.clone()).await.status == 201 {
                self.delete(version, "probe").await;
                return document;
            }
        }
        let last = self.create(version, "probe", generated(&declared.schema, declared.root, random)).await;
        panic!("no document of {} is accepted: {}", self.name(), String::from_utf8_lossy(&last.body));
    }

    /// The first field that takes a large value and displays it.
    async fn usable(
        &self,
        version: &str,
        base: &Value,
        paths: &[Vec<String>],
        value: &dyn Fn(usize) -> Value,
    ) -> Option<Vec<String>> {
        for path in paths {
            let created = self.create(version, "probe", with(base.clone(), path, value(3_000))).await;
            if created.status != 201 {
                continue;
            }
            self.delete(version, "probe").await;
            if created.body.len() > 3_000 {
                return Some(path.clone());
            }
        }
        None
    }

    /// Creates the largest document that is accepted; one that is larger by one is refused, and the error names a field.
    async fn grow(&self, version: &str, name: &str, sized: &dyn Fn(usize) -> Value) {
        // As many as fit into a body.
        let (one, three) = (sized(1).to_string().len(), sized(1001).to_string().len());
        let mut refused = (BODY - one - 400) * 1000 / (three - one);
        let mut most = refused;
        loop {
            let answered = self.create(version, name, sized(most)).await;
            if answered.status == 201 {
                break;
            }
            let bytes = self.refused_bytes(&answered);
            refused = most;
            most = (most * LIMIT / bytes).min(most - 1);
        }
        // Where a version displays less than was expected, there is room for more.
        let mut step = 1;
        while refused - most > 1 {
            let more = (most + step).min(refused - 1);
            self.delete(version, name).await;
            let answered = self.create(version, name, sized(more)).await;
            if answered.status == 201 {
                (most, step) = (more, step * 2);
                continue;
            }
            self.refused_bytes(&answered);
            // The times in a record differ in length by a few digits.
            while self.create(version, name, sized(most)).await.status != 201 {
                most -= 1;
                assert!(refused - most < 32, "{name} was accepted with less than {refused} before");
            }
            (refused, step) = (more, 1);
        }
        assert!(refused > most);
    }

    /// What is added to a document at the limit is refused, too.
    async fn add_metadata(&self, version: &str, name: &str) {
        for metadata in [
            json!({"labels": {"one": "more"}}),
            json!({"annotations": {"one": "more"}}),
            json!({"finalizers": ["example.com/one-more"]}),
        ] {
            let path = format!("{}/{name}", self.objects(version));
            let answered = self.running.send("PATCH", &path, Some(json!({"metadata": metadata}))).await;
            self.refused_bytes(&answered);
        }
    }

    /// How large a document is that was refused.
    fn refused_bytes(&self, answered: &Answered) -> usize {
        let body: Value = serde_json::from_slice(&answered.body).expect("JSON");
        let (reason, message) = match self.is_kubernetes() {
            true => (&body["reason"], &body["message"]),
            false => (&body["error"]["code"], &body["error"]["message"]),
        };
        assert_eq!((answered.status, reason), (413, &json!("RequestEntityTooLarge")), "{}: {body}", self.name());
        let message = message.as_str().expect("a message");
        assert!(message.contains("shorten it") && message.contains(" has "), "{message}");
        let size = ["displays it in ", "is stored in "].into_iter().find_map(|words| message.split(words).nth(1));
        size.and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("the size")
    }

    /// Reads objects in every form of Kubernetes.
    async fn read_objects(&self, version: &str, names: &[&str]) {
        let list = self.objects(version);
        let table = TABLE;
        let partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
        let partial_list = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
        for name in names {
            let path = format!("{list}/{name}");
            for accept in ["application/json", "application/yaml", partial, table] {
                self.read(&path, accept).await;
            }
            self.read(&format!("{path}?includeObject=Object"), table).await;
            self.read(&format!("{list}?fieldSelector=metadata.name%3D{name}"), "application/json").await;
        }
        for accept in ["application/json", "application/yaml", table, partial_list] {
            self.read(&list, accept).await;
        }
        self.read(&format!("{list}?labelSelector=size%3Dlarge"), "application/json").await;
        self.read(&format!("{list}?labelSelector=size%3Dlarge&includeObject=Object"), table).await;
        let mut next = String::new();
        for _ in names {
            let page = self.read(&format!("{list}?limit=1{next}"), "application/json").await;
            let page: Value = serde_json::from_slice(&page.body).expect("JSON");
            assert_eq!(page["items"].as_array().map(Vec::len), Some(1));
            next = format!("&continue={}", page["metadata"]["continue"].as_str().unwrap_or_default());
        }
        for query in ["", "&labelSelector=size%3Dlarge", "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"] {
            for accept in ["application/json", table] {
                self.watch(&format!("{list}?watch=1&timeoutSeconds=60{query}"), accept, names.len()).await;
            }
        }
    }

    async fn read_resources(&self, version: &str, names: &[&str]) {
        let list = self.resources().expect("a type");
        for name in names {
            self.read(&format!("{list}/{name}?api-version={version}"), "application/json").await;
        }
        self.read(&format!("{list}?api-version={version}"), "application/json").await;
        self.read(&format!("{list}?api-version={version}&$top=1"), "application/json").await;
    }

    pub(super) async fn read(&self, path: &str, accept: &str) -> Answered {
        let headers = [("Accept".to_owned(), accept.to_owned())];
        let answered = begin(self.running.address, "GET", path, &headers, None).await.whole().await;
        let start: String = String::from_utf8_lossy(&answered.body).chars().take(500).collect();
        assert_eq!(answered.status, 200, "{path} {accept}: {start}");
        // What is broken off has begun with 200.
        if accept.contains("json") {
            let arena = Arena::new();
            assert!(decode_trusted(&answered.body, &arena).is_ok(), "{path} {accept}: {start}");
        }
        answered
    }

    /// Watches until all that there is has come.
    pub(super) async fn watch(&self, path: &str, accept: &str, count: usize) {
        let headers = [("Accept".to_owned(), accept.to_owned())];
        let mut watch = begin(self.running.address, "GET", path, &headers, None).await;
        watch.read_some().await;
        let lines = loop {
            let is_ended = watch.read_for(Duration::from_millis(100)).await;
            let text = String::from_utf8(watch.so_far().body).expect("text");
            if text.matches("\n").count() >= count {
                break text;
            }
            assert!(!is_ended, "{path} ends early");
        };
        assert_eq!(lines.matches(r#"{"type":"ADDED""#).count(), count, "{path} {accept}");
    }
}
