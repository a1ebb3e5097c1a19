//! What a server keeps of what it has shown is what it would show if it kept nothing, whoever writes meanwhile.

use serde_json::{Value, json};
use wheelwright_repository::{Name, Write};
use wheelwright_server::Limits;

use crate::{client::begin, objects::server, support::Running};

const ROUNDS: usize = 25;

/// The same chances in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

fn limits(kept_bytes: usize) -> Limits {
    let mut limits = Limits::default();
    limits.kept_bytes = kept_bytes;
    limits
}

/// What is answered, without what differs from request to request.
async fn shown(server: &Running, path: &str) -> (u16, Vec<u8>) {
    let answered = server.send("GET", path, None).await;
    (answered.status, answered.body)
}

#[tokio::test]
async fn lists_and_objects_are_as_if_nothing_were_kept() {
    let keeping = server().await;
    // One that has no room for all of it, and one that keeps nothing.
    let (cramped, forgetful) = (keeping.beside(limits(400 << 10)).await, keeping.beside(limits(0)).await);
    let names = keeping.create_many().await;
    let mut chance = Chance(7);
    for round in 0..ROUNDS {
        let name = match chance.below(3) {
            0 => format!("other-{}", chance.below(5)),
            _ => names[chance.below(names.len())].clone(),
        };
        let namespace = ["here", "there"][usize::from(chance.below(4) == 0)];
        let (all, one) = (things("v1", namespace, ""), things("v1", namespace, &name));
        let writer = [&keeping, &cramped, &forgetful][chance.below(3)];
        // Some of them do nothing: there is such an object, or there is none.
        match chance.below(4) {
            0 => drop(writer.send("DELETE", &one, None).await),
            1 => drop(
                writer.send("POST", &all, Some(json!({"metadata": {"name": name}, "spec": {"note": "new"}}))).await,
            ),
            2 => drop(writer.send("PATCH", &one, Some(json!({"spec": {"note": format!("{round}")}}))).await),
            _ => {}
        }
        for version in ["v1", "v1beta1"] {
            let everywhere = format!("/apis/lab.example.com/{version}/things");
            for path in [
                everywhere,
                things(version, "here", ""),
                things(version, "there", ""),
                things(version, namespace, &name),
            ] {
                let expected = shown(&forgetful, &path).await;
                assert_eq!(shown(&keeping, &path).await, expected, "{path} in round {round}");
                assert_eq!(shown(&cramped, &path).await, expected, "{path} in round {round}");
            }
        }
    }
}

/// A list whose client takes its time shows one moment, whatever others have been shown meanwhile.
#[tokio::test]
async fn no_list_shows_what_was_written_after_its_moment() {
    let keeping = server().await.beside(limits(1 << 30)).await;
    let all = things("v1", "here", "");
    // Many more bytes than wait anywhere on their way to the client.
    let note = "x".repeat(10_000);
    let objects = keeping.repository.kinds().next().expect("a kind");
    for number in 0..4_000 {
        let name = format!("thing-{number:04}");
        let json = json!({"apiVersion": "lab.example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": {"note": note}});
        let name = Name::new(&format!("here/{name}")).expect("a name");
        objects.create(&name, Write::document("v1", json.to_string().as_bytes())).await.expect("a new object");
    }
    let mut slow = begin(keeping.address, "GET", &all, &[], None).await;
    slow.read_some().await;
    keeping.send("PATCH", &things("v1", "here", "thing-3999"), Some(json!({"spec": {"note": "later"}}))).await;
    let quick = keeping.send("GET", &all, None).await;
    for list in [quick, slow.whole().await] {
        let list: Value = serde_json::from_slice(&list.body).expect("JSON");
        let newest = list["items"].as_array().expect("items").iter().map(revision).max();
        assert!(newest <= Some(revision(&list)), "{newest:?} in a list of {}", list["metadata"]);
    }
}

fn revision(of: &Value) -> u64 {
    of["metadata"]["resourceVersion"].as_str().expect("a revision").parse().expect("a number")
}

fn things(version: &str, namespace: &str, name: &str) -> String {
    let slash = if name.is_empty() { "" } else { "/" };
    format!("/apis/lab.example.com/{version}/namespaces/{namespace}/things{slash}{name}")
}
